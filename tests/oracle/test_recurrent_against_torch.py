"""Recurrent modules and packed sequences against those of torch, at equal weights."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from tests.oracle.both import LIBRARIES, comparable
from tests.oracle.test_attention_against_torch import compare, given

torch = pytest.importorskip("torch")

NETWORKS: dict[str, Any] = {
    "RNN": lambda nn: nn.RNN(3, 4),
    "RNN relu": lambda nn: nn.RNN(3, 4, 2, "relu", batch_first=True),
    "RNN relu by name": lambda nn: nn.RNN(3, 4, nonlinearity="relu", bias=False),
    "LSTM": lambda nn: nn.LSTM(3, 4),
    "LSTM with all": lambda nn: nn.LSTM(3, 4, 2, bidirectional=True, proj_size=2),
    "LSTM without bias": lambda nn: nn.LSTM(3, 4, 2, bias=False, batch_first=True),
    "GRU": lambda nn: nn.GRU(3, 4, 2),
    "GRU both ways": lambda nn: nn.GRU(3, 4, 1, bidirectional=True, batch_first=True),
}


def spread(out: Any) -> tuple[Any, ...]:
    """All tensors of a result."""
    found: list[Any] = []
    for part in out:
        if part is None:
            continue
        found.extend(spread(part) if isinstance(part, tuple) else [part])
    return tuple(f for f in found if f.requires_grad)


def start(lib: Any, m: Any, batch: int | None) -> Any:
    layers = m.num_layers * (2 if m.bidirectional else 1)
    lead = (layers,) if batch is None else (layers, batch)
    h = given(lib, *lead, m.proj_size or m.hidden_size)
    return (h, given(lib, *lead, m.hidden_size)) if m.mode == "LSTM" else h


CALLS: dict[str, Any] = {
    "plain": lambda lib, m: m(given(lib, 5, 2, 3)),
    "with state": lambda lib, m: m(given(lib, 5, 2, 3), start(lib, m, 5 if m.batch_first else 2)),
    "without batch": lambda lib, m: m(given(lib, 5, 3), start(lib, m, None)),
    "packed": lambda lib, m: m(lib.nn.utils.rnn.pack_padded_sequence(given(lib, 5, 3, 3), lib.tensor([5, 3, 1]))),
    "packed, unsorted": lambda lib, m: m(
        lib.nn.utils.rnn.pack_padded_sequence(given(lib, 4, 5, 3), [2, 5, 1, 2], True, enforce_sorted=False),
        start(lib, m, 4),
    ),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("name", NETWORKS)
def test_network(name: str, call: str) -> None:
    compare(lambda lib: NETWORKS[name](lib.nn), lambda lib, m: spread(CALLS[call](lib, m)))


CELLS: dict[str, Any] = {
    "RNNCell": lambda nn: nn.RNNCell(3, 4),
    "RNNCell relu": lambda nn: nn.RNNCell(3, 4, False, "relu"),
    "LSTMCell": lambda nn: nn.LSTMCell(3, 4),
    "GRUCell": lambda nn: nn.GRUCell(3, 4, bias=False),
}


@pytest.mark.parametrize("shape", [(2, 3), (3,)])
@pytest.mark.parametrize("name", CELLS)
def test_cell(name: str, shape: tuple[int, ...]) -> None:
    def call(lib: Any, m: Any) -> Any:
        h = given(lib, *shape[:-1], 4)
        x = given(lib, *shape)
        first = m(x)
        second = m(x, (h, h) if "LSTM" in name else h)
        return spread((first, second))

    compare(lambda lib: CELLS[name](lib.nn), call)


def rnn(lib: Any) -> Any:
    return lib.nn.utils.rnn


def ragged(lib: Any) -> list[Any]:
    return [lib.tensor([1.0, 2.0]), lib.tensor([3.0]), lib.tensor([4.0, 5.0, 6.0])]


JOBS: dict[str, Any] = {
    "pad": lambda lib: rnn(lib).pad_sequence(ragged(lib)),
    "pad left": lambda lib: rnn(lib).pad_sequence(ragged(lib), True, 9.0, "left"),
    "pad nothing": lambda lib: rnn(lib).pad_sequence([]),
    "pad a number": lambda lib: rnn(lib).pad_sequence(3),
    "pad upwards": lambda lib: rnn(lib).pad_sequence(ragged(lib), padding_side="up"),
    "pack": lambda lib: tuple(rnn(lib).pack_sequence(ragged(lib), enforce_sorted=False)),
    "pack unsorted": lambda lib: rnn(lib).pack_sequence(ragged(lib)),
    "unpack": lambda lib: rnn(lib).unpack_sequence(rnn(lib).pack_sequence(ragged(lib), enforce_sorted=False)),
    "there and back": lambda lib: rnn(lib).pad_packed_sequence(
        rnn(lib).pack_sequence(ragged(lib), enforce_sorted=False), True, -1.0, 5
    ),
    "too short": lambda lib: rnn(lib).pad_packed_sequence(
        rnn(lib).pack_sequence(ragged(lib), enforce_sorted=False), total_length=1
    ),
    "other lengths": lambda lib: rnn(lib).pack_padded_sequence(lib.ones(3, 2), [3]),
    "zero length": lambda lib: rnn(lib).pack_padded_sequence(lib.ones(3, 2), [3, 0]),
    "unpad": lambda lib: rnn(lib).unpad_sequence(lib.ones(2, 3), lib.tensor([1, 3]), True),
    "invert": lambda lib: rnn(lib).invert_permutation(lib.tensor([2, 0, 1])),
    "to": lambda lib: rnn(lib).pack_sequence([lib.ones(2)]).double().data,
    "two dims": lambda lib: lib.nn.LSTM(3, 4)(lib.ones(3)),
    "features": lambda lib: lib.nn.GRU(3, 4)(lib.ones(2, 1, 5)),
    "state": lambda lib: lib.nn.GRU(3, 4)(lib.ones(2, 1, 3), lib.ones(1, 2, 4)),
    "state dims": lambda lib: lib.nn.GRU(3, 4)(lib.ones(2, 1, 3), lib.ones(1, 4)),
    "states": lambda lib: lib.nn.LSTM(3, 4)(lib.ones(2, 1, 3), (lib.ones(1, 1, 4), lib.ones(1, 2, 4))),
    "dtype": lambda lib: lib.nn.RNN(3, 4)(lib.ones(2, 1, 3, dtype=lib.float64)),
    "nonlinearity": lambda lib: lib.nn.RNN(3, 4, nonlinearity="x"),
    "projected": lambda lib: lib.nn.GRU(3, 4, proj_size=2),
    "projected too much": lambda lib: lib.nn.LSTM(3, 4, proj_size=4),
    "dropout": lambda lib: lib.nn.LSTM(3, 4, dropout=2.0),
    "size": lambda lib: lib.nn.LSTM(0, 4),
    "size of a kind": lambda lib: lib.nn.LSTM(3.0, 4),
    "bias of a kind": lambda lib: lib.nn.LSTM(3, 4, bias=1),
    "layers": lambda lib: lib.nn.LSTM(3, 4, 0),
    "names": lambda lib: list(lib.nn.LSTM(3, 4, 2, bidirectional=True, proj_size=2).state_dict()),
    "printed": lambda lib: repr(lib.nn.LSTM(3, 4, 2, False, True, 0.5, True, 2)),
    "cell dims": lambda lib: lib.nn.LSTMCell(3, 4)(lib.ones(1, 1, 3)),
    "cell state dims": lambda lib: lib.nn.GRUCell(3, 4)(lib.ones(1, 3), lib.ones(1, 1, 4)),
    "cell features": lambda lib: lib.nn.GRUCell(3, 4)(lib.ones(1, 2)),
    "cell batch": lambda lib: lib.nn.GRUCell(3, 4)(lib.ones(1, 3), lib.ones(2, 4)),
    "weights": lambda lib: [[tuple(w.shape) for w in ws] for ws in lib.nn.GRU(3, 4).all_weights],
}


@pytest.mark.parametrize("name", JOBS)
def test_sequences_and_words(name: str) -> None:
    said = []
    for lib in LIBRARIES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                said.append(comparable(JOBS[name](lib)))
            except Exception as error:
                said.append((type(error).__name__, str(error).replace("gradpack.", "torch.")))
    assert said[0] == said[1]


def test_parameters_given_for_one_call() -> None:
    """What a module looks its weights up by, at the call."""
    for lib in LIBRARIES:
        net = lib.nn.GRU(2, 2, bias=False)
        with lib.no_grad():
            for p in net.parameters():
                p.zero_()
        assert not net(lib.ones(1, 1, 2))[0].any()
        net.weight_ih_l0 = lib.nn.Parameter(lib.ones(6, 2))
        assert net(lib.ones(1, 1, 2))[0].any()
