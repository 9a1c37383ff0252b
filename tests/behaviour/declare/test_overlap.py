"""Operands that lie in the memory that is written to: refused where they would be read and written at once."""

from __future__ import annotations

import pytest

SAME_PLACE = "refer to a single memory location"

REFUSED = {
    "add_ of the elements before": lambda t, b: b[1:].add_(b[:-1]),
    "addcmul_ of the elements before": lambda t, b: b[1:].addcmul_(b[:-1], t.ones(3)),
    "addcmul_, the other factor": lambda t, b: b[1:].addcmul_(t.ones(3), b[:-1]),
    "addcdiv_ of the elements before": lambda t, b: b[1:].addcdiv_(b[:-1], t.ones(3)),
    "copy_ of the elements before": lambda t, b: b[1:].copy_(b[:-1]),
    "a subscript of the elements before": lambda t, b: b.__setitem__(slice(1, None), b[:-1]),
    "lerp_ towards the elements before": lambda t, b: b[1:].lerp_(b[:-1], 0.5),
    "one element, with a dimension and without": lambda t, b: b[0].sub_(b[0].view(1)),
    "out= of the elements before": lambda t, b: t.add(b[1:], 1, out=b[:-1]),
    "gather into what it reads": lambda t, b: t.gather(b, 0, t.tensor([1, 2]), out=b[:2]),
    "index_select into what it reads": lambda t, b: t.index_select(b, 0, t.tensor([1, 2]), out=b[:2]),
    "cat into what it reads": lambda t, b: t.cat([b[:1], b[1:2]], out=b[1:3]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_overlaps_in_part_is_refused_and_nothing_is_written(torch, name):
    base = torch.arange(4.0)
    before = base._version
    with pytest.raises(RuntimeError, match=SAME_PLACE):
        REFUSED[name](torch, base)
    assert base.tolist() == [0.0, 1.0, 2.0, 3.0]
    assert base._version == before


TAKEN = {
    "fill_": (lambda t, b: b.fill_(b[2]), [2.0, 2.0, 2.0, 2.0]),
    "masked_fill_": (lambda t, b: b.masked_fill_(b > 1, b[1]), [0.0, 1.0, 1.0, 1.0]),
    "index_fill_": (lambda t, b: b.index_fill_(0, t.tensor([0, 1]), b[3]), [3.0, 3.0, 2.0, 3.0]),
    "a subscript of one element": (lambda t, b: b.__setitem__(slice(None), b[2:3]), [2.0, 2.0, 2.0, 2.0]),
    "all of itself": (lambda t, b: b.add_(b), [0.0, 2.0, 4.0, 6.0]),
    "the sum into a part": (lambda t, b: t.sum(b, 0, out=b[0]), [6.0, 1.0, 2.0, 3.0]),
    "the largest into a part": (lambda t, b: t.amax(b.view(2, 2), 0, out=b[:2]), [2.0, 3.0, 2.0, 3.0]),
}


@pytest.mark.parametrize("name", TAKEN)
def test_one_value_of_its_own_spread_over_a_tensor(torch, name):
    call, expected = TAKEN[name]
    base = torch.arange(4.0)
    call(torch, base)
    assert base.tolist() == expected


def test_an_element_of_its_own_spread_by_a_subscript_has_its_gradient(torch):
    x = torch.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
    y = x * 1
    y[0] = y[:, 2:]
    (y * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert y.tolist() == [[3.0, 3.0, 3.0]]
    assert x.grad.tolist() == [[0.0, 0.0, 111.0]]


def test_a_leaf_is_refused_as_one_before_its_overlap(torch):
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        x.index_add_(0, torch.tensor([0]), x[:1])
