"""`torch.sparse.FloatTensor` and others: constructors of sparse tensors of one dtype, classes for `isinstance`."""

from __future__ import annotations

from typing import Any

from ....base.layouts import sparse_coo
from ....core.tensor import Tensor
from ...legacy_types import TYPES


class _SparseType(type):
    """The metaclass of the typed constructors."""

    dense: Any

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and instance.layout is sparse_coo and instance.dtype is cls.dense.dtype

    def __call__(cls, *args: Any) -> Tensor:
        from .... import empty, int64, sparse_coo_tensor

        if len(args) > 1 and isinstance(args[1], Tensor):
            return sparse_coo_tensor(args[0], args[1], *args[2:], dtype=cls.dense.dtype)
        size = args if args and isinstance(args[0], int) else tuple(args[0]) if args else (0,)
        indices = empty((len(size), 0), dtype=int64)
        return sparse_coo_tensor(indices, empty((0,), dtype=cls.dense.dtype), size)


globals().update(
    {
        name: _SparseType(name, (), {"dense": kind, "__module__": "gradpack.sparse", "__doc__": f"Sparse `{name}`."})
        for name, kind in TYPES.items()
        if name not in ("BoolTensor", "BFloat16Tensor")
    }
)
__all__: list[str] = []
