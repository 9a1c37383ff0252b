"""`Function.apply`: runs the forward, and sets the grad_fn and the tangents of its results."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

from ...base.callers import depth_of_user
from ...base.dtypes import FLOATING
from ...base.modes import MODE, TRANSFORMS, Mode, using, within_function
from ...core.tensor import InferenceCounter, Tensor, alias
from ...core.views import FUNCTION, MULTIPLE, base_of, mark_view, refresh
from ...declare.batching.batch_tensor import outside
from ...declare.dispatch.tangents import tangent_of
from ...declare.generate.profiling import FUNCTION as FUNCTION_CALL
from ...declare.generate.profiling import watched
from ...declare.inplace.inplace import set_history
from ...declare.inplace.write_checks import check_writable
from ...graph.node import AccumulateGrad, NoGradEdge, OutputSlot, next_seq
from .gradients import zeros
from .node import NO_TENSOR, UNWANTED, BackwardCFunction, marks, start

_MANY_WITH_VIEW = (
    "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return more "
    "than one Tensor. This is not supported by the current autograd engine. You should either make sure the input is "
    "not a view (using .clone() for example) or make your Function only return one Tensor (potentially splitting it "
    "into two Functions: one doing the inplace that returns a single Tensor and a second one that does the other "
    "operations). You can ask on the forum https://discuss.pytorch.org/ if you need help to do this change."
)


_NO_INPUT = (
    "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated should be "
    "passed to ctx.mark_dirty()."
)


def call(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call `cls.forward` and record the call, whatever the arguments and modes."""
    with_setup = cls.setup_context is not BackwardCFunction._no_setup
    if MODE.get().profiler is not None:
        values = (*args, *kwargs.values())
        return watched(cls, cls.__name__, lambda *_: _call(cls, args, kwargs, with_setup), values, FUNCTION_CALL)
    return _call(cls, args, kwargs, with_setup)


def _call(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any], with_setup: bool) -> Any:
    if with_setup and (kwargs or not _takes(cls.forward, len(args))):
        bound = inspect.signature(cls.forward).bind(*args, **kwargs)
        bound.apply_defaults()
        args, kwargs = bound.args, bound.kwargs
    mode = MODE.get()
    if kwargs and not (with_setup and mode.levels):
        args, kwargs = _by_position(cls, args, kwargs, with_setup), {}
    kind = cls._backward_cls
    if mode.levels or TRANSFORMS.get():
        if not with_setup and not all(one.inner for one in (*mode.levels, *TRANSFORMS.get())):  # not of `autograd`
            raise RuntimeError(
                "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it "
                "must override the setup_context staticmethod. For more details, please see "
                "https://pytorch.org/docs/main/notes/extending.func.html"
            )
        if mode.levels:
            from ...base.tree import tree_leaves
            from .vmap import call_mapped

            level = mode.levels[-1]
            if any(map(level.has, tree_leaves(args))) or any(isinstance(v, Tensor) for v in kwargs.values()):
                return call_mapped(cls, level, args, kwargs, with_setup)
            with outside():
                return call(cls, args, kwargs)
        kind = _in_transforms(cls)
    return _record(cls, kind, args, mode, with_setup)


def _takes(forward: Any, count: int) -> bool:
    """Whether a function takes exactly this number of positional arguments, and nothing else."""
    code = getattr(forward, "__code__", None)
    if code is None or code.co_argcount != count or code.co_kwonlyargcount or forward.__dict__:
        return False
    return not code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)


def _record(cls: Any, kind: Any, args: tuple[Any, ...], mode: Mode, with_setup: bool) -> Any:
    """Run forward; its context becomes the node of the results if an argument requires grad."""
    needs, inputs = [], []
    for a in args:
        if type(a) is Tensor or isinstance(a, Tensor):
            if a._view is not None:
                refresh(a)
            edge = a._edge
            needs.append(edge is not None)
            inputs.append(None if type(edge) is NoGradEdge else edge)
        else:
            needs.append(False)
    edges = tuple(inputs)
    ctx = start(kind, edges, seq := next_seq())
    ctx.needs_input_grad = tuple(needs)
    pushed = [tangent_of(a) for a in args] if mode.forward else None
    try:
        try:
            MODE.set(mode.within or within_function(mode))
            if with_setup:
                output = cls.forward(*args)
                cls.setup_context(ctx, args, output)
            else:
                output = cls.forward(ctx, *args)
        finally:
            MODE.set(mode)
        return finish(cls, ctx, edges, seq, args, output, mode, mode.grad and True in needs, with_setup, pushed)
    finally:  # results hold the node: drop its references to marked tensors
        ctx.to_save = ctx.saved_for_forward = ctx.non_differentiable = ctx.dirty_tensors = None


def finish(
    cls: Any,
    ctx: BackwardCFunction,
    edges: tuple[Any, ...],
    seq: int,
    args: tuple[Any, ...],
    output: Any,
    mode: Mode,
    recorded: bool,
    with_setup: bool = False,
    pushed: list[Any] | None = None,
) -> Any:
    """Return the results of a call whose forward has run, with their history.

    Args:
        recorded: whether the context, or a node apart from it, becomes the node of the results.
        with_setup: whether `setup_context` filled the context.
        pushed: the tangents of the arguments, in forward mode.
    """
    node = ctx._settle(edges, seq) if recorded else None
    given = output if isinstance(output, tuple) else (output,)
    results = _results(cls, ctx, node, args, given, with_setup)
    if pushed is not None and any(t is not None for t in pushed):
        set_tangents(ctx, args, pushed, given, results)
    if node is not None:
        _note(ctx, node, args, edges, given)
        if ctx.to_save is not None:
            ctx._save(results, node, mode)
        if mode.anomaly is not None:
            mode.anomaly.note(node)
    return tuple(results) if given is output else results[0]


def _note(ctx: Any, node: Any, args: tuple[Any, ...], edges: tuple[Any, ...], given: tuple[Any, ...]) -> None:
    """Note on the node the shape and spec of each argument and result, by which gradients are checked and made."""
    inputs: list[Any] = []
    following = iter(edges).__next__
    for a in args:
        if isinstance(a, Tensor):
            inputs += (a._shape, a._spec) if following() is not None else UNWANTED
        else:
            inputs += NO_TENSOR
    outputs: list[Any] = []
    silent = () if ctx.__dict__.get("_materialize_non_diff_grads", True) else _constant(ctx)
    for t in given:
        outputs += (t._shape, t._spec) if isinstance(t, Tensor) and id(t) not in silent else NO_TENSOR
    ctx._arguments = node._arguments = inputs
    ctx._results = node._results = outputs


def _in_transforms(cls: Any) -> Any:
    """The node class of a `Function` inside a functional transform: a subclass named `...GeneratedBackward`."""
    found = cls.__dict__.get("_generated_cls")
    if found is None:
        body = {"__slots__": (), "__module__": cls._backward_cls.__module__}
        found = cls._generated_cls = type(f"{cls.__name__}GeneratedBackward", (cls._backward_cls,), body)
    return found


def _by_position(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any], with_setup: bool) -> tuple[Any, ...]:
    """Return the positional arguments, including those that were passed by keyword."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    params = [p for p in inspect.signature(cls.forward).parameters.values() if p.kind in kinds]
    params = params if with_setup else params[1:]
    names = [p.name for p in params]
    values = list(args)
    for name in kwargs:
        if name not in names:
            raise TypeError(f"forward() got an unexpected keyword argument '{name}'")
        if names.index(name) < len(args):
            raise TypeError(f"forward() got multiple values for argument '{name}'")
    for p in params[len(args) : max(map(names.index, kwargs)) + 1]:
        if p.name not in kwargs:
            raise TypeError(f"forward() missing required argument: '{p.name}' (position {len(values)})")
        values.append(kwargs[p.name])
    return tuple(values)


def _results(
    cls: Any, ctx: BackwardCFunction, node: BackwardCFunction | None, args: Any, given: tuple[Any, ...], setup: bool
) -> list[Any]:
    """Return the results with their grad_fn set.

    Inputs that are returned as-is become new tensors; dirty ones stay the same objects.
    """
    inputs = set(map(id, args))
    dirty = _dirty(ctx, given) if ctx.dirty_tensors is not None else ()
    constant = _constant(ctx) if ctx.non_differentiable is not None else ()
    results: list[Any] = []
    differentiable, views, count = 0, False, len(given)
    for nr, t in enumerate(given):
        if not isinstance(t, Tensor):
            results.append(t)
            continue
        is_input, is_dirty = id(t) in inputs, id(t) in dirty
        if node is None or not t._spec.differentiable or id(t) in constant:
            made = _without_history(t, is_input, is_dirty, ctx if setup else None)
            if made._view is not None and not (is_input and is_dirty):
                made._view.meta = FUNCTION
        else:
            differentiable += 1
            edge: Any = node if count == 1 else OutputSlot(node, nr, count)
            made = _same(t, ctx if setup else None) if is_input and not is_dirty else t
            if is_dirty:
                _rebase(cls, t, edge, is_input, sum(isinstance(t, Tensor) for t in given) > 1)
            else:
                made._edge = edge
                if made._view is not None:
                    made._view.meta = FUNCTION
                    if not made.is_inference():
                        made._view.version = made._counter[0]
        results.append(made)
        views = views or made._view is not None
    if views and differentiable > 1:
        for t in results:
            if isinstance(t, Tensor) and t._view is not None:
                t._view.meta = MULTIPLE
    return results


def _dirty(ctx: BackwardCFunction, given: tuple[Any, ...]) -> set[int]:
    found = set()
    for i, t in enumerate(marks(ctx, "dirty_tensors")):
        if not isinstance(t, Tensor):
            raise RuntimeError(f"mark_dirty can only accept variables, but argument {i} is of type {type(t).__name__}")
        found.add(id(t))
        if type(t._counter) is not InferenceCounter:
            t._counter[0] += 1
        if not any(t is o for o in given):
            raise RuntimeError(
                "Some elements marked as dirty during the forward method were not returned as output. The inputs that "
                "are modified inplace must all be outputs of the Function."
            )
    return found


def _constant(ctx: BackwardCFunction) -> set[int]:
    marked = marks(ctx, "non_differentiable")
    for t in marked:
        if not isinstance(t, Tensor):
            raise RuntimeError(f"mark_non_differentiable only accepts variable arguments, but got {type(t).__name__}")
    return set(map(id, marked))


def _without_history(t: Tensor, is_input: bool, is_dirty: bool, setup: BackwardCFunction | None) -> Tensor:
    """Return a result as a tensor that does not require grad."""
    if not t.requires_grad:
        return _same(t, setup) if is_input and not is_dirty else t
    if is_input:
        return t.detach()
    if t._view is None:
        if t.is_leaf:
            t.requires_grad = False
        else:
            t._edge = None
    return t


def _rebase(cls: Any, t: Tensor, edge: Any, is_input: bool, many: bool) -> None:
    """Set the grad_fn of a result that forward modified in place; `many` if there are several results."""
    if (t._edge is None or type(t._edge) in (AccumulateGrad, NoGradEdge)) and t.requires_grad:
        raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation.")
    if not is_input:
        if t._view is not None:
            raise RuntimeError(_NO_INPUT)
        warnings.warn(_NO_INPUT, stacklevel=depth_of_user())
    elif many and t._view is not None:
        raise RuntimeError(_MANY_WITH_VIEW)
    check_writable(t, cls.__name__, True)
    set_history(t, edge)
    if t._view is not None:
        t._view.version = -1  # its history is remade from that of the base


def _same(t: Tensor, setup: BackwardCFunction | None) -> Tensor:
    """Return an alias, without history, of an input that forward returned as-is.

    Args:
        setup: the context, if `setup_context` filled it.
    """
    if setup is not None and any(t is one for one in (*(setup.to_save or ()), *(setup.saved_for_forward or ()))):
        raise RuntimeError(
            "An input that has been returned as-is as output is being saved for backward. This is not supported if you "
            "override setup_context. You should return and save a view of the input instead, e.g. with x.view_as(x) or "
            "setup ctx inside the forward function itself."
        )
    made: Tensor = alias(t._data, t._spec, t._shape)
    made._counter = t._counter
    mark_view(made, t, lambda x: x.view_as(x), (), FUNCTION)
    return made


def _check_view(result: Tensor, tangent: Tensor, tangents: list[Any], places: dict[int, int]) -> None:
    """Raise if a result is a view of an argument but its tangent is no view of the argument's tangent."""
    if tangent._view is None:
        raise RuntimeError(
            "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a view."
        )
    view = result._view
    while view is not None and id(view.parent) not in places:
        view = view.parent._view
    given = None if view is None else tangents[places[id(view.parent)]]
    if view is None or given is None or base_of(tangent) is base_of(given):
        return
    what = "the given grad input" if given._view is None else "the same base as the given grad input"
    raise RuntimeError(f"A custom Function is returning a view but the jvp is not returning a view of {what}.")


def set_tangents(
    ctx: BackwardCFunction, args: tuple[Any, ...], tangents: list[Any], given: tuple[Any, ...], results: list[Any]
) -> None:
    """Set the tangents of the results, which the user's `jvp` computes."""
    from ..forward_ad import wrong_size

    if ctx._materialize:
        tangents = [
            zeros(a._shape, a._spec)
            if t is None and isinstance(a, Tensor) and a._spec.dtype.category >= FLOATING
            else t
            for a, t in zip(args, tangents, strict=True)
        ]
    versions = [0 if t is None else t._counter[0] for t in tangents]
    with using(tangents=False):
        found = ctx.apply_jvp(*tangents)
    found = found if isinstance(found, tuple) else (found,)
    if len(found) != len(given):
        raise RuntimeError(
            f"Function's jvp returned an invalid number of forward gradients (expected {len(given)} but got "
            f"{len(found)})"
        )
    places = {id(a): i for i, a in enumerate(args) if isinstance(a, Tensor)}
    dirty = {id(t) for t in ctx.dirty_tensors or ()}
    constant = {id(t) for t in ctx.non_differentiable or ()}
    for nr, (t, result, tangent) in enumerate(zip(given, results, found, strict=True)):
        if tangent is not None and not isinstance(tangent, Tensor):
            raise RuntimeError(f"expected Variable or None (got {type(tangent).__name__}) for grad output {nr}.")
        if not isinstance(t, Tensor) or id(t) in constant or t._spec.dtype.category < FLOATING:
            if tangent is not None:
                raise RuntimeError(
                    f"Function's jvp returned a gradient at position {nr}, but  the corresponding forward output is "
                    "not a differentiable Tensor.You should return None at that position instead."
                )
        elif id(t) in dirty:
            place = places.get(id(t))
            mine = None if place is None else tangents[place]
            if place is not None and mine is not None and (mine._counter[0] == versions[place] or tangent is not mine):
                raise RuntimeError(
                    "An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is "
                    "modifying an input inplace, then the jvp function must modify the corresponding gradient inplace."
                )
        elif tangent is not None:
            if result._view is not None:
                _check_view(result, tangent, tangents, places)
            if tangent._shape != result._shape:
                raise wrong_size(result, tangent)
        if tangent is not None:
            result._tangents = tangent
