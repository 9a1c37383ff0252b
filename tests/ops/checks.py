"""What the declaration of an operation claims, as functions that fail if it does not hold.

Each takes one `Case`. Derivatives are checked along random directions: a wrong formula survives
that only by an accident of probability zero. Complex numbers count as pairs of real ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradpack.autograd.api import grad
from gradpack.base.modes import using
from gradpack.core.tensor import wrap

from .cases import Arrays, Case, arguments, close, dot, like, moved, seeded, total


def agree(what: str, case: Case, a: float, b: float, scale: float, rtol: float) -> None:
    assert abs(a - b) <= rtol * (scale + 1e-3), f"{case}: {what}: {a!r} is not {b!r} (terms of size {scale:.3g})"


def precision(arrays: Arrays) -> tuple[float, float]:
    """The step of differences and the tolerance that the least precise of the arrays allows."""
    worst = max((float(np.finfo(a.dtype).eps) for a in arrays if a.dtype.kind in "fc"), default=0.0)
    return (1e-6, 2e-6) if worst < 1e-12 else (2.0**-6, 5e-3)


# -- derivatives --


def first_order(case: Case, native: Any = np.float64) -> None:
    """<u, J v> by the formulas is that by central differences; gradients fit their inputs."""
    arrays, directions = case.arrays(native), case.directions(case.arrays(native))
    seeds = case.seeds(arrays)
    if not case.inputs or not seeds or not case.smooth(arrays):
        return
    gradients = case.gradients(arrays, seeds)
    for i, g in zip(case.inputs, gradients, strict=True):
        x = arrays[i]
        assert g.shape == x.shape and g.dtype == x.dtype, (
            f"{case}: the gradient of {case.params[i]} has shape {g.shape} and dtype {g.dtype}, the input "
            f"{x.shape} and {x.dtype}"
        )
    step, rtol = precision([*arrays, *case.smooth_values(arrays)])
    jv = case.difference(arrays, directions, step)
    expected, scale = total(seeds, jv)
    found, other = total(gradients, [directions[i] for i in case.inputs])
    if not abs(found - expected) <= rtol * (scale + other + 1e-3):
        raise AssertionError(
            f"{case}: wrong gradient of {_wrong_inputs(case, arrays, directions, seeds, gradients, step, rtol)}"
        )


def _wrong_inputs(
    case: Case, arrays: Arrays, directions: Arrays, seeds: Arrays, gradients: Arrays, step: float, rtol: float
) -> str:
    """Which gradients disagree, found one input at a time."""
    wrong = []
    for i, g in zip(case.inputs, gradients, strict=True):
        alone = [v if nr == i else None for nr, v in enumerate(directions)]
        expected, scale = total(seeds, case.difference(arrays, alone, step))
        found = dot(g, directions[i])
        if not abs(found - expected) <= rtol * (scale + 1e-3):
            wrong.append(f"{case.params[i]} (formula {found!r}, differences {expected!r})")
    return ", ".join(wrong) or "all together"


def second_order(case: Case, native: Any = np.float64) -> None:
    """The same for the gradients as functions of inputs and seeds, through create_graph."""
    arrays = case.arrays(native)
    seeds = case.seeds(arrays)
    if not case.inputs or not seeds or not case.smooth(arrays):
        return
    plain = case.gradients(arrays, seeds)
    tensors = case.tensors(arrays)
    sources = [tensors[i] for i in case.inputs]
    pairs = [(o, wrap(u).requires_grad_()) for o, u in zip(case.differentiable(case.call(tensors)), seeds, strict=True)]
    pairs = [(o, u) for o, u in pairs if o.requires_grad]
    if not pairs:
        return
    gradients = grad([o for o, _ in pairs], sources, [u for _, u in pairs], create_graph=True, allow_unused=True)
    for i, expected, g in zip(case.inputs, plain, gradients, strict=True):
        value = np.zeros_like(expected) if g is None else g._data
        assert value.dtype == expected.dtype and close(value, expected, 1e-10 if native == np.float64 else 1e-4), (
            f"{case}: the gradient of {case.params[i]} under create_graph is not that without"
        )
    rng = seeded(case.op.name, case.nr, "weights")
    weights = [like(rng, g) for g in plain]
    followed = [(g, wrap(w)) for g, w in zip(gradients, weights, strict=True) if g is not None and g.requires_grad]
    variables = [*sources, *(u for _, u in pairs)]
    found: list[Any] = [None] * len(variables)
    if followed:
        found = list(grad([g for g, _ in followed], variables, [w for _, w in followed], allow_unused=True))
    second = [np.zeros_like(v._data) if g is None else g._data for v, g in zip(variables, found, strict=True)]
    directions = case.directions(arrays)
    seed_directions = [like(rng, u) for u in seeds]
    used = [u for u, o in zip(seed_directions, case.differentiable(case.call(tensors)), strict=True) if o.requires_grad]

    step, rtol = precision([*arrays, *seeds])

    def weighted(sign: float) -> float:
        at = case.gradients(
            moved(arrays, directions, sign * step),
            [u + sign * step * du for u, du in zip(seeds, seed_directions, strict=True)],
        )
        return total(weights, at)[0]

    expected_value = (weighted(1.0) - weighted(-1.0)) / (2 * step)
    value, scale = total(second, [*(directions[i] for i in case.inputs), *used])
    _, size = total(weights, plain)
    agree("second derivative (formulas, differences)", case, value, expected_value, scale + size, 10 * rtol)


def tangents(case: Case, native: Any = np.float64) -> None:
    """The tangent rule: against differences, against the formulas, for every input alone, and differentiable."""
    arrays, directions = case.arrays(native), case.directions(case.arrays(native))
    values = case.smooth_values(arrays)
    if not case.inputs or not values or not case.smooth(arrays):
        return
    step, rtol = precision([*arrays, *values])
    groups = [case.inputs] if len(case.inputs) == 1 else [case.inputs, *([i] for i in case.inputs)]
    for group in groups:
        given = [v if i in group else None for i, v in enumerate(directions)]
        carried = _push(case, arrays, given)
        where = ", ".join(case.params[i] for i in group)
        for value, expected, tangent in zip(values, case.difference(arrays, given, step), carried, strict=True):
            assert tangent.shape == value.shape and tangent.dtype == value.dtype, (
                f"{case}: the tangent has shape {tangent.shape} and dtype {tangent.dtype}, the result {value.shape} "
                f"and {value.dtype}"
            )
            size = float(np.abs(value).max()) if value.size else 0.0
            assert close(tangent, expected, 5 * rtol, rtol * (size + 1)), f"{case}: wrong tangent from {where}"
    seeds = case.seeds(arrays)
    forward, scale = total(seeds, _push(case, arrays, directions))
    reverse, other = total(case.gradients(arrays, seeds), [directions[i] for i in case.inputs])
    exact = 1e-10 if rtol < 1e-4 else 1e-4
    agree("tangent rule and formulas", case, forward, reverse, scale + other, exact)
    _tangents_have_history(case, arrays, directions, seeds, step, rtol)


def _push(case: Case, arrays: Arrays, directions: Arrays) -> Arrays:
    """The tangents of the differentiable results, as arrays."""
    with using(dual=1, grad=False):
        made = [wrap(a) for a in arrays]
        for t, v in zip(made, directions, strict=True):
            if v is not None:
                t._tangents = wrap(v)
        outs = case.differentiable(case.call(made))
    return [np.zeros_like(o._data) if o._tangents is None else o._tangents._data for o in outs]


def forward_over_reverse(case: Case, native: Any = np.float64) -> None:
    """The tangent of the gradient is the gradient of <gradient, direction>: the Hessian is symmetric."""
    arrays, directions = case.arrays(native), case.directions(case.arrays(native))
    seeds = case.seeds(arrays)
    if not case.inputs or not seeds or not case.smooth(arrays) or any(a.dtype.kind == "c" for a in (*arrays, *seeds)):
        return
    towards = [directions[i] for i in case.inputs]

    def first(made: list[Any]) -> tuple[Any, list[Any]]:
        sources = [made[i] for i in case.inputs]
        outs = case.differentiable(case.call(made))
        return grad(outs, sources, [wrap(s) for s in seeds], create_graph=True, materialize_grads=True), sources

    gradients, sources = first(case.tensors(arrays))
    if not any(g.requires_grad for g in gradients):
        return
    twice = [(g, wrap(v)) for g, v in zip(gradients, towards, strict=True) if g.requires_grad]
    expected = grad([g for g, _ in twice], sources, [v for _, v in twice], materialize_grads=True)
    with using(dual=1):
        made = [wrap(a) for a in arrays]
        for i, v in zip(case.inputs, towards, strict=True):
            made[i] = made[i].requires_grad_()
            made[i]._tangents = wrap(v)
        gradients, _ = first(made)
    for i, g, e in zip(case.inputs, gradients, expected, strict=True):
        found = np.zeros_like(g._data) if g._tangents is None else g._tangents._data
        size = float(np.abs(e._data).max()) if e._data.size else 0.0
        assert close(found, e._data, 1e-9, 1e-9 * (size + 1)), f"{case}: forward over reverse, by {case.params[i]}"


def _tangents_have_history(
    case: Case, arrays: Arrays, directions: Arrays, seeds: Arrays, step: float, rtol: float
) -> None:
    """Reverse over forward: the gradient of <u, J v> by the inputs, against differences of the tangents."""
    with using(dual=1):
        made = case.tensors(arrays)
        for t, v in zip(made, directions, strict=True):
            if v is not None:
                t._tangents = wrap(v)
        outs = case.differentiable(case.call(made))
    pushed = [(o._tangents, wrap(u)) for o, u in zip(outs, seeds, strict=True) if o._tangents is not None]
    pushed = [(t, u) for t, u in pushed if t.requires_grad]
    sources = [made[i] for i in case.inputs]
    along = case.directions(arrays, "second direction")
    found: list[Any] = [None] * len(sources)
    if pushed:
        found = list(grad([t for t, _ in pushed], sources, [u for _, u in pushed], allow_unused=True))
    value, scale = total(
        [np.zeros_like(s._data) if g is None else g._data for s, g in zip(sources, found, strict=True)],
        [along[i] for i in case.inputs],
    )
    plus, size = total(seeds, _push(case, moved(arrays, along, step), directions))
    minus, _ = total(seeds, _push(case, moved(arrays, along, -step), directions))
    agree(
        "derivative of the tangent (formulas, differences)",
        case,
        value,
        (plus - minus) / (2 * step),
        scale + size,
        20 * rtol,
    )


# -- kinds --


def kind(case: Case) -> None:
    """Elementwise, linear or bilinear, as declared."""
    arrays = case.arrays()
    values = case.smooth_values(arrays)
    if not case.inputs or not values or not case.smooth(arrays):
        return
    if case.op.kind == "elementwise":
        _elementwise(case, arrays, values[0])
    elif case.op.kind == "linear":
        _linear(case, arrays, case.inputs)
    elif case.op.kind == "bilinear":
        for p in dict.fromkeys(case.params[i] for i in case.inputs):
            _linear(case, arrays, [i for i in case.inputs if case.params[i] == p])


def _elementwise(case: Case, arrays: Arrays, value: Any) -> None:
    """Under no broadcasting, a change of one element changes only its own result."""
    shapes = {arrays[i].shape for i in case.inputs}
    expected = np.broadcast_shapes(*(a.shape for i, a in enumerate(arrays) if case.params[i] in case.op.arrays))
    assert value.shape == expected, f"{case}: an elementwise result has shape {value.shape}, its operands {expected}"
    if shapes != {value.shape} or not value.size:
        return
    rng = seeded(case.op.name, case.nr, "element")
    for i in case.inputs:
        for position in {0, value.size - 1, int(rng.integers(value.size))}:
            changed = [a.copy() for a in arrays]
            changed[i].reshape(-1)[position] += 0.03
            differs = np.array(case.smooth_values(changed)[0] != value)
            differs.reshape(-1)[position] = False
            assert not differs.any(), f"{case}: element {position} of {case.params[i]} reaches other results"


def _linear(case: Case, arrays: Arrays, where: list[int]) -> None:
    """f(2x - 3y) = 2 f(x) - 3 f(y), jointly in the leaves at `where`.

    Where a Python number stands for one of the inputs, what is left is affine: the weights add up to one.
    """
    values = dict(zip(case.op.params, case.op.bind(*arguments(case, arrays)), strict=True))
    numbers = [p for p in case.op.inputs if isinstance(values[p], int | float | complex)]
    a, b = (3, -2) if numbers and case.op.kind == "linear" else (2, -3)
    other = case.directions(arrays)
    at = [y if i in where else x for i, (x, y) in enumerate(zip(arrays, other, strict=True))]
    mixed = [a * x + b * y if i in where else x for i, (x, y) in enumerate(zip(arrays, other, strict=True))]
    for left, x, y in zip(case.smooth_values(mixed), case.smooth_values(arrays), case.smooth_values(at), strict=True):
        _, rtol = precision([left])
        assert close(left, a * x + b * y, rtol, rtol), (
            f"{case}: not linear in {', '.join(case.params[i] for i in where)}"
        )
