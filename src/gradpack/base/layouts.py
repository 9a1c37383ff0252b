"""The layouts of tensors: `gradpack.strided`, `gradpack.sparse_coo`."""

from __future__ import annotations

from .spelling import Named


class layout(Named):  # noqa: N801 - torch's name
    """The memory layout of a tensor; there is one object for each: `strided` and `sparse_coo`.

    Args:
        name: the name of the object in the module. Programs use those that there are, and make none.

    Example::

        >>> import gradpack as torch
        >>> torch.ones(1).layout is torch.strided
        True
    """

    __slots__ = ()


layout.__module__ = "gradpack"

strided = layout("strided")
sparse_coo = layout("sparse_coo")
