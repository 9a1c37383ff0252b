"""L-BFGS goes on where a loss is infinite or NaN, or a bracket has no length, the way torch does."""

from __future__ import annotations

import math
from typing import Any

import pytest

import gradpack as torch

nan, inf = math.nan, math.inf


def barrier(w: Any) -> Any:
    """Convex inside of w < 1, NaN outside."""
    return (w * w).sum() - torch.log(1 - w).sum()


def with_hole(value: float) -> Any:
    return lambda w: torch.where((w > 0.5) & (w < 1.0), w * value, (w - 2) ** 2).sum()


def line(w: Any) -> Any:
    return w.sum()


def huber(w: Any) -> Any:
    return torch.nn.functional.smooth_l1_loss(w, torch.full_like(w, 5.0))


def large(w: Any) -> Any:
    return 1e30 * (w**2).sum()


def steps(f: Any, start: list[float], **options: Any) -> tuple[list[float], int, int, float]:
    """The parameters after three steps, the numbers of evaluations and of iterations, and the last distance."""
    w = torch.tensor(start, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([w], line_search_fn="strong_wolfe", **options)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = f(w)
        loss.backward()
        return loss

    for _ in range(3):
        optimizer.step(closure)
    state = optimizer.state[w]
    return w.tolist(), state["func_evals"], state["n_iter"], float(state["t"])


@pytest.mark.parametrize(
    ("f", "start", "options", "expected"),
    [
        (
            barrier,
            [-1.2, 1.0],
            {"lr": 1, "max_iter": 4, "history_size": 2},
            ([-3274545.6107140593, nan], 18, 3, 917.939989875625),
        ),
        (
            barrier,
            [3.0, 0.1],
            {"lr": 0.001, "max_eval": 3},
            ([2.8312864337888723, 0.07118136757308634], 12, 3, 0.030300025),
        ),
        (with_hole(nan), [0.0, 0.0], {"lr": 0.1, "max_eval": 3}, ([nan, nan], 12, 3, 3.0300025)),
        (with_hole(inf), [-1.2, 1.0], {"lr": 1, "max_eval": 4}, ([nan, nan], 15, 3, 166.774112625)),
        (with_hole(inf), [0.0, 0.4], {}, ([nan, nan], 78, 3, 5.977606522915017e17)),
        (line, [0.0, 0.0], {"lr": 100.0, "max_eval": 3}, ([-25000.0, -25000.0], 12, 3, 10000.0)),
        (huber, [-1.2, 1.0], {"lr": 1}, ([4.999999166345056, 5.000009231034282], 12, 9, 1.0)),
        (huber, [0.5, 0.25], {"lr": 0.001, "max_iter": 4}, ([4.3639097005625, 4.1139097005625], 18, 3, 3.029952025)),
        (
            large,
            [0.9, 0.99],
            {"lr": 10000000000.0, "tolerance_change": 0, "max_iter": 30},
            ([4.678415827546498e-24, 5.146257410265349e-24], 14, 7, 0.0),
        ),
    ],
)
def test_line_search_takes_the_way_of_torch(f: Any, start: Any, options: Any, expected: Any) -> None:
    place, calls, iterations, distance = steps(f, start, **options)
    assert (calls, iterations) == expected[1:3]
    assert place == pytest.approx(expected[0], rel=1e-6, abs=1e-9, nan_ok=True)
    assert distance == pytest.approx(expected[3], rel=1e-6, nan_ok=True)


def test_a_start_where_the_loss_is_infinite() -> None:
    w = torch.tensor([1.0], dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([w], line_search_fn="strong_wolfe")

    def closure() -> Any:
        optimizer.zero_grad()
        loss = barrier(w)
        loss.backward()
        return loss

    assert optimizer.step(closure).item() == inf
