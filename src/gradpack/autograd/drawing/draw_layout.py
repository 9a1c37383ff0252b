"""Where the nodes of a graph without cycles go in a picture: in layers, edges downward, few crossings."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

_ROUNDS = 8  # sweeps over the layers; more change nothing that one would see


class Layout(NamedTuple):
    """Centres of nodes, and the points that each edge goes through, in the order in which they were given."""

    centres: list[tuple[float, float]]
    paths: list[list[tuple[float, float]]]
    width: float
    height: float


def layers_of(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """For each node the layer that it is in: below all nodes with an edge to it, and close above one that it leads to.

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
    """Positions for boxes of the given sizes, and for edges from the first to the second of each pair.

    Args:
        gap: the space between boxes side by side; layers are twice that apart.
    """
    layer = layers_of(len(sizes), edges)
    depth = max(layer, default=-1) + 1
    boxes = list(sizes)
    rows: list[list[int]] = [[] for _ in range(depth)]
    for i, row in enumerate(layer):
        rows[row].append(i)
    # An edge over several layers goes through a point in each of those between.
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
    heights = [0.0] * len(boxes)  # of the rows that they are in
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
    """Positions from left to right: each box near the middle of those that it is connected with."""
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
    """Put boxes of a row as near to where they want to be as their order and the gaps between them allow.

    Boxes that would overlap are pushed together into a group, whose middle is the mean of what its members want.
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
