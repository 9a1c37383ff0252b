"""`torch.random`: the default generator, its seed and its state."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

from .base.exits import block, surely
from .ops.random.generator import (
    Generator,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)


@block
def fork_rng(
    devices: Any = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str | None = None,
) -> Iterator[None]:
    """Restore the state of the random generator at the end of this block.

    Args:
        devices: accepted; there is one generator.
        enabled: do nothing at all if False.

    Example::

        >>> import gradpack as torch
        >>> _ = torch.manual_seed(0)
        >>> with torch.random.fork_rng():
        ...     a = torch.rand(2)
        >>> torch.equal(a, torch.rand(2))
        True
    """
    if not enabled:
        yield
        return
    if devices is not None and len(list(devices)) > 1:
        warnings.warn(f"{_caller}: {_devices_kw} other than the CPU are not there, and are left alone", stacklevel=3)
    with surely(partial(set_rng_state, get_rng_state())):
        yield


__all__ = [
    "Generator",
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]
