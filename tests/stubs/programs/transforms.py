"""Transforms of functions: gradients for each example, Hessians, forward mode."""

from __future__ import annotations

import gradpack as torch
from gradpack.func import grad, hessian, jacrev, jvp, vmap


def loss(w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return torch.sigmoid(x @ w).log().neg().sum()


w, xs = torch.randn(3), torch.randn(7, 3)
each = vmap(grad(loss), in_dims=(None, 0))(w, xs)
second = hessian(loss)(w, xs[0])
jacobian = jacrev(lambda v: torch.tanh(v) * 2)(w)
value, tangent = jvp(torch.sin, (w,), (torch.ones_like(w),))
assert each.shape == (7, 3) and second.shape == jacobian.shape == (3, 3)
assert torch.allclose(tangent, torch.cos(w)) and torch.equal(value, w.sin())
