"""Visit what the code of functions looks at: closures, global names, and what modules hold under names in the code."""

from __future__ import annotations

import builtins
import os
import sys
from functools import partial
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from ...declare.op import Op
from . import values
from .guard import attributes, member
from .names_in_code import LOOKS, globals_of, looked_into, names_of, strings_of
from .values import is_users, is_users_code, is_users_function

if TYPE_CHECKING:
    from .state import Walk

_BUILTINS = frozenset(vars(builtins))  # others than these are the user's
_OF_FUNCTIONS = ("__code__", "__defaults__", "__kwdefaults__")


def visit_function(walk: Walk, function: FunctionType, name: str) -> None:
    """Visit what a function of the user's looks at; of one of a library, what it closes over."""
    op = getattr(function, "op", None)
    if isinstance(op, Op):  # whose text is generated: what it calls are the body and formulas
        rules = (op.forward, *op.formulas.values(), op.joint_vjp, op.jvp)
        walk.queue += [(f, f"{name}.{f.__name__}") for f in rules if callable(f)]
        return
    users = is_users_code(function)
    if users and walk.executed is not None and function.__module__ and id(function.__code__) not in walk.executed:
        return
    if is_users_function(function):
        walk.visit_dict(vars(function), name)
        walk.keep_dict(function, name)
    elif hasattr(function, "__wrapped__"):
        walk.queue.append((function.__wrapped__, name))
    held = []
    for cell, each in zip(function.__closure__ or (), function.__code__.co_freevars, strict=True):
        found = values.contents(cell)
        is_module = any(isinstance(f, ModuleType) for f in found)  # code names what it takes of it
        walk.keep(cell, each, partial(values.contents, cell), None if is_module else [each] * len(found))
        held.append(found[0] if found else None)
    if not users:
        return
    walk.keep(function, name, partial(attributes, function, _OF_FUNCTIONS), [name] * len(_OF_FUNCTIONS))
    names = [n for n in names_of(function.__code__) if not n.startswith("@")]  # what pytest makes of `assert`
    strings = strings_of(function.__code__)
    walk.names.update(names, strings)
    _visit_globals(walk, function.__globals__, function.__code__)
    outside = {**function.__globals__, **dict(zip(function.__code__.co_freevars, held, strict=True))}
    found = [outside.get(each) for each in outside.keys() & {*names, *function.__code__.co_freevars}]
    imported = {*names, *strings} | ({function.__module__} if "__name__" in names else set())
    for each in imported & sys.modules.keys():
        if is_users(each):
            walk.keep(sys.modules, f"module {each}", partial(member, sys.modules, each), None)
    for module in [*found, *map(sys.modules.get, imported)]:
        if isinstance(module, ModuleType):
            _visit_module(walk, module, {*names, *strings}, set())
    for module in map(outside.get, looked_into(function.__code__)):
        if isinstance(module, ModuleType) and is_users(module.__name__):
            walk.visit_dict(vars(module), module.__name__)
    if not {"environ", "getenv"}.isdisjoint(names):
        walk.queue.append((getattr(os.environ, "_data", {}), "os.environ"))


def _visit_globals(walk: Walk, outside: dict[str, Any], code: CodeType) -> None:
    """Visit what a function finds among its globals."""
    loaded = globals_of(code)
    absent = walk.absent.setdefault(id(outside), (outside, set()))[1]
    for each in loaded:
        if each.startswith("@"):  # what pytest makes of `assert`
            continue
        if each in outside:
            _visit_global(walk, outside, each, each)
            continue
        absent.add(each)
        if each in vars(builtins).keys() - _BUILTINS:
            _visit_global(walk, vars(builtins), each, each)
        elif each not in _BUILTINS:
            walk.absent.setdefault(id(vars(builtins)), (vars(builtins), set()))[1].add(each)
    if not loaded.isdisjoint(LOOKS):
        walk.keep(outside, "the globals", outside.values, None, list(outside))


def _visit_module(walk: Walk, module: ModuleType, names: set[str], seen: set[int]) -> None:
    """Visit what code of these names finds in a module, and in those inside of it."""
    if module.__name__ == values.POLICIES:
        walk.queue.append((module, module.__name__))
    if not is_users(module.__name__) or id(module) in seen:
        return
    seen.add(id(module))
    members = vars(module)
    walk.absent.setdefault(id(members), (members, set()))[1].update(names - members.keys())
    for each in {*names, "__getattr__"} & members.keys():
        _visit_global(walk, members, each, f"{module.__name__}.{each}")
        if isinstance(members[each], ModuleType):
            _visit_module(walk, members[each], names, seen)
    if type(module) is not ModuleType:
        walk.visit_class_of(module, module.__name__)


def _visit_global(walk: Walk, members: Any, key: str, name: str) -> None:
    """Keep what a name stands for, and visit it, unless it is a module, of which code names the values."""
    names = None if isinstance(members[key], ModuleType) else [name]
    walk.keep(members, name, partial(member, members, key), names)
