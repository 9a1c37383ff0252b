"""Moving modules to another dtype or device."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload

from ...autograd.grad_mode import no_grad
from ...base.devices import cuda_device
from ...base.devices import device as Device
from ...base.dtypes import bfloat16 as BFLOAT16
from ...base.dtypes import dtype as DType
from ...base.dtypes import float16, float32, float64
from ...base.memory_formats import memory_format as MemoryFormat
from ...core.tensor import Tensor

if TYPE_CHECKING:
    from ..modules.module import Module

M = TypeVar("M", bound="Module")
DeviceLike: TypeAlias = Device | str | int | None


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
            parameter.data = fn(parameter)  # saved tensors see what is written in place
            if gradient is not None:
                gradient.data = fn(gradient)
    for name, buffer in self._buffers.items():
        if buffer is None:
            continue
        if hasattr(buffer, "materialize"):  # one that is not initialized stays such a one
            buffer.data = fn(buffer.data)
        else:
            self._buffers[name] = fn(buffer)
    return self


@overload
def to(
    self: M,
    device: DeviceLike = ...,
    dtype: DType | None = ...,
    non_blocking: bool = ...,
    *,
    memory_format: MemoryFormat | None = ...,
) -> M: ...
@overload
def to(self: M, dtype: DType, non_blocking: bool = ..., *, memory_format: MemoryFormat | None = ...) -> M: ...
@overload
def to(self: M, tensor: Tensor, non_blocking: bool = ..., *, memory_format: MemoryFormat | None = ...) -> M: ...
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
    if dtype is not None and dtype.is_complex:
        warnings.warn(
            "Complex modules are a new feature under active development whose design may change, and some modules "
            "might not work as expected when using complex tensors as parameters or buffers.",
            stacklevel=2,
        )

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
    dtype: Any = None,
    non_blocking: Any = False,
    copy: Any = False,
    memory_format: Any = None,
    tensor: Any = None,
    **unknown: Any,
) -> tuple[Any, DType | None]:
    """Return the device and dtype from the arguments of `to`.

    Raises:
        TypeError: for arguments that mean nothing.
        RuntimeError: for `copy`, as parameters stay the objects that they are.
    """
    rest = list(args)
    if rest and isinstance(rest[0], Tensor):
        tensor = rest.pop(0)
    elif rest and isinstance(rest[0], DType):
        dtype = rest.pop(0)
    elif rest:
        device = rest.pop(0)
        dtype = rest.pop(0) if rest else dtype
    if tensor is not None and isinstance(tensor, Tensor):
        device, dtype = tensor.device, tensor.dtype
    fits = (
        (dtype is None or isinstance(dtype, DType))
        and (device is None or isinstance(device, str | int | Device))
        and (memory_format is None or isinstance(memory_format, MemoryFormat))
        and len(rest) <= 2
        and all(isinstance(flag, bool) for flag in (*rest, non_blocking, copy))
        and isinstance(tensor, Tensor | None)
    )
    if unknown or not fits:
        given = [type(a).__name__ for a in args] + [f"{name}=" for name in unknown]
        raise TypeError(
            f"to() received an invalid combination of arguments - got ({', '.join(given)}): it takes a device and a "
            "dtype, a dtype, or a tensor; then non_blocking"
        )
    if copy or rest[1:] == [True]:
        raise RuntimeError(".to() does not accept copy argument")
    return device if device is None or isinstance(device, Device) else Device(device), dtype


def share_memory(self: M) -> M:
    """Move the memory of all parameters and buffers to where processes share it: see `Tensor.share_memory_`.

    Raises:
        RuntimeError: if one is not initialized yet.
    """
    from ...core.shared_memory import share
    from ..parameter import UninitializedTensorMixin

    tensors = (*self.parameters(), *self.buffers())
    for tensor in tensors:
        if isinstance(tensor, UninitializedTensorMixin):
            tensor.share_memory_()  # which says that it is not there yet
    share(tensors)
    return self


def to_empty(self: M, *, device: Any, recurse: bool = True) -> M:
    """Move to a device without copying: parameters and buffers hold arbitrary values afterwards."""
    from ...ops.create.fill_like import empty_like

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
