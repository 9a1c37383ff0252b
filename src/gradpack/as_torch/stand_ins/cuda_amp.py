"""`torch.cuda.amp`: the older names of automatic mixed precision."""

from __future__ import annotations

from ...amp import autocast as _autocast
from ...amp import custom_bwd, custom_fwd
from ...base.dtypes import dtype, float16


class autocast(_autocast):  # noqa: N801 - torch's name
    """`torch.amp.autocast("cuda", ...)`."""

    def __init__(self, enabled: bool = True, dtype: dtype = float16, cache_enabled: bool = True) -> None:
        super().__init__("cuda", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


__all__ = ["autocast", "custom_bwd", "custom_fwd"]
