"""Which `backward` of a user's Function computes the same whenever it runs: it looks at gradients and its ctx only."""

from __future__ import annotations

import builtins
import inspect
from dis import get_instructions
from types import FunctionType, ModuleType
from typing import Any

from ...core.tensor import Tensor
from ..effects import EFFECTS
from .names_in_code import globals_of
from .values import PLAIN, is_users

_WRITES = frozenset({"STORE_ATTR", "DELETE_ATTR", "STORE_GLOBAL", "DELETE_GLOBAL", "STORE_DEREF"})


def is_fixed(node: Any) -> bool:
    """Return whether a program may stand for the backward of a call of a Function."""
    kind = node._forward_cls
    if kind.vjp is not node._no_backward or kind.boxed_grads_call or kind.clear_saved_tensors_on_access:
        return False
    return _is_fixed_function(inspect.unwrap(kind.backward), 0) and all(map(_is_fixed_value, vars(node).values()))


def _is_fixed_function(function: Any, depth: int) -> bool:
    """Return whether a function looks at nothing but its arguments, and changes nothing else."""
    if not isinstance(function, FunctionType) or function.__closure__ or depth > 4:
        return False
    code = function.__code__
    if any(i.opname in _WRITES for i in get_instructions(code)):
        return False
    for name in globals_of(code):
        found = function.__globals__.get(name, getattr(builtins, name, None))
        if isinstance(found, FunctionType) and is_users(found.__module__ or ""):
            if not _is_fixed_function(found, depth + 1):
                return False
        elif name in EFFECTS or not _is_library(found):
            return False
    return True


def _is_library(value: Any) -> bool:
    if isinstance(value, ModuleType):
        return not is_users(value.__name__)
    return callable(value) and not is_users(getattr(value, "__module__", None) or "builtins")


def _is_fixed_value(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_fixed_value, value))
    return isinstance(value, (*PLAIN, Tensor))
