"""Calls of one custom function that differ from its first: other arguments, other methods, other modes."""

from __future__ import annotations

import gc
import weakref

import pytest


@pytest.fixture
def scaled(torch):
    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, w=2.0, b=None):
            ctx.save_for_backward(x, w if isinstance(w, torch.Tensor) else None)
            ctx.w = w
            return x * w if b is None else x * w + b

        @staticmethod
        def backward(ctx, g):
            x, w = ctx.saved_tensors
            grads = g * ctx.w, None if w is None else g * x, g
            return tuple(h if n else None for h, n in zip(grads, ctx.needs_input_grad, strict=False))

    Scaled.apply(torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)).sum().backward()
    return Scaled


def test_arguments_of_other_kinds(torch, scaled):
    x, w = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([3.0, 4.0], requires_grad=True)
    b = torch.ones(2, requires_grad=True)
    calls = {
        "a number": (lambda: scaled.apply(x, 5.0), [5.0, 5.0], None),
        "one argument": (lambda: scaled.apply(x), [2.0, 2.0], None),
        "three": (lambda: scaled.apply(x, w, b), [3.0, 4.0], [1.0, 2.0]),
        "a parameter": (lambda: scaled.apply(x, torch.nn.Parameter(w.detach())), [3.0, 4.0], None),
        "a constant": (lambda: scaled.apply(x, w.detach()), [3.0, 4.0], None),
        "a view": (lambda: scaled.apply(x.view(2), w[:]), [3.0, 4.0], [1.0, 2.0]),
        "only the second": (lambda: scaled.apply(x.detach(), w), None, [1.0, 2.0]),
        "as at first": (lambda: scaled.apply(x, w), [3.0, 4.0], [1.0, 2.0]),
    }
    for name, (call, of_x, of_w) in calls.items():
        x.grad = w.grad = None
        call().sum().backward()
        assert [None if t.grad is None else t.grad.tolist() for t in (x, w)] == [of_x, of_w], name


def test_a_view_whose_storage_was_written_to(torch, scaled):
    x, w = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    base = torch.zeros(2)
    view = base[:]
    base.copy_(x * 3)
    scaled.apply(view, w).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0] and w.grad.tolist() == [3.0, 3.0]


def test_modes_after_the_first_call(torch, scaled):
    x, w = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    with torch.no_grad():
        assert not scaled.apply(x, w).requires_grad
    with torch.inference_mode():
        assert scaled.apply(x, w).is_inference()
    assert not scaled.apply(x.detach(), w.detach()).requires_grad
    packed = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t):
        y = scaled.apply(x, w)
    assert len(packed) == 2
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match="setup_context staticmethod"):
        torch.func.grad(lambda x: scaled.apply(x, w).sum())(x.detach())


def test_methods_that_are_replaced(torch, scaled):
    x, w = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)

    class Inner(scaled):
        pass

    Inner.apply(x, w)
    scaled.forward = staticmethod(lambda ctx, x, w: x + w)
    scaled.backward = staticmethod(lambda ctx, g: (g * 7, None))
    for cls in (scaled, Inner):
        x.grad = None
        y = cls.apply(x, w)
        assert y.tolist() == [2.0, 2.0]
        y.sum().backward()
        assert x.grad.tolist() == [7.0, 7.0]
    del scaled.backward
    scaled.vjp = staticmethod(lambda ctx, g: (g * 8, None))
    x.grad = None
    scaled.apply(x, w).sum().backward()
    assert x.grad.tolist() == [8.0, 8.0]
    seen = []
    scaled.forward = staticmethod(lambda x, w: x - w)
    scaled.setup_context = staticmethod(lambda ctx, inputs, output: seen.append(len(inputs)))
    assert scaled.apply(x, w).tolist() == [0.0, 0.0] and seen == [2]


def test_results_of_other_kinds(torch):
    results = [
        lambda x: x * 2,
        lambda x: (x * 2,),
        lambda x: (x * 2, x * 3),
        lambda x: x,
        lambda x: x[:],
        lambda x: x.to(torch.int64),
        lambda x: 3,
    ]

    class Some(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, i):
            return results[i](x)

        @staticmethod
        def backward(ctx, *grads):
            return grads[0] * 5, None

    x = torch.ones(2, requires_grad=True)
    found = [Some.apply(x, i) for i in range(len(results))]
    for y in (found[0], found[1][0], found[2][0], found[3], found[4]):
        x.grad = None
        y.sum().backward()
        assert x.grad.tolist() == [5.0, 5.0] and y is not x
    assert found[5].grad_fn is None and found[6] == 3 and len(found[2]) == 2


def test_versions_of_saved_tensors_are_checked_after_others_were_read(torch, scaled):
    x, w = torch.ones(2, requires_grad=True), torch.ones(2)
    y = scaled.apply(x * 1, w)
    assert y.grad_fn.saved_tensors[1] is w and y.grad_fn.saved_tensors[1] is w
    w.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        _ = y.grad_fn.saved_tensors
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_hooks_on_tensors_that_were_saved_without(torch, scaled):
    x, w = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    y = scaled.apply(x, w)
    first, _ = y.grad_fn._raw_saved_tensors
    first.register_hooks(lambda t: t * 10, lambda t: t)
    y.sum().backward()
    assert w.grad.tolist() == [10.0, 10.0] and x.grad.tolist() == [1.0, 1.0]


def test_classes_are_freed(torch, scaled):
    def made():
        class Twice(scaled):
            pass

        x = torch.ones(2, requires_grad=True)
        Twice.apply(x, x).sum().backward()
        return weakref.ref(Twice)

    classes = [made() for _ in range(3)]
    gc.collect()
    assert [c() for c in classes] == [None] * 3


def test_graphs_are_freed_without_the_collector(torch, scaled):
    gc.collect()
    gc.disable()
    try:
        x, w = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
        y = scaled.apply(x, w)
        node = weakref.ref(y.grad_fn)
        del y
        assert node() is None
    finally:
        gc.enable()
