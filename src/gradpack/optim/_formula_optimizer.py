"""Base classes of optimizers that step one parameter after the other, and of those defined by a formula for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..base.modes import using
from ..core.tensor import Tensor
from ..nn.utils.direct import may_write
from ..ops.create.create import tensor
from ..ops.create.fill_like import full_like, zeros_like
from ..ops.pointwise.complex_parts import complex
from ._options import as_scalar, compute_dtype, loss_of
from .optimizer import Optimizer

State = dict[str, Any]


class PerParameterOptimizer(Optimizer):
    """Calls `_step_parameter` for each parameter that has a gradient, with the state that began as `_initial_state`."""

    _takes_sparse = False

    def _initial_state(self, p: Tensor, group: State) -> State:
        """Return the initial state of a parameter, except the step count."""
        raise NotImplementedError

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters by their gradients.

        Args:
            closure: computes the loss, and its gradients, anew; called once, with autograd on.

        Returns:
            What the closure returned, or None.
        """
        loss = loss_of(closure)
        differentiable = bool(self.defaults.get("differentiable"))
        for group in self.param_groups:
            params = group["params"]
            if not differentiable and may_write():
                params = self._step_arrays(params, group)
            if params:
                with using(grad=differentiable):
                    self._step_tensors([p for p in params if p.grad is not None], group)
        return loss

    def _step_arrays(self, params: list[Tensor], group: State) -> list[Tensor]:
        """Step what arrays can be written to directly; return the other parameters."""
        return params

    def _step_tensors(self, params: list[Any], group: State) -> None:
        """Step parameters by operations on tensors."""
        for p in params:
            self._check_gradient(p)
            own = self.state[p]
            if not own:
                own.update({"step": tensor(0.0)} if self._counts_in_tensors else {}, **self._initial_state(p, group))
        for p in params:
            self._step_parameter(p, p.grad, self.state[p], group)

    def _check_gradient(self, p: Any) -> None:
        """Raise RuntimeError for a parameter or a gradient that the optimizer does not support."""
        if p.grad.is_sparse and not self._takes_sparse:
            raise RuntimeError(f"{type(self).__name__} does not support sparse gradients")

    def _step_parameter(self, p: Tensor, grad: Any, own: State, group: State) -> None:
        """Step one parameter."""
        raise NotImplementedError


class FormulaOptimizer(PerParameterOptimizer):
    """Calls `_formula` for each parameter with a gradient, and writes what it returns.

    Complex parameters are two real ones for it; low precision is computed in float32.
    """

    _counts_in_tensors = True

    _scalars: tuple[str, ...] = ()  # state with one number per parameter

    def _formula(self, p: Tensor, g: Tensor, state: State, step: Any, group: State) -> tuple[Tensor, State]:
        """Return the new parameter and the changed state. Nothing is in-place.

        Args:
            p: the parameter; complex ones come as two real ones.
            g: its gradient, against which to move.
            state: the tensors beside it.
            step: which step this is, from 1.
            group: the options.
        """
        raise NotImplementedError

    def _step_parameter(self, p: Tensor, grad: Any, own: State, group: State) -> None:
        own["step"] += 1
        step = own["step"].clone() if group.get("capturable") else own["step"].item()
        names = [name for name, value in own.items() if isinstance(value, Tensor) and value._shape == p._shape]
        names = [name for name in names if name != "step" and name not in self._scalars]
        dtype = compute_dtype(p)
        options = {**group, "lr": as_scalar(group["lr"])} if isinstance(group["lr"], Tensor) else group
        usual = dtype is p.dtype and not (dtype.is_complex or group.get("differentiable") or self._scalars)
        if usual and all(t._spec is p._spec for t in (grad, *[own[name] for name in names])):
            moved, fresh = self._formula(p, -grad if group.get("maximize") else grad, own, step, options)
            p.copy_(moved)
            for name, value in fresh.items():
                own[name].copy_(value)
            return
        before: list[Tensor] = [p, grad, *[own[name] for name in names]]
        if group.get("differentiable"):  # saved tensors must not be the arrays that are written to below
            before = [t.clone() for t in before]
        results = []
        fresh = {}
        for part in zip(*[_real_parts(t.to(dtype)) for t in before], strict=True):
            now, g, *kept = part
            if group.get("maximize"):
                g = -g
            state = {
                **{name: own[name] for name in self._scalars if name in own},
                **dict(zip(names, kept, strict=True)),
            }
            moved, fresh = self._formula(now, g, state, step, options)
            results.append([moved, *[fresh.get(name, state[name]) for name in names]])
        for old, *parts in zip((p, *[own[name] for name in names]), *results, strict=True):
            old.copy_(complex(*parts) if len(parts) == 2 else parts[0])
        for name in self._scalars:
            if name in fresh:
                value = fresh[name]
                own[name].copy_(value if isinstance(value, Tensor) else tensor(value, dtype=own[name].dtype))


def decayed(p: Tensor, g: Tensor, group: State) -> Tensor:
    """The gradient plus `weight_decay` times the parameter."""
    return g + p * group["weight_decay"] if group["weight_decay"] else g


def with_decay(p: Tensor, g: Tensor, group: State) -> tuple[Tensor, Tensor]:
    """Parameter and gradient after weight decay, through the averages or past them."""
    decay = as_scalar(group["weight_decay"])
    if not isinstance(decay, Tensor) and not decay:
        return p, g
    if group["decoupled_weight_decay"]:
        return p * (1 - group["lr"] * decay), g
    return p, g + p * decay


def zeros_beside(p: Tensor, *names: str) -> State:
    """Zeros like the parameter, under each name."""
    return {name: zeros_like(p.detach()) for name in names}


def filled(p: Tensor, value: float) -> Tensor:
    """A number in the shape of a parameter; for complex ones in both parts."""
    if p.is_complex():
        part = full_like(p.detach().real, value)
        return complex(part, part)
    return full_like(p.detach(), value)


def lerped(old: Tensor, new: Tensor, weight: Any) -> Tensor:
    """Interpolate from `old` to `new`, from the nearer end for precision."""
    if isinstance(weight, Tensor) or weight < 0.5:
        return old + (new - old) * weight
    return new - (new - old) * (1 - weight)


def _real_parts(tensor: Tensor) -> list[Tensor]:
    """Return [real, imag] of a complex tensor, [tensor] of a real one."""
    return [tensor.real, tensor.imag] if tensor.is_complex() else [tensor]
