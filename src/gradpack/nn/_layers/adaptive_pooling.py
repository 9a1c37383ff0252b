"""Layers that pool: over windows at random places, by norms, and over even parts."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...ops.conv.spatial import as_tuple
from .. import functional as F
from .._public import give_all
from ..modules.module import Module


class _FractionalMaxPool(Module):
    function: str  # of `nn.functional`
    ndim: int

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        if self.ndim == 3 and min(as_tuple(kernel_size, 3)) <= 0:
            raise ValueError(f"kernel_size must be greater than 0, but got {kernel_size}")
        self.kernel_size = as_tuple(kernel_size, self.ndim)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else as_tuple(output_size, self.ndim)
        self.output_ratio = None if output_ratio is None else as_tuple(output_ratio, self.ndim)
        if output_size is None and output_ratio is None:
            raise ValueError(f"{type(self).__name__} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < r < 1 for r in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Tensor) -> Tensor:
        sizes = (self.kernel_size, self.output_size, self.output_ratio)
        return getattr(F, self.function)(input, *sizes, self.return_indices, _random_samples=self._random_samples)


class FractionalMaxPool2d(_FractionalMaxPool):
    """Maxima over windows at random places in the last two dimensions (arXiv 1412.6071).

    Example::

        >>> import gradpack as torch
        >>> torch.nn.FractionalMaxPool2d(2, output_ratio=(0.5, 0.5))(torch.ones(1, 8, 8)).shape
        gradpack.Size([1, 4, 4])
    """

    ndim, function = 2, "fractional_max_pool2d"


class FractionalMaxPool3d(_FractionalMaxPool):
    """Maxima over windows at random places in the last three dimensions.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.FractionalMaxPool3d(2, output_size=3)(torch.ones(1, 8, 8, 8)).shape
        gradpack.Size([1, 3, 3, 3])
    """

    ndim, function = 3, "fractional_max_pool3d"


class _LPPoolNd(Module):
    function: str  # of `nn.functional`
    _shown = ("norm_type", "kernel_size", "stride", "ceil_mode")

    def __init__(self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        return getattr(F, self.function)(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool1d(_LPPoolNd):
    """The root of the sum of powers over windows: `sum(x ** p) ** (1 / p)`.

    Args:
        norm_type: p, the exponent.
        kernel_size: the size of the windows.
        stride: the step between windows; None for their size.
        ceil_mode: take a last window that only begins inside.

    Shape:
        input: (batch, channels, length), or without batch.
        output: the same, with `floor((size - kernel_size) / stride + 1)` for each size.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.LPPool1d(2, 2)(torch.tensor([[3.0, 4.0]]))
        tensor([[5.]])
    """

    function = "lp_pool1d"


class LPPool2d(_LPPoolNd):
    """The root of the sum of powers over windows: `sum(x ** p) ** (1 / p)`.

    Args:
        norm_type: p, the exponent.
        kernel_size: the size of the windows.
        stride: the step between windows; None for their size.
        ceil_mode: take a last window that only begins inside.

    Shape:
        input: (batch, channels, height, width), or without batch.
        output: the same, with `floor((size - kernel_size) / stride + 1)` for each size.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.LPPool2d(2, (1, 2))(torch.tensor([[[3.0, 4.0]]]))
        tensor([[[5.]]])
    """

    function = "lp_pool2d"


class LPPool3d(_LPPoolNd):
    """The root of the sum of powers over windows: `sum(x ** p) ** (1 / p)`.

    Args:
        norm_type: p, the exponent.
        kernel_size: the size of the windows.
        stride: the step between windows; None for their size.
        ceil_mode: take a last window that only begins inside.

    Shape:
        input: (batch, channels, depth, height, width), or without batch.
        output: the same, with `floor((size - kernel_size) / stride + 1)` for each size.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.LPPool3d(1, 2)(torch.ones(1, 2, 2, 2)).item()
        8.0
    """

    function = "lp_pool3d"


class _AdaptiveMaxPoolNd(Module):
    function: str  # of `nn.functional`
    _shown = ("output_size",)

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices

    def forward(self, input: Tensor) -> Tensor:
        return getattr(F, self.function)(input, self.output_size, self.return_indices)


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """Maxima over the `output_size` parts that divide the last dimension evenly.

    Args:
        output_size: how many parts there are: an int.
        return_indices: return also where the maxima are, in the flattened dimensions.

    Shape:
        input: (batch, channels, length), or without batch.
        output: (batch, channels, *output_size).

    Example::

        >>> import gradpack as torch
        >>> torch.nn.AdaptiveMaxPool1d(2)(torch.tensor([[1.0, 3.0, 2.0, 0.0]]))
        tensor([[3., 2.]])
    """

    function = "adaptive_max_pool1d"


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """Maxima over even parts of the last two dimensions; None keeps a dimension as it is.

    Args:
        output_size: how many parts there are: an int for both, or a pair; None keeps a size.
        return_indices: return also where the maxima are, in the flattened dimensions.

    Shape:
        input: (batch, channels, height, width), or without batch.
        output: (batch, channels, *output_size).

    Example::

        >>> import gradpack as torch
        >>> torch.nn.AdaptiveMaxPool2d((None, 2))(torch.ones(1, 5, 5)).shape
        gradpack.Size([1, 5, 2])
    """

    function = "adaptive_max_pool2d"


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """Maxima over even parts of the last three dimensions.

    Args:
        output_size: how many parts there are: an int for all, or three; None keeps a size.
        return_indices: return also where the maxima are, in the flattened dimensions.

    Shape:
        input: (batch, channels, depth, height, width), or without batch.
        output: (batch, channels, *output_size).

    Example::

        >>> import gradpack as torch
        >>> torch.nn.AdaptiveMaxPool3d(2)(torch.ones(1, 5, 5, 5)).shape
        gradpack.Size([1, 2, 2, 2])
    """

    function = "adaptive_max_pool3d"


class _AdaptiveAvgPoolNd(Module):
    function: str  # of `nn.functional`
    _shown = ("output_size",)

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        return getattr(F, self.function)(input, self.output_size)


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """Averages over the `output_size` parts that divide the last dimension evenly.

    Args:
        output_size: how many parts there are: an int.

    Shape:
        input: (batch, channels, length), or without batch.
        output: (batch, channels, *output_size).

    Example::

        >>> import gradpack as torch
        >>> torch.nn.AdaptiveAvgPool1d(2)(torch.tensor([[1.0, 3.0, 2.0, 0.0]]))
        tensor([[2., 1.]])
    """

    function = "adaptive_avg_pool1d"


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """Averages over even parts of the last two dimensions; None keeps a dimension as it is.

    Args:
        output_size: how many parts there are: an int for both, or a pair; None keeps a size.

    Shape:
        input: (batch, channels, height, width), or without batch.
        output: (batch, channels, *output_size).

    Example::

        >>> import gradpack as torch
        >>> torch.nn.AdaptiveAvgPool2d(1)(torch.ones(2, 3, 5, 5)).shape
        gradpack.Size([2, 3, 1, 1])
    """

    function = "adaptive_avg_pool2d"


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """Averages over even parts of the last three dimensions.

    Args:
        output_size: how many parts there are: an int for all, or three; None keeps a size.

    Shape:
        input: (batch, channels, depth, height, width), or without batch.
        output: (batch, channels, *output_size).

    Example::

        >>> import gradpack as torch
        >>> torch.nn.AdaptiveAvgPool3d((1, 2, None))(torch.ones(1, 5, 5, 5)).shape
        gradpack.Size([1, 1, 2, 5])
    """

    function = "adaptive_avg_pool3d"


give_all(globals())
