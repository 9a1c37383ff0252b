"""Adam, and AdamW: gradient descent by running averages of the gradient and of its square."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..backends.numpy import quiet
from ..base.modes import using
from ..core.tensor import Tensor
from ..nn.utils.direct import may_write
from ..ops.pointwise.complex_from_parts import complex
from ..ops.pointwise.pairwise import maximum
from . import kernels
from .optimizer import Optimizer
from .options import as_number, as_scalar, check_implementation, check_option, compute_dtype, loss_of


class Adam(Optimizer):
    """Divides a running average of the gradient by the root of a running average of its square.

    With g the gradient plus `weight_decay` times the parameter, in step t:
    exp_avg = beta1 * exp_avg + (1 - beta1) * g, exp_avg_sq = beta2 * exp_avg_sq + (1 - beta2) * g * g,
    parameter -= lr * (exp_avg / (1 - beta1^t)) / (sqrt(exp_avg_sq / (1 - beta2^t)) + eps).

    Args:
        params: tensors, or pairs of name and tensor, or dicts with `"params"` and their own options.
        lr: the learning rate, a number or a tensor with one element.
        betas: how much of the averages to keep; two floats, or two tensors with one element.
        eps: keeps the division away from zero.
        weight_decay: how much of the parameter to add to its gradient.
        amsgrad: divide by the largest average of the square so far.
        foreach, fused, capturable: accepted; there is one implementation.
        maximize: go along the gradient instead.
        differentiable: record the step, so that one can differentiate through it.
        decoupled_weight_decay: multiply the parameter by 1 - lr * weight_decay instead, as AdamW does.

    Raises:
        ValueError: for negative options, and betas that are not in [0, 1).

    Source: Kingma and Ba, 2014; Reddi et al., 2018 (amsgrad).

    Example::

        >>> import gradpack as torch
        >>> w = torch.tensor([1.0], requires_grad=True)
        >>> optimizer = torch.optim.Adam([w], lr=0.25)
        >>> (w * w).sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([0.7500], requires_grad=True)
    """

    _counts_in_tensors = True

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        if foreach and not capturable and any(isinstance(value, Tensor) for value in (lr, *betas)):
            raise ValueError("lr or betas as a Tensor are not supported for capturable=False and foreach=True")
        check_option("lr", lr)
        check_option("eps", eps)
        check_option("weight_decay", weight_decay)
        for i, beta in enumerate(betas):
            check_option(f"betas[{i}]", beta)
            if not beta < 1:
                raise ValueError(f"Invalid beta parameter at index {i}: {beta}")
        if not any(all(isinstance(beta, kind) for beta in betas) for kind in (float, Tensor)):
            raise ValueError(f"betas must be either both floats or both Tensors, but got {betas}")
        check_implementation(foreach, fused, differentiable)
        defaults = {
            "lr": lr,
            "betas": tuple(map(as_scalar, betas)),
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters by their gradients.

        Args:
            closure: computes the loss, and its gradients, anew; called once, with autograd on.

        Returns:
            What the closure returned, or None.
        """
        loss = loss_of(closure)
        for group in self.param_groups:
            params = group["params"]
            if not self.defaults["differentiable"] and may_write():
                beta1, beta2 = group["betas"]
                options = {
                    **group,
                    "lr": as_number(group["lr"]),
                    "betas": (as_number(beta1), as_number(beta2)),
                    "weight_decay": as_number(group["weight_decay"]),
                }
                with quiet():
                    params = kernels.adam(params, self.state, options)
            if params:
                with using(grad=self.defaults["differentiable"]):
                    for p in params:
                        if p.grad is not None:
                            _update(p, p.grad, self.state[p], group)
        return loss


class AdamW(Adam):
    """Adam whose weight decay does not go through the averages.

    The same as `Adam(..., decoupled_weight_decay=True)`, with a `weight_decay` of 0.01 by default.

    Source: Loshchilov and Hutter, 2017.

    Example::

        >>> import gradpack as torch
        >>> w = torch.tensor([1.0], requires_grad=True)
        >>> optimizer = torch.optim.AdamW([w], lr=0.5, weight_decay=0.5)
        >>> (w * 0).sum().backward()
        >>> optimizer.step()
        >>> w
        tensor([0.7500], requires_grad=True)
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )


def _update(p: Tensor, grad: Tensor, own: dict[str, Any], options: dict[str, Any]) -> None:
    """Step one parameter by the formula."""
    if grad.is_sparse:
        raise RuntimeError("Adam does not support sparse gradients, please consider SparseAdam instead")
    if not own:
        kernels.start_adam(p, own, options["amsgrad"])
    if options["differentiable"] and own["step"].requires_grad:
        raise RuntimeError("`requires_grad` is not supported for `step` in differentiable mode")
    own["step"] += 1
    kept = [own["exp_avg"], own["exp_avg_sq"], *([own["max_exp_avg_sq"]] if options["amsgrad"] else [])]
    dtype = compute_dtype(p)
    step = own["step"].clone() if options["capturable"] else own["step"].item()
    before: list[Any] = [p, grad, *kept]
    if options["differentiable"]:  # saved tensors must not be the arrays that are written to below
        before = [t.clone() for t in before]
    results = [
        formula(
            *part,
            step=step,
            lr=as_scalar(options["lr"]),
            betas=options["betas"],
            eps=options["eps"],
            weight_decay=as_scalar(options["weight_decay"]),
            decoupled_weight_decay=options["decoupled_weight_decay"],
            maximize=options["maximize"],
        )
        for part in zip(*[_real_parts(t.to(dtype)) for t in before], strict=True)
    ]
    for old, *parts in zip((p, *kept), *results, strict=True):
        old.copy_(complex(*parts) if len(parts) == 2 else parts[0])


def _real_parts(tensor: Tensor) -> list[Tensor]:
    """Return [real, imag] of a complex tensor, [tensor] of a real one."""
    return [tensor.real, tensor.imag] if tensor.is_complex() else [tensor]


def formula(
    p: Tensor,
    grad: Tensor,
    mean: Tensor,
    square: Tensor,
    largest: Tensor | None = None,
    *,
    step: Any,
    lr: Any,
    betas: tuple[Any, Any],
    eps: float,
    weight_decay: Any,
    decoupled_weight_decay: bool,
    maximize: bool,
) -> tuple[Tensor, ...]:
    """Return the new parameter and averages. Differentiable, nothing is in-place."""
    beta1, beta2 = betas
    g = -grad if maximize else grad
    if isinstance(weight_decay, Tensor) or weight_decay != 0:
        if decoupled_weight_decay:
            p = p * (1 - lr * weight_decay)
        else:
            g = g + p * weight_decay
    # From the nearer end, which keeps the digits of a small gradient.
    nearer = isinstance(beta1, float) and beta1 <= 0.5
    mean = g - (g - mean) * beta1 if nearer else mean + (g - mean) * (1 - beta1)
    square = square * beta2 + g * g * (1 - beta2)
    kept = (square,) if largest is None else (square, maximum(largest, square))
    denominator = kept[-1].sqrt() / (1 - beta2**step) ** 0.5 + eps
    return p - mean / denominator * (lr / (1 - beta1**step)), mean, *kept
