"""`saved_tensors_hooks(..., compose=True)`: one pair of hooks after the other. torch has no such thing."""

import pytest

import gradpack as torch
from gradpack import saved

hooks = torch.autograd.graph.saved_tensors_hooks


@pytest.fixture
def x():
    return torch.tensor([0.5, 1.5], requires_grad=True)


def check(x, y):
    y.sum().backward()
    torch.testing.assert_close(x.grad, x.detach().cos())


def test_alone_it_is_like_any_other(x):
    with hooks(lambda t: t.clone(), lambda p: p, compose=True):
        y = x.sin()
    check(x, y)


def test_three_pairs(x):
    calls = []

    def pair(name):
        return lambda t: (calls.append("p" + name), t * 2)[1], lambda t: (calls.append("u" + name), t / 2)[1]

    with hooks(*pair("1")), hooks(*pair("2"), compose=True), hooks(*pair("3"), compose=True):
        y = x.sin()
    assert calls == ["p3", "p2", "p1"]
    check(x, y)
    assert calls == ["p3", "p2", "p1", "u1", "u2", "u3"]


def test_what_is_no_tensor_is_nothing_for_the_outer_hooks(x):
    outer = []
    with hooks(lambda t: outer.append(t), lambda p: p), hooks(lambda t: t.tolist(), torch.tensor, compose=True):
        y = x.sin()
    assert not outer
    check(x, y)


def test_around_is_a_policy(x):
    class Half(saved.Policy):
        def pack(self, tensor, info=None):
            packed.append((info.op, tensor.dtype))
            return (tensor.half(),)

        def unpack(self, packed):
            return packed[0].double()

    packed = []
    with Half(), hooks(lambda t: t.double(), lambda t: t.float(), compose=True):
        y = x.sin()
    assert packed == [("sin", torch.float64)]
    check(x, y)


def test_it_is_kept_by_the_decorator(x):
    calls = []
    sin = hooks(lambda t: t * 2, lambda t: t / 2, compose=True)(lambda: x.sin())
    with hooks(lambda t: (calls.append(1), t)[1], lambda p: p):
        y = sin()
    assert calls == [1]
    check(x, y)


def test_two_that_keep_the_result_itself_make_no_cycle(x):
    import weakref

    with hooks(lambda t: t, lambda p: p), hooks(lambda t: t, lambda p: p, compose=True):
        y = x.exp()
    kept = weakref.ref(y)
    del y
    assert kept() is None
