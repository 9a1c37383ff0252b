"""How a tangent goes through an operation, by kind."""

from __future__ import annotations

from typing import Any

from ...base import late
from ...base.dtypes import FLOATING
from ...base.modes import MODE, Mode
from ...core.tensor import Tensor, alias
from ...core.views import base_of, chain_of
from ..op import Op
from .unbroadcast import with_zero_slope


def tangent_of(value: Any) -> Tensor | None:
    """Return the tangent of a tensor; that of a view may come from its base, if the base got one later."""
    if not isinstance(value, Tensor):
        return None
    if value._tangents is None and value._view is not None:
        tangent = base_of(value)._tangents
        if tangent is not None:
            outer = MODE.get()
            try:
                MODE.set(outer.replace(dual=0))
                for step in chain_of(value):
                    tangent = step.again(tangent)
            finally:
                MODE.set(outer)
            value._tangents = tangent
    return value._tangents


def carry(op: Op, values: list[Any], outs: list[Tensor], extras: list[Any], mode: Mode) -> None:
    """Set the tangents of the results (jvp), if an input has a tangent."""
    given = dict(zip(op.params, values, strict=True))
    tangents: dict[str, Any] = {}
    for p in op.inputs:
        if p in op.lists:
            if any(tangent_of(v) is not None for v in given[p]):
                tangents[p] = [_or_zeros(v) for v in given[p]]
        else:
            tangent = tangent_of(given[p])
            if tangent is not None:
                tangents[p] = tangent
    if not tangents:
        return
    outer = MODE.get()
    try:
        MODE.set(mode.replace(dual=0))
        # Saved tensors must not be dual: backward would propagate their tangents again.
        primals = [alias_of(out) for out in outs]
        results = push(op, tangents, {p: _no_tangent(v) for p, v in given.items()}, primals, extras)
        for i, (out, tangent) in enumerate(zip(outs, results, strict=False)):
            if tangent is not None and out._view is None:
                tangent = own_tangent(tangent, out, shared=_is_of(tangent, tangents))
                results[i] = _as_product(tangent, given) if op.name in ("mul", "div") else tangent
    except NotImplementedError as error:
        raise NotImplementedError(
            f"Trying to use forward AD with {op.name} that does not support it because it has not been implemented "
            "yet: detach() its operands, or take their primals"
        ) from error
    finally:
        MODE.set(outer)
    for out, tangent in zip(outs, results, strict=False):
        if tangent is not None and out._spec.dtype.category >= FLOATING:
            out._tangents = tangent


def push(
    op: Op, tangents: dict[str, Any], given: dict[str, Any], outs: list[Tensor], extras: list[Any]
) -> list[Tensor | None]:
    """Return the tangents of the results."""
    known = dict(given)
    for p, value in given.items():
        known[p + "_shape"] = [v._shape for v in value] if p in op.lists else getattr(value, "_shape", ())
        known[p + "_dtype"] = value._spec.dtype if isinstance(value, Tensor) else None
    known["out"] = outs[0]
    known.update(zip(op.results, outs, strict=False))
    known.update(zip(op.extra, extras, strict=True))
    if op.jvp is not None:
        code = op.jvp.__code__
        names = code.co_varnames[: code.co_argcount]
        wanted = {p + "_t": tangents.get(p) for p in op.inputs}
        result = op.jvp(*[wanted[n] if n in wanted else known[n] for n in names])
        return list(result) if isinstance(result, tuple) else [result]
    if op.kind == "elementwise" and op.meaning is None:
        total: Any = None
        for p, t in tangents.items():
            term = op.formulas[p](t, *[known[n] for n in op.reads[p]])
            total = term if total is None else total + term
        if total._shape != outs[0]._shape:
            total = total.expand(outs[0]._shape)
        if total._spec is not outs[0]._spec:
            total = total.to(outs[0]._spec.dtype)
        return [total]
    if op.kind == "linear":
        call = {p: _no_tangent(v) for p, v in given.items()}
        for p in op.inputs:
            call[p] = (
                tangents[p]
                if p in tangents
                else [zeros_for(v) for v in given[p]]
                if p in op.lists
                else zeros_for(given[p])
            )
        result = _call(op, call)
        return list(result) if isinstance(result, tuple) else [result]
    if op.kind == "bilinear":
        total = None
        for p, t in tangents.items():
            term = _call(op, {**{q: _no_tangent(v) for q, v in given.items()}, p: t})
            total = term if total is None else total + term
        return [total]
    if op.meaning is not None:
        names = op.meaning.__code__.co_varnames[: op.meaning.__code__.co_argcount]
        if all(p in names for p in tangents):
            return [_through_meaning(op, {n: _dual(known[n], tangents.get(n)) for n in names})]
    return transpose_twice(op, tangents, given, outs)


def own_tangent(tangent: Tensor, primal: Tensor, *, shared: bool = False) -> Tensor:
    """Return a tangent with the strides of its primal, cloned if its storage is `shared`.

    Views of the primal then get views of it as tangents, and in-place writes reach both alike.
    """
    found = getattr(tangent._data, "strides", None)
    if found is not None and found != getattr(primal._data, "strides", found) and tangent._shape == primal._shape:
        if tangent._spec is primal._spec:
            return zeros_for(alias_of(primal).detach()).copy_(tangent)
    return tangent.clone() if shared else tangent


def _as_product(tangent: Tensor, given: dict[str, Any]) -> Tensor:
    """Connect the tangent of a product to both factors, as in torch, even if the tangent of one is zero."""
    if tangent._edge is None and MODE.get().grad:
        for value in given.values():
            if isinstance(value, Tensor) and value._shape == tangent._shape and value.requires_grad:
                return with_zero_slope(tangent, value._current_edge(), "AddBackward0")
    return tangent


def _is_of(tangent: Tensor, tangents: dict[str, Any]) -> bool:
    """Return whether a tangent shares its version counter, and so its storage, with a tangent of an operand."""
    counter = tangent._counter
    return any(type(t) is not list and t._counter is counter for t in tangents.values())


def _through_meaning(op: Op, values: dict[str, Any]) -> Tensor | None:
    """Return the tangent of a fused operation, by running its decomposition in forward mode."""
    outer = MODE.get()
    try:
        MODE.set(outer.replace(dual=1))
        out = op.meaning(**values)  # type: ignore[misc]
    finally:
        MODE.set(outer)
    return tangent_of(out)


def transpose_twice(op: Op, tangents: dict[str, Any], given: dict[str, Any], outs: list[Tensor]) -> list[Tensor | None]:
    """Return the jvp of an operation that declares only vjps: the transpose of the linear map u -> vjp(u)."""
    mode = MODE.get()
    recorded = mode.grad and any(_followed(v) for v in (*given.values(), *tangents.values()))
    with_graph = mode.replace(grad=True, hooks=None)
    outer = MODE.get()
    try:
        MODE.set(with_graph)
        call = {p: _no_tangent(v) for p, v in given.items()}
        alone = sum(map(_followed, given.values())) < 2
        sources: list[Tensor] = []
        pushed: list[Tensor] = []
        for p, t in tangents.items():
            if p in op.lists:
                call[p] = [_source(v, alone=False) for v in given[p]]
                sources.extend(call[p])
                pushed.extend(t)
            else:
                call[p] = _source(given[p], alone)
                sources.append(call[p])
                pushed.append(t)
        result = _call(op, call)
        results = list(result) if isinstance(result, tuple) else [result]
        followed = [r for r in results if r.requires_grad]
        seeds = [late.zeros_like(r)._follow() for r in followed]
        back = late.grad(followed, sources, seeds, create_graph=True, allow_unused=True)
        pairs = [(b, t) for b, t in zip(back, pushed, strict=True) if b is not None and b.requires_grad]
        if pairs:
            forward: Any = late.grad(
                [b for b, _ in pairs], seeds, [t.to(b.dtype) for b, t in pairs], create_graph=True, allow_unused=True
            )
        else:
            forward = [None] * len(seeds)
    finally:
        MODE.set(outer)
    by_id = {id(r): f for r, f in zip(followed, forward, strict=True)}
    out: list[Tensor | None] = []
    for r in results:
        f = by_id.get(id(r))
        f = late.zeros_like(r) if f is None and id(r) in by_id else f
        out.append(f if f is None or recorded else f.detach())
    return out


def _followed(value: Any) -> bool:
    """Return whether a tensor, or one of a list, requires grad."""
    if isinstance(value, list | tuple):
        return any(map(_followed, value))
    return isinstance(value, Tensor) and value.requires_grad


def _call(op: Op, values: dict[str, Any]) -> Any:
    positional = len(op.params) - op.keyword_only
    return op.public(*[values[p] for p in op.params[:positional]], **{p: values[p] for p in op.params[positional:]})


def _source(value: Tensor, alone: bool) -> Tensor:
    """Return the value, without its tangent, as a tensor to differentiate with respect to.

    Unless it is `alone` it gets a node of its own: another operand may be the same tensor, or computed from it, and
    the gradient of that one must not arrive here.
    """
    out = _no_tangent(value)
    if not out.requires_grad:
        return out.detach()._follow()
    return out if alone else late.reshape(out, out._shape)


def _no_tangent(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(map(_no_tangent, value)) if type(value) in (list, tuple) else value
    return alias_of(value) if isinstance(value, Tensor) and value._tangents is not None else value


def _dual(value: Any, tangent: Any) -> Any:
    if tangent is None:
        return value
    out = alias_of(value)
    out._tangents = tangent
    return out


def alias_of(value: Tensor) -> Tensor:
    """Return an alias of a tensor with its grad_fn, without its tangent."""
    edge = value._current_edge()
    out: Tensor = alias(value._data, value._spec, value._shape)
    out._counter, out._edge = value._counter, edge
    return out


def _or_zeros(value: Tensor) -> Tensor:
    tangent = tangent_of(value)
    return zeros_for(value) if tangent is None else tangent


def zeros_for(value: Any) -> Any:
    """Return a zero tangent in the layout of the value."""
    return late.zeros_like(value) if isinstance(value, Tensor) else 0
