"""Orders of arguments that torch has had, and still takes: older programs and optimisers are written in them."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.filterwarnings("ignore:This overload of")


def values(torch):
    torch.manual_seed(0)
    return [torch.randn(3, 3, dtype=torch.float64) for _ in range(3)]


@pytest.mark.parametrize("name", ["add", "sub"])
def test_a_factor_before_the_other_operand(torch, name):
    a, b, _ = values(torch)
    expected = getattr(torch, name)(a, b, alpha=0.5)
    assert torch.equal(getattr(a, name)(0.5, b), expected)
    assert torch.equal(getattr(torch, name)(a, 0.5, b), expected)
    assert torch.equal(getattr(a.clone(), name + "_")(0.5, b), expected)
    assert torch.equal(getattr(a, name)(2, 3.0), a + (6 if name == "add" else -6))
    out = torch.empty_like(a)
    assert getattr(torch, name)(a, 0.5, b, out=out) is out and torch.equal(out, expected)


@pytest.mark.parametrize("name", ["addcmul", "addcdiv"])
def test_a_value_before_the_factors(torch, name):
    a, b, c = values(torch)
    expected = getattr(torch, name)(a, b, c, value=-0.1)
    assert torch.equal(getattr(a, name)(-0.1, b, c), expected)
    assert torch.equal(getattr(torch, name)(a, -0.1, b, c), expected)
    assert torch.equal(getattr(a.clone(), name + "_")(-0.1, b, c), expected)


def test_products_with_numbers_between(torch):
    a, b, c = values(torch)
    expected = torch.addmm(a, b, c, beta=2, alpha=3)
    assert torch.equal(a.addmm(2, 3, b, c), expected) and torch.equal(torch.addmm(2, a, 3, b, c), expected)
    assert torch.equal(a.clone().addmm_(2, 3, b, c), expected)
    assert torch.equal(a.addmm(2, b, c), torch.addmm(a, b, c, beta=2))
    assert torch.equal(torch.addmm(2, a, b, c), torch.addmm(a, b, c, beta=2))
    assert torch.equal(a.addr(2, b[0], c[0]), torch.addr(a, b[0], c[0], beta=2))
    assert torch.equal(a[0].addmv(2, 3, b, c[0]), torch.addmv(a[0], b, c[0], beta=2, alpha=3))
    batch = torch.baddbmm(a[None], b[None], c[None], beta=2)
    assert torch.equal(torch.baddbmm(2, a[None], b[None], c[None]), batch)


def test_they_differentiate_and_write_in_place(torch):
    a, b, _ = values(torch)
    b.requires_grad_()
    c = a.clone()
    assert c.add_(0.5, b) is c
    c.sum().backward()
    assert torch.equal(b.grad, torch.full_like(b, 0.5))


def test_other_orders_are_refused_as_ever(torch):
    a, b, c = values(torch)
    for call in (
        lambda: torch.add(a, b, 2),
        lambda: a.add(b, 2),
        lambda: a.clone().add_(b, 2),
        lambda: a.addcmul(b, c, 2),
        lambda: torch.mul(a, 2, b),
        lambda: a.addmm(b, 2, 3, c),
    ):
        with pytest.raises(TypeError):
            call()


def test_a_process_is_told_once(torch, real):
    if real:
        pytest.skip("torch may have told it in another test")
    import warnings

    from gradpack.base import callers

    callers._said.discard("former")
    x = torch.ones(2)
    with pytest.warns(UserWarning, match="This overload of add_ is deprecated: give alpha by name, after the tensors"):
        x.add_(2, x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x.sub_(2, x)
    torch.set_warn_always(True)
    try:
        with pytest.warns(UserWarning, match="This overload of sub_"):
            x.sub_(2, x)
    finally:
        torch.set_warn_always(False)
