"""`torch._higher_order_ops.associative_scan` gives the running results of a function."""

from __future__ import annotations

import pytest

import gradpack as torch
from gradpack.compat.as_torch.stand_ins.associative_scan import associative_scan


def scan(function, xs, dim, **options):
    return associative_scan(function, xs, dim, combine_mode="generic", **options)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 8])
@pytest.mark.parametrize("reverse", [False, True])
def test_sums(count, reverse):
    x = torch.randn(2, count, 3, dtype=torch.float64, requires_grad=True)
    wanted = x.flip(1).cumsum(1).flip(1) if reverse else x.cumsum(1)
    found = scan(lambda a, b: a + b, x, -2, reverse=reverse)
    assert torch.allclose(found, wanted)
    g = torch.randn_like(x)
    (given,), (made,) = torch.autograd.grad(wanted, x, g), torch.autograd.grad(found, x, g)
    assert torch.allclose(given, made)


def test_linear_recurrences_of_nested_tensors():
    a, b = torch.rand(2, 6, dtype=torch.float64), torch.randn(2, 6, dtype=torch.float64)
    found = scan(lambda x, y: {"a": x["a"] * y["a"], "b": y["a"] * x["b"] + y["b"]}, {"a": a, "b": b}, 1)
    state = torch.zeros(2, dtype=torch.float64)
    for t in range(6):
        state = a[:, t] * state + b[:, t]
        assert torch.allclose(found["b"][:, t], state)
    assert torch.allclose(found["a"], a.cumprod(1))


@pytest.mark.parametrize(
    ("args", "kind", "said"),
    [
        ((3, torch.ones(2), 0), ValueError, "must be a callable"),
        ((max, (torch.ones(2), 1.0), 0), ValueError, "leaves must be a Tensor"),
        ((max, torch.ones(2, 0), 1), ValueError, "scan dimension > 0"),
        ((max, torch.ones(()), 0), ValueError, "scan dimension > 0"),
        ((max, torch.ones(2), 3), IndexError, "out of range"),
        ((lambda a, b: (a, b), torch.ones(2), 0), ValueError, "2 tensors, and xs has 1"),
    ],
)
def test_errors(args, kind, said):
    with pytest.raises(kind, match=said):
        scan(*args)


def test_modes():
    for mode, said in (("quick", "but got quick"), ("pointwise", "CUDA")):
        with pytest.raises(ValueError, match=said):
            associative_scan(max, torch.ones(2), 0, combine_mode=mode)
