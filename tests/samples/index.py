"""Samples of gradpack.ops.index.index, .index_dim, .scatter, .scatter_reduce and .masked.

Masks have equal rows, because one check repeats the first row of every leaf. Places that are written
twice occur only where the result does not depend on the order: the gradient of an element that was
overwritten is that of torch, not the limit of differences.
"""

from __future__ import annotations

from tests.samples.base import S, T

FULL = slice(None)

ROWS = T.of([0, 2, 1])
TWICE = T.of([1, 1, 0])
PLACES = T.of([[0, 2], [1, 0]])  # no place twice along either dimension
SAME = T.of([[0, 0, 2], [1, 1, 1]])
MASK = T.of([[True, False, True], [True, False, True]])
NOTHING = T.of([], kind="int")

SAMPLES = {
    "slice": [
        S(T(4, 3), (slice(1, 3), ...)),
        S(T(4, 3), (FULL, slice(0, 3, 2))),
        S(T(4, 3), (slice(-2, None), 0, ...)),
        S(T(4, 3, 2), (..., slice(1, None))),
        S(T(4, 3), (slice(3, 1), ...)),
        S(T(()), (...,)),
        S(T(0, 3), (slice(0, 2), ...)),
    ],
    "select": [
        S(T(4, 3), (1, ...)),
        S(T(4, 3), (FULL, -1)),
        S(T(4, 3), (slice(1, 3), 0, ...)),
        S(T(4), (2, ...)),
        S(T(2, 0), (1, ...)),
    ],
    "newaxis": [S(T(3, 2), (None, ...)), S(T(3, 2), (FULL, None, ...)), S(T(()), (None, ...)), S(T(0, 2), (..., None))],
    "slice_newaxis": [
        S(T(3, 2), (slice(0, 2), None, ...)),
        S(T(3, 2), (1, None, ...)),
        S(T(0, 2), (slice(0, 1), ..., None)),
    ],
    "alias": [S(T(3, 2)), S(T(())), S(T(0, 2))],
    "_fw_primal": [S(T(3, 2)), S(T(())), S(T(0, 2))],
    "slice_backward": [
        S(T(2, 3), (4, 3), (slice(1, 3), ...)),
        S(T(3), (4, 3), (1, ...)),
        S(T(()), (2, 2), (0, 1, ...)),
        S(T(0, 3), (4, 3), (slice(2, 2), ...)),
    ],
    "zeros_as": [S(T(3, 2), (4,)), S(T(()), ()), S(T(0, 2), (0, 1))],
    "index_along": [
        S(T(3, 4), ROWS),
        S(T(3, 4), TWICE, 1),
        S(T(3, 4), T.of([[0, -1], [2, 2]])),
        S(T(2, 3, 2), MASK, 0),
        S(T(2, 2, 3), T.of([True, False, True]), 2),
        S(T(3, 4), NOTHING, 1),
        S(T(0, 3), NOTHING),
    ],
    "index_along_backward": [
        S(T(3, 2), TWICE, (4, 2)),
        S(T(2, 3), TWICE, (2, 4), 1),
        S(T(2, 2, 3), T.of([[0, -1], [2, 2]]), (4, 3)),
        S(T(4, 2), MASK, (2, 3, 2)),
        S(T(0, 3), NOTHING, (4, 3)),
    ],
    "index_pair": [
        S(T(3, 4), ROWS, T.of([3, 3, 0])),
        S(T(3, 4, 2), T.of([[0], [-1]]), TWICE),
        S(T(3, 4), NOTHING, NOTHING),
        S(T(0, 3), NOTHING, T.of([1])),
    ],
    "index_pair_backward": [
        S(T(3), TWICE, T.of([2, 2, -1]), (2, 3)),
        S(T(2, 3, 2), T.of([[0], [-1]]), TWICE, (3, 4, 2)),
        S(T(0), NOTHING, NOTHING, (2, 3)),
    ],
    "index": [
        S(T(3, 4), [ROWS, T.of([3, 3, 0])]),
        S(T(2, 3, 4), [None, T.of([[0], [2]]), T.of([1, -1])]),
        S(T(2, 3, 4), [T.of([1, 1]), None, T.of([0, 3])]),
        S(T(2, 3, 3), [MASK, T.of([0, 1, 2, 0])]),
        S(T(2, 3), [NOTHING, NOTHING]),
        S(T(0, 3), [NOTHING, T.of([1])]),
    ],
    "index_backward": [
        S(T(3), [T.of([1, 1, 0]), T.of([2, 2, 0])], (2, 3)),
        S(T(2, 2, 3), [T.of([[0, 1], [1, 1]]), None], (2, 3)),
        S(T(2, 2), [None, T.of([0, 0]), T.of([1, 1])], (2, 3, 4)),
        S(T(0), [NOTHING, NOTHING], (2, 3)),
    ],
    "put": [
        S(T(2, 3), T.of([0, -1, 3]), T(3)),
        S(T(2, 3), T.of([[0, 1], [1, 4]]), T(4), True),
        S(T(()), T.of([0]), T(1)),
        S(T(2, 3), T.of([], "int"), T(0)),
    ],
    "put_backward": [S(T(2, 3), T.of([0, -1])), S(T(()), T.of([0])), S(T(2, 3), T.of([], "int"))],
    "index_put": [
        S(T(3, 4), [ROWS, T.of([3, 1, 0])], T(3)),
        S(T(3, 4), [TWICE], T(3, 4), True),
        S(T(3, 4), [TWICE], T(4), True),
        S(T(3, 4), [None, T.of([0, 2])], T(())),
        S(T(2, 3), [MASK], T(4)),
        S(T(2, 3), [MASK], T(1), True),
        S(T(3, 4), [NOTHING], T(0, 4)),
    ],
    "index_put_backward": [
        S(T(3, 4), [ROWS, TWICE]),
        S(T(2, 3), [MASK]),
        S(T(3, 2), [None, T.of([1])]),
        S(T(0, 2), [NOTHING]),
    ],
    "gather": [
        S(T(2, 3), 1, T.of([[0, 2], [1, 1]])),
        S(T(2, 3), 0, T.of([[0, 0, 1], [1, 1, 1], [0, 1, 0]])),
        S(T(3, 4), -1, T.of([[3]])),
        S(T(4), 0, T.of([2, 2, 0, 1, 1])),
        S(T(()), 0, T.of(0)),
        S(T(2, 3), 1, T.of([[], []], kind="int")),
        S(T(0, 3), 0, T.of([], kind="int")),
    ],
    "gather_backward": [
        S(T(2, 3), SAME, (2, 3), 1),
        S(T(2, 1), T.of([[2], [0]]), (3, 3), -1),
        S(T(()), T.of(0), (3,), 0),
        S(T(0), NOTHING, (3,), 0),
    ],
    "scatter": [
        S(T(2, 3), 1, PLACES, T(2, 2)),
        S(T(3, 2), 0, T.of([[2, 0], [0, 1]]), T(2, 2)),
        S(T(4), -1, T.of([2]), T(1)),
        S(T(()), 0, T.of(0), T(())),
        S(T(2, 3), 1, T.of([[], []], kind="int"), T(2, 0)),
    ],
    "scatter_value": [
        S(T(2, 3), 1, PLACES),
        S(T(2, 3), 1, SAME, 2.5),
        S(T(3, 2), -2, T.of([[2, 0]]), 1),
        S(T(()), 0, T.of(0), 3),
        S(T(0, 2), 0, T.of([], kind="int"), 3),
    ],
    "scatter_add": [
        S(T(2, 3), 1, SAME, T(2, 3)),
        S(T(3, 2), 0, T.of([[2, 0], [2, 1]]), T(2, 2)),
        S(T(4), -1, T.of([2, 2]), T(2)),
        S(T(()), 0, T.of(0), T(())),
        S(T(2, 3), 1, T.of([[], []], kind="int"), T(2, 0)),
    ],
    "scatter_reduce": [
        S(T(2, 3), 1, SAME, T(2, 3)),
        S(T(2, 3), 1, SAME, T(2, 3), True),
        S(T(2, 3), 1, SAME, T(2, 3), True, False),
        S(T(2, 3), -1, SAME, T(2, 3), False, False),
        S(T(()), 0, T.of(0), T(()), True),
        S(T(0), 0, NOTHING, T(0), True),
    ],
    "scatter_hits": [S(T(2, 3), 1, SAME), S(T(2, 3), -1, SAME, False), S(T(()), 0, T.of(0)), S(T(0), 0, NOTHING)],
    "scatter_prod": [
        S(T(2, 3, low=0.5), 1, SAME, T(2, 3, low=0.5)),
        S(T(2, 3, low=0.5), -1, SAME, T(2, 3, low=0.5), False),
        S(T(()), 0, T.of(0), T(())),
        S(T(0), 0, NOTHING, T(0)),
    ],
    "_of_segments": [
        *(S(T(2, 3, low=0.5), T.of([[0, 0, 1], [0, 1, 1]]), 2, 1, kind, 1.0) for kind in ("prod", "max", "min")),
        S(T(3, low=0.5), T.of([0, 0, 1]), 1, 0, "prod", 2.0),
        S(T(0, 2), T(0, 2, kind="int"), 2, 0, "max", 0.0),
    ],
    "scatter_extreme": [
        S(T(2, 3), 1, SAME, T(2, 3)),
        S(T(2, 3), -1, SAME, T(2, 3), False),
        S(T(2, 3), 1, SAME, T(2, 3), True, False),
        S(T(()), 0, T.of(0), T(())),
        S(T(0), 0, NOTHING, T(0)),
    ],
    "index_select": [
        S(T(3, 4), 0, ROWS),
        S(T(3, 4), 1, TWICE),
        S(T(2, 3, 4), -2, TWICE),
        S(T(3, 4), -1, T.of(2)),
        S(T(()), 0, T.of([0])),
        S(T(3, 4), 0, NOTHING),
        S(T(2, 0), 0, T.of([1, 1])),
    ],
    "_counted": [S(T.of([0, 2, -1]), 3, True), S(T.of([[1, 0]]), 2, False), S(T.of(1), 2, True), S(NOTHING, 3, True)],
    "index_select_backward": [
        S(T(3, 2), TWICE, (4, 2)),
        S(T(2, 3), TWICE, (2, 4), -1),
        S(T(2, 1), T.of(2), (2, 4), 1),
        S(T(()), T.of([0]), (), 0),
        S(T(0, 2), NOTHING, (4, 2)),
    ],
    "index_add": [
        S(T(4, 2), 0, TWICE, T(3, 2)),
        S(T(2, 4), 1, TWICE, T(2, 3), alpha=2),
        S(T(2, 4), -1, T.of([3]), T(2, 1), alpha=0.5),
        S(T(()), 0, T.of(0), T(())),
        S(T(4, 2), 0, NOTHING, T(0, 2)),
    ],
    "index_add_scale": [S(T(3, 2), 2.5), S(T(3, 2), -1), S(T(())), S(T(0, 2), 3)],
    "index_copy": [
        S(T(4, 2), 0, ROWS, T(3, 2)),
        S(T(2, 4), -1, ROWS, T(2, 3)),
        S(T(()), 0, T.of(0), T(())),
        S(T(4, 2), 0, NOTHING, T(0, 2)),
    ],
    "index_fill": [
        S(T(4, 2), 0, ROWS),
        S(T(2, 4), -1, T.of([0, -1, 0]), 2.5),
        S(T(()), 0, T.of(0), 1),
        S(T(4, 2), 1, NOTHING, 1),
    ],
    "index_fill_tensor": [
        S(T(4, 2), 0, ROWS, T(())),
        S(T(2, 4), -1, T.of([0, -1, 0]), T(())),
        S(T(()), 0, T.of(0), T(())),
        S(T(4, 2), 1, NOTHING, T(())),
    ],
    "take": [
        S(T(2, 3), T.of([0, 5, -1])),
        S(T(2, 3), T.of([[1, 1], [4, 1]])),
        S(T(2, 3), T.of(3)),
        S(T(()), T.of([0, 0])),
        S(T(0, 2), NOTHING),
    ],
    "masked_fill": [
        S(T(2, 3), MASK, 0),
        S(T(2, 3), MASK, 2.5),
        S(T(2, 3), T.of([True, False, True]), -1),
        S(T(3), MASK, 1.0),
        S(T(2, 1), MASK, 1.0),
        S(T(()), T.of(True), 3.0),
        S(T(0, 3), T(0, 3, kind="bool"), 3.0),
    ],
    "masked_fill_tensor": [
        S(T(2, 3), MASK, T(())),
        S(T(2, 3), T.of([[True], [False]]), T(())),
        S(T(3), MASK, T(())),
        S(T(()), T.of(True), T(())),
        S(T(0, 3), T(0, 3, kind="bool"), T(())),
    ],
    "masked_keep": [S(T(2, 3), MASK), S(T(()), T.of(False)), S(T(0), T(0, kind="bool"))],
    "masked_select": [
        S(T(2, 3), MASK),
        S(T(3), MASK),
        S(T(2, 3), T.of([[True], [False]])),
        S(T(()), T.of(True)),
        S(T(0, 3), T(0, 3, kind="bool")),
    ],
    "masked_select_backward": [
        S(T(4), MASK, (2, 3)),
        S(T(4), T.of([[True, False, True]]), (2, 3)),
        S(T(1), T.of(True), ()),
        S(T(0), T(0, kind="bool"), (0,)),
    ],
    "masked_scatter": [
        S(T(2, 3), MASK, T(4)),
        S(T(2, 3), T.of([True, False, True]), T(2, 3)),
        S(T(3), MASK, T(2, 3)),
        S(T(()), T.of(True), T(2)),
        S(T(0), T(0, kind="bool"), T(0)),
    ],
    "masked_scatter_backward": [S(T(3), (2, 3)), S(T(0), (2,)), S(T(4), (4,)), S(T(0), (0, 2))],
    "nonzero": [S(T(3, 4)), S(MASK), S(T.of([0, 3, 0, 1])), S(T.of(0.0)), S(T.of(2)), S(T(0, 3))],
    "select_scatter": [S(T(3, 4), T(4), 0, 1), S(T(3, 4), T(3), -1, -2), S(T(3), T(()), 0), S(T(2, 0), T(0), 0, 1)],
    "slice_scatter": [
        S(T(4, 3), T(2, 3), 0, 1, 3),
        S(T(4, 3), T(4, 2), -1, 0, None, 2),
        S(T(4, 3), T(4, 3)),
        S(T(4, 3), T(1, 3), 0, -1),
        S(T(4, 3), T(0, 3), 0, 2, 2),
    ],
    "diagonal_scatter": [
        S(T(3, 4), T(3)),
        S(T(3, 4), T(2), 2),
        S(T(4, 3), T(3), -1),
        S(T(2, 3, 3), T(3, 2), 0, 0, -1),
        S(T(2, 3, 3), T(2, 2), offset=-1, dim1=1, dim2=2),
        S(T(2, 2), T(0), 5),
    ],
}
