"""The steps that `benchmarks.steps` times compute the same in every way they are written; nothing here is timed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradpack
from benchmarks import networks_by_hand, step_programs, steps, steps_by_hand


def close(found: Any, expected: Any, name: str, tolerance: float = 2e-4) -> None:
    found, expected = np.asarray(found, np.float64), np.asarray(expected, np.float64)
    assert found.shape == expected.shape, name
    assert np.abs(found - expected).max() <= tolerance * np.abs(expected).max() + 1e-12, name


@pytest.mark.parametrize("name", step_programs.STEPS)
def test_by_hand_equals_the_tape(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The value of a step, and of those that train each parameter's gradient too."""
    models: list[Any] = []
    gradients: list[Any] = []
    filled, training = step_programs.filled, steps_by_hand.training

    def keep(function: Any, update: Any) -> Any:
        gradients.append(function)
        return training(function, update)

    monkeypatch.setattr(step_programs, "filled", lambda *a: models.append(filled(*a)) or models[-1])
    monkeypatch.setattr(steps_by_hand, "training", keep)
    ours, by_hand = step_programs.STEPS[name](gradpack), steps_by_hand.STEPS[name]()
    expected = ours()
    if gradients:
        found, by_parameter = gradients[0]()
        for (key, p), g in zip(models[0].named_parameters(), by_parameter, strict=True):
            close(g, p.grad.numpy(), f"{name}: {key}")
    else:
        found = by_hand()
    pairs = zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]
    for one, other in pairs:
        close(one, other.detach().numpy(), name)


@pytest.mark.parametrize(("name", "decay"), [("SGD", None), ("Adam", None), ("AdamW", 0.01)])
def test_optimizers_by_hand(name: str, decay: float | None) -> None:
    p = gradpack.tensor([1.0, -2.0, 3.0], requires_grad=True)
    q = p.detach().numpy().copy()
    theirs = getattr(gradpack.optim, name)([p], lr=0.1)
    by_hand = networks_by_hand.sgd([q], 0.1) if name == "SGD" else networks_by_hand.adam([q], 0.1, decay or 0.0)
    for i in range(3):
        p.grad = gradpack.tensor([0.5, -0.1 * i, 3.0])
        theirs.step()
        by_hand([p.grad.numpy()])
    close(q, p.detach().numpy(), name, 1e-6)


def test_a_wrong_gradient_shows_in_the_third_step() -> None:
    first, third = [[4.17]], [[4.16]]
    steps.check("gpt", {"torch": [first, third], "gradpack": [[[4.1700001]], [[4.1600001]]]})
    with pytest.raises(ArithmeticError, match="gpt: numpy and torch give different values"):
        steps.check("gpt", {"torch": [first, third], "gradpack": [first, third], "numpy": [first, [[4.161]]]})
    with pytest.raises(ArithmeticError):
        steps.check("gpt", {"torch": [first, third], "gradpack": [[[float("nan")]], third]})


def test_a_row_has_a_dash_for_what_was_not_run() -> None:
    wall = {"torch": [0.002, 0.002], "gradpack": [0.001, 0.003], "numpy": [0.0005, 0.0005]}
    result = steps.Result(wall, {"torch": [0.002] * 2, "gradpack": [0.003] * 2, "numpy": [0.0005] * 2})
    assert steps.row("lstm", result).split() == [
        *("lstm", "2.000", "2.000", "-", "0.500", "-", "-"), *("1.00", "(0.75-1.25)", "-", "0.250", "-", "-", "1.50"),
    ]  # fmt: skip
    assert steps.means({"a": result, "b": result}) == pytest.approx({"gradpack": 1.0, "numpy": 0.25})
    alone = steps.Result({"numpy": [0.5, 0.5]}, {"numpy": [0.5, 0.5]})
    assert steps.row("lstm", alone).split() == ["lstm", "-", "-", "-", "500.000", *"-" * 8]
    assert steps.means({"a": alone}) == {}


def test_a_child_that_dies_says_why() -> None:
    child = steps.Child("numpy", "no-such-step", 1, True)
    try:
        with pytest.raises(RuntimeError, match=r"(?s)no-such-step in numpy ended with status 1.*KeyError"):
            child.ask("values")
    finally:
        child.end()
