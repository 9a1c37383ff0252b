"""The methods that operations attach to tensors, as type checkers see them.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, Literal, NoReturn, Self, Type, TypeVar, overload
from numpy import ndarray
from .. import return_types
from ..base.layouts import layout as _layout
from ..base.memory_formats import memory_format as _memory_format
from ..core.storage import UntypedStorage
from ..core.tensor import Tensor
from ..ops.attributes import TypedStorage
from ..ops.create.exchange import DLDeviceType
from ..ops.random.generator import Generator
from ..types import Device as _Device, _bool, _dtype, _float, _Index, _int, _Scalar
from ..utils.hooks import RemovableHandle

_Kind = TypeVar("_Kind")

class TensorMethods:
    @property
    def H(self) -> Tensor:
        """A matrix transposed and conjugated."""
    @property
    def T(self) -> Tensor:
        """All dimensions in the opposite order."""
    def __abs__(self) -> Tensor: ...
    def __add__(self, other: Tensor | _Scalar) -> Tensor: ...
    def __and__(self, other: Tensor | _Scalar) -> Tensor: ...
    def __array__(self, dtype: Any = ..., copy: _bool | None = ...) -> ndarray[Any, Any]: ...
    def __array_function__(self, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A NumPy function called with a Tensor."""
    def __array_namespace__(self, *, api_version: str | None = None) -> ModuleType:
        """The functions of the array API standard for tensors: `gradpack.array_api`."""
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """A NumPy ufunc called with a Tensor."""
    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: _bool = False) -> Tensor:
        """Wrap an array that NumPy computed from a Tensor."""
    @property
    def __cuda_array_interface__(self) -> Any:
        """Where the elements lie on a CUDA device, for other libraries."""
    def __dlpack__(
        self,
        *,
        stream: Any = -1,
        max_version: tuple[_int, _int] | None = None,
        dl_device: tuple[_int, _int] | None = None,
        copy: _bool | None = None,
    ) -> Any:
        """A DLPack capsule that shares the memory of this tensor, for `from_dlpack` of another library."""
    def __dlpack_device__(self) -> tuple[DLDeviceType, _int]:
        """The device as DLPack's (device type, index)."""
    def __eq__(self, other: Any) -> Tensor: ...  # type: ignore[override]
    def __floordiv__(self, other: Tensor | _Scalar) -> Tensor: ...
    def __ge__(self, other: Tensor | _Scalar) -> Tensor: ...
    def __getitem__(self, index: _Index) -> Tensor: ...
    def __gt__(self, other: Tensor | _Scalar) -> Tensor: ...
    def __iadd__(self, other: Tensor | _Scalar) -> Self: ...
    def __iand__(self, other: Tensor | _Scalar) -> Self: ...
    def __idiv__(self, other: Tensor | _Scalar) -> Self: ...
    def __ifloordiv__(self, other: Tensor | _Scalar) -> Self: ...
    def __ilshift__(self, other: Tensor | _Scalar) -> Self: ...
    def __imod__(self, other: Tensor | _Scalar) -> Self: ...
    def __imul__(self, other: Tensor | _Scalar) -> Self: ...
    def __invert__(self) -> Tensor:
        """`~self`: bitwise complement, logical for bool."""
    def __ior__(self, other: Tensor | _Scalar) -> Self: ...
    def __ipow__(self, exponent: Tensor | _Scalar) -> Tensor: ...
    def __irshift__(self, other: Tensor | _Scalar) -> Self: ...
    def __isub__(self, other: Tensor | _Scalar) -> Self: ...
    def __itruediv__(self, other: Tensor | _Scalar) -> Self: ...
    def __ixor__(self, other: Tensor | _Scalar) -> Self: ...
    def __le__(self, other: Tensor | _Scalar) -> Tensor: ...
    def __lshift__(self, other: Tensor | _Scalar) -> Tensor: ...
    def __lt__(self, other: Tensor | _Scalar) -> Tensor: ...
    def __matmul__(self, other: Tensor) -> Tensor: ...
    def __mod__(self, other: Tensor | _Scalar) -> Tensor: ...
    def __mul__(self, other: Tensor | _Scalar) -> Tensor: ...
    def __ne__(self, other: Any) -> Tensor: ...  # type: ignore[override]
    def __neg__(self) -> Tensor: ...
    def __or__(self, other: Tensor | _Scalar) -> Tensor: ...
    def __pos__(self) -> Tensor:
        """The tensor itself."""
    def __pow__(self, exponent: Tensor | _Scalar) -> Tensor: ...
    def __radd__(self, other: Tensor | _Scalar) -> Tensor: ...
    def __rand__(self, other: Tensor | _Scalar) -> Tensor: ...
    def __rdiv__(self, other: Tensor | _Scalar) -> Tensor:
        """`other / self`, for Python 2's `__rdiv__`."""
    def __rfloordiv__(self, other: Tensor | _Scalar) -> Tensor: ...
    def __rlshift__(self, other: Tensor | _Scalar) -> Tensor: ...
    def __rmatmul__(self, other: Tensor) -> Tensor: ...
    def __rmod__(self, other: Tensor | _Scalar) -> Tensor: ...
    def __rmul__(self, other: Tensor | _Scalar) -> Tensor: ...
    def __ror__(self, other: Tensor | _Scalar) -> Tensor: ...
    def __rpow__(self, other: Tensor | _Scalar) -> Tensor: ...
    def __rrshift__(self, other: Tensor | _Scalar) -> Tensor: ...
    def __rshift__(self, other: Tensor | _Scalar) -> Tensor: ...
    def __rsub__(self, other: Tensor | _Scalar) -> Tensor: ...
    def __rtruediv__(self, other: Tensor | _Scalar) -> Tensor: ...
    def __rxor__(self, other: Tensor | _Scalar) -> Tensor: ...
    def __setitem__(self, index: _Index, value: Any) -> None: ...
    def __sub__(self, other: Tensor | _Scalar) -> Tensor: ...
    def __truediv__(self, other: Tensor | _Scalar) -> Tensor: ...
    def __xor__(self, other: Tensor | _Scalar) -> Tensor: ...
    def _coalesced_(self, coalesced: _bool) -> Tensor:
        """Set whether the tensor counts as coalesced."""
    def _dimI(self) -> _int:
        """How many dimensions are sparse: 0 for a dense tensor."""
    def _dimV(self) -> _int:
        """How many dimensions are dense."""
    def _indices(self) -> Tensor:
        """The places of the entries, coalesced or not."""
    def _is_laid_out(self, memory_format: _memory_format) -> _bool:
        """Whether the elements lie in a memory format without gaps."""
    def _nnz(self) -> _int:
        """The number of entries."""
    def _values(self) -> Tensor:
        """The values of the entries, coalesced or not, out of the graph. They share memory with the tensor."""
    def _view_func(self, new_base: Tensor) -> Tensor:
        """Replay the view operations that made this tensor from its base, on another base."""
    def abs(self, *, out: Tensor | None = None) -> Tensor:
        """The absolute value; the gradient at 0 is 0."""
    def abs_(self) -> Tensor:
        """In-place form of `abs`."""
    def absolute(self, *, out: Tensor | None = None) -> Tensor:
        """The absolute value; the gradient at 0 is 0."""
    def absolute_(self) -> Tensor:
        """In-place form of `abs`."""
    def acos(self, *, out: Tensor | None = None) -> Tensor:
        """The angle whose cosine is `input`: NaN outside of [-1, 1]."""
    def acos_(self) -> Tensor:
        """In-place form of `acos`: writes the result into this tensor and returns it."""
    def acosh(self, *, out: Tensor | None = None) -> Tensor:
        """The inverse of `cosh`: NaN below 1."""
    def acosh_(self) -> Tensor:
        """In-place form of `acosh`: writes the result into this tensor and returns it."""
    def add(self, other: Tensor | _Scalar, *, alpha: _Scalar = 1, out: Tensor | None = None) -> Tensor:
        """`input + alpha * other`."""
    def add_(self, other: Tensor | _Scalar, *, alpha: _Scalar = 1) -> Tensor:
        """In-place form of `add`: writes the result into this tensor and returns it."""
    def addbmm(
        self, batch1: Tensor, batch2: Tensor, *, beta: _Scalar = 1, alpha: _Scalar = 1, out: Tensor | None = None
    ) -> Tensor:
        """`beta * input + alpha * sum of (batch1 @ batch2)` over the batch."""
    def addbmm_(self, batch1: Tensor, batch2: Tensor, *, beta: _Scalar = 1, alpha: _Scalar = 1) -> Tensor:
        """In-place form of `addbmm`: writes the result into this tensor and returns it."""
    def addcdiv(
        self, tensor1: Tensor, tensor2: Tensor, *, value: _int | _float = 1, out: Tensor | None = None
    ) -> Tensor:
        """`input + value * tensor1 / tensor2`."""
    def addcdiv_(self, tensor1: Tensor, tensor2: Tensor, *, value: _int | _float = 1) -> Tensor:
        """In-place form of `addcdiv`: writes the result into this tensor and returns it."""
    def addcmul(
        self, tensor1: Tensor, tensor2: Tensor, *, value: _int | _float = 1, out: Tensor | None = None
    ) -> Tensor:
        """`input + value * tensor1 * tensor2`."""
    def addcmul_(self, tensor1: Tensor, tensor2: Tensor, *, value: _int | _float = 1) -> Tensor:
        """In-place form of `addcmul`: writes the result into this tensor and returns it."""
    def addmm(
        self, mat1: Tensor, mat2: Tensor, *, beta: _Scalar = 1, alpha: _Scalar = 1, out: Tensor | None = None
    ) -> Tensor:
        """`beta * input + alpha * (mat1 @ mat2)`, `input` broadcast."""
    def addmm_(self, mat1: Tensor, mat2: Tensor, *, beta: _Scalar = 1, alpha: _Scalar = 1) -> Tensor:
        """In-place form of `addmm`: writes the result into this tensor and returns it."""
    def addmv(
        self, mat: Tensor, vec: Tensor, *, beta: _Scalar = 1, alpha: _Scalar = 1, out: Tensor | None = None
    ) -> Tensor:
        """`beta * input + alpha * (mat @ vec)`."""
    def addmv_(self, mat: Tensor, vec: Tensor, *, beta: _Scalar = 1, alpha: _Scalar = 1) -> Tensor:
        """In-place form of `addmv`: writes the result into this tensor and returns it."""
    def addr(
        self, vec1: Tensor, vec2: Tensor, *, beta: _Scalar = 1, alpha: _Scalar = 1, out: Tensor | None = None
    ) -> Tensor:
        """`beta * input + alpha * outer(vec1, vec2)`."""
    def addr_(self, vec1: Tensor, vec2: Tensor, *, beta: _Scalar = 1, alpha: _Scalar = 1) -> Tensor:
        """In-place form of `addr`: writes the result into this tensor and returns it."""
    def adjoint(self) -> Tensor:
        """Transpose the last two dimensions, and conjugate."""
    def all(
        self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, out: Tensor | None = None
    ) -> Tensor:
        """Whether all elements are not zero: of all, or over some dimensions. True where there are none."""
    def allclose(
        self, other: Tensor, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False
    ) -> _bool:
        """Whether `isclose` holds for all elements."""
    def amax(
        self, dim: _int | Sequence[_int] | None = ..., keepdim: _bool = False, *, out: Tensor | None = None
    ) -> Tensor:
        """The maxima over some dimensions, or all. Equal ones share the gradient; NaN where there is any."""
    def amin(
        self, dim: _int | Sequence[_int] | None = ..., keepdim: _bool = False, *, out: Tensor | None = None
    ) -> Tensor:
        """The minima over some dimensions, or all: as `amax`."""
    def aminmax(
        self,
        *,
        dim: _int | Sequence[_int] | None = None,
        keepdim: _bool = False,
        out: Sequence[Tensor] | None = None,
    ) -> return_types.aminmax:
        """Minima and maxima, of all elements or along a dimension, as a named tuple (min, max)."""
    def angle(self, *, out: Tensor | None = None) -> Tensor:
        """The angle of a complex number in radians; of a real one, 0 or pi."""
    def any(
        self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, out: Tensor | None = None
    ) -> Tensor:
        """Whether any element is not zero: of all, or over some dimensions. NaN is not zero."""
    def apply_(self, callable: Callable[..., Any]) -> Tensor:
        """Replace each element x by `callable(x)`, in place. Slow: it is called with Python numbers, one by one."""
    def arccos(self, *, out: Tensor | None = None) -> Tensor:
        """The angle whose cosine is `input`: NaN outside of [-1, 1]."""
    def arccos_(self) -> Tensor:
        """In-place form of `acos`: writes the result into this tensor and returns it."""
    def arccosh(self, *, out: Tensor | None = None) -> Tensor:
        """The inverse of `cosh`: NaN below 1."""
    def arccosh_(self) -> Tensor:
        """In-place form of `acosh`: writes the result into this tensor and returns it."""
    def arcsin(self, *, out: Tensor | None = None) -> Tensor:
        """The angle whose sine is `input`: NaN outside of [-1, 1]."""
    def arcsin_(self) -> Tensor:
        """In-place form of `asin`: writes the result into this tensor and returns it."""
    def arcsinh(self, *, out: Tensor | None = None) -> Tensor:
        """The inverse of `sinh`."""
    def arcsinh_(self) -> Tensor:
        """In-place form of `asinh`: writes the result into this tensor and returns it."""
    def arctan(self, *, out: Tensor | None = None) -> Tensor:
        """The angle whose tangent is `input`."""
    def arctan2(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The angle of the point with the coordinates `other` and `input`, in (-pi, pi]; the gradient at (0, 0) is 0."""
    def arctan2_(self, other: Tensor) -> Tensor:
        """In-place form of `atan2`: writes the result into this tensor and returns it."""
    def arctan_(self) -> Tensor:
        """In-place form of `atan`: writes the result into this tensor and returns it."""
    def arctanh(self, *, out: Tensor | None = None) -> Tensor:
        """The inverse of `tanh`: NaN outside of [-1, 1]."""
    def arctanh_(self) -> Tensor:
        """In-place form of `atanh`: writes the result into this tensor and returns it."""
    def argmax(
        self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, out: Tensor | None = None
    ) -> Tensor:
        """The index of the largest element, the first of equal ones: flat (row-major), or along a dimension."""
    def argmin(
        self, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, out: Tensor | None = None
    ) -> Tensor:
        """The index of the smallest element: as `argmax`."""
    def argsort(
        self, dim: _int = -1, descending: _bool = False, *, stable: _bool = False, out: Tensor | None = None
    ) -> Tensor:
        """The indices that sort along a dimension."""
    def argwhere(self) -> Tensor:
        """The indices of the elements that are not zero, one row each."""
    def as_strided(
        self, size: _int | Sequence[_int], stride: _int | Sequence[_int], storage_offset: _int | None = None
    ) -> Tensor:
        """A view with sizes, strides and offset given in elements of the storage."""
    def as_strided_(
        self, size: _int | Sequence[_int], stride: _int | Sequence[_int], storage_offset: _int | None = None
    ) -> Tensor:
        """In-place form of `as_strided`."""
    def as_strided_scatter(
        self,
        src: Tensor,
        size: _int | Sequence[_int],
        stride: _int | Sequence[_int],
        storage_offset: _int | None = None,
    ) -> Tensor:
        """A copy of `input` with `src` written at the elements that `as_strided` reads."""
    def as_subclass(self, cls: Type[_Kind]) -> _Kind: ...
    def asin(self, *, out: Tensor | None = None) -> Tensor:
        """The angle whose sine is `input`: NaN outside of [-1, 1]."""
    def asin_(self) -> Tensor:
        """In-place form of `asin`: writes the result into this tensor and returns it."""
    def asinh(self, *, out: Tensor | None = None) -> Tensor:
        """The inverse of `sinh`."""
    def asinh_(self) -> Tensor:
        """In-place form of `asinh`: writes the result into this tensor and returns it."""
    def atan(self, *, out: Tensor | None = None) -> Tensor:
        """The angle whose tangent is `input`."""
    def atan2(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The angle of the point with the coordinates `other` and `input`, in (-pi, pi]; the gradient at (0, 0) is 0."""
    def atan2_(self, other: Tensor) -> Tensor:
        """In-place form of `atan2`: writes the result into this tensor and returns it."""
    def atan_(self) -> Tensor:
        """In-place form of `atan`: writes the result into this tensor and returns it."""
    def atanh(self, *, out: Tensor | None = None) -> Tensor:
        """The inverse of `tanh`: NaN outside of [-1, 1]."""
    def atanh_(self) -> Tensor:
        """In-place form of `atanh`: writes the result into this tensor and returns it."""
    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: _bool | None = None,
        create_graph: _bool = False,
        inputs: Sequence[Any] | None = None,
    ) -> None:
        """Add the gradients of this tensor to the `.grad` of the leaves it was computed from: see `autograd.backward`."""
    def baddbmm(
        self, batch1: Tensor, batch2: Tensor, *, beta: _Scalar = 1, alpha: _Scalar = 1, out: Tensor | None = None
    ) -> Tensor:
        """`beta * input + alpha * (batch1 @ batch2)` for batches of matrices."""
    def baddbmm_(self, batch1: Tensor, batch2: Tensor, *, beta: _Scalar = 1, alpha: _Scalar = 1) -> Tensor:
        """In-place form of `baddbmm`: writes the result into this tensor and returns it."""
    def bernoulli(
        self,
        p: _int | _float | str | Tensor | None = None,
        *,
        generator: Generator | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """Zeros and ones, with the probabilities in `input` (or `p`) of a one. No gradient flows."""
    def bernoulli_(self, p: Tensor | _float = 0.5, *, generator: Generator | None = None) -> Tensor:
        """Fill with zeros and ones, drawn independently, in place."""
    def bfloat16(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """This tensor as bfloat16."""
    def bincount(self, weights: Tensor | None = None, minlength: _int = 0) -> Tensor:
        """How often each whole number occurs in a vector."""
    def bitwise_and(self, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
        """The bits that both have; for bool, `logical_and`."""
    def bitwise_and_(self, other: Tensor | _Scalar) -> Tensor:
        """In-place form of `bitwise_and`: writes the result into this tensor and returns it."""
    def bitwise_left_shift(self, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
        """`input * 2 ** other`, dropping bits beyond the width of the dtype: 0 if all are shifted out."""
    def bitwise_left_shift_(self, other: Tensor | _Scalar) -> Tensor:
        """In-place form of `bitwise_left_shift`: writes the result into this tensor and returns it."""
    def bitwise_not(self, *, out: Tensor | None = None) -> Tensor:
        """Bitwise complement; for bool, `logical_not`."""
    def bitwise_not_(self) -> Tensor:
        """In-place form of `bitwise_not`: writes the result into this tensor and returns it."""
    def bitwise_or(self, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
        """The bits that one of the two has; for bool, `logical_or`."""
    def bitwise_or_(self, other: Tensor | _Scalar) -> Tensor:
        """In-place form of `bitwise_or`: writes the result into this tensor and returns it."""
    def bitwise_right_shift(self, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
        """`input / 2 ** other`, rounded down."""
    def bitwise_right_shift_(self, other: Tensor | _Scalar) -> Tensor:
        """In-place form of `bitwise_right_shift`: writes the result into this tensor and returns it."""
    def bitwise_xor(self, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
        """The bits in which the two differ; for bool, `logical_xor`."""
    def bitwise_xor_(self, other: Tensor | _Scalar) -> Tensor:
        """In-place form of `bitwise_xor`: writes the result into this tensor and returns it."""
    def bmm(self, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The products of two batches of matrices, one by one. Nothing is broadcast: see `matmul`."""
    def bool(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """This tensor as bool."""
    def broadcast_to(
        self, *sizes: _int | Sequence[_int], size: _int | Sequence[_int] | None = None
    ) -> Tensor:
        """Broadcast to a shape without copying."""
    def byte(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """This tensor as uint8."""
    def cauchy_(
        self, median: _float = 0.0, sigma: _float = 1.0, *, generator: Generator | None = None
    ) -> Tensor:
        """Fill with numbers of a Cauchy distribution, in place."""
    def cdouble(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """This tensor as complex128."""
    def ceil(self, *, out: Tensor | None = None) -> Tensor:
        """The next whole number above."""
    def ceil_(self) -> Tensor:
        """In-place form of `ceil`: writes the result into this tensor and returns it."""
    def cfloat(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """This tensor as complex64."""
    def chalf(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """This tensor as complex32."""
    def char(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """This tensor as int8."""
    def cholesky(self, upper: _bool = False, *, out: Tensor | None = None) -> Tensor:
        """The Cholesky factor of positive definite matrices: `linalg.cholesky`."""
    def cholesky_inverse(self, upper: _bool = False, *, out: Tensor | None = None) -> Tensor:
        """The inverse of `A`, where `input` is the Cholesky factor of it."""
    def cholesky_solve(self, input2: Tensor, upper: _bool = False, *, out: Tensor | None = None) -> Tensor:
        """`X` with `A @ X = input`, where `input2` is the Cholesky factor of `A`."""
    def chunk(self, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
        """Split along a dimension into at most `chunks` parts of equal size, of which the last may be smaller. Views."""
    def clamp(
        self,
        min: Tensor | _Scalar | None = None,
        max: Tensor | _Scalar | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """`input`, limited from below by `min` and from above by `max`; where they cross, `max`."""
    def clamp_(self, min: Tensor | _Scalar | None = None, max: Tensor | _Scalar | None = None) -> Tensor:
        """In-place form of `clamp`: writes the result into this tensor and returns it."""
    def clamp_max(self, max: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
        """`input`, limited from above."""
    def clamp_max_(self, max: Tensor | _Scalar) -> Tensor:
        """In-place form of `clamp_max`: writes the result into this tensor and returns it."""
    def clamp_min(self, min: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
        """`input`, limited from below."""
    def clamp_min_(self, min: Tensor | _Scalar) -> Tensor:
        """In-place form of `clamp_min`: writes the result into this tensor and returns it."""
    def clip(
        self,
        min: Tensor | _Scalar | None = None,
        max: Tensor | _Scalar | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """`input`, limited from below by `min` and from above by `max`; where they cross, `max`."""
    def clip_(self, min: Tensor | _Scalar | None = None, max: Tensor | _Scalar | None = None) -> Tensor:
        """In-place form of `clamp`: writes the result into this tensor and returns it."""
    def clone(self, *, memory_format: _memory_format | None = None, out: Tensor | None = None) -> Tensor:
        """A copy with its own storage; differentiable."""
    def coalesce(self) -> Tensor:
        """The same tensor with its entries in order, those of one place added up."""
    def col_indices(self) -> Tensor:
        """Raise: there are no tensors of compressed rows, only dense ones and such in coordinates."""
    def conj(self) -> Tensor:
        """The complex conjugate; a real tensor itself."""
    def conj_physical(self, *, out: Tensor | None = None) -> Tensor:
        """The complex conjugate, in memory of its own; a real tensor itself."""
    def conj_physical_(self) -> Tensor:
        """In-place form of `conj_physical`: writes the result into this tensor and returns it."""
    def const_data_ptr(self) -> _int:
        """The address of the first element."""
    def contiguous(self, memory_format: _memory_format | None = None) -> Tensor:
        """The tensor itself if it is row-major without gaps (or in another memory format), else a copy that is."""
    def copy_(self, other: Tensor, non_blocking: _bool = False) -> Tensor:
        """Write the elements of another tensor into this one, in place, and return it."""
    def copysign(self, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
        """The absolute value of `input` with the sign of `other`, which -0.0 has too."""
    def copysign_(self, other: Tensor | _Scalar) -> Tensor:
        """In-place form of `copysign`: writes the result into this tensor and returns it."""
    def corrcoef(self) -> Tensor:
        """The matrix of correlation coefficients of variables (rows), from observations (columns)."""
    def cos(self, *, out: Tensor | None = None) -> Tensor:
        """The cosine of an angle in radians."""
    def cos_(self) -> Tensor:
        """In-place form of `cos`: writes the result into this tensor and returns it."""
    def cosh(self, *, out: Tensor | None = None) -> Tensor:
        """The hyperbolic cosine."""
    def cosh_(self) -> Tensor:
        """In-place form of `cosh`: writes the result into this tensor and returns it."""
    def count_nonzero(self, dim: _int | Sequence[_int] | None = None, *, out: Tensor | None = None) -> Tensor:
        """How many elements are not zero: of all, or over some dimensions."""
    def cov(
        self, *, correction: _int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None
    ) -> Tensor:
        """The covariance matrix of variables (rows), from observations (columns)."""
    def cpu(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """This tensor on the CPU; itself if it is there already."""
    def cross(
        self, other: Tensor, dim: _int | Sequence[_int] | None = None, *, out: Tensor | None = None
    ) -> Tensor:
        """The cross product along `dim`, by default the first dimension of size 3."""
    def crow_indices(self) -> Tensor:
        """Raise: there are no tensors of compressed rows, only dense ones and such in coordinates."""
    def cuda(
        self,
        device: _Device | None = None,
        non_blocking: _bool = False,
        memory_format: _memory_format | None = None,
    ) -> Tensor:
        """This tensor on a CUDA device, where there is one."""
    def cummax(self, dim: _int, *, out: Sequence[Tensor] | None = None) -> return_types.cummax:
        """The cumulative maximum and its index, the last of equal ones, as a named tuple (values, indices)."""
    def cummin(self, dim: _int, *, out: Sequence[Tensor] | None = None) -> return_types.cummin:
        """The cumulative minimum and its index: as `cummax`."""
    def cumprod(self, dim: _int, *, dtype: _dtype | None = None, out: Tensor | None = None) -> Tensor:
        """The cumulative product along a dimension. The gradient is exact where elements are zero."""
    def cumprod_(self, dim: _int | Sequence[_int], *, dtype: _dtype | None = None) -> Tensor:
        """In-place form of `cumprod`."""
    def cumsum(self, dim: _int, *, dtype: _dtype | None = None, out: Tensor | None = None) -> Tensor:
        """The cumulative sum along a dimension."""
    def cumsum_(self, dim: _int | Sequence[_int], *, dtype: _dtype | None = None) -> Tensor:
        """In-place form of `cumsum`."""
    @property
    def data(self) -> Tensor:
        """A detached tensor on the same storage, with a version counter of its own."""
    @data.setter
    def data(self, value: Tensor) -> None: ...
    def deg2rad(self, *, out: Tensor | None = None) -> Tensor:
        """Degrees as radians."""
    def deg2rad_(self) -> Tensor:
        """In-place form of `deg2rad`: writes the result into this tensor and returns it."""
    def dense_dim(self) -> _int:
        """How many dimensions are dense."""
    def dequantize(self) -> Tensor:
        """The tensor as float32."""
    def det(self) -> Tensor:
        """The determinant: `linalg.det`."""
    def detach_(self) -> Tensor:
        """Take this tensor out of the graph, in place, and return it."""
    def diag(self, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
        """The diagonal of a matrix, as a copy; or the matrix with a vector on its diagonal."""
    def diag_embed(
        self, offset: _int = 0, dim1: _int = -2, dim2: _int = -1, *, out: Tensor | None = None
    ) -> Tensor:
        """Matrices with the last dimension of `input` on a diagonal, zeros elsewhere."""
    def diagflat(self, offset: _int = 0) -> Tensor:
        """A matrix with all elements of `input` on a diagonal."""
    def diagonal(self, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
        """A diagonal with respect to two dimensions, as the last dimension of a view."""
    def diagonal_scatter(
        self, src: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1, *, out: Tensor | None = None
    ) -> Tensor:
        """`input` with `src` on the diagonal that `diagonal(input, offset, dim1, dim2)` reads."""
    def diff(
        self,
        n: _int = 1,
        dim: _int | Sequence[_int] | None = None,
        prepend: Tensor | None = None,
        append: Tensor | None = None,
        *,
        out: Tensor | None = None,
        axis: _int | None = None,
    ) -> Tensor:
        """Each element minus the one before it, along a dimension, `n` times over. For bool, whether they differ."""
    def digamma(self, *, out: Tensor | None = None) -> Tensor:
        """The derivative of `lgamma`. Needs SciPy (the extra `special`)."""
    def digamma_(self) -> Tensor:
        """In-place form of `digamma`: writes the result into this tensor and returns it."""
    def dim_order(self, *, ambiguity_check: Any = False) -> tuple[_int, ...]:
        """The dimensions from outermost to innermost in memory."""
    def dist(self, other: Tensor, p: _float = 2, *, out: Tensor | None = None) -> Tensor:
        """The p-norm of `input - other`, broadcast, over all elements."""
    def div(self, other: Tensor, *, rounding_mode: str | None = None, out: Tensor | None = None) -> Tensor:
        """`input / other`, rounded if asked for."""
    def div_(self, other: Tensor, *, rounding_mode: str | None = None) -> Tensor:
        """In-place form of `div`: writes the result into this tensor and returns it."""
    def divide(self, other: Tensor, *, rounding_mode: str | None = None, out: Tensor | None = None) -> Tensor:
        """`input / other`, rounded if asked for."""
    def divide_(self, other: Tensor, *, rounding_mode: str | None = None) -> Tensor:
        """In-place form of `div`: writes the result into this tensor and returns it."""
    def dot(self, tensor: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The sum of the products of two vectors. The first is not conjugated: see `vdot`."""
    def double(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """This tensor as float64."""
    def dsplit(
        self,
        indices_or_sections: Tensor | _int | Sequence[_int] | None = None,
        *,
        indices: _int | Sequence[_int] | None = None,
        sections: Tensor | _int | Sequence[_int] | None = None,
    ) -> tuple[Tensor, ...]:
        """Parts along the third dimension. Views."""
    def eig(self, eigenvectors: _bool = False, *, e: Any = None, v: Any = None) -> NoReturn:
        """Refused, as in torch: it was removed. `torch.linalg.eig` returns complex tensors of dtype `cfloat` or `cdouble`."""
    def eq(self, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
        """Where `input == other`; NaN equals nothing."""
    def eq_(self, other: Tensor | _Scalar) -> Tensor:
        """In-place form of `eq`: writes the result into this tensor and returns it."""
    def equal(self, other: Tensor) -> _bool:
        """Whether two tensors have the same shape and equal elements."""
    def erf(self, *, out: Tensor | None = None) -> Tensor:
        """The error function: the integral of `2 / sqrt(pi) * exp(-t * t)` from 0 to `input`."""
    def erf_(self) -> Tensor:
        """In-place form of `erf`: writes the result into this tensor and returns it."""
    def erfc(self, *, out: Tensor | None = None) -> Tensor:
        """`1 - erf(input)`, precise where that is tiny."""
    def erfc_(self) -> Tensor:
        """In-place form of `erfc`: writes the result into this tensor and returns it."""
    def erfinv(self, *, out: Tensor | None = None) -> Tensor:
        """The inverse of `erf`. Needs SciPy (the extra `special`)."""
    def erfinv_(self) -> Tensor:
        """In-place form of `erfinv`: writes the result into this tensor and returns it."""
    def exp(self, *, out: Tensor | None = None) -> Tensor:
        """e to the power of `input`."""
    def exp2(self, *, out: Tensor | None = None) -> Tensor:
        """2 to the power of `input`."""
    def exp2_(self) -> Tensor:
        """In-place form of `exp2`: writes the result into this tensor and returns it."""
    def exp_(self) -> Tensor:
        """In-place form of `exp`: writes the result into this tensor and returns it."""
    def expand(
        self, *sizes: _int | Sequence[_int], size: _int | Sequence[_int] | None = None, implicit: _bool = False
    ) -> Tensor:
        """A view of this tensor broadcast to a shape: dimensions of size 1 repeat, without copying."""
    def expand_as(self, other: Tensor) -> Tensor:
        """Expand this tensor to the shape of `other`."""
    def expm1(self, *, out: Tensor | None = None) -> Tensor:
        """`exp(input) - 1`, precise near 0."""
    def expm1_(self) -> Tensor:
        """In-place form of `expm1`: writes the result into this tensor and returns it."""
    def exponential_(self, lambd: _float = 1.0, *, generator: Generator | None = None) -> Tensor:
        """Fill with exponentially distributed numbers, in place: their density is `lambd * exp(-lambd * x)`."""
    def fill_(self, value: Tensor | _Scalar) -> Tensor:
        """Write one value into every element, in place, and return the tensor."""
    def fill_diagonal_(self, fill_value: _Scalar, wrap: _bool = False) -> Tensor:
        """Write a number on the main diagonal, in place."""
    def fix(self, *, out: Tensor | None = None) -> Tensor:
        """The next whole number towards 0."""
    def fix_(self) -> Tensor:
        """In-place form of `trunc`: writes the result into this tensor and returns it."""
    def flatten(self, start_dim: _int = 0, end_dim: _int = -1) -> Tensor:
        """Join a range of dimensions into one. A view where the strides allow, else a copy."""
    def flip(self, *places: _int | Sequence[_int], dims: _int | Sequence[_int] | None = None) -> Tensor:
        """Reverse the order of the elements along dimensions. A copy, unlike a slice with a negative step in NumPy."""
    def fliplr(self) -> Tensor:
        """Reverse the columns."""
    def flipud(self) -> Tensor:
        """Reverse the rows."""
    def float(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """This tensor as float32."""
    def float_power(self, exponent: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
        """`pow` in float64, or complex128 if one of the operands is complex."""
    def float_power_(self, exponent: Tensor | _Scalar) -> Tensor:
        """In-place form of `float_power`, for float64 and complex128 tensors."""
    def floor(self, *, out: Tensor | None = None) -> Tensor:
        """The next whole number below."""
    def floor_(self) -> Tensor:
        """In-place form of `floor`: writes the result into this tensor and returns it."""
    def floor_divide(self, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
        """`input / other`, rounded down; as in torch it has no derivative."""
    def floor_divide_(self, other: Tensor | _Scalar) -> Tensor:
        """In-place form of `floor_divide`: writes the result into this tensor and returns it."""
    def fmax(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The larger of two elements; the other one where one is NaN. `input` gets the gradient of equal ones."""
    def fmin(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The smaller of two elements; the other one where one is NaN: as `fmax`."""
    def fmod(self, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
        """The remainder of truncating division, with the sign of `input`, as C's `fmod`."""
    def fmod_(self, other: Tensor | _Scalar) -> Tensor:
        """In-place form of `fmod`: writes the result into this tensor and returns it."""
    def frac(self, *, out: Tensor | None = None) -> Tensor:
        """The fractional part, with the sign of `input`."""
    def frac_(self) -> Tensor:
        """In-place form of `frac`: writes the result into this tensor and returns it."""
    def frexp(self, *, out: Sequence[Tensor] | None = None) -> return_types.frexp:
        """`input` as `mantissa * 2 ** exponent` with a mantissa from 0.5 to 1, as a named tuple (mantissa, exponent)."""
    def gather(
        self, dim: _int, index: Tensor, *, sparse_grad: _bool = False, out: Tensor | None = None
    ) -> Tensor:
        """`out[i][j] = input[index[i][j]][j]` for `dim=0`, `input[i][index[i][j]]` for `dim=1`, and so on."""
    def gcd(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The greatest common divisor; that of 0 and 0 is 0."""
    def gcd_(self, other: Tensor) -> Tensor:
        """In-place form of `gcd`: writes the result into this tensor and returns it."""
    def ge(self, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
        """Where `input >= other`."""
    def ge_(self, other: Tensor | _Scalar) -> Tensor:
        """In-place form of `ge`: writes the result into this tensor and returns it."""
    def geometric_(self, p: Tensor | _float, *, generator: Generator | None = None) -> Tensor:
        """Fill with numbers of a geometric distribution, in place: how many trials it takes until one succeeds."""
    def geqrf(self, *, out: Sequence[Tensor] | None = None) -> return_types.geqrf:
        """The QR factorization as `orgqr` and `ormqr` take it, as a named tuple (a, tau). It has no gradient."""
    def ger(self, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
        """All products of elements of two vectors."""
    @property
    def grad_dtype(self) -> _dtype | None:
        """The dtype of this leaf's `.grad`: gradients are cast to it. By default the leaf's own; None allows any."""
    @grad_dtype.setter
    def grad_dtype(self, value: _dtype | None) -> None: ...
    def greater(self, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
        """Where `input > other`."""
    def greater_(self, other: Tensor | _Scalar) -> Tensor:
        """In-place form of `gt`: writes the result into this tensor and returns it."""
    def greater_equal(self, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
        """Where `input >= other`."""
    def greater_equal_(self, other: Tensor | _Scalar) -> Tensor:
        """In-place form of `ge`: writes the result into this tensor and returns it."""
    def gt(self, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
        """Where `input > other`."""
    def gt_(self, other: Tensor | _Scalar) -> Tensor:
        """In-place form of `gt`: writes the result into this tensor and returns it."""
    def half(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """This tensor as float16."""
    def hardshrink(self, lambd: _float = 0.5, *, out: Tensor | None = None) -> Tensor:
        """`input` where its absolute value exceeds `lambd`, else `0`."""
    def hash_tensor(
        self,
        dim: _int | Sequence[_int] | None = None,
        *,
        keepdim: _bool = False,
        mode: _int = 0,
        out: Tensor | None = None,
    ) -> Tensor:
        """The bits of all elements, or of those along dimensions, combined by exclusive or: a tensor of uint64."""
    def heaviside(self, values: Tensor, *, out: Tensor | None = None) -> Tensor:
        """0 below 0, 1 above, and `values` at 0; as in torch it has no derivative."""
    def heaviside_(self, values: Tensor) -> Tensor:
        """In-place form of `heaviside`: writes the result into this tensor and returns it."""
    def histc(
        self, bins: _int = 100, min: _float = 0, max: _float = 0, *, out: Tensor | None = None
    ) -> Tensor:
        """How many elements fall into each of some bins of equal width; those outside of all count nowhere."""
    def histogram(
        self,
        bins: Any = 100,
        *,
        range: Any = None,
        weight: Tensor | None = None,
        density: _bool = False,
        out: Sequence[Tensor] | None = None,
    ) -> return_types.histogram:
        """How many elements fall into each bin, and the edges of the bins, as a named tuple (hist, bin_edges)."""
    def hsplit(
        self,
        indices_or_sections: Tensor | _int | Sequence[_int] | None = None,
        *,
        indices: _int | Sequence[_int] | None = None,
        sections: Tensor | _int | Sequence[_int] | None = None,
    ) -> tuple[Tensor, ...]:
        """Parts along the second dimension, of a vector along its only one. Views."""
    def hypot(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """`sqrt(input ** 2 + other ** 2)`, without overflow."""
    def hypot_(self, other: Tensor) -> Tensor:
        """In-place form of `hypot`: writes the result into this tensor and returns it."""
    def i0(self, *, out: Tensor | None = None) -> Tensor:
        """The modified Bessel function of the first kind, of order 0."""
    def i0_(self) -> Tensor:
        """In-place form of `i0`: writes the result into this tensor and returns it."""
    def igamma(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The regularized lower incomplete gamma function P(input, other): from 0 at `other` = 0 to 1 at infinity."""
    def igamma_(self, other: Tensor) -> Tensor:
        """In-place form of `igamma`: writes the result into this tensor and returns it."""
    def igammac(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The regularized upper incomplete gamma function: `1 - igamma(input, other)`."""
    def igammac_(self, other: Tensor) -> Tensor:
        """In-place form of `igammac`: writes the result into this tensor and returns it."""
    @property
    def imag(self) -> Tensor: ...
    @imag.setter
    def imag(self, value: Tensor) -> None: ...
    def index_add(
        self, dim: _int, index: Tensor, source: Tensor, *, alpha: _Scalar = 1, out: Tensor | None = None
    ) -> Tensor:
        """`input` with `alpha` times the slices of `source` added to its slices at `index` along `dim`."""
    def index_add_(self, dim: _int, index: Tensor, source: Tensor, *, alpha: _Scalar = 1) -> Tensor:
        """In-place form of `index_add`."""
    def index_copy(self, dim: _int, index: Tensor, source: Tensor, *, out: Tensor | None = None) -> Tensor:
        """`input` with its slices at `index` along `dim` replaced by those of `source`."""
    def index_copy_(self, dim: _int, index: Tensor, source: Tensor) -> Tensor:
        """In-place form of `index_copy`: writes only the slices that `index` names."""
    def index_fill(
        self, dim: _int, index: Tensor, value: Tensor | _Scalar, *, out: Tensor | None = None
    ) -> Tensor:
        """`input` with one value in all slices at `index` along `dim`."""
    def index_fill_(self, dim: _int, index: Tensor, value: Tensor | _Scalar) -> Tensor:
        """In-place form of `index_fill`: writes only the slices that `index` names."""
    def index_put(
        self,
        indices: Sequence[Tensor | None],
        values: Tensor,
        accumulate: _bool = False,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """`input` with `values` written at the elements that a tuple of index tensors (or masks) selects."""
    def index_put_(
        self, indices: Sequence[Tensor | None], values: Tensor, accumulate: _bool = False
    ) -> Tensor:
        """In-place form of `index_put`: writes only the elements that `indices` name."""
    def index_reduce(
        self,
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
        self, dim: _int, index: Tensor, source: Tensor, reduce: str, *, include_self: _bool = True
    ) -> Tensor:
        """In-place form of `index_reduce`."""
    def index_select(self, dim: _int, index: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The slices of `input` along `dim` at a vector of indices, as a copy."""
    def indices(self) -> Tensor:
        """The places of the entries of a coalesced tensor: shape (sparse dimensions, entries)."""
    def inner(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """Sums of products over the last dimension of both."""
    def int(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """This tensor as int32."""
    def inverse(self, *, out: Tensor | None = None) -> Tensor:
        """The inverse of square matrices: `linalg.inv`."""
    def ipu(
        self,
        device: _Device | None = None,
        non_blocking: _bool = False,
        memory_format: _memory_format | None = None,
    ) -> Tensor:
        """The tensor on a device of kind 'ipu', where there is one."""
    def is_coalesced(self) -> _bool:
        """Whether the entries are known to be in order, one for each place."""
    def is_distributed(self) -> _bool:
        """Whether the tensor is distributed over processes: always False."""
    @property
    def is_ipu(self) -> _bool: ...
    @property
    def is_maia(self) -> _bool: ...
    @property
    def is_mkldnn(self) -> _bool: ...
    @property
    def is_mps(self) -> _bool: ...
    @property
    def is_mtia(self) -> _bool: ...
    def is_nonzero(self) -> _bool:
        """Whether the only element is not zero."""
    def is_pinned(self, device: _Device | None = None) -> _bool:
        """Whether the tensor is in pinned (page-locked) memory."""
    def is_set_to(self, tensor: Tensor) -> _bool:
        """Whether both have the same storage, offset, sizes and strides."""
    def is_shared(self) -> _bool:
        """Whether the storage is in shared memory: see `share_memory_`."""
    @property
    def is_sparse_csr(self) -> _bool: ...
    @property
    def is_vulkan(self) -> _bool: ...
    @property
    def is_xla(self) -> _bool: ...
    @property
    def is_xpu(self) -> _bool: ...
    def isclose(
        self,
        other: Tensor,
        rtol: _float = 1e-05,
        atol: _float = 1e-08,
        equal_nan: _bool = False,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """Where `|input - other| <= atol + rtol * |other|`, or both are the same infinity."""
    def isfinite(self, *, out: Tensor | None = None) -> Tensor:
        """Where there is neither an infinity nor NaN."""
    def isin(
        self,
        test_elements: Tensor | _Scalar,
        *,
        assume_unique: _bool = False,
        invert: _bool = False,
        out: Tensor | None = None,
    ) -> Tensor:
        """Which of `elements` are among `test_elements`; either may be a number."""
    def isinf(self, *, out: Tensor | None = None) -> Tensor:
        """Where there is an infinity, in one of the parts of a complex number."""
    def isnan(self, *, out: Tensor | None = None) -> Tensor:
        """Where there is NaN, in one of the parts of a complex number."""
    def isneginf(self, *, out: Tensor | None = None) -> Tensor:
        """Where there is the negative infinity."""
    def isposinf(self, *, out: Tensor | None = None) -> Tensor:
        """Where there is the positive infinity."""
    def isreal(self, *, out: Tensor | None = None) -> Tensor:
        """Where the imaginary part is 0: everywhere, unless the dtype is complex."""
    def istft(
        self,
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
    def kron(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The Kronecker product: `input` with each element replaced by its product with `other`."""
    def kthvalue(
        self, k: _int, dim: _int = -1, keepdim: _bool = False, *, out: Sequence[Tensor] | None = None
    ) -> return_types.kthvalue:
        """The `k`-th smallest element along a dimension, counted from 1, as a named tuple (values, indices)."""
    def lcm(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The least common multiple; 0 where one of the two is."""
    def lcm_(self, other: Tensor) -> Tensor:
        """In-place form of `lcm`: writes the result into this tensor and returns it."""
    def ldexp(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """`input * 2 ** other`."""
    def ldexp_(self, other: Tensor) -> Tensor:
        """In-place form of `ldexp`: writes the result into this tensor and returns it."""
    def le(self, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
        """Where `input <= other`."""
    def le_(self, other: Tensor | _Scalar) -> Tensor:
        """In-place form of `le`: writes the result into this tensor and returns it."""
    def lerp(self, end: Tensor, weight: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
        """`input + weight * (end - input)`, computed from the nearer end so that a weight of 1 gives exactly `end`."""
    def lerp_(self, end: Tensor, weight: Tensor | _Scalar) -> Tensor:
        """In-place form of `lerp`: writes the result into this tensor and returns it."""
    def less(self, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
        """Where `input < other`."""
    def less_(self, other: Tensor | _Scalar) -> Tensor:
        """In-place form of `lt`: writes the result into this tensor and returns it."""
    def less_equal(self, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
        """Where `input <= other`."""
    def less_equal_(self, other: Tensor | _Scalar) -> Tensor:
        """In-place form of `le`: writes the result into this tensor and returns it."""
    def lgamma(self, *, out: Tensor | None = None) -> Tensor:
        """The logarithm of the absolute value of the gamma function. Needs SciPy (the extra `special`)."""
    def lgamma_(self) -> Tensor:
        """In-place form of `lgamma`: writes the result into this tensor and returns it."""
    def log(self, *, out: Tensor | None = None) -> Tensor:
        """The natural logarithm: -inf at 0, NaN below."""
    def log10(self, *, out: Tensor | None = None) -> Tensor:
        """The logarithm to base 10."""
    def log10_(self) -> Tensor:
        """In-place form of `log10`: writes the result into this tensor and returns it."""
    def log1p(self, *, out: Tensor | None = None) -> Tensor:
        """`log(1 + input)`, precise near 0."""
    def log1p_(self) -> Tensor:
        """In-place form of `log1p`: writes the result into this tensor and returns it."""
    def log2(self, *, out: Tensor | None = None) -> Tensor:
        """The logarithm to base 2."""
    def log2_(self) -> Tensor:
        """In-place form of `log2`: writes the result into this tensor and returns it."""
    def log_(self) -> Tensor:
        """In-place form of `log`: writes the result into this tensor and returns it."""
    def log_normal_(
        self, mean: _float = 1.0, std: _float = 2.0, *, generator: Generator | None = None
    ) -> Tensor:
        """Fill with the exponentials of normally distributed numbers, in place."""
    def log_softmax(
        self, dim: _int | None = None, dtype: _dtype | None = None, *, out: Tensor | None = None
    ) -> Tensor:
        """`log(softmax(input))` along a dimension, computed so that nothing overflows or is lost."""
    def logaddexp(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """`log(exp(input) + exp(other))`, without overflow."""
    def logaddexp2(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """`log2(2 ** input + 2 ** other)`, without overflow."""
    def logcumsumexp(self, dim: _int, *, out: Tensor | None = None) -> Tensor:
        """`log(cumsum(exp(input)))` along a dimension, without overflow."""
    def logdet(self) -> Tensor:
        """The logarithm of the determinant; NaN where a real one is negative."""
    def logical_and(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """Where both are different from 0."""
    def logical_and_(self, other: Tensor) -> Tensor:
        """In-place form of `logical_and`: writes the result into this tensor and returns it."""
    def logical_not(self, *, out: Tensor | None = None) -> Tensor:
        """Where `input` is 0."""
    def logical_not_(self) -> Tensor:
        """In-place form of `logical_not`: writes the result into this tensor and returns it."""
    def logical_or(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """Where one of the two is different from 0."""
    def logical_or_(self, other: Tensor) -> Tensor:
        """In-place form of `logical_or`: writes the result into this tensor and returns it."""
    def logical_xor(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """Where exactly one of the two is different from 0."""
    def logical_xor_(self, other: Tensor) -> Tensor:
        """In-place form of `logical_xor`: writes the result into this tensor and returns it."""
    def logit(self, eps: _float | None = None, *, out: Tensor | None = None) -> Tensor:
        """`log(input / (1 - input))`, the inverse of `sigmoid`."""
    def logit_(self, eps: _float | None = None) -> Tensor:
        """In-place form of `logit`: writes the result into this tensor and returns it."""
    def logsumexp(
        self, dim: _int | Sequence[_int], keepdim: _bool = False, *, out: Tensor | None = None
    ) -> Tensor:
        """`log(sum(exp(input)))` over one or several dimensions, without overflow."""
    def long(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """This tensor as int64."""
    def lstsq(self, A: Tensor, *, out: Sequence[Tensor] | None = None) -> NoReturn:
        """Refused, as in torch: it was removed. `torch.lstsq` is deprecated in favor of `torch.linalg.lstsq`, whose arguments are reversed."""
    def lt(self, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
        """Where `input < other`."""
    def lt_(self, other: Tensor | _Scalar) -> Tensor:
        """In-place form of `lt`: writes the result into this tensor and returns it."""
    @overload
    def lu(self, pivot: _bool = True, get_infos: Literal[False] = False) -> tuple[Tensor, Tensor]: ...
    @overload
    def lu(self, pivot: _bool = True, *, get_infos: Literal[True]) -> tuple[Tensor, Tensor, Tensor]: ...
    @overload
    def lu(self, pivot: _bool, get_infos: Literal[True]) -> tuple[Tensor, Tensor, Tensor]: ...
    @overload
    def lu(self, pivot: _bool = True, get_infos: _bool = False) -> Any: ...
    def lu_solve(self, LU_data: Tensor, LU_pivots: Tensor, *, out: Tensor | None = None) -> Tensor:
        """`X` with `A @ X = input`, by the factors of `A`: `linalg.lu_solve(LU_data, LU_pivots, input)`."""
    @property
    def mH(self) -> Tensor:
        """The last two dimensions exchanged, conjugated."""
    @property
    def mT(self) -> Tensor:
        """The last two dimensions exchanged."""
    def map2_(self, x: Tensor, y: Tensor, callable: Callable[..., Any]) -> Tensor:
        """Replace each element by `callable(element, x_element, y_element)`, in place. Slow."""
    def map_(self, tensor: Tensor, callable: Callable[..., Any]) -> Tensor:
        """Replace each element by `callable(element, other)`, where `other` is that of `tensor`, in place. Slow."""
    def masked_fill(self, mask: Tensor, value: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
        """`input` with one value where `mask` holds; tensor and mask are broadcast."""
    def masked_fill_(self, mask: Tensor, value: Tensor | _Scalar) -> Tensor:
        """In-place form of `masked_fill`: writes only where `mask` holds."""
    def masked_scatter(self, mask: Tensor, source: Tensor, *, out: Tensor | None = None) -> Tensor:
        """`input` with the elements of `source`, one after the other, where `mask` holds."""
    def masked_scatter_(self, mask: Tensor, source: Tensor) -> Tensor:
        """In-place form of `masked_scatter`: writes the result into this tensor and returns it."""
    def masked_select(self, mask: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The elements of `input` where `mask` holds, in one dimension; tensor and mask are broadcast."""
    def matmul(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The matrix product of two tensors: also `input @ other`."""
    def matrix_exp(self) -> Tensor:
        """The exponential of square matrices: `linalg.matrix_exp`."""
    def matrix_power(self, n: _int, *, out: Tensor | None = None) -> Tensor:
        """A whole power of square matrices: `linalg.matrix_power`."""
    @overload
    def max(self, *, out: Tensor | None = ...) -> Tensor: ...
    @overload
    def max(
        self, dim: _int, keepdim: _bool = ..., *, out: Sequence[Tensor] | None = ...
    ) -> return_types.max: ...
    @overload
    def max(self, other: Tensor, *, out: Tensor | None = ...) -> Tensor: ...
    def maximum(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The larger of two elements; NaN if one of them is. Equal ones get half of the gradient each."""
    def mean(
        self,
        dim: _int | Sequence[_int] | None = None,
        keepdim: _bool = False,
        *,
        dtype: _dtype | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """The mean of all elements, or over one or several dimensions. NaN where there are none."""
    @overload
    def median(self, *, out: None = ...) -> Tensor: ...
    @overload
    def median(
        self, dim: _int, keepdim: _bool = ..., *, out: Sequence[Tensor] | None = ...
    ) -> return_types.median: ...
    @overload
    def min(self, *, out: Tensor | None = ...) -> Tensor: ...
    @overload
    def min(
        self, dim: _int, keepdim: _bool = ..., *, out: Sequence[Tensor] | None = ...
    ) -> return_types.min: ...
    @overload
    def min(self, other: Tensor, *, out: Tensor | None = ...) -> Tensor: ...
    def minimum(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The smaller of two elements: as `maximum`."""
    def mm(self, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The product of two matrices. Nothing is broadcast: see `matmul`."""
    def mode(
        self, dim: _int = -1, keepdim: _bool = False, *, out: Sequence[Tensor] | None = None
    ) -> return_types.mode:
        """The most frequent element along a dimension, the smallest of several; a named tuple (values, indices)."""
    def module_load(self, other: Tensor, assign: _bool = False) -> Tensor:
        """Return the tensor that `load_state_dict` puts in the place of this one. Detached."""
    def moveaxis(self, source: _int | Sequence[_int], destination: _int | Sequence[_int]) -> Tensor:
        """A view with some dimensions at other places; the others keep their order."""
    def movedim(self, source: _int | Sequence[_int], destination: _int | Sequence[_int]) -> Tensor:
        """A view with some dimensions at other places; the others keep their order."""
    def msort(self, *, out: Tensor | None = None) -> Tensor:
        """The elements sorted along the first dimension."""
    def mul(self, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
        """`input * other`."""
    def mul_(self, other: Tensor | _Scalar) -> Tensor:
        """In-place form of `mul`: writes the result into this tensor and returns it."""
    def multinomial(
        self,
        num_samples: _int,
        replacement: _bool = False,
        *,
        generator: Generator | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """Indices drawn with probabilities proportional to each row of `input`."""
    def multiply(self, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
        """`input * other`."""
    def multiply_(self, other: Tensor | _Scalar) -> Tensor:
        """In-place form of `mul`: writes the result into this tensor and returns it."""
    def mv(self, vec: Tensor, *, out: Tensor | None = None) -> Tensor:
        """Product of a matrix and a vector."""
    def mvlgamma(self, p: _int, *, out: Tensor | None = None) -> Tensor:
        """The logarithm of the gamma function of `p` variables."""
    def mvlgamma_(self, p: _int) -> Tensor:
        """In-place form of `mvlgamma`: writes the result into this tensor and returns it."""
    def nan_to_num(
        self,
        nan: _float | None = None,
        posinf: _float | None = None,
        neginf: _float | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """`input` with numbers in the place of NaN and the infinities."""
    def nan_to_num_(
        self, nan: _float | None = None, posinf: _float | None = None, neginf: _float | None = None
    ) -> Tensor:
        """In-place form of `nan_to_num`: writes the result into this tensor and returns it."""
    def nanmean(
        self,
        dim: _int | Sequence[_int] | None = None,
        keepdim: _bool = False,
        *,
        dtype: _dtype | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """The mean of those elements that are not NaN."""
    @overload
    def nanmedian(self, *, out: None = ...) -> Tensor: ...
    @overload
    def nanmedian(
        self, dim: _int, keepdim: _bool = ..., *, out: Sequence[Tensor] | None = ...
    ) -> return_types.nanmedian: ...
    def nanquantile(
        self,
        q: Tensor | _float,
        dim: _int | Sequence[_int] | None = None,
        keepdim: _bool = False,
        *,
        interpolation: str = 'linear',
        out: Tensor | None = None,
    ) -> Tensor:
        """The quantiles of the elements that are not NaN: as `quantile`. NaN where all are NaN."""
    def nansum(
        self,
        dim: _int | Sequence[_int] | None = None,
        keepdim: _bool = False,
        *,
        dtype: _dtype | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """The sum of all elements or over some dimensions, NaN counting as zero."""
    def narrow(self, dim: _int, start: Tensor | _Scalar, length: _int) -> Tensor:
        """`length` elements of a dimension, from `start` on. A view."""
    def narrow_copy(self, dim: _int, start: _int, length: _int, *, out: Tensor | None = None) -> Tensor:
        """Return a copy of the view that `narrow` returns."""
    def ne(self, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
        """Where `input != other`."""
    def ne_(self, other: Tensor | _Scalar) -> Tensor:
        """In-place form of `ne`: writes the result into this tensor and returns it."""
    def neg(self, *, out: Tensor | None = None) -> Tensor:
        """`-input`."""
    def neg_(self) -> Tensor:
        """In-place form of `neg`: writes the result into this tensor and returns it."""
    def negative(self, *, out: Tensor | None = None) -> Tensor:
        """`-input`."""
    def negative_(self) -> Tensor:
        """In-place form of `neg`: writes the result into this tensor and returns it."""
    def new(
        self, *args: Any, size: _int | Sequence[_int] | None = None, device: _Device | None = None
    ) -> Tensor:
        """A tensor of the same dtype, from a size or from data: the old form of `new_empty` and `new_tensor`."""
    def new_empty(
        self,
        *sizes: _int | Sequence[_int],
        size: _int | Sequence[_int] | None = None,
        dtype: _dtype | None = None,
        device: _Device | None = None,
        requires_grad: _bool = False,
        layout: _layout | None = None,
        pin_memory: _bool = False,
    ) -> Tensor:
        """A new tensor of the same dtype: `gradpack.empty`."""
    def new_empty_strided(
        self,
        size: _int | Sequence[_int],
        stride: _int | Sequence[_int],
        dtype: _dtype | None = None,
        layout: _layout | None = None,
        device: _Device | None = None,
        pin_memory: _bool = False,
        requires_grad: _bool = False,
    ) -> Tensor:
        """A new tensor of the same dtype, of no particular values, with given strides."""
    def new_full(
        self,
        size: _int | Sequence[_int],
        fill_value: _Scalar,
        *,
        dtype: _dtype | None = None,
        layout: _layout | None = None,
        device: _Device | None = None,
        pin_memory: _bool = False,
        requires_grad: _bool = False,
    ) -> Tensor:
        """A new tensor of the same dtype, filled with one value."""
    def new_ones(
        self,
        *sizes: _int | Sequence[_int],
        size: _int | Sequence[_int] | None = None,
        dtype: _dtype | None = None,
        device: _Device | None = None,
        requires_grad: _bool = False,
        layout: _layout | None = None,
        pin_memory: _bool = False,
    ) -> Tensor:
        """A new tensor of the same dtype: `gradpack.ones`."""
    def new_tensor(
        self,
        data: Any,
        *,
        dtype: _dtype | None = None,
        device: _Device | None = None,
        requires_grad: _bool = False,
    ) -> Tensor:
        """A new tensor with a copy of `data`, of the dtype and on the device of this one."""
    def new_zeros(
        self,
        *sizes: _int | Sequence[_int],
        size: _int | Sequence[_int] | None = None,
        dtype: _dtype | None = None,
        device: _Device | None = None,
        requires_grad: _bool = False,
        layout: _layout | None = None,
        pin_memory: _bool = False,
    ) -> Tensor:
        """A new tensor of the same dtype: `gradpack.zeros`."""
    def nextafter(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The next number after `input` towards `other` that the dtype can hold."""
    def nextafter_(self, other: Tensor) -> Tensor:
        """In-place form of `nextafter`: writes the result into this tensor and returns it."""
    @overload
    def nonzero(self, *, as_tuple: Literal[False] = False) -> Tensor: ...
    @overload
    def nonzero(self, *, as_tuple: Literal[True]) -> tuple[Tensor, ...]: ...
    @overload
    def nonzero(self, *, as_tuple: _bool = False) -> Any: ...
    def nonzero_static(self, *, size: _int, fill_value: _int = -1, out: Tensor | None = None) -> Tensor:
        """The first `size` rows of `nonzero`; where there are less, rows of `fill_value` follow."""
    def norm(
        self,
        p: _int | _float | str | Tensor = 'fro',
        dim: _int | Sequence[_int] | None = None,
        keepdim: _bool = False,
        dtype: _dtype | None = None,
    ) -> Tensor:
        """The norm of all elements as a vector, or of the vectors along dimensions: see `gradpack.norm`."""
    def normal_(self, mean: _float = 0.0, std: _float = 1.0, *, generator: Generator | None = None) -> Tensor:
        """Fill with normally distributed numbers, in place."""
    def not_equal(self, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
        """Where `input != other`."""
    def not_equal_(self, other: Tensor | _Scalar) -> Tensor:
        """In-place form of `ne`: writes the result into this tensor and returns it."""
    def numpy(self, *, force: _bool = ...) -> ndarray[Any, Any]: ...
    def orgqr(self, input2: Tensor, *, out: Tensor | None = None) -> Tensor:
        """`linalg.householder_product`."""
    def ormqr(
        self,
        input2: Tensor,
        input3: Tensor,
        left: _bool = True,
        transpose: _bool = False,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """The product of a matrix with Q, given by Householder vectors, of which all columns are taken."""
    def outer(self, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
        """All products of elements of two vectors."""
    def permute(self, *order: _int | Sequence[_int], dims: _int | Sequence[_int] | None = None) -> Tensor:
        """A view with the dimensions in another order: `x.permute(1, 0)` or `x.permute((1, 0))`."""
    def pin_memory(self, device: _Device | None = None) -> Tensor:
        """A copy in pinned (page-locked) memory; the tensor itself if it is pinned already."""
    def pinverse(self, rcond: _float = 1e-15) -> Tensor:
        """The Moore-Penrose inverse: `linalg.pinv` with a relative tolerance."""
    def polygamma(self, n: _int) -> Tensor:
        """The n-th derivative of `digamma` at the elements of this tensor."""
    def polygamma_(self, n: _int) -> Tensor:
        """In-place form of `polygamma`."""
    def positive(self) -> Tensor:
        """The tensor itself."""
    def pow(self, exponent: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
        """`input` to the power of `exponent`; one of them may be a number."""
    def pow_(self, exponent: Tensor | _Scalar) -> Tensor:
        """In-place form of `pow`: writes the result into this tensor and returns it."""
    def prelu(self, weight: Tensor) -> Tensor:
        """`input` where it is positive, else `weight * input`, with one weight, or one for each channel (dimension 1)."""
    def prod(
        self,
        dim: _int | Sequence[_int] | None = None,
        keepdim: _bool = False,
        *,
        dtype: _dtype | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """The product of all elements, or along a dimension."""
    def put(self, index: Tensor, source: Tensor, accumulate: _bool = False) -> Tensor:
        """`input` with the elements of `source` written at `index`, flat indices in row-major order."""
    def put_(self, index: Tensor, source: Tensor, accumulate: _bool = False) -> Tensor:
        """In-place form of `put`: writes only the elements that `index` names."""
    def qr(self, some: _bool = True, *, out: Sequence[Tensor] | None = None) -> return_types.qr:
        """The QR factorization, as a named tuple (Q, R): `linalg.qr` by its old name."""
    def quantile(
        self,
        q: Tensor | _float,
        dim: _int | Sequence[_int] | None = None,
        keepdim: _bool = False,
        *,
        interpolation: str = 'linear',
        out: Tensor | None = None,
    ) -> Tensor:
        """The quantiles of all elements, or along a dimension; NaN where there is any."""
    def rad2deg(self, *, out: Tensor | None = None) -> Tensor:
        """Radians as degrees."""
    def rad2deg_(self) -> Tensor:
        """In-place form of `rad2deg`: writes the result into this tensor and returns it."""
    def random_(
        self, from_: _float | None = None, to: _int | _float | None = None, *, generator: Generator | None = None
    ) -> Tensor:
        """Fill with integers: of the whole range of the dtype, below a bound, or between two; None: up to 2**63 - 1."""
    def ravel(self) -> Tensor:
        """A one-dimensional tensor of all elements."""
    @property
    def real(self) -> Tensor: ...
    @real.setter
    def real(self, value: Tensor) -> None: ...
    def reciprocal(self, *, out: Tensor | None = None) -> Tensor:
        """`1 / input`."""
    def reciprocal_(self) -> Tensor:
        """In-place form of `reciprocal`: writes the result into this tensor and returns it."""
    def record_stream(self, s: _int | Sequence[_int]) -> None:
        """Raise: there are no streams on the CPU."""
    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
        """Call `hook(grad)` when the gradient of this tensor is computed; what it returns replaces it."""
    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> RemovableHandle:
        """Call `hook(tensor)` after the gradient of this leaf has been accumulated."""
    def reinforce(self, reward: Any) -> Tensor:
        """Raise, as in torch: the method was removed. `distributions` has log-probabilities to differentiate instead."""
    def relu(self, *, out: Tensor | None = None) -> Tensor:
        """`max(input, 0)`. Keeps its result for backward, which the next layer keeps anyway."""
    def relu_(self) -> Tensor:
        """In-place form of `relu`: writes the result into this tensor and returns it."""
    def remainder(self, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
        """The remainder of floor division, with the sign of `other`, as Python's `%`."""
    def remainder_(self, other: Tensor | _Scalar) -> Tensor:
        """In-place form of `remainder`: writes the result into this tensor and returns it."""
    def renorm(self, p: _float, dim: _int, maxnorm: _float, *, out: Tensor | None = None) -> Tensor:
        """Each slice along `dim` whose p-norm is larger than `maxnorm`, scaled down to it."""
    def renorm_(self, p: _float, dim: _int, maxnorm: _float) -> Tensor:
        """In-place form of `renorm`: writes the result into this tensor and returns it."""
    def repeat(
        self, *times: _int | Sequence[_int], repeats: Tensor | _int | Sequence[_int] | None = None
    ) -> Tensor:
        """Repeat along each dimension: a copy of the tensor, several times. `expand` repeats without copying."""
    def repeat_interleave(
        self,
        repeats: Tensor | _int | Sequence[_int] | None = None,
        dim: _int | None = None,
        *,
        output_size: _int | None = None,
    ) -> Tensor:
        """Repeat each element, one copy after the other: `repeats` times, or as often as it says for each."""
    def reshape(self, *sizes: _int | Sequence[_int], shape: _int | Sequence[_int] | None = None) -> Tensor:
        """The same elements in another shape. A view where the strides allow, else a copy."""
    def reshape_as(self, other: Tensor) -> Tensor:
        """Reshape this tensor to the shape of `other`."""
    def resize(self, *sizes: _int | Sequence[_int]) -> Tensor:
        """The tensor in another shape of as many elements: an old form of `view`, with a warning."""
    def resize_(
        self,
        *sizes: _int | Sequence[_int],
        size: _int | Sequence[_int] | None = None,
        memory_format: _memory_format | None = None,
    ) -> Tensor:
        """Change the shape in-place, contiguous; the storage grows if it does not suffice. New elements are zeros."""
    def resize_as(self, tensor: Tensor) -> Tensor:
        """The tensor in the shape of another, of as many elements: an old form of `view_as`, with a warning."""
    def resize_as_(self, the_template: Tensor, *, memory_format: _memory_format | None = None) -> Tensor:
        """Resize to the shape of another tensor, in place: see `resize_`."""
    def resolve_conj(self) -> Tensor:
        """The tensor itself: conjugates are never postponed here."""
    def resolve_neg(self) -> Tensor:
        """The tensor itself: negations are never postponed here."""
    def retain_grad(self) -> None:
        """Keep the gradient of this non-leaf in `.grad`. Does nothing for a leaf."""
    def roll(
        self,
        shifts: _int | Sequence[_int],
        dims: _int | Sequence[_int] | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """Shift elements along dimensions; elements shifted beyond the end re-enter at the beginning."""
    def rot90(self, k: _int = 1, dims: _int | Sequence[_int] = ...) -> Tensor:
        """Rotate by 90 degrees in a plane, from the first of `dims` towards the second."""
    def round(self, *, decimals: _int = 0, out: Tensor | None = None) -> Tensor:
        """The nearest whole number, the even one of two that are equally near."""
    def round_(self, *, decimals: _int = 0) -> Tensor:
        """In-place form of `round`: writes the result into this tensor and returns it."""
    def rsqrt(self, *, out: Tensor | None = None) -> Tensor:
        """`1 / sqrt(input)`."""
    def rsqrt_(self) -> Tensor:
        """In-place form of `rsqrt`: writes the result into this tensor and returns it."""
    def scatter(
        self,
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
        self,
        dim: _int,
        index: Tensor,
        src: Tensor | _Scalar | None = None,
        *,
        value: Tensor | _Scalar | None = None,
        reduce: str | None = None,
    ) -> Tensor:
        """In-place form of `scatter`: writes only the elements that `index` names."""
    def scatter_add(self, dim: _int, index: Tensor, src: Tensor, *, out: Tensor | None = None) -> Tensor:
        """`input` with the elements of `src` added at `index` along `dim`."""
    def scatter_add_(self, dim: _int, index: Tensor, src: Tensor) -> Tensor:
        """In-place form of `scatter_add`."""
    def scatter_reduce(
        self,
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
        self, dim: _int, index: Tensor, src: Tensor, reduce: str, *, include_self: _bool = True
    ) -> Tensor:
        """In-place form of `scatter_reduce`."""
    def select(self, dim: _int, index: Any) -> Tensor:
        """The part of `input` at one index of a dimension, without that dimension. A view."""
    def select_scatter(self, src: Tensor, dim: _int, index: _int = 0, *, out: Tensor | None = None) -> Tensor:
        """`input` with `src` where `select(input, dim, index)` reads."""
    def set_(
        self,
        source: Any = None,
        storage_offset: _int = 0,
        size: _int | Sequence[_int] | None = None,
        stride: _int | Sequence[_int] | None = None,
    ) -> Tensor:
        """Take over the storage, sizes and strides of another tensor; without one, become empty."""
    def sgn(self, *, out: Tensor | None = None) -> Tensor:
        """`sign`; of a complex number, the number of length 1 in the same direction, and 0 at 0."""
    def sgn_(self) -> Tensor:
        """In-place form of `sgn`: writes the result into this tensor and returns it."""
    def share_memory_(self) -> Tensor:
        """Move the storage, with all its views, to memory shared between processes: a child that is forked afterwards, or gets the tensor through a queue of `multiprocessing`, reads and writes the same. Returns the tensor itself."""
    def short(self, *, memory_format: _memory_format | None = None) -> Tensor:
        """This tensor as int16."""
    def sigmoid(self, *, out: Tensor | None = None) -> Tensor:
        """`1 / (1 + exp(-input))`."""
    def sigmoid_(self) -> Tensor:
        """In-place form of `sigmoid`: writes the result into this tensor and returns it."""
    def sign(self, *, out: Tensor | None = None) -> Tensor:
        """-1, 0 or 1; 0 for NaN."""
    def sign_(self) -> Tensor:
        """In-place form of `sign`: writes the result into this tensor and returns it."""
    def signbit(self, *, out: Tensor | None = None) -> Tensor:
        """Where the sign is negative, of -0.0 too."""
    def sin(self, *, out: Tensor | None = None) -> Tensor:
        """The sine of an angle in radians."""
    def sin_(self) -> Tensor:
        """In-place form of `sin`: writes the result into this tensor and returns it."""
    def sinc(self, *, out: Tensor | None = None) -> Tensor:
        """`sin(pi * input) / (pi * input)`, and 1 at 0."""
    def sinc_(self) -> Tensor:
        """In-place form of `sinc`: writes the result into this tensor and returns it."""
    def sinh(self, *, out: Tensor | None = None) -> Tensor:
        """The hyperbolic sine."""
    def sinh_(self) -> Tensor:
        """In-place form of `sinh`: writes the result into this tensor and returns it."""
    def slice_scatter(
        self,
        src: Tensor,
        dim: _int = 0,
        start: Tensor | _Scalar | None = None,
        end: Tensor | _Scalar | None = None,
        step: _int = 1,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """`input` with `src` at `start:end:step` of a dimension."""
    def slogdet(self, *, out: Sequence[Tensor] | None = None) -> return_types.slogdet:
        """`linalg.slogdet`."""
    def smm(self, mat: Tensor) -> Tensor:
        """A sparse matrix times a dense one, as a sparse tensor. It has no derivative."""
    def softmax(
        self, dim: _int | None = None, dtype: _dtype | None = None, *, out: Tensor | None = None
    ) -> Tensor:
        """`exp(input) / sum(exp(input))` along a dimension: positive numbers that sum to 1."""
    def solve(self, A: Tensor, *, out: Sequence[Tensor] | None = None) -> NoReturn:
        """Refused, as in torch: it was removed. `torch.solve` is deprecated in favor of `torch.linalg.solve`, whose arguments are reversed."""
    def sort(
        self,
        dim: _int = -1,
        descending: _bool = False,
        *,
        stable: _bool | None = False,
        out: Sequence[Tensor] | None = None,
    ) -> return_types.sort:
        """The elements sorted along a dimension, and their indices in `input`, as a named tuple (values, indices)."""
    def sparse_dim(self) -> _int:
        """How many dimensions are sparse: 0 for a dense tensor."""
    def sparse_mask(self, mask: Tensor) -> Tensor:
        """The elements of this tensor at the places where `mask`, a sparse tensor, has entries."""
    def sparse_resize_(self, size: _int | Sequence[_int], sparse_dim: _int, dense_dim: _int) -> Tensor:
        """Give a sparse tensor another shape, with the same entries, in place."""
    def sparse_resize_and_clear_(
        self, size: _int | Sequence[_int], sparse_dim: _int, dense_dim: _int
    ) -> Tensor:
        """Give a sparse tensor another shape and take all entries away, in place."""
    def split(self, split_size: _int | Sequence[_int], dim: _int = 0) -> tuple[Tensor, ...]:
        """Parts along a dimension: of one size, or of given sizes. Views: see `gradpack.split`."""
    def split_with_sizes(self, split_sizes: _int | Sequence[_int], dim: _int = 0) -> tuple[Tensor, ...]:
        """Split along a dimension into parts of given sizes. Views, which must not be modified in-place under grad mode."""
    def sqrt(self, *, out: Tensor | None = None) -> Tensor:
        """The square root: NaN below 0."""
    def sqrt_(self) -> Tensor:
        """In-place form of `sqrt`: writes the result into this tensor and returns it."""
    def square(self, *, out: Tensor | None = None) -> Tensor:
        """`input * input`; bool counts as int64."""
    def square_(self) -> Tensor:
        """In-place form of `square`: writes the result into this tensor and returns it."""
    def squeeze(self, dim: _int | Sequence[_int] | None = None) -> Tensor:
        """A view without dimensions of size 1."""
    def squeeze_(self, dim: _int | Sequence[_int] | None = None) -> Tensor:
        """In-place form of `squeeze`."""
    def sspaddmm(self, mat1: Tensor, mat2: Tensor, *, beta: _Scalar = 1, alpha: _Scalar = 1) -> Tensor:
        """`beta * input + alpha * (mat1 @ mat2)` of sparse `input` and `mat1`, as a sparse tensor. No derivative."""
    def std(
        self,
        dim: _int | Sequence[_int] | None = None,
        unbiased: _bool | None = None,
        keepdim: _bool = False,
        *,
        correction: _int | _float | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """The standard deviation: the root of `var`. Its gradient is 0 where it is 0."""
    def stft(
        self,
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
    def storage(self) -> TypedStorage:
        """The storage as a `TypedStorage`; deprecated, with a warning: use `untyped_storage`."""
    def storage_type(self) -> Type[Any]:
        """The class of `storage()`."""
    def sub(self, other: Tensor | _Scalar, *, alpha: _Scalar = 1, out: Tensor | None = None) -> Tensor:
        """`input - alpha * other`."""
    def sub_(self, other: Tensor | _Scalar, *, alpha: _Scalar = 1) -> Tensor:
        """In-place form of `sub`: writes the result into this tensor and returns it."""
    def subtract(self, other: Tensor | _Scalar, *, alpha: _Scalar = 1, out: Tensor | None = None) -> Tensor:
        """`input - alpha * other`."""
    def subtract_(self, other: Tensor | _Scalar, *, alpha: _Scalar = 1) -> Tensor:
        """In-place form of `sub`: writes the result into this tensor and returns it."""
    def sum(
        self,
        dim: _int | Sequence[_int] | None = None,
        keepdim: _bool = False,
        *,
        dtype: _dtype | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """The sum of all elements, or over one or several dimensions."""
    def sum_to_size(self, *sizes: _int | Sequence[_int], size: _int | Sequence[_int] | None = None) -> Tensor:
        """Sum over dimensions so that the result has this shape, which must broadcast to that of the tensor."""
    def svd(
        self, some: _bool = True, compute_uv: _bool = True, *, out: Sequence[Tensor] | None = None
    ) -> return_types.svd:
        """`input = U @ diag(S) @ V^H`, as a named tuple (U, S, V)."""
    def swapaxes(self, axis0: _int, axis1: _int) -> Tensor:
        """`transpose`, by NumPy's name."""
    def swapaxes_(self, axis0: _int, axis1: _int) -> Tensor:
        """In-place form of `swapaxes`."""
    def swapdims(self, dim0: _int, dim1: _int) -> Tensor:
        """A view with two dimensions exchanged."""
    def swapdims_(self, dim0: _int, dim1: _int) -> Tensor:
        """In-place form of `transpose`."""
    def symeig(
        self, eigenvectors: _bool = False, upper: _bool = True, *, out: Sequence[Tensor] | None = None
    ) -> NoReturn:
        """Refused, as in torch: it was removed. Please use `torch.linalg.eigh` instead, which reads the lower triangle."""
    def t(self) -> Tensor:
        """Transpose a matrix; a tensor of fewer dimensions stays as it is."""
    def t_(self) -> Tensor:
        """In-place form of `t`."""
    def take(self, index: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The elements of `input`, read as if it had one dimension, at `index`; the result has the shape of `index`."""
    def take_along_dim(
        self, indices: Tensor, dim: _int | None = None, *, out: Tensor | None = None
    ) -> Tensor:
        """`gather` with broadcasting, as `numpy.take_along_axis`; without `dim`, of the flattened input."""
    def tan(self, *, out: Tensor | None = None) -> Tensor:
        """The tangent of an angle in radians."""
    def tan_(self) -> Tensor:
        """In-place form of `tan`: writes the result into this tensor and returns it."""
    def tanh(self, *, out: Tensor | None = None) -> Tensor:
        """The hyperbolic tangent."""
    def tanh_(self) -> Tensor:
        """In-place form of `tanh`: writes the result into this tensor and returns it."""
    def tensor_split(
        self,
        indices_or_sections: Tensor | _int | Sequence[_int] | None = None,
        dim: _int = 0,
        *,
        indices: _int | Sequence[_int] | None = None,
        sections: Tensor | _int | Sequence[_int] | None = None,
        tensor_indices_or_sections: Tensor | _int | Sequence[_int] | None = None,
    ) -> tuple[Tensor, ...]:
        """Split along a dimension into a number of parts whose sizes differ by at most 1, or at given indices. Views."""
    def tile(self, *times: _int | Sequence[_int], dims: _int | Sequence[_int] | None = None) -> Tensor:
        """Repeat along the last dimensions, as `numpy.tile` does."""
    @overload
    def to(
        self,
        dtype: _dtype,
        non_blocking: _bool = ...,
        copy: _bool = ...,
        *,
        memory_format: _memory_format | None = ...,
    ) -> Tensor: ...
    @overload
    def to(
        self,
        device: _Device = ...,
        dtype: _dtype | None = ...,
        non_blocking: _bool = ...,
        copy: _bool = ...,
        *,
        memory_format: _memory_format | None = ...,
    ) -> Tensor: ...
    @overload
    def to(
        self,
        other: Tensor,
        non_blocking: _bool = ...,
        copy: _bool = ...,
        *,
        memory_format: _memory_format | None = ...,
    ) -> Tensor: ...
    def to_dense(self, dtype: _dtype | None = None, *, masked_grad: _bool | None = None) -> Tensor:
        """This tensor with all of its zeros; a dense one as it is."""
    def to_device(self, device: _Device, *, stream: Any = None) -> Tensor:
        """A tensor of these elements on a device: the array API standard's name of `to`."""
    def to_sparse(
        self,
        sparse_dim: _int | None = None,
        *,
        layout: _layout | None = None,
        blocksize: _int | None = None,
        dense_dim: _int | None = None,
    ) -> Tensor:
        """This tensor as a sparse one, in coordinate form: the only layout there is."""
    def to_sparse_coo(self) -> Tensor:
        """This tensor as a sparse one, in coordinate form."""
    def topk(
        self,
        k: _int,
        dim: _int = -1,
        largest: _bool = True,
        sorted: _bool = True,
        *,
        out: Sequence[Tensor] | None = None,
    ) -> return_types.topk:
        """The `k` largest or smallest elements along a dimension, as a named tuple (values, indices)."""
    def trace(self, *, out: Tensor | None = None) -> Tensor:
        """The sum of the main diagonal of a matrix. Integers give int64."""
    def transpose(self, dim0: _int, dim1: _int) -> Tensor:
        """A view with two dimensions exchanged."""
    def transpose_(self, dim0: _int, dim1: _int) -> Tensor:
        """In-place form of `transpose`."""
    def triangular_solve(
        self,
        A: Tensor,
        upper: _bool = True,
        transpose: _bool = False,
        unitriangular: _bool = False,
        *,
        out: Sequence[Tensor] | None = None,
    ) -> return_types.triangular_solve:
        """As `linalg.solve_triangular(A, input)`, as a named tuple (solution, cloned_coefficient)."""
    def tril(self, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
        """The lower triangle of a matrix or batch of matrices, zeros elsewhere."""
    def tril_(self, diagonal: _int = 0) -> Tensor:
        """In-place form of `tril`: writes the result into this tensor and returns it."""
    def triu(self, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
        """The upper triangle of a matrix or batch of matrices, zeros elsewhere."""
    def triu_(self, diagonal: _int = 0) -> Tensor:
        """In-place form of `triu`: writes the result into this tensor and returns it."""
    def true_divide(self, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
        """`input / other`; integers give the default floating-point dtype."""
    def true_divide_(self, other: Tensor) -> Tensor:
        """In-place form of `true_divide`: writes the result into this tensor and returns it."""
    def trunc(self, *, out: Tensor | None = None) -> Tensor:
        """The next whole number towards 0."""
    def trunc_(self) -> Tensor:
        """In-place form of `trunc`: writes the result into this tensor and returns it."""
    @overload
    def type(self, dtype: None = ..., non_blocking: _bool = ...) -> str: ...
    @overload
    def type(self, dtype: str | _dtype | Type[Any], non_blocking: _bool = ...) -> Tensor: ...
    def type_as(self, other: Tensor) -> Tensor:
        """This tensor in the dtype of `other`."""
    def unbind(self, dim: _int = 0) -> tuple[Tensor, ...]:
        """All slices along a dimension, with it removed. Views, which must not be modified in-place under grad mode."""
    def unflatten(self, dim: _int, sizes: _int | Sequence[_int]) -> Tensor:
        """Split one dimension into several."""
    def unfold(self, dimension: _int, size: _int, step: _int) -> Tensor:
        """All windows of `size` along a dimension, `step` apart, as a last dimension. A view."""
    def uniform_(
        self, from_: _float = 0.0, to: _int | _float | None = 1.0, *, generator: Generator | None = None
    ) -> Tensor:
        """Fill with uniform numbers from the first bound up to the second, in place."""
    @overload
    def unique(
        self,
        sorted: _bool = ...,
        return_inverse: Literal[False] = ...,
        return_counts: Literal[False] = ...,
        dim: _int | None = ...,
    ) -> Tensor: ...
    @overload
    def unique(
        self,
        sorted: _bool = ...,
        *,
        return_inverse: Literal[True],
        return_counts: Literal[True],
        dim: _int | None = ...,
    ) -> tuple[Tensor, Tensor, Tensor]: ...
    @overload
    def unique(
        self,
        sorted: _bool = ...,
        *,
        return_inverse: Literal[True],
        return_counts: Literal[False] = ...,
        dim: _int | None = ...,
    ) -> tuple[Tensor, Tensor]: ...
    @overload
    def unique(
        self,
        sorted: _bool = ...,
        return_inverse: Literal[False] = ...,
        *,
        return_counts: Literal[True],
        dim: _int | None = ...,
    ) -> tuple[Tensor, Tensor]: ...
    @overload
    def unique(
        self,
        sorted: _bool = ...,
        return_inverse: _bool = ...,
        return_counts: _bool = ...,
        dim: _int | None = ...,
    ) -> Any: ...
    @overload
    def unique_consecutive(
        self,
        return_inverse: Literal[False] = ...,
        return_counts: Literal[False] = ...,
        dim: _int | None = ...,
    ) -> Tensor: ...
    @overload
    def unique_consecutive(
        self, return_inverse: Literal[True], return_counts: Literal[True], dim: _int | None = ...
    ) -> tuple[Tensor, Tensor, Tensor]: ...
    @overload
    def unique_consecutive(
        self, return_inverse: Literal[True], return_counts: Literal[False] = ..., dim: _int | None = ...
    ) -> tuple[Tensor, Tensor]: ...
    @overload
    def unique_consecutive(
        self, return_inverse: Literal[False] = ..., *, return_counts: Literal[True], dim: _int | None = ...
    ) -> tuple[Tensor, Tensor]: ...
    @overload
    def unique_consecutive(
        self, return_inverse: _bool = ..., return_counts: _bool = ..., dim: _int | None = ...
    ) -> Any: ...
    def unsafe_chunk(self, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
        """`chunk` whose parts may be modified in-place: see `unsafe_split`."""
    def unsafe_split(self, split_size: _int, dim: _int = 0) -> tuple[Tensor, ...]:
        """`split` whose parts may be modified in-place: autograd does not record them as views; do not use them as such."""
    def unsafe_split_with_sizes(
        self, split_sizes: _int | Sequence[_int], dim: _int = 0, *, out: Sequence[Tensor] | None = None
    ) -> tuple[Tensor, ...]:
        """`split_with_sizes` whose parts may be modified in-place: autograd does not record them as views."""
    def unsqueeze(self, dim: _int) -> Tensor:
        """A view with one more dimension, of size 1."""
    def unsqueeze_(self, dim: _int) -> Tensor:
        """In-place form of `unsqueeze`."""
    def untyped_storage(self) -> UntypedStorage:
        """The storage of the tensor, as bytes."""
    def values(self) -> Tensor:
        """The values of the entries of a coalesced tensor; it shares memory with them."""
    def var(
        self,
        dim: _int | Sequence[_int] | None = None,
        unbiased: _bool | None = None,
        keepdim: _bool = False,
        *,
        correction: _int | _float | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """The variance: squared distances from the mean, summed and divided by `n - correction`."""
    def vdot(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """Sum of the products of two vectors, the first conjugated."""
    @overload
    def view(self, *shape: _int | Sequence[_int] | _dtype) -> Tensor: ...
    @overload
    def view(self, *, size: Sequence[_int]) -> Tensor: ...
    @overload
    def view(self, *, dtype: _dtype) -> Tensor: ...
    def view_as(self, other: Tensor) -> Tensor:
        """View this tensor in the shape of `other`."""
    def vsplit(
        self,
        indices_or_sections: Tensor | _int | Sequence[_int] | None = None,
        *,
        indices: _int | Sequence[_int] | None = None,
        sections: Tensor | _int | Sequence[_int] | None = None,
    ) -> tuple[Tensor, ...]:
        """Parts along the first dimension. Views."""
    def where(self, condition: Tensor, other: Tensor) -> Tensor:
        """This tensor where `condition` holds, `other` elsewhere."""
    def xlogy(self, other: Tensor | _Scalar, *, out: Tensor | None = None) -> Tensor:
        """`input * log(other)`, and 0 where `input` is 0 unless `other` is NaN."""
    def xlogy_(self, other: Tensor | _Scalar) -> Tensor:
        """In-place form of `xlogy`: writes the result into this tensor and returns it."""
    def xpu(
        self,
        device: _Device | None = None,
        non_blocking: _bool = False,
        memory_format: _memory_format | None = None,
    ) -> Tensor:
        """The tensor on a device of kind 'xpu', where there is one."""
    def zero_(self) -> Tensor:
        """Write zeros into every element, in place, and return the tensor."""
