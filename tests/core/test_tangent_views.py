"""Forward mode: a view's tangent is part of its base's, so a write through one reaches the other."""

import pytest

import gradpack as torch
from gradpack.base.modes import using
from gradpack.declare.dispatch.tangents import tangent_of


@pytest.fixture(autouse=True)
def dual():
    with using(dual=1):
        yield


def dual_of(values, tangent):
    made = torch.tensor(values)
    made._tangents = torch.tensor(tangent)
    return made


def test_write_through_a_view():
    base = dual_of([1.0, 1.0, 1.0, 1.0], [1.0, 2.0, 3.0, 4.0])
    view = base[1:3]
    view.mul_(2)
    assert tangent_of(base).tolist() == [1.0, 4.0, 6.0, 4.0] and tangent_of(view).tolist() == [4.0, 6.0]
    base[0] = 5.0
    assert tangent_of(base).tolist() == [0.0, 4.0, 6.0, 4.0]


def test_write_to_the_base():
    base = dual_of([1.0, 1.0, 1.0], [1.0, 2.0, 3.0])
    view = base[1:]
    base.mul_(3)
    assert tangent_of(view).tolist() == [6.0, 9.0]
    base.zero_()
    assert tangent_of(view).tolist() == [0.0, 0.0]


def test_base_that_had_no_tangent():
    source = dual_of([1.0, 2.0], [5.0, 6.0])
    base = torch.zeros(3)
    early, view = base[2:], base[1:]
    view.copy_(source)
    assert tangent_of(base).tolist() == [0.0, 5.0, 6.0] and tangent_of(early).tolist() == [6.0]
    other = torch.zeros(2)
    part = other[:1]
    other.copy_(source)
    assert tangent_of(part).tolist() == [5.0]


def test_tangent_of_a_product_written_in_place():
    x = dual_of([2.0, 3.0], [1.0, 1.0])
    y = x * 1
    y.mul_(x)
    assert tangent_of(y).tolist() == [4.0, 6.0] and tangent_of(x).tolist() == [1.0, 1.0]
