"""Pack and unpack functions for `saved_tensors_hooks` that keep saved tensors in fewer bits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..base.dtypes import bfloat16 as BFLOAT16
from ..base.dtypes import float32
from ..core.tensor import Tensor
from .storage import Storages, once

Hooks = tuple[Callable[[Tensor], Any], Callable[[Any], Tensor]]


def bfloat16(parameters: Iterable[Tensor] = (), at_least: int = 65536) -> Hooks:
    """Return a pack and an unpack function that keep float32 tensors as bfloat16: half the bytes.

    bfloat16 has the range of float32 and 8 bits of precision: each value is rounded to the nearest,
    with a relative error of at most 1/256. Kept as they are: other dtypes; the storages of `parameters`,
    which stay in memory anyway, so that a copy would only add to it; and small tensors, which save
    little and often hold one statistic per row (a mean, a logsumexp) that the whole row depends on.
    A tensor that several operations save is packed once.

    Use it around the body of a model and leave the loss outside: log-probabilities with 8 bits of
    precision lose far more than all the rest.

    Args:
        parameters: tensors whose storages are kept as they are, also when a view of them is saved.
        at_least: smaller tensors, in bytes, are kept as they are.

    Returns:
        `(pack, unpack)`, for `torch.autograd.graph.saved_tensors_hooks(*pair)`.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.saved import bfloat16
        >>> x = torch.tensor([1.0, 1.001], requires_grad=True)
        >>> with torch.autograd.graph.saved_tensors_hooks(*bfloat16(at_least=0)):
        ...     y = (x * x).sum()
        >>> y.backward()
        >>> x.grad  # 2 * 1.001 would be 2.002
        tensor([2., 2.])
    """
    exempt = Storages(parameters)
    low = once(lambda tensor: tensor.to(BFLOAT16))

    def pack(tensor: Tensor) -> Any:
        if tensor.dtype is not float32 or tensor.nbytes < at_least or tensor._data in exempt:
            return tensor
        return (low(tensor),)  # the tuple marks it as packed: an unpacked tensor may be bfloat16, too

    def unpack(packed: Any) -> Tensor:
        return packed[0].to(float32) if isinstance(packed, tuple) else packed

    return pack, unpack
