"""The device `meta`: tensors that have a shape, a dtype and no elements.

What an operation makes of them is found by running it on zeros: arrays with one zero for all elements, so that
arguments take no memory. The result is forgotten but for its shape and dtype.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, SimpleNamespace
from typing import Any, cast

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ..base.devices import KINDS, device
from ..base.dtypes import dtype
from .base import bring_backend, nested
from .numpy import NATIVE, NUMPY, WrappingBackend

NO_DATA = "Cannot copy out of meta tensor; no data!"
_META = device("meta")


class MetaArray(NDArrayOperatorsMixin):
    """Array without data: shape and dtype only. NumPy's functions and operators accept it."""

    __slots__ = ("__weakref__", "_zeros")
    __array_priority__ = 1000.0

    def __init__(self, zeros: Any) -> None:
        self._zeros = np.broadcast_to(np.zeros((), zeros.dtype), zeros.shape)

    base = None
    flags = SimpleNamespace(writeable=True, c_contiguous=True, f_contiguous=False, owndata=True)

    @property
    def strides(self) -> tuple[int, ...]:
        """Strides in bytes of a C-contiguous array."""
        steps, step = [], self.itemsize
        for n in reversed(self.shape):
            steps.append(step)
            step *= max(n, 1)
        return tuple(reversed(steps))

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(NO_DATA)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **kwargs: Any) -> Any:
        made = without_data(getattr(ufunc, method))(*inputs, **kwargs)
        return made if out is None else out[0]

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return without_data(function)(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"'MetaArray' object has no attribute {name!r}")
        method = getattr(np.ndarray, name)
        if not callable(method):
            return _closed(getattr(self._zeros, name))
        return lambda *args, **kwargs: without_data(method)(self, *args, **kwargs)

    def __getitem__(self, index: Any) -> Any:
        return without_data(np.ndarray.__getitem__)(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        """Do nothing: there are no elements."""

    def __len__(self) -> int:
        return len(self._zeros)

    def __bool__(self) -> bool:
        return False  # the conditions under which bodies raise errors

    def __int__(self) -> int:
        return 0

    def __float__(self) -> float:
        return 0.0

    def __repr__(self) -> str:
        return f"MetaArray(shape={self.shape}, dtype={self.dtype})"


def without_data(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function of NumPy arrays to accept and return meta arrays, among other arguments."""

    def run(*args: Any, **kwargs: Any) -> Any:
        return _closed(function(*_opened(args), **_opened(kwargs)))

    return run


def _opened(value: Any) -> Any:
    return value._zeros if type(value) is MetaArray else nested(_opened, value)


def _closed(value: Any) -> Any:
    return MetaArray(value) if isinstance(value, np.ndarray | np.generic) else nested(_closed, value)


def _broadcasting(body: Callable[..., Any]) -> Callable[..., Any]:
    """A body that works on each element for itself, without doing that."""

    def run(*args: Any, **kwargs: Any) -> Any:
        arrays = [a for a in (*args, *kwargs.values()) if type(a) is MetaArray]
        shape = np.broadcast_shapes(*[a.shape for a in arrays])
        found = body(*map(_one, args), **{key: _one(v) for key, v in kwargs.items()})
        return MetaArray(np.broadcast_to(found._zeros, shape)) if type(found) is MetaArray and shape else found

    return run


# Elements decide about the shapes of their results.
_BY_ELEMENTS = frozenset("masked_select nonzero _unique2 _unique_dim".split())


def _refused(name: str) -> Callable[..., Any]:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            f"aten::{name}: the shape of the result depends on elements, and meta tensors have none"
        )

    return refuse


def _has_mask(value: Any) -> bool:
    if type(value) in (list, tuple):
        return any(map(_has_mask, value))
    return type(value) is MetaArray and value.dtype == bool


def _indexing(body: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A body that takes masks for indices, which say how many elements there are."""

    def run(*args: Any, **kwargs: Any) -> Any:
        return (_refused(name) if _has_mask((*args[1:], *kwargs.values())) else body)(*args, **kwargs)

    return run


def _one(value: Any) -> Any:
    return MetaArray(np.zeros((1,) * value.ndim, value.dtype)) if type(value) is MetaArray else value


class MetaBackend(WrappingBackend):
    name = "meta"
    array_types = (MetaArray,)
    xp = np  # whose functions dispatch to these arrays
    aliasing = False
    makes = True

    def device_of(self, array: Any) -> device:
        return _META

    def asarray(self, value: Any, d: dtype, where: device) -> Any:
        shape = value.shape if hasattr(value, "shape") else np.shape(value)
        return MetaArray(np.broadcast_to(np.zeros((), NATIVE[d]), shape))

    def cast(self, array: Any, d: dtype) -> Any:
        return self.asarray(array, d, _META)

    def copy(self, array: Any) -> Any:
        return MetaArray(array._zeros)

    def write(self, array: Any, value: Any) -> None:
        """Do nothing: there are no elements."""

    def in_rows(self, array: Any) -> Any:
        return array

    def to_numpy(self, array: Any) -> Any:
        raise NotImplementedError(NO_DATA)

    def number(self, array: Any) -> Any:
        raise RuntimeError("Tensor.item() cannot be called on meta tensors")

    def text(self, tensor: Any) -> str:
        kind = "" if tensor.dtype.name == "float32" else f", dtype={tensor.dtype}"
        grad = ", requires_grad=True" if tensor.requires_grad and tensor.is_leaf else ""
        made = "" if tensor.is_leaf else f", grad_fn=<{tensor.grad_fn.name()}>"
        return f"tensor(..., device='meta', size={tuple(tensor.shape)}{kind}{grad}{made})"

    def body(self, op: Any) -> Callable[..., Any]:
        """Operations on elements are run on one of them; what is written does not matter."""
        if op.name == "_copied":
            return lambda input, other: input
        if op.name in _BY_ELEMENTS:
            return _refused(op.name)
        if op.name in ("index", "index_along", "index_pair"):
            return _indexing(super().body(op), "index")
        return _broadcasting(super().body(op)) if op.kind == "elementwise" else super().body(op)

    def making(self, where: device, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a factory function: the result is a meta array with the shape and dtype it would have."""
        code = cast("FunctionType", function).__code__
        names = code.co_varnames[: code.co_argcount]

        def made(*args: Any, **kwargs: Any) -> Any:
            given = dict(zip(names, args, strict=False)) | kwargs
            if "t" in given:
                return self.copy(given["t"]._data)
            shape = given["shape" if "shape" in given else "n"]
            return MetaArray(np.broadcast_to(np.zeros((), given["native"]), shape))

        return made

    def wrapped(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return without_data(NUMPY.bind(function))


def bring() -> Exception | None:
    """Make `meta` a kind of device that tensors can be on. There is nothing that could be missing: returns None."""
    if "meta" not in KINDS:
        bring_backend("meta", MetaBackend())
    return None
