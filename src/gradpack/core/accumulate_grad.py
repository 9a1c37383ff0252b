"""How a gradient becomes the `.grad` of a leaf: taken over without a copy, copied, or accumulated in place."""

from __future__ import annotations

import weakref
from _thread import allocate_lock
from contextvars import ContextVar
from sys import getrefcount
from typing import Any

from ..backends import spec_of
from ..backends.memory_layout import dense
from ..base.errors import shapes_do_not_broadcast
from ..base.layouts import sparse_coo
from ..graph import engine
from ..graph.node import AccumulateGrad
from ..kernels.sums import MANY, add_to
from .leaf_lifetime import LeafState
from .tensor import Tensor, alias, wrap

# Whether a gradient must have the strides of its leaf to be taken over without a copy.
ENFORCED: ContextVar[bool] = ContextVar("gradpack gradient layout", default=True)


def _store(leaf: AccumulateGrad, g: Any, create_graph: bool) -> None:
    """Set or add to `leaf.grad`.

    Without create_graph: an existing `.grad` is written in place and keeps its identity and
    layout. A new one takes the array over if nobody else holds it and its layout is that of the
    leaf; else it is a copy with the strides of a dense leaf, row-major otherwise.
    """
    held = leaf.grad
    if create_graph:
        tensor = leaf.tensor()
        while True:
            if held is None:
                made = _tensor_like(g, tensor)
            else:
                total = g + held if held.is_sparse and not g.is_sparse else held + g
                made = total if _obeys(total._data, tensor) else _tensor_like(total, tensor)
            with _ADDING:
                if leaf.grad is held:
                    leaf.grad = made
                    return
                held = leaf.grad  # another thread was first
    if held is None:
        tensor = leaf.tensor()
        if tensor is not None and tensor._edge is not leaf and not tensor.is_leaf:
            raise RuntimeError("leaf variable has been moved into the graph interior")
        alike = tensor is not None and type(g) is type(tensor._data)
        if alike and g.shape != tensor._shape:  # the leaf got data of another shape since
            raise shapes_do_not_broadcast("AccumulateGrad", tensor._shape, g.shape)
        if getrefcount(g) > _FREE or not _may_keep(g, tensor):
            g = _copy(g, tensor)
        if leaf.dtype is None and alike:
            made = alias(g, tensor._spec, tensor._shape)
        else:
            made = wrap(g)
        with _ADDING:
            if leaf.grad is None:
                leaf.grad = made
                return
            held = leaf.grad  # another thread was first
    with _ADDING:
        _add_in_place(leaf, held, g)


def _cast(leaf: AccumulateGrad, g: Any) -> Any:
    """Cast a gradient to the `grad_dtype` that was set on the leaf; False means no cast."""
    if leaf.dtype is False:
        return g
    if isinstance(g, Tensor):
        return g.to(leaf.dtype)
    return spec_of(g).backend.cast(g, leaf.dtype)


def _add_in_place(leaf: AccumulateGrad, held: Tensor, g: Any) -> None:
    spec = held._spec
    if spec.backend.mutable:
        if spec.numpy and not held._data.flags.writeable:
            held._data = _copy(held._data, leaf.tensor())
        try:
            if spec.plain:
                if held._data.size < MANY:
                    held._data += g
                else:
                    add_to(held._data, g)
            else:
                total = spec.backend.added(held._data, g)
                if type(total) is not type(held._data):  # sparse and dense: `.grad` is replaced by another tensor
                    leaf.grad = wrap(total)
                    return
                spec.backend.write(held._data, total)
        except ValueError:  # the leaf got data of another shape since
            raise shapes_do_not_broadcast("AccumulateGrad", held._shape, g.shape) from None
    else:
        held._data = held._data + g
    held._counter[0] += 1


# NumPy lets other threads run while it adds large arrays: two backward passes must not add at once.
_ADDING = allocate_lock()


def _may_keep(g: Any, tensor: Tensor | None) -> bool:
    """Whether the gradient's array can be `.grad` as it is."""
    base: Any = getattr(g, "base", False)
    if base is None and tensor is not None and tensor._data.strides == g.strides:
        try:
            return bool(g.flags.writeable)
        except AttributeError:  # CuPy's flags have no `writeable`: all of its memory is
            return True
    if base is False:  # not NumPy: immutable arrays may be shared
        indices = getattr(g, "indices", None)  # of a sparse array, whose parts may be views
        return indices is None or bool(indices.flags.c_contiguous and g.values.flags.c_contiguous)
    if base is not None and not (
        getrefcount(base) == 2 + 1 and getattr(base, "base", 0) is None and base.size == g.size
    ):
        return False
    if not hasattr(g, "flags") or not getattr(g.flags, "writeable", True):
        return False
    if tensor is None or tensor._data.strides == g.strides:
        return True
    return bool(g.flags.c_contiguous and not dense(tensor._data)) or (not ENFORCED.get() and dense(g))


def _obeys(array: Any, tensor: Tensor | None) -> bool:
    """Whether an array has the layout of `.grad`: the strides of a dense leaf, row-major for any other."""
    if tensor is None or not hasattr(array, "strides") or tensor._data.strides == array.strides:
        return True
    return bool(array.flags.c_contiguous) and not dense(tensor._data)


def _copy(g: Any, tensor: Tensor | None) -> Any:
    """Copy a gradient, with the strides of a dense leaf, else row-major."""
    if getattr(g, "strides", None) is None:
        return g.copy() if spec_of(g).layout is sparse_coo else g
    if tensor is not None and tensor._shape == tuple(g.shape) and not tensor._data.flags.c_contiguous:
        if hasattr(tensor._data, "strides") and dense(tensor._data):
            order = sorted(range(g.ndim), key=lambda i: -tensor._data.strides[i])
            back = sorted(range(g.ndim), key=order.__getitem__)
            return g.transpose(order).copy(order="C").transpose(back)
    return g.copy(order="C")


def _tensor_like(g: Tensor, tensor: Tensor | None) -> Tensor:
    """Copy a gradient made with create_graph, so that `.grad` shares no storage with the incoming gradient."""
    if tensor is None:
        return g
    if g.is_sparse:
        return g.clone()
    out: Tensor = alias(_copy(g._data, tensor), g._spec, g._shape)
    return out if g._edge is None else out.copy_(g)


def renew_leaf(tensor: Tensor) -> None:
    """Replace the AccumulateGrad node of a leaf; existing graphs keep leading to the old one."""
    old: Any = tensor._edge
    if type(old) is AccumulateGrad:
        new = AccumulateGrad(weakref.ref(tensor))
        new.grad, new.extras, new.dtype = old.grad, old.extras, old.dtype
        tensor._leaf_state = LeafState(tensor, new)
        tensor._edge = new


def _calibrate() -> int:
    """The reference count of a gradient in `_store` when only the engine holds it."""
    counted: list[int] = []
    AccumulateGrad.store = lambda leaf, g, create_graph: counted.append(getrefcount(g))
    engine.GraphTask([], False, False).serve(AccumulateGrad(lambda: None), [])
    return counted[0]


_FREE = _calibrate()
AccumulateGrad.store = _store
AccumulateGrad.cast = _cast
