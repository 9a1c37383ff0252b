"""The `ctx` of a custom function: attributes, saved tensors, marks."""

from __future__ import annotations

import gc
import weakref

import pytest


def test_ctx_is_the_node(torch, make_function, leaf):
    seen = []

    def forward(ctx, x):
        seen.append((ctx, ctx.name(), ctx.needs_input_grad, ctx.saved_tensors, ctx.to_save, dict(ctx.metadata)))
        ctx.k = 3
        assert sorted(vars(ctx)) == ["k"]
        assert len(ctx.next_functions) == 1
        return x * 2

    def backward(ctx, g):
        assert ctx is seen[0][0] and ctx.k == 3 and ctx.needs_input_grad == (True,)
        assert ctx.next_functions[0][0].name() == "torch::autograd::AccumulateGrad"
        return g

    cls = make_function(forward, backward)
    y = cls.apply(leaf())
    ctx, *rest = seen[0]
    assert y.grad_fn is ctx and rest == ["MyBackward", (True,), (), None, {}]
    assert type(ctx).__name__ == "MyBackward" and type(ctx) is cls._backward_cls and ctx._forward_cls is cls
    assert isinstance(ctx, torch.autograd.graph.Node) and isinstance(ctx, torch.autograd.function.FunctionCtx)
    assert isinstance(ctx, torch.autograd.function.BackwardCFunction)
    assert str(y).endswith("grad_fn=<MyBackward>)")
    y.grad_fn.metadata["a"] = 1
    assert ctx.metadata == {"a": 1}
    y.sum().backward()
    with pytest.raises(AttributeError, match="'MyBackward' object has no attribute 'other'"):
        _ = y.grad_fn.other
    for name in ("next_functions", "saved_tensors"):
        with pytest.raises(AttributeError):
            setattr(ctx, name, 3)


def test_one_node_for_several_results(make_function, leaf):
    a, b = make_function(lambda ctx, x: (x * 1, x * 2), lambda ctx, a, b: a + b).apply(leaf())
    assert a.grad_fn is b.grad_fn and (a.output_nr, b.output_nr) == (0, 1)
    assert (b * 2).grad_fn.next_functions[0] == (a.grad_fn, 1)


NAMES = ["edges", "seq", "extras", "name", "outputs", "backward", "undefined", "backward_graph", "ctx", "shape", "grad"]


@pytest.mark.parametrize("name", NAMES)
def test_any_attribute_name_is_the_users(torch, make_function, leaf, name):
    def forward(ctx, x):
        y = x.exp()
        setattr(ctx, name, y * 0 + 3)
        ctx.save_for_backward(x, y)
        return y

    def backward(ctx, g):
        return g * ctx.saved_tensors[1] * getattr(ctx, name) / 3

    x = leaf()
    y = make_function(forward, backward).apply(x)
    assert y.grad_fn.saved_tensors[0] is x and y.grad_fn.saved_tensors[1].grad_fn is y.grad_fn
    assert y.grad_fn.next_functions[0][0].variable is x
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    g.sum().backward()
    assert torch.equal(g, y) and torch.equal(x.grad, y)


def test_saved_inputs_results_and_others(torch, make_function, leaf):
    def forward(ctx, x, z):
        y = x * 2
        ctx.save_for_backward(x, z, x * 5, y, None)
        return y

    def backward(ctx, g):
        x_, z_, other, y_, none = ctx.saved_tensors
        assert x_ is x and z_ is z and y_ is not y and y_.grad_fn is ctx and none is None
        assert not other.requires_grad and other.grad_fn is None
        assert ctx.to_save is None
        return g, None

    x, z = leaf(), torch.ones(2)
    y = make_function(forward, backward).apply(x, z)
    assert len(y.grad_fn._raw_saved_tensors) == 5
    y.sum().backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        _ = y.grad_fn.saved_tensors
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        _ = y.grad_fn._raw_saved_tensors


def test_the_old_name_of_saved_tensors(make_function, leaf):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    y = make_function(forward).apply(leaf())
    with pytest.warns(DeprecationWarning, match="'saved_variables' is deprecated; use 'saved_tensors'"):
        assert len(y.grad_fn.saved_variables) == 1


def test_freed_even_where_nothing_was_saved(make_function, leaf):
    y = make_function(None, lambda ctx, g: g if ctx.saved_tensors == () else None).apply(leaf()).sum()
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()


def test_a_second_backward_that_reads_nothing_is_fine(make_function, leaf):
    x = leaf()
    y = make_function(None, lambda ctx, g: g).apply(x)
    y.sum().backward()
    y.backward(x.detach())
    assert x.grad.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("bad", [3, "a", [1], 1.5])
def test_what_cannot_be_saved(torch, make_function, leaf, bad):
    def forward(ctx, x):
        ctx.save_for_backward(x, bad)
        return x * 2

    name = type(bad).__name__
    with pytest.raises(TypeError, match=f"save_for_backward can only save variables, but argument 1 is of type {name}"):
        make_function(forward).apply(leaf())
    assert make_function(forward).apply(torch.ones(2)).tolist() == [2.0, 2.0]  # nothing is saved without a graph

    def for_forward(ctx, x):
        ctx.save_for_forward(bad)
        return x * 2

    with pytest.raises(AssertionError, match="save_for_forward expects all arguments to be tensors"):
        make_function(for_forward).apply(leaf())


def test_saving_twice_keeps_the_last(make_function, leaf):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_backward(x * 2, None)
        ctx.save_for_forward(x)
        assert ctx.saved_tensors == (x,)
        return x * 2

    first, second = make_function(forward).apply(leaf()).grad_fn.saved_tensors
    assert first.tolist() == [2.0, 2.0] and second is None


def test_writing_to_what_was_saved(torch, make_function, leaf):
    def forward(ctx, x, n):
        y = x.exp()
        ctx.save_for_backward(n, y)
        return y

    cls = make_function(forward, lambda ctx, g: (g * ctx.saved_tensors[1], None))
    n = torch.ones(2)
    y = cls.apply(leaf(), n)
    n.add_(1)
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation: \[torch.FloatTensor \[2\]\].*sion 1"):
        y.sum().backward()
    y = cls.apply(leaf(), torch.ones(2))
    y.add_(1)
    with pytest.raises(RuntimeError, match=r"which is output 0 of My, is at version 1; expected version 0"):
        y.sum().backward()
    y = cls.apply(leaf(), n)
    n.data.mul_(2)
    y.sum().backward()  # a write that autograd does not count


def test_hooks_on_saved_tensors(torch, make_function, leaf):
    log = []

    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(x, y, y * 2, None)
        return y

    def backward(ctx, g):
        return g * ctx.saved_tensors[1]

    def pack(t):
        log.append(("pack", tuple(t.shape)))
        return t.detach()

    def unpack(t):
        log.append("unpack")
        return t * 10

    cls, x = make_function(forward, backward), leaf()
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = cls.apply(x)
    y.sum().backward()
    assert log == [("pack", (2,))] * 3 + ["unpack"] * 3
    assert torch.allclose(x.grad, y * 10)

    y = cls.apply(x)
    raw = y.grad_fn._raw_saved_tensors
    raw[1].register_hooks(pack, unpack)
    with pytest.raises(RuntimeError, match="only one pair of hooks is allowed at a time"):
        raw[1].register_hooks(pack, unpack)
    with pytest.raises(RuntimeError, match="with value None is forbidden"):
        raw[3].register_hooks(pack, unpack)
    with pytest.raises(TypeError, match=r"register_hooks\(\): incompatible function arguments"):
        raw[0].register_hooks(3, 4)
    x.grad = None
    y.sum().backward()
    assert torch.allclose(x.grad, y * 10) and log[-1] == "unpack"


def test_clear_saved_tensors_on_access(make_function, leaf):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    def backward(ctx, g):
        assert len(ctx.saved_tensors) == 1
        with pytest.raises(RuntimeError, match="can only be accessed once when clear_saved_tensors_on_access=True"):
            _ = ctx.saved_tensors
        return g

    y = make_function(forward, backward, clear_saved_tensors_on_access=True).apply(leaf())
    y.sum().backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="can only be accessed once"):
        y.sum().backward()


def test_maybe_clear_saved_tensors(make_function, leaf):
    kept = []

    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    def backward(ctx, g):
        ctx.maybe_clear_saved_tensors()
        try:
            kept.append(len(ctx.saved_tensors))
        except RuntimeError:
            kept.append("freed")
        return g

    y = make_function(forward, backward).apply(leaf())
    y.grad_fn.maybe_clear_saved_tensors()
    assert len(y.grad_fn.saved_tensors) == 1
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    assert kept == [1, "freed"]


def test_boxed_grads(make_function, leaf):
    def backward(ctx, grads):
        assert type(grads) is list and len(grads) == 2
        return grads.pop()

    x = leaf()
    _, b = make_function(lambda ctx, x: (x * 1, x * 2), backward, boxed_grads_call=True).apply(x)
    b.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_backward_can_be_called_by_hand(torch, make_function, leaf):
    y = make_function().apply(leaf())
    assert y.grad_fn.apply(torch.ones(2)).tolist() == [2.0, 2.0]


def test_materialize_grads(torch, make_function, leaf):
    seen = []

    def backward(ctx, *grads):
        seen.append([None if g is None else (g.dtype, g.tolist()) for g in grads])
        return grads[0]

    def results(x):
        return x * 2, None, "s", torch.tensor([1, 2]), x * 3

    x = leaf()
    y = make_function(lambda ctx, x: results(x), backward).apply(x)
    assert [getattr(r, "requires_grad", None) for r in y] == [True, None, None, False, True]
    assert y[4].output_nr == 4
    y[0].sum().backward()
    ones, zeros = (torch.float32, [1.0, 1.0]), (torch.float32, [0.0, 0.0])
    assert seen == [[ones, None, None, (torch.int64, [0, 0]), zeros]]

    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return results(x)

    seen.clear()
    make_function(forward, backward).apply(x)[0].sum().backward()
    assert seen == [[ones, None, None, None, None]]

    def wrong(ctx, x):
        ctx.set_materialize_grads(0)

    with pytest.raises(TypeError, match="set_materialize_grads received an invalid combination"):
        make_function(wrong).apply(x)


@pytest.mark.parametrize("attribute", ["to_save", "dirty_tensors", "non_differentiable"])
def test_marks_are_tuples(make_function, leaf, attribute):
    def forward(ctx, x):
        setattr(ctx, attribute, [x])
        return x

    with pytest.raises(RuntimeError, match=f"{attribute} attribute is expected to be a tuple"):
        make_function(forward).apply(leaf())


def test_mark_shared_storage_is_deprecated(make_function, leaf):
    def forward(ctx, x):
        ctx.mark_shared_storage((x, x))
        return x * 2

    with pytest.warns(FutureWarning, match="`mark_shared_storage` is deprecated"):
        make_function(forward).apply(leaf())


def test_a_graph_is_let_go_without_the_collector(make_function, leaf):
    gc.disable()
    try:

        def saving(ctx, x):
            y = x.exp()
            ctx.save_for_backward(x, y)
            return y

        def dirty(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            ctx.save_for_backward(x)
            return x

        def identity(ctx, x):
            ctx.save_for_backward(x)
            return x

        for forward in (saving, dirty, identity):
            h = leaf() * 1
            y = make_function(forward).apply(h)
            refs = weakref.ref(h), weakref.ref(y)
            del h, y
            assert [r() for r in refs] == [None, None], forward
    finally:
        gc.enable()


def test_raw_saved_tensors_are_saved_tensors(torch, make_function, leaf):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    (raw,) = make_function(forward).apply(leaf()).grad_fn._raw_saved_tensors
    assert isinstance(raw, torch._C._autograd.SavedTensor) and type(raw).__name__ == "SavedTensor"


def test_a_ctx_of_its_own_keeps_what_it_is_given(torch):
    ctx = torch.autograd.function.FunctionCtx()
    ctx.save_for_backward(1)
    ctx.mark_dirty(2)
    ctx.mark_non_differentiable(3)
    ctx.set_materialize_grads(False)
    ctx.mine = 4
    assert vars(ctx) == {
        "to_save": (1,),
        "dirty_tensors": (2,),
        "non_differentiable": (3,),
        "materialize_grads": False,
        "mine": 4,
    }
