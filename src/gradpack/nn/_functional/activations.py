"""Activations as functions: those with `inplace=`, and softmax with a dimension that may be left out."""

from __future__ import annotations

from typing import Any

from ...base.callers import depth_of_user
from ...core.tensor import Tensor
from ...ops.pointwise import activation as ops
from ...ops.pointwise import gated
from ...ops.pointwise.error_function import gelu as _gelu
from ...ops.reduce import softmax as over
from .._public import give_all


def _write_back(input: Tensor, function: Any, *args: Any, **kwargs: Any) -> Tensor:
    """Call the in-place form of an operation, for `inplace=True`."""
    from ...declare.inplace.inplace import inplace

    op = function.op
    return inplace(op, op.name + "_", op.bind((input, *args), kwargs))


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """`max(input, 0)`: the rectified linear unit.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.relu(torch.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """
    return _write_back(input, ops.relu) if inplace else ops.relu(input)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """`min(max(input, 0), 6)`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.relu6(torch.tensor([-4.0, -0.5, 2.0, 7.0]))
        tensor([0., 0., 2., 6.])
    """
    return _write_back(input, ops.hardtanh, 0.0, 6.0) if inplace else ops.hardtanh(input, 0.0, 6.0)


def gelu(input: Tensor, approximate: str = "none", *, out: Tensor | None = None) -> Tensor:
    """`input * P(X <= input)` for a standard normal X: the Gaussian error linear unit.

    Args:
        approximate: "none", or "tanh" for `0.5 * input * (1 + tanh(sqrt(2 / pi) * (input + 0.044715 * input ** 3)))`.

    Raises:
        RuntimeError: for another way to approximate.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.gelu(torch.tensor([-0.5, 2.0, 7.0]))
        tensor([-0.1543,  1.9545,  7.0000])
        >>> torch.nn.functional.gelu(torch.tensor([-0.5, 2.0, 7.0]), approximate="tanh")
        tensor([-0.1543,  1.9546,  7.0000])
    """
    return _gelu(input, approximate=approximate) if out is None else _gelu(input, approximate=approximate, out=out)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """`input * sigmoid(input)`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.silu(torch.tensor([-4.0, -0.5, 2.0, 7.0]))
        tensor([-0.0719, -0.1888,  1.7616,  6.9936])
    """
    return _write_back(input, ops.silu) if inplace else ops.silu(input)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """`input * tanh(softplus(input))`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.mish(torch.tensor([-4.0, -0.5, 2.0, 7.0]))
        tensor([-0.0726, -0.2207,  1.9440,  7.0000])
    """
    return _write_back(input, ops.mish) if inplace else ops.mish(input)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """`input` where it is positive, else `negative_slope * input`.

    Args:
        negative_slope: the factor of negative elements.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.leaky_relu(torch.tensor([-4.0, -0.5, 2.0, 7.0]), 0.1)
        tensor([-0.4000, -0.0500,  2.0000,  7.0000])
    """
    return _write_back(input, ops.leaky_relu, negative_slope) if inplace else ops.leaky_relu(input, negative_slope)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """`input` limited to the interval from `min_val` to `max_val`.

    Args:
        min_val: the smallest value.
        max_val: the largest value.

    Raises:
        ValueError: if `min_val` is greater than `max_val`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.hardtanh(torch.tensor([-4.0, -0.5, 2.0, 7.0]), -1.0, 2.0)
        tensor([-1.0000, -0.5000,  2.0000,  2.0000])
    """
    if min_val > max_val:
        raise ValueError(f"min_val cannot be greater than max_val: {min_val} > {max_val}")
    return _write_back(input, ops.hardtanh, min_val, max_val) if inplace else ops.hardtanh(input, min_val, max_val)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """`relu6(input + 3) / 6`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.hardsigmoid(torch.tensor([-4.0, -0.5, 2.0, 7.0]))
        tensor([0.0000, 0.4167, 0.8333, 1.0000])
    """
    return _write_back(input, ops.hardsigmoid) if inplace else ops.hardsigmoid(input)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """`input * relu6(input + 3) / 6`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.hardswish(torch.tensor([-4.0, -0.5, 2.0, 7.0]))
        tensor([-0.0000, -0.2083,  1.6667,  7.0000])
    """
    return _write_back(input, ops.hardswish) if inplace else ops.hardswish(input)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """`input` where it is above the threshold, else `value`.

    Args:
        threshold: the threshold.
        value: what replaces all that is not above it.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.threshold(torch.tensor([-4.0, -0.5, 2.0, 7.0]), 1.0, -9.0)
        tensor([-9., -9.,  2.,  7.])
    """
    return _write_back(input, ops.threshold, threshold, value) if inplace else ops.threshold(input, threshold, value)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """`input` where it is positive, else `alpha * (exp(input) - 1)`.

    Args:
        alpha: the result approaches `-alpha` for large negative elements.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.elu(torch.tensor([-4.0, -0.5, 2.0, 7.0]))
        tensor([-0.9817, -0.3935,  2.0000,  7.0000])
    """
    return gated.elu_(input, alpha) if inplace else ops.elu(input, alpha)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """`max(0, input) + min(0, alpha * (exp(input / alpha) - 1))`.

    Args:
        alpha: the result approaches `-alpha` for large negative elements; not 0.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.celu(torch.tensor([-4.0, -0.5, 2.0, 7.0]), alpha=2.0)
        tensor([-1.7293, -0.4424,  2.0000,  7.0000])
    """
    return gated.celu_(input, alpha) if inplace else ops.celu(input, alpha)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """The self-normalising elu.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.selu(torch.tensor([-4.0, -0.5, 2.0, 7.0]))
        tensor([-1.7259, -0.6918,  2.1014,  7.3549])
    """
    return gated.selu_(input) if inplace else ops.selu(input)


def _class_dim(name: str, ndim: int, stacklevel: int) -> int:
    """Return the default dimension of softmax, which torch deprecates."""
    import warnings

    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=depth_of_user() + stacklevel - 3,
    )
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """`exp(input) / sum(exp(input))` along a dimension: positive numbers that sum to 1.

    Args:
        dim: the dimension along which the exponentials are summed. None chooses one by the number of dimensions, with a
            warning.
        dtype: convert `input` to this dtype before.

    Raises:
        NotImplementedError: for integers, bool and complex numbers, without a `dtype`.
        IndexError: for a dimension out of range.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.softmax(torch.tensor([[0.0, 0.0], [0.0, 1.0]]), dim=1)
        tensor([[0.5000, 0.5000],
                [0.2689, 0.7311]])
    """
    dim = _class_dim("softmax", input.ndim, _stacklevel) if dim is None else dim
    return over.softmax(input, dim, dtype=dtype)


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """`softmax(-input)`.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.softmin(torch.tensor([0.0, 1.0]), dim=0)
        tensor([0.7311, 0.2689])
    """
    dim = _class_dim("softmin", input.ndim, _stacklevel) if dim is None else dim
    return over.softmax(-input, dim, dtype=dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """`log(softmax(input))` along a dimension, computed so that nothing overflows or is lost.

    Args:
        dim: the dimension along which the exponentials are summed. None chooses one by the number of dimensions, with a
            warning.
        dtype: convert `input` to this dtype before.

    Raises:
        NotImplementedError: for integers, bool and complex numbers, without a `dtype`.
        IndexError: for a dimension out of range.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.log_softmax(torch.zeros(2), dim=0)
        tensor([-0.6931, -0.6931])
    """
    dim = _class_dim("log_softmax", input.ndim, _stacklevel) if dim is None else dim
    return over.log_softmax(input, dim, dtype=dtype)


give_all(globals())
