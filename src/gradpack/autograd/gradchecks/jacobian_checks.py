"""The comparisons of gradcheck: Jacobians, batched and undefined gradients, dtypes, determinism."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...core.tensor import Tensor
from ...declare.batching.level import mapped
from ...ops.create.fill_like import zeros_like
from ...ops.pointwise.compare import allclose
from ...ops.random import floats as _random
from ...ops.shape.join import stack
from .. import forward_ad
from ..api import grad
from ..function import Function
from ..gradcheck import Func, GradcheckError
from .numerical import (
    Component,
    along_axes,
    as_tuple,
    backward_jacobians,
    differentiable_inputs,
    differentiable_outputs,
    forward_directions,
    forward_jacobians,
    numerical_jacobians,
    quotient,
)


def real(t: Tensor) -> Tensor:
    return t.real if t.is_complex() else t


def _imaginary(t: Tensor) -> Tensor:
    return t.imag if t.is_complex() else zeros_like(t)


def _whole(t: Tensor) -> Tensor:
    return t


_Twice = tuple[list[Tensor], list[Tensor]]
_OF_COMPLEX: tuple[tuple[str, Component], ...] = (
    ("While considering the imaginary part of complex outputs only, ", _imaginary),
    ("While considering the real part of complex outputs only, ", real),
)
_TITLE = "{}Jacobian mismatch for output {:d} with respect to input {},\n"
_FORWARD_TITLE = "{}Jacobian computed with forward mode mismatch for output {:d} with respect to input {:d},\n"


@dataclass
class Comparison:
    """The checks of one function at one point, with their tolerances. `returned`: what it returned there."""

    func: Func
    inputs: Sequence[Any]
    returned: Sequence[Any]
    eps: float
    atol: float
    rtol: float
    fast: bool

    def __post_init__(self) -> None:
        self.sources = differentiable_inputs(self.inputs)
        self._places = [i for i, t in enumerate(self.returned) if t.requires_grad]

    def outputs(self, *inputs: Any) -> tuple[Tensor, ...]:
        return differentiable_outputs(self.func(*inputs))

    @cached_property
    def numerical(self) -> list[list[list[Tensor]]]:
        """The numerical Jacobians by input and output, along the real and imaginary axis of the input."""
        return numerical_jacobians(self.outputs, self.inputs, self.eps)

    # -- backward --

    def backward(self, outputs: Sequence[Tensor], nondet_tol: float, check_dtypes: bool) -> None:
        check = self._backward_fast if self.fast else self._backward_slow
        for nr, output in enumerate(outputs):
            for prefix, component in _OF_COMPLEX if output.is_complex() else (("", _whole),):
                first, again = check(nr, output, component, _TITLE.format(prefix, nr, "{}"))
                if check_dtypes:
                    _check_dtypes(component(output), self.sources)
                _check_determinism(first, again, nondet_tol)

    def _backward_slow(self, nr: int, output: Tensor, component: Component, title: str) -> _Twice:
        analytical = backward_jacobians(output, self.sources, component)
        for i, a in enumerate(analytical):
            self._compare(along_axes(self.numerical[i][nr], component), a, title.format(i))
        return analytical, backward_jacobians(output, self.sources, component)

    def _backward_fast(self, nr: int, output: Tensor, component: Component, title: str) -> _Twice:
        value = component(output)
        v = direction(value)
        gradients = self._gradients(value, v)
        for i, (x, g) in enumerate(zip(self.sources, gradients, strict=True)):
            u = direction(real(x))
            analytical, numerical = (real(g) * u).sum(), self._moved(x, u, nr, component, v)
            if x.is_complex():
                analytical = analytical + 1j * (_imaginary(g) * u).sum()
                numerical = numerical + 1j * self._moved(x, 1j * u, nr, component, v)
            if not _close(numerical, analytical, self.rtol, self.atol * float(u.sum()) * float(v.sum())):
                slow_a = backward_jacobians(output, self.sources, component)[i]
                slow_n = along_axes(self.numerical[i][nr], component)
                raise GradcheckError(_told_fast(title.format(i), numerical, analytical, slow_n, slow_a))
        return gradients, self._gradients(value, v)

    def _gradients(self, value: Tensor, v: Tensor) -> list[Tensor]:
        """The gradients of the inner product of `v` and `value`; zeros for inputs that are independent."""
        found: Any = grad(value, self.sources, v, retain_graph=True, allow_unused=True)
        found = [zeros_like(x) if g is None else g for x, g in zip(self.sources, found, strict=True)]
        return [g.to_dense() if g.is_sparse else g for g in found]

    def _moved(self, x: Tensor, u: Tensor, nr: int, component: Component, v: Tensor) -> Tensor:
        """The numerical derivative of the inner product of `v` and an output, for a step of x along u."""
        difference = quotient(lambda: self.outputs(*self.inputs), x.data, u * self.eps)[nr]
        return (component(difference / self.eps) * v).sum()

    def _compare(self, numerical: Tensor, analytical: Tensor, title: str) -> None:
        if not _close(numerical, analytical, self.rtol, self.atol):
            raise GradcheckError(f"{title}numerical:{numerical}\nanalytical:{analytical}\n")

    # -- forward --

    def forward(self) -> None:
        if self.fast:
            for i, x in enumerate(self.sources):
                for axis in range(2 if x.is_complex() else 1):
                    self._forward_fast(i, x, axis)
            return
        for i, by_output in enumerate(forward_jacobians(self.outputs_of_duals, self.inputs)):
            for nr, axes in enumerate(by_output):
                for axis, a in enumerate(axes):
                    self._compare(self.numerical[i][nr][axis], a, self._title(axis, nr, i))

    def _title(self, axis: int, nr: int, i: int) -> str:
        prefix = ""
        if any(x.is_complex() for x in self.sources):
            prefix = f"While considering the {'imaginary' if axis else 'real'} part of complex inputs only, "
        return _FORWARD_TITLE.format(prefix, nr, i)

    def outputs_of_duals(self, *inputs: Any) -> tuple[Tensor, ...]:
        """The outputs at the same positions as in `outputs`: those of detached duals may not require grad."""
        returned = as_tuple(self.func(*inputs))
        return tuple(returned[i] for i in self._places)

    def _forward_fast(self, i: int, x: Tensor, axis: int) -> None:
        u = direction(real(x)) * (1j if axis else 1.0)
        tangents = forward_directions(self.outputs_of_duals, self.inputs, i, u.to(x.dtype))
        differences = quotient(lambda: self.outputs(*self.inputs), x.data, u * self.eps)
        for nr, (tangent, difference) in enumerate(zip(tangents, differences, strict=True)):
            v = direction(real(tangent))
            analytical, numerical = (tangent * v).sum(), (difference / self.eps * v).sum()
            atol = self.atol * float((u.imag if axis else u).sum()) * float(v.sum())
            if not _close(numerical, analytical, self.rtol, atol):
                slow_n = self.numerical[i][nr][axis]
                slow_a = forward_jacobians(self.outputs_of_duals, self.inputs)[i][nr][axis]
                raise GradcheckError(_told_fast(self._title(axis, nr, i), numerical, analytical, slow_n, slow_a))

    # -- batches --

    def batched(self, outputs: Sequence[Tensor]) -> None:
        """Compare gradients of two seeds under `vmap` with those of single passes."""
        for nr, output in enumerate(outputs):
            seeds = [_random.randn_like(output) for _ in range(2)]
            one_by_one = [grad(output, self.sources, s, retain_graph=True, allow_unused=True) for s in seeds]
            try:
                together = grad(
                    output, self.sources, stack(seeds), retain_graph=True, allow_unused=True, is_grads_batched=True
                )
            except RuntimeError as error:
                raise GradcheckError(f"While computing batched gradients, got: {error}\n\n{_BACKWARD}") from error
            for i, (x, batch) in enumerate(zip(self.sources, together, strict=True)):
                expected = stack([zeros_like(x) if g[i] is None else g[i] for g in one_by_one])
                _check_batch(zeros_like(expected) if batch is None else batch, expected, i, nr, _BACKWARD)
        for x in self.sources:
            if x.retains_grad:  # `vmap` may have left a batched gradient
                x.grad = None

    def batched_forward(self) -> None:
        """Compare tangents of two directions under `vmap` with those of single passes."""
        for i, x in enumerate(self.sources):
            directions = [_random.randn_like(x) for _ in range(2)]
            one_by_one = [forward_directions(self.outputs_of_duals, self.inputs, i, d) for d in directions]
            place = next(k for k, v in enumerate(self.inputs) if v is x)

            def pushed(columns: tuple[Tensor, ...], place: int = place, x: Tensor = x) -> Any:
                def call(values: list[Tensor]) -> Any:
                    given: list[Any] = [v.detach() if isinstance(v, Tensor) else v for v in self.inputs]
                    given[place] = values[0]
                    return self.outputs_of_duals(*given), None

                return forward_ad.push_forward(call, [x.detach()], [columns[0]], inner=True)[1]

            try:
                together = mapped(pushed, (stack(directions),))
            except RuntimeError as error:
                raise GradcheckError(f"While computing batched gradients, got: {error}\n\n{_FORWARD}") from error
            for nr, found in enumerate(together):
                _check_batch(found, stack([row[nr] for row in one_by_one]), i, nr, _FORWARD)


_BACKWARD = (
    "gradcheck or gradgradcheck failed while testing batched gradient computation, which runs backward under vmap. To "
    "leave that out, pass check_batched_grad=False."
)
_FORWARD = (
    "gradcheck failed while testing batched gradient computation with forward-mode AD, which runs the function under "
    "vmap. To leave that out, pass check_batched_forward_grad=False."
)


def _check_batch(batch: Tensor, expected: Tensor, i: int, nr: int, why: str) -> None:
    if not allclose(batch, expected, rtol=1e-5, atol=1e-8, equal_nan=True):
        raise GradcheckError(f"For output {nr} and input {i}:\n\n{why}\n\nGot:\n{batch}\n\nExpected:\n{expected}")


def direction(like: Tensor) -> Tensor:
    """A random vector of length 1 with elements of at least 0: no two of them are orthogonal."""
    made = _random.rand(like.shape, dtype=like.dtype, device=like.device)
    length = (made * made).sum().sqrt()
    return made / length if made.numel() else made


def _close(numerical: Tensor, analytical: Tensor, rtol: float, atol: float) -> bool:
    numerical = numerical.to(analytical.dtype) if not numerical.is_complex() else numerical
    analytical = analytical.to(numerical.dtype)
    return bool(allclose(analytical, numerical, rtol, atol))


def _told_fast(title: str, numerical: Tensor, analytical: Tensor, slow_n: Tensor, slow_a: Tensor) -> str:
    worst = float((slow_n - slow_a).abs().max()) if slow_n.numel() else 0.0
    return (
        f"{title}numerical:{numerical.item()}\nanalytical:{analytical.item()}\n\n"
        "These are products of the Jacobians with random vectors (fast mode). The Jacobians themselves, element by "
        f"element (slow mode):\n\nNumerical:\n {slow_n}\nAnalytical:\n{slow_a}\n\n"
        f"The max per-element difference (slow mode) is: {worst}.\n"
    )


def _check_determinism(first: Iterable[Tensor], second: Iterable[Tensor], tolerance: float) -> None:
    for a, b in zip(first, second, strict=True):
        if a.numel() and float((a - b).abs().max()) > tolerance:
            raise GradcheckError(
                "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times "
                "gives different values, although analytical gradient matches numerical gradient. The tolerance for "
                f"nondeterminism was {tolerance}: if the operation is random by its nature, give a larger nondet_tol."
            )


def _check_dtypes(value: Tensor, sources: list[Tensor]) -> None:
    seed = zeros_like(value)
    for x, g in zip(sources, grad(value, sources, seed, retain_graph=True, allow_unused=True), strict=True):
        if g is not None and g.dtype != x.dtype:
            raise GradcheckError(f"Gradient has dtype mismatch: {g.dtype} for an input of {x.dtype}")
        if g is not None and g.shape != x.shape:
            raise GradcheckError(f"Analytical gradient has incorrect size: {g.shape} for an input of {x.shape}")


def check_scaled(outputs: Sequence[Tensor], sources: list[Tensor]) -> None:
    """Raise unless zero gradients of the outputs give zero gradients of the inputs."""
    seeds = [zeros_like(o) for o in outputs]
    for nr, g in enumerate(grad(list(outputs), sources, seeds, retain_graph=True, allow_unused=True)):
        if g is not None and g.layout is not sources[nr].layout:
            raise GradcheckError(f"grad is incorrect layout ({g.layout} is not {sources[nr].layout})")
        if g is not None and bool((g != 0).any()):
            raise GradcheckError(f"backward not multiplied by grad_output: zeros give another gradient of input {nr}")


class _Undefined(Function):
    """The identity with an undefined gradient."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return None


def _warn_of_undefined() -> None:
    warnings.warn(
        "Backwards compatibility: New undefined gradient support checking feature is enabled by default, but it may "
        "break existing callers of this function. If this is true for you, you can call this function with "
        '"check_undefined_grad=False" to disable the feature',
        UserWarning,
        stacklevel=4,
    )


def check_undefined_forward(func: Func, inputs: Sequence[Any]) -> None:
    """Raise unless an undefined tangent of an input has the effect of zeros, for any tangents of the other inputs."""
    places = [i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]
    with forward_ad.dual_level():
        duals = list(inputs)
        for i in places:
            x = inputs[i].detach()
            duals[i] = forward_ad.make_dual(x, direction(real(x)).to(x.dtype))
        for i in places:
            x = inputs[i].detach()
            found = []
            for value in (forward_ad.make_dual(x, zeros_like(x)), inputs[i].detach()):
                outputs = as_tuple(func(*duals[:i], value, *duals[i + 1 :]))
                found.append([forward_ad.unpack_dual(o).tangent for o in outputs if isinstance(o, Tensor)])
            for nr, (expected, got) in enumerate(zip(*found, strict=True)):
                if expected is not None and got is not None and not allclose(expected, got):
                    raise GradcheckError(
                        f"Mismatch in tangent values for output with index: {nr} when input: {i} has an undefined "
                        f"tangent value. Got: {got} but expected: {expected}"
                    )


def check_undefined(func: Func, inputs: Sequence[Any], outputs: Sequence[Tensor]) -> None:
    """Raise unless undefined gradients have the effect of zeros: of all outputs at once, and of each alone."""
    sources = differentiable_inputs(inputs)
    every = set(range(len(outputs)))
    for missing in [every, *([{nr} for nr in every] if len(every) > 1 else [])]:
        fresh = differentiable_outputs(func(*inputs))
        cut = [_Undefined.apply(o) if nr in missing else o for nr, o in enumerate(fresh)]
        seeds = [zeros_like(o) for o in cut]
        try:
            gradients = grad(cut, sources, seeds, allow_unused=True)
        except RuntimeError as error:
            _warn_of_undefined()
            raise GradcheckError(
                "Expected backward function to handle undefined output grads: a gradient of None means zeros "
                "(ctx.set_materialize_grads(True) makes them)"
            ) from error
        for nr, g in enumerate(gradients):
            if g is not None and bool((g != 0).any()):
                _warn_of_undefined()
                raise GradcheckError(
                    "Expected all input grads to be undefined or zero when all output grads are undefined or zero: "
                    f"that of input {nr} is not"
                )
