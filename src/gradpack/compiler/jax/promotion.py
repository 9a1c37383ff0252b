"""NumPy's rules for dtypes of results, on arrays of JAX, whose own differ: an int32 and a float32 make a float64."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

_WEAK = (int, float, complex)


def converted(value: Any, native: Any) -> Any:
    """Return an array in another dtype, as NumPy converts."""
    native = np.dtype(native)
    kind = np.dtype(value.dtype).kind
    if kind == "c" and native.kind != "c":
        value = value != 0 if native.kind == "b" else jnp.real(value)
    return value if value.dtype == native else jnp.asarray(value).astype(native)


def resolved(ufunc: Any, function: Callable[..., Any], *values: Any) -> Any:
    """Return `function(*values)` in the dtypes that NumPy's ufunc would compute in."""
    kinds = tuple(type(v) if type(v) in _WEAK else _dtype_of(v) for v in values)
    found = _loop(ufunc, kinds)
    if found is None:
        return function(*values)
    given, made = found
    values = tuple(
        np.asarray(v, d) if type(v) in _WEAK or isinstance(v, bool) else converted(v, d) if v.dtype != d else v
        for v, d in zip(values, given, strict=True)
    )
    out = function(*values)
    if type(out) is tuple:
        return tuple(converted(o, d) for o, d in zip(out, made, strict=True))
    return converted(out, made[0]) if isinstance(out, jax.Array) else out


def _dtype_of(value: Any) -> Any:
    return np.dtype(value.dtype) if hasattr(value, "dtype") else np.asarray(value).dtype


@cache
def _loop(ufunc: Any, kinds: tuple[Any, ...]) -> Any:
    """Return the dtypes of operands and of results, or None where NumPy does not say."""
    try:
        found = ufunc.resolve_dtypes((*kinds, *[None] * ufunc.nout))
    except TypeError:
        return None
    if any(d.kind not in "biufcV" for d in found):
        return None
    return found[: len(kinds)], found[len(kinds) :]
