"""Schedules of the learning rate: what they share, `LambdaLR`, `StepLR`, `CosineAnnealingLR`."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from types import FunctionType
from typing import Any

from ..autograd.grad_mode import no_grad
from ..tensor.tensor import Tensor
from .optimizer import Optimizer

EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` is deprecated: call `scheduler.step()` once per epoch."
)
_SEE = (
    "Call `optimizer.step()` before `lr_scheduler.step()`. See "
    "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
)


def _values(optimizer: Optimizer, name: str) -> list[Any]:
    """An option of each group; tensors are copied, so that nobody can change the option through them."""
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
    """

    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
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
        """Go to the next epoch, or to a given one, and set the rates."""
        self._get_lr_called_within_step = True
        try:
            if epoch is None:
                self.last_epoch += 1
                rates = self.get_lr()
            else:
                self.last_epoch = epoch
                rates = getattr(self, "_get_closed_form_lr", self.get_lr)()
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
        """Take over what `state_dict()` gave."""
        self.__dict__.update(state_dict)

    def _warn_outside_step(self) -> None:
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use `get_last_lr()`.",
                UserWarning,
                stacklevel=3,
            )


class LambdaLR(LRScheduler):
    """The initial rate times a function of the epoch.

    Args:
        optimizer: whose rates to change.
        lr_lambda: a function from epoch to factor, or a list with one for each group.
        last_epoch: where to go on.

    Raises:
        ValueError: unless the list has as many functions as there are groups.

    Example::

        >>> import gradpack as torch
        >>> optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
        >>> schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.5**epoch)
        >>> for _ in range(2):
        ...     optimizer.step()
        ...     schedule.step()
        >>> schedule.get_last_lr()
        [0.25]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | list[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        if isinstance(lr_lambda, list | tuple):
            if len(lr_lambda) != len(optimizer.param_groups):
                raise ValueError(f"Expected {len(optimizer.param_groups)} lr_lambdas, but got {len(lr_lambda)}")
            self.lr_lambdas = list(lr_lambda)
        else:
            self.lr_lambdas = [lr_lambda] * len(optimizer.param_groups)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        return [base * factor(self.last_epoch) for factor, base in zip(self.lr_lambdas, self.base_lrs, strict=True)]

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimiser. Of the functions, only what callable objects keep in their `__dict__`."""
        state = {name: value for name, value in super().state_dict().items() if name != "lr_lambdas"}
        state["lr_lambdas"] = [
            None if isinstance(factor, FunctionType) else dict(factor.__dict__) for factor in self.lr_lambdas
        ]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict()` gave."""
        super().load_state_dict({name: value for name, value in state_dict.items() if name != "lr_lambdas"})
        for factor, kept in zip(self.lr_lambdas, state_dict["lr_lambdas"], strict=True):
            if kept is not None:
                factor.__dict__.update(kept)


class StepLR(LRScheduler):
    """Multiplies the rate by `gamma` every `step_size` epochs.

    Example::

        >>> import gradpack as torch
        >>> optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
        >>> schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
        >>> rates = []
        >>> for _ in range(4):
        ...     optimizer.step()
        ...     schedule.step()
        ...     rates += schedule.get_last_lr()
        >>> rates
        [1.0, 0.5, 0.5, 0.25]
    """

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        factor = self.gamma if self.last_epoch and self.last_epoch % self.step_size == 0 else 1
        return [rate * factor if factor != 1 else rate for rate in _values(self.optimizer, "lr")]

    def _get_closed_form_lr(self) -> list[Any]:
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """Half a cosine, from the initial rate at epoch 0 to `eta_min` at epoch `T_max`.

    Each rate follows from the one before, so that rates changed from outside are kept in proportion.

    Source: Loshchilov and Hutter, 2016.

    Example::

        >>> import gradpack as torch
        >>> optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
        >>> schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2)
        >>> for _ in range(2):
        ...     optimizer.step()
        ...     schedule.step()
        ...     print(round(schedule.get_last_lr()[0], 3))
        0.5
        0.0
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        rates = _values(self.optimizer, "lr")
        if self._is_initial:
            return rates
        if self._step_count == 1 and self.last_epoch > 0:
            return self._get_closed_form_lr()
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:  # the one before was at the bottom
            up = (1 - math.cos(math.pi / self.T_max)) / 2
            return [rate + (base - self.eta_min) * up for rate, base in zip(rates, self.base_lrs, strict=True)]
        now, before = (1 + math.cos(math.pi * epoch / self.T_max) for epoch in (self.last_epoch, self.last_epoch - 1))
        return [now / before * (rate - self.eta_min) + self.eta_min for rate in rates]

    def _get_closed_form_lr(self) -> list[Any]:
        share = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (base - self.eta_min) * share for base in self.base_lrs]


from .lr_cycles import CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR  # noqa: E402, F401 - need what is above
from .lr_factors import (  # noqa: E402
    ConstantLR,  # noqa: F401
    ExponentialLR,  # noqa: F401
    LinearLR,  # noqa: F401
    MultiplicativeLR,  # noqa: F401
    MultiStepLR,  # noqa: F401
    PolynomialLR,  # noqa: F401
)
from .lr_plateau import ReduceLROnPlateau  # noqa: E402, F401
from .lr_together import ChainedScheduler, SequentialLR  # noqa: E402, F401
