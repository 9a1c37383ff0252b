"""Functions of a range that call a loop on parts of arrays, written as text for each kind of arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import carray, njit

from .loop import by_address
from .native import address_of, data_of, memory_at, number_at, read

_NAMES: dict[str, Any] = {
    "read": read, "number_at": number_at, "memory_at": memory_at, "data_of": data_of, "carray": carray,
}  # fmt: skip
Kinds = tuple[tuple[str, int, str], ...]


def function_of(called: Any, kinds: Kinds) -> int:
    """Return the address of the function of a range that calls a loop.

    Args:
        kinds: of each argument: "d", "w" or "e" for an array that is divided, whole, or of which each part has an
            element, with its dimensions and the character of its dtype; "i", "b" and "f" for numbers. Last may come
            "r": an array of which each part's element takes what the loop returns.
    """
    source = called.py_func
    name = "_".join(
        ["part_of", source.__module__.rpartition(".")[2], source.__name__, *(f"{k}{n}{c}" for k, n, c in kinds)]
    ).replace("?", "t")
    given, lines, at = [], [], 8
    for i, (kind, ndim, char) in enumerate(kinds):
        value, width = _argument(kind, ndim, char, at)
        lines.append(f"    x{i} = {value}")
        if kind != "r":
            given.append(f"x{i}")
        at += 8 * width
    into = f"x{len(given)}[0] = " if len(given) < len(kinds) else ""
    text = f"def {name}(block, low, high):\n" + "\n".join(lines) + f"\n    {into}called({', '.join(given)})\n"
    options = called.targetoptions["fastmath"]
    names = {
        "__name__": __name__,
        "called": njit(inline="always", error_model="numpy", fastmath=options)(source),
    } | _NAMES
    names |= {f"type_{c}".replace("?", "t"): np.dtype(c).type for _, _, c in kinds if c}
    exec(compile(text, __file__, "exec"), names)
    return address_of(by_address(names[name], options))


def _argument(kind: str, ndim: int, char: str, at: int) -> tuple[str, int]:
    """Return an argument as text, and how many numbers of the block it takes."""
    if kind == "f":
        return f"type_{char}(number_at(block + {at}))", 1
    if kind in "ib":
        return f"read(block + {at})" + (" != 0" if kind == "b" else ""), 1
    sizes = [f"read(block + {at + 8 * i})" for i in range(1, ndim + (kind == "w"))]
    shape, start = sizes, ""
    if kind != "w":
        where = "low" if kind == "d" else "(low // read(block))"
        start = f" + {' * '.join([where, str(np.dtype(char).itemsize), *sizes])}"
        shape = ["high - low", *sizes] if kind == "d" else sizes
    kept = f"type_{char}".replace("?", "t")
    return f"carray(memory_at(data_of(read(block + {at})){start}), ({', '.join(shape)},), {kept})", 1 + len(sizes)
