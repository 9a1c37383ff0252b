"""The heap of the C library, in which arrays lie."""

from __future__ import annotations

import os

_TRIM, _MAP = -1, -3  # M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of glibc's malloc.h
_KEPT = 1 << 28  # freed bytes at the end of the heap
_ARRAY = 1 << 25  # bytes of an array: glibc takes no larger ones from its heap


def keep_freed_memory() -> None:
    """Let glibc keep 256 MiB that are freed, and take arrays of up to 32 MiB from what it keeps.

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
    except (ImportError, OSError, TypeError, AttributeError):
        return
