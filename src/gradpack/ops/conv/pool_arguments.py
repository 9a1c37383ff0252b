"""Argument checks of pooling, with torch's error messages."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ...base.errors import dim_out_of_range
from ...core.tensor import Tensor
from .spatial import as_int, check_tensor, is_int, repeated, wrong_type

Sizes = tuple[int, ...]

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
    steps = (
        kernel
        if stride is None or (isinstance(stride, list | tuple) and not stride)
        else repeated(op, "stride", stride, ndim)
    )
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
    for name, values, prefix in (
        ("kernel size", kernel, "k"),
        ("stride", steps, "d"),
        ("dilation", spread, "dilation"),
    ):
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
    given = output_size
    if isinstance(output_size, Tensor) or is_int(output_size):
        output_size = (as_int(op, "output_size", output_size),) * ndim
    elif output_size is None and ndim > 1:
        output_size = (output_size,) * ndim
    if not isinstance(output_size, list | tuple):
        raise wrong_type(op, "output_size", output_size, "tuple of ints")
    if ndim > 1 and given is output_size and input.ndim <= len(output_size):
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
    if len(output_size) == 1 and "max" in op:
        output_size = tuple(output_size) * ndim
    if len(output_size) != ndim:
        raise RuntimeError(
            f"{op}{'(): internal error: output_size.size()' if 'max' in op else ': output_size'} must be {ndim}"
            if ndim > 1
            else f"{op}() argument 'output_size' should contain one int (got {len(output_size)})"
        )
    if not all(n is None or is_int(n) or isinstance(n, Tensor) for n in output_size):
        raise wrong_type(op, "output_size", next(n for n in output_size if n is not None and not is_int(n)), "int")
    shape = input._shape
    if input.ndim not in (ndim + 1, ndim + 2):
        raise RuntimeError(f"{op}(): Expected {ndim + 1}D or {ndim + 2}D tensor, but got {list(shape)}")
    size = shape[input.ndim - ndim :]
    if not all(size) or ("max" in op and not shape[-ndim - 1]):
        raise RuntimeError(
            f"{op}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes {list(shape)}"
        )
    wanted = tuple(n if m is None else int(m) for n, m in zip(size, output_size, strict=True))
    if min(wanted) < 0:
        if "max" in op:
            made = [*shape[: input.ndim - ndim], *(1,) * (ndim == 1), *wanted]
            raise RuntimeError(f"Trying to create tensor with negative dimension {min(wanted)}: {made}")
        given = "{" + ", ".join(map(str, wanted)) + "}"
        raise RuntimeError(f"{op}: elements of output_size must be greater than or equal to 0 but received {given}")
    return wanted
