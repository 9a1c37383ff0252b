"""The search along a line that L-BFGS makes, as other minimisers call it."""

from importlib import import_module

import pytest


@pytest.mark.parametrize(
    ("first", "options", "expected"),
    [
        (1.0, {}, (20.92137999194013, 1.0, 1)),
        (0.01, {}, (65.54679966894147, 0.30300024999999997, 3)),
        (30.0, {}, (38.973735559802954, 5.508538299156832, 3)),
        (8.0, {"c2": 0.1}, (0.9048648904698912, 3.9715750342866487, 2)),
        (8.0, {"c2": 0.01, "c1": 1e-3}, (0.0684999887380095, 3.0243094223063336, 4)),
        (8.0, {"c2": 0.01, "tolerance_change": 100.0}, (97.27941549819893, 0.0, 1)),
        (8.0, {"c2": 0.01, "max_ls": 1}, (0.9048648904698912, 3.9715750342866487, 2)),
    ],
)
def test_the_point_that_is_found(torch, first, options, expected):
    search = import_module(f"{torch.__name__}.optim.lbfgs")._strong_wolfe
    x, d = torch.tensor([3.0, -2.0], dtype=torch.float64), torch.tensor([-1.0, 0.5], dtype=torch.float64)

    def loss(x, t, d):
        y = (x + t * d).detach().requires_grad_()
        value = (y**4).sum() + (y[0] * y[1]).sin()
        (g,) = torch.autograd.grad(value, y)
        return value.item(), g

    f, g = loss(x, 0.0, d)
    found, slope, t, calls = search(loss, x, first, d, f, g, g.dot(d), **options)
    assert (found, float(t), calls) == (pytest.approx(expected[0]), pytest.approx(expected[1]), expected[2])
    assert torch.allclose(slope, loss(x, t, d)[1])


@pytest.mark.parametrize(
    ("points", "bounds", "expected"),
    [
        ((0.0, 3.0, -2.0, 1.0, 2.5, 1.0), None, 2 / 3),
        ((1.0, 2.5, 1.0, 0.0, 3.0, -2.0), (0.7, 0.9), 0.7),
        ((0.0, 1.0, 1.0, 2.0, 3.0, 1.0), None, 0.0),
    ],
)
def test_the_lowest_point_between_two(torch, points, bounds, expected):
    interpolate = import_module(f"{torch.__name__}.optim.lbfgs")._cubic_interpolate
    x1, f1, g1, x2, f2, g2 = points
    slopes = [torch.tensor(g, dtype=torch.float64) for g in (g1, g2)]
    assert float(interpolate(x1, f1, slopes[0], x2, f2, slopes[1], bounds)) == pytest.approx(expected)
