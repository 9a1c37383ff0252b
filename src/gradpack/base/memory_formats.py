"""`memory_format`: the order of a tensor's elements in memory."""

from __future__ import annotations

from typing import Any

from .spelling import Named


class memory_format(Named):  # noqa: N801 - torch's name
    """The order of a tensor's elements in memory.

    `contiguous_format` is row-major, `channels_last` (4 dimensions) and `channels_last_3d` (5 dimensions) have
    dimension 1 innermost, `preserve_format` is that of the operand.

    Args:
        name: the name of the object in the module. Programs use those that there are, and make none.

    Example::

        >>> import gradpack as torch
        >>> torch.ones(1, 2, 3, 4).contiguous(memory_format=torch.channels_last).stride()
        (24, 1, 8, 2)
    """

    __slots__ = ()


memory_format.__module__ = "gradpack"

FORMATS: dict[str, memory_format] = {
    name: memory_format(name) for name in ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")
}
_RANKS = {"channels_last": 4, "channels_last_3d": 5}


def order_of(wanted: Any, ndim: int) -> tuple[int, ...] | None:
    """The dimensions from outermost to innermost for `channels_last` and `channels_last_3d`; None for other formats.

    Raises:
        RuntimeError: if the format is for another number of dimensions.
    """
    name = getattr(wanted, "name", None)
    if name not in _RANKS:
        return None
    if ndim != _RANKS[name]:
        raise RuntimeError(f"required rank {_RANKS[name]} tensor to use {name} format")
    return (0, *range(2, ndim), 1)
