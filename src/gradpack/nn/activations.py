"""Activations as modules, computed by the functions of `nn.functional`."""

from __future__ import annotations

from typing import ClassVar

from ..core.tensor import Tensor
from . import functional as F
from .module import Module


class _InPlace(Module):
    """Base class of the activations with an `inplace` option."""

    inplace: bool
    shown: ClassVar[tuple[str, ...]] = ()  # attributes to print, before `inplace`

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def extra_repr(self) -> str:
        parts = [f"{name}={getattr(self, name)}" for name in self.shown]
        return ", ".join([*parts, *["inplace=True"] * self.inplace])


class ReLU(_InPlace):
    """max(x, 0), element by element.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.ReLU()(torch.tensor([-1.0, 2.0])).tolist()
        [0.0, 2.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.relu(input, inplace=self.inplace)


class LeakyReLU(_InPlace):
    """x where x > 0, else negative_slope * x.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.LeakyReLU(0.5)(torch.tensor([-1.0, 2.0])).tolist()
        [-0.5, 2.0]
    """

    shown = ("negative_slope",)

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.negative_slope = negative_slope

    def forward(self, input: Tensor) -> Tensor:
        return F.leaky_relu(input, self.negative_slope, self.inplace)


class ELU(_InPlace):
    """x where x > 0, else alpha * (exp(x) - 1).

    Example::

        >>> import gradpack as torch
        >>> torch.nn.ELU()(torch.tensor([0.0, 2.0])).tolist()
        [0.0, 2.0]
    """

    shown = ("alpha",)

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha

    def forward(self, input: Tensor) -> Tensor:
        return F.elu(input, self.alpha, self.inplace)


class SiLU(_InPlace):
    """x * sigmoid(x), also known as swish.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.SiLU()(torch.zeros(2)).tolist()
        [0.0, 0.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.silu(input, inplace=self.inplace)


class GELU(Module):
    """x * Phi(x), where Phi is the distribution function of the normal distribution.

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


class Tanh(Module):
    """The hyperbolic tangent.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Tanh()(torch.zeros(2)).tolist()
        [0.0, 0.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        return input.tanh()  # attached by the operations


class Sigmoid(Module):
    """1 / (1 + exp(-x)).

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Sigmoid()(torch.zeros(2)).tolist()
        [0.5, 0.5]
    """

    def forward(self, input: Tensor) -> Tensor:
        return input.sigmoid()  # attached by the operations


class Softplus(Module):
    """log(1 + exp(beta * x)) / beta, and x itself where beta * x > threshold.

    Example::

        >>> import gradpack as torch
        >>> round(torch.nn.Softplus()(torch.tensor(0.0)).item(), 4)
        0.6931
    """

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        return f"beta={self.beta}, threshold={self.threshold}"


class _AlongDim(Module):
    dim: int | None

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


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
