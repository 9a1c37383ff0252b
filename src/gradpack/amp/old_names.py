"""Functions of autocast's state that torch keeps under names with the device in them, and warns of.

The examples show the new names.
"""

from __future__ import annotations

import warnings
from typing import Any

from ..base.dtypes import dtype
from . import autocast_mode as mode


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
