"""Copies of tensors: `copy.deepcopy`, and `pickle`, which warns that hooks are lost; and their exchange."""

from __future__ import annotations

import warnings
import weakref
from typing import Any

from ..backends import Spec
from ..backends.memory_layout import memory_of, moved, owner_of
from ..base.layouts import strided
from ..graph.node import AccumulateGrad
from .tensor import Tensor, alias, wrap

_OWN = ("_tangents", "_own_grad", "_aside", "_detached")  # attributes that are not copied


def _copy_storage(array: Any, spec: Spec, memo: dict[int, Any]) -> Any:
    """A copy for `deepcopy`: arrays that share memory share it in the copy too."""
    if not spec.numpy:
        if id(array) not in memo:
            memo[id(array)] = spec.backend.copy(array)
        return memo[id(array)]
    owner = owner_of(array)
    copied = memo.get(id(owner))
    if copied is None:
        copied = memo[id(owner)] = array.copy(order="K") if array.base is None else memory_of(array).copy()
        memo.setdefault(id(memo), []).append(owner)  # keeps the owner alive, as deepcopy does
    if array is owner and copied.shape == array.shape and copied.strides == array.strides:
        return copied
    return moved(array, memory_of(array), memory_of(copied))


def _deepcopy(self: Tensor, memo: dict[int, Any]) -> Tensor:
    from copy import deepcopy

    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the "
            "moment.  Copy a detach() of this one."
        )
    if id(self) in memo:
        return memo[id(self)]
    out = alias(_copy_storage(self._data, self._spec, memo), self._spec, self._shape, type(self))
    memo[id(self)] = out
    for name, value in self.__dict__.items():
        if name not in _OWN:
            out.__dict__[name] = deepcopy(value, memo)
    if self.requires_grad:
        out.requires_grad = True
    grad = self._edge.grad if type(self._edge) is AccumulateGrad else self._own_grad
    if grad is not None:
        out.grad = deepcopy(grad, memo)
    return out


def _reduce_ex(self: Tensor, protocol: Any) -> Any:
    if self._spec.layout is not strided:
        return rebuild, (type(self), self._data, self.requires_grad, {})

    if self._edge is not None and self._edge.extras is not None:
        warn_if_has_hooks(self)
    array = self._spec.backend.to_numpy(self._data)
    extra = {k: v for k, v in self.__dict__.items() if k not in _OWN}
    return rebuild, (type(self), array, self.requires_grad, extra)


def rebuild(cls: type, array: Any, requires_grad: bool, extra: dict[str, Any]) -> Tensor:
    """Rebuild a tensor from its pickled class, array, `requires_grad` and attributes."""
    made = wrap(array)
    out: Tensor = alias(made._data, made._spec, made._shape, cls)
    out.__dict__.update(extra)
    if requires_grad:
        out.requires_grad = True
    return out


def warn_if_has_hooks(tensor: Any) -> None:
    """Warn of each hook on a tensor that pickling the tensor would lose."""
    for hook in (tensor._backward_hooks or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can decorate the "
                "function with @torch.utils.hooks.unserializable_hook to suppress this warning",
                stacklevel=2,
            )


_SLOTS = ("_data", "_shape", "_spec", "_edge", "_counter", "_view", "_leaf_state", "__dict__", "__class__")


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Exchange everything that two tensor objects are: values, history, gradient, attributes and class.

    Example::

        >>> import gradpack as torch
        >>> a, b = torch.tensor([1]), torch.tensor([2])
        >>> torch.utils.swap_tensors(a, b)
        >>> a, b
        (tensor([2]), tensor([1]))
    """
    for tensor in (t1, t2):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"swap_tensors() takes two tensors, not {type(tensor).__name__}")
    for name in _SLOTS:
        first: Any = getattr(t1, name, None)
        setattr(t1, name, getattr(t2, name, None))
        setattr(t2, name, first)
    for tensor in (t1, t2):
        if type(tensor._edge) is AccumulateGrad:
            tensor._edge.tensor = weakref.ref(tensor)
            tensor._leaf_state.follow(tensor)


Tensor.__deepcopy__ = _deepcopy  # type: ignore[method-assign]
Tensor.__reduce_ex__ = _reduce_ex  # type: ignore[method-assign]
