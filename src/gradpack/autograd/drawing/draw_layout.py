"""Layered layout of an acyclic graph for drawing: edges downward, few crossings."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

_ROUNDS = 8  # sweeps over the layers; more of them make no visible difference


class Layout(NamedTuple):
    """Centres of nodes and polylines of edges, in the order of the arguments, and the size of the picture."""

    centres: list[tuple[float, float]]
    paths: list[list[tuple[float, float]]]
    width: float
    height: float


def layers_of(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """The layer of each node: below all nodes with an edge to it, and as close as possible above its successors.

    Raises:
        ValueError: if there is a cycle.
    """
    after: list[list[int]] = [[] for _ in range(count)]
    waiting = [0] * count
    for a, b in edges:
        after[a].append(b)
        waiting[b] += 1
    layer = [0] * count
    order = [i for i in range(count) if not waiting[i]]
    for i in order:
        for j in after[i]:
            layer[j] = max(layer[j], layer[i] + 1)
            waiting[j] -= 1
            if not waiting[j]:
                order.append(j)
    if len(order) < count:
        raise ValueError("the graph has a cycle: it has no layers")
    for i in reversed(order):
        if after[i]:
            layer[i] = min(layer[j] for j in after[i]) - 1
    return layer


def lay_out(sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]], *, gap: float = 18.0) -> Layout:
    """Compute positions for boxes of the given sizes, and paths for edges, given as pairs of indices.

    Args:
        gap: the space between neighbouring boxes; twice that between layers.
    """
    layer = layers_of(len(sizes), edges)
    depth = max(layer, default=-1) + 1
    boxes = list(sizes)
    rows: list[list[int]] = [[] for _ in range(depth)]
    for i, row in enumerate(layer):
        rows[row].append(i)
    # An edge over several layers has a bend point in each layer between.
    chains: list[list[int]] = []
    for a, b in edges:
        chain = [a]
        for row in range(layer[a] + 1, layer[b]):
            boxes.append((2.0, 2.0))
            rows[row].append(len(boxes) - 1)
            chain.append(len(boxes) - 1)
        chains.append([*chain, b])
    above: list[list[int]] = [[] for _ in boxes]
    below: list[list[int]] = [[] for _ in boxes]
    for chain in chains:
        for a, b in pairwise(chain):
            below[a].append(b)
            above[b].append(a)
    x = _across(boxes, rows, above, below, gap)
    y: list[float] = [0.0] * len(boxes)
    heights = [0.0] * len(boxes)  # of their rows
    top = gap
    for members in rows:
        height = max((boxes[i][1] for i in members), default=0.0)
        for i in members:
            y[i], heights[i] = top + height / 2, height
        top += height + 2 * gap
    left = min((x[i] - boxes[i][0] / 2 for i in range(len(boxes))), default=0.0) - gap
    right = max((x[i] + boxes[i][0] / 2 for i in range(len(boxes))), default=0.0) + gap
    paths = []
    for chain in chains:
        first, last = chain[0], chain[-1]
        path = [(x[first] - left, y[first] + boxes[first][1] / 2)]
        for i in chain[1:-1]:  # straight down beside the boxes of the row
            path += [(x[i] - left, y[i] - heights[i] / 2), (x[i] - left, y[i] + heights[i] / 2)]
        paths.append([*path, (x[last] - left, y[last] - boxes[last][1] / 2)])
    centres = [(x[i] - left, y[i]) for i in range(len(sizes))]
    return Layout(centres, paths, right - left, max(top - gap, 2 * gap))


def _across(
    boxes: list[tuple[float, float]], rows: list[list[int]], above: list[list[int]], below: list[list[int]], gap: float
) -> list[float]:
    """Horizontal positions: each box near the mean of its neighbours."""
    x = [0.0] * len(boxes)
    for members in rows:
        at = 0.0
        for i in members:
            x[i] = at + boxes[i][0] / 2
            at += boxes[i][0] + gap
    for turn in range(_ROUNDS):
        down = turn % 2 == 0
        near = above if down else below
        for members in rows if down else reversed(rows):
            wanted = {i: sum(x[j] for j in near[i]) / len(near[i]) if near[i] else x[i] for i in members}
            members.sort(key=lambda i: wanted[i])
            _separate(members, wanted, boxes, gap, x)
    return x


def _separate(
    members: list[int], wanted: dict[int, float], boxes: list[tuple[float, float]], gap: float, x: list[float]
) -> None:
    """Place the boxes of a row as near to their wanted positions as their order and the gaps allow.

    Boxes that would overlap form a group, which is placed at the mean of the wanted positions of its members.
    """
    groups: list[tuple[list[int], list[float], float]] = []  # members, their offsets in the group, its start
    for i in members:
        group, offsets = [i], [boxes[i][0] / 2]
        start = wanted[i] - boxes[i][0] / 2
        while groups:
            before, places, begin = groups[-1]
            width = places[-1] + boxes[before[-1]][0] / 2 + gap
            if begin + width <= start:
                break
            groups.pop()
            group, offsets = before + group, places + [width + o for o in offsets]
            start = sum(wanted[j] - o for j, o in zip(group, offsets, strict=True)) / len(group)
        groups.append((group, offsets, start))
    for group, offsets, start in groups:
        for i, offset in zip(group, offsets, strict=True):
            x[i] = start + offset
