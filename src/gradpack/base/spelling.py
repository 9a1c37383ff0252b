"""How this library is called in what it prints: `gradpack.float32`, and `torch.float32` while it answers for torch."""

from __future__ import annotations

library = "gradpack"


class Named:
    """What there is one object of for each name: printed by it, and pickled as the attribute of the library."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"{library}.{self.name}"

    def __reduce__(self) -> str:
        return self.name
