"""`torch.linalg`: decompositions, solutions and norms of matrices, with their gradients."""

from __future__ import annotations

from ..base.errors import LinAlgError
from ..declare.signature.wrapper import wrap_module as _wrap_module
from ..ops.linalg.factor import linalg_cholesky as cholesky
from ..ops.linalg.factor import linalg_cholesky_ex as cholesky_ex
from ..ops.linalg.factor import linalg_qr as qr
from ..ops.linalg.least_squares import linalg_lstsq as lstsq
from ..ops.linalg.least_squares import linalg_pinv as pinv
from ..ops.linalg.lu import linalg_lu as lu
from ..ops.linalg.lu import linalg_lu_factor as lu_factor
from ..ops.linalg.lu import linalg_lu_factor_ex as lu_factor_ex
from ..ops.linalg.lu import linalg_lu_solve as lu_solve
from ..ops.linalg.matrix_functions import linalg_matrix_exp as matrix_exp
from ..ops.linalg.matrix_functions import linalg_matrix_power as matrix_power
from ..ops.linalg.matrix_functions import multi_dot
from ..ops.linalg.norm import cond, matrix_norm, matrix_rank, norm, vector_norm
from ..ops.linalg.packed_factors import householder_product, ldl_factor, ldl_factor_ex, ldl_solve
from ..ops.linalg.products import matmul
from ..ops.linalg.solve import linalg_det as det
from ..ops.linalg.solve import linalg_inv as inv
from ..ops.linalg.solve import linalg_inv_ex as inv_ex
from ..ops.linalg.solve import linalg_slogdet as slogdet
from ..ops.linalg.solve import linalg_solve as solve
from ..ops.linalg.solve import linalg_solve_ex as solve_ex
from ..ops.linalg.solve import linalg_tensorinv as tensorinv
from ..ops.linalg.solve import linalg_tensorsolve as tensorsolve
from ..ops.linalg.spectral import linalg_eig as eig
from ..ops.linalg.spectral import linalg_eigh as eigh
from ..ops.linalg.spectral import linalg_eigvals as eigvals
from ..ops.linalg.spectral import linalg_eigvalsh as eigvalsh
from ..ops.linalg.svd import linalg_svd as svd
from ..ops.linalg.svd import linalg_svdvals as svdvals
from ..ops.linalg.triangular import linalg_solve_triangular as solve_triangular
from ..ops.linalg.vectors import linalg_diagonal as diagonal
from ..ops.linalg.vectors import linalg_vander as vander
from ..ops.linalg.vectors import public_cross as cross
from ..ops.linalg.vectors import vecdot

__all__ = [
    "LinAlgError",
    "cholesky",
    "cholesky_ex",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "householder_product",
    "inv",
    "inv_ex",
    "ldl_factor",
    "ldl_factor_ex",
    "ldl_solve",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "lu_solve",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vander",
    "vecdot",
    "vector_norm",
]

_wrap_module(globals(), __all__, "linalg_")
