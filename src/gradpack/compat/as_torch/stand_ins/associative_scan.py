"""`torch._higher_order_ops.associative_scan`: running results of a function that may be grouped in any way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....base.late import cat, flip
from ....base.tree import tree_flatten, tree_unflatten
from ....core.tensor import Tensor

_MODES = ("pointwise", "generic")


def associative_scan(
    combine_fn: Callable[[Any, Any], Any], xs: Any, dim: int, reverse: bool = False, combine_mode: str = "pointwise"
) -> Any:
    """Return all running results of an associative function along a dimension, in a structure like that of `xs`.

    Slices are combined with those 1, 2, 4, ... places before them: `n` slices take log2(n) calls of the function.

    Args:
        combine_fn: takes two structures of tensors with as many slices each, and returns one.
        xs: a tensor, or nested tensors, with as many slices along the dimension.
        dim: the dimension.
        reverse: begin with the last slice.
        combine_mode: "generic"; "pointwise" is for devices that are not here.

    Raises:
        ValueError: for what is no function, no tensor or another mode, for "pointwise", and tensors without slices.
        IndexError: if there is no such dimension.
    """
    if not callable(combine_fn):
        raise ValueError(f"Combine_fn must be a callable, but got {combine_fn}")
    if combine_mode not in _MODES:
        raise ValueError(f"Combine_mode must either 'pointwise' or 'generic', but got {combine_mode}")
    leaves, spec = tree_flatten(xs)
    if not all(isinstance(leaf, Tensor) for leaf in leaves):
        raise ValueError("xs leaves must be a Tensor")
    if combine_mode == "pointwise":
        raise ValueError("For combine_mode='pointwise', all input tensors need to be on CUDA or XPU")
    if any(not leaf.ndim or not leaf.size(dim) for leaf in leaves):
        raise ValueError("All xs leaves must at least have 'dim' number of dimensions and scan dimension > 0")
    count, step = leaves[0].size(dim), 1
    leaves = [flip(leaf, (dim,)) for leaf in leaves] if reverse else leaves
    while step < count:
        before = [leaf.narrow(dim, 0, count - step) for leaf in leaves]
        after = [leaf.narrow(dim, step, count - step) for leaf in leaves]
        made, _ = tree_flatten(combine_fn(tree_unflatten(before, spec), tree_unflatten(after, spec)))
        if len(made) != len(leaves):
            raise ValueError(f"combine_fn returned {len(made)} tensors, and xs has {len(leaves)}")
        leaves = [cat((leaf.narrow(dim, 0, step), new), dim) for leaf, new in zip(leaves, made, strict=True)]
        step *= 2
    return tree_unflatten([flip(leaf, (dim,)) for leaf in leaves] if reverse else leaves, spec)
