"""Linear layers."""

from __future__ import annotations

import math
from typing import Any

from ...core.tensor import Tensor
from ...ops.create.fill import empty
from .. import functional as F
from .. import init
from ..parameter import Parameter
from .lazy import _LazyLayer
from .module import Module

__all__ = ["Bilinear", "Identity", "LazyLinear", "Linear"]


class Identity(Module):
    """Gives back its input. Takes any arguments, and ignores them.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Identity(54, unused=0.1)(torch.ones(1)).item()
        1.0
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        return input


class Linear(Module):
    """A linear layer: `x @ weight.T + bias`, for each vector in the last dimension.

    Args:
        in_features: the size of the last dimension of the input.
        out_features: the size of the last dimension of the output.
        bias: whether there is a bias that is learned.

    Shape:
        input: (..., in_features).
        output: (..., out_features).
        weight: (out_features, in_features): uniform between -1/sqrt(in_features) and 1/sqrt(in_features) at the start,
            as is the bias.
        bias: (out_features), or None.

    Example::

        >>> import gradpack as torch
        >>> layer = torch.nn.Linear(20, 30)
        >>> layer(torch.randn(128, 20)).shape
        gradpack.Size([128, 30])
        >>> layer.weight.shape
        gradpack.Size([30, 20])
    """

    weight: Tensor
    bias: Tensor  # None without one

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(empty((out_features, in_features), device=device, dtype=dtype))
        self.register_parameter("bias", Parameter(empty(out_features, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias anew."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        own: Any = self._parameters
        if "weight" in own and "bias" in own:  # saves two slow walks through __getattr__
            return F.linear(input, own["weight"], own["bias"])
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class NonDynamicallyQuantizableLinear(Linear):
    """`Linear` under the name that torch prints inside of `MultiheadAttention`."""


class Bilinear(Module):
    """`x1 @ weight[k] @ x2 + bias[k]`, for each feature k of the output.

    Args:
        in1_features: the number of features of the first input.
        in2_features: the number of features of the second input.
        out_features: the number of features of the output.
        bias: whether to add a learned bias.

    Shape:
        input1: (..., in1_features).
        input2: (..., in2_features), with the same dimensions before.
        output: (..., out_features).
        weight: (out_features, in1_features, in2_features), uniform between -1/sqrt(in1_features) and
            1/sqrt(in1_features) at the start, as is the bias.
        bias: (out_features), or None.

    Raises:
        ValueError: unless `in1_features` is positive.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Bilinear(2, 3, 4)(torch.ones(5, 2), torch.ones(5, 3)).shape
        gradpack.Size([5, 4])
    """

    weight: Tensor
    bias: Tensor | None

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got {in1_features}")
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        self.weight = Parameter(empty((out_features, in1_features, in2_features), device=device, dtype=dtype))
        self.register_parameter("bias", Parameter(empty(out_features, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias anew."""
        bound = 1 / math.sqrt(self.in1_features)
        for p in self.parameters():
            init.uniform_(p, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )


class LazyLinear(_LazyLayer, Linear):
    """A `Linear` whose `in_features` is the last size of the first input.

    Args:
        out_features: size of the last dimension of the result.
        bias: add one?

    Example::

        >>> import gradpack as torch
        >>> layer = torch.nn.LazyLinear(2)
        >>> layer(torch.ones(4, 3)).shape
        gradpack.Size([4, 2])
        >>> layer
        Linear(in_features=3, out_features=2, bias=True)
    """

    cls_to_become = Linear
    sized_by = "in_features"

    def __init__(self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(0, 0, False)
        self.out_features = out_features
        self._later(bias, device, dtype)

    def initialize_parameters(self, input: Tensor) -> None:
        """Weight and bias for the features of `input`."""
        features = input.shape[-1]
        self._materialize(features, weight=(self.out_features, features), bias=(self.out_features,))
