"""Helpers for gradients and parameters."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ...base.filled import fill_when_asked
from . import parametrizations as parametrizations
from . import parametrize as parametrize
from . import rnn as rnn
from . import stateless as stateless
from .clip_grad import *
from .convert_parameters import *
from .fusion import *
from .init import *
from .spectral_norm import remove_spectral_norm as remove_spectral_norm
from .spectral_norm import spectral_norm as spectral_norm
from .weight_norm import remove_weight_norm as remove_weight_norm
from .weight_norm import weight_norm as weight_norm

if TYPE_CHECKING:  # imported when it is first asked for
    from . import prune as prune

_functions = [n for n, value in globals().items() if getattr(value, "__module__", "").startswith(f"{__name__}.")]
globals()["__all__"] = [*_functions, "parametrizations", "parametrize", "prune", "rnn", "stateless"]  # as in `nn`


if not TYPE_CHECKING:  # to type checkers, other names are unknown

    def __getattr__(name: str) -> Any:
        """Import `prune` at first access."""
        if name == "prune":
            return import_module(".prune", __name__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


fill_when_asked(__name__)
