"""Hooks of modules against those of torch: order, arguments, what they may change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.oracle.both import LIBRARIES, comparable, linear, net, outcome

import gradpack

torch = pytest.importorskip("torch")


def test_loading_runs_hooks_in_the_same_order() -> None:
    def run(lib: Any) -> list[Any]:
        model = net(lib)
        events: list[Any] = []
        for name, module in model.named_modules():
            module.register_load_state_dict_pre_hook(
                lambda m, state, prefix, local, strict, missing, unexpected, errors, name=name: events.append(
                    ("pre", name, prefix, sorted(state), strict)
                )
            )
            module.register_load_state_dict_post_hook(
                lambda m, keys, name=name: events.append(("post", name, list(keys.missing_keys)))
            )
            module.register_state_dict_pre_hook(
                lambda m, prefix, keep, name=name: events.append(("save", name, prefix, keep))
            )
            module.register_state_dict_post_hook(
                lambda m, state, prefix, local, name=name: events.append(("saved", name, prefix, list(state)))
            )
        state = model.state_dict()
        del state["0.bias"]
        model.load_state_dict(state, strict=False)
        return events

    assert run(gradpack) == run(torch)


def test_forward_hooks() -> None:
    def run(lib: Any) -> list[Any]:
        class Net(lib.nn.Module):  # type: ignore[misc,name-defined]
            def forward(self, x: Any, *, plus: int = 0) -> Any:
                events.append(("forward", x, plus))
                if x > 100:
                    raise ValueError("too large")
                return x + plus

        events: list[Any] = []
        model = Net()
        handles = [
            model.register_forward_pre_hook(lambda m, args: events.append(("a", args))),
            model.register_forward_pre_hook(lambda m, args: args[0] + 1),
            model.register_forward_pre_hook(lambda m, args: events.append(("first", args)), prepend=True),
            model.register_forward_pre_hook(lambda m, args, kw: (args, {"plus": kw["plus"] * 2}), with_kwargs=True),
            model.register_forward_hook(lambda m, args, out: events.append(("out", args, out))),
            model.register_forward_hook(lambda m, args, out: out * 10),
            model.register_forward_hook(
                lambda m, args, kw, out: events.append(("first out", args, kw, out)), prepend=True, with_kwargs=True
            ),
            model.register_forward_hook(lambda m, args, out: events.append(("always", out)), always_call=True),
        ]
        events.append(model(1, plus=5))
        try:
            model(200, plus=1)
        except ValueError as error:
            events.append(str(error))
        for handle in handles[::2]:
            handle.remove()
            handle.remove()
        events.append(model(1, plus=5))
        with model.register_forward_hook(lambda m, args, out: 77):
            events.append(model(1, plus=5))
        events.append(model(1, plus=5))
        return events

    assert run(gradpack) == run(torch)


def test_forward_pre_hook_with_a_wrong_result() -> None:
    for lib in LIBRARIES:
        layer = lib.nn.Identity()
        layer.register_forward_pre_hook(lambda m, args, kwargs: 3, with_kwargs=True)
        with pytest.raises(RuntimeError, match="forward pre-hook"):
            layer(1)


def test_always_called_hook_that_raises_only_warns() -> None:
    for lib in LIBRARIES:
        layer = lib.nn.Linear(2, 2)
        layer.register_forward_hook(lambda m, args, out: 1 / 0, always_call=True)
        with pytest.warns(UserWarning, match="always_call"), pytest.raises(RuntimeError):
            layer(lib.ones(3))


def several(lib: Any) -> Any:
    class Net(lib.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.factor = lib.nn.Parameter(lib.tensor([2.0, 3.0]))

        def forward(self, x: Any, n: int, y: Any, z: Any) -> Any:
            return x * self.factor, n, y * 3

    return Net()


def backward_events(lib: Any, leaf: bool, pre: Any = None, hook: Any = None) -> list[Any]:
    events: list[Any] = []
    model = several(lib)

    def pre_hook(module: Any, grad_output: Any) -> Any:
        events.append(("pre", grad_output))
        return pre(lib, grad_output) if pre else None

    def full_hook(module: Any, grad_input: Any, grad_output: Any) -> Any:
        events.append(("hook", grad_input, grad_output))
        return hook(lib, grad_input) if hook else None

    model.register_full_backward_pre_hook(pre_hook)
    model.register_full_backward_hook(full_hook)
    x, y, z = (lib.ones(2, requires_grad=wanted) for wanted in (leaf, False, leaf))
    out, _, other = model(x, 5, y, z)
    (out * lib.tensor([1.0, 10.0])).sum().backward()
    events += [x.grad, y.grad, z.grad, model.factor.grad, other.requires_grad]
    with lib.no_grad():
        model(x, 5, y, z)
    return comparable(events)  # type: ignore[no-any-return]


@pytest.mark.parametrize("leaf", [True, False])
@pytest.mark.filterwarnings("ignore:Full backward hook:UserWarning")
def test_backward_hooks(leaf: bool) -> None:
    assert backward_events(gradpack, leaf) == backward_events(torch, leaf)


def test_backward_hooks_that_change_gradients() -> None:
    def pre(lib: Any, grads: Any) -> Any:
        return (grads[0] * 100, None, None)

    def hook(lib: Any, grads: Any) -> Any:
        return (grads[0] + 1, None, None, grads[3])

    assert backward_events(gradpack, True, pre, hook) == backward_events(torch, True, pre, hook)


@pytest.mark.parametrize(
    ("pre", "hook"), [(lambda lib, g: g[:1], None), (None, lambda lib, g: g[:1]), (lambda lib, g: 3, None)]
)
def test_backward_hooks_with_wrong_results(pre: Any, hook: Any) -> None:
    ours, theirs = (outcome(lambda lib: backward_events(lib, True, pre, hook), lib) for lib in LIBRARIES)
    assert ours is theirs
    assert issubclass(ours, Exception)


def test_backward_hooks_of_nested_modules_run_in_the_same_order() -> None:
    def run(lib: Any) -> list[Any]:
        events: list[Any] = []
        model = lib.nn.Sequential(linear(lib), lib.nn.Sequential(lib.nn.ReLU(), linear(lib)))
        for name, module in model.named_modules():
            module.register_full_backward_pre_hook(lambda m, go, name=name: events.append(("pre", name, go)))
            module.register_full_backward_hook(lambda m, gi, go, name=name: events.append((name, gi, go)))
            module.register_full_backward_hook(
                lambda m, gi, go, name=name: events.append((name, "first")), prepend=True
            )
        x = lib.ones(1, 2, requires_grad=True)
        model(x).sum().backward()
        return comparable([*events, x.grad])  # type: ignore[no-any-return]

    assert run(gradpack) == run(torch)


def test_backward_hooks_under_create_graph() -> None:
    def run(lib: Any) -> list[Any]:
        events: list[Any] = []
        layer = linear(lib)
        layer.register_full_backward_hook(
            lambda m, gi, go: events.append([gi[0].requires_grad, go[0].requires_grad, lib.is_grad_enabled()])
        )
        x = lib.ones(1, 2, requires_grad=True)
        (g,) = lib.autograd.grad((layer(x) ** 3).sum(), x, create_graph=True)
        g.sum().backward()
        return comparable([*events, g, x.grad, layer.weight.grad])  # type: ignore[no-any-return]

    ours, theirs = run(gradpack), run(torch)
    assert ours[:-3] == theirs[:-3]
    for a, b in zip(ours[-3:], theirs[-3:], strict=True):
        np.testing.assert_allclose(a[2], b[2], rtol=1e-5)


def test_backward_hook_warns_about_outputs_it_cannot_see() -> None:
    for lib in LIBRARIES:

        class Net(lib.nn.Module):  # type: ignore[misc,name-defined]
            def forward(self, x: Any) -> Any:
                return {"a": x * 2}

        model = Net()
        model.register_full_backward_hook(lambda m, gi, go: None)
        with pytest.warns(UserWarning, match="module output should be a Tensor"):
            model(lib.ones(1, requires_grad=True))["a"].sum().backward()
