"""The table of kernels: functions of `ops`, and what is faster for which arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from .conditions import ENOUGH, alike


class Kernel(NamedTuple):
    """A function that stands in for another.

    Attributes:
        library: what it is written with: the name of what is imported, and of a folder here.
        function: where it is in that folder: `module.function`. It takes the same arguments, and may return
            NotImplemented.
        when: whether it takes these arguments. The first one is an array of NumPy's with enough elements.
        least: elements of the first argument.
    """

    library: str
    function: str
    when: Callable[..., bool] = alike
    least: int = ENOUGH


TABLE: dict[str, tuple[Kernel, ...]] = {}
