"""Samples of sums, means, products, variances, norms."""

import math

from tests.samples.base import S, T

# Values for which a maximum, a median and the like are unique: differences do not meet a kink.
APART = T.of([[0.3, -1.2, 2.1, 0.9], [1.7, -0.4, -2.2, 0.1], [-0.8, 1.3, 0.6, -1.9]])
LINE = T.of([0.5, -1.5, 2.5, 1.0, -0.3])
ZEROS = T.of([[2.0, 0.0, 3.0], [0.0, 0.0, 1.5], [1.2, -0.7, 0.4]])

SHAPES = [S(T(3, 4)), S(T(())), S(T(1)), S(T(0, 3)), S(T(2, 3, 4))]

# Over an int, a tuple, all; kept or not; 0-dim and zero-size.
DIMS = [
    S(T(3, 4), 0),
    S(T(3, 4), dim=-1, keepdim=True),
    S(T(2, 3, 4), (0, -1)),
    S(T(2, 3, 4), (1, 2), True),
    S(T(2, 3), None, True),
    S(T(2, 3), ()),
    S(T(()), 0),
    S(T(0, 3), 0),
    S(T(0, 3), 1, True),
    S(T(2, 3, 4), 1),
]

# One dimension.
ALONG = [
    S(T(3, 4), 0),
    S(T(3, 4), -1),
    S(T(2, 3, 2), dim=1),
    S(T(5), 0),
    S(T(1), 0),
    S(T(()), 0),
    S(T(()), -1),
    S(T(0, 3), 0),
    S(T(2, 0), 0),
]

MOMENTS = [
    S(T(3, 4)),
    S(T(3, 4), 0),
    S(T(2, 3, 4), (0, 2), 0, True),
    S(T(2, 3, 4), dim=-1, correction=0, keepdim=True),
    S(T(5), None, 2),
    S(T(4), None, 0.5),
    S(T(2, 3), (), 1, True),
    S(T(0, 3), 1, 0),
]

SAMPLES = {
    "sum": SHAPES,
    "_sum_dim": DIMS,
    "mean": [*SHAPES[:3], S(T(2, 3, 4))],
    "_mean_dim": [s for s in DIMS if s.args[0].shape != (0, 3)] + [S(T(3, 0), 0)],
    "sum_to_size": [
        S(T(3, 4), (4,)),
        S(T(3, 4), (3, 1)),
        S(T(2, 3, 4), (1, 4)),
        S(T(2, 3), (2, 3)),
        S(T(2, 3), ()),
        S(T(()), ()),
        S(T(0, 3), (1, 3)),
        S(T(2, 0), (2, 0)),
    ],
    "nansum": [*SHAPES[:3], *DIMS],
    "prod": [S(T(3, 2)), S(T(())), S(T(1)), S(T(0, 3)), S(ZEROS), S(T.of([0.0, 2.0, 3.0])), S(T.of([0.0, 2.0, 0.0]))],
    "_prod_dim": [*ALONG, S(T(3, 4), 1, True), S(ZEROS, 0), S(ZEROS, 1), S(ZEROS, -1, True)],
    "any": [
        *DIMS,
        S(T(3, 4)),
        S(T(3, 4, kind="bool"), 0),
        S(T(3, 4, kind="int"), 1),
        S(T.of([[0.0, 0.0], [0.0, 1.0]]), 1),
    ],
    "all": [
        *DIMS,
        S(T(3, 4)),
        S(T(3, 4, kind="bool"), 0),
        S(T(3, 4, kind="int"), 1),
        S(T.of([[0.0, 2.0], [3.0, 1.0]]), 1),
    ],
    "hash_tensor": [S(T(3, 4)), S(T(3, 4), 1), S(T(2, 3, 2), (0, -1), keepdim=True), S(T(), ())],
    "count_nonzero": [
        S(T(3, 4)),
        S(ZEROS, 0),
        S(ZEROS, dim=(0, -1)),
        S(T(3, 4, kind="bool"), 1),
        S(T(()), 0),
        S(T(0, 3)),
        S(T(0, 3), 0),
        S(ZEROS, ()),
    ],
    "var": MOMENTS,
    "std": MOMENTS,
    "var_mean": MOMENTS,
    "std_mean": MOMENTS,
    "linalg_vector_norm": [
        S(T(3, 4)),
        S(T(3, 4), 2, 0),
        S(T(3, 4), 1),
        S(T(2, 3, 4), 1, (0, -1), True),
        S(APART, math.inf),
        S(APART, math.inf, 1, True),
        S(APART, -math.inf, 0),
        S(T(3, 4), 3),
        S(T(3, 4), 2.5, -1),
        S(T(3, 4, low=0.5), 0.5, 0),
        S(T(3, 4, low=0.5), -1, 1),
        S(T(3, 4, low=0.5), 1.5),
        S(APART, 0),
        S(APART, 0, 1, True),
        S(T(())),
        S(T(()), 3, 0),
        S(T(0, 3)),
        S(T(0, 3), 2, 0),
        S(T(0, 3), math.inf, 1),
    ],
}
