"""Activations along a dimension as modules."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from .. import functional as F
from .._public import give_all
from ..modules.module import Module


class _AlongDim(Module):
    _shown = ("dim",)
    dim: Any

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim


class Softmax(_AlongDim):
    """exp(x) / sum(exp(x)) along `dim`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Softmax(dim=0)(torch.zeros(4)).tolist()
        [0.25, 0.25, 0.25, 0.25]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softmax(input, self.dim)


class LogSoftmax(_AlongDim):
    """The logarithm of softmax along `dim`.

    Example::

        >>> import gradpack as torch
        >>> round(torch.nn.LogSoftmax(dim=0)(torch.zeros(2))[0].item(), 4)
        -0.6931
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.log_softmax(input, self.dim)


class Softmin(_AlongDim):
    """Softmax of -x along `dim`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Softmin(dim=0)(torch.zeros(2)).tolist()
        [0.5, 0.5]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softmin(input, self.dim)


class Softmax2d(Module):
    """Softmax over the channels at each place of (N, C, H, W) or (C, H, W).

    Raises:
        ValueError: for other numbers of dimensions.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Softmax2d()(torch.zeros(2, 1, 1)).flatten().tolist()
        [0.5, 0.5]
    """

    def forward(self, input: Tensor) -> Tensor:
        if input.ndim not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.ndim}D instead")
        return F.softmax(input, -3)


class GLU(_AlongDim):
    """The first half of x along `dim`, times the sigmoid of the second.

    Source: Dauphin et al., 2016.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.GLU()(torch.tensor([3.0, 0.0])).tolist()
        [1.5]
    """

    def __init__(self, dim: int = -1) -> None:
        super().__init__(dim)

    def forward(self, input: Tensor) -> Tensor:
        return F.glu(input, self.dim)


give_all(globals())
