"""A check that the values of containers are those of a snapshot, as one function of as few steps as possible."""

from __future__ import annotations

import math
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterable
from gc import get_referents
from types import CellType, MappingProxyType, MethodType
from typing import Any

from ...core.tensor import Tensor
from .values import PLAIN, is_plain, slot
from .words import Words

_NUMBERS = (int, float, bool, complex)
_CONTAINERS = (dict, list, tuple, set, frozenset, deque, MappingProxyType)
_PLAIN_CONTAINERS = frozenset({dict, OrderedDict, list, tuple, set, frozenset, deque})
_HOLDERS = (*_CONTAINERS, CellType)  # the collector of garbage knows what they hold, in C
_FIXED = (tuple, frozenset)  # hold what they held
OWN = ("__dict__",)  # the attribute that is the dict of the others
_FEW = 24  # containers, which are asked in the time that it takes to read a word
_OFTEN = 3  # times that a container was written to and held what it had held
_BETWEEN = object()  # stands between the values of two containers, so that none moves from one to the other


class Snapshot:
    """The values of one container at a moment.

    Attributes:
        holder: the container.
        name: how a message calls it.
        values: returns them now.
        keys: those of a mapping; None for others.
    """

    __slots__ = ("held", "holder", "ids", "keys", "name", "values")

    def __init__(self, holder: Any, name: str, values: Callable[[], Iterable[Any]], keys: list[Any] | None) -> None:
        self.holder, self.name, self.values, self.keys = holder, name, values, keys
        self.held = list(values())
        self.ids = list(map(id, self.held))

    def holds(self) -> bool:
        """Return whether the values are those of the snapshot."""
        try:
            now = list(self.values())
        except Exception:  # an attribute is gone
            return False
        if self.keys is not None and not _all_same(list(self.holder), self.keys):
            return False
        if list(map(id, now)) == self.ids:
            return True
        if not _all_same(now, self.held):
            return False
        self.held, self.ids = now, list(map(id, now))
        return True

    def difference(self) -> str:
        """Return what changed, for a message."""
        try:
            now = list(self.values())
        except Exception as error:
            return f"{self.name} cannot be read any longer ({type(error).__name__}: {error})"
        if len(now) != len(self.held):
            return f"{self.name} has {len(now)} values, and had {len(self.held)}"
        keys = [""] * len(now) if self.keys is None else [f"{k} " if isinstance(k, str) else "" for k in self.keys]
        changed = [(k, a, b) for k, a, b in zip(keys, now, self.held, strict=False) if not same(a, b)]
        if not changed and self.keys is not None:
            return f"{self.name} has other keys"
        shown = ", ".join(f"{k}{_short(b)} became {became(a, b)}" for k, a, b in changed[:3])
        return f"{self.name}: {shown}"


def _short(value: Any) -> str:
    if isinstance(value, type):
        return value.__name__
    return repr(value) if isinstance(value, PLAIN) else type(value).__name__


def became(a: Any, b: Any) -> str:
    """Return what a message calls a value that is not `b`."""
    shown = _short(a)
    return f"another {shown}" if shown == _short(b) else shown


def _all_same(a: list[Any], b: list[Any]) -> bool:
    return len(a) == len(b) and all(map(same, a, b))


def same(a: Any, b: Any) -> bool:
    """Return whether two values are one object, or equal and nothing that can change."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, float) and math.isnan(a):
        return math.isnan(b)
    if is_plain(a):
        return bool(a == b) and repr(a) == repr(b)
    if type(a) is tuple:
        return len(a) == len(b) and all(map(same, a, b))
    return type(a) is MethodType and a.__func__ is b.__func__ and a.__self__ is b.__self__


def quick_check(snapshots: list[Snapshot], unread: set[int], values: Iterable[Any]) -> Callable[[], bool]:
    """Return a function that returns whether values are those of the snapshots.

    It reads words of memory that differ after a write, and asks containers that have none. Where words differ, it asks
    all: a write may leave a container as it was. It may return False for values that are equal.

    Args:
        unread: dicts, by identity, that no code looks into: another one that is equal will do.
        values: among which are the objects whose attributes are compared.
    """
    snapshots = [each for each in snapshots if type(each.holder) not in _FIXED]
    asks_all, written = _asking(snapshots, unread, values), Counter[int]()
    asks_others, words = _with_words(snapshots, unread, values, written)
    if len(words) < _FEW:
        return asks_all
    read = words.reader()
    seen = read()

    def holds() -> bool:
        nonlocal asks_others, words, read, seen
        now = read()
        if now == seen and asks_others():
            return True
        if not asks_all():
            return False
        changed = [id(each) for each in words.differing(seen, now)]
        written.update(changed)
        seen = now
        if any(written[each] == _OFTEN for each in changed):
            asks_others, words = _with_words(snapshots, unread, values, written)
            read, seen = words.reader(), b""  # the next call asks all
        return True

    return holds


def _with_words(
    snapshots: list[Snapshot], unread: set[int], values: Iterable[Any], written: Counter[int]
) -> tuple[Callable[[], bool], Words]:
    """Return words of memory, and a function that asks the containers that have none, or are often written to."""
    words = Words()
    others = [each for each in snapshots if written[id(each.holder)] >= _OFTEN or not _has_word(each, words)]
    return _asking(others, unread, values), words


def _has_word(each: Snapshot, words: Words) -> bool:
    """Add the word that differs when a snapshot does not hold, if there is one; return whether there is."""
    values: Any = each.values
    function = getattr(values, "func", None)
    if function is class_of:
        return words.add_class(each.holder)
    if function is attributes:
        return values.args[1] == OWN and words.add_attributes(each.holder)
    return (isinstance(each.holder, dict) or not _is_of_one(each)) and words.add_container(each.holder)


def _asking(snapshots: list[Snapshot], unread: set[int], values: Iterable[Any]) -> Callable[[], bool]:
    """Return a function that asks containers and objects for their values.

    It compares two lists, which is a comparison of identities where nothing changed. Where a value that is equal may be
    another one, as the number 1 and True, it compares this one by its identity, too.
    """
    asked = _Asked(values)
    tests: list[str] = []
    names: dict[str, Any] = {}
    gone = unread | {id(s.holder) for s in snapshots if not s.held and isinstance(s.holder, _CONTAINERS)}
    for i, each in enumerate(snapshots):
        if _is_of_one(each):
            tests.append(_of_one(each, i, names))
        else:
            asked.add(each)
    all_holders = asked.holders()
    held = get_referents(*all_holders)
    found = set(map(id, held))
    for i, each in enumerate(snapshots):
        if not _is_of_one(each) and (id(each.holder) in asked.hidden or _lacks(each, found)):
            tests.append(_of_call(each, i, names))
    for place, value in enumerate(held):
        if id(value) not in gone and _has_equals(value):
            tests.append(f"now[{place}] is v{place}")
            names[f"v{place}"] = value
    names |= {"holders": all_holders, "held": held, "referents": get_referents, "keys": asked.keys}
    names |= {"mappings": asked.mappings, "copies": asked.copies, "others": asked.others}
    names |= {f"d{i}": mapping for i, mapping in enumerate(asked.keyed)}
    first = {
        "not any(others)": asked.others, "(now := referents(*holders)) == held": held,
        "mappings == copies": asked.mappings,
        f"[{', '.join(f'*d{i}' for i in range(len(asked.keyed)))}] == keys": asked.keys,
    }  # fmt: skip
    tests = [test for test, values in first.items() if values] + tests
    text = f"def holds():\n    try:\n        return {' and '.join(tests) or 'True'}\n"
    text += "    except Exception:\n        return False\n"  # of a comparison of values that have changed
    exec(text, names)
    made: Callable[[], bool] = names["holds"]
    return made


class _Asked:
    """Containers of which the collector of garbage is asked for the values, and what is compared besides.

    Args:
        values: among which are the objects whose attributes are compared.

    Attributes:
        others: empty containers that have other referents.
        mappings, copies: dicts whose values have an order, and what they have to equal.
        keyed, keys: other mappings, and their keys.
        hidden: containers, by identity, of which the collector does not know the values.
    """

    def __init__(self, values: Iterable[Any]) -> None:
        # The fixed ones have as many values as they had, if the dicts among them are equal to their copies.
        self._fixed, self._holders, self._empty = list[Any](), list[Any](), list[Any]()
        self._known: dict[int, Any] = {}
        self.others, self.mappings, self.copies = list[Any](), list[Any](), list[Any]()
        self.keyed, self.keys, self.hidden = list[Any](), list[Any](), set[int]()
        self._owners: dict[int, Any] = {}  # the objects whose attributes are in a dict, by the identity of this
        if _EMBEDS:
            self._owners = {id(own): v for v in values if type(own := getattr(v, "__dict__", None)) is dict}

    def add(self, each: Snapshot) -> None:
        """Let the values of a snapshot be compared."""
        holder = each.holder
        if not each.held and not isinstance(holder, CellType):
            is_seen = type(holder) in _PLAIN_CONTAINERS and not (_EMBEDS and type(holder) is dict)
            (self._empty if is_seen else self.others).append(holder)
            return
        is_fixed = type(holder) in (tuple, CellType)
        if type(holder) is dict and each.keys and len(set(each.ids)) == len(each.ids):  # their order is that of values
            is_fixed = True
            self.mappings.append(holder)
            self.copies.append(holder.copy())
        elif each.keys:
            self.keyed.append(holder)
            self.keys += each.keys
        if isinstance(holder, MappingProxyType):
            (holder,) = get_referents(holder)
        if id(holder) in self._known:
            return
        self._known[id(holder)] = holder
        seen = _seen_from(holder, self._owners)
        if seen is None:
            self.hidden.add(id(holder))
        elif is_fixed:
            self._fixed.append(seen)
        else:
            self._holders += [(_BETWEEN,), seen]

    def holders(self) -> tuple[Any, ...]:
        """Return what the collector is asked for."""
        return (*self._fixed, *self._holders, (_BETWEEN,), *self._empty)


class _Probe:
    def __init__(self) -> None:
        self.value = _BETWEEN


# From Python 3.13 on, an object may hold the values of its attributes, and the dict of them does not.
_probe = _Probe()
_EMBEDS = _BETWEEN not in get_referents(vars(_probe))


def _seen_from(holder: Any, owners: dict[int, Any]) -> Any:
    """Return a container, or the object whose attributes it has, of which the collector knows all values; else None."""
    if not _EMBEDS or type(holder) is not dict:
        return holder
    values = set(map(id, holder.values()))
    for each in (holder, owners.get(id(holder))):
        if each is not None and values <= set(map(id, get_referents(each))):
            return each
    return None


def _is_of_one(each: Snapshot) -> bool:
    """Return whether a snapshot is not that of all values of a container."""
    return not isinstance(each.holder, _HOLDERS) or getattr(each.values, "func", None) in _OF_ONE


def _has_equals(value: Any) -> bool:
    """Return whether something else may be equal to a value."""
    kind = type(value)
    if kind in _NUMBERS:
        return True
    if issubclass(kind, Tensor):
        return math.prod(value._shape) < 2  # the comparison of others is no truth value, which raises an error
    equals: Any = kind.__eq__
    return kind not in PLAIN and equals is not object.__eq__


def _of_one(each: Snapshot, i: int, names: dict[str, Any]) -> str:
    """Return the test of a snapshot of a part of a container, or of something else."""
    values: Any = each.values
    key: Any = getattr(values, "args", (None, None))[-1]
    if getattr(values, "func", None) is member and each.held:
        names[f"h{i}"], names[f"e{i}"] = values.args[0].get, each.held[0]
        return f"h{i}({key!r}) is e{i}"
    if getattr(values, "func", None) is slot and each.held:
        names[f"h{i}"], names[f"e{i}"] = each.holder, each.held[0]
        return f"h{i}.{key} is e{i}"
    if getattr(values, "func", None) is intruders:
        names[f"h{i}"], names[f"e{i}"] = values.args[0].keys().isdisjoint, key
        return f"h{i}(e{i})"
    if getattr(values, "func", None) is class_of:
        names[f"h{i}"], names[f"e{i}"] = each.holder, each.held[0]
        return f"type(h{i}) is e{i}"
    if getattr(values, "func", None) is attributes:
        names[f"h{i}"] = each.holder
        tests = []
        for name, value in zip(key, each.held, strict=True):
            tests.append(f"h{i}.{name} is e{i}_{name}")
            names[f"e{i}_{name}"] = value
        return " and ".join(tests)
    return _of_call(each, i, names)


def _of_call(each: Snapshot, i: int, names: dict[str, Any]) -> str:
    names[f"h{i}"] = each.holds
    return f"h{i}()"


def _lacks(each: Snapshot, found: set[int]) -> bool:
    """Return whether the collector of garbage does not know of a value of a container."""
    return any(id(v) not in found for v in each.held)


def member(members: Any, name: str) -> list[Any]:
    """Return the value of a mapping under a name, if it has one, in a list."""
    return [members[name]] if name in members else []


def all_but(holder: Any, keys: frozenset[Any]) -> list[Any]:
    """Return the values of a dict or list, with None in the place of some."""
    items = enumerate(holder) if isinstance(holder, list) else holder.items()
    return [None if key in keys else value for key, value in items]


def intruders(members: dict[str, Any], names: frozenset[str]) -> list[Any]:
    """Return the values of a mapping under names that it had not."""
    return [members[name] for name in sorted(names & members.keys())]


def class_of(value: Any) -> list[type]:
    """Return the class of an object, in a list."""
    return [type(value)]


def attributes(holder: Any, names: tuple[str, ...]) -> list[Any]:
    """Return the values of attributes."""
    return [getattr(holder, name) for name in names]


def place(snapshot: Snapshot) -> Any:
    """Return of which mapping, and under which name, a snapshot of one value is."""
    values: Any = snapshot.values
    return (id(values.args[0]), values.args[1]) if getattr(values, "func", None) is member else None


_OF_ONE = (member, intruders, all_but, class_of, attributes)
