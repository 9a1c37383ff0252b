"""The array API standard, version 2024.12, over gradpack's functions: everything differentiates.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from collections.abc import Sequence
from typing import Any
from ..array_api._types import Axes, FloatLimits, IntLimits, Shape, UniqueAll, UniqueCounts, UniqueInverse, Where
from ..base.layouts import layout as _layout
from ..base.memory_formats import memory_format as _memory_format
from ..base.size import Size
from ..core.tensor import Tensor
from ..types import Device as _Device, _bool, _complex, _dtype, _float, _int, _Scalar

from . import special as special
from . import linalg as linalg
from . import fft as fft
def abs(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The absolute value; the gradient at 0 is 0."""
def acos(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle whose cosine is `input`: NaN outside of [-1, 1]."""
def acosh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of `cosh`: NaN below 1."""
def add(x1: Any, x2: Any) -> Tensor:
    """Return `gradpack.add` of two operands, promoted as the array API standard says."""
def all(x: Tensor, *, axis: Axes | None = None, keepdims: _bool = False) -> Tensor:
    """Return whether all elements over some axes are true."""
def any(x: Tensor, *, axis: Axes | None = None, keepdims: _bool = False) -> Tensor:
    """Return whether an element over some axes is true."""
def arange(
    start: _float,
    stop: _float | None = None,
    step: _float = 1,
    *,
    dtype: _dtype | None = None,
    device: Where | None = None,
) -> Tensor:
    """Return numbers at equal distances, from `start` up to and without `stop`; none if `stop` is not ahead."""
def argmax(x: Tensor, *, axis: _int | None = None, keepdims: _bool = False) -> Tensor:
    """Return the index of the first largest element along an axis, or in the flattened tensor."""
def argmin(x: Tensor, *, axis: _int | None = None, keepdims: _bool = False) -> Tensor:
    """Return the index of the first smallest element along an axis, or in the flattened tensor."""
def argsort(x: Tensor, *, axis: _int = -1, descending: _bool = False, stable: _bool = True) -> Tensor:
    """Return the indices that sort a tensor along an axis."""
def asarray(
    obj: Any, *, dtype: _dtype | None = None, device: Where | None = None, copy: _bool | None = None
) -> Tensor:
    """Return a tensor of an array, numbers, nested sequences of them, or a buffer; of tensors, with their history."""
def asin(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle whose sine is `input`: NaN outside of [-1, 1]."""
def asinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of `sinh`."""
def astype(x: Tensor, dtype: _dtype, *, copy: _bool = True, device: Where | None = None) -> Tensor:
    """Return a tensor with another dtype; a copy even if it has that dtype, unless `copy=False`."""
def atan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The angle whose tangent is `input`."""
def atan2(x1: Any, x2: Any) -> Tensor:
    """Return `gradpack.atan2` of two operands, promoted as the array API standard says."""
def atanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of `tanh`: NaN outside of [-1, 1]."""
def bitwise_and(x1: Any, x2: Any) -> Tensor:
    """Return `gradpack.bitwise_and` of two operands, promoted as the array API standard says."""
def bitwise_invert(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Bitwise complement; for bool, `logical_not`."""
def bitwise_left_shift(x1: Any, x2: Any) -> Tensor:
    """Return `gradpack.bitwise_left_shift` of two operands, promoted as the array API standard says."""
def bitwise_or(x1: Any, x2: Any) -> Tensor:
    """Return `gradpack.bitwise_or` of two operands, promoted as the array API standard says."""
def bitwise_right_shift(x1: Any, x2: Any) -> Tensor:
    """Return `gradpack.bitwise_right_shift` of two operands, promoted as the array API standard says."""
def bitwise_xor(x1: Any, x2: Any) -> Tensor:
    """Return `gradpack.bitwise_xor` of two operands, promoted as the array API standard says."""
bool: _dtype
def broadcast_arrays(*arrays: Tensor) -> list[Tensor]:
    """Return tensors expanded to the shape that they broadcast to."""
def broadcast_shapes(*shapes: _int | Sequence[_int]) -> Size:
    """The shape that several shapes broadcast to."""
def broadcast_to(x: Tensor, shape: tuple[_int, ...]) -> Tensor:
    """Return a tensor expanded to a shape."""
def can_cast(from_: _dtype | Tensor, to: _dtype) -> _bool:
    """Return whether promotion leads from one dtype, or that of an array, to another."""
def ceil(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The next whole number above."""
def clip(x: Tensor, min: Tensor | _Scalar | None = None, max: Tensor | _Scalar | None = None) -> Tensor:
    """Return the elements within limits, which are numbers, tensors that broadcast, or None; of the dtype of `x`."""
complex128: _dtype
complex64: _dtype
def concat(arrays: Sequence[Tensor], *, axis: _int | None = 0) -> Tensor:
    """Return tensors one after another along an axis; flattened ones if it is None."""
def conj(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The complex conjugate, in memory of its own; a real tensor itself."""
def copysign(x1: Any, x2: Any) -> Tensor:
    """Return `gradpack.copysign` of two operands, promoted as the array API standard says."""
def cos(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The cosine of an angle in radians."""
def cosh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The hyperbolic cosine."""
def count_nonzero(x: Tensor, *, axis: Axes | None = None, keepdims: _bool = False) -> Tensor:
    """Return how many elements over some axes are not zero."""
def cumulative_prod(
    x: Tensor, *, axis: _int | None = None, dtype: _dtype | None = None, include_initial: _bool = False
) -> Tensor:
    """Return the products of the first elements along an axis; the first one is 1 if `include_initial`."""
def cumulative_sum(
    x: Tensor, *, axis: _int | None = None, dtype: _dtype | None = None, include_initial: _bool = False
) -> Tensor:
    """Return the sums of the first elements along an axis; the first one is 0 if `include_initial`."""
def diff(
    x: Tensor, *, axis: _int = -1, n: _int = 1, prepend: Tensor | None = None, append: Tensor | None = None
) -> Tensor:
    """Return the differences of neighbours along an axis, `n` times."""
def divide(x1: Any, x2: Any) -> Tensor:
    """Return `gradpack.divide` of two operands, promoted as the array API standard says."""
e: float
def empty(shape: Shape, *, dtype: _dtype | None = None, device: Where | None = None) -> Tensor:
    """Return an uninitialised tensor of a shape."""
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
def equal(x1: Any, x2: Any) -> Tensor:
    """Return `gradpack.eq` of two operands, promoted as the array API standard says."""
def exp(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """e to the power of `input`."""
def expand_dims(x: Tensor, axis: Axes) -> Tensor:
    """Return a tensor with new axes of size 1, at these places in the result."""
def expm1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`exp(input) - 1`, precise near 0."""
def eye(
    n_rows: _int,
    n_cols: _int | None = None,
    *,
    k: _int = 0,
    dtype: _dtype | None = None,
    device: Where | None = None,
) -> Tensor:
    """Return a matrix with ones on diagonal `k` and zeros elsewhere."""
def finfo(type: _dtype | Tensor) -> FloatLimits:
    """Return the limits of a floating or complex dtype, or of that of a tensor; `dtype` is a dtype, unlike torch's."""
def flip(x: Tensor, *, axis: Axes | None = None) -> Tensor:
    """Return a tensor in reverse order along some axes, or all."""
float32: _dtype
float64: _dtype
def floor(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The next whole number below."""
def floor_divide(x1: Any, x2: Any) -> Tensor:
    """Return `gradpack.floor_divide` of two operands, promoted as the array API standard says."""
def from_dlpack(x: Tensor | _Scalar, *, device: Where | None = None, copy: _bool | None = None) -> Tensor:
    """Return a tensor of the memory of an object with `__dlpack__`."""
def full(
    shape: Shape, fill_value: _complex, *, dtype: _dtype | None = None, device: Where | None = None
) -> Tensor:
    """Return a tensor of a shape whose elements are all one number."""
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
def greater(x1: Any, x2: Any) -> Tensor:
    """Return `gradpack.greater` of two operands, promoted as the array API standard says."""
def greater_equal(x1: Any, x2: Any) -> Tensor:
    """Return `gradpack.greater_equal` of two operands, promoted as the array API standard says."""
def hypot(x1: Any, x2: Any) -> Tensor:
    """Return `gradpack.hypot` of two operands, promoted as the array API standard says."""
def iinfo(type: _dtype | Tensor) -> IntLimits:
    """Return the limits of an integer dtype, or of that of a tensor; `dtype` is a dtype, unlike torch's."""
def imag(input: Tensor) -> Tensor:
    """The imaginary part: a view of a complex tensor."""
inf: float
int16: _dtype
int32: _dtype
int64: _dtype
int8: _dtype
def isdtype(dtype: _dtype, kind: _dtype | str | tuple[_dtype | str, ...]) -> _bool:
    """Return whether a dtype is of a kind, or of one of several."""
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
def less(x1: Any, x2: Any) -> Tensor:
    """Return `gradpack.less` of two operands, promoted as the array API standard says."""
def less_equal(x1: Any, x2: Any) -> Tensor:
    """Return `gradpack.less_equal` of two operands, promoted as the array API standard says."""
def linspace(
    start: _complex,
    stop: _complex,
    num: _int,
    *,
    dtype: _dtype | None = None,
    device: Where | None = None,
    endpoint: _bool = True,
) -> Tensor:
    """Return `num` numbers at equal distances, from `start` to `stop`, which is the last one if `endpoint`."""
def log(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The natural logarithm: -inf at 0, NaN below."""
def log10(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm to base 10."""
def log1p(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`log(1 + input)`, precise near 0."""
def log2(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm to base 2."""
def logaddexp(x1: Any, x2: Any) -> Tensor:
    """Return `gradpack.logaddexp` of two operands, promoted as the array API standard says."""
def logical_and(x1: Any, x2: Any) -> Tensor:
    """Return `gradpack.logical_and` of two operands, promoted as the array API standard says."""
def logical_not(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Where `input` is 0."""
def logical_or(x1: Any, x2: Any) -> Tensor:
    """Return `gradpack.logical_or` of two operands, promoted as the array API standard says."""
def logical_xor(x1: Any, x2: Any) -> Tensor:
    """Return `gradpack.logical_xor` of two operands, promoted as the array API standard says."""
def matmul(x1: Tensor, x2: Tensor) -> Tensor:
    """Return the product of matrices, or of a matrix and a vector."""
def matrix_transpose(x: Tensor) -> Tensor:
    """Return a tensor with its last two axes swapped."""
def max(x: Tensor, *, axis: Axes | None = None, keepdims: _bool = False) -> Tensor:
    """Return the largest element over some axes, or all."""
def maximum(x1: Any, x2: Any) -> Tensor:
    """Return `gradpack.maximum` of two operands, promoted as the array API standard says."""
def mean(x: Tensor, *, axis: Axes | None = None, keepdims: _bool = False) -> Tensor:
    """Return the mean over some axes, or all."""
def meshgrid(*arrays: Tensor, indexing: str = 'xy') -> list[Tensor]:
    """Return the coordinates of a grid, one tensor for each of the vectors given."""
def min(x: Tensor, *, axis: Axes | None = None, keepdims: _bool = False) -> Tensor:
    """Return the smallest element over some axes, or all."""
def minimum(x1: Any, x2: Any) -> Tensor:
    """Return `gradpack.minimum` of two operands, promoted as the array API standard says."""
def moveaxis(x: Tensor, source: _int | Sequence[_int], destination: Axes) -> Tensor:
    """Return a tensor with some axes at other places."""
def multiply(x1: Any, x2: Any) -> Tensor:
    """Return `gradpack.multiply` of two operands, promoted as the array API standard says."""
nan: float
def negative(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`-input`."""
newaxis: None
def nextafter(x1: Any, x2: Any) -> Tensor:
    """Return `gradpack.nextafter` of two operands, promoted as the array API standard says."""
def nonzero(x: Tensor) -> tuple[Tensor, ...]:
    """Return the indices of the elements that are not zero, one tensor for each axis."""
def not_equal(x1: Any, x2: Any) -> Tensor:
    """Return `gradpack.ne` of two operands, promoted as the array API standard says."""
def ones(shape: Shape, *, dtype: _dtype | None = None, device: Where | None = None) -> Tensor:
    """Return ones of a shape."""
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
def permute_dims(x: Tensor, axes: tuple[_int, ...]) -> Tensor:
    """Return a tensor with its axes in another order."""
pi: float
def positive(input: Tensor) -> Tensor:
    """The tensor itself."""
def pow(x1: Any, x2: Any) -> Tensor:
    """Return `gradpack.pow` of two operands, promoted as the array API standard says."""
def prod(
    x: Tensor, *, axis: Axes | None = None, dtype: _dtype | None = None, keepdims: _bool = False
) -> Tensor:
    """Return the product over some axes, or all; of integers as int64."""
def real(input: Tensor) -> Tensor:
    """The real part: a view of a complex tensor, and a real tensor itself."""
def reciprocal(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`1 / input`."""
def remainder(x1: Any, x2: Any) -> Tensor:
    """Return `gradpack.remainder` of two operands, promoted as the array API standard says."""
def repeat(x: Tensor, repeats: _int | Tensor, *, axis: _int | None = None) -> Tensor:
    """Return each element several times in a row, along an axis or of the flattened tensor."""
def reshape(x: Tensor, shape: tuple[_int, ...], *, copy: _bool | None = None) -> Tensor:
    """Return a tensor of the same elements in another shape."""
def result_type(*arrays_and_dtypes: Any) -> _dtype:
    """Return the dtype of an operation on these arrays, dtypes and Python numbers."""
def roll(x: Tensor, shift: Axes, *, axis: Axes | None = None) -> Tensor:
    """Return a tensor with its elements moved round along some axes, or of the flattened tensor."""
def round(x: Tensor) -> Tensor:
    """Return the nearest integer of each element, the even one of two; of complex numbers part by part."""
def searchsorted(x1: Tensor, x2: Tensor, *, side: str = 'left', sorter: Tensor | None = None) -> Tensor:
    """Return the indices at which inserting the values `x2` keeps `x1` sorted."""
def sign(x: Tensor) -> Tensor:
    """Return the sign of each element: of a complex number the number of modulus 1, of NaN NaN."""
def signbit(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Where the sign is negative, of -0.0 too."""
def sin(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The sine of an angle in radians."""
def sinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The hyperbolic sine."""
def sort(x: Tensor, *, axis: _int = -1, descending: _bool = False, stable: _bool = True) -> Tensor:
    """Return a tensor sorted along an axis."""
def sqrt(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The square root: NaN below 0."""
def square(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`input * input`; bool counts as int64."""
def squeeze(x: Tensor, axis: Axes) -> Tensor:
    """Return a tensor without some axes."""
def stack(arrays: Sequence[Tensor], *, axis: _int = 0) -> Tensor:
    """Return tensors of one shape along a new axis, of the dtype that their promotion gives."""
def std(
    x: Tensor, *, axis: Axes | None = None, correction: _float = 0.0, keepdims: _bool = False
) -> Tensor:
    """Return the standard deviation over some axes, or all: the root of `var`."""
def subtract(x1: Any, x2: Any) -> Tensor:
    """Return `gradpack.subtract` of two operands, promoted as the array API standard says."""
def sum(
    x: Tensor, *, axis: Axes | None = None, dtype: _dtype | None = None, keepdims: _bool = False
) -> Tensor:
    """Return the sum over some axes, or all; of integers as int64."""
def take(x: Tensor, indices: Tensor, *, axis: _int | None = None) -> Tensor:
    """Return the parts of a tensor at some indices of an axis, which may be negative."""
def take_along_axis(x: Tensor, indices: Tensor, *, axis: _int = -1) -> Tensor:
    """Return elements at indices along an axis, which may be negative; the other axes broadcast."""
def tan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The tangent of an angle in radians."""
def tanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The hyperbolic tangent."""
def tensordot(
    x1: Tensor, x2: Tensor, *, axes: _int | tuple[Sequence[_int], Sequence[_int]] = 2
) -> Tensor:
    """Return the sum of products over some axes of both tensors."""
def tile(x: Tensor, repetitions: tuple[_int, ...]) -> Tensor:
    """Return a tensor repeated along its last axes."""
def tril(x: Tensor, *, k: _int = 0) -> Tensor:
    """Return matrices with zeros above diagonal `k`."""
def triu(x: Tensor, *, k: _int = 0) -> Tensor:
    """Return matrices with zeros below diagonal `k`."""
def trunc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The next whole number towards 0."""
uint8: _dtype
def unique_all(x: Tensor) -> UniqueAll:
    """Return the sorted distinct values, where each is first, where each element went, and how often each occurs."""
def unique_counts(x: Tensor) -> UniqueCounts:
    """Return the sorted distinct values, and how often each occurs."""
def unique_inverse(x: Tensor) -> UniqueInverse:
    """Return the sorted distinct values, and where among them each element is."""
def unique_values(x: Tensor) -> Tensor:
    """Return the sorted distinct values."""
def unstack(x: Tensor, *, axis: _int = 0) -> tuple[Tensor, ...]:
    """Return the parts of a tensor along an axis, which they do not have; each may be written to, unlike `unbind`'s."""
def var(
    x: Tensor, *, axis: Axes | None = None, correction: _float = 0.0, keepdims: _bool = False
) -> Tensor:
    """Return the variance over some axes, or all: squared distances from the mean, divided by `n - correction`."""
def vecdot(x1: Tensor, x2: Tensor, *, axis: _int = -1) -> Tensor:
    """Return the sum of products along an axis, of conjugates of the first operand's elements."""
def where(condition: Tensor, x1: Any, x2: Any) -> Tensor:
    """Return elements of `x1` where the condition is true, else of `x2`; both may be numbers."""
def zeros(shape: Shape, *, dtype: _dtype | None = None, device: Where | None = None) -> Tensor:
    """Return zeros of a shape."""
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

__all__ = [
    "abs",
    "acos",
    "acosh",
    "add",
    "all",
    "any",
    "arange",
    "argmax",
    "argmin",
    "argsort",
    "asarray",
    "asin",
    "asinh",
    "astype",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "bool",
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "can_cast",
    "ceil",
    "clip",
    "complex128",
    "complex64",
    "concat",
    "conj",
    "copysign",
    "cos",
    "cosh",
    "count_nonzero",
    "cumulative_prod",
    "cumulative_sum",
    "diff",
    "divide",
    "e",
    "empty",
    "empty_like",
    "equal",
    "exp",
    "expand_dims",
    "expm1",
    "eye",
    "fft",
    "finfo",
    "flip",
    "float32",
    "float64",
    "floor",
    "floor_divide",
    "from_dlpack",
    "full",
    "full_like",
    "greater",
    "greater_equal",
    "hypot",
    "iinfo",
    "imag",
    "inf",
    "int16",
    "int32",
    "int64",
    "int8",
    "isdtype",
    "isfinite",
    "isin",
    "isinf",
    "isnan",
    "less",
    "less_equal",
    "linalg",
    "linspace",
    "log",
    "log10",
    "log1p",
    "log2",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "matmul",
    "matrix_transpose",
    "max",
    "maximum",
    "mean",
    "meshgrid",
    "min",
    "minimum",
    "moveaxis",
    "multiply",
    "nan",
    "negative",
    "newaxis",
    "nextafter",
    "nonzero",
    "not_equal",
    "ones",
    "ones_like",
    "permute_dims",
    "pi",
    "positive",
    "pow",
    "prod",
    "real",
    "reciprocal",
    "remainder",
    "repeat",
    "reshape",
    "result_type",
    "roll",
    "round",
    "searchsorted",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "sort",
    "special",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "std",
    "subtract",
    "sum",
    "take",
    "take_along_axis",
    "tan",
    "tanh",
    "tensordot",
    "tile",
    "tril",
    "triu",
    "trunc",
    "uint8",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
    "unstack",
    "var",
    "vecdot",
    "where",
    "zeros",
    "zeros_like",
]
