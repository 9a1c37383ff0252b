"""`functorch`, as which the transforms came before they were `torch.func`: the same ones, which say so."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from math import ceil
from typing import Any

from .... import __version__, func
from ....core.tensor import Tensor
from ....func.arguments import pick
from ....func.functional_call import replace_all_batch_norm_modules_
from . import make_functional as modules
from .make_functional import FunctionalModule, FunctionalModuleWithBuffers


def _former(function: Callable[..., Any], now: str) -> Callable[..., Any]:
    """A function under its former name, which warns."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(
            f"`functorch.{function.__name__}` is deprecated and will be gone in a later version of PyTorch. Please use "
            f"`{now}` instead.",
            FutureWarning,
            stacklevel=2,
        )
        return function(*args, **kwargs)

    return call


def _of_func(name: str) -> Callable[..., Any]:
    return _former(getattr(func, name), f"torch.func.{name}")


vmap = _former(func.vmap, "torch.vmap")
grad, grad_and_value, vjp, jvp = map(_of_func, ("grad", "grad_and_value", "vjp", "jvp"))
jacrev, jacfwd, hessian, functionalize = map(_of_func, ("jacrev", "jacfwd", "hessian", "functionalize"))
make_functional = _former(modules.make_functional, "torch.func.functional_call")
make_functional_with_buffers = _former(modules.make_functional_with_buffers, "torch.func.functional_call")
combine_state_for_ensemble = _former(modules.combine_state_for_ensemble, "torch.func.stack_module_state")


def chunk_vmap(
    func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", chunks: int = 2
) -> Callable[..., Any]:
    """`vmap` with the examples in so many parts, one after the other."""
    from ....base.tree import broadcast_to, tree_flatten
    from ....func.vmap import vmap

    @wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        flat, form = tree_flatten(args)
        dims = broadcast_to(in_dims, form) or []
        sizes = [v._shape[d] for v, d in zip(flat, dims, strict=False) if d is not None and isinstance(v, Tensor)]
        size = ceil(sizes[0] / chunks) or None if sizes and chunks > 1 else None
        return vmap(func, in_dims, out_dims, randomness, chunk_size=size)(*args, **kwargs)

    return call


def _slice_argnums(args: tuple[Any, ...], argnums: Any, as_tuple: bool = True) -> Any:
    """The arguments of these numbers."""
    chosen = pick(args, argnums)
    return (chosen,) if as_tuple and isinstance(argnums, int) else chosen


__all__ = [
    "FunctionalModule",
    "FunctionalModuleWithBuffers",
    "__version__",
    "chunk_vmap",
    "combine_state_for_ensemble",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "make_functional",
    "make_functional_with_buffers",
    "replace_all_batch_norm_modules_",
    "vjp",
    "vmap",
]
