"""gradpack: the whole of `torch.autograd`, from scratch, over arrays that other libraries hold.

    import gradpack as torch

and write the PyTorch that you know. Every tensor that autograd keeps for backward is yours to see,
move, compress, spill or recompute: see `gradpack.autograd.graph` and `gradpack.saved`.
"""

from __future__ import annotations

import warnings as _warnings
from importlib import import_module as _import_module
from math import e, inf, nan, pi
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

# NumPy's floating-point warnings name its own functions; for a tensor, 1/0 is inf without a word.
_warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"gradpack\.")

from .base import dtypes as _dtypes  # noqa: E402 - after the filter
from .base.devices import device  # noqa: E402
from .base.dtypes import dtype, get_default_dtype, set_default_dtype  # noqa: E402
from .base.info import finfo, iinfo  # noqa: E402
from .base.size import Size  # noqa: E402
from .base.threads import get_num_threads, set_num_threads  # noqa: E402
from .ops import methods as _methods  # noqa: E402
from .ops.create import tensor as tensor  # noqa: E402 - the function, not the subpackage of that name
from .tensor.printing import set_printoptions  # noqa: E402
from .tensor.tensor import Tensor  # noqa: E402

if _TYPE_CHECKING:  # imported when they are first asked for
    from . import amp as amp
    from . import cpu as cpu
    from . import fft as fft
    from . import linalg as linalg
    from . import masked as masked
    from . import nn as nn
    from . import optim as optim
    from . import saved as saved
    from . import signal as signal
    from . import special as special
    from . import utils as utils

_methods.attach()
globals().update(_methods.EXPORTED)
globals().update(_dtypes.DTYPES)
globals().update(_dtypes.ALIASES)

from . import autograd  # noqa: E402
from .amp.autocast_mode import (  # noqa: E402
    autocast,
    autocast_decrement_nesting,
    autocast_increment_nesting,
    clear_autocast_cache,
    get_autocast_dtype,
    is_autocast_cache_enabled,
    is_autocast_enabled,
    set_autocast_cache_enabled,
    set_autocast_dtype,
    set_autocast_enabled,
)
from .amp.old_names import (  # noqa: E402
    get_autocast_cpu_dtype,
    get_autocast_gpu_dtype,
    is_autocast_cpu_enabled,
    set_autocast_cpu_dtype,
    set_autocast_cpu_enabled,
)
from .autograd.anomaly_mode import is_anomaly_check_nan_enabled, is_anomaly_enabled, set_anomaly_enabled  # noqa: E402
from .autograd.grad_mode import (  # noqa: E402
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)

__version__ = "0.1.0"

# Modules that are imported when they are first asked for.
_LAZY = (
    "return_types",
    "cpu",
    "linalg",
    "nn",
    "optim",
    "saved",
    "utils",
    "cli",
    "overrides",
    "fft",
    "special",
    "signal",
    "masked",
    "random",
)

strided = "strided"
contiguous_format = "contiguous_format"
preserve_format = "preserve_format"
newaxis = None


def __getattr__(name: str) -> _Any:
    if name in _LAZY or name == "_C":
        return _import_module(f"{__name__}.{name}")
    if name in _methods.FUNCTIONS:
        found = globals()[name] = _methods.exported(name)
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, *_methods.FUNCTIONS})


__all__ = [
    "Size",
    "Tensor",
    "amp",
    "autocast",
    "autocast_decrement_nesting",
    "autocast_increment_nesting",
    "autograd",
    "clear_autocast_cache",
    "contiguous_format",
    "device",
    "dtype",
    "e",
    "enable_grad",
    "finfo",
    "get_autocast_cpu_dtype",
    "get_autocast_dtype",
    "get_autocast_gpu_dtype",
    "get_default_dtype",
    "get_num_threads",
    "iinfo",
    "inf",
    "inference_mode",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "is_autocast_cache_enabled",
    "is_autocast_cpu_enabled",
    "is_autocast_enabled",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "nan",
    "newaxis",
    "no_grad",
    "pi",
    "preserve_format",
    "set_anomaly_enabled",
    "set_autocast_cache_enabled",
    "set_autocast_cpu_dtype",
    "set_autocast_cpu_enabled",
    "set_autocast_dtype",
    "set_autocast_enabled",
    "set_default_dtype",
    "set_grad_enabled",
    "set_num_threads",
    "set_printoptions",
    "strided",
]
_names = {*_methods.EXPORTED, *_methods.FUNCTIONS, *_dtypes.DTYPES, *_dtypes.ALIASES, *_LAZY}
__all__.extend(sorted(n for n in _names if n[0] != "_"))
