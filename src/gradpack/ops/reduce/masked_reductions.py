"""`torch.masked`: reductions and normalizations that leave out masked elements (mask False).

Those are replaced by the identity of the reduction: 0 for a sum, -inf for a maximum. The mask, True
for unmasked elements, broadcasts to the input.
"""

from __future__ import annotations

import math
from typing import Any

from ...base import dtypes, late
from ...base.dtypes import FLOATING, INTEGRAL, dtype
from ...base.errors import not_a_tensor, not_implemented_for
from ...base.info import iinfo
from ...core.tensor import Tensor

FUNCTIONS = ""


def _dims(dim: Any, ndim: int) -> tuple[int, ...]:
    """The dimensions counted from the front, in order; all for None and ()."""
    if dim is None or (not hasattr(dim, "__index__") and not tuple(dim)):
        return tuple(range(ndim))
    size = max(ndim, 1)
    found: list[int] = []
    for d in (dim,) if hasattr(dim, "__index__") else dim:
        if not -size <= d < size:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-size}, {size - 1}], but got {d})")
        if d % size in found:
            raise RuntimeError(f"dim={d} appears multiple times in the list of dims")
        found.append(d % size)
    return tuple(sorted(found)) if ndim else ()


def _mask_for(input: Tensor, mask: Tensor) -> Tensor:
    """The mask converted to bool and broadcast to the shape of the input."""
    if mask._shape != input._shape:
        if mask.ndim > input.ndim:
            raise IndexError(
                "_input_mask expected broadcastable mask (got mask dimensionality higher than of the input)"
            )
        mask = late.broadcast_to(mask, input._shape)
    return mask if mask._spec.dtype is dtypes.bool_ else mask.to(dtypes.bool_)


def _neutral(kind: str, d: dtype) -> Any:
    """The identity of a reduction: of "sum", "product", "largest" or "smallest"."""
    if kind == "sum":
        return 0
    if kind == "product":
        return 1
    if d.category >= FLOATING:
        return -math.inf if kind == "largest" else math.inf
    if d.category != INTEGRAL:
        raise NotImplementedError(f"identity of a {kind} on {d} input: there is none")
    limits = iinfo(d)
    return limits.min if kind == "largest" else limits.max


def _kept(op: str, input: Tensor, mask: Any, kind: str) -> Tensor:
    """The input with the identity of the reduction where the mask is False."""
    if not isinstance(input, Tensor):
        raise not_a_tensor(op, "input", 1, input)
    if mask is None:
        return input
    d = input._spec.dtype
    return late.where(
        _mask_for(input, mask), input, late.scalar_tensor(_neutral(kind, d), dtype=d, device=input.device)
    )


def _wide(input: Tensor, dtype: Any) -> dtype:
    """The dtype of a sum: int64 for all integers."""
    d = input._spec.dtype
    return dtype if dtype is not None else dtypes.int64 if d.category < FLOATING else d


def sum(input: Tensor, dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: Any = None) -> Tensor:
    """The sum of the unmasked elements over dimensions; 0 where there are none.

    Args:
        mask: True for the elements that count; broadcasts to the input.

    Example::

        >>> import gradpack as torch
        >>> torch.masked.sum(torch.tensor([1, 2, 3]), 0, mask=torch.tensor([True, False, True]))
        tensor(4)
    """
    x = _kept("sum", input, mask, "sum")
    return late.sum(x, _dims(dim, x.ndim), bool(keepdim), dtype=_wide(input, dtype))


def prod(input: Tensor, dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: Any = None) -> Tensor:
    """The product of the unmasked elements over dimensions; 1 where there are none.

    Example::

        >>> import gradpack as torch
        >>> torch.masked.prod(torch.tensor([2, 5, 3]), 0, mask=torch.tensor([True, False, True]))
        tensor(6)
    """
    x = _kept("prod", input, mask, "product").to(_wide(input, dtype))
    dims = _dims(dim, x.ndim)
    if not x.ndim and dim is not None and dim != ():
        dims = (0,)
    for d in reversed(dims):
        x = late.prod(x, d, bool(keepdim))
    return x


def _in(made: Tensor, input: Tensor, dtype: Any) -> Tensor:
    wanted = input._spec.dtype if dtype is None else dtype
    return made if made._spec.dtype is wanted else made.to(wanted)


def cumsum(input: Tensor, dim: int, *, dtype: Any = None, mask: Any = None) -> Tensor:
    """The cumulative sums of the unmasked elements.

    Example::

        >>> import gradpack as torch
        >>> torch.masked.cumsum(torch.tensor([1, 2, 3]), 0, mask=torch.tensor([True, False, True]))
        tensor([1, 1, 4])
    """
    x = _kept("cumsum", input, mask, "sum")
    d = dtype or input._spec.dtype
    if d is dtypes.bool_:
        raise not_implemented_for("cumsum_out_cpu", d)
    return _in(late.cumsum(x, _one(dim, x.ndim), dtype=d), input, d)


def cumprod(input: Tensor, dim: int, *, dtype: Any = None, mask: Any = None) -> Tensor:
    """The cumulative products of the unmasked elements.

    Example::

        >>> import gradpack as torch
        >>> torch.masked.cumprod(torch.tensor([2, 5, 3]), 0, mask=torch.tensor([True, False, True]))
        tensor([2, 2, 6])
    """
    x = _kept("cumprod", input, mask, "product")
    d = dtype or input._spec.dtype
    if d is dtypes.bool_:
        raise not_implemented_for("cumprod_out_cpu", d)
    return _in(late.cumprod(x, _one(dim, x.ndim), dtype=d), input, d)


def _one(dim: Any, ndim: int) -> int:
    found = _dims(dim, ndim)
    return found[0] if found else 0


def amax(input: Tensor, dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: Any = None) -> Tensor:
    """The maxima of the unmasked elements; -inf, or the smallest integer, where there are none.

    Example::

        >>> import gradpack as torch
        >>> torch.masked.amax(torch.tensor([1, 9, 3]), 0, mask=torch.tensor([True, False, True]))
        tensor(3)
    """
    x = _kept("amax", input, mask, "largest")
    return _in(late.amax(x, _dims(dim, x.ndim), bool(keepdim)), input, dtype)


def amin(input: Tensor, dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: Any = None) -> Tensor:
    """The minima of the unmasked elements; inf, or the largest integer, where there are none.

    Example::

        >>> import gradpack as torch
        >>> torch.masked.amin(torch.tensor([5, 1, 3]), 0, mask=torch.tensor([True, False, True]))
        tensor(3)
    """
    x = _kept("amin", input, mask, "smallest")
    return _in(late.amin(x, _dims(dim, x.ndim), bool(keepdim)), input, dtype)


def argmax(input: Tensor, dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: Any = None) -> Tensor:
    """The index of the largest unmasked element, in the dtype of the input, as in torch.

    Example::

        >>> import gradpack as torch
        >>> torch.masked.argmax(torch.tensor([1, 9, 3]), 0, mask=torch.tensor([True, False, True]))
        tensor(2)
    """
    return _in(late.argmax(_kept("argmax", input, mask, "largest"), dim, bool(keepdim)), input, dtype)


def argmin(input: Tensor, dim: Any = None, *, keepdim: Any = False, dtype: Any = None, mask: Any = None) -> Tensor:
    """The index of the smallest unmasked element, in the dtype of the input, as in torch.

    Example::

        >>> import gradpack as torch
        >>> torch.masked.argmin(torch.tensor([5, 1, 3]), 0, mask=torch.tensor([True, False, True]))
        tensor(2)
    """
    return _in(late.argmin(_kept("argmin", input, mask, "smallest"), dim, bool(keepdim)), input, dtype)


def logsumexp(input: Tensor, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Tensor:
    """`log(sum(exp(input)))` of the unmasked elements.

    Example::

        >>> import gradpack as torch
        >>> torch.masked.logsumexp(torch.tensor([0.0, 9.0, 0.0]), 0, mask=torch.tensor([True, False, True]))
        tensor(0.6931)
    """
    x = _kept("logsumexp", input, mask, "largest")
    return _in(late.logsumexp(x, _dims(dim, x.ndim), keepdim=keepdim), input, dtype)


def logaddexp(
    input: Tensor, other: Tensor, *, dtype: Any = None, input_mask: Any = None, other_mask: Any = None
) -> Tensor:
    """`log(exp(input) + exp(other))`, with 0 for the exponentials of masked elements.

    Args:
        input_mask: a tensor of bools, of the shape of `input`: False for elements that are left out. None for no mask.
        other_mask: the same for `other`.

    Example::

        >>> import gradpack as torch
        >>> x, some = torch.zeros(2), torch.tensor([True, False])
        >>> torch.masked.logaddexp(x, x, other_mask=some)
        tensor([0.6931, 0.0000])
        >>> torch.masked.logaddexp(x, x, input_mask=some, other_mask=some)
        tensor([0.6931,   -inf])
    """
    left = _kept("logaddexp", input, input_mask, "largest")
    return _in(late.logaddexp(left, _kept("logaddexp", other, other_mask, "largest")), input, dtype)
