"""gradpack: the whole of `torch.autograd`, from scratch, over arrays that other libraries hold.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from collections.abc import Sequence
from typing import Any, Literal, NoReturn, SupportsInt, overload
from numpy import ndarray
from . import return_types
from .base.layouts import layout as _layout
from .base.memory_formats import memory_format as _memory_format
from .types import Device as _Device, _bool, _dtype, _float, _int, _Scalar

from .base.size import Size as Size
from .core.tensor import Tensor as Tensor
from .base.devices import device as device
from .base.dtypes import dtype as dtype
from math import e as e
from .autograd.grad_mode import enable_grad as enable_grad
from .base.info import finfo as finfo
from .base.devices import get_default_device as get_default_device
from .base.dtypes import get_default_dtype as get_default_dtype
from .base.threads import get_num_threads as get_num_threads
from .base.info import iinfo as iinfo
from math import inf as inf
from .autograd.grad_mode import inference_mode as inference_mode
from .autograd.grad_mode import is_grad_enabled as is_grad_enabled
from .autograd.grad_mode import is_inference_mode_enabled as is_inference_mode_enabled
from .base.layouts import layout as layout
from .base.memory_formats import memory_format as memory_format
from math import nan as nan
from .autograd.grad_mode import no_grad as no_grad
from math import pi as pi
from .base.devices import set_default_device as set_default_device
from .base.dtypes import set_default_dtype as set_default_dtype
from .autograd.grad_mode import set_grad_enabled as set_grad_enabled
from .base.threads import set_num_threads as set_num_threads
from .base.layouts import sparse_coo as sparse_coo
from .base.layouts import strided as strided
from . import accelerator as accelerator
from . import amp as amp
from . import array_api as array_api
from . import as_torch as as_torch
from . import autograd as autograd
from . import backends as backends
from . import cli as cli
from . import compiler as compiler
from . import cpu as cpu
from . import cuda as cuda
from . import distributed as distributed
from . import distributions as distributions
from . import export as export
from . import extend as extend
from . import fft as fft
from . import func as func
from . import functional as functional
from . import futures as futures
from . import fx as fx
from . import hub as hub
from . import jit as jit
from . import library as library
from . import linalg as linalg
from . import masked as masked
from . import mps as mps
from . import multiprocessing as multiprocessing
from . import nested as nested
from . import nn as nn
from . import ops as ops
from . import optim as optim
from . import overrides as overrides
from . import profiler as profiler
from . import random as random
from . import return_types as return_types
from . import saved as saved
from . import serialization as serialization
from . import signal as signal
from . import sparse as sparse
from . import special as special
from . import storage as storage
from . import testing as testing
from . import types as types
from . import utils as utils
from . import version as version
from . import xpu as xpu
BFloat16Tensor: type[Tensor]
BoolTensor: type[Tensor]
ByteTensor: type[Tensor]
CharTensor: type[Tensor]
DoubleTensor: type[Tensor]
FloatTensor: type[Tensor]
from .ops.random.generator import Generator as Generator
from .amp.grad_scaler import GradScaler as GradScaler
HalfTensor: type[Tensor]
IntTensor: type[Tensor]
LongTensor: type[Tensor]
from .base.errors import OutOfMemoryError as OutOfMemoryError
ShortTensor: type[Tensor]
def abs(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The absolute value; the gradient at 0 is 0."""
def abs_(self: Tensor) -> Tensor:
    """In-place form of `abs`."""
def absolute(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The absolute value; the gradient at 0 is 0."""
def absolute_(self: Tensor) -> Tensor:
    """In-place form of `abs`."""
def acos(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle whose cosine is `input`: NaN outside of [-1, 1]."""
def acos_(input: Tensor) -> Tensor:
    """In-place form of `acos`: writes the result into this tensor and returns it."""
def acosh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of `cosh`: NaN below 1."""
def acosh_(input: Tensor) -> Tensor:
    """In-place form of `acosh`: writes the result into this tensor and returns it."""
def adaptive_avg_pool1d(input: Tensor, output_size: _int | Sequence[_int]) -> Tensor:
    """Averages over the parts that divide the last dimension evenly."""
def adaptive_max_pool1d(input: Tensor, output_size: _int | Sequence[_int]) -> tuple[Tensor, Tensor]:
    """Maxima over the parts that divide one dimension evenly, and their indices."""
def add(
    input: Tensor | _Scalar, other: Tensor | _Scalar, *, alpha: _Scalar = 1, out: Tensor | None = None
) -> Tensor:
    """`input + alpha * other`."""
def add_(input: Tensor, other: Tensor | _Scalar, *, alpha: _Scalar = 1) -> Tensor:
    """In-place form of `add`: writes the result into this tensor and returns it."""
def addbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *,
    beta: _Scalar = 1,
    alpha: _Scalar = 1,
    out: Tensor | None = None,
) -> Tensor:
    """`beta * input + alpha * sum of (batch1 @ batch2)` over the batch."""
def addbmm_(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: _Scalar = 1, alpha: _Scalar = 1
) -> Tensor:
    """In-place form of `addbmm`: writes the result into this tensor and returns it."""
def addcdiv(
    input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: _int | _float = 1, out: Tensor | None = None
) -> Tensor:
    """`input + value * tensor1 / tensor2`."""
def addcdiv_(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: _int | _float = 1) -> Tensor:
    """In-place form of `addcdiv`: writes the result into this tensor and returns it."""
def addcmul(
    input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: _int | _float = 1, out: Tensor | None = None
) -> Tensor:
    """`input + value * tensor1 * tensor2`."""
def addcmul_(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: _int | _float = 1) -> Tensor:
    """In-place form of `addcmul`: writes the result into this tensor and returns it."""
def addmm(
    input: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    *,
    beta: _Scalar = 1,
    alpha: _Scalar = 1,
    out: Tensor | None = None,
) -> Tensor:
    """`beta * input + alpha * (mat1 @ mat2)`, `input` broadcast."""
def addmm_(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: _Scalar = 1, alpha: _Scalar = 1) -> Tensor:
    """In-place form of `addmm`: writes the result into this tensor and returns it."""
def addmv(
    input: Tensor,
    mat: Tensor,
    vec: Tensor,
    *,
    beta: _Scalar = 1,
    alpha: _Scalar = 1,
    out: Tensor | None = None,
) -> Tensor:
    """`beta * input + alpha * (mat @ vec)`."""
def addmv_(input: Tensor, mat: Tensor, vec: Tensor, *, beta: _Scalar = 1, alpha: _Scalar = 1) -> Tensor:
    """In-place form of `addmv`: writes the result into this tensor and returns it."""
def addr(
    input: Tensor,
    vec1: Tensor,
    vec2: Tensor,
    *,
    beta: _Scalar = 1,
    alpha: _Scalar = 1,
    out: Tensor | None = None,
) -> Tensor:
    """`beta * input + alpha * outer(vec1, vec2)`."""
def addr_(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: _Scalar = 1, alpha: _Scalar = 1) -> Tensor:
    """In-place form of `addr`: writes the result into this tensor and returns it."""
def adjoint(input: Tensor) -> Tensor:
    """Transpose the last two dimensions, and conjugate."""
def affine_grid_generator(theta: Tensor, size: _int | Sequence[_int], align_corners: _bool) -> Tensor:
    """The grid for `grid_sample` that affine maps of coordinates make: `nn.functional.affine_grid` without its checks."""
def alias_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of a tensor, row-major."""
def all(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Whether all elements are not zero: of all, or over some dimensions. True where there are none."""
def allclose(
    input: Tensor, other: Tensor, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False
) -> _bool:
    """Whether `isclose` holds for all elements."""
def alpha_dropout(input: Tensor, p: _float, train: _bool) -> Tensor:
    """Dropout that keeps mean and variance of self-normalising activations (arXiv 1706.02515)."""
def alpha_dropout_(input: Tensor, p: _float, train: _bool) -> Tensor:
    """In-place form of `alpha_dropout`."""
def amax(
    input: Tensor,
    dim: _int | Sequence[_int] | None = ...,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The maxima over some dimensions, or all. Equal ones share the gradient; NaN where there is any."""
def amin(
    input: Tensor,
    dim: _int | Sequence[_int] | None = ...,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The minima over some dimensions, or all: as `amax`."""
def aminmax(
    input: Tensor,
    *,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    out: Sequence[Tensor] | None = None,
) -> return_types.aminmax:
    """Minima and maxima, of all elements or along a dimension, as a named tuple (min, max)."""
def angle(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle of a complex number in radians; of a real one, 0 or pi."""
def any(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Whether any element is not zero: of all, or over some dimensions. NaN is not zero."""
def arange(
    start: Tensor | _Scalar | None = None,
    end: Tensor | _Scalar | None = None,
    step: Tensor | _Scalar = 1,
    *,
    out: Tensor | None = None,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    pin_memory: _bool = False,
) -> Tensor:
    """The numbers `start, start + step, ...` up to but excluding `end`; `arange(n)` starts at 0."""
def arccos(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle whose cosine is `input`: NaN outside of [-1, 1]."""
def arccos_(input: Tensor) -> Tensor:
    """In-place form of `acos`: writes the result into this tensor and returns it."""
def arccosh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of `cosh`: NaN below 1."""
def arccosh_(input: Tensor) -> Tensor:
    """In-place form of `acosh`: writes the result into this tensor and returns it."""
def arcsin(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle whose sine is `input`: NaN outside of [-1, 1]."""
def arcsin_(input: Tensor) -> Tensor:
    """In-place form of `asin`: writes the result into this tensor and returns it."""
def arcsinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of `sinh`."""
def arcsinh_(input: Tensor) -> Tensor:
    """In-place form of `asinh`: writes the result into this tensor and returns it."""
def arctan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle whose tangent is `input`."""
def arctan2(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle of the point with the coordinates `other` and `input`, in (-pi, pi]; the gradient at (0, 0) is 0."""
def arctan2_(input: Tensor, other: Tensor) -> Tensor:
    """In-place form of `atan2`: writes the result into this tensor and returns it."""
def arctan_(input: Tensor) -> Tensor:
    """In-place form of `atan`: writes the result into this tensor and returns it."""
def arctanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of `tanh`: NaN outside of [-1, 1]."""
def arctanh_(input: Tensor) -> Tensor:
    """In-place form of `atanh`: writes the result into this tensor and returns it."""
from .base.settings import are_deterministic_algorithms_enabled as are_deterministic_algorithms_enabled
def argmax(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The index of the largest element, the first of equal ones: flat (row-major), or along a dimension."""
def argmin(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The index of the smallest element: as `argmax`."""
def argsort(
    input: Tensor,
    dim: _int = -1,
    descending: _bool = False,
    *,
    stable: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """The indices that sort along a dimension."""
def argwhere(input: Tensor) -> Tensor:
    """The indices of the elements that are not zero, one row each."""
def as_strided(
    input: Tensor,
    size: _int | Sequence[_int],
    stride: _int | Sequence[_int],
    storage_offset: _int | None = None,
) -> Tensor:
    """A view with sizes, strides and offset given in elements of the storage."""
def as_strided_(
    input: Tensor,
    size: _int | Sequence[_int],
    stride: _int | Sequence[_int],
    storage_offset: _int | None = None,
) -> Tensor:
    """Give `input` another size, stride and offset in its storage, in place: `input.as_strided_(...)` as a function."""
def as_strided_copy(
    input: Tensor,
    size: _int | Sequence[_int],
    stride: _int | Sequence[_int],
    storage_offset: _int | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return a copy of the view that `as_strided` returns."""
def as_strided_scatter(
    input: Tensor,
    src: Tensor,
    size: _int | Sequence[_int],
    stride: _int | Sequence[_int],
    storage_offset: _int | None = None,
) -> Tensor:
    """A copy of `input` with `src` written at the elements that `as_strided` reads."""
def as_tensor(data: Any, dtype: _dtype | None = None, device: _Device | None = None) -> Tensor:
    """`data` as a tensor: itself, or a tensor that shares its memory, where that is possible; else a copy."""
def asarray(
    obj: Any,
    *,
    dtype: _dtype | None = None,
    device: _Device | None = None,
    copy: _bool | None = None,
    requires_grad: _bool | None = None,
) -> Tensor:
    """A tensor of the elements of `obj`, sharing its memory if possible, and its autograd history."""
def asin(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle whose sine is `input`: NaN outside of [-1, 1]."""
def asin_(input: Tensor) -> Tensor:
    """In-place form of `asin`: writes the result into this tensor and returns it."""
def asinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of `sinh`."""
def asinh_(input: Tensor) -> Tensor:
    """In-place form of `asinh`: writes the result into this tensor and returns it."""
def atan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle whose tangent is `input`."""
def atan2(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle of the point with the coordinates `other` and `input`, in (-pi, pi]; the gradient at (0, 0) is 0."""
def atan2_(input: Tensor, other: Tensor) -> Tensor:
    """In-place form of `atan2`: writes the result into this tensor and returns it."""
def atan_(input: Tensor) -> Tensor:
    """In-place form of `atan`: writes the result into this tensor and returns it."""
def atanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of `tanh`: NaN outside of [-1, 1]."""
def atanh_(input: Tensor) -> Tensor:
    """In-place form of `atanh`: writes the result into this tensor and returns it."""
@overload
def atleast_1d(tensors: Tensor, /) -> Tensor: ...  # type: ignore[overload-overlap]
@overload
def atleast_1d(*tensors: Tensor | Sequence[Tensor]) -> tuple[Tensor, ...]: ...
@overload
def atleast_2d(tensors: Tensor, /) -> Tensor: ...  # type: ignore[overload-overlap]
@overload
def atleast_2d(*tensors: Tensor | Sequence[Tensor]) -> tuple[Tensor, ...]: ...
@overload
def atleast_3d(tensors: Tensor, /) -> Tensor: ...  # type: ignore[overload-overlap]
@overload
def atleast_3d(*tensors: Tensor | Sequence[Tensor]) -> tuple[Tensor, ...]: ...
from .amp.autocast_mode import autocast as autocast
from .amp.autocast_mode import autocast_decrement_nesting as autocast_decrement_nesting
from .amp.autocast_mode import autocast_increment_nesting as autocast_increment_nesting
def avg_pool1d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] | None = None,
    padding: str | _int | Sequence[_int] = 0,
    ceil_mode: _bool = False,
    count_include_pad: _bool = True,
) -> Tensor:
    """Averages over windows along the last dimension."""
def baddbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *,
    beta: _Scalar = 1,
    alpha: _Scalar = 1,
    out: Tensor | None = None,
) -> Tensor:
    """`beta * input + alpha * (batch1 @ batch2)` for batches of matrices."""
def baddbmm_(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: _Scalar = 1, alpha: _Scalar = 1
) -> Tensor:
    """In-place form of `baddbmm`: writes the result into this tensor and returns it."""
def bartlett_window(
    window_length: _int,
    periodic: _bool = True,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _Device | None = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
) -> Tensor:
    """The Bartlett window, a triangle: `1 - abs(2 * k / n - 1)`."""
def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: _bool,
    momentum: _float,
    eps: _float,
    cudnn_enabled: _bool = True,
) -> Tensor:
    """Bring each channel, over batch and space, to mean 0 and variance 1, then scale and shift it."""
def bernoulli(
    input: Tensor,
    p: _int | _float | str | Tensor | None = None,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Zeros and ones, with the probabilities in `input` (or `p`) of a one. No gradient flows."""
def bernoulli_(self: Tensor, p: Tensor | _float = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Fill with zeros and ones, drawn independently, in place."""
bfloat16: _dtype
from .nn._functional.top_level import bilinear as bilinear
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: _int = 0,
) -> Tensor:
    """The cross entropy of two classes whose log-odds are `input`."""
def bincount(input: Tensor, weights: Tensor | None = None, minlength: _int = 0) -> Tensor:
    """How often each whole number occurs in a vector."""
def binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Tensor:
    """Draw binomial numbers: how often something of probability `prob` happens in `count` trials."""
def bitwise_and(input: Tensor | _Scalar, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
    """The bits that both have; for bool, `logical_and`."""
def bitwise_and_(input: Tensor, other: Tensor | _Scalar) -> Tensor:
    """In-place form of `bitwise_and`: writes the result into this tensor and returns it."""
def bitwise_left_shift(
    input: Tensor | _Scalar, other: Tensor | _Scalar, *, out: Tensor | None = None
) -> Tensor:
    """`input * 2 ** other`, dropping bits beyond the width of the dtype: 0 if all are shifted out."""
def bitwise_left_shift_(input: Tensor, other: Tensor | _Scalar) -> Tensor:
    """In-place form of `bitwise_left_shift`: writes the result into this tensor and returns it."""
def bitwise_not(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Bitwise complement; for bool, `logical_not`."""
def bitwise_not_(input: Tensor) -> Tensor:
    """In-place form of `bitwise_not`: writes the result into this tensor and returns it."""
def bitwise_or(input: Tensor | _Scalar, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
    """The bits that one of the two has; for bool, `logical_or`."""
def bitwise_or_(input: Tensor, other: Tensor | _Scalar) -> Tensor:
    """In-place form of `bitwise_or`: writes the result into this tensor and returns it."""
def bitwise_right_shift(
    input: Tensor | _Scalar, other: Tensor | _Scalar, *, out: Tensor | None = None
) -> Tensor:
    """`input / 2 ** other`, rounded down."""
def bitwise_right_shift_(input: Tensor, other: Tensor | _Scalar) -> Tensor:
    """In-place form of `bitwise_right_shift`: writes the result into this tensor and returns it."""
def bitwise_xor(input: Tensor | _Scalar, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
    """The bits in which the two differ; for bool, `logical_xor`."""
def bitwise_xor_(input: Tensor, other: Tensor | _Scalar) -> Tensor:
    """In-place form of `bitwise_xor`: writes the result into this tensor and returns it."""
def blackman_window(
    window_length: _int,
    periodic: _bool = True,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _Device | None = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
) -> Tensor:
    """The Blackman window: `0.42 - 0.5 * cos(2 * pi * k / n) + 0.08 * cos(4 * pi * k / n)`."""
def block_diag(*tensors: Tensor | Sequence[Tensor]) -> Tensor:
    """A matrix with the given ones along its diagonal; a vector counts as a row, a number as a 1x1 matrix."""
def bmm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The products of two batches of matrices, one by one. Nothing is broadcast: see `matmul`."""
bool: _dtype
def broadcast_shapes(*shapes: _int | Sequence[_int]) -> Size:
    """The shape that several shapes broadcast to."""
def broadcast_tensors(*tensors: Tensor | Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Expand tensors to their common shape; those that have it are returned as they are."""
def broadcast_to(input: Tensor, size: _int | Sequence[_int]) -> Tensor:
    """Broadcast to a shape without copying."""
def bucketize(
    input: Tensor,
    boundaries: Tensor,
    *,
    out_int32: _bool = False,
    right: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """The bucket of each value: how many boundaries lie before it."""
def can_cast(from_: _dtype, to: _dtype) -> _bool:
    """Return whether type promotion allows the conversion: not to a lower category, as from float to int."""
def cartesian_prod(*tensors: Tensor | Sequence[Tensor]) -> Tensor:
    """All ways to choose one element of each vector, one a row."""
def cat(
    tensors: Sequence[Tensor], dim: _int = 0, *, axis: _int | None = None, out: Tensor | None = None
) -> Tensor:
    """Join tensors along a dimension that they have; sizes agree in all others."""
def cdist(
    x1: Tensor, x2: Tensor, p: _float = 2.0, compute_mode: str = 'use_mm_for_euclid_dist_if_necessary'
) -> Tensor:
    """The p-norm distances between each row of `x1` and each of `x2`."""
cdouble: _dtype
def ceil(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The next whole number above."""
def ceil_(input: Tensor) -> Tensor:
    """In-place form of `ceil`: writes the result into this tensor and returns it."""
def celu(input: Tensor, alpha: _float = 1.0) -> Tensor:
    """`max(0, input) + min(0, alpha * (exp(input / alpha) - 1))`."""
def celu_(input: Tensor, alpha: _float = 1.0) -> Tensor:
    """In-place form of `celu`."""
cfloat: _dtype
def chain_matmul(*matrices: Tensor, out: Tensor | None = None) -> Tensor:
    """The product of matrices, in the order with the fewest multiplications: see `linalg.multi_dot`."""
chalf: _dtype
def channel_shuffle(input: Tensor, groups: _int) -> Tensor:
    """The first channel of each of `groups` groups, then the second of each, and so on."""
channels_last: _memory_format
channels_last_3d: _memory_format
def cholesky(input: Tensor, upper: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """The Cholesky factor of positive definite matrices: `linalg.cholesky`."""
def cholesky_inverse(input: Tensor, upper: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """The inverse of `A`, where `input` is the Cholesky factor of it."""
def cholesky_solve(
    input: Tensor, input2: Tensor, upper: _bool = False, *, out: Tensor | None = None
) -> Tensor:
    """`X` with `A @ X = input`, where `input2` is the Cholesky factor of `A`."""
def chunk(input: Tensor, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
    """Split along a dimension into at most `chunks` parts of equal size, of which the last may be smaller. Views."""
def clamp(
    input: Tensor,
    min: Tensor | _Scalar | None = None,
    max: Tensor | _Scalar | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """`input`, limited from below by `min` and from above by `max`; where they cross, `max`."""
def clamp_(
    self: Tensor, min: Tensor | _Scalar | None = None, max: Tensor | _Scalar | None = None
) -> Tensor:
    """In-place form of `clamp`: writes the result into this tensor and returns it."""
def clamp_max(input: Tensor, max: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
    """`input`, limited from above."""
def clamp_max_(input: Tensor, max: Tensor | _Scalar) -> Tensor:
    """In-place form of `clamp_max`: writes the result into this tensor and returns it."""
def clamp_min(input: Tensor, min: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
    """`input`, limited from below."""
def clamp_min_(input: Tensor, min: Tensor | _Scalar) -> Tensor:
    """In-place form of `clamp_min`: writes the result into this tensor and returns it."""
from .amp.autocast_mode import clear_autocast_cache as clear_autocast_cache
def clip(
    input: Tensor,
    min: Tensor | _Scalar | None = None,
    max: Tensor | _Scalar | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """`input`, limited from below by `min` and from above by `max`; where they cross, `max`."""
def clip_(
    self: Tensor, min: Tensor | _Scalar | None = None, max: Tensor | _Scalar | None = None
) -> Tensor:
    """In-place form of `clamp`: writes the result into this tensor and returns it."""
def clone(
    input: Tensor, *, memory_format: _memory_format | None = None, out: Tensor | None = None
) -> Tensor:
    """A copy with its own storage; differentiable."""
def column_stack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Join along the second dimension, vectors as columns."""
def combinations(input: Tensor, r: _int = 2, with_replacement: _bool = False) -> Tensor:
    """All ways to choose `r` elements of a vector, in the order of their places, one a row."""
from .compiler import compile as compile
from .compat.top_level import compiled_with_cxx11_abi as compiled_with_cxx11_abi
def complex(real: Tensor, imag: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`real + 1j * imag`, of the complex dtype with their real dtype."""
complex128: _dtype
complex32: _dtype
complex64: _dtype
def concat(
    tensors: Sequence[Tensor], dim: _int = 0, *, axis: _int | None = None, out: Tensor | None = None
) -> Tensor:
    """Join tensors along a dimension that they have; sizes agree in all others."""
def concatenate(
    tensors: Sequence[Tensor], dim: _int = 0, *, axis: _int | None = None, out: Tensor | None = None
) -> Tensor:
    """Join tensors along a dimension that they have; sizes agree in all others."""
def conj(input: Tensor) -> Tensor:
    """The complex conjugate; a real tensor itself."""
def conj_physical(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The complex conjugate, in memory of its own; a real tensor itself."""
def conj_physical_(input: Tensor) -> Tensor:
    """In-place form of `conj_physical`: writes the result into this tensor and returns it."""
def constant_pad_nd(input: Tensor, pad: Sequence[_int], value: Tensor | _Scalar = 0) -> Tensor:
    """The tensor with a constant around it."""
contiguous_format: _memory_format
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
def convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: _int | Sequence[_int],
    padding: str | _int | Sequence[_int],
    dilation: _int | Sequence[_int],
    transposed: _bool,
    output_padding: _int | Sequence[_int],
    groups: _int,
) -> Tensor:
    """A convolution in as many dimensions as `weight` has beyond two, or the transposed one."""
def copysign(input: Tensor, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
    """The absolute value of `input` with the sign of `other`, which -0.0 has too."""
def copysign_(input: Tensor, other: Tensor | _Scalar) -> Tensor:
    """In-place form of `copysign`: writes the result into this tensor and returns it."""
def corrcoef(input: Tensor) -> Tensor:
    """The matrix of correlation coefficients of variables (rows), from observations (columns)."""
def cos(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The cosine of an angle in radians."""
def cos_(input: Tensor) -> Tensor:
    """In-place form of `cos`: writes the result into this tensor and returns it."""
def cosh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The hyperbolic cosine."""
def cosh_(input: Tensor) -> Tensor:
    """In-place form of `cosh`: writes the result into this tensor and returns it."""
def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: _float = 0.0, reduction: _int = 0
) -> Tensor:
    """`1 - cos` for pairs with target 1, `max(0, cos - margin)` for those with -1."""
def cosine_similarity(x1: Tensor, x2: Tensor, dim: _int = 1, eps: _float = 1e-08) -> Tensor:
    """The cosine of the angle between vectors along a dimension: `x1 . x2 / (max(|x1|, eps) * max(|x2|, eps))`."""
def count_nonzero(
    input: Tensor, dim: _int | Sequence[_int] | None = None, *, out: Tensor | None = None
) -> Tensor:
    """How many elements are not zero: of all, or over some dimensions."""
def cov(
    input: Tensor, *, correction: _int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None
) -> Tensor:
    """The covariance matrix of variables (rows), from observations (columns)."""
def cross(
    input: Tensor, other: Tensor, dim: _int | Sequence[_int] | None = None, *, out: Tensor | None = None
) -> Tensor:
    """The cross product along `dim`, by default the first dimension of size 3."""
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | _int | Sequence[_int],
    target_lengths: Tensor | _int | Sequence[_int],
    blank: _int = 0,
    reduction: _int = 0,
    zero_infinity: _bool = False,
) -> Tensor:
    """The negative log likelihood of label sequences, each summed over all its alignments with the input."""
def cummax(input: Tensor, dim: _int, *, out: Sequence[Tensor] | None = None) -> return_types.cummax:
    """The cumulative maximum and its index, the last of equal ones, as a named tuple (values, indices)."""
def cummin(input: Tensor, dim: _int, *, out: Sequence[Tensor] | None = None) -> return_types.cummin:
    """The cumulative minimum and its index: as `cummax`."""
def cumprod(
    input: Tensor, dim: _int, *, dtype: _dtype | None = None, out: Tensor | None = None
) -> Tensor:
    """The cumulative product along a dimension. The gradient is exact where elements are zero."""
def cumprod_(self: Tensor, dim: _int | Sequence[_int], *, dtype: _dtype | None = None) -> Tensor:
    """In-place form of `cumprod`."""
def cumsum(input: Tensor, dim: _int, *, dtype: _dtype | None = None, out: Tensor | None = None) -> Tensor:
    """The cumulative sum along a dimension."""
def cumsum_(self: Tensor, dim: _int | Sequence[_int], *, dtype: _dtype | None = None) -> Tensor:
    """In-place form of `cumsum`."""
def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Any = None, dim: _int = -1) -> Tensor:
    """The integrals up to each sample but the first, by the trapezoid rule: see `trapezoid`."""
from .ops.random.generator import default_generator as default_generator
def deg2rad(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Degrees as radians."""
def deg2rad_(input: Tensor) -> Tensor:
    """In-place form of `deg2rad`: writes the result into this tensor and returns it."""
def det(input: Tensor) -> Tensor:
    """The determinant: `linalg.det`."""
def detach(input: Tensor) -> Tensor:
    """A view of the same storage, detached from the graph."""
def detach_(input: Tensor) -> Tensor:
    """Take `input` out of the graph that made it, in place, and return it: `input.detach_()` as a function."""
def detach_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A copy of a tensor. As in torch it is not detached, despite its name: gradients flow to `input`."""
def diag(input: Tensor, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """The diagonal of a matrix, as a copy; or the matrix with a vector on its diagonal."""
def diag_embed(
    input: Tensor, offset: _int = 0, dim1: _int = -2, dim2: _int = -1, *, out: Tensor | None = None
) -> Tensor:
    """Matrices with the last dimension of `input` on a diagonal, zeros elsewhere."""
def diagflat(input: Tensor, offset: _int = 0) -> Tensor:
    """A matrix with all elements of `input` on a diagonal."""
def diagonal(input: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
    """A diagonal with respect to two dimensions, as the last dimension of a view."""
def diagonal_copy(
    input: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1, *, out: Tensor | None = None
) -> Tensor:
    """Return a copy of the view that `diagonal` returns."""
def diagonal_scatter(
    input: Tensor, src: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1, *, out: Tensor | None = None
) -> Tensor:
    """`input` with `src` on the diagonal that `diagonal(input, offset, dim1, dim2)` reads."""
def diff(
    input: Tensor,
    n: _int = 1,
    dim: _int | Sequence[_int] | None = None,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
    *,
    out: Tensor | None = None,
    axis: _int | None = None,
) -> Tensor:
    """Each element minus the one before it, along a dimension, `n` times over. For bool, whether they differ."""
def digamma(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The derivative of `lgamma`. Needs SciPy (the extra `special`)."""
def digamma_(input: Tensor) -> Tensor:
    """In-place form of `digamma`: writes the result into this tensor and returns it."""
def dist(input: Tensor, other: Tensor, p: _float = 2, *, out: Tensor | None = None) -> Tensor:
    """The p-norm of `input - other`, broadcast, over all elements."""
def div(
    input: Tensor, other: Tensor, *, rounding_mode: str | None = None, out: Tensor | None = None
) -> Tensor:
    """`input / other`, rounded if asked for."""
def div_(self: Tensor, other: Tensor, *, rounding_mode: str | None = None) -> Tensor:
    """In-place form of `div`: writes the result into this tensor and returns it."""
def divide(
    input: Tensor, other: Tensor, *, rounding_mode: str | None = None, out: Tensor | None = None
) -> Tensor:
    """`input / other`, rounded if asked for."""
def divide_(self: Tensor, other: Tensor, *, rounding_mode: str | None = None) -> Tensor:
    """In-place form of `div`: writes the result into this tensor and returns it."""
def dot(input: Tensor, tensor: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The sum of the products of two vectors. The first is not conjugated: see `vdot`."""
double: _dtype
def dropout(input: Tensor, p: _float, train: _bool) -> Tensor:
    """Zero each element with probability `p` and scale the others by `1 / (1 - p)`, if `train`."""
def dropout_(input: Tensor, p: _float, train: _bool) -> Tensor:
    """In-place form of `dropout`."""
def dsplit(
    input: Tensor,
    indices_or_sections: Tensor | _int | Sequence[_int] | None = None,
    *,
    indices: _int | Sequence[_int] | None = None,
    sections: Tensor | _int | Sequence[_int] | None = None,
) -> tuple[Tensor, ...]:
    """Parts along the third dimension. Views."""
def dstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Join along the third dimension."""
def eig(self: Tensor, eigenvectors: _bool = False, *, e: Any = None, v: Any = None) -> NoReturn:
    """Refused, as in torch: it was removed. `torch.linalg.eig` returns complex tensors of dtype `cfloat` or `cdouble`."""
@overload
def einsum(equation: str, *operands: Tensor | Sequence[Tensor]) -> Tensor: ...
@overload
def einsum(equation: Tensor, *operands: Tensor | Sequence[_int]) -> Tensor: ...
from .nn._functional.top_level import embedding as embedding
def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: _bool = False,
    mode: _int = 0,
    sparse: _bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: _bool = False,
    padding_idx: _int | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Sums (mode 0), means (1) or maxima (2) over bags of rows of `weight`."""
def empty(
    *sizes: _int | Sequence[_int],
    size: _int | Sequence[_int] | None = None,
    out: Tensor | None = None,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    pin_memory: _bool = False,
    memory_format: _memory_format | None = None,
) -> Tensor:
    """An uninitialised tensor."""
def empty_like(
    input: Tensor,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    pin_memory: _bool = False,
    memory_format: _memory_format | None = None,
) -> Tensor:
    """An uninitialised tensor of the shape, dtype and layout of `input`."""
def empty_permuted(
    size: _int | Sequence[_int],
    physical_layout: Sequence[_int],
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    pin_memory: _bool = False,
) -> Tensor:
    """A tensor of no particular values whose dimensions lie in memory in the order `physical_layout`."""
def empty_strided(
    size: _int | Sequence[_int],
    stride: _int | Sequence[_int],
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    pin_memory: _bool = False,
) -> Tensor:
    """A tensor of no particular values with given strides."""
def eq(input: Tensor, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
    """Where `input == other`; NaN equals nothing."""
def eq_(input: Tensor, other: Tensor | _Scalar) -> Tensor:
    """In-place form of `eq`: writes the result into this tensor and returns it."""
def equal(input: Tensor, other: Tensor) -> _bool:
    """Whether two tensors have the same shape and equal elements."""
def erf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The error function: the integral of `2 / sqrt(pi) * exp(-t * t)` from 0 to `input`."""
def erf_(input: Tensor) -> Tensor:
    """In-place form of `erf`: writes the result into this tensor and returns it."""
def erfc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`1 - erf(input)`, precise where that is tiny."""
def erfc_(input: Tensor) -> Tensor:
    """In-place form of `erfc`: writes the result into this tensor and returns it."""
def erfinv(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of `erf`. Needs SciPy (the extra `special`)."""
def erfinv_(input: Tensor) -> Tensor:
    """In-place form of `erfinv`: writes the result into this tensor and returns it."""
def exp(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """e to the power of `input`."""
def exp2(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """2 to the power of `input`."""
def exp2_(input: Tensor) -> Tensor:
    """In-place form of `exp2`: writes the result into this tensor and returns it."""
def exp_(input: Tensor) -> Tensor:
    """In-place form of `exp`: writes the result into this tensor and returns it."""
def expand_copy(
    input: Tensor, size: _int | Sequence[_int], *, implicit: _bool = False, out: Tensor | None = None
) -> Tensor:
    """Return a copy of the view that `expand` returns."""
def expm1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`exp(input) - 1`, precise near 0."""
def expm1_(input: Tensor) -> Tensor:
    """In-place form of `expm1`: writes the result into this tensor and returns it."""
def eye(
    n: _int,
    m: _int | None = None,
    *,
    out: Tensor | None = None,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    pin_memory: _bool = False,
) -> Tensor:
    """A matrix with ones on the diagonal and zeros elsewhere."""
def feature_alpha_dropout(input: Tensor, p: _float, train: _bool) -> Tensor:
    """`alpha_dropout` of whole channels (dimension 1)."""
def feature_alpha_dropout_(input: Tensor, p: _float, train: _bool) -> Tensor:
    """In-place form of `feature_alpha_dropout`."""
def feature_dropout(input: Tensor, p: _float, train: _bool) -> Tensor:
    """Zero whole channels (dimension 1) with probability `p`, if `train`."""
def feature_dropout_(input: Tensor, p: _float, train: _bool) -> Tensor:
    """In-place form of `feature_dropout`."""
def fill(input: Tensor, value: Tensor | _Scalar) -> Tensor:
    """A tensor like `input` with one value everywhere: a number, or a 0-dim tensor."""
def fill_(input: Tensor, value: Tensor | _Scalar) -> Tensor:
    """Write a value into all elements of `input` and return it: `input.fill_(value)` as a function."""
def fix(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The next whole number towards 0."""
def fix_(input: Tensor) -> Tensor:
    """In-place form of `trunc`: writes the result into this tensor and returns it."""
def flatten(input: Tensor, start_dim: _int = 0, end_dim: _int = -1) -> Tensor:
    """Join a range of dimensions into one. A view where the strides allow, else a copy."""
def flip(input: Tensor, dims: _int | Sequence[_int], *, out: Tensor | None = None) -> Tensor:
    """Reverse the order along dimensions."""
def fliplr(input: Tensor) -> Tensor:
    """Reverse the columns."""
def flipud(input: Tensor) -> Tensor:
    """Reverse the rows."""
float: _dtype
float16: _dtype
float32: _dtype
float64: _dtype
float8_e4m3fn: _dtype
float8_e5m2: _dtype
def float_power(
    input: Tensor | _Scalar, exponent: Tensor | _Scalar, *, out: Tensor | None = None
) -> Tensor:
    """`pow` in float64, or complex128 if one of the operands is complex."""
def float_power_(self: Tensor, exponent: Tensor | _Scalar) -> Tensor:
    """In-place form of `float_power`, for float64 and complex128 tensors."""
def floor(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The next whole number below."""
def floor_(input: Tensor) -> Tensor:
    """In-place form of `floor`: writes the result into this tensor and returns it."""
def floor_divide(
    input: Tensor | _Scalar, other: Tensor | _Scalar, *, out: Tensor | None = None
) -> Tensor:
    """`input / other`, rounded down; as in torch it has no derivative."""
def floor_divide_(input: Tensor, other: Tensor | _Scalar) -> Tensor:
    """In-place form of `floor_divide`: writes the result into this tensor and returns it."""
def fmax(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The larger of two elements; the other one where one is NaN. `input` gets the gradient of equal ones."""
def fmin(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The smaller of two elements; the other one where one is NaN: as `fmax`."""
def fmod(input: Tensor, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
    """The remainder of truncating division, with the sign of `input`, as C's `fmod`."""
def fmod_(input: Tensor, other: Tensor | _Scalar) -> Tensor:
    """In-place form of `fmod`: writes the result into this tensor and returns it."""
def frac(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The fractional part, with the sign of `input`."""
def frac_(input: Tensor) -> Tensor:
    """In-place form of `frac`: writes the result into this tensor and returns it."""
def frexp(input: Tensor, *, out: Sequence[Tensor] | None = None) -> return_types.frexp:
    """`input` as `mantissa * 2 ** exponent` with a mantissa from 0.5 to 1, as a named tuple (mantissa, exponent)."""
def frobenius_norm(
    input: Tensor, dim: _int | Sequence[_int] = ..., keepdim: _bool = False, *, out: Tensor | None = None
) -> Tensor:
    """The 2-norm of all elements along dimensions."""
def from_dlpack(ext_tensor: Any, *, device: _Device | None = None, copy: _bool | None = None) -> Tensor:
    """A tensor that shares the memory of another library's."""
def from_numpy(ndarray: ndarray[Any, Any]) -> Tensor:
    """A tensor that shares the memory of a NumPy array."""
def frombuffer(
    buffer: Any, *, dtype: _dtype, count: _int = -1, offset: _int = 0, requires_grad: _bool = False
) -> Tensor:
    """A tensor of one dimension over the memory of an object with Python's buffer protocol."""
def full(
    size: _int | Sequence[_int],
    fill_value: _Scalar,
    *,
    out: Tensor | None = None,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    pin_memory: _bool = False,
) -> Tensor:
    """A tensor filled with one value."""
def full_like(
    input: Tensor,
    fill_value: _Scalar,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    pin_memory: _bool = False,
    memory_format: _memory_format | None = None,
) -> Tensor:
    """One value in the shape, dtype and layout of `input`."""
def gather(
    input: Tensor, dim: _int, index: Tensor, *, sparse_grad: _bool = False, out: Tensor | None = None
) -> Tensor:
    """`out[i][j] = input[index[i][j]][j]` for `dim=0`, `input[i][index[i][j]]` for `dim=1`, and so on."""
def gcd(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The greatest common divisor; that of 0 and 0 is 0."""
def gcd_(input: Tensor, other: Tensor) -> Tensor:
    """In-place form of `gcd`: writes the result into this tensor and returns it."""
def ge(input: Tensor, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
    """Where `input >= other`."""
def ge_(input: Tensor, other: Tensor | _Scalar) -> Tensor:
    """In-place form of `ge`: writes the result into this tensor and returns it."""
def geqrf(input: Tensor, *, out: Sequence[Tensor] | None = None) -> return_types.geqrf:
    """The QR factorization as `orgqr` and `ormqr` take it, as a named tuple (a, tau). It has no gradient."""
def ger(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """All products of elements of two vectors."""
def get_autocast_cpu_dtype() -> _dtype:
    """The old name of `get_autocast_dtype('cpu')`."""
from .amp.autocast_mode import get_autocast_dtype as get_autocast_dtype
def get_autocast_gpu_dtype() -> _dtype:
    """The old name of `get_autocast_dtype('cuda')`."""
def get_autocast_ipu_dtype() -> _dtype:
    """The old name of `get_autocast_dtype('ipu')`."""
def get_autocast_xla_dtype() -> _dtype:
    """The old name of `get_autocast_dtype('xla')`."""
from .base.settings import get_deterministic_debug_mode as get_deterministic_debug_mode
def get_device(input: Tensor) -> _int:
    """The index of the device; -1 for the CPU."""
from .compat.top_level import get_device_module as get_device_module
from .compat.top_level import get_file_path as get_file_path
from .compat.top_level import get_float32_matmul_precision as get_float32_matmul_precision
from .compat.top_level import get_num_interop_threads as get_num_interop_threads
def get_rng_state() -> Tensor:
    """The state of the default generator."""
def gradient(
    input: Tensor, *, spacing: Any = 1, dim: _int | Sequence[_int] | None = None, edge_order: _int = 1
) -> tuple[Tensor, ...]:
    """The derivative of a sampled function along each dimension, by central differences."""
def greater(input: Tensor, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
    """Where `input > other`."""
def greater_(input: Tensor, other: Tensor | _Scalar) -> Tensor:
    """In-place form of `gt`: writes the result into this tensor and returns it."""
def greater_equal(input: Tensor, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
    """Where `input >= other`."""
def greater_equal_(input: Tensor, other: Tensor | _Scalar) -> Tensor:
    """In-place form of `ge`: writes the result into this tensor and returns it."""
def grid_sampler(
    input: Tensor, grid: Tensor, interpolation_mode: _int, padding_mode: _int, align_corners: _bool
) -> Tensor:
    """`grid_sample`, with numbers for its modes."""
def grid_sampler_2d(
    input: Tensor, grid: Tensor, interpolation_mode: _int, padding_mode: _int, align_corners: _bool
) -> Tensor:
    """`grid_sample`, with numbers for its modes."""
def grid_sampler_3d(
    input: Tensor, grid: Tensor, interpolation_mode: _int, padding_mode: _int, align_corners: _bool
) -> Tensor:
    """`grid_sample`, with numbers for its modes."""
def group_norm(
    input: Tensor,
    num_groups: _int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: _float = 1e-05,
    cudnn_enabled: _bool = True,
) -> Tensor:
    """Bring each of `num_groups` groups of channels to mean 0 and variance 1, then scale and shift each channel."""
def gru(
    input: Tensor,
    hx: Tensor | Sequence[Tensor],
    params: Sequence[Tensor],
    has_biases: _bool,
    num_layers: _int,
    dropout: _float,
    train: _bool,
    bidirectional: _bool,
    batch_first: _bool,
) -> tuple[Tensor, Tensor]:
    """Gated recurrent units (Cho et al., 2014): see `rnn_tanh`."""
def gru_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """One step of `gru`."""
def gt(input: Tensor, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
    """Where `input > other`."""
def gt_(input: Tensor, other: Tensor | _Scalar) -> Tensor:
    """In-place form of `gt`: writes the result into this tensor and returns it."""
half: _dtype
def hamming_window(
    window_length: _int,
    periodic: _bool = True,
    alpha: _float = 0.54,
    beta: _float = 0.46,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _Device | None = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
) -> Tensor:
    """The Hamming window: `alpha - beta * cos(2 * pi * k / n)`."""
def hann_window(
    window_length: _int,
    periodic: _bool = True,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _Device | None = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
) -> Tensor:
    """The Hann window: `sin(pi * k / n) ** 2`."""
def hardshrink(input: Tensor, lambd: _float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """`input` where its absolute value exceeds `lambd`, else `0`."""
def hash_tensor(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    *,
    keepdim: _bool = False,
    mode: _int = 0,
    out: Tensor | None = None,
) -> Tensor:
    """The bits of all elements, or of those along dimensions, combined by exclusive or: a tensor of uint64."""
def heaviside(input: Tensor, values: Tensor, *, out: Tensor | None = None) -> Tensor:
    """0 below 0, 1 above, and `values` at 0; as in torch it has no derivative."""
def heaviside_(input: Tensor, values: Tensor) -> Tensor:
    """In-place form of `heaviside`: writes the result into this tensor and returns it."""
def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: _float = 1.0, reduction: _int = 0
) -> Tensor:
    """`input` where `target` is 1, `max(0, margin - input)` where it is -1."""
def histc(
    input: Tensor, bins: _int = 100, min: _float = 0, max: _float = 0, *, out: Tensor | None = None
) -> Tensor:
    """How many elements fall into each of some bins of equal width; those outside of all count nowhere."""
def histogram(
    input: Tensor,
    bins: Any = 100,
    *,
    range: Any = None,
    weight: Tensor | None = None,
    density: _bool = False,
    out: Sequence[Tensor] | None = None,
) -> return_types.histogram:
    """How many elements fall into each bin, and the edges of the bins, as a named tuple (hist, bin_edges)."""
def histogramdd(
    input: Tensor, bins: Any, range: Any = None, weight: Tensor | None = None, density: _bool = False
) -> return_types.histogramdd:
    """How many points fall into each cell of a grid, and its edges, as a named tuple (hist, bin_edges)."""
def hsplit(
    input: Tensor,
    indices_or_sections: Tensor | _int | Sequence[_int] | None = None,
    *,
    indices: _int | Sequence[_int] | None = None,
    sections: Tensor | _int | Sequence[_int] | None = None,
) -> tuple[Tensor, ...]:
    """Parts along the second dimension, of a vector along its only one. Views."""
def hspmm(mat1: Tensor, mat2: Tensor) -> Tensor:
    """A sparse matrix times a dense one; the rows of the result are sparse, its columns dense. No derivative."""
def hstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Join along the second dimension, vectors along their only one."""
def hypot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`sqrt(input ** 2 + other ** 2)`, without overflow."""
def hypot_(input: Tensor, other: Tensor) -> Tensor:
    """In-place form of `hypot`: writes the result into this tensor and returns it."""
def i0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind, of order 0."""
def i0_(input: Tensor) -> Tensor:
    """In-place form of `i0`: writes the result into this tensor and returns it."""
def igamma(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The regularized lower incomplete gamma function P(input, other): from 0 at `other` = 0 to 1 at infinity."""
def igamma_(input: Tensor, other: Tensor) -> Tensor:
    """In-place form of `igamma`: writes the result into this tensor and returns it."""
def igammac(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The regularized upper incomplete gamma function: `1 - igamma(input, other)`."""
def igammac_(input: Tensor, other: Tensor) -> Tensor:
    """In-place form of `igammac`: writes the result into this tensor and returns it."""
def imag(input: Tensor) -> Tensor:
    """The imaginary part: a view of a complex tensor."""
def index_add(
    input: Tensor, dim: _int, index: Tensor, source: Tensor, *, alpha: _Scalar = 1, out: Tensor | None = None
) -> Tensor:
    """`input` with `alpha` times the slices of `source` added to its slices at `index` along `dim`."""
def index_add_(self: Tensor, dim: _int, index: Tensor, source: Tensor, *, alpha: _Scalar = 1) -> Tensor:
    """In-place form of `index_add`."""
def index_copy(
    input: Tensor, dim: _int, index: Tensor, source: Tensor, *, out: Tensor | None = None
) -> Tensor:
    """`input` with its slices at `index` along `dim` replaced by those of `source`."""
def index_copy_(self: Tensor, dim: _int, index: Tensor, source: Tensor) -> Tensor:
    """In-place form of `index_copy`: writes only the slices that `index` names."""
def index_fill(
    input: Tensor, dim: _int, index: Tensor, value: Tensor | _Scalar, *, out: Tensor | None = None
) -> Tensor:
    """`input` with one value in all slices at `index` along `dim`."""
def index_fill_(self: Tensor, dim: _int, index: Tensor, value: Tensor | _Scalar) -> Tensor:
    """In-place form of `index_fill`: writes only the slices that `index` names."""
def index_put(
    input: Tensor,
    indices: Sequence[Tensor | None],
    values: Tensor,
    accumulate: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """`input` with `values` written at the elements that a tuple of index tensors (or masks) selects."""
def index_put_(
    self: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: _bool = False
) -> Tensor:
    """In-place form of `index_put`: writes only the elements that `indices` name."""
def index_reduce(
    input: Tensor,
    dim: _int,
    index: Tensor,
    source: Tensor,
    reduce: str,
    *,
    include_self: _bool = True,
    out: Tensor | None = None,
) -> Tensor:
    """`input` with the slices of `source` reduced into its slices at a vector of indices along `dim`."""
def index_reduce_(
    self: Tensor, dim: _int, index: Tensor, source: Tensor, reduce: str, *, include_self: _bool = True
) -> Tensor:
    """In-place form of `index_reduce`."""
def index_select(input: Tensor, dim: _int, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The slices of `input` along `dim` at a vector of indices, as a copy."""
def initial_seed() -> _int:
    """The seed of the default generator."""
def inner(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Sums of products over the last dimension of both."""
from .as_torch import install_as_torch as install_as_torch
def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: _bool,
    momentum: _float,
    eps: _float,
    cudnn_enabled: _bool = True,
) -> Tensor:
    """Bring each channel of each element of the batch, over space, to mean 0 and variance 1, then scale and shift it."""
int: _dtype
int16: _dtype
int32: _dtype
int64: _dtype
int8: _dtype
def inverse(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of square matrices: `linalg.inv`."""
from .autograd.anomaly_mode import is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled
from .autograd.anomaly_mode import is_anomaly_enabled as is_anomaly_enabled
from .amp.autocast_mode import is_autocast_cache_enabled as is_autocast_cache_enabled
def is_autocast_cpu_enabled() -> _bool:
    """The old name of `is_autocast_enabled('cpu')`."""
from .amp.autocast_mode import is_autocast_enabled as is_autocast_enabled
def is_autocast_ipu_enabled() -> _bool:
    """The old name of `is_autocast_enabled('ipu')`."""
def is_autocast_xla_enabled() -> _bool:
    """The old name of `is_autocast_enabled('xla')`."""
def is_complex(input: Tensor) -> _bool:
    """Whether the dtype is a complex one."""
def is_conj(input: Tensor) -> _bool:
    """Whether it is a lazily conjugated view: never, conjugates are computed."""
from .base.settings import is_deterministic_algorithms_warn_only_enabled as is_deterministic_algorithms_warn_only_enabled
def is_floating_point(input: Tensor) -> _bool:
    """Whether the dtype is a floating-point one."""
def is_inference(input: Tensor) -> _bool:
    """Whether it was made in inference mode."""
def is_neg(input: Tensor) -> _bool:
    """Whether it is a lazily negated view: never."""
def is_nonzero(input: Tensor) -> _bool:
    """Whether a tensor of one element is not zero."""
def is_same_size(input: Tensor, other: Tensor) -> _bool:
    """Whether two tensors have the same shape."""
def is_signed(input: Tensor) -> _bool:
    """Whether the dtype has negative numbers."""
from .compat.top_level import is_storage as is_storage
def is_tensor(obj: Any) -> _bool:
    """Whether `obj` is a tensor."""
from .base.settings import is_warn_always_enabled as is_warn_always_enabled
def isclose(
    input: Tensor,
    other: Tensor,
    rtol: _float = 1e-05,
    atol: _float = 1e-08,
    equal_nan: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Where `|input - other| <= atol + rtol * |other|`, or both are the same infinity."""
def isfinite(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Where there is neither an infinity nor NaN."""
def isin(
    elements: Tensor | _Scalar,
    test_elements: Tensor | _Scalar,
    *,
    assume_unique: _bool = False,
    invert: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Which of `elements` are among `test_elements`; either may be a number."""
def isinf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Where there is an infinity, in one of the parts of a complex number."""
def isnan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Where there is NaN, in one of the parts of a complex number."""
def isneginf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Where there is the negative infinity."""
def isposinf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Where there is the positive infinity."""
def isreal(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Where the imaginary part is 0: everywhere, unless the dtype is complex."""
def istft(
    input: Tensor,
    n_fft: _int,
    hop_length: _int | None = None,
    win_length: _int | None = None,
    window: Tensor | None = None,
    center: _bool = True,
    normalized: _bool = False,
    onesided: _bool | None = None,
    length: _int | None = None,
    return_complex: _bool = False,
) -> Tensor:
    """The inverse of `stft`: the least-squares signal for the given spectra."""
def kaiser_window(
    window_length: _int,
    periodic: _bool = True,
    beta: _float = 12.0,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _Device | None = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
) -> Tensor:
    """The Kaiser window: `i0(beta * sqrt(1 - (2 * k / n - 1) ** 2)) / i0(beta)`. Needs SciPy (the extra `special`)."""
def kl_div(input: Tensor, target: Tensor, reduction: _int = 0, *, log_target: _bool = False) -> Tensor:
    """`target * (log(target) - input)`: the divergence of log-probabilities `input` from `target`."""
def kron(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Kronecker product: `input` with each element replaced by its product with `other`."""
def kthvalue(
    input: Tensor, k: _int, dim: _int = -1, keepdim: _bool = False, *, out: Sequence[Tensor] | None = None
) -> return_types.kthvalue:
    """The `k`-th smallest element along a dimension, counted from 1, as a named tuple (values, indices)."""
def layer_norm(
    input: Tensor,
    normalized_shape: _int | Sequence[_int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: _float = 1e-05,
    cudnn_enable: _bool = True,
) -> Tensor:
    """Bring the last dimensions to mean 0 and variance 1, then scale and shift."""
def lcm(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The least common multiple; 0 where one of the two is."""
def lcm_(input: Tensor, other: Tensor) -> Tensor:
    """In-place form of `lcm`: writes the result into this tensor and returns it."""
def ldexp(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`input * 2 ** other`."""
def ldexp_(input: Tensor, other: Tensor) -> Tensor:
    """In-place form of `ldexp`: writes the result into this tensor and returns it."""
def le(input: Tensor, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
    """Where `input <= other`."""
def le_(input: Tensor, other: Tensor | _Scalar) -> Tensor:
    """In-place form of `le`: writes the result into this tensor and returns it."""
def lerp(input: Tensor, end: Tensor, weight: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
    """`input + weight * (end - input)`, computed from the nearer end so that a weight of 1 gives exactly `end`."""
def lerp_(input: Tensor, end: Tensor, weight: Tensor | _Scalar) -> Tensor:
    """In-place form of `lerp`: writes the result into this tensor and returns it."""
def less(input: Tensor, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
    """Where `input < other`."""
def less_(input: Tensor, other: Tensor | _Scalar) -> Tensor:
    """In-place form of `lt`: writes the result into this tensor and returns it."""
def less_equal(input: Tensor, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
    """Where `input <= other`."""
def less_equal_(input: Tensor, other: Tensor | _Scalar) -> Tensor:
    """In-place form of `le`: writes the result into this tensor and returns it."""
def lgamma(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the absolute value of the gamma function. Needs SciPy (the extra `special`)."""
def lgamma_(input: Tensor) -> Tensor:
    """In-place form of `lgamma`: writes the result into this tensor and returns it."""
def linspace(
    start: Tensor | _Scalar,
    end: Tensor | _Scalar,
    steps: _int,
    *,
    out: Tensor | None = None,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    pin_memory: _bool = False,
) -> Tensor:
    """`steps` values from `start` to `end`, evenly spaced, ends included."""
from .serialization import load as load
def lobpcg(
    A: Tensor,
    k: _int | None = None,
    B: Tensor | None = None,
    X: Tensor | None = None,
    n: Tensor | _Scalar | None = None,
    iK: Tensor | None = None,
    niter: _int | None = None,
    tol: Tensor | _float | None = None,
    largest: _bool | None = None,
    method: str | None = None,
    tracker: Any = None,
    ortho_iparams: Any = None,
    ortho_fparams: Any = None,
    ortho_bparams: Any = None,
) -> tuple[Tensor, Tensor]:
    """The `k` largest or smallest eigenvalues of a symmetric matrix, with their vectors: (E, X)."""
def log(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The natural logarithm: -inf at 0, NaN below."""
def log10(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm to base 10."""
def log10_(input: Tensor) -> Tensor:
    """In-place form of `log10`: writes the result into this tensor and returns it."""
def log1p(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`log(1 + input)`, precise near 0."""
def log1p_(input: Tensor) -> Tensor:
    """In-place form of `log1p`: writes the result into this tensor and returns it."""
def log2(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm to base 2."""
def log2_(input: Tensor) -> Tensor:
    """In-place form of `log2`: writes the result into this tensor and returns it."""
def log_(input: Tensor) -> Tensor:
    """In-place form of `log`: writes the result into this tensor and returns it."""
def log_softmax(
    input: Tensor, dim: _int | None = None, dtype: _dtype | None = None, *, out: Tensor | None = None
) -> Tensor:
    """`log(softmax(input))` along a dimension, computed so that nothing overflows or is lost."""
def logaddexp(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`log(exp(input) + exp(other))`, without overflow."""
def logaddexp2(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`log2(2 ** input + 2 ** other)`, without overflow."""
def logcumsumexp(input: Tensor, dim: _int, *, out: Tensor | None = None) -> Tensor:
    """`log(cumsum(exp(input)))` along a dimension, without overflow."""
def logdet(input: Tensor) -> Tensor:
    """The logarithm of the determinant; NaN where a real one is negative."""
def logical_and(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Where both are different from 0."""
def logical_and_(input: Tensor, other: Tensor) -> Tensor:
    """In-place form of `logical_and`: writes the result into this tensor and returns it."""
def logical_not(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Where `input` is 0."""
def logical_not_(input: Tensor) -> Tensor:
    """In-place form of `logical_not`: writes the result into this tensor and returns it."""
def logical_or(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Where one of the two is different from 0."""
def logical_or_(input: Tensor, other: Tensor) -> Tensor:
    """In-place form of `logical_or`: writes the result into this tensor and returns it."""
def logical_xor(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Where exactly one of the two is different from 0."""
def logical_xor_(input: Tensor, other: Tensor) -> Tensor:
    """In-place form of `logical_xor`: writes the result into this tensor and returns it."""
def logit(input: Tensor, eps: _float | None = None, *, out: Tensor | None = None) -> Tensor:
    """`log(input / (1 - input))`, the inverse of `sigmoid`."""
def logit_(input: Tensor, eps: _float | None = None) -> Tensor:
    """In-place form of `logit`: writes the result into this tensor and returns it."""
def logspace(
    start: Tensor | _Scalar,
    end: Tensor | _Scalar,
    steps: _int,
    base: _float = 10.0,
    *,
    out: Tensor | None = None,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    pin_memory: _bool = False,
) -> Tensor:
    """`base` to the powers of `linspace(start, end, steps)`."""
def logsumexp(
    input: Tensor, dim: _int | Sequence[_int], keepdim: _bool = False, *, out: Tensor | None = None
) -> Tensor:
    """`log(sum(exp(input)))` over one or several dimensions, without overflow."""
long: _dtype
def lstm(
    input: Tensor,
    hx: Tensor | Sequence[Tensor],
    params: Sequence[Tensor],
    has_biases: _bool,
    num_layers: _int,
    dropout: _float,
    train: _bool,
    bidirectional: _bool,
    batch_first: _bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """Long short-term memory (Hochreiter and Schmidhuber, 1997): see `rnn_tanh`; `hx` is the pair (h, c)."""
def lstm_cell(
    input: Tensor,
    hx: Tensor | Sequence[Tensor],
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """One step of `lstm`; `hx` is the pair (h, c), and so is the result."""
def lstsq(input: Tensor, A: Tensor, *, out: Sequence[Tensor] | None = None) -> NoReturn:
    """Refused, as in torch: it was removed. `torch.lstsq` is deprecated in favor of `torch.linalg.lstsq`, whose arguments are reversed."""
def lt(input: Tensor, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
    """Where `input < other`."""
def lt_(input: Tensor, other: Tensor | _Scalar) -> Tensor:
    """In-place form of `lt`: writes the result into this tensor and returns it."""
@overload
def lu(
    A: Tensor, pivot: _bool = True, get_infos: Literal[False] = False, out: Tensor | None = None
) -> tuple[Tensor, Tensor]: ...
@overload
def lu(
    A: Tensor, pivot: _bool = True, *, get_infos: Literal[True], out: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]: ...
@overload
def lu(
    A: Tensor, pivot: _bool, get_infos: Literal[True], out: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]: ...
@overload
def lu(A: Tensor, pivot: _bool = True, get_infos: _bool = False, out: Tensor | None = None) -> Any: ...
def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`X` with `A @ X = input`, by the factors of `A`: `linalg.lu_solve(LU_data, LU_pivots, input)`."""
def lu_unpack(
    LU_data: Tensor,
    LU_pivots: Tensor,
    unpack_data: _bool = True,
    unpack_pivots: _bool = True,
    *,
    out: Sequence[Tensor] | None = None,
) -> return_types.lu_unpack:
    """The factors that `linalg.lu_factor` gives in one matrix, as a named tuple (P, L, U)."""
def manual_seed(seed: SupportsInt) -> Generator:
    """Seed the default generator, and return it."""
def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: _float = 0.0, reduction: _int = 0
) -> Tensor:
    """`max(0, -target * (input1 - input2) + margin)`: target 1 wants `input1` larger, -1 `input2`."""
def masked_fill(
    input: Tensor, mask: Tensor, value: Tensor | _Scalar, *, out: Tensor | None = None
) -> Tensor:
    """`input` with one value where `mask` holds; tensor and mask are broadcast."""
def masked_fill_(self: Tensor, mask: Tensor, value: Tensor | _Scalar) -> Tensor:
    """In-place form of `masked_fill`: writes only where `mask` holds."""
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`input` with the elements of `source`, one after the other, where `mask` holds."""
def masked_scatter_(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """In-place form of `masked_scatter`: writes the result into this tensor and returns it."""
def masked_select(input: Tensor, mask: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The elements of `input` where `mask` holds, in one dimension; tensor and mask are broadcast."""
def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The matrix product of two tensors: also `input @ other`."""
def matrix_exp(input: Tensor) -> Tensor:
    """The exponential of square matrices: `linalg.matrix_exp`."""
def matrix_power(input: Tensor, n: _int, *, out: Tensor | None = None) -> Tensor:
    """A whole power of square matrices: `linalg.matrix_power`."""
def matrix_rank(
    input: Tensor,
    tol: Tensor | _float | None = None,
    symmetric: _bool = False,
    *,
    out: Sequence[Tensor] | None = None,
) -> NoReturn:
    """Refused, as in torch: it was removed. Please use the `torch.linalg.matrix_rank` function instead."""
@overload
def max(input: Tensor, *, out: Tensor | None = ...) -> Tensor: ...
@overload
def max(
    input: Tensor, dim: _int, keepdim: _bool = ..., *, out: Sequence[Tensor] | None = ...
) -> return_types.max: ...
@overload
def max(input: Tensor, other: Tensor, *, out: Tensor | None = ...) -> Tensor: ...
def max_pool1d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] = ...,
    padding: str | _int | Sequence[_int] = 0,
    dilation: _int | Sequence[_int] = 1,
    ceil_mode: _bool = False,
) -> Tensor:
    """Maxima over windows in 1 dimension(s): see `torch.nn.functional.max_pool1d`."""
def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] = ...,
    padding: str | _int | Sequence[_int] = 0,
    dilation: _int | Sequence[_int] = 1,
    ceil_mode: _bool = False,
) -> tuple[Tensor, Tensor]:
    """Maxima over windows along one dimension, and their indices."""
def max_pool2d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] = ...,
    padding: str | _int | Sequence[_int] = 0,
    dilation: _int | Sequence[_int] = 1,
    ceil_mode: _bool = False,
) -> Tensor:
    """Maxima over windows in 2 dimension(s): see `torch.nn.functional.max_pool2d`."""
def max_pool3d(
    input: Tensor,
    kernel_size: _int | Sequence[_int],
    stride: _int | Sequence[_int] = ...,
    padding: str | _int | Sequence[_int] = 0,
    dilation: _int | Sequence[_int] = 1,
    ceil_mode: _bool = False,
) -> Tensor:
    """Maxima over windows in 3 dimension(s): see `torch.nn.functional.max_pool3d`."""
def maximum(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The larger of two elements; NaN if one of them is. Equal ones get half of the gradient each."""
def mean(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The mean of all elements, or over one or several dimensions. NaN where there are none."""
@overload
def median(input: Tensor, *, out: None = ...) -> Tensor: ...
@overload
def median(
    input: Tensor, dim: _int, keepdim: _bool = ..., *, out: Sequence[Tensor] | None = ...
) -> return_types.median: ...
def meshgrid(*tensors: Tensor | Sequence[Tensor], indexing: str | None = None) -> tuple[Tensor, ...]:
    """Coordinates of a grid: each vector expanded along the dimensions of the others."""
@overload
def min(input: Tensor, *, out: Tensor | None = ...) -> Tensor: ...
@overload
def min(
    input: Tensor, dim: _int, keepdim: _bool = ..., *, out: Sequence[Tensor] | None = ...
) -> return_types.min: ...
@overload
def min(input: Tensor, other: Tensor, *, out: Tensor | None = ...) -> Tensor: ...
def minimum(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The smaller of two elements: as `maximum`."""
def mm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of two matrices. Nothing is broadcast: see `matmul`."""
def mode(
    input: Tensor, dim: _int = -1, keepdim: _bool = False, *, out: Sequence[Tensor] | None = None
) -> return_types.mode:
    """The most frequent element along a dimension, the smallest of several; a named tuple (values, indices)."""
def moveaxis(input: Tensor, source: _int | Sequence[_int], destination: _int | Sequence[_int]) -> Tensor:
    """A view with some dimensions at other places; the others keep their order."""
def movedim(input: Tensor, source: _int | Sequence[_int], destination: _int | Sequence[_int]) -> Tensor:
    """A view with some dimensions at other places; the others keep their order."""
def msort(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The elements sorted along the first dimension."""
def mul(input: Tensor | _Scalar, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
    """`input * other`."""
def mul_(input: Tensor, other: Tensor | _Scalar) -> Tensor:
    """In-place form of `mul`: writes the result into this tensor and returns it."""
def multinomial(
    input: Tensor,
    num_samples: _int,
    replacement: _bool = False,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Indices drawn with probabilities proportional to each row of `input`."""
def multiply(input: Tensor | _Scalar, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
    """`input * other`."""
def multiply_(input: Tensor, other: Tensor | _Scalar) -> Tensor:
    """In-place form of `mul`: writes the result into this tensor and returns it."""
def mv(input: Tensor, vec: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Product of a matrix and a vector."""
def mvlgamma(input: Tensor, p: _int, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the gamma function of `p` variables."""
def mvlgamma_(input: Tensor, p: _int) -> Tensor:
    """In-place form of `mvlgamma`: writes the result into this tensor and returns it."""
def nan_to_num(
    input: Tensor,
    nan: _float | None = None,
    posinf: _float | None = None,
    neginf: _float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """`input` with numbers in the place of NaN and the infinities."""
def nan_to_num_(
    self: Tensor, nan: _float | None = None, posinf: _float | None = None, neginf: _float | None = None
) -> Tensor:
    """In-place form of `nan_to_num`: writes the result into this tensor and returns it."""
def nanmean(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The mean of those elements that are not NaN."""
@overload
def nanmedian(input: Tensor, *, out: None = ...) -> Tensor: ...
@overload
def nanmedian(
    input: Tensor, dim: _int, keepdim: _bool = ..., *, out: Sequence[Tensor] | None = ...
) -> return_types.nanmedian: ...
def nanquantile(
    input: Tensor,
    q: Tensor | _float,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    interpolation: str = 'linear',
    out: Tensor | None = None,
) -> Tensor:
    """The quantiles of the elements that are not NaN: as `quantile`. NaN where all are NaN."""
def nansum(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The sum of all elements or over some dimensions, NaN counting as zero."""
def narrow(input: Tensor, dim: _int, start: Tensor | _Scalar, length: _int) -> Tensor:
    """`length` elements of a dimension, from `start` on. A view."""
def narrow_copy(
    input: Tensor, dim: _int, start: _int, length: _int, *, out: Tensor | None = None
) -> Tensor:
    """Return a copy of the view that `narrow` returns."""
def native_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: _bool,
    momentum: _float,
    eps: _float,
    *,
    out: Sequence[Tensor] | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """`batch_norm`, with the mean and 1 / standard deviation of the batch (empty in evaluation)."""
def native_channel_shuffle(input: Tensor, groups: _int) -> Tensor:
    """The first channel of each of `groups` groups, then the second of each, and so on."""
def native_dropout(input: Tensor, p: _float, train: _bool | None) -> tuple[Tensor, Tensor]:
    """`dropout`, and which elements it keeps: a tuple of two tensors."""
def native_group_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    N: _int,
    C: _int,
    HxW: _int,
    group: _int,
    eps: _float,
) -> tuple[Tensor, Tensor, Tensor]:
    """`group_norm`, and the mean and 1 / standard deviation of each group: a tuple of three tensors."""
def native_layer_norm(
    input: Tensor,
    normalized_shape: _int | Sequence[_int],
    weight: Tensor | None,
    bias: Tensor | None,
    eps: _float,
) -> tuple[Tensor, Tensor, Tensor]:
    """`layer_norm`, and the mean and 1 / standard deviation that each row was normalised with."""
def ne(input: Tensor, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
    """Where `input != other`."""
def ne_(input: Tensor, other: Tensor | _Scalar) -> Tensor:
    """In-place form of `ne`: writes the result into this tensor and returns it."""
def neg(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`-input`."""
def neg_(input: Tensor) -> Tensor:
    """In-place form of `neg`: writes the result into this tensor and returns it."""
def negative(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`-input`."""
def negative_(input: Tensor) -> Tensor:
    """In-place form of `neg`: writes the result into this tensor and returns it."""
newaxis: None
def nextafter(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The next number after `input` towards `other` that the dtype can hold."""
def nextafter_(input: Tensor, other: Tensor) -> Tensor:
    """In-place form of `nextafter`: writes the result into this tensor and returns it."""
@overload
def nonzero(input: Tensor, *, as_tuple: Literal[False] = False, out: Tensor | None = None) -> Tensor: ...
@overload
def nonzero(input: Tensor, *, as_tuple: Literal[True], out: Tensor | None = None) -> tuple[Tensor, ...]: ...
@overload
def nonzero(input: Tensor, *, as_tuple: _bool = False, out: Tensor | None = None) -> Any: ...
def nonzero_static(
    input: Tensor, *, size: _int, fill_value: _int = -1, out: Tensor | None = None
) -> Tensor:
    """The first `size` rows of `nonzero`; where there are less, rows of `fill_value` follow."""
def norm(
    input: Tensor,
    p: _int | _float | str | Tensor = 'fro',
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    out: Tensor | None = None,
    dtype: _dtype | None = None,
) -> Tensor:
    """The norm of all elements as a vector, or of the vectors along dimensions."""
def norm_except_dim(v: Tensor, pow: _int = 2, dim: _int = 0) -> Tensor:
    """The norm over all dimensions but one, which keeps its place."""
def normal(
    mean: Tensor | _float,
    std: Tensor | _float = 1.0,
    size: _int | Sequence[_int] | None = None,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    pin_memory: _bool = False,
) -> Tensor:
    """Normally distributed numbers with given means and standard deviations."""
def normal_(
    self: Tensor, mean: _float = 0.0, std: _float = 1.0, *, generator: Generator | None = None
) -> Tensor:
    """Fill with normally distributed numbers, in place."""
def not_equal(input: Tensor, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
    """Where `input != other`."""
def not_equal_(input: Tensor, other: Tensor | _Scalar) -> Tensor:
    """In-place form of `ne`: writes the result into this tensor and returns it."""
def nuclear_norm(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The sum of singular values."""
def numel(input: Tensor) -> _int:
    """The number of elements."""
def ones(
    *sizes: _int | Sequence[_int],
    size: _int | Sequence[_int] | None = None,
    out: Tensor | None = None,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    pin_memory: _bool = False,
) -> Tensor:
    """A tensor of ones."""
def ones_like(
    input: Tensor,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    pin_memory: _bool = False,
    memory_format: _memory_format | None = None,
) -> Tensor:
    """Ones of the shape, dtype and layout of `input`."""
def orgqr(input: Tensor, input2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`linalg.householder_product`."""
def ormqr(
    input: Tensor,
    input2: Tensor,
    input3: Tensor,
    left: _bool = True,
    transpose: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The product of a matrix with Q, given by Householder vectors, of which all columns are taken."""
def outer(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """All products of elements of two vectors."""
def pairwise_distance(
    x1: Tensor, x2: Tensor, p: _float = 2, eps: _float = 1e-06, keepdim: _bool = False
) -> Tensor:
    """The p-norm of `x1 - x2 + eps` along the last dimension."""
def pca_lowrank(
    A: Tensor, q: Tensor | _float | None = None, center: _bool = True, niter: _int = 2
) -> tuple[Tensor, Tensor, Tensor]:
    """Principal components of rows of data: `svd_lowrank` of the matrix with the means of its columns subtracted."""
def pdist(input: Tensor, p: _float = 2.0) -> Tensor:
    """The p-norm distances between each two rows of a matrix, in the order (0, 1), (0, 2), ..., (1, 2), ..."""
def permute(input: Tensor, dims: _int | Sequence[_int]) -> Tensor:
    """A view with the dimensions in another order."""
def permute_copy(input: Tensor, dims: _int | Sequence[_int], *, out: Tensor | None = None) -> Tensor:
    """Return a copy of the view that `permute` returns."""
def pinverse(input: Tensor, rcond: _float = 1e-15) -> Tensor:
    """The Moore-Penrose inverse: `linalg.pinv` with a relative tolerance."""
def pixel_shuffle(input: Tensor, upscale_factor: _int) -> Tensor:
    """Images `upscale_factor` times as high and wide, of that many squared fewer channels (arXiv 1609.05158)."""
def pixel_unshuffle(input: Tensor, downscale_factor: _int) -> Tensor:
    """The inverse of `pixel_shuffle`: images of fewer pixels and more channels."""
def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Poisson numbers with the rates in `input`; the gradient is zero."""
def poisson_nll_loss(
    input: Tensor, target: Tensor, log_input: _bool, full: _bool, eps: _float, reduction: _int
) -> Tensor:
    """The negative log likelihood of counts under Poisson distributions of given rates."""
def polar(abs: Tensor, angle: Tensor, *, out: Tensor | None = None) -> Tensor:
    """A complex tensor from absolute values and angles: `abs * cos(angle) + 1j * abs * sin(angle)`."""
def polygamma(n: _int, input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The n-th derivative of `digamma`. Needs SciPy (the extra `special`)."""
def polygamma_(self: Tensor, n: _int) -> Tensor:
    """In-place form of `polygamma`."""
def positive(input: Tensor) -> Tensor:
    """The tensor itself."""
def pow(input: Tensor | _Scalar, exponent: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
    """`input` to the power of `exponent`; one of them may be a number."""
def pow_(input: Tensor, exponent: Tensor | _Scalar) -> Tensor:
    """In-place form of `pow`: writes the result into this tensor and returns it."""
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """`input` where it is positive, else `weight * input`, with one weight, or one for each channel (dimension 1)."""
preserve_format: _memory_format
def prod(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The product of all elements, or along a dimension."""
from .compat.top_level import profiler_allow_cudagraph_cupti_lazy_reinit_cuda12 as profiler_allow_cudagraph_cupti_lazy_reinit_cuda12
def promote_types(type1: _dtype, type2: _dtype) -> _dtype:
    """Return the dtype to which operations on the two dtypes promote."""
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: _bool = False) -> Tensor:
    """`input` with the elements of `source` written at `index`, flat indices in row-major order."""
def put_(self: Tensor, index: Tensor, source: Tensor, accumulate: _bool = False) -> Tensor:
    """In-place form of `put`: writes only the elements that `index` names."""
def qr(input: Tensor, some: _bool = True, *, out: Sequence[Tensor] | None = None) -> return_types.qr:
    """The QR factorization, as a named tuple (Q, R): `linalg.qr` by its old name."""
def quantile(
    input: Tensor,
    q: Tensor | _float,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    interpolation: str = 'linear',
    out: Tensor | None = None,
) -> Tensor:
    """The quantiles of all elements, or along a dimension; NaN where there is any."""
def rad2deg(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Radians as degrees."""
def rad2deg_(input: Tensor) -> Tensor:
    """In-place form of `rad2deg`: writes the result into this tensor and returns it."""
def rand(
    *sizes: _int | Sequence[_int],
    size: _int | Sequence[_int] | None = None,
    generator: Generator | None = None,
    names: Any = None,
    out: Tensor | None = None,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    pin_memory: _bool = False,
) -> Tensor:
    """Uniformly distributed numbers from 0 up to, but excluding, 1."""
def rand_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    pin_memory: _bool = False,
    memory_format: _memory_format | None = None,
) -> Tensor:
    """Uniform numbers in the shape and dtype of `input`."""
def randint(
    low: _int | Sequence[_int] | None = None,
    high: _int | Sequence[_int] | None = None,
    size: _int | Sequence[_int] | None = None,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    pin_memory: _bool = False,
) -> Tensor:
    """Integers from `low` up to, but excluding, `high`, each equally likely."""
def randint_like(
    input: Tensor,
    low: _int | Sequence[_int] | None = None,
    high: _int | Sequence[_int] | None = None,
    *,
    generator: Generator | None = None,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    pin_memory: _bool = False,
    memory_format: _memory_format | None = None,
) -> Tensor:
    """Integers below a bound in the shape and dtype of `input`."""
def randn(
    *sizes: _int | Sequence[_int],
    size: _int | Sequence[_int] | None = None,
    generator: Generator | None = None,
    names: Any = None,
    out: Tensor | None = None,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    pin_memory: _bool = False,
) -> Tensor:
    """Normally distributed numbers of mean 0 and variance 1."""
def randn_like(
    input: Tensor,
    *,
    generator: Generator | None = None,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    pin_memory: _bool = False,
    memory_format: _memory_format | None = None,
) -> Tensor:
    """Standard normal numbers in the shape and dtype of `input`."""
def randperm(
    n: _int,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    pin_memory: _bool = False,
) -> Tensor:
    """The integers from 0 to `n - 1` in random order."""
def range(
    start: Tensor | _Scalar,
    end: Tensor | _Scalar | None = None,
    step: Tensor | _Scalar = 1,
    *,
    out: Tensor | None = None,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _Device | None = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
) -> Tensor:
    """Like `arange`, with `end` included. Deprecated; warns once."""
def ravel(input: Tensor) -> Tensor:
    """A one-dimensional tensor of all elements."""
def real(input: Tensor) -> Tensor:
    """The real part: a view of a complex tensor, and a real tensor itself."""
def reciprocal(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`1 / input`."""
def reciprocal_(input: Tensor) -> Tensor:
    """In-place form of `reciprocal`: writes the result into this tensor and returns it."""
def relu(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`max(input, 0)`. Keeps its result for backward, which the next layer keeps anyway."""
def relu_(input: Tensor) -> Tensor:
    """In-place form of `relu`: writes the result into this tensor and returns it."""
def remainder(input: Tensor | _Scalar, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
    """The remainder of floor division, with the sign of `other`, as Python's `%`."""
def remainder_(input: Tensor, other: Tensor | _Scalar) -> Tensor:
    """In-place form of `remainder`: writes the result into this tensor and returns it."""
def renorm(input: Tensor, p: _float, dim: _int, maxnorm: _float, *, out: Tensor | None = None) -> Tensor:
    """Each slice along `dim` whose p-norm is larger than `maxnorm`, scaled down to it."""
def renorm_(input: Tensor, p: _float, dim: _int, maxnorm: _float) -> Tensor:
    """In-place form of `renorm`: writes the result into this tensor and returns it."""
def repeat_interleave(
    input: Tensor,
    repeats: Tensor | _int | Sequence[_int] | None = None,
    dim: _int | None = None,
    *,
    output_size: _int | None = None,
) -> Tensor:
    """Repeat each element, one copy after the other: `repeats` times, or as often as it says for each."""
def reshape(input: Tensor, shape: _int | Sequence[_int]) -> Tensor:
    """The same elements in another shape, in the same order. A view where the strides allow, else a copy."""
def resize_as_(
    input: Tensor, the_template: Tensor, *, memory_format: _memory_format | None = None
) -> Tensor:
    """Resize `input` to the shape of another tensor, in place: `input.resize_as_(the_template)` as a function."""
def resolve_conj(input: Tensor) -> Tensor:
    """The tensor itself: conjugates are never postponed here."""
def resolve_neg(input: Tensor) -> Tensor:
    """The tensor itself: negations are never postponed here."""
def result_type(tensor1: Tensor | _Scalar, tensor2: Tensor | _Scalar) -> _dtype:
    """The dtype of an arithmetic result of two tensors or numbers."""
def rms_norm(
    input: Tensor,
    normalized_shape: _int | Sequence[_int],
    weight: Tensor | None = None,
    eps: _float | None = None,
) -> Tensor:
    """Divide by the root of the mean square over the last dimensions: `input / sqrt(mean(input ** 2) + eps) * weight`."""
def rnn_relu(
    input: Tensor,
    hx: Tensor | Sequence[Tensor],
    params: Sequence[Tensor],
    has_biases: _bool,
    num_layers: _int,
    dropout: _float,
    train: _bool,
    bidirectional: _bool,
    batch_first: _bool,
) -> tuple[Tensor, Tensor]:
    """A recurrent network `h = relu(w_ih @ x + b_ih + w_hh @ h + b_hh)`: see `rnn_tanh`."""
def rnn_relu_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """One step of `rnn_relu`."""
def rnn_tanh(
    input: Tensor,
    hx: Tensor | Sequence[Tensor],
    params: Sequence[Tensor],
    has_biases: _bool,
    num_layers: _int,
    dropout: _float,
    train: _bool,
    bidirectional: _bool,
    batch_first: _bool,
) -> tuple[Tensor, Tensor]:
    """A recurrent network `h = tanh(w_ih @ x + b_ih + w_hh @ h + b_hh)`."""
def rnn_tanh_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """One step of `rnn_tanh`."""
def roll(
    input: Tensor,
    shifts: _int | Sequence[_int],
    dims: _int | Sequence[_int] | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Shift elements along dimensions; elements shifted beyond the end re-enter at the beginning."""
def rot90(input: Tensor, k: _int = 1, dims: _int | Sequence[_int] = ...) -> Tensor:
    """Rotate by 90 degrees in a plane, from the first of `dims` towards the second."""
def round(input: Tensor, *, decimals: _int = 0, out: Tensor | None = None) -> Tensor:
    """The nearest whole number, the even one of two that are equally near."""
def round_(input: Tensor, *, decimals: _int = 0) -> Tensor:
    """In-place form of `round`: writes the result into this tensor and returns it."""
def row_stack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Join as rows."""
def rrelu(
    input: Tensor,
    lower: _float = 0.125,
    upper: _float = 0.3333333333333333,
    training: _bool = False,
    generator: Generator | None = None,
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
def rsqrt(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`1 / sqrt(input)`."""
def rsqrt_(input: Tensor) -> Tensor:
    """In-place form of `rsqrt`: writes the result into this tensor and returns it."""
def rsub(
    input: Tensor, other: Tensor | _Scalar, *, alpha: _Scalar = 1, out: Tensor | None = None
) -> Tensor:
    """`other - alpha * input`."""
from .serialization import save as save
def scalar_tensor(
    s: _int | Sequence[_int],
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _Device | None = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
) -> Tensor:
    """A tensor without dimensions, of the default dtype unless another is given."""
def scatter(
    input: Tensor,
    dim: _int,
    index: Tensor,
    src: Tensor | _Scalar | None = None,
    *,
    value: Tensor | _Scalar | None = None,
    reduce: str | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """`input` with the elements of `src`, or one number, written at `index` along `dim`."""
def scatter_(
    self: Tensor,
    dim: _int,
    index: Tensor,
    src: Tensor | _Scalar | None = None,
    *,
    value: Tensor | _Scalar | None = None,
    reduce: str | None = None,
) -> Tensor:
    """In-place form of `scatter`: writes only the elements that `index` names."""
def scatter_add(
    input: Tensor, dim: _int, index: Tensor, src: Tensor, *, out: Tensor | None = None
) -> Tensor:
    """`input` with the elements of `src` added at `index` along `dim`."""
def scatter_add_(self: Tensor, dim: _int, index: Tensor, src: Tensor) -> Tensor:
    """In-place form of `scatter_add`."""
def scatter_reduce(
    input: Tensor,
    dim: _int,
    index: Tensor,
    src: Tensor,
    reduce: str,
    *,
    include_self: _bool = True,
    out: Tensor | None = None,
) -> Tensor:
    """Reduce the elements of `src` into `input` at `index` along `dim`."""
def scatter_reduce_(
    self: Tensor, dim: _int, index: Tensor, src: Tensor, reduce: str, *, include_self: _bool = True
) -> Tensor:
    """In-place form of `scatter_reduce`."""
def searchsorted(
    sorted_sequence: Tensor,
    input: Tensor,
    *,
    out_int32: _bool = False,
    right: _bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The indices at which inserting values keeps a sequence sorted: for each, how many elements come before."""
def seed() -> _int:
    """Seed the default generator from the operating system; returns the seed."""
def segment_reduce(
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: _int = 0,
    unsafe: _bool = False,
    initial: Tensor | _Scalar | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Reduce segments of a dimension: the first `lengths[0]` elements, the next `lengths[1]` ones, and so on."""
def select(input: Tensor, dim: _int, index: Any) -> Tensor:
    """The part of `input` at one index of a dimension, without that dimension. A view."""
def select_copy(input: Tensor, dim: _int, index: _int, *, out: Tensor | None = None) -> Tensor:
    """Return a copy of the view that `select` returns."""
def select_scatter(
    input: Tensor, src: Tensor, dim: _int, index: _int = 0, *, out: Tensor | None = None
) -> Tensor:
    """`input` with `src` where `select(input, dim, index)` reads."""
def selu(input: Tensor) -> Tensor:
    """The self-normalising elu (arXiv 1706.02515)."""
def selu_(input: Tensor) -> Tensor:
    """In-place form of `selu`."""
from .autograd.anomaly_mode import set_anomaly_enabled as set_anomaly_enabled
from .amp.autocast_mode import set_autocast_cache_enabled as set_autocast_cache_enabled
from .compat.old_autocast import set_autocast_cpu_dtype as set_autocast_cpu_dtype
from .compat.old_autocast import set_autocast_cpu_enabled as set_autocast_cpu_enabled
from .amp.autocast_mode import set_autocast_dtype as set_autocast_dtype
from .amp.autocast_mode import set_autocast_enabled as set_autocast_enabled
from .compat.legacy_types import set_default_tensor_type as set_default_tensor_type
from .base.settings import set_deterministic_debug_mode as set_deterministic_debug_mode
from .compat.top_level import set_float32_matmul_precision as set_float32_matmul_precision
from .compat.top_level import set_flush_denormal as set_flush_denormal
from .compat.top_level import set_num_interop_threads as set_num_interop_threads
from .core.printing import set_printoptions as set_printoptions
def set_rng_state(new_state: Tensor) -> None:
    """Set the state of the default generator."""
from .base.settings import set_warn_always as set_warn_always
def sgn(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`sign`; of a complex number, the number of length 1 in the same direction, and 0 at 0."""
def sgn_(input: Tensor) -> Tensor:
    """In-place form of `sgn`: writes the result into this tensor and returns it."""
short: _dtype
def sigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`1 / (1 + exp(-input))`."""
def sigmoid_(input: Tensor) -> Tensor:
    """In-place form of `sigmoid`: writes the result into this tensor and returns it."""
def sign(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """-1, 0 or 1; 0 for NaN."""
def sign_(input: Tensor) -> Tensor:
    """In-place form of `sign`: writes the result into this tensor and returns it."""
def signbit(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Where the sign is negative, of -0.0 too."""
def sin(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The sine of an angle in radians."""
def sin_(input: Tensor) -> Tensor:
    """In-place form of `sin`: writes the result into this tensor and returns it."""
def sinc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`sin(pi * input) / (pi * input)`, and 1 at 0."""
def sinc_(input: Tensor) -> Tensor:
    """In-place form of `sinc`: writes the result into this tensor and returns it."""
def sinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The hyperbolic sine."""
def sinh_(input: Tensor) -> Tensor:
    """In-place form of `sinh`: writes the result into this tensor and returns it."""
def slice_copy(
    input: Tensor,
    dim: _int = 0,
    start: _int | None = None,
    end: _int | None = None,
    step: _int = 1,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """`input[start:end:step]` along a dimension, as a copy."""
def slice_scatter(
    input: Tensor,
    src: Tensor,
    dim: _int = 0,
    start: Tensor | _Scalar | None = None,
    end: Tensor | _Scalar | None = None,
    step: _int = 1,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """`input` with `src` at `start:end:step` of a dimension."""
def slogdet(input: Tensor, *, out: Sequence[Tensor] | None = None) -> return_types.slogdet:
    """`linalg.slogdet`."""
def smm(input: Tensor, mat: Tensor) -> Tensor:
    """A sparse matrix times a dense one, as a sparse tensor. It has no derivative."""
def softmax(
    input: Tensor, dim: _int | None = None, dtype: _dtype | None = None, *, out: Tensor | None = None
) -> Tensor:
    """`exp(input) / sum(exp(input))` along a dimension: positive numbers that sum to 1."""
def solve(input: Tensor, A: Tensor, *, out: Sequence[Tensor] | None = None) -> NoReturn:
    """Refused, as in torch: it was removed. `torch.solve` is deprecated in favor of `torch.linalg.solve`, whose arguments are reversed."""
def sort(
    input: Tensor,
    dim: _int = -1,
    descending: _bool = False,
    *,
    stable: _bool | None = False,
    out: Sequence[Tensor] | None = None,
) -> return_types.sort:
    """The elements sorted along a dimension, and their indices in `input`, as a named tuple (values, indices)."""
def sparse_coo_tensor(
    indices: Any = None,
    values: Any = None,
    size: _int | Sequence[_int] | None = None,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _Device | None = None,
    pin_memory: _bool = False,
    requires_grad: _bool = False,
    check_invariants: _bool | None = None,
    is_coalesced: _bool | None = None,
) -> Tensor:
    """A sparse tensor in coordinate form: `values` at `indices`, zero elsewhere."""
def split(
    tensor: Tensor, split_size_or_sections: _int | Sequence[_int], dim: _int = 0
) -> tuple[Tensor, ...]:
    """Split along a dimension into parts of one size, or of given sizes. Views, not to be modified under grad mode."""
def split_copy(
    input: Tensor, split_size: _int, dim: _int = 0, *, out: Sequence[Tensor] | None = None
) -> tuple[Tensor, ...]:
    """Return copies of the views that `split` returns, as a tuple. With `out`, a tuple to write into, return None."""
def split_with_sizes(
    input: Tensor, split_sizes: _int | Sequence[_int], dim: _int = 0
) -> tuple[Tensor, ...]:
    """Split along a dimension into parts of given sizes. Views, which must not be modified in-place under grad mode."""
def split_with_sizes_copy(
    input: Tensor, split_sizes: _int | Sequence[_int], dim: _int = 0, *, out: Sequence[Tensor] | None = None
) -> tuple[Tensor, ...]:
    """Return copies of the views that `split_with_sizes` returns. With `out`, a tuple to write into, return None."""
def sqrt(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The square root: NaN below 0."""
def sqrt_(input: Tensor) -> Tensor:
    """In-place form of `sqrt`: writes the result into this tensor and returns it."""
def square(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`input * input`; bool counts as int64."""
def square_(input: Tensor) -> Tensor:
    """In-place form of `square`: writes the result into this tensor and returns it."""
def squeeze(input: Tensor, dim: _int | Sequence[_int] | None = None) -> Tensor:
    """A view without dimensions of size 1."""
def squeeze_copy(
    input: Tensor, dim: _int | Sequence[_int] | None = None, *, out: Tensor | None = None
) -> Tensor:
    """Return a copy of the view that `squeeze` returns."""
def sspaddmm(
    input: Tensor | None, mat1: Tensor, mat2: Tensor, *, beta: _Scalar = 1, alpha: _Scalar = 1
) -> Tensor:
    """`beta * input + alpha * (mat1 @ mat2)` of sparse `input` and `mat1`, as a sparse tensor. No derivative."""
def stack(
    tensors: Sequence[Tensor], dim: _int = 0, *, axis: _int | None = None, out: Tensor | None = None
) -> Tensor:
    """Join tensors of one shape along a new dimension."""
def std(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    unbiased: _bool | None = None,
    keepdim: _bool = False,
    *,
    correction: _int | _float | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The standard deviation: the root of `var`. Its gradient is 0 where it is 0."""
def std_mean(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    unbiased: _bool | None = None,
    keepdim: _bool = False,
    *,
    correction: _int | _float | None = None,
    out: Sequence[Tensor] | None = None,
) -> tuple[Tensor, Tensor]:
    """The standard deviation and the mean, as a tuple. Arguments as for `var`."""
def stft(
    input: Tensor,
    n_fft: _int,
    hop_length: _int | None = None,
    win_length: _int | None = None,
    window: Tensor | None = None,
    center: _bool = True,
    pad_mode: str = 'reflect',
    normalized: _bool = False,
    onesided: _bool | None = None,
    return_complex: _bool | None = None,
    align_to_window: _bool | None = None,
) -> Tensor:
    """The spectra of overlapping frames of a signal, of shape (..., frequencies, frames)."""
def sub(
    input: Tensor | _Scalar, other: Tensor | _Scalar, *, alpha: _Scalar = 1, out: Tensor | None = None
) -> Tensor:
    """`input - alpha * other`."""
def sub_(input: Tensor, other: Tensor | _Scalar, *, alpha: _Scalar = 1) -> Tensor:
    """In-place form of `sub`: writes the result into this tensor and returns it."""
def subtract(
    input: Tensor | _Scalar, other: Tensor | _Scalar, *, alpha: _Scalar = 1, out: Tensor | None = None
) -> Tensor:
    """`input - alpha * other`."""
def subtract_(input: Tensor, other: Tensor | _Scalar, *, alpha: _Scalar = 1) -> Tensor:
    """In-place form of `sub`: writes the result into this tensor and returns it."""
def sum(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The sum of all elements, or over one or several dimensions."""
def svd(
    input: Tensor, some: _bool = True, compute_uv: _bool = True, *, out: Sequence[Tensor] | None = None
) -> return_types.svd:
    """`input = U @ diag(S) @ V^H`, as a named tuple (U, S, V)."""
def svd_lowrank(
    A: Tensor, q: Tensor | _float = 6, niter: _int = 2, M: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """The `q` largest singular values of a matrix that has hardly more, with their vectors: (U, S, V)."""
def swapaxes(input: Tensor, axis0: _int, axis1: _int) -> Tensor:
    """`transpose`, by NumPy's name."""
def swapdims(input: Tensor, dim0: _int, dim1: _int) -> Tensor:
    """A view with two dimensions exchanged."""
from .compat.symbols import sym_float as sym_float
from .compat.symbols import sym_int as sym_int
from .compat.symbols import sym_ite as sym_ite
from .compat.symbols import sym_max as sym_max
from .compat.symbols import sym_min as sym_min
from .compat.symbols import sym_not as sym_not
from .compat.symbols import sym_sqrt as sym_sqrt
from .compat.symbols import sym_sum as sym_sum
def symeig(
    input: Tensor, eigenvectors: _bool = False, upper: _bool = True, *, out: Sequence[Tensor] | None = None
) -> NoReturn:
    """Refused, as in torch: it was removed. Please use `torch.linalg.eigh` instead, which reads the lower triangle."""
def t(input: Tensor) -> Tensor:
    """Transpose a matrix; a tensor of fewer dimensions stays as it is."""
def t_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return a copy of the view that `t` returns."""
def take(input: Tensor, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The elements of `input`, read as if it had one dimension, at `index`; the result has the shape of `index`."""
def take_along_dim(
    input: Tensor, indices: Tensor, dim: _int | None = None, *, out: Tensor | None = None
) -> Tensor:
    """`gather` with broadcasting, as `numpy.take_along_axis`; without `dim`, of the flattened input."""
def tan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The tangent of an angle in radians."""
def tan_(input: Tensor) -> Tensor:
    """In-place form of `tan`: writes the result into this tensor and returns it."""
def tanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The hyperbolic tangent."""
def tanh_(input: Tensor) -> Tensor:
    """In-place form of `tanh`: writes the result into this tensor and returns it."""
def tensor(
    data: Any,
    *,
    dtype: _dtype | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    pin_memory: _bool = False,
) -> Tensor:
    """A new tensor with a copy of `data`: a number, nested lists, an array or a tensor."""
def tensor_split(
    input: Tensor,
    indices_or_sections: Tensor | _int | Sequence[_int] | None = None,
    dim: _int = 0,
    *,
    indices: _int | Sequence[_int] | None = None,
    sections: Tensor | _int | Sequence[_int] | None = None,
    tensor_indices_or_sections: Tensor | _int | Sequence[_int] | None = None,
) -> tuple[Tensor, ...]:
    """Split along a dimension into a number of parts whose sizes differ by at most 1, or at given indices. Views."""
def tensordot(
    a: Tensor,
    b: Tensor,
    dims: _int | Sequence[Sequence[_int]] | Sequence[_int] | Tensor = 2,
    out: Tensor | None = None,
) -> Tensor:
    """Sums of products over several dimensions of both tensors. The others are those of the result, first those of `a`."""
def threshold(input: Tensor, threshold: _Scalar, value: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`input` above the threshold, `value` elsewhere; NaN stays."""
def threshold_(input: Tensor, threshold: _float, value: _float) -> Tensor:
    """In-place form of `threshold`."""
def tile(input: Tensor, dims: _int | Sequence[_int]) -> Tensor:
    """Repeat along the last dimensions, as `numpy.tile` does."""
def to_dlpack(tensor: Tensor) -> Any:
    """A DLPack capsule of a tensor. It shares memory, and has no history."""
def topk(
    input: Tensor,
    k: _int,
    dim: _int = -1,
    largest: _bool = True,
    sorted: _bool = True,
    *,
    out: Sequence[Tensor] | None = None,
) -> return_types.topk:
    """The `k` largest or smallest elements along a dimension, as a named tuple (values, indices)."""
def trace(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The sum of the main diagonal of a matrix. Integers give int64."""
def transpose(input: Tensor, dim0: _int, dim1: _int) -> Tensor:
    """A view with two dimensions exchanged."""
def transpose_copy(input: Tensor, dim0: _int, dim1: _int, *, out: Tensor | None = None) -> Tensor:
    """Return a copy of the view that `transpose` returns."""
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Any = None, dim: _int = -1) -> Tensor:
    """The integral along a dimension of a function sampled there, by the trapezoid rule."""
def trapz(y: Tensor, x: Tensor | None = None, *, dx: Any = None, dim: _int = -1) -> Tensor:
    """Another name of `trapezoid`."""
def triangular_solve(
    input: Tensor,
    A: Tensor,
    upper: _bool = True,
    transpose: _bool = False,
    unitriangular: _bool = False,
    *,
    out: Sequence[Tensor] | None = None,
) -> return_types.triangular_solve:
    """As `linalg.solve_triangular(A, input)`, as a named tuple (solution, cloned_coefficient)."""
def tril(input: Tensor, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """The lower triangle of a matrix or batch of matrices, zeros elsewhere."""
def tril_(input: Tensor, diagonal: _int = 0) -> Tensor:
    """In-place form of `tril`: writes the result into this tensor and returns it."""
def tril_indices(
    row: _int,
    col: _int,
    offset: _int = 0,
    *,
    dtype: _dtype = ...,
    device: _Device | None = None,
    layout: _layout | None = None,
    pin_memory: _bool = False,
) -> Tensor:
    """Row and column numbers of the lower triangle of a `row` by `col` matrix, as a tensor of two rows."""
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: _float = 1.0,
    p: _float = 2,
    eps: _float = 1e-06,
    swap: _bool = False,
    reduction: _int = 0,
) -> Tensor:
    """`max(0, |anchor - positive| - |anchor - negative| + margin)`."""
def triu(input: Tensor, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """The upper triangle of a matrix or batch of matrices, zeros elsewhere."""
def triu_(input: Tensor, diagonal: _int = 0) -> Tensor:
    """In-place form of `triu`: writes the result into this tensor and returns it."""
def triu_indices(
    row: _int,
    col: _int,
    offset: _int = 0,
    *,
    dtype: _dtype = ...,
    device: _Device | None = None,
    layout: _layout | None = None,
    pin_memory: _bool = False,
) -> Tensor:
    """Row and column numbers of the upper triangle of a `row` by `col` matrix, as a tensor of two rows."""
def true_divide(input: Tensor | _Scalar, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
    """`input / other`; integers give the default floating-point dtype."""
def true_divide_(self: Tensor, other: Tensor) -> Tensor:
    """In-place form of `true_divide`: writes the result into this tensor and returns it."""
def trunc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The next whole number towards 0."""
def trunc_(input: Tensor) -> Tensor:
    """In-place form of `trunc`: writes the result into this tensor and returns it."""
from .compat.top_level import typename as typename
uint16: _dtype
uint32: _dtype
uint64: _dtype
uint8: _dtype
def unbind(input: Tensor, dim: _int = 0) -> tuple[Tensor, ...]:
    """All slices along a dimension, with it removed. Views, which must not be modified in-place under grad mode."""
def unbind_copy(
    input: Tensor, dim: _int = 0, *, out: Sequence[Tensor] | None = None
) -> tuple[Tensor, ...]:
    """Return copies of the views that `unbind` returns, as a tuple. With `out`, a tuple to write into, return None."""
def unflatten(input: Tensor, dim: _int, sizes: _int | Sequence[_int]) -> Tensor:
    """Split one dimension into several."""
def unfold_copy(
    input: Tensor, dimension: _int, size: _int, step: _int, *, out: Tensor | None = None
) -> Tensor:
    """Return a copy of the view that `unfold` returns."""
@overload
def unique(
    input: Tensor,
    sorted: _bool = ...,
    return_inverse: Literal[False] = ...,
    return_counts: Literal[False] = ...,
    dim: _int | None = ...,
) -> Tensor: ...
@overload
def unique(
    input: Tensor,
    sorted: _bool = ...,
    *,
    return_inverse: Literal[True],
    return_counts: Literal[True],
    dim: _int | None = ...,
) -> tuple[Tensor, Tensor, Tensor]: ...
@overload
def unique(
    input: Tensor,
    sorted: _bool = ...,
    *,
    return_inverse: Literal[True],
    return_counts: Literal[False] = ...,
    dim: _int | None = ...,
) -> tuple[Tensor, Tensor]: ...
@overload
def unique(
    input: Tensor,
    sorted: _bool = ...,
    return_inverse: Literal[False] = ...,
    *,
    return_counts: Literal[True],
    dim: _int | None = ...,
) -> tuple[Tensor, Tensor]: ...
@overload
def unique(
    input: Tensor,
    sorted: _bool = ...,
    return_inverse: _bool = ...,
    return_counts: _bool = ...,
    dim: _int | None = ...,
) -> Any: ...
@overload
def unique_consecutive(
    input: Tensor,
    return_inverse: Literal[False] = ...,
    return_counts: Literal[False] = ...,
    dim: _int | None = ...,
) -> Tensor: ...
@overload
def unique_consecutive(
    input: Tensor, return_inverse: Literal[True], return_counts: Literal[True], dim: _int | None = ...
) -> tuple[Tensor, Tensor, Tensor]: ...
@overload
def unique_consecutive(
    input: Tensor, return_inverse: Literal[True], return_counts: Literal[False] = ..., dim: _int | None = ...
) -> tuple[Tensor, Tensor]: ...
@overload
def unique_consecutive(
    input: Tensor, return_inverse: Literal[False] = ..., *, return_counts: Literal[True], dim: _int | None = ...
) -> tuple[Tensor, Tensor]: ...
@overload
def unique_consecutive(
    input: Tensor, return_inverse: _bool = ..., return_counts: _bool = ..., dim: _int | None = ...
) -> Any: ...
def unravel_index(indices: Tensor, shape: _int | Sequence[_int]) -> tuple[Tensor, ...]:
    """The indices along each dimension of a shape that flat indices stand for."""
def unsafe_chunk(input: Tensor, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
    """`chunk` whose parts may be modified in-place: see `unsafe_split`."""
def unsafe_split(input: Tensor, split_size: _int, dim: _int = 0) -> tuple[Tensor, ...]:
    """`split` whose parts may be modified in-place: autograd does not record them as views; do not use them as such."""
def unsafe_split_with_sizes(
    input: Tensor, split_sizes: _int | Sequence[_int], dim: _int = 0, *, out: Sequence[Tensor] | None = None
) -> tuple[Tensor, ...]:
    """`split_with_sizes` whose parts may be modified in-place: autograd does not record them as views."""
def unsqueeze(input: Tensor, dim: _int) -> Tensor:
    """A view with one more dimension, of size 1."""
def unsqueeze_copy(input: Tensor, dim: _int, *, out: Tensor | None = None) -> Tensor:
    """Return a copy of the view that `unsqueeze` returns."""
from .base.settings import use_deterministic_algorithms as use_deterministic_algorithms
def vander(x: Tensor, N: _int | None = None, increasing: _bool = False) -> Tensor:
    """The matrix of powers of a vector, the highest power first."""
def var(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    unbiased: _bool | None = None,
    keepdim: _bool = False,
    *,
    correction: _int | _float | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The variance: squared distances from the mean, summed and divided by `n - correction`."""
def var_mean(
    input: Tensor,
    dim: _int | Sequence[_int] | None = None,
    unbiased: _bool | None = None,
    keepdim: _bool = False,
    *,
    correction: _int | _float | None = None,
    out: Sequence[Tensor] | None = None,
) -> tuple[Tensor, Tensor]:
    """The variance and the mean, as a tuple. Arguments as for `var`."""
def vdot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Sum of the products of two vectors, the first conjugated."""
def view_as_complex(input: Tensor) -> Tensor:
    """A view of a real tensor, whose last dimension holds the two parts, as a complex one."""
def view_as_complex_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return a copy of the view that `view_as_complex` returns."""
def view_as_real(input: Tensor) -> Tensor:
    """A view of a complex tensor as a real one, with a last dimension for the two parts."""
def view_as_real_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return a copy of the view that `view_as_real` returns."""
def view_copy(
    input: Tensor,
    size: _int | Sequence[_int] | None = None,
    *,
    dtype: _dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Return a copy of the view that `view` returns for a shape, or for a dtype that reinterprets the bits."""
from .func import vmap as vmap
def vsplit(
    input: Tensor,
    indices_or_sections: Tensor | _int | Sequence[_int] | None = None,
    *,
    indices: _int | Sequence[_int] | None = None,
    sections: Tensor | _int | Sequence[_int] | None = None,
) -> tuple[Tensor, ...]:
    """Parts along the first dimension. Views."""
def vstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Join as rows."""
@overload
def where(condition: Tensor) -> tuple[Tensor, ...]: ...
@overload
def where(
    condition: Tensor, input: Tensor | _Scalar, other: Tensor | _Scalar, *, out: Tensor | None = ...
) -> Tensor: ...
def xlogy(input: Tensor | _Scalar, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
    """`input * log(other)`, and 0 where `input` is 0 unless `other` is NaN."""
def xlogy_(input: Tensor, other: Tensor | _Scalar) -> Tensor:
    """In-place form of `xlogy`: writes the result into this tensor and returns it."""
def zero_(input: Tensor) -> Tensor:
    """Write zeros into all elements of `input` and return it: `input.zero_()` as a function."""
def zeros(
    *sizes: _int | Sequence[_int],
    size: _int | Sequence[_int] | None = None,
    out: Tensor | None = None,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    pin_memory: _bool = False,
) -> Tensor:
    """A tensor of zeros."""
def zeros_like(
    input: Tensor,
    *,
    dtype: _dtype | None = None,
    layout: _layout | None = None,
    device: _Device | None = None,
    requires_grad: _bool = False,
    pin_memory: _bool = False,
    memory_format: _memory_format | None = None,
) -> Tensor:
    """Zeros of the shape, dtype and layout of `input`."""
__version__: str
__all__ = [
    "BFloat16Tensor",
    "BoolTensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "Generator",
    "GradScaler",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "OutOfMemoryError",
    "ShortTensor",
    "Size",
    "Tensor",
    "abs",
    "abs_",
    "absolute",
    "absolute_",
    "accelerator",
    "acos",
    "acos_",
    "acosh",
    "acosh_",
    "adaptive_avg_pool1d",
    "adaptive_max_pool1d",
    "add",
    "add_",
    "addbmm",
    "addbmm_",
    "addcdiv",
    "addcdiv_",
    "addcmul",
    "addcmul_",
    "addmm",
    "addmm_",
    "addmv",
    "addmv_",
    "addr",
    "addr_",
    "adjoint",
    "affine_grid_generator",
    "alias_copy",
    "all",
    "allclose",
    "alpha_dropout",
    "alpha_dropout_",
    "amax",
    "amin",
    "aminmax",
    "amp",
    "angle",
    "any",
    "arange",
    "arccos",
    "arccos_",
    "arccosh",
    "arccosh_",
    "arcsin",
    "arcsin_",
    "arcsinh",
    "arcsinh_",
    "arctan",
    "arctan2",
    "arctan2_",
    "arctan_",
    "arctanh",
    "arctanh_",
    "are_deterministic_algorithms_enabled",
    "argmax",
    "argmin",
    "argsort",
    "argwhere",
    "array_api",
    "as_strided",
    "as_strided_",
    "as_strided_copy",
    "as_strided_scatter",
    "as_tensor",
    "as_torch",
    "asarray",
    "asin",
    "asin_",
    "asinh",
    "asinh_",
    "atan",
    "atan2",
    "atan2_",
    "atan_",
    "atanh",
    "atanh_",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "autocast",
    "autocast_decrement_nesting",
    "autocast_increment_nesting",
    "autograd",
    "avg_pool1d",
    "backends",
    "baddbmm",
    "baddbmm_",
    "bartlett_window",
    "batch_norm",
    "bernoulli",
    "bernoulli_",
    "bfloat16",
    "bilinear",
    "binary_cross_entropy_with_logits",
    "bincount",
    "binomial",
    "bitwise_and",
    "bitwise_and_",
    "bitwise_left_shift",
    "bitwise_left_shift_",
    "bitwise_not",
    "bitwise_not_",
    "bitwise_or",
    "bitwise_or_",
    "bitwise_right_shift",
    "bitwise_right_shift_",
    "bitwise_xor",
    "bitwise_xor_",
    "blackman_window",
    "block_diag",
    "bmm",
    "bool",
    "broadcast_shapes",
    "broadcast_tensors",
    "broadcast_to",
    "bucketize",
    "can_cast",
    "cartesian_prod",
    "cat",
    "cdist",
    "cdouble",
    "ceil",
    "ceil_",
    "celu",
    "celu_",
    "cfloat",
    "chain_matmul",
    "chalf",
    "channel_shuffle",
    "channels_last",
    "channels_last_3d",
    "cholesky",
    "cholesky_inverse",
    "cholesky_solve",
    "chunk",
    "clamp",
    "clamp_",
    "clamp_max",
    "clamp_max_",
    "clamp_min",
    "clamp_min_",
    "clear_autocast_cache",
    "cli",
    "clip",
    "clip_",
    "clone",
    "column_stack",
    "combinations",
    "compile",
    "compiled_with_cxx11_abi",
    "compiler",
    "complex",
    "complex128",
    "complex32",
    "complex64",
    "concat",
    "concatenate",
    "conj",
    "conj_physical",
    "conj_physical_",
    "constant_pad_nd",
    "contiguous_format",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_tbc",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "convolution",
    "copysign",
    "copysign_",
    "corrcoef",
    "cos",
    "cos_",
    "cosh",
    "cosh_",
    "cosine_embedding_loss",
    "cosine_similarity",
    "count_nonzero",
    "cov",
    "cpu",
    "cross",
    "ctc_loss",
    "cuda",
    "cummax",
    "cummin",
    "cumprod",
    "cumprod_",
    "cumsum",
    "cumsum_",
    "cumulative_trapezoid",
    "default_generator",
    "deg2rad",
    "deg2rad_",
    "det",
    "detach",
    "detach_",
    "detach_copy",
    "device",
    "diag",
    "diag_embed",
    "diagflat",
    "diagonal",
    "diagonal_copy",
    "diagonal_scatter",
    "diff",
    "digamma",
    "digamma_",
    "dist",
    "distributed",
    "distributions",
    "div",
    "div_",
    "divide",
    "divide_",
    "dot",
    "double",
    "dropout",
    "dropout_",
    "dsplit",
    "dstack",
    "dtype",
    "e",
    "eig",
    "einsum",
    "embedding",
    "embedding_bag",
    "empty",
    "empty_like",
    "empty_permuted",
    "empty_strided",
    "enable_grad",
    "eq",
    "eq_",
    "equal",
    "erf",
    "erf_",
    "erfc",
    "erfc_",
    "erfinv",
    "erfinv_",
    "exp",
    "exp2",
    "exp2_",
    "exp_",
    "expand_copy",
    "expm1",
    "expm1_",
    "extend",
    "eye",
    "feature_alpha_dropout",
    "feature_alpha_dropout_",
    "feature_dropout",
    "feature_dropout_",
    "fft",
    "fill",
    "fill_",
    "finfo",
    "fix",
    "fix_",
    "flatten",
    "flip",
    "fliplr",
    "flipud",
    "float",
    "float16",
    "float32",
    "float64",
    "float8_e4m3fn",
    "float8_e5m2",
    "float_power",
    "float_power_",
    "floor",
    "floor_",
    "floor_divide",
    "floor_divide_",
    "fmax",
    "fmin",
    "fmod",
    "fmod_",
    "frac",
    "frac_",
    "frexp",
    "frobenius_norm",
    "from_dlpack",
    "from_numpy",
    "frombuffer",
    "full",
    "full_like",
    "func",
    "gather",
    "gcd",
    "gcd_",
    "ge",
    "ge_",
    "geqrf",
    "ger",
    "get_autocast_cpu_dtype",
    "get_autocast_dtype",
    "get_autocast_gpu_dtype",
    "get_autocast_ipu_dtype",
    "get_autocast_xla_dtype",
    "get_default_device",
    "get_default_dtype",
    "get_deterministic_debug_mode",
    "get_device",
    "get_device_module",
    "get_file_path",
    "get_float32_matmul_precision",
    "get_num_interop_threads",
    "get_num_threads",
    "get_rng_state",
    "gradient",
    "greater",
    "greater_",
    "greater_equal",
    "greater_equal_",
    "grid_sampler",
    "grid_sampler_2d",
    "grid_sampler_3d",
    "group_norm",
    "gru",
    "gru_cell",
    "gt",
    "gt_",
    "half",
    "hamming_window",
    "hann_window",
    "hardshrink",
    "hash_tensor",
    "heaviside",
    "heaviside_",
    "hinge_embedding_loss",
    "histc",
    "histogram",
    "histogramdd",
    "hsplit",
    "hspmm",
    "hstack",
    "hypot",
    "hypot_",
    "i0",
    "i0_",
    "igamma",
    "igamma_",
    "igammac",
    "igammac_",
    "iinfo",
    "imag",
    "index_add",
    "index_add_",
    "index_copy",
    "index_copy_",
    "index_fill",
    "index_fill_",
    "index_put",
    "index_put_",
    "index_reduce",
    "index_reduce_",
    "index_select",
    "inf",
    "inference_mode",
    "initial_seed",
    "inner",
    "install_as_torch",
    "instance_norm",
    "int",
    "int16",
    "int32",
    "int64",
    "int8",
    "inverse",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "is_autocast_cache_enabled",
    "is_autocast_cpu_enabled",
    "is_autocast_enabled",
    "is_autocast_ipu_enabled",
    "is_autocast_xla_enabled",
    "is_complex",
    "is_conj",
    "is_deterministic_algorithms_warn_only_enabled",
    "is_floating_point",
    "is_grad_enabled",
    "is_inference",
    "is_inference_mode_enabled",
    "is_neg",
    "is_nonzero",
    "is_same_size",
    "is_signed",
    "is_storage",
    "is_tensor",
    "is_warn_always_enabled",
    "isclose",
    "isfinite",
    "isin",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "isreal",
    "istft",
    "kaiser_window",
    "kl_div",
    "kron",
    "kthvalue",
    "layer_norm",
    "layout",
    "lcm",
    "lcm_",
    "ldexp",
    "ldexp_",
    "le",
    "le_",
    "lerp",
    "lerp_",
    "less",
    "less_",
    "less_equal",
    "less_equal_",
    "lgamma",
    "lgamma_",
    "library",
    "linalg",
    "linspace",
    "load",
    "lobpcg",
    "log",
    "log10",
    "log10_",
    "log1p",
    "log1p_",
    "log2",
    "log2_",
    "log_",
    "log_softmax",
    "logaddexp",
    "logaddexp2",
    "logcumsumexp",
    "logdet",
    "logical_and",
    "logical_and_",
    "logical_not",
    "logical_not_",
    "logical_or",
    "logical_or_",
    "logical_xor",
    "logical_xor_",
    "logit",
    "logit_",
    "logspace",
    "logsumexp",
    "long",
    "lstm",
    "lstm_cell",
    "lstsq",
    "lt",
    "lt_",
    "lu",
    "lu_solve",
    "lu_unpack",
    "manual_seed",
    "margin_ranking_loss",
    "masked",
    "masked_fill",
    "masked_fill_",
    "masked_scatter",
    "masked_scatter_",
    "masked_select",
    "matmul",
    "matrix_exp",
    "matrix_power",
    "matrix_rank",
    "max",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool3d",
    "maximum",
    "mean",
    "median",
    "memory_format",
    "meshgrid",
    "min",
    "minimum",
    "mm",
    "mode",
    "moveaxis",
    "movedim",
    "mps",
    "msort",
    "mul",
    "mul_",
    "multinomial",
    "multiply",
    "multiply_",
    "mv",
    "mvlgamma",
    "mvlgamma_",
    "nan",
    "nan_to_num",
    "nan_to_num_",
    "nanmean",
    "nanmedian",
    "nanquantile",
    "nansum",
    "narrow",
    "narrow_copy",
    "native_batch_norm",
    "native_channel_shuffle",
    "native_dropout",
    "native_group_norm",
    "native_layer_norm",
    "ne",
    "ne_",
    "neg",
    "neg_",
    "negative",
    "negative_",
    "newaxis",
    "nextafter",
    "nextafter_",
    "nn",
    "no_grad",
    "nonzero",
    "nonzero_static",
    "norm",
    "norm_except_dim",
    "normal",
    "normal_",
    "not_equal",
    "not_equal_",
    "nuclear_norm",
    "numel",
    "ones",
    "ones_like",
    "optim",
    "orgqr",
    "ormqr",
    "outer",
    "overrides",
    "pairwise_distance",
    "pca_lowrank",
    "pdist",
    "permute",
    "permute_copy",
    "pi",
    "pinverse",
    "pixel_shuffle",
    "pixel_unshuffle",
    "poisson",
    "poisson_nll_loss",
    "polar",
    "polygamma",
    "polygamma_",
    "positive",
    "pow",
    "pow_",
    "prelu",
    "preserve_format",
    "prod",
    "profiler",
    "profiler_allow_cudagraph_cupti_lazy_reinit_cuda12",
    "promote_types",
    "put",
    "put_",
    "qr",
    "quantile",
    "rad2deg",
    "rad2deg_",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "random",
    "randperm",
    "range",
    "ravel",
    "real",
    "reciprocal",
    "reciprocal_",
    "relu",
    "relu_",
    "remainder",
    "remainder_",
    "renorm",
    "renorm_",
    "repeat_interleave",
    "reshape",
    "resize_as_",
    "resolve_conj",
    "resolve_neg",
    "result_type",
    "return_types",
    "rms_norm",
    "rnn_relu",
    "rnn_relu_cell",
    "rnn_tanh",
    "rnn_tanh_cell",
    "roll",
    "rot90",
    "round",
    "round_",
    "row_stack",
    "rrelu",
    "rrelu_",
    "rsqrt",
    "rsqrt_",
    "rsub",
    "save",
    "saved",
    "scalar_tensor",
    "scatter",
    "scatter_",
    "scatter_add",
    "scatter_add_",
    "scatter_reduce",
    "scatter_reduce_",
    "searchsorted",
    "seed",
    "segment_reduce",
    "select",
    "select_copy",
    "select_scatter",
    "selu",
    "selu_",
    "serialization",
    "set_anomaly_enabled",
    "set_autocast_cache_enabled",
    "set_autocast_cpu_dtype",
    "set_autocast_cpu_enabled",
    "set_autocast_dtype",
    "set_autocast_enabled",
    "set_default_device",
    "set_default_dtype",
    "set_default_tensor_type",
    "set_deterministic_debug_mode",
    "set_float32_matmul_precision",
    "set_flush_denormal",
    "set_grad_enabled",
    "set_num_interop_threads",
    "set_num_threads",
    "set_printoptions",
    "set_rng_state",
    "set_warn_always",
    "sgn",
    "sgn_",
    "short",
    "sigmoid",
    "sigmoid_",
    "sign",
    "sign_",
    "signal",
    "signbit",
    "sin",
    "sin_",
    "sinc",
    "sinc_",
    "sinh",
    "sinh_",
    "slice_copy",
    "slice_scatter",
    "slogdet",
    "smm",
    "softmax",
    "solve",
    "sort",
    "sparse",
    "sparse_coo",
    "sparse_coo_tensor",
    "special",
    "split",
    "split_copy",
    "split_with_sizes",
    "split_with_sizes_copy",
    "sqrt",
    "sqrt_",
    "square",
    "square_",
    "squeeze",
    "squeeze_copy",
    "sspaddmm",
    "stack",
    "std",
    "std_mean",
    "stft",
    "strided",
    "sub",
    "sub_",
    "subtract",
    "subtract_",
    "sum",
    "svd",
    "svd_lowrank",
    "swapaxes",
    "swapdims",
    "sym_float",
    "sym_int",
    "sym_ite",
    "sym_max",
    "sym_min",
    "sym_not",
    "sym_sqrt",
    "sym_sum",
    "symeig",
    "t",
    "t_copy",
    "take",
    "take_along_dim",
    "tan",
    "tan_",
    "tanh",
    "tanh_",
    "tensor",
    "tensor_split",
    "tensordot",
    "testing",
    "threshold",
    "threshold_",
    "tile",
    "to_dlpack",
    "topk",
    "trace",
    "transpose",
    "transpose_copy",
    "trapezoid",
    "trapz",
    "triangular_solve",
    "tril",
    "tril_",
    "tril_indices",
    "triplet_margin_loss",
    "triu",
    "triu_",
    "triu_indices",
    "true_divide",
    "true_divide_",
    "trunc",
    "trunc_",
    "typename",
    "types",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
    "unbind",
    "unbind_copy",
    "unflatten",
    "unfold_copy",
    "unique",
    "unique_consecutive",
    "unravel_index",
    "unsafe_chunk",
    "unsafe_split",
    "unsafe_split_with_sizes",
    "unsqueeze",
    "unsqueeze_copy",
    "use_deterministic_algorithms",
    "utils",
    "vander",
    "var",
    "var_mean",
    "vdot",
    "version",
    "view_as_complex",
    "view_as_complex_copy",
    "view_as_real",
    "view_as_real_copy",
    "view_copy",
    "vmap",
    "vsplit",
    "vstack",
    "where",
    "xlogy",
    "xlogy_",
    "xpu",
    "zero_",
    "zeros",
    "zeros_like",
]
