"""Clipping gradients: by their common norm, or element by element."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from types import GeneratorType
from typing import Any

from ...autograd.grad_mode import no_grad
from ...backends.numpy import NUMPY, quiet
from ...base.dtypes import FLOATING, float32
from ...core.tensor import Tensor, wrap
from ...ops.create.create import tensor as new_tensor
from ...ops.shape.join import stack
from .._public import give_all
from .direct import may_write

_tensor_or_tensors = Tensor | Iterable[Tensor]
np = NUMPY.xp


def get_total_norm(
    tensors: _tensor_or_tensors, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Tensor:
    """The norm of all tensors together, as if they were one vector.

    Args:
        tensors: tensors, or one.
        norm_type: the p of the norm; `inf` for the largest absolute value.
        error_if_nonfinite: raise if the norm is nan or infinite?
        foreach: accepted; there is one implementation.

    Returns:
        A tensor without dimensions; 0.0 for no tensors.

    Raises:
        RuntimeError: for tensors of integers, and for a norm that is not finite, if asked to.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.utils.get_total_norm([torch.tensor([3.0]), torch.tensor([4.0])]).item()
        5.0
    """
    found = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    norm_type = float(norm_type)
    if not found:
        return new_tensor(0.0)
    spec = found[0]._spec
    arrays = [t._data for t in found]
    if norm_type == 2 and (spec.plain or _is_recorded(arrays)) and all(t._spec is spec for t in found):
        with quiet():
            total = wrap(spec.backend.bind(_length)(arrays))
    else:
        with no_grad():
            total = _norm(stack([_norm(t, norm_type).to(spec.device) for t in found]), norm_type)
    if error_if_nonfinite and not math.isfinite(total.item()):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite ({total.item()}), so "
            "it cannot be clipped. To scale the gradients by it anyway, set `error_if_nonfinite=False`"
        )
    return total


def _scale_arrays(arrays: list[Any], length: Any, max_norm: float) -> None:
    number = max_norm / (length.item() + 1e-6)
    if not number >= 1:
        for a in arrays:
            np.multiply(a, np.asarray(number, a.dtype), out=a)


def _is_recorded(arrays: list[Any]) -> bool:
    """Return whether a program of NumPy's is being made of arrays: a call of `_length` is an instruction of it."""
    return all(hasattr(a, "recorder") and not a.recorder.whole for a in arrays)


def _length(arrays: list[Any]) -> Any:
    """The length of all arrays together: one pass by BLAS, and no squares of whole arrays in between."""
    flat = [a.ravel("K") for a in arrays]
    return np.asarray(math.sqrt(sum([float(a.dot(a)) for a in flat])), arrays[0].dtype)


def _norm(t: Tensor, p: float) -> Tensor:
    """The p-norm of one tensor, in its dtype."""
    dtype = t.dtype
    if dtype.category < FLOATING:
        raise RuntimeError(f"get_total_norm: expected a floating point or complex tensor as input, got {dtype}")
    if t.is_complex():
        t = t.abs()
        dtype = t.dtype
    if dtype.low:
        t = t.to(float32)
    if math.isinf(p):
        if not t.numel():
            raise RuntimeError("get_total_norm cannot compute the infinity norm of an empty tensor: leave it out")
        norm = t.abs().amax() if p > 0 else t.abs().amin()
    elif p == 0:
        norm = (t != 0).sum()
    elif p == 1:
        norm = t.abs().sum()
    elif p == 2:
        norm = (t * t).sum().sqrt()
    else:
        norm = t.abs().pow(p).sum().pow(1 / p)
    return norm.to(dtype)


def clip_grads_with_norm_(
    parameters: _tensor_or_tensors, max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Multiply all gradients by `min(1, max_norm / (total_norm + 1e-6))`, in place: a part of `clip_grad_norm_`.

    Args:
        parameters: tensors with gradients, or one; those without are left out.
        max_norm: what the norm may be at most.
        total_norm: what it is, as `get_total_norm` returns it.
        foreach: accepted; there is one implementation.

    Example::

        >>> import gradpack as torch
        >>> w = torch.zeros(2, requires_grad=True)
        >>> w.grad = torch.tensor([3.0, 4.0])
        >>> total = torch.nn.utils.get_total_norm([w.grad])
        >>> torch.nn.utils.clip_grads_with_norm_(w, 1.0, total)
        >>> w.grad
        tensor([0.6000, 0.8000])
    """
    _scale(_gradients(parameters), float(max_norm), total_norm)


def _scale(gradients: list[Tensor], max_norm: float, total_norm: Tensor) -> None:
    if not gradients:
        return
    arrays = [g._data for g in gradients]
    if total_norm._spec.plain and may_write() and all(g._spec.plain and g._data.flags.writeable for g in gradients):
        with quiet():
            _scale_arrays(arrays, total_norm._data, max_norm)
        for g in gradients:
            g._counter[0] += 1
        return
    if _is_recorded([*arrays, total_norm._data]):
        arrays[0].recorder.call("scale", _scale_arrays, (arrays, total_norm._data, max_norm), {}, tuple(arrays))
        for g in gradients:
            g._counter[0] += 1
        return
    with no_grad():
        factor = (max_norm / (total_norm + 1e-6)).clamp(max=1.0)
        for g in gradients:
            g.mul_(factor.to(g.device))


def clip_grad_norm_(
    parameters: _tensor_or_tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale the gradients down, in place, so that their norm together is at most `max_norm`.

    Args:
        parameters: tensors with gradients, or one; those without are left out.
        max_norm: what the norm may be at most.
        norm_type: the p of the norm; `inf` for the largest absolute value.
        error_if_nonfinite: raise if the norm is nan or infinite?
        foreach: accepted; there is one implementation.

    Returns:
        The norm before, a tensor without dimensions.

    Raises:
        RuntimeError: for a norm that is not finite, if asked to; the gradients are then as they were.

    Example::

        >>> import gradpack as torch
        >>> w = torch.tensor([0.0, 0.0], requires_grad=True)
        >>> w.grad = torch.tensor([3.0, 4.0])
        >>> torch.nn.utils.clip_grad_norm_([w], max_norm=1.0).item()
        5.0
        >>> w.grad
        tensor([0.6000, 0.8000])
    """
    if isinstance(parameters, GeneratorType):
        parameters = list(parameters)
        if not parameters:
            warnings.warn("`parameters` is an empty generator, no gradient clipping will occur.", stacklevel=2)
    gradients = _gradients(parameters)
    total = get_total_norm(gradients, norm_type, error_if_nonfinite)
    _scale(gradients, float(max_norm), total)
    return total


def clip_grad_value_(parameters: _tensor_or_tensors, clip_value: float, foreach: bool | None = None) -> None:
    """Bring every element of the gradients between -clip_value and clip_value, in place.

    Args:
        parameters: tensors with gradients, or one; those without are left out.
        clip_value: the largest absolute value.
        foreach: accepted; there is one implementation.

    Example::

        >>> import gradpack as torch
        >>> w = torch.tensor([0.0, 0.0], requires_grad=True)
        >>> w.grad = torch.tensor([3.0, -4.0])
        >>> torch.nn.utils.clip_grad_value_([w], 1.0)
        >>> w.grad
        tensor([ 1., -1.])
    """
    clip_value = float(clip_value)
    with no_grad():
        for g in _gradients(parameters):
            g.clamp_(min=-clip_value, max=clip_value)


def _gradients(parameters: Any) -> list[Tensor]:
    found = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    return [p.grad for p in found if p.grad is not None]


def clip_grad_norm(
    parameters: _tensor_or_tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """`clip_grad_norm_` by its old name, with a warning that says so.

    Args:
        parameters: tensors with gradients, or one.
        max_norm: what the norm may be at most.
        error_if_nonfinite: raise if the norm is NaN or infinite.

    Example::

        >>> import gradpack as torch
        >>> import warnings; warnings.simplefilter("ignore")
        >>> torch.nn.utils.clip_grad_norm([], 1.0)
        tensor(0.)
    """
    warnings.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


give_all(globals())
