"""Differentiable copies of tensors between devices."""

from __future__ import annotations

from typing import Any

from ..backends import NUMPY, backend_on
from ..base.devices import device
from ..core.tensor import Tensor, wrap
from .function import Function


class ToCopy(Function):
    """Copies a tensor to another device; backward copies the gradient back."""

    @staticmethod
    def forward(ctx: Any, tensor: Tensor, target: device, beside: bool) -> Tensor:
        ctx.source, ctx.target = tensor.device, target
        return _moved(tensor, target, beside)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return ToCopy.apply(gradients[0], ctx.source, False), None, None

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        return ToCopy.apply(tangents[0], ctx.target, False)


def _moved(tensor: Tensor, target: device, beside: bool) -> Tensor:
    backend = backend_on(target.type) or NUMPY
    own, d = tensor._spec.backend, tensor._spec.dtype
    if backend is own:
        return wrap(backend.asarray(tensor._data, d, target))
    if beside and own is NUMPY:
        return wrap(backend.upload(tensor._data, d, target))
    if backend is NUMPY:
        return wrap(own.download(tensor._data, beside))
    return wrap(backend.asarray(own.to_numpy(tensor._data), d, target))


def to_device(tensor: Tensor, target: device, beside: bool = False) -> Tensor:
    """Copy a tensor to another device; asynchronously if `beside` is set."""
    return ToCopy.apply(tensor, target, beside)
