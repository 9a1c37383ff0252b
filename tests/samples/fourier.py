"""Samples of Fourier transforms."""

from tests.samples.base import S, T

SAMPLES = {
    "_fft_c2c": [
        S(T(4, kind="complex"), (0,)),
        S(T(3, 5, kind="complex"), (1, 0), 1, False),
        S(T(3, 5, kind="complex"), (1,), normalization=2),
        S(T(3, 4, kind="complex")),
        S(T(0, 4, kind="complex"), (1,), 0, True),
    ],
    "_fft_r2c": [
        S(T(5)),
        S(T(3, 4), (0, 1), 1),
        S(T(4, 3), (0,), 2, False),
        S(T(2, 3, 4), (0, 1), 2, True),
        S(T(0, 4), (1,)),
        S(T(0, 4), (1,), 0, False),
    ],
    "_fft_c2r": [
        S(T(3, kind="complex"), (0,), 0, 4),
        S(T(3, kind="complex"), (0,), 1, 5),
        S(T(2, 3, 2, kind="complex"), (0, 1), 2, 5),
        S(T(1, kind="complex")),
        S(T(0, 3, kind="complex"), (1,), 0, 4),
    ],
    "_fft_doubled": [S(T(3), 0, 4), S(T(2, 3), size=5), S(T(1)), S(T(0, 3), -1, 4)],
    "_fft_resized": [S(T(3, 4), (1, 0), (6, 2)), S(T(3)), S(T(0, 3), (1,), (5,))],
}
