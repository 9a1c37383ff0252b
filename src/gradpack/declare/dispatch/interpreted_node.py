"""The node of a call that the interpreter ran: its backward over arrays is interpreted, too.

It converts to the dtype that the forward computed in, and takes lists of tensors and arrays of any library.
"""

from __future__ import annotations

from typing import Any

from ...base.dtypes import dtype
from ...core.saved import unpack_input, unpack_result
from ...core.tensor import Tensor
from ...graph.node import PartialGrads
from .make_node import SavedList, kept
from .nodes import OpNode, is_wanted
from .unbroadcast import cast, cast_all, conj_array, fit_array, is_complex_array


class InterpretedNode(OpNode):
    """A node whose backward over arrays is interpreted."""

    __slots__ = ()
    selects = True

    fit: list[Any]
    compute: dtype | None  # the dtype that the forward computed in
    low: bool  # is the dtype of the result for storage only (computed in another)?
    outputs: int
    backend: Any
    tangents: dict[str, Tensor]  # tangents of saved results, while the forward-mode level is active
    held: tuple[Any, ...]  # handles of a recorder for saved tensors, if there is one, held as long as these

    backward_batched, backward_graph = OpNode.backward_batched, OpNode.backward_graph

    def _free(self) -> None:
        super()._free()
        node: Any = self  # whose class has the slot
        node.held = ()

    def backward(self, g: Any, keep: bool, edges: Any = None) -> list[Any]:
        op, sources, backend = self.op, self._sources(), self.backend
        wanted = (True,) if len(op.inputs) == 1 else tuple(map(is_wanted, sources.values()))
        values = {n: self._array(n, what) for n, what in kept(op, wanted)}
        sources = sources if edges is None else self._sources(edges)
        if self.compute is not None and self.low:
            g = cast_all(backend, g, self.compute)
        conjugate = op.holomorphic and not op.data_movement and is_complex_array(g, backend)
        given = conj_array(g, backend) if conjugate else g
        if isinstance(given, PartialGrads):
            given = tuple(given)
        gradients: list[Any] = []
        if op.joint_vjp is not None:
            needs = tuple(is_wanted(sources[p]) for p in op.inputs)
            gradients = list(backend.bind(op.joint_vjp)(given, **values, needs=needs))
        for p in op.inputs if op.joint_vjp is None else ():
            if not is_wanted(sources[p]):
                gradients.extend([None] * (len(sources[p]) if p in op.lists else 1))
                continue
            formula = backend.bind(op.formulas[p])
            result = formula(given, *[values[n] for n in op.reads[p]])
            for r in result if p in op.lists else (result,):
                gradients.append(conj_array(r, backend) if conjugate and r is not None else r)
        if not keep:
            self._free()
        return [fit_array(x, f, e) for x, f, e in zip(gradients, self.fit, self.edges, strict=True)]

    def _array(self, name: str, what: str) -> Any:
        """Return what a formula reads: arrays in the dtype that the forward computed in, shapes and constants."""
        op, saved = self.op, getattr(self, name)
        value: Any
        if what in ("meta", "constant"):
            return saved
        if what in ("result", "residual"):
            value = unpack_result(self, name)
        elif isinstance(saved, SavedList):
            value = [getattr(v, "_data", v) for v in self._list(name, saved, None)]
        else:
            value = unpack_input(self, name)
        integral = op.differentiable is not None and name in op.results[op.differentiable :]
        converted = name in op.promote or name in op.lists or (what == "result" and self.low and not integral)
        if self.compute is None or not converted:
            return value
        if isinstance(value, list):
            return [cast(self.backend, v, self.compute) for v in value]
        return cast(self.backend, value, self.compute)
