"""`sym_int` and its kin, which torch has for symbolic numbers in tracing. Here they take plain numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

__name__ = "gradpack"  # as torch has it


def sym_int(a: Any) -> int:
    """`a` as an int, rounded towards zero.

    Example::

        >>> import gradpack as torch
        >>> torch.sym_int(-3.7)
        -3
    """
    return math.floor(a) if a >= 0 else math.ceil(a)


def sym_float(a: Any) -> float:
    """`a` as a float.

    Example::

        >>> import gradpack as torch
        >>> torch.sym_float(3)
        3.0
    """
    return float(a)


def sym_not(a: Any) -> bool:
    """`not a`.

    Example::

        >>> import gradpack as torch
        >>> torch.sym_not(True)
        False
    """
    return not a


def sym_max(a: Any, b: Any) -> Any:
    """The larger number, a float if one of the two is.

    Example::

        >>> import gradpack as torch
        >>> torch.sym_max(3, 2.5)
        3.0
    """
    return _common(max(a, b), a, b)


def sym_min(a: Any, b: Any) -> Any:
    """The smaller number, a float if one of the two is.

    Example::

        >>> import gradpack as torch
        >>> torch.sym_min(1, 2)
        1
    """
    return _common(min(a, b), a, b)


def _common(value: Any, a: Any, b: Any) -> Any:
    return float(value) if isinstance(a, float) or isinstance(b, float) else value


def sym_ite(b: Any, t: Any, f: Any) -> Any:
    """`t if b else f`, for a bool and two values of one type.

    Args:
        b: the condition.
        t: the result where it is True.
        f: the result where it is False.

    Raises:
        AssertionError: unless `b` is a bool, and the types of `t` and `f` are the same.

    Example::

        >>> import gradpack as torch
        >>> torch.sym_ite(True, 1, 2)
        1
    """
    assert isinstance(b, bool), f"expected SymBool or bool, got {type(b)}"
    assert type(t) is type(f), f"type mismatch: {type(t)} vs {type(f)}"
    return t if b else f


def sym_sqrt(a: Any) -> float:
    """The square root of a number.

    Example::

        >>> import gradpack as torch
        >>> torch.sym_sqrt(4)
        2.0
    """
    return math.sqrt(a)


def sym_sum(*args: Any) -> Any:
    """The sum of numbers.

    Args:
        *args: the numbers, or one sequence of them.

    Example::

        >>> import gradpack as torch
        >>> torch.sym_sum([1, 2]), torch.sym_sum(1, 2, 3)
        (3, 6)
    """
    return sum(args[0] if len(args) == 1 and isinstance(args[0], Iterable) else args)
