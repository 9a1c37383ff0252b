"""Further activations as modules, computed by the functions of `nn.functional`."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

from ..core.tensor import Tensor
from ..ops.create.fill import full
from . import functional as F
from .activations import _AlongDim, _InPlace
from .module import Module
from .parameter import Parameter


class Hardtanh(_InPlace):
    """x limited to the interval from `min_val` to `max_val`.

    Raises:
        AssertionError: unless max_val > min_val.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Hardtanh()(torch.tensor([-3.0, 0.5])).tolist()
        [-1.0, 0.5]
    """

    shown: ClassVar[tuple[str, ...]] = ("min_val", "max_val")

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

    shown = ()

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)


class CELU(_InPlace):
    """x where x > 0, else alpha * (exp(x / alpha) - 1).

    Example::

        >>> import gradpack as torch
        >>> torch.nn.CELU(2.0)(torch.tensor([0.0, 2.0])).tolist()
        [0.0, 2.0]
    """

    shown = ("alpha",)

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha

    def forward(self, input: Tensor) -> Tensor:
        return F.celu(input, self.alpha, self.inplace)


class Threshold(_InPlace):
    """x where x > threshold, else `value`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Threshold(1.0, -5.0)(torch.tensor([0.0, 2.0])).tolist()
        [-5.0, 2.0]
    """

    shown = ("threshold", "value")

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
    """x * tanh(softplus(x)).

    Source: Misra, 2019.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Mish()(torch.zeros(1)).tolist()
        [0.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.mish(input, self.inplace)


class Hardswish(_InPlace):
    """x * ReLU6(x + 3) / 6.

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
    """ReLU6(x + 3) / 6.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Hardsigmoid()(torch.tensor([-3.0, 0.0, 3.0])).tolist()
        [0.0, 0.5, 1.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.hardsigmoid(input, self.inplace)

    def extra_repr(self) -> str:
        return ""


class _Shrink(Module):
    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def extra_repr(self) -> str:
        return str(self.lambd)


class Hardshrink(_Shrink):
    """x where |x| > lambd, else 0.

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


class LogSigmoid(Module):
    """log(1 / (1 + exp(-x))).

    Example::

        >>> import gradpack as torch
        >>> round(torch.nn.LogSigmoid()(torch.tensor(0.0)).item(), 4)
        -0.6931
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.logsigmoid(input)


class Softsign(Module):
    """x / (1 + |x|).

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Softsign()(torch.tensor([-1.0, 3.0])).tolist()
        [-0.5, 0.75]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softsign(input)


class Tanhshrink(Module):
    """x - tanh(x).

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Tanhshrink()(torch.zeros(1)).tolist()
        [0.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.tanhshrink(input)


class PReLU(Module):
    """x where x > 0, else weight * x, with a learned weight for all channels or for each (dimension 1).

    Example::

        >>> import gradpack as torch
        >>> torch.nn.PReLU()(torch.tensor([-1.0, 2.0])).tolist()
        [-0.25, 2.0]
    """

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

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class RReLU(_InPlace):
    """x where x > 0, else x times a random number between `lower` and `upper`; their mean when evaluating.

    Source: Xu et al., 2015.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.RReLU(0.25, 0.75).eval()(torch.tensor([-1.0, 2.0])).tolist()
        [-0.5, 2.0]
    """

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.lower = lower
        self.upper = upper

    def forward(self, input: Tensor) -> Tensor:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"lower={self.lower}, upper={self.upper}" + (", inplace=True" if self.inplace else "")


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


class Softmin(_AlongDim):
    """Softmax of -x along `dim`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Softmin(dim=0)(torch.zeros(2)).tolist()
        [0.5, 0.5]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softmin(input, self.dim)


class GLU(Module):
    """The first half of x along `dim`, times the sigmoid of the second.

    Source: Dauphin et al., 2016.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.GLU()(torch.tensor([3.0, 0.0])).tolist()
        [1.5]
    """

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"
