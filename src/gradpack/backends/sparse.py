"""The backend of sparse tensors: NumPy's, with bodies of their own for the operations that they have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base.devices import CPU, device
from ..base.dtypes import dtype
from ..base.layouts import sparse_coo
from .base import Backend, Spec, register_backend
from .coo import CooArray, unsupported
from .numpy import NATIVE, NUMPY, WrappingBackend


class SparseBackend(WrappingBackend):
    """Works on sparse arrays, and on dense ones beside them."""

    name = "sparse"
    array_types = (CooArray,)
    xp = np
    aliasing = False
    layout = sparse_coo

    def __init__(self) -> None:
        super().__init__()
        self.kernels: dict[str, Callable[..., Any]] = {}  # by operation: its body, where an operand is sparse

    def spec(self, array: Any) -> Spec:
        return super().spec(array) if isinstance(array, CooArray) else NUMPY.spec(array)

    def spec_for(self, d: dtype, where: device) -> Spec:
        return super().spec_for(d, CPU)

    def asarray(self, value: Any, d: dtype, where: device) -> Any:
        return np.array(value, dtype=NATIVE[d])

    def ensure(self, array: Any) -> Any:
        return array if isinstance(array, CooArray) else np.asarray(array)

    def cast(self, array: Any, d: dtype) -> Any:
        if not isinstance(array, CooArray):
            return NUMPY.cast(array, d)
        return array if array.dtype == NATIVE[d] else array.with_values(NUMPY.cast(array.values, d))

    def copy(self, array: Any) -> Any:
        return array.copy() if isinstance(array, CooArray) else NUMPY.copy(array)

    def write(self, array: Any, value: Any) -> None:
        if not isinstance(array, CooArray):
            if isinstance(value, CooArray):
                raise RuntimeError("copy_() between dense and sparse Tensors is not implemented!")
            NUMPY.write(array, value)
            return
        if not isinstance(value, CooArray):
            raise RuntimeError("copy_() between dense and sparse Tensors is not implemented!")
        array.indices, array.coalesced = value.indices.copy(), value.coalesced
        array.values = value.values.astype(array.values.dtype, order="C")

    def to_numpy(self, array: Any) -> Any:
        if isinstance(array, CooArray):
            raise TypeError("can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first.")
        return array

    def body(self, op: Any) -> Callable[..., Any]:
        found = self._bound.get(op)
        if found is None:
            found = self._bound[op] = self._choosing(op)
        return found

    def _choosing(self, op: Any) -> Callable[..., Any]:
        """The body for these operands: NumPy's if all of them are dense."""
        own = self.kernels.get(op.name)
        dense: Callable[..., Any] = NUMPY.bind(op.forward)

        def run(*args: Any, **kwargs: Any) -> Any:
            for value in (*args, *kwargs.values()):
                if isinstance(value, CooArray) or (
                    isinstance(value, list | tuple) and any(isinstance(v, CooArray) for v in value)
                ):
                    if own is None:
                        raise unsupported(op.name.strip("_"))
                    args, kwargs = op.split(op.bind(args, kwargs))
                    return own(*args, **kwargs)
            return dense(*args, **kwargs)

        return run

    def bind(self, function: Callable[..., Any]) -> Callable[..., Any]:
        op = getattr(function, "op", None)
        return Backend.bind(self, function) if op is None else self.body(op)


SPARSE = SparseBackend()
register_backend(SPARSE)
