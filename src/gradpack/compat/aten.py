"""Operations of `torch.ops.aten` that gradpack has in other modules, and the gradients that torch gives names.

`aten_function` finds them for `ops.aten`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import fft, linalg, special
from ..core.tensor import Tensor
from ..func import vjp
from ..nn import functional as F
from ..ops import aten
from ..ops.nn.embedding_bag import embedding_bag
from . import nn_functions
from .as_torch.stand_ins.foreach import named

_MODULES = {"linalg_": linalg, "fft_": fft, "special_": special}
_IN_PLACE = frozenset("elu_ gelu_ hardsigmoid_ hardswish_ hardtanh_ leaky_relu_ mish_ relu6_ silu_".split())


def aten_function(name: str) -> Any:
    """Return the function that an operation of torch's calls, or None, for what is no operation here."""
    if name in _FUNCTIONS:
        return _FUNCTIONS[name]
    if name in _IN_PLACE:
        return _in_place(getattr(F, name[:-1]))
    for prefix, module in _MODULES.items():
        if name.startswith(prefix):
            return getattr(module, name[len(prefix) :], None)
    if name.startswith("_foreach_"):
        return named(name)
    found = vars(nn_functions).get(name)
    return found if callable(found) and name not in _HELPERS else None


_HELPERS = frozenset("_parse_to _pad_sequence _resize _upsample Any Callable Tensor cat device partial".split())


def _in_place(function: Any) -> Any:
    def run(self: Tensor, *args: Any) -> Tensor:
        return self.copy_(function(self.clone(), *args))

    return run


# -- gradients --


def _pulled(function: Callable[..., Any], grad_output: Tensor, *inputs: Tensor) -> Any:
    return vjp(function, *inputs)[1](grad_output)


def _by_input(name: str) -> Any:
    """Return the gradient of an operation for its first argument: it takes that of the result, and the arguments."""

    def backward(grad_output: Tensor, self: Tensor, *args: Any) -> Any:
        return _pulled(lambda x: getattr(aten, name)(x, *args), grad_output, self)[0]

    return backward


def _by_size(name: str) -> Any:
    """Return the gradient of an operation that is linear: it takes the size of the input in place of that."""

    def backward(grad_output: Tensor, input_size: Any, *args: Any) -> Any:
        return _pulled(lambda x: getattr(aten, name)(x, *args), grad_output, grad_output.new_zeros(input_size))[0]

    return backward


def _of_upsampling(name: str) -> Any:
    def backward(grad_output: Tensor, output_size: Any, input_size: Any, *args: Any) -> Any:
        zeros = grad_output.new_zeros(input_size)
        return _pulled(lambda x: getattr(aten, name)(x, output_size, *args), grad_output, zeros)[0]

    return backward


def _some(grads: Any, mask: Any) -> tuple[Any, ...]:
    return tuple(g if wanted else None for g, wanted in zip(grads, mask, strict=True))


def convolution_backward(
    grad_output: Tensor, input: Tensor, weight: Tensor, bias_sizes: Any, stride: Any, padding: Any, dilation: Any,
    transposed: bool, output_padding: Any, groups: int, output_mask: Any,
) -> Any:  # fmt: skip
    """The gradients of `convolution`, None where `output_mask` is False."""
    options = stride, padding, dilation, transposed, output_padding, groups
    found = _pulled(lambda x, w: aten.convolution(x, w, None, *options), grad_output, input, weight)
    return _some((*found, grad_output.sum([0, *range(2, grad_output.ndim)])), output_mask)


def native_layer_norm_backward(
    grad_out: Tensor, input: Tensor, normalized_shape: Any, mean: Tensor, rstd: Tensor, weight: Tensor | None,
    bias: Tensor | None, output_mask: Any,
) -> Any:  # fmt: skip
    """The gradients of `native_layer_norm`, None where `output_mask` is False."""
    each = (input - mean) * rstd
    g = grad_out if weight is None else grad_out * weight
    inner, outer = [*range(-len(normalized_shape), 0)], [*range(input.ndim - len(normalized_shape))]
    own = (g - g.mean(inner, True) - each * (g * each).mean(inner, True)) * rstd
    sums = [x.sum(outer) if outer else x for x in (grad_out * each, grad_out)]
    return _some((own, *sums), [output_mask[0], output_mask[1] and weight is not None, output_mask[2]])


def grid_sampler_2d_backward(
    grad_output: Tensor, input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool,
    output_mask: Any,
) -> Any:  # fmt: skip
    """The gradients of `grid_sampler_2d`, None where `output_mask` is False."""
    modes = interpolation_mode, padding_mode, align_corners
    return _some(_pulled(lambda x, y: aten.grid_sampler_2d(x, y, *modes), grad_output, input, grid), output_mask)


def _nll_backward(
    grad_output: Tensor, self: Tensor, target: Tensor, weight: Any, reduction: int, ignore: int, total_weight: Tensor
) -> Any:
    each = grad_output / total_weight if reduction == 1 else grad_output  # the sum of it
    return _by_input("nll_loss")(each, self, target, weight, 2 if reduction else 0, ignore)


def _adaptive_backward(grad_output: Tensor, self: Tensor) -> Any:
    pool = F.adaptive_avg_pool2d if self.ndim - grad_output.ndim == 0 and self.ndim < 5 else F.adaptive_avg_pool3d
    return _pulled(lambda x: pool(x, grad_output.shape[2:]), grad_output, self)[0]


def _embedding_bag(*args: Any, padding_idx: int = -1, **kwargs: Any) -> Any:
    """`embedding_bag`, with a number for no padding."""
    padded = args[8] if len(args) > 8 else padding_idx
    return embedding_bag(*args[:8], **kwargs | {"padding_idx": None if padded < 0 else padded})


_SIZED = "select trace"
_OF_INPUT = (
    "avg_pool2d avg_pool3d reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d replication_pad2d "
    "replication_pad3d hardswish silu mish hardsigmoid hardtanh softplus glu mse_loss smooth_l1_loss huber_loss "
    "soft_margin_loss binary_cross_entropy logit"
)
_RESIZED = (
    "upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_linear1d upsample_bilinear2d "
    "upsample_trilinear3d upsample_bicubic2d"
)
_FUNCTIONS: dict[str, Any] = {
    "_embedding_bag": _embedding_bag,
    "_local_scalar_dense": Tensor.item,
    "sym_numel": Tensor.numel,
    "sym_size": Tensor.size,
    "sym_stride": Tensor.stride,
    **{f"{name}_backward": _by_input(name) for name in _OF_INPUT.split()},
    **{f"{name}_backward": _by_size(name) for name in _SIZED.split()},
    **{f"{name}_backward": _of_upsampling(name) for name in _RESIZED.split()},
    **{f.__name__: f for f in (convolution_backward, native_layer_norm_backward, grid_sampler_2d_backward)},
    **dict.fromkeys(("nll_loss_backward", "nll_loss2d_backward"), _nll_backward),
    **dict.fromkeys(("_adaptive_avg_pool2d_backward", "_adaptive_avg_pool3d_backward"), _adaptive_backward),
}
