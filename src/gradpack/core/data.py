"""`Tensor.data`, a detached alias of the storage, which is replaced when it is assigned; and `Tensor.grad_dtype`."""

from __future__ import annotations

from typing import Any

from ..base.dtypes import FLOATING
from ..base.dtypes import dtype as Dtype
from ..base.errors import is_foreign, mixed
from ..base.modes import MODE, TRANSFORMS
from ..graph.node import AccumulateGrad
from .hooks import extras_of
from .properties import TensorBase
from .tensor import InferenceCounter, Tensor, _dispatch, alias


def _innermost() -> Any:
    """The innermost level of `vmap`, if it is inside all transforms that differentiate; else None."""
    levels, transforms = MODE.get().levels, TRANSFORMS.get()
    if not levels or (transforms and transforms[-1].number > levels[-1].number):
        return None
    return levels[-1]


def _data_of(self: Tensor) -> Tensor:
    if not self._spec.numpy:
        found = self._spec.backend.detached(self)
        if found is not None:
            return found
    out: Tensor = alias(self._data, self._spec, self._shape)
    if type(self._counter) is InferenceCounter:
        out._counter = self._counter
    return out


_data_of.__name__ = "__get__"  # torch's name for an attribute getter


def _get(self: Tensor) -> Tensor:
    """A detached tensor on the same storage, with a version counter of its own."""
    if type(self) is not Tensor:
        found = _dispatch(_data_of, self)
        if found is not NotImplemented:
            return found
    innermost = _innermost()
    if innermost is not None and innermost.has(self):
        raise RuntimeError("accessing `data` under vmap transform is not allowed")
    return _data_of(self)


def _set(self: Tensor, value: Tensor) -> None:
    if TRANSFORMS.get() or MODE.get().levels:
        where = "inside functorch" if _innermost() is None else "under vmap"
        raise RuntimeError(f"mutating directly with `.data` {where} transform is not allowed.")
    if not isinstance(value, Tensor):
        raise (mixed("data") if is_foreign(value) else None) or TypeError(
            f"Variable data has to be a tensor, but got {type(value).__name__}"
        )
    if self._spec.layout is not value._spec.layout:
        raise RuntimeError(
            "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have incompatible tensor "
            f"type: the one is of layout {self.layout}, the other of {value.layout}."
        )
    if self._edge is not None and value._spec.dtype.category < FLOATING:
        raise RuntimeError(
            f"data set to a tensor that requires gradients must be floating point or complex dtype, not {value.dtype}"
        )
    self._data, self._shape, self._spec = value._data, value._shape, value._spec
    if type(self._edge) is AccumulateGrad:
        self._leaf_state.follow(self)


def _delete(self: Tensor) -> None:
    raise RuntimeError("Deleting tensor data is not allowed. Delete tensor instead!")


def _get_grad_dtype(self: Tensor) -> Dtype | None:
    """The dtype of this leaf's `.grad`: gradients are cast to it. By default the leaf's own; None allows any.

    Raises:
        RuntimeError: for a tensor that is not a leaf, or when `.grad` has another dtype already.
    """
    if not self.is_leaf:
        raise RuntimeError("grad_dtype can only be accessed on leaf tensors.")
    found: Dtype | None = self.__dict__.get("_grad_dtype", self._spec.dtype)
    return found


def _set_grad_dtype(self: Tensor, wanted: Dtype | None) -> None:
    if wanted is not None and not isinstance(wanted, Dtype):
        raise RuntimeError(f"grad_dtype must be a torch.dtype or None, but got {type(wanted).__name__}")
    if not self.is_leaf:
        raise RuntimeError("grad_dtype can only be set on leaf tensors.")
    held = self._edge.grad if type(self._edge) is AccumulateGrad else self._own_grad
    if held is not None and wanted is not None and held.dtype is not wanted:
        raise RuntimeError(
            f"Cannot set grad_dtype to '{wanted}' because there is already a gradient with dtype '{held.dtype}'. "
            "Please clear the gradient (.grad = None) before changing grad_dtype, or ensure the new grad_dtype "
            "matches the existing gradient's dtype."
        )
    self.__dict__["_grad_dtype"] = wanted
    if type(self._edge) is AccumulateGrad:
        apply_grad_dtype(self, self._edge)


def apply_grad_dtype(self: Tensor, leaf: AccumulateGrad) -> None:
    """Pass the `grad_dtype` of a leaf on to its AccumulateGrad node."""
    extras_of(leaf)  # the engine looks at `dtype` of nodes with extras only
    leaf.dtype = self.__dict__.get("_grad_dtype", self._spec.dtype) or False


TensorBase.data = property(_get, _set, _delete)  # type: ignore[assignment]
TensorBase.grad_dtype = property(_get_grad_dtype, _set_grad_dtype)  # type: ignore[method-assign, assignment]
