"""Convolutions, and transposed ones, in one, two and three dimensions."""

from __future__ import annotations

from typing import Any

from ...base.errors import refuse
from ...core.tensor import Tensor
from ..nn.padding import named_padding
from ..shape.shape import squeeze, unsqueeze
from ..shape.transpose import permute
from .products import _convolution
from .spatial import as_int, check_operands, check_shapes, repeated

FUNCTIONS = "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d convolution conv_tbc"


def convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> Tensor:
    """A convolution in as many dimensions as `weight` has beyond two, or the transposed one.

    Args:
        input: shape (batch, channels, *space).
        weight: shape (out channels, channels / groups, *kernel); transposed (channels, out channels / groups, *kernel).
        bias: shape (out channels), or None.
        stride, padding, dilation, output_padding: one int for all dimensions, or one for each.
        transposed: do the transposed convolution, which is the gradient of a convolution by its input.
        groups: the number of groups of channels that do not mix.

    Raises:
        RuntimeError: if the shapes do not fit, or the dtypes differ.

    Example::

        >>> import gradpack as torch
        >>> x, w = torch.ones(1, 1, 4), torch.ones(1, 1, 3)
        >>> torch.convolution(x, w, None, 1, 0, 1, False, 0, 1)
        tensor([[[3., 3.]]])
    """
    check_operands("convolution", input, weight, bias)
    ndim = weight.ndim - 2
    if ndim <= 0:
        raise RuntimeError("weight should have at least three dimensions")
    if input.ndim != weight.ndim:
        raise RuntimeError(
            f"Expected {weight.ndim}-dimensional input for {weight.ndim}-dimensional weight {list(weight._shape)}, but "
            f"got {input.ndim}-dimensional input of size {list(input._shape)} instead"
        )
    given = (("stride", stride), ("padding", padding), ("dilation", dilation), ("output_padding", output_padding))
    stride, padding, dilation, extra = (repeated("convolution", name, value, ndim, True) for name, value in given)
    of_bias = None if bias is None else bias._shape
    check_shapes(input._shape, weight._shape, of_bias, stride, padding, dilation, transposed, extra, groups)
    if transposed:
        refuse(f"slow_conv_transpose{max(ndim, 2)}d_out_cpu", input._spec.dtype, "ui")
    result: Tensor = _convolution(input, weight, bias, stride, padding, dilation, transposed, extra, groups)
    return result


def _convolve(op: str, ndim: int, input: Any, weight: Any, bias: Any, geometry: tuple[Any, ...], groups: Any) -> Any:
    """Convolve with a stride, padding and dilation; with an output padding as well, transposed."""
    stride, padding, dilation = geometry[:3]
    transposed = len(geometry) == 4
    check_operands(op, input, weight, bias)
    groups = as_int(op, "groups", groups)
    stride, dilation = repeated(op, "stride", stride, ndim, True), repeated(op, "dilation", dilation, ndim, True)
    alone = input.ndim == ndim + 1
    if not alone and input.ndim != ndim + 2:
        raise RuntimeError(
            f"Expected {ndim + 1}D (unbatched) or {ndim + 2}D (batched) input to {op}, but got input of size: "
            f"{list(input._shape)}"
        )
    if weight.ndim < 3:
        raise RuntimeError("weight should have at least three dimensions")
    if weight.ndim != ndim + 2:
        if isinstance(padding, str):
            raise RuntimeError(
                f"Expected {weight.ndim}-dimensional input for {weight.ndim}-dimensional weight{list(weight._shape)}, "
                f"but got {ndim + 2}-dimensional input of size {list(input._shape)} instead"
            )
        wanted = max(weight.ndim - 2, 0)
        raise RuntimeError(
            f"expected stride to be a single integer value or a list of {wanted} values to match the convolution "
            f"dimensions, but got stride={list(stride)}: {op}() takes a weight of {ndim + 2} dimensions"
        )
    if alone:
        input = unsqueeze(input, 0)
    if isinstance(padding, str):
        input, padding = named_padding(padding, input, weight, stride, dilation)
    else:
        padding = repeated(op, "padding", padding, ndim, True)
    more = repeated(op, "output_padding", geometry[3], ndim, True) if transposed else (0,) * ndim
    of_bias = None if bias is None else bias._shape
    check_shapes(input._shape, weight._shape, of_bias, stride, padding, dilation, transposed, more, groups)
    if transposed:
        refuse(f"slow_conv_transpose{max(ndim, 2)}d_out_cpu", input._spec.dtype, "ui")
    out = _convolution(input, weight, bias, stride, padding, dilation, transposed, more, groups)
    return squeeze(out, 0) if alone else out


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """Slide a kernel along one dimension of signals with channels: a convolution, as networks have it.

    At each place the elements of a window are multiplied by those of the kernel and summed over all channels of the
    group. The kernel is not turned around, as it would be in signal processing: this is the cross-correlation.

    Args:
        input: shape (batch, channels, length), or without batch.
        weight: shape (out channels, channels / groups, kernel).
        bias: shape (out channels), or None.
        stride: the step between windows: an int.
        padding: zeros on both sides: an int; "same" for as many as keep the size, with a stride of 1, and "valid" for
            none.
        dilation: the distance between elements of a window: an int.
        groups: the channels are divided into so many groups, each convolved by itself.

    Returns:
        Shape (batch, out channels, length), where each size has become `floor((size + 2 * padding - dilation * (kernel
            - 1) - 1) / stride + 1)`.

    Raises:
        RuntimeError: if the shapes do not fit, or the dtypes differ.

    Example::

        >>> import gradpack as torch
        >>> torch.conv1d(torch.arange(4.0).view(1, 1, 4), torch.ones(1, 1, 2))
        tensor([[[1., 3., 5.]]])
    """
    return _convolve("conv1d", 1, input, weight, bias, (stride, padding, dilation), groups)


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """Slide a kernel along height and width of signals with channels: a convolution, as networks have it.

    At each place the elements of a window are multiplied by those of the kernel and summed over all channels of the
    group. The kernel is not turned around, as it would be in signal processing: this is the cross-correlation.

    Args:
        input: shape (batch, channels, height, width), or without batch.
        weight: shape (out channels, channels / groups, kernel height, kernel width).
        bias: shape (out channels), or None.
        stride: the step between windows: an int, or one for each of height and width.
        padding: zeros on both sides: an int, or one for each of height and width; "same" for as many as keep the size,
            with a stride of 1, and "valid" for none.
        dilation: the distance between elements of a window: an int, or one for each of height and width.
        groups: the channels are divided into so many groups, each convolved by itself.

    Returns:
        Shape (batch, out channels, height, width), where each size has become `floor((size + 2 * padding - dilation *
            (kernel - 1) - 1) / stride + 1)`.

    Raises:
        RuntimeError: if the shapes do not fit, or the dtypes differ.

    Example::

        >>> import gradpack as torch
        >>> image = torch.tensor([[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]])
        >>> edges = torch.tensor([[[[1.0, -1.0]]]])  # the difference of neighbours
        >>> torch.nn.functional.conv2d(image, edges)
        tensor([[[[-1., -1.],
                  [-1., -1.],
                  [-1., -1.]]]])
        >>> torch.nn.functional.conv2d(torch.ones(8, 3, 32, 32), torch.ones(16, 3, 5, 5), stride=2, padding=2).shape
        gradpack.Size([8, 16, 16, 16])
    """
    return _convolve("conv2d", 2, input, weight, bias, (stride, padding, dilation), groups)


def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """Slide a kernel along depth, height and width of signals with channels: a convolution, as networks have it.

    At each place the elements of a window are multiplied by those of the kernel and summed over all channels of the
    group. The kernel is not turned around, as it would be in signal processing: this is the cross-correlation.

    Args:
        input: shape (batch, channels, depth, height, width), or without batch.
        weight: shape (out channels, channels / groups, kernel depth, kernel height, kernel width).
        bias: shape (out channels), or None.
        stride: the step between windows: an int, or one for each of depth, height and width.
        padding: zeros on both sides: an int, or one for each of depth, height and width; "same" for as many as keep the
            size, with a stride of 1, and "valid" for none.
        dilation: the distance between elements of a window: an int, or one for each of depth, height and width.
        groups: the channels are divided into so many groups, each convolved by itself.

    Returns:
        Shape (batch, out channels, depth, height, width), where each size has become `floor((size + 2 * padding -
            dilation * (kernel - 1) - 1) / stride + 1)`.

    Raises:
        RuntimeError: if the shapes do not fit, or the dtypes differ.

    Example::

        >>> import gradpack as torch
        >>> torch.conv3d(torch.ones(1, 2, 3, 3, 3), torch.ones(4, 2, 2, 2, 2)).shape
        gradpack.Size([1, 4, 2, 2, 2])
    """
    return _convolve("conv3d", 3, input, weight, bias, (stride, padding, dilation), groups)


def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Any:
    """The transposed convolution along one dimension: the gradient of a convolution by its input.

    It spreads each element over a window, and so makes larger images of smaller ones. The inverse of a convolution it
    is not.

    Args:
        input: shape (batch, channels, length), or without batch.
        weight: shape (channels, out channels / groups, kernel).
        bias: shape (out channels), or None.
        stride: the step between windows in the result: an int.
        padding: how much is taken away on both sides of the result: an int.
        output_padding: how much is added on one side of the result, less than stride or dilation: several sizes become
            the same in a convolution with a stride, and this says which one it was.
        groups: the channels are divided into so many groups, each convolved by itself.
        dilation: the distance between elements of a window: an int.

    Returns:
        Shape (batch, out channels, length), where each size has become `(size - 1) * stride - 2 * padding + dilation *
            (kernel - 1) + output_padding + 1`.

    Raises:
        RuntimeError: if the shapes do not fit, or the dtypes differ.

    Example::

        >>> import gradpack as torch
        >>> torch.conv_transpose1d(torch.ones(1, 1, 2), torch.ones(1, 1, 2))
        tensor([[[1., 2., 1.]]])
    """
    return _convolve("conv_transpose1d", 1, input, weight, bias, (stride, padding, dilation, output_padding), groups)


def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Any:
    """The transposed convolution along height and width: the gradient of a convolution by its input.

    It spreads each element over a window, and so makes larger images of smaller ones. The inverse of a convolution it
    is not.

    Args:
        input: shape (batch, channels, height, width), or without batch.
        weight: shape (channels, out channels / groups, kernel height, kernel width).
        bias: shape (out channels), or None.
        stride: the step between windows in the result: an int, or one for each of height and width.
        padding: how much is taken away on both sides of the result: an int, or one for each of height and width.
        output_padding: how much is added on one side of the result, less than stride or dilation: several sizes become
            the same in a convolution with a stride, and this says which one it was.
        groups: the channels are divided into so many groups, each convolved by itself.
        dilation: the distance between elements of a window: an int, or one for each of height and width.

    Returns:
        Shape (batch, out channels, height, width), where each size has become `(size - 1) * stride - 2 * padding +
            dilation * (kernel - 1) + output_padding + 1`.

    Raises:
        RuntimeError: if the shapes do not fit, or the dtypes differ.

    Example::

        >>> import gradpack as torch
        >>> torch.conv_transpose2d(torch.ones(1, 2, 3, 3), torch.ones(2, 4, 2, 2), stride=2).shape
        gradpack.Size([1, 4, 6, 6])
    """
    return _convolve("conv_transpose2d", 2, input, weight, bias, (stride, padding, dilation, output_padding), groups)


def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Any:
    """The transposed convolution along depth, height and width: the gradient of a convolution by its input.

    It spreads each element over a window, and so makes larger images of smaller ones. The inverse of a convolution it
    is not.

    Args:
        input: shape (batch, channels, depth, height, width), or without batch.
        weight: shape (channels, out channels / groups, kernel depth, kernel height, kernel width).
        bias: shape (out channels), or None.
        stride: the step between windows in the result: an int, or one for each of depth, height and width.
        padding: how much is taken away on both sides of the result: an int, or one for each of depth, height and width.
        output_padding: how much is added on one side of the result, less than stride or dilation: several sizes become
            the same in a convolution with a stride, and this says which one it was.
        groups: the channels are divided into so many groups, each convolved by itself.
        dilation: the distance between elements of a window: an int, or one for each of depth, height and width.

    Returns:
        Shape (batch, out channels, depth, height, width), where each size has become `(size - 1) * stride - 2 * padding
            + dilation * (kernel - 1) + output_padding + 1`.

    Raises:
        RuntimeError: if the shapes do not fit, or the dtypes differ.

    Example::

        >>> import gradpack as torch
        >>> torch.conv_transpose3d(torch.ones(1, 2, 2, 2, 2), torch.ones(2, 4, 2, 2, 2)).shape
        gradpack.Size([1, 4, 3, 3, 3])
    """
    return _convolve("conv_transpose3d", 3, input, weight, bias, (stride, padding, dilation, output_padding), groups)


def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Any:
    """A convolution along time of sequences whose first dimension is time.

    Args:
        input: shape (time, batch, channels).
        weight: shape (kernel, channels, out channels).
        bias: shape (out channels).
        pad: the number of zeros before and after the sequence.

    Raises:
        RuntimeError: if the shapes do not fit.

    Example::

        >>> import gradpack as torch
        >>> torch.conv_tbc(torch.ones(4, 2, 3), torch.ones(2, 3, 5), torch.zeros(5)).shape
        gradpack.Size([3, 2, 5])
    """
    check_operands("conv_tbc", input, weight, bias)
    if input.ndim != 3:
        raise RuntimeError("Input must have 3 dims: time, batch, in_channel")
    if weight.ndim != 3:
        raise RuntimeError("Weight tensor must have 3 dims: kernel_width, in_channels, out_channels.")
    if bias.ndim != 1:
        raise RuntimeError("Bias must be 1-D")
    if input._shape[2] != weight._shape[1]:
        raise RuntimeError("Input dim 2 (input channels) is not == dim 1 in the weight tensor")
    if bias._shape[0] != weight._shape[2]:
        raise RuntimeError("Bias size must equal dim 2 in the weight tensor (output channels).")
    out = conv1d(permute(input, (1, 2, 0)), permute(weight, (2, 1, 0)), bias, 1, pad)
    return permute(out, (2, 0, 1))
