"""The values of single objects of Python, and whether code is the user's."""

from __future__ import annotations

import pickle
import sys
from contextvars import ContextVar
from gc import get_referents
from types import CellType, FunctionType, ModuleType
from typing import Any
from weakref import ReferenceType

from ...nn import Module
from .guard import Snapshot, member

_PACKAGE = __name__.partition(".")[0]
POLICIES = f"{_PACKAGE}.saved"
_BASES = frozenset({"abc", "typing", "unittest"})  # their code looks at attributes of its own only
_OTHERS = frozenset({"numpy", "torch", _PACKAGE})


def is_policy(value: Any) -> bool:
    """Return whether a value is a policy of saved tensors, or what makes them."""
    if isinstance(value, ModuleType):
        return value.__name__ == POLICIES
    kind = value if isinstance(value, type | FunctionType) else type(value)
    return (kind.__module__ or "").startswith(POLICIES)


def own_values(own: dict[str, Any]) -> Any:
    """Return the values of the attributes of a tensor, after it forgot a gradient that is None."""
    if "_own_grad" in own and own["_own_grad"] is None:
        del own["_own_grad"]
    return own.values()


def numbers(array: Any) -> list[Any]:
    """Return what an array holds."""
    if hasattr(array, "dtype"):
        return [(array.shape, array.dtype.str, array.tobytes())]
    view = memoryview(array)
    return [(view.shape, view.format, view.tobytes())]


def slots(kind: type) -> tuple[str, ...]:
    found = vars(kind).get("__slots__", ())
    return (found,) if isinstance(found, str) else tuple(found)


def slot(holder: Any, name: str) -> list[Any]:
    return [getattr(holder, name)] if hasattr(holder, name) else []


def contents(cell: CellType) -> list[Any]:
    try:
        return [cell.cell_contents]
    except ValueError:  # it is empty
        return []


def referent(reference: ReferenceType[Any]) -> list[Any]:
    """Return what a weak reference refers to."""
    found = reference()
    return [] if found is None else [found]


def of_context(variable: ContextVar[Any]) -> list[Any]:
    """Return the value of a variable of the context."""
    try:
        return [variable.get()]
    except LookupError:
        return []


def cached(function: Any) -> list[Any]:
    """Return what `functools.lru_cache` holds for a function: arguments and results."""
    return sorted(get_referents(function), key=id)


def drawing(value: Any) -> bytes | None:
    """Return the state of a generator of random numbers of NumPy's; None for other values."""
    if not type(value).__module__.startswith("numpy.random"):
        return None
    bits = getattr(value, "bit_generator", getattr(value, "_bit_generator", value))
    return pickle.dumps(bits.state) if hasattr(bits, "state") else None


def is_users(module: str) -> bool:
    top = module.partition(".")[0]
    is_library = top in _OTHERS or (top in sys.stdlib_module_names and top != "__main__")
    return not is_library or module.startswith(f"{_PACKAGE}.examples")


def is_users_function(function: FunctionType) -> bool:
    """Return whether a function is none of the libraries'; an example in one of their docstrings is the user's."""
    return is_users(function.__module__ or "") or function.__code__.co_filename.startswith("<doctest ")


def is_all_users(kind: type) -> bool:
    """Return whether no code of the library's, which may look at any attribute, is a part of a class."""
    return is_users(kind.__module__) and all(
        base in (object, Module) or base.__module__.partition(".")[0] in _BASES or is_users(base.__module__)
        for base in kind.__mro__
    )


def place(snapshot: Snapshot) -> Any:
    """Return of which mapping, and under which name, a snapshot of one value is."""
    values: Any = snapshot.values
    return (id(values.args[0]), values.args[1]) if getattr(values, "func", None) is member else None
