"""The values of Python that a function can reach: tensors, and a check that nothing else has changed.

The walk begins with the closure, the defaults and the global names of a function's code, and follows containers,
modules and objects of the user's. A snapshot of each holds the identities of its values, and the keys of mappings;
numbers and strings may also be equal.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
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

import numpy as np

from ..core.tensor import Tensor
from ..nn import Module
from ..optim.optimizer import Optimizer
from .names_in_code import ANY_NAME, CONSTRUCTORS, LOOKS, STEPS, globals_of, names_of, strings_of
from .python_guard import PLAIN, Snapshot, attributes, intruders, member, quick_check

_PACKAGE = __name__.partition(".")[0]
_MOST = 20_000  # values of one walk
_INTERNAL = (f"{_PACKAGE}.declare.", f"{_PACKAGE}.backends.", f"{_PACKAGE}.graph.")  # they do not change
_OF_STATE_DICTS = tuple(  # attributes that nothing but `state_dict` and `load_state_dict` look at
    f"._{of}{what}_{when}hooks"
    for of in ("", "optimizer_")
    for what in ("state_dict", "load_state_dict")
    for when in ("", "pre_", "post_")
)
_POLICIES = f"{_PACKAGE}.saved"
_OTHERS = frozenset({"numpy", "torch", _PACKAGE})
_OF_FUNCTIONS = ("__code__", "__defaults__", "__kwdefaults__")
_OF_MODULES = frozenset(vars(Module()))
_METHODS_OF_MODULES = frozenset({"forward", *dir(Module)})
_LARGEST = 1 << 16  # bytes of an array of NumPy's that is compared at each call
_REMADE = 5  # how often a check is made anew for numbers that are equal


class Unreachable(Exception):  # noqa: N818 - a message to the caller, no error
    """Raised where something could change without notice."""


class Walk:
    """All that can be reached from a function and its arguments.

    Attributes:
        tensors: the tensors, each with a name for messages and for the text of programs.
        snapshots: of all containers on the way.
        objects: whose classes must stay the same.
    """

    def __init__(self) -> None:
        self.tensors: dict[int, tuple[Tensor, str]] = {}
        self.snapshots: list[Snapshot] = []
        self.objects: list[Any] = []
        self._kinds: list[type] = []
        self._seen: dict[int, Any] = {}
        self._classes: set[type] = set()
        self._queue: deque[tuple[Any, str]] = deque()
        self._count = self._made = 0
        self._quick: Callable[[], bool] | None = None
        self._groups: list[tuple[dict[str, Any], str]] = []
        self._names: set[str] = set()
        self._absent: dict[int, tuple[dict[str, Any], set[str]]] = {}  # names that are no globals, by the globals
        self._loose: list[tuple[Any, str]] = []  # objects of which the attributes are visited that code names
        self._methods: list[tuple[Any, Any, str]] = []  # of classes: visited if code names them, or the class
        self._called: set[Any] = set()  # classes that code names, which it may call
        self._optimizers: list[tuple[Any, str]] = []  # whose state is visited if code names a step

    def add(self, value: Any, name: str) -> None:
        """Walk from a value."""
        self._queue.append((value, name))
        while self._queue:
            self._visit(*self._queue.popleft())
        for group, each in self._groups:  # programs read options of optimizers anew, unless Python does
            if "param_groups" in self._names:
                self._dict(group, each)
            else:
                self._member(group, "params", f"{each}.params")
            self._queue += [(v, f"{each}.{k}") for k, v in group.items() if not isinstance(v, PLAIN)]
        self._groups.clear()
        if self._queue:
            self.add(*self._queue.popleft())
        for outside, names in self._absent.values():
            if names:
                self._values(outside, "the globals", partial(intruders, outside, frozenset(names)), None)
        self._absent.clear()

    def finish(self) -> None:
        """Visit the attributes of objects that code names, when all code is known: nothing looks at others."""
        visited: dict[int, set[str]] = {}
        count = -1
        while count != self._count + len(self._seen):
            count = self._count + len(self._seen)
            for optimizer, name in self._optimizers if self._names & (STEPS | ANY_NAME) else ():
                self._member(vars(optimizer), "state", f"{name}.state")
                self._optimizers = [o for o in self._optimizers if o[0] is not optimizer]
            for value, name in list(self._loose):
                done, members = visited.setdefault(id(value), set()), vars(value)
                for key in [k for k in members if k not in done and self._is_named(value, k)]:
                    done.add(key)
                    self._member(members, key, f"{name}.{key}")
            made = self._called if self._names.isdisjoint({"type", "__class__"}) else self._classes
            self._queue += [(f, n) for key, f, n in self._methods if key in self._names or key in made]
            while self._queue:
                self.add(*self._queue.popleft())
        for value, name in self._loose:
            members = vars(value)
            if len(visited[id(value)]) == len(members):
                gone = {(id(members), k) for k in members}
                self.snapshots = [s for s in self.snapshots if _place(s) not in gone]
                self._values(members, name, members.values, None, list(members))
            else:
                absent = frozenset(self._names - members.keys())
                self._values(members, name, partial(intruders, members, absent), None)
        self._loose.clear()

    def _is_named(self, value: Any, key: str) -> bool:
        """Return whether code looks at an attribute of an object."""
        if isinstance(value, Module) and key in _OF_MODULES:
            return True
        return key in self._names or not self._names.isdisjoint(ANY_NAME)

    def holds(self) -> bool:
        """Return whether all containers hold what they held."""
        if self._quick is not None and self._quick():
            return True
        if list(map(type, self.objects)) != self._kinds or not all(snapshot.holds() for snapshot in self.snapshots):
            return False
        if self._made < _REMADE:  # numbers may be equal, but other objects
            self._quick, self._made = quick_check(self.snapshots, self.objects, self._kinds), self._made + 1
        return True

    def check(self) -> Callable[[], bool]:
        """Return a function that returns True only if all containers hold what they held when `holds` was called."""
        return self._quick or self.holds

    def changed(self) -> str:
        """Return what changed since the walk, or ""."""
        now = zip(self.objects, self._kinds, strict=True)
        classes = (f"{kind.__name__} became {type(value).__name__}" for value, kind in now if type(value) is not kind)
        return next(classes, "") or next((s.difference() for s in self.snapshots if not s.holds()), "")

    def _values(
        self, holder: Any, name: str, values: Callable[[], Iterable[Any]], names: list[str] | None, keys: Any = None
    ) -> None:
        """Keep the values of a container, and visit them under these names; None: do not visit them."""
        snapshot = Snapshot(holder, name, values, keys)
        self.snapshots.append(snapshot)
        self._count += len(snapshot.held)
        if self._count > _MOST:
            raise Unreachable(f"more than {_MOST} values are within its reach, among them those of {name}")
        if names is None:
            return
        for value, each in zip(snapshot.held, names, strict=True):
            if not isinstance(value, PLAIN):
                self._queue.append((value, each))

    def _member(self, members: Any, key: str, name: str) -> None:
        self._values(members, name, partial(member, members, key), [name])

    def _visit(self, value: Any, name: str) -> None:
        if isinstance(value, PLAIN) or id(value) in self._seen:
            return
        self._seen[id(value)] = value
        self._note(value, name)
        if isinstance(value, Tensor):
            self.tensors[id(value)] = value, name
            own = vars(value)
            _own_values(own)
            self._values(own, name, partial(_own_values, own), [f"{name}.{k}" for k in own], list(own))
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
        elif isinstance(value, np.ndarray):
            if value.nbytes > _LARGEST or value.dtype.hasobject:
                raise Unreachable(
                    f"{name} is an array of NumPy's, which may change: let it be a tensor, or an argument"
                )
            self._values(value, name, partial(_numbers, value), [name])
        elif isinstance(value, ModuleType | BuiltinFunctionType | type):
            if isinstance(value, type) and _is_users(value.__module__):
                self._called.update(value.__mro__)
                self._class(value, name)
        elif isinstance(value, GeneratorType) or hasattr(value, "__next__"):
            raise Unreachable(f"{name} is an iterator, which gives another value each time")
        else:
            self._object(value, name)

    def _note(self, value: Any, name: str) -> None:
        """Note the names that a value has for code, or refuse what no program can heed."""
        if isinstance(value, FunctionType | MethodType | BuiltinFunctionType):
            self._names.add(value.__name__)
        if _is_policy(value):
            raise Unreachable(f"{name} is of `saved`, whose policies do not apply to programs: put it around the call")

    def _dict(self, value: Any, name: str, keyed: bool = True) -> None:
        if name.endswith(_OF_STATE_DICTS) and not any("state_dict" in n for n in self._names):
            return
        names = [f"{name}.{k}" if isinstance(k, str) else f"{name}[{type(k).__name__}]" for k in value]
        self._values(value, name, value.values, names, list(value) if keyed else None)

    def _attributes(self, value: Any, name: str) -> None:
        found = getattr(value, "__dict__", None)
        if isinstance(found, dict) and _is_all_users(type(value)):
            self._loose.append((value, name))
        elif isinstance(found, dict):
            self._dict(found, name, keyed=not isinstance(value, Module) or _is_users(type(value).__module__))

    def _object(self, value: Any, name: str) -> None:
        kind = type(value)
        if kind.__module__.startswith(_INTERNAL):
            return
        if hasattr(value, "explain") and hasattr(value, "kept"):  # a compiled function
            self._queue.append((value.function, name))
            return
        if isinstance(value, Optimizer):
            self._optimizer(value, name)
            return
        if kind.__module__.partition(".")[0] in sys.stdlib_module_names and not hasattr(value, "__dict__"):
            if kind.__module__ in ("_random", "random", "_io", "io"):
                raise Unreachable(f"{name} is a {kind.__name__}, which changes when it is used")
            return
        self._attributes(value, name)
        for slot in (s for base in kind.__mro__ for s in _slots(base)):
            if _is_users(kind.__module__) and hasattr(value, slot):
                self._values(value, f"{name}.{slot}", partial(_slot, value, slot), [f"{name}.{slot}"])
        if _is_users(kind.__module__) or isinstance(value, Module):
            self.objects.append(value)
            self._kinds.append(kind)
        for base in kind.__mro__:
            if _is_users(base.__module__):
                self._class(base, base.__name__)
            elif issubclass(base, Module) and base not in self._classes:
                self._classes.add(base)
                self._values(base, f"{base.__name__}.forward", partial(attributes, base, ("forward",)), ["forward"])

    def _optimizer(self, value: Any, name: str) -> None:
        for group in value.param_groups:
            self._seen[id(group)] = group
        self._groups += [(group, f"{name}.param_groups[{i}]") for i, group in enumerate(value.param_groups)]
        self._optimizers.append((value, name))
        for key, each in vars(value).items():
            if isinstance(each, PLAIN) or key in ("defaults", "state") or f".{key}".endswith(_OF_STATE_DICTS):
                continue
            self._member(vars(value), key, f"{name}.{key}")

    def _class(self, kind: type, name: str) -> None:
        if kind in self._classes:
            return
        self._classes.add(kind)
        members = vars(kind)
        self._values(members, name, members.values, None, list(members))
        for key, found in list(members.items()):
            function = getattr(found, "__func__", getattr(found, "fget", found))
            is_method = isinstance(function, FunctionType)
            if is_method and _is_all_users(kind) and key in CONSTRUCTORS:
                self._methods.append((kind, function, f"{name}.{key}"))
            elif is_method and _is_all_users(kind) and not (key[:2] == "__" or key in _METHODS_OF_MODULES):
                self._methods.append((key, function, f"{name}.{key}"))
            elif is_method or not (key.startswith("__") or isinstance(found, PLAIN)):
                self._queue.append((function, f"{name}.{key}"))

    def _function(self, function: FunctionType, name: str) -> None:
        users = _is_users_function(function)
        if not users:
            inner = getattr(function, "__wrapped__", None)
            if inner is not None:
                self._queue.append((inner, name))
        held = []
        for cell, each in zip(function.__closure__ or (), function.__code__.co_freevars, strict=True):
            found = _contents(cell)
            self._values(cell, each, partial(_contents, cell), [each] * len(found))
            held.append(found[0] if found else None)
        if not users:
            return
        self._values(function, name, partial(attributes, function, _OF_FUNCTIONS), [name] * len(_OF_FUNCTIONS))
        if vars(function):
            self._dict({k: v for k, v in vars(function).items() if k != "__wrapped__"}, name)
            self._queue.append((vars(function).get("__wrapped__"), name))
        names = [n for n in names_of(function.__code__) if not n.startswith("@")]  # what pytest makes of `assert`
        self._names.update(names, strings_of(function.__code__))
        self._globals(function.__globals__, function.__code__)
        outside = {**function.__globals__, **dict(zip(function.__code__.co_freevars, held, strict=True))}
        found = [outside.get(each) for each in outside.keys() & {*names, *function.__code__.co_freevars}]
        for module in [*found, *[sys.modules.get(each) for each in names]]:
            if isinstance(module, ModuleType):
                self._module(module, names)
        if not {"environ", "getenv"}.isdisjoint(names):
            self._queue.append((getattr(os.environ, "_data", {}), "os.environ"))

    def _globals(self, outside: dict[str, Any], code: CodeType) -> None:
        """Visit what a function finds among its globals."""
        loaded = globals_of(code)
        absent = self._absent.setdefault(id(outside), (outside, set()))[1]
        for each in loaded:
            if each.startswith("@"):  # what pytest makes of `assert`
                continue
            if each not in outside:
                absent.add(each)
                continue
            self._member(outside, each, each)
        if not loaded.isdisjoint(LOOKS):
            self._values(outside, "the globals", outside.values, None, list(outside))

    def _module(self, module: ModuleType, names: list[str]) -> None:
        if module.__name__ == _POLICIES:
            self._queue.append((module, module.__name__))
        if not _is_users(module.__name__):
            return
        members = vars(module)
        for each in names:
            if each in members:
                self._member(members, each, f"{module.__name__}.{each}")


def _is_policy(value: Any) -> bool:
    """Return whether a value is a policy of saved tensors, or what makes them."""
    if isinstance(value, ModuleType):
        return value.__name__ == _POLICIES
    kind = value if isinstance(value, type | FunctionType) else type(value)
    return (kind.__module__ or "").startswith(_POLICIES)


def _own_values(own: dict[str, Any]) -> Any:
    """Return the values of the attributes of a tensor, after it forgot a gradient that is None."""
    if "_own_grad" in own and own["_own_grad"] is None:
        del own["_own_grad"]
    return own.values()


def _numbers(array: Any) -> list[Any]:
    """Return what an array of NumPy's holds."""
    return [(array.shape, array.dtype.str, array.tobytes())]


def _slots(kind: type) -> tuple[str, ...]:
    found = vars(kind).get("__slots__", ())
    return (found,) if isinstance(found, str) else tuple(found)


def _slot(holder: Any, name: str) -> list[Any]:
    return [getattr(holder, name)] if hasattr(holder, name) else []


def _contents(cell: CellType) -> list[Any]:
    try:
        return [cell.cell_contents]
    except ValueError:  # it is empty
        return []


def _is_users(module: str) -> bool:
    top = module.partition(".")[0]
    is_library = top in _OTHERS or (top in sys.stdlib_module_names and top != "__main__")
    return not is_library or module.startswith(f"{_PACKAGE}.examples")


def _is_users_function(function: FunctionType) -> bool:
    """Return whether a function is none of the libraries'; an example in one of their docstrings is the user's."""
    return _is_users(function.__module__ or "") or function.__code__.co_filename.startswith("<doctest ")


def _is_all_users(kind: type) -> bool:
    """Return whether no code of the library's, which may look at any attribute, is a part of a class."""
    return _is_users(kind.__module__) and all(
        base in (object, Module) or base.__module__ in ("abc", "typing") or _is_users(base.__module__)
        for base in kind.__mro__
    )


def _place(snapshot: Snapshot) -> Any:
    """Return of which mapping, and under which name, a snapshot of one value is."""
    values: Any = snapshot.values
    return (id(values.args[0]), values.args[1]) if getattr(values, "func", None) is member else None
