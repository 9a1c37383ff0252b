"""The names of torch that this project has set out to provide."""

from __future__ import annotations

from functools import cache
from pathlib import Path


def sections(file: Path) -> dict[str, list[str]]:
    """Return the entries of a list of names by section; continuation lines belong to the entry before."""
    found: dict[str, list[str]] = {}
    entries: list[str] = []
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("#") or not line:
            continue
        if line.startswith("["):
            entries = found.setdefault(line.strip("[]").removesuffix("] autograd"), [])
        elif line.startswith("  "):
            entries[-1] += " " + line.strip()
        else:
            entries.append(line)
    return found


@cache
def paths() -> tuple[str, ...]:
    """Return every path of torch that is to exist here, sorted."""
    listed = sections(Path(__file__).with_name("names.txt")).items()
    names = (
        (place, word.partition("=")[0]) for place, entries in listed for entry in entries for word in entry.split()
    )
    return tuple(sorted({f"{place}.{name}" for place, name in names}))
