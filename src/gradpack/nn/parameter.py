"""`Parameter` and `Buffer`, the tensors that modules register."""

from __future__ import annotations

from typing import Any

from ..base.errors import NotATensorError
from ..core.parameter import Parameter
from ..core.tensor import Tensor, alias
from ..core.torch_function import disabled_torch_function_impl

__all__ = ["Buffer", "Parameter"]


class Buffer(Tensor):
    """A tensor that becomes a buffer of the module that it is assigned to.

    Args:
        data: the tensor; the buffer shares its data.
        persistent: is it part of `state_dict()`?

    Example::

        >>> import gradpack as torch
        >>> module = torch.nn.Module()
        >>> module.mean = torch.nn.Buffer(torch.zeros(2))
        >>> list(module.state_dict())
        ['mean']
    """

    __slots__ = ()

    _shown_as = "tensor"
    __torch_function__ = staticmethod(disabled_torch_function_impl)

    persistent: bool

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Any:
        if data is None:
            from ..ops.create.fill import empty

            data = empty(0)
        if not isinstance(data, Tensor):
            raise NotATensorError(f"Buffer(): argument 'data' must be a Tensor, not {type(data).__name__}")
        out = alias(data._data, data._spec, data._shape, cls)
        out._counter = data._counter
        out.persistent = persistent
        if data.requires_grad:
            out.requires_grad = True
        return out

    def __init__(self, data: Tensor | None = None, *, persistent: bool = True) -> None:
        pass  # all is done above: a buffer is a tensor from the start


def clear_grad(tensor: Tensor, set_to_none: bool) -> None:
    """Drop the gradient of `tensor`, or fill it with zeros and take it out of any graph."""
    if set_to_none:
        tensor.grad = None
        return
    gradient = tensor.grad
    if gradient is not None:
        if gradient.grad_fn is not None:
            gradient.detach_()
        else:
            gradient.requires_grad_(False)
        gradient.zero_()


def __getattr__(name: str) -> Any:
    """Import uninitialized parameters and buffers at first access."""
    if name in ("UninitializedBuffer", "UninitializedParameter", "UninitializedTensorMixin", "is_lazy"):
        from . import uninitialized

        return getattr(uninitialized, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
