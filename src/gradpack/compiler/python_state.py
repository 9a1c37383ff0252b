"""The values of Python that a function can reach: tensors, and a check that nothing else has changed.

The walk begins with the closure, the defaults and the global names of a function's code, and follows containers,
modules and objects of the user's. A snapshot of each holds the identities of its values; numbers and strings may also
be equal.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from functools import partial
from itertools import chain
from math import isnan
from operator import is_
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    GeneratorType,
    MappingProxyType,
    MethodType,
    ModuleType,
)  # fmt: skip
from typing import Any

from ..base.devices import device
from ..base.dtypes import dtype
from ..core.tensor import Tensor
from ..optim.optimizer import Optimizer

_PACKAGE = __name__.partition(".")[0]
_PLAIN = (int, float, bool, complex, str, bytes, type(None), dtype, device)
_MOST = 20_000  # values of one walk
_INTERNAL = (f"{_PACKAGE}.declare.", f"{_PACKAGE}.backends.", f"{_PACKAGE}.graph.")  # they do not change
_OF_STATE_DICTS = tuple(  # attributes that nothing but `state_dict` and `load_state_dict` look at
    f"._{of}{what}_{when}hooks"
    for of in ("", "optimizer_")
    for what in ("state_dict", "load_state_dict")
    for when in ("", "pre_", "post_")
)
_OTHERS = frozenset({"numpy", "torch", _PACKAGE})


class Unreachable(Exception):  # noqa: N818 - a message to the caller, no error
    """Raised where something could change without notice."""


class Snapshot:
    """The values of one container at a moment.

    Attributes:
        holder: the container.
        name: how a message calls it.
        values: returns them now.
    """

    __slots__ = ("held", "holder", "ids", "name", "values")

    def __init__(self, holder: Any, name: str, values: Callable[[], Any]) -> None:
        self.holder, self.name, self.values = holder, name, values
        self.held = list(values())
        self.ids = list(map(id, self.held))

    def holds(self) -> bool:
        """Return whether the values are those of the snapshot."""
        if list(map(id, self.values())) == self.ids:
            return True
        now = list(self.values())
        if len(now) != len(self.held) or not all(map(_same, now, self.held)):
            return False
        self.held, self.ids = now, list(map(id, now))
        return True

    def difference(self) -> str:
        """Return what changed, for a message."""
        now = list(self.values())
        if len(now) != len(self.held):
            return f"{self.name} has {len(now)} values, and had {len(self.held)}"
        changed = [(a, b) for a, b in zip(now, self.held, strict=True) if not _same(a, b)]
        shown = ", ".join(f"{_short(b)} became {_short(a)}" for a, b in changed[:3])
        return f"{self.name}: {shown}"


def _short(value: Any) -> str:
    return repr(value) if isinstance(value, _PLAIN) else type(value).__name__


def _same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, float) and isnan(a):
        return isnan(b)
    if isinstance(a, _PLAIN):
        return bool(a == b) and repr(a) == repr(b)
    if type(a) is tuple:
        return len(a) == len(b) and all(map(_same, a, b))
    return type(a) is MethodType and a.__func__ is b.__func__ and a.__self__ is b.__self__


class Walk:
    """All that can be reached from a function and its arguments.

    Attributes:
        tensors: the tensors, each with a name for messages and for the text of programs.
        snapshots: of all containers on the way.
    """

    def __init__(self) -> None:
        self.tensors: dict[int, tuple[Tensor, str]] = {}
        self.snapshots: list[Snapshot] = []
        self._seen: dict[int, Any] = {}
        self._queue: deque[tuple[Any, str]] = deque()
        self._count = 0
        self._quick: Callable[[], bool] | None = None
        self._groups: list[tuple[dict[str, Any], str]] = []
        self._names: set[str] = set()

    def add(self, value: Any, name: str) -> None:
        """Walk from a value."""
        self._queue.append((value, name))
        while self._queue:
            self._visit(*self._queue.popleft())
        for group, each in self._groups:  # programs read options of optimizers anew, unless Python does
            if "param_groups" in self._names:
                self._dict(group, each)
            self._queue += [(v, f"{each}.{k}") for k, v in group.items() if not isinstance(v, _PLAIN)]
        self._groups.clear()
        if self._queue:
            self.add(*self._queue.popleft())

    def holds(self) -> bool:
        """Return whether all containers hold what they held."""
        if self._quick is None:
            self._quick = _quick_check(self.snapshots)
        if self._quick():
            return True
        if not all(snapshot.holds() for snapshot in self.snapshots):
            return False
        self._quick = None  # numbers are equal, but other objects
        return True

    def changed(self) -> str:
        """Return what changed since the walk, or ""."""
        return next((s.difference() for s in self.snapshots if not s.holds()), "")

    def _values(self, holder: Any, name: str, values: Callable[[], Any], names: list[str]) -> None:
        snapshot = Snapshot(holder, name, values)
        self.snapshots.append(snapshot)
        self._count += len(names)
        if self._count > _MOST:
            raise Unreachable(f"more than {_MOST} values are within its reach, among them those of {name}")
        for value, each in zip(snapshot.held, names, strict=True):
            if not isinstance(value, _PLAIN):
                self._queue.append((value, each))

    def _visit(self, value: Any, name: str) -> None:
        if isinstance(value, _PLAIN) or id(value) in self._seen:
            return
        self._seen[id(value)] = value
        if isinstance(value, Tensor):
            self.tensors[id(value)] = value, name
            if vars(value):
                self._dict(vars(value), name)
        elif isinstance(value, FunctionType):
            self._function(value, name)
        elif isinstance(value, MethodType):
            self._queue += [(value.__self__, name), (value.__func__, name)]
        elif isinstance(value, partial):
            self._queue += [(value.func, name), (value.args, name), (value.keywords, name)]
        elif isinstance(value, dict | MappingProxyType):
            self._dict(value, name)
        elif isinstance(value, list | tuple | deque):
            names = [f"{name}[{i}]" for i in range(len(value))]
            if type(value) is tuple and not value:
                return
            self._values(value, name, value.__iter__, names)
            self._attributes(value, name)
        elif isinstance(value, set | frozenset):
            held = sorted(value, key=id)
            self._values(value, name, lambda: sorted(value, key=id), [name] * len(held))
        elif isinstance(value, ModuleType | BuiltinFunctionType | type):
            if isinstance(value, type) and _is_users(value.__module__):
                self._class(value, name)
        elif isinstance(value, GeneratorType) or hasattr(value, "__next__"):
            raise Unreachable(f"{name} is an iterator, which gives another value each time")
        else:
            self._object(value, name)

    def _dict(self, value: Any, name: str) -> None:
        if name.endswith(_OF_STATE_DICTS) and not any("state_dict" in n for n in self._names):
            return
        names = [f"{name}.{k}" if isinstance(k, str) else f"{name}[{type(k).__name__}]" for k in value]
        self._values(value, name, value.values, names)

    def _attributes(self, value: Any, name: str) -> None:
        found = getattr(value, "__dict__", None)
        if found:
            self._dict(found, name)

    def _object(self, value: Any, name: str) -> None:
        kind = type(value)
        if kind.__module__.startswith(_INTERNAL):
            return
        if hasattr(value, "explain") and hasattr(value, "kept"):  # a compiled function
            self._queue.append((value.function, name))
            return
        if isinstance(value, Optimizer):
            self._groups += [(group, f"{name}.param_groups[{i}]") for i, group in enumerate(value.param_groups)]
            self._values(value, name, value.param_groups.__iter__, [name] * len(value.param_groups))
            for group in value.param_groups:
                self._seen[id(group)] = group
            self._queue += [(v, f"{name}.{k}") for k, v in vars(value).items() if k not in ("param_groups", "defaults")]
            return
        if kind.__module__.partition(".")[0] in sys.stdlib_module_names and not hasattr(value, "__dict__"):
            if kind.__module__ in ("_random", "random", "_io", "io"):
                raise Unreachable(f"{name} is a {kind.__name__}, which changes when it is used")
            return
        self._attributes(value, name)
        for slot in (s for base in kind.__mro__ for s in _slots(base)):
            if _is_users(kind.__module__) and hasattr(value, slot):
                self._values(value, f"{name}.{slot}", partial(_slot, value, slot), [f"{name}.{slot}"])
        for base in kind.__mro__:
            if _is_users(base.__module__):
                self._class(base, base.__name__)

    def _class(self, kind: type, name: str) -> None:
        if id(kind) not in self._seen or self._seen[id(kind)] is kind:
            self._seen[id(kind)] = kind
            members = vars(kind)
            if id(members.get("__dict__")) not in self._seen:
                self._seen[id(members.get("__dict__"))] = members
                for key, member in list(members.items()):
                    function = getattr(member, "__func__", getattr(member, "fget", member))
                    if isinstance(function, FunctionType):
                        self._queue.append((function, f"{name}.{key}"))
                    elif not key.startswith("__"):
                        self._values(kind, f"{name}.{key}", partial(_members, members, key), [f"{name}.{key}"])

    def _function(self, function: FunctionType, name: str) -> None:
        users = _is_users_function(function)
        if not users:
            inner = getattr(function, "__wrapped__", None)
            if inner is not None:
                self._queue.append((inner, name))
        for cell, each in zip(function.__closure__ or (), function.__code__.co_freevars, strict=True):
            self._values(cell, each, partial(_contents, cell), [each] * len(_contents(cell)))
        if not users:
            return
        if function.__defaults__:
            self._queue.append((function.__defaults__, f"defaults of {name}"))
        if function.__kwdefaults__:
            self._queue.append((function.__kwdefaults__, f"defaults of {name}"))
        if vars(function):
            self._dict({k: v for k, v in vars(function).items() if k != "__wrapped__"}, name)
            self._queue.append((vars(function).get("__wrapped__"), name))
        outside = function.__globals__
        names = _names(function.__code__)
        self._names.update(names)
        for each in names:
            if each in outside and not each.startswith("@"):  # what pytest makes of `assert`
                value = outside[each]
                if isinstance(value, ModuleType):
                    self._module(value, function.__code__)
                self._values(outside, each, partial(_members, outside, each), [each])

    def _module(self, module: ModuleType, code: CodeType) -> None:
        if not _is_users(module.__name__):
            return
        members = vars(module)
        for each in _names(code):
            if each in members:
                name = f"{module.__name__}.{each}"
                self._values(module, name, partial(_members, members, each), [name])


def _quick_check(snapshots: list[Snapshot]) -> Callable[[], bool]:
    """Return a function that compares the identities of all values with those of the snapshots."""
    empty, views, sized, values = [], [], [], []
    tests = ["not any(empty)", "[*map(len, sized)] == lengths", "all(map(is_, chain(views), values))"]
    names: dict[str, Any] = {"chain": chain.from_iterable, "is_": is_}
    for i, each in enumerate(snapshots):
        holder = each.holder
        plain = isinstance(holder, dict) and each.values == holder.values
        if plain or isinstance(holder, list | tuple | deque) or (isinstance(holder, set | frozenset) and not each.held):
            if each.held:
                views.append(holder.values() if isinstance(holder, dict) else holder)
                sized.append(holder)
                values += each.held
            else:
                empty.append(holder)
            continue
        names[f"v{i}"], names[f"h{i}"] = (each.held[0] if len(each.held) == 1 else None), holder
        if isinstance(holder, CellType) and each.held:
            tests.append(f"h{i}.cell_contents is v{i}")
        elif isinstance(each.values, partial) and each.values.func is _members and each.held:
            members, key = each.values.args
            names[f"h{i}"] = members
            tests.append(f"h{i}.get({key!r}) is v{i}")
        else:
            names[f"h{i}"] = each.holds
            tests.append(f"h{i}()")
    names |= {"empty": empty, "views": views, "sized": sized, "values": values, "lengths": list(map(len, sized))}
    exec(f"def holds():\n    return {' and '.join(tests)}", names)
    found: Callable[[], bool] = names["holds"]
    return found


def _slots(kind: type) -> tuple[str, ...]:
    found = vars(kind).get("__slots__", ())
    return (found,) if isinstance(found, str) else tuple(found)


def _slot(holder: Any, name: str) -> list[Any]:
    return [getattr(holder, name)] if hasattr(holder, name) else []


def _members(members: Any, name: str) -> list[Any]:
    return [members[name]] if name in members else []


def _contents(cell: CellType) -> list[Any]:
    try:
        return [cell.cell_contents]
    except ValueError:  # it is empty
        return []


def _is_users(module: str) -> bool:
    top = module.partition(".")[0]
    return top not in _OTHERS and (top not in sys.stdlib_module_names or top == "__main__")


def _is_users_function(function: FunctionType) -> bool:
    """Return whether a function is none of the libraries'; an example in one of their docstrings is the user's."""
    return _is_users(function.__module__ or "") or function.__code__.co_filename.startswith("<doctest ")


def _names(code: CodeType) -> list[str]:
    """Return the names in the code of a function and of those inside of it."""
    names = list(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names += _names(constant)
    return names
