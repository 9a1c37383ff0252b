"""The backend of traced arrays: bodies and formulas of operations run on the functions of JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...backends.base import Backend, register_backend
from ...backends.numpy import NATIVE, NUMPY
from ...base.dtypes import dtype
from .arrays import TracedArray, plain
from .namespace import NAMESPACE
from .promotion import converted
from .questions import answer, known

OWN: dict[str, Callable[..., Any]] = {}  # functions of operations that XLA has as one: by module and name


def own(path: str) -> Callable[[Any], Any]:
    """Let a function stand in for one of `ops`, under its path in this package."""

    def enter(function: Any) -> Any:
        OWN[path] = function
        return function

    return enter


class JaxBackend(Backend):
    """The backend of arrays that JAX traces. They are on the CPU as far as tensors know."""

    name = "jax"
    array_types = (TracedArray,)

    def __init__(self) -> None:
        super().__init__()
        self.xp = NAMESPACE

    def dtype_of(self, native: Any) -> dtype:
        return NUMPY.dtype_of(native)

    def native_of(self, d: dtype) -> Any:
        return NATIVE[d]

    def asarray(self, value: Any, d: dtype, where: Any) -> Any:
        if isinstance(value, TracedArray):
            return self.cast(value.copy(), d)
        return TracedArray(jnp.asarray(np.asarray(value, NATIVE[d])))

    def ensure(self, array: Any) -> Any:
        return array if isinstance(array, TracedArray) else TracedArray(jnp.asarray(array))

    def cast(self, array: Any, d: dtype) -> Any:
        if isinstance(array, np.ndarray | np.generic):
            return NUMPY.cast(np.asarray(array), d)
        return array if array.dtype == NATIVE[d] else TracedArray(converted(array.value, NATIVE[d]))

    def copy(self, array: Any) -> Any:
        return array.copy()

    def write(self, array: Any, value: Any) -> None:
        array.write(value)

    def to_numpy(self, array: Any) -> Any:
        return np.asarray(known(plain(array)))

    def number(self, array: Any) -> Any:
        return answer(plain(array), "item")

    def truth(self, array: Any) -> bool:
        return bool(array)

    def address(self, array: Any) -> int:
        return id(array.root)

    def in_rows(self, array: Any) -> Any:
        return array

    def bind(self, function: Callable[..., Any]) -> Callable[..., Any]:
        path = f"{getattr(function, '__module__', '')}.{getattr(function, '__name__', '')}".partition(".")[2]
        found = OWN.get(path)
        return super().bind(function) if found is None else found


def shaped(array: Any) -> Any:
    """Return the abstract array of one."""
    return jax.ShapeDtypeStruct(array.shape, array.dtype)


JAX = JaxBackend()
register_backend(JAX)
