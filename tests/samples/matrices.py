"""Samples of decompositions and solutions."""

from tests.samples.base import S, T


def regular(*shape):
    return T(*shape, form="regular")


def positive(*shape):
    return T(*shape, form="positive")


def lower(*shape):
    return T(*shape, form="lower")


def upper(*shape):
    return T(*shape, form="upper")


def hermitian(*shape):
    return T(*shape, form="hermitian")


def pivots(*values):
    return T.of(values, kind="int")


FACTORED = [S(positive(3, 3)), S(positive(2, 3, 3)), S(positive(3, 3), upper=True), S(T(0, 0)), S(T(0, 3, 3))]
RESULTS_OF_LU = [S(regular(3, 3)), S(regular(4, 2)), S(regular(2, 4)), S(regular(2, 3, 3)), S(T(0, 3)), S(T(0, 2, 2))]

SAMPLES = {
    "linalg_inv_ex": [S(regular(3, 3)), S(regular(2, 3, 3)), S(T(0, 0)), S(T(0, 3, 3))],
    "linalg_solve_ex": [
        S(regular(3, 3), T(3, 2)),
        S(regular(3, 3), T(3)),
        S(regular(2, 3, 3), T(2, 3)),
        S(regular(3, 3), T(2, 3, 2)),
        S(regular(2, 1, 3, 3), T(2, 3, 2)),
        S(regular(3, 3), T(2, 3), False),
        S(T(0, 0), T(0, 2)),
        S(regular(3, 3), T(3, 0)),
    ],
    "linalg_solve_triangular": [
        S(upper(3, 3), T(3, 2)),
        S(lower(3, 3), T(3, 2), False),
        S(regular(3, 3), T(2, 3), True, False),
        S(lower(3, 3), T(2, 3), False, False),
        S(regular(3, 3), T(3, 2), True, True, True),
        S(regular(2, 3, 3), T(3, 2), False, True, True),
        S(upper(1, 3, 3), T(2, 3, 2)),
        S(T(0, 0), T(0, 2)),
    ],
    "triangular_solve": [
        S(T(3, 2), upper(3, 3)),
        S(T(3, 2), lower(3, 3), False),
        S(T(3, 2), upper(3, 3), True, True),
        S(T(3, 2), regular(3, 3), False, True, True),
        S(T(2, 3, 2), upper(3, 3)),
        S(T(0, 2), T(0, 0)),
    ],
    "cholesky_solve": [
        S(T(3, 2), lower(3, 3)),
        S(T(3, 2), upper(3, 3), True),
        S(T(2, 3, 2), lower(3, 3)),
        S(T(0, 2), T(0, 0)),
    ],
    "cholesky_inverse": [S(lower(3, 3)), S(upper(3, 3), True), S(lower(2, 3, 3)), S(T(0, 0))],
    "linalg_cholesky_ex": FACTORED,
    "cholesky": FACTORED,
    "linalg_qr": [
        S(regular(3, 3)),
        S(regular(4, 2)),
        S(regular(2, 4)),
        S(regular(2, 3, 3)),
        S(regular(2, 4), "complete"),
        S(T(3, 0)),
    ],
    "linalg_lu_factor_ex": RESULTS_OF_LU,
    "linalg_lu": RESULTS_OF_LU,
    "lu_unpack": [S(T(3, 3)), S(T(4, 2)), S(T(2, 4)), S(T(2, 3, 3)), S(T(0, 3))],
    "linalg_lu_solve": [
        S(regular(3, 3), pivots(2, 3, 3), T(3, 2)),
        S(regular(3, 3), pivots(2, 3, 3), T(2, 3), False),
        S(regular(3, 3), pivots(2, 3, 3), T(3, 2), True, True),
        S(regular(3, 3), pivots(2, 3, 3), T(2, 3), False, True),
        S(regular(3, 3), pivots(2, 3, 3), T(2, 3, 2)),
        S(regular(2, 2, 2), pivots([2, 2], [1, 2]), T(2, 2)),
        S(regular(2, 2), pivots(2, 2), T(2, 0)),
    ],
    "linalg_eigh": [S(hermitian(3, 3)), S(hermitian(3, 3), "U"), S(hermitian(2, 3, 3)), S(T(0, 0))],
    "_eigvalsh": [S(hermitian(3, 3)), S(hermitian(3, 3), "U"), S(T(0, 0))],
    "linalg_eig": [S(regular(3, 3)), S(regular(2, 2, 2)), S(T(0, 0))],
    "_eigvals": [S(regular(3, 3)), S(T(0, 0))],
    "linalg_svd": [
        S(regular(3, 3)),
        S(regular(4, 2), False),
        S(regular(2, 4), False),
        S(regular(2, 3, 3)),
        S(T(0, 3), False),
    ],
    "_svdvals": [S(regular(3, 3)), S(T(0, 3))],
    "linalg_pinv": [
        S(regular(3, 3)),
        S(regular(4, 2)),
        S(regular(2, 4)),
        S(regular(2, 3, 2), 1e-3, 1e-4),
        S(hermitian(3, 3), None, None, True),
        S(T(0, 3)),
    ],
    "linalg_lstsq": [
        S(regular(3, 3), T(3, 2)),
        S(regular(4, 2), T(4, 2), 1e-6),
        S(regular(4, 2), T(4, 2), -1.0, "gels"),
        S(regular(4, 2), T(4), -1.0, "gelsd"),
        S(regular(2, 4), T(2, 2), -1.0, "gelss"),
        S(regular(2, 4, 2), T(2, 4, 1), -1.0, "gelsd"),
        S(regular(2, 4, 2), T(4, 1), -1.0, "gels"),
        S(T(3, 0), T(3, 2)),
    ],
    "linalg_det": [S(regular(3, 3)), S(regular(2, 3, 3)), S(T(1, 1)), S(T(0, 0)), S(T(0, 2, 2))],
    "linalg_slogdet": [S(regular(3, 3)), S(regular(2, 3, 3)), S(T(1, 1)), S(T(0, 0)), S(T(0, 2, 2))],
    "linalg_matrix_exp": [S(T(3, 3)), S(T(2, 3, 3)), S(T(3, 3, low=-9.0, high=9.0)), S(T(0, 0)), S(T(0, 2, 2))],
    "trace": [S(T(3, 3)), S(T(2, 4)), S(T(4, 2)), S(T(0, 3))],
    "linalg_cross": [S(T(2, 3), T(2, 3)), S(T(3, 2), T(3, 2), 0), S(T(2, 1, 3), T(1, 4, 3)), S(T(0, 3), T(0, 3))],
    "cdist": [
        S(T(3, 2), T(4, 2)),
        S(T(2, 3, 2), T(4, 2), 1.0),
        S(T(3, 2), T(4, 2), 3.0),
        S(T(3, 2), T(4, 2), 1.5),
        S(T(3, 2), T(4, 2), float("inf")),
        S(T(3, 2), T(4, 2), 0.0),
        S(T(3, 2), T(4, 2), 2.0, 1),
        S(T(26, 2), T(2, 2), 2.0),
        S(T(0, 2), T(4, 2)),
        S(T(3, 0), T(4, 0)),
    ],
    "_row_distance": [S(T(3, 2), T(3, 2)), S(T(3, 2), T(3, 2), 1.0), S(T(3, 2), T(3, 2), 3.0), S(T(0, 2), T(0, 2))],
    "dist": [S(T(2, 3), T(2, 3)), S(T(2, 3), T(3), 1.0), S(T(2, 3), T(2, 3), 3.0), S(T(0), T(0))],
    "renorm": [
        S(T(3, 4), 2.0, 0, 1.0),
        S(T(3, 4), 1.0, 1, 2.0),
        S(T(2, 3, 2), 3.0, -1, 0.5),
        S(T(2, 3), 2.0, 0, 100.0),
        S(T(0, 3), 2.0, 0, 1.0),
    ],
    "geqrf": [S(T(3, 3)), S(T(4, 2)), S(T(2, 4)), S(T(2, 3, 3)), S(T(0, 3))],
    "linalg_householder_product": [S(T(3, 3), T(3)), S(T(4, 3), T(2)), S(T(2, 4, 2), T(2, 2)), S(T(3, 2), T(0))],
    "linalg_ldl_factor_ex": [S(hermitian(3, 3)), S(hermitian(2, 3, 3), True), S(T(0, 0))],
    "linalg_ldl_solve": [
        S(lower(3, 3), pivots(1, 2, 3), T(3, 2)),
        S(lower(3, 3), pivots(1, 2, 3), T(2, 3, 2), True),
        S(T(0, 0), T(0, kind="int"), T(0, 2)),
    ],
}
