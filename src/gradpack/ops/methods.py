"""Attaches the operations to the base of `Tensor`, and collects the names that `gradpack` exports.

They are attributes of the base class, as in torch: an attribute that a program sets on `Tensor` overrides them,
whenever they are loaded, and deleting it restores them.

Each module of operations lists the names it provides in FUNCTIONS, METHODS, INPLACE, ALIASES,
OPERATORS, REFLECTED, INPLACE_OPERATORS, BINARY_OPERATORS. It is imported when one of these names is first used:
`lazy_names` lists them, and

    python -m gradpack.ops.methods

regenerates that list after a change of those names.
"""

from __future__ import annotations

from _thread import RLock
from collections.abc import Iterator
from importlib import import_module
from types import FunctionType, ModuleType
from typing import Any

from ..core.properties import TensorBase
from ..core.tensor import Tensor
from ..declare.inplace.forms import add_method, inplace_of, inplace_operator_of, operator_of, reflected_of
from ..declare.op import PUBLIC, REGISTRY
from ..declare.signature.wrapper import public_form
from .lazy_names import LAZY

EXPORTED = PUBLIC
MODULE_OF: dict[str, str] = {}  # exported name -> the module that provides it, imported lazily
_OPS: dict[str, str] = {}  # the same for names of operations
_loaded: set[str] = set()
_given: dict[str, tuple[set[str], set[str]]] = {}  # by loaded module: functions and methods
_loading = RLock()


class Later:
    """A descriptor in place of a method of `Tensor`; imports its module on first access."""

    __slots__ = ("module", "name")

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name

    def __get__(self, tensor: Any, owner: type) -> Any:
        load(self.module)
        return vars(TensorBase)[self.name].__get__(tensor, owner)

    def __set__(self, tensor: Any, value: Any) -> None:
        load(self.module)
        setattr(tensor, self.name, value)


def attach() -> None:
    """Attach a `Later` for every method. Called once, when gradpack is imported."""
    for name, value in [*vars(Tensor).items()]:
        if isinstance(value, FunctionType | property) and name[:2] != "__":
            setattr(TensorBase, name, value)
            delattr(Tensor, name)
    for module, (functions, methods, ops) in LAZY.items():
        MODULE_OF.update(dict.fromkeys(functions.split(), module))
        _OPS.update(dict.fromkeys(ops.split(), module))
        for method in methods.split():
            if method not in vars(TensorBase):
                setattr(TensorBase, method, Later(module, method))
    REGISTRY.elsewhere = _load_op


def load(name: str) -> None:
    """Import a module of operations and attach the names it provides, unless done already."""
    if name in _given:
        return
    with _loading:
        if name not in _loaded:  # else this thread is loading it already (the lock is reentrant)
            module = import_module(f".{name}", __package__)
            if name not in _loaded:  # the import may have called `load` for it
                _loaded.add(name)
                before = set(EXPORTED)
                given = _attach(module)
                _given[name] = set(EXPORTED) - before, given


def load_all() -> None:
    """Load every module of operations, for callers that list all operations."""
    for name in LAZY:
        load(name)


def exported(name: str) -> Any:
    """Return `gradpack.<name>`, for a name that is not loaded yet.

    Raises:
        KeyError: if there is none.
    """
    load(MODULE_OF[name])
    return EXPORTED[name]


def _load_op(name: str) -> None:
    load(_OPS[name])


def _words(module: ModuleType, name: str) -> list[str]:
    return getattr(module, name, "").split()


def _method(module: ModuleType, name: str) -> Any:
    return getattr(module, f"_method_{name}", None) or getattr(module, name)


def _attach(module: ModuleType) -> set[str]:
    """Attach the names that a module provides; returns those of the methods."""
    given: set[str] = set()
    for name in _words(module, "FUNCTIONS"):
        EXPORTED[name] = value = public_form(getattr(module, name), name, "gradpack")
        if isinstance(value, FunctionType):  # what pickles of functions name
            value.__module__ = "gradpack"
    for name in _words(module, "METHODS"):
        _add(given, name, _method(module, name))
    for name in _words(module, "INPLACE"):
        own = getattr(module, f"_method_{name}", None)
        _add(given, name, own or inplace_of(REGISTRY[name.removesuffix("_")]))
        if _is_exported(name.removesuffix("_")):
            EXPORTED.setdefault(name, vars(TensorBase)[name])
    for name, target, make in _operators(module):
        value = target
        if isinstance(target, str):
            value = make(REGISTRY[target], name) if target in REGISTRY or target in _OPS else getattr(module, target)
        if name in vars(TensorBase) and isinstance(vars(TensorBase)[name], FunctionType):
            raise TypeError(f"Tensor.{name} is given twice")
        setattr(TensorBase, name, value)
        given.add(name)
    for name, target in getattr(module, "ALIASES", {}).items():
        _add_alias(given, name, target)
    return given


def _add(given: set[str], name: str, function: Any) -> None:
    if type(vars(TensorBase).get(name)) is Later:
        delattr(TensorBase, name)
    label = name if getattr(function, "__name__", "").startswith("_method_") else ""
    add_method(name, public_form(function, f"Tensor.{name}", "gradpack", label))
    given.add(name)


def _operators(module: ModuleType) -> Iterator[tuple[str, Any, Any]]:
    """Yield the special methods that a module provides: name, operation, and what makes the method of it."""
    binary = [pair.split(":") for pair in _words(module, "BINARY_OPERATORS")]  # `add:add` gives all three forms
    for table, form, make in (
        ("OPERATORS", "__{}__", operator_of),
        ("REFLECTED", "__r{}__", reflected_of),
        ("INPLACE_OPERATORS", "__i{}__", inplace_operator_of),
    ):
        for name, target in getattr(module, table, {}).items():
            yield name, target, make
        for name, target in binary:
            yield form.format(name), target, make


def _add_alias(given: set[str], name: str, target: str) -> None:
    if _is_exported(target):
        EXPORTED[name] = EXPORTED[target] if target in EXPORTED else exported(target)
    if target in vars(TensorBase):
        _add(given, name, _resolved(target))
    if target + "_" in vars(TensorBase):
        _add(given, name + "_", _resolved(target + "_"))
        EXPORTED.setdefault(name + "_", vars(TensorBase)[target + "_"])


def _is_exported(name: str) -> bool:
    return name in EXPORTED or name in MODULE_OF


def _resolved(name: str) -> Any:
    """Return the method itself, loading it if necessary."""
    getattr(TensorBase, name)
    return vars(TensorBase)[name]


def _write_names() -> None:
    """Write `lazy_names.txt`."""
    from pathlib import Path
    from pkgutil import walk_packages

    lines = [
        "# The names that each module gives, imported at first use: written by `python -m gradpack.ops.methods`.",
        "# module: functions that gradpack exports; attributes of Tensor; operations",
    ]
    here, prefix = import_module(__package__), f"{__package__}."
    names = sorted(m.name.removeprefix(prefix) for m in walk_packages(here.__path__, prefix) if not m.ispkg)
    modules = {name: import_module(f".{name}", __package__) for name in names if name not in ("lazy_names", "methods")}
    for name in sorted(modules, key=lambda name: hasattr(modules[name], "ALIASES")):  # aliases come last
        load(name)
    for name, module in modules.items():
        ops = {op.name for op in REGISTRY.values() if op.forward.__module__ == module.__name__}
        groups = [*_given[name], ops]
        if any(groups):
            lines.append(f"{name}: {'; '.join(' '.join(sorted(group)) for group in groups)}".rstrip())
    Path(__file__).with_name("lazy_names.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    import_module("gradpack.ops.methods")._write_names()  # not the copy that runs as `__main__`
