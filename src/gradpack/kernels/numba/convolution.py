"""Convolution of large float32 arrays by compiled loops over lines of images, with an offset per kernel tap.

Here are the layouts that the loops expect: of images, kernel offsets, and packed weights.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..conditions import BLOCK
from .loops import convolutions as loops
from .loops import tiles
from .ranges import Each, Whole, split_over

_Sizes = tuple[int, ...]
_PART = 1 << 22  # multiplications of a part, at least
_PARTS = 16  # parts, at most
WASTE = 3  # places with those between rows, for each one that counts: where more are lost than is gained


class Lines(NamedTuple):
    """The layout of images with three spatial dimensions as flat lines."""

    size: tuple[int, ...]  # places of an image in each dimension
    moves: tuple[tuple[int, int], ...]  # the phase and the places to move by, for each position in a window
    phases: int
    reach: int  # places that are read behind the last one


@lru_cache(512)
def _lines(size: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, count: Any) -> Lines:
    places = tuple(
        max(n + p, c, c + (k - 1) * d - p) if s == 1 else c + (k - 1) * d // s
        for n, k, s, p, d, c in zip(size, kernel, stride, padding, dilation, count, strict=True)
    )
    pitch = (places[1] * places[2], places[2], 1)
    moves = []
    for offset in product(*map(range, kernel)):
        phase = move = 0
        for o, d, s, p in zip(offset, dilation, stride, pitch, strict=True):
            phase = phase * s + o * d % s
            move += o * d // s * p
        moves.append((phase, move))
    return Lines(places, tuple(moves), prod(stride), max(m for _, m in moves))


@lru_cache(512)
def _taps(lines: Lines, channels: int, length: int, multiple: int = 1) -> Any:
    """Return the offsets of all kernel positions in all channels, padded with the first to a `multiple`."""
    found = [(c * lines.phases + phase) * length + move for c in range(channels) for phase, move in lines.moves]
    found += found[:1] * (-len(found) % multiple)
    return np.array(found, np.int64)


def _rounded(n: int, to: int) -> int:
    return -(-n // to) * to


def _three(values: Any, fill: int) -> tuple[int, ...]:
    """Pad per-dimension values with `fill` in front to three dimensions."""
    return (fill,) * (3 - len(values)) + tuple(values)


def _images(x: Any) -> Any:
    """Reshape (batch, channels, *space) to three spatial dimensions."""
    return x.reshape(*x.shape[:2], *_three(x.shape[2:], 1))


def _integers(values: Any, fill: int) -> Any:
    return np.array(_three(values, fill), np.int64)


def _dense(x: Any) -> Any:
    """Return a C-contiguous array, as loops need: a gradient may be an expanded number."""
    return x if x.flags.carray else np.array(x, order="C")


def _three_dimensions(*geometry: Any) -> tuple[Any, ...]:
    """The geometry of three spatial dimensions."""
    return tuple(_three(v, f) for v, f in zip(geometry, (1, 1, 1, 0, 1, 1), strict=True))


class _Lying:
    """The layout of `some` images at a time, side by side in lines."""

    def __init__(self, batch: int, channels: int, rows: int, lines: Lines, to: int) -> None:
        each = prod(lines.size)
        self.some = max(1, min(batch, BLOCK // (each * (channels * lines.phases + rows))))
        self.wide = _rounded(self.some * each, to)
        self.length = _rounded(self.wide + lines.reach + tiles.OVER, 16) + 16  # no power of two: lines would meet


class Plan(NamedTuple):
    """The plan of a convolution of arrays of some shapes.

    Attributes:
        step: images that one core takes at a time.
        before, after: what the loop gets before the weights, and between those and the bias.
        groups: of channels.
        rows: of a block of weights.
        seen: for each part of the places of the result, the weights for it; None for all.
        is_whole: whether the parts have all places.
        apart: how far apart the places of a part are in the result.
    """

    step: int
    before: tuple[Any, ...]
    after: tuple[Any, ...]
    groups: int
    rows: int
    seen: tuple[Any, ...]
    is_whole: bool
    apart: Any


_NOTHING = np.empty(0, np.float32)
_NOTHING.flags.writeable = False


def correlate(
    x: Any, weight: Any, stride: Any, padding: Any, dilation: Any, groups: int, count: Any, bias: Any = None
) -> Any:
    """As `ops.conv.correlate.correlate`."""
    plan = _forward_plan(x.shape, weight.shape, *map(tuple, (stride, padding, dilation, count)), groups)
    if plan is None:
        return NotImplemented
    out = np.empty((x.shape[0], weight.shape[0], *count), np.float32)
    return _weigh(plan, _dense(x), weight, _NOTHING if bias is None else np.ascontiguousarray(bias), out)


@lru_cache(512)
def _forward_plan(
    x: _Sizes, weight: _Sizes, stride: _Sizes, padding: _Sizes, dilation: _Sizes, count: _Sizes, groups: int
) -> Plan | None:
    """Return the plan of a convolution; None for one with many more places than count."""
    lines = _lines(*_three_dimensions(x[2:], weight[2:], stride, padding, dilation, count))
    if prod(lines.size) > WASTE * prod(count):
        return None
    parts = [((0, 0, 0), lines, prod(weight[1:]), None)]
    return _planned(x, weight[0], groups, lines, _three(stride, 1), _three(padding, 0), parts, (1, 1, 1), prod(count))


def _planned(
    x: _Sizes, outs: int, groups: int, lines: Lines, steps: _Sizes, before: _Sizes, parts: list[Any], apart: _Sizes,
    places: int,
) -> Plan:  # fmt: skip
    """Return the plan of what computes some parts of a result, for the places of each from a first one on.

    Args:
        x: the shape of the images.
        outs: channels of the result.
        steps: how windows move in the images.
        before: padding in front of them.
        parts: the first place, lines with the moves of the part, weights of each channel, and which of all those are.
        apart: how far apart the places of a part are in the result.
        places: of a channel of the result.
    """
    batch, channels = x[:2]
    per = outs // groups
    rows = 1 if per == 1 else tiles.ROWS
    step = _images_of_part(batch, batch * outs * places * sum(each for _, _, each, _ in parts))
    lying = _Lying(step, channels, outs, lines, tiles.ALONE if per == 1 else tiles.PLACES)
    taps = [_taps(part, channels // groups, lying.length) for _, part, _, _ in parts]
    starts = np.zeros((len(parts) + 1, 4), np.int64)
    np.cumsum([len(t) for t in taps], out=starts[1:, 0])
    starts[:-1, 1:] = [first for first, _, _, _ in parts]
    shape = np.array([groups, _rounded(per, rows) // rows, rows, per], np.int64)
    moved, padded, size = (Whole(np.array(values, np.int64)) for values in (steps, before, lines.size))
    return Plan(
        step,
        (moved, padded, size, lines.phases, lying.some, lying.length, lying.wide, Whole(np.concatenate(taps))),
        (Whole(starts), Whole(shape)),
        groups,
        rows,
        tuple(seen for *_, seen in parts),
        len(parts) == prod(apart),
        Whole(np.array(apart, np.int64)),
    )


def _weigh(plan: Plan, x: Any, weight: Any, bias: Any, out: Any) -> Any:
    """Write a convolution to an array, and return it."""
    packed = [_packed(weight if s is None else weight[s], plan.groups, plan.rows).reshape(-1) for s in plan.seen]
    split_over(
        len(x), plan.step, loops.convolve, _images(x), *plan.before,
        Whole(packed[0] if len(packed) == 1 else np.concatenate(packed)), *plan.after, Whole(bias), plan.apart,
        _images(out),
    )  # fmt: skip
    return out


def _images_of_part(batch: int, multiplications: int) -> int:
    """Return how many images one core takes at a time."""
    return max(1, min(batch, -(-batch * _PART // max(multiplications, 1)), -(-batch // _PARTS)))


def _packed(weight: Any, groups: int, rows: int) -> Any:
    """Weights, (groups, blocks of rows, taps * rows): all rows of a block for one tap, then for the next."""
    outs = weight.shape[0]
    per, taps = outs // groups, prod(weight.shape[1:])
    whole = np.zeros((groups, _rounded(per, rows), taps), weight.dtype)
    whole[:, :per] = weight.reshape(groups, per, taps)
    turned = whole.reshape(groups, -1, rows, taps).swapaxes(2, 3)
    return np.ascontiguousarray(turned).reshape(groups, -1, taps * rows)


def correlate_input(y: Any, weight: Any, size: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    """As `ops.conv.correlate.correlate_input`.

    Elements at the same phase of the steps see the same positions of windows: for each phase this is a convolution of
    `y` that moves by single steps.
    """
    plan = _input_plan(y.shape, weight.shape, *map(tuple, (size, stride, padding, dilation)), groups)
    if plan is None:
        return NotImplemented
    outs, inner, *kernel = weight.shape
    kernel = _three(kernel, 1)
    turned = weight.reshape(groups, outs // groups, inner, *kernel).swapaxes(1, 2)
    turned = turned.reshape(groups * inner, outs // groups, *kernel)
    out = (np.empty if plan.is_whole else np.zeros)((len(y), groups * inner, *size), np.float32)
    return _weigh(plan, _dense(y), turned, _NOTHING, out)


@lru_cache(512)
def _input_plan(
    y: _Sizes, weight: _Sizes, size: _Sizes, stride: _Sizes, padding: _Sizes, dilation: _Sizes, groups: int
) -> Plan | None:
    """Return the plan of `correlate_input`; None for a convolution with many more places than count."""
    geometry = _three_dimensions(size, weight[2:], stride, padding, dilation, y[2:])
    extent, kernel, steps, before, apart, given = geometry
    reach = tuple((k - 1) * d // s for k, d, s in zip(kernel, apart, steps, strict=True))
    places = tuple(
        max(n + r, (m - 1 + p) // s + 1) for n, r, m, p, s in zip(given, reach, extent, before, steps, strict=True)
    )
    if prod(places) > WASTE * prod(given):
        return None
    parts: list[Any] = []
    for phase in product(*map(range, steps)):
        seen = [[o for o in range(k) if o * d % s == r] for k, d, s, r in zip(kernel, apart, steps, phase, strict=True)]
        skipped = [max(0, -((r - p) // s)) for r, p, s in zip(phase, before, steps, strict=True)]
        first = [n * s + r - p for n, s, r, p in zip(skipped, steps, phase, before, strict=True)]
        if any(f >= m for f, m in zip(first, extent, strict=True)) or not all(seen):
            continue
        pitch = (places[1] * places[2], places[2], 1)
        moves = tuple(
            (
                0,
                sum(
                    (n + e - o * d // s) * i
                    for n, e, o, d, s, i in zip(skipped, reach, at, apart, steps, pitch, strict=True)
                ),
            )
            for at in product(*seen)
        )
        each = weight[0] // groups * prod(map(len, seen))
        is_all = all(len(found) == k for found, k in zip(seen, kernel, strict=True))
        chosen = None if is_all else (slice(None), slice(None), *np.ix_(*seen))
        parts.append((first, _lines_of(places, moves), each, chosen))
    if not parts:
        return None
    lines = _lines_of(places, ())._replace(reach=max(part.reach for _, part, _, _ in parts))
    return _planned(y, groups * weight[1], groups, lines, (1, 1, 1), reach, parts, steps, prod(size))


def _lines_of(places: tuple[int, ...], moves: Any) -> Lines:
    return Lines(places, moves, 1, max((m for _, m in moves), default=0))


def correlate_weight(x: Any, y: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    """As `ops.conv.correlate.correlate_weight`."""
    count = y.shape[2:]
    batch, channels, outs = x.shape[0], x.shape[1], y.shape[1]
    per, inner = outs // groups, channels // groups
    lines = _lines(*_three_dimensions(x.shape[2:], kernel, stride, padding, dilation, count))
    if prod(lines.size) > WASTE * prod(count):
        return NotImplemented
    step = _images_of_part(batch, y.size * inner * prod(kernel))
    lying = _Lying(step, channels, outs, lines, tiles.LANES)
    rows = 1 if per == 1 else _rounded(per, tiles.DOT_ROWS)
    taps = _taps(lines, inner, lying.length, tiles.DOT_TAPS)
    totals = np.empty((-(-batch // step), groups, rows, len(taps)), np.float32)
    split_over(
        batch, step, loops.convolve_back, _images(_dense(x)), _images(_dense(y)), Whole(_integers(stride, 1)),
        Whole(_integers(padding, 0)), Whole(np.array(lines.size, np.int64)), lines.phases, lying.some, lying.length,
        lying.wide + 16, Whole(taps), Each(totals),
    )  # fmt: skip
    total = np.add.reduce(totals, axis=0)
    return np.ascontiguousarray(total[:, :per, : inner * prod(kernel)]).reshape(outs, inner, *kernel)
