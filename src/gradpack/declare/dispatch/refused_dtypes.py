"""Which operations do not take uint16, uint32, uint64 and complex32: torch moves and converts them, and little else."""

from __future__ import annotations

from ...base.dtypes import complex32, dtype
from ...base.errors import not_implemented_for
from ..op import Op


def refuse_rare(op: Op, d: dtype | None) -> None:
    """Raise for one of these dtypes, where the declaration of the operation says that torch has no kernel for it."""
    if d is not None and ((d.alone and "unsigned" in op.refuses) or (d is complex32 and "complex32" in op.refuses)):
        raise not_implemented_for(op.name, d)


def refuse_unsigned(name: str, d: dtype | None) -> None:
    """Raise for uint16, uint32 and uint64, which the function of this name does not make tensors of."""
    if d is not None and d.alone:
        raise not_implemented_for(name, d)
