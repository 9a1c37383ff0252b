"""`torch.nn.functional`: layers, activations and losses as functions.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal, overload
from ..core.tensor import Tensor
from ..nn.modules.linear_cross_entropy_options import LinearCrossEntropyOptions
from ..ops.random.generator import Generator
from ..types import _bool, _dtype, _float, _int, _Scalar

from . import grad as grad
def adaptive_avg_pool1d(input: Tensor, output_size: _int | Sequence[_int]) -> Tensor:
    """Averages over the parts that divide the last dimension evenly."""
def adaptive_avg_pool2d(input: Tensor, output_size: _int | Sequence[_int]) -> Tensor:
    """Averages over the parts that divide the last two dimensions; None in `output_size` keeps one as it is."""
def adaptive_avg_pool3d(input: Tensor, output_size: _int | Sequence[_int]) -> Tensor:
    """Averages over the parts that divide the last three dimensions."""
@overload
def adaptive_max_pool1d(
    input: Tensor, output_size: _int | Sequence[_int], return_indices: Literal[False] = False
) -> Tensor: ...
@overload
def adaptive_max_pool1d(
    input: Tensor, output_size: _int | Sequence[_int], *, return_indices: Literal[True]
) -> tuple[Tensor, Tensor]: ...
@overload
def adaptive_max_pool1d(
    input: Tensor, output_size: _int | Sequence[_int], return_indices: _bool = False
) -> Any: ...
def adaptive_max_pool1d_with_indices(
    input: Tensor, output_size: _int | Sequence[_int], return_indices: _bool = False
) -> tuple[Tensor, Tensor]:
    """The maxima over the parts that divide the last dimension evenly, and their indices."""
@overload
def adaptive_max_pool2d(
    input: Tensor, output_size: _int | Sequence[_int], return_indices: Literal[False] = False
) -> Tensor: ...
@overload
def adaptive_max_pool2d(
    input: Tensor, output_size: _int | Sequence[_int], *, return_indices: Literal[True]
) -> tuple[Tensor, Tensor]: ...
@overload
def adaptive_max_pool2d(
    input: Tensor, output_size: _int | Sequence[_int], return_indices: _bool = False
) -> Any: ...
def adaptive_max_pool2d_with_indices(
    input: Tensor, output_size: _int | Sequence[_int], return_indices: _bool = False
) -> tuple[Tensor, Tensor]:
    """The maxima over the parts that divide the last two dimensions evenly, and their indices."""
@overload
def adaptive_max_pool3d(
    input: Tensor, output_size: _int | Sequence[_int], return_indices: Literal[False] = False
) -> Tensor: ...
@overload
def adaptive_max_pool3d(
    input: Tensor, output_size: _int | Sequence[_int], *, return_indices: Literal[True]
) -> tuple[Tensor, Tensor]: ...
@overload
def adaptive_max_pool3d(
    input: Tensor, output_size: _int | Sequence[_int], return_indices: _bool = False
) -> Any: ...
def adaptive_max_pool3d_with_indices(
    input: Tensor, output_size: _int | Sequence[_int], return_indices: _bool = False
) -> tuple[Tensor, Tensor]:
    """The maxima over the parts that divide the last three dimensions evenly, and their indices."""
def affine_grid(theta: Tensor, size: _int | Sequence[_int], align_corners: _bool | None = None) -> Tensor:
    """The grid for `grid_sample` that affine maps (batch, 2, 3), or (batch, 3, 4), of coordinates make."""
def alpha_dropout(
    input: Tensor, p: _float = 0.5, training: _bool = False, inplace: _bool = False
) -> Tensor:
    """Dropout that keeps mean and variance of self-normalising activations."""
def avg_pool1d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    padding: str | _int | Sequence[_int] = 0,
    ceil_mode: _bool = False,
    count_include_pad: _bool = True,
) -> Tensor:
    """Averages over windows along the last dimension."""
def avg_pool2d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    padding: str | _int | Sequence[_int] = 0,
    ceil_mode: _bool = False,
    count_include_pad: _bool = True,
    divisor_override: _int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Averages over windows in the last two dimensions: see `avg_pool1d`."""
def avg_pool3d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    padding: str | _int | Sequence[_int] = 0,
    ceil_mode: _bool = False,
    count_include_pad: _bool = True,
    divisor_override: _int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Averages over windows in the last three dimensions: see `avg_pool2d`."""
def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: _bool = False,
    momentum: _float = 0.1,
    eps: _float = 1e-05,
) -> Tensor:
    """Bring each channel, over batch and space, to mean 0 and variance 1, then scale and shift it."""
def bilinear(
    input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None, *, out: Tensor | None = None
) -> Tensor:
    """`input1 @ weight[k] @ input2 + bias[k]` for each output k."""
def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: str = 'mean',
) -> Tensor:
    """The cross entropy of two classes: `-weight * (target * log(input) + (1 - target) * log(1 - input))`."""
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: str = 'mean',
    pos_weight: Tensor | None = None,
) -> Tensor:
    """The cross entropy of two classes by log-odds: that of `sigmoid(input)`, without overflow."""
def celu(input: Tensor, alpha: _float = 1.0, inplace: _bool = False) -> Tensor:
    """`max(0, input) + min(0, alpha * (exp(input / alpha) - 1))`."""
def celu_(input: Tensor, alpha: _float = 1.0) -> Tensor:
    """In-place form of `celu`."""
def channel_shuffle(input: Tensor, groups: _int) -> Tensor:
    """The first channel of each of `groups` groups, then the second of each, and so on."""
def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = 1,
    padding: str | _int | Sequence[_int] = 0,
    dilation: _int | Sequence[_int] = 1,
    groups: _int = 1,
) -> Tensor:
    """Slide a kernel along one dimension of signals with channels: a convolution, as networks have it."""
def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = 1,
    padding: str | _int | Sequence[_int] = 0,
    dilation: _int | Sequence[_int] = 1,
    groups: _int = 1,
) -> Tensor:
    """Slide a kernel along height and width of signals with channels: a convolution, as networks have it."""
def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = 1,
    padding: str | _int | Sequence[_int] = 0,
    dilation: _int | Sequence[_int] = 1,
    groups: _int = 1,
) -> Tensor:
    """Slide a kernel along depth, height and width of signals with channels: a convolution, as networks have it."""
def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: _int = 0) -> Tensor:
    """A convolution along time of sequences whose first dimension is time."""
def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = 1,
    padding: str | _int | Sequence[_int] = 0,
    output_padding: _int | Sequence[_int] = 0,
    groups: _int = 1,
    dilation: _int | Sequence[_int] = 1,
) -> Tensor:
    """The transposed convolution along one dimension: the gradient of a convolution by its input."""
def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = 1,
    padding: str | _int | Sequence[_int] = 0,
    output_padding: _int | Sequence[_int] = 0,
    groups: _int = 1,
    dilation: _int | Sequence[_int] = 1,
) -> Tensor:
    """The transposed convolution along height and width: the gradient of a convolution by its input."""
def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: _int | Sequence[_int] = 1,
    padding: str | _int | Sequence[_int] = 0,
    output_padding: _int | Sequence[_int] = 0,
    groups: _int = 1,
    dilation: _int | Sequence[_int] = 1,
) -> Tensor:
    """The transposed convolution along depth, height and width: the gradient of a convolution by its input."""
def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: _float = 0,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: str = 'mean',
) -> Tensor:
    """`1 - cos` where `target` is 1, else `max(0, cos - margin)`: -1 is the other target."""
def cosine_similarity(x1: Tensor, x2: Tensor, dim: _int = 1, eps: _float = 1e-08) -> Tensor:
    """The cosine of the angle between vectors along a dimension: `x1 . x2 / (max(|x1|, eps) * max(|x2|, eps))`."""
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: _bool | None = None,
    ignore_index: _int = -100,
    reduce: _bool | None = None,
    reduction: str = 'mean',
    label_smoothing: _float = 0.0,
) -> Tensor:
    """The cross entropy between scores and classes, or probabilities of classes."""
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | _int | Sequence[_int],
    target_lengths: Tensor | _int | Sequence[_int],
    blank: _int = 0,
    reduction: str = 'mean',
    zero_infinity: _bool = False,
) -> Tensor:
    """The negative log likelihood of label sequences of unknown alignment: connectionist temporal classification."""
def dropout(input: Tensor, p: _float = 0.5, training: _bool = True, inplace: _bool = False) -> Tensor:
    """Zero each element with probability `p` and scale the others by `1 / (1 - p)`, when training."""
def dropout1d(input: Tensor, p: _float = 0.5, training: _bool = True, inplace: _bool = False) -> Tensor:
    """Zero whole channels with probability `p` and scale the others by `1 / (1 - p)`, when training."""
def dropout2d(input: Tensor, p: _float = 0.5, training: _bool = True, inplace: _bool = False) -> Tensor:
    """Zero whole channels with probability `p` and scale the others by `1 / (1 - p)`, when training."""
def dropout3d(input: Tensor, p: _float = 0.5, training: _bool = True, inplace: _bool = False) -> Tensor:
    """Zero whole channels with probability `p` and scale the others by `1 / (1 - p)`, when training."""
def elu(input: Tensor, alpha: _float = 1.0, inplace: _bool = False) -> Tensor:
    """`input` where it is positive, else `alpha * (exp(input) - 1)`."""
def elu_(input: Tensor, alpha: _float = 1.0) -> Tensor:
    """In-place form of `elu`."""
def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: _int | None = None,
    max_norm: _float | None = None,
    norm_type: _float = 2.0,
    scale_grad_by_freq: _bool = False,
    sparse: _bool = False,
) -> Tensor:
    """Rows of `weight` at the indices in `input`: vectors of words, for example."""
def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: _float | None = None,
    norm_type: _float = 2,
    scale_grad_by_freq: _bool = False,
    mode: str = 'mean',
    sparse: _bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: _bool = False,
    padding_idx: _int | None = None,
) -> Tensor:
    """Sums, means or maxima over bags of rows of `weight`."""
def feature_alpha_dropout(
    input: Tensor, p: _float = 0.5, training: _bool = False, inplace: _bool = False
) -> Tensor:
    """`alpha_dropout` of whole channels."""
def fold(
    input: Tensor,
    output_size: _int | Sequence[_int],
    kernel_size: _int | Sequence[_int],
    dilation: _int | Sequence[_int] = 1,
    padding: str | _int | Sequence[_int] = 0,
    stride: _int | Sequence[_int] = 1,
) -> Tensor:
    """Columns added back to images: the adjoint of `unfold`."""
@overload
def fractional_max_pool2d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    output_size: _int | Sequence[_int] | None = None,
    output_ratio: _float | Sequence[_float] | None = None,
    return_indices: Literal[False] = False,
    _random_samples: Tensor | None = None,
) -> Tensor: ...
@overload
def fractional_max_pool2d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    output_size: _int | Sequence[_int] | None = None,
    output_ratio: _float | Sequence[_float] | None = None,
    *,
    return_indices: Literal[True],
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]: ...
@overload
def fractional_max_pool2d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    output_size: _int | Sequence[_int] | None,
    output_ratio: _float | Sequence[_float] | None,
    return_indices: Literal[True],
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]: ...
@overload
def fractional_max_pool2d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    output_size: _int | Sequence[_int] | None = None,
    output_ratio: _float | Sequence[_float] | None = None,
    return_indices: _bool = False,
    _random_samples: Tensor | None = None,
) -> Any: ...
def fractional_max_pool2d_with_indices(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    output_size: _int | Sequence[_int] | None = None,
    output_ratio: _float | Sequence[_float] | None = None,
    return_indices: _bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """The maxima over windows at random places along the last two dimensions, and their indices."""
@overload
def fractional_max_pool3d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    output_size: _int | Sequence[_int] | None = None,
    output_ratio: _float | Sequence[_float] | None = None,
    return_indices: Literal[False] = False,
    _random_samples: Tensor | None = None,
) -> Tensor: ...
@overload
def fractional_max_pool3d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    output_size: _int | Sequence[_int] | None = None,
    output_ratio: _float | Sequence[_float] | None = None,
    *,
    return_indices: Literal[True],
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]: ...
@overload
def fractional_max_pool3d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    output_size: _int | Sequence[_int] | None,
    output_ratio: _float | Sequence[_float] | None,
    return_indices: Literal[True],
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]: ...
@overload
def fractional_max_pool3d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    output_size: _int | Sequence[_int] | None = None,
    output_ratio: _float | Sequence[_float] | None = None,
    return_indices: _bool = False,
    _random_samples: Tensor | None = None,
) -> Any: ...
def fractional_max_pool3d_with_indices(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    output_size: _int | Sequence[_int] | None = None,
    output_ratio: _float | Sequence[_float] | None = None,
    return_indices: _bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """The maxima over windows at random places along the last three dimensions, and their indices."""
def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | _float,
    full: _bool = False,
    eps: _float = 1e-06,
    reduction: str = 'mean',
) -> Tensor:
    """The negative log likelihood of targets under normal distributions."""
def gelu(input: Tensor, approximate: str = 'none', *, out: Tensor | None = None) -> Tensor:
    """`input * P(X <= input)` for a standard normal X: the Gaussian error linear unit."""
def glu(input: Tensor, dim: _int = -1) -> Tensor:
    """The first half of `input` along a dimension, times the sigmoid of the second: the gated linear unit."""
def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = 'bilinear',
    padding_mode: str = 'zeros',
    align_corners: _bool | None = None,
) -> Tensor:
    """Images (batch, channels, *space) read at the places that a grid names."""
def group_norm(
    input: Tensor,
    num_groups: _int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: _float = 1e-05,
) -> Tensor:
    """Bring each group of channels to mean 0 and variance 1, then scale and shift each channel."""
def grouped_mm(
    mat_a: Tensor,
    mat_b: Tensor,
    *,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: _dtype | None = None,
) -> Tensor:
    """Products of matrices in groups, which `offs` delimits in a matrix of two dimensions."""
def gumbel_softmax(
    logits: Tensor, tau: _float = 1, hard: _bool = False, eps: _float = 1e-10, dim: _int = -1
) -> Tensor:
    """A random point of the simplex near its corners, drawn so that gradients go through (arXiv 1611.01144)."""
def hardshrink(input: Tensor, lambd: _float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """`input` where its absolute value exceeds `lambd`, else `0`."""
def hardsigmoid(input: Tensor, inplace: _bool = False) -> Tensor:
    """`relu6(input + 3) / 6`."""
def hardswish(input: Tensor, inplace: _bool = False) -> Tensor:
    """`input * relu6(input + 3) / 6`."""
def hardtanh(
    input: Tensor, min_val: _float = -1.0, max_val: _float = 1.0, inplace: _bool = False
) -> Tensor:
    """`input` limited to the interval from `min_val` to `max_val`."""
def hardtanh_(input: Tensor, min_val: _float = -1.0, max_val: _float = 1.0) -> Tensor:
    """In-place form of `hardtanh`."""
def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: _float = 1.0,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: str = 'mean',
) -> Tensor:
    """`input` where `target` is 1, else `max(0, margin - input)`: -1 is the other target."""
def huber_loss(
    input: Tensor, target: Tensor, reduction: str = 'mean', delta: _float = 1.0, weight: Tensor | None = None
) -> Tensor:
    """`d * d / 2` where `d` is at most `delta`, else `delta * (d - delta / 2)`, for the distance `d = abs(input - target)`."""
def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: _bool = True,
    momentum: _float = 0.1,
    eps: _float = 1e-05,
) -> Tensor:
    """Bring each channel of each element of the batch, over space, to mean 0 and variance 1, then scale and shift it."""
def interpolate(
    input: Tensor,
    size: _int | Sequence[_int] | None = None,
    scale_factor: _float | Sequence[_float] | None = None,
    mode: str = 'nearest',
    align_corners: _bool | None = None,
    recompute_scale_factor: _bool | None = None,
    antialias: _bool = False,
) -> Tensor:
    """Resize the dimensions of space of (batch, channels, *space)."""
def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: str = 'mean',
    log_target: _bool = False,
) -> Tensor:
    """The Kullback-Leibler divergence of `target` from `input`: `target * (log(target) - input)`, for each element."""
def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: str = 'mean',
    weight: Tensor | None = None,
) -> Tensor:
    """The absolute difference `|input - target|`."""
def layer_norm(
    input: Tensor,
    normalized_shape: _int | Sequence[_int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: _float = 1e-05,
    cudnn_enable: _bool = True,
) -> Tensor:
    """Bring the last dimensions to mean 0 and variance 1, then scale and shift."""
def leaky_relu(input: Tensor, negative_slope: _float = 0.01, inplace: _bool = False) -> Tensor:
    """`input` where it is positive, else `negative_slope * input`."""
def leaky_relu_(input: Tensor, negative_slope: _float = 0.01) -> Tensor:
    """In-place form of `leaky_relu`."""
def linear(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, *, out: Tensor | None = None
) -> Tensor:
    """`input @ weight.T + bias`."""
def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = 'mean',
    ignore_index: _int | None = None,
    label_smoothing: _float = 0.0,
    options: LinearCrossEntropyOptions | None = None,
) -> Tensor:
    """`cross_entropy(linear(input, linear_weight, linear_bias), target)`; with options without holding all logits."""
def local_response_norm(
    input: Tensor, size: _int, alpha: _float = 0.0001, beta: _float = 0.75, k: _float = 1.0
) -> Tensor:
    """Divide by `(k + alpha * a) ** beta`, where a is the average square over `size` neighbouring channels."""
def log_softmax(
    input: Tensor, dim: _int | None = None, _stacklevel: _int = 3, dtype: _dtype | None = None
) -> Tensor:
    """`log(softmax(input))` along a dimension, computed so that nothing overflows or is lost."""
def logsigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`log(sigmoid(input))`, without overflow."""
def lp_pool1d(
    input: Tensor,
    norm_type: _int | _float,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    ceil_mode: _bool = False,
) -> Tensor:
    """The root of the sum of powers over windows along the last dimension: `sum(x ** p) ** (1 / p)`."""
def lp_pool2d(
    input: Tensor,
    norm_type: _int | _float,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    ceil_mode: _bool = False,
) -> Tensor:
    """The root of the sum of powers over windows along the last two dimensions: `sum(x ** p) ** (1 / p)`."""
def lp_pool3d(
    input: Tensor,
    norm_type: _int | _float,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    ceil_mode: _bool = False,
) -> Tensor:
    """The root of the sum of powers over windows along the last three dimensions: `sum(x ** p) ** (1 / p)`."""
def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: _float = 0,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: str = 'mean',
) -> Tensor:
    """`max(0, -target * (input1 - input2) + margin)`: target 1 wants `input1` larger, -1 `input2`."""
@overload
def max_pool1d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    padding: str | _int | Sequence[_int] = 0,
    dilation: _int | Sequence[_int] = 1,
    ceil_mode: _bool = False,
    return_indices: Literal[False] = False,
) -> Tensor: ...
@overload
def max_pool1d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    padding: str | _int | Sequence[_int] = 0,
    dilation: _int | Sequence[_int] = 1,
    ceil_mode: _bool = False,
    *,
    return_indices: Literal[True],
) -> tuple[Tensor, Tensor]: ...
@overload
def max_pool1d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None,
    padding: str | _int | Sequence[_int],
    dilation: _int | Sequence[_int],
    ceil_mode: _bool,
    return_indices: Literal[True],
) -> tuple[Tensor, Tensor]: ...
@overload
def max_pool1d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    padding: str | _int | Sequence[_int] = 0,
    dilation: _int | Sequence[_int] = 1,
    ceil_mode: _bool = False,
    return_indices: _bool = False,
) -> Any: ...
def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    padding: str | _int | Sequence[_int] = 0,
    dilation: _int | Sequence[_int] = 1,
    ceil_mode: _bool = False,
    return_indices: _bool = False,
) -> tuple[Tensor, Tensor]:
    """The maxima over windows along the last dimension, and where they are in the flattened dimensions."""
@overload
def max_pool2d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    padding: str | _int | Sequence[_int] = 0,
    dilation: _int | Sequence[_int] = 1,
    ceil_mode: _bool = False,
    return_indices: Literal[False] = False,
) -> Tensor: ...
@overload
def max_pool2d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    padding: str | _int | Sequence[_int] = 0,
    dilation: _int | Sequence[_int] = 1,
    ceil_mode: _bool = False,
    *,
    return_indices: Literal[True],
) -> tuple[Tensor, Tensor]: ...
@overload
def max_pool2d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None,
    padding: str | _int | Sequence[_int],
    dilation: _int | Sequence[_int],
    ceil_mode: _bool,
    return_indices: Literal[True],
) -> tuple[Tensor, Tensor]: ...
@overload
def max_pool2d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    padding: str | _int | Sequence[_int] = 0,
    dilation: _int | Sequence[_int] = 1,
    ceil_mode: _bool = False,
    return_indices: _bool = False,
) -> Any: ...
def max_pool2d_with_indices(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    padding: str | _int | Sequence[_int] = 0,
    dilation: _int | Sequence[_int] = 1,
    ceil_mode: _bool = False,
    return_indices: _bool = False,
) -> tuple[Tensor, Tensor]:
    """The maxima over windows along the last two dimensions, and where they are in the flattened dimensions."""
@overload
def max_pool3d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    padding: str | _int | Sequence[_int] = 0,
    dilation: _int | Sequence[_int] = 1,
    ceil_mode: _bool = False,
    return_indices: Literal[False] = False,
) -> Tensor: ...
@overload
def max_pool3d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    padding: str | _int | Sequence[_int] = 0,
    dilation: _int | Sequence[_int] = 1,
    ceil_mode: _bool = False,
    *,
    return_indices: Literal[True],
) -> tuple[Tensor, Tensor]: ...
@overload
def max_pool3d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None,
    padding: str | _int | Sequence[_int],
    dilation: _int | Sequence[_int],
    ceil_mode: _bool,
    return_indices: Literal[True],
) -> tuple[Tensor, Tensor]: ...
@overload
def max_pool3d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    padding: str | _int | Sequence[_int] = 0,
    dilation: _int | Sequence[_int] = 1,
    ceil_mode: _bool = False,
    return_indices: _bool = False,
) -> Any: ...
def max_pool3d_with_indices(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    padding: str | _int | Sequence[_int] = 0,
    dilation: _int | Sequence[_int] = 1,
    ceil_mode: _bool = False,
    return_indices: _bool = False,
) -> tuple[Tensor, Tensor]:
    """The maxima over windows along the last three dimensions, and where they are in the flattened dimensions."""
def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    padding: str | _int | Sequence[_int] = 0,
    output_size: _int | Sequence[_int] | None = None,
) -> Tensor:
    """Zeros with each element where `max_pool1d` found it."""
def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    padding: str | _int | Sequence[_int] = 0,
    output_size: _int | Sequence[_int] | None = None,
) -> Tensor:
    """Zeros with each element where `max_pool2d` found it."""
def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    padding: str | _int | Sequence[_int] = 0,
    output_size: _int | Sequence[_int] | None = None,
) -> Tensor:
    """Zeros with each element where `max_pool3d` found it."""
def mish(input: Tensor, inplace: _bool = False) -> Tensor:
    """`input * tanh(softplus(input))`."""
def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: str = 'mean',
    weight: Tensor | None = None,
) -> Tensor:
    """The squared difference `(input - target) ** 2`."""
def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: _int,
    num_heads: _int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: _bool,
    dropout_p: _float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: _bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: _bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: _bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: _bool = True,
    is_causal: _bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Attention of several heads, each on its part of the features, between layers of weights."""
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: _int = 1,
    margin: _float = 1.0,
    weight: Tensor | None = None,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: str = 'mean',
) -> Tensor:
    """The mean over the other classes of `max(0, margin - right + other) ** p`."""
def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: str = 'mean',
) -> Tensor:
    """The mean of `max(0, 1 - right + wrong)` over all pairs of a right class and a wrong one."""
def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: str = 'mean',
) -> Tensor:
    """The mean over classes of the cross entropy of each being there or not."""
def native_channel_shuffle(input: Tensor, groups: _int) -> Tensor:
    """The first channel of each of `groups` groups, then the second of each, and so on."""
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: _bool | None = None,
    ignore_index: _int = -100,
    reduce: _bool | None = None,
    reduction: str = 'mean',
) -> Tensor:
    """The negative log likelihood of classes: `-weight[target] * input[target]`."""
def normalize(
    input: Tensor,
    p: _float = 2.0,
    dim: _int | Sequence[_int] = 1,
    eps: _float = 1e-12,
    out: Tensor | None = None,
) -> Tensor:
    """Divide by the norm along a dimension: `input / max(norm(input), eps)`."""
def one_hot(input: Tensor, num_classes: _int = -1) -> Tensor:
    """Vectors of zeros, with a one at the place of each class."""
def pad(
    input: Tensor, pad: Sequence[_int], mode: str = 'constant', value: _float | None = None
) -> Tensor:
    """The tensor with more elements around it."""
def pairwise_distance(
    x1: Tensor, x2: Tensor, p: _float = 2, eps: _float = 1e-06, keepdim: _bool = False
) -> Tensor:
    """The p-norm of `x1 - x2 + eps` along the last dimension."""
def pdist(input: Tensor, p: _float = 2.0) -> Tensor:
    """The p-norm distances between each two rows of a matrix, in the order (0, 1), (0, 2), ..., (1, 2), ..."""
def pixel_shuffle(input: Tensor, upscale_factor: _int) -> Tensor:
    """Images `upscale_factor` times as high and wide, of that many squared fewer channels (arXiv 1609.05158)."""
def pixel_unshuffle(input: Tensor, downscale_factor: _int) -> Tensor:
    """The inverse of `pixel_shuffle`: images of fewer pixels and more channels."""
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: _bool = True,
    full: _bool = False,
    size_average: _bool | None = None,
    eps: _float = 1e-08,
    reduce: _bool | None = None,
    reduction: str = 'mean',
) -> Tensor:
    """The negative log likelihood of counts under Poisson distributions: `exp(input) - target * input`."""
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """`input` where it is positive, else `weight * input`, with one weight, or one for each channel (dimension 1)."""
def relu(input: Tensor, inplace: _bool = False) -> Tensor:
    """`max(input, 0)`: the rectified linear unit."""
def relu6(input: Tensor, inplace: _bool = False) -> Tensor:
    """`min(max(input, 0), 6)`."""
def relu_(input: Tensor) -> Tensor:
    """In-place form of `relu`."""
def rms_norm(
    input: Tensor,
    normalized_shape: _int | Sequence[_int],
    weight: Tensor | None = None,
    eps: _float | None = None,
) -> Tensor:
    """Divide by the root of the mean square over the last dimensions: `input / sqrt(mean(input ** 2) + eps) * weight`."""
def rrelu(
    input: Tensor,
    lower: _float = 0.125,
    upper: _float = 0.3333333333333333,
    training: _bool = False,
    inplace: _bool = False,
) -> Tensor:
    """`input` above zero; below it times a random number of `[lower, upper)` in training, else times their mean."""
def rrelu_(
    input: Tensor,
    lower: _float = 0.125,
    upper: _float = 0.3333333333333333,
    training: _bool = False,
    generator: Generator | None = None,
) -> Tensor:
    """In-place form of `rrelu`."""
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: _float = 0.0,
    is_causal: _bool = False,
    scale: _float | None = None,
    enable_gqa: _bool = False,
) -> Tensor:
    """`softmax(query @ key.T * scale + attn_mask) @ value`, batched."""
def selu(input: Tensor, inplace: _bool = False) -> Tensor:
    """The self-normalising elu."""
def selu_(input: Tensor) -> Tensor:
    """In-place form of `selu`."""
def sigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`1 / (1 + exp(-input))`."""
def silu(input: Tensor, inplace: _bool = False) -> Tensor:
    """`input * sigmoid(input)`."""
def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: str = 'mean',
    beta: _float = 1.0,
) -> Tensor:
    """`d * d / (2 * beta)` where `d` is less than `beta`, else `d - beta / 2`, for the distance `d = abs(input - target)`."""
def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: str = 'mean',
) -> Tensor:
    """`log(1 + exp(-target * input))`, for targets 1 and -1."""
def softmax(
    input: Tensor, dim: _int | None = None, _stacklevel: _int = 3, dtype: _dtype | None = None
) -> Tensor:
    """`exp(input) / sum(exp(input))` along a dimension: positive numbers that sum to 1."""
def softmin(
    input: Tensor, dim: _int | None = None, _stacklevel: _int = 3, dtype: _dtype | None = None
) -> Tensor:
    """`softmax(-input)`."""
def softplus(
    input: Tensor, beta: _Scalar = 1, threshold: _Scalar = 20, *, out: Tensor | None = None
) -> Tensor:
    """`log(1 + exp(beta * input)) / beta`, and `input` itself above the threshold."""
def softshrink(input: Tensor, lambd: _float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """`input` moved towards zero by `lambd`, zero within."""
def softsign(input: Tensor) -> Tensor:
    """`input / (1 + |input|)`."""
def tanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The hyperbolic tangent."""
def tanhshrink(input: Tensor) -> Tensor:
    """`input - tanh(input)`."""
def threshold(input: Tensor, threshold: _float, value: _float, inplace: _bool = False) -> Tensor:
    """`input` where it is above the threshold, else `value`."""
def threshold_(input: Tensor, threshold: _float, value: _float) -> Tensor:
    """In-place form of `threshold`."""
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: _float = 1.0,
    p: _float = 2,
    eps: _float = 1e-06,
    swap: _bool = False,
    size_average: _bool | None = None,
    reduce: _bool | None = None,
    reduction: str = 'mean',
) -> Tensor:
    """`max(0, |anchor - positive| - |anchor - negative| + margin)`."""
def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[..., Any] | None = None,
    margin: _float = 1.0,
    swap: _bool = False,
    reduction: str = 'mean',
) -> Tensor:
    """`max(0, d(anchor, positive) - d(anchor, negative) + margin)` for any distance `d`."""
def unfold(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    dilation: _int | Sequence[_int] = 1,
    padding: str | _int | Sequence[_int] = 0,
    stride: _int | Sequence[_int] = 1,
) -> Tensor:
    """The windows of images as columns."""
def upsample(
    input: Tensor,
    size: _int | Sequence[_int] | None = None,
    scale_factor: _float | Sequence[_float] | None = None,
    mode: str = 'nearest',
    align_corners: _bool | None = None,
) -> Tensor:
    """`interpolate` by its old name, with a warning that says so."""
def upsample_bilinear(
    input: Tensor,
    size: _int | Sequence[_int] | None = None,
    scale_factor: _float | Sequence[_float] | None = None,
) -> Tensor:
    """`interpolate(mode="bilinear", align_corners=True)` by an old name, with a warning that says so."""
def upsample_nearest(
    input: Tensor,
    size: _int | Sequence[_int] | None = None,
    scale_factor: _float | Sequence[_float] | None = None,
) -> Tensor:
    """`interpolate(mode="nearest")` by an old name, with a warning that says so."""

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
    "alpha_dropout",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "bilinear",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "celu_",
    "channel_shuffle",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_tbc",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
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
    "embedding_bag",
    "feature_alpha_dropout",
    "fold",
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
    "gaussian_nll_loss",
    "gelu",
    "glu",
    "grid_sample",
    "group_norm",
    "grouped_mm",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "hinge_embedding_loss",
    "huber_loss",
    "instance_norm",
    "interpolate",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "leaky_relu_",
    "linear",
    "linear_cross_entropy",
    "local_response_norm",
    "log_softmax",
    "logsigmoid",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "margin_ranking_loss",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
    "mish",
    "mse_loss",
    "multi_head_attention_forward",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "native_channel_shuffle",
    "nll_loss",
    "normalize",
    "one_hot",
    "pad",
    "pairwise_distance",
    "pdist",
    "pixel_shuffle",
    "pixel_unshuffle",
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
    "unfold",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]
