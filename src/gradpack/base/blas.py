"""The BLAS library that NumPy calls: its number of threads, and products by address; by MKL where it is installed.

OpenBLAS keeps its threads spinning for a while after each product, where they take time from others, and for some
shapes its results depend on their number. So `kernels/blocks/products.py` splits large products, and BLAS computes
each part on one thread.

MKL (the extra `mkl`) multiplies matrices in less time than OpenBLAS on many processors of Intel. `GRADPACK_MKL=0` in
the environment leaves it out.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
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
_before = [1]  # the number outside of them


_PRODUCTS = (  # forms of the names of matrix products, and whether their sizes have 64 bits
    ("scipy_cblas_{}gemm64_", True),
    ("cblas_{}gemm64_", True),
    ("scipy_cblas_{}gemm", False),
    ("cblas_{}gemm", False),
)


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
def mkl() -> Any:
    """Return the library of the package `mkl`, on one thread; None if it is absent, or NumPy's own library is MKL."""
    library = _library()
    if os.environ.get("GRADPACK_MKL") == "0" or library is None or hasattr(library, "MKL_Set_Num_Threads"):
        return None
    names = ("Library/bin/mkl_rt*.dll",) if sys.platform == "win32" else ("lib/libmkl_rt.so*",)
    for path in (path for name in names for path in sorted(Path(sys.prefix).glob(name))):
        from ctypes import CDLL

        try:
            found = CDLL(str(path))
            found.MKL_Set_Threading_Layer(1)  # one thread: those of this package call it
        except (AttributeError, OSError):
            continue
        return found
    return None


@cache
def gemm(char: str) -> tuple[int, bool] | None:
    """Return the address of BLAS's product of matrices of float32 ("f") or float64 ("d"), called without Python's lock.

    And whether its sizes have 64 bits. None where the library or its number of threads is not known.
    """
    library = mkl() or _library()
    if library is None or _functions() is None or char not in "fd":
        return None
    for form, wide in _PRODUCTS:
        name = form.format("s" if char == "f" else "d")
        if hasattr(library, name):
            from ctypes import c_void_p, cast

            return cast(getattr(library, name), c_void_p).value or 0, wide
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
    if found is None or (not _calls and found[0]() == 1):
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
        if not _calls:
            set_(_before[0])


def _begin_anew() -> None:
    """End what the threads of the parent of a fork had begun: they do not exist in the child."""
    if _calls:
        _calls.clear()
        set_threads(_before[0])


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
