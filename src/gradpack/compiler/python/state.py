"""The values of Python that a function can reach: tensors, and a check that nothing else has changed.

The walk begins with the closure, the defaults and the global names of a function's code, and follows containers,
modules and objects of the user's. A snapshot of each holds the identities of its values, and the keys of mappings;
numbers and strings may also be equal.
"""

from __future__ import annotations

import os
import sys
from array import array
from collections import deque
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from functools import partial
from operator import itemgetter
from types import BuiltinFunctionType, CodeType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any
from weakref import ReferenceType

import numpy as np

from ...core.tensor import Tensor
from ...declare.op import Op
from ...nn import Module
from ...ops.random.generator import Generator
from ...optim.optimizer import Optimizer
from . import values
from .guard import OWN, PLAIN, Snapshot, attributes, class_of, intruders, member, quick_check
from .lifting import Lifted, Place, Schedule, by_holder, without
from .names_in_code import ANY_NAME, CONSTRUCTORS, LOOKS, STEPS, globals_of, names_of, strings_of
from .values import is_all_users, is_policy, is_users, is_users_function

_PACKAGE = __name__.partition(".")[0]
_MOST = 20_000  # values of one walk
_INTERNAL = (f"{_PACKAGE}.declare.", f"{_PACKAGE}.backends.", f"{_PACKAGE}.graph.")  # they do not change
_OF_STATE_DICTS = tuple(  # attributes that nothing but `state_dict` and `load_state_dict` look at
    f"._{of}{what}_{when}hooks"
    for of in ("", "optimizer_")
    for what in ("state_dict", "load_state_dict")
    for when in ("", "pre_", "post_")
)
_OF_FUNCTIONS = ("__code__", "__defaults__", "__kwdefaults__")
_OF_MODULES = frozenset(vars(Module()))
_METHODS_OF_MODULES = frozenset({"forward", *dir(Module)})
_APART = frozenset({"logging", "threading", "_thread"})  # nothing that is computed depends on their objects
_LARGEST = 1 << 16  # bytes of an array of NumPy's that is compared at each call
_CHANGING = frozenset({"_random", "random", "_io", "io", "_queue", "_socket", "mmap", "sqlite3", "_ctypes"})
_REMADE = 5  # how often a check is made anew for numbers that are equal


class Unreachable(Exception):  # noqa: N818 - a message to the caller, no error
    """Raised where something could change without notice."""


class Walk:
    """All that can be reached from a function and its arguments, but for what places hold.

    Code that is not among `executed`, by identity, looks at nothing; None: that is not known.

    Attributes:
        tensors: the tensors, each with a name for messages and for the text of programs.
        snapshots: of all containers on the way, and of the classes of objects.
        seen: all values, by identity.
    """

    def __init__(self, places: Iterable[Place | Schedule] = (), executed: dict[int, Any] | None = None) -> None:
        self._lifted, self._executed = by_holder(places), executed
        self.tensors: dict[int, tuple[Tensor, str]] = {}
        self.snapshots: list[Snapshot] = []
        self.seen: dict[int, Any] = {}
        self._classes: set[type] = set()
        self._unread: set[int] = set()  # dicts that no code looks into, by identity
        self._queue: deque[tuple[Any, str]] = deque()
        self._count = self._made = 0
        self._quick: Callable[[], bool] | None = None
        self._groups: list[tuple[dict[str, Any], str]] = []  # of optimizers, not visited yet
        self._options: list[tuple[dict[str, Any], str]] = []  # of optimizers: programs read them anew
        self._drawing: list[tuple[Any, bytes, str]] = []  # generators of NumPy's, with their states
        self._modules: list[tuple[ModuleType, str]] = []  # in containers and attributes
        self.names: set[str] = set()
        self._absent: dict[int, tuple[dict[str, Any], set[str]]] = {}  # names that are no globals, by the globals
        self._loose: list[tuple[Any, str]] = []  # objects of which the attributes are visited that code names
        self._methods: list[tuple[Any, Any, str]] = []  # of classes: visited if code names them, or the class
        self._called: set[Any] = set()  # classes that code names, which it may call
        self._optimizers: list[tuple[Any, str]] = []  # whose state is visited if code names a step
        self._settings: list[tuple[Any, str]] = []  # optimizers, whose numbers are visited if code names them

    def add(self, value: Any, name: str) -> None:
        """Walk from a value."""
        self._queue.append((value, name))
        while self._queue:
            self._visit(*self._queue.popleft())
        for group, each in self._groups:
            self._member(group, "params", f"{each}.params")
            self._queue += [(v, f"{each}.{k}") for k, v in group.items() if not isinstance(v, PLAIN)]
        self._options += self._groups
        self._groups.clear()
        if self._queue:
            self.add(*self._queue.popleft())
        for outside, names in filter(itemgetter(1), self._absent.values()):
            self._values(outside, "the globals", partial(intruders, outside, frozenset(names)), None)
        self._absent.clear()

    def finish(self) -> None:
        """Visit the attributes of objects that code names, when all code is known: nothing looks at others."""
        visited, count = dict[int, set[str]](), -1
        while count != self._count + len(self.seen):
            count = self._count + len(self.seen)
            for optimizer, name in self._optimizers if self.names & (STEPS | ANY_NAME) else ():
                self._member(vars(optimizer), "state", f"{name}.state")
                self._optimizers = [o for o in self._optimizers if o[0] is not optimizer]
            for value, name in [*self._loose, *self._modules, *self._settings]:
                done, members = visited.setdefault(id(value), set()), vars(value)
                for key in [k for k in members if k not in done and self._is_named(value, k)]:
                    done.add(key)
                    self._member(members, key, f"{name}.{key}")
            made = self._called if self.names.isdisjoint({"type", "__class__"}) else self._classes
            self._queue += [(f, n) for key, f, n in self._methods if key in self.names or key in made]
            while self._queue:
                self.add(*self._queue.popleft())
        for value, name in self._loose:
            members = vars(value)
            if len(visited[id(value)]) == len(members):
                gone = {(id(members), k) for k in members}
                self.snapshots = [s for s in self.snapshots if values.place(s) not in gone]
                self._values(members, name, members.values, None, list(members))
            else:
                absent = frozenset(self.names - members.keys())
                self._values(members, name, partial(intruders, members, absent), None)
        self._loose.clear()
        for group, name in self._options if "param_groups" in self.names else ():
            self._values(group, name, group.values, None, list(group))

    def _is_named(self, value: Any, key: str) -> bool:
        """Return whether code looks at an attribute of an object."""
        if isinstance(value, Module) and key in _OF_MODULES:
            return True
        if isinstance(value, Optimizer) and not (key == "defaults" or isinstance(vars(value)[key], PLAIN)):
            return False
        if isinstance(value, ModuleType | Optimizer):
            return key in self.names
        return key in self.names or not self.names.isdisjoint(ANY_NAME)

    def holds(self) -> bool:
        """Return whether all containers hold what they held."""
        if self._quick is not None and self._quick():
            return True
        if not all(snapshot.holds() for snapshot in self.snapshots):
            return False
        if self._made < _REMADE:  # numbers may be equal, but other objects
            self._quick = quick_check(self.snapshots, self._unread, self.seen.values())
            self._made += 1
        return True

    def check(self) -> Callable[[], bool]:
        """Return a function that returns True only if all containers hold what they held when `holds` was called."""
        return self._quick or self.holds

    def changed(self) -> str:
        """Return what changed since the walk, or ""."""
        drawn = next((name for value, state, name in self._drawing if values.drawing(value) != state), "")
        if drawn:
            return f"{drawn} has drawn random numbers"
        return next((s.difference() for s in self.snapshots if not s.holds()), "")

    def _values(
        self, holder: Any, name: str, values: Callable[[], Iterable[Any]], names: list[str] | None, keys: Any = None
    ) -> None:
        """Keep the values of a container, and visit them under these names; None: do not visit them."""
        if id(holder) in self._lifted and (values := without(self._lifted[id(holder)], holder, values)) is None:
            return
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
        if isinstance(value, PLAIN) or id(value) in self.seen:
            return
        self.seen[id(value)] = value
        self._note(value, name)
        if isinstance(value, Tensor):
            self.tensors[id(value)] = value, name
            own = vars(value)
            values.own_values(own)
            self._same_dict(value, name)
            self._values(own, name, partial(values.own_values, own), [f"{name}.{k}" for k in own], list(own))
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
            self._values(value, name, lambda: sorted(value, key=id), [name] * len(value))
        elif isinstance(value, np.ndarray | bytearray | memoryview | array):
            array_of = np.asarray(value)
            if array_of.nbytes > _LARGEST or array_of.dtype.hasobject:
                raise Unreachable(
                    f"{name} is an array of NumPy's, which may change: let it be a tensor, or an argument"
                )
            self._values(value, name, partial(values.numbers, value), [name])
        elif isinstance(value, BuiltinFunctionType | type):
            if isinstance(value, type) and is_users(value.__module__):
                self._called.update(value.__mro__)
                self._class(value, name)
        elif not isinstance(value, Generator) and not self._refers(value, name):
            self._object(value, name)

    def _refers(self, value: Any, name: str) -> bool:
        """Visit what refers to another value, or has a state of its own; return whether a value does."""
        if hasattr(type(value), "__next__"):  # others answer for any name
            raise Unreachable(f"{name} is an iterator, which gives another value each time")
        if isinstance(value, ReferenceType):
            self._values(value, name, partial(values.referent, value), [name])
        elif isinstance(value, ContextVar):
            self._values(value, name, partial(values.of_context, value), [name])
        elif isinstance(value, ModuleType):
            if is_users(value.__name__):
                self._modules.append((value, name))
        else:
            state = values.drawing(value)
            if state is not None:
                self._drawing.append((value, state, name))
            return state is not None
        return True

    def _note(self, value: Any, name: str) -> None:
        """Note the names that a value has for code, or refuse what no program can heed."""
        if isinstance(value, FunctionType | MethodType | BuiltinFunctionType):
            self.names.add(value.__name__)
        if is_policy(value):
            raise Unreachable(f"{name} is of `saved`, whose policies do not apply to programs: put it around the call")

    def _dict(self, value: Any, name: str, keyed: bool = True) -> None:
        if name.endswith(_OF_STATE_DICTS) and not any("state_dict" in n for n in self.names):
            self._unread.add(id(value))
            return
        names = [f"{name}.{k}" if isinstance(k, str) else f"{name}[{type(k).__name__}]" for k in value]
        self._values(value, name, value.values, names, list(value) if keyed else None)
        self._queue += [(k, f"a key of {name}") for k in value if not isinstance(k, PLAIN)]

    def _attributes(self, value: Any, name: str) -> None:
        found = getattr(value, "__dict__", None)
        if isinstance(found, dict) and type(value).__dictoffset__:
            self._same_dict(value, name)
        if isinstance(found, dict) and is_all_users(type(value)):
            self._loose.append((value, name))
        elif isinstance(found, dict):
            self._dict(found, name, keyed=not isinstance(value, Module) or is_users(type(value).__module__))

    def _same_dict(self, value: Any, name: str) -> None:
        """Keep that the attributes of an object are in the dict in which they are."""
        self._values(value, f"{name}.__dict__", partial(attributes, value, OWN), None)

    def _object(self, value: Any, name: str) -> None:
        kind = type(value)
        if kind.__module__.startswith(_INTERNAL) or kind.__module__ in _APART:
            return
        if isinstance(value, Lifted) or (hasattr(kind, "explain") and hasattr(kind, "whole")):  # a compiled function
            self._queue.append((value.function, name))
            return
        if isinstance(value, Optimizer):
            self._optimizer(value, name)
            return
        if kind.__module__.partition(".")[0] in sys.stdlib_module_names and not hasattr(value, "__dict__"):
            if kind.__module__ in _CHANGING:
                raise Unreachable(f"{name} is a {kind.__name__}, which changes when it is used")
            return
        if hasattr(kind, "cache_info"):
            held = values.cached(value)
            self._values(value, name, partial(values.cached, value), [name] * len(held))
        self._attributes(value, name)
        for each in (s for base in kind.__mro__ for s in values.slots(base)):
            if is_users(kind.__module__) and hasattr(value, each):
                self._values(value, f"{name}.{each}", partial(values.slot, value, each), [f"{name}.{each}"])
        if is_users(kind.__module__) or isinstance(value, Module):
            self._values(value, name, partial(class_of, value), None)
        for base in kind.__mro__ if is_users(kind.__module__) else kind.__mro__[:1]:
            if is_users(base.__module__):
                self._class(base, base.__name__)
            elif issubclass(base, Module) and base not in self._classes:
                self._classes.add(base)
                self._values(base, f"{base.__name__}.forward", partial(attributes, base, ("forward",)), ["forward"])

    def _optimizer(self, value: Any, name: str) -> None:
        for group in value.param_groups:
            self.seen[id(group)] = group
        self._groups += [(group, f"{name}.param_groups[{i}]") for i, group in enumerate(value.param_groups)]
        self._optimizers.append((value, name))
        self._settings.append((value, name))
        for key, each in vars(value).items():
            if isinstance(each, PLAIN) or key in ("defaults", "state") or f".{key}".endswith(_OF_STATE_DICTS):
                continue
            self._member(vars(value), key, f"{name}.{key}")

    def _class(self, kind: type, name: str) -> None:
        if kind in self._classes:
            return
        self._classes.add(kind)
        if is_users(type(kind).__module__):
            self._class(type(kind), type(kind).__name__)
        members = vars(kind)
        self._values(members, name, members.values, None, list(members))
        for key, found in list(members.items()):
            function = getattr(found, "__func__", getattr(found, "fget", found))
            is_method = isinstance(function, FunctionType)
            if is_method and is_all_users(kind) and key in CONSTRUCTORS:
                self._methods.append((kind, function, f"{name}.{key}"))
            elif is_method and is_all_users(kind) and not (key[:2] == "__" or key in _METHODS_OF_MODULES):
                self._methods.append((key, function, f"{name}.{key}"))
            elif is_method or not (key.startswith("__") or isinstance(found, PLAIN)):
                self._queue.append((function, f"{name}.{key}"))

    def _function(self, function: FunctionType, name: str) -> None:
        op = getattr(function, "op", None)
        if isinstance(op, Op):  # whose text is generated: what it calls are the body and formulas
            rules = (op.forward, *op.formulas.values(), op.joint_vjp, op.jvp)
            self._queue += [(f, f"{name}.{f.__name__}") for f in rules if callable(f)]
            return
        users, executed = is_users_function(function), self._executed
        if users and executed is not None and function.__module__ and id(function.__code__) not in executed:
            return
        if not users:
            inner = getattr(function, "__wrapped__", None)
            if inner is not None:
                self._queue.append((inner, name))
        held = []
        for cell, each in zip(function.__closure__ or (), function.__code__.co_freevars, strict=True):
            found = values.contents(cell)
            is_module = any(isinstance(f, ModuleType) for f in found)  # code names what it takes of it
            self._values(cell, each, partial(values.contents, cell), None if is_module else [each] * len(found))
            held.append(found[0] if found else None)
        if not users:
            return
        self._values(function, name, partial(attributes, function, _OF_FUNCTIONS), [name] * len(_OF_FUNCTIONS))
        self._dict(vars(function), name)
        self._same_dict(function, name)
        names = [n for n in names_of(function.__code__) if not n.startswith("@")]  # what pytest makes of `assert`
        self.names.update(names, strings_of(function.__code__))
        self._globals(function.__globals__, function.__code__)
        outside = {**function.__globals__, **dict(zip(function.__code__.co_freevars, held, strict=True))}
        found = [outside.get(each) for each in outside.keys() & {*names, *function.__code__.co_freevars}]
        for module in [*found, *[sys.modules.get(each) for each in names]]:
            if isinstance(module, ModuleType):
                self._module(module, names, set())
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
            self._global(outside, each, each)
        if not loaded.isdisjoint(LOOKS):
            self._values(outside, "the globals", outside.values, None, list(outside))

    def _module(self, module: ModuleType, names: list[str], seen: set[int]) -> None:
        """Visit what code of these names finds in a module, and in those inside of it."""
        if module.__name__ == values.POLICIES:
            self._queue.append((module, module.__name__))
        if not is_users(module.__name__) or id(module) in seen:
            return
        seen.add(id(module))
        members = vars(module)
        for each in names:
            if each in members:
                self._global(members, each, f"{module.__name__}.{each}")
                if isinstance(members[each], ModuleType):
                    self._module(members[each], names, seen)

    def _global(self, members: Any, key: str, name: str) -> None:
        """Keep what a name stands for, and visit it, unless it is a module, of which code names the values."""
        names = None if isinstance(members[key], ModuleType) else [name]
        self._values(members, name, partial(member, members, key), names)
