"""Linear algebra on torch's own samples: values, dtypes, two orders of gradients, refusals."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")
pytest.importorskip("expecttest")

from tests.oracle.opinfo import report, table

NAMES = """
    cdist cholesky cholesky_inverse cholesky_solve combinations cartesian_prod corrcoef cov cross dist geqrf kron
    linalg.cholesky linalg.cholesky_ex linalg.cond linalg.cross linalg.det linalg.diagonal linalg.eig linalg.eigh
    linalg.eigvals linalg.eigvalsh linalg.householder_product linalg.inv linalg.inv_ex linalg.ldl_factor
    linalg.ldl_factor_ex linalg.ldl_solve linalg.lstsq linalg.lstsq.grad_oriented linalg.lu linalg.lu_factor
    linalg.lu_factor_ex linalg.lu_solve linalg.matrix_norm linalg.matrix_power linalg.matrix_rank
    linalg.matrix_rank.hermitian linalg.multi_dot linalg.norm linalg.pinv linalg.pinv.hermitian linalg.pinv.singular
    linalg.qr linalg.slogdet linalg.solve linalg.solve_ex linalg.solve_triangular linalg.svd linalg.svdvals
    linalg.tensorinv linalg.tensorsolve linalg.vander linalg.vecdot linalg.vector_norm logdet lu lu_solve lu_unpack
    nn.functional.pdist norm norm.fro norm.inf norm.nuc ormqr pinverse qr renorm svd trace triangular_solve
""".split()


@pytest.mark.parametrize("name", NAMES)
def test_torchs_samples(name):
    found = report(name, table()[name], limit=8)
    assert not found, "\n".join(found)
