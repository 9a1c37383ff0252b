"""Random numbers: generators and the tensors drawn from them.

The state is plain data that can be read and set, so that recomputation can replay it. The numbers
are NumPy's (PCG64), not torch's: the same seed gives other numbers than torch.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import dtypes
from ..base.devices import CPU, as_device, device
from ..base.dtypes import dtype
from ..declare.inplace import check_writable, write
from ..tensor.tensor import Tensor, wrap
from .create import _into_out, _native, check_dtype, finish, shape_of

FUNCTIONS = (
    "Generator default_generator manual_seed seed initial_seed get_rng_state set_rng_state rand randn randint randperm "
    "rand_like randn_like randint_like normal bernoulli multinomial poisson"
)
METHODS = "bernoulli multinomial"
INPLACE = "uniform_ normal_ bernoulli_ random_ exponential_ geometric_ cauchy_ log_normal_"

_STATE_WORDS = 8  # a PCG64 state as 64-bit words: 2 state, 2 increment, flag, buffered, seed, version


class Generator:
    """A source of random numbers with a state of its own.

    Example::

        >>> import gradpack as torch
        >>> a = torch.rand(2, generator=torch.Generator().manual_seed(1))
        >>> b = torch.rand(2, generator=torch.Generator().manual_seed(1))
        >>> torch.equal(a, b)
        True
    """

    def __init__(self, device: Any = "cpu") -> None:
        self._device = as_device(device)
        self._seed = 67280421310721
        self._numpy: Any = None  # made when first used: importing numpy.random costs time

    @property
    def device(self) -> device:
        return self._device

    @property
    def numpy(self) -> Any:
        """The `numpy.random.Generator` that draws the numbers."""
        if self._numpy is None:
            self._numpy = np.random.Generator(np.random.PCG64(self._seed))
        return self._numpy

    def manual_seed(self, seed: int) -> Generator:
        """Start again from a seed."""
        seed = int(seed)
        if not -(2**63) <= seed < 2**64:
            raise RuntimeError(f"Overflow when unpacking long: seed {seed} does not fit into 64 bits")
        self._seed = seed % 2**64
        self._numpy = None
        return self

    def initial_seed(self) -> int:
        """The seed this generator started from."""
        return self._seed

    def seed(self) -> int:
        """Start again from a seed that the operating system gives."""
        import os

        self.manual_seed(int.from_bytes(os.urandom(8), "little"))
        return self._seed

    def get_state(self) -> Tensor:
        """The state, as a tensor of bytes."""
        state = self.numpy.bit_generator.state
        mask = 2**64 - 1
        words = [
            state["state"]["state"] & mask, state["state"]["state"] >> 64,
            state["state"]["inc"] & mask, state["state"]["inc"] >> 64,
            state["has_uint32"], state["uinteger"], self._seed, 1,
        ]  # fmt: skip
        return wrap(np.array(words, dtype=np.uint64).view(np.uint8))

    def set_state(self, new_state: Tensor) -> Generator:
        """Continue from a state that `get_state` gave."""
        if not isinstance(new_state, Tensor):
            raise TypeError(f"expected a Tensor as RNG state, but got {type(new_state).__name__}")
        if new_state._spec.dtype is not dtypes.uint8 or new_state.numel() != 8 * _STATE_WORDS:
            raise RuntimeError(f"RNG state must be a torch.ByteTensor of {8 * _STATE_WORDS} elements")
        w = [int(x) for x in np.ascontiguousarray(new_state._data).view(np.uint64)]
        self._seed = w[6]
        bits = np.random.PCG64(self._seed)
        bits.state = {
            "bit_generator": "PCG64",
            "state": {"state": w[0] | w[1] << 64, "inc": w[2] | w[3] << 64},
            "has_uint32": w[4],
            "uinteger": w[5],
        }
        self._numpy = np.random.Generator(bits)
        return self

    def clone_state(self) -> Generator:
        """Another generator in the same state."""
        return Generator(self._device).set_state(self.get_state())


default_generator = Generator()


def source(generator: Generator | None) -> Any:
    """The NumPy generator behind a `generator=` argument."""
    if generator is None:
        return default_generator.numpy
    if not isinstance(generator, Generator):
        raise TypeError(f"argument 'generator' must be gradpack.Generator, not {type(generator).__name__}")
    return generator.numpy


def manual_seed(seed: int) -> Generator:
    """Seed the default generator, and return it.

    Example::

        >>> import gradpack as torch
        >>> _ = torch.manual_seed(0)
        >>> a = torch.randn(3)
        >>> _ = torch.manual_seed(0)
        >>> torch.equal(a, torch.randn(3))
        True
    """
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Seed the default generator from the operating system; returns the seed.

    Example::

        >>> import gradpack as torch
        >>> torch.seed() == torch.initial_seed()
        True
    """
    return default_generator.seed()


def initial_seed() -> int:
    """The seed of the default generator.

    Example::

        >>> import gradpack as torch
        >>> torch.manual_seed(3).initial_seed() == torch.initial_seed()
        True
    """
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """The state of the default generator.

    Example::

        >>> import gradpack as torch
        >>> torch.get_rng_state().dtype
        gradpack.uint8
    """
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Set the state of the default generator.

    Example::

        >>> import gradpack as torch
        >>> state = torch.get_rng_state(); a = torch.rand(2)
        >>> torch.set_rng_state(state)
        >>> torch.equal(a, torch.rand(2))
        True
    """
    default_generator.set_state(new_state)


def uniform_array(generator: Generator | None, shape: Any, native: Any) -> Any:
    """Uniform numbers in [0, 1) of a NumPy dtype."""
    rng = source(generator)
    if native in (np.float32, np.float64):
        return rng.random(shape, dtype=native)
    if native.kind == "c":
        return (rng.random(shape) + 1j * rng.random(shape)).astype(native)
    made = rng.random(shape, dtype=np.float32).astype(native)
    return np.where(made >= 1, native.type(0.99609375 if native.itemsize == 2 else 0), made).astype(native)


def normal_array(generator: Generator | None, shape: Any, native: Any) -> Any:
    """Standard normal numbers of a NumPy dtype."""
    rng = source(generator)
    if native in (np.float32, np.float64):
        return rng.standard_normal(shape, dtype=native)
    if native.kind == "c":
        return ((rng.standard_normal(shape) + 1j * rng.standard_normal(shape)) * 0.5**0.5).astype(native)
    return rng.standard_normal(shape, dtype=np.float32).astype(native)


def _check_floating(op: str, native: Any, d: Any) -> None:
    if d is not None and d.category < dtypes.FLOATING:
        raise RuntimeError(f"\"{op}\" not implemented for '{d.name}': give a floating-point dtype")


def rand(
    *size: Any,
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
    native = _native("rand", dtype, device)
    _check_floating("rand", native, dtype)
    return _into_out(out, finish(uniform_array(generator, shape_of("rand", size), native), requires_grad))


def randn(
    *size: Any,
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
    native = _native("randn", dtype, device)
    _check_floating("normal_kernel_cpu", native, dtype)
    return _into_out(out, finish(normal_array(generator, shape_of("randn", size), native), requires_grad))


def randint(
    low: Any,
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
    if size is None:
        if high is None or isinstance(high, int):
            raise TypeError("randint() missing required argument: 'size' must be a tuple of ints")
        low, high, size = 0, low, high
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    d = dtype or dtypes.int64
    values = source(generator).integers(low, high, shape_of("randint", (size,)))
    return _into_out(out, finish(values.astype(_native("randint", d, device)), requires_grad))


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
    if n < 0:
        raise RuntimeError(f"n must be non-negative, got {n}")
    values = source(generator).permutation(n).astype(_native("randperm", dtype or dtypes.int64, device))
    return _into_out(out, finish(values, requires_grad))


def _like(input: Tensor, d: dtype | None) -> Any:
    check_dtype("rand_like", d)
    return input._spec.backend.spec_for(d or input._spec.dtype, CPU).native


def rand_like(
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
    """Uniform numbers in the shape and dtype of `input`.

    Example::

        >>> import gradpack as torch
        >>> torch.rand_like(torch.ones(2)).shape
        gradpack.Size([2])
    """
    return finish(uniform_array(generator, input._shape, _like(input, dtype)), requires_grad)


def randn_like(
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
    """Standard normal numbers in the shape and dtype of `input`.

    Example::

        >>> import gradpack as torch
        >>> torch.randn_like(torch.ones(2)).shape
        gradpack.Size([2])
    """
    return finish(normal_array(generator, input._shape, _like(input, dtype)), requires_grad)


def randint_like(
    input: Tensor,
    low: Any,
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
    low, high = (0, low) if high is None else (low, high)
    return randint(
        low, high, input._shape, generator=generator, dtype=dtype or input._spec.dtype, requires_grad=requires_grad
    )


def normal(
    mean: Any,
    std: Any = 1.0,
    size: Any = None,
    *,
    generator: Generator | None = None,
    out: Any = None,
    dtype: dtype | None = None,
    device: Any = None,
    requires_grad: bool = False,
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
        native = _native("normal", dtype, device)
        if std < 0:
            raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
        return _into_out(
            out,
            finish(
                (normal_array(generator, shape_of("normal", (size,)), native) * std + mean).astype(native),
                requires_grad,
            ),
        )
    m, s = (v._data if isinstance(v, Tensor) else v for v in (mean, std))
    if isinstance(std, Tensor) and np.any(s < 0):
        raise RuntimeError("normal expects all elements of std >= 0.0")
    shape = np.broadcast_shapes(np.shape(m), np.shape(s))
    native = (mean if isinstance(mean, Tensor) else std)._spec.native
    return _into_out(out, finish((normal_array(generator, shape, native) * s + m).astype(native), requires_grad))


def bernoulli(input: Tensor, p: Any = None, *, generator: Generator | None = None, out: Any = None) -> Tensor:
    """Zeros and ones, with the probabilities in `input` (or `p`) of a one. No gradient flows.

    Example::

        >>> import gradpack as torch
        >>> torch.bernoulli(torch.ones(2))
        tensor([1., 1.])
    """
    chance = input._data if p is None else p
    if np.any((chance < 0) | (chance > 1)) or np.any(np.isnan(chance)):
        raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.")
    drawn = source(generator).random(input._shape) < chance
    return _into_out(out, _constant(drawn.astype(input._spec.native), input))


def _constant(array: Any, input: Tensor) -> Tensor:
    return wrap(np.asarray(array))


def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None, out: Any = None
) -> Tensor:
    """Indices drawn with probabilities proportional to each row of `input`.

    Example::

        >>> import gradpack as torch
        >>> torch.multinomial(torch.tensor([0.0, 1.0]), 3, replacement=True)
        tensor([1, 1, 1])
    """
    if input.ndim not in (1, 2):
        raise RuntimeError(f"prob_dist must be 1 or 2 dim, got {input.ndim}")
    weights = np.asarray(input._data, dtype=np.float64)
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
    return _into_out(out, wrap(index.astype(np.int64)))


def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Poisson numbers with the rates in `input`.

    Example::

        >>> import gradpack as torch
        >>> torch.poisson(torch.zeros(2))
        tensor([0., 0.])
    """
    return wrap(source(generator).poisson(input._data).astype(input._spec.native))


def _filled(name: str, draw: Any) -> Any:
    def method(self: Tensor, *args: Any, generator: Generator | None = None, **kwargs: Any) -> Tensor:
        values = draw(self, generator, *args, **kwargs)
        check_writable(self, name)
        write(self, values)
        if self._edge is not None and self.grad_fn is not None:
            from ..declare.inplace import set_history
            from .convert import _filled as filled
            from .create import zeros_like

            if _grad_enabled():
                source_ = self.detach()
                source_._edge = self._edge
                made = filled(source_, zeros_like(self.detach()).sum())
                set_history(self, made._edge)
        return self

    method.__name__ = method.__qualname__ = name
    method.__doc__ = draw.__doc__
    return method


def _grad_enabled() -> bool:
    from ..base.modes import MODE

    return MODE.get().grad


def _draw_uniform(t: Tensor, generator: Any, a: float = 0.0, b: float = 1.0, *, to: Any = None, **kw: Any) -> Any:
    """Fill with uniform numbers from the first bound up to the second."""
    a = kw.pop("from", a)
    b = b if to is None else to
    if a > b:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={a} > to={b}")
    return uniform_array(generator, t._shape, t._spec.native) * (b - a) + a


def _draw_normal(t: Tensor, generator: Any, mean: float = 0.0, std: float = 1.0) -> Any:
    """Fill with normal numbers."""
    if std < 0:
        raise RuntimeError(f"normal_ expects std >= 0.0, but found std {std}")
    return normal_array(generator, t._shape, t._spec.native) * std + mean


def _draw_bernoulli(t: Tensor, generator: Any, p: Any = 0.5) -> Any:
    """Fill with zeros and ones."""
    chance = p._data if isinstance(p, Tensor) else p
    if np.any(np.asarray(chance) < 0) or np.any(np.asarray(chance) > 1):
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p}")
    return source(generator).random(t._shape) < chance


def _draw_random(t: Tensor, generator: Any, a: Any = None, b: Any = None, *, to: Any = None, **kw: Any) -> Any:
    """Fill with integers: all that the dtype holds, or below a bound, or between two."""
    a = kw.pop("from", a)
    b = b if to is None else to
    if b is None and a is not None:
        a, b = 0, a
    if b is None:
        d = t._spec.dtype
        a, b = (
            0,
            2
            if d.category == dtypes.BOOL
            else 2**24
            if d is dtypes.float32
            else 2**53
            if d is dtypes.float64
            else 2 ** min(8 * d.itemsize - d.is_signed, 62),
        )
    return source(generator).integers(a, b, t._shape)


def _draw_exponential(t: Tensor, generator: Any, lambd: float = 1.0) -> Any:
    """Fill with exponential numbers of rate `lambd`."""
    if lambd <= 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd}")
    return source(generator).exponential(1 / lambd, t._shape)


def _draw_geometric(t: Tensor, generator: Any, p: float) -> Any:
    """Fill with geometric numbers."""
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p}")
    return source(generator).geometric(p, t._shape)


def _draw_cauchy(t: Tensor, generator: Any, median: float = 0.0, sigma: float = 1.0) -> Any:
    """Fill with Cauchy numbers."""
    return source(generator).standard_cauchy(t._shape) * sigma + median


def _draw_log_normal(t: Tensor, generator: Any, mean: float = 1.0, std: float = 2.0) -> Any:
    """Fill with the exponentials of normal numbers."""
    return source(generator).lognormal(mean, std, t._shape)


_method_uniform_ = _filled("uniform_", _draw_uniform)
_method_normal_ = _filled("normal_", _draw_normal)
_method_bernoulli_ = _filled("bernoulli_", _draw_bernoulli)
_method_random_ = _filled("random_", _draw_random)
_method_exponential_ = _filled("exponential_", _draw_exponential)
_method_geometric_ = _filled("geometric_", _draw_geometric)
_method_cauchy_ = _filled("cauchy_", _draw_cauchy)
_method_log_normal_ = _filled("log_normal_", _draw_log_normal)
