"""The heap of the C library, in which arrays lie."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctypes import CDLL

_TRIM, _MAP = -1, -3  # M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of glibc's malloc.h
_HUGE_PAGES = 14  # MADV_HUGEPAGE of Linux's mman.h
_KEPT = 1 << 28  # freed bytes at the end of the heap
_ARRAY = 1 << 25  # bytes of an array: glibc takes no larger ones from its heap
_PIECE = _ARRAY - (1 << 16)  # bytes of what is taken from the heap, and given back, so that it grows
_PIECES = 6  # fewer than what is kept


def keep_freed_memory() -> None:
    """Let glibc keep 256 MiB that are freed, and take arrays of up to 32 MiB from what it keeps, in huge pages.

    Else the memory of a step goes back to the system, and is filled with zeros page by page in the next one. Variables
    of the environment that say otherwise hold, and other C libraries are left as they are.
    """
    if any(name.startswith("MALLOC_") for name in os.environ) or "malloc" in os.environ.get("GLIBC_TUNABLES", ""):
        return
    try:
        from ctypes import CDLL

        library = CDLL(None)
        if hasattr(library, "gnu_get_libc_version"):
            library.mallopt(_TRIM, _KEPT)
            library.mallopt(_MAP, _ARRAY)
            if sys.platform == "linux" and os.environ.get("NUMPY_MADVISE_HUGEPAGE", "1") != "0":
                _ask_for_huge_pages(library)
    except (ImportError, OSError, TypeError, AttributeError):
        return


def _ask_for_huge_pages(library: CDLL) -> None:
    """Let the heap grow by what it will keep, and ask the system for huge pages there, as NumPy does for large arrays.

    A pass over some megabytes else waits for the tables of 4 KiB pages. Memory is taken when it is written to only.
    """
    from ctypes import c_int, c_size_t, c_void_p

    malloc, free, advise = library.malloc, library.free, library.madvise
    malloc.restype, malloc.argtypes = c_void_p, [c_size_t]
    free.restype, free.argtypes = None, [c_void_p]
    advise.argtypes = [c_void_p, c_size_t, c_int]
    page = os.sysconf("SC_PAGESIZE")
    pieces = [malloc(_PIECE) for _ in range(_PIECES)]
    for piece in filter(None, pieces):
        start = -(-piece // page) * page
        advise(start, (piece + _PIECE - start) // page * page, _HUGE_PAGES)
    for piece in pieces:
        free(piece)
