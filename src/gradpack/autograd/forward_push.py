"""Forward-mode differentiation of a function in one pass, under any levels of `vmap`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..base.dtypes import FLOATING
from ..base.modes import MODE, TRANSFORMS, Transform
from ..base.tree import tree_map
from ..core.tensor import Tensor
from ..declare.batching.batch_tensor import bottom, lifted, lifted_like
from ..declare.dispatch.tangents import alias_of, tangent_of


def push_forward(
    call: Callable[[list[Any]], Any],
    flat: list[Tensor],
    pushed: list[Tensor],
    strict: bool = False,
    inner: bool = False,
) -> tuple[Any, Any, Any]:
    """Return the values, the tangents and the auxiliary values of `call`, which returns a pair of nested outputs.

    Tangents belong to tensors with all batch dimensions, so tensors that are not batched are expanded.
    """
    for x in flat:
        if x._spec.dtype.category < FLOATING:
            raise ValueError(f"Expected primal to be floating point or complex, but got: {x.dtype}")
    mode = MODE.get()
    levels = mode.levels
    duals = []
    for x, t in zip(flat, pushed, strict=True):
        made = alias_of(bottom(x, levels) if levels else x)
        tangent = bottom(t, levels) if levels else t
        made._tangents = tangent if tangent._spec is made._spec else tangent.to(made.dtype)
        duals.append(made)
    transforms = TRANSFORMS.get()
    try:
        MODE.set(mode.replace(dual=1, tangents=True, inference=False))
        TRANSFORMS.set((*transforms, Transform(call, forward=True, inner=inner)))
        output, aux = call([lifted_like(d, x, levels) for d, x in zip(duals, flat, strict=True)])
    finally:
        try:
            TRANSFORMS.set(transforms)
        finally:
            MODE.set(mode)
    found = _values(output, levels), _tangents(output, levels, strict), _values(aux, levels)
    for d in duals:
        d._tangents = None
    return found


def _values(tree: Any, levels: Any) -> Any:
    def value(x: Any) -> Any:
        if not isinstance(x, Tensor):
            return x
        whole = bottom(x, levels) if levels else x
        if whole._tangents is None and whole._view is None:
            return x
        return lifted_like(_bare(whole), x, levels)

    return tree_map(value, tree)


def _bare(whole: Tensor) -> Tensor:
    return alias_of(whole) if tangent_of(whole) is not None else whole


def _tangents(tree: Any, levels: Any, strict: bool) -> Any:
    from ..ops.create.fill_like import zeros_like

    def tangent(x: Tensor) -> Tensor:
        found = tangent_of(bottom(x, levels) if levels else x)
        if found is None:
            if strict:
                raise RuntimeError(
                    "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not "
                    "allowed with strict=True."
                )
            return zeros_like(_values(x, levels).detach())
        return lifted(found, levels)

    return tree_map(tangent, tree)
