"""Checkpointing in the corners: counts of runs, nesting, errors, groups, and what it composes with."""

from __future__ import annotations

import contextlib

import pytest


def leaf(torch, *values):
    return torch.tensor(list(values) or [1.0, 2.0], requires_grad=True)


def identity(t):
    return t


# -- how often the segment runs --


def test_reading_a_saved_tensor_runs_the_segment_each_time(torch, checkpoint):
    runs = []

    def segment(a):
        runs.append(1)
        return torch.exp(a * a)

    d = checkpoint(segment, leaf(torch))
    for count in (2, 3):
        d.grad_fn._saved_result
        assert len(runs) == count
    d.sum().backward()
    assert len(runs) == 4
    with pytest.raises(RuntimeError, match="after they have already been freed"):
        d.grad_fn._saved_result
    assert len(runs) == 4


def test_each_backward_runs_it_once(torch, checkpoint):
    runs = []
    x = leaf(torch)
    y = checkpoint(lambda x: (runs.append(1), (x * x).exp().sin())[1], x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert len(runs) == 3
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()
    with torch.no_grad():
        checkpoint(lambda x: (runs.append(1), x.sin())[1], x)
    assert len(runs) == 4


def test_outputs_that_go_backward_one_by_one(torch, checkpoint):
    runs = []
    x = leaf(torch)
    a, b = checkpoint(lambda x: (runs.append(1), x.sin(), x.exp())[1:], x)
    a.sum().backward(retain_graph=True)
    b.sum().backward()
    assert len(runs) == 3
    assert torch.allclose(x.grad, x.detach().cos() + x.detach().exp())


def test_early_stop(torch, checkpointing, checkpoint):
    def trace(setting=None, **kwargs):
        steps = []

        def segment(x):
            y = x.sin().exp()
            steps.append("end")
            return y + 1

        with contextlib.nullcontext() if setting is None else checkpointing.set_checkpoint_early_stop(setting):
            y = checkpoint(segment, leaf(torch), **kwargs)
        y.sum().backward()
        return len(steps)

    assert trace() == 1
    assert trace(early_stop=False) == 2
    assert trace(False) == 2
    assert trace(True, early_stop=False) == 1


def test_order_of_nested_runs(torch, checkpoint):
    order = []

    def inner(x):
        order.append("inner")
        return x.sin().exp()

    def middle(x):
        order.append("middle")
        return checkpoint(inner, x).cos()

    def outer(x):
        order.append("outer")
        return checkpoint(middle, x) * x

    x = leaf(torch)
    checkpoint(outer, x).sum().backward()
    assert order == ["outer", "middle", "inner", "outer", "middle", "inner", "middle", "inner", "inner"]
    found, x.grad = x.grad.clone(), None
    (x.sin().exp().cos() * x).sum().backward()
    assert torch.allclose(found, x.grad)


def test_groups(torch, checkpointing, checkpoint):
    runs = []
    x = leaf(torch)

    def segment(x):
        runs.append(1)
        return x.sin(), x.exp()

    a, b = checkpoint(segment, x)
    with checkpointing.GraphExecGroup():
        a.sum().backward(retain_graph=True)
        b.sum().backward()
    assert len(runs) == 2
    a, b = checkpoint(segment, x)
    with checkpointing.GraphExecGroup():
        a.sum().backward(retain_graph=True)
        with pytest.raises(checkpointing.CheckpointError, match="overlap"):
            a.sum().backward()
        with pytest.raises(RuntimeError, match="cannot be nested"), checkpointing.GraphExecGroup():
            pass


# -- what the segment gets and gives --


def test_the_second_run_gets_the_very_arguments(torch, checkpoint):
    same = []
    x = leaf(torch)
    h = x * 1
    checkpoint(lambda a, b: (same.append((a is x, b is h)), a.sin() * b)[1], x, h).sum().backward()
    assert same == [(True, True), (True, True)]


def test_structures(torch, checkpoint):
    x, w = leaf(torch), leaf(torch, 3.0, 4.0)
    out = checkpoint(lambda a, *, b: {"y": [(a[0] * a[1]["w"] * b).sin(), None, 3]}, [x, {"w": w}], b=x)
    assert out["y"][1:] == [None, 3]
    out["y"][0].sum().backward()
    found = x.grad.clone(), w.grad.clone()
    x.grad = w.grad = None
    (x * w * x).sin().sum().backward()
    assert torch.allclose(found[0], x.grad) and torch.allclose(found[1], w.grad)
    assert checkpoint(lambda x: None, x) is None


def test_an_argument_that_is_written_to(torch, checkpoint):
    h = leaf(torch) * 1
    y = checkpoint(lambda a: a.sin(), h)
    h.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    y = checkpoint(lambda a: a.add_(1).sin(), leaf(torch) * 1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_backward_inside_of_the_segment(torch, checkpoint):
    def segment(x):
        z = x.sin().cos()
        (g,) = torch.autograd.grad(z.sum(), x, retain_graph=True)
        return z * g

    def freed(x):
        (g,) = torch.autograd.grad(x.sin().cos().sum(), x)
        return x.cos() * g

    def recorded(x):
        (g,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
        return g * x

    for function in (segment, freed, recorded):
        for early_stop in (True, False):
            x = leaf(torch)
            checkpoint(function, x, early_stop=early_stop).sum().backward()
            found, x.grad = x.grad.clone(), None
            function(x).sum().backward()
            assert torch.allclose(found, x.grad), function.__name__


def test_saved_tensors_of_a_function_are_served_once(torch, checkpointing, checkpoint):
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.sin()

        @staticmethod
        def backward(ctx, g):
            ctx.saved_tensors
            (x,) = ctx.saved_tensors
            return g * x.cos()

    y = checkpoint(Twice.apply, leaf(torch))
    with pytest.raises(checkpointing.CheckpointError, match="already unpacked once"):
        y.sum().backward()


# -- differences between the runs --


def changing(torch, first, second):
    runs = []

    def segment(x):
        runs.append(1)
        return (first if len(runs) == 1 else second)(x)

    return segment


def test_fewer_tensors(torch, checkpointing, checkpoint):
    y = checkpoint(changing(torch, lambda x: x.sin().exp(), lambda x: x.sin()), leaf(torch))
    with pytest.raises(
        checkpointing.CheckpointError,
        match=r"different number of tensors .*\nNumber of tensors saved during forward: 2\n.*during recomputation: 1",
    ):
        y.sum().backward()


def test_more_tensors(torch, checkpointing, checkpoint):
    def segment():
        return changing(torch, lambda x: x.sin(), lambda x: x.sin().exp())

    checkpoint(segment(), leaf(torch)).sum().backward()  # ended before it could show
    y = checkpoint(segment(), leaf(torch), early_stop=False)
    with pytest.raises(checkpointing.CheckpointError, match="trying to save more tensors during recomputation"):
        y.sum().backward()


def test_other_metadata(torch, checkpointing, checkpoint):
    segment = changing(torch, lambda x: x[:1].sin().exp(), lambda x: x.double().sin().exp())
    y = checkpoint(segment, leaf(torch))
    with pytest.raises(checkpointing.CheckpointError, match="have different metadata") as caught:
        y.sum().backward()
    assert "tensor at position 0:\nsaved metadata: {'shape': " in str(caught.value)
    assert "Size([1]), 'dtype': " in str(caught.value)
    with pytest.raises(ValueError, match=r"should be one of \['default', 'none'\], but got other"):
        checkpoint(segment, leaf(torch), determinism_check="other")


@pytest.mark.parametrize("by", ["argument", "context"])
def test_debug_shows_the_operations(torch, real, checkpointing, checkpoint, by):
    if real:
        pytest.skip("torch's log and pytest's get into each other's way")
    segment = changing(torch, lambda x: x.sin().exp(), lambda x: x.tan()[:1].exp())
    with checkpointing.set_checkpoint_debug_enabled(True if by == "context" else None):
        y = checkpoint(segment, leaf(torch), debug=by == "argument")
    with pytest.raises(checkpointing.CheckpointError) as caught:
        y.sum().backward()
    text = str(caught.value)
    forward, _, again = text.partition("Operations executed during the original forward:")[2].partition(
        "recomputation:"
    )
    assert "$1: f32[2] = torch._ops.aten.sin.default($0)" in forward and "aten.tan" not in forward
    assert "aten.tan.default" in again
    assert "Stack traces of the operators that ran in the original forward" in text
    assert "test_checkpoint_rules.py:" in text
    with pytest.raises(ValueError, match="debug=True is incompatible"):
        checkpoint(segment, leaf(torch), debug=True, context_fn=lambda: None)


# -- contexts, modes, hooks --


def test_context_fn(torch, checkpoint):
    order = []

    @contextlib.contextmanager
    def note(name):
        order.append(name)
        yield
        order.append("-" + name)

    def contexts():
        return note("first"), note("second")

    def segment(x):
        order.append("run")
        return x.sin() + 1

    checkpoint(segment, leaf(torch), context_fn=contexts, early_stop=False).sum().backward()
    assert order == ["first", "run", "-first", "second", "run", "-second"]
    order.clear()
    with torch.no_grad():
        checkpoint(segment, leaf(torch), context_fn=contexts)
    assert order == ["run"]


def test_what_ends_a_recomputation_early(torch, checkpoint):
    class Note(contextlib.nullcontext):
        def __exit__(self, kind, *rest):
            ended.append(kind and kind.__name__)

    ended = []
    checkpoint(torch.sin, leaf(torch), context_fn=lambda: (Note(), Note())).sum().backward()
    assert ended == [None, "_StopRecomputationError"]


def test_a_context_that_suppresses(torch, checkpoint):
    def contexts():
        return contextlib.suppress(ZeroDivisionError), contextlib.nullcontext()

    with pytest.raises(RuntimeError, match="suppressed an exception raised during the checkpointed forward"):
        checkpoint(lambda x: 1 / 0, leaf(torch), context_fn=contexts)
    with pytest.raises(ZeroDivisionError):
        checkpoint(lambda x: 1 / 0, leaf(torch))


def test_random_state_is_left_alone(torch, checkpoint):
    dropout = torch.nn.functional.dropout
    for reentrant in (False, True):
        for preserve in (True, False):
            x = torch.ones(20, requires_grad=True)
            y = checkpoint(lambda x: dropout(x, 0.5).exp(), x, use_reentrant=reentrant, preserve_rng_state=preserve)
            state = torch.get_rng_state()
            y.sum().backward()
            assert torch.equal(state, torch.get_rng_state()) is preserve


def test_autocast_is_replayed(torch, checkpoint):
    for reentrant in (False, True):
        seen = []

        def segment(x, seen=seen):
            y = x @ x
            seen.append(y.dtype)
            return y.sin().float()

        x = torch.ones(2, 2, requires_grad=True)
        with torch.autocast("cpu"):
            y = checkpoint(segment, x, use_reentrant=reentrant)
        y.sum().backward()
        y = checkpoint(segment, x, use_reentrant=reentrant)
        with torch.autocast("cpu"):
            y.sum().backward()
        assert seen == [torch.bfloat16] * 2 + [torch.float32] * 2


def test_hooks_around_see_the_arguments_only(torch, checkpoint):
    events = []
    x, w = leaf(torch), leaf(torch)

    def pack(t):
        events.append(t is x)
        return t.detach()

    def unpack(t):
        events.append("unpack")
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = checkpoint(lambda a: (a * w).sin().exp(), x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert events == [True, "unpack", "unpack"]


def test_forbidden_hooks(torch, checkpoint):
    with torch.autograd.graph.disable_saved_tensors_hooks("not now"), pytest.raises(RuntimeError, match="not now"):
        checkpoint(lambda x: x.sin(), leaf(torch))


def test_a_second_run_that_fails_leaves_all_as_it_was(torch, checkpoint):
    runs = []
    x = leaf(torch)

    def segment(x):
        runs.append(1)
        if len(runs) == 2:
            raise ValueError("not this time")
        return x.sin()

    y = checkpoint(segment, x).sum()
    with pytest.raises(ValueError, match="not this time"):
        y.backward()
    assert x.grad is None and torch.is_grad_enabled()
    y.backward()
    assert torch.allclose(x.grad, x.detach().cos())


# -- ours only --


def test_works_with_every_way_of_keeping_saved_tensors(torch, real, checkpoint):
    if real:
        pytest.skip("gradpack's own")
    from gradpack import saved

    hooks = torch.autograd.graph.saved_tensors_hooks
    x = (torch.arange(4096.0) / 4096).requires_grad_()
    (x.sin().exp() * x).sum().backward()
    expected, x.grad = x.grad.clone(), None
    graph, disk = torch.autograd.graph, saved.Disk()
    ways = [graph.save_on_cpu, graph.allow_mutation_on_saved_tensors]
    ways += [lambda pair=pair: hooks(*pair) for pair in (saved.bfloat16(at_least=0), disk)]
    for way in ways:
        for inside in (False, True):
            with way():
                segment = (lambda x: x.sin().exp()) if inside else (lambda x: x.sin().exp() * x)
                y = checkpoint(segment, x)
                (y * x if inside else y).sum().backward()
            assert torch.allclose(x.grad, expected, rtol=2e-2, atol=2e-2)
            x.grad = None


def _another_dtype(torch, dtype, call):
    """A segment that computes in another dtype the second time."""
    runs = []

    def segment(x):
        runs.append(1)
        return call(x if len(runs) == 1 else x.to(getattr(torch, dtype)))

    return segment


@pytest.mark.parametrize("dtype", ["float64", "bfloat16", "float16"])
@pytest.mark.parametrize("early_stop", [True, False])
def test_another_dtype_without_a_check(torch, checkpoint, dtype, early_stop):
    for call in (lambda x: x.sin(), lambda x: x.exp(), lambda x: x * x * x):
        plain, x = (torch.tensor([0.5, 1.5, 2.5], requires_grad=True) for _ in range(2))
        call(plain).sum().backward()
        segment = _another_dtype(torch, dtype, call)
        checkpoint(segment, x, determinism_check="none", early_stop=early_stop).sum().backward()
        assert x.grad.dtype is torch.float32
        assert x.grad.tolist() == pytest.approx(plain.grad.tolist(), rel=2e-2)


def test_another_dtype_differentiated_twice(torch, checkpoint):
    x = torch.tensor([0.5, 1.5], requires_grad=True)
    y = checkpoint(_another_dtype(torch, "float64", lambda x: x.sin()), x, determinism_check="none")
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    g.sum().backward()
    assert x.grad.tolist() == pytest.approx((-x.sin()).tolist())


def test_another_dtype_with_a_check(torch, checkpoint, checkpointing):
    x = torch.tensor([0.5, 1.5], requires_grad=True)
    y = checkpoint(_another_dtype(torch, "float64", lambda x: x.sin()), x)
    with pytest.raises(checkpointing.CheckpointError, match="different metadata"):
        y.sum().backward()
