"""Normalisation over rows, channels and groups of channels."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dispatch import HEAVY
from .loops import channel_norms
from .loops import rows as row_loops
from .ranges import Each, Whole, over, part_of


def normalized_rows(rows: Any, weight: Any, bias: Any, eps: float) -> Any:
    """As `ops.nn.normalize.normalized_rows`."""
    count, length = rows.shape
    out, mean, rstd = np.empty_like(rows), np.empty((count, 1), rows.dtype), np.empty((count, 1), rows.dtype)
    by, plus = _ones(weight, length, rows), np.zeros(0, rows.dtype) if bias is None else bias
    made = out, mean.reshape(-1), rstd.reshape(-1)
    over(HEAVY, row_loops.layer_norm, rows, Whole(by), Whole(plus), float(eps), *made)
    return out, mean, rstd


def normalized_rows_backward(rows: Any, g: Any, weight: Any, mean: Any, rstd: Any, needs: Any) -> Any:
    """As `ops.nn.normalize.normalized_rows_backward`."""
    by = _ones(weight, rows.shape[1], rows)
    input_g = np.empty_like(rows)
    parts = -(-len(rows) // part_of(HEAVY, rows))
    sums = np.empty((parts, *by.shape), by.dtype), np.empty((parts, *by.shape), by.dtype)
    vectors = mean.reshape(-1), rstd.reshape(-1)
    over(HEAVY, row_loops.layer_norm_gradients, g, rows, Whole(by), *vectors, input_g, *map(Each, sums))
    return _needed((input_g, *(np.add.reduce(of_parts, axis=0) for of_parts in sums)), needs)


def moments(x: Any) -> Any:
    """As `ops.nn.batch_norm.moments`."""
    made = np.empty(x.shape[1], x.dtype), np.empty(x.shape[1], x.dtype)
    channel_norms.statistics(x, *made)
    return made


def normalized_channels(x: Any, mean: Any, scale: Any, bias: Any) -> Any:
    """As `ops.nn.batch_norm.normalized_channels`."""
    out, plus = np.empty_like(x), np.zeros(x.shape[1]) if bias is None else bias
    channel_norms.scaled(x, *(np.ascontiguousarray(v, x.dtype) for v in (mean, scale, plus)), out)
    return out


def normalized_channels_backward(x: Any, g: Any, weight: Any, mean: Any, rstd: Any, training: bool, needs: Any) -> Any:
    """As `ops.nn.batch_norm.normalized_channels_backward`."""
    sums, dots = np.zeros(x.shape[1]), np.zeros(x.shape[1])
    mean, made = np.ascontiguousarray(mean), None
    if training or needs[1] or needs[2]:
        channel_norms.sums(g, x, mean, sums, dots)
    if needs[0]:
        factor = rstd if weight is None else rstd * weight
        along, level = (v * training / (x.size // x.shape[1]) * factor for v in (dots * (rstd * rstd), sums))
        made = np.empty_like(x)
        vectors = (np.ascontiguousarray(v, x.dtype) for v in (factor, -along, -level))
        channel_norms.combined(g, x, mean, *vectors, made)
    return _needed((made, (dots * rstd).astype(g.dtype), sums.astype(g.dtype)), needs)


def normalized_groups(x: Any, groups: int, weight: Any, bias: Any, eps: float) -> Any:
    """As `ops.nn.group_norm.normalized_groups`."""
    batch, channels = x.shape[:2]
    out, mean, rstd = np.empty_like(x), *(np.empty((batch * groups, 1), x.dtype) for _ in range(2))
    by, plus = _ones(weight, channels, x), np.zeros(channels, x.dtype) if bias is None else bias
    channel_norms.group_norm(x, groups, by, plus, float(eps), out, mean.reshape(-1), rstd.reshape(-1))
    return out, mean, rstd


def normalized_groups_backward(x: Any, g: Any, groups: int, weight: Any, mean: Any, rstd: Any, needs: Any) -> Any:
    """As `ops.nn.group_norm.normalized_groups_backward`."""
    by = _ones(weight, x.shape[1], x)
    made = np.empty_like(x), np.empty_like(by), np.empty_like(by)
    channel_norms.group_norm_gradients(g, x, groups, by, mean.reshape(-1), rstd.reshape(-1), *made)
    return _needed(made, needs)


def _ones(weight: Any, count: int, like: Any) -> Any:
    return np.ones(count, like.dtype) if weight is None else weight


def _needed(made: Any, needs: Any) -> Any:
    return tuple(m if need else None for m, need in zip(made, needs, strict=True))
