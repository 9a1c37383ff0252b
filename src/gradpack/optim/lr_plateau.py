"""A schedule that looks at a number, such as the loss, and lowers the rate when it stays."""

from __future__ import annotations

import math
from typing import Any

from .lr_base import LRScheduler, _values
from .optimizer import Optimizer


class ReduceLROnPlateau(LRScheduler):
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
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
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
            import warnings

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
