"""Convolutions, and transposed ones, in one, two and three dimensions."""

from __future__ import annotations

from typing import Any

from ...base.errors import refuse
from ...core.tensor import Tensor
from ..nn.padding import constant_pad_nd
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
        input, padding = _named_padding(padding, input, weight, stride, dilation)
    else:
        padding = repeated(op, "padding", padding, ndim, True)
    more = repeated(op, "output_padding", geometry[3], ndim, True) if transposed else (0,) * ndim
    of_bias = None if bias is None else bias._shape
    check_shapes(input._shape, weight._shape, of_bias, stride, padding, dilation, transposed, more, groups)
    if transposed:
        refuse(f"slow_conv_transpose{max(ndim, 2)}d_out_cpu", input._spec.dtype, "ui")
    out = _convolution(input, weight, bias, stride, padding, dilation, transposed, more, groups)
    return squeeze(out, 0) if alone else out


def _named_padding(padding: str, input: Tensor, weight: Tensor, stride: Any, dilation: Any) -> tuple[Tensor, Any]:
    """The input and the padding that "same" or "valid" mean; where one side needs more, the input is padded."""
    ndim = len(stride)
    if padding == "valid":
        return input, (0,) * ndim
    if padding != "same":
        raise RuntimeError(f"Invalid padding string: '{padding}'")
    if any(s != 1 for s in stride):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    total = [d * (k - 1) for d, k in zip(dilation, weight._shape[2:], strict=True)]
    odd = [0] * (2 * ndim)
    for i, t in enumerate(total):
        odd[2 * (ndim - 1 - i) + 1] = t % 2
    if any(odd):
        input = constant_pad_nd(input, odd)
    return input, tuple(t // 2 for t in total)


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """A convolution along one dimension.

    Args:
        input: shape (batch, channels, length), or without batch.
        weight: shape (out channels, channels / groups, kernel).
        bias: shape (out channels).
        padding: zeros on both sides; "same" for as many as keep the length, "valid" for none.

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
    """A convolution along two dimensions: `conv1d`, with input (batch, channels, height, width).

    Example::

        >>> import gradpack as torch
        >>> torch.conv2d(torch.ones(1, 1, 3, 3), torch.ones(1, 1, 2, 2), padding="valid")
        tensor([[[[4., 4.],
                  [4., 4.]]]])
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
    """A convolution along three dimensions: `conv1d`, with input (batch, channels, depth, height, width).

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
    """The transposed convolution along one dimension: the gradient of `conv1d` by its input.

    Args:
        input: shape (batch, channels, length), or without batch.
        weight: shape (channels, out channels / groups, kernel).
        bias: shape (out channels).
        padding: taken away from both ends of the result.
        output_padding: added to one end of it.

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
    """The transposed convolution along two dimensions: see `conv_transpose1d`.

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
    """The transposed convolution along three dimensions: see `conv_transpose1d`.

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
