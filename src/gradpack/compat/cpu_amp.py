"""Autocast under its old path: `torch.cpu.amp`."""

import warnings

from ..amp.autocast_mode import autocast as _autocast
from ..base.dtypes import bfloat16, dtype

__name__ = "gradpack.cpu.amp"


class autocast(_autocast):  # noqa: N801 - torch's name
    """The old form of `torch.amp.autocast("cpu", ...)`."""

    def __init__(self, enabled: bool = True, dtype: dtype = bfloat16, cache_enabled: bool = True) -> None:
        warnings.warn(
            "`torch.cpu.amp.autocast(args...)` is deprecated. Please use `torch.amp.autocast('cpu', args...)` instead.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__("cpu", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


__all__ = ["autocast"]
