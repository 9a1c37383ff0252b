"""Operations that gradpack does not have, declared as a user's package would."""

from __future__ import annotations

import numpy as np

from gradpack import cosh, extend, sinh

SAMPLES = {}


def _samples():
    from tests.samples.base import S, T

    SAMPLES.update(
        # sinh(x) / x
        sinhc=[S(T(3, low=0.5)), S(T(2, 3, low=0.5)), S(T(0))],
        # two operands that broadcast
        softstep=[S(T(3), T(3, low=0.5)), S(T(2, 3), T(3, low=0.5)), S(T(), T(2, 2, low=0.5)), S(T(0), T(1, low=0.5))],
        # a reduction with a setting
        weighted_total=[S(T(3, 4), T(4)), S(T(2, 4), T(4), keepdim=True), S(T(0, 4), T(4))],
    )


def declare() -> None:
    """Add them. Call it inside `extend.registering()`."""
    _samples()

    @extend.elementwise(
        input=lambda g, input: g * (input * cosh(input) - sinh(input)) / (input * input), method=True, inplace=True
    )
    def sinhc(input):
        """sinh(x) / x."""
        return np.sinh(input) / input

    @extend.general(
        input=lambda g, out, width: g * (1 - out * out) / width,
        width=lambda g, input, out, width: -g * (1 - out * out) * input / (width * width),
        promote=("input", "width"),
        broadcasts=True,
        method=True,
    )
    def softstep(input, width):
        """tanh(x / width)."""
        return np.tanh(input / width)

    @extend.bilinear(
        input=lambda g, input_shape, weight, keepdim: (
            spread(g, keepdim).expand(input_shape) * weight
            if hasattr(g, "expand")
            else np.broadcast_to(spread(g, keepdim), input_shape) * weight
        ),
        weight=lambda g, input, keepdim: spread_and_sum(g, input, keepdim),
        export=True,
    )
    def weighted_total(input, weight, keepdim=False):
        """Sums of rows, weighted."""
        return np.sum(input * weight, axis=-1, keepdims=keepdim)


def spread(g, keepdim):
    return g if keepdim else g[..., None]


def spread_and_sum(g, input, keepdim):
    return (spread(g, keepdim) * input).sum(tuple(range(input.ndim - 1)))
