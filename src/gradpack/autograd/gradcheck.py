"""`gradcheck` and `gradgradcheck`: comparison of derivatives with finite differences.

The checks are imported on the first call, so that `import gradpack` does not load them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from ..base.dtypes import complex128, float64
from ..core.tensor import Tensor
from .api import grad

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


Func = Callable[..., Any]


class GradcheckError(RuntimeError):
    """Raised by `gradcheck` and `gradgradcheck` where derivatives are wrong."""


def _one_of(**flags: bool) -> None:
    if not any(flags.values()):
        raise AssertionError("Expected at least one of {} or {} to be True".format(*flags))


def _needs(**flags: bool) -> None:
    """Raise AssertionError if the first flag is set, and the second is not."""
    first, second = flags
    if flags[first] and not flags[second]:
        raise AssertionError(f"Setting {first}=True requires {second} to be True")


def gradcheck(
    func: Func,
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

    Every input that requires grad is perturbed, every output that requires grad is compared.
    Complex numbers are split into real and imaginary part. The default tolerances are for
    float64 and complex128.

    Args:
        func: takes the inputs and returns a tensor or a tuple of tensors.
        inputs: a tensor or a tuple; those with requires_grad are checked.
        eps: the perturbation for finite differences.
        atol: allowed absolute difference.
        rtol: allowed relative difference.
        raise_exception: raise if a check fails; False: return False.
        nondet_tol: the largest difference between two backward passes.
        check_undefined_grad: check that undefined gradients are treated as zeros.
        check_grad_dtypes: check that gradients have the dtypes of the inputs.
        check_batched_grad: check batched gradients by `vmap` against single ones.
        check_batched_forward_grad: check batched tangents by `vmap` against single ones.
        check_forward_ad: check forward mode.
        check_backward_ad: check backward.
        fast_mode: compare one random direction instead of every element.
        masked: perturb only the specified elements of a sparse input.

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
    from .gradchecks.jacobian_checks import Comparison, check_scaled, check_undefined, check_undefined_forward
    from .gradchecks.numerical import as_tuple, differentiable_outputs

    _one_of(check_forward_ad=check_forward_ad, check_backward_ad=check_backward_ad)
    _needs(check_batched_grad=check_batched_grad, check_backward_ad=check_backward_ad)
    _needs(check_batched_forward_grad=check_batched_forward_grad, check_forward_ad=check_forward_ad)
    given = as_tuple(inputs)
    try:
        func, given = _dense(func, given, bool(masked))
        _check_inputs(given)
        returned = as_tuple(func(*given))
        outputs = differentiable_outputs(returned)
        _refuse_sparse(outputs)
        if not outputs:
            _check_nothing_to_differentiate(func, given, returned, eps)
            return True
        check = Comparison(func, given, returned, eps, atol, rtol, fast_mode)
        if check_backward_ad:
            check.backward(outputs, nondet_tol, check_grad_dtypes)
        if check_forward_ad:
            check.forward()
            if check_undefined_grad:
                check_undefined_forward(func, given)
        if check_batched_forward_grad:
            check.batched_forward()
        if not check_backward_ad:
            return True
        if check_batched_grad:
            check.batched(outputs)
        check_scaled(outputs, check.sources)
        if check_undefined_grad:
            check_undefined(func, given, outputs)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _refuse_sparse(outputs: Any) -> None:
    if any(out.is_sparse for out in outputs):
        raise ValueError(
            "Sparse output is not supported at gradcheck yet. Please call to_dense(masked_grad=...) on the output of "
            "fn for gradcheck."
        )


def _dense(func: Func, inputs: tuple[Any, ...], masked: bool) -> tuple[Func, tuple[Any, ...]]:
    """Return the function and its inputs, dense for sparse ones; raise if the gradients of those have other kinds."""
    if not any(isinstance(x, Tensor) and x.is_sparse for x in inputs):
        return func, inputs
    from .gradchecks.sparse_inputs import check_kinds, without_sparse

    check_kinds(func, inputs)
    return without_sparse(func, inputs, masked)


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


def _check_nothing_to_differentiate(func: Func, inputs: Sequence[Any], outputs: Sequence[Any], eps: float) -> None:
    """Raise if outputs that do not require grad depend on inputs that do."""
    from .gradchecks.numerical import as_tuple, numerical_jacobians

    numbers = [i for i, t in enumerate(outputs) if t.is_floating_point() or t.is_complex()]
    if not numbers:
        return
    for by_output in numerical_jacobians(lambda *a: [as_tuple(func(*a))[i] for i in numbers], inputs, eps):
        for axes in by_output:
            if any((jacobian != 0).any() for jacobian in axes):
                raise GradcheckError("Numerical gradient for function expected to be zero")


def gradgradcheck(
    func: Func,
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
    """Compare second derivatives of `func` with finite differences.

    Args:
        func: takes the inputs and returns a tensor or a tuple of tensors. Checked is its backward as a function of the
            inputs and the gradients of the outputs.
        inputs: a tensor or a tuple; those with requires_grad are checked.
        grad_outputs: the gradients of the outputs; random by default.
        eps: the perturbation for finite differences.
        atol: allowed absolute difference.
        rtol: allowed relative difference.
        gen_non_contig_grad_outputs: make random `grad_outputs` non-contiguous.
        raise_exception: raise if a check fails; False: return False.
        nondet_tol: the largest difference between two backward passes.
        check_undefined_grad: check that undefined gradients are treated as zeros.
        check_grad_dtypes: check that second derivatives have the dtypes of the inputs.
        check_batched_grad: check batched gradients by `vmap` against single ones.
        check_fwd_over_rev: check forward mode over reverse mode.
        check_rev_over_rev: check reverse mode over reverse mode.
        fast_mode: compare one random direction instead of every element.
        masked: perturb only the specified elements of a sparse input.

    Raises:
        GradcheckError: with both Jacobians, if they differ and `raise_exception` is set.

    Example::

        >>> import gradpack as torch
        >>> x = torch.tensor([0.5, 1.0], dtype=torch.float64, requires_grad=True)
        >>> torch.autograd.gradgradcheck(torch.sin, (x,))
        True
    """
    from .gradchecks.numerical import as_tuple, differentiable_outputs

    _one_of(check_fwd_over_rev=check_fwd_over_rev, check_rev_over_rev=check_rev_over_rev)
    _needs(check_undefined_grad=check_undefined_grad, check_rev_over_rev=check_rev_over_rev)
    _needs(check_batched_grad=check_batched_grad, check_rev_over_rev=check_rev_over_rev)
    given = as_tuple(inputs)
    seeds = as_tuple(grad_outputs)
    if grad_outputs is None:
        seeds = tuple(_seed_like(o, gen_non_contig_grad_outputs) for o in differentiable_outputs(func(*given)))
    count = len(seeds)
    places = [i for i, x in enumerate(given) if isinstance(x, Tensor) and x.requires_grad]

    def first_derivatives(*args: Any) -> tuple[Tensor, ...]:
        arguments = list(args[: len(args) - count])
        for i in places:  # duals are made of detached inputs, which must require grad here
            if not arguments[i].requires_grad:
                arguments[i] = arguments[i].requires_grad_()
        outputs = differentiable_outputs(func(*arguments))
        sources, given = [arguments[i] for i in places], args[len(args) - count :]
        found = grad(outputs, sources, given, create_graph=True, allow_unused=True)
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
    """Random numbers in the shape and dtype of an output, drawn in double precision."""
    from ..ops.random.floats import randn
    from ..ops.shape.join import stack

    dtype = complex128 if output.is_complex() else float64
    made = randn(output.shape, dtype=dtype, device=output.device).to(output.dtype)
    if strided and made.ndim:
        made = stack([made, made]).movedim(0, -1)[..., 0]
    return made.requires_grad_()
