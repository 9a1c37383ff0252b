"""Which operations do not take uint16, uint32, uint64, float8 and complex32: torch moves and converts them mostly."""

from __future__ import annotations

from ...base.dtypes import FLOATING, complex32, dtype, float8_e5m2
from ...base.errors import not_implemented_for
from ..op import Op


def refuse_rare(op: Op, d: dtype | None) -> None:
    """Raise for one of these dtypes, where the declaration of the operation says that torch has no kernel for it."""
    if d is None or (not d.alone and d is not complex32):
        return
    if d is complex32:
        refused = "complex32" in op.refuses
    elif d.category == FLOATING:
        known = op.data_movement or op.view or op.name in _OF_FLOAT8
        refused = not known and not (d is float8_e5m2 and op.name in ("isfinite", "isinf"))
    else:
        refused = "unsigned" in op.refuses
    if refused:
        raise not_implemented_for(op.name, d)


# What torch computes in floats of eight bits, besides moving them.
_OF_FLOAT8 = frozenset("abs addmm addmv all any bmm copysign eq fill isnan linear matmul mm mv ne where".split())


def refuse_unsigned(name: str, d: dtype | None) -> None:
    """Raise for uint16, uint32, uint64 and float8, which the function of this name does not make tensors of."""
    if d is not None and d.alone and not (name == "eye" and d.category == FLOATING):
        raise not_implemented_for(name, d)
