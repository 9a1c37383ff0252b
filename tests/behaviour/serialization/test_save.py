"""`save` and `load`, as torch has them: what comes back of what was written."""

from __future__ import annotations

import io
from collections import Counter, OrderedDict

import pytest


def round_trip(torch, obj, **options):
    file = io.BytesIO()
    torch.save(obj, file)
    assert file.tell() == len(file.getvalue())
    file.seek(0)
    return torch.load(file, **options)


@pytest.mark.parametrize(
    "name", "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128".split()
)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (2, 0, 3)])
def test_tensors_come_back(torch, name, shape):
    x = torch.ones(shape).to(getattr(torch, name))
    y = round_trip(torch, x)
    assert type(y) is torch.Tensor and y.dtype is x.dtype and y.shape == x.shape and torch.equal(x, y)
    assert y is not x and not y.requires_grad


def test_values_that_are_not_finite(torch):
    x = torch.tensor([float("nan"), float("inf"), -0.0, 1e-45])
    assert round_trip(torch, x).numpy().tobytes() == x.numpy().tobytes()
    numbers = round_trip(torch, [float("inf"), -float("inf"), -0.0, 5e-324, 0.1, 2**80, 3j, True])
    assert numbers == [float("inf"), -float("inf"), -0.0, 5e-324, 0.1, 2**80, 3j, True]
    assert str(numbers[2]) == "-0.0" and type(numbers[7]) is bool and type(numbers[5]) is int
    assert round_trip(torch, float("nan")) != round_trip(torch, float("nan"))


def test_containers_come_back(torch):
    obj = {"a": [1, (2.5, None, "text", b"\x00\xff"), {3, 4}], 5: OrderedDict(x=1), (1, 2): Counter("aab"), "": []}
    back = round_trip(torch, obj)
    assert back == obj and list(back) == list(obj)
    assert type(back[5]) is OrderedDict and type(back[(1, 2)]) is Counter and type(back["a"][1]) is tuple
    facts = round_trip(torch, [torch.Size([2, 3]), torch.float16, torch.device("cpu")])
    assert facts == [torch.Size([2, 3]), torch.float16, torch.device("cpu")]
    assert type(facts[0]) is torch.Size


def test_one_object_stays_one(torch):
    x = torch.arange(6.0)
    back = round_trip(torch, {"a": x, "b": [x], "c": x.view(2, 3)[1], "d": torch.arange(6.0)})
    assert back["a"] is back["b"][0]
    back["a"][4] = -1
    assert back["c"].tolist() == [3, -1, 5] and back["d"][4].item() == 4
    assert back["c"].storage_offset() == 3


def test_elements_come_back_whatever_the_strides(torch):
    x = torch.arange(24.0).view(2, 3, 4)
    dense = [x[0].T, x.permute(2, 0, 1)]
    for y in [*dense, x[:, ::2], x.expand(4, 2, 3, 4), x[1]]:
        assert torch.equal(round_trip(torch, y), y)
    assert all(round_trip(torch, y).stride() == y.stride() for y in dense)


def test_requires_grad_is_kept_and_history_is_not(torch):
    w = torch.ones(2, requires_grad=True)
    w.grad = torch.ones(2)
    back = round_trip(torch, [w, w * 2])
    assert all(t.requires_grad and t.is_leaf and t.grad is None for t in back)
    back[0].sum().backward()
    assert back[0].grad.tolist() == [1, 1]


def test_parameters_stay_parameters(torch):
    back = round_trip(torch, [torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.ones(2), False)])
    assert [type(p) is torch.nn.Parameter for p in back] == [True, True]
    assert [p.requires_grad for p in back] == [True, False]


def test_state_dicts_of_modules_and_optimisers(torch, tmp_path):
    torch.manual_seed(0)

    def make():
        model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
        return model, torch.optim.Adam(model.parameters(), lr=0.1)

    def step(model, optimiser):
        optimiser.zero_grad()
        model(torch.ones(2, 3)).square().sum().backward()
        optimiser.step()

    model, optimiser = make()
    step(model, optimiser)
    path = tmp_path / "checkpoint.pt"
    torch.save({"model": model.state_dict(), "optimiser": optimiser.state_dict(), "epoch": 7}, path)
    other, theirs = make()
    found = torch.load(path, map_location="cpu", weights_only=True)
    assert found["epoch"] == 7 and dict(found["model"]._metadata) == dict(model.state_dict()._metadata)
    other.load_state_dict(found["model"])
    theirs.load_state_dict(found["optimiser"])
    step(model, optimiser)
    step(other, theirs)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), other.parameters(), strict=True))


def test_tied_weights_stay_tied(torch):
    model = torch.nn.ModuleDict({"a": torch.nn.Linear(2, 2), "b": torch.nn.Linear(2, 2)})
    model["b"].weight = model["a"].weight
    back = round_trip(torch, model.state_dict())
    back["a.weight"].zero_()
    assert back["b.weight"].abs().sum().item() == 0


def test_paths_and_strings(torch, tmp_path):
    torch.save(torch.ones(2), str(tmp_path / "x.bin"))
    assert torch.load(tmp_path / "x.bin").tolist() == [1, 1]
    torch.save(torch.zeros(2), tmp_path / "x.bin")
    assert torch.load(str(tmp_path / "x.bin"), map_location=torch.device("cpu")).tolist() == [0, 0]
    assert [p.name for p in tmp_path.iterdir()] == ["x.bin"]


def test_what_is_no_file(torch, tmp_path):
    with pytest.raises(AttributeError, match="expected 'f' to be string, path, or a file-like object with a 'write'"):
        torch.save(torch.ones(2), 3)
    with pytest.raises(AttributeError, match=r"You can only torch\.load from a file that is seekable"):
        torch.load(3)
    with pytest.raises(FileNotFoundError):
        torch.load(tmp_path / "missing")
    with pytest.raises(RuntimeError, match=r"Parent directory .* does not exist"):
        torch.save(torch.ones(2), tmp_path / "no" / "x")
    with pytest.raises(IsADirectoryError):
        torch.load(tmp_path)
    with pytest.raises(RuntimeError, match="directory"):
        torch.save(torch.ones(2), tmp_path)
    with pytest.raises(EOFError):
        torch.load(io.BytesIO(b""))


def test_a_file_that_is_cut_short(torch):
    file = io.BytesIO()
    torch.save({"a": torch.ones(100)}, file)
    with pytest.raises(RuntimeError):
        torch.load(io.BytesIO(file.getvalue()[: len(file.getvalue()) // 2]))


def test_a_device_that_is_not_there(torch):
    file = io.BytesIO()
    torch.save(torch.ones(2), file)
    file.seek(0)
    with pytest.raises(RuntimeError):
        torch.load(file, map_location="cuda")
    file.seek(0)
    assert torch.load(file, map_location=lambda storage, place: storage).tolist() == [1, 1]


def test_a_file_that_is_no_more_than_needed(torch):
    class File:
        def __init__(self):
            inner = io.BytesIO()
            self.read, self.readline, self.seek, self.tell = inner.read, inner.readline, inner.seek, inner.tell
            self.write, self.flush = inner.write, inner.flush

    file = File()
    torch.save(torch.ones(2), file)
    file.seek(0)
    assert torch.load(file).tolist() == [1, 1]
