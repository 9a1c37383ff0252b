"""Forward mode through a custom `Function`, by its `jvp`."""

from __future__ import annotations

from typing import Any

from ...base.dtypes import FLOATING
from ...base.modes import MODE
from ...core.tensor import Tensor
from ...core.views import base_of
from .node import BackwardCFunction, zeros


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


def tangents_of_results(
    ctx: BackwardCFunction, args: tuple[Any, ...], tangents: list[Any], given: tuple[Any, ...], results: list[Any]
) -> list[Any]:
    """Compute the tangents of the results by the user's `jvp`."""
    if ctx._materialize:
        tangents = [
            zeros((a._shape, a._spec))
            if t is None and isinstance(a, Tensor) and a._spec.dtype.category >= FLOATING
            else t
            for a, t in zip(args, tangents, strict=True)
        ]
    versions = [0 if t is None else t._counter[0] for t in tangents]
    outer = MODE.get()
    try:
        MODE.set(outer.replace(tangents=False))
        found = ctx.apply_jvp(*tangents)
    finally:
        MODE.set(outer)
    found = found if isinstance(found, tuple) else (found,)
    if len(found) != len(given):
        raise RuntimeError(
            f"Function's jvp returned an invalid number of forward gradients (expected {len(given)} but got "
            f"{len(found)})"
        )
    places = {id(a): i for i, a in enumerate(args) if isinstance(a, Tensor)}
    dirty = {id(t) for t in ctx.dirty_tensors or ()}
    constant = {id(t) for t in ctx.non_differentiable or ()}
    out: list[Any] = []
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
                raise RuntimeError(
                    "Trying to set a forward gradient that has a different size than that of the original Tensor, this "
                    f"is not supported. Tensor is of size {list(result._shape)} while the given forward gradient is of "
                    f"size {list(tangent._shape)}."
                )
        out.append(tangent)
    return out
