"""`ChannelShuffle`."""

from __future__ import annotations

from ...core.tensor import Tensor
from .. import functional as F
from .module import Module

__all__ = ["ChannelShuffle"]


class ChannelShuffle(Module):
    """The first channel of each of `groups` groups, then the second of each, and so on.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.ChannelShuffle(2)(torch.arange(4).view(1, 4, 1)).flatten()
        tensor([0, 2, 1, 3])
    """

    _shown = ("groups",)

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        return F.channel_shuffle(input, self.groups)
