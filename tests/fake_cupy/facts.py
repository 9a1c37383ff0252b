"""What CuPy has, read off an installed CuPy, which needs no GPU for that: `python -m tests.fake_cupy.facts`.

The stand-in has exactly these names, takes exactly these arguments, and its ufuncs have these loops.
"""

from __future__ import annotations

import inspect
from pathlib import Path

FILE = Path(__file__).with_name("facts.txt")
MODULES = ("", "linalg", "fft", "random", "lib.stride_tricks", "cuda")


def _signature(found: object) -> str:
    try:
        parameters = inspect.signature(found).parameters.values()  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return "?"
    words = []
    for p in parameters:
        mark = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**", p.KEYWORD_ONLY: "&", p.POSITIONAL_ONLY: "!"}.get(p.kind, "")
        words.append(mark + p.name + ("" if p.default is p.empty else "="))
    return " ".join(words)


def read() -> list[str]:
    """One line for each name: what it is, where, and what it takes."""
    import cupy

    lines = [f"version {cupy.__version__}"]
    for module in MODULES:
        home = cupy
        for part in module.split("."):
            home = getattr(home, part) if part else home
        for name in sorted(n for n in dir(home) if not n.startswith("_")):
            found = getattr(home, name)
            full = f"{module}.{name}".lstrip(".")
            if isinstance(found, cupy.ufunc):
                lines.append(f"ufunc {full} {' '.join(found.types)} {found._scatter_op or '-'}")
            elif inspect.isclass(found):
                lines.append(f"class {full}")
            elif inspect.ismodule(found):
                lines.append(f"module {full}")
            elif callable(found):
                lines.append(f"function {full} {_signature(found)}")
            else:
                lines.append(f"value {full}")
    import cupyx.scipy.special

    lines += [f"special {n}" for n in dir(cupyx.scipy.special) if not n.startswith("_") and n != "annotations"]
    for kind in ("ndarray", "cuda.Stream", "cuda.Event", "cuda.Device", "cuda.MemoryPool", "cuda.PinnedMemoryPool"):
        home = cupy
        for part in kind.split("."):
            home = getattr(home, part)
        lines.append(f"members {kind} {' '.join(n for n in dir(home) if not (n.startswith('_') and n[1] != '_'))}")
    return lines


if __name__ == "__main__":
    FILE.write_text("\n".join(read()) + "\n", encoding="utf-8")
