"""`grouped_mm` of `torch.nn.functional`: products of groups of rows with a matrix each, as mixtures of experts have."""

from __future__ import annotations

from itertools import pairwise

from ...base.dtypes import bfloat16, dtype, float16, float32, int32
from ...base.errors import scalar_type
from ...core.tensor import Tensor
from ...ops.linalg.products import bmm, mm
from ...ops.shape.join import cat, stack
from .._public import give_all


def grouped_mm(
    mat_a: Tensor,
    mat_b: Tensor,
    *,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: dtype | None = None,
) -> Tensor:
    """Products of matrices in groups, which `offs` delimits in a matrix of two dimensions.

    Args:
        mat_a: `(groups, n, k)`, or the rows of all groups, `(n, k)`; with a `mat_b` of two dimensions the columns.
        mat_b: `(groups, k, m)`, or the columns of all groups, `(k, m)`; with a `mat_a` of two dimensions the rows.
        offs: where each group ends, in the dimension that is divided; None if both matrices have three dimensions.
        bias: not supported, as in torch.
        out_dtype: that of `mat_a`.

    Returns:
        `(n, m)` if one matrix has two dimensions, else `(groups, n, m)`. Where no group reaches, it is zero.

    Raises:
        RuntimeError: for matrices or offsets that do not fit together, and dtypes but float32, bfloat16 and float16.

    Example::

        >>> import gradpack as torch
        >>> tokens, experts = torch.ones(3, 2), torch.tensor([1.0, 10.0]).reshape(2, 1, 1).expand(2, 2, 1)
        >>> torch.nn.functional.grouped_mm(tokens, experts, offs=torch.tensor([1, 3], dtype=torch.int32))
        tensor([[ 2.],
                [20.],
                [20.]])
    """
    _check(mat_a, mat_b, offs, bias, out_dtype)
    if offs is None:
        return bmm(mat_a, mat_b)
    ends: list[int] = offs.tolist()
    groups = [slice(low, high) for low, high in pairwise([0, *ends])]
    across = mat_b.dim() == 2
    divided = mat_a.shape[1 if across else 0] if mat_a.dim() == 2 else mat_b.shape[1]
    if not all(0 <= g.start <= g.stop <= divided for g in groups):
        raise RuntimeError(f"grouped_mm(): offs must rise from 0 to at most {divided}, and are {ends}")
    if mat_a.dim() == 2 and across:
        return stack([mm(mat_a[:, g], mat_b[g]) for g in groups])
    dim = 1 if across else 0
    parts = [mm(mat_a[i], mat_b[:, g]) if across else mm(mat_a[g], mat_b[i]) for i, g in enumerate(groups)]
    if ends[-1] < divided:
        parts.append((mat_b[0] if not across else mat_a[0]).new_zeros(_rest(mat_a, mat_b, divided - ends[-1])))
    return cat(parts, dim)


def _rest(a: Tensor, b: Tensor, left: int) -> tuple[int, int]:
    return (a.shape[1], left) if b.dim() == 2 else (left, b.shape[2])


def _check(a: Tensor, b: Tensor, offs: Tensor | None, bias: Tensor | None, out_dtype: dtype | None) -> None:
    for name, matrix in (("mat_a", a), ("mat_b", b)):
        if matrix.dtype not in (float32, bfloat16, float16):
            raise RuntimeError(
                f"Expected {name} to be Float32, BFloat16 or Float16 matrix, got {scalar_type(matrix.dtype)}"
            )
        if matrix.dim() not in (2, 3):
            raise RuntimeError(f"{name} has to be 2 or 3d, and has shape {list(matrix.shape)}")
    if a.shape[-1] != b.shape[-2]:
        raise RuntimeError(
            f"contraction dimension of mat_a and mat_b must match: the shapes are {list(a.shape)} and {list(b.shape)}"
        )
    if (offs is None) is (a.dim() == 2 or b.dim() == 2):
        raise RuntimeError("Have to provide offsets if there is a 2d matrix, or no offset if both matrices are 3d")
    if offs is not None and offs.dtype is not int32:
        raise RuntimeError(f"Offsets have to be int32, and are {offs.dtype}")
    if offs is not None and offs.dim() != 1:
        raise RuntimeError(f"offs has to be 1D, and has shape {list(offs.shape)}")
    counts = [m.shape[0] for m in (a, b) if m.dim() == 3] + ([] if offs is None else [offs.shape[0]])
    if len(set(counts)) > 1:
        raise RuntimeError(f"matrix batch sizes have to match: there are {' and '.join(map(str, counts))} groups")
    if bias is not None:
        raise RuntimeError("Bias not supported yet")
    if out_dtype is not None and out_dtype is not a.dtype:
        raise RuntimeError(f"Grouped gemm output dtype must match `mat_a` dtype: {out_dtype} and {a.dtype}")
    if a.dtype is not b.dtype:
        raise RuntimeError(f"grouped_mm(): mat_a and mat_b must have one dtype: {a.dtype} and {b.dtype}")


give_all(globals())
