"""Function transforms: derivatives and `vmap`. They compose in any order and depth."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from .functional_call import functional_call, replace_all_batch_norm_modules_, stack_module_state
from .jacobians import hessian, jacfwd, jacrev
from .rearrange import rearrange
from .transforms import grad, grad_and_value, jvp, linearize, vjp
from .vmap import vmap


def functionalize(func: Any, *, remove: str = "mutations") -> Any:
    """Return `func` itself: for tracers, in-place operations need not be removed here.

    Args:
        func: the function.
        remove: `"mutations"` or `"mutations_and_views"`: what a tracer would not see.

    Raises:
        RuntimeError: for another `remove` than "mutations" and "mutations_and_views".

    Example::

        >>> import gradpack as torch
        >>> def f(x):
        ...     y = x.clone()
        ...     y.add_(1)
        ...     return y
        >>> torch.func.functionalize(f, remove="mutations_and_views") is f
        True
        >>> torch.func.vmap(torch.func.functionalize(f))(torch.zeros(3))
        tensor([1., 1., 1.])
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            f"functionalize(f, remove='mutations'): received invalid argument for remove={remove}. Valid options are:\n"
            "     remove='mutations': all inplace and out= operators will be removed from the program, and replaced "
            "with their out-of-place equivalents.\n"
            "     remove='mutations_and_views': In addition to the above, all aliasing operators {view} will be "
            "replaced with their non-aliasing counterparts, {view}_copy.\n"
        )
    return func


def debug_unwrap(tensor: Tensor, *, recurse: bool = True) -> Tensor:
    """The tensor with all examples behind one that `vmap` has batched; any other tensor as it is.

    Args:
        tensor: a tensor.
        recurse: unwrap all levels, not only the innermost.

    Example::

        >>> import gradpack as torch
        >>> def f(x):
        ...     print(x.shape, torch.func.debug_unwrap(x).shape)
        ...     return x * 2
        >>> _ = torch.func.vmap(f)(torch.ones(5, 3))
        gradpack.Size([3]) gradpack.Size([5, 3])
    """
    from ..declare.batching.batch_tensor import is_batched

    while is_batched(tensor):
        tensor = tensor._data.given
        if not recurse:
            break
    return tensor


def batching_coverage() -> dict[str, Any]:
    """Return the number of operations, and the names of those without a batching rule, which loop over the examples.

    Example::

        >>> import gradpack as torch
        >>> found = torch.func.batching_coverage()
        >>> len(found["loops"]) < 0.1 * found["operations"]
        True
    """
    from ..declare.batching.batch_dispatch import uncovered
    from ..declare.op import REGISTRY
    from ..ops.methods import load_all

    load_all()
    return {"operations": len(REGISTRY), "loops": uncovered()}


__all__ = ["debug_unwrap", "functional_call", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev"]
__all__ += ["jvp", "linearize", "rearrange", "replace_all_batch_norm_modules_", "stack_module_state", "vjp", "vmap"]
