"""Tangents of tensors that are written to: each tensor has its own, and views have views of their base's."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")  # torch, the first time


def tangent(torch, dual):
    return torch.autograd.forward_ad.unpack_dual(dual).tangent


def ones(torch):
    return torch.autograd.forward_ad.make_dual(torch.ones(3), torch.ones(3))


FRESH = {
    "add a number": lambda t, u: u + 1,
    "subtract a number": lambda t, u: u - 1,
    "add to a tensor": lambda t, u: t.ones(3) + u,
    "mean of one": lambda t, u: u.reshape(3, 1).mean(1),
    "absolute": lambda t, u: u.abs(),
    "copy_": lambda t, u: t.zeros(3).copy_(u),
    "add_": lambda t, u: t.zeros(3).add_(u),
    "full slice": lambda t, u: t.zeros(3).index_put_((t.arange(3),), u),
    "to another dtype and back": lambda t, u: u.double().float(),
}


@pytest.mark.parametrize("name", FRESH)
def test_a_write_to_a_result_leaves_the_tangent_of_the_operand(torch, name):
    with torch.autograd.forward_ad.dual_level():
        u = ones(torch)
        y = FRESH[name](torch, u)
        y.mul_(3)
        assert tangent(torch, y).tolist() == [3.0, 3.0, 3.0]
        assert tangent(torch, u).tolist() == [1.0, 1.0, 1.0]


def test_a_write_to_the_operand_leaves_the_tangent_of_the_result(torch):
    with torch.autograd.forward_ad.dual_level():
        u = ones(torch)
        y = u + 1
        w = torch.zeros(3)
        w[:] = u
        u.mul_(5)
        assert [tangent(torch, v).tolist() for v in (y, w)] == [[1.0] * 3] * 2


@pytest.mark.parametrize(
    "make",
    [
        lambda t, s: t.ones(2, 3) + s,
        lambda t, s: s - t.ones(2, 3),
        lambda t, s: t.ones(2, 3).add_(s),
        lambda t, s: t.zeros(2, 3).addcmul(s, t.ones(3)),
        lambda t, s: s.expand(2, 3) * t.ones(2, 3),
    ],
)
def test_a_tangent_that_was_broadcast_is_written_to_by_elements(torch, make):
    with torch.autograd.forward_ad.dual_level():
        y = make(torch, torch.autograd.forward_ad.make_dual(torch.tensor(2.0), torch.tensor(1.0)))
        y.mul_(3)
        y[0].zero_()
        assert tangent(torch, y).tolist() == [[0.0] * 3, [3.0] * 3]


MIXED = {
    "add": lambda t, u: t.ones(2, 3) + u,
    "subtract": lambda t, u: t.ones(2, 3) - u,
    "copy_": lambda t, u: t.ones(2, 3).copy_(u),
    "add_": lambda t, u: t.zeros(2, 3).add_(u),
    "lerp": lambda t, u: t.ones(2, 3).lerp(u, 1.0),
    "cumprod": lambda t, u: u.cumprod(1),
    "log_softmax": lambda t, u: u.log_softmax(1),
}


@pytest.mark.parametrize("name", MIXED)
def test_a_view_of_a_result_follows_writes_whatever_the_layout_of_the_operand(torch, name):
    with torch.autograd.forward_ad.dual_level():
        columns = torch.arange(1.0, 7.0).view(3, 2).t()
        y = MIXED[name](torch, torch.autograd.forward_ad.make_dual(columns, columns + 1))
        flat = y.view(-1)
        y.mul_(3)
        assert tangent(torch, flat).tolist() == tangent(torch, y).flatten().tolist()
        flat.zero_()
        assert not tangent(torch, y).any()


def test_make_dual_keeps_a_tangent_whose_strides_differ_where_there_is_one_element_only(torch):
    with torch.autograd.forward_ad.dual_level():
        given = torch.ones(1, 2).t()
        assert tangent(torch, torch.autograd.forward_ad.make_dual(torch.ones(2, 1), given)) is given


UNRECORDED = {
    "an element": (lambda t, y: y.__setitem__(0, 5.0), [0.0, 4.0]),
    "fill_ on a view": (lambda t, y: y[:1].fill_(5.0), [0.0, 4.0]),
    "zero_ on a view": (lambda t, y: y[:1].zero_(), [0.0, 4.0]),
    "copy_ on a view": (lambda t, y: y[:1].copy_(t.ones(1)), [0.0, 4.0]),
    "mul_ on a view": (lambda t, y: y[:1].mul_(3), [6.0, 4.0]),
    "mul_": (lambda t, y: y.mul_(3), [6.0, 12.0]),
    "by indices": (lambda t, y: y.__setitem__(t.tensor([0]), 5.0), [0.0, 4.0]),
    "index_put_": (lambda t, y: y.index_put_((t.tensor([0]),), t.ones(1)), [0.0, 4.0]),
    "masked_fill_": (lambda t, y: y.masked_fill_(t.tensor([True, False]), 5.0), [0.0, 4.0]),
    "through a view of a view": (lambda t, y: y[:][:1].fill_(5.0), [0.0, 4.0]),
}


@pytest.mark.parametrize("name", UNRECORDED)
@pytest.mark.parametrize("followed", [False, True])
def test_a_write_under_no_grad_changes_the_tangent_where_it_wrote(torch, name, followed):
    write, expected = UNRECORDED[name]
    x = torch.tensor([1.0, 2.0], requires_grad=followed)
    with torch.autograd.forward_ad.dual_level():
        y = torch.autograd.forward_ad.make_dual(x, torch.ones(2)) ** 2
        with torch.no_grad():
            write(torch, y)
        assert tangent(torch, y).tolist() == expected


def test_a_tangent_that_is_a_leaf_is_written_to_as_a_leaf(torch):
    t = torch.ones(2, requires_grad=True)
    with torch.autograd.forward_ad.dual_level():
        y = torch.autograd.forward_ad.make_dual(torch.ones(2), t)
        with torch.no_grad():
            y[0] = 3.0
        assert tangent(torch, y) is t
        assert t.tolist() == [0.0, 1.0]
        with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place"):
            y.mul_(2)


def test_inference_mode_neither_reads_nor_writes_tangents(torch):
    with torch.autograd.forward_ad.dual_level():
        y = ones(torch) * 2
        with torch.inference_mode():
            assert tangent(torch, y) is None
            assert tangent(torch, torch.autograd.forward_ad.make_dual(torch.ones(1), torch.ones(1))) is None
            y.fill_(3)
            y[torch.tensor([0])] = 5
            y[1:].mul_(y[1:])
            torch.mul(y, 2, out=y)
        assert tangent(torch, y).tolist() == [2.0, 2.0, 2.0]
