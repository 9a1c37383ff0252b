"""The node of a call on the interpreted path, and its saved tensors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import compress
from typing import Any

from ...backends import Spec
from ...base.dtypes import FLOATING, dtype
from ...base.modes import Mode
from ...core.packed import holder_of, pack_array, pack_input, pack_result
from ...core.saved import Constant, notify_recorder
from ...core.tensor import Tensor, _new, wrap
from ...graph.node import Node, NoGradEdge, OutputSlot, next_seq
from ..op import Op


class SavedList:
    """A saved sequence of tensors, each saved as an input is."""

    __slots__ = ("items", "versions")

    def __init__(self, items: list[Any], versions: list[int]) -> None:
        self.items, self.versions = items, versions


def record(
    op: Op,
    values: list[Any],
    index: dict[str, int],
    outs: list[Tensor],
    extras: Sequence[Any],
    mode: Mode,
    compute: dtype | None,
    spec: Spec,
) -> Any:
    edges: list[Node | None] = []
    fit: list[Any] = []
    wanted: list[bool] = []
    followed = False
    for p in op.inputs:
        value = values[index[p]]
        some = False
        for v in value if p in op.lists else (value,):
            edge = v._edge if isinstance(v, Tensor) else None
            followed = followed or edge is not None
            if edge is not None and type(edge) is NoGradEdge:
                edge = None
            edges.append(edge)
            fit.append((v._shape, v._spec) if isinstance(v, Tensor) else None)
            if edge is not None:
                some = True
        wanted.append(some)
    if not followed:
        return None
    node = _new(op.interpreted_class or op.node_classes()[1])
    node.edges, node.seq, node.extras = tuple(edges), next_seq(), None
    node.fit = fit
    node.compute = compute
    node.low = outs[0]._spec.dtype.low and not (op.data_movement or op.view)
    node.backend = spec.backend
    differentiable = len(outs) if op.differentiable is None else op.differentiable
    node.outputs = differentiable
    # As in torch, the only input counts as wanted even where its edge leads nowhere (a view taken under `no_grad`).
    for name, what in kept(op, (True,) if len(wanted) == 1 else tuple(wanted)):
        _save(op, node, name, what, values, index, outs, extras, mode)
    if mode.anomaly is not None:
        mode.anomaly.note(node)
    if differentiable == 1:
        if outs[0]._spec.dtype.category >= FLOATING:
            outs[0]._edge = node
    else:
        node._like = [(out._shape, out._spec) for out in outs[:differentiable]]
        for nr, out in enumerate(outs[:differentiable]):
            if out._spec.dtype.category >= FLOATING:
                out._edge = OutputSlot(node, nr, differentiable)
    return node


@lru_cache(maxsize=4096)
def kept(op: Op, wanted: tuple[bool, ...]) -> tuple[tuple[str, str], ...]:
    """Return (name, kind) of each saved value that the formulas of the inputs that require grad read."""
    names = dict.fromkeys(n for p in compress(op.inputs, wanted) for n in op.reads[p])
    return tuple([(n, op.saves(n)) for n in names])


def keep_tangents(op: Op, node: Any, outs: list[Tensor]) -> None:
    """Save the tangents of saved results on the node, for forward mode over backward."""
    kept = {}
    for name in dict.fromkeys(n for p in op.inputs for n in op.reads[p]):
        if op.saves(name) == "result":
            out = outs[0 if name == "out" else op.results.index(name)]
            if out._tangents is not None:
                kept[name] = holder_of(out._tangents)
    if kept:
        node.tangents = kept


def _save(
    op: Op,
    node: Any,
    name: str,
    what: str,
    values: Any,
    index: dict[str, int],
    outs: list[Tensor],
    extras: Sequence[Any],
    mode: Mode,
) -> None:
    """Save what a formula names on the node: a fact of an argument, an argument, a result, or an extra value."""
    if what == "constant":
        setattr(node, name, values[index[name]])
    elif what == "meta":
        param, _, field = name.rpartition("_")
        value = values[index[param]]
        setattr(node, name, [_meta(v, field) for v in value] if param in op.lists else _meta(value, field))
    elif what == "input":
        value = values[index[name]]
        setattr(node, name, _saved_input(op, name, value, mode, node))
        if isinstance(value, Tensor):
            setattr(node, name + "_v", value._counter[0])
    elif what == "result":
        out = outs[0 if name == "out" else op.results.index(name)]
        setattr(node, name, _saved_result(op, name, out, mode, node))
        setattr(node, name + "_c", out._counter)
        setattr(node, name + "_v", out._counter[0])
    else:
        data, counter = node.backend.ensure(extras[op.residuals.index(name)]), [0]
        label, packs = (op.node_name, name), mode.hooks is not None or mode.mutation is not None
        kept = pack_array(mode, data, counter, label, node) if packs else data
        if mode.recorder is not None:
            _held(node, notify_recorder(mode, op.name, label, wrap(data), kept if packs else None, node))
        setattr(node, name, kept)
        setattr(node, name + "_c", counter)
        setattr(node, name + "_v", 0)


def _saved_input(op: Op, name: str, value: Any, mode: Mode, node: Any) -> Any:
    """Return what a node keeps of an argument."""
    if isinstance(value, Tensor):
        return _saved_tensor(op, name, value, mode, node)
    if isinstance(value, list | tuple) and any(isinstance(v, Tensor) for v in value):
        items = [_saved_tensor(op, name, v, mode, node) if isinstance(v, Tensor) else v for v in value]
        return SavedList(items, [v._counter[0] if isinstance(v, Tensor) else 0 for v in value])
    return value if value is None or isinstance(value, int | float | complex) else Constant(value)


def _saved_result(op: Op, name: str, out: Tensor, mode: Mode, node: Any) -> Any:
    """Return what a node keeps of one of its results: the array, or what hooks made of it."""
    label, packed = (op.node_name, name), None
    if mode.hooks is not None or mode.mutation is not None:
        nr = 0 if name == "out" else op.results.index(name)
        differentiable = node.outputs > nr and out._spec.dtype.category >= FLOATING
        edge = None if not differentiable else node if node.outputs == 1 else OutputSlot(node, nr, node.outputs)
        packed = pack_result(mode, out, edge, label, node)
    if mode.recorder is not None:
        _held(node, notify_recorder(mode, op.name, label, out, packed, node))
    return out._data if packed is None else packed


def _meta(value: Any, field: str) -> Any:
    if field == "shape":
        return value._shape if isinstance(value, Tensor) else tuple(getattr(value, "shape", ()))
    return value._spec.dtype if isinstance(value, Tensor) else None


def _saved_tensor(op: Op, name: str, value: Tensor, mode: Mode, node: Any) -> Any:
    kept: Any = value
    label = (op.node_name, name)
    if mode.hooks is not None or mode.mutation is not None:
        kept = pack_input(mode, value, label, node)
    elif op.save_as is not None and name == op.inputs[0]:
        kept = op.save_as(value)
    if mode.recorder is not None:
        _held(node, notify_recorder(mode, op.name, label, value, None if kept is value else kept, node))
    return kept


def _held(node: Any, hold: Any) -> None:
    """Hold the handle that a recorder returned for a saved tensor until the node frees it."""
    if hold is not None:
        node.held = (*getattr(node, "held", ()), hold)
