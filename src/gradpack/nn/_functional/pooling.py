"""Pooling as `torch.nn.functional` has it: maxima with or without indices, norms, and back."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from ...base import late
from ...core.tensor import Tensor
from ...ops.conv.avg_pool import avg_pool1d, avg_pool2d, avg_pool3d
from ...ops.conv.fractional_pool import fractional_max
from ...ops.conv.max_pool import _max_pool, _unpool, adaptive_max
from ...ops.conv.spatial import repeated
from .._public import give_all

_SPACE = {1: "length", 2: "height, width", 3: "depth, height, width"}
_ALONG = {1: "the last dimension", 2: "the last two dimensions", 3: "the last three dimensions"}


def _named(call: Callable[..., Any], name: str, text: str, example: str, arguments: str = "") -> Callable[..., Any]:
    """Return a function with a name and a docstring; `arguments` has a line for each."""
    space = _SPACE[int(name.partition("pool")[2][:1])]
    lines = [f"input: shape (batch, channels, {space}), or without batch.", *arguments.splitlines()]
    said = "".join(f"    {line}\n" for line in lines)
    before, _, raises = text.partition("\n\nRaises:")
    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"{before}\n\nArgs:\n{said}" + (f"\nRaises:{raises}\n" if raises else "")
    call.__doc__ += f"\nExample::\n\n    >>> import gradpack as torch\n    {example}\n"
    return call


_WINDOWS = "kernel_size: the size of the windows.\nstride: the step between windows; None for their size.\n"
_CEIL = "ceil_mode: take a last window that only begins inside.\n"
_MAXIMA = (
    "padding: how much is added on both sides, below every number: at most half the window.\n"
    f"dilation: the distance between elements of a window.\n{_CEIL}"
)


def _indices(always: bool) -> str:
    usual = "return also where the maxima are, in the flattened dimensions."
    return f"return_indices: {'accepted: they are returned always.' if always else usual}"


def _shape(count: int, size: int, lead: str = "1") -> str:
    return ", ".join([lead, *[str(size)] * count])


def _example(name: str, ndim: int, arguments: str, size: int) -> str:
    result = "[1].shape" if name.endswith("_with_indices") else ".shape"
    return (
        f">>> torch.nn.functional.{name}(torch.ones({_shape(ndim, 4)}), {arguments}){result}\n"
        f"    gradpack.Size([{_shape(ndim, size)}])"
    )


# Each function with `return_indices` has a second form, of another name, that always returns them.


def _max(ndim: int, always: bool = False) -> Callable[..., Any]:
    def call(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        return _max_pool(ndim, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices or always)

    name = f"max_pool{ndim}d{'_with_indices' * always}"
    text = f"The maxima over windows along {_ALONG[ndim]}"
    text += ", and where they are in the flattened dimensions." if always else "."
    text += "\n\nRaises:\n    RuntimeError: for windows that do not fit."
    return _named(call, name, text, _example(name, ndim, "2", 2), _WINDOWS + _MAXIMA + _indices(always))


max_pool1d, max_pool2d, max_pool3d = _max(1), _max(2), _max(3)
max_pool1d_with_indices, max_pool2d_with_indices, max_pool3d_with_indices = _max(1, True), _max(2, True), _max(3, True)


def _adaptive(ndim: int, always: bool = False) -> Callable[..., Any]:
    def call(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
        made = adaptive_max(ndim, input, output_size)
        return made if return_indices or always else made[0]

    name = f"adaptive_max_pool{ndim}d{'_with_indices' * always}"
    text = f"The maxima over the parts that divide {_ALONG[ndim]} evenly{', and their indices' * always}."
    more = "output_size: into how many parts; None keeps a dimension as it is.\n" + _indices(always)
    return _named(call, name, text, _example(name, ndim, "2", 2), more)


adaptive_max_pool1d, adaptive_max_pool1d_with_indices = _adaptive(1), _adaptive(1, True)
adaptive_max_pool2d, adaptive_max_pool2d_with_indices = _adaptive(2), _adaptive(2, True)
adaptive_max_pool3d, adaptive_max_pool3d_with_indices = _adaptive(3), _adaptive(3, True)


def _fractional(ndim: int, always: bool = False) -> Callable[..., Any]:
    def call(
        input: Tensor,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> Any:
        made = fractional_max(ndim, input, kernel_size, output_size, output_ratio, _random_samples)
        return made if return_indices or always else made[0]

    name = f"fractional_max_pool{ndim}d{'_with_indices' * always}"
    more = (
        "kernel_size: the size of the windows.\noutput_size: the sizes of the result, or\n"
        "output_ratio: what to multiply those of the input with.\n" + _indices(always)
    )
    text = f"The maxima over windows at random places along {_ALONG[ndim]}{', and their indices' * always}."
    example = _example(name, ndim, f"2, output_ratio={(0.5,) * ndim}", 2)
    return _named(call, name, f"{text}\n\nSource: arXiv 1412.6071.", example, more)


fractional_max_pool2d, fractional_max_pool2d_with_indices = _fractional(2), _fractional(2, True)
fractional_max_pool3d, fractional_max_pool3d_with_indices = _fractional(3), _fractional(3, True)


# -- norms --


def _lp(ndim: int, average: Callable[..., Any]) -> Callable[..., Any]:
    name = f"lp_pool{ndim}d"

    def call(
        input: Tensor, norm_type: int | float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> Any:
        count = prod(repeated(name, "kernel_size", kernel_size, ndim))
        steps = kernel_size if stride is None else stride
        out = average(late.pow(input, norm_type), kernel_size, steps, 0, ceil_mode)
        return late.pow(late.sign(out) * late.relu(late.abs(out)) * count, 1.0 / norm_type)

    text = (
        f"The root of the sum of powers over windows along {_ALONG[ndim]}: `sum(x ** p) ** (1 / p)`.\n\n"
        "Powers are signed: without an absolute value, as in torch."
    )
    more = f"norm_type: p, the exponent.\n{_WINDOWS}{_CEIL}"
    return _named(call, name, text, _example(name, ndim, "2.0, 2", 2), more)


# -- back to the larger size --


def _back(ndim: int) -> Callable[..., Any]:
    name = f"max_unpool{ndim}d"

    def call(
        input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
    ) -> Any:
        return _unpool(ndim, input, indices, kernel_size, stride, padding, output_size)

    example = (
        f">>> x, where = torch.nn.functional.max_pool{ndim}d(torch.ones({_shape(ndim, 4)}), 2, return_indices=True)\n"
        f"    >>> torch.nn.functional.{name}(x, where, 2).shape\n    gradpack.Size([{_shape(ndim, 4)}])"
    )
    text = (
        f"Zeros with each element where `max_pool{ndim}d` found it.\n\nRaises:\n    ValueError: for an `output_size` "
        "that the windows cannot have come from.\n    RuntimeError: for indices outside the result."
    )
    more = f"indices: where the elements belong: what `max_pool{ndim}d` returned.\n{_WINDOWS}"
    more += (
        "padding: how much was added on both sides.\noutput_size: the size of the result, where several are possible."
    )
    return _named(call, name, text, example, more)


max_unpool1d, max_unpool2d, max_unpool3d = _back(1), _back(2), _back(3)


lp_pool1d, lp_pool2d, lp_pool3d = _lp(1, avg_pool1d), _lp(2, avg_pool2d), _lp(3, avg_pool3d)


give_all(globals())
