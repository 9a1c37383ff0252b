"""Tensors of one value, of no value yet, and of evenly spaced ones."""

from __future__ import annotations

import builtins
import math
import warnings
from typing import Any

import numpy as np

from ..backends import NUMPY
from ..base import dtypes
from ..base.devices import CPU, KINDS, as_device
from ..base.dtypes import FLOATING, as_dtype, dtype
from ..base.errors import cpp_name, not_implemented_for, refuse, scalar_type
from ..base.layouts import sparse_coo
from ..base.modes import MODE
from ..declare.batched import is_batched, of_all_examples
from ..declare.looped import each_example
from ..declare.timed import noted
from ..tensor.tensor import Tensor, alias
from .create import _native, dtype_for, filled, finish, made_in, on_device, shape_of, usual
from .memory_formats import in_format, like

FUNCTIONS = (
    "zeros ones full empty arange range linspace logspace eye zeros_like ones_like full_like empty_like empty_strided"
)


def _without_entries(name: str, size: Any, dtype: dtype | None, device: Any, requires_grad: bool) -> Tensor:
    from .sparse import sparse_coo_tensor

    return sparse_coo_tensor(size=shape_of(name, size), dtype=dtype, device=device, requires_grad=requires_grad)


def _zeros(shape: Any, native: Any) -> Any:
    return np.zeros(shape, native)


def _ones(shape: Any, native: Any) -> Any:
    return np.ones(shape, native)


def _empty(shape: Any, native: Any) -> Any:
    return np.empty(shape, native)


def _full(shape: Any, value: Any, native: Any) -> Any:
    return np.full(shape, value, native)


@noted
def zeros(
    *sizes: Any,
    size: Any = None,
    out: Any = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Zeros of a shape.

    Example::

        >>> import gradpack as torch
        >>> torch.zeros(2, 2)
        tensor([[0., 0.],
                [0., 0.]])
    """
    spec = usual(out, dtype, device, requires_grad) if layout is None else None
    if spec is not None:
        shape = shape_of("zeros", sizes if size is None else (size,))
        array = np.zeros(shape, spec.native)
        return alias(array, spec, array.shape)
    if layout is sparse_coo:
        return _without_entries("zeros", sizes if size is None else (size,), dtype, device, requires_grad)
    dtype = dtype_for("zeros", out, dtype)
    shape = shape_of("zeros", sizes if size is None else (size,))
    make = _zeros if len(KINDS) == 1 else on_device(_zeros, device)
    made = finish(make(shape, _native("zeros", dtype, device)), requires_grad, device)
    return filled("zeros", out, made)


@noted
def ones(
    *sizes: Any,
    size: Any = None,
    out: Any = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Ones of a shape.

    Example::

        >>> import gradpack as torch
        >>> torch.ones(3)
        tensor([1., 1., 1.])
    """
    spec = usual(out, dtype, device, requires_grad) if layout is None else None
    if spec is not None:
        shape = shape_of("ones", sizes if size is None else (size,))
        array = np.empty(shape, spec.native)
        array.fill(1)
        return alias(array, spec, array.shape)
    if layout is sparse_coo:
        raise RuntimeError("full(...) is not implemented for sparse layout")
    dtype = dtype_for("ones", out, dtype)
    shape = shape_of("ones", sizes if size is None else (size,))
    make = _ones if len(KINDS) == 1 else on_device(_ones, device)
    made = made_in(_native("ones", dtype, device), lambda native: make(shape, native))
    return filled("ones", out, finish(made, requires_grad, device))


@noted
def empty(
    *sizes: Any,
    size: Any = None,
    out: Any = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """An uninitialised tensor.

    Example::

        >>> import gradpack as torch
        >>> torch.empty(2, 3).shape
        gradpack.Size([2, 3])
    """
    spec = usual(out, dtype, device, requires_grad) if layout is None and memory_format is None else None
    if spec is not None:
        shape = shape_of("empty", sizes if size is None else (size,))
        array = np.empty(shape, spec.native)
        return alias(array, spec, array.shape)
    if layout is sparse_coo:
        return _without_entries("empty", sizes if size is None else (size,), dtype, device, requires_grad)
    dtype = dtype_for("empty", out, dtype)
    shape = shape_of("empty", sizes if size is None else (size,))
    make = _empty if len(KINDS) == 1 else on_device(_empty, device)
    made = in_format(make(shape, _native("empty", dtype, device)), memory_format)
    return filled("empty", out, finish(made, requires_grad, device))


@noted
def empty_strided(
    size: Any,
    stride: Any,
    *,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """An uninitialised tensor with given strides, in elements.

    Example::

        >>> import gradpack as torch
        >>> torch.empty_strided((2, 3), (1, 2)).stride()
        (1, 2)
    """
    if len(size) != len(stride):
        raise RuntimeError(
            f"dimensionality of sizes ({len(size)}) must match dimensionality of strides ({len(stride)})"
        )
    native = _native("empty_strided", dtype, device)
    needed = 1 + builtins.sum((n - 1) * s for n, s in zip(size, stride, strict=True)) if all(size) else 0
    base = np.empty(needed, native)
    strides = tuple(s * native.itemsize for s in stride)
    return finish(np.lib.stride_tricks.as_strided(base, tuple(size), strides), requires_grad, device)


@noted
def full(
    size: Any,
    fill_value: Any,
    *,
    out: Any = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor filled with one value, of whose kind its dtype is.

    Example::

        >>> import gradpack as torch
        >>> torch.full((2,), 7)
        tensor([7, 7])
    """
    if type(fill_value) is float and (spec := usual(out, dtype, device, requires_grad)) is not None:
        shape = shape_of("full", (size,))
        array = np.empty(shape, spec.native)
        array.fill(number_for(fill_value, spec.dtype))
        return alias(array, spec, array.shape)
    value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    d = dtype_for("full", out, dtype) or dtypes.scalar_dtype(value)
    make = _full if len(KINDS) == 1 else on_device(_full, device)
    shape = shape_of("full", (size,))
    made = made_in(_native("full", d, device), lambda native: make(shape, number_for(value, d), native))
    return filled("full", out, finish(made, requires_grad, device))


def _usual_like(input: Any, requires_grad: Any, *rest: Any) -> Any:
    """The spec of another tensor of the same kind, if nothing else is asked for: `rest` are the other settings."""
    if type(input) is not Tensor or requires_grad is not False or rest != _NO_SETTINGS:
        return None
    spec = input._spec
    if not (spec.plain or spec is _INT64) or MODE.get().inference or not input._data.flags.c_contiguous:
        return None
    return spec


_NO_SETTINGS = None, None, None  # dtype, device, memory_format
_INT64 = NUMPY.spec_for(dtypes.int64, CPU)


def _like(op: str, input: Tensor, d: dtype | None, device: Any) -> tuple[Any, Any]:
    if not isinstance(input, Tensor):
        raise TypeError(f"{op}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    d = as_dtype(op, d)
    spec = input._spec
    if d is not None or device is not None:
        spec = spec.backend.spec_for(d or spec.dtype, spec.device if device is None else as_device(device))
    return spec.backend, spec


@noted
def zeros_like(
    input: Tensor,
    *,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Zeros of the shape, dtype and layout of `input`.

    Example::

        >>> import gradpack as torch
        >>> torch.zeros_like(torch.ones(2))
        tensor([0., 0.])
    """
    spec = _usual_like(input, requires_grad, dtype, device, memory_format)
    if spec is not None:
        array = np.zeros(input._shape, spec.native)
        return alias(array, spec, input._shape)
    if isinstance(input, np.ndarray | np.generic):
        return np.zeros_like(input)  # formulas call it on arrays
    if is_batched(input):
        return of_all_examples(zeros_like, input, dtype=dtype, device=device)
    backend, spec = _like("zeros_like", input, dtype, device)
    if spec.numpy and input._data.flags.c_contiguous and memory_format is None:
        return finish(np.zeros(input._shape, spec.native), requires_grad, device)
    return finish(
        in_format(backend.xp.zeros_like(input._data, dtype=spec.native, **like(input._data)), memory_format),
        requires_grad,
        device,
    )


@noted
def ones_like(
    input: Tensor,
    *,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Ones of the shape, dtype and layout of `input`.

    Example::

        >>> import gradpack as torch
        >>> torch.ones_like(torch.zeros(2))
        tensor([1., 1.])
    """
    spec = _usual_like(input, requires_grad, dtype, device, memory_format)
    if spec is not None:
        array = np.empty(input._shape, spec.native)
        array.fill(1)
        return alias(array, spec, input._shape)
    if isinstance(input, np.ndarray | np.generic):
        return np.ones_like(input)
    if is_batched(input):
        return of_all_examples(ones_like, input, dtype=dtype, device=device)
    backend, spec = _like("ones_like", input, dtype, device)
    made = made_in(spec.native, lambda native: backend.xp.ones_like(input._data, dtype=native, **like(input._data)))
    return finish(in_format(made, memory_format), requires_grad, device)


@noted
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
    backend, spec = _like("full_like", input, dtype, device)
    value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    number = number_for(value, spec.dtype) if isinstance(value, int | float | complex) else value
    made = made_in(
        spec.native, lambda native: backend.xp.full_like(input._data, number, dtype=native, **like(input._data))
    )
    return finish(in_format(made, memory_format), requires_grad, device)


@noted
def empty_like(
    input: Tensor,
    *,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """An uninitialised tensor of the shape, dtype and layout of `input`.

    Example::

        >>> import gradpack as torch
        >>> torch.empty_like(torch.zeros(2)).shape
        gradpack.Size([2])
    """
    spec = _usual_like(input, requires_grad, dtype, device, memory_format)
    if spec is not None:
        array = np.empty(input._shape, spec.native)
        return alias(array, spec, input._shape)
    if is_batched(input):
        return of_all_examples(empty_like, input, dtype=dtype, device=device)
    backend, spec = _like("empty_like", input, dtype, device)
    return finish(
        in_format(backend.xp.empty_like(input._data, dtype=spec.native, **like(input._data)), memory_format),
        requires_grad,
        device,
    )


_WORD = 2**62
_NONE = type(None)


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, Tensor) else value


@noted
def arange(
    start: Any = None,
    end: Any = None,
    step: Any = 1,
    *,
    out: Any = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """`start, start + step, ...` up to but without `end`; `arange(n)` starts at 0.

    Example::

        >>> import gradpack as torch
        >>> torch.arange(1, 6, 2)
        tensor([1, 3, 5])
    """
    if type(start) is int and (end is None or type(end) is int) and step == 1 and type(step) is int:
        first, last = (0, start) if end is None else (start, end)
        if first <= last and (dtype is None or dtype is dtypes.int64) and first > -_WORD and last < _WORD:
            spec = usual(out, dtypes.int64, device, requires_grad)
            if spec is not None:
                array = np.arange(first, last)
                return alias(array, spec, array.shape)
    if end is None:
        if start is None:
            raise TypeError("arange() missing 1 required positional argument: 'end'")
        start, end = 0, start
    elif start is None:
        start = 0
    start, end, step = _number(start), _number(end), _number(step)
    _check_range("arange", start, end, step)
    dtype = dtype_for("arange", out, dtype)
    if dtype is None:
        dtype = dtypes.int64 if all(isinstance(v, int) for v in (start, end, step)) else dtypes.get_default_dtype()
    refuse("arange_cpu", dtype, "bc")
    native = _native("arange", dtype, device)
    if dtype is dtypes.int64:
        start, end, step = int(start), int(end), int(step)  # each by itself, as torch does
        if step == 0:
            raise ValueError(f"step must be nonzero: it is cut off to 0 for {dtype}")
        array = np.arange(start, end, step).astype(native)
    else:
        count = max(int(np.ceil((end - start) / step)), 0)
        if dtype.category < FLOATING:  # of other integers, only the values are cut off, not their number
            start, step = int(start), int(step)
        array = (start + np.arange(count) * step).astype(native)
    return filled("arange", out, finish(array, requires_grad, device), keeps_shape=True)


@noted
def range(
    start: Any,
    end: Any = None,
    step: Any = 1,
    *,
    out: Any = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Like `arange`, with `end` included. Deprecated, as it says once.

    Raises:
        RuntimeError: for a step of zero, a step in the wrong direction, and bounds that are not finite.

    Example::

        >>> import warnings, gradpack as torch
        >>> with warnings.catch_warnings(action="ignore"):
        ...     torch.range(1, 3)
        tensor([1., 2., 3.])
    """
    warnings.warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with "
        "Python's range builtin. Instead, use torch.arange, which produces values in [start, end).",
        UserWarning,
        stacklevel=2,
    )
    if end is None:
        start, end = 0, start
    start, end, step = _number(start), _number(end), _number(step)
    _check_range("range", start, end, step)
    d = dtype_for("range", out, dtype) or dtypes.get_default_dtype()
    native = _native("range", d, device)
    if d.category < FLOATING:  # each number by itself becomes an integer first
        start, end, step = int(start), int(end), int(step)
        if not step:
            raise ValueError(f"step must be nonzero: it is cut off to 0 for {d}")
    count = int((end - start) / step) + 1
    made = finish((start + np.arange(count) * step).astype(native), requires_grad, device)
    return filled("range", out, made, keeps_shape=True)


def _check_range(op: str, start: Any, end: Any, step: Any) -> None:
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if (end - start) * step < 0:
        raise RuntimeError(f"upper bound and lower bound inconsistent with step sign: {op}({start}, {end}, {step})")


@noted
@each_example
def linspace(
    start: Any,
    end: Any,
    steps: int,
    *,
    out: Any = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """`steps` values from `start` to `end`, evenly spaced, ends included.

    Example::

        >>> import gradpack as torch
        >>> torch.linspace(0, 1, 5)
        tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    """
    if steps < 0:
        raise RuntimeError(f"number of steps must be non-negative, got {steps}")
    d, first, last = _spaced("linspace", start, end, out, dtype)
    native = _native("linspace", d, device)
    if native.kind == "b" and steps > 1:
        raise not_implemented_for("linspace_cpu", dtypes.bool_)
    if native.kind in "iu":
        values = _whole_steps(first, last, steps, native)
    else:
        values = _evenly(first, last, steps)
    return filled("linspace", out, finish(values.astype(native), requires_grad, device), keeps_shape=True)


def _evenly(first: Any, last: Any, steps: int) -> Any:
    """`numpy.linspace`, which takes five times as long to call."""
    if type(first) not in (int, float) or type(last) not in (int, float) or steps < 2:
        return np.linspace(first, last, steps)
    step = (last - first) / (steps - 1)
    if not step or not math.isfinite(step):
        return np.linspace(first, last, steps)
    values = np.arange(float(steps))
    values *= step
    values += first
    values[-1] = last
    return values


def _spaced(op: str, start: Any, end: Any, out: Any, d: dtype | None) -> tuple[dtype | None, Any, Any]:
    """The dtype of evenly spaced values, and their ends as numbers."""
    for label, value in (("start", start), ("end", end)):
        if not isinstance(value, Tensor | int | float | builtins.complex | np.generic | np.ndarray):
            raise TypeError(f"{op}(): argument '{label}' must be Number, not {type(value).__name__}")
        if isinstance(value, Tensor) and value.ndim:
            raise RuntimeError(
                f"{op} only supports 0-dimensional start and end tensors, but got {label} with {value.ndim} "
                "dimension(s)."
            )
    first, last = _number(start), _number(end)
    d = dtype_for(op, out, d)
    if isinstance(first, builtins.complex) or isinstance(last, builtins.complex):
        inferred = dtypes.default_complex()
        if d is not None and not d.is_complex:
            raise RuntimeError(
                f"torch.{op}(): inferred dtype {cpp_name(inferred)} can't be safely cast to passed dtype "
                f"{scalar_type(d)}"
            )
        return d or inferred, first, last
    return d, first, last


def _whole(value: Any, native: Any) -> int:
    """A number as an integer of a dtype; negative ones count back from the end of an unsigned dtype."""
    most = np.iinfo(native).max
    least = -most if native.kind == "u" and isinstance(value, int) else np.iinfo(native).min
    if not least <= value <= most:
        raise RuntimeError(f"value cannot be converted to type {native} without overflow: {value}")
    return int(np.asarray(int(value)).astype(native))


def _whole_steps(first: Any, last: Any, steps: int, native: Any) -> Any:
    """Evenly spaced values counted from the nearer end: torch's own way, which decides what is cut off.

    Each end by itself becomes an integer first.
    """
    first, last = _whole(first, native), _whole(last, native)
    if steps == 1:
        return np.array([first])
    place = np.arange(steps).astype(np.longdouble)  # a product and a sum are rounded once, as by a fused instruction
    step = (last - first) / max(steps - 1, 1)
    values = np.where(place < steps // 2, first + step * place, last - step * (steps - 1 - place))
    return values.astype(np.float64)


@noted
@each_example
def logspace(
    start: Any,
    end: Any,
    steps: int,
    base: float = 10.0,
    *,
    out: Any = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """`base` to the powers of `linspace(start, end, steps)`.

    Example::

        >>> import gradpack as torch
        >>> torch.logspace(0, 2, 3)
        tensor([  1.,  10., 100.])
    """
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    dtype, first, last = _spaced("logspace", start, end, out, dtype)
    native = _native("logspace", dtype, device)
    if native.kind in "iu":
        values = np.power(float(base), _whole_steps(first, last, steps, native))
    else:
        values = np.logspace(first, last, steps, base=base)
    made = finish(values.astype(native), requires_grad, device)
    return filled("logspace", out, made, keeps_shape=True)


@noted
def eye(
    n: int,
    m: int | None = None,
    *,
    out: Any = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """The identity matrix, `n` by `m`.

    Example::

        >>> import gradpack as torch
        >>> torch.eye(2)
        tensor([[1., 0.],
                [0., 1.]])
    """
    if n < 0 or (m is not None and m < 0):
        raise RuntimeError(
            f"n must be greater or equal to 0, got {n}" if n < 0 else f"m must be greater or equal to 0, got {m}"
        )
    spec = usual(out, dtype, device, requires_grad) if type(n) is int and type(m) in (int, _NONE) else None
    if spec is not None:
        width = n if m is None else m
        array = np.zeros((n, width), spec.native)
        array.reshape(-1)[: builtins.min(n, width) * (width + 1) : width + 1] = 1
        return alias(array, spec, array.shape)
    dtype = dtype_for("eye", out, dtype)
    made = made_in(_native("eye", dtype, device), lambda native: np.eye(n, m, dtype=native))
    return filled("eye", out, finish(made, requires_grad, device))


from .writing import number_for  # noqa: E402 - what writes numbers is written with functions of this module
