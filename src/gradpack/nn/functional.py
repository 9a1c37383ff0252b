"""`torch.nn.functional`: layers, activations and losses as functions."""

from __future__ import annotations

from typing import Any

from ..declare.generate.profiling import noted
from ..declare.signature.wrapper import open_doors as _open_doors
from ..ops.conv.avg_pool import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
)
from ..ops.conv.convolution import (
    conv1d,
    conv2d,
    conv3d,
    conv_tbc,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
)
from ..ops.conv.fold import channel_shuffle, fold, native_channel_shuffle, pixel_shuffle, pixel_unshuffle, unfold
from ..ops.conv.pooling import (
    adaptive_max_pool1d,
    adaptive_max_pool1d_with_indices,
    adaptive_max_pool2d,
    adaptive_max_pool2d_with_indices,
    adaptive_max_pool3d,
    adaptive_max_pool3d_with_indices,
    fractional_max_pool2d,
    fractional_max_pool2d_with_indices,
    fractional_max_pool3d,
    fractional_max_pool3d_with_indices,
    lp_pool1d,
    lp_pool2d,
    lp_pool3d,
    max_pool1d,
    max_pool1d_with_indices,
    max_pool2d,
    max_pool2d_with_indices,
    max_pool3d,
    max_pool3d_with_indices,
    max_unpool1d,
    max_unpool2d,
    max_unpool3d,
)
from ..ops.nn.affine import bilinear, linear
from ..ops.nn.attention import scaled_dot_product_attention
from ..ops.nn.embedding import embedding as _embedding
from ..ops.nn.embedding import one_hot_of_few
from ..ops.nn.embedding_bag import _bags as embedding_bag
from ..ops.nn.grid_sample import affine_grid, grid_sample
from ..ops.nn.group_norm import local_response_norm
from ..ops.nn.interpolate import interpolate, upsample, upsample_bilinear, upsample_nearest
from ..ops.nn.normalize import layer_norm, rms_norm
from ..ops.nn.normalize_functional import batch_norm, group_norm, instance_norm
from ..ops.nn.padding import pad
from ..ops.pointwise.activation import hardshrink, logsigmoid, softplus, softshrink, softsign, tanhshrink
from ..ops.pointwise.division import div
from ..ops.pointwise.exponential import sigmoid
from ..ops.pointwise.gated import celu_, elu_, glu, hardtanh_, leaky_relu_, relu_, rrelu_, selu_, threshold_
from ..ops.pointwise.prelu import prelu
from ..ops.pointwise.trigonometry import tanh
from ..ops.reduce.distance import pdist
from ..tensor.tensor import Tensor
from ._functional import activations as _activations
from ._functional import attention as _attention
from ._functional import dropout as _dropout
from ._functional import linear_cross_entropy as _linear_cross_entropy
from ._functional import losses as _losses
from ._functional import margin_losses as _margin_losses
from ._functional.activations import *
from ._functional.attention import *
from ._functional.dropout import *
from ._functional.linear_cross_entropy import *
from ._functional.losses import *
from ._functional.margin_losses import *

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
    "affine_grid",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "bilinear",
    "celu_",
    "channel_shuffle",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_tbc",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "elu_",
    "embedding",
    "embedding_bag",
    "fold",
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
    "glu",
    "grid_sample",
    "group_norm",
    "hardshrink",
    "hardtanh_",
    "instance_norm",
    "interpolate",
    "layer_norm",
    "leaky_relu_",
    "linear",
    "local_response_norm",
    "logsigmoid",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
    "native_channel_shuffle",
    "normalize",
    "one_hot",
    "pad",
    "pdist",
    "pixel_shuffle",
    "pixel_unshuffle",
    "prelu",
    "relu_",
    "rms_norm",
    "rrelu_",
    "scaled_dot_product_attention",
    "selu_",
    "sigmoid",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold_",
    "unfold",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]
__all__ += _activations.__all__
__all__ += _attention.__all__
__all__ += _dropout.__all__
__all__ += _linear_cross_entropy.__all__
__all__ += _losses.__all__
__all__ += _margin_losses.__all__


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


_open_doors(
    globals(),
    [n for n in __all__ if not n.endswith(("softmax", "softmin"))],  # these attribute the warning to their caller
    options="training align_corners log_target log_input ceil_mode count_include_pad sparse scale_grad_by_freq "
    "use_input_stats zero_infinity swap include_last_offset",
)
