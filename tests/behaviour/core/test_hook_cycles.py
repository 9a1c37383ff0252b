"""Graphs and what they saved go when the last user lets go, without the collector."""

from __future__ import annotations

import functools
import gc
import weakref

import pytest

import gradpack as torch
from gradpack.utils.checkpoint import checkpoint

hooks = torch.autograd.graph.saved_tensors_hooks


@pytest.fixture(autouse=True)
def no_collector():
    gc.collect()
    gc.disable()
    gc.freeze()  # so that collecting takes no time
    yield
    gc.enable()


def cycles():
    """How many of the package's objects only the collector can find."""
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        gc.collect()
        return sum(type(o).__module__.partition(".")[0] == "gradpack" for o in gc.garbage)
    finally:
        gc.set_debug(0)
        gc.garbage.clear()


def leaf():
    return torch.tensor([0.5, 1.5], requires_grad=True)


class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[1]


class ExpInPlace(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x.exp_()
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0]


class ExpByViews(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y.view(-1), y[:1])
        return y

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0]


def in_place(x):
    y = x * 1
    return ExpInPlace.apply(y)


def in_place_through_a_view(x):
    base = x * 1
    ExpInPlace.apply(base[:])
    return base


FUNCTIONS = {
    "result": lambda x: x.exp(),
    "results": lambda x: torch.linalg.svd(torch.diag(x))[1],
    "Function": Exp.apply,
    "Function in place": in_place,
    "Function in place through a view": in_place_through_a_view,
    "Function that saves views of its result": ExpByViews.apply,
}

PACKS = {
    "itself": (lambda t: t, lambda packed: packed),
    "tuple": (lambda t: (t,), lambda packed: packed[0]),
    "dict": (lambda t: {"a": [t]}, lambda packed: packed["a"][0]),
    "closure": (lambda t: lambda: t, lambda packed: packed()),
    "partial": (lambda t: functools.partial(lambda value: value, t), lambda packed: packed()),
    "view": (lambda t: (t[:], t.shape), lambda packed: packed[0].view(packed[1])),
}


def second_derivative(fn):
    x = leaf()
    (g,) = torch.autograd.grad(fn(x).sum(), x, create_graph=True)
    if g.requires_grad:
        g.sum().backward()
    return g.tolist(), None if x.grad is None else x.grad.tolist()


def is_let_go_of(fn):
    """Whether the node of a result, and the array of what it saved, go with the result."""
    y = fn(leaf())
    gone = [weakref.ref(y.grad_fn), weakref.ref(y._data)]
    del y
    return [ref() for ref in gone] == [None, None]


@pytest.mark.parametrize("pack", PACKS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_hooks_that_hold_what_they_are_given(name, pack):
    def call(x):
        with hooks(*PACKS[pack]):
            return FUNCTIONS[name](x)

    assert is_let_go_of(call)
    assert second_derivative(call) == second_derivative(FUNCTIONS[name])
    if name not in ("results", "Function that saves views of its result"):  # which say less of it
        assert second_derivative(call) == (leaf().exp().tolist(),) * 2
    assert cycles() == 0


@pytest.mark.parametrize("name", FUNCTIONS)
def test_without_hooks(name):
    assert is_let_go_of(FUNCTIONS[name])
    second_derivative(FUNCTIONS[name])
    assert cycles() == 0


@pytest.mark.parametrize("early_stop", [True, False])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_second_run_of_a_checkpoint(name, early_stop):
    made = []

    def segment(x):
        y = FUNCTIONS[name](x)
        made.append(weakref.ref(y))
        made.append(weakref.ref(y._data))
        return y * 1

    x = leaf()
    checkpoint(segment, x, use_reentrant=False, early_stop=early_stop).sum().backward()
    assert [ref() for ref in made] == [None] * len(made) and len(made) >= 2
    assert cycles() == 0


def test_a_function_that_fails_after_it_marked_its_results():
    class Fails(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp_()
            ctx.mark_dirty(x)
            ctx.save_for_backward(y, 3)
            return y

    x = leaf() * 1
    with pytest.raises(TypeError, match="can only save variables"):
        Fails.apply(x)
    gone = weakref.ref(x)
    del x
    assert gone() is None and cycles() == 0


def test_modes_without_grad_do_not_hold_themselves():
    class Mine:
        def __call__(self, t):
            return t

    mine = Mine()
    with hooks(mine, mine), torch.no_grad():
        Exp.apply(leaf())
        (leaf() * 1).exp_()
    gone = weakref.ref(mine)
    del mine
    assert gone() is None


# -- what hooks are given of a result --


def test_a_result_as_hooks_get_it_leads_to_its_history_without_holding_it():
    given, x = [], leaf()
    with hooks(lambda t: (given.append(t), t.clone())[1], lambda packed: packed):
        y = x.exp()
    (t,) = given
    assert t.requires_grad and t.grad_fn is y.grad_fn and t.output_nr == 0 and t.tolist() == y.tolist()
    (t * 2).sum().backward()  # as long as the graph is there
    assert x.grad.tolist() == pytest.approx((2 * y).tolist())
    z = t * 2
    assert z.grad_fn.next_functions[0] == (y.grad_fn, 0)
    del y
    assert t.requires_grad and not t.is_leaf
    with pytest.raises(RuntimeError, match="its graph had been let go of"):
        z.sum().backward()


def test_each_of_several_results():
    class Both(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            made = x.exp(), x * 3
            ctx.save_for_backward(*made)
            return made

        @staticmethod
        def backward(ctx, g, h):
            return g * ctx.saved_tensors[0] + 3 * h

    given, x = [], leaf()
    with hooks(lambda t: (given.append(t), t)[1], lambda packed: packed):
        made = Both.apply(x)
    assert [t.output_nr for t in given] == [0, 1] and {t.grad_fn for t in given} == {made[0].grad_fn}
    given[1].sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
