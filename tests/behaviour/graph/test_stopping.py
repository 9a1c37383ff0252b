"""Identities that stop gradients, and what a running backward pass says of itself."""

from __future__ import annotations

import gc
import weakref
from importlib import import_module

import pytest


def test_delayed_error(torch):
    functions = torch._C._functions
    x = torch.ones(2, requires_grad=True)
    y = functions.DelayedError("stop here", 1)(x)
    assert y.tolist() == [1.0, 1.0] and y is not x and y.grad_fn.name() == "torch::autograd::Error"
    assert type(y.grad_fn).__name__ == "Error" and not y._is_view()
    with pytest.raises(RuntimeError, match="stop here"):
        y.sum().backward()
    with pytest.raises(RuntimeError, match="stop here"):
        torch.autograd.grad(y.sum(), x)
    (found,) = torch.autograd.grad((y * 2).sum(), y)
    assert found.tolist() == [2.0, 2.0]
    a, b = functions.DelayedError("two", 2)(x, torch.ones(1))
    assert a.requires_grad and b.requires_grad and a.grad_fn is b.grad_fn
    assert [n for n, _ in a.grad_fn.next_functions][1] is None
    assert functions.DelayedError("none", 1)(torch.ones(1)).grad_fn is None
    with torch.no_grad():
        assert functions.DelayedError("one", 1)(x).requires_grad
    with pytest.raises(TypeError, match="expected 2 arguments, got 1"):
        functions.DelayedError("two", 2)(x)
    with pytest.raises(TypeError, match="argument 0 is not a Variable"):
        functions.DelayedError("one", 1)(3)


def test_undefined_grad(torch, make_function):
    seen = []

    def backward(ctx, g):
        seen.append(g)
        return g

    x = torch.ones(1, requires_grad=True)
    torch._C._functions.UndefinedGrad()(make_function(lambda ctx, x: x.clone(), backward).apply(x)).backward()
    assert seen[0].tolist() == [0.0] and x.grad.tolist() == [0.0]

    def without(ctx, x):
        ctx.set_materialize_grads(False)
        return x.clone()

    x.grad = None
    torch._C._functions.UndefinedGrad()(make_function(without, backward).apply(x)).backward()
    assert seen[1] is None and x.grad is None
    node = torch._C._functions.UndefinedGrad()(x).grad_fn
    assert node.name() == "torch::autograd::UndefinedGradBackward" and len(node.next_functions) == 1


def test_once_differentiable_keeps_the_places_of_its_gradients(torch, make_function):
    once = import_module(f"{torch.__name__}.autograd.function").once_differentiable
    cls = make_function(lambda ctx, x, number, y: x * number + y, once(lambda ctx, g: (g * 3, None, g)))
    x, y = (torch.ones(1, requires_grad=True) for _ in range(2))
    gx, gy = torch.autograd.grad(cls.apply(x, 3, y), (x, y), torch.ones(1, requires_grad=True), create_graph=True)
    assert gx.grad_fn is gy.grad_fn and (gx.output_nr, gy.output_nr) == (0, 2)
    assert [n is None for n, _ in gx.grad_fn.next_functions] == [False, True, False]
    with pytest.raises(RuntimeError, match="trying to differentiate twice a function that was marked with"):
        gx.backward()


def test_classes_of_nodes(torch):
    functions, Node = torch._C._functions, torch.autograd.graph.Node
    x = torch.ones(2, requires_grad=True)
    assert isinstance(x.exp().grad_fn, functions.ExpBackward0) and not isinstance(
        x.sin().grad_fn, functions.ExpBackward0
    )
    assert isinstance(x.exp().grad_fn.next_functions[0][0], functions.AccumulateGrad)
    assert issubclass(functions.DelayedError, Node) and issubclass(functions.UndefinedGrad, Node)
    assert not hasattr(functions, "NoSuchBackward0")
    assert torch.autograd.SavedTensor is type((x * x).grad_fn._raw_saved_self)
    with pytest.raises(RuntimeError, match="Trying to create a SavedTensor object from Python is forbidden"):
        torch.autograd.SavedTensor()


def test_version_counter_set_by_hand(torch):
    x, y = torch.ones(1), torch.ones(1)
    x.add_(1).add_(1)
    torch._C._autograd._unsafe_set_version_counter((x, y), (0, 7))
    assert (x._version, y._version) == (0, 7)
    with pytest.raises(RuntimeError, match="Cannot set"):
        torch._C._autograd._unsafe_set_version_counter((x,), (-1,))


def test_weak_reference(torch):
    x = torch.ones(1)
    ref = torch._C._WeakTensorRef(x)
    assert not ref.expired()
    gone = weakref.ref(x)
    del x
    gc.collect()
    assert ref.expired() and gone() is None


def test_current_node(torch, make_function):
    seen = []

    def backward(ctx, g):
        seen.append(torch._C._current_autograd_node())
        return g

    x = torch.ones(2, requires_grad=True)
    y = make_function(lambda ctx, x: x.clone(), backward).apply(x)
    node = y.grad_fn
    assert torch._C._current_autograd_node() is None
    (y * 2).sum().backward()
    assert seen == [node] and torch._C._current_autograd_node() is None


def test_execution_order(torch):
    found = []
    x, y = (torch.tensor(float(i), requires_grad=True) for i in (1, 2))
    a = y.sin()
    b = x.cos()
    out = a * b

    def hook(g):
        found.append(torch._C._current_graph_task_execution_order())

    out.register_hook(hook)
    with torch.autograd.set_multithreading_enabled(False):
        out.backward(retain_graph=True)
        torch.autograd.grad(out, x, retain_graph=True)
    names = [[n.name().rpartition("::")[2] for n in order] for order in found]
    assert names[0] == ["MulBackward0", "CosBackward0", "AccumulateGrad", "SinBackward0", "AccumulateGrad"]
    assert found[0][2].variable is x and names[1] == ["MulBackward0", "CosBackward0", "AccumulateGrad"]
    with pytest.raises(RuntimeError, match="should only be called during the backward pass"):
        torch._C._current_graph_task_execution_order()
    with pytest.raises(RuntimeError, match="expects the current backward to be executed with multithreading disabled"):
        out.backward()


def test_resize(torch):
    resize = import_module(f"{torch.__name__}.autograd._functions").Resize
    x = torch.arange(6.0, requires_grad=True)
    y = resize.apply(x, (2, 3))
    (y * torch.arange(6.0).reshape(2, 3)).sum().backward()
    assert y.shape == (2, 3) and x.grad.tolist() == x.tolist()
    with pytest.raises(RuntimeError, match="requested resize to 4"):
        resize.apply(x, (4,))


def test_hooks_pushed_by_hand(torch):
    packed = []
    x = torch.ones(2, requires_grad=True)
    torch.autograd._push_saved_tensors_default_hooks(lambda t: packed.append(t) or t, lambda t: t)
    try:
        y = x.exp()
    finally:
        torch.autograd._pop_saved_tensors_default_hooks()
    x.exp()
    y.sum().backward()
    assert len(packed) == 1 and x.grad is not None


def test_metadata_of_all_results(torch):
    x = torch.rand(2, 3, requires_grad=True)
    for results in (torch.var_mean(x, dim=0), x.unbind(), x.max(1), torch.linalg.qr(x)):
        shapes = [list(d.shape) for d in results[0].grad_fn._input_metadata]
        assert shapes == [list(r.shape) for r in results][: len(shapes)] and shapes
