"""Samples of folding, shuffling and resizing."""

from tests.samples.base import S, T

SMALL = ((2, 2), (1, 2), (0, 1), (1, 1), (3, 3))
DILATED = ((2, 2), (1, 1), (1, 0), (2, 1), (4, 4))


def plan(mode: str, *sizes: tuple[int, int], align: bool = False, factor: float | None = None) -> tuple:
    return tuple((mode, n, m, align, factor, True) for n, m in sizes)


def resizes(mode: str, ndim: int) -> list[S]:
    sizes = ((3, 5), (4, 3), (3, 4))[:ndim]
    aligned = mode in ("linear", "cubic")
    return [
        S(T(2, 2, *(n for n, _ in sizes)), plan(mode, *sizes)),
        S(T(2, *(n for n, _ in sizes)), plan(mode, *sizes, align=aligned)),
        S(T(1, *(n for n, _ in sizes)), plan(mode, *((n, n * 2) for n, _ in sizes), factor=2.0)),
        S(T(0, *(n for n, _ in sizes)), plan(mode, *sizes)),
    ]


KINDS = [("nearest", 1), ("nearest", 2), ("nearest", 3), ("nearest-exact", 1), ("nearest-exact", 2)]
KINDS += [("nearest-exact", 3), ("linear", 1), ("linear", 2), ("linear", 3), ("cubic", 2)]
KINDS += [("linear-smooth", 2), ("cubic-smooth", 2), ("lanczos-smooth", 2)]

SAMPLES = {
    "_im2col": [S(T(2, 3, 4, 5), SMALL), S(T(2, 1, 4, 5), DILATED), S(T(0, 3, 4, 5), SMALL)],
    "_col2im": [S(T(2, 12, 9), (4, 5), SMALL), S(T(2, 4, 16), (4, 5), DILATED), S(T(0, 12, 9), (4, 5), SMALL)],
    "_shuffled": [S(T(2, 8, 2, 3), 2), S(T(9, 1, 2), 3), S(T(0, 4, 2, 3), 2)],
    "_shuffled_back": [S(T(2, 2, 4, 6), 2), S(T(1, 3, 6), 3), S(T(0, 1, 4, 6), 2)],
    "_channels_shuffled": [S(T(2, 6, 2), 3), S(T(1, 6, 2, 2), 2), S(T(0, 6, 2), 3)],
    **{f"_resize_{mode.replace('-', '_')}{ndim}d": resizes(mode, ndim) for mode, ndim in KINDS},
    "_resized_back": [
        S(T(2, 5, 3), plan("linear", (3, 5), (4, 3))),
        S(T(2, 40), plan("nearest", (2, 40))),
        S(T(2, 70), plan("nearest", (4, 70))),
        S(T(0, 5, 3), plan("linear", (3, 5), (4, 3))),
    ],
}
