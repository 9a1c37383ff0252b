"""`torch.cuda.amp`: the older names of automatic mixed precision."""

from __future__ import annotations

from ....amp import autocast as _autocast
from ....amp import custom_bwd, custom_fwd
from ....amp.grad_scaler import GradScaler as _GradScaler
from ....base.dtypes import dtype, float16


class autocast(_autocast):  # noqa: N801 - torch's name
    """The older form of `torch.amp.autocast("cuda", ...)`."""

    def __init__(self, enabled: bool = True, dtype: dtype = float16, cache_enabled: bool = True) -> None:
        super().__init__("cuda", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


class GradScaler(_GradScaler):
    """The older form of `torch.amp.GradScaler("cuda", ...)`."""

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]
