"""What a custom function returns: inputs, views, written inputs, constants, things that are no tensors."""

from __future__ import annotations

import collections

import pytest

IN_FUNCTION = "This view was created inside a custom Function"
ONE_OF_SEVERAL = "This view is the output of a function that returns multiple views"


@pytest.mark.parametrize("result", [None, 3, "a", (), [], {}, (1, "b"), {"a": 1}])
def test_results_that_are_no_tensors(torch, make_function, leaf, result):
    cls = make_function(lambda ctx, x: result)
    assert cls.apply(leaf()) == result and cls.apply(torch.ones(2)) == result


def test_only_a_tuple_is_several_results(make_function, leaf):
    made = make_function(lambda ctx, x: [x * 2, 3]).apply(leaf())
    assert type(made) is list and not made[0].requires_grad
    made = make_function(lambda ctx, x: {"a": x * 2}).apply(leaf())
    assert not made["a"].requires_grad
    pair = collections.namedtuple("pair", "a b")
    made = make_function(lambda ctx, x: pair(x * 2, x * 3), lambda ctx, a, b: a + b).apply(leaf())
    assert type(made) is tuple and all(m.requires_grad for m in made)


def test_integers_and_booleans_have_no_gradient(torch, make_function, leaf):
    assert not make_function(lambda ctx, x: torch.tensor([1, 2])).apply(leaf()).requires_grad
    assert not make_function(lambda ctx, x: torch.tensor([True])).apply(leaf()).requires_grad
    assert not make_function().apply(torch.tensor([1, 2])).requires_grad


@pytest.mark.parametrize("requires_grad", [True, False])
def test_a_returned_input_is_another_tensor(torch, make_function, requires_grad):
    x = torch.ones(2, requires_grad=requires_grad)
    y = make_function(lambda ctx, x: x).apply(x)
    assert y is not x and y.data_ptr() == x.data_ptr() and y.requires_grad == requires_grad
    a, b = make_function(lambda ctx, x: (x, x), lambda ctx, a, b: a + b).apply(x)
    assert a is not b and a is not x and b is not x


def test_another_argument_returned(torch, make_function, leaf):
    n = torch.ones(2)
    y = make_function(lambda ctx, x, n: n, lambda ctx, g: (g, None)).apply(leaf(), n)
    assert y is not n and y.requires_grad and not n.requires_grad


def test_the_users_backward_is_that_of_a_returned_view(make_function, leaf):
    for forward in (lambda ctx, x: x, lambda ctx, x: x.view(-1), lambda ctx, x: x[0], lambda ctx, x: x.detach()):
        x = leaf()
        y = make_function(forward, lambda ctx, g: g.expand(2) * 7).apply(x)
        assert y.grad_fn.name() == "MyBackward"
        y.sum().backward()
        assert x.grad.tolist() == [7.0, 7.0]


def test_writing_to_a_returned_view_is_refused(make_function, leaf):
    for forward in (lambda ctx, x: x, lambda ctx, x: x.view(-1), lambda ctx, x: x[0]):
        y = make_function(forward, lambda ctx, g: g.expand(2)).apply(leaf() * 1)
        with pytest.raises(RuntimeError, match=IN_FUNCTION):
            y.mul_(2)
    y = make_function(lambda ctx, x: (x, x * 2), lambda ctx, a, b: a + b).apply(leaf() * 1)
    with pytest.raises(RuntimeError, match=ONE_OF_SEVERAL):
        y[0].mul_(2)
    y[1].mul_(2)


def test_writing_to_a_fresh_result(make_function, leaf):
    x = leaf()
    y = make_function().apply(x)
    y.mul_(3)
    y[0] = 5
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 6.0]


def test_one_tensor_twice(make_function, leaf):
    seen = []

    def backward(ctx, a, b):
        seen.append((a.tolist(), b.tolist()))
        return a + b

    def forward(ctx, x):
        y = x * 2
        return y, y

    a, b = make_function(forward, backward).apply(leaf())
    assert a is b and a.output_nr == 1
    a.sum().backward()
    assert seen == [([0.0, 0.0], [1.0, 1.0])]


def test_history_made_in_forward_is_replaced(torch, make_function, leaf):
    x = leaf()

    def forward(ctx, x):
        with torch.enable_grad():
            y = x * 3
            assert y.requires_grad
        return y

    y = make_function(forward).apply(x)
    assert y.grad_fn.name() == "MyBackward"
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    other = leaf()
    y = make_function(lambda ctx, x: other).apply(torch.ones(2))  # nothing to record: the result is constant
    assert y is other and not other.requires_grad
    h = leaf() * 1
    assert not make_function(lambda ctx, x: h).apply(torch.ones(2)).requires_grad and h.grad_fn is None


def test_under_no_grad(torch, make_function, leaf):
    seen = []

    def forward(ctx, x):
        seen.append((ctx.needs_input_grad, torch.is_grad_enabled(), x.requires_grad))
        ctx.save_for_backward(x)
        return x * 2

    cls = make_function(forward)
    with torch.no_grad():
        assert not cls.apply(leaf()).requires_grad
    cls.apply(torch.ones(2))
    cls.apply(leaf())
    with torch.inference_mode():
        assert cls.apply(leaf()).is_inference()
    assert seen == [((True,), False, True), ((False,), False, False), ((True,), False, True), ((True,), False, True)]


# -- mark_dirty --


def double_in_place(ctx, x):
    x.mul_(2)
    ctx.mark_dirty(x)
    return x


def test_a_written_input_keeps_its_identity(torch, make_function, leaf):
    cls = make_function(double_in_place)
    h = leaf() * 1
    y = cls.apply(h)
    assert y is h and h._version == 2 and h.grad_fn.name() == "MyBackward"  # the write and the mark
    n = torch.ones(2)
    assert cls.apply(n) is n and n._version == 2

    def onto_other(ctx, x, z):
        z.mul_(x)
        ctx.mark_dirty(z)
        return z

    n = torch.ones(2)
    y = make_function(onto_other, lambda ctx, g: (g, g)).apply(leaf(), n)
    assert y is n and n.requires_grad


def test_a_written_leaf(torch, make_function, leaf):
    cls = make_function(double_in_place)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad has been used in an in-place operation"):
        cls.apply(leaf())
    with torch.no_grad():
        x = leaf()
        y = cls.apply(x)
    assert y is not x and x.tolist() == [2.0, 2.0] and x.is_leaf and x.requires_grad and not y.requires_grad


def test_a_written_view(make_function, leaf):
    x = leaf()
    h = x * 1
    v = h[0:1]
    assert make_function(double_in_place).apply(v) is v
    h.sum().backward()
    assert h.tolist() == [2.0, 1.0] and x.grad.tolist() == [2.0, 1.0]

    def two(ctx, x):
        double_in_place(ctx, x)
        return x, x * 3

    h = leaf() * 1
    with pytest.raises(RuntimeError, match="modifies inplace an input that is a view of another Tensor"):
        make_function(two, lambda ctx, a, b: a + b).apply(h[0:1])
    assert make_function(two, lambda ctx, a, b: a + b).apply(h)[0] is h


def test_what_may_not_be_marked_dirty(torch, make_function, leaf):
    def not_returned(ctx, x):
        double_in_place(ctx, x)
        return x * 1

    for x in (leaf() * 1, torch.ones(2)):
        with pytest.raises(RuntimeError, match="Some elements marked as dirty during the forward method were not ret"):
            make_function(not_returned).apply(x)

    def no_tensor(ctx, x):
        ctx.mark_dirty(x, 3)
        return x

    with pytest.raises(RuntimeError, match="mark_dirty can only accept variables, but argument "):
        make_function(no_tensor).apply(leaf() * 1)

    def no_input(ctx, x):
        y = x * 2
        ctx.mark_dirty(y)
        return y

    with pytest.warns(UserWarning, match=r"ctx.mark_dirty\(\) received a tensor that was not an input"):
        make_function(no_input).apply(leaf() * 1)


def test_a_write_is_counted(make_function, leaf):
    h = leaf() * 1
    square = h * h
    make_function(double_in_place).apply(h)
    with pytest.raises(RuntimeError, match="which is output 0 of My, is at version 2; expected version 0"):
        square.sum().backward()


# -- mark_non_differentiable --


def test_results_without_gradient(make_function, leaf):
    def forward(ctx, x):
        y = x * 2
        ctx.mark_non_differentiable(y)
        ctx.save_for_backward(y)
        return y, x * 3

    def backward(ctx, a, b):
        assert a.tolist() == [0.0, 0.0] and ctx.saved_tensors[0].tolist() == [2.0, 2.0]
        return b

    x = leaf()
    y, z = make_function(forward, backward).apply(x)
    assert not y.requires_grad and z.requires_grad
    z.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_an_input_without_gradient(make_function, leaf):
    def forward(ctx, x):
        ctx.mark_non_differentiable(x)
        return x

    x = leaf()
    y = make_function(forward).apply(x)
    assert y is not x and not y.requires_grad and x.requires_grad


def test_only_tensors_can_be_marked(torch, make_function, leaf):
    def forward(ctx, x):
        ctx.mark_non_differentiable(3)
        return x

    for x in (leaf(), torch.ones(2)):
        with pytest.raises(RuntimeError, match="mark_non_differentiable only accepts variable arguments"):
            make_function(forward).apply(x)


# -- marks on what is no input --

NO_INPUT = r"ctx.mark_dirty\(\) received a tensor that was not an input"
NOT_RETURNED = "Some elements marked as dirty during the forward method were not returned as output"
A_LEAF = "a leaf Variable that requires grad has been used in an in-place operation"


def _marking(make_function, marked, returned, constant=False):
    """A Function of one tensor: t is new, u a view of it, v the argument, w a view of that."""

    def forward(ctx, v):
        t = v * 3
        tensors = {"t": t, "u": t[:2], "v": v, "w": v[:2]}
        ctx.mark_dirty(*[tensors[c] for c in marked])
        found = tuple(tensors[c] for c in returned)
        if constant:
            ctx.mark_non_differentiable(*found)
        return found if len(found) > 1 else found[0]

    return make_function(forward, lambda ctx, *g: None)


@pytest.mark.parametrize(
    ("marked", "returned", "error"),
    [
        ("u", "u", NO_INPUT),
        ("u", "uv", NO_INPUT),
        ("vu", "vu", NO_INPUT),
        ("w", "w", A_LEAF),
        ("u", "tu", A_LEAF),
        ("w", "vw", A_LEAF),
        ("u", "t", NOT_RETURNED),
        ("t", "u", NOT_RETURNED),
        ("w", "v", NOT_RETURNED),
        ("v", "w", NOT_RETURNED),
    ],
)
def test_marks_that_are_refused(torch, make_function, leaf, marked, returned, error):
    with pytest.raises(RuntimeError, match=error):
        _marking(make_function, marked, returned).apply(leaf(3) * 1)


@pytest.mark.parametrize(("marked", "returned"), [("t", "t"), ("t", "tu"), ("vt", "vt")])
def test_marks_that_are_warned_of(torch, make_function, leaf, marked, returned):
    with pytest.warns(UserWarning, match=NO_INPUT):
        made = _marking(make_function, marked, returned).apply(leaf(3) * 1)
    made = made if isinstance(made, tuple) else (made,)
    assert all(type(t.grad_fn).__name__ == "MyBackward" for t in made)


@pytest.mark.parametrize(("marked", "returned"), [("t", "t"), ("u", "u"), ("w", "w"), ("tu", "tu"), ("vu", "vu")])
def test_marks_where_nothing_is_recorded(torch, make_function, leaf, marked, returned):
    with torch.no_grad():
        made = _marking(make_function, marked, returned).apply(leaf(3) * 1)
    for t in made if isinstance(made, tuple) else (made,):
        assert not t.requires_grad and t.grad_fn is None
    _marking(make_function, marked, returned).apply(torch.ones(3))


@pytest.mark.parametrize(("marked", "returned"), [("t", "t"), ("u", "u"), ("tu", "tu")])
def test_marks_on_results_without_gradient(torch, make_function, leaf, marked, returned):
    made = _marking(make_function, marked, returned, constant=True).apply(leaf(3) * 1)
    for t in made if isinstance(made, tuple) else (made,):
        assert not t.requires_grad and t.grad_fn is None


def test_a_view_of_the_argument_that_was_marked_and_has_no_gradient(torch, make_function, leaf):
    w = _marking(make_function, "w", "w", constant=True).apply(leaf(3) * 1)
    with pytest.raises(RuntimeError, match="This view was created inside a custom Function"):
        w.grad_fn


def test_a_view_among_several_arguments_and_a_new_tensor(torch, make_function, leaf):
    with pytest.raises(RuntimeError, match="your Function cannot return more than one Tensor"):
        _marking(make_function, "vt", "vt").apply((leaf(3) * 1)[:])


def test_the_warning_points_to_the_call(real, make_function, leaf):
    with pytest.warns(UserWarning, match=NO_INPUT) as found:
        _marking(make_function, "t", "t").apply(leaf(3) * 1)
    assert real or found[0].filename == __file__
