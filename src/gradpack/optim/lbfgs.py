"""L-BFGS: a quasi-Newton method that remembers a few steps, with a line search if asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ..autograd.grad_mode import enable_grad
from ..base.modes import using
from ..ops.complex_parts import view_as_real
from ..ops.join import cat
from ..tensor.tensor import Tensor
from .optimizer import Optimizer
from .options import as_number


class LBFGS(Optimizer):
    """Goes along minus the inverse Hessian times the gradient, as far as the last steps tell it.

    One call of `step` makes up to `max_iter` iterations and calls the closure many times. All parameters are one
    vector: there are no groups.

    Args:
        params: tensors.
        lr: how far to go along a direction.
        max_iter: iterations in one step.
        max_eval: calls of the closure in one step; None for 5/4 of `max_iter`.
        tolerance_grad: stop when no element of the gradient is larger.
        tolerance_change: stop when parameters or loss change less.
        history_size: how many steps to remember.
        line_search_fn: "strong_wolfe", or None for steps of fixed length.

    Raises:
        ValueError: for a negative `lr`, and more than one group.

    Source: Liu and Nocedal, 1989; Nocedal and Wright, Numerical Optimization, chapters 3 and 7.

    Example::

        >>> import gradpack as torch
        >>> w = torch.tensor([1.0, 3.0], requires_grad=True)
        >>> optimizer = torch.optim.LBFGS([w], line_search_fn="strong_wolfe")
        >>> def closure():
        ...     optimizer.zero_grad()
        ...     loss = ((w - 2.0) ** 2).sum()
        ...     loss.backward()
        ...     return loss
        >>> optimizer.step(closure)
        tensor(2., grad_fn=<SumBackward0>)
        >>> w
        tensor([2., 2.], requires_grad=True)
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not lr >= 0:
            raise ValueError(f"Invalid learning rate: {lr}")
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params: list[Tensor] = self.param_groups[0]["params"]

    def _gradient(self) -> Tensor:
        """The gradients of all parameters as one vector."""
        parts = []
        for p in self._params:
            g = p.detach().new_zeros(p.shape) if p.grad is None else p.grad.to_dense()
            parts.append((view_as_real(g) if g.is_complex() else g).reshape(-1))
        return cat(parts, 0)

    def _go(self, length: Any, direction: Tensor) -> None:
        """Move all parameters."""
        start = 0
        for p in self._params:
            real = view_as_real(p) if p.is_complex() else p
            count = real.numel()
            real.add_(direction[start : start + count].reshape(real.shape), alpha=as_number(length))
            start += count

    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Make up to `max_iter` iterations.

        Args:
            closure: clears the gradients, computes the loss and its gradients, and returns the loss.

        Returns:
            The loss before the step.
        """
        with using(grad=False):
            return self._step(enable_grad()(closure))

    def _step(self, closure: Callable[[], Any]) -> Any:
        group = self.param_groups[0]
        lr, most = as_number(group["lr"]), group["max_iter"]
        flat, small = group["tolerance_grad"], group["tolerance_change"]
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first = closure()
        loss = float(as_number(first))
        calls = 1
        state["func_evals"] += 1
        g = self._gradient()
        if g.abs().max() <= flat:
            return first
        d, t = state.get("d"), state.get("t")
        memory = _Memory(*(state.get(key) for key in ("old_dirs", "old_stps", "ro", "H_diag")))
        before, loss_before = state.get("prev_flat_grad"), state.get("prev_loss")
        for iteration in range(1, most + 1):
            state["n_iter"] += 1
            if state["n_iter"] == 1:
                d, memory = -g, _Memory([], [], [], 1)
            else:
                memory.learn(g - before, d * t, group["history_size"])
                al = state.setdefault("al", [None] * group["history_size"])
                d = memory.times(-g, al)
            before = g.clone() if before is None else before.copy_(g)
            loss_before = loss
            t = lr / max(1.0, g.abs().sum().item()) if state["n_iter"] == 1 else lr
            slope = g.dot(d)
            if slope > -small:
                break
            made = 0
            if group["line_search_fn"] is not None:
                if group["line_search_fn"] != "strong_wolfe":
                    raise RuntimeError("only 'strong_wolfe' is supported")
                origin = [p.clone() for p in self._params]
                line = _Line(self, closure, origin, d)
                loss, g, t, made = line.search(t, loss, g, slope, small, group["max_eval"] - calls)
                self._go(t, d)
            else:
                self._go(t, d)
                if iteration != most:
                    loss = float(as_number(closure()))
                    g = self._gradient()
                    made = 1
            calls += made
            state["func_evals"] += made
            if iteration == most or calls >= group["max_eval"] or g.abs().max() <= flat:
                break
            if (d * t).abs().max() <= small or abs(loss - loss_before) < small:
                break
        state.update(d=d, t=t, old_dirs=memory.changes, old_stps=memory.steps, ro=memory.inverse)
        state.update(H_diag=memory.scale, prev_flat_grad=before, prev_loss=loss_before)
        return first


@dataclass
class _Memory:
    """The last steps, the changes of the gradient along them, one over their products, and a first guess."""

    changes: Any
    steps: Any
    inverse: Any
    scale: Any

    def learn(self, change: Tensor, step: Tensor, size: int) -> None:
        """Remember a step, if the gradient grew along it."""
        product = change.dot(step)
        if not product > 1e-10:
            return
        if len(self.changes) == size:
            for kept in (self.changes, self.steps, self.inverse):
                kept.pop(0)
        self.changes.append(change)
        self.steps.append(step)
        self.inverse.append(1.0 / product)
        self.scale = product / change.dot(change)

    def times(self, q: Tensor, factors: list[Any]) -> Tensor:
        """The approximate inverse Hessian times a vector, by two passes through the memory."""
        for i in reversed(range(len(self.changes))):
            factors[i] = self.steps[i].dot(q) * self.inverse[i]
            q = q - self.changes[i] * factors[i]
        r = q * self.scale
        for i in range(len(self.changes)):
            r = r + self.steps[i] * (factors[i] - self.changes[i].dot(r) * self.inverse[i])
        return r


@dataclass
class _Point:
    """A place on the line: how far, the loss there, its gradient, and its slope along the line."""

    t: Any
    loss: Any
    g: Any
    slope: Any


class _Line:
    """The loss along a direction."""

    def __init__(self, optimizer: LBFGS, closure: Callable[[], Any], origin: list[Tensor], direction: Tensor) -> None:
        self.optimizer, self.closure, self.origin, self.d = optimizer, closure, origin, direction
        self.calls = 0

    def at(self, t: Any) -> _Point:
        """The point at a distance; the parameters are put back."""
        self.optimizer._go(t, self.d)
        loss = float(as_number(self.closure()))
        g = self.optimizer._gradient()
        for p, kept in zip(self.optimizer._params, self.origin, strict=True):
            p.copy_(kept)
        self.calls += 1
        return _Point(t, loss, g.clone(), g.dot(self.d))

    def search(
        self, t: Any, loss: float, g: Tensor, slope: Tensor, small: float, most: int
    ) -> tuple[float, Tensor, Any, int]:
        """A point where the loss has fallen enough and the slope is small enough: the strong Wolfe conditions.

        Returns:
            loss, gradient and distance there, and how often the closure was called.
        """
        falls, flatter = 1e-4, 0.9
        start = last = _Point(0, loss, g.clone(), slope)
        new = self.at(t)
        found: list[_Point] = []
        tries = 0

        def too_high(point: _Point) -> bool:
            return bool(point.loss > loss + falls * point.t * slope)

        while tries < most:
            if too_high(new) or (tries > 1 and new.loss >= last.loss):
                found = [last, new]
                break
            if abs(new.slope) <= -flatter * slope:
                return new.loss, new.g, new.t, self.calls
            if new.slope >= 0:
                found = [last, new]
                break
            reach = (new.t + 0.01 * (new.t - last.t), new.t * 10)
            t = _lowest_of_cubic(last, new, reach)
            last, new = new, self.at(t)
            tries += 1
        if tries == most or not found:
            found = [start, new]
        low, high = sorted(found, key=lambda point: point.loss)  # the first of equals stays first
        width = self.d.abs().max()
        stuck = False
        while tries < most and abs(high.t - low.t) * width >= small:
            a, b = min(low.t, high.t), max(low.t, high.t)
            t = _lowest_of_cubic(found[0], found[1])
            margin = 0.1 * (b - a)
            if min(b - t, t - a) < margin:  # too near to an end: once is fine, twice is not
                if stuck or t >= b or t <= a:
                    t = b - margin if abs(t - b) < abs(t - a) else a + margin
                    stuck = False
                else:
                    stuck = True
            else:
                stuck = False
            new = self.at(t)
            tries += 1
            first_is_low = found[0] is low
            if too_high(new) or new.loss >= low.loss:
                found = [low, new] if first_is_low else [new, low]
                low, high = (found[0], found[1]) if found[0].loss <= found[1].loss else (found[1], found[0])
                continue
            done = bool(abs(new.slope) <= -flatter * slope)
            if not done and new.slope * (high.t - low.t) >= 0:
                high = low
            low = new
            found = [low, high] if first_is_low else [high, low]
            if done:
                break
        return low.loss, low.g, low.t, self.calls


def _lowest_of_cubic(a: _Point, b: _Point, reach: tuple[Any, Any] | None = None) -> Any:
    """Where the cubic through two points with their slopes is lowest, within `reach`, by default between them."""
    low, high = reach if reach is not None else (min(a.t, b.t), max(a.t, b.t))
    left, right = (a, b) if a.t <= b.t else (b, a)
    s1, s2 = as_number(left.slope), as_number(right.slope)
    d1 = s1 + s2 - 3 * (left.loss - right.loss) / (left.t - right.t)
    square = d1 * d1 - s1 * s2
    if square < 0:
        return (low + high) / 2.0
    d2 = square**0.5
    t = right.t - (right.t - left.t) * ((s2 + d2 - d1) / (s2 - s1 + 2 * d2))
    return min(max(t, low), high)
