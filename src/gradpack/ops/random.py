"""Tensors of random numbers."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from ..backends.numpy import PAIR, paired, rounded_number
from ..base import dtypes
from ..base.callers import depth_of_user
from ..base.dtypes import dtype
from ..base.errors import cpp_name, not_implemented_for, refuse, scalar_type, shapes_do_not_broadcast
from ..base.info import finfo, iinfo
from ..base.modes import MODE
from ..declare.timed import noted
from ..tensor.tensor import Tensor, alias
from .drawing import drawing
from .fill_like import zeros_like
from .generator import Generator, source
from .making import _into_out, _native, dtype_for, filled, finish, on_device, shape_of, usual
from .rounding import where

FUNCTIONS = "rand randn randint randperm normal bernoulli multinomial"
METHODS = "bernoulli multinomial"


def uniform_array(generator: Generator | None, shape: Any, native: Any) -> Any:
    """Uniform numbers in [0, 1) of a NumPy dtype."""
    rng = source(generator)
    if native in (np.float32, np.float64):
        return rng.random(shape, dtype=native)
    if native is PAIR:
        return paired(uniform_array(generator, shape, np.dtype(np.complex64)))
    if native.kind == "c":
        return (rng.random(shape) + 1j * rng.random(shape)).astype(native)
    made = rng.random(shape, dtype=np.float32).astype(native)
    return np.where(made >= 1, native.type(0.99609375 if native.itemsize == 2 else 0), made).astype(native)


def normal_array(generator: Generator | None, shape: Any, native: Any) -> Any:
    """Standard normal numbers of a NumPy dtype."""
    rng = source(generator)
    if native in (np.float32, np.float64):
        return rng.standard_normal(shape, dtype=native)
    if native is PAIR:
        return paired(normal_array(generator, shape, np.dtype(np.complex64)))
    if native.kind == "c":
        return ((rng.standard_normal(shape) + 1j * rng.standard_normal(shape)) * 0.5**0.5).astype(native)
    return rng.standard_normal(shape, dtype=np.float32).astype(native)


def integer_array(generator: Generator | None, low: int, high: int, shape: Any, native: Any) -> Any:
    """Integers from `low` up to but without `high`, of a NumPy dtype."""
    return source(generator).integers(low, high, shape).astype(native)


def order_array(generator: Generator | None, n: int, native: Any) -> Any:
    """A random order of the integers below `n`."""
    return source(generator).permutation(n).astype(native)


def host_of(value: Any) -> Any:
    """The elements of a tensor in host memory; anything else as it is."""
    return value._spec.backend.to_numpy(value._data) if isinstance(value, Tensor) else value


def _check_floating(op: str, d: Any) -> None:
    if d is not None and d.category < dtypes.FLOATING:
        raise not_implemented_for(op, d)


@noted
@drawing
def rand(
    *sizes: Any,
    size: Any = None,
    generator: Generator | None = None,
    names: Any = None,
    out: Any = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Uniform numbers in [0, 1).

    Example::

        >>> import gradpack as torch
        >>> torch.rand(2, 3).shape
        gradpack.Size([2, 3])
    """
    spec = usual(out, dtype, device, requires_grad)
    if spec is not None and spec.plain:
        array = source(generator).random(shape_of("rand", sizes if size is None else (size,)), spec.native)
        return alias(array, spec, array.shape)
    dtype = dtype_for("rand", out, dtype)
    native = _native("rand", dtype, device)
    _check_floating("check_uniform_bounds", dtype)
    shape = shape_of("rand", sizes if size is None else (size,))
    return filled(
        "rand", out, finish(on_device(uniform_array, device)(generator, shape, native), requires_grad, device)
    )


@noted
@drawing
def randn(
    *sizes: Any,
    size: Any = None,
    generator: Generator | None = None,
    names: Any = None,
    out: Any = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Standard normal numbers.

    Example::

        >>> import gradpack as torch
        >>> torch.randn(2, 3, dtype=torch.float64).dtype
        gradpack.float64
    """
    spec = usual(out, dtype, device, requires_grad)
    if spec is not None and spec.plain:
        array = source(generator).standard_normal(shape_of("randn", sizes if size is None else (size,)), spec.native)
        return alias(array, spec, array.shape)
    dtype = dtype_for("randn", out, dtype)
    native = _native("randn", dtype, device)
    _check_floating("normal_kernel_cpu", dtype)
    shape = shape_of("randn", sizes if size is None else (size,))
    return filled(
        "randn", out, finish(on_device(normal_array, device)(generator, shape, native), requires_grad, device)
    )


_WORD = 2**62


def _exact(d: Any) -> int:
    """All integers up to this one are numbers of a floating dtype."""
    return int(2 ** (1 - round(math.log2(finfo(d).eps))))


def bounds_for(low: int, high: int | None, d: Any) -> tuple[int, int]:
    """The least and the greatest integer that `random_(low, high)` draws in a dtype, which has to hold them.

    Without an upper bound it is the greatest integer of 64 bits.
    """
    if high is not None and low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    if high is None:
        if low == -(2**63) and d not in (dtypes.int64, dtypes.float64, dtypes.float32, dtypes.bfloat16):
            raise RuntimeError("random_full_64_bits_range_kernel_cpu handles only int64, double, float and bfloat16")
        if low != -(2**63):
            _check_bounds(low, iinfo(d).max if d.category == dtypes.INTEGRAL else low + 1, d)
        if d.category == dtypes.INTEGRAL:
            return low, iinfo(d).max
        return low, 2**63 - 1 if low == -(2**63) or not d.is_floating_point else _exact(d)
    _check_bounds(low, high, d)
    if d.is_floating_point:
        exact = _exact(d)
        for label, bound in (("from", low), ("to - 1", high - 1)):
            if not -exact <= bound <= exact:
                power = round(math.log2(exact))
                warnings.warn(
                    f"{label} is out of bounds [-(2^{power}), 2^{power}]. Due to precision limitations "
                    f"{scalar_type(d)} can support discrete uniform distribution only within this range. This warning "
                    "will become an error in version 1.7 release, please fix the code in advance",
                    UserWarning,
                    stacklevel=depth_of_user(),
                )
        return _least(low, d), _most(high, d)
    return low, high - 1


def _least(low: int, d: Any) -> int:
    """The least integer from `low` on that does not become less than it in a floating dtype."""
    rounded = int(rounded_number(low + 1, d)) if d.low else low
    return low if rounded >= low else rounded + _step(abs(low + 1), d)


def _most(high: int, d: Any) -> int:
    """The greatest integer below `high` that does not become `high` in a floating dtype."""
    rounded = int(rounded_number(high - 1, d)) if d.low else high - 1
    return high - 1 if rounded < high else high - _step(high, d) - 1


def _step(n: int, d: Any) -> int:
    """How far integers that a floating dtype holds are from each other, at about `n`."""
    return 1 << max(n.bit_length() - round(math.log2(_exact(d))), 0)


def _check_bounds(low: int, high: int, d: Any) -> None:
    """Raise for integers that a dtype cannot hold."""
    if d is dtypes.int64 and low > -_WORD and high < _WORD:
        return
    if d.is_complex:
        raise RuntimeError("check_random_bounds handles only integral, floating-point and boolean types")
    if d is dtypes.bool_:
        least, most = 0.0, 1.0
    else:
        info: Any = finfo(d) if d.is_floating_point else iinfo(d)
        least, most = info.min, info.max
    for label, bound in (("from", low), ("to - 1", high - 1)):
        if not least <= bound <= most:
            raise RuntimeError(f"{label} is out of bounds for {cpp_name(d)}")


@noted
@drawing
def randint(
    low: Any = None,
    high: Any = None,
    size: Any = None,
    *,
    generator: Generator | None = None,
    out: Any = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Integers from `low` (0 if only one bound is given) up to but without `high`.

    Example::

        >>> import gradpack as torch
        >>> bool((torch.randint(3, (10,)) < 3).all())
        True
    """
    if low is not None and size is None:  # randint(high, size)
        low, high, size = 0, low, high
    elif low is not None and high is None:
        low, high = 0, low
    low = 0 if low is None else low
    if high is None or size is None or isinstance(size, int):
        raise TypeError("randint() missing required arguments: 'high' must be an int, 'size' a tuple of ints")
    for name, bound in (("low", low), ("high", high)):
        if not hasattr(bound, "__index__") or isinstance(bound, bool) or (isinstance(bound, Tensor) and bound.ndim):
            raise TypeError(f"randint(): argument '{name}' must be int, not {type(bound).__name__}")
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    d = dtype_for("randint", out, dtype) or dtypes.int64
    _check_bounds(low, high, d)
    native = _native("randint", d, device)
    values = on_device(integer_array, device)(generator, low, high, shape_of("randint", (size,)), native)
    return filled("randint", out, finish(values, requires_grad, device))


@noted
@drawing
def randperm(
    n: int,
    *,
    generator: Generator | None = None,
    out: Any = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A random order of the integers below `n`.

    Example::

        >>> import gradpack as torch
        >>> torch.randperm(3).sum()
        tensor(3)
    """
    n = n.__index__()
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    dtype = dtype_for("randperm", out, dtype) or dtypes.int64
    refuse("randperm", dtype, "bc")
    _check_holds(n, dtype)
    values = on_device(order_array, device)(generator, n, _native("randperm", dtype, device))
    return filled("randperm", out, finish(values, requires_grad, device))


def _check_holds(n: int, d: Any) -> None:
    """Raise if a dtype does not hold all integers below `n`."""
    if d is dtypes.bfloat16:
        return  # torch rounds
    if d.is_floating_point:
        most = _exact(d) + 1
        if n > most:
            raise RuntimeError(f"n cannot be greater than {most} for {scalar_type(d)} type.")
    elif n > iinfo(d).max + 1:
        raise RuntimeError(f"value cannot be converted to type {cpp_name(d)} without overflow: {n}")


@noted
@drawing
def normal(
    mean: Any,
    std: Any = 1.0,
    size: Any = None,
    *,
    generator: Generator | None = None,
    out: Any = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Normal numbers with given means and standard deviations (numbers or tensors).

    Example::

        >>> import gradpack as torch
        >>> torch.normal(torch.zeros(2), 1.0).shape
        gradpack.Size([2])
    """
    if not isinstance(mean, Tensor) and not isinstance(std, Tensor):
        if size is None:
            raise TypeError("normal() missing required argument: 'size', as mean and std are numbers")
        dtype = dtype_for("normal", out, dtype)
        native = _native("normal", dtype, device)
        _check_floating("normal_kernel_cpu", dtype)
        if std < 0:
            raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
        drawn = on_device(normal_array, device)(generator, shape_of("normal", (size,)), native)
        drawn = (drawn * std + mean).astype(native)
        return filled("normal", out, finish(drawn, requires_grad, device))
    m, s = map(host_of, (mean, std))
    place = (mean if isinstance(mean, Tensor) else std)._spec.device
    if isinstance(std, Tensor) and std._spec.dtype.is_complex:
        raise RuntimeError("normal expects standard deviation to be non-complex")
    _check_floating("normal_kernel_cpu", (mean if isinstance(mean, Tensor) else std)._spec.dtype)
    if isinstance(std, Tensor) and np.any(s < 0):
        raise RuntimeError("normal expects all elements of std >= 0.0")
    if not isinstance(std, Tensor) and std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    if out is not None and MODE.get().grad and any(isinstance(v, Tensor) and v.requires_grad for v in (mean, std)):
        raise RuntimeError(
            "normal(): functions with out=... arguments don't support automatic differentiation, but one of the "
            "arguments requires grad."
        )
    try:
        shape = np.broadcast_shapes(np.shape(m), np.shape(s))
    except ValueError:
        raise shapes_do_not_broadcast("normal", np.shape(m), np.shape(s)) from None
    native = (mean if isinstance(mean, Tensor) else std)._spec.native
    drawn = np.asarray((normal_array(generator, shape, native) * s + m).astype(native))
    return _into_out(out, _without_slope(drawn, place, mean, std))


@noted
@drawing
def bernoulli(input: Tensor, p: Any = None, *, generator: Generator | None = None, out: Any = None) -> Tensor:
    """Zeros and ones, with the probabilities in `input` (or `p`) of a one. No gradient flows.

    Example::

        >>> import gradpack as torch
        >>> torch.bernoulli(torch.ones(2))
        tensor([1., 1.])
    """
    if p is None:
        _check_floating("bernoulli_tensor_cpu_p_", input._spec.dtype)
    if input._spec.dtype.is_complex:
        raise not_implemented_for("bernoulli_scalar_cpu_", input._spec.dtype)
    chance = host_of(input if p is None else p)
    if np.any((chance < 0) | (chance > 1)) or np.any(np.isnan(chance)):
        raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.")
    drawn = source(generator).random(input._shape) < chance
    native = input._spec.native if out is None else out._spec.native
    return filled("bernoulli", out, _without_slope(np.asarray(drawn.astype(native)), input._spec.device, input))


def _without_slope(drawn: Any, device: Any, *sources: Any) -> Tensor:
    """What was drawn, on a device, with a gradient and a tangent of zero by what it was drawn with, as in torch."""
    made = finish(drawn, False, device)
    for t in sources:
        if isinstance(t, Tensor) and (t._tangents is not None or (t.requires_grad and MODE.get().grad)):
            made = made + where(zeros_like(t, dtype=dtypes.bool_), t, 0.0)
    return made


@noted
@drawing
def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None, out: Any = None
) -> Tensor:
    """Indices drawn with probabilities proportional to each row of `input`.

    Example::

        >>> import gradpack as torch
        >>> torch.multinomial(torch.tensor([0.0, 1.0]), 3, replacement=True)
        tensor([1, 1, 1])
    """
    if not input.is_floating_point():
        raise RuntimeError(f"multinomial only supports floating-point dtypes for input, got: {input.dtype}")
    if isinstance(out, Tensor) and out._spec.dtype is not dtypes.int64:
        raise RuntimeError(f"multinomial expects Long tensor out, got: {scalar_type(out._spec.dtype)}")
    if input.ndim not in (1, 2):
        raise RuntimeError(f"prob_dist must be 1 or 2 dim, got {input.ndim}")
    weights = np.asarray(host_of(input), dtype=np.float64)
    if np.any(weights < 0) or not np.all(np.isfinite(weights)):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    totals = weights.sum(axis=-1, keepdims=True)
    if np.any(totals <= 0):
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    rng = source(generator)
    if replacement:
        edges = np.cumsum(weights / totals, axis=-1)
        draws = rng.random((*weights.shape[:-1], num_samples))
        index = (draws[..., None] >= edges[..., None, :-1]).sum(axis=-1)
    else:
        if num_samples > weights.shape[-1] or np.any((weights > 0).sum(axis=-1) < num_samples):
            raise RuntimeError(
                "invalid multinomial distribution (with replacement=False, not enough non-negative category to sample)"
            )
        with np.errstate(divide="ignore"):
            keys = rng.exponential(size=weights.shape) / weights  # the first arrivals of racing clocks
        index = np.argsort(keys, axis=-1)[..., :num_samples]
    return filled("multinomial", out, finish(index.astype(np.int64), False, input._spec.device))
