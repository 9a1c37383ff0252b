"""Functions of autocast's state that torch keeps under names with the device in them, and warns of.

The examples show the new names.
"""

from __future__ import annotations

import warnings
from typing import Any

from ..amp import autocast_mode as mode
from ..base.dtypes import dtype

__name__ = "gradpack"  # as torch has it


def _warn(old: str, new: str) -> None:
    warnings.warn(f"torch.{old} is deprecated. Please use torch.{new} instead.", DeprecationWarning, stacklevel=3)


def is_autocast_cpu_enabled() -> bool:
    """The old name of `is_autocast_enabled("cpu")`.

    Example::

        >>> import gradpack as torch
        >>> torch.is_autocast_enabled("cpu")
        False
    """
    _warn("is_autocast_cpu_enabled()", "is_autocast_enabled('cpu')")
    return mode.is_autocast_enabled("cpu")


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """The old name of `set_autocast_enabled("cpu", enabled)`.

    Example::

        >>> import gradpack as torch
        >>> torch.set_autocast_enabled("cpu", False)
    """
    _warn("set_autocast_cpu_enabled(enabled)", "set_autocast_enabled('cpu', enabled)")
    mode.set_autocast_enabled("cpu", enabled)


def get_autocast_cpu_dtype() -> dtype:
    """The old name of `get_autocast_dtype("cpu")`.

    Example::

        >>> import gradpack as torch
        >>> torch.get_autocast_dtype("cpu")
        gradpack.bfloat16
    """
    _warn("get_autocast_cpu_dtype()", "get_autocast_dtype('cpu')")
    return mode.get_autocast_dtype("cpu")


def set_autocast_cpu_dtype(dtype: Any) -> None:
    """The old name of `set_autocast_dtype("cpu", dtype)`.

    Example::

        >>> import gradpack as torch
        >>> torch.set_autocast_dtype("cpu", torch.bfloat16)
    """
    _warn("set_autocast_cpu_dtype(dtype)", "set_autocast_dtype('cpu', dtype)")
    mode.set_autocast_dtype("cpu", dtype)


def get_autocast_gpu_dtype() -> dtype:
    """The old name of `get_autocast_dtype("cuda")`.

    Example::

        >>> import gradpack as torch
        >>> torch.get_autocast_dtype("cuda")
        gradpack.float16
    """
    _warn("get_autocast_gpu_dtype()", "get_autocast_dtype('cuda')")
    return mode.get_autocast_dtype("cuda")


def _other(kind: str) -> tuple[Any, Any]:
    """The old functions of a device that is not there: its dtype, and whether autocast is on for it."""

    def get_dtype() -> dtype:
        _warn(f"get_autocast_{kind}_dtype()", f"get_autocast_dtype('{kind}')")
        return mode.get_autocast_dtype(kind)

    def is_enabled() -> bool:
        _warn(f"is_autocast_{kind}_enabled()", f"is_autocast_enabled('{kind}')")
        return mode.is_autocast_enabled(kind)

    example = "\n\nExample::\n\n    >>> import gradpack as torch\n    >>> torch."
    get_dtype.__name__, is_enabled.__name__ = f"get_autocast_{kind}_dtype", f"is_autocast_{kind}_enabled"
    new = f"get_autocast_dtype('{kind}')"
    get_dtype.__doc__ = f"The old name of `{new}`.{example}{new}.is_floating_point\n    True"
    new = f"is_autocast_enabled('{kind}')"
    is_enabled.__doc__ = f"The old name of `{new}`.{example}{new}\n    False"
    return get_dtype, is_enabled


get_autocast_ipu_dtype, is_autocast_ipu_enabled = _other("ipu")
get_autocast_xla_dtype, is_autocast_xla_enabled = _other("xla")
