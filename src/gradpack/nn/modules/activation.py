"""Activations as modules, computed by the functions of `nn.functional`."""

from __future__ import annotations

import warnings
from typing import ClassVar

from ...core.tensor import Tensor
from .. import _layers
from .. import functional as F
from .._layers.activations import *
from .._layers.multihead_attention import *
from .._public import adopt, give_all
from .module import Module


class _InPlace(Module):
    """Base class of the activations with an `inplace` option."""

    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def extra_repr(self) -> str:
        return ", ".join([*filter(None, [super().extra_repr()]), *["inplace=True"] * self.inplace])


class ReLU(_InPlace):
    """`max(x, 0)`, element by element: the rectified linear unit.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.ReLU()(torch.tensor([-1.0, 2.0])).tolist()
        [0.0, 2.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.relu(input, inplace=self.inplace)


class LeakyReLU(_InPlace):
    """`x` where it is positive, else `negative_slope * x`.

    Args:
        negative_slope: the factor of negative elements.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.LeakyReLU(0.5)(torch.tensor([-1.0, 2.0])).tolist()
        [-0.5, 2.0]
    """

    _shown = ("negative_slope",)

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.negative_slope = negative_slope

    def forward(self, input: Tensor) -> Tensor:
        return F.leaky_relu(input, self.negative_slope, self.inplace)


class ELU(_InPlace):
    """`x` where it is positive, else `alpha * (exp(x) - 1)`.

    Args:
        alpha: the result approaches `-alpha` for large negative elements.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.ELU()(torch.tensor([0.0, 2.0])).tolist()
        [0.0, 2.0]
    """

    _shown = ("alpha",)

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha

    def forward(self, input: Tensor) -> Tensor:
        return F.elu(input, self.alpha, self.inplace)


class SiLU(_InPlace):
    """`x * sigmoid(x)`, also known as swish.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.SiLU()(torch.zeros(2)).tolist()
        [0.0, 0.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.silu(input, inplace=self.inplace)


class Hardtanh(_InPlace):
    """x limited to the interval from `min_val` to `max_val`.

    Args:
        min_val: the smallest value.
        max_val: the largest value.
        min_value, max_value: the older names of both, with a warning.

    Raises:
        AssertionError: unless max_val > min_val.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Hardtanh()(torch.tensor([-3.0, 0.5])).tolist()
        [-1.0, 0.5]
    """

    _shown: ClassVar[tuple[str, ...]] = ("min_val", "max_val")

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__(inplace)
        for old, value in (("min_value", min_value), ("max_value", max_value)):
            if value is not None:
                warnings.warn(f"keyword argument `{old}` is deprecated: it is called `{old[:7]}`", FutureWarning, 2)
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value
        if not self.max_val > self.min_val:
            raise AssertionError(f"max_val must be larger than min_val: {self.max_val} is not, for {self.min_val}")

    def forward(self, input: Tensor) -> Tensor:
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)


class ReLU6(Hardtanh):
    """x limited to the interval from 0 to 6.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.ReLU6()(torch.tensor([-3.0, 9.0])).tolist()
        [0.0, 6.0]
    """

    _shown = ()

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)


class CELU(_InPlace):
    """`x` where it is positive, else `alpha * (exp(x / alpha) - 1)`.

    Args:
        alpha: the result approaches `-alpha` for large negative elements; not 0.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.CELU(2.0)(torch.tensor([0.0, 2.0])).tolist()
        [0.0, 2.0]
    """

    _shown = ("alpha",)

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha

    def forward(self, input: Tensor) -> Tensor:
        return F.celu(input, self.alpha, self.inplace)


class Threshold(_InPlace):
    """`x` where it is above the threshold, else `value`.

    Args:
        threshold: the threshold.
        value: what replaces all that is not above it.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Threshold(1.0, -5.0)(torch.tensor([0.0, 2.0])).tolist()
        [-5.0, 2.0]
    """

    _shown = ("threshold", "value")

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.threshold = threshold
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.threshold(input, self.threshold, self.value, self.inplace)


class SELU(_InPlace):
    """The self-normalising ELU.

    Source: Klambauer et al., 2017.

    Example::

        >>> import gradpack as torch
        >>> round(torch.nn.SELU()(torch.tensor(1.0)).item(), 4)
        1.0507
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.selu(input, self.inplace)


class Mish(_InPlace):
    """`x * tanh(softplus(x))`.

    Source: Misra, 2019.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Mish()(torch.zeros(1)).tolist()
        [0.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.mish(input, self.inplace)


class Hardswish(_InPlace):
    """`x * relu6(x + 3) / 6`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Hardswish()(torch.tensor([0.0, 3.0])).tolist()
        [0.0, 3.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.hardswish(input, self.inplace)

    def extra_repr(self) -> str:
        return ""


class Hardsigmoid(_InPlace):
    """`relu6(x + 3) / 6`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Hardsigmoid()(torch.tensor([-3.0, 0.0, 3.0])).tolist()
        [0.0, 0.5, 1.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.hardsigmoid(input, self.inplace)

    def extra_repr(self) -> str:
        return ""


class RReLU(_InPlace):
    """`x` where x is positive, else x times a random number between `lower` and `upper`; times their mean when
    evaluating.

    Source: Xu et al., 2015.

    Args:
        lower, upper: the bounds of the slopes of negative elements.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.RReLU(0.25, 0.75).eval()(torch.tensor([-1.0, 2.0])).tolist()
        [-0.5, 2.0]
    """

    _shown = ("lower", "upper")

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.lower = lower
        self.upper = upper

    def forward(self, input: Tensor) -> Tensor:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)


adopt(globals(), _layers.__name__)
give_all(globals())
