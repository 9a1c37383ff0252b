"""gradcheck and gradgradcheck: derivatives compared with finite differences."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..base.dtypes import complex128, float64
from ..ops import random as _random
from ..ops.compare import allclose
from ..ops.fill import zeros_like
from ..tensor.tensor import Tensor
from .api import grad
from .function import Function
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

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


class GradcheckError(RuntimeError):
    """Raised by `gradcheck` and `gradgradcheck` where derivatives are wrong."""


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Compare the gradients of `func` at `inputs` with finite differences.

    Every input that requires a gradient is varied, every result that requires one is looked at.
    Complex numbers are taken apart into real and imaginary part. The default tolerances are for
    float64 and complex128.

    Args:
        func: takes the inputs and returns a tensor or a tuple of tensors.
        inputs: a tensor or a tuple; those with requires_grad are checked.
        eps: how far an element is moved for the difference.
        atol: allowed absolute difference.
        rtol: allowed relative difference.
        raise_exception: raise where a check fails; False: return False.
        nondet_tol: how far two backward passes may differ.
        check_undefined_grad: check that gradients that are missing are taken for zeros.
        check_grad_dtypes: check that gradients have the dtypes of the inputs.
        check_batched_grad: check a batch of gradients against one after the other.
        check_batched_forward_grad: check tangents of several directions against each other.
        check_forward_ad: check forward mode.
        check_backward_ad: check backward.
        fast_mode: compare one random direction instead of every element.
        masked: about sparse inputs; has no effect on dense ones.

    Returns:
        True if everything agrees.

    Raises:
        GradcheckError: with both Jacobians, if it does not and `raise_exception` is set.
        ValueError: if no input requires a gradient.

    Example::

        >>> import gradpack as torch
        >>> x = torch.tensor([0.5, 1.0], dtype=torch.float64, requires_grad=True)
        >>> torch.autograd.gradcheck(torch.sin, (x,))
        True
    """
    assert check_forward_ad or check_backward_ad, (
        "Expected at least one of check_forward_ad or check_backward_ad to be True"
    )
    assert not (check_batched_grad and not check_backward_ad), (
        "Setting check_batched_grad=True requires check_backward_ad to be True"
    )
    assert not (check_batched_forward_grad and not check_forward_ad), (
        "Setting check_batched_forward_grad=True requires check_forward_ad to be True"
    )
    given = as_tuple(inputs)
    try:
        _check_inputs(given)
        returned = as_tuple(func(*given))
        outputs = differentiable_outputs(returned)
        if not outputs:
            _check_nothing_to_differentiate(func, given, returned, eps)
            return True
        check = _Check(func, given, eps, atol, rtol, fast_mode)
        if check_backward_ad:
            check.backward(outputs, nondet_tol, check_grad_dtypes)
        if check_forward_ad:
            check.forward()
        if check_batched_forward_grad:
            check.batched_forward()
        if not check_backward_ad:
            return True
        if check_batched_grad:
            check.batched(outputs)
        _check_scaled(outputs, check.sources)
        if check_undefined_grad:
            _check_undefined(func, given, outputs)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _check_inputs(inputs: Sequence[Any]) -> None:
    found = False
    for nr, x in enumerate(inputs):
        if not isinstance(x, Tensor) or not x.requires_grad:
            continue
        found = True
        if x.dtype not in (float64, complex128):
            warnings.warn(
                f"Input #{nr} requires gradient and is not a double precision floating point or complex: finite "
                f"differences of {x.dtype} are too rough, and this check will likely fail. Convert it with .double().",
                UserWarning,
                stacklevel=3,
            )
        if any(stride == 0 and n > 1 for stride, n in zip(x.stride(), x.shape, strict=True)):
            raise RuntimeError(
                f"The {nr}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                "non-overlapping to be able to compute the numerical gradients correctly. You should call "
                ".contiguous on the input before passing it to gradcheck."
            )
        x.retain_grad()
    if not found:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
        )


def _check_nothing_to_differentiate(
    func: Callable[..., Any], inputs: Sequence[Any], outputs: Sequence[Any], eps: float
) -> None:
    """Results that require no gradient must not depend on inputs that do."""
    numbers = [i for i, t in enumerate(outputs) if t.is_floating_point() or t.is_complex()]
    if not numbers:
        return
    for by_output in numerical_jacobians(lambda *a: [as_tuple(func(*a))[i] for i in numbers], inputs, eps):
        for axes in by_output:
            if any((jacobian != 0).any() for jacobian in axes):
                raise GradcheckError("Numerical gradient for function expected to be zero")


def _real(t: Tensor) -> Tensor:
    return t.real if t.is_complex() else t


def _imaginary(t: Tensor) -> Tensor:
    return t.imag if t.is_complex() else zeros_like(t)


def _whole(t: Tensor) -> Tensor:
    return t


class _Check:
    """One function at one point, with the tolerances."""

    def __init__(
        self, func: Callable[..., Any], inputs: Sequence[Any], eps: float, atol: float, rtol: float, fast: bool
    ) -> None:
        self.func, self.inputs, self.eps, self.atol, self.rtol, self.fast = func, inputs, eps, atol, rtol, fast
        self.sources = differentiable_inputs(inputs)
        self._numerical: list[list[list[Tensor]]] | None = None

    def outputs(self, *inputs: Any) -> tuple[Tensor, ...]:
        return differentiable_outputs(self.func(*inputs))

    def numerical(self) -> list[list[list[Tensor]]]:
        """For each input and output: the derivative along each axis of the input."""
        if self._numerical is None:
            self._numerical = numerical_jacobians(self.outputs, self.inputs, self.eps)
        return self._numerical

    # -- backward --

    def backward(self, outputs: Sequence[Tensor], nondet_tol: float, check_dtypes: bool) -> None:
        for nr, output in enumerate(outputs):
            parts: list[tuple[str, Component]] = [("", _whole)]
            if output.is_complex():
                parts = [
                    ("While considering the imaginary part of complex outputs only, ", _imaginary),
                    ("While considering the real part of complex outputs only, ", _real),
                ]
            for prefix, component in parts:
                if self.fast:
                    self._backward_fast(nr, output, component, prefix, nondet_tol, check_dtypes)
                else:
                    self._backward_slow(nr, output, component, prefix, nondet_tol, check_dtypes)

    def _backward_slow(
        self, nr: int, output: Tensor, component: Component, prefix: str, nondet_tol: float, check_dtypes: bool
    ) -> None:
        analytical = backward_jacobians(output, self.sources, component)
        for i, a in enumerate(analytical):
            n = along_axes(self.numerical()[i][nr], component)
            self._compare(n, a, f"{prefix}Jacobian mismatch for output {nr:d} with respect to input {i:d},\n")
        if check_dtypes:
            _check_dtypes(component(output), self.sources)
        again = backward_jacobians(output, self.sources, component)
        _check_determinism(analytical, again, nondet_tol)

    def _backward_fast(
        self, nr: int, output: Tensor, component: Component, prefix: str, nondet_tol: float, check_dtypes: bool
    ) -> None:
        value = component(output)
        v = _direction(value)
        gradients = grad(value, self.sources, v, retain_graph=True, allow_unused=True)
        gradients = [zeros_like(x) if g is None else g for x, g in zip(self.sources, gradients, strict=True)]
        for i, (x, g) in enumerate(zip(self.sources, gradients, strict=True)):
            u = _direction(_real(x))
            analytical, numerical = (_real(g) * u).sum(), self._moved(x, u, nr, component, v)
            if x.is_complex():
                analytical = analytical + 1j * (_imaginary(g) * u).sum()
                numerical = numerical + 1j * self._moved(x, 1j * u, nr, component, v)
            atol = self.atol * float(u.sum()) * float(v.sum())
            if not _close(numerical, analytical, self.rtol, atol):
                slow_a = backward_jacobians(output, self.sources, component)[i]
                slow_n = along_axes(self.numerical()[i][nr], component)
                title = f"{prefix}Jacobian mismatch for output {nr:d} with respect to input {i:d},\n"
                raise GradcheckError(_told_fast(title, numerical, analytical, slow_n, slow_a))
        if check_dtypes:
            _check_dtypes(value, self.sources)
        again = grad(value, self.sources, v, retain_graph=True, allow_unused=True)
        again = [zeros_like(x) if g is None else g for x, g in zip(self.sources, again, strict=True)]
        _check_determinism(gradients, again, nondet_tol)

    def _moved(self, x: Tensor, u: Tensor, nr: int, component: Component, v: Tensor) -> Tensor:
        """How fast v . f changes when x moves along u."""
        difference = quotient(lambda: self.outputs(*self.inputs), x.data, u * self.eps)[nr]
        return (component(difference / self.eps) * v).sum()

    def _compare(self, numerical: Tensor, analytical: Tensor, title: str) -> None:
        if not _close(numerical, analytical, self.rtol, self.atol):
            raise GradcheckError(f"{title}numerical:{numerical}\nanalytical:{analytical}\n")

    # -- forward --

    def forward(self) -> None:
        axes_of = ("real", "imaginary")
        complex_inputs = any(x.is_complex() for x in self.sources)
        if self.fast:
            for i, x in enumerate(self.sources):
                for axis in range(2 if x.is_complex() else 1):
                    self._forward_fast(i, x, axis, self._prefix(axes_of[axis], complex_inputs))
            return
        analytical = forward_jacobians(self.outputs_of_duals, self.inputs)
        for i, by_output in enumerate(analytical):
            for nr, axes in enumerate(by_output):
                for axis, a in enumerate(axes):
                    prefix = self._prefix(axes_of[axis], complex_inputs)
                    title = f"{prefix}Jacobian computed with forward mode mismatch for output {nr:d} with respect to input {i:d},\n"  # noqa: E501
                    self._compare(self.numerical()[i][nr][axis], a, title)

    @staticmethod
    def _prefix(axis: str, complex_inputs: bool) -> str:
        return f"While considering the {axis} part of complex inputs only, " if complex_inputs else ""

    def outputs_of_duals(self, *inputs: Any) -> tuple[Tensor, ...]:
        """The same results as `outputs`: chosen by place, for duals of detached inputs may require no gradient."""
        if not hasattr(self, "_places"):
            returned = as_tuple(self.func(*self.inputs))
            self._places = [i for i, t in enumerate(returned) if t.requires_grad]
        returned = as_tuple(self.func(*inputs))
        return tuple(returned[i] for i in self._places)

    def _forward_fast(self, i: int, x: Tensor, axis: int, prefix: str) -> None:
        u = _direction(_real(x)) * (1j if axis else 1.0)
        tangents = forward_directions(self.outputs_of_duals, self.inputs, i, u.to(x.dtype))
        differences = quotient(lambda: self.outputs(*self.inputs), x.data, u * self.eps)
        for nr, (tangent, difference) in enumerate(zip(tangents, differences, strict=True)):
            v = _direction(_real(tangent))
            analytical, numerical = (tangent * v).sum(), (difference / self.eps * v).sum()
            atol = self.atol * float((u.imag if axis else u).sum()) * float(v.sum())
            if not _close(numerical, analytical, self.rtol, atol):
                title = f"{prefix}Jacobian computed with forward mode mismatch for output {nr:d} with respect to input {i:d},\n"  # noqa: E501
                slow_n = self.numerical()[i][nr][axis]
                slow_a = forward_jacobians(self.outputs_of_duals, self.inputs)[i][nr][axis]
                raise GradcheckError(_told_fast(title, numerical, analytical, slow_n, slow_a))

    # -- batches --

    def batched(self, outputs: Sequence[Tensor]) -> None:
        for nr, output in enumerate(outputs):
            seeds = [_random.randn_like(output) for _ in range(2)]
            one_by_one = [grad(output, self.sources, s, retain_graph=True, allow_unused=True) for s in seeds]
            together = grad(
                output, self.sources, _stack(seeds), retain_graph=True, allow_unused=True, is_grads_batched=True
            )
            for i, (x, batch) in enumerate(zip(self.sources, together, strict=True)):
                expected = _stack([zeros_like(x) if g[i] is None else g[i] for g in one_by_one])
                _check_batch(zeros_like(expected) if batch is None else batch, expected, i, nr, "grad")

    def batched_forward(self) -> None:
        """Tangents of two directions must add up to the tangent of their sum, whichever comes first."""
        for i, x in enumerate(self.sources):
            directions = [_random.randn_like(x) for _ in range(2)]
            one_by_one = [forward_directions(self.outputs_of_duals, self.inputs, i, d) for d in directions]
            together = forward_directions(self.outputs_of_duals, self.inputs, i, directions[0] + directions[1])
            for nr, found in enumerate(together):
                _check_batch(found, one_by_one[0][nr] + one_by_one[1][nr], i, nr, "forward grad")


def _stack(tensors: Sequence[Tensor]) -> Tensor:
    from ..ops.join import stack

    return stack(list(tensors))


def _check_batch(batch: Tensor, expected: Tensor, i: int, nr: int, what: str) -> None:
    if not allclose(batch, expected, rtol=1e-5, atol=1e-8, equal_nan=True):
        raise GradcheckError(
            f"For output {nr} and input {i}: a batched {what} is not what it is one by one.\n"
            f"batched:\n{batch}\none by one:\n{expected}\n"
        )


def _direction(like: Tensor) -> Tensor:
    """Random numbers between 0 and 1, as a vector of length 1: no direction is orthogonal to another."""
    made = _random.rand(like.shape, dtype=like.dtype)
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


def _check_scaled(outputs: Sequence[Tensor], sources: list[Tensor]) -> None:
    """Gradients of zero give zeros."""
    seeds = [zeros_like(o) for o in outputs]
    for nr, g in enumerate(grad(list(outputs), sources, seeds, retain_graph=True, allow_unused=True)):
        if g is not None and bool((g != 0).any()):
            raise GradcheckError(f"backward not multiplied by grad_output: zeros give another gradient of input {nr}")


class _Undefined(Function):
    """Gives its input; sends no gradient back."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return None


def _check_undefined(func: Callable[..., Any], inputs: Sequence[Any], outputs: Sequence[Tensor]) -> None:
    """A gradient that is not there must do what zeros do: for all results at once, and for each alone."""
    sources = differentiable_inputs(inputs)
    every = set(range(len(outputs)))
    for missing in [every, *([{nr} for nr in every] if len(every) > 1 else [])]:
        fresh = differentiable_outputs(func(*inputs))
        cut = [_Undefined.apply(o) if nr in missing else o for nr, o in enumerate(fresh)]
        seeds = [zeros_like(o) for o in cut]
        try:
            gradients = grad(cut, sources, seeds, allow_unused=True)
        except RuntimeError as error:
            raise GradcheckError(
                "Expected backward function to handle undefined output grads: a gradient of None means zeros "
                "(ctx.set_materialize_grads(True) makes them)"
            ) from error
        for nr, g in enumerate(gradients):
            if g is not None and bool((g != 0).any()):
                raise GradcheckError(
                    "Expected all input grads to be undefined or zero when all output grads are undefined or zero: "
                    f"that of input {nr} is not"
                )


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Compare the gradients of the gradients of `func` with finite differences.

    Args:
        func: as for `gradcheck`.
        inputs: as for `gradcheck`.
        grad_outputs: the gradients of the results; random ones if not given.
        gen_non_contig_grad_outputs: make those that it generates non-contiguous.
        check_fwd_over_rev: check forward mode through backward.
        check_rev_over_rev: check backward through backward.

    The other arguments are those of `gradcheck`.

    Raises:
        GradcheckError: with both Jacobians, if they differ and `raise_exception` is set.

    Example::

        >>> import gradpack as torch
        >>> x = torch.tensor([0.5, 1.0], dtype=torch.float64, requires_grad=True)
        >>> torch.autograd.gradgradcheck(torch.sin, (x,))
        True
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    if check_undefined_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_undefined_grad=True requires check_rev_over_rev to be True")
    if check_batched_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_batched_grad=True requires check_rev_over_rev to be True")
    given = as_tuple(inputs)
    if grad_outputs is None:
        seeds = tuple(_seed_like(o, gen_non_contig_grad_outputs) for o in differentiable_outputs(func(*given)))
    else:
        seeds = as_tuple(grad_outputs)
    count = len(seeds)
    places = [i for i, x in enumerate(given) if isinstance(x, Tensor) and x.requires_grad]

    def first_derivatives(*args: Any) -> tuple[Tensor, ...]:
        arguments = list(args[: len(args) - count])
        for i in places:  # duals are made of detached inputs: what is asked about them is a gradient all the same
            if not arguments[i].requires_grad:
                arguments[i] = arguments[i].requires_grad_()
        outputs = differentiable_outputs(func(*arguments))
        found = grad(
            outputs, [arguments[i] for i in places], args[len(args) - count :], create_graph=True, allow_unused=True
        )
        return tuple(g for g in found if g is not None)

    return gradcheck(
        first_derivatives,
        (*given, *seeds),
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
        masked=masked,
    )


def _seed_like(output: Tensor, strided: bool) -> Tensor:
    """Random numbers of the shape of an output, in double precision."""
    dtype = complex128 if output.is_complex() else float64
    made = _random.randn(output.shape, dtype=dtype).to(output.dtype)
    if strided and made.ndim:
        made = _stack([made, made]).movedim(0, -1)[..., 0]
    return made.requires_grad_()
