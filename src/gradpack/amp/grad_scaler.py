"""Losses scaled up, so that small gradients survive half precision, and gradients scaled down before a step."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

from ..base.devices import KINDS
from ..base.dtypes import float16, float32
from ..core.tensor import Tensor
from ..declare.signature.constructors import explain_constructors
from ..ops.create.fill import full


class OptState(Enum):
    """Stage of an optimizer between two updates of the scale."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


class GradScaler:
    """Scales losses by a factor that falls when gradients overflow, and rises when they have not for a while.

    Args:
        device: a kind of device; where there is none of it, the scaler does nothing, with a warning.
        init_scale: the factor at the start.
        growth_factor, growth_interval: by what the factor rises after how many steps without overflow.
        backoff_factor: by what it falls after an overflow.
        enabled: False for a scaler whose methods hand through what they get.

    Raises:
        AssertionError: for a growth factor of at most 1, or a backoff factor of at least 1.

    Example::

        >>> import gradpack as torch
        >>> w = torch.ones(1, requires_grad=True)
        >>> optimizer, scaler = torch.optim.SGD([w], lr=0.1), torch.amp.GradScaler("cpu", init_scale=8.0)
        >>> scaler.scale((3 * w).sum()).backward()
        >>> w.grad
        tensor([24.])
        >>> scaler.step(optimizer)
        >>> scaler.update()
        >>> w
        tensor([0.7000], requires_grad=True)
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device, self._enabled = device, enabled
        if enabled and device not in KINDS:
            warnings.warn(
                f"torch.{device}.amp.GradScaler is enabled, but {device.upper()} is not available.  Disabling.",
                stacklevel=2,
            )
            self._enabled = False
        if self._enabled and growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if self._enabled and backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._factor, self._tracker = float(init_scale), 0
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval = growth_interval
        self._forget()

    def _forget(self) -> None:
        """Reset the state of all optimizers (by id): stage, and whether gradients overflowed."""
        self._stages: dict[int, OptState] = {}
        self._overflowed: dict[int, bool] = {}

    def scale(self, outputs: Any) -> Any:
        """Return a tensor, or nested iterables of tensors, multiplied by the scale factor.

        Raises:
            ValueError: for anything else.
        """
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            return outputs * full((), self._factor, dtype=float32, device=outputs.device)
        if isinstance(outputs, Iterable) and not isinstance(outputs, str):
            scaled = map(self.scale, outputs)
            return type(outputs)(scaled) if isinstance(outputs, list | tuple) else scaled
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of an optimizer's parameters by the factor: to clip them, say. `step` does it else.

        Raises:
            RuntimeError: if that has been done since the last `update`.
            ValueError: for gradients in float16, which lose what scaling kept.
        """
        if not self._enabled:
            return
        stage = self._stages.get(id(optimizer), OptState.READY)
        if stage == OptState.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if stage == OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        gradients = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        if any(g.dtype is float16 for g in gradients):
            raise ValueError("Attempting to unscale FP16 gradients.")
        overflowed = False
        for gradient in gradients:
            values = (gradient._values() if gradient.is_sparse else gradient).detach()
            overflowed = overflowed or not bool(values.isfinite().all())
            values.mul_(1.0 / self._factor)
        self._stages[id(optimizer)], self._overflowed[id(optimizer)] = OptState.UNSCALED, overflowed

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """`optimizer.step(...)`, with gradients divided by the factor; nothing if one of them is not finite.

        Raises:
            RuntimeError: for a closure, and if that has been done since the last `update`.
            AssertionError: if no parameter has a gradient.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        key = id(optimizer)
        if self._stages.get(key) == OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if all(p.grad is None for group in optimizer.param_groups for p in group["params"]):
            raise AssertionError(
                "No inf checks were recorded for this optimizer. No parameter of it has a gradient: call "
                "scaler.scale(loss).backward() first"
            )
        if key not in self._stages:
            self.unscale_(optimizer)
        self._stages[key] = OptState.STEPPED
        return None if self._overflowed[key] else optimizer.step(*args, **kwargs)

    def update(self, new_scale: Any = None) -> None:
        """Set the factor for the next round, by what happened in this one, or to `new_scale`.

        Raises:
            AssertionError: if no optimizer was unscaled or stepped, and no `new_scale` is given.
        """
        if not self._enabled:
            return
        if new_scale is not None:
            self._factor = float(new_scale)
        elif not self._overflowed:
            raise AssertionError("No inf checks were recorded prior to update.")
        elif any(self._overflowed.values()):
            self._factor, self._tracker = self._factor * self._backoff_factor, 0
        else:
            self._tracker += 1
            if self._tracker == self._growth_interval:
                grown = self._factor * self._growth_factor
                self._factor, self._tracker = grown if grown <= _LARGEST else self._factor, 0
        self._forget()

    def get_scale(self) -> float:
        """The factor; 1 if the scaler is not enabled."""
        return self._factor if self._enabled else 1.0

    def is_enabled(self) -> bool:
        """Whether the scaler is enabled."""
        return self._enabled

    def get_growth_factor(self) -> float:
        """Return the growth factor of the scale."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set the growth factor of the scale."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """Return the backoff factor of the scale."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set the backoff factor of the scale."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """Return the number of steps without overflow after which the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set the number of steps without overflow after which the scale grows."""
        self._growth_interval = new_interval

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the scaler; an empty dict if it is not enabled."""
        if not self._enabled:
            return {}
        return {
            "scale": self._factor,
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._tracker,
        }

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Load the state of another scaler.

        Raises:
            RuntimeError: for the empty state of one that was not enabled.
        """
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler."
            )
        self._factor, self._tracker = float(state_dict["scale"]), int(state_dict["_growth_tracker"])
        self._growth_factor, self._backoff_factor = state_dict["growth_factor"], state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]


_LARGEST = 3.4028234663852886e38  # of float32: the factor stays finite

explain_constructors([*globals().values()])

__all__ = ["GradScaler", "OptState"]
