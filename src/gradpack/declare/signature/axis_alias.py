"""`axis` for `dim`: NumPy's name, by which torch takes it wherever it looks at arguments itself.

A dimension that has to be given has no default of its own. Then it, and what comes after it, get `MISSING`, so that
`gather(input, index=index, axis=0)` is a call, and `gather(input)` is told what it lacks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

# What torch has in Python, or has `axis` in another form of: these take `dim` alone.
TAKE_DIM = frozenset("norm split unique unique_consecutive".split())


class Missing:
    """Stands for an argument that was not given."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<missing>"


MISSING = Missing()


def lacking(params: Iterable[str], defaults: Mapping[str, Any]) -> list[str]:
    """The parameters that have to be given, from `dim` on."""
    names = list(params)
    return [p for p in names[names.index("dim") :] if p not in defaults]


def check_text(required: list[str]) -> str:
    """The test that is true of a call in which `axis` was given, or something is missing."""
    return " or ".join(["axis is not None", *(f"{p} is _missing" for p in required)])


def dim_of(op: str, axis: Any, dim: Any, default: Any, rest: Mapping[str, Any]) -> Any:
    """The dimension that a call names, by either name.

    Args:
        default: what `dim` is if it is not given.
        rest: other arguments by name, which are not to be missing.

    Raises:
        TypeError: for both names, and for what is missing.
    """
    if axis is not None and dim is not default:
        raise TypeError(f"{op}() got both 'dim' and 'axis', which are two names of one argument")
    found = dim if axis is None else axis
    gone = [name for name, value in {**rest, "dim": found}.items() if value is MISSING]
    if gone:
        words = "argument" if len(gone) == 1 else "arguments"
        raise TypeError(f"{op}() missing {len(gone)} required positional {words}: {', '.join(map(repr, gone))}")
    return found
