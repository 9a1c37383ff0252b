"""Stand-ins for names of torch that gradpack does not have.

`look_up` answers for every name in the table of `torch_names`. Where gradpack has it under another name, it gives that;
numbers, strings and enumerations are as in torch; exceptions are classes of their own; dtypes are dtypes of which there
are no tensors. All others are classes of one kind, `Absent`: programs import them, derive from them, and name them in
annotations and in `isinstance`, which is False. A call, or arithmetic with one, raises RuntimeError with one sentence.
"""

from __future__ import annotations

import builtins
import enum
import sys
from abc import ABCMeta
from ast import literal_eval
from collections.abc import Callable
from functools import cache
from importlib import import_module
from types import GenericAlias, ModuleType
from typing import Any, NoReturn, TypeVar

from ..base.dtypes import FLOATING, INTEGRAL, dtype
from . import harmless, torch_names
from .moved_modules import MOVED

NONE = object()

# dtypes of which there are no tensors, with their size, category and sign: of most, torch has only the name, too.
_DTYPES = {
    name: (size, category, signed)
    for names, size, category, signed in (
        ("int1 int2 int3 int4 int5 int6 int7 qint8", 1, INTEGRAL, True),
        ("uint1 uint2 uint3 uint4 uint5 uint6 uint7 bit quint8 quint4x2 quint2x4", 1, INTEGRAL, False),
        ("bits8 bits1x8 bits2x4 bits4x2", 1, INTEGRAL, False),
        ("bits16", 2, INTEGRAL, False),
        ("qint32", 4, INTEGRAL, True),
        ("float4_e2m1fn_x2 float8_e4m3fnuz float8_e5m2fnuz", 1, FLOATING, True),
        ("float8_e8m0fnu", 1, FLOATING, False),
    )
    for name in names.split()
}


class Absent(ABCMeta):
    """The type of what stands for a name of torch that gradpack does not have."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if "_place" in vars(cls):
            refuse(cls)
        return super().__call__(*args, **kwargs)

    def __getattr__(cls, name: str) -> Any:
        if name[0] == "_":
            raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}", name=name, obj=cls)
        return stand_in(f"{cls._place}.{name}")

    def __getitem__(cls, index: Any) -> Any:
        return GenericAlias(cls, index)

    def __repr__(cls) -> str:
        return f"<{cls._place}, which gradpack does not have>" if "_place" in vars(cls) else super().__repr__()


def refuse(cls: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """Raise the sentence for a call of a stand-in, or for arithmetic with it.

    Raises:
        RuntimeError: always.
    """
    from .as_torch.missing import refusal

    raise RuntimeError(refusal(cls._place))


_COMPUTED = (
    "add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow matmul rmatmul and rand lshift "
    "rshift xor rxor lt le gt ge neg pos invert abs int float index iter len contains enter exit setitem"
)
for _name in _COMPUTED.split():
    setattr(Absent, f"__{_name}__", refuse)


def _begin(self: Any, *args: Any, **kwargs: Any) -> None:
    """Refuse to make an object of a class that derives from a stand-in."""
    refuse(type(self))


@cache
def stand_in(place: str) -> Absent:
    """Return the stand-in for a name of torch, given with its module."""
    module, _, name = place.rpartition(".")
    return Absent(name, (), {"_place": place, "__module__": module, "__qualname__": name, "__init__": _begin})


def look_up(module: str, name: str, library: str) -> Any:
    """Return what stands for a name in a module of torch; NONE if torch does not have it.

    Args:
        module: the name of the module in torch: `torch.nn`.
        library: below which name modules are imported: `torch` or `gradpack`.
    """
    entry = torch_names.names(module).get(name)
    if entry is None:  # a method of a module, as `patch` of settings
        return harmless.found().get(f"{module}.{name}", NONE)
    if entry.kind == "/":
        return _module(_below(f"{module}.{name}", library))
    if entry.kind == "~":
        return _outside(module, name, entry)
    if entry.kind != "=":
        return _made(module, name)
    if entry.place[-1] == ":":
        return _module(_below(entry.place[:-1], library))
    there = entry.said or name
    value = ours(entry.place, there)
    return _made(entry.place, there) if value is NONE else value


def attribute(module: ModuleType, name: str) -> Any:
    """Return what stands for a name of torch that a module of gradpack does not have itself.

    Raises:
        AttributeError: if torch does not have it there, or ImportError where a `from` asks for it.
    """
    from .as_torch import missing

    library, _, path = module.__name__.partition(".")
    if name[:2] != "__":
        of_torch = f"torch.{path}" if path else "torch"
        value = ours(of_torch, name)
        for place in MOVED.get(path, ()) if value is NONE else ():  # a package that stands where a file stood
            value = own(import_module(f"{library}.{place}".rstrip(".")), name) if value is NONE else value
        if value is NONE:
            value = look_up(of_torch, name, library)
        if value is not NONE:
            return value
    raise missing.attribute(f"{path}.{name}" if path else name, module)


def ours(module: str, name: str) -> Any:
    """Return what gradpack has for a name in a module of torch; NONE if it has nothing."""
    from .as_torch.names import path_of, sources

    path = path_of(module)
    for source in () if path is None else sources(path) or ():
        value = own(import_module(source), name)
        if value is not NONE:
            return value
    return NONE


def own(module: Any, name: str) -> Any:
    """Return a name of a module of gradpack itself, without what stands for names that it does not have."""
    from ..base.filled import raw_dict

    held = raw_dict(module)
    if name in held:
        return held[name]
    ask: Callable[[str], Any] | None = held.get("__getattr__")
    ask = getattr(ask, "own", ask)
    try:
        return NONE if ask is None else ask(name)
    except AttributeError:
        return NONE


def _module(name: str) -> Any:
    """Import a module; one below a module that is no package is made here."""
    try:
        return import_module(name)
    except ModuleNotFoundError:
        library, _, path = name.partition(".")
        if library == "torch" or not torch_names.is_module(f"torch.{path}"):
            raise
        from .as_torch.finder import AnsweringModule

        return sys.modules.setdefault(name, AnsweringModule(path, [], library))


def _below(name: str, library: str) -> str:
    return library + name[5:] if name.startswith("torch") else name


def _outside(module: str, name: str, entry: torch_names.Entry) -> Any:
    where, _, whole = entry.place.partition(":")
    try:
        value = import_module(where)
        return value if whole else getattr(value, entry.said or name)
    except (ImportError, AttributeError):  # it is not installed, or another version
        return stand_in(f"{module}.{name}")


@cache
def _made(module: str, name: str) -> Any:
    """Make what stands for a name that gradpack does not have."""
    entry = torch_names.names(module)[name]
    if module == "torch" and name in _DTYPES:
        return dtype("uint1" if name == "bit" else name, *_DTYPES[name], alone=True)
    quiet = harmless.found().get(f"{module}.{name}")
    if quiet is not None:
        return quiet
    if entry.kind == "#":
        return literal_eval(entry.said)
    if entry.kind == "!":
        return type(name, (getattr(builtins, entry.said),), {"__module__": module})
    if entry.kind == "T":
        return TypeVar(name)
    if entry.kind == "?":
        return Any
    if entry.kind == "%":
        base, _, listed = entry.said.partition(":")
        members = {word: literal_eval(value) for word, _, value in (m.partition("=") for m in listed.split(","))}
        return getattr(enum, base)(name, members, module=module)
    return stand_in(f"{module}.{name}")
