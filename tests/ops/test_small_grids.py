"""Reading of small images at few places gives what the general way gives, and its gradients."""

import numpy as np
import pytest

import gradpack as torch
from gradpack.ops.nn import small_grids

F = torch.nn.functional
NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
@pytest.mark.parametrize("padding", ["zeros", "border"])
@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("special", [0.25, NAN, INF, -INF, 1e30])
def test_small_images_are_read_as_in_the_general_way(monkeypatch, mode, padding, align, special):
    torch.manual_seed(0)
    x = torch.randn(2, 3, 4, 5, requires_grad=True)
    grid = torch.rand(2, 3, 2, 2) * 3 - 1.5
    grid[1, 1, 0, 1] = special
    grid.requires_grad_()

    def run():
        out = F.grid_sample(x, grid, mode, padding, align)
        return out, *torch.autograd.grad((out * out).sum(), (x, grid))

    few = run()
    monkeypatch.setattr(small_grids, "FEW", 0)
    for a, b in zip(few, run(), strict=True):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-4, atol=1e-5)
