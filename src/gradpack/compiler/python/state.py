"""The values of Python that a function can reach: tensors, and a check that nothing else has changed.

The walk begins with the closure, the defaults and the global names of a function's code, and follows containers,
modules and objects of the user's. A snapshot of each holds the identities of its values, and the keys of mappings;
numbers and strings may also be equal.
"""

from __future__ import annotations

import sys
from abc import ABCMeta, get_cache_token
from array import array
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from functools import partial
from operator import itemgetter
from threading import local
from types import BuiltinFunctionType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any
from weakref import ReferenceType

import numpy as np

from ...core.tensor import Tensor
from ...nn import Module
from ...ops.random.generator import Generator
from ...optim.optimizer import Optimizer
from . import values
from .functions import visit_function
from .guard import OWN, Snapshot, attributes, class_of, intruders, member, place, quick_check
from .lifting import Place, Schedule, Wrapper, by_holder, without
from .names_in_code import ANY_NAME, CONSTRUCTORS, STEPS
from .values import is_all_users, is_plain, is_policy, is_users, is_users_class

_PACKAGE = __name__.partition(".")[0]
_MOST = 20_000  # values of one walk
_INTERNAL = (f"{_PACKAGE}.declare.", f"{_PACKAGE}.backends.", f"{_PACKAGE}.graph.")  # they do not change
_OF_STATE_DICTS = tuple(  # attributes that nothing but `state_dict` and `load_state_dict` look at
    f"._{of}{what}_{when}hooks"
    for of in ("", "optimizer_")
    for what in ("state_dict", "load_state_dict")
    for when in ("", "pre_", "post_")
)
_OF_MODULES = frozenset(vars(Module()))
_OF_PARTIALS = ("func", "args", "keywords")
_NAMED = frozenset("__name__ __qualname__ __module__ __doc__ __annotations__ __subclasses__".split())  # of code
_METHODS_OF_MODULES = frozenset({"forward", *dir(Module)})
_APART = frozenset({"logging", "loguru._logger", "threading", "_thread"})  # no result depends on their objects
_LARGEST = 1 << 16  # bytes of an array of NumPy's that is compared at each call
_CHANGING = frozenset({"_random", "random", "_io", "io", "_queue", "_socket", "mmap", "sqlite3", "_ctypes"})
_CONTAINERS = (
    dict, MappingProxyType, list, tuple, deque, set, frozenset, np.ndarray, bytearray, memoryview, array, partial,
)  # fmt: skip
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
        self._lifted, self.executed = by_holder(places), executed
        self.tensors: dict[int, tuple[Tensor, str]] = {}
        self.snapshots: list[Snapshot] = []
        self.seen: dict[int, Any] = {}
        self._classes: set[type] = set()
        self._unread: set[int] = set()  # dicts that no code looks into, by identity
        self.queue: deque[tuple[Any, str]] = deque()
        self._count = self._made = 0
        self._quick: Callable[[], bool] | None = None
        self._groups: list[tuple[dict[str, Any], str]] = []  # of optimizers, not visited yet
        self._options: list[tuple[dict[str, Any], str]] = []  # of optimizers: programs read them anew
        self._drawing: list[tuple[Any, bytes, str]] = []  # generators of NumPy's, with their states
        self._modules: list[tuple[ModuleType, str]] = []  # in containers and attributes
        self.names: set[str] = set()
        self.absent: dict[int, tuple[dict[str, Any], set[str]]] = {}  # names that are no globals, by the globals
        self._loose: list[tuple[Any, str]] = []  # objects of which the attributes are visited that code names
        self._methods: list[tuple[Any, Any, str]] = []  # of classes: visited if code names them, or the class
        self._called: set[Any] = set()  # classes that code names, which it may call
        self._optimizers: list[tuple[Any, str]] = []  # whose state is visited if code names a step
        self._weak: list[tuple[ReferenceType[Any], str]] = []
        self._settings: list[tuple[Any, str]] = []  # optimizers, whose numbers are visited if code names them

    def add(self, value: Any, name: str) -> None:
        """Walk from a value."""
        self.queue.append((value, name))
        while self.queue:
            self._visit(*self.queue.popleft())
        for group, each in self._groups:
            self.keep_member(group, "params", f"{each}.params")
            self.queue += [(v, f"{each}.{k}") for k, v in group.items() if not is_plain(v)]
        self._options += self._groups
        self._groups.clear()
        if self.queue:
            self.add(*self.queue.popleft())
        for outside, names in filter(itemgetter(1), self.absent.values()):
            self.keep(outside, "the globals", partial(intruders, outside, frozenset(names)), None)
        self.absent.clear()

    def finish(self) -> None:
        """Visit the attributes of objects that code names, when all code is known: nothing looks at others."""
        visited, count = dict[int, set[str]](), -1
        while count != self._count + len(self.seen):
            count = self._count + len(self.seen)
            for optimizer, name in self._optimizers if self.names & (STEPS | ANY_NAME) else ():
                self.keep_member(vars(optimizer), "state", f"{name}.state")
                self._optimizers = [o for o in self._optimizers if o[0] is not optimizer]
            for value, name in [*self._loose, *self._modules, *self._settings]:
                done, members = visited.setdefault(id(value), set()), vars(value)
                for key in [k for k in members if k not in done and self._is_named(value, k)]:
                    done.add(key)
                    self.keep_member(members, key, f"{name}.{key}")
            for value in [v for v in self.seen.values() if isinstance(v, FunctionType | type)]:
                self._of_code(value, visited.setdefault(id(value), set()))
            made = self._called if self.names.isdisjoint({"type", "__class__"}) else self._classes
            self.queue += [(f, n) for key, f, n in self._methods if key in self.names or key in made]
            while self.queue:
                self.add(*self.queue.popleft())
        for value, name in self._loose:
            members = vars(value)
            if len(visited[id(value)]) == len(members):
                gone = {(id(members), k) for k in members}
                self.snapshots = [s for s in self.snapshots if place(s) not in gone]
                self.keep(members, name, members.values, None, list(members))
            else:
                absent = frozenset(self.names - members.keys())
                self.keep(members, name, partial(intruders, members, absent), None)
        for reference, name in self._weak:
            self.keep(reference, name, partial(values.referent, reference), None)
            if any(id(v) not in self.seen and not isinstance(v, type) for v in self.snapshots[-1].held):
                raise Unreachable(f"{name} is a weak reference to what nothing else here holds")
        for members, name in ((vars(value), name) for value, name in self._settings):
            self.keep(members, name, partial(intruders, members, frozenset(self.names - members.keys())), None)
        self._loose.clear()
        for group, name in self._options if "param_groups" in self.names else ():
            self.keep(group, name, group.values, None, list(group))

    def _of_code(self, value: Any, done: set[str]) -> None:
        """Keep what code asks of a function or class of the user's besides calling it."""
        for key in (self.names & _NAMED) - done if is_users(values.module_of(value)) else ():
            done.add(key)
            if key != "__subclasses__":
                self.keep_attribute(value, key, value.__name__)
            elif isinstance(value, type):
                found = list[type](type.__subclasses__(value))
                self.keep(value, key, partial(type.__subclasses__, value), [each.__name__ for each in found])

    def _is_named(self, value: Any, key: str) -> bool:
        """Return whether code looks at an attribute of an object."""
        if isinstance(value, Module) and key in _OF_MODULES:
            return True
        if isinstance(value, Optimizer) and not (key == "defaults" or is_plain(vars(value)[key])):
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

    def keep(
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
            if not is_plain(value):
                self.queue.append((value, each))

    def keep_attribute(self, value: Any, key: str, name: str) -> None:
        self.keep(value, f"{name}.{key}", partial(attributes, value, (key,)), [f"{name}.{key}"])

    def keep_member(self, members: Any, key: str, name: str) -> None:
        self.keep(members, name, partial(member, members, key), [name])

    def _visit(self, value: Any, name: str) -> None:
        if is_plain(value) or id(value) in self.seen:
            return
        self.seen[id(value)] = value
        self._note(value, name)
        if isinstance(value, Tensor):
            self.tensors[id(value)] = value, name
            own = vars(value)
            values.own_values(own)
            self.keep_dict(value, name)
            self.visit_class_of(value, name)
            self.keep(own, name, partial(values.own_values, own), [f"{name}.{k}" for k in own], list(own))
        elif isinstance(value, FunctionType):
            visit_function(self, value, name)
        elif isinstance(value, MethodType):
            self.queue += [(value.__self__, name), (value.__func__, name)]
        elif isinstance(value, _CONTAINERS):
            self._container(value, name)
        elif isinstance(value, BuiltinFunctionType | type):
            if isinstance(value, type) and is_users_class(value):
                self._called.update(value.__mro__)
                self._classes_of(value)
        elif not isinstance(value, Generator) and not self._refers(value, name):
            self._object(value, name)

    def _container(self, value: Any, name: str) -> None:
        """Visit what a container holds, and attributes and class where it is of no class of Python's."""
        if isinstance(value, dict | MappingProxyType):
            self.visit_dict(value, name)
        elif isinstance(value, partial):
            self.keep(value, name, partial(attributes, value, _OF_PARTIALS), [name] * len(_OF_PARTIALS))
        elif isinstance(value, set | frozenset):
            self.keep(value, name, lambda: sorted(value, key=id), [name] * len(value))
        elif isinstance(value, list | tuple | deque):
            if value or type(value) is not tuple:
                self.keep(value, name, value.__iter__, [f"{name}[{i}]" for i in range(len(value))])
        else:
            array_of = np.asarray(value)
            if array_of.nbytes > _LARGEST or array_of.dtype.hasobject:
                raise Unreachable(
                    f"{name} is an array of NumPy's, which may change: let it be a tensor, or an argument"
                )
            self.keep(value, name, partial(values.numbers, value), [name])
        if type(value) not in _CONTAINERS:
            self._object(value, name)

    def _refers(self, value: Any, name: str) -> bool:
        """Visit what refers to another value, or has a state of its own; return whether a value does."""
        if hasattr(type(value), "__next__"):  # others answer for any name
            raise Unreachable(f"{name} is an iterator, which gives another value each time")
        if isinstance(value, ReferenceType):
            self._weak.append((value, name))
            self.queue += [(found, name) for found in values.referent(value) if isinstance(found, type)]
        elif isinstance(value, ContextVar):
            self.keep(value, name, partial(values.of_context, value), [name])
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

    def visit_dict(self, value: Any, name: str, keyed: bool = True) -> None:
        if name.endswith(_OF_STATE_DICTS) and not any("state_dict" in n for n in self.names):
            self._unread.add(id(value))
            return
        names = [f"{name}.{k}" if isinstance(k, str) else f"{name}[{type(k).__name__}]" for k in value]
        self.keep(value, name, value.values, names, list(value) if keyed else None)
        self.queue += [(k, f"a key of {name}") for k in value if not is_plain(k)]
        if isinstance(value, defaultdict):
            self.keep_attribute(value, "default_factory", name)

    def _attributes(self, value: Any, name: str) -> None:
        found = getattr(value, "__dict__", None)
        if isinstance(found, dict) and (type(value).__dictoffset__ or isinstance(value, local)):
            self.keep_dict(value, name)
        if isinstance(found, dict) and is_all_users(type(value)):
            self._loose.append((value, name))
        elif isinstance(found, dict):
            self.visit_dict(found, name, keyed=not isinstance(value, Module) or is_users_class(type(value)))

    def keep_dict(self, value: Any, name: str) -> None:
        """Keep that the attributes of an object are in the dict in which they are."""
        self.keep(value, f"{name}.__dict__", partial(attributes, value, OWN), None)

    def _object(self, value: Any, name: str) -> None:
        kind = type(value)
        if kind.__module__ == "operator":
            self.names |= values.names_asked(value)
        if values.module_of(kind).startswith(_INTERNAL) or (values.module_of(kind) in _APART and kind is not local):
            return
        if isinstance(value, Wrapper) or (hasattr(kind, "explain") and hasattr(kind, "whole")):  # a compiled function
            self.queue.append((value.function, name))
            return
        if isinstance(value, Optimizer):
            self._optimizer(value, name)
            self.visit_class_of(value, name)
            return
        if kind.__module__.partition(".")[0] in sys.stdlib_module_names and not hasattr(value, "__dict__"):
            if kind.__module__ in _CHANGING:
                raise Unreachable(f"{name} is a {kind.__name__}, which changes when it is used")
            return
        if hasattr(kind, "cache_info"):
            held = values.cached(value)
            self.keep(value, name, partial(values.cached, value), [name] * len(held))
        self._attributes(value, name)
        for each in (s for base in kind.__mro__ for s in values.slots(base)):
            if is_users_class(kind):
                found = partial(values.slot, value, each)
                self.keep(value, f"{name}.{each}", found, [f"{name}.{each}"] * len(found()))
        self.visit_class_of(value, name)

    def visit_class_of(self, value: Any, name: str) -> None:
        """Keep of which class an object is, and visit this."""
        kind = type(value)
        if is_users_class(kind) or isinstance(value, Module):
            self.keep(value, name, partial(class_of, value), None)
        self._classes_of(kind)

    def _classes_of(self, kind: type) -> None:
        """Visit a class and its bases."""
        for base in kind.__mro__ if is_users_class(kind) else kind.__mro__[:1]:
            if is_users_class(base):
                self._class(base, base.__name__)
            elif issubclass(base, Module) and base not in self._classes:
                self._classes.add(base)
                self.keep_attribute(base, "forward", base.__name__)

    def _optimizer(self, value: Any, name: str) -> None:
        for group in value.param_groups:
            self.seen[id(group)] = group
        self._groups += [(group, f"{name}.param_groups[{i}]") for i, group in enumerate(value.param_groups)]
        self._optimizers.append((value, name))
        self._settings.append((value, name))
        for key, each in vars(value).items():
            if is_plain(each) or key in ("defaults", "state") or f".{key}".endswith(_OF_STATE_DICTS):
                continue
            self.keep_member(vars(value), key, f"{name}.{key}")

    def _class(self, kind: type, name: str) -> None:
        if kind in self._classes:
            return
        self._classes.add(kind)
        if is_users_class(type(kind)):
            self._classes_of(type(kind))
        if isinstance(kind, ABCMeta) and not self.names.isdisjoint({"isinstance", "issubclass"}):
            self.keep(kind, "the registered classes", lambda: [get_cache_token()], None)
        members = vars(kind)
        self.keep(kind, name, partial(attributes, kind, ("__mro__",)), None)
        self.keep(members, name, members.values, None, list(members))
        for key, found in list(members.items()):
            function = getattr(found, "__func__", getattr(found, "fget", found))
            is_method = isinstance(function, FunctionType)
            if is_method and is_all_users(kind) and key in CONSTRUCTORS:
                self._methods.append((kind, function, f"{name}.{key}"))
            elif is_method and is_all_users(kind) and not (key[:2] == "__" or key in _METHODS_OF_MODULES):
                self._methods.append((key, function, f"{name}.{key}"))
            elif is_method or not (key.startswith("__") or is_plain(found)):
                self.queue.append((function, f"{name}.{key}"))
