"""Attention and Transformer modules against those of torch at equal weights: results, gradients, errors."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from tests.oracle.both import LIBRARIES

import gradpack

torch = pytest.importorskip("torch")


def twins(make: Any) -> tuple[Any, Any]:
    """The module in both libraries, with the same float64 weights."""
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs, ours = make(torch).double(), make(gradpack).double()
    for p in theirs.parameters():
        torch.nn.init.normal_(p, std=0.5)
    ours.load_state_dict({k: gradpack.from_numpy(v.numpy().copy()) for k, v in theirs.state_dict().items()})
    assert repr(ours) == repr(theirs)
    return ours, theirs


def given(lib: Any, *shape: int) -> Any:
    count = 1
    for n in shape:
        count *= n
    return (lib.arange(count, dtype=lib.float64).view(shape) * 0.37).sin()


def flat(value: Any) -> list[Any]:
    return [v for v in (value if isinstance(value, tuple) else (value,)) if v is not None]


def compare(make: Any, call: Any) -> None:
    pair = twins(make)
    results = []
    for lib, module in zip(LIBRARIES, pair, strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outs = flat(call(lib, module))
        sum((o * given(lib, *o.shape)).sum() for o in outs).backward()
        grads = {k: p.grad for k, p in module.named_parameters()}
        results.append(
            ([o.detach().numpy() for o in outs], {k: None if g is None else g.numpy() for k, g in grads.items()})
        )
    for a, b in zip(results[0][0], results[1][0], strict=True):
        torch.testing.assert_close(torch.tensor(a), torch.tensor(b))
    assert results[0][1].keys() == results[1][1].keys()
    for name, b in results[1][1].items():
        a = results[0][1][name]
        assert (a is None) == (b is None), name
        if b is not None:
            torch.testing.assert_close(torch.tensor(a), torch.tensor(b), msg=name)


def causal(lib: Any, n: int) -> Any:
    return lib.nn.Transformer.generate_square_subsequent_mask(n, dtype=lib.float64)


def padding(lib: Any) -> Any:
    return lib.tensor([[False, False, True, False], [False, True, True, False]])


ATTENTION: dict[str, tuple[dict[str, Any], Any]] = {
    "self": ({}, lambda lib: ((given(lib, 4, 2, 6),) * 3, {})),
    "batch first": ({"batch_first": True}, lambda lib: ((given(lib, 2, 4, 6),) * 3, {})),
    "without weights": ({}, lambda lib: ((given(lib, 4, 2, 6),) * 3, {"need_weights": False})),
    "each head": ({}, lambda lib: ((given(lib, 4, 2, 6),) * 3, {"average_attn_weights": False})),
    "to a memory": ({}, lambda lib: ((given(lib, 3, 2, 6), *(given(lib, 4, 2, 6),) * 2), {})),
    "three": ({}, lambda lib: ((given(lib, 3, 2, 6), given(lib, 4, 2, 6), given(lib, 4, 2, 6) + 1), {})),
    "own dims": (
        {"kdim": 5, "vdim": 3},
        lambda lib: ((given(lib, 3, 2, 6), given(lib, 4, 2, 5), given(lib, 4, 2, 3)), {}),
    ),
    "no bias": ({"bias": False}, lambda lib: ((given(lib, 4, 2, 6),) * 3, {})),
    "more keys": (
        {"add_bias_kv": True, "add_zero_attn": True},
        lambda lib: ((given(lib, 4, 2, 6),) * 3, {"attn_mask": causal(lib, 4), "key_padding_mask": padding(lib)}),
    ),
    "no batch": ({}, lambda lib: ((given(lib, 4, 6),) * 3, {"attn_mask": causal(lib, 4)})),
    "padding": ({}, lambda lib: ((given(lib, 4, 2, 6),) * 3, {"key_padding_mask": padding(lib)})),
    "padding without weights": (
        {},
        lambda lib: ((given(lib, 4, 2, 6),) * 3, {"key_padding_mask": padding(lib), "need_weights": False}),
    ),
    "bool mask": ({}, lambda lib: ((given(lib, 4, 2, 6),) * 3, {"attn_mask": causal(lib, 4) < 0})),
    "mask of heads": (
        {},
        lambda lib: ((given(lib, 4, 2, 6),) * 3, {"attn_mask": given(lib, 4, 4, 4), "need_weights": False}),
    ),
    "causal": (
        {},
        lambda lib: (
            (given(lib, 4, 2, 6),) * 3,
            {"attn_mask": causal(lib, 4), "is_causal": True, "need_weights": False},
        ),
    ),
}


@pytest.mark.parametrize("name", ATTENTION)
def test_attention(name: str) -> None:
    options, arguments = ATTENTION[name]

    def call(lib: Any, module: Any) -> Any:
        args, kwargs = arguments(lib)
        return module(*args, **kwargs)

    compare(lambda lib: lib.nn.MultiheadAttention(6, 2, **options), call)


STACKS: dict[str, tuple[Any, Any]] = {
    "encoder layer": (
        lambda nn: nn.TransformerEncoderLayer(6, 2, 8, 0.0),
        lambda lib, m: m(given(lib, 4, 2, 6), causal(lib, 4), padding(lib)),
    ),
    "encoder layer, norm first": (
        lambda nn: nn.TransformerEncoderLayer(6, 3, 8, 0.0, "gelu", batch_first=True, norm_first=True, bias=False),
        lambda lib, m: m(given(lib, 2, 4, 6), is_causal=True, src_mask=causal(lib, 4)),
    ),
    "decoder layer": (
        lambda nn: nn.TransformerDecoderLayer(6, 2, 8, 0.0),
        lambda lib, m: m(given(lib, 3, 2, 6), given(lib, 4, 2, 6), causal(lib, 3), None, None, padding(lib)),
    ),
    "decoder layer, norm first": (
        lambda nn: nn.TransformerDecoderLayer(6, 2, 8, 0.0, norm_first=True, batch_first=True),
        lambda lib, m: m(given(lib, 2, 3, 6), given(lib, 2, 4, 6), causal(lib, 3)),
    ),
    "encoder": (
        lambda nn: nn.TransformerEncoder(nn.TransformerEncoderLayer(6, 2, 8, 0.0), 2, nn.LayerNorm(6)),
        lambda lib, m: m(given(lib, 4, 2, 6), causal(lib, 4), padding(lib)),
    ),
    "decoder": (
        lambda nn: nn.TransformerDecoder(nn.TransformerDecoderLayer(6, 2, 8, 0.0), 2),
        lambda lib, m: m(given(lib, 3, 2, 6), given(lib, 4, 2, 6), causal(lib, 3)),
    ),
    "transformer": (
        lambda nn: nn.Transformer(6, 2, 1, 2, 8, 0.0),
        lambda lib, m: m(given(lib, 4, 2, 6), given(lib, 3, 2, 6), tgt_mask=causal(lib, 3)),
    ),
    "transformer without batch": (
        lambda nn: nn.Transformer(6, 2, 1, 1, 8, 0.0, batch_first=True),
        lambda lib, m: m(given(lib, 4, 6), given(lib, 3, 6)),
    ),
}


@pytest.mark.parametrize("name", STACKS)
def test_transformer(name: str) -> None:
    make, call = STACKS[name]
    compare(lambda lib: make(lib.nn), call)


BAD = {
    "heads": lambda lib: lib.nn.MultiheadAttention(6, 4),
    "nothing": lambda lib: lib.nn.MultiheadAttention(0, 4),
    "dims": lambda lib: lib.nn.MultiheadAttention(6, 2)(*(lib.ones(6),) * 3),
    "key dims": lambda lib: lib.nn.MultiheadAttention(6, 2)(lib.ones(2, 1, 6), lib.ones(2, 6), lib.ones(2, 6)),
    "features": lambda lib: lib.nn.MultiheadAttention(6, 2)(*(lib.ones(2, 1, 4),) * 3),
    "mask": lambda lib: lib.nn.MultiheadAttention(6, 2)(*(lib.ones(2, 1, 6),) * 3, attn_mask=lib.ones(3, 3)),
    "int mask": lambda lib: lib.nn.MultiheadAttention(6, 2)(*(lib.ones(2, 1, 6),) * 3, attn_mask=lib.ones(2, 2).int()),
    "hint": lambda lib: lib.nn.MultiheadAttention(6, 2)(*(lib.ones(2, 1, 6),) * 3, is_causal=True),
    "padding": lambda lib: lib.nn.MultiheadAttention(6, 2)(
        *(lib.ones(2, 1, 6),) * 3, key_padding_mask=lib.zeros(1, 3).bool()
    ),
    "activation": lambda lib: lib.nn.TransformerEncoderLayer(4, 2, activation="x"),
    "batches": lambda lib: lib.nn.Transformer(4, 2, 1, 1, 4)(lib.ones(2, 3, 4), lib.ones(2, 2, 4)),
    "d_model": lambda lib: lib.nn.Transformer(4, 2, 1, 1, 4)(lib.ones(2, 3, 4), lib.ones(2, 3, 5)),
}


@pytest.mark.parametrize("name", BAD)
def test_refused(name: str) -> None:
    said = []
    for lib in LIBRARIES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                BAD[name](lib)
            except Exception as error:
                said.append((type(error).__name__, str(error).replace("gradpack.", "torch.")))
    assert len(said) == 2
    assert said[0] == said[1]
