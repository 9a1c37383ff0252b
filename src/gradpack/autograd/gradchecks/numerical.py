"""Jacobians by finite differences, by reverse and by forward mode, which gradcheck compares.

A Jacobian here is a matrix with a row for each element of an input and a column for each element of
an output. For a complex input x + iy, a row holds d/dx + i d/dy: torch's convention for gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any

from ...base.layouts import strided
from ...core.tensor import Tensor, wrap
from ...declare.batching.batch_tensor import is_batched
from ...ops.create.fill import zeros
from ...ops.create.fill_like import zeros_like
from ...ops.shape.join import stack
from .. import forward_ad
from ..functional_parts import one_row_at_a_time

Outputs = tuple[Tensor, ...]
Component = Callable[[Tensor], Tensor]  # the real or imaginary part of a complex output, or the output itself


def as_tuple(value: Any) -> tuple[Any, ...]:
    """Return the outputs of a function as a tuple."""
    if isinstance(value, tuple):
        return value
    return tuple(value) if isinstance(value, list) else (value,)


def differentiable_outputs(value: Any) -> Outputs:
    """The outputs that require grad."""
    return tuple(t for t in as_tuple(value) if t.requires_grad)


def differentiable_inputs(inputs: Sequence[Any]) -> list[Tensor]:
    """The inputs that are tensors and require grad."""
    return [x for x in inputs if isinstance(x, Tensor) and x.requires_grad]


def _elements(shape: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Every index of a tensor of this shape, in row-major order."""
    return product(*map(range, shape))


def quotient(evaluate: Callable[[], Outputs], target: Tensor, step: Any) -> list[Tensor]:
    """Return (f(x + step) - f(x - step)) / 2: see `_differences`."""
    return [_tensor(d) / 2 for d in _differences(evaluate, target.copy_, target.clone(), step)]


def _differences(evaluate: Callable[[], Outputs], write: Callable[[Any], Any], before: Any, step: Any) -> list[Any]:
    """Return f(x + step) - f(x - step), as arrays of NumPy's where outputs have such.

    Args:
        evaluate: computes f at the values that were written.
        write: writes values of x, or of one of its elements, in place.
        before: the values that are there, and will be again, also if f raises.
    """
    try:
        write(before + step)
        above = [_copied(t) for t in evaluate()]
        write(before - step)
        below = [_copied(t) for t in evaluate()]
    finally:
        write(before)
    _check_alike(above, below)
    return [a - b for a, b in zip(above, below, strict=True)]


def _is_of_numpy(t: Tensor) -> bool:
    """Return whether a tensor has an array that NumPy computes with as an operation does."""
    return (t._spec.plain or t._spec.complex) and not is_batched(t)


def _copied(t: Tensor) -> Any:
    return t._data.copy() if _is_of_numpy(t) else t.detach().clone()


def _tensor(value: Any) -> Tensor:
    """Return what `_copied` gave, or a difference, as a tensor."""
    return value if isinstance(value, Tensor) else wrap(value)


def _check_alike(above: list[Any], below: list[Any]) -> None:
    for nr, (a, b) in enumerate(zip(above, below, strict=True)):
        if a.shape != b.shape or a.dtype != b.dtype:
            a, b = _tensor(a), _tensor(b)
            what = "shape" if a.shape != b.shape else "dtype"
            raise AssertionError(
                f"Expected `func` to return outputs with the same {what} when inputs are perturbed, but output "
                f"{nr} has {what} {getattr(a, what)} on one side and {getattr(b, what)} on the other."
            )


def _by_output(x: Tensor, rows: list[list[list[Tensor]]], evaluate: Callable[[], Sequence[Tensor]]) -> Any:
    """Return, for each output, a Jacobian for each axis of `x`, from the derivatives by element of `x` and axis."""
    axes = range(2 if x.is_complex() else 1)
    if not rows:
        return [[_empty(0, out.numel(), out) for _ in axes] for out in evaluate()]
    numbers = range(len(rows[0][0]))
    return [[stack([_tensor(row[axis][nr].reshape(-1)) for row in rows]) for axis in axes] for nr in numbers]


def _steps(x: Tensor, size: float) -> Iterator[list[Tensor]]:
    """For each element of a tensor, steps of this size along its real and, if any, imaginary axis."""
    for index in _elements(x.shape):
        steps = []
        for unit in (1.0, 1j) if x.is_complex() else (1.0,):
            steps.append(zeros(x.shape, dtype=x.dtype, device=x.device))
            steps[-1][index] = size * unit
        yield steps


def numerical_jacobians(function: Callable[..., Any], inputs: Sequence[Any], eps: float) -> list[list[list[Tensor]]]:
    """For each output and each differentiable input, the derivative along the real and, if any, imaginary axis."""

    def evaluate() -> Outputs:
        return tuple(as_tuple(function(*inputs)))

    found = []
    for x in differentiable_inputs(inputs):
        held = x.data  # shares the storage, but not the version counter
        units = (eps, eps * 1j) if x.is_complex() else (eps,)
        if _is_of_numpy(held) and held._data.flags.writeable:
            array = held._data
            rows = [
                [_differences(evaluate, partial(array.__setitem__, at), array[at], unit) for unit in units]
                for at in _elements(x.shape)
            ]
        elif held.layout == strided:
            parts = [held[at] for at in _elements(x.shape)]
            rows = [[_differences(evaluate, part.copy_, part.clone(), unit) for unit in units] for part in parts]
        else:
            before = held.clone()
            rows = [[_differences(evaluate, held.copy_, before, step) for step in steps] for steps in _steps(x, eps)]
        found.append([[axis / 2 / eps for axis in axes] for axes in _by_output(x, rows, evaluate)])
    return found


def _empty(rows: int, columns: int, like: Tensor) -> Tensor:
    return zeros((rows, columns), dtype=like.dtype, device=like.device)


def along_axes(axes: list[Tensor], component: Component) -> Tensor:
    """Combine the derivatives of one component of the output along the real and imaginary axis of the input."""
    real = component(axes[0])
    return real if len(axes) == 1 else real + 1j * component(axes[1])


def backward_jacobians(output: Tensor, sources: list[Tensor], component: Component) -> list[Tensor]:
    """The Jacobian of one component of an output, by a backward pass for each element."""
    value = component(output)
    rows = one_row_at_a_time(value, tuple(sources), False)
    found = []
    for nr, x in enumerate(sources):
        gradients = [row[nr] for row in rows]
        column = [zeros_like(x) if g is None else g.to(x.dtype).to_dense() for g in gradients]
        found.append(stack([g.reshape(-1) for g in column]).t() if column else _empty(x.numel(), 0, x))
    return found


def forward_directions(function: Callable[..., Any], inputs: Sequence[Any], nr: int, direction: Tensor) -> list[Tensor]:
    """The tangents of all outputs, given the tangent of one input; zeros for outputs without one."""
    with forward_ad.dual_level():
        given = list(inputs)
        for place in [i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]:
            x = given[place].detach()
            given[place] = forward_ad.make_dual(x, zeros_like(x) if nr else direction)
            nr -= 1
        tangents = []
        for out in as_tuple(function(*given)):
            primal, tangent = forward_ad.unpack_dual(out)
            tangents.append(zeros_like(primal) if tangent is None else tangent)
        return tangents


def forward_jacobians(function: Callable[..., Any], inputs: Sequence[Any]) -> list[list[list[Tensor]]]:
    """Like `numerical_jacobians`, by forward mode."""
    found = []
    for nr, x in enumerate(differentiable_inputs(inputs)):
        rows = [[forward_directions(function, inputs, nr, step) for step in steps] for steps in _steps(x, 1.0)]
        found.append(_by_output(x, rows, lambda: as_tuple(function(*inputs))))
    return found
