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
from .base.devices import device, get_default_device, set_default_device  # noqa: E402
from .base.dtypes import dtype, get_default_dtype, set_default_dtype  # noqa: E402
from .base.info import finfo, iinfo  # noqa: E402
from .base.layouts import layout, sparse_coo, strided  # noqa: E402
from .base.memory_formats import FORMATS as _FORMATS  # noqa: E402
from .base.memory_formats import memory_format  # noqa: E402
from .base.size import Size  # noqa: E402
from .base.threads import get_num_threads, set_num_threads  # noqa: E402
from .base.when_imported import when_imported as _when_imported  # noqa: E402
from .core.tensor import Tensor  # noqa: E402
from .ops import methods as _methods  # noqa: E402

if _TYPE_CHECKING:  # imported when they are first asked for
    from . import amp as amp
    from . import backends as backends
    from . import cpu as cpu
    from . import distributions as distributions
    from . import extend as extend
    from . import fft as fft
    from . import func as func
    from . import library as library
    from . import linalg as linalg
    from . import masked as masked
    from . import nn as nn
    from . import optim as optim
    from . import profiler as profiler
    from . import saved as saved
    from . import serialization as serialization
    from . import signal as signal
    from . import sparse as sparse
    from . import special as special
    from . import utils as utils
    from .amp.autocast_mode import autocast as autocast
    from .amp.grad_scaler import GradScaler as GradScaler
    from .as_torch import install_as_torch as install_as_torch
    from .core.legacy_types import is_storage as is_storage
    from .core.legacy_types import set_default_tensor_type as set_default_tensor_type
    from .core.legacy_types import typename as typename
    from .core.printing import set_printoptions as set_printoptions
    from .func import vmap as vmap
    from .ops.create.create import tensor as tensor
    from .serialization import load as load
    from .serialization import save as save

_methods.attach()
globals()["tensor"] = _methods.exported("tensor")  # the function, not the subpackage of that name
globals().update(_dtypes.DTYPES)
globals().update(_dtypes.ALIASES)
globals().update(_FORMATS)

from . import autograd  # noqa: E402
from .autograd.grad_mode import (  # noqa: E402
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)

__version__ = "0.1.0"

# einops finds what it knows of tensors among its own subclasses: ours is made when einops is imported.
_when_imported("einops._backends", "gradpack.utils.einops_backend")

# Modules that are imported when they are first asked for.
_LAZY = tuple(
    (
        "__config__ accelerator amp as_torch backends cli cpu cuda distributions extend fft func library linalg masked "
        "mps nn optim overrides profiler random return_types saved serialization signal sparse special testing types "
        "utils version xpu"
    ).split()
)
# Functions of such modules.
_FROM = {"save": "serialization", "load": "serialization", "vmap": "func", "install_as_torch": "as_torch"}
_FROM["set_printoptions"] = "tensor.printing"
_FROM |= dict.fromkeys(
    (
        "BFloat16Tensor BoolTensor ByteTensor CharTensor DoubleTensor FloatTensor HalfTensor IntTensor LongTensor "
        "ShortTensor is_storage set_default_tensor_type typename"
    ).split(),
    "tensor.typed",
)
_FROM |= dict.fromkeys(
    ("is_anomaly_check_nan_enabled", "is_anomaly_enabled", "set_anomaly_enabled"), "autograd.anomaly_mode"
)
_FROM |= {"GradScaler": "amp.grad_scaler", "OutOfMemoryError": "base.errors"}
_FROM |= dict.fromkeys(
    (
        "are_deterministic_algorithms_enabled get_deterministic_debug_mode get_float32_matmul_precision "
        "get_num_interop_threads is_deterministic_algorithms_warn_only_enabled is_warn_always_enabled "
        "set_deterministic_debug_mode set_float32_matmul_precision set_flush_denormal set_num_interop_threads "
        "profiler_allow_cudagraph_cupti_lazy_reinit_cuda12 set_warn_always use_deterministic_algorithms"
    ).split(),
    "base.settings",
)
_FROM |= dict.fromkeys(
    (
        "autocast autocast_decrement_nesting autocast_increment_nesting clear_autocast_cache get_autocast_dtype "
        "is_autocast_cache_enabled is_autocast_enabled set_autocast_cache_enabled set_autocast_dtype "
        "set_autocast_enabled"
    ).split(),
    "amp.autocast_mode",
)
_FROM |= dict.fromkeys(
    (
        "get_autocast_cpu_dtype get_autocast_gpu_dtype get_autocast_ipu_dtype get_autocast_xla_dtype "
        "is_autocast_cpu_enabled is_autocast_ipu_enabled is_autocast_xla_enabled set_autocast_cpu_dtype "
        "set_autocast_cpu_enabled"
    ).split(),
    "amp.old_names",
)
_FROM |= dict.fromkeys("sym_float sym_int sym_ite sym_max sym_min sym_not sym_sqrt sym_sum".split(), "base.symbols")
_FROM |= dict.fromkeys("bilinear embedding".split(), "nn.top_level")

newaxis = None


def compiled_with_cxx11_abi() -> bool:
    """Whether the library was compiled with the C++11 ABI: there is no compiled part. True, as torch says of itself.

    Example::

        >>> import gradpack as torch
        >>> torch.compiled_with_cxx11_abi()
        True
    """
    return True


def get_file_path(*path_components: str) -> str:
    """The path of a file in the folder that `gradpack` is in.

    Example::

        >>> import gradpack as torch
        >>> torch.get_file_path("gradpack", "py.typed").endswith("py.typed")
        True
    """
    import os

    return os.path.join(os.path.dirname(os.path.dirname(__file__)), *path_components)


def get_device_module(device: _Any = None) -> _Any:
    """The module of a kind of device: `gradpack.cpu`, `gradpack.cuda`.

    Raises:
        RuntimeError: for a kind that has none.

    Example::

        >>> import gradpack as torch
        >>> torch.get_device_module("cpu").__name__
        'gradpack.cpu'
    """
    kind = "cpu" if device is None else str(device).partition(":")[0]
    if kind not in ("cpu", "cuda", "mps", "xpu"):
        raise RuntimeError(f"Invalid device type '{kind}': it has no module in gradpack")
    return _import_module(f"{__name__}.{kind}")


def __getattr__(name: str) -> _Any:
    if name in _LAZY or name == "_C":
        return _import_module(f"{__name__}.{name}")
    if name in _methods.MODULE_OF:
        found = globals()[name] = _methods.exported(name)
        return found
    if name in _FROM:
        value = globals()[name] = getattr(_import_module(f"{__name__}.{_FROM[name]}"), name)
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, *_FROM, *_methods.MODULE_OF})


__all__ = [
    "Size",
    "Tensor",
    "autograd",
    "compiled_with_cxx11_abi",
    "device",
    "dtype",
    "e",
    "enable_grad",
    "finfo",
    "get_default_device",
    "get_default_dtype",
    "get_device_module",
    "get_file_path",
    "get_num_threads",
    "iinfo",
    "inf",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "layout",
    "memory_format",
    "nan",
    "newaxis",
    "no_grad",
    "pi",
    "set_default_device",
    "set_default_dtype",
    "set_grad_enabled",
    "set_num_threads",
    "sparse_coo",
    "strided",
]
_names = {*_methods.EXPORTED, *_methods.MODULE_OF, *_dtypes.DTYPES, *_dtypes.ALIASES, *_FORMATS, *_LAZY, *_FROM}
__all__.extend(sorted(n for n in _names if n[0] != "_"))
