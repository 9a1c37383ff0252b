"""`axis` as NumPy's alias of `dim`, which torch accepts in functions whose arguments its C++ parser reads.

A required `dim` has no default. It, and the required parameters after it, then default to `MISSING`, so that
`gather(input, index=index, axis=0)` is a call, and `gather(input)` is told what it lacks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...base.spelling import Sentinel

# These take `dim` alone: torch's are Python functions, or name `axis` differently.
TAKE_DIM = frozenset("norm split unique unique_consecutive".split())


MISSING = Sentinel("<missing>")  # the default of an argument that has to be given


def lacking(params: Iterable[str], defaults: Mapping[str, Any]) -> list[str]:
    """Return the required parameters from `dim` on."""
    names = list(params)
    return [p for p in names[names.index("dim") :] if p not in defaults]


def check_text(required: list[str]) -> str:
    """Return the expression that is true if `axis` was given, or a required argument is missing."""
    return " or ".join(["axis is not None", *(f"{p} is _missing" for p in required)])


def dim_of(op: str, axis: Any, dim: Any, default: Any, rest: Mapping[str, Any]) -> Any:
    """Return the dimension of a call, given as `dim` or as `axis`.

    Args:
        default: what `dim` is if it is not given.
        rest: other required arguments by name.

    Raises:
        TypeError: if both are given, or a required argument is missing.
    """
    if axis is not None and dim is not default:
        raise TypeError(f"{op}() got both 'dim' and 'axis', which are two names of one argument")
    found = dim if axis is None else axis
    gone = [name for name, value in {**rest, "dim": found}.items() if value is MISSING]
    if gone:
        words = "argument" if len(gone) == 1 else "arguments"
        raise TypeError(f"{op}() missing {len(gone)} required positional {words}: {', '.join(map(repr, gone))}")
    return found
