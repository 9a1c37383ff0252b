"""`Function`: operations with a backward of the user's own."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

from ..base.errors import saved_was_freed, saved_was_modified
from ..base.modes import MODE, without_grad
from ..graph.node import AccumulateGrad, Node, Part, Slot, next_seq
from ..tensor.saved import FREED, Packed, Same, pack_input
from ..tensor.tensor import Tensor, _new, alias, wrap
from ..tensor.views import FUNCTION, mark_view


class FunctionCtx:
    """What `forward` and `backward` of a `Function` share: the `ctx` argument.

    Any attribute may be set on it; tensors belong into `save_for_backward`.
    """

    def __init__(self) -> None:
        self._to_save: tuple[Any, ...] = ()
        self._for_forward: tuple[Any, ...] = ()
        self._non_differentiable: tuple[Tensor, ...] = ()
        self._dirty: tuple[Tensor, ...] = ()
        self._materialize = True
        self._saved: list[Any] | None = None
        self._node: Any = None  # a weak reference: the node holds the context
        self.needs_input_grad: tuple[bool, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep inputs, outputs or other tensors for backward: read them as `ctx.saved_tensors`.

        Raises:
            TypeError: for anything but tensors and None.
        """
        for i, t in enumerate(tensors):
            if t is not None and not isinstance(t, Tensor):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument {i} is of type {type(t).__name__}"
                )
        self._to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors for `jvp`."""
        for t in tensors:
            if t is not None and not isinstance(t, Tensor):
                raise TypeError(
                    f"save_for_forward expects all arguments to be tensors; you should save non-tensors as attributes "
                    f"on ctx, got {type(t).__name__}"
                )
        self._for_forward = tensors

    def mark_dirty(self, *args: Tensor) -> None:
        """Say which inputs `forward` wrote to in place. Each must be returned."""
        self._dirty = args

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """Say which results have no gradient."""
        self._non_differentiable = args

    def mark_shared_storage(self, *pairs: Any) -> None:
        """Does nothing, as in torch: shared storage is found without help."""

    def set_materialize_grads(self, value: bool) -> None:
        """Whether missing gradients reach backward as zeros (the default) or as None."""
        self._materialize = value

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What `save_for_backward` kept."""
        if self._saved is None:
            return self._for_forward or self._to_save
        return tuple(self._unpack(i) for i in range(len(self._saved)))

    saved_variables = saved_tensors

    def _unpack(self, i: int) -> Any:
        saved, version, edge, is_output = self._saved[i]  # type: ignore[index]
        name = self._node_name()
        if saved is FREED:
            raise saved_was_freed(name, f"saved_tensors[{i}]")
        if saved is None:
            return None
        if isinstance(saved, Packed):
            value = saved.get(_Name(name), f"saved_tensors[{i}]")
            out = alias(value._data, value._spec, value._shape)
            out._counter = value._counter
            out._edge = self._node_edge(edge) if is_output else edge
            return out
        if saved._counter[0] != version:
            producer = saved.grad_fn
            whose = "" if producer is None else f"output {saved.output_nr} of {producer.name()}"
            raise saved_was_modified(
                name, f"saved_tensors[{i}]", saved.dtype, saved._shape, whose, saved._counter[0], version
            )
        if not is_output:
            return saved
        out = alias(saved._data, saved._spec, saved._shape)
        out._counter = saved._counter
        out._edge = self._node_edge(edge)
        return out

    def _node_name(self) -> str:
        node = None if self._node is None else self._node()
        return "a custom Function" if node is None else node.name()

    def _node_edge(self, nr: Any) -> Any:
        node = None if self._node is None else self._node()
        if nr is None or node is None:
            return None
        return node if node.outputs == 1 else Slot(node, nr, node.outputs)


class FunctionNode(Node):
    """The node of a user's Function. `ctx` is reached through it, and it through `ctx`, weakly."""

    __slots__ = ("__dict__", "ctx", "function", "like", "outputs", "positions", "targets")

    def name(self) -> str:
        return self.function.__name__ + "Backward"

    def _call(self, g: Any, keep: bool, create_graph: bool) -> list[Any]:
        parts = tuple(g) if isinstance(g, Part) else (g,)
        given: list[Any] = []
        ctx = self.ctx
        for part, like in zip(parts, self.like, strict=True):
            if part is None:
                given.append(_zeros(like) if ctx._materialize and like is not None else None)
            else:
                given.append(part if isinstance(part, Tensor) else wrap(part))
        arguments: list[Any] = []
        numbers = iter(given)
        for differentiable, meta in self.targets:
            if differentiable:
                arguments.append(next(numbers))
            else:
                arguments.append(_zeros(meta) if ctx._materialize and meta is not None else None)
        result = self.function._backward()(ctx, *arguments)
        results = list(result) if isinstance(result, tuple | list) else [result]
        return self._checked(results, keep, create_graph)

    def _checked(self, results: list[Any], keep: bool, create_graph: bool) -> list[Any]:
        count = len(self.ctx.needs_input_grad)
        name = self.name()
        while len(results) > count and results[-1] is None:
            results.pop()
        if len(results) != count:
            raise RuntimeError(
                f"function {name} returned an incorrect number of gradients (expected {count}, got {len(results)})"
            )
        gradients: list[Any] = []
        for i, (value, (shape, spec), edge) in enumerate(
            (results[p], meta, e) for p, meta, e in zip(self.positions[0], self.positions[1], self.edges, strict=True)
        ):
            if edge is None or value is None:
                gradients.append(None)
                continue
            if not isinstance(value, Tensor):
                raise RuntimeError(
                    f"Function {name} returned an invalid gradient at index {i} - expected Variable or None, got "
                    f"{type(value).__name__}"
                )
            if value._shape != shape:
                value = _expandable(value, shape, name, i)
            if value._spec is not spec:
                if value._spec.device != spec.device:
                    raise RuntimeError(
                        f"Function {name} returned an invalid gradient at index {i} - expected device {spec.device} "
                        f"but got {value.device}"
                    )
                if value._spec.dtype.is_complex and not spec.dtype.is_complex:
                    value = value.real
                value = value.to(spec.dtype)
            gradients.append(value if create_graph else value._data)
        if not keep:
            self._free()
        return gradients

    def _free(self) -> None:
        saved = self.ctx._saved
        if saved:
            self.ctx._saved = [(FREED if s is not None else None, v, e, o) for s, v, e, o in saved]

    def backward(self, g: Any, keep: bool) -> list[Any]:
        return self._call(g, keep, False)

    def backward_graph(self, g: Any, keep: bool) -> list[Any]:
        return self._call(g, keep, True)

    def undefined(self, keep: bool, create_graph: bool) -> list[Any]:
        return self._call(Part([None] * self.outputs), keep, create_graph)

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        return self.ctx.saved_tensors

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in FunctionNode.__slots__:
            raise AttributeError(name)
        return getattr(self.ctx, name)


def _zeros(meta: Any) -> Tensor:
    from ..ops.fill import zeros

    shape, spec = meta
    return zeros(shape, dtype=spec.dtype)


def _expandable(value: Tensor, shape: tuple[int, ...], name: str, i: int) -> Tensor:
    """A gradient of another shape: summed down if the input had been broadcast, else refused."""
    from ..ops.reduce import sum_to_size

    extra = len(value._shape) - len(shape)
    fits = extra >= 0 and all(n in (1, m) for n, m in zip(shape, value._shape[extra:], strict=True))
    if not fits:
        raise RuntimeError(
            f"Function {name} returned an invalid gradient at index {i} - got {list(value._shape)} but expected shape "
            f"compatible with {list(shape)}"
        )
    return sum_to_size(value, shape)


class Function:
    """An operation with a backward of its own. Subclass it; call it by `apply`.

    `forward(ctx, *args)`, or `forward(*args)` beside `setup_context(ctx, inputs, output)`;
    `backward(ctx, *grad_outputs)` (or `vjp`) returns one gradient for each argument of forward;
    `jvp(ctx, *tangents)` returns the tangents of the results.

    Example::

        >>> import gradpack as torch
        >>> class Exp(torch.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         out = x.exp()
        ...         ctx.save_for_backward(out)
        ...         return out
        ...     @staticmethod
        ...     def backward(ctx, grad):
        ...         out, = ctx.saved_tensors
        ...         return grad * out
        >>> x = torch.zeros(1, requires_grad=True)
        >>> Exp.apply(x).backward()
        >>> x.grad
        tensor([1.])
    """

    generate_vmap_rule = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError(
            f"{type(self).__name__} should not be instantiated. Methods on autograd functions are all static, so you "
            f"should invoke them on the class itself: {type(self).__name__}.apply(...)"
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd "
            "function with static forward method: call it by .apply(...)"
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            "backward mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        raise NotImplementedError("To use autograd.Function with vmap, you must either override the vmap static method")

    @classmethod
    def _backward(cls) -> Callable[..., Any]:
        own, other = cls.backward is not Function.backward, cls.vjp is not Function.vjp
        if own and other:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only "
                "implement one of them."
            )
        return cls.vjp if other else cls.backward

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Call the operation."""
        mode = MODE.get()
        ctx = FunctionCtx()
        with_setup = cls.setup_context is not Function.setup_context
        if kwargs:
            import inspect

            bound = inspect.signature(cls.forward).bind(*(() if with_setup else (ctx,)), *args, **kwargs)
            bound.apply_defaults()
            args = bound.args if with_setup else bound.args[1:]
        edges = [a._current_edge() if isinstance(a, Tensor) else None for a in args]
        ctx.needs_input_grad = tuple(e is not None for e in edges)
        record = mode.grad and any(ctx.needs_input_grad)
        versions = [a._counter[0] if isinstance(a, Tensor) and not a.is_inference() else 0 for a in args]
        token = MODE.set(mode.replace(grad=False, dual=0) if mode.dual else without_grad(mode))
        try:
            if with_setup:
                output = cls.forward(*args)
                cls.setup_context(ctx, args, output)
            else:
                output = cls.forward(ctx, *args)
        finally:
            MODE.reset(token)
        single = not isinstance(output, tuple | list)
        outputs: list[Any] = [output] if single else list(output)
        outs = _wrap_outputs(cls, ctx, args, edges, outputs, record, versions, mode)
        if mode.dual:
            _push_tangents(cls, ctx, args, outs, mode)
        return outs[0] if single else tuple(outs)


class _Name:
    """Stands for a node that there is not, in messages."""

    def __init__(self, name: str) -> None:
        self._name = name

    def name(self) -> str:
        return self._name


def _wrap_outputs(
    cls: type[Function],
    ctx: FunctionCtx,
    args: tuple[Any, ...],
    edges: list[Any],
    outputs: list[Any],
    record: bool,
    versions: list[int],
    mode: Any,
) -> list[Any]:
    """The results as the user gets them.

    Inputs that are returned as they are become new tensors; dirty ones keep their identity.
    """
    from ..declare.inplace import check_writable

    dirty = {id(t) for t in ctx._dirty}
    for t in ctx._dirty:
        if not isinstance(t, Tensor):
            raise TypeError(f"mark_dirty() takes tensors, not {type(t).__name__}")
        if not any(t is a for a in args) and not any(t is o for o in outputs):
            raise RuntimeError("mark_dirty() was called with a tensor that is no input")
        if record and type(t._edge) is AccumulateGrad:
            raise RuntimeError(
                f"a leaf Variable that requires grad is being used in an in-place operation ({cls.__name__})."
            )
        if not any(t is o for o in outputs):
            raise RuntimeError(
                "Some elements marked as dirty during the forward method were not returned as output. The inputs that "
                "are modified inplace must all be outputs of the Function."
            )
    non_differentiable = {id(t) for t in ctx._non_differentiable}
    results: list[Any] = []
    differentiable: list[bool] = []
    for out in outputs:
        if not isinstance(out, Tensor):
            results.append(out)
            differentiable.append(False)
            continue
        is_input = next((i for i, a in enumerate(args) if a is out), None)
        counts = id(out) not in non_differentiable and out._spec.dtype.category >= 2
        if id(out) in dirty:
            if record:
                check_writable(out, cls.__name__, True)
            made = out
        elif is_input is not None:
            made = alias(out._data, out._spec, out._shape)
            made._counter = out._counter
            mark_view(made, out, _identity, (), FUNCTION)
        elif out._view is not None and record:
            made = out
            out._view.meta = FUNCTION if len(outputs) == 1 else "multiple"
        else:
            made = out
        results.append(made)
        differentiable.append(counts)
    if record:
        _record(cls, ctx, args, edges, results, differentiable, outputs, mode)
    return results


def _identity(x: Tensor) -> Tensor:
    return x.view_as(x)


def _record(
    cls: type[Function],
    ctx: FunctionCtx,
    args: tuple[Any, ...],
    edges: list[Any],
    results: list[Any],
    differentiable: list[bool],
    outputs: list[Any],
    mode: Any,
) -> None:
    from ..declare.inplace import set_history

    node: Any = _new(_node_class(cls))  # type: ignore[arg-type]
    node.seq, node.extras = next_seq(), None
    node.function = cls
    node.ctx = ctx
    ctx._node = weakref.ref(node)
    positions = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
    node.edges = tuple(edges[i] for i in positions)
    node.positions = (positions, [(args[i]._shape, args[i]._spec) for i in positions])
    node.targets = [
        (d, (r._shape, r._spec) if isinstance(r, Tensor) else None)
        for r, d in zip(results, differentiable, strict=True)
    ]
    node.like = [(r._shape, r._spec) for r, d in zip(results, differentiable, strict=True) if d]
    node.outputs = len(node.like)
    if mode.anomaly is not None:
        mode.anomaly.note(node)
    numbers: dict[int, int | None] = {}
    nr = 0
    for given, made, counts in zip(outputs, results, differentiable, strict=True):
        if not isinstance(made, Tensor):
            continue
        if not counts:
            if made._edge is not None and made is given:
                made._edge = None
            numbers[id(given)] = None
            continue
        edge: Any = node if node.outputs == 1 else Slot(node, nr, node.outputs)
        if any(made is t for t in ctx._dirty):
            set_history(made, edge)
        else:
            made._edge = edge
            if made._view is not None:
                made._view.version = made._counter[0]
        numbers[id(given)] = nr
        nr += 1
    saved: list[Any] = []
    for i, t in enumerate(ctx._to_save):
        if t is None:
            saved.append((None, 0, None, False))
            continue
        is_output = id(t) in numbers and not any(t is a and not any(t is d for d in ctx._dirty) for a in args)
        kept: Any = t
        edge = numbers.get(id(t)) if is_output else t._edge
        if is_output:
            kept = alias(t._data, t._spec, t._shape)  # the result itself would be a cycle
            kept._counter = t._counter
        version = t._counter[0]
        if mode.hooks is not None or mode.mutation is not None:
            packed = kept = pack_input(mode, t, (node.name(), f"saved_tensors[{i}]"))
            if is_output and packed.handle is t:
                packed.handle = Same(t)
        if mode.recorder is not None:
            mode.recorder.saved(cls.__name__, f"saved_tensors[{i}]", t, getattr(kept, "handle", None))
        saved.append((kept, version, edge, is_output))
    ctx._saved = saved
    ctx._to_save = ctx._non_differentiable = ctx._dirty = ()


@functools.cache
def _node_class(cls: Any) -> Any:
    return type(cls.__name__ + "Backward", (FunctionNode,), {"__slots__": (), "__module__": cls.__module__})


def _push_tangents(cls: type[Function], ctx: FunctionCtx, args: tuple[Any, ...], outs: list[Any], mode: Any) -> None:
    tangents = [a._tangents if isinstance(a, Tensor) else None for a in args]
    if all(t is None for t in tangents):
        return
    given = [
        _zeros((a._shape, a._spec)) if t is None and isinstance(a, Tensor) and ctx._materialize else t
        for a, t in zip(args, tangents, strict=True)
    ]
    token = MODE.set(mode.replace(dual=0))
    try:
        result = cls.jvp(ctx, *given)
    finally:
        MODE.reset(token)
    results = result if isinstance(result, tuple | list) else (result,)
    if len(results) != len(outs):
        raise RuntimeError(f"{cls.__name__}.jvp returned {len(results)} tangents for {len(outs)} results")
    for out, tangent in zip(outs, results, strict=True):
        if tangent is not None and isinstance(out, Tensor):
            out._tangents = tangent


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a `backward` that cannot be differentiated: doing so raises RuntimeError."""

    @functools.wraps(fn)
    def wrapper(ctx: Any, *args: Any) -> Any:
        mode = MODE.get()
        token = MODE.set(mode.replace(grad=False))
        try:
            results = fn(ctx, *args)
        finally:
            MODE.reset(token)
        if not mode.grad or not any(isinstance(a, Tensor) and a.requires_grad for a in args):
            return results
        single = not isinstance(results, tuple)
        items = (results,) if single else results
        marked = tuple(_Refuse.apply(r.detach().requires_grad_()) if isinstance(r, Tensor) else r for r in items)
        return marked[0] if single else marked

    return wrapper


class _Refuse(Function):
    """An identity whose backward says that there is none."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")


_Refuse.__name__ = "DelayedError"
