"""What the pages of names are found by, and how much they count."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import gradpack
from gradpack import distributions, dtype, nn, optim

from . import families
from .names import Entry, names_of

# Classes whose methods people look for by name.
BASES = (
    nn.Module,
    optim.Optimizer,
    optim.lr_scheduler.LRScheduler,
    distributions.Distribution,
    distributions.constraints.Constraint,
    distributions.Transform,
)


def front_matter(entry: Entry, by_path: Mapping[str, Entry]) -> str:
    """Return the head of a page: its title, words that it is found by, and its weight."""
    own = entry.name.strip("_")
    words = {own, own.replace("_", " "), *(a.rpartition(".")[2].strip("_") for a in entry.aliases)}
    if entry.value in BASES:
        words |= {name for name in dir(entry.value) if name[0] != "_"}
    if entry.value is dtype:
        words |= {name for name in names_of("") if isinstance(getattr(gradpack, name, None), dtype)}
    tags = ", ".join(sorted(words))
    return f"---\ntitle: {entry.heading}\ntags: [{tags}]\nsearch:\n  boost: {_weight(entry, by_path)}\n---"


def _weight(entry: Entry, by_path: Mapping[str, Entry]) -> float:
    """Return more for names that are parts of others, which a search finds, too; less for what few programs need."""
    if families.file_of(entry.value).startswith(("array_api/", "compat/")):
        return 0.3
    return 1.0 + min(_longer(tuple(by_path))[_plain(entry.path)], 24)


def _plain(path: str) -> str:
    return path.rpartition(".")[2].lower().strip("_")


@cache
def _longer(paths: tuple[str, ...]) -> dict[str, int]:
    """Return for each name how many others begin with it, or have it among their words."""
    names = {_plain(path) for path in paths}
    return {n: sum(m != n and (m.startswith(n) or f"_{n}_" in f"_{m}_") for m in names) for n in names}
