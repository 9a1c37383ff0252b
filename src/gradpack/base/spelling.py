"""The name of this library in what it prints: `gradpack.float32`, or `torch.float32` while it stands in for torch."""

from __future__ import annotations

library = "gradpack"


class Sentinel:
    """A value that stands for the absence of one."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


class Named:
    """A constant with one object for each name, as a layout: printed and pickled as an attribute of the library."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"{library}.{self.name}"

    def __reduce__(self) -> str:
        return self.name
