"""Starting values for parameters. Every function writes into its tensor, outside of autograd, and returns it."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

from ..autograd.grad_mode import no_grad
from ..base.dtypes import float64
from ..base.parts import adopt_parts
from ..core.tensor import Tensor, wrap
from ..ops.create import fill
from ..ops.random.integers import randperm
from . import _public
from ._gains import _calculate_correct_fan, _calculate_fan_in_and_fan_out, calculate_gain

# --- values that do not depend on the shape ---


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with numbers drawn from the uniform distribution between `a` and `b`.

    Args:
        tensor: what to fill.
        a: the lower bound.
        b: the upper bound.

    Example::

        >>> import gradpack as torch
        >>> w = torch.nn.init.uniform_(torch.empty(3, 5), -1, 1)
        >>> bool((w.abs() <= 1).all())
        True
    """
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with numbers drawn from a normal distribution.

    Args:
        tensor: what to fill.
        mean: the mean.
        std: the standard deviation.

    Example::

        >>> import gradpack as torch
        >>> w = torch.nn.init.normal_(torch.empty(100, 100), mean=3.0, std=0.1)
        >>> bool((w.mean() - 3).abs() < 0.01), bool((w.std() - 0.1).abs() < 0.01)
        (True, True)
    """
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Any = None
) -> Tensor:
    """Draw from the normal distribution, restricted to values between `a` and `b`.

    Example::

        >>> import gradpack as torch
        >>> w = torch.nn.init.trunc_normal_(torch.empty(3, 5), std=0.02, a=-0.04, b=0.04)
        >>> bool((w.abs() <= 0.04).all())
        True
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. "
            "The distribution of values may be incorrect.",
            stacklevel=2,
        )
    low, high = (math.erf((bound - mean) / (std * math.sqrt(2.0))) for bound in (a, b))
    with no_grad():
        # Uniform in the probability, back through the distribution function. In float64, as
        # steps of float32 are visible in the tails.
        drawn = fill.empty(tensor.shape, dtype=float64, device=tensor.device)
        drawn.uniform_(low, high, generator=generator)
        drawn = drawn.erfinv().mul_(std * math.sqrt(2.0)).add_(mean).clamp_(a, b)
        return tensor.copy_(drawn)


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with `val`.

    Args:
        tensor: what to fill.
        val: the number.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.init.constant_(torch.empty(2), 0.5)
        tensor([0.5000, 0.5000])
    """
    with no_grad():
        return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """Fill with ones.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.init.ones_(torch.empty(2))
        tensor([1., 1.])
    """
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with zeros.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.init.zeros_(torch.empty(2))
        tensor([0., 0.])
    """
    with no_grad():
        return tensor.zero_()


# --- structured ---


def eye_(tensor: Tensor) -> Tensor:
    """Ones on the diagonal of a matrix, zeros elsewhere.

    Raises:
        ValueError: unless the tensor has two dimensions.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.init.eye_(torch.empty(2, 3))
        tensor([[1., 0., 0.],
                [0., 1., 0.]])
    """
    if tensor.dim() != 2:
        raise ValueError(f"Only tensors with 2 dimensions are supported, not {tensor.dim()}")
    with no_grad():
        return tensor.copy_(fill.eye(*tensor.shape, dtype=tensor.dtype, device=tensor.device))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Make a convolution weight (out, in, ...) that passes as many channels through as it can.

    Raises:
        ValueError: unless the tensor has three to five dimensions, the first divisible by `groups`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.init.dirac_(torch.empty(1, 2, 3))
        tensor([[[0., 1., 0.],
                 [0., 0., 0.]]])
    """
    if tensor.dim() not in (3, 4, 5):
        raise ValueError(f"Only tensors with 3, 4, or 5 dimensions are supported, not {tensor.dim()}")
    out, channels, *field = tensor.shape
    if out % groups:
        raise ValueError(f"dim 0 must be divisible by groups: {out} is not divisible by {groups}")
    centre = tuple(size // 2 for size in field)
    with no_grad():
        tensor.zero_()
        for group in range(groups):
            for channel in range(min(out // groups, channels)):
                tensor[(group * (out // groups) + channel, channel, *centre)] = 1
    return tensor


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Any = None) -> Tensor:
    """Make a matrix (first dimension against all others) whose rows or columns are orthonormal, times `gain`.

    Args:
        tensor: what to fill.
        gain: the factor: the length of each row or column.
        generator: the generator of random numbers; None for the default one.

    Raises:
        ValueError: if the tensor has fewer than two dimensions.

    Source: Saxe et al., 2013.

    Example::

        >>> import gradpack as torch
        >>> w = torch.nn.init.orthogonal_(torch.empty(2, 3))
        >>> bool(((w @ w.T - torch.eye(2)).abs() < 1e-5).all())
        True
    """
    if tensor.dim() < 2:
        raise ValueError(f"Only tensors with 2 or more dimensions are supported, not {tensor.dim()}")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.shape[0]
    columns = tensor.numel() // rows
    with no_grad():
        wide = rows < columns
        drawn = fill.empty((max(rows, columns), min(rows, columns)), dtype=tensor.dtype, device=tensor.device)
        drawn.normal_(0, 1, generator=generator)
        full = drawn.float() if tensor.dtype.low else drawn
        xp = full._spec.backend.xp
        q, r = xp.linalg.qr(full._data)
        # The signs make the distribution uniform over all such matrices (Mezzadri 2006).
        made = wrap(q * xp.sign(xp.linalg.diagonal(r)))
        made = made.transpose(0, 1) if wide else made
        return tensor.copy_(made.reshape(tensor.shape)).mul_(gain)


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    """Normal values in a matrix, of which the fraction `sparsity` of each column is set to zero.

    Args:
        tensor: the matrix to fill.
        sparsity: the fraction of each column that is zero, rounded up to whole elements.
        std: the standard deviation of the others.
        generator: the generator of random numbers; None for the default one.

    Raises:
        ValueError: unless the tensor has two dimensions.

    Source: Martens, 2010.

    Example::

        >>> import gradpack as torch
        >>> w = torch.nn.init.sparse_(torch.empty(10, 3), sparsity=0.2)
        >>> (w == 0).sum(0)
        tensor([2, 2, 2])
    """
    if tensor.dim() != 2:
        raise ValueError(f"Only tensors with 2 dimensions are supported, not {tensor.dim()}")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(columns):
            tensor[randperm(rows, generator=generator)[:zeros], column] = 0
    return tensor


# --- scaled by the shape ---


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with uniform numbers of variance `gain ** 2 * 2 / (fan_in + fan_out)`.

    Args:
        tensor: what to fill: a weight (out, in, ...).
        gain: the factor, for the nonlinearity after the layer: see `calculate_gain`.
        generator: the generator of random numbers; None for the default one.

    Raises:
        ValueError: if the tensor has fewer than two dimensions.

    Source: Glorot and Bengio, 2010.

    Example::

        >>> import gradpack as torch
        >>> w = torch.nn.init.xavier_uniform_(torch.empty(20, 30))
        >>> bool((w.abs() <= (6 / 50) ** 0.5).all())
        True
    """
    bound = math.sqrt(3.0) * gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with normal numbers of variance `gain ** 2 * 2 / (fan_in + fan_out)`.

    Args:
        tensor: what to fill: a weight (out, in, ...).
        gain: the factor, for the nonlinearity after the layer: see `calculate_gain`.
        generator: the generator of random numbers; None for the default one.

    Raises:
        ValueError: if the tensor has fewer than two dimensions.

    Source: Glorot and Bengio, 2010.

    Example::

        >>> import gradpack as torch
        >>> w = torch.nn.init.xavier_normal_(torch.empty(200, 300))
        >>> bool((w.std() - (2 / 500) ** 0.5).abs() < 0.005)
        True
    """
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor))), generator)


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float | None:
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
        return None
    return calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))


def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """Fill with uniform numbers of variance `gain ** 2 / fan`, where the gain is that of the nonlinearity.

    Args:
        tensor: what to fill.
        a: the slope of `leaky_relu` below zero.
        mode: `"fan_in"` keeps the variance in forward, `"fan_out"` in backward.
        nonlinearity: see `calculate_gain`.
        generator: draw from this one.

    Raises:
        ValueError: for an unknown mode or nonlinearity, or fewer than two dimensions.

    Source: He et al., 2015.

    Example::

        >>> import gradpack as torch
        >>> w = torch.nn.init.kaiming_uniform_(torch.empty(20, 30), nonlinearity="relu")
        >>> bool((w.abs() <= (6 / 30) ** 0.5).all())
        True
    """
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    if std is None:
        return tensor
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """Fill with normal numbers of variance `gain ** 2 / fan`, where the gain is that of the nonlinearity.

    Args:
        tensor: what to fill: a weight (out, in, ...).
        a: the slope of `leaky_relu` below zero.
        mode: "fan_in" keeps the variance in forward, "fan_out" in backward.
        nonlinearity: what comes after the layer: see `calculate_gain`.
        generator: the generator of random numbers; None for the default one.

    Raises:
        ValueError: for an unknown mode or nonlinearity, or fewer than two dimensions.

    Example::

        >>> import gradpack as torch
        >>> w = torch.nn.init.kaiming_normal_(torch.empty(200, 300), nonlinearity="relu")
        >>> bool((w.std() - (2 / 300) ** 0.5).abs() < 0.005)
        True
    """
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    return tensor if std is None else normal_(tensor, 0.0, std, generator)


_FORMER = frozenset(
    "uniform normal constant eye dirac xavier_uniform xavier_normal kaiming_uniform kaiming_normal orthogonal "
    "sparse".split()
)

# The names by which torch's own code fills tensors.
_no_grad_uniform_, _no_grad_normal_, _no_grad_trunc_normal_ = uniform_, normal_, trunc_normal_
_no_grad_fill_, _no_grad_zero_ = constant_, zeros_

adopt_parts(__name__)
_public.give_all(globals())


if not TYPE_CHECKING:  # to type checkers, other names are unknown

    def __getattr__(name: str) -> Any:
        """The names of before: without the underscore at the end."""
        if name not in _FORMER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        today = globals()[name + "_"]

        def former(*args: Any, **kwargs: Any) -> Tensor:
            warnings.warn(
                f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`.", FutureWarning, stacklevel=2
            )
            filled: Tensor = today(*args, **kwargs)
            return filled

        former.__name__ = former.__qualname__ = name
        former.__doc__ = f"`{name}_`, under the name that it had before."
        return former
