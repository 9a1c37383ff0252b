"""The values of single objects of Python, and whether code is the user's."""

from __future__ import annotations

import pickle
import sys
from contextvars import ContextVar
from gc import get_referents
from types import CellType, FunctionType, ModuleType
from typing import Any
from weakref import ReferenceType

from ...base.devices import device
from ...base.dtypes import dtype
from ...nn import Module

PLAIN = (int, float, bool, complex, str, bytes, type(None), dtype, device)
_PACKAGE = __name__.partition(".")[0]
POLICIES = f"{_PACKAGE}.saved"
_BASES = frozenset({"abc", "typing", "unittest"})  # their code looks at attributes of its own only
_MAKERS = frozenset({"abc", "types"})
_OTHERS = frozenset({"numpy", "torch", _PACKAGE})


def is_plain(value: Any) -> bool:
    """Return whether a value is a number, a string or the like, and of no class of the user's."""
    return isinstance(value, PLAIN) and (type(value) in PLAIN or not is_users_class(type(value)))


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


def names_asked(getter: Any) -> set[str]:
    """Return the names of attributes that an `attrgetter` or `methodcaller` looks at."""
    kind, arguments = getter.__reduce__()[:2]
    found = (*getattr(kind, "args", ()), *arguments)
    return {name for each in found if isinstance(each, str) for name in each.split(".")}


def slots(kind: type) -> list[str]:
    """Return the names of the slots of a class, as attributes of objects."""
    found = vars(kind).get("__slots__", ())
    names = [found] if isinstance(found, str) else [each for each in found if each not in ("__dict__", "__weakref__")]
    owner = kind.__name__.lstrip("_")
    return [f"_{owner}{each}" if each.startswith("__") and not each.endswith("__") else each for each in names]


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


def module_of(value: Any) -> str:
    """Return the name of the module of a function or class; "" for those that say something else."""
    found = getattr(value, "__module__", None)
    return found if isinstance(found, str) else ""


def is_users_class(kind: type) -> bool:
    """Return whether a class is the user's; those that `type` and the like make may have the names of their modules."""
    module = module_of(kind)
    if module in _MAKERS:
        return getattr(sys.modules[module], kind.__name__, None) is not kind
    return module != "" and is_users(module)


def is_users_function(function: FunctionType) -> bool:
    """Return whether a function is none of the libraries'; an example in one of their docstrings is the user's."""
    return is_users(module_of(function)) or _is_of_doctest(function)


def is_users_code(function: FunctionType) -> bool:
    """Return whether the code of a function is the user's, and not that of a decorator that makes it look so."""
    module = function.__globals__.get("__name__") or ""
    return is_users_function(function) and (is_users(module) or _is_of_doctest(function))


def _is_of_doctest(function: FunctionType) -> bool:
    return function.__code__.co_filename.startswith("<doctest ")


def is_all_users(kind: type) -> bool:
    """Return whether no code of the library's, which may look at any attribute, is a part of a class."""
    return is_users_class(kind) and all(
        base in (object, Module) or base.__module__.partition(".")[0] in _BASES or is_users(base.__module__)
        for base in kind.__mro__
    )
