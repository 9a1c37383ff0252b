"""A product after dropout after softmax keeps nothing of its own, and nobody notices."""

from __future__ import annotations

from typing import Any

import pytest

import gradpack as torch
from gradpack import saved

F = torch.nn.functional
PRODUCTS = {
    "matmul": lambda a, v: a @ v,
    "bmm": lambda a, v: torch.bmm(a, v.expand(8, -1, -1)),
    "linear": lambda a, v: F.linear(a, v.mT),
}


def operands() -> tuple[Any, Any]:
    torch.manual_seed(0)
    return torch.randn(8, 64, 64, requires_grad=True), torch.randn(64, 16, requires_grad=True)


def dropped(x: Any) -> Any:
    torch.manual_seed(1)
    return F.dropout(x.softmax(-1), 0.25)


@pytest.mark.parametrize("product", PRODUCTS)
def test_gradients_and_bytes(product: str) -> None:
    x, v = operands()
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):  # hooks get the tensor itself
        expected = torch.autograd.grad((PRODUCTS[product](dropped(x), v) ** 2).sum(), (x, v))
    with saved.meter([v]) as meter:
        y = PRODUCTS[product](dropped(x), v)
        assert meter.now <= x.nbytes * 1.04  # what softmax made, and bits
        found = torch.autograd.grad((y**2).sum(), (x, v))
    assert all(torch.equal(a, b) for a, b in zip(found, expected, strict=True))


def test_twice_and_of_higher_order() -> None:
    x, v = operands()

    def second() -> Any:
        y = ((dropped(x) @ v) ** 2).sum()
        first = torch.autograd.grad(y, (x, v), create_graph=True)
        again = torch.autograd.grad(y, (x, v), retain_graph=True)
        assert all(torch.allclose(a, b, rtol=1e-4) for a, b in zip(first, again, strict=True))
        return torch.autograd.grad(sum((g**2).sum() for g in first), (x, v))

    found = second()
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        expected = second()
    assert all(torch.equal(a, b) for a, b in zip(found, expected, strict=True))


def test_what_the_user_still_holds_is_what_comes_back() -> None:
    x, v = operands()
    a = dropped(x)
    y = a @ v
    assert torch.equal(y.grad_fn._saved_self, a)
    a.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_writes_to_what_it_is_made_of_are_noticed() -> None:
    x, v = operands()
    s = x.softmax(-1)
    y = F.dropout(s, 0.25) @ v
    s.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        torch.autograd.grad(y.sum(), v)


def test_a_write_before_the_product_leaves_it_as_it_is() -> None:
    x, v = operands()
    a = dropped(x)
    a.mul_(2)
    (found,) = torch.autograd.grad((a @ v).sum(), v)
    assert torch.allclose(found, (2 * dropped(x)).sum((0, 1))[:, None].expand(64, 16), rtol=1e-4)


def test_forward_over_it() -> None:
    x, v = operands()
    (tangent,) = torch.func.jvp(lambda t: dropped(t) @ v, (x.detach(),), (torch.ones_like(x),))[1:]
    assert tangent.abs().max() < 1e-5  # softmax does not change when all inputs grow alike
