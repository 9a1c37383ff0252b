"""Loops over elements that Numba compiles, where it is installed: the extra `compiled`.

NumPy runs one instruction over a whole array before the next, so a formula of twenty instructions
reads and writes memory twenty times. Where that is what an operation waits for, a module beside
this one has the same formula as one loop. Operations ask for it with `loops`, for large dense
arrays of float32 or float64 only, and go their own way where the answer is None: without Numba
everything works, in more passes. Numba is imported, and each loop compiled, when one is first
needed; the machine code is kept on disk beside the sources, or in the user's cache.

`GRADPACK_COMPILED=0` in the environment switches the loops off, as `flags` does for a while.

Example::

    >>> import gradpack as torch
    >>> with torch.backends.compiled.flags(enabled=False):
    ...     torch.erf(torch.zeros(2))
    tensor([0., 0.])
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

from ...base.exits import block
from ..memory_layout import _array_type

ENOUGH = 1 << 15  # elements: to import Numba takes as long as NumPy takes for some hundreds of such arrays

_enabled = os.environ.get("GRADPACK_COMPILED", "1") != "0"


def is_available() -> bool:
    """Whether Numba is installed. It is imported when a large array first needs it."""
    from importlib.util import find_spec

    return find_spec("numba") is not None


def is_enabled() -> bool:
    """Whether compiled loops are used where they are available."""
    return _enabled


@block
def flags(enabled: bool = True) -> Iterator[None]:
    """Use compiled loops, or do not, in this process, until the context is left."""
    global _enabled
    before = _enabled
    try:
        _enabled = bool(enabled)
        yield
    finally:
        _enabled = before


def loops(name: str, first: Any, *others: Any, chars: str = "fd") -> Any:
    """The module `name` of compiled loops, if there is Numba and it is to work on these arrays; None otherwise.

    Args:
        first: an array, which is to be large.
        others: more arrays that are to be of its dtype; None stands for one that is not there.
        chars: the characters of the dtypes that it may be of: float32 and float64.
    """
    if type(first) is not _array_type or first.size < ENOUGH or not _enabled:
        return None
    native = first.dtype
    if native.char not in chars or not native.isnative or not dense(first):
        return None
    for other in others:
        if other is not None and (type(other) is not _array_type or other.dtype != native or not dense(other)):
            return None
    return _module(name)


def dense(array: Any) -> bool:
    """Whether a loop can read an array as it lies in memory. It may be one that must not be written to."""
    flags = array.flags
    return bool(flags.c_contiguous and flags.aligned)


@cache
def _module(name: str) -> Any:
    try:
        import numba  # noqa: F401 - what the modules of loops import
    except ImportError:  # as where it is too old for this NumPy
        return None
    return import_module(f".{name}", __name__)
