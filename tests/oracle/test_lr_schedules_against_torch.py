"""Schedules of the learning rate against those of torch: the rates of many epochs."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import gradpack

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

SCHEDULES: list[tuple[str, dict[str, Any]]] = [
    ("ConstantLR", {"factor": 0.25, "total_iters": 4}),
    ("LinearLR", {"start_factor": 0.25, "total_iters": 6}),
    ("LinearLR", {"start_factor": 0.5, "end_factor": 0.1, "total_iters": 3}),
    ("ExponentialLR", {"gamma": 0.8}),
    ("MultiStepLR", {"milestones": [2, 5, 5, 9], "gamma": 0.5}),
    ("MultiplicativeLR", {"lr_lambda": lambda epoch: 0.9 - epoch * 0.01}),
    ("PolynomialLR", {"total_iters": 7, "power": 2.0}),
    ("CosineAnnealingWarmRestarts", {"T_0": 3, "T_mult": 2, "eta_min": 0.01}),
    ("CosineAnnealingWarmRestarts", {"T_0": 4}),
    ("CyclicLR", {"base_lr": 0.1, "max_lr": [0.5, 1.0], "step_size_up": 2, "step_size_down": 3}),
    ("CyclicLR", {"base_lr": 0.1, "max_lr": 0.5, "step_size_up": 2, "mode": "triangular2"}),
    ("CyclicLR", {"base_lr": 0.1, "max_lr": 0.5, "step_size_up": 2, "mode": "exp_range", "gamma": 0.9}),
    ("CyclicLR", {"base_lr": 0.1, "max_lr": 0.5, "step_size_up": 2, "scale_fn": lambda x: 1 / (x + 1)}),
    ("OneCycleLR", {"max_lr": [1.0, 2.0], "total_steps": 12}),
    ("OneCycleLR", {"max_lr": 1.0, "epochs": 4, "steps_per_epoch": 3, "three_phase": True}),
    ("OneCycleLR", {"max_lr": 1.0, "total_steps": 12, "anneal_strategy": "linear", "cycle_momentum": False}),
]
each = pytest.mark.parametrize(("name", "options"), SCHEDULES)


def made(lib: Any, name: str = "SGD") -> Any:
    groups = [{"params": [lib.ones(1, requires_grad=True)], "lr": 0.5}, {"params": [lib.ones(2, requires_grad=True)]}]
    return getattr(lib.optim, name)(groups, lr=0.1, **({"momentum": 0.9} if name == "SGD" else {}))


def course(schedule: Any, optimizer: Any, epochs: int = 12) -> list[Any]:
    seen = []
    for _ in range(epochs):
        options = optimizer.param_groups[0]
        seen.append([*schedule.get_last_lr(), options.get("momentum", 0), options.get("betas", (0,))[0]])
        optimizer.step()
        schedule.step()
    return seen


def assert_same(ours: Any, theirs: Any) -> None:
    for a, b in zip(ours, theirs, strict=True):
        assert a == pytest.approx(b, rel=1e-9, abs=1e-12)


@each
@pytest.mark.parametrize("kind", ["SGD", "Adam"])
def test_rates(name: str, options: dict[str, Any], kind: str) -> None:
    seen = []
    for lib in (gradpack, torch):
        optimizer = made(lib, kind)
        seen.append(course(getattr(lib.optim.lr_scheduler, name)(optimizer, **options), optimizer))
    assert_same(*seen)


@each
def test_state_dicts(name: str, options: dict[str, Any]) -> None:
    optimizer = made(gradpack)
    schedule = getattr(gradpack.optim.lr_scheduler, name)(optimizer, **options)
    course(schedule, optimizer, 3)
    state, groups = copy.deepcopy(schedule.state_dict()), copy.deepcopy(optimizer.state_dict())
    expected = course(schedule, optimizer, 4)
    other = made(gradpack)
    fresh = getattr(gradpack.optim.lr_scheduler, name)(other, **options)
    other.load_state_dict(groups)
    fresh.load_state_dict(state)
    assert_same(course(fresh, other, 4), expected)


@pytest.mark.parametrize("name", ["SequentialLR", "ChainedScheduler"])
def test_schedules_of_schedules(name: str) -> None:
    seen = []
    for lib in (gradpack, torch):
        optimizer, s = made(lib), lib.optim.lr_scheduler
        parts = [
            s.LinearLR(optimizer, 0.1, total_iters=3),
            s.ExponentialLR(optimizer, 0.9),
            s.CosineAnnealingLR(optimizer, 5),
        ]
        if name == "SequentialLR":
            schedule = s.SequentialLR(optimizer, parts, milestones=[3, 7])
        else:
            schedule = s.ChainedScheduler(parts)
        first = course(schedule, optimizer, 4)
        state = schedule.state_dict()
        assert len(state["_schedulers"]) == 3
        schedule.load_state_dict(state)
        seen.append([*first, *course(schedule, optimizer, 8)])
        if name == "SequentialLR":
            schedule.recursive_undo()
            schedule.recursive_undo(parts[0])
            seen[-1].append([part.last_epoch for part in parts])
    assert_same(*seen)


@pytest.mark.parametrize(
    "options",
    [
        {"patience": 1, "factor": 0.5},
        {"mode": "max", "patience": 0},
        {"threshold_mode": "abs", "threshold": 0.5, "patience": 1, "cooldown": 2, "min_lr": [0.2, 0.01]},
    ],
    ids=str,
)
def test_plateau(options: dict[str, Any]) -> None:
    losses = [5.0, 4.0, 4.0, 3.9, 3.9, 3.9, 4.5, 2.0, 2.0, 2.0, 2.0, float("nan"), 1.0, 1.0, 1.0, 1.0]
    seen = []
    for lib in (gradpack, torch):
        optimizer = made(lib)
        schedule = lib.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **options)
        rates = []
        for loss in losses:
            schedule.step(lib.tensor(loss))
            rates.append([*schedule.get_last_lr(), schedule.num_bad_epochs, schedule.cooldown_counter])
        seen.append(rates)
        assert "best" in schedule.state_dict() and "optimizer" not in schedule.state_dict()
    assert_same(*seen)


WRONG = [
    ("ConstantLR", {"factor": 1.5}),
    ("LinearLR", {"start_factor": 0.0}),
    ("LinearLR", {"end_factor": 1.5}),
    ("MultiplicativeLR", {"lr_lambda": [len]}),
    ("CosineAnnealingWarmRestarts", {"T_0": 0}),
    ("CosineAnnealingWarmRestarts", {"T_0": 1, "T_mult": 0}),
    ("OneCycleLR", {"max_lr": 1.0}),
    ("OneCycleLR", {"max_lr": 1.0, "total_steps": 0}),
    ("OneCycleLR", {"max_lr": 1.0, "epochs": 1, "steps_per_epoch": -1}),
    ("OneCycleLR", {"max_lr": 1.0, "total_steps": 5, "pct_start": 2.0}),
    ("OneCycleLR", {"max_lr": 1.0, "total_steps": 5, "anneal_strategy": "no"}),
    ("CyclicLR", {"base_lr": 0.1, "max_lr": 0.5, "mode": "no"}),
    ("ReduceLROnPlateau", {"factor": 1.0}),
    ("ReduceLROnPlateau", {"mode": "no"}),
    ("ReduceLROnPlateau", {"threshold_mode": "no"}),
    ("ReduceLROnPlateau", {"min_lr": [1.0]}),
    ("SequentialLR", {"schedulers": [], "milestones": []}),
]


@pytest.mark.parametrize(("name", "options"), WRONG)
def test_wrong_arguments_are_refused_in_the_same_words(name: str, options: dict[str, Any]) -> None:
    said = []
    for lib in (gradpack, torch):
        with pytest.raises(ValueError) as caught:
            getattr(lib.optim.lr_scheduler, name)(made(lib), **options)
        said.append(str(caught.value))
    assert said[0] == said[1]
