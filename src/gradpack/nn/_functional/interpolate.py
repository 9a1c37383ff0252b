"""`interpolate`, and the deprecated `upsample` functions."""

from __future__ import annotations

import warnings
from typing import Any

from ...base.callers import depth_of_user
from ...core.tensor import Tensor
from ...ops.conv.avg_pool import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d
from ...ops.conv.spatial import check_tensor, is_int
from ...ops.nn.resample import _resize
from .._public import give_all

_PLAIN = ("nearest", "area", "nearest-exact")
_NEEDS = {"linear": 1, "bilinear": 2, "trilinear": 3}  # spatial dimensions
_LAYOUT = "(N, C, d1, d2, ...,dK) format and {} in ({}1, {}2, ...,{}K) format."


def _sizes(input: Tensor, size: Any, scale_factor: Any, dim: int) -> tuple[Any, Any]:
    """The new size and the scale factors, one of them None, each a number for every dimension."""
    space = list(input._shape[2:])
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        if not isinstance(size, list | tuple):
            return [size] * dim, None
        if len(size) != dim:
            raise ValueError(
                "Input and output must have the same number of spatial dimensions, but got input with spatial "
                f"dimensions of {space} and output size of {size}. Please provide input tensor in "
                f"{_LAYOUT.format('output size', 'o', 'o', 'o')}"
            )
        if not all(is_int(n) or isinstance(n, Tensor) for n in size):
            raise TypeError(
                "expected size to be one of int or Tuple[int] or Tuple[int, int] or Tuple[int, int, int], but got size "
                f"with types {[type(n) for n in size]}"
            )
        return [int(n) for n in size], None
    if scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    if not isinstance(scale_factor, list | tuple):
        return None, [scale_factor] * dim
    if len(scale_factor) != dim:
        raise ValueError(
            "Input and scale_factor must have the same number of spatial dimensions, but got input with spatial "
            f"dimensions of {space} and scale_factor of shape {scale_factor}. Please provide input tensor in "
            f"{_LAYOUT.format('scale_factor', 's', 's', 's')}"
        )
    return None, list(scale_factor)


def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Any:
    """Resize the dimensions of space of (batch, channels, *space).

    Args:
        input: shape (batch, channels, *space), of one to three dimensions of space.
        size: the new sizes of the dimensions of space, or
        scale_factor: what to multiply them with.
        mode: "nearest", "nearest-exact", "area"; "linear" for one, "bilinear" and "bicubic" for two, "trilinear" for
            three dimensions of space; "lanczos" with antialias.
        align_corners: whether the outermost elements stay where they are: for the modes that interpolate.
        recompute_scale_factor: compute with the ratio of the sizes rather than with `scale_factor`.
        antialias: in shrinking, average over all elements in between (bilinear and bicubic).

    Raises:
        ValueError: unless there is one of size and scale_factor, and for options that the mode does not have.
        NotImplementedError: for a mode that does not fit the number of dimensions.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.interpolate(torch.tensor([[[1.0, 3.0]]]), size=4, mode="linear", align_corners=False)
        tensor([[[1.0000, 1.5000, 2.5000, 3.0000]]])
    """
    check_tensor("interpolate", input=input)
    if mode in _PLAIN and align_corners is not None:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
        )
    dim = input.ndim - 2
    output_size, factors = _sizes(input, size, scale_factor, dim)
    if recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if recompute_scale_factor or (mode == "area" and output_size is None):
        output_size, factors = [int(n * f) for n, f in zip(input._shape[2:], factors, strict=True)], None
    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and input.ndim == 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input"
        )
    if dim not in (1, 2, 3) or mode not in (*_PLAIN, *_NEEDS, "bicubic", "lanczos"):
        raise _unsupported(input.ndim, mode)
    if mode == "area":
        return (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[dim - 1](input, output_size)
    if mode in _NEEDS and dim != _NEEDS[mode]:
        raise NotImplementedError(f"Got {input.ndim}D input, but {mode} mode needs {_NEEDS[mode] + 2}D input")
    if mode in ("bicubic", "lanczos") and dim != 2:
        raise _unsupported(input.ndim, mode)
    if mode == "lanczos" and align_corners:
        raise ValueError("Lanczos mode does not support align_corners=True")
    if mode == "lanczos" and not antialias:
        raise ValueError("Lanczos mode requires antialias=True")
    return _resize(input, output_size, factors, mode, bool(align_corners), antialias)


def _unsupported(ndim: int, mode: str) -> NotImplementedError:
    return NotImplementedError(
        f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {ndim}D) for the modes: nearest | linear | "
        f"bilinear | bicubic | trilinear | lanczos | area | nearest-exact (got {mode})"
    )


def _deprecated(name: str) -> None:
    text = f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead."
    warnings.warn(text, stacklevel=depth_of_user())


def upsample(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: Any = None
) -> Any:
    """`interpolate` by its old name, with a warning that says so.

    Args:
        size: the new sizes of the dimensions of space, or
        scale_factor: what to multiply them with.
        mode: see `interpolate`.
        align_corners: whether the outermost elements stay where they are.

    Example::

        >>> import gradpack as torch
        >>> import warnings, gradpack as torch
        >>> x = torch.tensor([[[1.0, 3.0]]])
        >>> with warnings.catch_warnings(action="ignore"):
        ...     torch.nn.functional.upsample(x, scale_factor=2)
        tensor([[[1., 1., 3., 3.]]])
    """
    _deprecated("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Any:
    """`interpolate(mode="nearest")` by an old name, with a warning that says so.

    Args:
        size: the new sizes of the dimensions of space, or
        scale_factor: what to multiply them with.

    Example::

        >>> import gradpack as torch
        >>> import warnings, gradpack as torch
        >>> x = torch.tensor([[[[1.0, 3.0]]]])
        >>> with warnings.catch_warnings(action="ignore"):
        ...     torch.nn.functional.upsample_nearest(x, size=(1, 4))
        tensor([[[[1., 1., 3., 3.]]]])
    """
    _deprecated("upsample_nearest")
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Any:
    """`interpolate(mode="bilinear", align_corners=True)` by an old name, with a warning that says so.

    Args:
        size: the new sizes of height and width, or
        scale_factor: what to multiply them with.

    Example::

        >>> import gradpack as torch
        >>> import warnings, gradpack as torch
        >>> x = torch.tensor([[[[1.0, 3.0]]]])
        >>> with warnings.catch_warnings(action="ignore"):
        ...     torch.nn.functional.upsample_bilinear(x, size=(1, 3))
        tensor([[[[1., 2., 3.]]]])
    """
    _deprecated("upsample_bilinear")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


give_all(globals())
