"""How the elements of a tensor are kept: `gradpack.strided`, `gradpack.sparse_coo`."""

from __future__ import annotations

from . import spelling


class layout:  # noqa: N801 - torch's name
    """A way of keeping elements; there is one object for each.

    Example::

        >>> import gradpack as torch
        >>> torch.ones(1).layout is torch.strided
        True
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"{spelling.library}.{self.name}"

    def __reduce__(self) -> str:
        return self.name


layout.__module__ = "gradpack"

strided = layout("strided")
sparse_coo = layout("sparse_coo")
