"""Convolutions of float32 without copies of windows.

Some images at a time are laid out as long lines, one for each channel, with the zeros of the padding between their
rows: then what all windows have at one of their positions is one stretch of memory, and so it is for windows that move
by several steps if each phase of the steps has a line of its own. A position of the window in a channel is a tap: a
number of elements by which to move. Places between the rows are computed, too, and left out when results are put back.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import tiles
from .loop import loop

_PORTION = 1 << 11  # places whose products are added up, for all taps, before the next: they stay in the cache


@loop
def lay(x: Any, steps: Any, before: Any, size: Any, lines: Any) -> None:
    """Lay images `x`, (number, channels, depth, height, width), into `lines`, (channels, phases, places).

    Element `u` of a dimension goes to place `(u + before) // steps` of phase `(u + before) % steps`, and `size` are the
    places of an image in each dimension. Where there is no element, there are zeros. A row may be copied too far: the
    next one is written after it, and behind the last one there is room.
    """
    number, channels, d0, d1, d2 = x.shape
    s0, s1, s2 = steps[0], steps[1], steps[2]
    n0, n1, n2 = size[0], size[1], size[2]
    zero, nothing = np.float32(0), np.float32(-0.0)
    source, target = x.reshape(-1), lines.reshape(-1)
    phases, length = lines.shape[1], lines.shape[2]
    for c in range(channels):
        for phase in range(phases):
            r0, r1, r2 = phase // (s1 * s2), phase // s2 % s1, phase % s2
            place = (c * phases + phase) * length
            low = max(0, -((r2 - before[2]) // s2))  # the first place that has an element, and the one after the last
            high = max(low, min(n2, (d2 - 1 - r2 + before[2]) // s2 + 1))
            first = low * s2 + r2 - before[2]
            for n in range(number):
                for i in range(n0):
                    u0 = i * s0 + r0 - before[0]
                    for j in range(n1):
                        u1 = j * s1 + r1 - before[1]
                        if u0 < 0 or u0 >= d0 or u1 < 0 or u1 >= d1:
                            for k in range(place, place + n2):
                                target[k] = zero
                        else:
                            start = (((n * channels + c) * d0 + u0) * d1 + u1) * d2 + first
                            for k in range(low):
                                target[place + k] = zero
                            if s2 == 1 and start + high - low + tiles.OVER <= source.size:
                                tiles.move_over(source, start, target, place + low, high - low, nothing)
                            else:
                                for k in range(high - low):
                                    target[place + low + k] = source[start + k * s2]
                            for k in range(place + high, place + n2):
                                target[k] = zero
                        place += n2
            for k in range(place, min(place + tiles.OVER, target.size)):
                target[k] = zero


@loop
def put(made: Any, bias: Any, size: Any, first: Any, steps: Any, out: Any) -> None:
    """Write what was computed for lines, (channels, places), into images, each place `steps` after the one before.

    Args:
        bias: added to each channel; of size 0 for none.
        size: the places of an image in each dimension, of which those that there is room for are taken.
        first: the place in the image of the first one.
    """
    number, channels, d0, d1, d2 = out.shape
    n0, n1, n2 = size[0], size[1], size[2]
    s0, s1, s2 = steps[0], steps[1], steps[2]
    high, rows = min(n0, (d0 - first[0] + s0 - 1) // s0), min(n1, (d1 - first[1] + s1 - 1) // s1)
    wide = min(n2, (d2 - first[2] + s2 - 1) // s2)
    source, target = made.reshape(-1), out.reshape(-1)
    whole = s0 == 1 and s1 == 1 and s2 == 1 and d2 == wide  # what is written too far is written again
    for n in range(number):
        for c in range(channels):
            plus = bias[c] if bias.size else np.float32(-0.0)
            for i in range(high):
                for j in range(rows):
                    start = c * made.shape[1] + ((n * n0 + i) * n1 + j) * n2
                    image = (n * channels + c) * d0 + first[0] + i * s0
                    to = (image * d1 + first[1] + j * s1) * d2 + first[2]
                    if whole and to + wide + tiles.OVER <= target.size and start + wide + tiles.OVER <= source.size:
                        tiles.move_over(source, start, target, to, wide, plus)
                    else:
                        for k in range(wide):
                            target[to + k * s2] = source[start + k] + plus


@loop
def weigh(lines: Any, taps: Any, weights: Any, places: int, alone: bool, made: Any) -> None:
    """For each group and each of its rows the sum over taps of weight times line.

    Args:
        lines: (groups, elements), from which taps count.
        weights: (groups, blocks of rows, taps * rows of a block).
        made: (groups, rows, places), with room for whole tiles.
    """
    groups, blocks, depth = weights.shape
    flat = made.reshape(-1)
    step = made.shape[2]
    for g in range(groups):
        line = lines[g]
        for b in range(blocks):
            factors = weights[g, b]
            if alone:
                to = (g * made.shape[1] + b) * step
                for start in range(0, places, tiles.ALONE):
                    tiles.weighted_alone(line, start, taps, factors, 0, flat, to + start, step)
        if not alone:
            every = weights[g].reshape(-1)
            for start in range(0, places, tiles.PLACES):
                for b in range(blocks):
                    to = (g * made.shape[1] + b * tiles.ROWS) * step + start
                    tiles.weighted_rows(line, start, taps, every, b * depth, flat, to, step)


@loop
def weigh_back(given: Any, lines: Any, taps: Any, places: int, total: Any) -> None:
    """Add to `total`, (groups, rows, taps), the sums over places of each row of `given` times what each tap sees.

    Args:
        given: (groups, rows, places), a multiple of LANES of them.
        lines: (groups, elements), from which taps count, a multiple of tiles.DOT_TAPS.
    """
    groups, rows, step = given.shape
    width = total.shape[2]
    for g in range(groups):
        line, y, out = lines[g], given[g].reshape(-1), total[g].reshape(-1)
        for low in range(0, places, _PORTION):
            high = min(low + _PORTION, places)
            seen = line[low:]
            for t in range(0, taps.size, tiles.DOT_TAPS):
                if rows == 1:
                    tiles.dots_alone(y, low, step, seen, taps, t, high - low, out, t, width)
                else:
                    for r in range(0, rows, tiles.DOT_ROWS):
                        tiles.dots_of_rows(
                            y, r * step + low, step, seen, taps, t, high - low, out, r * width + t, width
                        )


@loop
def convolve(
    x: Any, steps: Any, before: Any, size: Any, phases: int, some: int, length: int, wide: int, taps: Any, weights: Any,
    parts: Any, shape: Any, bias: Any, apart: Any, out: Any,
) -> None:  # fmt: skip
    """Convolve images, some at a time, of which parts of the result are computed one after another.

    Args:
        parts: for each part the taps before it, and the first place in the image, (parts + 1, 4).
        weights: the weights of all parts as `weigh` takes them, one after another.
        shape: the groups, the blocks of rows of one, the rows of a block, and the rows that count.
    """
    channels, outs = x.shape[1], out.shape[1]
    groups, blocks, rows, per = shape[0], shape[1], shape[2], shape[3]
    laid = np.zeros((channels, phases, length), np.float32)
    made = np.empty((groups, blocks * rows, wide), np.float32)
    lines = laid.reshape(groups, -1)
    for start in range(0, x.shape[0], some):
        stop = min(start + some, x.shape[0])
        lay(x[start:stop], steps, before, size, laid)
        for p in range(parts.shape[0] - 1):
            low, high = parts[p, 0], parts[p + 1, 0]
            each = groups * blocks * rows
            packed = weights[low * each : high * each].reshape(groups, blocks, (high - low) * rows)
            weigh(lines, taps[low:high], packed, (stop - start) * size[0] * size[1] * size[2], rows == 1, made)
            whole = made if blocks * rows == per else made[:, :per].copy()
            put(whole.reshape(outs, -1), bias, size, parts[p, 1:], apart, out[start:stop])


@loop
def convolve_back(
    x: Any, y: Any, steps: Any, before: Any, size: Any, phases: int, some: int, length: int, wide: int, taps: Any,
    total: Any,
) -> None:  # fmt: skip
    """Compute `total`, (groups, rows, taps), as `weigh_back`, of images and gradients, some at a time."""
    channels, outs = x.shape[1], y.shape[1]
    groups, rows = total.shape[0], total.shape[1]
    per = outs // groups
    ones, none = np.ones(3, np.int64), np.zeros(3, np.int64)
    laid = np.zeros((channels, phases, length), np.float32)
    spread = np.zeros((outs, 1, wide), np.float32)
    given = np.zeros((groups, rows, wide), np.float32)
    total[:] = 0
    for start in range(0, x.shape[0], some):
        stop = min(start + some, x.shape[0])
        if stop - start < some:
            spread[:] = 0  # what is behind the last one counts, too
        for is_x in (True, False):  # one call, as the compiler puts all of it in the place of each
            some_images, into = (x, laid) if is_x else (y, spread)
            lay(some_images[start:stop], steps if is_x else ones, before if is_x else none, size, into)
        given[:, :per] = spread.reshape(groups, per, wide)
        places = (stop - start) * size[0] * size[1] * size[2]
        many = (places + tiles.LANES - 1) // tiles.LANES * tiles.LANES
        weigh_back(given, laid.reshape(groups, -1), taps, many, total)
