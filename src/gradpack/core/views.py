"""Views: tensors that share the storage of another, and what a write to it means for them.

A view records the tensor it was taken from and how. After a write to the storage, its grad_fn is remade
from the base when it is next read.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ..base.modes import MODE
from ..graph.node import AccumulateGrad, Node, NoGradEdge
from .tensor import InferenceCounter, Tensor, View

NO_GRAD = "no_grad"
MULTIPLE = "multiple"
INFERENCE = "inference"
FUNCTION = "function"


def base_of(tensor: Tensor) -> Tensor:
    """The tensor at the root of a chain of views; the tensor itself if it is no view."""
    while tensor._view is not None:
        tensor = tensor._view.parent
    return tensor


def chain_of(tensor: Tensor) -> list[View]:
    """The views from the base down to this tensor."""
    chain = []
    while tensor._view is not None:
        chain.append(tensor._view)
        tensor = tensor._view.parent
    chain.reverse()
    return chain


def meta_of(tensor: Tensor) -> str | None:
    """Why modifying a view in place under grad mode is forbidden: its own reason, or that of its parents; else None."""
    view = tensor._view
    while view is not None:
        if view.meta is not None:
            return view.meta
        view = view.parent._view
    return None


def is_view(tensor: Tensor) -> bool:
    """Whether autograd tracks the tensor as a view. It does not track views of inference tensors."""
    return tensor._view is not None and type(tensor._counter) is not InferenceCounter


def refresh(tensor: Tensor) -> bool:
    """Remake the edge of a view if its storage was written to, before a recorded operation reads the edge.

    Returns:
        Whether it leads nowhere: the operation is recorded, but saves nothing for this input.
    """
    view = tensor._view
    if view is not None and (tensor._edge is None or type(tensor._edge) is NoGradEdge):
        if type(tensor._counter) is not list:  # views of inference tensors are leaves
            return False
        parent = view.parent
        while parent._view is not None:
            parent = parent._view.parent
        if parent._edge is None:
            tensor._edge = None
            return False
        if MODE.get().grad:
            renew(tensor)
            if tensor._edge is None:
                tensor._edge = NoGradEdge()
        return type(tensor._edge) is NoGradEdge
    if view is not None and type(tensor._counter) is list and tensor._counter[0] != view.version and MODE.get().grad:
        renew(tensor)
    return False


def skip_refresh(tensor: Tensor) -> bool:
    """`refresh` for an operation without a derivative, which does not read the edge: always False."""
    return False


def renew(tensor: Tensor) -> None:
    """Remake the edge of a view if its storage was modified in place since.

    Raises:
        RuntimeError: if that cannot be: the view was taken under `no_grad`, or is one of several.
    """
    view = tensor._view
    if view is None or type(tensor._counter) is InferenceCounter or tensor._counter[0] == view.version:
        return
    base = base_of(tensor)
    edge = tensor._edge
    if base._edge is None and (edge is None or type(edge) in (AccumulateGrad, NoGradEdge)):
        return
    if type(edge) is AccumulateGrad:
        return
    meta = meta_of(tensor)
    if meta is not None:
        raise RuntimeError(refused(tensor, meta, "its base or another view of its base has been"))
    tensor._edge = remake(tensor, base)
    view.version = tensor._counter[0]
    if edge is not None:
        from .hooks import move_retained

        move_retained(edge, tensor._edge, tensor)


def _no_remake(tensor: Tensor, base: Tensor) -> Node:
    raise RuntimeError("views are made again by declare.copy_slices, which is not loaded")


remake: Callable[[Tensor, Tensor], Node] = _no_remake  # set by the layer that knows operations


def mark_view(out: Tensor, parent: Tensor, replay: object, args: tuple[object, ...], meta: str | None) -> None:
    """Mark `out` as a view of `parent`, made by `replay(parent, *args)`."""
    out._counter, out._view = parent._counter, View(parent, replay, args, meta)


def refused(tensor: Tensor, meta: str, what: str) -> str:
    """The error message for writing to a view in place (`what`: "is being"), or for remaking its edge."""
    edge = tensor._edge
    made_by = (
        None
        if edge is None or type(edge) in (AccumulateGrad, NoGradEdge)
        else re.sub(r"Backward[0-9]*$", "", edge.name())
    )
    output = f"Output {tensor.output_nr} of {made_by} is a view"
    if meta in (INFERENCE, NO_GRAD) or made_by is None:
        start = "A view was created in" if made_by is None else f"{output} of a view which was created in"
        if meta == INFERENCE:
            message = f"{start} inference mode and {what} modified inplace in normal mode."
        else:
            message = f"{start} no_grad mode and {what} modified inplace with grad mode enabled."
    else:
        message = f"{output} and {what} modified inplace."
    return f"{message} {_WHY[meta]}"


_AMBIGUOUS = (
    "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both "
    "the view and the inplace either both inside the {0} block (if you don't want the inplace to be tracked) or both "
    "outside (if you want the inplace to be tracked)."
)
_WHY = {
    NO_GRAD: _AMBIGUOUS.format("no_grad"),
    INFERENCE: _AMBIGUOUS.format("inference_mode"),
    MULTIPLE: "This view is the output of a function that returns multiple views. Such functions do not allow the "
    "output views to be modified inplace. You should replace the inplace operation by an out-of-place one.",
    FUNCTION: "This view was created inside a custom Function (or because an input was returned as-is) and the "
    "autograd logic to handle view+inplace would override the custom backward associated with the custom Function, "
    "leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning the output of the custom "
    "Function.",
}
