"""Base class of learning rate schedulers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ..autograd.grad_mode import no_grad
from ..core.tensor import Tensor
from ..nn._public import give_all
from .optimizer import Optimizer

EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` is deprecated: call `scheduler.step()` once per epoch."
)


_SEE = (
    "Call `optimizer.step()` before `lr_scheduler.step()`. See "
    "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
)


def _check_optimizer(optimizer: Any) -> Optimizer:
    """Return the optimizer; raise TypeError for what is none."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
    return optimizer


def _values(optimizer: Optimizer, name: str) -> list[Any]:
    """Return an option of each group; tensors are copied, so that callers cannot change the option."""
    return [_own(group[name]) for group in optimizer.param_groups]


def _own(value: Any) -> Any:
    return value.detach().clone() if isinstance(value, Tensor) else value


class LRScheduler:
    """The base of all schedules. A subclass defines `get_lr`, the rates of all groups at `last_epoch`.

    Args:
        optimizer: whose groups to change, under the option `"lr"`.
        last_epoch: where to go on; -1 starts anew, and takes the present rates as `"initial_lr"`.

    Raises:
        TypeError: unless `optimizer` is an Optimizer.
        KeyError: if `last_epoch` is given and a group has no `"initial_lr"`.

    Example::

        >>> import gradpack as torch
        >>> class Halved(torch.optim.lr_scheduler.LRScheduler):
        ...     def get_lr(self):
        ...         return [base * 0.5**self.last_epoch for base in self.base_lrs]
        >>> optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
        >>> schedule = Halved(optimizer)
        >>> for _ in range(2):
        ...     optimizer.step()
        ...     schedule.step()
        >>> schedule.get_last_lr(), optimizer.param_groups[0]["lr"]
        ([0.25], 0.25)
    """

    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self.optimizer = _check_optimizer(optimizer)
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", _own(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with "
                    "last_epoch >= 0: load the optimizer's state first, or leave out last_epoch"
                )
        self.base_lrs = _values(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        optimizer._own_step = vars(optimizer).get("step") is not None
        self._initial_step()

    def _initial_step(self) -> None:
        """Set the rates of the epoch to begin with."""
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def get_lr(self) -> list[Any]:
        """The rate of each group at `last_epoch`. Called by `step`; to read the rates, use `get_last_lr`."""
        raise NotImplementedError(f"{type(self).__name__} does not define get_lr()")

    def get_last_lr(self) -> list[Any]:
        """The rate of each group since the last step."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Go to the next epoch, and set the rates. Call it after the optimiser's step."""
        if self._step_count == 1:
            self._check_order()
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _check_order(self) -> None:
        """Warn, before the second step, if the optimiser was not stepped before."""
        if "step" in vars(self.optimizer) and not self.optimizer._own_step:
            warnings.warn(
                "Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization: "
                f"{_SEE}",
                UserWarning,
                stacklevel=3,
            )
        elif not self.optimizer._opt_called:
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`: in this order the first value of "
                f"the schedule is never used. {_SEE}",
                UserWarning,
                stacklevel=3,
            )

    def _update_lr(self, epoch: int | None = None) -> None:
        """Go to the next epoch, or to a given one, and set the learning rates."""
        if epoch is None:
            self.last_epoch += 1
            self._set_from(self.get_lr)
        else:
            self.last_epoch = epoch
            self._set_from(getattr(self, "_get_closed_form_lr", self.get_lr))

    def _set_from(self, get_lr: Callable[[], list[Any]]) -> None:
        """Set the rates that `get_lr` returns, without its warning that it is called by a user."""
        self._get_lr_called_within_step = True
        try:
            rates = get_lr()
        finally:
            self._get_lr_called_within_step = False
        self._set(rates)

    def _set(self, rates: list[Any]) -> None:
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            if isinstance(group["lr"], Tensor):
                with no_grad():
                    group["lr"].fill_(rate)
            else:
                group["lr"] = rate
        self._last_lr = _values(self.optimizer, "lr")

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimiser, as a dict."""
        return {name: value for name, value in self.__dict__.items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load what `state_dict()` returned."""
        self.__dict__.update(state_dict)

    def _warn_outside_step(self) -> None:
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use `get_last_lr()`.",
                UserWarning,
                stacklevel=3,
            )


class _LRScheduler(LRScheduler):
    """The old name of the base, which older programs derive from."""


give_all(globals())
