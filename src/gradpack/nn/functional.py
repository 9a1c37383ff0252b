"""`torch.nn.functional`: layers, activations and losses as functions."""

from __future__ import annotations

from typing import Any

from ..base.callers import depth_of_user
from ..declare.door import open_doors as _open_doors
from ..declare.timed import noted
from ..ops.activation import celu as _celu
from ..ops.activation import elu as _elu
from ..ops.activation import gelu as _gelu
from ..ops.activation import hardshrink, logsigmoid, softplus, softshrink, softsign, tanhshrink
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
from ..ops.division import div
from ..ops.embedding import embedding as _embedding
from ..ops.embedding import one_hot_of_few
from ..ops.exponential import sigmoid
from ..ops.gated import celu_, elu_, glu, hardtanh_, leaky_relu_, relu_, rrelu_, selu_, threshold_
from ..ops.normalize import layer_norm, rms_norm
from ..ops.prelu import prelu
from ..ops.softmax import log_softmax as _log_softmax
from ..ops.softmax import softmax as _softmax
from ..ops.trigonometry import tanh
from ..tensor.tensor import Tensor
from . import spatial as _spatial
from .functional_attention import multi_head_attention_forward
from .functional_dropout import (
    alpha_dropout,
    dropout,
    dropout1d,
    dropout2d,
    dropout3d,
    feature_alpha_dropout,
    gumbel_softmax,
    rrelu,
)
from .functional_linear_loss import linear_cross_entropy
from .functional_losses import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cosine_similarity,
    cross_entropy,
    gaussian_nll_loss,
    hinge_embedding_loss,
    huber_loss,
    kl_div,
    l1_loss,
    mse_loss,
    multilabel_soft_margin_loss,
    nll_loss,
    pairwise_distance,
    poisson_nll_loss,
    smooth_l1_loss,
    soft_margin_loss,
)
from .functional_margins import (
    cosine_embedding_loss,
    ctc_loss,
    margin_ranking_loss,
    multi_margin_loss,
    multilabel_margin_loss,
    triplet_margin_loss,
    triplet_margin_with_distance_loss,
)
from .spatial import *  # noqa: F403

__all__ = [
    "alpha_dropout",
    "bilinear",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "celu_",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy",
    "ctc_loss",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "elu",
    "elu_",
    "embedding",
    "feature_alpha_dropout",
    "gaussian_nll_loss",
    "gelu",
    "glu",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "hinge_embedding_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "leaky_relu_",
    "linear",
    "linear_cross_entropy",
    "log_softmax",
    "logsigmoid",
    "margin_ranking_loss",
    "mish",
    "mse_loss",
    "multi_head_attention_forward",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
    "normalize",
    "one_hot",
    "pairwise_distance",
    "pdist",
    "poisson_nll_loss",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "rms_norm",
    "rrelu",
    "rrelu_",
    "scaled_dot_product_attention",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "soft_margin_loss",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "threshold_",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
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


def gelu(input: Tensor, approximate: str = "none", *, out: Tensor | None = None) -> Tensor:
    """`input * P(X <= input)` for a standard normal X; `approximate="tanh"` for the usual approximation."""
    return _gelu(input, approximate=approximate) if out is None else _gelu(input, approximate=approximate, out=out)


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
    return elu_(input, alpha) if inplace else _elu(input, alpha)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """`max(0, input) + min(0, alpha * (exp(input / alpha) - 1))`."""
    return celu_(input, alpha) if inplace else _celu(input, alpha)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """The self-normalising elu."""
    return selu_(input) if inplace else _selu(input)


def _class_dim(name: str, ndim: int, stacklevel: int) -> int:
    """The dimension that softmax takes when none is named; doing so is deprecated in torch."""
    import warnings

    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=depth_of_user() + stacklevel - 3,
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
    if out is None:
        return input / input.norm(p, dim, True).clamp_min(eps).expand_as(input)
    return div(input, input.norm(p, dim, True).clamp_min_(eps).expand_as(input), out=out)


@noted
def one_hot(input: Tensor, num_classes: int = -1) -> Tensor:
    """A one in the place of each class index.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.one_hot(torch.tensor([0, 2]))
        tensor([[1, 0, 0],
                [0, 0, 1]])
    """
    from ..base.dtypes import int64
    from ..declare.batched import is_batched
    from ..ops.ranges import arange

    if input.dtype is not int64:
        raise RuntimeError(f"one_hot is only applicable to index tensor of type LongTensor, got {input.dtype}")
    if is_batched(input):
        if num_classes <= 0:
            raise RuntimeError(
                "When vmap-ing torch.nn.functional.one_hot, please provide an explicit positive num_classes argument."
            )
        return (input.unsqueeze(-1) == arange(num_classes)).to(int64)
    made = one_hot_of_few(input, num_classes)
    if made is not None:
        return made
    if not input.numel() and num_classes <= 0:
        raise RuntimeError("Can not infer total number of classes from empty input.")
    if input.numel() and int(input.min()) < 0:
        raise RuntimeError("Class values must be non-negative.")
    if num_classes == -1:
        num_classes = int(input.max()) + 1
    elif input.numel() and int(input.max()) >= num_classes:
        raise RuntimeError("Class values must be smaller than num_classes.")
    return (input.unsqueeze(-1) == arange(num_classes)).to(int64).contiguous()


def __getattr__(name: str) -> Any:
    """Torch has the gradients of convolutions here, too."""
    if name == "grad":
        from . import grad

        return grad
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


_open_doors(
    globals(),
    [n for n in __all__ if not n.endswith(("softmax", "softmin"))],  # which count the frames to who called them
    options="training align_corners log_target log_input ceil_mode count_include_pad sparse scale_grad_by_freq "
    "use_input_stats zero_infinity swap include_last_offset",
)
