"""The BLAS library that NumPy calls: its number of threads.

OpenBLAS keeps its threads spinning for a while after each product, where they take time from others, and for some
shapes its results depend on their number. So `kernels/blocks/products.py` splits large products, and BLAS computes
each part on one thread.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from typing import Any

_FORMS = (  # names of the functions that get and set it
    ("scipy_openblas_get_num_threads64_", "scipy_openblas_set_num_threads64_"),
    ("scipy_openblas_get_num_threads", "scipy_openblas_set_num_threads"),
    ("openblas_get_num_threads64_", "openblas_set_num_threads64_"),
    ("openblas_get_num_threads", "openblas_set_num_threads"),
    ("MKL_Get_Max_Threads", "MKL_Set_Num_Threads"),
    ("bli_thread_get_num_threads", "bli_thread_set_num_threads"),
)
_calls: list[None] = []  # an item for each call of `on_one_thread` that has not returned
_before = [1]  # the number outside of them, once it was set to 1


@cache
def _library() -> Any:
    """The library of NumPy's linear algebra, for lookups of names in what it is linked with; None if there is none."""
    from numpy.linalg import _umath_linalg

    try:
        from ctypes import PyDLL

        return PyDLL(_umath_linalg.__file__)
    except (ImportError, OSError, TypeError):
        return None


@cache
def _functions() -> tuple[Callable[[], int], Callable[[int], Any]] | None:
    """The functions that get and set the number; None where the library is not known."""
    library = _library()
    if library is None:
        return None
    for names in _FORMS:
        if all(hasattr(library, name) for name in names):
            get, set_ = (getattr(library, name) for name in names)
            return get, set_
    return None


def set_threads(count: int) -> None:
    """Set the number of threads, where that is possible."""
    found = _functions()
    if found is not None:
        found[1](count)


def on_one_thread(run: Callable[..., Any], *args: Any) -> Any:
    """Return `run(*args)`; meanwhile products use the threads that call them only."""
    found = _functions()
    if found is None:
        return run(*args)
    get, set_ = found
    _calls.append(None)
    try:
        count = get()
        if count != 1:
            _before[0] = count
            set_(1)
        return run(*args)
    finally:
        _calls.pop()
        if not _calls and _before[0] != 1:
            count, _before[0] = _before[0], 1
            set_(count)


def _begin_anew() -> None:
    """End what the threads of the parent of a fork had begun: they do not exist in the child."""
    if _calls:
        _calls.clear()
        set_threads(_before[0])


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
