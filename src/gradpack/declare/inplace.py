"""In-place operations: the out-of-place one, its result written into the first argument.

What autograd makes of the write: the tensor's history becomes that of the result. If the tensor
is a view, the history of its base becomes a `CopySlices` node, and all views of the base get
theirs from it anew.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..base import dtypes
from ..base.modes import MODE, using
from ..graph.node import AccumulateGrad, Node, Slot, next_seq
from ..tensor.hooks import move_retained
from ..tensor.mutation import before_write
from ..tensor.tensor import InferenceCounter, Tensor, View, alias, wrap
from ..tensor.views import FUNCTION, MULTIPLE, NO_GRAD, base_of, chain_of, refresh
from .op import Op


def inplace(op: Op, name: str, values: list[Any]) -> Tensor:
    """Run `op` on `values` and write its result into the first of them."""
    if MODE.get().autocast is None:
        return _inplace(op, name, values)
    with using(autocast=None):  # which leaves in-place forms alone
        return _inplace(op, name, values)


def _inplace(op: Op, name: str, values: list[Any]) -> Tensor:
    target = values[0]
    mode = MODE.get()
    others_need = any(isinstance(v, Tensor) and v._current_edge() is not None for v in values[1:])
    check_writable(target, name, others_need)
    edge = target._current_edge()
    record = mode.grad and (edge is not None or others_need)
    source = alias(target._data, target._spec, target._shape)
    if record:
        source._edge = edge
        if any(n == op.inputs[0] for p in op.inputs for n in op.reads[p]):
            source._data = target._spec.backend.copy(target._data)
    elif mode.dual:
        source._data = target._spec.backend.copy(target._data)
    source._tangents = target._tangents
    if not record:
        token = MODE.set(mode.replace(grad=False)) if mode.grad else None
        try:
            result = op.public(*_split(op, [source, *values[1:]])[0], **_split(op, [source, *values[1:]])[1])
        finally:
            if token is not None:
                MODE.reset(token)
    else:
        args, kwargs = _split(op, [source, *values[1:]])
        result = op.public(*args, **kwargs)
    check_result(target, result, name)
    write(target, result._data)
    if record:
        _repoint_saved(result._edge, target)
        set_history(target, result._edge)
    if mode.dual or target._tangents is not None:
        target._tangents = result._tangents
    return target


def _split(op: Op, values: list[Any]) -> tuple[list[Any], dict[str, Any]]:
    positional = len(op.params) - op.keyword_only
    return values[:positional], dict(zip(op.params[positional:], values[positional:], strict=True))


def check_writable(target: Tensor, name: str, others_need: bool = False) -> None:
    """Raise what torch raises where a tensor may not be written to."""
    if not isinstance(target, Tensor):
        raise TypeError(f"{name}(): argument 'self' must be Tensor, not {type(target).__name__}")
    mode = MODE.get()
    inference = type(target._counter) is InferenceCounter
    if inference and not mode.inference:
        raise RuntimeError(
            "Inplace update to inference tensor outside InferenceMode is not allowed. You can make a clone to get a "
            "normal tensor before doing inplace update."
        )
    view = target._view
    if mode.grad:
        edge = target._current_edge()
        if type(edge) is AccumulateGrad:
            raise RuntimeError(
                f"a leaf Variable that requires grad is being used in an in-place operation ({name}): use it under "
                "no_grad(), or out of place."
            )
        if view is not None:
            base = base_of(target)
            if type(base._edge) is AccumulateGrad or (base._edge is None and edge is not None):
                raise RuntimeError(
                    "a view of a leaf Variable that requires grad is being used in an in-place operation "
                    f"({name}): use it under no_grad(), or out of place."
                )
            metas = {step.meta for step in chain_of(target)}
            if (edge is not None or others_need or base._edge is not None) and metas & {NO_GRAD, MULTIPLE, FUNCTION}:
                raise RuntimeError(_refused(target, view, metas))
    data = target._data
    strides, shape = getattr(data, "strides", None), target._shape
    if strides is not None and 0 not in shape and any(s == 0 and n > 1 for s, n in zip(strides, shape, strict=True)):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory "
            f"location. Please clone() the tensor before performing the operation ({name})."
        )


def _refused(target: Tensor, view: View, metas: set[str | None]) -> str:
    made_by = getattr(getattr(view.replay, "op", None), "node_name", "a function")
    if NO_GRAD in metas:
        return (
            f"A view was created in no_grad mode and is being modified inplace with grad mode enabled. "
            f"Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by "
            f"moving both the view and the inplace either both inside the no_grad block (if you don't want the "
            f"inplace to be tracked) or both outside (if you want the inplace to be tracked). (Made by {made_by}.)"
        )
    if MULTIPLE in metas:
        return (
            f"Output {target.output_nr} of {made_by if target.grad_fn is None else target.grad_fn.name()} is a view "
            "and is being modified inplace. This view is the output of a function that returns multiple views. Such "
            "functions do not allow the output views to be modified inplace. You should replace the inplace "
            "operation by an out-of-place one."
        )
    return (
        f"Output {target.output_nr} of {made_by if target.grad_fn is None else target.grad_fn.name()} is a view and "
        "is being modified inplace. This view was created inside a custom Function (or because an input was returned "
        "as-is) and the autograd logic to handle view+inplace would override the custom backward associated with the "
        "custom Function, leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning "
        "the output of the custom Function."
    )


def check_result(target: Tensor, result: Tensor, name: str) -> None:
    if not dtypes.can_cast(result._spec.dtype, target._spec.dtype):
        raise RuntimeError(
            f"result type {result._spec.dtype.name} can't be cast to the desired output type "
            f"{target._spec.dtype.name} in {name}(): use the out-of-place form"
        )
    if result._shape != target._shape:
        raise RuntimeError(
            f"output with shape {list(target._shape)} doesn't match the broadcast shape {list(result._shape)} in "
            f"{name}()"
        )


def write(target: Tensor, data: Any) -> None:
    """Put `data` into the storage of `target` and count the write."""
    backend = target._spec.backend
    if len(target._counter) > 1:
        before_write(target._counter)
    if backend.mutable:
        array = target._data
        if hasattr(array, "flags") and not array.flags.writeable and array.base is None:
            raise RuntimeError("the tensor's array is read-only: clone() the tensor before writing to it")
        backend.write(array, data)
    else:
        target._data = backend.cast(data, target._spec.dtype)
    if type(target._counter) is not InferenceCounter:
        target._counter[0] += 1


def _repoint_saved(edge: Node | None, target: Tensor) -> None:
    """A node that saved its result refers to the storage written to, not to a second copy of it."""
    node: Any = edge
    if node is None or isinstance(node, Slot) or not hasattr(type(node), "out"):
        return
    saved = getattr(node, "out", None)
    if (
        saved is not None
        and hasattr(saved, "shape")
        and target._spec.backend.mutable
        and type(saved) is type(target._data)
    ):
        node.out, node.out_c, node.out_v = target._data, target._counter, target._counter[0]


def set_history(target: Tensor, edge: Node | None) -> None:
    """Make `edge` the history of `target`, which has just been written to."""
    if edge is None:
        return
    old = target._edge
    if target._view is None:
        target._edge = edge
        move_retained(old, edge, target)
        return
    base = base_of(target)
    steps = chain_of(target)
    node = edge.parent if isinstance(edge, Slot) else edge
    previous = base._edge
    base._edge = CopySlices(previous, node, steps)
    move_retained(previous, base._edge, base)
    refresh(target)
    target._view.version = target._counter[0]
    move_retained(old, target._edge, target)


class CopySlices(Node):
    """The history of a base after a write through one of its views.

    The gradient of the base goes on to what the base was before, except for the part that was
    written: that goes through the node of the write.
    """

    __slots__ = ("node", "steps")

    def __init__(self, base_edge: Node | None, node: Node, steps: list[View]) -> None:
        self.edges = (base_edge, *node.edges[1:])
        self.seq = next_seq()
        self.extras = None
        self.node = node
        self.steps = [(step.replay, step.args) for step in steps]

    def name(self) -> str:
        return "torch::autograd::CopySlices"

    def _view(self, source: Any) -> Any:
        for replay, args in self.steps:
            source = replay(source, *args)
        return source

    def backward(self, g: Any, keep: bool) -> list[Any]:
        result = g.copy() if hasattr(g, "flags") else g
        if not hasattr(g, "flags"):
            return [x if x is None else x._data for x in self.backward_graph(wrap(g), keep)]
        part = self._view(result)
        gradients = list(self.node.backward(part.copy(), keep))
        if gradients:
            part[...] = 0 if gradients[0] is None else gradients[0]
        return [None if self.edges[0] is None else result, *gradients[1:]]

    def backward_graph(self, g: Any, keep: bool) -> list[Any]:
        part = self._view(g)
        gradients = list(self.node.backward_graph(part, keep))
        result = None
        if self.edges[0] is not None:
            change = -part if gradients[0] is None else gradients[0] - part
            result = g + _embed(self._view, g, change)
        return [result, *gradients[1:]]

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("_saved_", "_raw_saved_")):
            return getattr(self.node, name)
        raise AttributeError(f"'CopySlices' object has no attribute {name!r}")


def _embed(view: Callable[[Any], Any], like: Tensor, part: Tensor) -> Tensor:
    """The transpose of taking a view: zeros of the shape of `like` with `part` in place."""
    from ..autograd.api import grad
    from ..ops.fill import zeros_like

    zeros = zeros_like(like).requires_grad_()
    return grad(view(zeros), zeros, part, create_graph=True)[0]


__all__ = ["CopySlices", "check_result", "check_writable", "inplace", "set_history", "write"]
