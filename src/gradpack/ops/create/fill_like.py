"""Tensors of one value, or uninitialised, in the shape, dtype and layout of another: `zeros_like`, `new_zeros`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...backends import NUMPY
from ...backends.memory_layout import reach
from ...base import dtypes, late
from ...base.devices import CPU, as_device
from ...base.dtypes import as_dtype, dtype
from ...base.info import number_for
from ...base.layouts import sparse_coo
from ...base.modes import MODE
from ...core.tensor import Tensor, alias
from ...declare.batching.batch_tensor import is_batched, of_all_examples
from ...declare.generate.profiling import profiled
from ..pointwise.blockwise import is_numpy
from ..shape.memory_formats import in_format, like
from .making import finish, made_in, sequence_of, settled, shape_of, uninitialized, with_parameters_of

FUNCTIONS = "zeros_like ones_like full_like empty_like"
METHODS = "new_tensor new_zeros new_ones new_full new_empty new_empty_strided"


def _usual_like(input: Any, requires_grad: Any, *rest: Any) -> Any:
    """Fast path: the spec of `input` if it is plain and contiguous and `rest`, the other settings, are defaults."""
    if type(input) is not Tensor or requires_grad is not False or rest != _NO_SETTINGS:
        return None
    spec = input._spec
    if not (spec.plain or spec is _INT64) or MODE.get().inference or not input._data.flags.c_contiguous:
        return None
    return spec


_NO_SETTINGS = None, None, None  # dtype, device, memory_format
_INT64 = NUMPY.spec_for(dtypes.int64, CPU)


def _like(op: str, input: Tensor, d: dtype | None, device: Any) -> tuple[Tensor, Any, Any]:
    """Return the tensor whose shape and layout to copy, and the backend and spec (dtype, device) of the result."""
    if not isinstance(input, Tensor):
        raise TypeError(f"{op}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    d = as_dtype(op, d)
    if device is not None and input.is_meta and as_device(device).type != "meta":  # a meta tensor has no data to copy
        input = late.empty(input._shape, dtype=input.dtype)
    spec = input._spec
    if d is not None or device is not None:
        spec = spec.backend.spec_for(d or spec.dtype, spec.device if device is None else as_device(device))
    return input, spec.backend, spec


def _in_form_of(allocate: Callable[[Any, Any], Any], value: int = 0) -> Callable[[Callable[..., Any]], Any]:
    """Make a function of a tensor from `array(data, native, xp)`; in the usual case `allocate` and filling are faster.

    Formulas call it on arrays.
    """

    def declare(array: Callable[..., Any]) -> Any:
        name = array.__name__

        def in_form_of(
            input: Tensor,
            *,
            dtype: dtype | None = None,
            layout: Any = None,
            device: Any = None,
            requires_grad: bool = False,
            pin_memory: bool = False,
            memory_format: Any = None,
        ) -> Tensor:
            spec = _usual_like(input, requires_grad, dtype, device, memory_format) if layout is None else None
            if spec is not None:
                made = allocate(input._shape, spec.native)
                if value:
                    made.fill(value)
                return alias(made, spec, input._shape)
            if isinstance(input, np.ndarray | np.generic):
                return array(input, input.dtype, np)
            if is_batched(input):
                return of_all_examples(function, input, dtype=dtype, device=device)
            input, backend, spec = _like(name, input, dtype, device)
            if layout is not None and layout is not spec.layout:
                make = getattr(late, name.removesuffix("_like"))
                return make(
                    input._shape, dtype=spec.dtype, layout=layout, device=spec.device, requires_grad=requires_grad
                )
            made = array(input._data, spec.native, backend.xp)
            return finish(in_format(made, memory_format), requires_grad, device)

        function = profiled(with_parameters_of(array, in_form_of, given=3))
        return function

    return declare


@_in_form_of(np.zeros)
def zeros_like(data: Any, native: Any, xp: Any) -> Any:
    """Zeros of the shape, dtype and layout of `input`.

    Example::

        >>> import gradpack as torch
        >>> torch.zeros_like(torch.ones(2))
        tensor([0., 0.])
    """
    if is_numpy(data) and data.flags.c_contiguous:
        return np.zeros(data.shape, native)
    return xp.zeros_like(data, dtype=native, **like(data))


@_in_form_of(np.empty, 1)
def ones_like(data: Any, native: Any, xp: Any) -> Any:
    """Ones of the shape, dtype and layout of `input`.

    Example::

        >>> import gradpack as torch
        >>> torch.ones_like(torch.zeros(2))
        tensor([1., 1.])
    """
    return made_in(native, lambda native: xp.ones_like(data, dtype=native, **like(data)))


@_in_form_of(uninitialized)
def empty_like(data: Any, native: Any, xp: Any) -> Any:
    """An uninitialised tensor of the shape, dtype and layout of `input`.

    Example::

        >>> import gradpack as torch
        >>> torch.empty_like(torch.zeros(2)).shape
        gradpack.Size([2])
    """
    made = xp.empty_like(data, dtype=native, **like(data))
    return settled(made) if is_numpy(made) else made


@profiled
def full_like(
    input: Tensor,
    fill_value: Any,
    *,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """One value in the shape, dtype and layout of `input`.

    Example::

        >>> import gradpack as torch
        >>> torch.full_like(torch.zeros(2), 7)
        tensor([7., 7.])
    """
    spec = _usual_like(input, requires_grad, dtype, device, memory_format)
    if spec is not None and type(fill_value) is float:
        array = np.empty(input._shape, spec.native)
        array.fill(number_for(fill_value, spec.dtype))
        return alias(array, spec, input._shape)
    if is_batched(input) and not isinstance(fill_value, Tensor):
        return of_all_examples(full_like, input, fill_value, dtype=dtype, device=device)
    input, backend, spec = _like("full_like", input, dtype, device)
    value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    number = number_for(value, spec.dtype) if isinstance(value, int | float | complex) else value
    made = made_in(
        spec.native, lambda native: backend.xp.full_like(input._data, number, dtype=native, **like(input._data))
    )
    return finish(in_format(made, memory_format), requires_grad, device)


# -- methods: `new_zeros` and the like --


def _method_new_tensor(
    self: Tensor, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: Any = False
) -> Tensor:
    """A new tensor with a copy of `data`, of the dtype and on the device of this one.

    Args:
        data: a number, nested lists, an array or a tensor.

    Example::

        >>> import gradpack as torch
        >>> torch.zeros(1, dtype=torch.float64).new_tensor([1, 2])
        tensor([1., 2.], dtype=gradpack.float64)
    """
    device = self._spec.device if device is None else device
    return late.tensor(data, dtype=dtype or self._spec.dtype, device=device, requires_grad=requires_grad)


def _new_filled(name: str) -> Any:
    def method(
        self: Tensor,
        *sizes: Any,
        size: Any = None,
        dtype: Any = None,
        device: Any = None,
        requires_grad: Any = False,
        layout: Any = None,
        pin_memory: Any = False,
    ) -> Tensor:
        if is_batched(self):
            shape = shape_of(f"new_{name}", sizes if size is None else (size,))
            return of_all_examples(lambda v: method(v, (v._shape[0], *shape), dtype=dtype), self)
        made: Tensor = getattr(late, name)(
            *sizes,
            size=size,
            dtype=dtype or self._spec.dtype,
            layout=sparse_coo if layout is None and self.is_sparse else layout,
            device=device or self._spec.device,
            requires_grad=requires_grad,
        )
        return made

    method.__name__ = f"_method_new_{name}"
    method.__doc__ = f"A new tensor of the same dtype: `gradpack.{name}`."
    return method


_method_new_zeros = profiled(_new_filled("zeros"), "new_zeros")
_method_new_ones = profiled(_new_filled("ones"), "new_ones")
_method_new_empty = profiled(_new_filled("empty"), "new_empty")


@partial(profiled, name="new_empty_strided")
def _method_new_empty_strided(
    self: Tensor,
    size: Any,
    stride: Any,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = False,
    requires_grad: Any = False,
) -> Tensor:
    """A new tensor of the same dtype, of no particular values, with given strides.

    Args:
        size: the shape.
        stride: by dimension, how many elements of the memory lie between neighbours.
    """
    if is_batched(self):
        step = reach(tuple(size), tuple(stride))

        def of_all(whole: Tensor) -> Tensor:
            made: Tensor = _method_new_empty_strided(whole, (whole._shape[0], *size), (step, *stride), dtype)
            return made

        return of_all_examples(of_all, self)
    return late.empty_strided(
        size, stride, dtype=dtype or self._spec.dtype, device=device or self._spec.device, requires_grad=requires_grad
    )


@partial(profiled, name="new_full")
def _method_new_full(
    self: Tensor,
    size: Any,
    fill_value: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = False,
    requires_grad: Any = False,
) -> Tensor:
    """A new tensor of the same dtype, filled with one value.

    Args:
        size: the shape.
        fill_value: the value of all elements: a number.

    Example::

        >>> import gradpack as torch
        >>> torch.tensor([1, 2]).new_full((3,), 7)
        tensor([7, 7, 7])
    """
    size = sequence_of("new_full", size)
    if is_batched(self):
        return of_all_examples(lambda v: _method_new_full(v, (v._shape[0], *size), fill_value, dtype=dtype), self)
    return late.full(
        size,
        fill_value,
        dtype=dtype or self._spec.dtype,
        device=device or self._spec.device,
        requires_grad=requires_grad,
    )
