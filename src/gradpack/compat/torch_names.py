"""The table of torch's modules and their names, which `tools/torch_names.py` writes from an installed torch.

It is read at the first name that gradpack does not have. A module begins with its name after an `@`; every further
line has a kind, and names of that kind:

    + classes            ! exceptions, with what they derive from        % enumerations, with their members
    - functions          # numbers, strings and the like, with values    T type variables
    / modules below      ? what stands in annotations                    . other objects
    =torch.nn            names that are those of another module of torch; =torch.nn: names of that module itself
    ~typing:             names that are those of another library; ~math:module names of that module itself

`name:other` is a name that has another one where it comes from.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple


class Entry(NamedTuple):
    """A line's kind, the module of another place, and what the table says after the name."""

    kind: str
    place: str
    said: str


@cache
def _blocks() -> dict[str, str]:
    """The lines of each module; none where Python has no lzma, as in a browser."""
    try:
        import lzma
    except ImportError:
        return {}
    text = lzma.decompress(Path(__file__).with_name("torch_names.txt.xz").read_bytes()).decode()
    found = {}
    for block in text[1:].split("\n@"):
        module, _, lines = block.partition("\n")
        found[module] = lines
    return found


def modules() -> list[str]:
    """Return the names of torch's modules."""
    return list(_blocks())


def is_module(name: str) -> bool:
    """Whether torch has a module of that name."""
    return name in _blocks()


@cache
def names(module: str) -> dict[str, Entry]:
    """The names in a module of torch; none for a module that it does not have."""
    found: dict[str, Entry] = {}
    for line in _blocks().get(module, "").splitlines():
        if line[0] == "#":
            words = [word.partition("=") for word in line.split("\t")[1:]]
            found.update((name, Entry("#", "", text)) for name, _, text in words)
            continue
        key, *listed = line.split(" ")
        for name, _, said in (word.partition(":") for word in listed):
            found[name] = Entry(key[0], key[1:], said)
    return found
