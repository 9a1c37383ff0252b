"""Automatic mixed precision: `torch.amp`."""

from typing import TYPE_CHECKING, Any

from ..base.filled import fill_when_asked
from .autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available

if TYPE_CHECKING:  # imported when it is first asked for
    from .grad_scaler import GradScaler as GradScaler


if not TYPE_CHECKING:  # to type checkers, other names are unknown

    def __getattr__(name: str) -> Any:
        if name == "GradScaler":
            from .grad_scaler import GradScaler

            return GradScaler
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]

fill_when_asked(__name__)
