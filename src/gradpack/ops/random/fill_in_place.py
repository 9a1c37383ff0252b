"""Methods that fill a tensor with random numbers, in place."""

from __future__ import annotations

from functools import partial
from inspect import Parameter, Signature, signature
from typing import Any

import numpy as np

from ...backends import backend_of
from ...backends.numpy import NATIVE, quiet
from ...base import dtypes, late
from ...base.errors import cpp_name, refuse, scalar_type
from ...base.info import iinfo, limits_of
from ...base.modes import MODE, Mode
from ...core.parameter import Parameter as TensorParameter
from ...core.tensor import Tensor, wrap
from ...declare.batching.errors import not_writable
from ...declare.generate.profiling import profiled
from ...declare.inplace.inplace import inplace
from ...declare.inplace.write_checks import check_writable
from ...declare.signature.arguments import check, kinds_of
from ...declare.signature.shown import showing
from ..create.making import finish, on_device
from .drawing import TARGET, drawing
from .floats import host_of, normal_array, uniform_array
from .generator import Generator, source
from .integers import _exact, bounds_for

_ABSENT = object()  # a bound that is not given, where None is one
INPLACE = "uniform_ normal_ bernoulli_ random_ exponential_ geometric_ cauchy_ log_normal_"


# By method: torch's name of the kernel in error messages, and codes of the dtypes that it does not support.
_KERNELS = {
    "uniform_": ("check_uniform_bounds", "blui"),
    "normal_": ("normal_kernel_cpu", "blui"),
    "bernoulli_": ("bernoulli_scalar_cpu_", "c"),
    "geometric_": ("geometric_cpu", "bc"),
    "random_": ("random_", "c"),
    "log_normal_": ("log_normal_cpu", "bluic"),
}
_NUMBERS = frozenset({int, float})
_CONTINUOUS = {"exponential_": "Exponential", "cauchy_": "Cauchy"}


def _kernel(name: str, d: Any) -> tuple[str, Any, str]:
    kernel, letters = _KERNELS.get(name, (name, ""))
    return kernel, d, letters


def _is_plain_write(target: Any, mode: Mode) -> bool:
    """Whether a write to a float32 or float64 tensor needs no recording beyond its version counter."""
    return (
        not mode.leaves_fast_path
        and (type(target) is Tensor or type(target) is TensorParameter)
        and target._spec.plain
        and target._view is None
        and (target._edge is None or not mode.grad)
        and type(target._counter) is list
        and len(target._counter) == 1
        and bool(target._data.flags.forc and target._data.flags.writeable)
    )


def _filled(draw: Any) -> Any:
    """Make a method of a function that gives the numbers, called with the tensor, the generator and the arguments."""
    name = draw.__name__.removeprefix("_method_")
    shown = list(signature(draw).parameters.values())[2:]  # without the tensor and the generator
    kinds = {n: k for n, k in kinds_of({p.name: p for p in shown}).items() if k[0] == "float"}

    def method(self: Tensor, *args: Any, generator: Generator | None = None, **kwargs: Any) -> Tensor:
        if kinds and not _NUMBERS.issuperset(map(type, (*args, *kwargs.values()))):
            given = dict(zip(kinds, args, strict=False)) | kwargs
            check(name, {n: k for n, k in kinds.items() if n in given}, given)
        mode = MODE.get()
        if _is_plain_write(self, mode):
            with quiet():
                self._data[...] = draw(self, generator, *args, **kwargs)
                self._counter[0] += 1
            return self
        d, levels = self._spec.dtype, mode.levels
        if levels and levels[-1].randomness == "different" and not levels[-1].has(self):
            if any(map(levels[-1].has, args)):
                raise not_writable(name)
            raise RuntimeError(
                "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like same "
                "randomness. If this is necessary for your usage, please file an issue with functorch."
            )
        refuse(*_kernel(name, d))
        if name in _CONTINUOUS and d.category != dtypes.FLOATING:
            raise RuntimeError(
                f"{_CONTINUOUS[name]} distribution is a continuous probability distribution. dtype must be a floating "
                f"point but you specified {d.name}"
            )
        if self._spec.numpy:
            check_writable(self, name)  # before the state of the generator changes
        return inplace(late._copied.op, name, [self, drawn(self, *args, generator=generator, **kwargs)])

    @partial(drawing, how=TARGET)
    def drawn(t: Tensor, *args: Any, generator: Generator | None = None, **kwargs: Any) -> Tensor:
        if t._spec.numpy:
            return wrap(np.asarray(draw(t, generator, *args, **kwargs)))
        made = on_device(draw, t._spec.device)(t, generator, *args, **kwargs)
        return finish(backend_of(type(made)).ensure(made), False, t._spec.device)  # type: ignore[union-attr]

    method.__name__ = method.__qualname__ = name
    method.__doc__ = draw.__doc__
    return profiled(showing(_parameters_of(shown))(method))


def _parameters_of(drawn: list[Parameter]) -> Any:
    """Return a function with the parameters of a method: torch calls the bounds `from` and `to`."""
    names = {"a": "from_", "b": "to"}
    kind = Parameter.POSITIONAL_OR_KEYWORD
    own = [
        Parameter(names.get(p.name, p.name), kind, default=None if p.default is _ABSENT else p.default)
        for p in drawn
        if p.kind <= kind
    ]
    first = Parameter("self", kind)
    last = Parameter("generator", Parameter.KEYWORD_ONLY, default=None)

    def example() -> None: ...

    example.__signature__ = Signature([first, *own, last], return_annotation="Tensor")  # type: ignore[attr-defined]
    return example


def _lower_bound(name: str, given: Any, keywords: dict[str, Any]) -> Any:
    """Return the bound that torch calls `from`, and refuse other keywords."""
    unknown = [k for k in keywords if k != "from"]
    if unknown:
        raise TypeError(f"{name}() got an unexpected keyword argument '{unknown[0]}'")
    return keywords.get("from", given)


@_filled
def _method_uniform_(t: Tensor, generator: Any, a: float = 0.0, b: float = 1.0, /, *, to: Any = None, **kw: Any) -> Any:
    """Fill with uniform numbers from the first bound up to the second, in place.

    Args:
        from_: the lower bound; its name is `from`, which Python does not allow in a signature.
        to: the upper bound.

    Raises:
        RuntimeError: if the lower bound is greater than the upper one.
        NotImplementedError: for an integer dtype.

    Example::

        >>> import gradpack as torch
        >>> x = torch.empty(1000).uniform_(2, 5)
        >>> bool((x >= 2).all() and (x < 5).all())
        True
    """
    a = _lower_bound("uniform_", a, kw)
    b = b if to is None else to
    most = limits_of(t._spec.dtype).max
    for label, bound in (("from", a), ("to", b)):
        if not -most <= bound <= most:
            raise RuntimeError(f"{label} is out of bounds for {cpp_name(t._spec.dtype)}")
    if a > b:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={a} > to={b}")
    if b - a > most:
        raise RuntimeError(
            f"uniform_ expects to-from <= std::numeric_limits<{scalar_type(t._spec.dtype)}>::max(), but found to={b} "
            f"and from={a} which result in to-from to exceed the limit"
        )
    made = uniform_array(generator, t._shape, NATIVE[t._spec.flow])
    return made if a == 0 and b == 1 else made * (b - a) + a


@_filled
def _method_normal_(t: Tensor, generator: Any, mean: float = 0.0, std: float = 1.0) -> Any:
    """Fill with normally distributed numbers, in place.

    Args:
        mean: the mean.
        std: the standard deviation.

    Raises:
        RuntimeError: for a negative `std`.
        NotImplementedError: for an integer dtype.

    Example::

        >>> import gradpack as torch
        >>> x = torch.empty(10_000).normal_(mean=3.0, std=0.1)
        >>> bool((x.mean() - 3).abs() < 0.01)
        True
    """
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    made = normal_array(generator, t._shape, NATIVE[t._spec.flow])
    return made if std == 1 and mean == 0 else made * std + mean


@_filled
def _method_bernoulli_(t: Tensor, generator: Any, p: Any = 0.5) -> Any:
    """Fill with zeros and ones, drawn independently, in place.

    Args:
        p: the probability of a one: a number, or a floating point tensor of a shape that broadcasts to that of this
            tensor.

    Raises:
        RuntimeError: for a probability outside of 0 to 1, or a shape that does not broadcast.
        NotImplementedError: for probabilities of another dtype.

    Example::

        >>> import gradpack as torch
        >>> torch.empty(2, 3).bernoulli_(torch.tensor([[0.0], [1.0]]))
        tensor([[0., 0., 0.],
                [1., 1., 1.]])
    """
    if isinstance(p, Tensor):
        refuse("bernoulli_tensor_cpu_p_", p._spec.dtype, "bluic")
        if p._shape != t._shape:
            p = late.expand(p.detach(), t._shape)
    chance = host_of(p)
    if np.any(np.asarray(chance) < 0) or np.any(np.asarray(chance) > 1):
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p}")
    return source(generator).random(t._shape) < chance


@_filled
def _method_random_(
    t: Tensor, generator: Any, a: Any = None, b: Any = _ABSENT, /, *, to: Any = _ABSENT, **kw: Any
) -> Any:
    """Fill with integers: of the whole range of the dtype, below a bound, or between two; None: up to 2**63 - 1.

    Args:
        from_: the smallest integer; its name is `from`, which Python does not allow in a signature. Alone, and
            without its name, it is the bound `to`.
        to: the bound, which does not occur; None for the largest integer of the dtype.

    Example::

        >>> import gradpack as torch
        >>> torch.empty(1000, dtype=torch.int64).random_(3, 6).unique()
        tensor([3, 4, 5])
    """
    b = b if to is _ABSENT else to
    bounded = b is not _ABSENT
    a = _lower_bound("random_", a, kw)
    if "from" in kw and not bounded:
        raise TypeError("random_() received an invalid combination of arguments: 'from' needs 'to' beside it")
    b = b if bounded else None
    for bound in (a, b):
        if bound is not None and (isinstance(bound, bool) or not hasattr(bound, "__index__")):
            raise TypeError(f"random_() received an invalid combination of arguments: bounds are ints, not {bound!r}")
    d = t._spec.dtype
    if a is None and b is None:
        least, most = 0, 1 if d.category == dtypes.BOOL else _exact(d) if d.is_floating_point else iinfo(d).max
    elif bounded:
        least, most = bounds_for(0 if a is None else a, b, d)
    else:
        least, most = bounds_for(0, a, d)
    return source(generator).integers(least, most, t._shape, endpoint=True)


@_filled
def _method_exponential_(t: Tensor, generator: Any, lambd: float = 1.0) -> Any:
    """Fill with exponentially distributed numbers, in place: their density is `lambd * exp(-lambd * x)`.

    Args:
        lambd: the rate: 1 / the mean.
    """
    if lambd <= 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd}")
    return source(generator).exponential(1 / lambd, t._shape)


@_filled
def _method_geometric_(t: Tensor, generator: Any, p: float) -> Any:
    """Fill with numbers of a geometric distribution, in place: how many trials it takes until one succeeds.

    Args:
        p: the probability of success: more than 0 and less than 1.
    """
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p}")
    return source(generator).geometric(p, t._shape)


@_filled
def _method_cauchy_(t: Tensor, generator: Any, median: float = 0.0, sigma: float = 1.0) -> Any:
    """Fill with numbers of a Cauchy distribution, in place.

    Its density is `1 / (pi * sigma * (1 + ((x - median) / sigma) ** 2))`.

    Args:
        median: the median.
        sigma: half of the distance between the quartiles.

    Raises:
        RuntimeError: for a `sigma` that is not positive, or a dtype that is not floating point.

    Example::

        >>> import gradpack as torch
        >>> x = torch.empty(10_001).cauchy_(median=2.0, sigma=0.1)
        >>> bool((x.median() - 2).abs() < 0.05)
        True
    """
    if sigma <= 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
    return source(generator).standard_cauchy(t._shape) * sigma + median


@_filled
def _method_log_normal_(t: Tensor, generator: Any, mean: float = 1.0, std: float = 2.0) -> Any:
    """Fill with the exponentials of normally distributed numbers, in place.

    Args:
        mean: the mean of the logarithms.
        std: the standard deviation of the logarithms.
    """
    if std <= 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std}")
    return source(generator).lognormal(mean, std, t._shape)
