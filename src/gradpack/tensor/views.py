"""Views: tensors that share the storage of another, and what a write to it means for them.

A view remembers the tensor it was taken from and how. When the storage was written to, the
view's history is made again from the base, at the moment somebody asks for it.
"""

from __future__ import annotations

from ..base.modes import MODE, Mode
from .tensor import InferenceCounter, Tensor, View, _new

_PLAIN = Mode()

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


def refresh(tensor: Tensor) -> None:
    """Make the edge of a view again if its storage was written to since it was made."""
    view = tensor._view
    if view is None or type(tensor._counter) is InferenceCounter or tensor._counter[0] == view.version:
        return
    view.version = tensor._counter[0]
    base = base_of(tensor)
    if base._edge is None:
        return
    token = MODE.set(_PLAIN)
    try:
        again = base
        for step in chain_of(tensor):
            again = step.again(again)
    finally:
        MODE.reset(token)
    if tensor._edge is not None:
        from .hooks import move_retained

        move_retained(tensor._edge, again._edge, tensor)
    tensor._edge = again._edge


def mark_view(out: Tensor, parent: Tensor, replay: object, args: tuple[object, ...], meta: str | None) -> None:
    """Note that `out` is `replay(parent, *args)` and shares its storage."""
    view = _new(View)
    view.parent = parent
    view.replay = replay
    view.args = args
    view.meta = meta
    view.version = 0 if type(parent._counter) is InferenceCounter else parent._counter[0]
    out._counter = parent._counter
    out._view = view
