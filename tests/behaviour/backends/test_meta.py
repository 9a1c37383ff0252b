"""The device `meta`: tensors with a shape, a dtype and no elements."""

from __future__ import annotations

import copy

import pytest

import gradpack


@pytest.fixture(autouse=True)
def _meta():
    """Other tests are to find gradpack as it is before `meta` is first asked for."""
    yield
    from tests.fake_cupy import forget_kind

    forget_kind("meta")


def kind(t):
    return tuple(t.shape), str(t.dtype).rpartition(".")[2], t.device.type


def test_factories(torch):
    for make in (torch.zeros, torch.ones, torch.empty, torch.randn, torch.rand):
        x = make(2, 3, device="meta")
        assert kind(x) == ((2, 3), "float32", "meta") and x.is_meta and not torch.ones(1).is_meta
    assert kind(torch.arange(5, device="meta")) == ((5,), "int64", "meta")
    assert kind(torch.full((2,), 3, device="meta")) == ((2,), "int64", "meta")
    assert kind(torch.tensor([1.0, 2.0], device="meta")) == ((2,), "float32", "meta")
    assert kind(torch.randint(3, (2,), device="meta")) == ((2,), "int64", "meta")
    x = torch.randn(2, device="meta", requires_grad=True)
    assert x.requires_grad and x.is_leaf and x.device == torch.device("meta") and x.to("meta") is x


def test_they_take_no_memory(torch):
    x = torch.empty(100000, 100000, device="meta")
    assert x.numel() == 10**10 and (x * 2 + x).shape == x.shape and x.normal_().sin().shape == x.shape
    assert torch.nn.Linear(50000, 40000, device="meta").weight.shape == (40000, 50000)


def test_operations_have_shapes_and_dtypes(torch):
    F = torch.nn.functional
    x = torch.ones(4, 5, device="meta")
    indices = torch.zeros(2, dtype=torch.long, device="meta")
    found = {
        "add": x + 1,
        "product": x @ x.t(),
        "sum": x.sum(0),
        "mean": x.mean(),
        "compare": x > 0,
        "half": x.to(torch.float16),
        "argmax": x.argmax(1),
        "cat": torch.cat([x, x]),
        "broadcast": x * torch.ones(3, 1, 5, device="meta"),
        "conv": F.conv2d(torch.ones(1, 2, 8, 8, device="meta"), torch.ones(3, 2, 3, 3, device="meta")),
        "loss": F.cross_entropy(x, torch.zeros(4, dtype=torch.long, device="meta")),
        "embedding": F.embedding(indices, x),
        "attention": F.scaled_dot_product_attention(x[None], x[None], x[None]),
        "max": x.max(1).indices,
        "mixed": x * torch.tensor(2.0),
    }
    assert {name: kind(t) for name, t in found.items()} == {
        "add": ((4, 5), "float32", "meta"),
        "product": ((4, 4), "float32", "meta"),
        "sum": ((5,), "float32", "meta"),
        "mean": ((), "float32", "meta"),
        "compare": ((4, 5), "bool", "meta"),
        "half": ((4, 5), "float16", "meta"),
        "argmax": ((4,), "int64", "meta"),
        "cat": ((8, 5), "float32", "meta"),
        "broadcast": ((3, 4, 5), "float32", "meta"),
        "conv": ((1, 3, 6, 6), "float32", "meta"),
        "loss": ((), "float32", "meta"),
        "embedding": ((2, 5), "float32", "meta"),
        "attention": ((1, 4, 5), "float32", "meta"),
        "max": ((4,), "int64", "meta"),
        "mixed": ((4, 5), "float32", "meta"),
    }


def test_gradients(torch):
    x = torch.ones(2, 3, device="meta", requires_grad=True)
    (x * 2).sin().sum().backward()
    assert kind(x.grad) == kind(x)
    first = torch.autograd.grad((x**3).sum(), x, create_graph=True)[0]
    assert kind(torch.autograd.grad(first.sum(), x)[0]) == kind(x)
    assert kind(torch.func.vmap(torch.func.grad(lambda r: (r**2).sum()))(torch.ones(4, 3, device="meta")))[0] == (4, 3)


def test_there_are_no_elements_to_be_had(torch):
    x = torch.ones(2, 3, device="meta")
    for read in (lambda: x.cpu(), lambda: x.to("cpu"), lambda: torch.nn.Linear(2, 2, device="meta").cpu()):
        with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor; no data!"):
            read()
    with pytest.raises(RuntimeError, match="cannot be called on meta tensors"):
        x.sum().item()
    for ask in (lambda: bool(x.sum() > 0), x.tolist, x.numpy, x.nonzero, lambda: x[x > 0], x.unique):
        with pytest.raises((RuntimeError, TypeError, NotImplementedError)):
            ask()
    with pytest.raises(RuntimeError, match="device"):
        torch.ones(2, 3) + x
    assert repr(x) == "tensor(..., device='meta', size=(2, 3))"
    assert repr(torch.ones(2, device="meta").requires_grad_()) == (
        "tensor(..., device='meta', size=(2,), requires_grad=True)"
    )


def test_modules(torch):
    nn = torch.nn
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2)).eval()
    moved = copy.deepcopy(model).to("meta")
    assert {t.device.type for t in moved.state_dict().values()} == {"meta"}
    assert isinstance(moved[0].weight, nn.Parameter) and moved[0].weight.requires_grad
    assert kind(moved(torch.ones(5, 3, device="meta"))) == ((5, 2), "float32", "meta")
    with torch.device("meta"):
        made = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2))
    assert {t.device.type for t in made.state_dict().values()} == {"meta"}
    made.load_state_dict(model.state_dict(), assign=True)
    x = torch.arange(6.0).reshape(2, 3)
    assert torch.equal(made.eval()(x), model(x))
    empty = moved.to_empty(device="cpu")
    assert {t.device.type for t in empty.state_dict().values()} == {"cpu"}
    empty.load_state_dict(model.state_dict())
    assert torch.equal(empty(x), model(x))


def test_an_ensemble_whose_form_is_a_module_without_elements(torch):
    models = [torch.nn.Linear(3, 2) for _ in range(3)]
    params, buffers = torch.func.stack_module_state(models)
    form = copy.deepcopy(models[0]).to("meta")
    x = torch.arange(12.0).reshape(4, 3)

    def call(params, buffers, x):
        return torch.func.functional_call(form, (params, buffers), (x,))

    found = torch.func.vmap(call, in_dims=(0, 0, None))(params, buffers, x)
    assert torch.allclose(found, torch.stack([m(x) for m in models]), atol=1e-6)


def test_like_a_tensor_without_elements(torch):
    x = torch.ones(2, 3, device="meta", dtype=torch.float64)
    assert kind(torch.zeros_like(x, device="cpu")) == ((2, 3), "float64", "cpu")
    assert torch.ones_like(x, device="cpu").tolist() == [[1.0] * 3] * 2
    assert kind(torch.empty_like(x, device="cpu")) == ((2, 3), "float64", "cpu")
    assert kind(torch.zeros_like(torch.ones(2), device="meta")) == ((2,), "float32", "meta")
    assert kind(copy.deepcopy(x)) == kind(x) == kind(x.clone())


def test_that_it_is_gone_again(torch):
    from gradpack.base.devices import KINDS

    assert "meta" not in KINDS
    gradpack.ones(1, device="meta")
    assert "meta" in KINDS
