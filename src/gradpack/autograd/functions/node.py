"""The node of a call of a `Function`. It is also the `ctx` that `forward` and `backward` get."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Sequence
from typing import Any, ClassVar

from ...backends import NUMPY, spec_of
from ...base.errors import saved_was_freed, saved_was_modified
from ...base.spelling import Sentinel
from ...core.hooks import NodeExtras
from ...core.packed import Packed, alias_for_hooks, keep_attributes, pack_input
from ...core.saved import FREED, Owner, notify_recorder
from ...core.tensor import DUALS, Tensor, _new, alias, wrap
from ...core.views import base_of
from ...graph.node import Node, OutputSlot, PartialGrads
from .context import FunctionCtx, Saved, SavedOfFunction
from .gradients import fitted, type_name, zeros

_ndarray = NUMPY.array_types[0]
_EARLY = (
    "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True is set on the autograd.Function. "
    "Either access saved_tensors only once, or set clear_saved_tensors_on_access=False."
)
ACCESSED = Sentinel("<accessed>")  # in place of saved tensors that could be read once
NO_TENSOR = (None, None)  # in place of the shape and spec of what is no tensor
UNWANTED = (False, None)  # likewise of an argument whose gradient nobody wants
# Attributes that the engine and error messages use on a node, which attributes set by the user must not hide.
OWN = frozenset({"backward", "backward_graph", "undefined", "name"})


class BackwardCFunction(Node, FunctionCtx):
    """The node of a custom `Function`, and the `ctx` of the same call.

    Each `Function` has a subclass of its own, `_backward_cls`.
    """

    needs_input_grad: tuple[bool, ...]
    saved_for_forward: Any
    to_save: Any
    dirty_tensors: Any
    non_differentiable: Any

    _arguments: list[Any]  # shape, spec of each argument of forward; `NO_TENSOR`, `UNWANTED`
    _results: list[Any]  # shape, spec of each result
    # None before forward is done, then a list of `Saved`, or the tensors themselves, of which none is a result, a view
    # or packed; FREED after backward, ACCESSED once they were read under clear_saved_tensors_on_access.
    _saved: Any
    _versions: list[int]  # those of the tensors themselves when they were saved
    _keep: bool  # does the current backward pass retain the graph?
    _materialize: bool  # see `set_materialize_grads`

    __slots__ = (*__annotations__,)

    _forward_cls: ClassVar[Any]
    _no_backward: ClassVar[Any]  # `Function.backward`
    _no_setup: ClassVar[Any]  # `Function.setup_context`
    _apply: ClassVar[Any]  # the call of the `Function`: see text.py
    _home: Any = None  # on a ctx that is not the node: a weak reference to the node

    def name(self) -> str:
        """The name of the Function's class and "Backward"."""
        return type(self).__name__

    __repr__ = object.__repr__

    # -- what the user calls --

    def _set_materialize(self, value: Any) -> None:
        if not isinstance(value, bool):
            raise TypeError(
                f"set_materialize_grads received an invalid combination of arguments - got ({type(value).__name__}), "
                "but expected (bool)"
            )
        self._materialize = value

    materialize_grads = property(None, _set_materialize)

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors saved by `save_for_backward` (in `jvp`: by `save_for_forward`), unpacked and checked.

        Raises:
            RuntimeError: if backward has freed them, or one of them was modified in place.
        """
        saved = self._saved
        if type(saved) is tuple:
            for t, version in zip(saved, self._versions):  # noqa: B905 - one for each
                if t._counter[0] != version:
                    return tuple([self._unpack(i, s) for i, s in enumerate(self._entries())])  # raises, as a rule
        elif self.saved_for_forward is not None:
            return self.saved_for_forward
        elif saved is None:
            return ()
        elif saved is ACCESSED:
            raise RuntimeError(_EARLY)
        else:
            saved = tuple([self._unpack(i, s) for i, s in enumerate(self._entries())])
        if self._forward_cls.clear_saved_tensors_on_access:
            self._saved = ACCESSED
        return saved

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        """Deprecated name of `saved_tensors`."""
        warnings.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2)
        return self.saved_tensors

    @property
    def _raw_saved_tensors(self) -> tuple[Any, ...]:
        return tuple([SavedOfFunction.of(self, s) for s in self._entries()])

    def maybe_clear_saved_tensors(self) -> None:
        """Free the saved tensors, unless the current backward pass retains the graph."""
        if not self._keep:
            self._saved = FREED

    def apply(self, *grads: Any) -> Any:
        """Call the user's `backward` with these gradients."""
        backward = self._user_backward()
        return backward(self, list(grads)) if self._forward_cls.boxed_grads_call else backward(self, *grads)

    def apply_boxed(self, *grads: Any) -> Any:
        """Call the user's `backward` with the list of gradients."""
        return self._user_backward()(self, *grads)

    def apply_jvp(self, *tangents: Any) -> Any:
        """Call the user's `jvp`."""
        return self._forward_cls.jvp(self, *tangents)

    def _user_backward(self) -> Any:
        cls = self._forward_cls
        if cls.vjp is self._no_backward:
            return cls.backward
        if cls.backward is not self._no_backward:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only "
                "implement one of them."
            )
        return cls.vjp

    # -- the node's side --

    def _entries(self) -> list[Saved]:
        """The saved tensors as entries, which from now on the node keeps."""
        saved = self._saved
        if saved is FREED or saved is ACCESSED:
            raise saved_was_freed(type(self).__name__, "saved_tensors")
        if type(saved) is tuple:
            self._saved = [entry_of(t, version) for t, version in zip(saved, self._versions, strict=True)]
        return self._saved or []

    def _settle(self, edges: tuple[Any, ...], seq: int) -> BackwardCFunction:
        """Return the node after forward: this object, unless the user set attributes that would hide the node's."""
        extras: Any = self.extras
        same = self.edges is edges and self.seq is seq and (extras is None or type(extras) is NodeExtras)
        if same and OWN.isdisjoint(self.__dict__):
            return self
        node: BackwardCFunction = start(_apart_from(type(self)), edges, seq)
        node._apart, self._home = self, weakref.ref(node)
        return node

    def _save(self, results: Sequence[Any], node: BackwardCFunction, mode: Any) -> None:
        """Save the tensors of `save_for_backward`. Results are kept without their grad_fn, which would be a cycle."""
        given = marks(self, "to_save")
        if mode.hooks is None and not mode.leaves_fast_path:
            versions = []
            for t in given:
                if not isinstance(t, Tensor) or t._view is not None:
                    break
                edge = t._edge
                if edge is node or (type(edge) is OutputSlot and edge.edges[0] is node):
                    break
                versions.append(t._counter[0])
            else:
                self._saved, self._versions = tuple(given), versions
                return
        self._saved = [self._entry(i, t, results, node, mode) for i, t in enumerate(given)]

    def _entry(self, i: int, t: Any, results: Sequence[Any], node: BackwardCFunction, mode: Any) -> Saved:
        """Return what is kept of one saved tensor."""
        saved: Saved = entry_of(t, 0)
        if t is None:
            return saved
        if not isinstance(t, Tensor):
            raise TypeError(
                f"save_for_backward can only save variables, but argument {i} is of type {type(t).__name__}"
            )
        saved.version, hooked = t._counter[0], mode.hooks is not None or mode.leaves_fast_path
        for nr, result in enumerate(results):
            if result is t and saved.edge is not None:
                saved.value = t = alias_for_hooks(t, saved.edge if hooked else None)
                saved.nr, saved.edge = nr, None
                break
        else:
            if t._view is not None and (base := base_of(t)) is not t and any(base is r for r in results):
                saved.value = t = alias_for_hooks(t, None)
        if hooked:
            packed = None
            label = (type(self).__name__, f"saved_tensors[{i}]")
            if mode.hooks is not None or mode.mutation is not None:
                packed = saved.value = pack_input(mode, t, label, node)
            if mode.recorder is not None:
                saved.hold = notify_recorder(mode, self._forward_cls.__name__, label, t, packed, node)
        return saved

    def _unpack(self, i: int, saved: Saved) -> Any:
        value, name = saved.value, type(self).__name__  # `self.name` may be the user's
        if value is None:
            return None
        if isinstance(value, Packed):
            value = value.get(Owner(name), f"saved_tensors[{i}]")
            if saved.nr is None and value._edge is saved.edge:
                return value
        elif value._counter[0] != saved.version and int(value._counter[0]) != int(saved.version):
            whose = f"output {saved.nr} of {name}" if saved.nr is not None else ""
            if saved.nr is None and value.grad_fn is not None:
                whose = f"output {value.output_nr} of {value.grad_fn.name()}"
            raise saved_was_modified(
                name, f"saved_tensors[{i}]", value.dtype, value._shape, whose, value._counter[0], saved.version
            )
        elif saved.nr is None:
            return value
        out = alias(value._data, value._spec, value._shape)
        out._counter, out._edge = value._counter, saved.edge
        if DUALS:
            out._tangents = value._tangents
        if value is not saved.value:  # what an unpack hook returned
            keep_attributes(value, out)
        if saved.nr is not None:
            out._edge = self._edge_of(saved.nr)
        return out

    def _edge_of(self, nr: int) -> Any:
        """The grad_fn edge of a result."""
        node = self if self._home is None else self._home()
        outer = None if node.extras is None or node.extras.outer is None else node.extras.outer()
        if outer is not None:  # the result is part of a base that was written to
            return outer.part()
        count = len(node._results) // 2
        return node if count == 1 else OutputSlot(node, nr, count)

    def backward(self, g: Any, keep: bool, create_graph: bool = False) -> list[Any]:
        """Call the user's backward; return one gradient for each edge."""
        cls = self._forward_cls
        self._keep = keep
        try:
            if cls.vjp is not self._no_backward or cls.boxed_grads_call:
                result = BackwardCFunction.apply(self, *self._given(g))
            elif type(g) is _ndarray:
                result = cls.backward(self, alias(g, spec_of(g), g.shape))
            else:
                result = cls.backward(self, *self._given(g))
        finally:
            self._keep = True
        if not isinstance(result, tuple):
            result = (result,)
        arguments = self._arguments
        if 2 * len(result) != len(arguments):
            result = self._trimmed(result)
        gradients: list[Any] = []
        metas = iter(arguments)
        for value, shape, spec in zip(result, metas, metas):  # noqa: B905 - of one length
            if value is None:
                if shape is not None:
                    gradients.append(None)
                continue
            if not (isinstance(value, Tensor) and value._spec is spec and value._shape == shape):
                value = self._fitted(value, shape, spec, len(gradients), result)
            gradients.append(value if create_graph or value is None else value._data)
        if not keep:
            self._saved = FREED
        return gradients

    def _given(self, g: Any) -> list[Any]:
        """The arguments of the user's backward."""
        given: list[Any] = []
        metas = iter(self._results)
        for part, shape, spec in zip(g if type(g) is PartialGrads else (g,), metas, metas, strict=True):
            if part is None:
                given.append(zeros(shape, spec) if spec is not None and self._materialize else None)
            elif type(part) is _ndarray:
                given.append(alias(part, spec_of(part), part.shape))
            else:
                given.append(part if isinstance(part, Tensor) else wrap(part))
        return given

    def _trimmed(self, results: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the results of the user's backward, one for each argument, without Nones at the end."""
        count = len(self._arguments) // 2
        if len(results) < count or any(r is not None for r in results[count:]):
            raise RuntimeError(
                f"function {type(self).__name__} returned an incorrect number of gradients (expected {count}, got "
                f"{len(results)})"
            )
        return results[:count]

    def _fitted(self, value: Any, shape: Any, spec: Any, nr: int, results: tuple[Any, ...]) -> Tensor | None:
        """Return a gradient in the shape and dtype of its argument, None if nobody wants it; else raise."""
        name = type(self).__name__
        if shape is None:
            shapes = self._arguments[::2]
            place = next(i for i, r in enumerate(results) if r is not None and shapes[i] is None)
            raise RuntimeError(
                f"function {name} returned a gradient different than None at position {place + 1}, but the "
                "corresponding forward input was not a Variable"
            )
        if not isinstance(value, Tensor):
            raise RuntimeError(f"expected Variable or None (got {type_name(value)})")
        return None if spec is None else fitted(value, shape, spec, name, nr)

    def backward_graph(self, g: Any, keep: bool) -> list[Any]:
        return self.backward(g, keep, True)

    def undefined(self, keep: bool, create_graph: bool) -> list[Any]:
        return self.backward(PartialGrads([None] * (len(self._results) // 2)), keep, create_graph)


class _Apart(BackwardCFunction):
    """A node whose ctx is another object, because attributes that the user set on the ctx would hide the node's."""

    __slots__ = ()

    _apart: BackwardCFunction  # the ctx: a slot of the subclass of each `Function`

    def __getattr__(self, name: str) -> Any:
        if name == "_apart":
            raise AttributeError(name)
        return getattr(self._apart, name)

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        return self._apart.saved_tensors

    @property
    def _raw_saved_tensors(self) -> tuple[Any, ...]:
        return self._apart._raw_saved_tensors

    def maybe_clear_saved_tensors(self) -> None:
        BackwardCFunction.maybe_clear_saved_tensors(self._apart)

    def backward(self, g: Any, keep: bool, create_graph: bool = False) -> list[Any]:
        return BackwardCFunction.backward(self._apart, g, keep, create_graph)


def _apart_from(kind: Any) -> Any:
    """The class of nodes, of the same name, whose ctx is another object."""
    found = kind.__dict__.get("_apart_cls")
    if found is None:
        body = {"__slots__": ("_apart",), "__module__": kind.__module__}
        found = kind._apart_cls = type(kind.__name__, (_Apart, kind), body)
    return found


def marks(ctx: BackwardCFunction, name: str) -> tuple[Any, ...]:
    """Return what a method of `ctx` was given, as an attribute of this name holds it."""
    found = getattr(ctx, name)
    if not isinstance(found, tuple):
        kind = type(found).__name__
        raise RuntimeError(f"autograd internal error: {name} attribute is expected to be a tuple but is {kind}")
    return found


def start(cls: Any, edges: tuple[Any, ...], seq: int) -> Any:
    """Create the node of a call, before its forward runs."""
    node = _new(cls)
    node.edges, node.seq, node.extras = edges, seq, None
    node.to_save = node.saved_for_forward = node.dirty_tensors = node.non_differentiable = None
    node._saved = None
    node._materialize = node._keep = True
    return node


def entry_of(t: Any, version: int) -> Saved:
    """A saved tensor as an entry."""
    saved: Saved = _new(Saved)
    saved.value, saved.version, saved.nr = t, version, None
    saved.edge = None if not isinstance(t, Tensor) else t._edge if t._view is None else t._current_edge()
    return saved
