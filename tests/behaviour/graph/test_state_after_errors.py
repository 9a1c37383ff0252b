"""What is refused leaves everything as it was: modes, `.grad`, versions, values, and the graph, which still runs.

Each row: the exception, and a call that is given the module, a leaf `x` with a gradient, and `y = x.sin() * x`.
"""

from __future__ import annotations

import pytest

pytestmark = [
    pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated"),  # torch, the first time
    pytest.mark.filterwarnings("ignore:Anomaly Detection has been enabled"),
    pytest.mark.filterwarnings("ignore:.*non-leaf Tensor"),
]


def hooked(t, hook):
    """A gradient through a hook that is taken away again."""

    def call(x, y):
        handle = y.register_hook(hook(t))
        try:
            t.autograd.grad(y.sum(), x, retain_graph=True)
        finally:
            handle.remove()

    return call


def node_hooked(t, kind, hook):
    def call(x, y):
        handle = getattr(y.grad_fn, kind)(hook(t))
        try:
            t.autograd.grad(y.sum(), x, retain_graph=True)
        finally:
            handle.remove()

    return call


def function(t, forward=lambda ctx, a: a * 2, backward=lambda ctx, g: g * 2):
    body = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type(t.autograd.Function)("Refused", (t.autograd.Function,), body)


def through(t, backward):
    return lambda x, y: function(t, backward=backward).apply(x).sum().backward()


def packed(t, pack, unpack):
    def call(x, y):
        with t.autograd.graph.saved_tensors_hooks(pack(t), unpack(t)):
            made = x * x
        made.sum().backward()

    return call


def in_anomaly_mode(t, call):
    with t.autograd.detect_anomaly():
        call()


def in_a_level(t, call):
    def inside(x, y):
        with t.autograd.forward_ad.dual_level():
            call(t.autograd.forward_ad)

    return inside


BACKWARD = {
    "no scalar": (RuntimeError, lambda t, x, y: y.backward()),
    "another shape": (RuntimeError, lambda t, x, y: y.backward(t.ones(4))),
    "no tensor": (TypeError, lambda t, x, y: y.backward(3)),
    "no graph": (RuntimeError, lambda t, x, y: x.detach().sum().backward()),
    "no inputs": (RuntimeError, lambda t, x, y: y.sum().backward(inputs=[])),
    "inputs without grad": (RuntimeError, lambda t, x, y: y.sum().backward(inputs=[t.ones(1)])),
    "fewer gradients": (RuntimeError, lambda t, x, y: t.autograd.backward([y.sum(), y.sum()], [None])),
    "complex for real": (RuntimeError, lambda t, x, y: y.backward(t.ones(3, dtype=t.complex64))),
    "unused": (
        RuntimeError,
        lambda t, x, y: t.autograd.grad(y.sum(), [x, t.ones(1, requires_grad=True)], retain_graph=True),
    ),
    "unused and materialized": (
        ValueError,
        lambda t, x, y: t.autograd.grad(y.sum(), x, allow_unused=False, materialize_grads=True),
    ),
    "no inputs of grad": (RuntimeError, lambda t, x, y: t.autograd.grad(y.sum(), [])),
    "grad by a number": (TypeError, lambda t, x, y: t.autograd.grad(y.sum(), 3)),
    "batched gradients of another shape": (
        RuntimeError,
        lambda t, x, y: t.autograd.grad(y, x, t.ones(2, 4), is_grads_batched=True),
    ),
    "an unknown keyword": (TypeError, lambda t, x, y: t.autograd.grad(y.sum(), x, retain=True)),
}

HOOKS = {
    "returns a number": (TypeError, lambda t, x, y: hooked(t, lambda t: lambda g: 3)(x, y)),
    "returns another shape": (RuntimeError, lambda t, x, y: hooked(t, lambda t: lambda g: t.ones(5))(x, y)),
    "raises": (ZeroDivisionError, lambda t, x, y: hooked(t, lambda t: lambda g: 1 / 0)(x, y)),
    "of what needs no grad": (RuntimeError, lambda t, x, y: t.ones(1).register_hook(print)),
    "after accumulation, of no leaf": (RuntimeError, lambda t, x, y: y.register_post_accumulate_grad_hook(print)),
    "of a node, too many": (
        RuntimeError,
        lambda t, x, y: node_hooked(t, "register_hook", lambda t: lambda a, b: (*a, *a))(x, y),
    ),
    "before a node, too many": (
        RuntimeError,
        lambda t, x, y: node_hooked(t, "register_prehook", lambda t: lambda a: (*a, *a))(x, y),
    ),
    "before a node, another shape": (
        RuntimeError,
        lambda t, x, y: node_hooked(t, "register_prehook", lambda t: lambda a: (t.ones(4),))(x, y),
    ),
    "pack raises": (
        ZeroDivisionError,
        lambda t, x, y: packed(t, lambda t: lambda v: 1 / 0, lambda t: lambda v: v)(x, y),
    ),
    "unpack raises": (
        ZeroDivisionError,
        lambda t, x, y: packed(t, lambda t: lambda v: v, lambda t: lambda v: 1 / 0)(x, y),
    ),
    "unpack gives no tensor": (
        TypeError,
        lambda t, x, y: packed(t, lambda t: lambda v: v, lambda t: lambda v: "v")(x, y),
    ),
    "no hooks to save with": (
        RuntimeError,
        lambda t, x, y: t.autograd.graph.disable_saved_tensors_hooks("off")(
            lambda: packed(t, lambda t: lambda v: v, lambda t: lambda v: v)(x, y)
        )(),
    ),
}

FUNCTIONS = {
    "backward returns too many": (RuntimeError, lambda t, x, y: through(t, lambda ctx, g: (g, g))(x, y)),
    "backward returns another shape": (RuntimeError, lambda t, x, y: through(t, lambda ctx, g: t.ones(7))(x, y)),
    "backward raises": (ZeroDivisionError, lambda t, x, y: through(t, lambda ctx, g: 1 / 0)(x, y)),
    "forward raises": (ZeroDivisionError, lambda t, x, y: function(t, lambda ctx, a: 1 / 0).apply(x)),
    "saves no tensor": (
        TypeError,
        lambda t, x, y: function(t, lambda ctx, a: (ctx.save_for_backward(3), a * 2)[1]).apply(x),
    ),
}

WRITES = {
    "a leaf": (RuntimeError, lambda t, x, y: x.add_(1)),
    "a view of a leaf": (RuntimeError, lambda t, x, y: x.view(-1).add_(1)),
    "one of several views": (RuntimeError, lambda t, x, y: y.unbind()[0].add_(1)),
    "a larger shape": (RuntimeError, lambda t, x, y: y.add_(t.ones(2, 3))),
    "a higher dtype": (RuntimeError, lambda t, x, y: t.ones(3, dtype=t.int64).add_(y)),
    "an index out of bounds": (IndexError, lambda t, x, y: y.__setitem__(5, 1.0)),
    "a value that is no number": (TypeError, lambda t, x, y: y.__setitem__(0, "a")),
    "a value that does not fit": (RuntimeError, lambda t, x, y: y.__setitem__(slice(None), t.ones(2))),
    "out= that requires grad": (RuntimeError, lambda t, x, y: t.add(t.ones(3), 1, out=x)),
    "out= of another kind": (RuntimeError, lambda t, x, y: t.add(t.ones(3), 1, out=t.ones(3, dtype=t.int64))),
    "the parts of itself": (RuntimeError, lambda t, x, y: y[1:].addcmul_(y[:-1], y[:-1])),
    "resize of what requires grad": (RuntimeError, lambda t, x, y: y.resize_(7)),
    "grad of another shape": (RuntimeError, lambda t, x, y: setattr(x, "grad", t.ones(4))),
    "grad of another dtype": (RuntimeError, lambda t, x, y: setattr(x, "grad", t.ones(3, dtype=t.float64))),
    "grad that is no tensor": (TypeError, lambda t, x, y: setattr(x, "grad", 3)),
    "grad that is itself": (RuntimeError, lambda t, x, y: setattr(x, "grad", x)),
    "requires_grad of a result": (RuntimeError, lambda t, x, y: setattr(y, "requires_grad", False)),
    "data of no tensor": (TypeError, lambda t, x, y: setattr(x, "data", 3)),
}

MODES = {
    "in no_grad": (ZeroDivisionError, lambda t, x, y: t.no_grad()(lambda: 1 / 0)()),
    "in inference_mode": (ZeroDivisionError, lambda t, x, y: t.inference_mode()(lambda: 1 / 0)()),
    "in enable_grad": (ZeroDivisionError, lambda t, x, y: t.enable_grad()(lambda: 1 / 0)()),
    "a NaN under anomaly mode": (
        RuntimeError,
        lambda t, x, y: in_anomaly_mode(t, lambda: ((x * 0).sqrt() * 0).sum().backward()),
    ),
    "no level": (RuntimeError, lambda t, x, y: t.autograd.forward_ad.make_dual(t.ones(2), t.ones(2))),
    "a level in a level": (RuntimeError, lambda t, x, y: in_a_level(t, lambda fw: fw.enter_dual_level())(x, y)),
    "a dual of another shape": (
        RuntimeError,
        lambda t, x, y: in_a_level(t, lambda fw: fw.make_dual(t.ones(2), t.ones(3)))(x, y),
    ),
    "a dual of integers": (
        ValueError,
        lambda t, x, y: in_a_level(t, lambda fw: fw.make_dual(t.ones(2, dtype=t.int64), t.ones(2)))(x, y),
    ),
    "vmap of different sizes": (ValueError, lambda t, x, y: t.func.vmap(lambda a, b: a + b)(t.ones(2), t.ones(3))),
    "inside of vmap": (ZeroDivisionError, lambda t, x, y: t.func.vmap(lambda a: 1 / 0)(t.ones(2))),
    "inside of grad": (ZeroDivisionError, lambda t, x, y: t.func.grad(lambda a: 1 / 0)(t.ones(2))),
    "inside of jvp": (ZeroDivisionError, lambda t, x, y: t.func.jvp(lambda a: 1 / 0, (t.ones(2),), (t.ones(2),))),
    "inside of a checkpoint": (
        ZeroDivisionError,
        lambda t, x, y: t.utils.checkpoint.checkpoint(lambda a: 1 / 0, x, use_reentrant=False),
    ),
    "inside of a reentrant checkpoint": (
        ZeroDivisionError,
        lambda t, x, y: t.utils.checkpoint.checkpoint(lambda a: 1 / 0, x, use_reentrant=True),
    ),
}

ARGUMENTS = {
    "more elements than 64 bits count": (RuntimeError, lambda t, x, y: t.empty(2**62)),
    "more bytes than 64 bits count": (RuntimeError, lambda t, x, y: t.zeros(2**31, 2**31)),
    "a negative size": (RuntimeError, lambda t, x, y: t.zeros(-1)),
    "a size that is NaN": (TypeError, lambda t, x, y: t.zeros(float("nan"))),
    "a range without end": (RuntimeError, lambda t, x, y: t.arange(float("inf"))),
    "a scale that is NaN": (
        RuntimeError,
        lambda t, x, y: t.nn.functional.interpolate(t.ones(1, 1, 2), scale_factor=float("nan")),
    ),
    "a padding mode of no name": (TypeError, lambda t, x, y: t.nn.functional.pad(y[None], (1, 1), mode=None)),
    "a shape to normalize that is a number": (TypeError, lambda t, x, y: t.nn.functional.layer_norm(y, 3)),
    "a factor that is a list": (TypeError, lambda t, x, y: t.addcmul(y, y, y, value=[1.0])),
    "a complex factor": (RuntimeError, lambda t, x, y: t.addcdiv(y, y, y, value=1j)),
    "ends that are lists": (TypeError, lambda t, x, y: t.linspace([1.0], 2, 3)),
    "rows out of bounds": (IndexError, lambda t, x, y: t.index_select(y, 0, t.tensor([5]))),
    "columns out of bounds": (RuntimeError, lambda t, x, y: t.index_select(y[None], 1, t.tensor([5]))),
    "an index to add at, out of bounds": (IndexError, lambda t, x, y: y.index_add(0, t.tensor([5]), t.ones(1))),
    "nothing to make a tensor of": (RuntimeError, lambda t, x, y: t.tensor(None)),
    "text to make a tensor of": (TypeError, lambda t, x, y: t.tensor("a")),
    "a list of text": (ValueError, lambda t, x, y: t.tensor(["a"])),
    "a type of no name": (ValueError, lambda t, x, y: y.type("nonsense")),
    "the result type of text": (TypeError, lambda t, x, y: t.result_type("a", 1)),
    "a seed that is no number": (ValueError, lambda t, x, y: t.manual_seed("a")),
}

CASES = {
    f"{group}: {name}": row
    for group, rows in {
        "backward": BACKWARD, "hooks": HOOKS, "functions": FUNCTIONS,
        "writes": WRITES, "modes": MODES, "arguments": ARGUMENTS,
    }.items()
    for name, row in rows.items()
}  # fmt: skip


def state(torch, x, y):
    hooks = torch._C._autograd._saved_tensors_hooks_is_enabled()
    return {
        "grad mode": torch.is_grad_enabled(),
        "inference mode": torch.is_inference_mode_enabled(),
        "anomaly mode": torch.is_anomaly_enabled(),
        "hooks": hooks,
        "grad": x.grad.tolist(),
        "versions": (x._version, y._version, x.grad._version),
        "values": (x.tolist(), y.tolist()),
        "places": (x.is_leaf, y.is_leaf, x.requires_grad, y.requires_grad, type(y.grad_fn).__name__, tuple(x.shape)),
    }


@pytest.mark.parametrize("name", CASES)
def test_what_is_refused_changes_nothing(torch, name):
    error, call = CASES[name]
    x = torch.tensor([0.5, 1.0, 2.0], requires_grad=True)
    x.grad = torch.tensor([1.0, 2.0, 3.0])
    y = x.sin() * x
    grad = x.grad
    before = state(torch, x, y)
    with pytest.raises(error) as caught:
        call(torch, x, y)
    assert type(caught.value) is error or issubclass(error, Exception)
    assert str(caught.value)
    assert state(torch, x, y) == before
    assert x.grad is grad
    with torch.autograd.forward_ad.dual_level():  # there is none open
        pass
    found = torch.autograd.grad(y.sum(), x)[0]
    assert torch.allclose(found, x.detach().cos() * x.detach() + x.detach().sin())
