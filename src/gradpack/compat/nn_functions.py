"""Functions of `torch._C._nn` and `torch._VF` that take other arguments than those of `nn.functional`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..base.devices import device
from ..core.tensor import Tensor
from ..nn import functional
from ..nn._module import conversion
from ..nn.utils.rnn import pad_sequence as _pad_sequence
from ..ops.nn.resample import _resize
from ..ops.shape.join import cat

_REDUCTIONS = ("none", "mean", "sum")


def _parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
    """The device, dtype, `non_blocking` and memory format in the arguments of `to`."""
    place, kind = conversion._where(*args, **kwargs)
    return None if place is None else device(place), kind, bool(kwargs.get("non_blocking")), kwargs.get("memory_format")


def flatten_dense_tensors(tensors: Any) -> Tensor:
    """All elements of tensors, one after the other."""
    return cat([t.reshape(-1) for t in tensors])


def unflatten_dense_tensors(flat: Tensor, tensors: Any) -> tuple[Tensor, ...]:
    """The elements again in the shapes of `tensors`."""
    parts = flat.split([t.numel() for t in tensors])
    return tuple(part.view(t.shape) for part, t in zip(parts, tensors, strict=True))


def l1_loss(input: Tensor, target: Tensor, reduction: int = 1) -> Tensor:
    """`l1_loss` with the reduction as a number, as in all of these: 0 for none, 1 for the mean, 2 for the sum."""
    return functional.l1_loss(input, target, reduction=_REDUCTIONS[reduction])


def nll_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: int = 1, ignore_index: int = -100
) -> Tensor:
    """`nll_loss` with the reduction as a number."""
    return functional.nll_loss(input, target, weight, ignore_index=ignore_index, reduction=_REDUCTIONS[reduction])


nll_loss2d = nll_loss_nd = nll_loss


def cross_entropy_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: int = 1,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Tensor:
    """`cross_entropy` with the reduction as a number."""
    reduced = _REDUCTIONS[reduction]
    return functional.cross_entropy(
        input, target, weight, ignore_index=ignore_index, reduction=reduced, label_smoothing=label_smoothing
    )


def multi_margin_loss(
    input: Tensor, target: Tensor, p: int = 1, margin: float = 1.0, weight: Tensor | None = None, reduction: int = 1
) -> Tensor:
    """`multi_margin_loss` with the reduction as a number."""
    return functional.multi_margin_loss(input, target, p, margin, weight, reduction=_REDUCTIONS[reduction])


def max_pool2d_with_indices(input: Tensor, kernel_size: Any, *args: Any, **kwargs: Any) -> Any:
    """`max_pool2d` and its indices."""
    return functional.max_pool2d(input, kernel_size, *args, **kwargs, return_indices=True)


def max_pool3d_with_indices(input: Tensor, kernel_size: Any, *args: Any, **kwargs: Any) -> Any:
    """`max_pool3d` and its indices."""
    return functional.max_pool3d(input, kernel_size, *args, **kwargs, return_indices=True)


def adaptive_max_pool2d(input: Tensor, output_size: Any) -> Any:
    """The pooled values and their indices."""
    return functional.adaptive_max_pool2d(input, output_size, return_indices=True)


def adaptive_max_pool3d(input: Tensor, output_size: Any) -> Any:
    """The pooled values and their indices."""
    return functional.adaptive_max_pool3d(input, output_size, return_indices=True)


def _upsample(mode: str, input: Tensor, output_size: Any, *rest: Any, **options: Any) -> Any:
    """`interpolate`: `align_corners` follows the size where the mode has that, then scales, or a list of them."""
    names = () if mode.startswith("nearest") else ("align_corners",)
    options |= zip(names, rest, strict=False)
    scales = [*rest[len(names) :], *[v for k, v in options.items() if k.startswith("scale")]]
    factors: Any = scales[0] if scales and isinstance(scales[0], list | tuple) else scales
    if output_size is not None and (None in factors or len(factors) != input.ndim - 2):
        factors = None
    return _resize(input, output_size, factors, mode, bool(options.get("align_corners")), False)


upsample_nearest1d = upsample_nearest2d = upsample_nearest3d = partial(_upsample, "nearest")
_upsample_nearest_exact1d = _upsample_nearest_exact2d = _upsample_nearest_exact3d = partial(_upsample, "nearest-exact")
upsample_linear1d, upsample_bilinear2d = partial(_upsample, "linear"), partial(_upsample, "bilinear")
upsample_trilinear3d, upsample_bicubic2d = partial(_upsample, "trilinear"), partial(_upsample, "bicubic")


def im2col(input: Tensor, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Tensor:
    """`nn.functional.unfold`."""
    return functional.unfold(input, kernel_size, dilation, padding, stride)


def col2im(input: Tensor, output_size: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Tensor:
    """`nn.functional.fold`."""
    return functional.fold(input, output_size, kernel_size, dilation, padding, stride)


def pad_sequence(
    sequences: Any, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """`nn.utils.rnn.pad_sequence`."""
    return _pad_sequence(sequences, batch_first, padding_value, padding_side)


def unique_dim(
    input: Tensor, dim: int, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """The unique slices along a dimension, where each slice went, and how many there are of each."""
    found: tuple[Tensor, Tensor, Tensor] = input.unique(sorted, True, True, dim)
    return found


log_sigmoid: Callable[..., Tensor] = functional.logsigmoid
avg_pool2d, avg_pool3d = functional.avg_pool2d, functional.avg_pool3d
adaptive_avg_pool2d, adaptive_avg_pool3d = functional.adaptive_avg_pool2d, functional.adaptive_avg_pool3d
one_hot, pad, relu6 = functional.one_hot, functional.pad, functional.relu6
scaled_dot_product_attention = functional.scaled_dot_product_attention
