"""Samples of `linear` and `bilinear`."""

from tests.samples.base import S, T

SAMPLES = {
    "linear": [
        S(T(2, 3), T(4, 3), T(4)),
        S(T(2, 3), T(4, 3)),
        S(T(3), T(4, 3), T(4)),
        S(T(2, 5, 3), T(4, 3), T(4)),
        S(T(2, 3), T(3), T(())),
        S(T(0, 3), T(4, 3), T(4)),
    ],
    "bilinear": [
        S(T(2, 3), T(2, 4), T(5, 3, 4), T(5)),
        S(T(2, 3), T(2, 4), T(5, 3, 4)),
        S(T(2, 2, 3), T(2, 2, 4), T(1, 3, 4)),
        S(T(0, 3), T(0, 4), T(5, 3, 4)),
        S(T(2, 3), T(2, 4), T(0, 3, 4), T(0)),
    ],
    "_over_rows": [S(T(2, 3)), S(T(2, 4, 3)), S(T(0, 3))],
    "_triple": [S("bo,oij,bj->bi", T(2, 3), T(3, 4, 5), T(2, 5)), S("bo,oij,bj->bi", T(0, 3), T(3, 4, 5), T(0, 5))],
}
