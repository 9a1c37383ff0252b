"""How starting values are scaled: the gain of a nonlinearity, and how many numbers an output is made of."""

from __future__ import annotations

import math

from ..core.tensor import Tensor

_GAINS = {
    "sigmoid": 1.0, "tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4, "linear": 1.0,
    **{f"conv{transposed}{n}d": 1.0 for transposed in ("", "_transpose") for n in (1, 2, 3)},
}  # fmt: skip


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor by which a nonlinearity wants its weights scaled.

    Args:
        nonlinearity: `"linear"`, `"conv1d"` and so on, `"sigmoid"`, `"tanh"`, `"relu"`, `"leaky_relu"`, `"selu"`.
        param: the slope of `leaky_relu` below zero, 0.01 if not given.

    Raises:
        ValueError: for a name that is not among these, or a slope that is no number.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.init.calculate_gain("leaky_relu", 0.2)
        1.3867504905630728
    """
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, int | float):
            raise ValueError(f"negative_slope {slope} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity not in _GAINS:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}; there are: {', '.join([*_GAINS, 'leaky_relu'])}")
    return _GAINS[nonlinearity]


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """How many numbers each output is made of, and each input goes into."""
    shape = tensor.shape
    if len(shape) < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions: "
            f"the shape is {list(shape)}"
        )
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    modes = ("fan_in", "fan_out")
    if mode.lower() not in modes:
        raise ValueError(f"Mode {mode} not supported, please use one of {list(modes)}")
    return _calculate_fan_in_and_fan_out(tensor)[modes.index(mode.lower())]
