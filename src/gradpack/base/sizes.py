"""Amounts of memory, as people write them."""

from __future__ import annotations

import re

_UNITS = {
    "": 1,
    "B": 1,
    **{f"{letter}{i}B": (1024 if i else 1000) ** n for n, letter in enumerate("KMGT", 1) for i in ("i", "")},
}
_UNITS["kB"] = 1000


def as_bytes(amount: int | float | str) -> int:
    """A number of bytes, from a number or a text like "512 MiB" (of 1024) or "2 GB" (of 1000).

    Raises:
        ValueError: for a text that is no amount, or a negative one.
        TypeError: for anything else.

    Example::

        >>> from gradpack.base.sizes import as_bytes
        >>> as_bytes("1.5 KiB"), as_bytes("2 MB"), as_bytes(7)
        (1536, 2000000, 7)
    """
    if isinstance(amount, str):
        found = re.fullmatch(r"\s*([0-9.]+(?:e[+-]?[0-9]+)?)\s*([A-Za-z]*)\s*", amount)
        if found is None or found[2] not in _UNITS or found[1].count(".") > 1:
            raise ValueError(f"{amount!r} is no amount of memory: write a number and a unit, as '512 MiB' or '2 GB'")
        return int(float(found[1]) * _UNITS[found[2]])
    if isinstance(amount, bool) or not isinstance(amount, int | float):
        raise TypeError(
            f"an amount of memory is a number of bytes or a text like '512 MiB', not {type(amount).__name__}"
        )
    if not amount >= 0:
        raise ValueError(f"an amount of memory cannot be {amount}")
    return int(amount)
