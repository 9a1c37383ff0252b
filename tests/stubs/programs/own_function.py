"""A function with its own gradient, checked against differences."""

from __future__ import annotations

from typing import Any

import gradpack as torch


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
        (x,) = ctx.saved_tensors
        result: torch.Tensor = 3 * x * x * g
        return result


x = torch.randn(5, dtype=torch.float64, requires_grad=True)
assert torch.autograd.gradcheck(Cube.apply, (x,))
(gradient,) = torch.autograd.grad(Cube.apply(x).sum(), x, create_graph=True)
assert torch.allclose(gradient, 3 * x.detach() ** 2)
