"""Short-time Fourier transforms: `stft` and its inverse `istft`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...base import late
from ...base.callers import warn_user
from ...base.dtypes import FLOATING
from ...base.errors import not_a_tensor, refuse, scalar_type
from ...core.tensor import Tensor
from ...declare.batching.batch_tensor import is_batched
from ..create.making import beside
from ..random.floats import host_of
from .fourier import _fft_c2c, _fft_c2r, _fft_r2c, fitted

FUNCTIONS = "stft istft"
METHODS = FUNCTIONS


def _pad_ends(x: Tensor, size: int, mode: str) -> Tensor:
    """Pad the last dimension at both ends, in one of the modes of `torch.nn.functional.pad`."""
    n = x._shape[-1]
    if mode not in ("constant", "reflect", "replicate", "circular"):
        raise NotImplementedError(
            f"Unrecognised padding mode {mode}: stft() knows constant, reflect, replicate, circular"
        )
    if mode == "constant":
        d = len(x._shape) - 1
        return late.roll(fitted(x, (d,), (n + 2 * size,)), size, d)
    if (mode == "reflect" and size >= n) or (mode == "circular" and size > n):
        raise RuntimeError(
            "Argument #4: Padding size should be less than the corresponding input dimension, but got: padding "
            f"({size}, {size}) at dimension 2 of input {[1] * (3 - x.ndim) + list(x._shape)}"
        )
    places = np.arange(-size, n + size)
    if mode == "reflect":
        places = np.abs(places)
        places = np.where(places >= n, 2 * (n - 1) - places, places)
    elif mode == "replicate":
        places = np.clip(places, 0, n - 1)
    else:
        places = places % n
    return late.index_select(x, -1, beside(places, x))


def _window_for(n_fft: int, win_length: int, window: Tensor | None, like: Tensor) -> Tensor | None:
    """The window zero-padded at both ends to `n_fft`; None if it is all ones."""
    if window is None:
        if win_length == n_fft:
            return None
        window = late.ones(win_length, dtype=like._spec.dtype.to_real(), device=like.device)
    if win_length < n_fft:
        window = late.roll(fitted(window, (0,), (n_fft,)), (n_fft - win_length) // 2, 0)
    return window


def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """The spectra of overlapping frames of a signal, of shape (..., frequencies, frames).

    Args:
        input: shape (length) or (batch, length), real or complex.
        n_fft: the length of a frame.
        hop_length: the distance between frames; by default a quarter of `n_fft`.
        win_length: the length of the window, in the middle of a frame; by default `n_fft`.
        window: weights of shape (win_length); all ones unless given, with a warning.
        center: pad the signal by half of `n_fft` at both ends, so that frame t is centered at `t * hop_length`.
        pad_mode: "reflect", "constant", "replicate" or "circular".
        normalized: divide by the root of `n_fft`.
        onesided: omit the redundant (conjugate) half of a real signal's spectrum.
        return_complex: required for a real signal; False returns real and imaginary parts in a last dimension.
        align_to_window: without `center`: let the windows of the first and the last frame, rather than the frames,
            begin and end with the signal.

    Raises:
        RuntimeError: for shapes and lengths that do not fit, or without `return_complex` for a real signal.

    Example::

        >>> import gradpack as torch
        >>> torch.stft(torch.ones(16), 8, window=torch.hann_window(8), return_complex=True).shape
        gradpack.Size([5, 9])
    """
    if not isinstance(input, Tensor):
        raise not_a_tensor("stft", "input", 1, input)
    if center and align_to_window is not None:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    if input._spec.dtype.low:
        raise RuntimeError(f"MKL FFT doesn't support tensors of type: {scalar_type(input._spec.dtype)}")
    x = input
    if center and pad_mode != "constant":
        refuse("reflection_pad1d" if pad_mode == "reflect" else "replication_pad1d", x._spec.dtype, "b")
    if x._spec.dtype.category >= FLOATING and center and 0 < x.ndim < 3 and n_fft > 0:
        x = _pad_ends(x, n_fft // 2, pad_mode)
    hop = n_fft // 4 if hop_length is None else hop_length
    length = n_fft if win_length is None else win_length
    _check_stft(x, n_fft, hop, length, window)
    if window is None:
        _warn_of_no_window("stft", "which is known to cause spectral leakage. Use hann_window() or another window.")
    complex_input = x._spec.dtype.is_complex or (window is not None and window._spec.dtype.is_complex)
    return_complex = _returns_complex(return_complex, complex_input)
    if onesided and complex_input:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    alone = x.ndim == 1
    x = late.unsqueeze(x, 0) if alone else x
    if not center and align_to_window and length < n_fft:  # the first frame begins where its window does
        x = _pad_ends(x, (n_fft - length) // 2, "constant")
    frames = x.unfold(-1, n_fft, hop)
    weights = _window_for(n_fft, length, window, x)
    frames = frames if weights is None else frames * weights
    how = 1 if normalized else 0
    if frames._spec.dtype.is_complex:
        spectra = _fft_c2c(frames, (2,), how, True)
    else:
        spectra = _fft_r2c(frames, (2,), how, onesided is not False)
    out: Tensor = late.transpose(spectra, 1, 2)
    out = late.squeeze(out, 0) if alone else out
    return out if return_complex else late.view_as_real(out)


def _returns_complex(asked: bool | None, complex_input: bool) -> bool:
    """Return whether `stft` is to return complex numbers; warns of the older form, in pairs of real ones."""
    if asked is None and not complex_input:
        raise RuntimeError(
            "stft requires the return_complex parameter be given for real inputs, and will further require that "
            "return_complex=True in a future PyTorch release."
        )
    if asked is not None and not asked:
        warn_user(
            "stft with return_complex=False is deprecated. In a future pytorch release, stft will return complex "
            "tensors for all inputs, and return_complex=False will raise an error.\nNote: you can still call "
            "torch.view_as_real on the complex output to recover the old return format."
        )
    return asked is None or asked


def _refusal(
    op: str, x: Tensor, n_fft: int, hop: int, length: int, window: Tensor | None, more: str = ""
) -> Callable[[str], RuntimeError]:
    """Return a function that makes the error of a sentence: it shows what `stft` or `istft` was given."""
    shape = None if window is None else list(window._shape)
    given = f"n_fft={n_fft}, hop_length={hop}, win_length={length}, window={shape}{more}"
    return lambda why: RuntimeError(f"{op}({x.dtype.name}{list(x._shape)}, {given}) : {why}")


def _check_stft(x: Tensor, n_fft: int, hop: int, length: int, window: Tensor | None) -> None:
    refused = _refusal("stft", x, n_fft, hop, length, window)
    if x._spec.dtype.category < FLOATING:
        raise refused("expected a tensor of floating point or complex values")
    if x.ndim not in (1, 2):
        raise refused("expected a 1D or 2D tensor")
    if not 0 < n_fft <= x._shape[-1]:
        raise refused(f"expected 0 < n_fft < {x._shape[-1]}, but got n_fft={n_fft}")
    if hop <= 0:
        raise refused(f"expected hop_length > 0, but got hop_length={hop}")
    if not 0 < length <= n_fft:
        raise refused(f"expected 0 < win_length <= n_fft, but got win_length={length}")
    if window is not None and window._shape != (length,):
        raise refused(
            f"expected a 1D window tensor of size equal to win_length={length}, but got window with size "
            f"{list(window._shape)}"
        )


def _warn_of_no_window(op: str, advice: str) -> None:
    warn_user(
        f"A window was not provided. A rectangular window will be applied, {advice} To suppress this warning and use "
        f"a rectangular window in {op}(), explicitly set `window=torch.ones(n_fft)`."
    )


def istft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    """The inverse of `stft`: the least-squares signal for the given spectra.

    Args:
        input: shape (frequencies, frames) or (batch, frequencies, frames), complex: as `stft` returns it.
        n_fft: the length of a frame.
        hop_length: the distance between frames; by default a quarter of `n_fft`.
        win_length: the length of the window, in the middle of a frame; by default `n_fft`.
        window: the weights that `stft` had, of shape (win_length); all ones unless given, with a warning.
        center: whether the signal was padded by half of `n_fft` at both ends, which is taken away again.
        normalized: whether the spectra were divided by the root of `n_fft`.
        onesided: whether the spectra are halves of those of a real signal; by default, unless there are `n_fft`
            frequencies.
        length: the length of the signal; by default that which the frames cover.
        return_complex: return a complex signal, from spectra that are not onesided.

    Raises:
        RuntimeError: for shapes and lengths that do not fit, or if the windows' sum is zero at some sample.

    Example::

        >>> import gradpack as torch
        >>> x, w = torch.arange(8.0), torch.hann_window(4)
        >>> torch.istft(torch.stft(x, 4, window=w, return_complex=True), 4, window=w)
        tensor([0., 1., 2., 3., 4., 5., 6., 7.])
    """
    if not isinstance(input, Tensor):
        raise not_a_tensor("istft", "input", 1, input)
    if window is None:
        _warn_of_no_window("istft", "Provide the window that stft() had, so that nothing is lost.")
    hop = n_fft // 4 if hop_length is None else hop_length
    wide = n_fft if win_length is None else win_length
    half = _check_istft(input, n_fft, hop, wide, window, onesided, return_complex)
    alone = input.ndim == 2
    x = late.transpose(late.unsqueeze(input, 0) if alone else input, 1, 2)
    how = 1 if normalized else 2
    if return_complex:
        x = _fft_c2c(x, (2,), how, False)
    else:
        x = _fft_c2r(x if half else late.narrow(x, -1, 0, n_fft // 2 + 1), (2,), how, n_fft)
    signal, envelope = _overlapped(x, _window_for(n_fft, wide, window, x), n_fft, hop)
    whole = signal._shape[1]
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else whole - n_fft // 2 if center else whole
    stop = min(end, whole)
    signal, envelope = late.narrow(signal, 1, start, stop - start), late.narrow(envelope, 1, start, stop - start)
    if not is_batched(envelope) and not float(np.min(np.abs(host_of(envelope)), initial=np.inf)) > 1e-11:
        raise RuntimeError(
            f"istft(n_fft={n_fft}, hop_length={hop}, win_length={wide}, center={center}): window overlap add min: 1 - "
            "the windows leave a place of the signal without any weight"
        )
    signal = signal / envelope
    if end > whole:
        warn_user(
            "The length of signal is shorter than the length parameter. Result is being padded with zeros in the "
            "tail. Please check your center and hop_length settings."
        )
        signal = fitted(signal, (1,), (end - start,))
    return late.squeeze(signal, 0) if alone else signal


def _overlapped(x: Tensor, weights: Tensor | None, n_fft: int, hop: int) -> tuple[Tensor, Tensor]:
    """Return the sum of weighted frames that overlap, and that of the squares of their weights."""
    frames = x._shape[1]
    whole = n_fft + hop * (frames - 1)
    if weights is None:
        weights = late.ones(n_fft, dtype=x._spec.dtype.to_real(), device=x.device)
    signal = late._unfold_backward(x * weights, (x._shape[0], whole), 1, n_fft, hop)
    power = late.expand(late.reshape(weights * weights, (1, 1, n_fft)), (1, frames, n_fft))
    return signal, late._unfold_backward(power, (1, whole), 1, n_fft, hop)


def _check_istft(
    x: Tensor, n_fft: int, hop: int, length: int, window: Tensor | None, onesided: bool | None, return_complex: bool
) -> bool:
    """Raise for what `istft` does not take; returns whether the spectra are onesided."""
    if not x._spec.dtype.is_complex:
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with return_complex=True."
        )
    if window is not None and window._spec.dtype.is_complex and not return_complex:
        raise RuntimeError("Complex windows are incompatible with return_complex=False")
    if x.ndim < 2:
        raise IndexError(f"Dimension out of range (expected to be in range of [-{x.ndim}, 0], but got -2)")
    if x.ndim > 3:
        raise RuntimeError(f"istft() expected a tensor with 2 or 3 dimensions, but got {x.ndim}")
    refused = _refusal("istft", x, n_fft, hop, length, window, f", onesided={onesided}")
    half = x._shape[-2] != n_fft if onesided is None else onesided
    if not x.numel():
        raise refused("input tensor cannot be empty.")
    wanted, name = (n_fft // 2 + 1, "n_fft / 2 + 1") if half else (n_fft, "n_fft")
    if x._shape[-2] != wanted:
        raise refused(
            f"expected the frequency dimension (3rd to the last) of the input tensor to match {name} when "
            f"onesided={half}, but got {x._shape[-2]}"
        )
    if not 0 < hop <= length:
        raise refused("expected 0 < hop_length <= win_length")
    if not 0 < length <= n_fft:
        raise refused("expected 0 < win_length <= n_fft")
    if window is not None and window._shape != (length,):
        raise refused("Invalid window shape. window has to be 1D and length of `win_length`")
    if return_complex and half:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    return half
