"""Words of memory that differ when a dict was written to, or an object has another class or other attributes.

To ask each of some hundred containers for its values takes 10 to 30 ns for each. CPython keeps one word that answers:
the version tag of a dict, which every write changes (PEP 509), the number of values of a set, the address of the class
of an object and that of the dict of its attributes. NumPy reads all of them in one step, in 1 to 2 ns each.

Nothing here is read at an address that was not checked: a word counts only where the word is what Python says, and the
containers and objects are kept alive. Where the interpreter is another one, no word counts, and guards ask for values.
"""

from __future__ import annotations

import sys
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

_BYTES = 8  # of a word
_CLASS = 8  # where it is in an object
_USED: dict[Any, int] = {dict: 16, defaultdict: 16, OrderedDict: 16, set: 24}  # where the number of values is
_TAG = 24  # where the version tag of a dict is
_ATTRIBUTES = -24  # where the address of the dict is that the interpreter manages
_VALUES = 40  # where a dict has the address of values that are elsewhere: from Python 3.13 on, in an object
_MANAGED = 1 << 4  # a flag of classes, which says that it does
_DICTS = frozenset({dict, defaultdict})  # others may have an order that no tag tells of


class Words:
    """Words of memory of some containers and objects."""

    def __init__(self) -> None:
        self._values: dict[int, Any] = {}  # by the addresses of their words

    def add_container(self, container: Any) -> bool:
        """Add the word that differs when a container has other values; return whether there is one."""
        kind = type(container)
        offset = _USED.get(kind, 0) if not container and are_readable() else 0
        if not offset and kind in _DICTS and _has_tag(container):
            offset = _TAG
        if offset:
            self._add(container, offset)
        return bool(offset)

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

    def differing(self, before: bytes, now: bytes) -> list[Any]:
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


def _has_tag(mapping: Any) -> bool:
    """Return whether all writes change the version tag of a dict, those to attributes, too."""
    return has_tags() and (sys.version_info < (3, 13) or not _word(id(mapping) + _VALUES))


def _word(address: int) -> int:
    return int(np.asarray(_Memory(address, 1))[0])


@cache
def are_readable() -> bool:
    """Return whether objects are laid out as this module expects."""
    if sys.implementation.name != "cpython" or sys.maxsize < 1 << 32 or sys.byteorder != "little":
        return False
    for kind, offset in _USED.items():
        probe: Any = kind()
        before = _word(id(probe) + _CLASS), _word(id(probe) + offset)
        probe.update([(k, k) for k in range(5)])
        if before != (id(kind), 0) or _word(id(probe) + offset) != len(probe):
            return False
    return True


@cache
def has_tags() -> bool:
    """Return whether dicts have version tags: Python 3.14 has none."""
    if not are_readable():
        return False
    probe: dict[str, int] = {}
    tags = [_word(id(probe) + _TAG)]
    for write in (lambda: probe.update(a=1), lambda: probe.update(a=2), lambda: probe.pop("a"), lambda: None):
        write()
        tags.append(_word(id(probe) + _TAG))
    return len(set(tags)) == 4 and tags[-1] == tags[-2]
