"""The methods of nodes that are made when they are first called: for batches of gradients, and for Tensors.

`backward_batched(node, g, keep)` is `backward` for an array of gradients with the examples in front. What a node saved
is the same for all of them. The text of an elementwise operation serves with one dimension more, as broadcasting aligns
from behind; formulas that only move elements get shapes and dimensions with the batch in front. All other nodes return
None there: they run on batched Tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from ...base import late
from ...graph.node import Node
from ...kernels.dispatch import LARGE
from ..batching.batch_call import elementwise, shifted
from ..batching.batch_dispatch import rule_of
from ..batching.rules import DIMS, along, cloned, permute, reducing, reshape, squeeze, subscript, transpose, unsqueeze
from ..dispatch.nodes import OpNode, asked_for
from ..dispatch.torch_names import freeing
from ..dispatch.unbroadcast import fit_batched, fit_tensor
from ..op import Op
from .form import indented
from .inline import Inlined, bind
from .node_text import has_backward, node_text, readers_of, reads

Method = Callable[[Any, Any, bool], Any]

_GRAPH = """\
def backward_graph(_self, _g, _keep):
    if type(_g) is not _Tensor or _g._spec.dtype.is_complex: return _general(_self, _g, _keep)
    {edges} = _self.edges
{load}\
    _asked = _asked_for(_self)
{gradients}\
    if not _keep:
{free}
    if _self.fit is not None: return [*map(_fitted, ({results}), _self.fit, _self.edges)]
    return {results}
"""

_LOAD = """\
{n} = _self.{n}
if type({n}) is _Tensor:
    if {n}._counter[0] != _self.{n}_v{moved}: {n} = _self._value({n!r}, {sources})
elif type({n}) is not float and type({n}) is not int: {n} = _self._value({n!r}, {sources})
"""

_MOVING = (along, cloned, permute, reducing, reshape, squeeze, subscript, transpose, unsqueeze)
_SHAPED = (reshape, squeeze, unsqueeze)  # whose formulas read no dimension, even if they name it
_READS = frozenset({"input_shape", "place", "keepdim", "offset", *DIMS})


def backward_batched(op: Op, names: dict[str, Any]) -> Method:
    """Make the method for the nodes of an operation, whose text has these globals."""
    rule = rule_of(op)
    if has_backward(op) and not (op.returns or op.lists or op.joint_vjp is not None):
        if op.name in ("mm", "bmm") or (rule is elementwise and not any(n.endswith("_shape") for n in op.saved)):
            return _broadcasting(op, names, rule is elementwise)
        if op.name == "expand":
            return lambda node, g, keep: fit_batched((g,), (node.input_shape,))
        if op.name in ("sum", "mean"):
            return _total(bind(late.expand), op.name == "mean")
        if op.kind == "linear" and op.inputs == ("input",) and rule in _MOVING and op.saved <= _READS:
            return _moving(op, rule)
    return Node.backward_batched


def _broadcasting(op: Op, names: dict[str, Any], elementwise: bool) -> Method:
    """Compile the text of backward again, to leave before anything is freed if a formula does not broadcast."""
    other = " or ".join(f"{p}_g is not None and {p}_g.shape != _g.shape" for p in op.inputs if elementwise) or "False"
    begin, end = "_edges=None):\n", "        if not _keep:\n"
    head, _, text = node_text(op, Inlined(op)).partition(end)
    first = f"{begin}        if _g.size >= {LARGE}: return None\n"  # before a form for large arrays writes to it
    text = f"{head.replace(begin, first)}        if {other}: return None\n{end}{text}"
    own = {**names, "__name__": "gradpack.ops", "_fit_arrays": fit_batched}
    exec(compile(text, f"<batched op {op.name}>", "exec"), own)
    made: Method = vars(own["_Backward"])["backward"]
    return made


def _moving(op: Op, rule: Any) -> Method:
    """Make the method of an operation that moves elements, or adds some up: its formula, for one dimension more."""
    reads = op.reads["input"]
    ndim = "len(node.input_shape)" if "input_shape" in reads else "g.ndim - 1"
    given, test = ["g"], ""
    for n in reads:
        if n in DIMS and rule not in _SHAPED:
            test = f" if {ndim} else None"
            given.append(f"dims(node.{n}, {ndim})")
        else:
            given.append(_IN_FRONT.get(n, "node.{0}").format(n))
    dims = _order if rule is permute else _all_or if rule is reducing else shifted
    names: dict[str, Any] = {"formula": bind(op.formulas["input"]), "dims": dims, "ALL": slice(None)}
    exec(f"method = lambda node, g, keep: (formula({', '.join(given)}),){test}", names)
    method: Method = names["method"]
    return method


_IN_FRONT = {"input_shape": "(len(g), *node.{0})", "place": "(ALL, *node.{0})"}


def _order(dims: Any, ndim: int) -> Any:
    return (0, *shifted(tuple(dims), ndim))


def _all_or(dim: Any, ndim: int) -> Any:
    return tuple(range(1, ndim + 1)) if dim is None or dim == () else shifted(dim, ndim)


def _total(expand: Any, averages: bool) -> Method:
    """Make the method of the sum, or mean, of all elements."""

    def method(node: Any, g: Any, keep: bool) -> Any:
        shape = node.input_shape
        g = g / (prod(shape) or 1) if averages else g
        return (expand(g.reshape((len(g), *(1,) * len(shape))), (len(g), *shape)),)

    return method


def backward_graph(op: Op, names: dict[str, Any]) -> Method:
    """Make the method that calls the formulas on Tensors; for the nodes of most operations as text."""
    general = OpNode.backward_graph
    if op.lists or op.returns or op.flat or op.joint_vjp is not None or op.decomposition is not None:
        return general
    load, gradients, lines = "", "", {n: _load(op, n) for n in reads(op)}
    for n, text in lines.items():
        test = " or ".join(f"{p}_edge is not None" for p in readers_of(op, n))
        load += indented(text) if len(op.inputs) == 1 else f"    if {test}:\n{indented(text, 2)}"
    for p in op.inputs:
        formula = f"_formula_{p}({', '.join(['_g', *op.reads[p]])})"
        wanted = f"{p}_edge is not None and (_asked is None or {p}_edge in _asked)"
        gradients += f"    {p}_g = {formula} if {wanted} else None\n"
    edges, results = ("".join(f"{p}_{what}, " for p in op.inputs) for what in ("edge", "g"))
    free = indented("\n".join(freeing(op, reads(op))), 2)
    text = _GRAPH.format(edges=edges, load=load, gradients=gradients, free=free, results=results)
    own = {**names, "__name__": "gradpack.ops", "_general": general, "_asked_for": asked_for, "_fitted": _fitted}
    own |= {f"_formula_{p}": formula for p, formula in op.formulas.items()}
    exec(compile(text, f"<graph op {op.name}>", "exec"), own)
    made: Method = own["backward_graph"]
    return made


def _load(op: Op, n: str) -> str:
    """Return the statements that load a saved value as a Tensor with its edge, or as the number that it is."""
    what = op.saves(n)
    if what in ("meta", "constant"):
        return f"{n} = _self.{n}\n"
    sources = f"dict({', '.join(f'{p}={p}_edge' for p in op.inputs)})"
    if what != "input":
        return f"{n} = _self._value({n!r}, {sources})\n"
    moved = f" or ({n}_edge is not None and {n}._edge is not {n}_edge)" if n in op.inputs else ""
    return _LOAD.format(n=n, moved=moved, sources=sources)


def _fitted(g: Any, shape: Any, edge: Any) -> Any:
    return fit_tensor(g, None if shape is None else (shape, None), edge)
