"""Layers that drop out elements or channels."""

from __future__ import annotations

from ...core.tensor import Tensor
from .. import functional as F
from .module import Module

__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"]


class _DropoutNd(Module):
    _shown = ("p", "inplace")

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace


class Dropout(_DropoutNd):
    """In training, sets each element to zero with probability `p`, and divides the others by `1 - p`. In evaluation,
    does nothing.

    Args:
        p: the probability of a zero.
        inplace: whether to write into the input.

    Shape:
        input: any, and so is the output.

    Raises:
        ValueError: unless p is between 0 and 1.

    Example::

        >>> import gradpack as torch
        >>> layer = torch.nn.Dropout(0.75)
        >>> layer(torch.ones(1000)).unique()
        tensor([0., 4.])
        >>> layer.eval()(torch.ones(3))
        tensor([1., 1., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """In training, sets whole channels of (N, C, L) or (C, L) to zero with probability `p`.

    Args:
        p: the probability of dropping a channel.

    Shape:
        input: (N, C, L) or (C, L), and so is the output.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Dropout1d(0.5).eval()(torch.ones(1, 2)).tolist()
        [[1.0, 1.0]]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """In training, sets whole channels of (N, C, H, W) to zero with probability `p`.

    Args:
        p: the probability of dropping a channel.

    Shape:
        input: (N, C, H, W), and so is the output.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Dropout2d(0.5).eval()(torch.ones(1, 2, 1, 1)).shape
        gradpack.Size([1, 2, 1, 1])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """In training, sets whole channels of (N, C, D, H, W) to zero with probability `p`.

    Args:
        p: the probability of dropping a channel.

    Shape:
        input: (N, C, D, H, W) or (C, D, H, W), and so is the output.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Dropout3d(0.5).eval()(torch.ones(1, 2, 1, 1, 1)).shape
        gradpack.Size([1, 2, 1, 1, 1])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout3d(input, self.p, self.training, self.inplace)


class FeatureAlphaDropout(_DropoutNd):
    """`AlphaDropout` of whole channels.

    Args:
        p: the probability of dropping a channel.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.FeatureAlphaDropout(0.5).eval()(torch.ones(1, 2)).tolist()
        [[1.0, 1.0]]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.feature_alpha_dropout(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """Dropout that keeps the mean and variance of `SELU` activations.

    Source: Klambauer et al., 2017.

    Args:
        p: the probability of dropping an element.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.AlphaDropout(0.5).eval()(torch.ones(3)).tolist()
        [1.0, 1.0, 1.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.alpha_dropout(input, self.p, self.training, self.inplace)
