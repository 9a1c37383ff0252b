"""Shared by all factory functions: arguments for shape, dtype and device, `out=` and `requires_grad=`."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from functools import wraps
from inspect import Parameter, Signature, signature
from math import nan, prod
from typing import Any

import numpy as np

from ...backends import NUMPY, Spec, backend_on
from ...backends.numpy import PAIR, paired
from ...base import dtypes
from ...base.devices import _DEFAULTS, CPU, KINDS, as_device
from ...base.dtypes import FLOATING, as_dtype, dtype
from ...base.errors import not_implemented_for, scalar_type, size_too_big
from ...base.modes import MODE, using
from ...base.settings import FILLING
from ...core.tensor import InferenceCounter, Tensor, wrap
from ...declare.dispatch.refused_dtypes import refuse_unsigned

_dtype = dtype  # for functions with a parameter of this name

_TOO_MANY = 2**60  # elements: their size in bytes would overflow 64 bits


def _no_size(op: str, found: Any, at: int, count: int) -> TypeError:
    """The error for a size that is no int, in torch's words for one and for several."""
    kind = type(found).__name__
    if count == 1:
        return TypeError(f"{op}(): argument 'size' (position 1) must be tuple of ints, not {kind}")
    return TypeError(
        f"{op}(): argument 'size' failed to unpack the object at pos {at + 1} with error "
        f'"type must be tuple of ints,but got {kind}"'
    )


def shape_of(op: str, size: tuple[Any, ...]) -> tuple[int, ...]:
    """The shape that `zeros(2, 3)`, `zeros((2, 3))` and `zeros(torch.Size([2, 3]))` mean."""
    if len(size) == 1 and isinstance(size[0], tuple):
        size = tuple(size[0])
        if not size:
            return size
    for n in size:
        if type(n) is not int or not 0 <= n < _TOO_MANY:
            break
    else:
        if size:
            return size
    if not size:
        raise TypeError(f"{op}() missing 1 required positional argument: 'size'")
    if len(size) == 1 and isinstance(size[0], Sequence | Tensor) and not isinstance(size[0], str):
        if not isinstance(size[0], Tensor):
            size = tuple(size[0])
        elif size[0].numel() != 1 or size[0]._spec.dtype.category >= FLOATING:
            raise TypeError(f"{op}(): argument 'size' (position 1) must be tuple of ints, not Tensor")
    out = []
    for at, n in enumerate(size):
        if isinstance(n, bool) or not hasattr(n, "__index__"):
            raise _no_size(op, n, at, len(size))
        n = n.__index__()
        if not -(1 << 63) <= n < 1 << 63:
            raise size_too_big(op, "size", at, n)
        if n < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: {list(size)}")
        out.append(n)
    if prod(out) >= _TOO_MANY:
        raise RuntimeError(f"{op}(): Storage size calculation overflowed with sizes={out}")
    return tuple(out)


def sequence_of(op: str, size: Any) -> Any:
    """The size given to a function that, unlike `zeros`, takes no single int."""
    if type(size) is not tuple and not isinstance(size, Sequence):
        raise _no_size(op, size, 0, 1)
    return size


def settled(array: Any) -> Any:
    """Return an uninitialised array, filled with NaN or the largest integer if deterministic algorithms are on."""
    if FILLING[0]:
        kind = array.dtype.kind
        if array.dtype == PAIR:
            array["real"] = array["imag"] = nan
        else:
            array.fill(True if kind == "b" else np.iinfo(array.dtype).max if kind in "iu" else nan)
    return array


def uninitialized(shape: Any, native: Any) -> Any:
    """Return an uninitialised array; see `settled`."""
    array = np.empty(shape, native)
    return settled(array) if FILLING[0] else array


RECORDERS: list[Any] = []  # of programs: the last one is given each new tensor, and each function that makes arrays


def finish(array: Any, requires_grad: bool, device: Any = None) -> Tensor:
    out = wrap(array)
    if RECORDERS and RECORDERS[-1].is_ours():
        RECORDERS[-1].made(out)
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
    """Move a new tensor to `device`, or to the default device."""
    if device is None and not made._spec.numpy:
        return made
    where = as_device(device)
    if where.type == made._spec.device.type and (where.type == "cpu" or where.index in (None, made._spec.device.index)):
        return made
    backend = backend_on(where.type) or NUMPY
    return wrap(backend.asarray(made._spec.backend.to_numpy(made._data), made._spec.dtype, where))


def beside(array: Any, other: Tensor) -> Tensor:
    """Wrap a host array as a tensor, moved to the device of another tensor."""
    made = wrap(array)
    return made if other._spec.numpy else _placed(made, other._spec.device)


# The specs on the CPU of dtypes that NumPy has and every factory supports.
_USUAL = {
    d: NUMPY.spec_for(d, CPU)
    for d in (
        dtypes.bool_, dtypes.uint8, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64,
        dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128,
    )
}  # fmt: skip


def usual(out: Any, d: Any, device: Any, requires_grad: Any) -> Spec | None:
    """Fast path of factories: the spec of a new CPU tensor with default settings; None if they are not default."""
    if RECORDERS:
        return None
    if device is not None or _DEFAULTS.get():
        as_device(device)  # may load a backend, which extends KINDS
    if out is not None or requires_grad is not False or len(KINDS) > 1 or MODE.get().inference:
        return None
    if d is None:
        return _USUAL.get(dtypes._default)
    return _USUAL.get(d) if type(d) is _dtype else None


_TAKE_NO_UNSIGNED = frozenset("arange eye linspace logspace randperm range".split())
_TAKE_PAIRS = frozenset("zeros ones empty full eye rand randn empty_strided empty_permuted".split())


def on_device(function: Callable[..., Any], device: Any) -> Callable[..., Any]:
    """Bind `function`, which makes an array, to the library of a device, if that makes arrays and random numbers.

    For other devices the array is made on the host, and `finish` copies it.
    """
    if RECORDERS and RECORDERS[-1].is_ours():
        return RECORDERS[-1].making(function)
    if len(KINDS) == 1 and device is None:
        return function
    where = as_device(device)
    backend = backend_on(where.type)
    return function if backend is None or not backend.makes else backend.making(where, function)


def _native(op: str, d: dtype | None, device: Any) -> Any:
    d = as_dtype(op, d)
    if op in _TAKE_NO_UNSIGNED:
        refuse_unsigned(op, d)
    if d is dtypes.complex32 and op not in _TAKE_PAIRS:
        raise not_implemented_for(op, d)
    as_device(device)  # raises if there is no such device; `finish` moves the array to it
    return NUMPY.spec_for(dtypes.get_default_dtype() if d is None else d, CPU).native


def with_parameters_of(body: Any, call: Any, given: int = 2) -> Any:
    """Give `call` the name and documentation of `body`, and show the signature of both.

    Args:
        body: takes `given` arguments first, and then the parameters that `call` takes as `*args` and `**kwargs`.
        call: its own parameters are those that all functions of a family have.
    """
    own = [*signature(body).parameters.values()][given:]
    shown = signature(call)
    common = shown.parameters.values()
    first = [p for p in common if p.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.VAR_POSITIONAL)]
    wraps(body)(call)
    named = [p for p in common if p.kind is Parameter.KEYWORD_ONLY]
    body.__signature__ = Signature([*first, *own, *named], return_annotation=shown.return_annotation)
    return call


def made_in(native: Any, make: Callable[[Any], Any]) -> Any:
    """Return `make(native)`; complex32, which NumPy lacks, is made as complex64 and converted."""
    return paired(make(np.complex64)) if native is PAIR else make(native)


def _into_out(out: Any, made: Tensor, op: str = "out") -> Tensor:
    if out is None:
        return made
    from ...declare.dispatch.out_argument import put

    put(op, out, made)
    return out


def dtype_for(op: str, out: Any, dtype: dtype | None) -> dtype | None:
    """The dtype of a factory's result: that of `out=`, which must equal `dtype` if both are given."""
    dtype = as_dtype(op, dtype)
    if out is None:
        return dtype
    if not isinstance(out, Tensor):
        raise TypeError(f"{op}(): argument 'out' must be Tensor, not {type(out).__name__}")
    have = out._spec.dtype
    if dtype is not None and dtype is not have:
        raise RuntimeError(f"dtype {scalar_type(dtype)} does not match dtype of out parameter ({scalar_type(have)})")
    return have


def filled(op: str, out: Any, made: Tensor, keeps_shape: bool = False) -> Tensor:
    """Return the tensor a factory made, or write it into `out`, which is resized without a warning.

    Args:
        keeps_shape: whether an `out` with the same number of elements keeps its shape.
    """
    if out is None:
        return made
    if out.requires_grad and MODE.get().grad:
        raise RuntimeError(
            f"aten::{op}(): functions with out=... arguments don't support automatic differentiation, but one of the "
            "arguments requires grad."
        )
    if out.is_leaf:
        out.requires_grad_(made.requires_grad)
    version = out._counter[0]
    if keeps_shape and out.numel() == made.numel():
        made = made.reshape(out._shape)
    elif out._shape != made._shape and op != "arange":
        from ...declare.inplace.write_checks import check_repeats

        check_repeats(out)
        out.resize_(made._shape)
    with using(grad=False):
        _into_out(out, made, op)
    out._counter[0] = version + 1
    return out


def result(op: str, out: Any, array: Any, requires_grad: bool, device: Any = None, keeps_shape: bool = False) -> Tensor:
    """Return a new array as a tensor, or write it into `out`."""
    return filled(op, out, finish(array, requires_grad, device), keeps_shape)
