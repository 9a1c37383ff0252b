"""The products that convolutions are made of, as operations.

The three products that `correlate` computes are operations here. Each is bilinear, and the gradients
of each are the other two, so that all derivatives of any order are convolutions again.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

import numpy as np

from ...base import late
from ...declare.annotations import Array, Setting, Sizes
from ...declare.decorators import bilinear, general
from ..shape.memory_formats import channels_as_in
from .correlate import correlate, correlate_input, correlate_weight

_product = partial(bilinear, broadcasts=False, node="ConvolutionBackwardBackward0")


@_product(
    input=lambda g, weight, input_shape, stride, padding, dilation, groups: _conv_input(
        g, weight, input_shape[2:], stride, padding, dilation, groups
    ),
    weight=lambda g, input, weight_shape, stride, padding, dilation, groups: _conv_weight(
        g, input, weight_shape[2:], stride, padding, dilation, groups
    ),
)
def _conv_output(
    input: Array, weight: Array, count: Setting, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int
) -> Any:
    """The convolution at `count` places."""
    return correlate(input, weight, stride, padding, dilation, groups, count)


@_product(
    output=lambda g, output_shape, weight, stride, padding, dilation, groups: _conv_output(
        g, weight, output_shape[2:], stride, padding, dilation, groups
    ),
    weight=lambda g, output, weight_shape, stride, padding, dilation, groups: _conv_weight(
        output, g, weight_shape[2:], stride, padding, dilation, groups
    ),
)
def _conv_input(
    output: Array, weight: Array, size: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int
) -> Any:
    """The gradient of a convolution by its input of spatial size `size`."""
    return correlate_input(output, weight, size, stride, padding, dilation, groups)


@_product(
    output=lambda g, output_shape, input, stride, padding, dilation, groups: _conv_output(
        input, g, output_shape[2:], stride, padding, dilation, groups
    ),
    input=lambda g, output, input_shape, stride, padding, dilation, groups: _conv_input(
        output, g, input_shape[2:], stride, padding, dilation, groups
    ),
)
def _conv_weight(
    output: Array, input: Array, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int
) -> Any:
    """The gradient of a convolution by its weight with windows of size `kernel`."""
    return correlate_weight(input, output, kernel, stride, padding, dilation, groups)


def over_places(g: Any) -> Any:
    """Return the sum over all dimensions but the second, the channels."""
    if not g.shape[0] or not g.shape[1]:
        return late._sum_dim(g, tuple(i for i in range(len(g.shape)) if i != 1))
    return late._sum_dim(late._sum_dim(late.reshape(g, (*g.shape[:2], -1)), 2), 0)


def _tangent(
    input_t: Any,
    weight_t: Any,
    bias_t: Any,
    input: Any,
    weight: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> Any:
    more = (stride, padding, dilation, transposed, output_padding, groups)
    total = None
    if input_t is not None:
        total = _convolution(input_t, weight, bias_t, *more)
        bias_t = None
    if weight_t is not None:
        term = _convolution(input, weight_t, bias_t, *more)
        total = term if total is None else total + term
    elif bias_t is not None:
        total = _convolution(late.zeros_like(input), weight, bias_t, *more)
    return total


@general(
    input=lambda g, weight, input_shape, stride, padding, dilation, transposed, groups: (
        _conv_output if transposed else _conv_input
    )(g, weight, input_shape[2:], stride, padding, dilation, groups),
    weight=lambda g, input, weight_shape, stride, padding, dilation, transposed, groups: _conv_weight(
        *((input, g) if transposed else (g, input)), weight_shape[2:], stride, padding, dilation, groups
    ),
    bias=lambda g: over_places(g),
    jvp=_tangent,
    same_dtype=True,
    dtypes="ifc",
    name="convolution",
    saved_as="bias_sym_sizes_opt=bias.channels dilation groups input=input padding stride transposed weight",
)
def _convolution(
    input: Array,
    weight: Array,
    bias: Array = None,
    stride: Any = (1,),
    padding: Any = (0,),
    dilation: Any = (1,),
    transposed: bool = False,
    output_padding: Any = (0,),
    groups: int = 1,
) -> Any:
    """A convolution, or a transposed one, of a batch, with a bias for each channel of the result."""
    kernel, size = tuple(weight.shape[2:]), tuple(input.shape[2:])
    made = _size_made(size, kernel, stride, padding, dilation, transposed, output_padding)
    if transposed:
        out = correlate_input(input, weight, made, stride, padding, dilation, groups)
        if bias is not None:
            out += np.reshape(bias, (-1, *(1,) * len(size)))
    else:
        out = correlate(input, weight, stride, padding, dilation, groups, made, bias)
    return channels_as_in(channels_as_in(out, input), weight)


@lru_cache(1024)
def _size_made(
    size: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, transposed: bool, output_padding: Any
) -> tuple[int, ...]:
    steps = zip(size, kernel, stride, padding, dilation, output_padding, strict=True)
    if transposed:
        return tuple((n - 1) * s - 2 * p + d * (k - 1) + o + 1 for n, k, s, p, d, o in steps)
    return tuple((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d, o in steps)
