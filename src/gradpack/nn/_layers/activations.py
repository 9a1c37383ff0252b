"""Activations as modules that do not write in place, computed by the functions of `nn.functional`; softmax."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...ops.create.fill import full
from .. import functional as F
from .._public import give_all
from ..modules.module import Module
from ..parameter import Parameter


class Tanh(Module):
    """`tanh(x)`: the hyperbolic tangent.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Tanh()(torch.zeros(2)).tolist()
        [0.0, 0.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        return input.tanh()  # attached by the operations


class Sigmoid(Module):
    """`1 / (1 + exp(-x))`: the logistic function.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Sigmoid()(torch.zeros(2)).tolist()
        [0.5, 0.5]
    """

    def forward(self, input: Tensor) -> Tensor:
        return input.sigmoid()  # attached by the operations


class Softplus(Module):
    """`log(1 + exp(beta * x)) / beta`, and x itself where `beta * x` is above the threshold.

    Args:
        beta: how sharply the function bends: it approaches `ReLU` for large numbers.
        threshold: above this value of `beta * x` the result is x.

    Example::

        >>> import gradpack as torch
        >>> round(torch.nn.Softplus()(torch.tensor(0.0)).item(), 4)
        0.6931
    """

    _shown = ("beta", "threshold")

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        return F.softplus(input, self.beta, self.threshold)


class GELU(Module):
    """`x * Phi(x)`, with Phi the distribution function of the normal distribution.

    Args:
        approximate: `"none"`, or `"tanh"` for the approximation with a hyperbolic tangent.

    Example::

        >>> import gradpack as torch
        >>> round(torch.nn.GELU()(torch.tensor(1.0)).item(), 4)
        0.8413
    """

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class LogSigmoid(Module):
    """`log(1 / (1 + exp(-x)))`.

    Example::

        >>> import gradpack as torch
        >>> round(torch.nn.LogSigmoid()(torch.tensor(0.0)).item(), 4)
        -0.6931
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.logsigmoid(input)


class Softsign(Module):
    """`x / (1 + |x|)`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Softsign()(torch.tensor([-1.0, 3.0])).tolist()
        [-0.5, 0.75]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softsign(input)


class Tanhshrink(Module):
    """`x - tanh(x)`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Tanhshrink()(torch.zeros(1)).tolist()
        [0.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.tanhshrink(input)


class _Shrink(Module):
    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def extra_repr(self) -> str:
        return str(self.lambd)


class Hardshrink(_Shrink):
    """`x` where `|x|` > `lambd`, else `0`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Hardshrink()(torch.tensor([-3.0, 0.25])).tolist()
        [-3.0, 0.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.hardshrink(input, self.lambd)


class Softshrink(_Shrink):
    """x moved towards 0 by lambd, at most to it.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Softshrink()(torch.tensor([-3.0, 0.25])).tolist()
        [-2.5, 0.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softshrink(input, self.lambd)


class PReLU(Module):
    """`x` where it is positive, else `weight * x`, with one learned weight for all channels, or one for each (dimension
    1).

    Args:
        num_parameters: 1 for one weight for all channels, or the number of channels.
        init: the value of the weight at the start.

    Raises:
        RuntimeError: in a call, if there are neither one weight nor as many as channels.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.PReLU()(torch.tensor([-1.0, 2.0])).tolist()
        [-0.25, 2.0]
    """

    _shown = ("num_parameters",)
    weight: Tensor

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        self.weight = Parameter(full((num_parameters,), init, device=device, dtype=dtype))

    def reset_parameters(self) -> None:
        """Set the weight to its first value."""
        self.weight.data.fill_(self.init)  # attached by the operations

    def forward(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)


class _AlongDim(Module):
    _shown = ("dim",)
    dim: Any

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim


class Softmax(_AlongDim):
    """`exp(x) / sum(exp(x))` along a dimension: positive numbers that sum to 1.

    Args:
        dim: the dimension along which the exponentials are summed. None chooses one by the number of dimensions, with a
            warning.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Softmax(dim=0)(torch.zeros(4)).tolist()
        [0.25, 0.25, 0.25, 0.25]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softmax(input, self.dim)


class LogSoftmax(_AlongDim):
    """`log(softmax(x))` along a dimension, computed so that nothing overflows or is lost.

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
    """The first half of x along a dimension, times the sigmoid of the second: the gated linear unit.

    Source: Dauphin et al., 2016.

    Args:
        dim: the dimension that is halved.

    Shape:
        input: (*, 2 * n, *), with 2 * n at `dim`.
        output: (*, n, *).

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
