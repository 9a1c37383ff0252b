"""Schedules of the learning rate: `torch.optim.lr_scheduler`."""

from __future__ import annotations

import math
import warnings
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from ..base.parts import adopt_parts
from ..declare.signature.constructors import explain_constructors
from ..nn._public import give_all
from . import _lr_base
from ._lr_base import *
from ._lr_base import _check_optimizer, _values
from ._lr_cycles import *
from ._lr_factors import *
from .optimizer import Optimizer

EPOCH_DEPRECATION_WARNING = _lr_base.EPOCH_DEPRECATION_WARNING
_LRScheduler = _lr_base._LRScheduler


class ReduceLROnPlateau(_lr_base.LRScheduler):
    """Multiplies the rate by `factor` when a metric has not improved for more than `patience` epochs.

    Args:
        optimizer: whose rates to change.
        mode: "min" or "max": which way is better.
        factor: what to multiply by, less than 1.
        patience: how many epochs without improvement to bear.
        threshold: how much better counts as better,
        threshold_mode: "rel" to the best, or "abs".
        cooldown: epochs after a change in which nothing is counted.
        min_lr: where to stop; a number, or a list with one for each group.
        eps: smaller changes are not made.

    Raises:
        ValueError: for arguments out of range.

    Example::

        >>> import gradpack as torch
        >>> optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
        >>> schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=1)
        >>> for loss in (3.0, 3.0, 3.0):
        ...     schedule.step(loss)
        >>> schedule.get_last_lr()
        [0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: list[float] | float = 0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        self.factor = factor
        self.optimizer = _check_optimizer(optimizer)
        groups = len(optimizer.param_groups)
        if isinstance(min_lr, list | tuple):
            if len(min_lr) != groups:
                raise ValueError(f"expected {groups} min_lrs, got {len(min_lr)}")
            self.default_min_lr = None
            self.min_lrs = list(min_lr)
        else:
            self.default_min_lr = min_lr
            self.min_lrs = [min_lr] * groups
        self.patience = patience
        self.cooldown = cooldown
        self.eps = eps
        self.last_epoch = 0
        self._last_lr = _values(optimizer, "lr")
        if mode not in ("min", "max"):
            raise _unknown("mode", mode)
        if threshold_mode not in ("rel", "abs"):
            raise _unknown("threshold mode", threshold_mode)
        self.mode = mode
        self.threshold = threshold
        self.threshold_mode = threshold_mode
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self._reset()

    def _reset(self) -> None:
        """Reset the best value and the counts of epochs."""
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Take the metric of the epoch that has ended."""
        current = float(metrics)
        if epoch is None:
            epoch = self.last_epoch + 1
        else:
            warnings.warn(
                "The epoch parameter in `scheduler.step()` is deprecated: call `scheduler.step(metrics)` once per "
                "epoch.",
                UserWarning,
                stacklevel=2,
            )
        self.last_epoch = epoch
        if self._is_better(current, self.best):
            self.best = current
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = _values(self.optimizer, "lr")

    def _reduce(self) -> None:
        rates = []
        for group, least in zip(self.optimizer.param_groups, self.min_lrs, strict=True):
            old = group["lr"]
            new = max(float(old) * self.factor, least)
            rates.append(new if float(old) - new > self.eps else old)
        self._set(rates)

    @property
    def in_cooldown(self) -> bool:
        """Whether the cooldown after the last reduction is still running."""
        return self.cooldown_counter > 0

    def _is_better(self, a: float, best: float) -> bool:
        if self.threshold_mode == "abs":
            return a < best - self.threshold if self.mode == "min" else a > best + self.threshold
        return a < best * (1 - self.threshold) if self.mode == "min" else a > best * (1 + self.threshold)


def _unknown(what: str, given: Any) -> Exception:
    """Return the error for an unknown name: ValueError, or TypeError if it is not a string, as in torch."""
    kind = ValueError if isinstance(given, str) else TypeError
    return kind(f"{what} {given} is unknown!")


class _Together(_lr_base.LRScheduler):
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

    Args:
        schedulers: the schedules, all of this optimizer.
        milestones: the epochs at which the next one begins: one fewer than schedules.

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
        self, optimizer: Optimizer, schedulers: list[_lr_base.LRScheduler], milestones: list[int], last_epoch: int = -1
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
        self.recursive_undo()
        begin = schedulers[bisect_right(milestones, 0)]
        begin._initial_step()
        self._last_lr = begin.get_last_lr()

    def recursive_undo(self, sched: Any = None) -> None:
        """Undo the initial step that schedules take in their constructors: those of `sched`, or of this one."""
        schedule = self if sched is None else sched
        if hasattr(schedule, "_schedulers"):
            for part in schedule._schedulers:
                self.recursive_undo(part)
        elif hasattr(schedule, "last_epoch"):
            schedule.last_epoch -= 1

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


class ChainedScheduler(_Together):
    """Several schedules at once, each of which changes the rate that the one before has left.

    Args:
        schedulers: the schedules, all of one optimizer.
        optimizer: the optimizer: that of the first schedule, unless given.

    Raises:
        ValueError: for no schedule, schedules of several optimizers, and a `ReduceLROnPlateau`.

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

    def __init__(self, schedulers: Sequence[_lr_base.LRScheduler], optimizer: Optimizer | None = None) -> None:
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


adopt_parts(__name__)
give_all(globals())
explain_constructors([*globals().values()])
