"""The node of a call of a `Function`. It is also the `ctx` that `forward` and `backward` get."""

from __future__ import annotations

import warnings
import weakref
from typing import Any, ClassVar

from ...base.dtypes import FLOATING
from ...base.errors import saved_was_freed, saved_was_modified
from ...core.packed import Packed, alias_for_hooks, keep_attributes, pack_input
from ...core.saved import FREED, Owner, notify_recorder
from ...core.tensor import Tensor, _new, alias, wrap
from ...core.views import base_of
from ...graph.node import Node, OutputSlot, PartialGrads
from .context import FunctionCtx, Saved, SavedOfFunction

_EARLY = (
    "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True is set on the autograd.Function. "
    "Either access saved_tensors only once, or set clear_saved_tensors_on_access=False."
)
_HEAP = 1 << 9  # the flag of classes that were made by a class statement
# Attributes that the engine and error messages use on a node, which attributes set by the user must not hide.
_OWN = frozenset({"backward", "backward_graph", "undefined", "name"})


class BackwardCFunction(Node, FunctionCtx):
    """The node of a custom `Function`, and the `ctx` of the same call.

    Each `Function` has a subclass of its own, `_backward_cls`.
    """

    needs_input_grad: tuple[bool, ...]
    saved_for_forward: Any
    to_save: Any
    dirty_tensors: Any
    non_differentiable: Any

    _arguments: list[Any]  # (shape, spec) of each argument of forward, None for one that is no tensor
    _results: list[Any]  # likewise for each result
    _saved: Any  # None before forward is done, then a list of `Saved`; FREED after backward
    _accessed: bool  # were they read under clear_saved_tensors_on_access?
    _keep: bool  # does the current backward pass retain the graph?
    _materialize: bool  # see `set_materialize_grads`
    _apart: BackwardCFunction | None  # the ctx, if separate: the user's attributes hide the node's
    _home: Any  # on such a ctx: a weak reference to the node

    __slots__ = ("__dict__", *__annotations__)

    _forward_cls: ClassVar[Any]

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
        ctx = self._ctx()
        if ctx.saved_for_forward is not None:
            return ctx.saved_for_forward
        if ctx._saved is FREED:
            if ctx._accessed:
                raise RuntimeError(_EARLY)
            raise saved_was_freed(type(self).__name__, "saved_tensors")
        if ctx._saved is None:
            return ()
        found = tuple(ctx._unpack(i, s) for i, s in enumerate(ctx._saved))
        if self._forward_cls.clear_saved_tensors_on_access:
            ctx._saved, ctx._accessed = FREED, True
        return found

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        """Deprecated name of `saved_tensors`."""
        warnings.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2)
        return self.saved_tensors

    @property
    def _raw_saved_tensors(self) -> tuple[Any, ...]:
        ctx = self._ctx()
        if ctx._saved is FREED:
            raise saved_was_freed(type(self).__name__, "saved_tensors")
        return tuple(SavedOfFunction.of(ctx, s) for s in ctx._saved or ())

    def maybe_clear_saved_tensors(self) -> None:
        """Free the saved tensors, unless the current backward pass retains the graph."""
        ctx = self._ctx()
        if not ctx._keep:
            ctx._saved = FREED

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
        from ..function import Function

        cls = self._forward_cls
        own, other = cls.backward is not Function.backward, cls.vjp is not Function.vjp
        if own and other:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only "
                "implement one of them."
            )
        return cls.vjp if other else cls.backward

    # -- the node's side --

    def _ctx(self) -> BackwardCFunction:
        return self if self._apart is None else self._apart

    def __getattr__(self, name: str) -> Any:
        if name != "_apart" and self._apart is not None:
            return getattr(self._apart, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _settle(self, edges: tuple[Any, ...], seq: int) -> BackwardCFunction:
        """Return the node after forward: this object, unless the user set attributes that would hide the node's."""
        from ...core.hooks import NodeExtras

        extras: Any = self.extras
        same = self.edges is edges and self.seq is seq and (extras is None or type(extras) is NodeExtras)
        if same and _OWN.isdisjoint(self.__dict__):
            return self
        node: BackwardCFunction = start(type(self), edges, seq)
        node._apart, self._home = self, weakref.ref(node)
        return node

    def _save(self, results: list[Any], node: BackwardCFunction, mode: Any) -> None:
        """Save the tensors of `save_for_backward`. Results are kept without their grad_fn, which would be a cycle."""
        found = []
        for i, t in enumerate(marks(self, "to_save")):
            saved = _new(Saved)
            saved.version, saved.edge, saved.nr, saved.value = 0, None, None, t
            found.append(saved)
            if t is None:
                continue
            if not isinstance(t, Tensor):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument {i} is of type {type(t).__name__}"
                )
            saved.version = t._counter[0]
            edge = saved.edge = t._current_edge()
            nr = next((nr for nr, r in enumerate(results) if r is t), None)
            if nr is not None and edge is not None:
                saved.nr, saved.edge = nr, None
                saved.value = t = alias_for_hooks(t, edge)
            elif t._view is not None and (base := base_of(t)) is not t and any(base is r for r in results):
                saved.value = t = alias_for_hooks(t, None)
            packed = None
            label = (type(self).__name__, f"saved_tensors[{i}]")
            if mode.hooks is not None or mode.mutation is not None:
                packed = saved.value = pack_input(mode, t, label, node)
            if mode.recorder is not None:
                saved.hold = notify_recorder(mode, self._forward_cls.__name__, label, t, packed, node)
        self._saved = found

    def _unpack(self, i: int, saved: Saved) -> Any:
        value, name = saved.value, type(self).__name__  # `self.name` may be the user's
        if value is None:
            return None
        if isinstance(value, Packed):
            value = value.get(Owner(name), f"saved_tensors[{i}]")
            if saved.edge is None and saved.nr is None and value._edge is None:
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
        out._counter, out._edge, out._tangents = value._counter, saved.edge, value._tangents
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
        count = len(node._results)
        return node if count == 1 else OutputSlot(node, nr, count)

    def _call(self, g: Any, keep: bool, create_graph: bool) -> list[Any]:
        ctx = self._ctx()
        given: list[Any] = []
        for part, meta in zip(g if type(g) is PartialGrads else (g,), self._results, strict=True):
            if part is None:
                given.append(None if meta is None or not ctx._materialize else zeros(meta))
            else:
                given.append(part if isinstance(part, Tensor) else wrap(part))
        ctx._keep = keep
        try:
            result = BackwardCFunction.apply(ctx, *given)
        finally:
            ctx._keep = True
        del given
        gradients = self._checked(result if isinstance(result, tuple) else (result,), create_graph)
        if not keep:
            ctx._saved = FREED
        return gradients

    def _checked(self, results: tuple[Any, ...], create_graph: bool) -> list[Any]:
        """Return one gradient for each edge, from the results of the user's backward; raise if they do not fit."""
        count = len(self._arguments)
        name = type(self).__name__
        if len(results) > count and all(r is None for r in results[count:]):
            results = results[:count]
        if len(results) != count:
            raise RuntimeError(
                f"function {name} returned an incorrect number of gradients (expected {count}, got {len(results)})"
            )
        gradients: list[Any] = []
        for i, (value, meta) in enumerate(zip(results, self._arguments, strict=True)):
            if meta is None:
                if value is not None:
                    raise RuntimeError(
                        f"function {name} returned a gradient different than None at position {i + 1}, but the "
                        "corresponding forward input was not a Variable"
                    )
                continue
            nr = len(gradients)
            if value is not None and not isinstance(value, Tensor):
                raise RuntimeError(f"expected Variable or None (got {_type_name(value)})")
            if value is None or self.edges[nr] is None:
                gradients.append(None)
                continue
            shape, spec = meta
            if value._shape != shape or value._spec is not spec:
                value = _fitted(value, shape, spec, name, nr)
            gradients.append(value if create_graph else value._data)
        return gradients

    def backward(self, g: Any, keep: bool) -> list[Any]:
        return self._call(g, keep, False)

    def backward_graph(self, g: Any, keep: bool) -> list[Any]:
        return self._call(g, keep, True)

    def undefined(self, keep: bool, create_graph: bool) -> list[Any]:
        return self._call(PartialGrads([None] * len(self._results)), keep, create_graph)


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
    node._saved = node._apart = node._home = None
    node._materialize, node._accessed, node._keep = True, False, True
    return node


def zeros(meta: Any) -> Tensor:
    """Zeros with a shape and spec."""
    from ...ops.create.fill import zeros as make

    shape, spec = meta
    return make(shape, dtype=spec.dtype, device=spec.device)


def _type_name(value: Any) -> str:
    """The name of a value's type in torch's error messages: with its module, for types of compiled modules."""
    kind = type(value)
    module = kind.__module__.replace("gradpack.base", "torch").partition(".")[0]
    if module == "builtins" or (kind.__flags__ & _HEAP and module != "torch"):
        return kind.__name__
    return f"{module}.{kind.__name__}"


def _fitted(value: Tensor, shape: tuple[int, ...], spec: Any, name: str, i: int) -> Tensor:
    """Return a gradient in the shape and dtype of its input: summed if the input was broadcast; else raise."""
    from ...ops.reduce.reduce import sum_to_size

    if value._shape != shape:
        extra = len(value._shape) - len(shape)
        if extra < 0 or not all(n in (1, m) for n, m in zip(shape, value._shape[extra:], strict=True)):
            raise RuntimeError(
                f"Function {name} returned an invalid gradient at index {i} - got {list(value._shape)} but expected "
                f"shape compatible with {list(shape)}"
            )
        value = sum_to_size(value, shape)
    if value._spec is not spec:
        if value._spec.device != spec.device:
            raise RuntimeError(
                f"Function {name} returned an invalid gradient at index {i} - expected device {spec.device} but got "
                f"{value.device}"
            )
        given = value._spec.dtype
        if given.category != FLOATING and given.is_complex != spec.dtype.is_complex:
            raise RuntimeError(
                "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex) to be true, but "
                f"got false. Function {name} returned a gradient of dtype {given} at index {i} for an input of "
                f"{spec.dtype}: convert it with .to(dtype), or take its real part"
            )
        value = value.to(spec.dtype)
    return value
