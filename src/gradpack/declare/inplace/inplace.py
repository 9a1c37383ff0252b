"""In-place operations: the out-of-place one, its result written into the first argument.

What autograd makes of the write: the tensor's history becomes that of the result. If the tensor
is a view, the history of its base becomes a `CopySlices` node, and all views of the base get
theirs from it anew.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ...backends.memory_layout import writable
from ...base.errors import not_a_method_of, not_a_tensor
from ...base.modes import MODE, TRANSFORMS, using, without_dual, without_grad
from ...core.copy_on_write import before_write
from ...core.hooks import move_retained, retaining
from ...core.tensor import InferenceCounter, Tensor, _new, alias
from ...core.torch_function import PLAIN, handle, overriding, through_functions
from ...core.views import base_of, renew
from ...graph.node import AccumulateGrad, Node, NoGradEdge, OutputSlot, TransformInput, next_seq, variant_of
from ..batching.batch_tensor import all_examples, is_batched, outside
from ..batching.errors import not_writable
from ..dispatch.tangents import own_tangent, tangent_of, zeros_for
from ..op import REGISTRY, Op
from ..signature.arguments import options_of, refuse_options
from ..signature.missing import refuse_missing_of
from .copy_slices import CopySlices, where
from .write_checks import check_overlap, check_result, check_writable, tensors_in

_LEAVES = frozenset({AccumulateGrad, NoGradEdge, TransformInput})


def inplace(op: Op, name: str, values: list[Any]) -> Tensor:
    """Run `op` on `values` and write its result into the first of them."""
    refuse_missing_of(op, name, values)
    if not isinstance(values[0], Tensor) and not overriding(values, name):
        raise not_a_method_of(name, values[0])
    refuse_options(op, name, values)
    for i in _tensors_only(op):
        if isinstance(values[i], int | float | complex):
            raise not_a_tensor(name, op.params[i], i, values[i])
    if MODE.get().autocast is None:
        return _inplace(op, name, values)
    with using(autocast=None):  # autocast does not apply to in-place forms
        return _inplace(op, name, values)


def _method_of(op: Op, name: str) -> Any:
    """Return the method of Tensor that writes an operation's result in place, or a function of its name that does."""
    method = getattr(Tensor, name, None)
    if method is not None:
        return method

    def function(*args: Any, **kwargs: Any) -> Tensor:
        return inplace(op, name, [*args, *[kwargs.get(p, op.defaults.get(p)) for p in op.params[len(args) :]]])

    function.__name__ = function.__qualname__ = name
    return function


def _inplace(op: Op, name: str, values: list[Any]) -> Tensor:
    target = values[0]
    mode = MODE.get()
    if mode.functions:
        done: Tensor = through_functions(_method_of(op, name), name, values, *op.given(values))
        return done
    found = overriding(values, name)
    if found:
        return handle(_method_of(op, name), name, found, *op.given(values))
    if mode.levels:
        return _inplace_of_batch(op, name, values)
    others = tensors_in(values[1:])
    needs = [t for t in others if t._current_edge() is not None] if mode.grad else []
    check_writable(target, name, bool(needs))
    if op.overlap != "read_first":
        check_overlap(target, others)
    edge = target._current_edge() if mode.grad else None
    record = edge is not None or bool(needs)
    if mode.forward and TRANSFORMS.get() and any(tangent_of(t) is not None for t in others):
        from ..batching.captured import refuse_captured

        refuse_captured(target, name)
    source = alias(target._data, target._spec, target._shape)
    source._edge = edge
    if mode.forward or (record and _keeps_input(op, values, edge, needs)):
        source._data = target._spec.backend.copy(target._data)
    elif type(target._counter) is list:
        source._counter = target._counter  # recorders see the tensor as written to
    if mode.forward:
        source._tangents = _kept_tangent(target)
    given = [source if v is target else v for v in values]
    if record:
        result = op.call(given)
    else:
        try:
            MODE.set(without_grad(mode))
            result = op.call(given)
        finally:
            MODE.set(mode)
    check_result(target, result)
    made = result._edge if record else None
    if record and made is None and edge is not None and not op.name.startswith("logical_"):
        made = _flat(op, source)
    history = History(target, made)
    write(target, result._data)
    try:
        _after_write(target, history, result, mode.forward)
    except BaseException:  # an interrupt may have come before it was done
        _after_write(target, history, result, mode.forward)
        raise
    return target


def _after_write(target: Tensor, history: History, result: Tensor, tangents: bool) -> None:
    """Set history and tangent of a tensor after an in-place write. Safe to interrupt and call again."""
    history.set()
    if tangents:
        set_tangent(target, result._tangents)


def _inplace_of_batch(op: Op, name: str, values: list[Any]) -> Tensor:
    """Run an in-place operation under `vmap`: compute out of place, then copy into the tensor of all examples."""
    target, level = values[0], MODE.get().levels[-1]
    if not level.has(target):
        if not any(map(level.has, tensors_in(values))):
            with outside():
                return inplace(op, name, values)
        if not _turned(target, level, name):
            raise not_writable(name)
    check_writable(target._data.value, name, any(t._current_edge() is not None for t in tensors_in(values[1:])))
    if MODE.get().grad and any(_is_tracked(values[i]) for i in _readers(op)):
        source = target.clone()  # the node will save what is about to be overwritten
        values = [source if v is target else v for v in values]
    result = op.call(values)
    check_result(target, result)
    with outside():
        whole = target._data.value
        inplace(REGISTRY["_copied"], "copy_", [whole, all_examples(result, level)])
    if target._edge is not None or result._edge is not None:
        target._edge = whole._current_edge()
    return target


def _is_tracked(value: Any) -> bool:
    """Return whether a tensor, or the unbatched tensor behind it, has a grad_fn or requires grad."""
    while is_batched(value):
        value = value._data.value
    return isinstance(value, Tensor) and value._current_edge() is not None


def _turned(target: Tensor, level: Any, name: str) -> bool:
    from ..batching.batch_inplace import batch_inplace, may_batch

    if not may_batch(level):
        return False
    check_writable(target, name)
    return batch_inplace(target, level, name)


def _kept_tangent(target: Tensor) -> Tensor | None:
    """Return a copy of the tangent from before the in-place write."""
    tangent = tangent_of(target)
    if tangent is None:
        return None
    outer = MODE.get()
    try:
        MODE.set(without_dual(outer))
        return tangent.clone()
    finally:
        MODE.set(outer)


def recorded(op: Op, name: str, values: Any) -> Tensor:
    """Run a recorded in-place operation on a dense tensor of real numbers that has a grad_fn, if that is all."""
    target = values[0]
    if type(target) is not Tensor or not _is_recordable(op, target, values):
        return inplace(op, name, list(values))
    if options_of(op):
        refuse_options(op, name, values)
    data, counter = target._data, target._counter
    source: Tensor = _new(Tensor)
    source._data, source._spec, source._shape = data, target._spec, target._shape
    source._edge, source._counter, source._view = target._edge, [0], None
    for i in _readers(op):
        if i == 0 or (isinstance(values[i], Tensor) and values[i].requires_grad):
            source._data = data.copy(order="K")
            break
    given = (source, *values[1:])
    result = op.call(given) if op.keyword_only else op.public(*given)
    made = result._edge
    if made is None or result._shape != target._shape or result._spec is not target._spec:
        return inplace(op, name, list(values))
    history = History(target, made)
    data[...] = result._data
    counter[0] += 1
    try:
        history.set()
    except BaseException:  # an interrupt may have come before it was done
        history.set()
        raise
    return target


def _is_recordable(op: Op, target: Tensor, values: Any) -> bool:
    """Return whether the write is that of one tensor, or of a view of a base that is no view, with other operands."""
    view, counter = target._view, target._counter
    edge = target._edge if view is None else view.parent._edge
    if edge is None or type(edge) in _LEAVES or op.returns or op.lists or type(counter) is not list or len(counter) > 1:
        return False
    if view is not None:
        if view.parent._view is not None or view.meta is not None:
            return False
        if counter[0] != view.version:
            renew(target)
        if target._edge is None or type(target._edge) in _LEAVES:
            return False
    for other in values[1:]:
        if isinstance(other, Tensor) and (other is target or other._counter is counter):
            return False
    for i in _tensors_only(op):
        if not isinstance(values[i], Tensor):
            return False
    return bool(target._data.flags.writeable) and PLAIN.issuperset(map(type, values))


def _keeps_input(op: Op, values: list[Any], edge: Node | None, needs: list[Tensor]) -> bool:
    """Return whether the node will save the value that is about to be overwritten."""
    readers = _readers(op)
    if not readers:
        return False
    if edge is not None and readers[0] == 0:
        return True
    return bool(needs) and any(t._edge is not None for i in readers if i for t in tensors_in([values[i]]))


@cache
def _readers(op: Op) -> tuple[int, ...]:
    """The positions of the inputs whose formulas read the first parameter."""
    own = op.params[0]
    return tuple(op.params.index(p) for p in op.inputs if own in op.reads[p])


@cache
def _tensors_only(op: Op) -> tuple[int, ...]:
    """The positions of the other operands that may not be numbers."""
    found = [op.params.index(p) for p in op.promote if p not in op.scalars and p in op.params and p not in op.lists]
    return tuple(i for i in found if i)


def _flat(op: Op, source: Tensor) -> Node | None:
    """Return the grad_fn of a result without a derivative (of a comparison, say): its gradient is zeros."""
    node = REGISTRY["_zeroed"].public(source)._edge
    if node is not None:
        node.__class__ = variant_of(type(node), op.node_name)
    return node


def write(target: Tensor, data: Any) -> None:
    """Put `data` into the storage of `target` and count the write."""
    backend = target._spec.backend
    if len(target._counter) > 1:
        before_write(target._counter)
    counts = type(target._counter) is not InferenceCounter
    if backend.mutable:
        array = writable(target._data)
        try:
            backend.write(array, data)
        except Exception:
            raise
        except BaseException:  # an interrupt: it may have been written to; NumPy's arrays have not
            if counts and not target._spec.numpy:
                target._counter[0] += 1
            raise
    else:
        target._data = backend.cast(data, target._spec.dtype)
    if counts:
        target._counter[0] += 1


def _repoint_saved(edge: Node | None, target: Tensor) -> None:
    """Let a node that saved its result refer to the storage written to, not to a second copy of it."""
    node: Any = edge
    saved = getattr(node, "out", None)
    if (
        saved is not None
        and hasattr(saved, "shape")
        and target._spec.backend.mutable
        and type(saved) is type(target._data)
    ):
        node.out, node.out_c, node.out_v = target._data, target._counter, target._counter[0]


class History:
    """The new `grad_fn` of a tensor (and of its base, if it is a view) for an in-place write with the node `edge`."""

    __slots__ = ("base", "edge", "made", "own", "previous", "target")

    def __init__(self, target: Tensor, edge: Node | None) -> None:
        self.target, self.edge = target, edge
        self.base = target
        if edge is not None and (view := target._view) is not None:
            self.base = view.parent if view.parent._view is None else base_of(view.parent)
        self.own, self.previous = target._edge, self.base._edge
        self.made = edge
        if edge is not None and self.base is not target:
            self.made = CopySlices(
                self.base, edge.parent if isinstance(edge, OutputSlot) else edge, where(target, self.base)
            )

    def set(self) -> None:
        """Set the new grad_fn on the tensor and its base. Safe to interrupt and call again."""
        target, base, made = self.target, self.base, self.made
        if made is None:
            return
        if hasattr(type(self.edge), "out"):
            _repoint_saved(self.edge, target)
        base._edge = made
        view = target._view
        if view is not None and self.own is None:
            target._edge = made  # placeholder: `renew` makes the edge on demand
            view.version = -1
        if self.previous is not None and (isinstance(self.previous, OutputSlot) or self.previous.extras is not None):
            move_retained(self.previous, made, base)
        own = self.own
        if view is not None and own is not None and (isinstance(own, OutputSlot) or own.extras is not None):
            if retaining(target, own):
                move_retained(own, target._current_edge(), target)

    def lose(self) -> None:
        """Make backward raise, as the write was interrupted and its values are unknown."""
        if self.made is not None:
            lost = Lost(self.previous)
            base, target = self.base, self.target
            self.made = lost if base is target else CopySlices(base, lost, where(target, base))
            self.set()


class Lost(Node):
    """The grad_fn of a tensor whose in-place write was interrupted: its backward raises."""

    __slots__ = ()

    def __init__(self, edge: Node | None) -> None:
        self.edges, self.seq, self.extras = (edge,), next_seq(), None

    def backward(self, g: Any, keep: bool) -> list[Any]:
        raise RuntimeError("a tensor was being written to in place when the program was interrupted: make it again")

    backward_graph = backward


def set_history(target: Tensor, edge: Node | None) -> None:
    """Make `edge` the history of `target`, which has just been written to."""
    history = History(target, edge)
    try:
        history.set()
    except BaseException:  # an interrupt may have come before it was done
        history.set()
        raise


def set_tangent(target: Tensor, tangent: Tensor | None) -> None:
    """Set the new tangent of a tensor that was written to in place.

    The tangent of a view is a view of the base's, so it is written to, not exchanged.
    """
    old = tangent_of(target)
    outer = MODE.get()
    try:
        MODE.set(without_dual(outer))
        if old is None and target._view is not None and tangent is not None:
            base = base_of(target)
            base._tangents = zeros_for(base.detach())
            old = tangent_of(target)
        if old is None:
            target._tangents = None if tangent is None else own_tangent(tangent, target)
        elif tangent is None:
            old.zero_()
        elif tangent is not old:
            old.copy_(tangent)
    finally:
        MODE.set(outer)
