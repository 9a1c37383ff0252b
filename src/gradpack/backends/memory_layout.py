"""Where a view lies within its base, in memory: read that part of an array laid out like the base, or write it.

A base may have been transposed or reshaped in place since the view was taken, so how the view was
taken no longer says where its elements are. Their addresses do.
"""

from __future__ import annotations

from operator import mul
from typing import Any

import numpy as np

_array_type = np.ndarray  # NumPy's own, also in functions in which `np` is bound to another library

Layout = tuple[tuple[int, ...], tuple[int, ...]]  # sizes, and strides in elements


class Window:
    """A view of a base: the layouts of both, and where they start, in elements of the memory that both lie in."""

    __slots__ = ("base", "span", "starts", "view")

    def __init__(self, base: Layout, first: int, view: Layout, start: int) -> None:
        low = min(first, start)
        self.base, self.view, self.starts = base, view, (first - low, start - low)
        # elements from the first of both to the last
        self.span = max(first - low + reach(*base), start - low + reach(*view))

    def of_examples(self, count: int) -> Window:
        """The same view of each of so many bases, which lie one after the other."""
        base, view = [((count, *shape), (self.span, *strides)) for shape, strides in (self.base, self.view)]
        made = Window(base, self.starts[0], view, self.starts[1])
        made.span = max(made.span, count * self.span)
        return made

    def within(self, whole: Any) -> tuple[Any, Any]:
        """A copy of `whole` that may be written to, and the view of it."""
        memory = np.zeros(self.span, whole.dtype)
        copy = _laid(memory, self.base, self.starts[0])
        if _is_distinct(*self.base):
            copy[...] = whole
        else:  # an expanded base: `whole` says several times what one place holds
            places, counts = self._places()
            np.add.at(memory, places, whole)
            memory[...] = memory / counts
        return copy, _laid(memory, self.view, self.starts[1])

    def _places(self) -> tuple[Any, Any]:
        """Where in memory the elements of the base are, and how many of them are at each place, at least 1."""
        places = _laid(np.arange(self.span), self.base, self.starts[0])
        return places, np.maximum(np.bincount(places.reshape(-1), minlength=self.span), 1)

    def take(self, whole: Any) -> Any:
        """The elements of the view, as a copy."""
        return self.within(whole)[1].copy()

    def spread(self, part: Any) -> Any:
        """Zeros in the layout of the base with `part` added at the view: the transpose of `take`."""
        memory = np.zeros(self.span, part.dtype)
        if _is_distinct(*self.view):
            _laid(memory, self.view, self.starts[1])[...] = part
        else:
            np.add.at(memory, _laid(np.arange(self.span), self.view, self.starts[1]), part)
        if not _is_distinct(*self.base):
            memory = (memory / self._places()[1]).astype(part.dtype)
        return _laid(memory, self.base, self.starts[0])


def _laid(memory: Any, layout: Layout, start: int) -> Any:
    size = memory.itemsize
    shape, strides = layout
    if 0 in shape:
        return np.zeros(shape, memory.dtype)
    return np.ndarray(shape, memory.dtype, memory, start * size, tuple(map(size.__mul__, strides)))


def window(base: Any, view: Any) -> Window | None:
    """Where the array `view` lies within `base`; None if that cannot be said: another dtype, no NumPy arrays."""
    for array in (base, view):
        if type(array) is not _array_type and _own_address(array) is None:
            return None
    if base.dtype != view.dtype:
        return None
    size = base.itemsize
    start = address_of(view) - address_of(base)
    strides = base.strides + view.strides
    if start % size or min(strides, default=0) < 0 or any(map(size.__rmod__, strides)):
        return None
    steps = tuple(map(size.__rfloordiv__, strides))
    return Window((base.shape, steps[: base.ndim]), 0, (view.shape, steps[base.ndim :]), start // size)


def reach(shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
    """How many elements of memory a layout spans."""
    return 0 if 0 in shape else 1 + sum(map(mul, shape, strides)) - sum(strides)


def _is_distinct(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether a layout surely gives every element a place of its own."""
    end = 1
    for stride, n in sorted(zip(strides, shape, strict=True)):
        if n > 1:
            if stride < end:
                return False
            end += (n - 1) * stride
    return True


def repeats(array: Any) -> bool:
    """Return whether a dimension of several elements has stride 0, as after `expand`."""
    strides = getattr(array, "strides", None)
    if strides is None or 0 not in strides:
        return False
    shape = array.shape
    return 0 not in shape and any(s == 0 and n > 1 for s, n in zip(strides, shape, strict=True))


def dense(array: Any) -> bool:
    """Whether the elements fill their memory without gap or overlap, in whatever order."""
    if array.strides is None:  # of a sparse tensor
        return False
    expected = array.itemsize
    for stride, n in sorted(zip(array.strides, array.shape, strict=True)):
        if n == 1:
            continue
        if stride != expected:
            return False
        expected *= n
    return True


def partly_overlap(a: Any, b: Any) -> bool:
    """Whether two arrays surely share some elements without being the same elements in the same order.

    Said only of dense arrays, as torch does; of others it would be too hard to say. One element with a
    dimension and without are not the same in that sense.
    """
    if a is b or not may_overlap(a, b):
        return False
    if not a.size or not b.size or not dense(a) or not dense(b):
        return False
    first, second = map(address_of, (a, b))
    if first == second and a.nbytes == b.nbytes:
        return a.ndim != b.ndim or _steps(a) != _steps(b)
    return True


def may_overlap(a: Any, b: Any) -> bool:
    """Whether the memory from the first to the last element of one array overlaps with that of another."""
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and bool(np.may_share_memory(a, b))
    if _own_address(a) is None or _own_address(b) is None or not a.size or not b.size:
        return False
    (first, last), (start, end) = _bounds(a), _bounds(b)
    return first < end and start < last


def _bounds(array: Any) -> tuple[int, int]:
    """The addresses of the first byte of an array, and of what comes after the last."""
    reaches = [s * (n - 1) for s, n in zip(array.strides, array.shape, strict=True)]
    start = address_of(array)
    low: int = start + sum(r for r in reaches if r < 0)
    return low, start + sum(r for r in reaches if r > 0) + array.itemsize


def overlap(a: Any, b: Any) -> bool:
    """Whether two dense arrays share memory."""
    return may_overlap(a, b) and bool(a.size and b.size) and dense(a) and dense(b)


def _steps(array: Any) -> list[tuple[int, int]]:
    return [(s, n) for s, n in zip(array.strides, array.shape, strict=True) if n > 1]


def owner_of(array: Any) -> Any:
    """The array that owns the memory of a view."""
    while (base := getattr(array, "base", None)) is not None:
        if type(base) is not _array_type and not _is_array(base):  # `as_strided` puts an object in between
            base = getattr(base, "base", None)
            if base is None or not _is_array(base):  # memory of an mmap, of a memoryview, of another library
                break
        array = base
    return array


def _is_array(value: Any) -> bool:
    return hasattr(value, "strides") and hasattr(value, "dtype")


def memory_of(array: Any) -> Any:
    """All elements of the memory behind an array, in order, in its dtype; None if that is unknown."""
    owner = owner_of(array)
    if not isinstance(owner, np.ndarray):
        if owner.dtype != array.dtype:
            return None
        flat = owner.reshape(-1) if owner.flags.c_contiguous else owner.ravel(order="K")
        return flat if owner.flags.c_contiguous or not flat.flags.owndata else None
    if owner.flags.c_contiguous or not owner.size:
        flat = owner.reshape(-1)
    else:
        flat = owner.T.reshape(-1) if owner.flags.f_contiguous else _spanned(owner)
    if flat.dtype == array.dtype:
        return flat
    return flat.view(np.uint8)[: flat.nbytes // array.itemsize * array.itemsize].view(array.dtype)


def moved(array: Any, source: Any, target: Any) -> Any:
    """The array that lies in `target` as `array` lies in `source`: the memory of both, with elements of one size."""
    start = address_of(array) - address_of(source)
    made = np.ndarray(array.shape, array.dtype, target, start, array.strides)
    made.flags.writeable = array.flags.writeable
    return made


def of_buffer(buffer: Any, dtype: Any = np.uint8) -> Any:
    """All of a buffer as an array that has it as its base."""
    return np.ndarray((len(buffer) // np.dtype(dtype).itemsize,), dtype, buffer)


def _spanned(array: Any) -> Any:
    """Return the memory from first to last element of a strided view, as a contiguous 1-d array of its dtype."""
    first = array[tuple(slice(0, 1) if s >= 0 else slice(-1, None) for s in array.strides)]
    size = array.itemsize + sum((n - 1) * abs(s) for n, s in zip(array.shape, array.strides, strict=True))
    start = first.reshape(1).view(np.uint8)
    spanned = np.lib.stride_tricks.as_strided(start, (size,), (1,), writeable=array.flags.writeable)
    return spanned[: size // array.itemsize * array.itemsize].view(array.dtype)


def writable(array: Any) -> Any:
    """Return the array, or a writable view of it if only `broadcast_to` and the like made it read-only.

    Raises:
        RuntimeError: if the memory itself is read-only.
    """
    flags = getattr(array, "flags", None)
    if flags is None or getattr(flags, "writeable", True):  # CuPy arrays have no such flag
        return array
    if not array.size:
        return np.empty(array.shape, array.dtype)
    owner = owner_of(array)
    if not owner.flags.writeable:
        raise RuntimeError("the tensor's array is read-only: clone() the tensor before writing to it")
    memory = memory_of(array)
    start = address_of(array) - address_of(memory)
    first = memory.view(np.uint8)[start:][: array.itemsize].view(array.dtype).reshape(())
    return np.lib.stride_tricks.as_strided(first, array.shape, array.strides, writeable=True)


def address_of(array: Any) -> int:
    """Return the address of an array's first element. Arrays outside host memory report it themselves."""
    own = None if type(array) is _array_type else _own_address(array)
    return int(array.__array_interface__["data"][0] if own is None else own)


def _own_address(array: Any) -> Any:
    """Return the address that an array of another library reports (CuPy: `data.ptr`), or None."""
    own = getattr(array, "address", None)
    return getattr(getattr(array, "data", None), "ptr", None) if own is None else own
