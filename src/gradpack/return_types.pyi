"""Named tuples of multiple results: `torch.max(x, 0)` returns a `return_types.max`.

Written by `python -m tools.stubs` from declarations and signatures.
"""

from collections.abc import Iterator
from typing import NamedTuple
from .core.tensor import Tensor

class aminmax(NamedTuple):
    min: Tensor
    max: Tensor
    def __iter__(self) -> Iterator[Tensor]: ...  # some editors know no fields

class cholesky(NamedTuple):
    L: Tensor
    info: Tensor
    def __iter__(self) -> Iterator[Tensor]: ...  # some editors know no fields

class cummax(NamedTuple):
    values: Tensor
    indices: Tensor
    def __iter__(self) -> Iterator[Tensor]: ...  # some editors know no fields

class cummin(NamedTuple):
    values: Tensor
    indices: Tensor
    def __iter__(self) -> Iterator[Tensor]: ...  # some editors know no fields

class frexp(NamedTuple):
    mantissa: Tensor
    exponent: Tensor
    def __iter__(self) -> Iterator[Tensor]: ...  # some editors know no fields

class geqrf(NamedTuple):
    a: Tensor
    tau: Tensor
    def __iter__(self) -> Iterator[Tensor]: ...  # some editors know no fields

class histogram(NamedTuple):
    hist: Tensor
    bin_edges: Tensor
    def __iter__(self) -> Iterator[Tensor]: ...  # some editors know no fields

class histogramdd(NamedTuple):
    hist: Tensor
    bin_edges: tuple[Tensor, ...]

class kthvalue(NamedTuple):
    values: Tensor
    indices: Tensor
    def __iter__(self) -> Iterator[Tensor]: ...  # some editors know no fields

class linalg_cholesky_ex(NamedTuple):
    L: Tensor
    info: Tensor
    def __iter__(self) -> Iterator[Tensor]: ...  # some editors know no fields

class linalg_eig(NamedTuple):
    eigenvalues: Tensor
    eigenvectors: Tensor
    def __iter__(self) -> Iterator[Tensor]: ...  # some editors know no fields

class linalg_eigh(NamedTuple):
    eigenvalues: Tensor
    eigenvectors: Tensor
    def __iter__(self) -> Iterator[Tensor]: ...  # some editors know no fields

class linalg_inv_ex(NamedTuple):
    inverse: Tensor
    info: Tensor
    def __iter__(self) -> Iterator[Tensor]: ...  # some editors know no fields

class linalg_ldl_factor(NamedTuple):
    LD: Tensor
    pivots: Tensor
    def __iter__(self) -> Iterator[Tensor]: ...  # some editors know no fields

class linalg_ldl_factor_ex(NamedTuple):
    LD: Tensor
    pivots: Tensor
    info: Tensor
    def __iter__(self) -> Iterator[Tensor]: ...  # some editors know no fields

class linalg_lstsq(NamedTuple):
    solution: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor
    def __iter__(self) -> Iterator[Tensor]: ...  # some editors know no fields

class linalg_lu(NamedTuple):
    P: Tensor
    L: Tensor
    U: Tensor
    def __iter__(self) -> Iterator[Tensor]: ...  # some editors know no fields

class linalg_lu_factor(NamedTuple):
    LU: Tensor
    pivots: Tensor
    def __iter__(self) -> Iterator[Tensor]: ...  # some editors know no fields

class linalg_lu_factor_ex(NamedTuple):
    LU: Tensor
    pivots: Tensor
    info: Tensor
    def __iter__(self) -> Iterator[Tensor]: ...  # some editors know no fields

class linalg_qr(NamedTuple):
    Q: Tensor
    R: Tensor
    def __iter__(self) -> Iterator[Tensor]: ...  # some editors know no fields

class linalg_slogdet(NamedTuple):
    sign: Tensor
    logabsdet: Tensor
    def __iter__(self) -> Iterator[Tensor]: ...  # some editors know no fields

class linalg_solve_ex(NamedTuple):
    result: Tensor
    info: Tensor
    def __iter__(self) -> Iterator[Tensor]: ...  # some editors know no fields

class linalg_svd(NamedTuple):
    U: Tensor
    S: Tensor
    Vh: Tensor
    def __iter__(self) -> Iterator[Tensor]: ...  # some editors know no fields

class lu_unpack(NamedTuple):
    L: Tensor
    U: Tensor
    def __iter__(self) -> Iterator[Tensor]: ...  # some editors know no fields

class max(NamedTuple):
    values: Tensor
    indices: Tensor
    def __iter__(self) -> Iterator[Tensor]: ...  # some editors know no fields

class median(NamedTuple):
    values: Tensor
    indices: Tensor
    def __iter__(self) -> Iterator[Tensor]: ...  # some editors know no fields

class min(NamedTuple):
    values: Tensor
    indices: Tensor
    def __iter__(self) -> Iterator[Tensor]: ...  # some editors know no fields

class mode(NamedTuple):
    values: Tensor
    indices: Tensor
    def __iter__(self) -> Iterator[Tensor]: ...  # some editors know no fields

class nanmedian(NamedTuple):
    values: Tensor
    indices: Tensor
    def __iter__(self) -> Iterator[Tensor]: ...  # some editors know no fields

class qr(NamedTuple):
    Q: Tensor
    R: Tensor
    def __iter__(self) -> Iterator[Tensor]: ...  # some editors know no fields

class slogdet(NamedTuple):
    sign: Tensor
    logabsdet: Tensor
    def __iter__(self) -> Iterator[Tensor]: ...  # some editors know no fields

class sort(NamedTuple):
    values: Tensor
    indices: Tensor
    def __iter__(self) -> Iterator[Tensor]: ...  # some editors know no fields

class svd(NamedTuple):
    U: Tensor
    S: Tensor
    V: Tensor
    def __iter__(self) -> Iterator[Tensor]: ...  # some editors know no fields

class topk(NamedTuple):
    values: Tensor
    indices: Tensor
    def __iter__(self) -> Iterator[Tensor]: ...  # some editors know no fields

class triangular_solve(NamedTuple):
    solution: Tensor
    cloned_coefficient: Tensor
    def __iter__(self) -> Iterator[Tensor]: ...  # some editors know no fields
