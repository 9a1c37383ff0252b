"""Writes to a tensor after it was saved: an error or the right gradient, never a wrong one."""

from __future__ import annotations

from typing import Any

from .gate import Gates, hooks, leaf, near, noting, raises

gate = GATES = Gates()


def _written(torch: Any, block: Any, within: float = 1e-6, may_raise: bool = False) -> None:
    x = leaf(torch)
    h = x * 1
    right = h.detach().cos()
    with block:
        y = h.sin().sum()
    h.add_(1)
    try:
        y.backward()
    except RuntimeError as error:
        assert may_raise, f"backward raised, although a copy was kept: {error}"
        return
    near(x.grad, right, within=within)


@gate
def write_after_aliasing_pack(torch: Any) -> None:
    """A tensor that a hook kept as an alias and that was then written to gives an error, or the right gradient."""
    _written(torch, hooks(torch, lambda t: t.detach()), may_raise=True)


@gate
def write_after_copying_pack(torch: Any) -> None:
    """A tensor that a hook copied may be written to."""
    _written(torch, hooks(torch, lambda t: t.clone()))


@gate
def write_after_lossy_pack(torch: Any) -> None:
    """A tensor that a hook rounded may be written to."""
    _written(torch, hooks(torch, lambda t: t.to(torch.bfloat16), lambda t: t.to(torch.float32)), within=2e-2)


@gate
def write_after_save_on_cpu(torch: Any) -> None:
    """A tensor that save_on_cpu keeps, and that was then written to, gives an error or the right gradient."""
    _written(torch, torch.autograd.graph.save_on_cpu(), may_raise=True)


@gate
def write_by_pack(torch: Any) -> None:
    """A pack hook that writes to the tensor that it was given is refused."""
    x = leaf(torch)
    h = x * 1
    with raises(RuntimeError), hooks(torch, lambda t: t.mul_(2)):
        h.sin()


@gate
def mutation_mode_around_hooks(torch: Any) -> None:
    """allow_mutation_on_saved_tensors around hooks: saved tensors may be written to, and the gradient is right."""
    x = leaf(torch)
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        h = x * 1
        right = h.detach().cos()
        with hooks(torch, lambda t: t.detach()):
            y = h.sin().sum()
        h.add_(1)
        y.backward()
    near(x.grad, right)


@gate
def mutation_mode_inside_hooks(torch: Any) -> None:
    """allow_mutation_on_saved_tensors inside of hooks: they are called, and the gradient is right."""
    x = leaf(torch)
    seen: list[Any] = []
    with hooks(torch, noting(seen, lambda t: t.detach())):
        with torch.autograd.graph.allow_mutation_on_saved_tensors():
            h = x * 1
            right = h.detach().cos()
            y = h.sin().sum()
            h.add_(1)
            y.backward()
    assert seen, "the hooks were not called"
    near(x.grad, right)
