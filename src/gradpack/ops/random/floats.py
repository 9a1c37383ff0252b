"""Tensors of random numbers: uniform, normal, and draws by probability."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...backends.numpy import PAIR, paired
from ...base import dtypes
from ...base.devices import CPU
from ...base.dtypes import as_dtype, dtype
from ...base.errors import not_a_tensor, not_implemented_for, scalar_type, shapes_do_not_broadcast
from ...base.modes import MODE
from ...core.tensor import Tensor, alias
from ...declare.generate.profiling import profiled
from ...declare.inplace.write_checks import refuse_grad
from ..create.fill_like import zeros_like
from ..create.making import (
    _into_out,
    _native,
    dtype_for,
    filled,
    finish,
    on_device,
    result,
    shape_of,
    usual,
    with_parameters_of,
)
from ..pointwise.rounding import where
from ..shape.memory_formats import as_beside
from .drawing import ELEMENT, SHAPE, SIZE, drawing
from .generator import Generator, source
from .integers import randint

FUNCTIONS = "rand randn normal bernoulli multinomial rand_like randn_like randint_like"
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


def host_of(value: Any) -> Any:
    """The elements of a tensor as an array in host memory, to be read; other objects are returned as they are."""
    return value._spec.backend.values(value._data) if isinstance(value, Tensor) else value


def _check_floating(op: str, d: Any) -> None:
    if d is not None and d.category < dtypes.FLOATING:
        raise not_implemented_for(op, d)


def _by_size(kernel: str, method: str) -> Callable[[Callable[..., Any]], Any]:
    """Make a function of a size that fills an array, of which `method` of NumPy's generator is the plain case."""

    def declare(array: Callable[..., Any]) -> Any:
        name = array.__name__

        def by_size(
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
            spec = usual(out, dtype, device, requires_grad)
            if spec is not None and spec.plain:
                shape = shape_of(name, sizes if size is None else (size,))
                drawn = getattr(source(generator), method)(shape, spec.native)
                return alias(drawn, spec, drawn.shape)
            dtype = dtype_for(name, out, dtype)
            native = _native(name, dtype, device)
            _check_floating(kernel, dtype)
            shape = shape_of(name, sizes if size is None else (size,))
            return result(name, out, on_device(array, device)(generator, shape, native), requires_grad, device)

        return profiled(drawing(with_parameters_of(array, by_size, given=3), SIZE))

    return declare


@_by_size("check_uniform_bounds", "random")
def rand(generator: Generator | None, shape: Any, native: Any) -> Any:
    """Uniformly distributed numbers from 0 up to, but excluding, 1.

    Args:
        sizes: the shape: ints, or one sequence of them.
        size: the shape, by name.

    Example::

        >>> import gradpack as torch
        >>> x = torch.rand(2, 500)
        >>> x.shape, bool((x >= 0).all() and (x < 1).all())
        (gradpack.Size([2, 500]), True)
    """
    return uniform_array(generator, shape, native)


@_by_size("normal_kernel_cpu", "standard_normal")
def randn(generator: Generator | None, shape: Any, native: Any) -> Any:
    """Normally distributed numbers of mean 0 and variance 1.

    Args:
        sizes: the shape: ints, or one sequence of them.
        size: the shape, by name.

    Example::

        >>> import gradpack as torch
        >>> first = torch.randn(3, generator=torch.Generator().manual_seed(1))
        >>> torch.equal(first, torch.randn(3, generator=torch.Generator().manual_seed(1)))
        True
    """
    return normal_array(generator, shape, native)


@profiled
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
    """Normally distributed numbers with given means and standard deviations.

    Args:
        mean, std: the means and the standard deviations: tensors with as many elements; or numbers, with a `size`.

    Raises:
        RuntimeError: for a negative standard deviation.

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
        return result("normal", out, drawn, requires_grad, device)
    m, s = map(host_of, (mean, std))
    place = (mean if isinstance(mean, Tensor) else std)._spec.device
    if isinstance(std, Tensor) and std._spec.dtype.is_complex:
        raise RuntimeError("normal expects standard deviation to be non-complex")
    _check_floating("normal_kernel_cpu", (mean if isinstance(mean, Tensor) else std)._spec.dtype)
    if isinstance(std, Tensor) and np.any(s < 0):
        raise RuntimeError("normal expects all elements of std >= 0.0")
    if not isinstance(std, Tensor) and std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    if out is not None:
        refuse_grad("normal", mean, std)
    try:
        shape = np.broadcast_shapes(np.shape(m), np.shape(s))
    except ValueError:
        raise shapes_do_not_broadcast("normal", np.shape(m), np.shape(s)) from None
    native = (mean if isinstance(mean, Tensor) else std)._spec.native
    drawn = np.asarray((normal_array(generator, shape, native) * s + m).astype(native))
    return _into_out(out, zero_slope(finish(drawn, False, place), mean, std))


@profiled
@partial(drawing, how=ELEMENT)
def bernoulli(input: Tensor, p: Any = None, *, generator: Generator | None = None, out: Any = None) -> Tensor:
    """Zeros and ones, with the probabilities in `input` (or `p`) of a one. No gradient flows.

    Args:
        input: the probabilities, of a floating point dtype; with `p`, only its shape and dtype count.
        p: one probability for all elements.

    Raises:
        RuntimeError: for a probability outside of 0 to 1.

    Example::

        >>> import gradpack as torch
        >>> torch.bernoulli(torch.ones(2))
        tensor([1., 1.])
    """
    if p is None:
        _check_floating("bernoulli_tensor_cpu_p_", input._spec.dtype)
    if input._spec.dtype.is_complex:
        raise not_implemented_for("bernoulli_scalar_cpu_", input._spec.dtype)
    chance = np.asarray(host_of(input if p is None else p))
    if chance.size and not (np.minimum.reduce(chance, None) >= 0 and np.maximum.reduce(chance, None) <= 1):  # or NaN
        raise RuntimeError(
            "Expected p_in >= 0 && p_in <= 1 to be true, but got false. bernoulli() got probabilities from "
            f"{chance.min():g} to {chance.max():g}"
        )
    native = input._spec.native if out is None else out._spec.native
    drawn = np.asarray((source(generator).random(input._shape) < chance).astype(native))
    return filled("bernoulli", out, zero_slope(finish(drawn, False, input._spec.device), input))


def zero_slope(made: Tensor, *sources: Any) -> Tensor:
    """Return drawn numbers with zero gradient and tangent by the parameters."""
    for t in sources:
        if isinstance(t, Tensor) and (t._tangents is not None or (t.requires_grad and MODE.get().grad)):
            made = made + where(zeros_like(t, dtype=dtypes.bool_), t, 0.0)
    return made


def _bad_probabilities(weights: Any, entry_by_entry: bool) -> str:
    """The error message for weights that are no probabilities."""
    if not entry_by_entry:
        return "probability tensor contains either `inf`, `nan` or element < 0"
    first = next(w for w in weights.flat if not 0 <= w < np.inf)
    found = "= infinity or NaN" if first > 0 else "< 0"
    return f"invalid multinomial distribution (encountering probability entry {found})"


@profiled
@drawing
def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None, out: Any = None
) -> Tensor:
    """Indices drawn with probabilities proportional to each row of `input`.

    Args:
        input: the weights: a vector, or a matrix with one row for each set of draws. They need not sum to 1.
        num_samples: how many indices to draw, of each row.
        replacement: whether an index can be drawn several times.

    Raises:
        RuntimeError: for weights that are negative, NaN or all zero, or more samples than there are without
            replacement.

    Example::

        >>> import gradpack as torch
        >>> torch.multinomial(torch.tensor([0.0, 1.0]), 3, replacement=True)
        tensor([1, 1, 1])
    """
    if not input.is_floating_point():
        found = scalar_type(input._spec.dtype)
        raise RuntimeError(f"multinomial only supports floating-point dtypes for input, got: {found}")
    if input.ndim not in (1, 2):
        raise RuntimeError(f"prob_dist must be 1 or 2 dim: got {input.ndim}")
    if isinstance(out, Tensor) and out._spec.dtype is not dtypes.int64:
        raise RuntimeError(f"multinomial expects Long tensor out, got: {scalar_type(out._spec.dtype)}")
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > input._shape[-1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    if input._shape[-1] > 1 << 24:
        raise RuntimeError("number of categories cannot exceed 2^24")
    weights = np.asarray(host_of(input), dtype=np.float64)
    if np.any(weights < 0) or not np.all(np.isfinite(weights)):
        raise RuntimeError(_bad_probabilities(weights, replacement and num_samples > 1))
    totals = weights.sum(axis=-1, keepdims=True)
    if np.any(totals <= 0):
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    rng = source(generator)
    if replacement:
        edges = np.cumsum(weights / totals, axis=-1)
        draws = rng.random((*weights.shape[:-1], num_samples))
        index = (draws[..., None] >= edges[..., None, :-1]).sum(axis=-1)
    else:
        with np.errstate(divide="ignore"):
            keys = rng.exponential(size=weights.shape) / weights  # the smallest exponential numbers of these rates
        index = np.argsort(keys, axis=-1)[..., :num_samples]
    return result("multinomial", out, index.astype(np.int64), False, input._spec.device)


def _like(kernel: str, method: str) -> Callable[[Callable[..., Any]], Any]:
    """Make a function that fills an array in the shape and dtype of its argument: see `_by_size`."""

    def declare(array: Callable[..., Any]) -> Any:
        op = array.__name__

        def like(
            input: Tensor,
            *,
            generator: Generator | None = None,
            dtype: dtype | None = None,
            layout: Any = None,
            device: Any = None,
            requires_grad: bool = False,
            pin_memory: bool = False,
            memory_format: Any = None,
        ) -> Tensor:
            if not isinstance(input, Tensor):
                raise not_a_tensor(op, "input", 1, input)
            spec = usual(None, input._spec.dtype, device, requires_grad) if dtype is memory_format is None else None
            if spec is input._spec and spec.plain and input._data.flags.c_contiguous:
                return alias(getattr(source(generator), method)(input._shape, spec.native), spec, input._shape)
            d = as_dtype(op, dtype) or input._spec.dtype
            _check_floating(kernel, d)
            where = device or input._spec.device
            native = input._spec.backend.spec_for(d, CPU).native
            made = on_device(array, where)(generator, input._shape, native)
            return finish(as_beside(made, input._data, memory_format), requires_grad, where)

        return profiled(drawing(with_parameters_of(array, like, given=3), SHAPE))

    return declare


@_like("check_uniform_bounds", "random")
def rand_like(generator: Generator | None, shape: Any, native: Any) -> Any:
    """Uniform numbers in the shape and dtype of `input`.

    Example::

        >>> import gradpack as torch
        >>> torch.rand_like(torch.ones(2)).shape
        gradpack.Size([2])
    """
    return uniform_array(generator, shape, native)


@_like("normal_kernel_cpu", "standard_normal")
def randn_like(generator: Generator | None, shape: Any, native: Any) -> Any:
    """Standard normal numbers in the shape and dtype of `input`.

    Example::

        >>> import gradpack as torch
        >>> torch.randn_like(torch.ones(2)).shape
        gradpack.Size([2])
    """
    return normal_array(generator, shape, native)


@profiled
@partial(drawing, how=SHAPE)
def randint_like(
    input: Tensor,
    low: Any = None,
    high: Any = None,
    *,
    generator: Generator | None = None,
    dtype: dtype | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Integers below a bound in the shape and dtype of `input`.

    Example::

        >>> import gradpack as torch
        >>> torch.randint_like(torch.ones(2), 1)
        tensor([0., 0.])
    """
    if high is None and low is None:
        raise TypeError("randint_like() missing required argument: 'high' must be an int")
    low, high = (0, low) if high is None else (low or 0, high)
    where = device or input._spec.device
    made = randint(low, high, input._shape, generator=generator, dtype=dtype or input._spec.dtype, device=where)
    return finish(as_beside(made._data, input._data, memory_format), requires_grad, where)
