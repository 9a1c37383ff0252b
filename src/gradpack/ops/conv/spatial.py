"""Argument checks of convolution and pooling, and those shared with resampling, with torch's error messages."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ...base.dtypes import BOOL, FLOATING
from ...base.errors import cpp_name, dim_out_of_range, not_implemented_for, scalar_type, size_too_big
from ...base.modes import MODE
from ...core.tensor import Tensor

Sizes = tuple[int, ...]
_array_type = np.ndarray  # NumPy's own, also where `np` is bound to another library


def is_int(value: Any) -> bool:
    """Return whether a value is accepted as an int: no bool, no float."""
    return type(value) is int or (hasattr(value, "__index__") and not isinstance(value, bool | Tensor))


def wrong_type(op: str, name: str, value: Any, wanted: str) -> TypeError:
    """Return the TypeError that torch raises for an argument of a wrong type."""
    return TypeError(f"{op}(): argument '{name}' must be {wanted}, not {type(value).__name__}")


def as_int(op: str, name: str, value: Any) -> int:
    """One int; a tensor of one integer is taken as that.

    Raises:
        TypeError: for anything else.
        ValueError: for a number of more than 64 bits.
    """
    if not is_int(value) and not (isinstance(value, Tensor) and _is_one(value)):
        raise wrong_type(op, name, value, "int")
    number = int(value)
    if not -(1 << 63) <= number < 1 << 63:
        raise ValueError(f"Overflow when unpacking long long: {op}(): argument '{name}' is {number}")
    return number


def ints(op: str, name: str, value: Any) -> Sizes:
    """One int, or several, as a tuple; tensors of one integer are taken as ints.

    Raises:
        TypeError: for anything else, and for a sequence with a number of more than 64 bits.
        ValueError: for one such number alone.
    """
    if is_int(value) or (isinstance(value, Tensor) and _is_one(value)):
        return (as_int(op, name, value),)
    if not isinstance(value, list | tuple) or not all(is_int(v) or isinstance(v, Tensor) for v in value):
        raise wrong_type(op, name, value, "tuple of ints")
    found = tuple(int(v) for v in value)
    for at, number in enumerate(found):
        if not -(1 << 63) <= number < 1 << 63:
            raise size_too_big(op, name, at, number)
    return found


def _is_one(value: Tensor) -> bool:
    return value.numel() == 1 and value._spec.dtype.category < FLOATING


def repeated(op: str, name: str, value: Any, ndim: int, convolution: bool = False) -> Sizes:
    """One int for each of `ndim` dimensions; the error for another number is that of convolutions, or of pooling.

    Raises:
        TypeError: for anything but an int or a sequence of ints.
        RuntimeError: for another number of them.
    """
    if type(value) is int and -LARGE < value < LARGE:
        return (value,) * ndim
    if type(value) is tuple and len(value) == ndim and not [v for v in value if type(v) is not int or abs(v) >= LARGE]:
        return value
    found = ints(op, name, value)
    if len(found) == 1:
        return found * ndim
    if len(found) != ndim and convolution:
        raise RuntimeError(
            f"expected {name} to be a single integer value or a list of {ndim} values to match the convolution "
            f"dimensions, but got {name}={list(found)}"
        )
    if len(found) != ndim:
        words = "a single int" if ndim == 1 else f"either be a single int, or a tuple of {_WORDS[ndim]} ints"
        raise RuntimeError(f"{op}: {name} must {'be ' if ndim == 1 else ''}{words}")
    return found


LARGE = 1 << 62  # smaller ints need no closer look
_WORDS = {2: "two", 3: "three"}


def check_tensor(op: str, **operands: Any) -> None:
    """Raise a TypeError for the first operand that is no Tensor."""
    for nr, (name, value) in enumerate(operands.items()):
        if not isinstance(value, Tensor):
            raise TypeError(f"{op}(): argument '{name}' (position {nr + 1}) must be Tensor, not {type(value).__name__}")


def is_tracked(input: Tensor) -> bool:
    """Return whether autograd, forward mode or a `vmap` level tracks operations on a tensor."""
    mode = MODE.get()
    return bool((mode.grad and input.requires_grad) or mode.forward or mode.levels)


def is_untracked(input: Tensor) -> bool:
    """Return whether nothing tracks operations on a tensor, which is a row-major array of NumPy's."""
    return not is_tracked(input) and type(input._data) is _array_type and input._data.flags.c_contiguous


def as_tuple(value: Any, count: int) -> Any:
    """A number for each of `count` dimensions; several numbers as a tuple, as they are."""
    return tuple(value) if isinstance(value, list | tuple) else (value,) * count


# -- convolutions --


def check_operands(op: str, input: Any, weight: Any, bias: Any) -> None:
    for nr, (name, value) in enumerate((("input", input), ("weight", weight), ("bias", bias))):
        if not isinstance(value, Tensor) and not (nr == 2 and value is None):
            raise TypeError(
                f"{op}() received an invalid combination of arguments: {name} (position {nr + 1}) must be a Tensor, "
                f"not {type(value).__name__}"
            )
    if input._spec.dtype.category == BOOL:
        raise not_implemented_for(f"slow_{op}_cpu", input._spec.dtype)
    if input._spec.dtype is not weight._spec.dtype:
        names = [scalar_type(t._spec.dtype) for t in (input, weight)]
        raise RuntimeError(
            f"Input type (torch.{names[0]}Tensor) and weight type (torch.{names[1]}Tensor) should be the same or input "
            f"should be a MKLDNN tensor and weight is a dense tensor: {op}() expected scalar type {names[0]} but found "
            f"{names[1]}"
        )
    if bias is not None and bias._spec.dtype is not input._spec.dtype:
        names = [cpp_name(t._spec.dtype) for t in (input, bias)]
        raise RuntimeError(f"Input type ({names[0]}) and bias type ({names[1]}) should be the same")


@lru_cache(1024)
def check_shapes(
    shape: Sizes, w: Sizes, of_bias: Sizes | None, stride: Sizes, padding: Sizes, dilation: Sizes, transposed: bool,
    output_padding: Sizes, groups: int,
) -> None:  # fmt: skip
    """Raise torch's errors for shapes that cannot be convolved."""
    _check_numbers(stride, padding, dilation, output_padding, groups)
    _check_channels(shape, w, of_bias, transposed, groups)
    if shape[0] and shape[1] and not all(shape[2:]):
        raise RuntimeError(f"Only zero batch or zero channel inputs are supported, but got input shape: {list(shape)}")
    if transposed:
        _check_output_padding(stride, dilation, output_padding)
        made = [
            (n - 1) * s - 2 * p + d * (k - 1) + o + 1
            for n, k, s, p, d, o in zip(shape[2:], w[2:], stride, padding, dilation, output_padding, strict=True)
        ]
        if min(made) <= 0:
            raise RuntimeError(
                f"Given input size per channel: {list(shape[2:])}. Calculated output size per channel: {made}. Output "
                "size is too small"
            )
        return
    whole = [n + 2 * p for n, p in zip(shape[2:], padding, strict=True)]
    reach = [d * (k - 1) + 1 for k, d in zip(w[2:], dilation, strict=True)]
    if any(r > n for r, n in zip(reach, whole, strict=True)):
        sizes = [" x ".join(map(str, x)) for x in (whole, reach)]
        raise RuntimeError(
            f"Calculated padded input size per channel: ({sizes[0]}). Kernel size: ({sizes[1]}). Kernel size can't be "
            "greater than actual input size"
        )


def _check_numbers(stride: Sizes, padding: Sizes, dilation: Sizes, output_padding: Sizes, groups: int) -> None:
    if min(padding, default=1) < 0:
        raise RuntimeError(f"negative padding is not supported, but got {list(padding)}")
    if min(stride, default=1) < 1:
        raise RuntimeError(f"non-positive stride is not supported, but got {list(stride)}")
    if (least := min(dilation, default=1)) < 1:
        what = "dilation should be greater than zero" if least < 0 else "non-positive dilation is not supported"
        raise RuntimeError(f"{what}, but got {list(dilation)}")
    if min(output_padding, default=1) < 0:
        raise RuntimeError(f"negative output_padding is not supported, but got {list(output_padding)}")
    if groups <= 0:
        raise RuntimeError(f"non-positive groups is not supported, but got {groups}")


def _check_channels(shape: Sizes, w: Sizes, of_bias: Sizes | None, transposed: bool, groups: int) -> None:
    given, kind = list(w), f"transposed={int(transposed)}" if transposed else f"groups={groups}"
    if w[0] < groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight of size "
            f"{given} instead"
        )
    if w[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of "
            f"size [{given}] instead"
        )
    channels, outs = (w[0], w[1] * groups) if transposed else (w[1] * groups, w[0])
    if shape[1] != channels:
        raise RuntimeError(
            f"Given {kind}, weight of size {given}, expected input{list(shape)} to have {channels} channels, but got "
            f"{shape[1]} channels instead"
        )
    if of_bias is not None and of_bias != (outs,):
        raise RuntimeError(
            f"Given {'transposed=1, ' if transposed else ''}weight of size {given}, expected bias to be 1-dimensional "
            f"with {outs} elements, but got bias of size {list(of_bias)} instead"
        )
    if not all(w[2:]):
        raise RuntimeError(f"Given weight of size {given}, expected a kernel of at least one element")


def _check_output_padding(stride: Sizes, dilation: Sizes, output_padding: Sizes) -> None:
    if all(o < s or o < d for o, s, d in zip(output_padding, stride, dilation, strict=True)):
        return
    sides = ("depth", "height", "width")[3 - len(stride) :] if len(stride) <= 3 else ()
    named = (("output_padding", output_padding), ("stride", stride), ("dilation", dilation))
    raise RuntimeError(
        "output padding must be smaller than either stride or dilation, but got "
        + " ".join(f"{name}_{side}: {v}" for name, values in named for side, v in zip(sides, values, strict=False))
    )


# -- pooling --

_AXES = {1: ("W",), 2: ("H", "W"), 3: ("T", "H", "W")}


def _named(prefix: str, values: Any) -> str:
    return " ".join(f"{prefix}{a}: {v}" for a, v in zip(_AXES[len(values)], values, strict=True))


def _check_space(op: str, ndim: int, shape: Sizes) -> None:
    """Raise unless the input is (batch, channels, *space) or unbatched, and no dimension but the batch is empty."""
    if op == "avg_pool2d" and len(shape) < 3:
        raise dim_out_of_range(-ndim - 1, len(shape))
    if len(shape) not in (ndim + 1, ndim + 2) and ndim == 3:
        raise RuntimeError("non-empty 4D or 5D (batch mode) tensor expected for input")
    empty = not all(shape[len(shape) == ndim + 2 :])
    if ndim == 3 and empty:
        kernel = "max_pool3d_with_indices_out_cpu_template" if op == "max_pool3d" else op
        raise RuntimeError(
            f"{kernel}(): Expected input's non-batch dimensions to have positive length, but input has a shape of "
            f"{list(shape)} and non-batch dimension 0 has length zero!"
        )
    if len(shape) not in (ndim + 1, ndim + 2) and op == "max_pool2d":
        raise RuntimeError("non-empty 3D or 4D (batch mode) tensor expected for input")
    if len(shape) not in (ndim + 1, ndim + 2) or empty:
        raise RuntimeError(
            f"{op}: Expected {ndim + 1}D or {ndim + 2}D (batch mode) tensor with optional 0 dim batch size for "
            f"input, but got:{list(shape)}"
        )


def pool_geometry(
    op: str, ndim: int, input: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: Any
) -> tuple[Sizes, ...]:
    """(kernel, stride, padding, dilation, count), checked.

    Raises:
        RuntimeError: for windows that do not fit, and for an input of other dimensions.
        TypeError: for arguments of other types.
    """
    check_tensor(op, input=input)
    if type(kernel_size) is int and type(padding) is int and dilation == 1 and type(ceil_mode) is bool:
        # the usual form, whose answer is the same every time
        if dilation is not True and (stride is None or type(stride) is int):
            return _usual_geometry(op, ndim, input._shape, kernel_size, stride, padding, ceil_mode)
    kernel = repeated(op, "kernel_size", kernel_size, ndim)
    given = stride is not None and not (isinstance(stride, list | tuple) and not stride)
    steps = repeated(op, "stride", stride, ndim) if given else kernel
    pads = repeated(op, "padding", padding, ndim)
    spread = repeated(op, "dilation", dilation, ndim)
    if not isinstance(ceil_mode, bool):
        raise wrong_type(op, "ceil_mode", ceil_mode, "bool")
    return _geometry(op, ndim, input._shape, kernel, steps, pads, spread, ceil_mode)


@lru_cache(1024)
def _usual_geometry(
    op: str, ndim: int, shape: Sizes, kernel: int, stride: int | None, padding: int, ceil_mode: bool
) -> tuple[Sizes, ...]:
    steps = kernel if stride is None else stride
    given = ("kernel_size", kernel), ("stride", steps), ("padding", padding), ("dilation", 1)
    many = [repeated(op, name, n, ndim) for name, n in given]
    return _geometry(op, ndim, shape, many[0], many[1], many[2], many[3], ceil_mode)


@lru_cache(1024)
def _geometry(
    op: str, ndim: int, shape: Sizes, kernel: Sizes, steps: Sizes, pads: Sizes, spread: Sizes, ceil_mode: bool
) -> tuple[Sizes, ...]:
    if op == "max_pool1d":
        _check_one(kernel[0], steps[0], pads[0], spread[0])
    if 0 in steps:
        raise RuntimeError(f"{op}(): stride should not be zero")
    positive = (("kernel size", kernel, "k"), ("stride", steps, "d"), ("dilation", spread, "dilation"))
    for name, values, prefix in positive:
        if min(values) <= 0:
            raise RuntimeError(f"{op}(): {name} should be greater than zero, but got {_named(prefix, values)}")
    if min(pads) < 0:
        raise RuntimeError(f"pad must be non-negative, but got pad: {min(pads)} in {op}()")
    for k, p, d in zip(kernel, pads, spread, strict=True):
        if p > ((k - 1) * d + 1) // 2:
            raise RuntimeError(
                f"pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} and "
                f"dilation={d} in {op}()"
            )
    _check_space(op, ndim, shape)
    size = shape[len(shape) - ndim :]
    count = tuple(
        _places(n, k, s, p, d, ceil_mode) for n, k, s, p, d in zip(size, kernel, steps, pads, spread, strict=True)
    )
    if min(count) < 1:
        channels = shape[len(shape) - ndim - 1]
        sizes = ["x".join(map(str, (channels, *s))) for s in (size, count)]
        if op == "max_pool1d":
            raise RuntimeError(
                f"max_pool1d() Invalid computed output size: {count[0]}: the input of {size[0]} is smaller than "
                "the window"
            )
        raise RuntimeError(
            f"{op}(): Given input size: ({sizes[0]}). Calculated output size: ({sizes[1]}). Output size is too small"
        )
    return kernel, steps, pads, spread, count


def _check_one(kernel: int, stride: int, padding: int, dilation: int) -> None:
    """Raise RuntimeError for invalid windows, with the messages of `max_pool1d` without indices."""
    for name, value in (("kernel_size", kernel), ("stride", stride), ("dilation", dilation)):
        if value <= 0:
            raise RuntimeError(f"max_pool1d() {name} must be greater than zero, but got {value}")
    if padding < 0:
        raise RuntimeError(f"max_pool1d() padding must be non-negative, but got {padding}")
    if padding > kernel // 2:
        raise RuntimeError(
            f"max_pool1d() padding should be at most half of kernel size, but got padding={padding} and "
            f"kernel_size={kernel}"
        )


def _places(size: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool) -> int:
    """How many windows there are; with `ceil_mode`, one more that begins inside and ends outside."""
    room = size + 2 * padding - dilation * (kernel - 1) - 1
    count = (room + (stride - 1 if ceil_mode else 0)) // stride + 1
    if ceil_mode and (count - 1) * stride >= size + padding:
        count -= 1
    return count


def adaptive_size(op: str, ndim: int, input: Any, output_size: Any) -> Sizes:
    """Return the output size, with None replaced by the size of the input."""
    check_tensor(op, input=input)
    if type(output_size) is int or (type(output_size) is tuple and {*map(type, output_size)} == {int}):
        return _usual_adaptive_size(op, ndim, input._shape, output_size)
    return _adaptive_size(op, ndim, input._shape, output_size)


@lru_cache(1024)
def _usual_adaptive_size(op: str, ndim: int, shape: Sizes, output_size: Any) -> Sizes:
    return _adaptive_size(op, ndim, shape, output_size)


def _adaptive_size(op: str, ndim: int, shape: Sizes, output_size: Any) -> Sizes:
    given = output_size
    if isinstance(output_size, Tensor) or is_int(output_size):
        output_size = (as_int(op, "output_size", output_size),) * ndim
    if not isinstance(output_size, list | tuple):
        raise wrong_type(op, "output_size", output_size, "tuple of ints")
    if ndim > 1 and given is output_size and len(shape) <= len(output_size):
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
    if len(output_size) != ndim:
        raise RuntimeError(
            f"{op}{'(): internal error: output_size.size()' if 'max' in op else ': output_size'} must be {ndim}"
            if ndim > 1
            else f"{op}() argument 'output_size' should contain one int (got {len(output_size)})"
        )
    if not all(n is None or is_int(n) or isinstance(n, Tensor) for n in output_size):
        raise wrong_type(op, "output_size", next(n for n in output_size if n is not None and not is_int(n)), "int")
    one = "avg" in op and all(n == 1 for n in output_size)
    if one and ndim > 1:
        return (1,) * ndim  # the mean, of any shape
    if len(shape) not in (ndim + 1, ndim + 2):
        raise RuntimeError(f"{op}(): Expected {ndim + 1}D or {ndim + 2}D tensor, but got {list(shape)}")
    size = shape[len(shape) - ndim :]
    if not (all(size) or one) or not (all(shape[1:]) or op in ("adaptive_avg_pool1d", "adaptive_avg_pool2d")):
        raise RuntimeError(
            f"{op}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes {list(shape)}"
        )
    wanted = tuple(n if m is None else int(m) for n, m in zip(size, output_size, strict=True))
    if min(wanted) < 0:
        if "max" in op:
            made = [*shape[: len(shape) - ndim], *(1,) * (ndim == 1), *wanted]
            raise RuntimeError(f"Trying to create tensor with negative dimension {min(wanted)}: {made}")
        given = "{" + ", ".join(map(str, wanted)) + "}"
        raise RuntimeError(f"{op}: elements of output_size must be greater than or equal to 0 but received {given}")
    return wanted
