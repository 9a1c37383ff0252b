"""Memory shared between processes: a forked child, or the receiver of a tensor from a queue, uses the same."""

from __future__ import annotations

import mmap
import os
import weakref
from collections.abc import Iterable
from contextlib import suppress
from multiprocessing.reduction import DupFd, ForkingPickler
from typing import Any

from ..backends.memory_layout import memory_of, moved, of_buffer, owner_of
from ..graph.node import AccumulateGrad
from .memory_tracking import living
from .parameter import Parameter
from .tensor import Tensor, alias, wrap


class SharedMemory(mmap.mmap):
    """Memory pages shared with child processes. `fd` is their file descriptor; -1 if there is none."""

    fd: int


def _pages(size: int, fd: int = -1) -> SharedMemory:
    """Map `size` bytes of a file descriptor, which is closed with them, or new ones."""
    if fd < 0 and hasattr(os, "memfd_create"):
        with suppress(OSError):  # no file descriptor is left: a fork needs none
            fd = os.memfd_create("gradpack")
            os.ftruncate(fd, size)
    pages = SharedMemory(fd, size)
    pages.fd = fd
    if fd >= 0:
        weakref.finalize(pages, os.close, fd)
    return pages


def _pages_of(array: Any) -> SharedMemory | None:
    base = getattr(owner_of(array), "base", None)
    return base if isinstance(base, SharedMemory) else None


def is_shared(tensor: Tensor) -> bool:
    """Whether other processes can share the memory of a tensor: always on a device of CUDA."""
    return tensor._spec.device.type == "cuda" or _pages_of(tensor._data) is not None


def share(tensors: Iterable[Tensor]) -> None:
    """Move the memory of tensors to shared memory, for all tensors that are views of it.

    Arrays that were taken from the tensors before (`x.numpy()`) keep the old memory.
    """
    moving = {}
    for tensor in tensors:
        if is_shared(tensor):
            continue
        if not tensor._spec.numpy:
            raise _not_shareable(tensor)
        owner = owner_of(tensor._data)
        moving[id(owner)] = owner
    homes: dict[int, tuple[Any, Any]] = {}
    for tensor in living(Tensor) if moving else ():
        array = getattr(tensor, "_data", None)
        if array is None or not tensor._spec.numpy:
            continue
        owner = owner_of(array)
        if moving.get(id(owner)) is not owner:
            continue
        if id(owner) not in homes:
            source = memory_of(array)
            home = of_buffer(_pages(max(source.nbytes, 1)))
            home[: source.nbytes] = source.view("uint8")
            homes[id(owner)] = source, home
        tensor._data = moved(array, *homes[id(owner)])
        if type(tensor._edge) is AccumulateGrad:
            tensor._leaf_state.follow(tensor)
    if homes:
        for kind in (Tensor, Parameter):
            ForkingPickler.register(kind, _reduced)


def _not_shareable(tensor: Tensor) -> Exception:
    kind = tensor._spec.backend.name
    if kind == "meta":
        return RuntimeError("_share_fd_: only available on CPU: a meta tensor has no memory")
    name = {"sparse": "SparseTensorImpl", "batched": "BatchedTensorImpl"}.get(kind, f"an array of {kind}")
    return NotImplementedError(f"Cannot access storage of {name}")


def _reduced(tensor: Tensor) -> Any:
    """Reduce a tensor for another process: shared memory as its file descriptor, other memory as a copy."""
    pages = _pages_of(tensor._data)
    if pages is None or pages.fd < 0 or (tensor.requires_grad and not tensor.is_leaf) or not tensor.numel():
        return tensor.__reduce_ex__(2)
    whole = tensor.untyped_storage()._flat(tensor._spec)
    layout = tensor._shape, tensor.stride(), tensor.storage_offset()
    return _rebuilt, (type(tensor), DupFd(pages.fd), whole.nbytes, whole.dtype, layout, tensor.requires_grad)


def _rebuilt(kind: type, name: Any, size: int, native: Any, layout: Any, requires_grad: bool) -> Tensor:
    whole = wrap(of_buffer(_pages(size, name.detach()), native))
    made = whole.as_strided(*layout)
    out: Tensor = alias(made._data, made._spec, made._shape, kind)
    if requires_grad:
        out.requires_grad = True
    return out
