"""Samples of special functions, and of numbers as the machine holds them."""

from tests.samples.base import S, T


def one(low=-2.0, high=2.0, **keywords):
    return [
        S(T(2, 3, low=low, high=high), **keywords),
        S(T((), low=low, high=high), **keywords),
        S(T(0, 2, low=low, high=high), **keywords),
    ]


def two(low=0.5, high=3.0):
    def t(*shape):
        return T(*shape, low=low, high=high)

    return [S(t(2, 3), t(3)), S(t(()), t(2)), S(t(2, 1), t(())), S(t(0, 2), t(2)), S(t(()), t(()))]


NONE = {
    f"special_{name}": one(0.2, 3.0)
    for name in (
        "airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 modified_bessel_i0 modified_bessel_i1 modified_bessel_k0 "
        "modified_bessel_k1 scaled_modified_bessel_k0 scaled_modified_bessel_k1 spherical_bessel_j0"
    ).split()
}

# As in torch only the second has a gradient, so the first is of integers.
ONE_SIDED = [
    S(T(2, 3, low=2, high=5, kind="int"), T(3, low=0.5, high=3.0)),
    S(T((), low=2, high=5, kind="int"), T(2, low=0.5, high=3.0)),
    S(T(2, 1, low=2, high=5, kind="int"), T((), low=0.5, high=3.0)),
    S(T(0, 2, low=2, high=5, kind="int"), T(2, low=0.5, high=3.0)),
]

SAMPLES = {
    **NONE,
    "i0": one(),
    "special_i0e": [*one(), S(T.of([0.5, -3.0, 20.0]))],
    "special_i1": [*one(), S(T.of([0.5, -3.0]))],
    "special_i1e": [*one(), S(T.of([0.5, -3.0, 20.0]))],
    "special_entr": one(0.1, 3.0),
    "special_erfcx": one(),
    "special_log_ndtr": [*one(), S(T.of([-20.0, 5.0]))],
    "special_ndtri": one(0.1, 0.9),
    "special_xlog1py": [*two(), S(T(2), 1.5), S(2.0, T(3, low=0.5))],
    "special_zeta": [*ONE_SIDED, S(3.0, T(2, low=1.5))],
    "igamma": ONE_SIDED,
    "igammac": ONE_SIDED,
    "_betainc": [
        S(T(2, 3, low=2, high=5, kind="int"), T(3, low=1, high=4, kind="int"), T(2, 3, low=0.1, high=0.9)),
        S(T((), low=2, high=5, kind="int"), T(2, low=1, high=4, kind="int"), T((), low=0.1, high=0.9)),
        S(T(0, 2, low=2, high=5, kind="int"), T(2, low=1, high=4, kind="int"), T(2, low=0.1, high=0.9)),
    ],
    "mvlgamma": [*one(2.0, 4.0, p=3), S(T(2, low=1.0), p=1)],
    "_polynomial": [
        S(T(2, 3), T(3, low=0, high=5, kind="int")),
        S(T(3), 3, "u"),
        S(0.5, T(3, low=0, high=5), "v", True),
        S(T(4, low=-0.9, high=0.9), 20, family="w"),
        S(T.of([-1.0, 1.0]), T.of([3.0, 8.0]), family="p"),
        S(T(0, 2), T(2), family="h"),
    ],
    "frexp": [*one(1.1, 1.9), S(T.of([9.0, -0.3]))],
    "_frexp_backward": [S(T(2, 3), T(2, 3, kind="int")), S(T(()), T((), kind="int")), S(T(0), T(0, kind="int"))],
    "ldexp": [S(T(2, 3), T(3)), S(T(()), T(2)), S(T(0, 2), T(2)), S(T(()), T(())), S(T(2), T(2, kind="int"))],
    "nextafter": [S(T(2, 3), T(3)), S(T(()), T(2)), S(T(0, 2), T(2)), S(T(()), T(()))],
    "gcd": [S(T(2, 3, low=-20, high=20, kind="int"), T(3, low=-9, high=9, kind="int"))],
    "lcm": [S(T(2, 3, low=-20, high=20, kind="int"), T(3, low=-9, high=9, kind="int"))],
}
