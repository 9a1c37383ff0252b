"""Any library that follows the Python array API standard.

    from gradpack.backends import array_api
    array_api.register(array_api_strict)

Bodies of operations read as NumPy; `Namespace` gives the standard's functions under NumPy's names.
What the standard does not have is computed with NumPy on the host and brought back.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy  # noqa: ICN001 - `np` is what bodies call the namespace that this file makes

from ..base.devices import device
from ..base.dtypes import DTYPES, dtype
from .base import Backend, nested, register_backend

_REDUCTIONS = frozenset({"sum", "mean", "prod", "max", "min", "var", "std", "any", "all", "argmax", "argmin"})
_CONSTANTS = frozenset({"pi", "e", "inf", "nan", "newaxis"})


class Namespace:
    """The namespace of a standard library under NumPy's names and signatures."""

    def __init__(self, backend: ArrayAPIBackend) -> None:
        self._backend = backend
        self._library = backend.library

    def __getattr__(self, name: str) -> Any:
        if name in _CONSTANTS:
            return getattr(numpy, name)
        found = getattr(self._library, self._standard(name), None)
        made: Any
        if name in _REDUCTIONS and found is not None:
            made = found
        elif found is None:
            host = getattr(numpy, name)
            made = self._on_host(host) if callable(host) and not isinstance(host, type) else host
        else:
            made = self._with_scalars(found) if callable(found) and not isinstance(found, type) else found
        setattr(self, name, made)
        return made

    def _standard(self, name: str) -> str:
        """The standard's name of a function of NumPy's: `pow` for `power`, which NumPy has too."""
        own = getattr(numpy, name)
        return next((n for n in dir(self._library) if n != name and getattr(numpy, n, None) is own), name)

    def _with_scalars(self, function: Any) -> Any:
        """The standard's functions take arrays only where NumPy takes Python numbers beside them."""

        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                return function(*args, **kwargs)
            except (TypeError, AttributeError):
                like = next((a for a in args if self._backend.owns(a)), None)
                if like is None:
                    raise
                return function(
                    *[self._beside(like, a) if isinstance(a, bool | int | float | complex) else a for a in args],
                    **kwargs,
                )

        return call

    def _beside(self, like: Any, value: Any) -> Any:
        real = isinstance(value, float) and not self._library.isdtype(like.dtype, ("real floating", "complex floating"))
        kind = self._library.bool if isinstance(value, bool) else None if real else like.dtype
        return self._library.asarray(value, dtype=kind)

    def _on_host(self, function: Any) -> Any:
        """Wrap a function that the standard lacks, to compute on the host."""

        def call(*args: Any, **kwargs: Any) -> Any:
            return self._back(function(*self._host(args), **self._host(kwargs)))

        return call

    def _host(self, value: Any) -> Any:
        return self._backend.to_numpy(value) if self._backend.owns(value) else nested(self._host, value)

    def _back(self, value: Any) -> Any:
        is_host = isinstance(value, numpy.ndarray | numpy.generic)
        return self._library.asarray(value) if is_host else nested(self._back, value)

    def array(self, value: Any, dtype: Any = None, order: Any = None) -> Any:
        return self._library.asarray(value, dtype=dtype, copy=True)

    def asarray(self, value: Any, dtype: Any = None) -> Any:
        return self._library.asarray(value, dtype=dtype)

    def ascontiguousarray(self, value: Any) -> Any:
        return value

    def transpose(self, array: Any, axes: Any = None) -> Any:
        return self._library.permute_dims(array, tuple(range(array.ndim))[::-1] if axes is None else tuple(axes))

    def swapaxes(self, array: Any, a: int, b: int) -> Any:
        order = list(range(array.ndim))
        order[a], order[b] = order[b], order[a]
        return self._library.permute_dims(array, tuple(order))

    def expand_dims(self, array: Any, axis: int) -> Any:
        return self._library.expand_dims(array, axis=axis)

    def shape(self, array: Any) -> Any:
        return tuple(getattr(array, "shape", ()))


class ArrayAPIBackend(Backend):
    """The backend of one library that follows the standard."""

    def __init__(self, library: ModuleType | Any, *, mutable: bool = True, name: str | None = None) -> None:
        super().__init__()
        self.library = library
        self.name = name or library.__name__
        self.mutable = mutable
        self.aliasing = False  # the standard does not say which results are views
        self.array_types = (type(library.asarray(0.0)),)
        self.xp = Namespace(self)
        self._native = {d: getattr(library, d.name) for d in DTYPES.values() if hasattr(library, d.name)}
        if hasattr(library, "bool"):
            self._native[DTYPES["bool"]] = library.bool

    def owns(self, value: Any) -> bool:
        return isinstance(value, self.array_types)

    def dtype_of(self, native: Any) -> dtype:
        for d, own in self._native.items():
            if own == native:
                return d
        raise TypeError(f"{self.name} arrays of dtype {native} have no gradpack dtype")

    def native_of(self, d: dtype) -> Any:
        if d not in self._native:
            raise TypeError(f"{self.name} has no {d}: convert to a dtype that it has")
        return self._native[d]

    def asarray(self, value: Any, d: dtype, where: device) -> Any:
        return self.library.asarray(value, dtype=self.native_of(d), copy=True)

    def ensure(self, array: Any) -> Any:
        return array if self.owns(array) else self.library.asarray(array)

    def cast(self, array: Any, d: dtype) -> Any:
        native = self.native_of(d)
        return array if array.dtype == native else self.library.astype(array, native)

    def copy(self, array: Any) -> Any:
        return self.library.asarray(array, copy=True)

    def write(self, array: Any, value: Any) -> None:
        kept = value if self.owns(value) else self.library.asarray(value, dtype=array.dtype)
        array[...] = self.library.astype(kept, array.dtype)

    def to_numpy(self, array: Any) -> Any:
        return numpy.from_dlpack(array) if not hasattr(array, "__array__") else numpy.asarray(array)


def register(library: Any, *, mutable: bool = True, name: str | None = None) -> ArrayAPIBackend:
    """Make the tape work on the arrays of `library`, and return its backend.

    Args:
        library: a namespace that follows the standard.
        mutable: may its arrays be written to? In-place operations rebind a tensor's array if not.
    """
    backend = ArrayAPIBackend(library, mutable=mutable, name=name)
    register_backend(backend)
    return backend
