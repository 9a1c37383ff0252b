"""Eight, four or two bits for each number, and a scale and a least value for each group of them."""

from __future__ import annotations

import threading
from functools import cache
from itertools import count
from typing import Any

import numpy as np

from .info import SavedInfo
from .stage import Lossy, Parts, arguments, check_bytes
from .store import Stored

LEAST = 1024
_WIDTH = 512  # groups side by side: elements of one group are as far apart


class Quantize(Lossy):
    """Maps each group of numbers to whole numbers from 0 to 2**bits - 1.

    The groups of a block lie side by side, `_WIDTH` of them, so that NumPy works along rows, all groups
    at a time.
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
        given = arguments(
            group=None if group == _GROUPS[bits] else group,
            stochastic=None if stochastic else False,
            seed=seed or None,
            min_bytes=None if min_bytes == LEAST else min_bytes,
        )
        self.name = f"quantize({bits}{', ' if given else ''}{given})"

    def takes(self, info: SavedInfo) -> bool:
        return Lossy.takes(self, info) and info.dtype.name in ("float32", "float64", "float16", "bfloat16")

    def draw(self) -> int:
        return next(self._number)

    def encode(self, parts: Parts, number: int) -> tuple[Parts, Any]:
        made: list[Any] = []
        extra = []
        for i, part in enumerate(parts):
            if part.dtype.kind in "biuV" and part.dtype.name != "bfloat16":
                made.append(part)
                extra.append(None)
                continue
            made += self._encode(part, number * 8 + i)
            extra.append((part.size, part.dtype))
        return tuple(made), extra

    def _encode(self, part: Any, number: int) -> tuple[Any, Any, Any]:
        values = part if part.dtype == np.float32 else part.astype(np.float32)
        per = 8 // self.bits
        rows = self.group
        noise = _noise(rows, self.seed, number) if self.stochastic else _HALF
        blocks = _blocks(values.size, rows)
        total = sum(width for _, _, width in blocks)
        least, step = np.empty(total, np.float32), np.empty(total, np.float32)
        codes = np.empty(sum(-(-r // per) * w for _, r, w in blocks), np.uint8)
        work, inverse = _buffers(rows)
        at = done = 0
        for start, r, width in blocks:
            block = values[start : start + r * width].reshape(r, width)
            low, high = least[done : done + width], step[done : done + width]
            np.minimum.reduce(block, axis=0, out=low)
            np.maximum.reduce(block, axis=0, out=high)
            np.subtract(high, low, out=high)
            np.multiply(high, 1 / self.top, out=high)
            inv = inverse[:width]
            np.maximum(high, np.finfo(np.float32).tiny, out=inv)
            np.divide(_ALMOST, inv, out=inv)  # so that the largest value and a noise just below 1 stay within the code
            scaled = work[: r * width].reshape(r, width)
            np.subtract(block, low, out=scaled)
            np.multiply(scaled, inv, out=scaled)
            np.add(scaled, noise if noise is _HALF else noise[:r, :width], out=scaled)
            size = -(-r // per) * width
            if per == 1:
                np.copyto(codes[at : at + size].reshape(r, width), scaled, casting="unsafe")
            else:
                _pack(scaled, self.bits, codes[at : at + size].reshape(-1, width))
            at += size
            done += width
        return codes, least, step

    def decode(self, parts: Parts, extra: Any) -> Parts:
        found = []
        rest = list(parts)
        for how in extra:
            if how is None:
                found.append(rest.pop(0))
                continue
            (codes, least, step), rest = rest[:3], rest[3:]
            found.append(self._decode(codes, least, step, *how))
        return tuple(found)

    def _decode(self, codes: Any, least: Any, step: Any, size: int, dtype: Any) -> Any:
        per = 8 // self.bits
        out = np.empty(size, np.float32)
        at = done = 0
        for start, r, width in _blocks(size, self.group):
            block = out[start : start + r * width].reshape(r, width)
            held = -(-r // per) * width
            packed = codes[at : at + held].reshape(-1, width)
            if per == 1:
                np.copyto(block, packed)
            else:
                _unpack(packed, self.bits, block)
            np.multiply(block, step[done : done + width], out=block)
            np.add(block, least[done : done + width], out=block)
            at += held
            done += width
        return out if dtype == np.float32 else out.astype(dtype)


_GROUPS = {8: 128, 4: 64, 2: 32}
_HALF = np.float32(0.5)  # added before cutting off, rounds to the nearest
_ALMOST = np.float32(1 - 2**-16)


def _blocks(size: int, rows: int) -> list[tuple[int, int, int]]:
    """(start, rows, width) of the blocks of a flat array; each column is a group."""
    found = []
    whole = rows * _WIDTH
    start = 0
    while size - start >= whole:
        found.append((start, rows, _WIDTH))
        start += whole
    width = (size - start) // rows
    if width:
        found.append((start, rows, width))
        start += rows * width
    if start < size:
        found.append((start, size - start, 1))
    return found


def _pack(scaled: Any, bits: int, into: Any) -> None:
    """Whole numbers of few bits, several rows in one byte."""
    codes = scaled.astype(np.uint8)
    per, full = 8 // bits, len(into)
    np.copyto(into, codes[:full])
    for i in range(1, per):
        rows = codes[i * full : (i + 1) * full]
        into[: len(rows)] |= rows << np.uint8(bits * i)


def _unpack(packed: Any, bits: int, out: Any) -> None:
    per, full = 8 // bits, len(packed)
    mask = np.uint8(2**bits - 1)
    for i in range(per):
        rows = out[i * full : (i + 1) * full]
        np.copyto(rows, (packed[: len(rows)] >> np.uint8(bits * i)) & mask)


_local = threading.local()


def _buffers(rows: int) -> tuple[Any, Any]:
    """Work space of this thread."""
    known = _local.__dict__.setdefault("buffers", {})
    if rows not in known:
        known[rows] = np.empty(rows * _WIDTH, np.float32), np.empty(_WIDTH, np.float32)
    found: tuple[Any, Any] = known[rows]
    return found


@cache
def _uniform(rows: int, seed: int) -> Any:
    """Evenly spaced numbers from 0 to below 1 in random order: any one of them, drawn at random, is uniform."""
    size = (rows + 64) * (_WIDTH + 512)
    random = np.random.default_rng([seed, rows])
    return random.permutation((np.arange(size, dtype=np.float32) + np.float32(0.5)) / np.float32(size)).reshape(
        rows + 64, _WIDTH + 512
    )


def _noise(rows: int, seed: int, number: int) -> Any:
    """A window of the table at a place drawn at random. Drawing all of it each time would cost more than the rest."""
    down, right = np.random.default_rng([seed, number]).integers(0, (64, 512))
    return _uniform(rows, seed)[down : down + rows, right : right + _WIDTH]


def quantize(
    bits: int = 8, group: int | None = None, stochastic: bool = True, seed: int = 0, min_bytes: int = LEAST
) -> Stored:
    """Keep floating-point tensors in 8, 4 or 2 bits for each element.

    Within a group of elements, values are mapped linearly to whole numbers, from the least of the group to its
    largest. Integers, parameters, and what losses and statistics depend on stay as they are.

    Args:
        bits: 8, 4 or 2.
        group: how many elements share a scale: fewer are more exact, and cost 8 bytes for each group. By default 128,
            64 or 32.
        stochastic: round up or down at random, so that the mean over many draws is the exact value. If False, round to
            the nearest, which halves the variance.
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
