"""The part of an operation's node that need not be fast, and the interpreted backward.

A compiled node runs its formulas on arrays by itself. Going backward over Tensors (to be
differentiated again), complex and low-precision dtypes, lists and other array libraries go
through the formulas here.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import compress
from typing import Any, ClassVar

from ...base import late
from ...base.modes import MODE, RUN
from ...core.packed import Packed, keep_attributes
from ...core.saved import FREED, Constant, check, freed, result_as_tensor, unpack_input, unpack_result
from ...core.tensor import Tensor, alias, wrap
from ...graph.node import AccumulateGrad, Node, OutputSlot, PartialGrads, variant_of
from ..batching.batch_tensor import cut
from ..op import Op
from .make_node import SavedList, kept
from .unbroadcast import conj, fit_tensor, is_complex, with_zero_slope


class OpNode(Node):
    """A node of a declared operation."""

    __slots__ = ()

    op: ClassVar[Op]
    is_settled: ClassVar[bool] = False  # does the type have the name of this call?
    fit: Any = None  # shapes of the inputs, or pairs of shape and spec, where gradients have to be reduced to them
    outputs: int = 1

    def __init__(self) -> None:
        raise TypeError(f"cannot create '{type(self).__name__}' instances")

    def backward_graph(self, g: Any, keep: bool) -> list[Any]:
        """Backward under `create_graph`: return one gradient per edge, each a differentiable Tensor."""
        op = self.op
        if op.recomposes:
            mode = MODE.get()
            if mode.grad:
                gradients = self._by_meaning(g)
            else:  # the decomposition is recorded only to differentiate it
                try:
                    MODE.set(mode.replace(grad=True))
                    gradients = [x if x is None else cut(x, tangent=True) for x in self._by_meaning(g)]
                finally:
                    MODE.set(mode)
        else:
            gradients = self._formulas(g)
        if not keep:
            self._free()
        return gradients

    def _sources(self, edges: Any = None) -> dict[str, Any]:
        """Return the edge, or list of edges, of each differentiable input."""
        op, edges = self.op, list(edges or self.edges)
        if not op.lists:
            return dict(zip(op.inputs, edges, strict=True))
        found: dict[str, Any] = {}
        single = len(op.inputs) - 1
        for p in op.inputs:
            if p in op.lists:
                count = len(edges) - single
                found[p] = edges[:count]
                del edges[:count]
            else:
                found[p] = edges.pop(0)
        return found

    def _value(self, name: str, sources: dict[str, Any], what: str = "") -> Any:
        """Unpack a saved value for a formula under `create_graph`: tensors with their grad_fn."""
        op = self.op
        what = what or op.saves(name)
        if what in ("meta", "constant"):
            return getattr(self, name)
        if what in ("result", "residual"):
            if what == "residual":
                return wrap(unpack_result(self, name))
            edge: Any = self
            if self.extras is not None and self.extras.outer is not None:  # the result is part of a base
                edge = self.extras.outer().part()
            count = self.outputs
            nr = op.results.index(name) if name in op.results else 0
            if count > 1:
                edge = OutputSlot(self, nr, count)
            return result_as_tensor(self, name, edge if nr < count else None)
        saved = getattr(self, name)
        source = sources.get(name)
        if isinstance(saved, Tensor):
            if saved._counter[0] != getattr(self, name + "_v"):
                check(self, name, saved)
            if source is None or saved._edge is source:
                return saved
            return _with_edge(saved, source)
        if isinstance(saved, Packed):
            return _with_edge(saved.get(self, name), source)
        if isinstance(saved, SavedList):
            return self._list(name, saved, source)
        return saved if type(saved) in (int, float) else unpack_input(self, name)

    def _list(self, name: str, saved: SavedList, source: Any) -> list[Any]:
        values = []
        for i, item in enumerate(saved.items):
            edge = source[i] if isinstance(source, list) else None
            if isinstance(item, Packed):
                values.append(_with_edge(item.get(self, name), edge))
            elif isinstance(item, Tensor):
                if item._counter[0] != saved.versions[i]:
                    setattr(self, name + "_v", saved.versions[i])
                    check(self, name, item)
                values.append(item if item._edge is edge or edge is None else _with_edge(item, edge))
            else:
                values.append(item)
        return values

    def _formulas(self, g: Any) -> list[Any]:
        op, sources = self.op, self._sources()
        wanted = _ONE if len(op.inputs) == 1 else tuple([is_wanted(source) for source in sources.values()])
        values = {n: self._value(n, sources, what) for n, what in kept(op, wanted)}
        conjugate = op.holomorphic and not op.data_movement and is_complex(g)
        given = conj(g) if conjugate else g
        if isinstance(given, PartialGrads):
            given = tuple(given)
        gradients: list[Any] = []
        asked = asked_for(self)
        if op.joint_vjp is not None:
            needs = [source is not None and is_wanted(source, asked) for source in sources.values()]
            gradients = list(op.joint_vjp(given, **values, needs=needs))
        for p, source in sources.items() if op.joint_vjp is None else ():
            if source is None or not is_wanted(source, asked):
                gradients.extend([None] * (len(source) if p in op.lists else 1))
                continue
            result = op.formulas[p](given, *[values[n] for n in op.reads[p]])
            if p in op.lists:
                gradients.extend(conj(r) if conjugate and r is not None else r for r in result)
            else:
                gradients.append(conj(result) if conjugate and result is not None else result)
                if op.flat and p == "input" and MODE.get().grad:
                    gradients[-1] = with_zero_slope(gradients[-1], source, op.flat)
        fit = self.fit
        if fit is None:
            return gradients
        if type(fit) is tuple:  # shapes only: compiled nodes have inputs of one dtype
            fit = [None if shape is None else (shape, None) for shape in fit]
        return [fit_tensor(x, f, e) for x, f, e in zip(gradients, fit, self.edges, strict=True)]

    def _by_meaning(self, g: Any) -> list[Any]:
        """Return the gradients of a fused operation by differentiating its decomposition, for double backward."""
        op, sources = self.op, self._sources()
        meaning: Any = op.decomposition
        code = meaning.__code__
        names = code.co_varnames[: code.co_argcount]
        values = {n: self._value(n, sources) for n in names}
        wanted = [p for p in op.inputs if is_wanted(sources[p])]
        present = [p for p in wanted if p in values]
        for p in op.inputs:
            if (
                p in values
                and not is_wanted(sources[p])
                and isinstance(values[p], Tensor)
                and values[p]._edge is not None
            ):
                values[p] = cut(values[p])  # with its tangent
        found: dict[str, Any] = {}
        edges = {values[p]._edge for p in present}
        if len(edges) < len(present) or any(type(edge) is not AccumulateGrad for edge in edges if len(present) > 1):
            # One may be computed from another, or be the same: the derivative is that by each alone.
            values |= {p: late.expand(values[p], values[p]._shape) for p in present}
        if present:
            out, given = meaning(**values), g
            if isinstance(out, tuple):
                out, given = zip(*[pair for pair in zip(out, g, strict=True) if pair[1] is not None], strict=True)
            gradients = late.grad(out, [values[p] for p in present], given, create_graph=True, allow_unused=True)
            found = dict(zip(present, gradients, strict=True))
        if len(present) < len(wanted):
            for p in wanted:
                if p not in found:
                    formula = op.formulas[p]
                    reads = formula.__code__.co_varnames[1 : formula.__code__.co_argcount]
                    found[p] = formula(g, *[self._value(n, sources) for n in reads])
        return [found.get(p) for p in op.inputs]

    def _free(self) -> None:
        for name, stays in _freeable(self.op):
            setattr(self, name, freed(getattr(self, name, None)) if stays else FREED)

    @property
    def saves(self) -> list[str]:
        """Return the names of the values that this node's backward formulas read."""
        return list(needed(self.op, None))

    @property
    def needs(self) -> tuple[str, ...]:
        """The names of the saved values that the formulas of inputs with an edge read."""
        return needed(self.op, self._sources())

    def shows_number(self, name: str) -> bool:
        """Return whether torch saves a Python number here as it is, and not as a tensor."""
        return self.op.overloads is not None or len(self.op.promote) < 2

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("_saved_", "_raw_saved_")):
            from .saved_attributes import get

            return get(self, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        from .saved_attributes import names

        return [*super().__dir__(), *names(self)]

    def name(self) -> str:
        name = type(self).__name__
        if self.op.overloads is not None and not self.is_settled:
            from .torch_names import overload_of

            name = overload_of(self)
        return f"torch::autograd::{name}" if name in _OF_AUTOGRAD else name

    @property
    def shown(self) -> tuple[int, ...] | None:
        from .torch_names import places

        return places(self)

    def settled(self) -> Node:
        """Give the node the class name that torch has for this overload, such as `PowBackward1`; return the node."""
        if self.op.overloads is not None and not self.is_settled:
            kind: Any = type(self)
            self.__class__ = variant_of(kind, self.name())
        return self


_ONE = (True,)
_OF_AUTOGRAD = frozenset({"CopyBackwards", "CopySlices", "Identity", "NotImplemented"})


def needed(op: Op, sources: dict[str, Any] | None) -> tuple[str, ...]:
    """Return the names of the saved values that the formulas of inputs with an edge, or of the only input, read."""
    if sources is None or len(op.inputs) == 1:  # as in torch, which unpacks for the only input in any case
        return _read(op, None)
    return _read(op, tuple([is_wanted(sources[p]) for p in op.inputs]))


@lru_cache(maxsize=4096)
def _read(op: Op, wanted: tuple[bool, ...] | None) -> tuple[str, ...]:
    inputs = op.inputs if wanted is None else compress(op.inputs, wanted)
    return tuple(dict.fromkeys(n for p in inputs for n in op.reads[p]))


@lru_cache(maxsize=1024)
def _freeable(op: Op) -> tuple[tuple[str, bool], ...]:
    """Return the names of the saved tensors that backward frees, and whether what is saved may be a number."""
    from .torch_names import may_stay

    saved = [n for n in needed(op, None) if op.saves(n) in ("input", "result", "residual")]
    return tuple((n, may_stay(op, n)) for n in saved)


def is_wanted(source: Any, asked: set[Node] | None = None) -> bool:
    if isinstance(source, list):
        return any(e is not None and (asked is None or e in asked) for e in source)
    return source is not None and (asked is None or source in asked)


def asked_for(node: Node) -> set[Node] | None:
    """Return the nodes that the current backward pass needs, if limited to some inputs and running `node`."""
    run = RUN.get()
    needed: set[Node] | None = None if run is None else run.needed
    return needed if needed is not None and node in needed else None


def _with_edge(value: Tensor, edge: Node | None) -> Tensor:
    out = alias(value._data, value._spec, value._shape)
    out._counter, out._edge = value._counter, edge
    if value._tangents is not None:
        out._tangents = value._tangents
    keep_attributes(value, out)
    return out


def constant(value: Any) -> Any:
    """Wrap a saved argument that is not a tensor in a `Constant`, unless it is a plain number or None."""
    return value if value is None or type(value) in (int, float, bool, complex) else Constant(value)


def name_node(op: Op, made: Any, filename: str) -> None:
    """Set operation, name and module of a generated node class."""
    made.op = op
    made.__name__ = made.__qualname__ = op.node_name
    made.__module__ = "builtins"  # as torch has it
    method = vars(made).get("backward")
    if method is not None and made is not op.interpreted_class and method.__code__.co_filename == "<op>":
        method.__code__ = method.__code__.replace(co_name=op.node_name, co_qualname=op.node_name, co_filename=filename)
