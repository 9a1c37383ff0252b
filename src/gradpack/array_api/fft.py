"""Discrete Fourier transforms: `gradpack.fft` with `axis` for `dim`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..base.dtypes import dtype
from ..core.tensor import Tensor
from ..ops.numpy_api.forms import found
from ._lookup import ours
from ._types import Where


def _along_one_axis(name: str) -> Callable[..., Tensor]:
    inside = found(f"fft.{name}")

    def call(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Tensor:
        result: Tensor = inside(x, n=n, dim=axis, norm=norm)
        return result

    return _named(name, call)


def _along_axes(name: str) -> Callable[..., Tensor]:
    inside = found(f"fft.{name}")

    def call(
        x: Tensor, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: str = "backward"
    ) -> Tensor:
        result: Tensor = inside(x, s=s, dim=axes, norm=norm)
        return result

    return _named(name, call)


def _shift(name: str) -> Callable[..., Tensor]:
    inside = found(f"fft.{name}")

    def call(x: Tensor, /, *, axes: int | Sequence[int] | None = None) -> Tensor:
        result: Tensor = inside(x, dim=axes)
        return result

    return _named(name, call)


def _named(name: str, call: Any) -> Callable[..., Tensor]:
    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Return `gradpack.fft.{name}` of a tensor; the arguments are those of the array API standard."
    made: Callable[..., Tensor] = call
    return made


fft, ifft, rfft, irfft, hfft, ihfft = map(_along_one_axis, "fft ifft rfft irfft hfft ihfft".split())
fftn, ifftn, rfftn, irfftn = map(_along_axes, "fftn ifftn rfftn irfftn".split())
fftshift, ifftshift = map(_shift, "fftshift ifftshift".split())


def fftfreq(n: int, /, *, d: float = 1.0, dtype: dtype | None = None, device: Where = None) -> Tensor:
    """Return the frequencies of the elements of `fft` of `n` samples at distances `d`."""
    return ours("fft.fftfreq", n, d, dtype=dtype, device=device)


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: dtype | None = None, device: Where = None) -> Tensor:
    """Return the frequencies of the elements of `rfft` of `n` samples at distances `d`."""
    return ours("fft.rfftfreq", n, d, dtype=dtype, device=device)


__all__ = [
    "fft",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfftn",
    "rfft",
    "rfftfreq",
    "rfftn",
]
