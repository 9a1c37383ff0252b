"""Formatting and parsing of numbers of bytes."""

from __future__ import annotations

import re
from typing import Any

_SIZES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_NAMES = ("B", "KiB", "MiB", "GiB", "TiB")


def shown(nbytes: float) -> str:
    """Format a number of bytes: "1.5 MiB"."""
    size, unit = float(nbytes), 0
    while abs(size) >= 1024 and unit < len(_NAMES) - 1:
        size, unit = size / 1024, unit + 1
    return f"{size:.0f} {_NAMES[unit]}" if not unit else f"{size:.1f} {_NAMES[unit]}"


def in_bytes(who: str, what: str, size: Any) -> int:
    """Parse a number of bytes, from an int or from text such as "512 MiB" (of 1024) or "2 GB" (of 1000).

    Args:
        who, what: the function and its argument, for messages.

    Raises:
        ValueError: for a text that is no number of bytes, or a negative number.
        TypeError: for anything else.

    Example::

        >>> from gradpack.base.sizes import in_bytes
        >>> in_bytes("budget", "limit", "1.5 KiB"), in_bytes("budget", "limit", "2 MB")
        (1536, 2000000)
    """
    if isinstance(size, int) and not isinstance(size, bool):
        if size < 0:
            raise ValueError(f"{who}(): {what} is a number of bytes, not {size}")
        return size
    if not isinstance(size, str):
        raise TypeError(f"{who}(): {what} is a number of bytes, an int or text such as '512 MiB', not {size!r}")
    found = re.fullmatch(r"\s*([0-9.]+)\s*([KMGT]?)(i?)B?\s*", size, re.IGNORECASE)
    try:
        if found is None:
            raise ValueError
        unit = found[2].upper()
        each = _SIZES[unit] if found[3] or not unit else 1000 ** " KMGT".index(unit)
        return int(float(found[1]) * each)
    except ValueError:
        raise ValueError(f"{who}(): {what} is a number of bytes such as '512 MiB' or '2 GB', not {size!r}") from None
