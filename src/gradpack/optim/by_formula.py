"""Base class of optimizers that are defined by a formula for one parameter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..base.modes import using
from ..core.tensor import Tensor
from ..ops.create.create import tensor as new_tensor
from ..ops.create.fill_like import zeros_like
from ..ops.pointwise.complex_from_parts import complex
from .optimizer import Optimizer
from .options import as_scalar, check_option, compute_dtype, loss_of

State = dict[str, Any]


class ByFormula(Optimizer):
    """Calls `move` for each parameter with a gradient, and writes what it returns.

    A subclass says which tensors it keeps beside each parameter (`start`), and how to move it.
    """

    _counts_in_tensors = True

    takes_sparse = False

    def start(self, p: Tensor, group: State) -> State:
        """Return the initial state of a parameter, except the step count."""
        raise NotImplementedError

    def move(self, p: Tensor, g: Tensor, state: State, step: Any, group: State) -> tuple[Tensor, State]:
        """Return the new parameter and the changed state. Nothing is in-place.

        Args:
            p: the parameter; complex ones come as two real ones.
            g: its gradient, against which to move.
            state: the tensors beside it.
            step: which step this is, from 1.
            group: the options.
        """
        raise NotImplementedError

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters by their gradients.

        Args:
            closure: computes the loss, and its gradients, anew; called once, with autograd on.

        Returns:
            What the closure returned, or None.
        """
        loss = loss_of(closure)
        with using(grad=bool(self.defaults.get("differentiable"))):
            for group in self.param_groups:
                params = [p for p in group["params"] if p.grad is not None]
                for p in params:
                    if p.grad.is_sparse and not self.takes_sparse:
                        raise RuntimeError(f"{type(self).__name__} does not support sparse gradients")
                    if not self.state[p]:
                        self.state[p].update({"step": new_tensor(0.0), **self.start(p, group)})
                for p in params:
                    self._update(p, p.grad, self.state[p], group)
        return loss

    def _update(self, p: Tensor, grad: Tensor, own: State, group: State) -> None:
        """Step one parameter."""
        own["step"] += 1
        step = own["step"].clone() if group.get("capturable") else own["step"].item()
        names = [name for name, value in own.items() if isinstance(value, Tensor) and value._shape == p._shape]
        names = [name for name in names if name != "step" and name not in self.numbers]
        dtype = compute_dtype(p)
        before: list[Tensor] = [p, grad, *[own[name] for name in names]]
        if group.get("differentiable"):  # saved tensors must not be the arrays that are written to below
            before = [t.clone() for t in before]
        results = []
        fresh: State = {}
        for part in zip(*[_real_parts(t.to(dtype)) for t in before], strict=True):
            now, g, *kept = part
            if group.get("maximize"):
                g = -g
            state = {**{name: own[name] for name in self.numbers if name in own}, **dict(zip(names, kept, strict=True))}
            moved, changed = self.move(now, g, state, step, {**group, "lr": as_scalar(group["lr"])})
            fresh = changed
            results.append([moved, *[changed.get(name, state[name]) for name in names]])
        for old, *parts in zip((p, *[own[name] for name in names]), *results, strict=True):
            old.copy_(complex(*parts) if len(parts) == 2 else parts[0])
        for name in self.numbers:
            if name in fresh:
                value = fresh[name]
                own[name].copy_(value if isinstance(value, Tensor) else new_tensor(value, dtype=own[name].dtype))

    numbers: tuple[str, ...] = ()  # state with one number per parameter


def decayed(p: Tensor, g: Tensor, group: State) -> Tensor:
    """The gradient plus `weight_decay` times the parameter."""
    return g + p * group["weight_decay"] if group["weight_decay"] else g


def zeros_beside(p: Tensor, *names: str) -> State:
    """Zeros like the parameter, under each name."""
    return {name: zeros_like(p.detach()) for name in names}


def lerped(old: Tensor, new: Tensor, weight: float) -> Tensor:
    """Interpolate from `old` to `new`, from the nearer end for precision."""
    return old + (new - old) * weight if weight < 0.5 else new - (new - old) * (1 - weight)


def check_betas(betas: tuple[float, float]) -> None:
    """Raise ValueError unless both are in [0, 1)."""
    for i, beta in enumerate(betas):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {beta}")


def check_options(lr: Any, **options: Any) -> None:
    """Raise ValueError for a negative option, in the order given."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    check_option("lr", lr)
    for name, value in options.items():
        check_option(name, value)


def _real_parts(tensor: Tensor) -> list[Tensor]:
    """Return [real, imag] of a complex tensor, [tensor] of a real one."""
    return [tensor.real, tensor.imag] if tensor.is_complex() else [tensor]
