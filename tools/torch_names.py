"""Writes the table of torch's modules and names, `compat/torch_names.txt.xz`, from an installed torch.

Run it with the torch that is the reference: `.venv/bin/python tools/torch_names.py`.
`compat/torch_names.py` reads the table and says what its lines mean.
"""

from __future__ import annotations

import enum
import importlib
import logging
import lzma
import math
import os
import pkgutil
import sys
import types
import typing
import warnings
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TABLE = Path(__file__).parent.parent / "src" / "gradpack" / "compat" / "torch_names.txt.xz"
PACKAGES = ("torch", "functorch")
# Torch's own tests, and programs that are started; nobody imports them.
SKIPPED = ("torch.testing._internal", "torch.utils.benchmark.examples", "torch.lib", "torch.bin")
# Names in these are made when they are asked for.
DYNAMIC = ("torch.ops", "torch._ops.ops", "torch.classes")
LITERALS = (type(None), bool, int, float, str)
LONGEST = 100  # characters of a literal


def imported(package: types.ModuleType) -> Iterator[str]:
    """Import all modules below a package that can be imported, and yield their names."""
    for found in pkgutil.iter_modules(getattr(package, "__path__", None) or [], f"{package.__name__}."):
        if found.name.startswith(SKIPPED) or found.name.endswith("__main__"):
            continue
        try:
            module = importlib.import_module(found.name)
        except BaseException as error:  # what it needs is not installed
            print(f"left out: {found.name}: {error}", file=sys.stderr)
            continue
        yield found.name
        yield from imported(module)


def modules() -> dict[str, types.ModuleType]:
    """All modules of torch, those that are only attributes of others too, by name."""
    for name in PACKAGES:
        list(imported(importlib.import_module(name)))
    found = {}
    waiting = [
        (name, module)
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] in PACKAGES and isinstance(module, types.ModuleType)
    ]
    while waiting:
        name, module = waiting.pop()
        if name in found or name.startswith(SKIPPED) or name.startswith(DYNAMIC):
            continue
        if name.rpartition(".")[0] not in {"", *sys.modules}:  # what it is below was not imported
            continue
        found[name] = module
        for below, value in vars(module).items():
            if isinstance(value, types.ModuleType) and f"{name}.{below}" == value.__name__:
                waiting.append((value.__name__, value))
    return dict(sorted(found.items()))


def names(module: types.ModuleType) -> dict[str, Any]:
    """The names in a module with their values, without those that Python itself puts there."""
    found = {}
    settings = asked(module, "_config")  # of modules that are settings of the compiler
    settings = settings if isinstance(settings, dict) else {}
    for name in sorted({*dir(module), *getattr(module, "__all__", ()), *settings}):
        if isinstance(name, str) and name.isidentifier() and name[:2] != "__":
            try:
                found[name] = getattr(module, name)
            except Exception:
                found.pop(name, None)
    return found | {"__all__": getattr(module, "__all__", ())}


def is_own(value: Any) -> bool:
    """Whether a value has one place that is its own: a class, a function or a module, and no plain value."""
    return isinstance(value, type | types.FunctionType | types.BuiltinFunctionType | types.ModuleType)


def publicity(place: str) -> tuple[int, int, int, str]:
    """The order of the places of one value: public ones before private ones, then the shortest."""
    words = place.split(".")
    return place.startswith("torch._"), sum(word[0] == "_" for word in words[:-1]), len(words), place


def asked(value: Any, name: str) -> Any:
    """An attribute of a value; None where the value has none, or raises."""
    try:
        return getattr(value, name, None)
    except Exception:
        return None


def outside(value: Any) -> str | None:
    """`module:name` of a class, function or module of Python's or of another library; None for others."""
    if isinstance(value, types.ModuleType):
        return f"{value.__name__}:"
    home = asked(value, "__module__")
    name = asked(value, "__qualname__") or asked(value, "__name__") or asked(value, "_name")
    if isinstance(home, str) and isinstance(name, str) and asked(sys.modules.get(home), name) is value:
        return f"{home}:{name}"
    return None


def number(value: Any) -> str | None:
    """`math:nan` and the like for numbers that have no literal."""
    if isinstance(value, float) and (math.isnan(value) or value == math.inf):
        return str(value)
    return None


def kind(name: str, value: Any) -> tuple[str, str]:
    """The kind of a value that has this place only, and what the table says of it."""
    if isinstance(value, type):
        if issubclass(value, BaseException):
            base = next(c for c in value.__mro__[1:] if c.__module__ == "builtins")
            return "!", f"{name}:{base.__name__}"
        members = asked(value, "__members__")
        if isinstance(members, types.MappingProxyType | dict) and members:
            enumeration = "IntEnum" if issubclass(value, int) or not issubclass(value, enum.Enum) else "Enum"
            named = {n: m for n, m in members.items() if n.isidentifier()}
            given = {n: literal(int(m) if enumeration == "IntEnum" else m.value) for n, m in named.items()}
            if not any(v is None or set(v) & set(" ,=") for v in given.values()):
                return "%", f"{name}:{enumeration}:" + ",".join(f"{n}={v}" for n, v in given.items())
        return "+", name
    if isinstance(value, typing.TypeVar):
        return "T", name
    if callable(value) and not type(value).__module__ not in ("typing", "types"):
        return "-", name
    text = literal(value)
    if text is not None:
        return "#", f"{name}={text}"
    if type(value).__module__ in ("typing", "types", "typing_extensions"):
        return "?", name
    return ".", name


def literal(value: Any) -> str | None:
    """A number, a string, None, or an empty container as text; None for others."""
    if type(value) in LITERALS or (type(value) in (list, tuple, dict) and not value):
        text = repr(value)
        machine = isinstance(value, str) and ("/" in value or "\t" in text)
        if len(text) <= LONGEST and not machine and text not in ("nan", "inf", "-inf"):
            return text
    return None


def table() -> str:
    """The table as text."""
    found = {name: names(module) for name, module in modules().items()}
    places: dict[int, list[str]] = defaultdict(list)
    public: dict[int, list[str]] = defaultdict(list)  # those in the `__all__` of their module, and where it was defined
    for module, held in found.items():
        for name, value in held.items():
            if is_own(value) and not (isinstance(value, types.ModuleType) and value.__name__ in found):
                places[id(value)].append(f"{module}.{name}")
                if name in held.get("__all__", ()) or asked(value, "__module__") == module:
                    public[id(value)].append(f"{module}.{name}")
    home = {key: min(public[key] or listed, key=publicity) for key, listed in places.items()}
    lines = []
    for module, held in found.items():
        kinds: dict[str, list[str]] = defaultdict(list)
        for name, value in held.items():
            if name == "__all__":
                continue
            key, text = entry(module, name, value, found, home)
            if key[0] != "~" or "._" not in module or text != name:  # private modules import for themselves
                kinds[key].append(text)
        lines.append(f"@{module}")
        for key, listed in sorted(kinds.items()):
            lines.append(key + ("\t" if key == "#" else " ") + ("\t" if key == "#" else " ").join(listed))
    return "\n".join(lines + operators()) + "\n"


def operators() -> list[str]:
    """The lines for operators, which torch makes when they are asked for."""
    import torch

    found = defaultdict(set)
    for schema in torch._C._jit_get_all_schemas():
        space, _, name = schema.name.partition("::")
        if name.isidentifier() and name[:2] != "__":
            found[space].add(name)
    lines = ["@torch.ops", "/ " + " ".join(sorted(found))]
    for space, listed in sorted(found.items()):
        lines += [f"@torch.ops.{space}", "- " + " ".join(sorted(listed))]
    return lines


def entry(module: str, name: str, value: Any, found: Any, home: dict[int, str]) -> tuple[str, str]:
    """The key of the line, and the word on it, for one name."""
    if isinstance(value, types.ModuleType) and value.__name__ in found:
        if value.__name__ == f"{module}.{name}":
            return "/", name
        return f"={value.__name__}:", name
    there = outside(value)
    if there is not None and there.partition(".")[0].partition(":")[0] not in PACKAGES:
        where, _, word = there.partition(":")
        return f"~{where}:" + ("" if word else "module"), name if word in ("", name) else f"{name}:{word}"
    if number(value) is not None:
        return "~math:", f"{name}:{number(value)}"
    if is_own(value):
        where, _, word = home[id(value)].rpartition(".")
        if (where, word) != (module, name):
            return f"={where}", name if word == name else f"{name}:{word}"
    return kind(name, value)


def main() -> None:
    warnings.simplefilter("ignore")
    logging.disable()
    text = table()
    TABLE.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    print(f"{text.count('@')} modules, {len(text)} characters, {TABLE.stat().st_size} bytes: {TABLE}", flush=True)
    os._exit(0)  # some modules start threads and processes that do not end


if __name__ == "__main__":
    main()
