"""Jacobians and Hessians as functions: `jacrev`, `jacfwd`, `hessian`."""

from __future__ import annotations

from functools import wraps
from typing import Any

from ..autograd.functional_parts import units
from ..base.modes import MODE
from ..base.tree import tree_flatten, tree_unflatten
from ..core.tensor import Tensor
from ..declare.batching.level import mapped
from .arguments import Function, pick, refuse_complex
from .transforms import jvp_of, vjp_of
from .vmap import RANDOMNESS, unknown_randomness


def _chunks(total: int, size: int | None) -> list[tuple[int, int]]:
    size = total if size is None else size
    return [(i, min(i + size, total)) for i in range(0, total, max(size, 1))] or [(0, 0)]


def jacrev(
    func: Function,
    argnums: Any = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Function:
    """The Jacobian of a function by reverse mode: `vmap` over vjps, one for each row.

    Args:
        argnums: which arguments to differentiate by: an int, or a tuple for a tuple of Jacobians.
        has_aux: whether `func` returns `(output, aux)`; the result is then `(jacobian, aux)`.
        chunk_size: how many rows to compute at once; None for all.

    Returns:
        A function whose result has, for each output and each input, a tensor of shape `output.shape + input.shape`.

    Example::

        >>> import gradpack as torch
        >>> torch.func.jacrev(torch.sin)(torch.zeros(2))
        tensor([[1., 0.],
                [0., 1.]])
    """
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @wraps(func)
    def wrapped(*args: Any) -> Any:
        from ..ops.shape.join import cat

        refuse_complex("jacrev", args, True)
        made = vjp_of(func, args, argnums, has_aux)
        output, pull = made[:2]
        leaves, form = tree_flatten(output)
        refuse_complex("jacrev", leaves, False)
        flat, in_form = tree_flatten(pick(args, argnums)[1])
        sizes = [out.numel() for out in leaves]
        parts = []
        for start, stop in _chunks(sum(sizes), chunk_size):
            basis = units(leaves, start, stop)
            if chunk_size == 1:
                rows = tree_flatten(pull(tree_unflatten([b[0] for b in basis], form)))[0]
                parts.append([r.unsqueeze(0) for r in rows])
            else:
                found = mapped(lambda seeds: tree_flatten(pull(tree_unflatten(seeds, form)))[0], basis, inner=False)
                parts.append(list(found))
        columns = parts[0] if len(parts) == 1 else [cat(list(c)) for c in zip(*parts, strict=True)]
        rows_by_input = [
            [p.reshape((*out._shape, *x._shape)) for p, out in zip(r.split(sizes), leaves, strict=True)]
            for r, x in zip(columns, flat, strict=True)
        ]
        rows_by_output = [[row[i] for row in rows_by_input] for i in range(len(leaves))]
        result = tree_unflatten([tree_unflatten(row, in_form) for row in rows_by_output], form)
        return (result, made[2]) if has_aux else result

    return wrapped


def jacfwd(func: Function, argnums: Any = 0, has_aux: bool = False, *, randomness: str = "error") -> Function:
    """The Jacobian of a function by forward mode: `vmap` over jvps, one for each column.

    Args:
        argnums: which arguments to differentiate by: an int, or a tuple for a tuple of Jacobians.
        has_aux: whether `func` returns `(output, aux)`; the result is then `(jacobian, aux)`.
        randomness: as for `vmap`.

    Returns:
        A function whose result has, for each output and each input, a tensor of shape `output.shape + input.shape`.

    Example::

        >>> import gradpack as torch
        >>> torch.func.jacfwd(torch.sin)(torch.zeros(2))
        tensor([[1., 0.],
                [0., 1.]])
    """

    @wraps(func)
    def wrapped(*args: Any) -> Any:
        if randomness not in RANDOMNESS:
            raise unknown_randomness(randomness)
        refuse_complex("jacfwd", args, True)
        flat, in_form = tree_flatten(pick(args, argnums)[1])
        sizes = [x.numel() for x in flat]
        about: dict[str, Any] = {}

        def push(tangents: list[Tensor]) -> list[Tensor]:
            made = jvp_of(func, args, tree_unflatten(tangents, in_form), argnums, False, has_aux)
            leaves, about["form"] = tree_flatten(made[0])
            refuse_complex("jacfwd", leaves, False)
            about["shapes"] = [out._shape for out in leaves]
            if has_aux:
                about["aux"] = _plain(made[2])
            return tree_flatten(made[1])[0]

        found = mapped(push, units(flat), randomness, alike=True, inner=False)
        rows = []
        for columns, shape in zip(found, about["shapes"], strict=True):
            parts = zip(columns.split(sizes), flat, strict=True)
            row = [part.movedim(0, -1).reshape((*shape, *x._shape)) for part, x in parts]
            rows.append(tree_unflatten(row, in_form))
        result = tree_unflatten(rows, about["form"])
        return (result, about["aux"]) if has_aux else result

    return wrapped


def _plain(tree: Any) -> Any:
    """The auxiliary output without the batch dimension of the columns: it is the same for all of them."""
    from ..base.tree import tree_map

    level = MODE.get().levels[-1]
    return tree_map(lambda x: x._data.value[0] if level.has(x) else x, tree)


def hessian(func: Function, argnums: Any = 0) -> Function:
    """The Hessian of a function: forward mode over reverse mode.

    Example::

        >>> import gradpack as torch
        >>> torch.func.hessian(lambda x: (x ** 3).sum())(torch.tensor([1.0, 2.0]))
        tensor([[ 6.,  0.],
                [ 0., 12.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)
