"""Modes that hear of operations: `TorchFunctionMode` before autograd, `TorchDispatchMode` below it."""

from __future__ import annotations

from importlib import import_module

import pytest


def function_mode(torch, call):
    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return call(func, types, args, kwargs or {})

    return Mode()


def dispatch_mode(torch, call):
    module = import_module(f"{torch.__name__}.utils._python_dispatch")

    class Mode(module.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return call(func, types, args, kwargs or {})

    return Mode()


def test_function_mode_sees_operations_and_makers(torch):
    seen = []

    def call(func, types, args, kwargs):
        seen.append(func.__name__)
        return func(*args, **kwargs)

    with function_mode(torch, call) as mode:
        x = torch.ones(2, requires_grad=True)
        y = torch.cat([x * 2, torch.zeros_like(x)]).clone().mul_(3)
        torch.sum(y).backward()
    assert isinstance(mode, torch.overrides.TorchFunctionMode)
    assert [n for n in seen if n != "backward"] == ["ones", "mul", "zeros_like", "cat", "clone", "mul_", "sum"]
    assert x.grad.tolist() == [6.0, 6.0]
    torch.exp(x)
    assert "exp" not in seen


def test_function_mode_replaces_results(torch):
    x = torch.ones(2)
    with function_mode(torch, lambda f, t, a, k: "mine" if f in (torch.add, torch.zeros) else f(*a, **k)):
        assert torch.add(x, x) == torch.zeros(2) == "mine" and torch.mul(x, 2).tolist() == [2.0, 2.0]
    assert torch.add(x, x).tolist() == [2.0, 2.0]


def test_function_modes_nest_innermost_first(torch):
    seen = []

    def named(name):
        def call(func, types, args, kwargs):
            seen.append(name)
            return func(*args, **kwargs)

        return function_mode(torch, call)

    with named("outer"), named("inner"):
        torch.ones(1).exp()
    assert seen == ["inner", "outer"] * 2


def test_function_mode_and_errors(torch):
    def fail(func, types, args, kwargs):
        raise KeyError("mine")

    x = torch.ones(1)
    with pytest.raises(KeyError, match="mine"), function_mode(torch, fail):
        torch.exp(x)
    assert torch.exp(x).shape == (1,)
    with pytest.raises(TypeError, match="returned NotImplemented"), function_mode(torch, lambda *a: NotImplemented):
        torch.exp(x)
    plain = torch.overrides.TorchFunctionMode()
    with pytest.raises(NotImplementedError), plain:
        torch.exp(x)
    with torch.overrides.BaseTorchFunctionMode():
        assert torch.overrides.has_torch_function((1,)) and torch.zeros(1).cos().item() == 1
    assert not torch.overrides.has_torch_function((1,))


def test_function_mode_and_subclasses(torch):
    class Mine(torch.Tensor):
        pass

    kinds = []

    def call(func, types, args, kwargs):
        kinds.append(tuple(types))
        return func(*args, **kwargs)

    x = torch.ones(2).as_subclass(Mine)
    with function_mode(torch, call):
        y = torch.add(x, 1)
    assert kinds == [(Mine,)] and type(y) is Mine
    with pytest.raises(TypeError, match="returned NotImplemented"), function_mode(torch, lambda *a: NotImplemented):
        torch.add(x, 1)  # what the subclass does in turn comes to the mode again
    with function_mode(torch, call), torch._C.DisableTorchFunction():
        torch.add(x, 1)
    assert len(kinds) == 1


def test_dispatch_mode_is_below_autograd(torch):
    seen, grad = [], []

    def call(func, types, args, kwargs):
        seen.append(str(func))
        grad.append(args[0].requires_grad and func(*args, **kwargs).requires_grad)
        return func(*args, **kwargs)

    x = torch.ones(3, requires_grad=True)
    with dispatch_mode(torch, call):
        y = (x.sin() * 2).sum()
        forward = len(seen)
        y.backward()
    assert seen[:forward] == ["aten.sin.default", "aten.mul.Tensor", "aten.sum.default"] and not any(grad)
    assert {"aten.cos.default", "aten.mul.Tensor"} <= set(seen[forward:])
    assert torch.allclose(x.grad, 2 * x.detach().cos())
    assert y.grad_fn.name() == "SumBackward0"


def test_dispatch_mode_changes_what_backward_sees(torch):
    def call(func, types, args, kwargs):
        out = func(*args, **kwargs)
        return out * 2 if func is torch.ops.aten.exp.default else out

    x = torch.zeros(2, requires_grad=True)
    with dispatch_mode(torch, call):
        y = x.exp()
        y.sum().backward()
    assert y.tolist() == [2.0, 2.0] and x.grad.tolist() == [2.0, 2.0] and y.grad_fn.name() == "ExpBackward0"


def test_dispatch_mode_of_several_results(torch):
    counted = []

    def call(func, types, args, kwargs):
        counted.append(func)
        return func(*args, **kwargs)

    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    with dispatch_mode(torch, call):
        values, indices = x.max(1)
    values.sum().backward()
    assert counted == [torch.ops.aten.max.dim] and indices.tolist() == [2, 2]
    assert x.grad.tolist() == [[0.0, 0.0, 1.0]] * 2


def test_dispatch_mode_counts_what_a_checkpoint_runs_again(torch):
    counts = {"sin": 0}

    def call(func, types, args, kwargs):
        counts["sin"] += func is torch.ops.aten.sin.default
        return func(*args, **kwargs)

    x = torch.ones(2, requires_grad=True)
    with dispatch_mode(torch, call):
        y = torch.utils.checkpoint.checkpoint(lambda a: a.sin().exp().tanh(), x, use_reentrant=False)
        assert counts["sin"] == 1
        y.sum().backward()
    assert counts["sin"] == 2


def test_current_modes(torch):
    functions, dispatch = torch.overrides, import_module(f"{torch.__name__}.utils._python_dispatch")
    assert functions._get_current_function_mode() is None and dispatch._get_current_dispatch_mode() is None
    with function_mode(torch, lambda f, t, a, k: f(*a, **k)) as mode:
        assert functions._get_current_function_mode() is mode
    with dispatch_mode(torch, lambda f, t, a, k: f(*a, **k)) as mode:
        assert dispatch._get_current_dispatch_mode() is mode
    assert functions._get_current_function_mode() is None and dispatch._get_current_dispatch_mode() is None
