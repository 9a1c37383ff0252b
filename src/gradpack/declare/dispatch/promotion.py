"""The dtype that an operation computes in, and that of its result, from the dtypes of its operands."""

from __future__ import annotations

from typing import Any

from ...base import dtypes
from ...base.dtypes import FLOATING, complex32, dtype
from ...base.errors import not_implemented_for, scalar_type
from ...core.tensor import Tensor
from ..op import Op
from .refused_dtypes import refuse_rare


def rounded_to(op: Op, result: dtype | None, compute: dtype | None) -> dtype | None:
    """Return the 16-bit dtype that operands are rounded to before computing, for operations that `rounds`; else None.

    Comparisons, which result in bools, compute in the dtype of their operands.
    """
    found = compute if op.result == "bool" else result
    return found if op.rounds and found is not None and found.low and found.category == FLOATING else None


def dtypes_of(
    op: Op, values: list[Any], index: dict[str, int], tensors: list[Tensor]
) -> tuple[dtype | None, dtype | None]:
    """The dtype of the result (None: that of the array that comes out), and the one to compute in."""
    full: list[dtype] = []
    zero: list[dtype] = []
    scalars: list[dtype] = []
    for p in (*op.promote, *op.lists):
        value = values[index[p]]
        for v in value if p in op.lists else (value,):
            if isinstance(v, Tensor):
                (full if v._shape else zero).append(v._spec.dtype)
            elif v is not None:
                scalars.append(dtypes.operand_dtype(v))
    if not full and not zero and not scalars:
        return (dtypes.bool_ if op.result == "bool" else dtypes.int64 if op.result == "index" else None), None
    common = dtypes.result_dtype(full, zero, scalars)
    letter = "bifc"[common.category]
    if letter not in op.dtypes and (common.low or letter.upper() not in op.dtypes):
        raise not_implemented_for(op.name, common)
    refuse_rare(op, common)
    if op.result == "float" and common.category < FLOATING:
        common = dtypes.get_default_dtype()
    as_it_is = op.view or (op.data_movement and common is not complex32)  # NumPy can only move complex32 elements
    compute = common if as_it_is else dtypes.computed_in(common)
    if op.result == "bool":
        return dtypes.bool_, common if op.rounds and common.category == FLOATING else compute
    if op.result == "index":
        return dtypes.int64, compute
    if op.result == "sum":
        return (dtypes.int64 if common.category < FLOATING else common), compute
    if op.result == "real":
        return common.to_real(), compute
    if op.result == "complex":
        return common.to_complex(), compute
    if op.result is None:
        return (common if common.low and not as_it_is else None), compute
    return common, compute


def check_uniform(op: Op, values: list[Any], index: dict[str, int]) -> None:
    found = {p: v._spec.dtype for p in op.inputs if isinstance(v := values[index[p]], Tensor)}
    if len(set(found.values())) > 1:
        if isinstance(op.same_dtype, str):
            raise RuntimeError(op.same_dtype.format(*map(scalar_type, found.values())))
        given = ", ".join(f"{p} {d.name}" for p, d in found.items())
        first, second = list(dict.fromkeys(found.values()))[:2]
        raise RuntimeError(
            f"expected all inputs of {op.name}() to have the same dtype, but got: {first.name} != {second.name} "
            f"({given}): convert one with .to(dtype)"
        )
