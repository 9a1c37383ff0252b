"""The arguments and results of function transforms: selection by `argnums`, and checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ..base.tree import tree_leaves
from ..core.tensor import Tensor


def pick(args: tuple[Any, ...], argnums: Any) -> tuple[int | tuple[int, ...], Any]:
    """Return `argnums` with negative numbers counted from the end, and the arguments there: one, or a tuple.

    Raises:
        RuntimeError: unless `argnums` is an int, or a tuple of different ints, in range.
    """
    count = len(args)
    if not isinstance(argnums, int | tuple):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    if isinstance(argnums, int):
        chosen = argnums % count if -count <= argnums < count else _one(argnums, count)
        return chosen, args[chosen]
    found = tuple(_one(n, count) for n in argnums)
    if not found:
        raise RuntimeError("argnums must be non-empty")
    if len(set(found)) != len(found):
        raise RuntimeError(f"argnums elements must be unique, got {found}")
    return found, tuple(args[i] for i in found)


def _one(n: Any, count: int) -> int:
    if not isinstance(n, int):
        raise RuntimeError(f"argnum must be int, got: {type(n)}")
    if not -count <= n < count:
        raise RuntimeError(f"Got argnum={n}, but only {count} positional inputs")
    return n % count


def replaced(args: tuple[Any, ...], chosen: int | tuple[int, ...], new: Any) -> tuple[Any, ...]:
    """Return the arguments with those at the positions that `pick` returned replaced by `new`."""
    found = list(args)
    for place, value in ((chosen, new),) if isinstance(chosen, int) else zip(chosen, new, strict=True):
        found[place] = value
    return tuple(found)


def without_aux(result: Any, has_aux: bool, api: str) -> tuple[Any, Any]:
    """Split the result of a function into output and auxiliary output (None without `has_aux`)."""
    if not has_aux:
        return result, None
    if not (isinstance(result, tuple) and len(result) == 2):
        raise RuntimeError(f"{api}: output of function f should be a tuple: (output, aux) if has_aux is True")
    return result


def check_nested_outputs(leaves: list[Any], api: str) -> None:
    """Raise RuntimeError unless all outputs are tensors, and there is at least one."""
    if not leaves or (len(leaves) == 1 and leaves[0] is None):
        raise RuntimeError(f"{api}: Expected f to be a function that has non-empty output (got output = {leaves})")
    for out in leaves:
        if not isinstance(out, Tensor):
            raise RuntimeError(f"{api}: expected f(*primals) to return only tensors, got unsupported type {type(out)}")


def some_tensors(leaves: list[Any], api: str, what: str) -> None:
    """Raise RuntimeError unless all leaves are tensors, and there is at least one."""
    if not leaves:
        raise RuntimeError(f"{api}: Expected {what} to contain at least one Tensor.")
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(f"{api}: Expected {what} to only contain Tensors, got {type(leaf)}")


def refuse_complex(name: str, tree: Any, is_input: bool) -> None:
    """Raise RuntimeError for complex tensors: Jacobians of these are not supported."""
    for i, leaf in enumerate(tree_leaves(tree)):
        if isinstance(leaf, Tensor) and leaf.dtype.is_complex:
            where = "inputs" if is_input else "outputs"
            raise RuntimeError(
                f"{name}: Expected all {where} to be real but received complex tensor at flattened input idx: {i}"
            )


Function = Callable[..., Any]
R = TypeVar("R")
