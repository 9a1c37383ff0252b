"""What was compared, by category, and what differed."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import torch

_DTYPE = re.compile(
    r"c10::complex<double>|c10::[A-Za-z]+|\b(unsigned char|signed char|short int|long int|Int|Short|Char|Byte|Long|"
    r"Float|Double|Bool|Half|BFloat16|ComplexDouble|ComplexFloat|int|bool|double|float|[a-z]+[0-9]+)\b"
)


class Tally:
    """What was compared for one operator, by category, and what differed."""

    def __init__(self, name: str, operator: str) -> None:
        self.name = name
        self.operator = operator  # the name without the variant
        self.good: Counter[str] = Counter()
        self.bad: Counter[str] = Counter()
        self.told: dict[tuple[str, str], tuple[tuple[str, str], list[str]]] = {}

    def add(self, category: str, found: str | None, dtype: str = "", sample: str = "") -> bool:
        """Count one comparison; True if it agreed."""
        if found is None:
            self.good[category] += 1
            return True
        self.bad[category] += 1
        head = _DTYPE.sub("D", found if category == "refused" else found.split(":")[0])
        head = "strides" if category == "strides" else head
        first = f"{self.name} {category}", f"{sample}: {found}"
        _, seen = self.told.setdefault((category, head), (first, []))
        if dtype not in seen:
            seen.append(dtype)
        return False

    def lines(self, hidden: tuple[str, ...] = ("strides",)) -> list[str]:
        """The first of each kind of difference, with the dtypes that it was seen in."""
        told = [((c, *first), seen) for (c, _), (first, seen) in self.told.items() if c not in hidden]
        return [f"{start} {' '.join(seen)} {rest}" for (_, start, rest), seen in told]


def told_of(error: Exception) -> str:
    words = str(error).splitlines()
    return f"raises {type(error).__name__}: {words[0] if words else ''}"


def describe(sample: Any) -> str:
    def word(v: Any) -> str:
        if isinstance(v, torch.Tensor):
            if v.layout is not torch.strided:
                return f"T{tuple(v.shape)}/sparse"
            return f"T{tuple(v.shape)}" + ("" if v.is_contiguous() else "/strided")
        if isinstance(v, list | tuple):
            return "[" + ", ".join(map(word, v)) + "]"
        return repr(v)[:40]

    words = [word(sample.input), *map(word, sample.args), *(f"{k}={word(v)}" for k, v in sample.kwargs.items())]
    return "(" + ", ".join(words)[:150] + ")"
