"""Samples of losses."""

from tests.samples.base import S, T

TARGET = T.of([0, 2, 1, 2])

SAMPLES = {
    "_squared_difference": [S(T(2, 3), T(2, 3)), S(T(2, 3), T(3)), S(T(()), T(())), S(T(0, 3), T(0, 3))],
    "_take_by_class": [
        S(T(4, 3), TARGET, T(4)),
        S(T(2, 3, 2), T.of([[0, 2], [1, 1]]), T(2, 2)),
        S(T(0, 3), T.of([], "int"), T(0)),
    ],
    "_put_by_class": [
        S(T(4), TARGET, T(4), (4, 3)),
        S(T(2, 2), T.of([[0, 2], [1, 1]]), T(2, 2), (2, 3, 2)),
        S(T(0), T.of([], "int"), T(0), (0, 3)),
    ],
}
SAMPLES["_mean_squared_difference"] = [S(T(2, 3), T(2, 3)), S(T(()), T(()))]
