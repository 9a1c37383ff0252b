"""Words of memory that differ when a dict was written to, or an object has another class or other attributes.

To ask each of some hundred containers for its values takes 10 to 30 ns for each. CPython keeps one word that answers:
the version tag of a dict, which every write changes (PEP 509), the number of values of a set, the address of the class
of an object and that of the dict of its attributes. NumPy reads all of them in one step, in 1 to 2 ns each.

Nothing here is read at an address that was not checked: a word counts only where the word is what Python says, and the
containers and objects are kept alive. Where the interpreter is another one, no word counts, and guards ask for values.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

_BYTES = 8  # of a word
_CLASS = 8  # where it is in an object
_CHANGES = 24  # where the version tag of a dict is, and the number of values of a set
_ATTRIBUTES = -24  # where the address of the dict is that the interpreter manages
_MANAGED = 1 << 4  # a flag of classes, which says that it does
_DICTS = frozenset({dict, defaultdict})  # others may have an order that no tag tells of


class Words:
    """Words of memory of some containers and objects."""

    def __init__(self) -> None:
        self._values: dict[int, Any] = {}  # by the addresses of their words

    def add_container(self, container: Any) -> bool:
        """Add the word that differs when a dict or an empty set has other values; return whether there is one."""
        kind = type(container)
        is_known = has_tags() if kind in _DICTS else kind is set and not container and are_readable()
        if is_known:
            self._add(container, _CHANGES)
        return is_known

    def add_class(self, value: Any) -> bool:
        """Add the word that differs when an object has another class; return whether there is one."""
        if not are_readable() or _word(id(value) + _CLASS) != id(type(value)):
            return False
        self._add(value, _CLASS)
        return True

    def add_attributes(self, value: Any) -> bool:
        """Add the word that differs when an object has another dict of attributes; return whether there is one."""
        kind = type(value)
        offset = _ATTRIBUTES if kind.__flags__ & _MANAGED else kind.__dictoffset__
        if not are_readable() or (offset != _ATTRIBUTES and (offset <= 0 or offset % _BYTES)):
            return False
        if _word(id(value) + offset) != id(vars(value)):
            return False
        self._add(value, offset)
        return True

    def _add(self, value: Any, offset: int) -> None:
        self._values[id(value) + offset] = value

    def __len__(self) -> int:
        return len(self._values)

    def of_others(self, before: bytes, now: bytes) -> list[Any]:
        """Return the containers and objects whose words differ."""
        differ = np.frombuffer(before, np.uint64) != np.frombuffer(now, np.uint64) if len(before) == len(now) else ()
        return [value for value, differs in zip(self._values.values(), differ, strict=False) if differs]

    def reader(self) -> Callable[[], bytes]:
        """Return a function that returns the words as they are."""
        first = min(self._values, default=id(self))
        places = (np.array(list(self._values), np.int64) - first) // _BYTES
        take = np.asarray(_Memory(first, int(places.max(initial=0)) + 1, self._values)).take
        return lambda: take(places).tobytes()


class _Memory:
    """Words from an address on, as an array of which only those may be read that are known to be there.

    Args:
        values: those that own the words, which live as long as the array.
    """

    def __init__(self, address: int, count: int, values: Any = None) -> None:
        self.__array_interface__ = {"data": (address, True), "typestr": "<u8", "shape": (count,), "version": 3}
        self._values = values


def _word(address: int) -> int:
    return int(np.asarray(_Memory(address, 1))[0])


@cache
def are_readable() -> bool:
    """Return whether objects are laid out as this module expects."""
    if sys.implementation.name != "cpython" or sys.maxsize < 1 << 32 or sys.byteorder != "little":
        return False
    probe: set[int] = set()
    before = _word(id(probe) + _CLASS), _word(id(probe) + _CHANGES)
    probe.update(range(5))
    return before == (id(set), 0) and _word(id(probe) + _CHANGES) == len(probe)


@cache
def has_tags() -> bool:
    """Return whether dicts have version tags: from Python 3.13 on, writes to attributes do not change them."""
    if not are_readable() or sys.version_info >= (3, 13):
        return False
    probe: dict[str, int] = {}
    tags = [_word(id(probe) + _CHANGES)]
    for write in (lambda: probe.update(a=1), lambda: probe.update(a=2), lambda: probe.pop("a"), lambda: None):
        write()
        tags.append(_word(id(probe) + _CHANGES))
    return len(set(tags)) == 4 and tags[-1] == tags[-2]
