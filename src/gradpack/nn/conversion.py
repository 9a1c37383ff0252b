"""Moving modules to another dtype or device."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from ..autograd.grad_mode import no_grad
from ..base.devices import cuda_device
from ..base.devices import device as Device
from ..base.dtypes import bfloat16 as BFLOAT16
from ..base.dtypes import dtype as DType
from ..base.dtypes import float16, float32, float64
from ..tensor.tensor import Tensor

if TYPE_CHECKING:
    from .module import Module

M = TypeVar("M", bound="Module")


def apply_to_tensors(self: M, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> M:
    """Replace the data of every parameter, gradient and buffer by what `fn` makes of it.

    Parameters stay the same objects, so that optimisers and ties between layers keep hold of them.
    """
    if recurse:
        for module in self.children():
            module._apply(fn)
    for parameter in self._parameters.values():
        if parameter is None:
            continue
        gradient = parameter.grad
        with no_grad():
            parameter.data = fn(parameter.data)
            if gradient is not None:
                gradient.data = fn(gradient.detach())
    for name, buffer in self._buffers.items():
        if buffer is None:
            continue
        if hasattr(buffer, "materialize"):  # one that is not initialized stays such a one
            buffer.data = fn(buffer.data)
        else:
            self._buffers[name] = fn(buffer)
    return self


def to(self: M, *args: Any, **kwargs: Any) -> M:
    """Move to a device and floating-point dtype: `to(device, dtype)`, `to(dtype)`, `to(tensor)`.

    A `memory_format` is for parameters and buffers of four dimensions, `channels_last_3d` for those of five. The
    dtype applies to floating-point and complex parameters and buffers; integers keep theirs.

    Raises:
        TypeError: for a dtype that is neither floating-point nor complex.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Linear(2, 1).to(torch.float64).weight.dtype
        gradpack.float64
    """
    device, dtype = _where(*args, **kwargs)
    if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
        raise TypeError(f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}")

    def convert(tensor: Tensor) -> Tensor:
        floating = tensor.dtype.is_floating_point or tensor.dtype.is_complex
        moved = tensor.to(device, dtype if floating else None)
        return moved if tensor.ndim != dimensions else moved.to(memory_format=wanted)

    wanted = kwargs.get("memory_format")
    dimensions = None if wanted is None else _CHANNELS_LAST.get(wanted.name, 4)
    return self._apply(convert)


_CHANNELS_LAST = {"channels_last_3d": 5}


def _where(
    *args: Any,
    device: Any = None,
    dtype: DType | None = None,
    non_blocking: bool = False,
    memory_format: Any = None,
    tensor: Tensor | None = None,
) -> tuple[Any, DType | None]:
    """The device and dtype that the arguments of `to` mean."""
    if len(args) > 3:
        raise TypeError(f"to() takes at most a device, a dtype and non_blocking, but got {len(args)} arguments")
    rest = list(args)
    if rest and isinstance(rest[0], Tensor):
        tensor = rest.pop(0)
    elif rest and isinstance(rest[0], DType):
        dtype = rest.pop(0)
    elif rest:
        device = rest.pop(0)
        if rest and (rest[0] is None or isinstance(rest[0], DType)):
            dtype = rest.pop(0)
    if len(rest) > 1 or (rest and not isinstance(rest[0], bool)):
        raise TypeError(f"to() received an invalid combination of arguments: {', '.join(map(repr, args))}")
    if tensor is not None:
        device, dtype = tensor.device, tensor.dtype
    if dtype is not None and not isinstance(dtype, DType):
        raise TypeError(f"to(): argument 'dtype' must be a dtype, not {type(dtype).__name__}")
    return device if device is None or isinstance(device, Device) else Device(device), dtype


def share_memory(self: M) -> M:
    """Let other processes share the memory of all parameters and buffers, as far as `Tensor.share_memory_` does.

    Raises:
        RuntimeError: if one is not initialized yet.
    """
    tensors: Any = (*self.parameters(), *self.buffers())
    for tensor in tensors:
        tensor.share_memory_()
    return self


def to_empty(self: M, *, device: Any, recurse: bool = True) -> M:
    """Move to a device without copying: parameters and buffers hold arbitrary values afterwards."""
    from ..ops.fill_like import empty_like

    return self._apply(lambda tensor: empty_like(tensor, device=device), recurse=recurse)


def type_(self: M, dst_type: Any) -> M:
    """Convert every parameter and buffer, integers too, to `dst_type`."""
    return self._apply(lambda tensor: tensor.type(dst_type))


def _floating(module: M, dtype: DType) -> M:
    return module._apply(lambda tensor: tensor.to(dtype) if tensor.dtype.is_floating_point else tensor)


def float_(self: M) -> M:
    """Convert floating-point parameters and buffers to float32."""
    return _floating(self, float32)


def double(self: M) -> M:
    """Convert floating-point parameters and buffers to float64."""
    return _floating(self, float64)


def half(self: M) -> M:
    """Convert floating-point parameters and buffers to float16."""
    return _floating(self, float16)


def bfloat16(self: M) -> M:
    """Convert floating-point parameters and buffers to bfloat16."""
    return _floating(self, BFLOAT16)


def cuda(self: M, device: Any = None) -> M:
    """Move to a CUDA device, the first or that of an index.

    Raises:
        AssertionError: there is none, in torch's words.
        RuntimeError: for an index where there is no accelerator, or for a device of another kind.
    """
    return self.to(cuda_device(device))


def cpu(self: M) -> M:
    """Move to the CPU."""
    return self._apply(lambda tensor: tensor.to(Device("cpu")))
