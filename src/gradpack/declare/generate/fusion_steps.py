"""The steps of a loop over blocks, one function of NumPy's each, and the buffers that they write into."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from .buffers import Unfit, borrow, clip, give_back, limit_into, number, pick

_NAMES = {
    "np": np, "_pick": pick, "_borrow": borrow, "_give_back": give_back, "_clip": clip, "_limit": limit_into,
    "_Unfit": Unfit, "_number": number,
}  # fmt: skip


class Unknown(Exception):  # noqa: N818 - a message to the caller, no error
    """Raised for code that cannot be translated into a loop."""


class Value(NamedTuple):
    """A part of an expression: "f" an array of the common dtype, "?" one of bools, "s" anything else."""

    kind: str
    text: str
    buffer: bool = False  # may its memory be written to when it has been read?


class Writer:
    """Steps on blocks, and the buffers that they need.

    Args:
        asked: only the kind of the result is wanted: no branch of an if-else is written.
    """

    def __init__(self, *, asked: bool = False) -> None:
        self.asked = asked
        self.lines: list[str] = []
        self.free: dict[str, list[str]] = {"f": [], "?": []}
        self.made: dict[str, list[str]] = {"f": [], "?": []}
        self.filled: dict[str, str] = {}  # buffers that hold one number, by the text of the number
        self.numbers: dict[str, str] = {}  # numbers as arrays, by their text
        self.names: dict[str, Any] = dict(_NAMES)
        self.masks = False
        self.depth = self.top = 0

    def known(self, value: Any) -> str:
        """Return a name for a global value of the function."""
        name = f"_k{id(value)}"
        self.names[name] = value  # the reference keeps its id from being reused
        return name

    def buffer(self, kind: str) -> str:
        if self.free[kind]:
            return self.free[kind].pop()
        name = f"_{'b' if kind == '?' else 'f'}{len(self.made[kind])}"
        self.made[kind].append(name)
        return name

    def release(self, *values: Value) -> None:
        for text, kind in dict.fromkeys((v.text, v.kind) for v in values if v.buffer):
            self.free[kind].append(text)

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def step(self, name: str, values: list[Value], kind: str, into: str | None) -> Value:
        """Append a NumPy call that writes into a buffer, reusing that of an operand if possible."""
        if all(v.kind == "s" for v in values):
            raise Unknown(name)
        texts = [v.text for v in values]
        if name in ("maximum", "minimum"):  # of an array and a number take twice as long
            texts = [self.constant(v.text) if v.kind == "s" else v.text for v in values]
        elif self.depth == self.top:  # unconditional expressions are always evaluated, so they may move before the loop
            texts = [self.number(v.text) if v.kind == "s" else v.text for v in values]
        self.release(*values)
        target = into or self.buffer(kind)
        self.line(f"np.{name}({', '.join(texts)}, out={target})")
        return Value(kind, target, into is None)

    def number(self, text: str) -> str:
        return self.numbers.setdefault(text, f"_n{len(self.numbers)}")

    def constant(self, text: str) -> str:
        if text not in self.filled:
            self.filled[text] = f"_c{len(self.filled)}"
        return self.filled[text]

    def direct(self) -> bool:
        """Return whether nothing is read after the result is written, so that it may overwrite an operand."""
        following = [*self.lines[1:], "else:"]
        writes = [(a.strip(), b.strip()) for a, b in zip(self.lines, following, strict=True) if re.search(r"\b_o\b", a)]
        return all(a.startswith(("np.", "_clip(")) and a.endswith("out=_o)") and b == "else:" for a, b in writes)
