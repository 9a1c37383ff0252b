"""A linear layer and its cross entropy as one module."""

from __future__ import annotations

from math import prod
from typing import Any

from ..core.tensor import Tensor
from . import functional as F
from .functional_linear_loss import LinearCrossEntropyOptions
from .layers import Linear
from .losses import _WeightedLoss


class LinearCrossEntropyLoss(_WeightedLoss):
    """The cross entropy between `Linear` of the input and a target; with options without holding all logits.

    Args:
        in_features: the size of the last dimension of the input.
        num_classes: how many classes.
        out_features: more dimensions of the result, each place of which has a loss.
        bias: add one to the logits?
        weight: how much each class counts.
        ignore_index: targets with this value count for nothing.
        options: how to go through the batch in pieces.

    Example::

        >>> import gradpack as torch
        >>> loss = torch.nn.LinearCrossEntropyLoss(2, 4)
        >>> loss(torch.zeros(1, 2), torch.tensor([3]))
        tensor(1.3863, grad_fn=<NllLossBackward0>)
    """

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device: Any = None,
        dtype: Any = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: LinearCrossEntropyOptions | None = None,
    ) -> None:
        if weight is not None and tuple(weight.shape) != (num_classes,):
            raise RuntimeError(f"expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}")
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError(f"expected label_smoothing to be in range [0, 1], got {label_smoothing}")
        super().__init__(weight=weight, reduction=reduction)
        self.num_classes = num_classes
        self.out_features = out_features
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing
        self.linear = Linear(in_features, prod(out_features, start=num_classes), bias=bias, device=device, dtype=dtype)
        self.options = options

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        shape = (self.num_classes, *self.out_features)
        bias = self.linear.bias
        return F.linear_cross_entropy(
            input,
            self.linear.weight.reshape(*shape, self.linear.in_features),
            target,
            linear_bias=None if bias is None else bias.reshape(shape),
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            options=self.options,
        )

    def extra_repr(self) -> str:
        return (
            f"in_features={self.linear.in_features}, num_classes={self.num_classes}, "
            f"out_features={self.out_features}, bias={self.linear.bias is not None}, reduction={self.reduction}, "
            f"ignore_index={self.ignore_index}, label_smoothing={self.label_smoothing}, options={self.options}"
        )
