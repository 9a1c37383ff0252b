"""Padding: with a constant, or with elements of the tensor itself."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ...base.dtypes import BOOL
from ...base.errors import not_implemented_for
from ...base.info import number_for
from ...core.tensor import Tensor
from ...declare.annotations import Array, Sizes
from ...declare.decorators import general, linear
from ...kernels.dispatch import accelerated
from ..conv.spatial import check_tensor, is_int
from ..pointwise.blockwise import is_numpy
from ..pointwise.operands import LARGE
from ..reduce.kernels import SMALL
from ..shape.memory_formats import channels_as_in
from .along import Taps, put_back, taken

FUNCTIONS = "constant_pad_nd"


def _pairs(pad: Any, ndim: int) -> list[tuple[int, int]]:
    """How much before and after, for each dimension."""
    found = [(0, 0)] * ndim
    for i in range(len(pad) // 2):
        found[ndim - 1 - i] = (pad[2 * i], pad[2 * i + 1])
    return found


@general(
    input=lambda g, pad: _constant_pad(g, tuple(-p for p in pad), 0),
    jvp=lambda input_t, pad: _constant_pad(input_t, pad, 0),
    data_movement=True,
    name="constant_pad_nd",
    cost="cheap",
)
def _constant_pad(input: Array, pad: Sizes, value: Any = 0) -> Any:
    """`input` with `pad` more elements of one value around it; of negative numbers, fewer."""
    shape, inner, whole = _around(tuple(input.shape), tuple(pad))
    out = np.zeros(shape, input.dtype) if not value else np.full(shape, value, input.dtype)
    out[inner] = input if whole is None else input[whole]
    return channels_as_in(out, input)


@lru_cache(512)
def _around(sizes: tuple[int, ...], pad: tuple[int, ...]) -> tuple[tuple[int, ...], Any, Any]:
    """Return the shape of the padded array, the place in it of what is kept, and what that is (None: everything)."""
    pairs = _pairs(pad, len(sizes))
    shape = tuple(n + b + a for n, (b, a) in zip(sizes, pairs, strict=True))
    inner = tuple(slice(max(b, 0), n + b + min(a, 0)) for n, (b, a) in zip(sizes, pairs, strict=True))
    whole = tuple(slice(max(-b, 0), n + min(a, 0)) for n, (b, a) in zip(sizes, pairs, strict=True))
    return shape, inner, whole if pad and min(pad) < 0 else None


def constant_pad_nd(input: Tensor, pad: Any, value: Any = 0) -> Tensor:
    """The tensor with a constant around it.

    Args:
        pad: pairs (before, after) of numbers of elements, for the last dimension first. Negative ones take elements
            away.
        value: the constant.

    Raises:
        RuntimeError: for an odd number of them, or more pairs than dimensions.

    Example::

        >>> import gradpack as torch
        >>> torch.constant_pad_nd(torch.ones(2), (1, 2))
        tensor([0., 1., 1., 0., 0.])
        >>> torch.constant_pad_nd(torch.ones(1, 2), (-1, 0, 0, 1), 5.0)
        tensor([[1.],
                [5.]])
    """
    check_tensor("constant_pad_nd", input=input)
    return _padded(input, _padding("constant_pad_nd", pad), value)


def _padded(input: Tensor, pad: tuple[int, ...], value: Any) -> Tensor:
    if len(pad) % 2:
        raise RuntimeError(f"Length of pad must be even but instead it equals {len(pad)}")
    if len(pad) > 2 * input.ndim:
        raise RuntimeError(
            f"Length of pad should be no more than twice the number of dimensions of the input. Pad length is "
            f"{len(pad)} while the input has {input.ndim} dimensions."
        )
    for n, (b, a) in zip(input._shape, _pairs(pad, input.ndim), strict=True) if pad and min(pad) < 0 else ():
        cut = n + min(b, 0) + min(a, 0)
        if cut < 0 or max(-b, 0) > n:
            raise RuntimeError(f"narrow(): length must be non-negative. constant_pad_nd() cannot take {b, a} of {n}")
    number = number_for(value, input._spec.dtype) if isinstance(value, int | float | complex) else value
    result: Tensor = _constant_pad(input, pad, number)
    return result


# -- elements of the tensor itself --


@lru_cache(maxsize=512)
def sources(mode: str, size: int, before: int, after: int) -> Taps:
    """Where the elements of a padded dimension come from."""
    place = np.arange(-before, size + after)
    if mode == "replicate":
        index = np.clip(place, 0, size - 1)
    elif mode == "circular":  # what is taken away is gone before the rest goes round
        rest = np.arange(max(-before, 0), size + min(after, 0))
        index = rest[np.arange(-max(before, 0), rest.size + max(after, 0)) % max(rest.size, 1)]
    else:
        index = np.abs(place)
        index = np.where(index >= size, 2 * (size - 1) - index, index)
    return Taps(index[None], None, size)


def _plan(mode: str, shape: Any, padding: Any) -> list[tuple[int, Taps]]:
    """The dimensions that change, with the map along each."""
    return [
        (-1 - i, sources(mode, shape[-1 - i], padding[2 * i], padding[2 * i + 1]))
        for i in range(len(padding) // 2)
        if padding[2 * i] or padding[2 * i + 1]
    ]


@accelerated
def bordered(input: Any, padding: Any, mode: str) -> Any:
    """Pad the last dimensions with elements of the array itself."""
    if _is_narrow(input, padding) and input.size >= LARGE:
        return _bordered(input, padding, mode)
    out = input
    for dim, taps in reversed(_plan(mode, input.shape, padding)):
        out = taken(out, taps, dim)
    return np.array(out) if out is input else out


_NARROW = 64  # lines of a border that are copied one by one


def _is_narrow(array: Any, padding: Any) -> bool:
    """Whether an array of some size has, or gets, a border of few lines."""
    return is_numpy(array) and array.size >= SMALL and min(padding) >= 0 and sum(padding) <= _NARROW


def _bordered(input: Any, padding: Any, mode: str) -> Any:
    """Pad a large array: copy its elements once, then fill the border line by line."""
    ndim = len(padding) // 2
    before, shape = padding[-2::-2], input.shape[input.ndim - ndim :]
    inside: Any = [slice(b, b + size) for b, size in zip(before, shape, strict=True)]
    sizes = [b + size + a for b, size, a in zip(before, shape, padding[::-2], strict=True)]
    out = np.empty((*input.shape[: input.ndim - ndim], *sizes), input.dtype)
    out[(..., *inside)] = input
    for nr in reversed(range(ndim)):  # the last dimension first; those before it are not padded yet
        lines = np.moveaxis(out[(..., *inside[:nr], *[slice(None)] * (ndim - nr))], nr - ndim, 0)
        place = range(sizes[nr])[inside[nr]]
        taps = sources(mode, shape[nr], place.start, sizes[nr] - place.stop).index[0]
        for k, source in enumerate((taps + place.start).tolist()):
            if k not in place:
                lines[k] = lines[source]
    return out


@accelerated
def unbordered(input: Any, shape: Any, padding: Any, mode: str) -> Any:
    """The adjoint of `bordered`: each element gets the sum of what was copied from it."""
    out, narrow = input, _is_narrow(input, padding)
    for dim, taps in _plan(mode, shape, padding):
        out = _folded(out, taps, dim, padding[-2 - 2 * dim]) if narrow else put_back(out, taps, dim)
    return np.array(out) if out is input else out


def _folded(array: Any, taps: Taps, dim: int, start: int) -> Any:
    """Take the border off that a dimension has, and add it line by line to the elements that it was copied from."""
    lines = np.moveaxis(array, dim, 0)
    out = lines[start : start + taps.size].copy("K")
    for k, source in enumerate(taps.index[0].tolist()):
        if not 0 <= k - start < taps.size:
            out[source] += lines[k]
    return np.ascontiguousarray(np.moveaxis(out, 0, dim))


@linear(input=lambda g, padding, mode: _repad(g, padding, mode), node="ReflectionPad2DBackwardBackward0")
def _unpad(input: Array, shape: Sizes, padding: Sizes, mode: str) -> Any:
    """The adjoint of padding."""
    return unbordered(input, shape, padding, mode)


@linear(
    input=lambda g, input_shape, padding, mode: _unpad(g, input_shape, padding, mode), node="CopySlices", dtypes="bifc"
)
def _repad(input: Array, padding: Sizes, mode: str = "circular") -> Any:
    """Padding with elements of the tensor itself."""
    return bordered(input, padding, mode)


def _declared(mode: str, name: str, ndim: int) -> Any:
    """The operation of torch's name: one for each number of dimensions."""

    def function(input: Array, padding: Sizes) -> Any:
        return channels_as_in(bordered(input, padding, mode), input)

    function.__doc__ = f"Padding of the last {ndim} dimension(s): {mode}."
    return linear(
        input=lambda g, input_shape, padding: _unpad(g, input_shape, padding, mode),
        name=f"{name}_pad{ndim}d",
        node=f"{name.capitalize()}Pad{ndim}DBackward0",
        flat=True,
        dtypes="ifc",
        refuses="unsigned",
        autocast=None if (mode, ndim) == ("reflect", 3) else "float32",
    )(function)


_OPERATIONS = {
    **{("reflect", n): _declared("reflect", "reflection", n) for n in (1, 2, 3)},
    **{("replicate", n): _declared("replicate", "replication", n) for n in (1, 2, 3)},
}

_SUPPORTED = (
    "Supported combinations for non-constant padding:\n"
    "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
    "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
    "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
)


_INTS = frozenset({int})


def _padding(op: str, pad: Any) -> tuple[int, ...]:
    if not isinstance(pad, list | tuple):
        raise TypeError(f"{op}(): argument 'pad' (position 2) must be tuple of ints, not {type(pad).__name__}")
    if _INTS.issuperset(map(type, pad)):
        return tuple(pad)
    for nr, p in enumerate(pad):
        if not (is_int(p) or isinstance(p, Tensor)):
            raise TypeError(
                f"{op}(): argument 'pad' (position 2) must be tuple of ints, but found element of type "
                f"{type(p).__name__} at pos {nr}"
            )
    return tuple(int(p) for p in pad)


def pad(input: Tensor, pad: Any, mode: str = "constant", value: float | None = None) -> Tensor:
    """The tensor with more elements around it.

    Args:
        pad: pairs (before, after) from the last dimension on; negative numbers take elements away.
        mode: "constant", "reflect" (without the outermost element), "replicate" or "circular"; all but
            the first take 2, 4 or 6 numbers, and leave one or two dimensions in front alone.
        value: what to pad with, for "constant"; zero by default.

    Raises:
        RuntimeError: if there is not enough to pad with, or too many numbers.
        NotImplementedError: for another mode, or another number of dimensions.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.pad(torch.tensor([[1.0, 2.0, 3.0]]), (2, 1), mode="reflect")
        tensor([[3., 2., 1., 2., 3., 2.]])
    """
    check_tensor("pad", input=input)
    if not isinstance(mode, str | bytes):
        raise TypeError(f"pad(): argument 'mode' (position 3) must be str, not {type(mode).__name__}")
    pads = _padding("pad", pad)
    if value is not None and (isinstance(value, complex) or not isinstance(value, bool | int | float | Tensor)):
        raise TypeError(f"pad(): argument 'value' (position 4) must be float, not {type(value).__name__}")
    if len(pads) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pads) > 2 * input.ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(pads)} and input of dimension {input.ndim}"
        )
    if mode == "constant":
        return _padded(input, pads, 0 if value is None else float(value))
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    ndim = len(pads) // 2
    if len(pads) not in (2, 4, 6) or input.ndim not in (ndim + 1, ndim + 2):
        raise NotImplementedError(
            f"Padding size {len(pads)} is not supported for {input.ndim}D input tensor.\n{_SUPPORTED}"
        )
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    _check_padding(input, pads, ndim, mode)
    if mode != "circular" and input._spec.dtype.category == BOOL:
        raise not_implemented_for(f"{'reflection' if mode == 'reflect' else 'replication'}_pad{ndim}d", input.dtype)
    padded: Tensor = _repad(input, pads, mode) if mode == "circular" else _OPERATIONS[mode, ndim](input, pads)
    return padded


def _check_padding(input: Tensor, pads: Any, ndim: int, mode: str) -> None:
    shape = input._shape
    needed = shape[1:] if input.ndim == ndim + 2 else shape
    if mode != "circular" and not all(needed):
        raise RuntimeError(
            f"Expected {ndim + 1}D or {ndim + 2}D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {list(shape)}"
        )
    for i in range(ndim):
        n, before, after = shape[-1 - i], pads[2 * i], pads[2 * i + 1]
        if mode == "reflect" and max(before, after) >= n:
            raise RuntimeError(
                "Argument #4: Padding size should be less than the corresponding input dimension, but got: padding "
                f"({before}, {after}) at dimension {input.ndim - 1 - i} of input {list(shape)}"
            )
        if mode == "circular" and max(before, after) > n:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        if n + before + after < (0 if mode == "circular" else 1) or min(before, after) < -n:
            raise RuntimeError(
                "Negative padding value is resulting in an empty dimension"
                if mode == "circular"
                else f"input {list(shape)} with padding {list(pads)} would have a dimension without elements: pad() "
                "calculated output too small"
            )


def named_padding(padding: str, input: Tensor, weight: Tensor, stride: Any, dilation: Any) -> tuple[Tensor, Any]:
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
