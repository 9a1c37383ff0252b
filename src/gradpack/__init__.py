"""gradpack: the whole of `torch.autograd`, from scratch, over arrays that other libraries hold.

    import gradpack as torch

and write the PyTorch that you know. Every tensor that autograd keeps for backward is yours to see,
move, compress, spill or recompute: see `gradpack.autograd.graph` and `gradpack.saved`.
"""

from __future__ import annotations

import warnings as _warnings
from importlib import import_module as _import_module
from math import e as e
from math import inf as inf
from math import nan as nan
from math import pi as pi
from typing import Any as _Any

from . import autograd as autograd
from .autograd.grad_mode import enable_grad as enable_grad
from .autograd.grad_mode import inference_mode as inference_mode
from .autograd.grad_mode import is_grad_enabled as is_grad_enabled
from .autograd.grad_mode import is_inference_mode_enabled as is_inference_mode_enabled
from .autograd.grad_mode import no_grad as no_grad
from .autograd.grad_mode import set_grad_enabled as set_grad_enabled
from .base import dtypes as _dtypes
from .base import late as _late
from .base.devices import device as device
from .base.devices import get_default_device as get_default_device
from .base.devices import set_default_device as set_default_device
from .base.dtypes import dtype as dtype
from .base.dtypes import get_default_dtype as get_default_dtype
from .base.dtypes import set_default_dtype as set_default_dtype
from .base.info import finfo as finfo
from .base.info import iinfo as iinfo
from .base.layouts import layout as layout
from .base.layouts import sparse_coo as sparse_coo
from .base.layouts import strided as strided
from .base.memory_formats import FORMATS as _FORMATS
from .base.memory_formats import memory_format as memory_format
from .base.size import Size as Size
from .base.threads import get_num_threads as get_num_threads
from .base.threads import set_num_threads as set_num_threads
from .base.when_imported import answer_below as _answer_below
from .base.when_imported import find_last as _find_last
from .base.when_imported import when_imported as _when_imported
from .compat import NO_MODULES_OF_TORCH as _NO_MODULES_OF_TORCH
from .compat import PLACES as _COMPAT
from .core.tensor import Tensor as Tensor
from .ops import methods as _methods

# NumPy's floating-point warnings name its own functions; for a tensor, 1/0 is inf without a word.
_warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"gradpack\.")

_methods.attach()
for _name in (
    "Size device dtype finfo get_default_device get_default_dtype get_num_threads iinfo is_grad_enabled "
    "is_inference_mode_enabled set_default_device set_default_dtype set_num_threads"
).split():
    globals()[_name].__module__ = __name__
globals().update(_dtypes.DTYPES | _dtypes.ALIASES | _FORMATS)

__version__ = "0.1.0"

# einops finds what it knows of tensors among its own subclasses: ours is made when einops is imported. opt_einsum
# finds functions in the module that a table has for the package of tensors.
_when_imported("einops._backends", "gradpack.utils.einops_backend")
_when_imported("opt_einsum.backends.dispatch", "gradpack.utils.opt_einsum_backend")
_find_last(__name__, f"{__name__}.compat.public_modules")
_late.PLACES["compat.aten"] = "aten_function"

# Modules that are imported when they are first asked for.
_LAZY = (
    "__config__ accelerator amp array_api as_torch backends cli compiler cpu cuda distributed distributions extend fft "
    "func library linalg masked mps nn optim overrides profiler random return_types saved serialization signal sparse "
    "special testing types utils version xpu"
).split()
# Names of functions and classes, by the module that has them.
_PLACES = _COMPAT | {
    "amp.autocast_mode": (
        "autocast autocast_decrement_nesting autocast_increment_nesting clear_autocast_cache get_autocast_dtype "
        "is_autocast_cache_enabled is_autocast_enabled set_autocast_cache_enabled set_autocast_dtype "
        "set_autocast_enabled"
    ),
    "amp.grad_scaler": "GradScaler",
    "autograd.anomaly_mode": "is_anomaly_check_nan_enabled is_anomaly_enabled set_anomaly_enabled",
    "base.errors": "OutOfMemoryError",
    "base.settings": (
        "are_deterministic_algorithms_enabled get_deterministic_debug_mode "
        "is_deterministic_algorithms_warn_only_enabled is_warn_always_enabled set_deterministic_debug_mode "
        "set_warn_always use_deterministic_algorithms"
    ),
    "compiler": "compile",
    "func": "vmap",
    "nn._functional.top_level": "bilinear embedding",
    "serialization": "load save",
    "core.printing": "set_printoptions",
}
_FROM = {name: module for module, names in _PLACES.items() for name in names.split()}

newaxis = None


def __getattr__(name: str) -> _Any:
    if name == "__all__":
        found = globals()[name] = _public()
        return found
    if name in _LAZY or name == "_C":
        return _import_module(f"{__name__}.{name}")
    if name in _methods.MODULE_OF:
        found = globals()[name] = _methods.exported(name)
        return found
    if name in _FROM:
        value = globals()[name] = getattr(_import_module(f"{__name__}.{_FROM[name]}"), name)
        if _FROM[name].startswith(("base.", "core.", "nn.")):
            value.__module__ = __name__
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, *_FROM, *_methods.MODULE_OF})


# Where type checkers read what is public in the imports above, programs read it here.
_OWN = (
    "Size Tensor autograd device dtype e enable_grad finfo get_default_device get_default_dtype get_num_threads iinfo "
    "inf inference_mode is_grad_enabled is_inference_mode_enabled layout memory_format nan newaxis no_grad pi "
    "set_default_device set_default_dtype set_grad_enabled set_num_threads sparse_coo strided"
).split()


def _public() -> list[str]:
    """The names that `from gradpack import *` imports."""
    names = {*_OWN, *_methods.EXPORTED, *_methods.MODULE_OF, *_LAZY, *_FROM}
    names.update(_dtypes.DTYPES, _dtypes.ALIASES, _FORMATS)
    return sorted(name for name in names if name[0] != "_")


_answer_below(__name__, _NO_MODULES_OF_TORCH - {"extend", "saved"}, f"{__name__}.compat.absent")
