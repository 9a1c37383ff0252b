"""The node of a call on the interpreted path, and its saved tensors."""

from __future__ import annotations

from functools import lru_cache
from itertools import compress
from typing import Any

from ...backends import Spec
from ...base.dtypes import FLOATING, dtype
from ...base.modes import Mode
from ...core.packed import holder_of, pack_array, pack_input, pack_result
from ...core.saved import Constant, notify_recorder
from ...core.tensor import Tensor, _new, wrap
from ...graph.node import Node, Nowhere, Slot, next_seq
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
    extras: list[Any],
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
            if edge is not None and type(edge) is Nowhere:
                edge = None
            edges.append(edge)
            fit.append((v._shape, v._spec) if isinstance(v, Tensor) else None)
            if edge is not None:
                some = True
        wanted.append(some)
    if not followed:
        return None
    node = _new(op.general_class or op.node_classes()[1])
    node.edges, node.seq, node.extras = tuple(edges), next_seq(), None
    node.fit = fit
    node.compute = compute
    node.low = outs[0]._spec.dtype.low and not (op.structural or op.view)
    node.backend = spec.backend
    differentiable = len(outs) if op.differentiable is None else op.differentiable
    node.outputs = differentiable
    # As in torch, the only input counts as wanted even where its edge leads nowhere (a view taken under `no_grad`).
    for name, what in _kept(op, (True,) if len(wanted) == 1 else tuple(wanted)):
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
                out._edge = Slot(node, nr, differentiable)
    return node


@lru_cache(maxsize=4096)
def _kept(op: Op, wanted: tuple[bool, ...]) -> tuple[tuple[str, str], ...]:
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
    values: list[Any],
    index: dict[str, int],
    outs: list[Tensor],
    extras: list[Any],
    mode: Mode,
) -> None:
    kept: Any
    label = (op.node_name, name)
    if what == "meta":
        param, _, field = name.rpartition("_")
        value = values[index[param]]
        if param in op.lists:
            kept = [_meta(v, field) for v in value]
        else:
            kept = _meta(value, field)
        setattr(node, name, kept)
    elif what == "constant":
        setattr(node, name, values[index[name]])
    elif what == "input":
        value = values[index[name]]
        if isinstance(value, Tensor):
            setattr(node, name, _saved_tensor(op, name, value, mode, node))
            setattr(node, name + "_v", value._counter[0])
        elif isinstance(value, list | tuple) and any(isinstance(v, Tensor) for v in value):
            items = [_saved_tensor(op, name, v, mode, node) if isinstance(v, Tensor) else v for v in value]
            versions = [v._counter[0] if isinstance(v, Tensor) else 0 for v in value]
            setattr(node, name, SavedList(items, versions))
        elif value is None or isinstance(value, int | float | complex):
            setattr(node, name, value)
        else:
            setattr(node, name, Constant(value))
    elif what == "result":
        nr = 0 if name == "out" else op.results.index(name)
        out = outs[nr]
        if mode.hooks is not None or mode.mutation is not None:
            differentiable = node.outputs > nr and out._spec.dtype.category >= FLOATING
            edge = None if not differentiable else node if node.outputs == 1 else Slot(node, nr, node.outputs)
            packed = pack_result(mode, out, edge, label, node)
            setattr(node, name, packed)
            if mode.recorder is not None:
                _held(node, notify_recorder(mode, op.name, label, out, packed, node))
        else:
            setattr(node, name, out._data)
            if mode.recorder is not None:
                _held(node, notify_recorder(mode, op.name, label, out, None, node))
        setattr(node, name + "_c", out._counter)
        setattr(node, name + "_v", out._counter[0])
    else:
        data = node.backend.ensure(extras[op.extra.index(name)])
        counter = [0]
        kept = data
        if mode.hooks is not None or mode.mutation is not None:
            kept = pack_array(mode, data, counter, label, node)
        if mode.recorder is not None:
            _held(node, notify_recorder(mode, op.name, label, wrap(data), None if kept is data else kept, node))
        setattr(node, name, kept)
        setattr(node, name + "_c", counter)
        setattr(node, name + "_v", 0)


def _meta(value: Any, field: str) -> Any:
    if field == "shape":
        return value._shape if isinstance(value, Tensor) else tuple(getattr(value, "shape", ()))
    return value._spec.dtype if isinstance(value, Tensor) else None


def _saved_tensor(op: Op, name: str, value: Tensor, mode: Mode, node: Any) -> Any:
    kept: Any = value
    label = (op.node_name, name)
    if mode.hooks is not None or mode.mutation is not None:
        kept = pack_input(mode, value, label, node)
    elif op.light is not None and name == op.inputs[0]:
        kept = op.light(value)
    if mode.recorder is not None:
        _held(node, notify_recorder(mode, op.name, label, value, None if kept is value else kept, node))
    return kept


def _held(node: Any, hold: Any) -> None:
    """Hold the handle that a recorder returned for a saved tensor until the node frees it."""
    if hold is not None:
        node.held = (*getattr(node, "held", ()), hold)
