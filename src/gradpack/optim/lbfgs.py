"""L-BFGS: a quasi-Newton method that remembers a few steps, with a line search if asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ..autograd.grad_mode import enable_grad
from ..base.modes import using
from ..core.tensor import Tensor
from ..ops.pointwise.complex_parts import view_as_real
from ..ops.shape.join import cat
from ._options import as_number, check_one_element, options_of
from .optimizer import Optimizer


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
        check_one_element(lr)
        if not lr >= 0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if max_eval is None:
            max_eval = max_iter * 5 // 4
        super().__init__(params, options_of(locals()))
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
        """Move all parameters along a direction."""
        start = 0
        for p in self._params:
            real = view_as_real(p) if p.is_complex() else p
            count = real.numel()
            real.add_(direction[start : start + count].reshape(real.shape), alpha=as_number(length))
            start += count

    def _along(self, closure: Callable[[], Any], origin: list[Tensor], direction: Tensor) -> Callable[[Any], Any]:
        """Return the function of a step size that gives loss and gradient there, and restores the parameters."""

        def evaluate(t: Any) -> tuple[float, Tensor]:
            self._go(t, direction)
            loss = float(as_number(closure()))
            g = self._gradient()
            for p, kept in zip(self._params, origin, strict=True):
                p.copy_(kept)
            return loss, g

        return evaluate

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
            t = min(1.0, 1.0 / g.abs().sum()) * lr if state["n_iter"] == 1 else lr
            slope = g.dot(d)
            if slope > -small:
                break
            made = 0
            if group["line_search_fn"] is not None:
                if group["line_search_fn"] != "strong_wolfe":
                    raise RuntimeError("only 'strong_wolfe' is supported")
                evaluate = self._along(closure, [p.clone() for p in self._params], d)
                start, most_calls = _Point(0, loss, g.clone(), slope), group["max_eval"] - calls
                # Steps may be as near as 1e-9, whatever `tolerance_change` is, as in torch.
                loss, g, t, made = _Line(evaluate, d, 1e-9).search(t, start, _Goal(loss, slope), most_calls)
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
        """Store a step and its change of the gradient, if their product is positive."""
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
    """A point on the line: step size, loss, gradient, and directional derivative."""

    t: Any
    loss: Any
    g: Any
    slope: Any


class _Line:
    """The loss as a function of the step size along a direction.

    Args:
        evaluate: the loss and the gradient at a step size.
        direction: the direction.
        smallest: how near to one another steps may be.
    """

    def __init__(self, evaluate: Callable[[Any], tuple[Any, Tensor]], direction: Tensor, smallest: float) -> None:
        self.evaluate, self.d, self.smallest = evaluate, direction, smallest
        self.calls = 0

    def at(self, t: Any) -> _Point:
        """Return the point at a step size."""
        loss, g = self.evaluate(t)
        self.calls += 1
        return _Point(t, loss, g.clone(), g.dot(self.d))

    def search(self, t: Any, start: _Point, goal: _Goal, most: int) -> tuple[Any, Tensor, Any, int]:
        """Return a point that satisfies the strong Wolfe conditions.

        Comparisons are written such that a loss, slope or distance that is NaN takes the same way as in torch.

        Returns:
            loss, gradient and distance there, and how often the closure was called.
        """
        ends, tries, done = self._bracket(start, t, goal, most)
        low = _lower(ends)
        if not done:
            low = self._narrow(ends, goal, most - tries)
        return ends[low].loss, ends[low].g, ends[low].t, self.calls

    def _bracket(self, start: _Point, t: Any, goal: _Goal, most: int) -> tuple[list[_Point], int, bool]:
        """Go outward from a first distance until a good point is found, or lies between two others.

        Returns:
            The point, or the two; how many points were tried beyond the first; whether it is the point.
        """
        last, new = start, self.at(t)
        for tries in range(most):
            if goal.is_too_high(new) or (tries > 1 and new.loss >= last.loss):
                return [last, new], tries, False
            if goal.is_flat(new):
                return [new], tries, True
            if new.slope >= 0:
                return [last, new], tries, False
            reach = (new.t + 0.01 * (new.t - last.t), new.t * 10)
            last, new = new, self.at(_lowest_of_cubic(last, new, reach))
        return [start, new], most, False

    def _narrow(self, ends: list[_Point], goal: _Goal, most: int) -> int:
        """Replace the ends of a bracket by better ones, until one is good; the index of the lower one."""
        width = self.d.abs().max()
        low, stuck = _lower(ends), False
        for _ in range(most):
            if abs(ends[1].t - ends[0].t) * width < self.smallest:
                break
            t = _lowest_of_cubic(ends[0], ends[1])
            places = [end.t for end in ends]
            a, b = min(places), max(places)
            margin = 0.1 * (b - a)
            near = bool(min(b - t, t - a) < margin)
            if near and (stuck or t >= b or t <= a):  # too near to an end: once is fine, twice is not
                t = b - margin if abs(t - b) < abs(t - a) else a + margin
                near = False
            stuck = near
            new = self.at(t)
            if goal.is_too_high(new) or new.loss >= ends[low].loss:
                ends[1 - low] = new
                low = _lower(ends)
                continue
            done = goal.is_flat(new)
            if not done and new.slope * (ends[1 - low].t - ends[low].t) >= 0:
                ends[1 - low] = ends[low]
            ends[low] = new
            if done:
                break
        return low


@dataclass
class _Goal:
    """The strong Wolfe conditions: bounds that follow from loss and slope at the start."""

    loss: Any
    slope: Any
    fall: float = 1e-4
    steepness: float = 0.9

    def is_too_high(self, point: _Point) -> bool:
        """Whether the loss has not fallen enough for the distance."""
        return bool(point.loss > self.loss + self.fall * point.t * self.slope)

    def is_flat(self, point: _Point) -> bool:
        """Whether the slope is so much less steep than at the start."""
        return bool(abs(point.slope) <= -self.steepness * self.slope)


def _lower(ends: list[_Point]) -> int:
    """The index of the end where the loss is lower; the last one if a loss is NaN."""
    return 0 if ends[0].loss <= ends[-1].loss else len(ends) - 1


def _lowest_of_cubic(a: _Point, b: _Point, reach: tuple[Any, Any] | None = None) -> Any:
    """Return the minimum of the cubic through two points with their slopes, within `reach`, by default between them.

    Slopes are tensors and losses are not, and distances are as soon as they come from a cubic: dtypes and what comes
    of a division by zero follow from that, as in torch.
    """
    left, right = (a, b) if a.t <= b.t else (b, a)
    low, high = (left.t, right.t) if reach is None else reach
    s1, s2 = left.slope, right.slope
    d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = d1 * d1 - s1 * s2
    if not square >= 0:
        return (low + high) / 2.0
    d2 = square.sqrt()
    t = right.t - (right.t - left.t) * ((s2 + d2 - d1) / (s2 - s1 + 2 * d2))
    return min(max(t, low), high)


def _strong_wolfe(
    obj_func: Callable[[Any, Any, Tensor], tuple[Any, Tensor]],
    x: Any,
    t: Any,
    d: Tensor,
    f: Any,
    g: Tensor,
    gtd: Any,
    c1: float = 1e-4,
    c2: float = 0.9,
    tolerance_change: float = 1e-9,
    max_ls: int = 25,
) -> tuple[Any, Tensor, Any, int]:
    """Search along a direction for a point that satisfies the strong Wolfe conditions.

    Args:
        obj_func: takes `x`, a step size and `d`, and returns the loss and the gradient there.
        x: what `obj_func` takes first.
        t: the first step size.
        d: the direction.
        f, g, gtd: the loss, the gradient, and its product with `d` at the start.
        c1, c2: how far the loss must fall, and how flat it must become.
        tolerance_change: how near to one another steps may be.
        max_ls: how many points are tried.

    Returns:
        loss, gradient and step size there, and how often `obj_func` was called.
    """
    line = _Line(lambda size: obj_func(x, size, d), d, tolerance_change)
    return line.search(t, _Point(0, f, g.clone(), gtd), _Goal(f, gtd, c1, c2), max_ls)


def _cubic_interpolate(x1: Any, f1: Any, g1: Any, x2: Any, f2: Any, g2: Any, bounds: Any = None) -> Any:
    """The minimum of the cubic through two points with their slopes, within `bounds`, by default between them."""
    return _lowest_of_cubic(_Point(x1, f1, None, g1), _Point(x2, f2, None, g2), bounds)
