"""`quantize`: a policy that keeps 8, 4 or 2 bits per element, and a scale and a minimum per group of elements."""

from __future__ import annotations

import threading
from functools import cache
from itertools import count
from typing import Any

import numpy as np

from ...backends.numpy import quiet
from ...kernels.dispatch import accelerated
from ...ops.pointwise.blockwise import aligned
from ..info import SavedInfo
from .codec import Lossy, Parts, arguments, check_bytes
from .storage_policy import Stored

LEAST = 1024
_WIDTH = 768  # approximate number of groups side by side, which is the stride of the elements of one group
_WIDEST = 1536


class Quantize(Lossy):
    """Map each group of elements linearly to the integers from 0 to 2**bits - 1.

    The groups of a block are its columns, so that NumPy works along rows, on all groups at a time. Where
    the number of groups is a multiple of the last dimension's size, a group is one feature of many rows:
    features differ more than rows do. Minimum and scale are bfloat16, rounded so that no value is out of
    range.

    This is subtractive dithering: noise is added before truncation and subtracted in decoding. So the
    error is uniform within half a step whatever the value, with mean zero and the variance of rounding
    to nearest, half of that of stochastic rounding. In hooks of an installed torch, where the saving
    operation is not known, the noise is not subtracted: then the minimum of a group, such as the zeros of
    relu, is exact.
    """

    coarse = True

    def __init__(self, bits: int, group: int, stochastic: bool, seed: int, min_bytes: int) -> None:
        if bits not in (8, 4, 2):
            raise ValueError(f"quantize(): bits is 8, 4 or 2, not {bits!r}")
        if isinstance(group, bool) or not isinstance(group, int) or group < 4 or group % 4:
            raise ValueError(f"quantize(): group is a number of elements, a multiple of 4, not {group!r}")
        check_bytes("quantize", min_bytes=min_bytes)
        self.bits, self.group, self.stochastic, self.seed, self.min_bytes = bits, group, stochastic, seed, min_bytes
        self.top = 2**bits - 1
        self._number = count(1)
        usual = {"group": _GROUPS[bits], "stochastic": True, "seed": 0, "min_bytes": LEAST}
        given = arguments(usual, group=group, stochastic=stochastic, seed=seed, min_bytes=min_bytes)
        self.name = f"quantize({bits}{', ' if given else ''}{given})"

    def takes(self, info: SavedInfo) -> bool:
        return Lossy.takes(self, info) and info.dtype.name in ("float32", "float64", "float16", "bfloat16")

    def draw(self, row: int, known: bool) -> tuple[int, int, bool]:
        width = row * max(1, round(_WIDTH / row)) if 1 < row <= _WIDEST else _WIDTH
        return next(self._number), width, known and self.stochastic

    def encode(self, parts: Parts, drawn: Any) -> tuple[Parts, Any]:
        number, width, subtracts = drawn
        made: list[Any] = []
        extra: list[Any] = []
        for i, part in enumerate(parts):
            coded = None
            if part.dtype.kind in "fV" and part.dtype.itemsize >= 2:  # V: bfloat16
                with quiet():
                    coded = self._encode(part, [self.seed, number, i], width)
            if coded is None:
                made.append(part)
                extra.append(None)
                continue
            made += coded
            extra.append((part.size, part.dtype, width, [self.seed, number, i] if subtracts else None))
        return tuple(made), extra

    def _encode(self, part: Any, seed: list[int], width: int) -> tuple[Any, Any] | None:
        values = part if part.dtype == np.float32 else part.astype(np.float32)
        per, rows = 8 // self.bits, self.group
        random = np.random.default_rng(seed) if self.stochastic else None
        blocks = _blocks(values.size, rows, width)
        scales = np.empty((2, sum(w for _, _, w in blocks)), np.uint16)
        codes = np.empty(sum(-(-r // per) * w for _, r, w in blocks), np.uint8)
        at = done = 0
        for start, r, w in blocks:
            block = values[start : start + r * w].reshape(r, w)
            low, step = extremes(block)
            low = _down(low)
            step -= low
            if not np.isfinite(step).all():  # a single inf or nan would spoil its whole group: do not quantize
                return None
            step *= 1 / (self.top - _SPARE)
            step = _up(step)
            scales[0, done : done + w] = low.view(np.uint16)[1::2]
            scales[1, done : done + w] = step.view(np.uint16)[1::2]
            np.maximum(step, np.finfo(np.float32).tiny, out=step)
            np.divide(1, step, out=step)
            size = -(-r // per) * w
            packed = codes[at : at + size].reshape(-1, w)
            whole = packed if per == 1 else np.empty((r, w), np.uint8)
            whole_numbers(block, low, step, _HALF if random is None else _noise(random, self.seed, r, w), whole)
            if per > 1:
                _pack(whole, self.bits, packed)
            at += size
            done += w
        return codes, scales

    def decode(self, parts: Parts, extra: Any) -> Parts:
        found = []
        rest = list(parts)
        for how in extra:
            if how is None:
                found.append(rest.pop(0))
                continue
            (codes, scales), rest = rest[:2], rest[2:]
            found.append(self._decode(codes, scales, *how))
        return tuple(found)

    def _decode(self, codes: Any, scales: Any, size: int, dtype: Any, width: int, seed: list[int] | None) -> Any:
        random = None if seed is None else np.random.default_rng(seed)
        per = 8 // self.bits
        out = np.empty(size, np.float32)
        least, step = (scales.astype(np.uint32) << np.uint32(16)).view(np.float32)
        if random is not None:  # floor(x + noise) - noise is half a step too small on average
            least = least + step * _HALF
        at = done = 0
        for start, r, w in _blocks(size, self.group, width):
            block = out[start : start + r * w].reshape(r, w)
            held = -(-r // per) * w
            whole = codes[at : at + held].reshape(-1, w)
            if per > 1:
                whole = _unpack(whole, self.bits, r)
            columns = slice(done, done + w)
            noise = None if random is None else _noise(random, self.seed, r, w)
            numbers(block, whole, least[columns], step[columns], noise)
            at += held
            done += w
        return out if dtype == np.float32 else out.astype(dtype)


_GROUPS = {8: 256, 4: 64, 2: 32}
_HALF = np.float32(0.5)  # added before truncation, rounds to the nearest
_SPARE = 2**-6  # of a step: margin so that the largest value plus noise, which is below 1, does not overflow the code


@accelerated
def extremes(block: Any) -> tuple[Any, Any]:
    """The smallest and the largest element of each column."""
    return np.minimum.reduce(block, axis=0), np.maximum.reduce(block, axis=0)


@accelerated
def whole_numbers(block: Any, low: Any, per_step: Any, noise: Any, codes: Any) -> None:
    """Fill `codes` with the integer parts of `(block - low) * per_step + noise`."""
    scaled = _buffers(block.size)[: block.size].reshape(block.shape)
    np.subtract(block, low, out=scaled)
    np.multiply(scaled, per_step, out=scaled)
    np.add(scaled, noise, out=scaled)
    np.copyto(codes, scaled, casting="unsafe")


@accelerated
def numbers(block: Any, codes: Any, low: Any, step: Any, noise: Any) -> None:
    """Fill `block` with `(codes - noise) * step + low`."""
    np.copyto(block, codes)
    if noise is not None:
        np.subtract(block, noise, out=block)
    np.multiply(block, step, out=block)
    np.add(block, low, out=block)


def _down(x: Any) -> Any:
    """Round float32 values down to bfloat16 precision, in place."""
    bits = x.view(np.uint32)
    bits += (bits >> np.uint32(31)) * np.uint32(0xFFFF)
    bits &= np.uint32(0xFFFF0000)
    return x


def _up(x: Any) -> Any:
    """Round float32 values that are not negative up to bfloat16 precision, in place."""
    bits = x.view(np.uint32)
    bits += np.uint32(0xFFFF)
    bits &= np.uint32(0xFFFF0000)
    return x


def _blocks(size: int, rows: int, width: int) -> list[tuple[int, int, int]]:
    """Return (start, rows, width) of each block of a 1-D array of `size` elements; each column is a group."""
    found = []
    whole = rows * width
    start = 0
    while size - start >= whole:
        found.append((start, rows, width))
        start += whole
    left = (size - start) // rows
    if left:
        found.append((start, rows, left))
        start += rows * left
    if start < size:
        found.append((start, size - start, 1))
    return found


def _pack(codes: Any, bits: int, into: Any) -> None:
    """Pack codes of 4 or 2 bits, shape (rows, width), into `into`: several rows per byte."""
    per, full = 8 // bits, len(into)
    np.copyto(into, codes[:full])
    for i in range(1, per):
        rows = codes[i * full : (i + 1) * full]
        into[: len(rows)] |= rows << np.uint8(bits * i)


def _unpack(packed: Any, bits: int, count: int) -> Any:
    """Undo `_pack`: return the first `count` rows, one byte per code."""
    per, full = 8 // bits, len(packed)
    mask = np.uint8(2**bits - 1)
    out = np.empty((count, packed.shape[1]), np.uint8)
    for i in range(per):
        rows = out[i * full : (i + 1) * full]
        np.right_shift(packed[: len(rows)], np.uint8(bits * i), out=rows)
        rows &= mask
    return out


_local = threading.local()


def _buffers(size: int) -> Any:
    """Return this thread's float32 work buffer of at least `size` elements."""
    known = getattr(_local, "buffer", None)
    if known is None or known.size < size:
        known = _local.buffer = aligned(size, np.float32)
    return known


@cache
def _uniform(seed: int, size: int) -> Any:
    """Return `size` evenly spaced float32 numbers between 0 and 1, in random order: a random one is uniform."""
    table = aligned(size, np.float32)
    table[:] = np.random.default_rng(seed).permutation(np.arange(size, dtype=np.float32) + np.float32(0.5))
    table /= np.float32(size)
    return table


def _noise(random: np.random.Generator, seed: int, rows: int, width: int) -> Any:
    """Return a window at a random position of one table: drawing every number would cost more than all the rest."""
    size, room = rows * width, 1 << 17
    table = _uniform(seed, max(2 * room, 1 << (size + room - 1).bit_length()))
    start = int(random.integers(0, (len(table) - size) // 16 + 1)) * 16
    return table[start : start + size].reshape(rows, width)


def quantize(
    bits: int = 8, group: int | None = None, stochastic: bool = True, seed: int = 0, min_bytes: int = LEAST
) -> Stored:
    """Keep floating-point tensors in 8, 4 or 2 bits for each element.

    Within a group of elements, values are mapped linearly to integers, from the minimum of the group to its maximum.
    Integers, parameters, and tensors that losses and statistics depend on are kept as they are.

    Args:
        bits: 8, 4 or 2.
        group: how many elements share a scale. Smaller groups are more exact, and each costs 4 bytes. By default 256
            for 8 bits, 64 for 4, 32 for 2.
        stochastic: add noise before rounding and subtract it after, so that the result is unbiased. If False, round to
            the nearest: the error is as large, but depends on the value.
        seed: the same seed gives the same gradients.
        min_bytes: smaller tensors stay as they are.

    Raises:
        ValueError: for other numbers of bits, and groups that are no multiple of 4.

    Example::

        >>> import gradpack as torch
        >>> from gradpack import saved
        >>> x = torch.linspace(0, 1, 1000, requires_grad=True)
        >>> with saved.quantize(4, seed=1):
        ...     y = (x * x).sum()
        >>> y.backward()
        >>> bool((x.grad - 2 * x).abs().max() < 0.2)
        True
    """
    return Stored(
        (Quantize(bits, _GROUPS.get(bits, 64) if group is None else group, stochastic, seed, min_bytes), None)
    )
