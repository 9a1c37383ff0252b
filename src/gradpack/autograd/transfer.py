"""Tensors from one device to another, with their gradients."""

from __future__ import annotations

from typing import Any

from ..backends import NUMPY, backend_on
from ..base.devices import device
from ..tensor.tensor import Tensor, wrap
from .function import Function


class ToCopy(Function):
    """A copy on another device; its gradient comes back to the first one."""

    @staticmethod
    def forward(ctx: Any, tensor: Tensor, target: device) -> Tensor:
        ctx.source, ctx.target = tensor.device, target
        return _moved(tensor, target)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return ToCopy.apply(gradients[0], ctx.source), None

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        return ToCopy.apply(tangents[0], ctx.target)


def _moved(tensor: Tensor, target: device) -> Tensor:
    backend = backend_on(target.type) or NUMPY
    own = tensor._spec.backend
    data = tensor._data if backend is own else own.to_numpy(tensor._data)
    return wrap(backend.asarray(data, tensor._spec.dtype, target))


def to_device(tensor: Tensor, target: device) -> Tensor:
    moved: Tensor = ToCopy.apply(tensor, target)
    return moved
