"""Backward of a batch of gradients on arrays: `backward_batched(node, g, keep)`, whose `g` has the examples in front.

What a node saved is the same for all examples. The text of an elementwise operation serves with one dimension more, as
broadcasting aligns from behind; formulas that only move elements get their shapes and dimensions with the batch in
front. All other nodes return None there: they run on batched Tensors.
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
from ..dispatch.unbroadcast import fit_batched
from ..op import Op
from .inline import Inlined, bind
from .node_text import has_backward, node_text

Batched = Callable[[Any, Any, bool], Any]

_MOVING = (along, cloned, permute, reducing, reshape, squeeze, subscript, transpose, unsqueeze)
_SHAPED = (reshape, squeeze, unsqueeze)  # whose formulas read no dimension, even if they name it
_READS = frozenset({"input_shape", "place", "keepdim", "offset", *DIMS})


def of_batch(op: Op, names: dict[str, Any]) -> Batched:
    """Make the method for the nodes of an operation, whose text has these globals."""
    rule = rule_of(op)
    if has_backward(op) and not (op.returns or op.lists or op.joint_vjp is not None):
        if rule is elementwise and not any(n.endswith("_shape") for n in op.saved):
            return _elementwise(op, names)
        if op.name == "expand":
            return lambda node, g, keep: fit_batched((g,), (node.input_shape,))
        if op.name in ("sum", "mean"):
            return _total(bind(late.expand), op.name == "mean")
        if op.kind == "linear" and op.inputs == ("input",) and rule in _MOVING and op.saved <= _READS:
            return _moving(bind(op.formulas["input"]), rule, op.reads["input"])
    return Node.backward_batched


def _elementwise(op: Op, names: dict[str, Any]) -> Batched:
    """Compile the text of backward again, to leave before anything is freed if a formula does not broadcast."""
    other = " or ".join(f"{p}_g is not None and {p}_g.shape != _g.shape" for p in op.inputs)
    end = "        if not _keep:\n"
    head, _, text = node_text(op, Inlined(op)).partition(end)
    text = f"{head}        if {other} or _g.size >= {LARGE}: return None\n{end}{text}"
    own = {**names, "__name__": "gradpack.ops", "_fit_arrays": fit_batched}
    exec(compile(text, f"<batched op {op.name}>", "exec"), own)
    made: Batched = vars(own["_Backward"])["backward"]
    return made


def _moving(formula: Any, rule: Any, reads: tuple[str, ...]) -> Batched:
    """Make the method of an operation that moves elements, or adds some up."""

    def backward_batched(node: Any, g: Any, keep: bool) -> Any:
        given = []
        for n in reads:
            value = getattr(node, n)
            if n == "input_shape":
                value = (len(g), *value)
            elif n == "place":
                value = (slice(None), *(value if type(value) is tuple else (value,)))
            elif n in DIMS and rule not in _SHAPED:
                ndim = len(node.input_shape) if "input_shape" in reads else g.ndim - 1
                if not ndim:
                    return None
                if rule is reducing and (value is None or value == ()):
                    value = tuple(range(ndim))
                value = shifted(value, ndim)
                value = (0, *value) if rule is permute else value
            given.append(value)
        return (formula(g, *given),)

    return backward_batched


def _total(expand: Any, averages: bool) -> Batched:
    """Make the method of the sum, or mean, of all elements."""

    def backward_batched(node: Any, g: Any, keep: bool) -> Any:
        shape = node.input_shape
        g = g / (prod(shape) or 1) if averages else g
        return (expand(g.reshape((len(g), *(1,) * len(shape))), (len(g), *shape)),)

    return backward_batched
