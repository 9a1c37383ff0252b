"""Graphs under hooks: how long they live, and that they may be run twice, partly, late and side by side."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .gate import Gates, counting_references, hooks, leaf, near, noting, numbering, same

gate = GATES = Gates()


def _freed(x: Any, block: Any) -> None:
    with counting_references() as watch, block:
        y = x.exp()
        gone = watch(y)
        del y
        gone()


@gate
def identity_is_freed(torch: Any) -> None:
    """A pack hook that returns the tensor itself makes no cycle: the graph is freed when the last user lets go."""
    _freed(leaf(torch), hooks(torch))


@gate
def save_on_cpu_is_freed(torch: Any) -> None:
    """save_on_cpu of tensors that are on the CPU makes no cycle."""
    _freed(leaf(torch), torch.autograd.graph.save_on_cpu())


@gate
def backward_twice(torch: Any) -> None:
    """With retain_graph, a second backward unpacks again and gives the same."""
    unpacked: list[Any] = []
    x = leaf(torch)
    with hooks(torch, lambda t: t.clone(), noting(unpacked, same)):
        y = x.sin().sum()
    (first,) = torch.autograd.grad(y, x, retain_graph=True)
    (second,) = torch.autograd.grad(y, x)
    near(first, x.cos())
    near(second, x.cos())
    assert len(unpacked) == 2, f"unpack was called {len(unpacked)} times"


@gate
def double_backward_inside(torch: Any) -> None:
    """A backward of backward is right while the block of hooks is open."""
    x = leaf(torch)
    with hooks(torch, lambda t: t.detach().clone()):
        (first,) = torch.autograd.grad(x.sin().sum(), x, create_graph=True)
        first.sum().backward()
    near(x.grad, -x.sin())


@gate
def double_backward_after(torch: Any) -> None:
    """A backward of backward is right after the block of hooks."""
    x = leaf(torch)
    with hooks(torch, lambda t: t.detach().clone()):
        y = x.sin().sum()
    (first,) = torch.autograd.grad(y, x, create_graph=True)
    first.sum().backward()
    near(x.grad, -x.sin())


@gate
def unused_branch(torch: Any) -> None:
    """A branch that backward never reaches is not unpacked, and leaves nothing to the next step."""
    x = leaf(torch)
    unpacked: list[Any] = []
    with counting_references() as watch:
        for _ in range(2):
            x.grad = None
            with hooks(torch, lambda t: t.clone(), noting(unpacked, same)):
                used, unused = x.sin(), x.cos()
            gone = watch(unused)
            used.sum().backward()
            near(x.grad, x.cos())
            del used, unused
            gone()
    assert len(unpacked) == 2, f"unpacked {len(unpacked)} tensors, and the used branches had 2"


@gate
def two_graphs(torch: Any) -> None:
    """Two graphs that are alive together do not get each other's tensors, in whatever order they run."""
    x, z = leaf(torch), leaf(torch, 3.0, 4.0, 5.0)
    kept: dict[int, Any] = {}
    with hooks(torch, numbering(kept), kept.__getitem__):
        a, b = x.sin().sum(), z.cos().sum()
    a.backward()
    b.backward()
    near(x.grad, x.cos())
    near(z.grad, -z.sin())


@gate
def out_of_order(torch: Any) -> None:
    """Tensors are unpacked as backward needs them, also where that is not the reverse of packing."""
    x = leaf(torch)
    kept: dict[int, Any] = {}
    with hooks(torch, numbering(kept), kept.pop):
        early = x.sin()
        late = x.exp().cos()
        y = (early * late).sum()
    y.backward()
    near(x.grad, x.cos() * x.exp().cos() - x.sin() * x.exp().sin() * x.exp())
    assert not kept, f"{len(kept)} tensors were never asked for"


@gate
def transforms(torch: Any) -> None:
    """Hooks pack what a function saves that func.grad differentiates."""
    func = import_module(f"{torch.__name__}.func")
    seen: list[Any] = []
    x = torch.tensor([0.5, 1.5, 2.5])
    with hooks(torch, noting(seen)):
        found = func.grad(lambda t: t.sin().sum())(x)
    near(found, x.cos())
    assert len(seen) == 1, f"{len(seen)} tensors were packed, and there was one"


@gate
def dropout_again(torch: Any) -> None:
    """A checkpoint inside of hooks draws the same dropout when it runs again."""
    import_module(f"{torch.__name__}.utils.checkpoint")  # `torch.utils` does not import it by itself
    drop = torch.nn.Dropout(0.5)
    x = torch.ones(64, requires_grad=True)
    torch.manual_seed(3)
    with hooks(torch, lambda t: t.clone()):
        y = torch.utils.checkpoint.checkpoint(lambda t: drop(t).sin() * 1, x, use_reentrant=False)
    y.sum().backward()
    kept = [value != 0 for value in y.detach().tolist()]
    found = [value != 0 for value in x.grad.tolist()]
    assert found == kept, "the gradient is of another dropout than the result"
