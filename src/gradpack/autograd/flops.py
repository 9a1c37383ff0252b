"""Floating point operations (FLOPs) of a call, estimated from the shapes of its arguments.

As in torch, a matrix product counts one multiplication and one addition for each term of its sums, an elementwise
sum or product one operation for each element of the result.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

Shape = list[int]


def _broadcast(*shapes: Shape) -> int:
    """The number of elements of the broadcast shape."""
    ndim = max(map(len, shapes), default=0)
    padded = [[1] * (ndim - len(s)) + list(s) for s in shapes]
    return prod(max(column) if 0 not in column else 0 for column in zip(*padded, strict=True))


def _product(a: Shape, b: Shape) -> int:
    """The FLOPs of `a @ b`."""
    if not a or not b:
        return 0
    if len(b) == 1:
        return 2 * prod(a)
    batch = _broadcast(a[:-2], b[:-2])
    rows = a[-2] if len(a) > 1 else 1
    return 2 * batch * rows * a[-1] * b[-1]


def _linear(shapes: list[Any], values: list[Any]) -> int:
    return 2 * prod(shapes[0]) * (shapes[1][0] if len(shapes[1]) > 1 else 1)


def _attention(shapes: list[Any], values: list[Any]) -> int:
    query, key, value = shapes[:3]
    scores = _product(query, [*key[:-2], key[-1], key[-2]])
    return scores + _product([*query[:-1], key[-2]], value)


def _pairs(*places: int) -> Callable[[list[Any], list[Any]], int]:
    return lambda shapes, values: _product(*(shapes[i] for i in places))


def _convolution(shapes: list[Any], values: list[Any]) -> int:
    input, weight = shapes[:2]
    stride, padding, dilation, transposed = values[3:7]
    if transposed:
        return 2 * prod(input) * prod(weight[1:])
    dims = zip(input[2:], weight[2:], stride, padding, dilation, strict=True)
    places = prod((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in dims)
    return 2 * input[0] * places * prod(weight)


def _elementwise(shapes: list[Any], values: list[Any]) -> int:
    return _broadcast(*shapes[:2])


RULES: dict[str, Callable[[list[Any], list[Any]], int]] = {
    **dict.fromkeys(("matmul", "mm", "mv", "dot", "bmm"), _pairs(0, 1)),
    **dict.fromkeys(("addmm", "addmv", "baddbmm"), _pairs(1, 2)),
    "linear": _linear,
    "_attention": _attention,
    "convolution": _convolution,
    **dict.fromkeys(("add", "mul"), _elementwise),
}
