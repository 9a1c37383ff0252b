"""Tangents of what is saved: through hooks, `save_on_cpu` and checkpoints they come back as without them."""

from __future__ import annotations

import functools
import importlib

import pytest

FUNCTIONS = {
    "power": lambda t, d: d**3,
    "products": lambda t, d: d * d * d,
    "result": lambda t, d: d.exp(),
    "both": lambda t, d: d.exp().sin() * d,
    "softmax": lambda t, d: (d * d).softmax(0)[0],
    "list": lambda t, d: t.cat([d, d * d]).prod(),
    "matmul": lambda t, d: (d[None] @ d[:, None]).sum(),
    "results": lambda t, d: (d * d).max(0)[0] * d,
    "layer norm": lambda t, d: t.nn.functional.layer_norm(d * d, (2,))[0] * d,
}

VALUES = {  # the gradient of the sum at 1 and 2, and its tangent along ones
    "power": ([3.0, 12.0], [6.0, 12.0]),
    "products": ([3.0, 12.0], [6.0, 12.0]),
    "result": ([2.7182817, 7.3890561], [2.7182817, 7.3890561]),
    "both": ([-2.0676079, 7.5196619], [-10.4703295, -84.353953]),
    "softmax": ([0.0903533, -0.1807066], [-0.0731981, 0.2367564]),
    "list": ([24.0, 12.0], [84.0, 48.0]),
    "matmul": ([2.0, 4.0], [2.0, 2.0]),
    "results": ([4.0, 16.0], [4.0, 18.0]),
    "layer norm": ([-1.0, -1.0], [0.0, 0.0]),
}


def checkpointed(torch, fn):
    checkpoint = importlib.import_module(f"{torch.__name__}.utils.checkpoint").checkpoint
    return lambda d: checkpoint(fn, d, use_reentrant=False)


def hooked(torch, pack, unpack, fn):
    def call(d):
        with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
            return fn(d)

    return call


def on_cpu(torch, fn):
    def call(d):
        with torch.autograd.graph.save_on_cpu():
            return fn(d)

    return call


WAYS = {
    "identity": lambda t, fn: hooked(t, lambda x: x, lambda x: x, fn),
    "clone": lambda t, fn: hooked(t, lambda x: x.clone(), lambda x: x, fn),
    "numbers": lambda t, fn: hooked(t, lambda x: x.detach().tolist(), t.tensor, fn),
    "save_on_cpu": on_cpu,
    "checkpoint": checkpointed,
    "checkpoint in a checkpoint": lambda t, fn: checkpointed(t, checkpointed(t, fn)),
    "checkpoint in hooks": lambda t, fn: hooked(t, lambda x: x.clone(), lambda x: x, checkpointed(t, fn)),
}


def gradient_and_tangent(torch, fn):
    forward_ad = importlib.import_module(f"{torch.__name__}.autograd.forward_ad")
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with forward_ad.dual_level():
        (g,) = torch.autograd.grad(fn(forward_ad.make_dual(x, torch.ones(2))).sum(), x)
        primal, tangent = forward_ad.unpack_dual(g)
        return primal.tolist(), tangent.tolist()


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("way", WAYS)
def test_the_gradient_of_a_dual_tensor_has_its_tangent(torch, way, name):
    fn = WAYS[way](torch, lambda d: FUNCTIONS[name](torch, d))
    gradient, tangent = gradient_and_tangent(torch, fn)
    expected, along = VALUES[name]
    assert gradient == pytest.approx(expected, rel=1e-4, abs=1e-3)
    assert tangent == pytest.approx(along, rel=1e-4, abs=5e-3)


@pytest.mark.parametrize("saved", ["exp", "sin"])
def test_selective_checkpoint(torch, checkpointing, saved):
    contexts = functools.partial(
        checkpointing.create_selective_checkpoint_contexts, [getattr(torch.ops.aten, saved).default]
    )

    def fn(d):
        return checkpointing.checkpoint(lambda e: e.exp().sin() * e, d, use_reentrant=False, context_fn=contexts)

    gradient, tangent = gradient_and_tangent(torch, fn)
    assert gradient == pytest.approx(VALUES["both"][0], rel=1e-4)
    assert tangent == pytest.approx(VALUES["both"][1], rel=1e-4)


@pytest.mark.parametrize("pack", [None, lambda t: t, lambda t: t.clone()], ids=["none", "identity", "clone"])
def test_saved_tensors_of_a_function(torch, make_function, pack):
    def forward(ctx, x):
        y = x * x
        ctx.save_for_backward(x, y)
        ctx.save_for_forward(x)
        return y

    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return 2 * x * g * y / y

    square = make_function(forward, backward, jvp=staticmethod(lambda ctx, t: 2 * ctx.saved_tensors[0] * t))
    fn = square.apply if pack is None else hooked(torch, pack, lambda t: t, square.apply)
    assert gradient_and_tangent(torch, fn) == ([2.0, 4.0], [2.0, 2.0])


def test_a_view_of_a_base_that_got_its_tangent_later(torch):
    forward_ad = importlib.import_module(f"{torch.__name__}.autograd.forward_ad")
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with forward_ad.dual_level():
        base = torch.zeros(2)
        view = base[:]
        base.copy_(forward_ad.make_dual(x, torch.ones(2)))
        fn = hooked(torch, lambda t: t.detach().clone(), lambda t: t, lambda d: d**3)
        (g,) = torch.autograd.grad(fn(view).sum(), x)
        assert forward_ad.unpack_dual(g).tangent.tolist() == [6.0, 12.0]


def test_the_tangent_of_what_was_packed_goes_with_its_level(torch):
    forward_ad = importlib.import_module(f"{torch.__name__}.autograd.forward_ad")
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        with forward_ad.dual_level():
            y = forward_ad.make_dual(x, torch.ones(2)) ** 3
    with forward_ad.dual_level():
        (g,) = torch.autograd.grad(y.sum(), x)
        assert g.tolist() == [3.0, 12.0] and forward_ad.unpack_dual(g).tangent is None


def test_hooks_do_not_hold_results_beside_what_they_packed(ours):
    import weakref

    from gradpack.autograd import forward_ad

    x = ours.ones(3, requires_grad=True)
    with forward_ad.dual_level():
        with ours.autograd.graph.saved_tensors_hooks(lambda t: t.tolist(), ours.tensor):
            y = forward_ad.make_dual(x, ours.ones(3)).exp()
        gone = weakref.ref(y._data)
        z = y.sum()
        del y
        assert gone() is None
        (g,) = ours.autograd.grad(z, x)
        assert forward_ad.unpack_dual(g).tangent.tolist() == pytest.approx([2.7182817] * 3)


# -- what torch refuses: hooks inside of transforms, and a backward after the level --


@pytest.fixture
def ours():
    import gradpack

    return gradpack


pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")

TWICE = {
    "jvp of grad": lambda func, f, x: func.jvp(func.grad(f), (x,), (x * 0 + 1,))[1],
    "grad of jvp": lambda func, f, x: func.grad(lambda v: func.jvp(f, (v,), (x * 0 + 1,))[1])(x),
    "hessian": lambda func, f, x: func.hessian(f)(x).sum(0),
    "jacrev of jacfwd": lambda func, f, x: func.jacrev(func.jacfwd(f))(x).sum(0),
    "jacrev of jacrev": lambda func, f, x: func.jacrev(func.jacrev(f))(x).sum(0),
    "vmap of hessian": lambda func, f, x: func.vmap(func.hessian(f))(x[None])[0].sum(0),
    "functional.hessian": lambda func, f, x: _functional().hessian(f, x).sum(0),
    "functional.hessian, vectorized": lambda func, f, x: (
        _functional().hessian(f, x, vectorize=True, outer_jacobian_strategy="forward-mode").sum(0)
    ),
}


def _functional():
    return importlib.import_module("gradpack.autograd.functional")


@pytest.mark.parametrize("name", TWICE)
@pytest.mark.parametrize("way", WAYS)
def test_transforms_of_a_transform(ours, way, name):
    fn = WAYS[way](ours, lambda e: (e.exp().sin() * e).sum())
    found = TWICE[name](ours.func, fn, ours.tensor([1.0, 2.0]))
    assert found.tolist() == pytest.approx(VALUES["both"][1], rel=1e-4)


def test_vmap_of_grad_of_a_checkpoint(ours):
    fn = checkpointed(ours, lambda e: (e.exp().sin() * e).sum())
    found = ours.vmap(ours.func.grad(fn))(ours.tensor([[1.0, 2.0], [2.0, 1.0]]))
    one, two = VALUES["both"][0]
    assert found.flatten().tolist() == pytest.approx([one, two, two, one], rel=1e-4)


@pytest.mark.parametrize("early_stop", [True, False])
def test_backward_through_a_checkpoint_after_the_level_has_ended(ours, early_stop):
    from gradpack.autograd import forward_ad
    from gradpack.utils.checkpoint import checkpoint

    x = ours.tensor([1.0, 2.0], requires_grad=True)
    with forward_ad.dual_level():
        d = forward_ad.make_dual(x, ours.ones(2))
        y = checkpoint(lambda e: e.exp().sin() * e, d, use_reentrant=False, early_stop=early_stop)
        tangent = forward_ad.unpack_dual(y).tangent
    (second,) = ours.autograd.grad(tangent.sum(), x, retain_graph=True)
    assert second.tolist() == pytest.approx(VALUES["both"][1], rel=1e-4)
    (first,) = ours.autograd.grad(y.sum(), x)
    assert first.tolist() == pytest.approx(VALUES["both"][0], rel=1e-4)
    with forward_ad.dual_level():
        assert forward_ad.unpack_dual(first).tangent is None
