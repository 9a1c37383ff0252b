"""Hooks of all modules, and backward hooks of the older form."""

import pytest

import gradpack as torch
from gradpack import nn
from gradpack.nn._module import global_hooks as of_all


@pytest.fixture(autouse=True)
def _as_before():
    yield
    of_all._full.clear()
    assert (
        not of_all._global_backward_hooks and not of_all._global_forward_hooks and not of_all._global_forward_pre_hooks
    )


def test_order_around_the_hooks_of_one_module():
    seen = []
    net = nn.Sequential(nn.Linear(2, 2))
    net.register_forward_pre_hook(lambda m, a: seen.append("own before"))
    net.register_forward_hook(lambda m, a, out: seen.append("own after"))
    net.register_full_backward_pre_hook(lambda m, g: seen.append("own backward pre"))
    net.register_full_backward_hook(lambda m, gi, go: seen.append("own backward"))
    of_sequential = lambda what: lambda m, *_: seen.append(what) if m is net else None  # noqa: E731
    handles = [
        of_all.register_module_forward_pre_hook(of_sequential("all before")),
        of_all.register_module_forward_hook(of_sequential("all after")),
        of_all.register_module_full_backward_pre_hook(of_sequential("all backward pre")),
        of_all.register_module_full_backward_hook(of_sequential("all backward")),
    ]
    net(torch.ones(1, 2, requires_grad=True)).sum().backward()
    for handle in handles:
        handle.remove()
    expected = ["before", "after", "backward pre", "backward"]
    assert seen[:2] == ["all before", "own before"] and seen[2:4] == ["all after", "own after"]
    assert seen[4:] == [f"{whose} {what}" for what in expected[2:] for whose in ("all", "own")]
    seen.clear()
    net(torch.ones(1, 2))
    assert seen == ["own before", "own after"]


def test_replaces_results_and_sees_keywords():
    class Scale(nn.Module):
        def forward(self, x, *, by=1.0):
            return x * by

    seen = []
    with of_all.register_module_forward_hook(lambda m, a, k, out: seen.append(dict(k)) or out + 1, with_kwargs=True):
        assert Scale()(torch.ones(1), by=3.0).item() == 4.0
    assert seen == [{"by": 3.0}]


def test_always_called():
    class Broken(nn.Module):
        def forward(self, x):
            raise ValueError("broken")

    seen = []
    with of_all.register_module_forward_hook(lambda m, a, out: seen.append(out), always_call=True):
        with pytest.raises(ValueError, match="broken"):
            Broken()(torch.ones(1))
    assert seen == [None]


@pytest.mark.filterwarnings("ignore:Using a non-full backward hook:FutureWarning")
def test_backward_hook_of_the_last_node():
    seen = []
    layer = nn.Sigmoid()
    layer.register_backward_hook(lambda m, gi, go: seen.append((m is layer, len(gi), go[0].tolist())))
    x = torch.zeros(2, requires_grad=True)
    layer(x).sum().backward()
    assert seen == [(True, 1, [1.0, 1.0])] and x.grad.tolist() == [0.25, 0.25]
    with pytest.raises(
        RuntimeError, match="Cannot use both regular backward hooks and full backward hooks on a single"
    ):
        layer.register_full_backward_hook(lambda *a: None)
    with of_all.register_module_backward_hook(lambda m, gi, go: (gi[0] * 2,)):
        x.grad = None
        nn.Sigmoid()(x).sum().backward()
        assert x.grad.tolist() == [0.5, 0.5]
        with pytest.raises(RuntimeError, match="as a global Module hook"):
            of_all.register_module_full_backward_hook(lambda *a: None)


def test_warns_of_what_the_older_form_misses():
    class Two(nn.Module):
        def forward(self, x):
            return x.exp(), x.sin()

    class Nodes(nn.Module):
        def forward(self, x):
            return x.exp().sin()

    class Named(nn.Module):
        def forward(self, x):
            return {"out": x.exp()}

    x = torch.ones(1, requires_grad=True)
    for module, why in ((Two(), "different autograd Nodes"), (Nodes(), "multiple autograd Nodes"), (Named(), "return")):
        module.register_backward_hook(lambda *a: None)
        with pytest.warns(FutureWarning, match=why):
            module(x)


def test_older_hooks_of_the_state():
    layer, seen = nn.Linear(1, 1), []
    layer._register_load_state_dict_pre_hook(lambda state, prefix, *rest: seen.append((prefix, len(rest))))
    layer._register_load_state_dict_pre_hook(lambda m, *rest: seen.append(m is layer), with_module=True)
    layer._register_state_dict_hook(lambda m, state, prefix, meta: {k.upper(): v for k, v in state.items()})
    assert list(layer.state_dict()) == ["WEIGHT", "BIAS"]
    layer.load_state_dict({"weight": torch.ones(1, 1), "bias": torch.ones(1)})
    assert seen == [("", 5), True] and layer.weight.item() == 1.0
