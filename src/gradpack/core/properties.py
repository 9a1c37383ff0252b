"""Attributes and methods of tensors that do not involve autograd: shape, dtype, strides, values as Python's."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, overload

from ..backends.memory_layout import address_of, owner_of
from ..base.callers import warn_once
from ..base.devices import device
from ..base.dtypes import FLOATING, INTEGRAL, computed_in, dtype
from ..base.layouts import layout, strided
from ..base.modes import MODE
from ..base.size import Size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..backends import Spec
    from .tensor import Tensor
    from .tensor_methods import TensorMethods  # what the operations attach (ops/methods.py)
else:
    TensorMethods = object


def warn_of_loss() -> None:
    """Warn, once, that converting a tensor that requires grad to a number loses its gradient."""
    warn_once(
        "scalar",
        "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
        "Consider using tensor.detach() first.",
    )


_sized = tuple.__new__  # makes a `Size` of ints without checking them


class TensorBase(TensorMethods):
    """The base class of Tensor, as `torch._C.TensorBase`: what reads the array, and all operations as methods."""

    __slots__ = ()

    if TYPE_CHECKING:  # the slots of `Tensor`
        _data: Any
        _edge: Any
        _shape: tuple[int, ...]
        _spec: Spec
        data: Tensor

    @property
    def shape(self) -> Size:
        """The size of each dimension, as a `Size`.

        Example::

            >>> import gradpack as torch
            >>> torch.zeros(2, 3).shape
            gradpack.Size([2, 3])
        """
        return _sized(Size, self._shape)

    @property
    def dtype(self) -> dtype:
        """The type of the elements."""
        return self._spec.dtype

    @property
    def device(self) -> device:
        """The device of the memory."""
        return self._spec.device

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._shape)

    @property
    def itemsize(self) -> int:
        """The size of one element in bytes."""
        return self._spec.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The size of all elements in bytes, whether or not they share memory."""
        return self.numel() * self._spec.dtype.itemsize

    @property
    def is_cuda(self) -> bool:
        """Whether the memory is that of a CUDA device."""
        return self._spec.device.type == "cuda"

    @property
    def is_cpu(self) -> bool:
        """Whether the memory is that of the CPU."""
        return self._spec.device.type == "cpu"

    @property
    def is_sparse(self) -> bool:
        """Whether the layout is `sparse_coo`."""
        return self._spec.layout is not strided

    @property
    def layout(self) -> layout:
        """The memory layout: `strided` or `sparse_coo`."""
        return self._spec.layout

    @property
    def is_meta(self) -> bool:
        """Whether it is on the device `meta`, where tensors have no elements."""
        return self._spec.device.type == "meta"

    is_quantized = is_nested = property(lambda _: False, doc="Whether it is quantized, or nested: always False.")

    def dim(self) -> int:
        """The number of dimensions."""
        return len(self._shape)

    ndimension = dim

    def numel(self) -> int:
        """The number of elements."""
        n = 1
        for size in self._shape:
            n *= size
        return n

    nelement = numel

    @overload
    def size(self, dim: None = None) -> Size: ...

    @overload
    def size(self, dim: int) -> int: ...

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the size of one dimension.

        Args:
            dim: the dimension; None for all of them.

        Example::

            >>> import gradpack as torch
            >>> x = torch.zeros(2, 3)
            >>> x.size(), x.size(-1)
            (gradpack.Size([2, 3]), 3)
        """
        if dim is None:
            return _sized(Size, self._shape)
        if not -max(len(self._shape), 1) <= dim < max(len(self._shape), 1) or not self._shape:
            from ..base.errors import dim_out_of_range

            raise dim_out_of_range(dim, len(self._shape))
        return self._shape[dim]

    def element_size(self) -> int:
        """Bytes per element."""
        return self._spec.dtype.itemsize

    @overload
    def stride(self, dim: None = None) -> tuple[int, ...]: ...

    @overload
    def stride(self, dim: int) -> int: ...

    def stride(self, dim: int | None = None) -> Any:
        """The stride of each dimension, or of one, in elements.

        Args:
            dim: the dimension; None for all of them.

        Example::

            >>> import gradpack as torch
            >>> x = torch.zeros(2, 3)
            >>> x.stride(), x.T.stride()
            ((3, 1), (1, 3))
        """
        size = self._data.itemsize
        if self._spec.layout is not strided:
            strides = [0] * len(self._shape)
        elif 0 in self._shape:
            strides = _strides_of_nothing(self._data.strides, self._shape, size)
        else:
            strides = [s // size for s in self._data.strides]
        if dim is not None and not -len(strides) <= dim < len(strides):
            from ..base.errors import dim_out_of_range

            raise dim_out_of_range(dim, len(strides))
        return tuple(strides) if dim is None else strides[dim]

    def storage_offset(self) -> int:
        """The offset of the tensor in its storage, in elements."""
        data = self._spec.backend.root(self._data)
        return int((address_of(data) - address_of(owner_of(data))) // data.itemsize)

    def data_ptr(self) -> int:
        """The address of the first element; 0 for a tensor without elements."""
        return address_of(self._data) if 0 not in self._shape else 0

    def is_contiguous(self, memory_format: Any = None) -> bool:
        """Whether the elements lie in row-major order, or that of another memory format, without gaps.

        Example::

            >>> import gradpack as torch
            >>> x = torch.zeros(2, 3)
            >>> x.is_contiguous(), x.T.is_contiguous()
            (True, False)
        """
        if memory_format is None:
            return bool(self._data.flags.c_contiguous)
        return bool(self._is_laid_out(memory_format))  # attached by the operations

    def is_floating_point(self) -> bool:
        """Whether the dtype is a floating-point one."""
        return self._spec.dtype.category == FLOATING

    def is_complex(self) -> bool:
        """Whether the dtype is a complex one."""
        return self._spec.dtype.is_complex

    def is_signed(self) -> bool:
        """Whether the dtype has negative values."""
        return self._spec.dtype.is_signed

    def is_conj(self) -> bool:
        """Whether it is a lazily conjugated view: never, conjugates are computed."""
        return False

    def is_neg(self) -> bool:
        """Whether it is a lazily negated view: never."""
        return False

    def is_same_size(self, other: TensorBase) -> bool:
        """Whether the shapes are equal."""
        if not isinstance(other, TensorBase):
            raise TypeError(f"is_same_size(): argument 'other' (position 1) must be Tensor, not {type(other).__name__}")
        return self._shape == other._shape

    def get_device(self) -> int:
        """The index of the device; -1 for the CPU."""
        return -1 if self._spec.device.type == "cpu" else self._spec.device.index or 0

    # -- Python's protocols that need no operation --

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("len() of a 0-d tensor")
        return self._shape[0]

    def __hash__(self) -> int:
        return id(self)

    def __iter__(self) -> Iterator[Tensor]:
        if not self._shape:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))  # attached by the operations

    def __reversed__(self) -> Tensor:
        return self.flip(0) if self._shape else self  # type: ignore[return-value]

    def __repr__(self, *, tensor_contents: object = None) -> str:
        from .printing import render

        return render(self)

    def _repr_html_(self) -> str:
        from .html import tensor_html

        return tensor_html(self)

    def __format__(self, spec: str) -> str:
        if not self._shape:
            return format(self.item(), spec)
        return object.__format__(self, spec) if spec else repr(self)

    def _one(self, what: str) -> Any:
        if self._shape and self.numel() != 1:
            if what == "Scalar":
                raise RuntimeError(f"a Tensor with {self.numel()} elements cannot be converted to {what}")
            raise ValueError(
                f"only one element tensors can be converted to {what}: this one has shape {list(self._shape)}"
            )
        return self._spec.backend.number(self._data)

    def _real(self, what: str) -> Any:
        """The only element as a real number; complex numbers must have no imaginary part."""
        value = self._one("Python scalars")
        if type(value) is complex:
            if value.imag:
                raise RuntimeError(f"value cannot be converted to type {what} without overflow: {value}")
            return value.real
        return value

    def item(self) -> int | float | bool:
        """The value of a one-element tensor as a Python number.

        Raises:
            RuntimeError: if there is not exactly one element.

        Example::

            >>> import gradpack as torch
            >>> torch.tensor([2.5]).item()
            2.5
        """
        if not self._shape and self._spec.plain:
            return self._data.item()
        return self._one("Scalar")  # as it is: programs read from this code that nothing looks at the number

    def tolist(self) -> Any:
        """Nested lists of Python numbers; a number for a 0-dim tensor.

        Example::

            >>> import gradpack as torch
            >>> torch.tensor([[1, 2], [3, 4]]).tolist()
            [[1, 2], [3, 4]]
        """
        backend = self._spec.backend
        stored, computed = self._spec.dtype, computed_in(self._spec.dtype)
        return backend.values(self._data if stored is computed else backend.cast(self._data, computed)).tolist()

    def __bool__(self) -> bool:
        if self._shape and self.numel() != 1:
            raise RuntimeError(
                "Boolean value of Tensor with no values is ambiguous"
                if not self.numel()
                else "Boolean value of Tensor with more than one value is ambiguous"
            )
        return self._spec.backend.truth(self._data)

    def __float__(self) -> float:
        if self._edge is not None and MODE.get().grad:
            warn_of_loss()
        plain = not self._shape and self._spec.plain
        return float(self._data if plain else self._real("Float"))

    def __int__(self) -> int:
        return int(self._real("Long"))

    def __complex__(self) -> complex:
        if self._edge is not None and MODE.get().grad:
            warn_of_loss()
        return complex(self._one("Python scalars"))

    def __index__(self) -> int:
        if self._spec.dtype.category > INTEGRAL or self.numel() != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.item())

    @property
    def name(self) -> None:
        """Tensors have no names: None."""
        return None

    @property
    def volatile(self) -> bool:
        """Always False, with a warning: replaced by `no_grad`."""
        warnings.warn("volatile was removed (Variable.volatile is always False)", UserWarning, stacklevel=2)
        return False

    @volatile.setter
    def volatile(self, value: object) -> None:
        warnings.warn(
            "volatile was removed and now has no effect. Use `with torch.no_grad():` instead.",
            UserWarning,
            stacklevel=2,
        )

    def __dir__(self) -> list[str]:
        away = {"volatile", "_leaf_state"}  # deprecated, and a slot that only leaves fill
        if self._spec.device.type != "cuda":
            away.add("__cuda_array_interface__")
        return sorted({*super().__dir__()} - away)

    def __delitem__(self, index: Any) -> None:
        raise TypeError("Tensor does not support deleting items")

    def __contains__(self, element: Any) -> bool:
        if isinstance(element, TensorBase | int | float | complex):
            return bool((self == element).any())
        raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}.")


def _strides_of_nothing(given: tuple[int, ...], shape: tuple[int, ...], size: int) -> list[int]:
    """The strides, in elements, of a tensor without elements: those of its array, or row-major if these are zeros."""
    if any(given[:-1]) or (len(given) == 1 and given[0]):  # of a new array all are 0, then seen as another dtype
        return [s // size for s in given]
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return strides[::-1]
