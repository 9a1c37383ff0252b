"""Schedules made of others: one after another, or all at once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from .lr_base import LRScheduler, _values
from .lr_plateau import ReduceLROnPlateau
from .optimizer import Optimizer


class _Together(LRScheduler):
    """Base class of schedulers made of others, kept in `_schedulers`."""

    _schedulers: Any

    def _check(self, schedulers: Sequence[Any], optimizer: Optimizer) -> None:
        name = type(self).__name__
        for i, schedule in enumerate(schedulers):
            if not hasattr(schedule, "optimizer"):
                raise TypeError(f"{name} at index {i} should have `optimizer` as its attribute.")
            if isinstance(schedule, ReduceLROnPlateau):
                raise ValueError(
                    f"{name} does not support `ReduceLROnPlateau` scheduler as it requires additional kwargs to be "
                    f"specified when calling `step`, but got one at index {i} in the given schedulers sequence."
                )
            if optimizer is not schedule.optimizer:
                raise ValueError(
                    f"{name} expects all schedulers to belong to the same optimizer, but got scheduler "
                    f"{type(schedule).__name__} at index {i} has {schedule.optimizer}, which is different from "
                    f"{type(optimizer).__name__}."
                )

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimiser; of the schedules, their own `state_dict()`."""
        state = {name: value for name, value in self.__dict__.items() if name not in ("optimizer", "_schedulers")}
        state["_schedulers"] = [schedule.state_dict() for schedule in self._schedulers]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load what `state_dict()` returned."""
        self.__dict__.update({name: value for name, value in state_dict.items() if name != "_schedulers"})
        for schedule, state in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            schedule.load_state_dict(state)


class SequentialLR(_Together):
    """One schedule after another: the next one begins, at its epoch 0, at each of `milestones`.

    Raises:
        ValueError: unless there is one milestone fewer than schedules, all of one optimiser.

    Example::

        >>> import gradpack as torch
        >>> optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
        >>> s = torch.optim.lr_scheduler
        >>> parts = [s.ConstantLR(optimizer, 0.5, 9), s.ExponentialLR(optimizer, 0.5)]
        >>> schedule = s.SequentialLR(optimizer, parts, milestones=[2])
        >>> rates = []
        >>> for _ in range(4):
        ...     rates += schedule.get_last_lr()
        ...     optimizer.step()
        ...     schedule.step()
        >>> rates
        [0.5, 0.5, 1.0, 0.5]
    """

    def __init__(
        self, optimizer: Optimizer, schedulers: list[LRScheduler], milestones: list[int], last_epoch: int = -1
    ) -> None:
        if not schedulers:
            raise ValueError(f"{type(self).__name__} expects at least one scheduler, but got no scheduler.")
        self._check(schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number of "
                f"milestone points, but got number of schedulers {len(schedulers)} and the number of milestones to be "
                f"equal to {len(milestones)}"
            )
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        self._set([group["initial_lr"] for group in optimizer.param_groups])
        _undo(self)
        begin = schedulers[bisect_right(milestones, 0)]
        begin._initial_step()
        self._last_lr = begin.get_last_lr()

    def step(self) -> None:  # type: ignore[override]
        """Go to the next epoch, and set the rates."""
        self.last_epoch += 1
        place = bisect_right(self._milestones, self.last_epoch)
        schedule = self._schedulers[place]
        if place and self._milestones[place - 1] == self.last_epoch:
            schedule._update_lr(0)
        else:
            schedule.step()
        self._last_lr = schedule.get_last_lr()


def _undo(schedule: Any) -> None:
    """Undo the initial step that schedulers take in their constructors."""
    for part in schedule._schedulers:
        if hasattr(part, "_schedulers"):
            _undo(part)
        elif hasattr(part, "last_epoch"):
            part.last_epoch -= 1


class ChainedScheduler(_Together):
    """Several schedules at once, each of which changes the rate that the one before has left.

    Example::

        >>> import gradpack as torch
        >>> optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
        >>> s = torch.optim.lr_scheduler
        >>> schedule = s.ChainedScheduler([s.ExponentialLR(optimizer, 0.5), s.StepLR(optimizer, 2, 0.5)])
        >>> for _ in range(2):
        ...     optimizer.step()
        ...     schedule.step()
        >>> schedule.get_last_lr()
        [0.125]
    """

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None) -> None:
        if not schedulers:
            raise ValueError(
                f"{type(self).__name__} expects at least one scheduler to be chained, but got no scheduler."
            )
        optimizer = optimizer or schedulers[0].optimizer
        self._check(schedulers, optimizer)
        self._schedulers = schedulers
        self.optimizer = optimizer
        self._last_lr = _values(optimizer, "lr")

    def step(self) -> None:  # type: ignore[override]
        """Step all of them, in order."""
        for schedule in self._schedulers:
            schedule.step()
        self._last_lr = _values(self.optimizer, "lr")
