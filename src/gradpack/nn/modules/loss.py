"""Losses as modules, computed by the functions of `nn.functional`."""

from __future__ import annotations

import warnings
from math import prod
from typing import Any

from ...core.tensor import Tensor
from .. import _layers
from .. import functional as F
from .._layers import losses
from .._layers.losses import *
from .._public import adopt, give_all
from .linear import Linear
from .linear_cross_entropy_options import LinearCrossEntropyOptions

_Loss = losses._Loss
_WeightedLoss = losses._WeightedLoss


class MSELoss(_Loss):
    """The squared difference `(input - target) ** 2`.

    Args:
        size_average, reduce: older forms of `reduction`.
        reduction: `"mean"` of the losses, `"sum"`, or `"none"` for the loss of each element.

    Shape:
        input: any.
        target: of the same shape.
        output: without dimensions; the shape of the input for `reduction="none"`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.MSELoss()(torch.zeros(2), torch.tensor([1.0, 3.0])).item()
        5.0
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.mse_loss(input, target, reduction=self.reduction)


class L1Loss(_Loss):
    """The absolute difference `|input - target|`.

    Args:
        size_average, reduce: older forms of `reduction`.
        reduction: `"mean"` of the losses, `"sum"`, or `"none"` for the loss of each element.

    Shape:
        input: any.
        target: of the same shape.
        output: without dimensions; the shape of the input for `reduction="none"`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.L1Loss()(torch.zeros(2), torch.tensor([1.0, -3.0])).item()
        2.0
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.l1_loss(input, target, reduction=self.reduction)


class NLLLoss(_WeightedLoss):
    """The negative log likelihood of classes: `-weight[target] * input[target]`. Takes the output of `LogSoftmax`.

    Args:
        weight: a weight for each class, shape (C); None for ones.
        size_average, reduce: older forms of `reduction`.
        ignore_index: targets with this value count for nothing.
        reduction: `"mean"` divides the sum by that of the weights of the targets; `"sum"`, or `"none"`.

    Shape:
        input: (N, C), (C), or (N, C, *places).
        target: classes of dtype int64 or uint8: (N), (), or (N, *places).
        output: without dimensions; the shape of the classes for `reduction="none"`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.NLLLoss()(torch.tensor([[-1.0, -2.0]]), torch.tensor([1])).item()
        2.0
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.nll_loss(input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction)


class NLLLoss2d(NLLLoss):
    """An old name of `NLLLoss`, which takes images as well.

    Example::

        >>> import gradpack as torch
        >>> import warnings; warnings.simplefilter("ignore")
        >>> torch.nn.NLLLoss2d()(torch.tensor([[[[-1.0]], [[-2.0]]]]), torch.tensor([[[1]]])).item()
        2.0
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            "NLLLoss2d has been deprecated. Please use NLLLoss instead as a drop-in replacement and see "
            "https://pytorch.org/docs/main/nn.html#torch.nn.NLLLoss for more details.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__(*args, **kwargs)


class CrossEntropyLoss(_WeightedLoss):
    """The cross entropy between scores and classes, or probabilities of classes.

    For a class it is `-log(softmax(input))[target]`; for probabilities: `-sum(target * log(softmax(input)))`. The
    scores go in as they are: there is no `Softmax` before.

    Args:
        weight: a weight for each class, shape (C); None for ones.
        size_average, reduce: older forms of `reduction`.
        ignore_index: targets with this value count for nothing; for classes only.
        reduction: `"mean"` divides the sum by that of the weights of the targets, for probabilities by the number of
            examples; `"sum"`, or `"none"`.
        label_smoothing: how much of the probability of each target is spread over all classes: from 0 to 1.

    Shape:
        input: (N, C), (C), or (N, C, *places).
        target: classes of dtype int64 or uint8: (N), (), or (N, *places); or probabilities, of the shape of the input.
        output: without dimensions; the shape of the classes for `reduction="none"`.

    Example::

        >>> import gradpack as torch
        >>> scores = torch.tensor([[2.0, 0.0, 1.0], [0.0, 3.0, 0.0]], requires_grad=True)
        >>> loss = torch.nn.CrossEntropyLoss()(scores, torch.tensor([0, 1]))
        >>> loss.backward()
        >>> loss.item(), scores.grad[0]  # (softmax - one_hot) / 2
        (0.2512..., tensor([-0.1674,  0.0450,  0.1224]))
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.cross_entropy(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class BCELoss(_WeightedLoss):
    """The cross entropy of two classes: `-weight * (target * log(input) + (1 - target) * log(1 - input))`.

    Takes the output of `Sigmoid`; `BCEWithLogitsLoss` does both in one, and loses no digits.

    Args:
        weight: how much each element counts: of a shape that broadcasts.
        size_average, reduce: older forms of `reduction`.
        reduction: `"mean"` of the losses, `"sum"`, or `"none"` for the loss of each element.

    Shape:
        input: any.
        target: of the same shape.
        output: without dimensions; the shape of the input for `reduction="none"`.

    Example::

        >>> import gradpack as torch
        >>> round(torch.nn.BCELoss()(torch.tensor([0.5]), torch.tensor([1.0])).item(), 4)
        0.6931
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    """The cross entropy of two classes, by log-odds: `Sigmoid` and `BCELoss` in one, without overflow.

    Args:
        weight: how much each element counts: of a shape that broadcasts.
        size_average, reduce: older forms of `reduction`.
        reduction: `"mean"` of the losses, `"sum"`, or `"none"` for the loss of each element.
        pos_weight: how much the first class, target 1, counts beside the other: of a shape that broadcasts.

    Shape:
        input: any.
        target: of the same shape.
        output: without dimensions; the shape of the input for `reduction="none"`.

    Example::

        >>> import gradpack as torch
        >>> round(torch.nn.BCEWithLogitsLoss()(torch.tensor([0.0]), torch.tensor([1.0])).item(), 4)
        0.6931
    """

    weight: Tensor | None
    pos_weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(
            input, target, self.weight, pos_weight=self.pos_weight, reduction=self.reduction
        )


class SmoothL1Loss(_Loss):
    """`d * d / (2 * beta)` where `d` is less than `beta`, else `d - beta / 2`, for the distance `d = abs(input -
    target)`.

    Args:
        size_average, reduce: older forms of `reduction`.
        reduction: `"mean"` of the losses, `"sum"`, or `"none"` for the loss of each element.
        beta: the distance at which the loss turns from quadratic to linear; not negative.

    Shape:
        input: any.
        target: of the same shape.
        output: without dimensions; the shape of the input for `reduction="none"`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.SmoothL1Loss()(torch.tensor([3.0]), torch.tensor([0.0])).item()
        2.5
    """

    def __init__(
        self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean", beta: float = 1.0
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    """`d * d / 2` where `d` is at most `delta`, else `delta * (d - delta / 2)`, for the distance `d = abs(input -
    target)`.

    Args:
        reduction: `"mean"` of the losses, `"sum"`, or `"none"` for the loss of each element.
        delta: the distance at which the loss turns from quadratic to linear; positive.

    Shape:
        input: any.
        target: of the same shape.
        output: without dimensions; the shape of the input for `reduction="none"`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.HuberLoss(delta=2.0)(torch.tensor([3.0]), torch.tensor([0.0])).item()
        4.0
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        if not isinstance(delta, float | int):
            raise TypeError(f"delta must be a float or int, got: {type(delta)}")
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class SoftMarginLoss(_Loss):
    """`log(1 + exp(-target * input))`, for targets 1 and -1.

    Example::

        >>> import gradpack as torch
        >>> round(torch.nn.SoftMarginLoss()(torch.tensor([0.0]), torch.tensor([1.0])).item(), 4)
        0.6931
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.soft_margin_loss(input, target, reduction=self.reduction)


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


adopt(globals(), _layers.__name__)
give_all(globals())
