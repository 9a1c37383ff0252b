"""Schedules of the learning rate. Values against torch: tests/oracle."""

from __future__ import annotations

from typing import Any

import pytest
from tests.optim.common import parameter

import gradpack as torch


def test_a_schedule_before_its_optimizer_warns() -> None:
    optimizer = torch.optim.SGD([parameter([1.0], [1.0])], lr=1.0)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    with pytest.warns(UserWarning, match=r"before `optimizer.step\(\)`"):
        schedule.step()


def test_asking_for_rates_outside_of_a_step_warns() -> None:
    schedule = torch.optim.lr_scheduler.StepLR(torch.optim.SGD([parameter([1.0], [1.0])], lr=1.0), 1)
    with pytest.warns(UserWarning, match="get_last_lr"):
        schedule.get_lr()


def test_an_epoch_may_be_given_for_now() -> None:
    optimizer = torch.optim.SGD([parameter([1.0], [1.0])], lr=1.0)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 4)
    optimizer.step()
    with pytest.warns(UserWarning, match="deprecated"):
        schedule.step(2)
    assert abs(schedule.get_last_lr()[0] - 0.5) < 1e-12


@pytest.mark.parametrize(
    "make",
    [
        lambda o: torch.optim.lr_scheduler.StepLR(o, 2, gamma=0.5),
        lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, 5),
        lambda o: torch.optim.lr_scheduler.LambdaLR(o, lambda epoch: 1 / (1 + epoch)),
    ],
)
def test_a_schedule_goes_on_from_its_state(make: Any) -> None:
    def fresh() -> Any:
        optimizer = torch.optim.SGD([parameter([1.0], [1.0])], lr=1.0)
        return optimizer, make(optimizer)

    optimizer, schedule = fresh()
    for _ in range(3):
        optimizer.step()
        schedule.step()
    other, resumed = fresh()
    resumed.load_state_dict(schedule.state_dict())
    other.load_state_dict(optimizer.state_dict())
    for o, s in ((optimizer, schedule), (other, resumed)):
        o.step()
        s.step()
    assert schedule.get_last_lr() == resumed.get_last_lr()


def test_state_of_callable_objects_in_a_schedule() -> None:
    class Warmup:
        def __init__(self, steps: int) -> None:
            self.steps = steps

        def __call__(self, epoch: int) -> float:
            return min(1.0, (1 + epoch) / self.steps)

    optimizer = torch.optim.SGD([parameter([1.0], [1.0])], lr=1.0)
    state = torch.optim.lr_scheduler.LambdaLR(optimizer, Warmup(4)).state_dict()
    other = torch.optim.lr_scheduler.LambdaLR(optimizer, Warmup(9))
    other.load_state_dict(state)
    assert other.lr_lambdas[0].steps == 4
