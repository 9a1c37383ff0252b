"""Windows as columns (`unfold`), columns added back to images (`fold`), and the shuffling of channels and pixels."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...base import late
from ...base.errors import dim_out_of_range, refuse
from ...core.tensor import Tensor
from ...declare.annotations import Array, Setting, Sizes
from ...declare.decorators import linear
from ..shape.memory_formats import channels_as_in
from . import small_windows as small
from .sliding import at, cropped, extent, offsets, reaching, windows
from .spatial import check_tensor, ints, is_int, wrong_type

FUNCTIONS = "pixel_shuffle pixel_unshuffle channel_shuffle native_channel_shuffle"


@linear(
    input=lambda g, input_shape, geometry: _col2im(g, input_shape[len(input_shape) - 2 :], geometry),
    node="Im2ColBackward0",
    saved_as=(
        "dilation=geometry[3] kernel_size=geometry[0] padding=geometry[2] stride=geometry[1] "
        "self_sym_argsize_minus_1=input.shape[-1] self_sym_argsize_minus_2=input.shape[-2]"
    ),
)
def _im2col(input: Array, geometry: Setting) -> Any:
    """Windows of (batch, channels, height, width) as (batch, channels * kernel, windows)."""
    kernel, stride, padding, dilation, count = geometry
    columns = (input.shape[0], input.shape[1] * prod(kernel), prod(count))
    table = small.table_of_pool(input, input.shape, geometry)
    if table is not None:
        return small.columns(input, table).reshape(columns)
    x = reaching(input, padding, kernel, stride, dilation, count)
    seen = windows(x, kernel, stride, dilation, count)
    return np.array(seen, order="C").reshape(columns)  # windows of one element could be read in place


@linear(input=lambda g, geometry: _im2col(g, geometry), node="Col2ImBackward0")
def _col2im(input: Array, size: Sizes, geometry: Setting) -> Any:
    """Zeros of spatial size `size` with windows added back: the adjoint of `_im2col`."""
    kernel, stride, padding, dilation, count = geometry
    channels = input.shape[1] // prod(kernel)
    shape = (input.shape[0], channels, *size)
    table = small.table_of_pool(input, shape, geometry)
    if table is not None:
        return small.placed(input.reshape(-1), table.index.reshape(-1), table, shape)
    columns = np.reshape(input, (input.shape[0], channels, *kernel, *count))
    reach = extent(kernel, stride, dilation, count)
    whole = tuple(max(r, p + n) for r, p, n in zip(reach, padding, size, strict=True))
    out = np.zeros((input.shape[0], channels, *whole), input.dtype)
    for offset in offsets(kernel):
        out[at(offset, stride, dilation, count)] += columns[(slice(None), slice(None), *offset)]
    return np.ascontiguousarray(cropped(out, padding, size))


def _two(op: str, name: str, value: Any) -> tuple[int, ...]:
    values = ints(op, name, value)
    values = values * 2 if len(values) == 1 else values
    if len(values) != 2:
        raise RuntimeError(f"{op}(): It is expected {name} equals to 2, but got size {len(values)}")
    return values


def _geometry(op: str, size: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    found = []
    given = (("kernel_size", kernel_size), ("stride", stride), ("padding", padding), ("dilation", dilation))
    for name, value in given:
        least = int(name != "padding")
        values = _two(op, name, value)
        if min(values) < least:
            words = "greater than zero" if least else "non-negative"
            prefix = name.split("_")[0]
            label = "kernel size" if prefix == "kernel" else prefix
            prefix = "pad" if prefix == "padding" else prefix
            raise RuntimeError(
                f"{op}(): {label} should be {words}, but got {prefix}_height: {values[0]} {prefix}_width: {values[1]}"
            )
        found.append(values)
    kernel, steps, pads, spread = found
    count = tuple(
        (n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in zip(size, kernel, steps, pads, spread, strict=True)
    )
    return kernel, steps, pads, spread, count


def unfold(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """The windows of images as columns.

    Args:
        input: shape (batch, channels, height, width), or without batch.

    Returns:
        shape (batch, channels * kernel elements, windows).

    Raises:
        RuntimeError: for windows that do not fit, and an input of other dimensions.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.unfold(torch.arange(4.0).view(1, 2, 2), 2)
        tensor([[0.],
                [1.],
                [2.],
                [3.]])
    """
    check_tensor("im2col", input=input)
    refuse("im2col_out_cpu", input._spec.dtype, "lui")
    shape = input._shape
    if input.ndim == 2:
        raise dim_out_of_range(2, 2)
    if input.ndim not in (3, 4) or not all(shape[-3:]):
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, "
            f"but got: {list(shape)}"
        )
    geometry = _geometry("unfold", shape[-2:], kernel_size, dilation, padding, stride)
    if min(geometry[4]) < 1:
        raise RuntimeError(
            f"Given input with spatial size {tuple(shape[-2:])}, kernel_size={geometry[0]}, dilation={geometry[3]}, "
            f"padding={geometry[2]}, calculated shape of the array of sliding blocks as "
            f"{geometry[4]}, but its components must be at least one."
        )
    if input.ndim == 3:
        return late.squeeze(_im2col(late.unsqueeze(input, 0), geometry), 0)
    return _im2col(input, geometry)


def fold(
    input: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Any:
    """Columns added back to images: the adjoint of `unfold`.

    Args:
        input: shape (batch, channels * kernel elements, windows), or without batch.
        output_size: height and width.

    Returns:
        shape (batch, channels, height, width).

    Raises:
        RuntimeError: if the columns are not those of such images.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.fold(torch.ones(4, 2), (2, 3), 2)
        tensor([[[1., 2., 1.],
                 [1., 2., 1.]]])
    """
    check_tensor("col2im", input=input)
    refuse("col2im_out_cpu", input._spec.dtype, "lui")
    size = _two("fold", "output_size", output_size)
    geometry = _geometry("fold", size, kernel_size, dilation, padding, stride)
    shape = input._shape
    if input.ndim not in (2, 3) or not all(shape[-2:]):
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for "
            f"input, but got: {list(shape)}"
        )
    kernel, stride, padding, dilation, count = geometry
    given = f"output_size={size}, kernel_size={kernel}, dilation={dilation}, padding={padding}, stride={stride}"
    if shape[-2] % prod(kernel):
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
            f"input.size(1)={shape[-2]} and kernel_size={kernel}."
        )
    if min(count) < 1:
        raise RuntimeError(
            f"Given {given}, calculated shape of the array of sliding blocks as {count}, which is too small"
        )
    if shape[-1] != prod(count):
        raise RuntimeError(
            f"Given {given}, expected size of input's dimension 2 to match the calculated number of sliding blocks "
            f"{count[0]} * {count[1]} = {prod(count)}, but got input.size(2)={shape[-1]}."
        )
    if min(size) < 1:
        raise RuntimeError(f"Expected output spatial size to be positive, but got: output_size={size}.")
    if input.ndim == 2:
        return late.squeeze(_col2im(late.unsqueeze(input, 0), size, geometry), 0)
    return _col2im(input, size, geometry)


# -- channels and pixels change places --


@linear(
    input=lambda g, factor: _shuffled_back(g, factor),
    data_movement=True,
    node="PixelShuffleBackward0",
    saved_as="upscale_factor=factor",
)
def _shuffled(input: Array, factor: int) -> Any:
    """(..., channels * factor², height, width) as (..., channels, height * factor, width * factor)."""
    *lead, channels, height, width = input.shape
    parts = np.reshape(input, (*lead, channels // factor**2, factor, factor, height, width))
    n = len(lead)
    moved = np.transpose(parts, (*range(n + 1), n + 3, n + 1, n + 4, n + 2))
    size = (*lead, channels // factor**2, height * factor, width * factor)
    return channels_as_in(np.array(moved, order="C").reshape(size), input)


@linear(
    input=lambda g, factor: _shuffled(g, factor),
    data_movement=True,
    node="PixelUnshuffleBackward0",
    saved_as="downscale_factor=factor",
)
def _shuffled_back(input: Array, factor: int) -> Any:
    """The inverse of `_shuffled`."""
    *lead, channels, height, width = input.shape
    parts = np.reshape(input, (*lead, channels, height // factor, factor, width // factor, factor))
    n = len(lead)
    moved = np.transpose(parts, (*range(n + 1), n + 2, n + 4, n + 1, n + 3))
    size = (*lead, channels * factor**2, height // factor, width // factor)
    return channels_as_in(np.array(moved, order="C").reshape(size), input)


def _check_factor(op: str, input: Any, name: str, factor: Any) -> None:
    check_tensor(op, input=input)
    if not is_int(factor):
        raise wrong_type(op, name, factor, "int")
    if input.ndim < 3:
        raise RuntimeError(
            f"{op} expects input to have at least 3 dimensions, but got input with {input.ndim} dimension(s)"
        )
    if factor <= 0:
        raise RuntimeError(f"{op} expects a positive {name}, but got {factor}")


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Any:
    """Images `upscale_factor` times as high and wide, of that many squared fewer channels (arXiv 1609.05158).

    Args:
        input: shape (..., channels * upscale_factor ** 2, height, width).
        upscale_factor: how many times as high and wide the result is.

    Raises:
        RuntimeError: if the channels cannot be divided so, for fewer than three dimensions, or a factor that is not
            positive.

    Example::

        >>> import gradpack as torch
        >>> torch.pixel_shuffle(torch.tensor([[[1]], [[2]], [[3]], [[4]]]), 2)
        tensor([[[1, 2],
                 [3, 4]]])
        >>> torch.pixel_shuffle(torch.ones(1, 8, 2, 3), 2).shape
        gradpack.Size([1, 2, 4, 6])
    """
    _check_factor("pixel_shuffle", input, "upscale_factor", upscale_factor)
    if input._shape[-3] % upscale_factor**2:
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, "
            f"but input.size(-3)={input._shape[-3]} is not divisible by {upscale_factor**2}"
        )
    return _shuffled(input, upscale_factor)


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Any:
    """The inverse of `pixel_shuffle`: images of fewer pixels and more channels.

    Args:
        input: shape (..., channels, height * downscale_factor, width * downscale_factor).
        downscale_factor: by how much to divide height and width.

    Raises:
        RuntimeError: if height or width cannot be divided so, for fewer than three dimensions, or a factor that is not
            positive.

    Example::

        >>> import gradpack as torch
        >>> torch.pixel_unshuffle(torch.ones(1, 2, 4, 6), 2).shape
        gradpack.Size([1, 8, 2, 3])
    """
    _check_factor("pixel_unshuffle", input, "downscale_factor", downscale_factor)
    for name, n, place in (("height", input._shape[-2], -2), ("width", input._shape[-1], -1)):
        if n % downscale_factor:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but input.size({place})={n} is "
                f"not divisible by {downscale_factor}"
            )
    return _shuffled_back(input, downscale_factor)


@linear(
    input=lambda g, groups: _channels_shuffled(g, g.shape[1] // groups if g.shape[1] else 1),
    data_movement=True,
    node="NativeChannelShuffleBackward0",
)
def _channels_shuffled(input: Array, groups: int) -> Any:
    """The first channel of each group, then the second of each, and so on."""
    batch, channels, *space = input.shape
    parts = np.reshape(input, (batch, groups, channels // groups, *space))
    return channels_as_in(np.array(np.swapaxes(parts, 1, 2), order="C").reshape(input.shape), input)


def channel_shuffle(input: Tensor, groups: int) -> Any:
    """The first channel of each of `groups` groups, then the second of each, and so on.

    Raises:
        RuntimeError: if the channels cannot be divided so.

    Example::

        >>> import gradpack as torch
        >>> torch.channel_shuffle(torch.arange(4).view(1, 4, 1), 2).flatten()
        tensor([0, 2, 1, 3])
    """
    check_tensor("channel_shuffle", input=input)
    if input.ndim < 3:
        raise RuntimeError(
            f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(input._shape)}"
        )
    if groups <= 0:
        raise RuntimeError(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    if input._shape[1] % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {input._shape[1]} channels and {groups} groups."
        )
    return _channels_shuffled(input, groups)


native_channel_shuffle = channel_shuffle
