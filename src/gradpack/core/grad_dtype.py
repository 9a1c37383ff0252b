"""`Tensor.grad_dtype`: the dtype of the `.grad` of a leaf."""

from __future__ import annotations

from ..base.dtypes import dtype as Dtype
from ..graph.node import AccumulateGrad
from .hooks import extras_of
from .properties import TensorBase
from .tensor import Tensor


def _get(self: Tensor) -> Dtype | None:
    """The dtype of this leaf's `.grad`: gradients are cast to it. By default the leaf's own; None allows any.

    Raises:
        RuntimeError: for a tensor that is not a leaf, or when `.grad` has another dtype already.
    """
    if not self.is_leaf:
        raise RuntimeError("grad_dtype can only be accessed on leaf tensors.")
    found: Dtype | None = self.__dict__.get("_grad_dtype", self._spec.dtype)
    return found


def _set(self: Tensor, wanted: Dtype | None) -> None:
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


TensorBase.grad_dtype = property(_get, _set)  # type: ignore[attr-defined]
