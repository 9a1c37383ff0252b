"""Loops on small arrays: machine code that is called with the addresses of its arrays.

A call of NumPy's takes 200 ns or more, of which the elements of a small array take a few. Machine code for several
steps takes 100, as the arrays that are the same ones at each call stand in its arguments from the beginning.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any

DEAR_ELEMENTS = 1 << 10  # of functions such as `exp`: NumPy computes more of them in less time


class SmallLoop:
    """A loop whose arguments are known before it is called, but for arrays that are others at each call.

    Attributes:
        text: what people see.
        steps: how many calls of NumPy's it stands for.
        places: where, in the block of its arguments, the address of each array is, and the first number.

    Args:
        run: `kernels.numba.ranges.OfText`.
        arrays: of each its kind for `loops.ranges.function_of`, dimensions, dtype, and its sizes in a block.
        native: the type of the numbers behind the arrays.
        length: elements of the first dimension of arrays of the kind "d".
    """

    def __init__(
        self, run: Any, text: str, steps: int, arrays: list[tuple[str, int, str, tuple[int, ...]]], native: Any,
        length: int,
    ) -> None:  # fmt: skip
        self._run, self.text, self.steps, self._native, self._length = run, text, steps, native, length
        self._arrays = arrays
        self.places = [*accumulate((1 + len(sizes) for *_, sizes in arrays), initial=1)]

    def __call__(self, *given: Any, into: list[Any]) -> tuple[Callable[[], None], Any]:
        """Return a function of no arguments, and the block of its addresses.

        Args:
            given: arrays, or None for those whose address is to be written to the block before each call; and numbers.
            into: arrays of the results.
        """
        count = len(self._arrays) - len(into)
        values = zip(self._arrays, [*given[:count], *into], strict=True)
        arrays = [(*kind, value, sizes) for (*kind, sizes), value in values]
        numbers = [n if type(n) in (int, float) else n.flat[0] for n in given[count:]]
        made: tuple[Callable[[], None], Any] = self._run.bound(self._length, arrays, self._native, numbers)
        return made


def array_in_loop(form: str, char: str, shape: tuple[int, ...]) -> tuple[str, int, str, tuple[int, ...]]:
    """Return what a loop has to know of an array.

    Args:
        form: how it lies, see `broadcast_forms.lies`; "o" for one number, which is read for each element.
        char: of its dtype.
        shape: how many rows, and how many elements each; the number of elements for arrays that are no rows.
    """
    if form in "ro":
        return "w", 1, char, shape[1:] if form == "r" else (1,)
    return ("d", len(shape), char, shape[1:]) if form == "i" else ("d", 1, char, ())
