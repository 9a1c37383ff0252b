"""How values are put into arrays of JAX, and how their bits are read as another dtype."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .promotion import converted
from .questions import check_index


def fitted(value: Any, shape: Any, native: Any) -> Any:
    """Return a value broadcast to a shape, in a dtype."""
    value = value if isinstance(value, jax.Array) else np.asarray(value)
    if not isinstance(value, jax.Array) and value.dtype.kind == "c" and np.dtype(native).kind != "c":
        value = value.real
    value = converted(value, native) if isinstance(value, jax.Array) else jnp.asarray(value.astype(native))
    while value.ndim > len(shape) and value.shape[0] == 1:
        value = value[0]
    return value if tuple(value.shape) == tuple(shape) else jnp.broadcast_to(value, shape)


def static_key(key: Any) -> Any:
    """Return an index with lists as arrays."""
    if type(key) is tuple:
        return tuple(static_key(k) for k in key)
    return np.asarray(key) if type(key) is list and not any(isinstance(k, jax.Array) for k in key) else key


def put(whole: Any, key: Any, value: Any) -> Any:
    """Return `whole` after `whole[key] = value`."""
    key = static_key(key)
    if not isinstance(value, jax.Array):
        value = np.asarray(value)
    if np.dtype(value.dtype).kind == "c" and np.dtype(whole.dtype).kind != "c":
        value = value.real
    value = value.astype(whole.dtype)
    mask = key[0] if type(key) is tuple and len(key) == 1 else key
    if isinstance(mask, jax.core.Tracer) and mask.dtype == bool:
        return _put_where(whole, mask, value)
    if type(key) is not tuple or not any(isinstance(k, jax.core.Tracer) for k in key):
        shape = jax.eval_shape(lambda w: w[key], whole).shape
        while value.ndim > len(shape) and value.shape[0] == 1:
            value = value[0]
    _compare(key, whole)
    return whole.at[key].set(value)


def _compare(key: Any, whole: Any) -> None:
    if not any(isinstance(k, jax.core.Tracer) and k.dtype == bool for k in (key if type(key) is tuple else (key,))):
        check_index(key, whole.shape)


def _put_where(whole: Any, mask: Any, value: Any) -> Any:
    """Return `whole` after `whole[mask] = value`, where as many values are given as the mask has places."""
    wide = mask.reshape(mask.shape + (1,) * (whole.ndim - mask.ndim))
    if value.ndim > whole.ndim - mask.ndim and value.shape[0] != 1:
        places = jnp.cumsum(mask.reshape(-1)) - 1
        value = jnp.take(value, jnp.clip(places, 0, value.shape[0] - 1), 0).reshape(*mask.shape, *value.shape[1:])
    return jnp.where(wide, value, whole)


def scattered(name: str, whole: Any, key: Any, value: Any) -> Any:
    """Return `whole` after `ufunc.at(whole, key, value)`.

    Raises:
        NotImplementedError: for a ufunc that JAX has no such function for.
    """
    _compare(key, whole)
    at = whole.at[static_key(key)]
    if name == "subtract":
        return at.add(-jnp.asarray(value).astype(whole.dtype))
    how = {"add": "add", "multiply": "multiply", "maximum": "max", "minimum": "min"}.get(name)
    if how is None:
        raise NotImplementedError(f"JAX has no {name}.at")
    return getattr(at, how)(jnp.asarray(value).astype(whole.dtype))


def bits(value: Any, native: Any) -> Any:
    """Return the bits of an array as another dtype."""
    native, old = np.dtype(native), np.dtype(value.dtype)
    if old == native:
        return value
    if old.kind == "c":
        value = jnp.stack([jnp.real(value), jnp.imag(value)], -1)
        value = value.reshape(*value.shape[:-2], -1) if value.ndim > 1 else value
        return bits(value, native)
    if native.kind == "c":
        pair = bits(value, np.float32 if native.itemsize == 8 else np.float64)
        pair = pair.reshape(*pair.shape[:-1], -1, 2)
        return jax.lax.complex(pair[..., 0], pair[..., 1])
    if native.kind == "b":
        return value.astype(bool)
    if old.kind == "b":
        value = value.astype(np.uint8)
    return value.view(native)
