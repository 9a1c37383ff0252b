"""The functions of NumPy on traced arrays, under their names: what `np` means in bodies of operations.

Functions that differ from JAX's are in `numpy_functions`; calls without any traced array are NumPy's own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from math import prod
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .arrays import TracedArray, boxed, plain
from .host_arrays import constant, has_traced
from .promotion import converted, resolved
from .writing import scattered

_REDUCTIONS = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all",
               "logical_or": "any"}  # fmt: skip
_SCANS = {"add": "cumsum", "multiply": "cumprod"}
_PARTS = frozenset({"linalg", "fft", "lib", "stride_tricks", "special"})
_ARGUMENTS = ("order", "casting", "subok", "optimize", "where", "copy", "kind")  # that JAX's functions do not take


class _AnyArray(type):
    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, TracedArray | np.ndarray)


class AnyArray(metaclass=_AnyArray):
    """Stands for `np.ndarray` in bodies: traced arrays, and those of NumPy beside them."""


class Function:
    """A ufunc of NumPy's: `out=` and `where=` write into traced arrays."""

    def __init__(self, name: str, host: Any, own: Callable[..., Any]) -> None:
        self.__name__, self.host, self.own = name, host, own
        self.nin, self.nout = host.nin, host.nout

    def __call__(self, *args: Any, out: Any = None, where: Any = True, dtype: Any = None, **_: Any) -> Any:
        if len(args) > self.nin:
            args, out = args[: self.nin], args[self.nin :]
        if type(out) is tuple and len(out) == 1:
            out = out[0]
        values = [plain(a) for a in args]
        if out is None and where is True and not any(isinstance(v, jax.Array) for v in values):
            return constant(self.host(*args) if dtype is None else self.host(*args, dtype=dtype))
        if dtype is not None:
            values = [converted(v, dtype) if hasattr(v, "dtype") else np.asarray(v, dtype) for v in values]
        made = resolved(self.host, self.own, *values)
        if where is not True:
            made = jnp.where(plain(where), made, plain(out) if out is not None else 0)
        if out is None:
            return boxed(made)
        if type(out) is tuple:
            for target, each in zip(out, made, strict=True):
                target.write(each)
        else:
            out.write(made)
        return out

    def reduce(
        self, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False, **more: Any
    ) -> Any:
        if not isinstance(array, TracedArray):
            return self.host.reduce(array, axis, dtype, out, keepdims, **more)
        name = _REDUCTIONS.get(self.__name__)
        if name is None:
            made = self.own.reduce(array.value, axis=axis, keepdims=keepdims)  # type: ignore[attr-defined]
        else:
            more = {} if dtype is None else {"dtype": dtype}
            made = getattr(jnp, name)(array.value, axis=axis, keepdims=keepdims, **more)
        return _given(out, made)

    def accumulate(self, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        if not isinstance(array, TracedArray):
            return self.host.accumulate(array, axis, dtype, out)
        scan = _SCANS.get(self.__name__)
        if scan is not None:
            return _given(out, getattr(jnp, scan)(array.value, axis=axis, dtype=dtype))
        return _given(out, jax.lax.associative_scan(self.own, array.value, axis=axis))

    def reduceat(self, array: Any, indices: Any, axis: int = 0, dtype: Any = None) -> Any:
        if not isinstance(array, TracedArray) and not isinstance(indices, TracedArray):
            return self.host.reduceat(array, indices, axis, dtype)
        return boxed(self.own.reduceat(plain(array), plain(indices), axis=axis))  # type: ignore[attr-defined]

    def outer(self, a: Any, b: Any) -> Any:
        a, b = plain(a), plain(b)
        return self(a.reshape(*a.shape, *(1,) * b.ndim), b)

    def at(self, array: Any, indices: Any, values: Any = None) -> None:
        if not isinstance(array, TracedArray):
            self.host.at(array, indices, values)
        else:
            array.write(scattered(self.__name__, array.value, plain(indices), plain(values)))


def _given(out: Any, made: Any) -> Any:
    if out is None:
        return boxed(made)
    out.write(made)
    return out


class Namespace:
    """One module of NumPy's, with the functions of the same names in one of JAX's.

    Args:
        host: NumPy's module.
        library: JAX's.
        own: functions that stand in for those of these names.
    """

    def __init__(self, host: Any, library: Any, own: dict[str, Any]) -> None:
        self._host, self._library, self._own = host, library, own

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = self._made(name)
        setattr(self, name, made)
        return made

    def _made(self, name: str) -> Any:
        if name in self._own:
            return self._own[name]
        if name in _PARTS:
            return _part(self._host, self._library, name)
        host = getattr(self._host, name)
        if isinstance(host, type) or not callable(host):
            return host
        found = getattr(self._library, name, None)
        if isinstance(host, np.ufunc) and host.signature is None and found is not None:
            return Function(name, host, found)
        return partial(_call, name, host, found)


def _part(host: Any, library: Any, name: str) -> Namespace:
    from . import numpy_functions  # noqa: F401 - enters its functions
    from .numpy_table import BY_MODULE

    inner = import_module("scipy.special") if name == "special" else getattr(host, name)
    if name == "special":
        return Namespace(inner, import_module("jax.scipy.special"), BY_MODULE[name])
    return Namespace(inner, getattr(library, name, None), BY_MODULE.get(name, {}))


def _call(name: str, host: Any, found: Any, /, *args: Any, out: Any = None, **kwargs: Any) -> Any:
    if out is None and not has_traced(args) and not has_traced(kwargs):
        return constant(host(*args, **kwargs))
    if found is None:
        raise NotImplementedError(f"JAX has no {name}")
    if name not in ("pad", "nan_to_num", "sum", "mean", "prod", "any", "all", "max", "min", "array", "var", "std"):
        kwargs = {k: v for k, v in kwargs.items() if k not in _ARGUMENTS}
    return _given(out, found(*plain(list(args)), **plain(kwargs)))


def shape_of(a: Any) -> tuple[int, ...]:
    """Return `np.shape(a)`."""
    return tuple(a.shape) if hasattr(a, "shape") else np.shape(a)


def _result_type(*given: Any) -> Any:
    return np.result_type(*[x.dtype if isinstance(x, TracedArray) else x for x in given])


def _namespace() -> Namespace:
    from . import numpy_functions  # noqa: F401 - enters its functions
    from .numpy_table import BY_MODULE

    own: dict[str, Any] = {
        "ndarray": AnyArray,
        "result_type": _result_type,
        "ndim": lambda a: len(shape_of(a)),
        "shape": shape_of,
        "size": lambda a, axis=None: prod(shape_of(a)) if axis is None else shape_of(a)[axis],
    }
    return Namespace(np, jnp, {**BY_MODULE[""], **own})


NAMESPACE = _namespace()
