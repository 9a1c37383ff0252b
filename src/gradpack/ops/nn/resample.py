"""Resizing along each dimension: nearest elements, straight lines, cubic curves, and smooth shrinking.

Each of these is one linear map for every dimension, made of a few taps. A plan says what map to
take along each of the last dimensions: (mode, size, new size, align_corners, scale factor, double).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ...base.dtypes import float64
from ...base.errors import refuse
from ...core.tensor import Tensor
from ...declare.annotations import Array, Setting
from ...declare.decorators import linear
from ..conv.spatial import is_int
from ..shape.memory_formats import channels_as_in
from .along import Taps, put_back, taken


def _scale(size: int, count: int, align_corners: bool, factor: float | None) -> float:
    """Return the distance between the source positions of neighbouring results."""
    if align_corners:
        return (size - 1) / (count - 1) if count > 1 else 0.0
    return 1.0 / factor if factor is not None and factor > 0 else size / count


@lru_cache(maxsize=512)
def _map(mode: str, size: int, count: int, align_corners: bool, factor: float | None, double: bool) -> Taps | None:
    """The map along a dimension; None if it changes nothing."""
    real: Any = np.float64 if double else np.float32
    place = np.arange(count)
    if mode.startswith("nearest"):
        return _nearest(mode, size, count, factor)
    if size == count and (align_corners or factor is None or factor == 1.0) and not mode.endswith("smooth"):
        return None
    scale = real(_scale(size, count, align_corners, factor))
    if mode.endswith("smooth"):
        return _smooth(mode, size, count, float(scale))
    source = scale * place.astype(real) if align_corners else scale * (place.astype(real) + real(0.5)) - real(0.5)
    if mode == "linear":
        source = np.maximum(source, 0)
        first = np.minimum(source.astype(np.int64), size - 1)
        part = np.clip(source - first, 0, 1)
        return Taps(np.stack((first, np.minimum(first + 1, size - 1))), np.stack((1 - part, part)), size)
    first = np.floor(source).astype(np.int64)
    part = source - first
    index = np.clip(first + np.arange(-1, 3)[:, None], 0, size - 1)
    return Taps(index, np.stack(cubic_weights(part)), size)


def cubic_weights(part: Any) -> list[Any]:
    """The weights of the four elements around a place that lies `part` of the way from the second to the third."""
    return [_far(part + 1), _near(part), _near(1 - part), _far(2 - part)]


def _near(x: Any) -> Any:
    return ((-0.75 + 2) * x - (-0.75 + 3)) * x * x + 1


def _far(x: Any) -> Any:
    return ((-0.75 * x - 5 * -0.75) * x + 8 * -0.75) * x - 4 * -0.75


def _nearest(mode: str, size: int, count: int, factor: float | None) -> Taps | None:
    """In single precision always, as torch does it."""
    if size == count and (factor is None or factor == 1.0):
        return None
    scale = np.float32(1.0 / factor if factor is not None and factor > 0 else np.float32(size) / np.float32(count))
    place = np.arange(count).astype(np.float32)
    if mode == "nearest-exact":
        place = place + np.float32(0.5)
    index = np.minimum(np.floor(place * scale).astype(np.int64), size - 1)
    return Taps(index[None], None, size)


def _smooth(mode: str, size: int, count: int, scale: float) -> Taps:
    """Weights of a filter as wide as the step between sources, so that nothing is skipped in shrinking."""
    reach, shape = _FILTERS[mode]
    support = reach * max(scale, 1.0)
    centre = scale * (np.arange(count) + 0.5)
    start = np.maximum((centre - support + 0.5).astype(np.int64), 0)
    stop = np.minimum((centre + support + 0.5).astype(np.int64), size)
    width = np.maximum(stop - start, 0)
    steps = np.arange(max(1, int(width.max(initial=1))))[:, None]
    weight = shape((start + steps - centre + 0.5) / max(scale, 1.0))
    weight = np.where(steps < width, weight, 0.0)
    total = weight.sum(0)
    return Taps(np.minimum(start + steps, size - 1), weight / np.where(total == 0, 1.0, total), size)


def _triangle(x: Any) -> Any:
    return np.maximum(1 - np.abs(x), 0)


def _cubic(x: Any) -> Any:
    a, x = -0.5, np.abs(x)
    inner = ((a + 2) * x - (a + 3)) * x * x + 1
    outer = (((x - 5) * x + 8) * x - 4) * a
    return np.where(x < 1, inner, np.where(x < 2, outer, 0.0))


def _lanczos(x: Any) -> Any:
    return np.where(np.abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0.0)


_FILTERS = {"linear-smooth": (1.0, _triangle), "cubic-smooth": (2.0, _cubic), "lanczos-smooth": (3.0, _lanczos)}


@lru_cache(maxsize=512)
def _fixed(mode: str, size: int, count: int, align_corners: bool, factor: float | None) -> tuple[Taps, int] | None:
    """The map with weights that are integers of 16 bits, as torch resizes bytes, and how many bits stand for 1."""
    taps = _map(mode, size, count, align_corners, factor, True)
    if taps is None or taps.weight is None:
        return None if taps is None else (taps, 0)
    weight = np.array(taps.weight)
    for later in range(1, len(weight)):  # what is taken several times at an edge is taken once
        for earlier in range(later):
            same = taps.index[earlier] == taps.index[later]
            weight[earlier] += np.where(same, weight[later], 0.0)
            weight[later] = np.where(same, 0.0, weight[later])
    bits = 0
    while bits < 22 and int(0.5 + weight.max() * (1 << bits + 1)) < 1 << 15:
        bits += 1
    scaled = weight * (1 << bits)
    return Taps(taps.index, np.trunc(scaled + np.copysign(0.5, scaled)).astype(np.int64), size), bits


def _apply(input: Any, plan: Any) -> Any:
    """Resized along the last dimensions."""
    out = input
    for i in reversed(range(len(plan))):
        taps = _map(*plan[i])
        if taps is not None:
            out = taken(out, taps, i - len(plan))
    return np.array(out) if out is input else out


def _apply_to_bytes(input: Any, plan: Any) -> Any:
    """The same of bytes, rounded to bytes after each dimension."""
    out = input
    for i in reversed(range(len(plan))):
        fixed = _fixed(*plan[i][:-1])
        if fixed is not None:
            taps, bits = fixed
            out = taken(out.astype(np.int64) if bits else out, taps, i - len(plan))
            if bits:
                out = np.clip((out + (1 << bits - 1)) >> bits, 0, 255).astype(input.dtype)
    return np.array(out) if out is input else out


@linear(input=lambda g, plan: _resized(g, plan), node="UpsampleBackwardBackward0", dtypes="f")
def _resized_back(input: Array, plan: Setting) -> Any:
    """The adjoint of resizing."""
    out = input
    for i in range(len(plan)):
        taps = _map(*plan[i])
        if taps is not None:
            out = put_back(out, taps, i - len(plan))
    return np.array(out) if out is input else out


def _declared(name: str, node: str) -> Any:
    def function(input: Array, plan: Setting) -> Any:
        made = (_apply_to_bytes if input.dtype.kind == "u" else _apply)(input, plan)
        return channels_as_in(made, input)

    function.__doc__ = "Resizing along the last dimensions."
    return linear(
        input=lambda g, plan: _resized_back(g, plan), name=name, node=node, dtypes="if", saved_as=_saved_as(name)
    )(function)


def _saved_as(name: str) -> str | None:
    """Return the declaration of the saved attributes of torch's node (output_size, scales); None if it has none."""
    kind, ndim = name.removeprefix("_resize_")[:-2], int(name[-2])
    if kind not in ("linear", "cubic", "nearest", "nearest_exact") or (kind == "nearest_exact" and ndim == 3):
        return None
    scales = ("scales",) if ndim == 1 else ("scales_d", "scales_h", "scales_w")[-ndim:]
    align = "" if kind.startswith("nearest") else "align_corners=plan.align "
    return f"{align}output_size=plan.sizes " + " ".join(f"{s}=plan[{i}][4]" for i, s in enumerate(scales))


# torch's node for each mode and number of dimensions
_NODES = {
    **{("nearest", n): f"UpsampleNearest{n}DBackward0" for n in (1, 2, 3)},
    **{("nearest-exact", n): f"UpsampleNearestExact{n}DBackward0" for n in (1, 2, 3)},
    ("linear", 1): "UpsampleLinear1DBackward0",
    ("linear", 2): "UpsampleBilinear2DBackward0",
    ("linear", 3): "UpsampleTrilinear3DBackward0",
    ("cubic", 2): "UpsampleBicubic2DBackward0",
    ("linear-smooth", 2): "UpsampleBilinear2DAaBackward0",
    ("cubic-smooth", 2): "UpsampleBicubic2DAaBackward0",
    ("lanczos-smooth", 2): "UpsampleLanczos2DAaBackward0",
}
RESIZE = {(mode, n): _declared(f"_resize_{mode.replace('-', '_')}{n}d", node) for (mode, n), node in _NODES.items()}
_resized = RESIZE["nearest", 1]


_MAPS = {"bilinear": "linear", "trilinear": "linear", "bicubic": "cubic"}


def _resize(input: Tensor, size: Any, factors: Any, mode: str, align_corners: bool, antialias: bool) -> Any:
    refuse(f"upsample_{mode}", input._spec.dtype, "blic" if mode not in ("linear", "trilinear") else "bluic")
    space = input._shape[2:]
    if size is None:
        for f in factors:
            if not isinstance(f, int | float):
                raise TypeError(f"interpolate(): scale_factor must be a number, not {type(f).__name__}")
            if not math.isfinite(f):
                raise RuntimeError(f"interpolate(): value cannot be converted to type int64_t without overflow: {f}")
        size = [math.floor(float(n) * f) for n, f in zip(space, factors, strict=True)]
    if not all(is_int(n) for n in size):
        raise TypeError(f"interpolate(): size must be an int, not {type(size[0]).__name__}")
    if min(space) <= 0 or min(size) <= 0:
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input {_named(space)} output {_named(size)}"
        )
    if not input._shape[1]:
        raise RuntimeError(
            f"Non-empty {input.ndim}D data tensor expected but got a tensor with sizes {list(input._shape)}"
        )
    name = _MAPS.get(mode, mode) + "-smooth" * antialias
    double = input.dtype is float64
    plan = tuple(
        (name, n, int(m), align_corners, None if f is None else float(f), double)
        for n, m, f in zip(space, size, factors or [None] * len(space), strict=True)
    )
    return RESIZE[name, len(space)](input, plan)


def _named(sizes: Any) -> str:
    return "(" + ", ".join(f"{name}: {n}" for name, n in zip("DHW"[3 - len(sizes) :], sizes, strict=True)) + ")"
