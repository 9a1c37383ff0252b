"""Tensors from data, and what kind of tensor something is."""

from __future__ import annotations

import builtins
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..backends import NUMPY, backend_of, backend_on
from ..base import dtypes
from ..base.devices import CPU, KINDS, as_device
from ..base.dtypes import FLOATING, dtype
from ..base.errors import not_a_tensor, not_implemented_for, scalar_type
from ..base.modes import MODE
from ..tensor.tensor import InferenceCounter, Tensor, alias, wrap

FUNCTIONS = (
    "tensor as_tensor asarray from_numpy scalar_tensor is_tensor is_floating_point is_complex numel complex polar"
)


def shape_of(op: str, size: tuple[Any, ...]) -> tuple[int, ...]:
    """The shape that `zeros(2, 3)`, `zeros((2, 3))` and `zeros(torch.Size([2, 3]))` mean."""
    if len(size) == 1 and isinstance(size[0], tuple):
        size = tuple(size[0])
        if not size:
            return size
    for n in size:
        if type(n) is not int or n < 0:
            break
    else:
        if size:
            return size
    if not size:
        raise TypeError(f"{op}() missing 1 required positional argument: 'size'")
    if len(size) == 1 and isinstance(size[0], Sequence | Tensor) and not isinstance(size[0], str):
        size = tuple(size[0])
    out = []
    for n in size:
        if isinstance(n, bool) or not hasattr(n, "__index__"):
            raise TypeError(
                f"{op}(): argument 'size' must be tuple of ints, but found element of type {type(n).__name__}"
            )
        n = n.__index__()
        if n < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: {list(size)}")
        out.append(n)
    return tuple(out)


def check_dtype(op: str, d: Any) -> None:
    if d is not None and not isinstance(d, dtype):
        raise TypeError(f"{op}(): argument 'dtype' must be gradpack.dtype, not {type(d).__name__}")


def finish(array: Any, requires_grad: bool, device: Any = None) -> Tensor:
    out = wrap(array)
    if len(KINDS) > 1:
        out = _placed(out, device)
    if requires_grad is False and not MODE.get().inference:
        return out
    if not isinstance(requires_grad, builtins.bool) and requires_grad is not None:
        raise TypeError(f"argument 'requires_grad' must be bool, not {type(requires_grad).__name__}")
    if requires_grad and not (out._spec.dtype.is_floating_point or out._spec.dtype.is_complex):
        raise RuntimeError(
            f"Only Tensors of floating point and complex dtype can require gradients, and this one is {out.dtype}"
        )
    if MODE.get().inference:
        out._counter = InferenceCounter([0])
    if requires_grad:
        out.requires_grad = True
    return out


def _placed(made: Tensor, device: Any) -> Tensor:
    """The same tensor on the device that it was asked for on, or on the default one."""
    if device is None and not made._spec.numpy:
        return made
    where = as_device(device)
    if where.type == made._spec.device.type and where.index in (None, made._spec.device.index, 0):
        return made
    backend = backend_on(where.type) or NUMPY
    return wrap(backend.asarray(made._spec.backend.to_numpy(made._data), made._spec.dtype, where))


def _native(op: str, d: dtype | None, device: Any) -> Any:
    check_dtype(op, d)
    as_device(device)  # is there such a device? `finish` moves the array to it
    return NUMPY.spec_for(dtypes.get_default_dtype() if d is None else d, CPU).native


def _leaves(data: Any) -> Any:
    """What kinds of scalars nested lists hold: the first leaf of the highest category."""
    best: Any = None
    stack = [data]
    while stack:
        item = stack.pop()
        if isinstance(item, list | tuple):
            stack.extend(item)
            continue
        if isinstance(item, Tensor):
            d = item._spec.dtype
        elif isinstance(item, np.generic | np.ndarray):
            d = NUMPY.spec(item).dtype
        elif isinstance(item, bool | int | float | builtins.complex):
            d = dtypes.scalar_dtype(item)
        else:
            raise TypeError(f"tensor(): could not infer dtype of {type(item).__name__}")
        best = d if best is None else dtypes.promote_types(best, d)
    return best


def _plain(data: Any) -> Any:
    """Nested lists without tensors in them."""
    if isinstance(data, Tensor):
        return data._spec.backend.to_numpy(data._data)
    return [_plain(x) for x in data] if isinstance(data, list | tuple) else data


def tensor(
    data: Any, *, dtype: dtype | None = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
) -> Tensor:
    """A new tensor with a copy of `data`: a number, nested lists, an array or a tensor.

    Python floats give the default dtype, ints int64, bools bool.

    Raises:
        ValueError: for nested lists of unequal lengths.
        TypeError: for what is no number.

    Example::

        >>> import gradpack as torch
        >>> torch.tensor([[1, 2], [3, 4]])
        tensor([[1, 2],
                [3, 4]])
        >>> torch.tensor(2.5, requires_grad=True)
        tensor(2.5000, requires_grad=True)
    """
    check_dtype("tensor", dtype)
    where = as_device(device)
    if isinstance(data, Tensor):
        import warnings

        warnings.warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than gradpack.tensor(sourceTensor).",
            UserWarning,
            stacklevel=2,
        )
        spec = data._spec
        array = spec.backend.copy(spec.backend.cast(data._data, dtype or spec.dtype))
        return finish(array, requires_grad, device)
    backend = backend_of(type(data))
    if backend is not None and not isinstance(data, np.generic | np.ndarray):
        return finish(backend.copy(data if dtype is None else backend.cast(data, dtype)), requires_grad, device)
    if backend is None and hasattr(data, "__array__") and not isinstance(data, list | tuple):
        data = np.asarray(data)
    if isinstance(data, np.generic | np.ndarray):
        d = NUMPY.spec(np.asarray(data)).dtype
        return finish(np.array(NUMPY.cast(np.asarray(data), dtype or d), order="C"), requires_grad, device)
    if not isinstance(data, list | tuple | bool | int | float | builtins.complex):
        if hasattr(data, "__iter__") and hasattr(data, "__len__"):
            data = list(data)
        else:
            raise TypeError(f"tensor(): could not infer dtype of {type(data).__name__}")
    array = _plain_numbers(data)
    if array is not None:
        kind = {"b": dtypes.bool_, "i": dtypes.int64, "f": dtypes.get_default_dtype(), "c": dtypes.default_complex()}
        return finish(_converted(array, dtype or kind[array.dtype.kind], where), requires_grad, device)
    d = dtype or _leaves(data) or dtypes.get_default_dtype()
    try:
        source = np.array(_plain(data), dtype=_staging(d))
    except OverflowError:
        raise RuntimeError(f"value cannot be converted to type {d.name} without overflow") from None
    except ValueError as error:
        if "inhomogeneous" in str(error):
            raise ValueError(_uneven(data)) from None
        raise
    except TypeError:
        source = np.array(_plain(data))
    return finish(_converted(source, d, where), requires_grad, device)


def _plain_numbers(data: Any) -> Any:
    """Nested lists of Python numbers as an array; None for what needs a closer look."""
    first = data
    while isinstance(first, list | tuple):
        if not first:
            return None
        first = first[0]
    if type(first) not in (bool, int, float, builtins.complex):
        return None
    try:
        array = np.array(data)
    except (ValueError, TypeError, OverflowError):
        return None
    return array if array.dtype.kind in "bifc" else None


def _staging(d: dtype) -> Any:
    """A NumPy dtype that takes any of the numbers before they are converted to `d`."""
    if d.category < FLOATING:
        return None
    return np.complex128 if d.is_complex else np.float64


def _converted(source: Any, d: dtype, where: Any) -> Any:
    if source.dtype == object:
        raise RuntimeError(f"value cannot be converted to type {d.name} without overflow")
    if not source.size and source.dtype.kind not in "iufcb":
        source = source.astype(np.float64)
    return np.array(NUMPY.cast(source, d), order="C")


def _uneven(data: Any, dim: int = 0) -> str:
    """Where nested lists have unequal lengths."""
    lengths = [len(x) if isinstance(x, list | tuple) else None for x in data]
    if len(set(lengths)) > 1:
        odd = next(i for i, n in enumerate(lengths) if n != lengths[0])
        if lengths[0] is None or lengths[odd] is None:
            return f"expected sequence of length {lengths[0] or lengths[odd]} at dim {dim + 1}, got a number beside it"
        return f"expected sequence of length {lengths[0]} at dim {dim + 1} (got {lengths[odd]})"
    return next((_uneven(x, dim + 1) for x in data if isinstance(x, list | tuple)), "uneven nested sequences")


def as_tensor(data: Any, dtype: dtype | None = None, device: Any = None) -> Tensor:
    """`data` as a tensor, sharing its memory and history where possible.

    Example::

        >>> import gradpack as torch
        >>> x = torch.ones(2, requires_grad=True)
        >>> torch.as_tensor(x) is x
        True
    """
    check_dtype("as_tensor", dtype)
    if isinstance(data, Tensor):
        return data if dtype is None or dtype is data._spec.dtype else data.to(dtype)
    if isinstance(data, np.ndarray) or (backend_of(type(data)) is not None and not isinstance(data, np.generic)):
        out = wrap(data)
        return out if dtype is None or dtype is out._spec.dtype else out.to(dtype)
    return tensor(data, dtype=dtype, device=device)


def asarray(
    obj: Any, *, dtype: dtype | None = None, device: Any = None, copy: bool | None = None, requires_grad: bool = False
) -> Tensor:
    """Like `as_tensor`, with a choice of copying.

    Example::

        >>> import gradpack as torch
        >>> torch.asarray([1, 2])
        tensor([1, 2])
    """
    out = (
        tensor(obj.detach() if isinstance(obj, Tensor) else obj, dtype=dtype)
        if copy and not isinstance(obj, Tensor)
        else as_tensor(obj, dtype, device)
    )
    if isinstance(obj, Tensor) and copy:
        out = out.detach().clone()
    if requires_grad and not out.requires_grad:
        out = out.detach().requires_grad_()
    return out


def from_numpy(ndarray: Any) -> Tensor:
    """A tensor that shares the memory of a NumPy array.

    Raises:
        TypeError: for anything else, and for dtypes that tensors do not have.

    Example::

        >>> import numpy as np, gradpack as torch
        >>> a = np.zeros(2)
        >>> t = torch.from_numpy(a)
        >>> a[0] = 7
        >>> t
        tensor([7., 0.], dtype=gradpack.float64)
    """
    if not isinstance(ndarray, np.ndarray):
        kind = type(ndarray)
        module = "" if kind.__module__ == "builtins" else kind.__module__ + "."
        raise TypeError(f"expected np.ndarray (got {module}{kind.__name__})")
    if any(s < 0 for s in ndarray.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
            "currently supported. (You can probably work around this by making a copy of your array  with "
            "array.copy().) "
        )
    if ndarray.itemsize and any(s % ndarray.itemsize for s in ndarray.strides):
        raise ValueError(
            "given numpy array strides not a multiple of the element byte size. Copy the numpy array to reallocate "
            "the memory."
        )
    if not ndarray.flags.writeable:
        from .exchange import NOT_WRITABLE

        warnings.warn(NOT_WRITABLE.format("NumPy array"), UserWarning, stacklevel=2)
    return wrap(ndarray)


def scalar_tensor(
    s: Any,
    *,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """A 0-dim tensor of the default dtype unless another is given.

    Example::

        >>> import gradpack as torch
        >>> torch.scalar_tensor(2)
        tensor(2.)
    """
    return tensor(s, dtype=dtype or dtypes.get_default_dtype(), device=device, requires_grad=requires_grad)


def _into_out(out: Any, made: Tensor, op: str = "out") -> Tensor:
    if out is None:
        return made
    from ..declare.variants import put

    put(op, out, made)
    return out


def dtype_for(op: str, out: Any, dtype: dtype | None) -> dtype | None:
    """The dtype that a factory makes: that of `out=`, which must be `dtype` if both are given."""
    if out is None:
        return dtype
    if not isinstance(out, Tensor):
        raise TypeError(f"{op}(): argument 'out' must be Tensor, not {type(out).__name__}")
    have = out._spec.dtype
    if dtype is not None and dtype is not have:
        raise RuntimeError(f"dtype {scalar_type(dtype)} does not match dtype of out parameter ({scalar_type(have)})")
    return have


def filled(op: str, out: Any, made: Tensor, keeps_shape: bool = False) -> Tensor:
    """What a factory made, or `out` with it: resized without a warning.

    Args:
        keeps_shape: whether an `out` of as many elements keeps its shape.
    """
    if out is None:
        return made
    if keeps_shape and out.numel() == made.numel():
        made = made.reshape(out._shape)
    elif out._shape != made._shape and op != "arange":
        from ..declare.inplace import check_repeats

        check_repeats(out)
        out.resize_(made._shape)
    return _into_out(out, made, op)


def is_tensor(obj: Any, /) -> bool:
    """Whether `obj` is a tensor.

    Example::

        >>> import gradpack as torch
        >>> torch.is_tensor(1)
        False
    """
    return isinstance(obj, Tensor)


def is_floating_point(input: Tensor) -> bool:
    """Whether the dtype is a floating-point one.

    Example::

        >>> import gradpack as torch
        >>> torch.is_floating_point(torch.tensor(1))
        False
    """
    return input._spec.dtype.is_floating_point


def is_complex(input: Tensor) -> bool:
    """Whether the dtype is a complex one.

    Example::

        >>> import gradpack as torch
        >>> torch.is_complex(torch.tensor(1j))
        True
    """
    return input._spec.dtype.is_complex


def numel(input: Tensor) -> int:
    """The number of elements.

    Example::

        >>> import gradpack as torch
        >>> torch.numel(torch.ones(2, 3))
        6
    """
    return input.numel()


def _check_parts(op: str, **parts: Any) -> None:
    for position, (label, value) in enumerate(parts.items(), 1):
        if not isinstance(value, Tensor):
            raise not_a_tensor(op, label, position, value)
    first, second = (t._spec.dtype for t in parts.values())
    taken = (dtypes.float16, dtypes.float32, dtypes.float64)
    if first not in taken or second not in taken:
        raise RuntimeError(
            f"Expected both inputs to be Half, Float or Double tensors but got {scalar_type(first)} and "
            f"{scalar_type(second)}"
        )
    if first is not second:
        raise RuntimeError(
            f"Expected object of scalar type {scalar_type(first)} but got scalar type {scalar_type(second)} for "
            "second argument"
        )


def complex(real: Tensor, imag: Tensor, *, out: Any = None) -> Tensor:
    """`real + 1j * imag`, of the complex dtype with their real dtype.

    Example::

        >>> import gradpack as torch
        >>> torch.complex(torch.tensor([1.0]), torch.tensor([2.0]))
        tensor([1.+2.j])
    """
    _check_parts("complex", real=real, imag=imag)
    from .arithmetic import add, mul

    unit = alias(np.array(1j, dtype=np.complex64), NUMPY.spec_for(dtypes.complex64, as_device(None)), ())
    return _into_out(out, add(real, mul(imag, unit)), "complex")


def polar(abs: Tensor, angle: Tensor, *, out: Any = None) -> Tensor:
    """A complex tensor from absolute values and angles.

    Example::

        >>> import gradpack as torch
        >>> torch.polar(torch.tensor([2.0]), torch.tensor([0.0]))
        tensor([2.+0.j])
    """
    from .trigonometry import cos, sin

    _check_parts("polar", abs=abs, angle=angle)
    if abs._spec.dtype.low:
        raise not_implemented_for("polar_cpu", abs._spec.dtype)
    return _into_out(out, complex(abs * cos(angle), abs * sin(angle)), "polar")
