"""`torch.nn.functional`: layers, activations and losses as functions."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from ..declare.generate.profiling import noted
from ..declare.signature.wrapper import open_doors as _open_doors
from ..ops.nn.affine import bilinear, linear
from ..ops.nn.attention import scaled_dot_product_attention
from ..ops.nn.embedding import embedding as _embedding
from ..ops.nn.embedding import one_hot_of_few
from ..ops.nn.normalize import layer_norm, rms_norm
from ..ops.pointwise.activation import hardshrink, logsigmoid, softplus, softshrink, softsign, tanhshrink
from ..ops.pointwise.division import div
from ..ops.pointwise.exponential import sigmoid
from ..ops.pointwise.gated import celu_, elu_, glu, hardtanh_, leaky_relu_, relu_, rrelu_, selu_, threshold_
from ..ops.pointwise.prelu import prelu
from ..ops.pointwise.trigonometry import tanh
from ..ops.reduce.distance import pdist
from . import spatial as _spatial
from .functional_activations import (
    celu,
    elu,
    gelu,
    hardsigmoid,
    hardswish,
    hardtanh,
    leaky_relu,
    log_softmax,
    mish,
    relu,
    relu6,
    selu,
    silu,
    softmax,
    softmin,
    threshold,
)
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


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Rows of `weight` at the indices in `input`. See `gradpack.ops.nn.embedding.embedding`.

    Example::

        >>> import gradpack as torch
        >>> rows = torch.tensor([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
        >>> torch.nn.functional.embedding(torch.tensor([2, 0]), rows)
        tensor([[4., 5.],
                [0., 1.]])
    """
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
    from ..declare.batching.batch_tensor import is_batched
    from ..ops.create.ranges import arange

    if input.dtype is not int64:
        raise RuntimeError(f"one_hot is only applicable to index tensor of type LongTensor, got {input.dtype}")
    if is_batched(input):
        if num_classes <= 0:
            raise RuntimeError(
                "When vmap-ing torch.nn.functional.one_hot, please provide an explicit positive num_classes argument."
            )
        return (input.unsqueeze(-1) == arange(num_classes, device=input.device)).to(int64)
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
    return (input.unsqueeze(-1) == arange(num_classes, device=input.device)).to(int64).contiguous()


def __getattr__(name: str) -> Any:
    """Torch has the gradients of convolutions here, too."""
    if name == "grad":
        from . import grad

        return grad
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


_open_doors(
    globals(),
    [n for n in __all__ if not n.endswith(("softmax", "softmin"))],  # these attribute the warning to their caller
    options="training align_corners log_target log_input ceil_mode count_include_pad sparse scale_grad_by_freq "
    "use_input_stats zero_infinity swap include_last_offset",
)
