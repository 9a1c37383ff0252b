"""Tensors that are computed later, from data that need not fit into memory: Dask arrays on the device `dask`.

Importing this module makes `dask` a kind of device: `model.to("dask")`, `tensor.cpu()`. It needs `gradpack[dask]`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import dask.array as da

from ..backends import dask as backend
from ..core.tensor import Tensor, wrap
from ..nn.modules.module import Module
from ..optim.optimizer import Optimizer

__all__ = ["evaluate", "from_dask", "from_memmap", "to_dask"]


def from_dask(array: Any) -> Tensor:
    """Return a Dask array as a tensor on the device `dask`. Nothing is read or computed.

    `dask.array.from_zarr(file)` and `dask.array.from_array(numpy.memmap(...))` make such arrays of files.

    Raises:
        TypeError: for what is no Dask array, or of a dtype that there is not.
        ValueError: if the sizes of chunks are unknown.

    Example::

        >>> import dask.array as da
        >>> from gradpack.utils.dask import evaluate, from_dask
        >>> x = from_dask(da.ones((6, 2), chunks=(3, 2))).requires_grad_()
        >>> (x * x).sum().backward()
        >>> x.grad
        tensor(..., device='dask', size=(6, 2), dtype=gradpack.float64)
        >>> x.grad.sum().item()
        24.0
    """
    if not isinstance(array, da.Array):
        raise TypeError(f"from_dask(): a dask.array.Array is needed, not {type(array).__name__}")
    if backend.has_unknown_shape(array):
        raise ValueError("from_dask(): the array has chunks of unknown size: array.compute_chunk_sizes() finds them")
    return wrap(backend.LazyArray(array))


def from_memmap(array: Any, chunks: Any = None) -> Tensor:
    """Return a memory-mapped array as a tensor on the device `dask`, which reads the file chunk by chunk.

    Args:
        array: what `numpy.memmap` or `numpy.load(file, mmap_mode="r")` returns. Workers need to have the file, too.
        chunks: as Dask has them; parts of the first dimension with at most 128 MiB unless given.

    Raises:
        TypeError: for what is no whole memory-mapped file.
    """
    return from_dask(backend.mapped(array, ("auto", *[-1] * (array.ndim - 1)) if chunks is None else chunks))


def to_dask(tensor: Tensor) -> Any:
    """Return the Dask array of a tensor on the device `dask`.

    Raises:
        TypeError: for a tensor on another device.
    """
    if not isinstance(tensor, Tensor) or type(tensor._data) is not backend.LazyArray:
        raise TypeError("to_dask(): a tensor on the device 'dask' is needed")
    return tensor._data.lazy


def evaluate(*what: Tensor | Module | Optimizer) -> None:
    """Compute tensors on the device `dask` together, in one pass over the data, and keep the values in their place.

    Args:
        what: tensors; modules, for their parameters, gradients and buffers; optimizers, for their state. What is on
            another device is left as it is.

    In a training loop it comes after `backward`: then the gradients of all parameters are computed together. Leave
    the loss out, and look at it by `loss.item()`: computed together with gradients, it would keep all chunks in
    memory until the whole of it is known.

    Example::

        for _ in range(10):
            optimizer.zero_grad()
            F.binary_cross_entropy_with_logits(model(x).squeeze(1), y).backward()
            evaluate(model, optimizer)
            optimizer.step()
    """
    arrays = {id(t._data): t._data for t in _tensors(what) if type(t._data) is backend.LazyArray}
    for array, values in zip(arrays.values(), backend.compute(list(arrays.values())), strict=True):
        backend.embed(array, values)


def _tensors(what: Iterable[Any]) -> Iterator[Tensor]:
    for one in what:
        if isinstance(one, Tensor):
            yield one
        elif isinstance(one, Module):
            yield from (*one.buffers(), *one.parameters())
            yield from (p.grad for p in one.parameters() if p.grad is not None)
        elif isinstance(one, Optimizer):
            for state in one.state.values():
                yield from (t for t in state.values() if isinstance(t, Tensor))
        else:
            raise TypeError(f"evaluate() takes tensors, modules and optimizers, not {type(one).__name__}")
