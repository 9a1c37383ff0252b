"""NumPy's mutable arrays and views, over arrays of JAX that cannot be written to.

A `TracedArray` holds an array of JAX, or a tracer of it. A write puts another one in its place; a view is computed from
its base, and a write to it goes through to the base. So bodies that fill arrays with `out=`, slices and `+=` run as
they are while JAX traces them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from . import questions
from .promotion import converted, resolved
from .writing import bits, fitted, put, static_key


class _Flags:
    """The flags of an array in row-major order: arrays of JAX have no layout."""

    writeable = c_contiguous = contiguous = forc = aligned = True
    f_contiguous = False

    def __init__(self, own: bool) -> None:
        self.owndata = own

    def __getitem__(self, name: str) -> Any:
        return getattr(self, {"C": "c_contiguous", "F": "f_contiguous"}.get(name, name.lower()))


class TracedArray:
    """An array as NumPy has them.

    Args:
        value: the array of JAX's; None for views.
        base: the array of which it is a view.
        get: computes the values of a view from those of the base.
        put: computes the values of the base from its own and new ones of the view; None if it cannot be written to.
    """

    __slots__ = ("__weakref__", "_get", "_put", "_seen", "_value", "_writes", "base")
    __array_priority__ = 500.0
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: Any, base: TracedArray | None = None, get: Any = None, put: Any = None) -> None:
        self._value, self.base, self._get, self._put, self._writes, self._seen = value, base, get, put, 0, -1

    # -- reading and writing --

    @property
    def root(self) -> TracedArray:
        """The array that is no view."""
        found = self
        while found.base is not None:
            found = found.base
        return found

    @property
    def value(self) -> Any:
        """The array of JAX's."""
        if self.base is None:
            return self._value
        now = self.root._writes
        if self._seen != now:
            self._value, self._seen = self._get(self.base.value), now
        return self._value

    def write(self, value: Any) -> None:
        """Replace all elements."""
        old = self.value
        value = fitted(plain(value), old.shape, old.dtype)
        if self.base is None:
            self._value = value
            self._writes += 1
        elif self._put is None:
            raise ValueError("assignment destination is read-only")
        else:
            self.base.write(self._put(self.base.value, value))

    def view_by(self, get: Callable[[Any], Any], put: Callable[[Any, Any], Any] | None) -> TracedArray:
        """Return a view."""
        return TracedArray(None, self, get, put)

    def view_of_places(self, places: Any) -> TracedArray:
        """Return the view of elements at these places in row-major order, in the shape of `places`."""
        return self.view_by(
            lambda p: p.reshape(-1)[places],
            lambda p, v: p.reshape(-1).at[places.reshape(-1)].set(v.reshape(-1)).reshape(p.shape),
        )

    # -- NumPy's protocols --

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        from .namespace import NAMESPACE

        found = getattr(NAMESPACE, ufunc.__name__)
        if out is not None:
            kwargs["out"] = out[0] if len(out) == 1 else out
        return (found if method == "__call__" else getattr(found, method))(*args, **kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from .namespace import NAMESPACE

        home: Any = NAMESPACE
        for part in (function.__module__ or "").split(".")[1:]:
            home = getattr(home, part) if part in ("linalg", "fft") else home
        return getattr(home, function.__name__)(*args, **kwargs)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(questions.known(self.value), dtype)

    # -- what NumPy's arrays have --

    shape = property(lambda self: tuple(self.value.shape))
    dtype = property(lambda self: np.dtype(self.value.dtype))
    ndim = property(lambda self: len(self.value.shape))
    size = property(lambda self: prod(self.value.shape))
    itemsize = property(lambda self: self.dtype.itemsize)
    nbytes = property(lambda self: self.size * self.itemsize)
    T = property(lambda self: self.transpose())
    mT = property(lambda self: self.swapaxes(-1, -2))  # noqa: N815 - NumPy's name
    flags = property(lambda self: _Flags(self.base is None))
    flat = property(lambda self: self.reshape(-1))

    @property
    def strides(self) -> tuple[int, ...]:
        """Those of a dense array in row-major order."""
        out, step = [], self.itemsize
        for n in reversed(self.shape):
            out.append(step)
            step *= max(n, 1)
        return tuple(reversed(out))

    @property
    def real(self) -> TracedArray:
        if self.dtype.kind != "c":
            return self
        return self.view_by(jnp.real, lambda p, v: jax.lax.complex(v, jnp.imag(p)))

    @real.setter
    def real(self, value: Any) -> None:
        self.real.write(value)

    @property
    def imag(self) -> TracedArray:
        if self.dtype.kind != "c":
            return TracedArray(jnp.zeros_like(self.value))
        return self.view_by(jnp.imag, lambda p, v: jax.lax.complex(jnp.real(p), v))

    @imag.setter
    def imag(self, value: Any) -> None:
        self.imag.write(value)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return int(self.shape[0])

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __bool__(self) -> bool:
        return bool(questions.answer(self.value, "bool"))

    def __int__(self) -> int:
        return int(questions.answer(self.value, "int"))

    __index__ = __int__

    def __float__(self) -> float:
        return float(questions.answer(self.value, "float"))

    def __complex__(self) -> complex:
        return complex(questions.answer(self.value, "complex"))

    def item(self, *args: Any) -> Any:
        found = self.reshape(-1)[args[0]] if len(args) == 1 else self[args] if args else self
        return questions.answer(plain(found), "item")

    def tolist(self) -> Any:
        return np.asarray(questions.known(self.value)).tolist()

    def __getitem__(self, key: Any) -> Any:
        key = static_key(plain(key))
        if _is_basic(key):
            return self.view_by(lambda p: p[key], lambda p, v: put(p, key, v))
        keys = key if type(key) is tuple else (key,)
        if any(map(_is_mask, keys)):
            key = tuple(i for k in keys for i in (questions.places_of(k) if _is_mask(k) else (k,)))
        questions.check_index(key, self.shape)
        return TracedArray(self.value[key])

    def __setitem__(self, key: Any, value: Any) -> None:
        self.write(put(self.value, plain(key), plain(value)))

    def reshape(self, *shape: Any, order: str = "C", copy: Any = None) -> TracedArray:
        if len(shape) == 1 and isinstance(shape[0], tuple | list):
            shape = tuple(shape[0])
        shape = tuple(map(operator.index, shape))
        if order == "F":
            return TracedArray(jnp.reshape(self.value, shape, order="F"))
        old = self.shape
        return self.view_by(lambda p: jnp.reshape(p, shape), lambda p, v: jnp.reshape(v, old))

    def ravel(self, order: str = "C") -> TracedArray:
        return self.reshape(-1)

    def flatten(self, order: str = "C") -> TracedArray:
        return self.copy().reshape(-1)

    def transpose(self, *axes: Any) -> TracedArray:
        if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], tuple | list)):
            axes = () if axes[0] is None else tuple(axes[0])
        order = tuple(range(self.ndim))[::-1] if not axes else tuple(operator.index(a) % self.ndim for a in axes)
        back = tuple(sorted(range(len(order)), key=order.__getitem__))
        return self.view_by(lambda p: jnp.transpose(p, order), lambda p, v: jnp.transpose(v, back))

    def swapaxes(self, a: int, b: int) -> TracedArray:
        order = list(range(self.ndim))
        order[a], order[b] = order[b], order[a]
        return self.transpose(tuple(order))

    def squeeze(self, axis: Any = None) -> TracedArray:
        return self.reshape(jax.eval_shape(lambda v: jnp.squeeze(v, axis), self.value).shape)

    def view(self, dtype: Any = None, type: Any = None) -> TracedArray:
        if dtype is None:
            return self.view_by(lambda p: p, lambda p, v: v)
        new, own = np.dtype(dtype), self.dtype
        return self.view_by(lambda p: bits(p, new), lambda p, v: bits(v, own))

    def astype(
        self, dtype: Any, order: Any = "K", casting: Any = "unsafe", subok: bool = True, copy: Any = True
    ) -> TracedArray:
        if not copy and np.dtype(dtype) == self.dtype:
            return self
        return TracedArray(converted(self.value, dtype))

    def copy(self, order: Any = "C") -> TracedArray:
        return TracedArray(self.value)

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> TracedArray:
        return self.copy()

    def fill(self, value: Any) -> None:
        self.write(value)

    def sort(self, axis: int = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> None:
        self.write(jnp.sort(self.value, axis=axis))

    def __repr__(self) -> str:
        return f"TracedArray({self.value!r})"


def plain(value: Any) -> Any:
    """Return nested arguments with the arrays of JAX's in them."""
    if isinstance(value, TracedArray):
        return value.value
    if type(value) in (tuple, list):
        return type(value)([plain(v) for v in value])
    if type(value) is dict:
        return {k: plain(v) for k, v in value.items()}
    if type(value) is slice:
        return slice(*[n if n is None else operator.index(n) for n in (value.start, value.stop, value.step)])
    return value


def boxed(value: Any) -> Any:
    """Return nested results with a `TracedArray` for each array of JAX's."""
    if isinstance(value, jax.Array):
        return TracedArray(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(boxed, value))
    return type(value)(map(boxed, value)) if type(value) in (tuple, list) else value


def _is_basic(key: Any) -> bool:
    if type(key) is tuple:
        return all(map(_is_basic, key))
    return key is None or key is Ellipsis or type(key) is slice or (isinstance(key, int) and not isinstance(key, bool))


def _is_mask(key: Any) -> bool:
    return isinstance(key, jax.core.Tracer) and key.dtype == bool and key.ndim > 0


def _binary(name: str, function: Any, ufunc: Any) -> None:
    def forward(self: TracedArray, other: Any) -> Any:
        other = plain(other)
        if not isinstance(other, np.ndarray | np.generic | jax.Array | bool | int | float | complex):
            return NotImplemented
        return TracedArray(resolved(ufunc, function, self.value, other))

    def backward(self: TracedArray, other: Any) -> Any:
        return TracedArray(resolved(ufunc, function, plain(other), self.value))

    def inside(self: TracedArray, other: Any) -> TracedArray:
        self.write(resolved(ufunc, function, self.value, plain(other)))
        return self

    setattr(TracedArray, f"__{name}__", forward)
    if name not in ("lt", "le", "gt", "ge", "eq", "ne"):
        setattr(TracedArray, f"__r{name}__", backward)
        setattr(TracedArray, f"__i{name}__", inside)


def _unary(name: str, function: Any) -> None:
    setattr(TracedArray, f"__{name}__", lambda self: TracedArray(function(self.value)))


_UFUNCS = dict(
    add="add", sub="subtract", mul="multiply", truediv="divide", floordiv="floor_divide", mod="remainder",
    pow="power", matmul="matmul", lshift="left_shift", rshift="right_shift", lt="less", le="less_equal",
    gt="greater", ge="greater_equal", eq="equal", ne="not_equal", **{"and": "bitwise_and"}, xor="bitwise_xor",
    **{"or": "bitwise_or"},
)  # fmt: skip
for _name, _ufunc in _UFUNCS.items():
    _binary(_name, getattr(jnp, _ufunc), getattr(np, _ufunc))
for _name, _ufunc in {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}.items():
    _unary(_name, getattr(jnp, _ufunc))


def _method(name: str) -> None:
    def call(self: TracedArray, *args: Any, **kwargs: Any) -> Any:
        from .namespace import NAMESPACE

        return getattr(NAMESPACE, name)(self, *args, **kwargs)

    setattr(TracedArray, name, call)


for _name in (
    "sum mean prod max min any all argmax argmin cumsum cumprod std var clip conj conjugate dot take repeat nonzero "
    "argsort searchsorted round trace diagonal argpartition"
).split():
    _method(_name)
