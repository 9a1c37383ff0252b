"""Schedules that go up and down: cosines, with restarts or without, and cycles."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import FunctionType
from typing import Any

from ..core.tensor import Tensor
from ..nn._public import give_all
from ._lr_base import LRScheduler, _check_optimizer, _values
from .optimizer import Optimizer


class CosineAnnealingLR(LRScheduler):
    """Half a cosine, from the initial rate at epoch 0 to `eta_min` at epoch `T_max`.

    Each rate follows from the one before, so that rates changed from outside are kept in proportion.

    Source: Loshchilov and Hutter, 2016.

    Args:
        T_max: the number of epochs until the lowest rate; then it rises again.
        eta_min: the lowest rate.

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


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half a cosine from the initial rate to `eta_min` in `T_0` epochs; then again, each `T_mult` times as long.

    `step` also takes an epoch, which may be a fraction.

    Source: Loshchilov and Hutter, 2016.

    Args:
        T_0: the number of epochs until the first restart.
        T_mult: the factor between the lengths of one period and the next: at least 1.
        eta_min: the lowest rate, before each restart.

    Raises:
        ValueError: for numbers that are no ints, or too small.

    Example::

        >>> import gradpack as torch
        >>> optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
        >>> schedule = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2)
        >>> rates = []
        >>> for _ in range(3):
        ...     rates += schedule.get_last_lr()
        ...     optimizer.step()
        ...     schedule.step()
        >>> rates
        [1.0, 0.5, 1.0]
    """

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, float | int):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0 = self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        share = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * share for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Go to the next epoch, or to a given one, and set the rates."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        elif epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        elif epoch < self.T_0:
            self.T_cur, self.T_i = epoch, self.T_0
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            done = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**done - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult**done
        self.last_epoch = math.floor(epoch)
        self._set_from(self.get_lr)


def _for_each(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """Return one value for each group."""
    count = len(optimizer.param_groups)
    if isinstance(value, list | tuple):
        if len(value) != count:
            raise ValueError(
                f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} "
                f"values, param_groups has {count}."
            )
        return list(value)
    return [value] * count


def _check_strategy(anneal_strategy: str) -> None:
    """Raise ValueError for an unknown strategy."""
    if anneal_strategy not in ("cos", "linear"):
        raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")


def _annealed(strategy: str, share: float) -> float:
    """Return the share of the change after a share of the steps: along a line, or half a cosine."""
    return share if strategy == "linear" else (1 - math.cos(math.pi * share)) / 2


class _MomentumCycles(LRScheduler):
    """Base class of schedulers that move momentum, or the first beta, against the rate."""

    use_beta1: bool

    def _begin_momentum(self, base: Any, highest: Any, last_epoch: int) -> tuple[list[Any], list[Any]]:
        """Set the highest momentum, unless the schedule goes on; return the lowest and the highest of each group."""
        optimizer = self.optimizer
        if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
            raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
        self.use_beta1 = "betas" in optimizer.defaults
        bases, highs = _for_each("base_momentum", optimizer, base), _for_each("max_momentum", optimizer, highest)
        if last_epoch == -1:
            for group, high, low in zip(optimizer.param_groups, highs, bases, strict=True):
                self._set_momentum(group, high)
                group.update(max_momentum=high, base_momentum=low)
        return bases, highs

    def _set_momentum(self, group: dict[str, Any], value: float) -> None:
        if self.use_beta1:
            group["betas"] = (value, *group["betas"][1:])
        else:
            group["momentum"] = value


class OneCycleLR(_MomentumCycles):
    """Raises the rate to `max_lr` and lowers it to almost zero, once in the whole training. Step after each batch.

    Args:
        optimizer: whose rates to change.
        max_lr: the highest rate, or a list with one for each group.
        total_steps: the length of the cycle; or `epochs` times `steps_per_epoch`.
        epochs, steps_per_epoch: the number of epochs, and of steps in each, without `total_steps`.
        pct_start: the share of the way up.
        anneal_strategy: "cos" or "linear".
        cycle_momentum: move momentum (or the first beta) from `max_momentum` to `base_momentum` and back.
        base_momentum, max_momentum: the momentum at the highest rate and at the ends; or lists, one for each group.
        div_factor, final_div_factor: the first rate is `max_lr / div_factor`, the last that over `final_div_factor`.
        three_phase: come down to the first rate as fast as up, and then on.

    Raises:
        ValueError: for arguments out of range.

    Source: Smith and Topin, 2017.

    Example::

        >>> import gradpack as torch
        >>> optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0, momentum=0.9)
        >>> schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1.0, total_steps=10)
        >>> schedule.get_last_lr(), optimizer.param_groups[0]["momentum"]
        ([0.04], 0.95)
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        self.optimizer = _check_optimizer(optimizer)
        self.total_steps = _length(total_steps, epochs, steps_per_epoch)
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        _check_strategy(anneal_strategy)
        # The end of each phase, and the options of a group between which it interpolates, for rate and momentum.
        up = (pct_start * self.total_steps - 1, ("initial_lr", "max_lr"), ("max_momentum", "base_momentum"))
        end = self.total_steps - 1
        if three_phase:
            back = 2 * pct_start * self.total_steps - 2
            self._phases = [
                up,
                (back, ("max_lr", "initial_lr"), ("base_momentum", "max_momentum")),
                (end, ("initial_lr", "min_lr"), ("max_momentum", "max_momentum")),
            ]
        else:
            self._phases = [up, (end, ("max_lr", "min_lr"), ("base_momentum", "max_momentum"))]
        self._anneal_func_type = anneal_strategy
        highest = _for_each("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, highest, strict=True):
                first = rate / div_factor
                group.update(initial_lr=first, max_lr=rate, min_lr=first / final_div_factor)
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._begin_momentum(base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        now = self.last_epoch
        if now > self.total_steps:
            raise ValueError(f"Tried to step {now} times. The specified number of total steps is {self.total_steps}")
        begin = 0.0
        for phase in self._phases:
            if now <= phase[0] or phase is self._phases[-1]:
                break
            begin = phase[0]
        end, (start_lr, end_lr), (start_momentum, end_momentum) = phase
        share = _annealed(self._anneal_func_type, (now - begin) / (end - begin))
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(group[start_lr] + (group[end_lr] - group[start_lr]) * share)
            if self.cycle_momentum:
                first, last = group[start_momentum], group[end_momentum]
                self._set_momentum(group, first + (last - first) * share)
        return rates


def _length(total_steps: Any, epochs: Any, steps_per_epoch: Any) -> int:
    """The number of steps of the cycle."""
    if total_steps is None and (epochs is None or steps_per_epoch is None):
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    given = {"total_steps": total_steps}
    if total_steps is None:
        given = {"epochs": epochs, "steps_per_epoch": steps_per_epoch}
    for name, value in given.items():
        if not isinstance(value, int) or value <= 0:
            raise ValueError(f"Expected positive integer {name}, but got {value}")
    return math.prod(given.values())


class CyclicLR(_MomentumCycles):
    """Between `base_lr` and `max_lr`, up and down in straight lines, again and again. Step after each batch.

    Args:
        optimizer: whose rates to change.
        base_lr, max_lr: the ends; numbers, or lists with one for each group.
        step_size_up, step_size_down: steps from one end to the other; down as up by default.
        mode: "triangular", "triangular2" (each cycle half as high) or "exp_range" (as high as `gamma` to the step).
        scale_fn: a function that gives the height, as a share of `max_lr - base_lr`; `mode` does not count then.
        scale_mode: "cycle" or "iterations": whether `scale_fn` gets the number of the cycle, from 1, or of the step.
        cycle_momentum: move momentum (or the first beta) from `max_momentum` to `base_momentum` and back.
        base_momentum, max_momentum: the momentum at `max_lr` and at `base_lr`.

    Raises:
        ValueError: for an unknown mode, and if there is no momentum to cycle.

    Source: Smith, 2017.

    Example::

        >>> import gradpack as torch
        >>> optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
        >>> schedule = torch.optim.lr_scheduler.CyclicLR(optimizer, 1.0, 2.0, step_size_up=2, cycle_momentum=False)
        >>> rates = []
        >>> for _ in range(4):
        ...     rates += schedule.get_last_lr()
        ...     optimizer.step()
        ...     schedule.step()
        >>> rates
        [1.0, 1.5, 2.0, 1.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float = 0.8,
        max_momentum: float = 0.9,
        last_epoch: int = -1,
    ) -> None:
        self.optimizer = _check_optimizer(optimizer)
        lowest = _for_each("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, lowest, strict=True):
                if isinstance(group["lr"], Tensor):
                    group["lr"].detach().fill_(rate)
                else:
                    group["lr"] = rate
        self.max_lrs = _for_each("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        down = up if step_size_down is None else float(step_size_down)
        self.total_size = up + down
        self.step_ratio = up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode if scale_fn is not None else "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.base_momentums, self.max_momentums = self._begin_momentum(base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = lowest

    def scale_fn(self, x: float) -> float:
        """The share of the height in a cycle, or at a step."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular2":
            return float(1 / 2.0 ** (x - 1))
        return float(self.gamma**x) if self.mode == "exp_range" else 1.0

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        share = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        share *= self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            ends = zip(self.optimizer.param_groups, self.max_momentums, self.base_momentums, strict=True)
            for group, high, low in ends:
                self._set_momentum(group, high - (high - low) * share)
        return [low + (high - low) * share for low, high in zip(self.base_lrs, self.max_lrs, strict=True)]

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimiser. Of `scale_fn`, only what a callable object keeps in its `__dict__`."""
        state = super().state_dict()
        function = state["_scale_fn_custom"]
        kept = None if function is None or isinstance(function, FunctionType) else dict(function.__dict__)
        return {**state, "_scale_fn_custom": kept}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load what `state_dict()` returned."""
        super().load_state_dict({name: value for name, value in state_dict.items() if name != "_scale_fn_custom"})
        if state_dict["_scale_fn_custom"] is not None and self._scale_fn_custom is not None:
            self._scale_fn_custom.__dict__.update(state_dict["_scale_fn_custom"])


give_all(globals())
