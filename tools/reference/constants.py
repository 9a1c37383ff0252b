"""Names of modules that stand for an object: dtypes, layouts, numbers, constraints."""

from __future__ import annotations

import gradpack
from gradpack.distributions.constraints import Constraint

from . import docstrings
from .names import is_documented_by_itself, module_of, names_of

_SHOWN = (gradpack.dtype, gradpack.layout, gradpack.memory_format, float, Constraint)


def rows(module: str) -> list[tuple[str, str]]:
    """Return the constants of a module with what they are, for its index."""
    place, found = module_of(module), []
    for name in names_of(module) if not isinstance(place, type) else []:
        value = getattr(place, name, None)
        if not isinstance(value, _SHOWN) or is_documented_by_itself(value):
            continue
        said = docstrings.read(type(value)).summary.partition("\n")[0] if isinstance(value, Constraint) else ""
        found.append((f"`{name}`", f"`{value!r}` {said}".replace("`gradpack.", "`torch.").strip()))
    return found


def dtypes() -> list[tuple[str, str, str, str]]:
    """Return the dtypes with their other names, kinds and sizes."""
    names: dict[gradpack.dtype, list[str]] = {}
    for name in names_of(""):
        value = getattr(gradpack, name, None)
        if isinstance(value, gradpack.dtype):
            names.setdefault(value, []).append(name)
    found = []
    for value, known in names.items():
        own = str(value).rpartition(".")[2]
        others = " ".join(f"`{n}`" for n in known if n != own)
        whole = "bool" if value is gradpack.bool else "integer"
        kind = "complex" if value.is_complex else "floating point" if value.is_floating_point else whole
        found.append((f"`{own}`", others, kind, str(value.itemsize)))
    return sorted(found, key=lambda row: (row[2], int(row[3]), row[0]))
