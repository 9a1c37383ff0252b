"""Normalisation of channels, over the batch or in groups, and its gradients, on arrays (batch, channels, places).

What lies between two other lines of a channel is left in the cache by the one that comes before, so that each number is
fetched from memory once, and twice where the whole channel must be seen first. Sums go on in float64 from line to line.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .loop import loop
from .sums import moments_of, place, squares_about, sum_about, sum_and_product, sum_of


@loop
def statistics(x: Any, mean: Any, variance: Any) -> None:
    """Mean and (biased) variance of each channel."""
    batch, channels, places = x.shape
    flat, count = x.reshape(-1), batch * places
    for c in range(channels):
        whole = 0.0
        for n in range(batch):
            whole += sum_of(flat, (n * channels + c) * places, places)
        near = x.dtype.type(whole / count)
        squares = 0.0
        for n in range(batch):
            squares += squares_about(flat, (n * channels + c) * places, places, near)
        rest, spread = 0.0, squares / count
        if near * near > spread:
            for n in range(batch):
                rest += sum_about(flat, (n * channels + c) * places, places, near)
            rest /= count
        mean[c], variance[c] = near + rest, max(spread - rest * rest, 0.0)


@loop
def scaled(x: Any, centre: Any, scale: Any, shift: Any, out: Any) -> None:
    """`(x - centre) * scale + shift`, with numbers for each channel."""
    batch, channels, places = x.shape
    flat, made = x.reshape(-1), out.reshape(-1)
    for n in range(batch):
        for c in range(channels):
            start = place((n * channels + c) * places)
            middle, factor, plus = centre[c], scale[c], shift[c]
            for k in range(places):
                j = start + place(k)
                made[j] = (flat[j] - middle) * factor + plus


@loop
def sums(g: Any, x: Any, mean: Any, whole: Any, product: Any) -> None:
    """The sums of g and of g * (x - mean) over each channel."""
    batch, channels, places = x.shape
    given, flat = g.reshape(-1), x.reshape(-1)
    for c in range(channels):
        for n in range(batch):
            first, second = sum_and_product(given, flat, (n * channels + c) * places, places, mean[c])
            whole[c] += first
            product[c] += second


@loop
def combined(g: Any, x: Any, centre: Any, by_g: Any, by_x: Any, level: Any, out: Any) -> None:
    """`g * by_g + (x - centre) * by_x + level`, with numbers for each channel."""
    batch, channels, places = x.shape
    given, flat, made = g.reshape(-1), x.reshape(-1), out.reshape(-1)
    for n in range(batch):
        for c in range(channels):
            start = place((n * channels + c) * places)
            middle, factor, slope, plus = centre[c], by_g[c], by_x[c], level[c]
            for k in range(places):
                j = start + place(k)
                made[j] = given[j] * factor + (flat[j] - middle) * slope + plus


@loop
def group_norm(x: Any, groups: int, weight: Any, bias: Any, eps: float, out: Any, mean: Any, rstd: Any) -> None:
    """`(x - mean) * rstd * weight + bias`, with the mean and deviation of groups of channels, one after another."""
    batch, channels, places = x.shape
    flat, made, each = x.reshape(-1), out.reshape(-1), channels // groups
    for i in range(batch * groups):
        start = i * each * places
        centre, spread = moments_of(flat, start, each * places)
        scale = x.dtype.type(1 / np.sqrt(spread + eps))
        mean[i], rstd[i] = centre, scale
        for c in range(each):
            channel = i % groups * each + c
            factor, level, line = scale * weight[channel], bias[channel], place(start + c * places)
            for k in range(places):
                j = line + place(k)
                made[j] = (flat[j] - centre) * factor + level


@loop
def group_norm_gradients(
    g: Any, x: Any, groups: int, weight: Any, mean: Any, rstd: Any, input_g: Any, weight_g: Any, bias_g: Any
) -> None:
    """With y = (x - mean) * rstd and d = g * weight: `rstd * (d - average(d) - y * average(d * y))`, and the sums over
    batch and places of g * y and of g.
    """
    batch, channels, places = x.shape
    given, flat, made, each = g.reshape(-1), x.reshape(-1), input_g.reshape(-1), channels // groups
    of_weight, of_bias = np.zeros(channels), np.zeros(channels)
    for i in range(batch * groups):
        start, centre, scale, channel = i * each * places, mean[i], rstd[i], i % groups * each
        whole, along = 0.0, 0.0
        for c in range(each):
            first, second = sum_and_product(given, flat, start + c * places, places, centre)
            of_bias[channel + c] += first
            of_weight[channel + c] += second * scale
            whole += first * weight[channel + c]
            along += second * scale * weight[channel + c]
        level = x.dtype.type(whole / (each * places)) * scale
        slope = x.dtype.type(along / (each * places)) * scale * scale
        for c in range(each):
            factor, line = scale * weight[channel + c], place(start + c * places)
            for k in range(places):
                j = line + place(k)
                made[j] = given[j] * factor - (flat[j] - centre) * slope - level
    for c in range(channels):
        weight_g[c], bias_g[c] = of_weight[c], of_bias[c]
