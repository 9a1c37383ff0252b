"""Files of `save` in torch, and torch's files in `load`: dtypes, layouts, what shares memory, state dicts."""

from __future__ import annotations

import io
from collections import OrderedDict

import pytest

torch = pytest.importorskip("torch")

from tests.oracle.both import LIBRARIES  # noqa: E402

import gradpack  # noqa: E402

FORMS = {"archive": True, "legacy": False}
DTYPES = (
    "bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex32 complex64 "
    "complex128 float8_e4m3fn float8_e5m2"
).split()
NEW = "uint16 uint32 uint64 complex32 float8_e4m3fn float8_e5m2".split()
WAYS = [pytest.param(a, b, id=f"{a.__name__}-to-{b.__name__}") for a in LIBRARIES for b in LIBRARIES if a is not b]

both_ways = pytest.mark.parametrize(("writer", "reader"), WAYS)
both_forms = pytest.mark.parametrize("form", FORMS)


def through(writer, reader, obj, form="archive"):
    file = io.BytesIO()
    writer.save(obj, file, _use_new_zipfile_serialization=FORMS[form])
    file.seek(0)
    return reader.load(file, weights_only=True)


def bits(x) -> bytes:
    """The bytes of the elements, row by row."""
    lib = gradpack if isinstance(x, gradpack.Tensor) else torch
    return bytes(x.detach().contiguous().reshape(-1).view(lib.uint8).tolist())


def facts(x) -> tuple:
    """All that a file keeps of a tensor."""
    kind = type(x).__name__
    layout = tuple(x.shape), x.stride(), x.storage_offset(), x.untyped_storage().nbytes()
    return kind, str(x.dtype).split(".")[1], *layout, x.requires_grad, bits(x)


@pytest.mark.filterwarnings("ignore:ComplexHalf support")
@both_forms
@both_ways
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (2, 0, 3)])
@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype(writer, reader, name, shape, form):
    if reader is torch and form == "legacy" and name in NEW:
        pytest.skip("torch does not read its own files of this form and dtype")
    count = 1
    for n in shape:
        count *= n
    x = writer.tensor([float(i % 5) for i in range(count)]).reshape(shape).to(getattr(writer, name))
    got, expected = facts(through(writer, reader, x, form)), facts(x)
    if count == 0:  # the storage of a tensor without elements says nothing
        got, expected = got[:3], expected[:3]
    assert got == expected


@both_forms
@both_ways
def test_shared_storages_and_views(writer, reader, form):
    x = writer.arange(24.0)
    table = x.view(4, 6)
    obj = {
        "x": x, "again": x, "row": table[2], "column": table[:, 1], "t": table.T, "wide": x[3:4].expand(5),
        "part": writer.arange(10)[4:7], "step": table[::2, ::3], "deep": [{"p": writer.nn.Parameter(x[2:5])}],
    }  # fmt: skip
    back = through(writer, reader, obj, form)
    assert back["x"] is back["again"]
    for name in ("x", "row", "column", "t", "wide", "part", "step"):
        assert facts(back[name]) == facts(obj[name]), name
    assert facts(back["deep"][0]["p"]) == facts(obj["deep"][0]["p"])
    back["x"][14] = -3
    assert back["row"][2].item() == back["t"][2, 2].item() == -3 and back["deep"][0]["p"].tolist() == [2, 3, 4]


@both_forms
@both_ways
def test_what_is_no_tensor(writer, reader, form):
    obj = {
        "numbers": [1, -1, 300, 70000, 1 << 70, -(1 << 90), 2.5, float("inf"), -0.0, True, None, 1j],
        "texts": ("", "é\udc00", b"", b"\x00\xff", bytearray(b"ab")),
        3: {1, 2},
        (1, 2): OrderedDict(b=1, a=2),
        "size": writer.Size([2, 3]),
        "facts": [writer.float32, writer.int64, writer.strided, writer.device("cpu")],
    }
    back = through(writer, reader, obj, form)
    assert list(map(repr, back["numbers"])) == list(map(repr, obj["numbers"]))
    assert back["texts"] == obj["texts"] and back[3] == {1, 2} and list(back[1, 2].items()) == [("b", 1), ("a", 2)]
    assert back["facts"] == [reader.float32, reader.int64, reader.strided, reader.device("cpu")]
    assert type(back["size"]) is reader.Size and tuple(back["size"]) == (2, 3)


@both_forms
@both_ways
def test_parameters_buffers_and_attributes(writer, reader, form):
    w = writer.ones(2, requires_grad=True)
    w.label = "w"
    p = writer.nn.Parameter(writer.ones(3), requires_grad=False)
    p.group = ["a"]
    buffer = writer.nn.Buffer(writer.zeros(2), persistent=False)
    back = through(writer, reader, [w, p, buffer, writer.tensor([1 + 2j]).conj().resolve_conj()], form)
    assert back[0].label == "w" and back[0].requires_grad and back[1].group == ["a"]
    assert isinstance(back[1], reader.nn.Parameter) and not back[1].requires_grad
    assert isinstance(back[2], reader.nn.Buffer) and not back[2].persistent
    assert back[3].tolist() == [1 - 2j]
    assert through(writer, reader, writer.tensor([1 + 2j]).conj()).tolist() == [1 - 2j]  # lazily conjugate in torch


@both_ways
def test_sparse_and_meta_tensors(writer, reader):
    sparse, meta = through(writer, reader, [writer.eye(3).to_sparse(), writer.empty(2, 3, device="meta")])
    assert sparse.is_coalesced() and sparse.to_dense().tolist() == writer.eye(3).tolist()
    assert meta.device.type == "meta" and tuple(meta.shape) == (2, 3)


def net(lib):
    nn = lib.nn
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Sequential(nn.Linear(4, 2)))


OPTIMIZERS = {
    "SGD": {"lr": 0.1, "momentum": 0.9}, "Adam": {"lr": 0.1}, "AdamW": {"lr": 0.1, "amsgrad": True},
    "Adagrad": {"lr": 0.1}, "RMSprop": {"lr": 0.1, "centered": True}, "Adadelta": {"lr": 0.1},
    "NAdam": {"lr": 0.1}, "RAdam": {"lr": 0.1}, "Rprop": {"lr": 0.1},
    "LBFGS": {"lr": 0.1, "history_size": 3, "max_iter": 4},
}  # fmt: skip


def train(lib, model, optimizer, schedule, steps):
    x = lib.arange(15.0).reshape(5, 3) / 15
    losses = []

    def closure():
        optimizer.zero_grad()
        loss = (model(x) - 1).square().mean()
        loss.backward()
        losses.append(loss.item())
        return loss

    for _ in range(steps):
        optimizer.step(closure)
        schedule.step()
    return losses


@both_forms
@both_ways
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_goes_on_in_the_other_library(writer, reader, name, form):
    def made(lib):
        model = net(lib).double()
        optimizer = getattr(lib.optim, name)(model.parameters(), **OPTIMIZERS[name])
        return model, optimizer, lib.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)

    writer.set_default_dtype(writer.float64)
    reader.set_default_dtype(reader.float64)
    try:
        theirs, ours = made(writer), made(reader)
        train(writer, *theirs, 3)
        states = {str(i): part.state_dict() for i, part in enumerate(theirs)}
        found = through(writer, reader, {"states": states, "epoch": 3}, form)
        assert found["epoch"] == 3
        for i, part in enumerate(ours):
            part.load_state_dict(found["states"][str(i)])
        assert train(reader, *ours, 4) == pytest.approx(train(writer, *theirs, 4), rel=1e-9, abs=1e-15)
    finally:
        writer.set_default_dtype(writer.float32)
        reader.set_default_dtype(reader.float32)


@both_ways
def test_metadata_of_a_state_dict(writer, reader):
    state = net(writer).state_dict()
    back = through(writer, reader, state)
    assert list(back) == list(state) and dict(back._metadata) == dict(state._metadata)


@both_ways
def test_files_that_are_mapped(writer, reader, tmp_path):
    x = writer.arange(1000.0)
    writer.save({"x": x, "part": x[5:9]}, tmp_path / "x.pt")
    before = (tmp_path / "x.pt").read_bytes()
    found = reader.load(tmp_path / "x.pt", mmap=True, weights_only=True)
    assert found["x"].tolist() == x.tolist()
    found["x"][5] = 1
    assert found["part"].tolist() == [1, 6, 7, 8] and (tmp_path / "x.pt").read_bytes() == before


class Config:
    """A class of the user's."""

    def __init__(self, n):
        self.n = n


@both_ways
def test_classes_that_the_user_allows(writer, reader):
    with writer.serialization.safe_globals([Config]), reader.serialization.safe_globals([Config]):
        back = through(writer, reader, {"config": Config(3), "w": writer.ones(2)})
    assert type(back["config"]) is Config and back["config"].n == 3
    with (
        writer.serialization.safe_globals([Config]),
        pytest.raises(Exception, match=r"GLOBAL .*Config was not an allow"),
    ):
        through(writer, reader, Config(3))


def test_a_module_that_torch_pickled_is_refused_by_its_name():
    file = io.BytesIO()
    torch.save(torch.nn.Linear(2, 2), file)
    file.seek(0)
    with pytest.raises(RuntimeError, match=r"GLOBAL torch\.nn\.modules\.linear\.Linear was not an allowed global"):
        gradpack.load(file)
    file.seek(0)
    names = gradpack.serialization.get_unsafe_globals_in_checkpoint(file)
    file.seek(0)
    assert names == sorted(torch.serialization.get_unsafe_globals_in_checkpoint(file))
