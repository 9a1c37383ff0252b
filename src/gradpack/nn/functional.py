"""`torch.nn.functional`: layers, activations and losses as functions."""

from __future__ import annotations

from typing import Any

from ..ops.activation import celu as _celu
from ..ops.activation import elu as _elu
from ..ops.activation import gelu as _gelu
from ..ops.activation import glu, hardshrink, logsigmoid, prelu, softplus, softshrink, softsign, tanhshrink
from ..ops.activation import hardsigmoid as _hardsigmoid
from ..ops.activation import hardswish as _hardswish
from ..ops.activation import hardtanh as _hardtanh
from ..ops.activation import leaky_relu as _leaky_relu
from ..ops.activation import mish as _mish
from ..ops.activation import relu as _relu
from ..ops.activation import selu as _selu
from ..ops.activation import silu as _silu
from ..ops.activation import threshold as _threshold
from ..ops.affine import bilinear, linear
from ..ops.attention import scaled_dot_product_attention
from ..ops.distance import pdist
from ..ops.dropout import alpha_dropout as _alpha_dropout
from ..ops.dropout import dropout as _dropout
from ..ops.embedding import embedding as _embedding
from ..ops.exponential import sigmoid
from ..ops.inplace_functions import celu_, elu_, hardtanh_, leaky_relu_, selu_, threshold_
from ..ops.loss import cross_entropy, l1_loss, mse_loss, nll_loss
from ..ops.normalize import layer_norm, rms_norm
from ..ops.softmax import log_softmax as _log_softmax
from ..ops.softmax import softmax as _softmax
from ..ops.trigonometry import tanh
from ..tensor.tensor import Tensor
from . import spatial as _spatial
from .spatial import *  # noqa: F403

__all__ = [
    "alpha_dropout",
    "bilinear",
    "celu",
    "celu_",
    "cross_entropy",
    "dropout",
    "elu",
    "elu_",
    "embedding",
    "gelu",
    "glu",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "leaky_relu_",
    "linear",
    "log_softmax",
    "logsigmoid",
    "mish",
    "mse_loss",
    "nll_loss",
    "normalize",
    "one_hot",
    "pdist",
    "prelu",
    "relu",
    "relu6",
    "rms_norm",
    "scaled_dot_product_attention",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "threshold_",
]
__all__ += _spatial.__all__


def _write_back(input: Tensor, function: Any, *args: Any, **kwargs: Any) -> Tensor:
    """The in-place form that `inplace=True` asks for."""
    from ..declare.inplace import inplace

    op = function.op
    return inplace(op, op.name + "_", op.bind((input, *args), kwargs))


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """`max(input, 0)`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.relu(torch.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """
    return _write_back(input, _relu) if inplace else _relu(input)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """`min(max(input, 0), 6)`."""
    return _write_back(input, _hardtanh, 0.0, 6.0) if inplace else _hardtanh(input, 0.0, 6.0)


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """`input * P(X <= input)` for a standard normal X; `approximate="tanh"` for the usual approximation."""
    return _gelu(input, approximate=approximate)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """`input * sigmoid(input)`."""
    return _write_back(input, _silu) if inplace else _silu(input)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """`input * tanh(softplus(input))`."""
    return _write_back(input, _mish) if inplace else _mish(input)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """`input`, and `negative_slope * input` below zero."""
    return _write_back(input, _leaky_relu, negative_slope) if inplace else _leaky_relu(input, negative_slope)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """`input` limited to an interval."""
    if min_val > max_val:
        raise ValueError(f"min_val cannot be greater than max_val: {min_val} > {max_val}")
    return _write_back(input, _hardtanh, min_val, max_val) if inplace else _hardtanh(input, min_val, max_val)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """`relu6(input + 3) / 6`."""
    return _write_back(input, _hardsigmoid) if inplace else _hardsigmoid(input)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """`input * relu6(input + 3) / 6`."""
    return _write_back(input, _hardswish) if inplace else _hardswish(input)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """`input` above the threshold, `value` elsewhere."""
    return _write_back(input, _threshold, threshold, value) if inplace else _threshold(input, threshold, value)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """`input` above zero, `alpha * (exp(input) - 1)` below."""
    return input.copy_(_elu(input, alpha)) if inplace else _elu(input, alpha)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """`max(0, input) + min(0, alpha * (exp(input / alpha) - 1))`."""
    return input.copy_(_celu(input, alpha)) if inplace else _celu(input, alpha)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """The self-normalising elu."""
    return input.copy_(_selu(input)) if inplace else _selu(input)


def _class_dim(name: str, ndim: int, stacklevel: int) -> int:
    """The dimension that softmax takes when none is named; doing so is deprecated in torch."""
    import warnings

    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=stacklevel,
    )
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """Exponentials divided by their sum along a dimension.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.softmax(torch.zeros(2), dim=0)
        tensor([0.5000, 0.5000])
    """
    dim = _class_dim("softmax", input.ndim, _stacklevel) if dim is None else dim
    return _softmax(input, dim, dtype=dtype)


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """`softmax(-input)`."""
    dim = _class_dim("softmin", input.ndim, _stacklevel) if dim is None else dim
    return _softmax(-input, dim, dtype=dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """The logarithm of softmax, without overflow.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.log_softmax(torch.zeros(2), dim=0)
        tensor([-0.6931, -0.6931])
    """
    dim = _class_dim("log_softmax", input.ndim, _stacklevel) if dim is None else dim
    return _log_softmax(input, dim, dtype=dtype)


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero each element with probability `p` and scale the others by `1 / (1 - p)`, when training.

    Raises:
        ValueError: unless 0 <= p <= 1.
    """
    return _dropout(input, p, training, inplace=inplace)


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout that keeps mean and variance of self-normalising activations."""
    return _alpha_dropout(input, p, training)


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Rows of `weight` at the indices in `input`. See `gradpack.ops.embedding.embedding`."""
    return _embedding(input, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse)


def normalize(input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12, out: Tensor | None = None) -> Tensor:
    """Divide by the norm along a dimension.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.normalize(torch.tensor([[3.0, 4.0]]))
        tensor([[0.6000, 0.8000]])
    """
    length = input.norm(p, dim, True).clamp_min(eps)
    return input / length


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """A one in the place of each class index.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.one_hot(torch.tensor([0, 2]))
        tensor([[1, 0, 0],
                [0, 0, 1]])
    """
    from ..base.dtypes import int64
    from ..ops.fill import arange

    if tensor.dtype is not int64:
        raise RuntimeError(f"one_hot is only applicable to index tensor of type LongTensor, got {tensor.dtype}")
    if not tensor.numel() and num_classes <= 0:
        raise RuntimeError("Can not infer total number of classes from empty tensor.")
    if tensor.numel() and int(tensor.min()) < 0:
        raise RuntimeError("Class values must be non-negative.")
    if num_classes == -1:
        num_classes = int(tensor.max()) + 1
    elif tensor.numel() and int(tensor.max()) >= num_classes:
        raise RuntimeError("Class values must be smaller than num_classes.")
    return (tensor.unsqueeze(-1) == arange(num_classes)).to(int64)
