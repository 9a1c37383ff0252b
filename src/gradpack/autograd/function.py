"""`Function`: custom operations with a user-defined backward."""

from __future__ import annotations

import functools
import itertools
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from ..base.modes import MODE, without_grad
from ..core.tensor import Tensor
from .functions.context import FunctionCtx
from .functions.node import BackwardCFunction
from .functions.text import choose
from .undefined_grad import DelayedError

__all__ = ["BackwardCFunction", "Function", "FunctionCtx", "FunctionMeta", "InplaceFunction", "NestedIOFunction"]
__all__ += ["once_differentiable"]

AUTOGRAD_FUNCTION_COUNTER = itertools.count()
_ONCE = "trying to differentiate twice a function that was marked with @once_differentiable"

_ContextMethodMixin = FunctionCtx


class FunctionMeta(type):
    """The metaclass of `Function`: creates the node class `_backward_cls` of each subclass."""

    _backward_cls: type[BackwardCFunction]

    def __init__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> None:
        super().__init__(name, bases, attrs)
        body = {"__slots__": (), "__module__": __name__, "_forward_cls": cls}
        made: Any = type(name + "Backward", (BackwardCFunction,), body)
        made._autograd_function_id = next(AUTOGRAD_FUNCTION_COUNTER)
        cls._backward_cls = made


class _SingleLevelFunction(FunctionCtx, metaclass=FunctionMeta):
    """The part of `Function` that does not concern functional transforms."""

    clear_saved_tensors_on_access: ClassVar[bool] = False
    boxed_grads_call: ClassVar[bool] = False

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the results: `forward(ctx, *args)`, or `forward(*args)` if `setup_context` is overridden."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Save on `ctx` the tensors for backward; if overridden, `forward` takes no `ctx`."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Return one gradient for each argument of `forward`, given one for each result."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            "backward mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Return one tangent for each result, given one for each argument of `forward`."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )


BackwardCFunction._no_backward = staticmethod(_SingleLevelFunction.backward)
BackwardCFunction._no_setup = staticmethod(_SingleLevelFunction.setup_context)
BackwardCFunction._apply = staticmethod(choose)


class Function(_SingleLevelFunction):
    """A custom differentiable operation. Subclass it; call it by `apply`.

    `forward(ctx, *args)`, or `forward(*args)` with `setup_context(ctx, inputs, output)`;
    `backward(ctx, *grad_outputs)` (or `vjp`) returns one gradient for each argument of forward;
    `jvp(ctx, *tangents)` returns the tangents of the results.

    With `clear_saved_tensors_on_access = True`, `ctx.saved_tensors` may be read once, which frees the tensors.
    With `boxed_grads_call = True`, backward gets one list of gradients, which it may empty to free them.

    Example::

        >>> import gradpack as torch
        >>> class Exp(torch.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         out = x.exp()
        ...         ctx.save_for_backward(out)
        ...         return out
        ...     @staticmethod
        ...     def backward(ctx, grad):
        ...         out, = ctx.saved_tensors
        ...         return grad * out
        >>> x = torch.zeros(1, requires_grad=True)
        >>> Exp.apply(x).backward()
        >>> x.grad
        tensor([1.])
    """

    generate_vmap_rule: ClassVar[bool] = False

    if TYPE_CHECKING:  # a subclass names the arguments that it takes

        @staticmethod
        def backward(*args: Any, **kwargs: Any) -> Any: ...

        @staticmethod
        def jvp(*args: Any, **kwargs: Any) -> Any: ...

        vjp = backward

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{self.__class__} should not be instantiated. Methods on autograd functions are all static, so you should "
            "invoke them on the class itself. Instantiating an autograd function will raise an error in a future "
            "version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd "
            "function with static forward method. (Example: "
            "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """Return `(output, out_dims)` for inputs that are batched along `in_dims`."""
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or set "
            "generate_vmap_rule=True."
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Call the operation.

        Raises:
            TypeError: for a keyword that is no parameter of `forward`.
            RuntimeError: for inconsistent results or marks.
        """
        return cls._backward_cls._apply(cls, args, kwargs)


class InplaceFunction(Function):
    """The base of old in-place functions: a `Function` that remembers `inplace`."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class NestedIOFunction(Function):
    """The base of legacy functions with nested arguments. As in torch, only old definitions derive from it."""

    def forward_extended(self, *input: Any) -> None:
        """The user-defined forward."""
        raise NotImplementedError

    def backward_extended(self, *grad_output: Any) -> None:
        """The user-defined backward."""
        raise NotImplementedError


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a `backward` that is not differentiable: double backward through it raises RuntimeError.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.autograd.function import once_differentiable
        >>> class Double(torch.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         return x * 2
        ...     @staticmethod
        ...     @once_differentiable
        ...     def backward(ctx, grad):
        ...         return grad * 2
    """

    @functools.wraps(fn)
    def wrapper(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        mode = MODE.get()
        try:
            if mode.grad:
                MODE.set(without_grad(mode))
            results = fn(ctx, *args, **kwargs)
        finally:
            MODE.set(mode)
        if not mode.grad or not any(isinstance(a, Tensor) and a.requires_grad for a in args):
            return results
        items = results if isinstance(results, tuple) else (results,)
        stop = DelayedError(_ONCE, len(items))
        return stop(*[r.detach()._follow() if isinstance(r, Tensor) else r for r in items])

    return wrapper
