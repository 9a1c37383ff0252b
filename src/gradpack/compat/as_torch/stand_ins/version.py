"""The version of torch whose behaviour gradpack has, as a string that compares by its numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from operator import ge, gt, le, lt
from typing import Any

from ..names import VERSION


class TorchVersion(str):
    """A version. Compares with strings, tuples of numbers and `packaging`'s versions by the numbers in front.

    Example::

        >>> from gradpack.compat.as_torch.stand_ins.version import TorchVersion
        >>> TorchVersion("2.13.0+gradpack") > "2.2", TorchVersion("2.13.0") >= (2, 13)
        (True, True)
    """

    __slots__ = ()

    def __lt__(self, other: Any) -> bool:
        return _compare(self, other, lt)

    def __le__(self, other: Any) -> bool:
        return _compare(self, other, le)

    def __gt__(self, other: Any) -> bool:
        return _compare(self, other, gt)

    def __ge__(self, other: Any) -> bool:
        return _compare(self, other, ge)


def _numbers(value: Any) -> list[int]:
    if isinstance(value, Iterable) and not isinstance(value, str):
        value = ".".join(str(v) for v in value)
    front = re.match(r"[0-9.]*", str(value))
    numbers = [int(n) for n in front.group().split(".") if n] if front else []
    while numbers and numbers[-1] == 0:  # 2.13.0 is 2.13
        numbers.pop()
    return numbers


def _compare(a: Any, b: Any, how: Callable[[Any, Any], bool]) -> bool:
    return how(_numbers(a), _numbers(b))


__version__ = TorchVersion(VERSION)

__all__ = ["TorchVersion"]
