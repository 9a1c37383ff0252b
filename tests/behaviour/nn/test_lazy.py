"""Modules that take the sizes of their parameters from the first input."""

from __future__ import annotations

import copy

import pytest

INPUTS = {1: (2, 4, 9), 2: (2, 4, 9, 8), 3: (2, 4, 5, 6, 7)}
KINDS = {"Conv": (6, 3), "ConvTranspose": (6, 3), "BatchNorm": (), "InstanceNorm": ()}


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_the_first_call_makes_an_ordinary_layer(torch, kind, dims):
    name, args = f"{kind}{dims}d", KINDS[kind]
    layer, x = getattr(torch.nn, f"Lazy{name}")(*args), torch.randn(INPUTS[dims])
    assert layer.has_uninitialized_params() and repr(layer).startswith(f"Lazy{name}(0, ")
    kinds = {type(p).__name__ for p in layer.parameters()}
    assert kinds == {"UninitializedParameter"}
    result = layer(x)
    assert type(layer) is getattr(torch.nn, name) and not layer._forward_pre_hooks
    options = {"affine": True, "track_running_stats": True} if "Norm" in kind else {}
    ordinary = getattr(torch.nn, name)(4, *args, **options)
    assert repr(ordinary) == repr(layer)
    shapes = [[(k, v.shape, type(v)) for k, v in m.state_dict().items()] for m in (ordinary, layer)]
    assert shapes[0] == shapes[1]
    assert result.shape == ordinary(x).shape and result.requires_grad
    result.sum().backward()
    assert all(p.grad is not None for p in layer.parameters())


def test_linear(torch):
    net = torch.nn.Sequential(torch.nn.LazyLinear(3), torch.nn.ReLU(), torch.nn.LazyLinear(2, bias=False))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    assert net(input=torch.randn(5, 4)).shape == (5, 2)
    assert repr(net[0]) == "Linear(in_features=4, out_features=3, bias=True)" and net[2].bias is None
    before = net[0].weight.clone()
    net(torch.randn(5, 4)).sum().backward()
    optimizer.step()
    assert isinstance(net[0].weight, torch.nn.Parameter) and not torch.equal(before, net[0].weight)


def test_what_is_not_initialized_is_not_for_use(torch):
    weight = torch.nn.UninitializedParameter(dtype=torch.float64)
    assert repr(weight) == "<UninitializedParameter>" and torch.nn.parameter.is_lazy(weight)
    assert weight.dtype is torch.float64 and weight.requires_grad and weight.is_leaf and weight.grad is None
    for use in (
        lambda: weight + 1,
        lambda: weight.numel(),
        lambda: len(weight),
        lambda: weight.clone(),
        lambda: torch.mm(weight, weight),
        lambda: weight.requires_grad_(),
        lambda: weight.backward(),
        lambda: torch.nn.init.zeros_(weight),
        lambda: torch.nn.LazyLinear(2).forward(torch.ones(3)),
    ):
        with pytest.raises(ValueError, match="Attempted to use an uninitialized parameter in"):
            use()
    with pytest.raises(RuntimeError, match="Can't access the shape of an uninitialized parameter or buffer"):
        _ = weight.shape
    with pytest.raises(RuntimeError, match="Can't share memory on an uninitialized parameter"):
        weight.share_memory_()
    weight.materialize((2, 3))
    assert type(weight) is torch.nn.Parameter and weight.shape == (2, 3) and weight.dtype is torch.float64
    buffer = torch.nn.UninitializedBuffer()
    buffer.materialize((4,), dtype=torch.int64)
    assert type(buffer) is torch.Tensor and buffer.shape == (4,) and buffer.dtype is torch.int64


def test_dtypes_and_copies_before_the_first_call(torch):
    layer = copy.deepcopy(torch.nn.LazyConv2d(2, 3)).double()
    assert layer.has_uninitialized_params() and layer.weight.dtype is torch.float64
    twin = copy.deepcopy(layer)
    assert layer(torch.ones(1, 5, 4, 4, dtype=torch.float64)).dtype is torch.float64
    assert twin.has_uninitialized_params() and twin(torch.ones(6, 4, 4, dtype=torch.float64)).shape == (2, 2, 2)
    assert torch.nn.LazyBatchNorm1d(dtype=torch.float64)(torch.ones(2, 3, dtype=torch.float64)).dtype is torch.float64


def test_state(torch):
    full, lazy = torch.nn.Linear(4, 3), torch.nn.LazyLinear(3)
    assert [type(v).__name__ for v in lazy.state_dict().values()] == ["UninitializedParameter"] * 2
    assert str(lazy.load_state_dict(torch.nn.LazyLinear(3).state_dict())) == "<All keys matched successfully>"
    assert lazy.has_uninitialized_params()
    with pytest.raises(RuntimeError, match="Can't access the shape of an uninitialized parameter or buffer"):
        full.load_state_dict(lazy.state_dict())
    assert str(lazy.load_state_dict(full.state_dict())) == "<All keys matched successfully>"
    assert not lazy.has_uninitialized_params() and torch.equal(lazy.weight, full.weight)
    x = torch.randn(2, 4)
    assert torch.equal(lazy(x), full(x)) and type(lazy) is torch.nn.Linear and lazy.in_features == 4


def test_inputs_that_do_not_fit(torch):
    layer = torch.nn.LazyConv2d(6, 3, groups=3)
    message = r"Expected 3D \(unbatched\) or 4D \(batched\) input to LazyConv2d, but got input of size: "
    with pytest.raises(RuntimeError, match=message):
        layer(torch.ones(3))
    with pytest.raises(ValueError, match="in_channels must be divisible by groups"):
        layer(torch.ones(1, 4, 9, 9))
    assert layer.has_uninitialized_params() and layer(torch.ones(6, 9, 9)).shape == (6, 7, 7)
    with pytest.raises(IndexError):
        torch.nn.LazyBatchNorm2d()(torch.ones(3))


def test_lazy_modules_of_ones_own(torch):
    mixin = getattr(torch.nn, "modules", torch.nn).lazy.LazyModuleMixin

    class Scale(mixin, torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.factor = torch.nn.UninitializedParameter()

        def forward(self, x):
            return x * self.factor

    class Whole(Scale):
        def initialize_parameters(self, x):
            self.factor.materialize(x.shape)

    class Half(Scale):
        def initialize_parameters(self, x):
            pass

    module = Whole()
    assert module(torch.ones(2)).shape == (2,) and type(module) is Whole and not module.has_uninitialized_params()
    with pytest.raises(RuntimeError, match="module Half has not been fully initialized"):
        Half()(torch.ones(2))
    with pytest.raises(NotImplementedError, match="initialize_parameters is not implemented for Scale"):
        Scale()(torch.ones(2))
