"""How a tangent goes through an operation, by kind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ...base import late
from ...base.dtypes import FLOATING
from ...base.modes import MODE, Mode, without_dual
from ...core.tensor import Tensor, alias
from ...core.views import base_of, chain_of
from ..op import Op
from .unbroadcast import with_zero_slope


def tangent_of(value: Any) -> Tensor | None:
    """Return the tangent of a tensor; that of a view may come from its base, if the base got one later."""
    if not isinstance(value, Tensor):
        return None
    found: Tensor | None = value.__dict__.get("_tangents")
    if found is None and value._view is not None:
        found = base_of(value)._tangents
        if found is not None:
            outer = MODE.get()
            try:
                MODE.set(without_dual(outer))
                for step in chain_of(value):
                    found = step.replayed(found)
            finally:
                MODE.set(outer)
            value._tangents = found
    return found


def carry(op: Op, values: Any, outs: list[Tensor], extras: Sequence[Any], mode: Mode) -> None:
    """Set the tangents of the results (jvp), if an input has a tangent."""
    known: dict[str, Any] = dict(zip(op.params, values, strict=True))
    tangents: dict[str, Any] = {}
    for p in op.inputs:
        value = known[p]
        if p not in op.lists:
            tangent = tangent_of(value)
            if tangent is not None:
                tangents[p] = tangent
        elif any(tangent_of(v) is not None for v in value):
            tangents[p] = [_or_zeros(v) for v in value]
    if not tangents:
        return
    try:
        MODE.set(without_dual(mode))
        results = push(op, tangents, known, outs, extras)
        for i, (out, tangent) in enumerate(zip(outs, results, strict=False)):
            if tangent is not None and out._view is None:
                results[i] = tangent = own_tangent(tangent, out, tangents)
                if tangent._edge is None and op.name in ("mul", "div"):
                    results[i] = _as_product(tangent, known)
    except NotImplementedError as error:
        raise NotImplementedError(
            f"Trying to use forward AD with {op.name} that does not support it because it has not been implemented "
            "yet: detach() its operands, or take their primals"
        ) from error
    finally:
        MODE.set(mode)
    for out, tangent in zip(outs, results, strict=False):
        if tangent is not None and out._spec.dtype.category >= FLOATING:
            out._tangents = tangent


def push(
    op: Op, tangents: dict[str, Any], known: dict[str, Any], outs: list[Tensor], extras: Sequence[Any]
) -> list[Tensor | None]:
    """Return the tangents of the results.

    Args:
        known: the values of the parameters; replaced by their primals, and what else formulas name is put in.
    """
    for p in op.arrays:
        value = known[p]
        if isinstance(value, list | tuple) or (isinstance(value, Tensor) and "_tangents" in value.__dict__):
            known[p] = primal_of(value)
    if op.jvp is not None:
        code = op.jvp.__code__
        names = code.co_varnames[: code.co_argcount]
        wanted = {p + "_t": tangents.get(p) for p in op.inputs}
        _complete(op, known, outs, extras, names)
        result = op.jvp(*[wanted[n] if n in wanted else known[n] for n in names])
        return list(result) if isinstance(result, tuple) else [result]
    if op.kind == "bilinear" or (op.kind == "elementwise" and op.decomposition is None):
        return [_sum_of_terms(op, tangents, known, outs, extras)]
    if op.kind == "linear":
        for p in op.inputs:
            value = tangents.get(p)
            if value is None:
                value = [zeros_for(v) for v in known[p]] if p in op.lists else zeros_for(known[p])
            known[p] = value
        result = op.call(tuple(map(known.__getitem__, op.params)))
        return list(result) if isinstance(result, tuple) else [result]
    if op.decomposition is not None:
        names = op.decomposition.__code__.co_varnames[: op.decomposition.__code__.co_argcount]
        if all(p in names for p in tangents):
            _complete(op, known, outs, extras, names)
            return _through_meaning(op, {n: _dual(known[n], tangents.get(n)) for n in names})
    return transpose_twice(op, tangents, known, outs)


def _complete(op: Op, known: dict[str, Any], outs: list[Tensor], extras: Sequence[Any], names: Iterable[str]) -> None:
    """Add what a formula names besides parameters: results, extra values, shapes and dtypes of arguments."""
    for n in names:
        if n in known:
            continue
        what = op.saves(n)
        if what == "result":  # a saved result must not be dual: backward would propagate its tangent again
            known[n] = alias_of(outs[0 if n == "out" else op.results.index(n)])
        elif what == "residual":
            known[n] = extras[op.residuals.index(n)]
        elif n.endswith("_shape"):
            value = known[n.removesuffix("_shape")]
            known[n] = [v._shape for v in value] if isinstance(value, list | tuple) else getattr(value, "_shape", ())
        elif n.endswith("_dtype"):
            value = known[n.removesuffix("_dtype")]
            known[n] = value._spec.dtype if isinstance(value, Tensor) else None


def _sum_of_terms(
    op: Op, tangents: dict[str, Any], known: dict[str, Any], outs: list[Tensor], extras: Sequence[Any]
) -> Tensor:
    """Return the sum over the inputs of what the tangent of each contributes, for elementwise and bilinear ones."""
    total: Any = None
    for p, t in tangents.items():
        if op.kind == "bilinear":
            term = op.call([t if q == p else known[q] for q in op.params])
        else:
            _complete(op, known, outs, extras, op.reads[p])
            term = op.formulas[p](t, *map(known.__getitem__, op.reads[p]))
        total = term if total is None else total + term
    found: Tensor = total
    if op.kind == "elementwise":
        if found._shape != outs[0]._shape:
            found = found.expand(outs[0]._shape)
        if found._spec is not outs[0]._spec:
            found = found.to(outs[0]._spec.dtype)
    return found


def own_tangent(tangent: Tensor, primal: Tensor, others: dict[str, Any] | None = None) -> Tensor:
    """Return a tangent with the strides of its primal, cloned if its storage is that of a tangent in `others`.

    Views of the primal then get views of it as tangents, and in-place writes reach both alike.
    """
    found = getattr(tangent._data, "strides", None)
    if found is not None and found != getattr(primal._data, "strides", found) and tangent._shape == primal._shape:
        if tangent._spec is primal._spec:
            return zeros_for(alias_of(primal).detach()).copy_(tangent)
    for t in () if others is None else others.values():
        if type(t) is not list and t._counter is tangent._counter:
            return tangent.clone()
    return tangent


def _as_product(tangent: Tensor, given: dict[str, Any]) -> Tensor:
    """Connect the tangent of a product to both factors, as in torch, even if the tangent of one is zero."""
    if MODE.get().grad:
        for value in given.values():
            if isinstance(value, Tensor) and value._shape == tangent._shape and value.requires_grad:
                return with_zero_slope(tangent, value._current_edge(), "AddBackward0")
    return tangent


def _through_meaning(op: Op, values: dict[str, Any]) -> list[Tensor | None]:
    """Return the tangents of the results of a fused operation, by running its decomposition in forward mode."""
    outer = MODE.get()
    try:
        MODE.set(outer.replace(dual=1))
        out = op.decomposition(**values)  # type: ignore[misc]
    finally:
        MODE.set(outer)
    return [tangent_of(one) for one in (out if isinstance(out, tuple) else (out,))]


def transpose_twice(op: Op, tangents: dict[str, Any], given: dict[str, Any], outs: list[Tensor]) -> list[Tensor | None]:
    """Return the jvp of an operation that declares only vjps: the transpose of the linear map u -> vjp(u)."""
    mode = MODE.get()
    recorded = mode.grad and any(_followed(v) for v in (*given.values(), *tangents.values()))
    with_graph = mode.replace(grad=True, hooks=None)
    outer = MODE.get()
    try:
        MODE.set(with_graph)
        call = dict(given)
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
        result = op.call([call[p] for p in op.params])
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


def _source(value: Tensor, alone: bool) -> Tensor:
    """Return the value, without its tangent, as a tensor to differentiate with respect to.

    Unless it is `alone` it gets a node of its own: another operand may be the same tensor, or computed from it, and
    the gradient of that one must not arrive here.
    """
    out = primal_of(value)
    if not out.requires_grad:
        return out.detach()._follow()
    return out if alone else late.reshape(out, out._shape)


def primal_of(value: Any) -> Any:
    """Return a tensor, or those of a list, without its tangent; anything else as it is."""
    if isinstance(value, list | tuple):
        return type(value)(map(primal_of, value)) if type(value) in (list, tuple) else value
    return alias_of(value) if isinstance(value, Tensor) and value._tangents is not None else value


def _dual(value: Any, tangent: Any) -> Any:
    if tangent is None:
        return value
    out = alias_of(value)
    out._tangents = tangent
    return out


def alias_of(value: Tensor) -> Tensor:
    """Return an alias of a tensor with its grad_fn, without its tangent."""
    edge = value._edge if value._view is None else value._current_edge()
    out: Tensor = alias(value._data, value._spec, value._shape)
    out._counter, out._edge = value._counter, edge
    return out


def _or_zeros(value: Tensor) -> Tensor:
    tangent = tangent_of(value)
    return zeros_for(value) if tangent is None else tangent


def zeros_for(value: Any) -> Any:
    """Return a zero tangent in the layout of the value."""
    return late.zeros_like(value) if isinstance(value, Tensor) else 0
