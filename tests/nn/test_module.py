"""`Module`: registration, traversal, state, hooks. Case by case against torch: tests/oracle."""

from __future__ import annotations

import copy
import gc
import weakref
from collections import OrderedDict
from typing import Any

import pytest

import gradpack as torch

nn = torch.nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(2, 3)
        self.rest = nn.Sequential(nn.ReLU(), nn.Linear(3, 1))
        self.scale = nn.Parameter(torch.ones(1))
        self.register_buffer("count", torch.zeros(1))
        self.scratch = nn.Buffer(torch.zeros(1), persistent=False)

    def forward(self, x: Any) -> Any:
        return self.rest(self.first(x)) * self.scale


NAMES = ["scale", "first.weight", "first.bias", "rest.1.weight", "rest.1.bias"]


def test_finds_everything_below() -> None:
    net = Net()
    assert [name for name, _ in net.named_parameters()] == NAMES
    assert list(net.parameters())[1] is net.first.weight
    assert [name for name, _ in net.named_buffers()] == ["count", "scratch"]
    assert [name for name, _ in net.named_modules()] == ["", "first", "rest", "rest.0", "rest.1"]
    assert [name for name, _ in net.named_children()] == ["first", "rest"]
    assert list(net.state_dict()) == ["scale", "count", *NAMES[1:]]
    assert net.get_parameter("rest.1.bias") is net.rest[1].bias


def test_parameters_are_leaves_and_results_are_not() -> None:
    net = Net()
    assert all(p.is_leaf and type(p) is nn.Parameter for p in net.parameters())
    out = net(torch.ones(1, 2))
    assert type(out) is torch.Tensor
    out.sum().backward()
    assert all(p.grad is not None for p in net.parameters())
    net.zero_grad()
    assert all(p.grad is None for p in net.parameters())


def test_zero_grad_in_place() -> None:
    net = Net()
    net(torch.ones(1, 2)).sum().backward()
    grads = [p.grad for p in net.parameters()]
    net.zero_grad(set_to_none=False)
    assert all(p.grad is g for p, g in zip(net.parameters(), grads, strict=True))
    assert all((g == 0).all() for g in grads)


def test_a_shared_parameter_is_found_once() -> None:
    net = Net()
    net.again = net.first
    net.alias = net.scale
    assert [name for name, _ in net.named_parameters()] == NAMES
    assert len(list(net.named_parameters(remove_duplicate=False))) == len(NAMES) + 3


def test_deep_trees_are_walked_without_recursion() -> None:
    net = tip = nn.Sequential()
    for _ in range(5000):
        tip.append(nn.Sequential())
        tip = tip[0]
    tip.append(nn.Linear(1, 1))
    assert len(list(net.parameters())) == 2


def test_assignment_moves_a_name_between_registries() -> None:
    net = Net()
    net.count = nn.Parameter(torch.ones(2))
    assert "count" in dict(net.named_parameters())
    assert "count" not in dict(net.named_buffers())
    net.plain = 3
    net.plain = nn.ReLU()
    assert "plain" not in net.__dict__
    assert net.plain is net._modules["plain"]
    net.scratch = torch.ones(3)
    assert net._buffers["scratch"].tolist() == [1, 1, 1]
    assert "scratch" not in net.state_dict()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("scale", torch.ones(1), "as parameter 'scale'"),
        ("first", torch.ones(1), "as child module 'first'"),
        ("count", 3, "as buffer 'count'"),
    ],
)
def test_a_registered_name_takes_nothing_else(name: str, value: Any, message: str) -> None:
    net = Net()
    before = getattr(net, name)
    with pytest.raises(TypeError, match=message):
        setattr(net, name, value)
    assert getattr(net, name) is before
    setattr(net, name, None)
    assert getattr(net, name) is None
    assert name not in dict(net.named_parameters())


def test_a_computed_tensor_cannot_be_a_parameter() -> None:
    net = nn.Module()
    with pytest.raises(TypeError, match="Parameter"):
        net.register_parameter("w", torch.ones(1, requires_grad=True) * 2)
    assert list(net.parameters()) == []


def test_forgetting_init_is_said() -> None:
    class Bad(nn.Module):
        def __init__(self) -> None:
            self.layer = nn.ReLU()

    with pytest.raises(AttributeError, match=r"before Module\.__init__"):
        Bad()

    class Empty(nn.Module):
        def __init__(self) -> None:
            pass

    for use in (lambda m: m(1), lambda m: list(m.parameters()), lambda m: m.training):
        with pytest.raises(AttributeError, match="super"):
            use(Empty())


def test_an_error_in_a_property_is_not_hidden() -> None:
    class Net(nn.Module):
        @property
        def broken(self) -> Any:
            return self.nothing

    with pytest.raises(AttributeError):
        Net().broken


def test_forward_is_looked_up_on_each_call() -> None:
    net = nn.ReLU()
    net.forward = lambda x: x + 1
    assert net(1) == 2


# --- state ---


def test_state_shares_data_and_has_no_graph() -> None:
    net = Net()
    state = net.state_dict()
    assert all(not value.requires_grad for value in state.values())
    with torch.no_grad():
        net.scale.fill_(9)
    assert state["scale"].item() == 9
    assert net.state_dict(keep_vars=True)["scale"] is net.scale


def test_loading_copies() -> None:
    a, b = Net(), Net()
    weight = b.first.weight
    b.load_state_dict(a.state_dict())
    assert b.first.weight is weight
    assert weight.tolist() == a.first.weight.tolist()
    with torch.no_grad():
        a.first.weight.zero_()
    assert weight.tolist() != a.first.weight.tolist()
    assert weight.requires_grad
    assert weight.is_leaf


def test_loading_by_assignment() -> None:
    net = Net()
    given = {name: value.double() for name, value in net.state_dict().items()}
    net.load_state_dict(given, assign=True)
    assert type(net.first.weight) is nn.Parameter
    assert net.first.weight.dtype is torch.float64
    with torch.no_grad():
        given["first.weight"].fill_(5)
    assert net.first.weight[0, 0].item() == 5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.pop("rest.1.bias"), 'Missing key.*"rest.1.bias"'),
        (lambda s: s.update(more=1), 'Unexpected key.*"more"'),
        (lambda s: s.update({"rest.1.bias": torch.ones(7)}), "size mismatch for rest.1.bias"),
        (lambda s: s.update({"rest.1.bias": 7}), 'named "rest.1.bias", expected a Tensor|expected torch.Tensor'),
    ],
)
def test_a_state_that_does_not_fit_writes_nothing(change: Any, message: str) -> None:
    net = Net()
    state = {name: torch.full(value.shape, 7.0) for name, value in net.state_dict().items()}
    change(state)
    before = {name: value.tolist() for name, value in net.state_dict().items()}
    with pytest.raises(RuntimeError, match=message):
        net.load_state_dict(state)
    assert {name: value.tolist() for name, value in net.state_dict().items()} == before


def test_loading_what_is_there() -> None:
    net = Net()
    missing, unexpected = net.load_state_dict({"scale": torch.full((1,), 7.0), "more": 1}, strict=False)
    assert net.scale.item() == 7
    assert (missing, unexpected) == (["count", *NAMES[1:]], ["more"])


def test_extra_state() -> None:
    class Counter(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.calls = 0

        def get_extra_state(self) -> Any:
            return {"calls": self.calls}

        def set_extra_state(self, state: Any) -> None:
            self.calls = state["calls"]

    a, b = nn.Sequential(Counter()), nn.Sequential(Counter())
    a[0].calls = 5
    assert list(a.state_dict()) == ["0._extra_state"]
    b.load_state_dict(a.state_dict())
    assert b[0].calls == 5
    assert b.load_state_dict({}, strict=False).missing_keys == ["0._extra_state"]


def test_a_module_may_load_in_its_own_way() -> None:
    class Renamed(nn.Linear):
        def _load_from_state_dict(self, state: Any, prefix: str, *rest: Any) -> None:
            if prefix + "w" in state:
                state[prefix + "weight"] = state.pop(prefix + "w")
            super()._load_from_state_dict(state, prefix, *rest)

    net = nn.Sequential(Renamed(1, 1, bias=False))
    net.load_state_dict({"0.w": torch.full((1, 1), 3.0)}, strict=False)
    assert net[0].weight.item() == 3


def test_positional_arguments_of_state_dict_warn() -> None:
    with pytest.warns(FutureWarning, match="positional"):
        state = nn.Linear(1, 1).state_dict({}, "p.")
    assert list(state) == ["p.weight", "p.bias"]


# --- conversion ---


def test_conversion_keeps_ties_and_integers() -> None:
    net = Net()
    net.tie = net.first
    net.register_buffer("index", torch.tensor([1, 2]))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    assert net.to(torch.float64) is net
    assert net.tie.weight is net.first.weight
    assert (net.index.dtype, net.count.dtype) == (torch.int64, torch.float64)
    net(torch.ones(1, 2, dtype=torch.float64)).sum().backward()
    before = net.scale.item()
    optimizer.step()
    assert net.scale.item() != before


@pytest.mark.parametrize("where", [(3.5,), ("nowhere",), ("cpu", 3), (torch.int32,), ("cpu", torch.float64, False, 1)])
def test_conversion_to_nonsense_changes_nothing(where: Any) -> None:
    net = Net()
    with pytest.raises((TypeError, RuntimeError)):
        net.to(*where)
    assert {p.dtype for p in net.parameters()} == {torch.float32}


def test_to_empty() -> None:
    net = Net().to_empty(device="cpu")
    assert {name: value.shape for name, value in net.state_dict().items()} == {
        name: value.shape for name, value in Net().state_dict().items()
    }


# --- hooks ---


def test_hooks_hold_nothing_back() -> None:
    gc.collect()
    gc.disable()
    try:
        net = Net()
        handle = net.register_forward_hook(lambda m, args, out: None)
        net.register_full_backward_hook(lambda m, gi, go: None)
        x = torch.ones(1, 2, requires_grad=True)
        out = net(x)
        out.sum().backward()
        gone = [weakref.ref(net), weakref.ref(net.first.weight), weakref.ref(out)]
        del net, out
        assert [ref() for ref in gone] == [None, None, None]
        handle.remove()  # of a module that is gone
    finally:
        gc.enable()


def test_removed_hooks_leave_nothing_behind() -> None:
    net = nn.Identity()
    for with_kwargs in (True, False):
        net.register_forward_hook(lambda *a: None, with_kwargs=with_kwargs, always_call=True).remove()
        net.register_forward_pre_hook(lambda *a: None, with_kwargs=with_kwargs).remove()
    assert all(not value for name, value in net.__dict__.items() if "hooks" in name)


def test_a_hook_must_be_callable() -> None:
    for name in ("register_forward_hook", "register_forward_pre_hook", "register_full_backward_hook"):
        net = nn.Identity()
        getattr(net, name)(3)  # as in torch, this is seen when it is called
        with pytest.raises(TypeError, match="callable"):
            net(torch.ones(1, requires_grad=True)).sum().backward()


def test_module_hooks_do_not_slow_backward_down() -> None:
    from gradpack.core.hooks import registered

    before = registered[0]
    handle = nn.Identity().register_forward_hook(lambda *a: None)
    assert registered[0] == before
    handle.remove()
    assert registered[0] == before


def test_backward_hooks_see_and_change_gradients() -> None:
    layer = nn.Linear(2, 2, bias=False)
    layer.load_state_dict({"weight": torch.tensor([[1.0, 2.0], [3.0, 4.0]])})
    seen = []

    def hook(module: Any, grad_input: Any, grad_output: Any) -> Any:
        seen.append((grad_input[0].tolist(), grad_output[0].tolist()))
        return (grad_input[0] * 10,)

    layer.register_full_backward_hook(hook)
    layer.register_full_backward_pre_hook(lambda module, grad_output: grad_output[0] * 2)
    x = torch.ones(1, 2, requires_grad=True)
    layer(x).sum().backward()
    assert seen == [([[8.0, 12.0]], [[2.0, 2.0]])]
    assert x.grad.tolist() == [[80.0, 120.0]]
    assert layer.weight.grad.tolist() == [[2, 2], [2, 2]]


def test_backward_hooks_with_a_graph_that_is_kept() -> None:
    layer = nn.Identity()
    calls = []
    layer.register_full_backward_hook(lambda m, gi, go: calls.append(gi[0].tolist()))
    x = torch.ones(2, requires_grad=True)
    y = (layer(x) ** 2).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert calls == [[2, 2], [2, 2]]


def test_writing_to_what_a_backward_hook_guards_is_refused() -> None:
    class Doubles(nn.Module):
        def forward(self, x: Any) -> Any:
            return x.mul_(2)

    layer = Doubles()
    layer.register_full_backward_hook(lambda m, gi, go: None)
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError):
        layer(x * 1)
    layer = nn.Identity()
    layer.register_full_backward_hook(lambda m, gi, go: None)
    with pytest.raises(RuntimeError):
        layer(x).add_(1)
    assert x.tolist() == [1, 1]


def test_submodules_by_name() -> None:
    net = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.ReLU()))
    assert net.get_submodule("1.0") is net[1][0]
    assert net.get_submodule("") is net
    with pytest.raises(AttributeError, match=r"`weight` is not an nn\.Module"):
        net.get_submodule("0.weight")
    with pytest.raises(ValueError, match=r"is not an nn\.Module, found <class 'int'>"):
        net.set_submodule("1.0", 3)  # type: ignore[arg-type]
    with pytest.raises(AttributeError, match=r"`weight` is not an nn\.Module"):
        net.set_submodule("0.weight", nn.Tanh())
    with pytest.raises(AttributeError, match="has no attribute `1`"):
        net.set_submodule("1.1", nn.Tanh(), strict=True)
    net.set_submodule("1.0", nn.Tanh())
    assert repr(net[1][0]) == "Tanh()"


def test_printout() -> None:
    assert repr(nn.Sequential(nn.Linear(1, 2), nn.ReLU())) == (
        "Sequential(\n  (0): Linear(in_features=1, out_features=2, bias=True)\n  (1): ReLU()\n)"
    )


def test_dicts_of_hooks_are_made_at_first_use():
    layer = torch.nn.Linear(2, 2)
    layer(torch.ones(2)), layer.state_dict(), layer.load_state_dict(layer.state_dict())
    assert vars(layer)["_hook_dicts"] == {}
    hooks = layer._forward_hooks
    assert hooks is layer._forward_hooks and list(vars(layer)["_hook_dicts"]) == ["_forward_hooks"]
    hooks[0] = lambda module, args, out: out * 0  # as torch.nn lets one
    assert not layer(torch.ones(2)).any()
    layer._forward_hooks = OrderedDict()
    assert layer(torch.ones(2)).any() and layer._forward_hooks is not hooks


def test_hooks_of_a_copy_are_replaced_there_only():
    layer = torch.nn.Linear(2, 2)
    layer.register_forward_hook(lambda module, args, out: out * 0)
    copied = copy.copy(layer)
    copied._forward_hooks = OrderedDict()
    assert copied(torch.ones(2)).any() and not layer(torch.ones(2)).any()


def test_a_pickle_of_an_earlier_version_keeps_its_hooks():
    layer, again = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    state = {k: v for k, v in vars(layer).items() if k != "_hook_dicts"}
    hooks = OrderedDict({0: lambda module, args: args[0] * 0})
    again.__setstate__({**state, "_forward_pre_hooks": hooks, "_forward_hooks": OrderedDict()})
    assert again._forward_pre_hooks is hooks and torch.equal(again(torch.ones(2)), layer.bias)
    assert "_forward_pre_hooks" not in vars(again)


def test_a_module_without_init_says_so():
    class Bare(torch.nn.Module):
        def __init__(self):
            pass

    for use in (lambda m: m(1), lambda m: m._forward_hooks, lambda m: m.register_forward_hook(print)):
        with pytest.raises(AttributeError, match=r"'_forward_\w*hooks\w*': call super\(\).__init__\(\) first"):
            use(Bare())
