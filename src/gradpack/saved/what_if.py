"""What other ways of keeping saved tensors would save, and what they would take on this machine.

The ways are timed once per process, on a small and a large tensor; what lies between is a line.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from contextvars import Context
from functools import cache
from time import perf_counter
from typing import Any

import numpy as np

from ..tensor.tensor import Tensor, wrap
from .codecs import bfloat16
from .document import Estimates
from .rows import Row
from .spill import Disk

_SMALL, _LARGE = 4 << 10, 4 << 20  # bytes
_GROUP = 256  # elements that share a scale, in int8
_WIDE = {"float32": 4, "float64": 8}  # what is wide enough to gain from fewer bits
_EXACT = ("parameter", "buffer", "stat", "mask", "index")

Line = tuple[float, float]  # milliseconds for nothing, and for each byte


def estimates() -> Estimates:
    """For each way, from a row to the bytes that it would save and the milliseconds that it would take."""
    return {"bf16": _bf16, "int8": _int8, "recompute": _recompute, "disk": _disk}


def _bf16(row: Row) -> tuple[int, float] | None:
    if not _may_round(row):
        return None
    return row.charged - row.charged * 2 // _WIDE[row.dtype], _time(_rates()["bf16"], row)


def _int8(row: Row) -> tuple[int, float] | None:
    if not _may_round(row):
        return None
    elements = row.charged // _WIDE[row.dtype]
    kept = elements + 4 * -(-elements // _GROUP)
    return (row.charged - kept, _time(_rates()["int8"], row)) if kept < row.charged else None


def _recompute(row: Row) -> tuple[int, float] | None:
    return None if row.recompute_ms is None else (row.charged, row.recompute_ms)


def _disk(row: Row) -> tuple[int, float] | None:
    line = _rates().get("disk")
    if line is None or not row.charged or row.tier == "disk":
        return None
    return row.charged, _time(line, row)


def _may_round(row: Row) -> bool:
    """Whether it is a float that is kept as it is, and nothing that rounding spoils."""
    return bool(row.charged) and row.dtype in _WIDE and row.kind not in _EXACT and row.packed_bytes is None


def _time(line: Line, row: Row) -> float:
    return line[0] + line[1] * row.charged


@cache
def _rates() -> dict[str, Line]:
    """What packing and unpacking take here, whatever mode is on."""
    return Context().run(_measure_all)


def _measure_all() -> dict[str, Line]:
    found = {"bf16": _line(*bfloat16(at_least=0)), "int8": _line(_to_int8, _from_int8)}
    try:
        with closing(Disk(at_least=1)) as disk:
            found["disk"] = _line(*disk)
    except OSError:  # no place for a temporary file: no estimate
        pass
    return found


def _line(pack: Callable[[Tensor], Any], unpack: Callable[[Any], Any]) -> Line:
    small, large = _measured(pack, unpack, _SMALL), _measured(pack, unpack, _LARGE)
    slope = max(0.0, (large - small) / (_LARGE - _SMALL))
    return max(0.0, small - slope * _SMALL), slope


def _measured(pack: Callable[[Tensor], Any], unpack: Callable[[Any], Any], size: int) -> float:
    """The least milliseconds of some tries: what is in the way of a try only ever makes it longer."""
    values = np.linspace(-1, 1, size // 4, dtype=np.float32)
    best = float("inf")
    for _ in range(5):
        tensor = wrap(values.copy())
        start = perf_counter()
        unpack(pack(tensor))
        best = min(best, perf_counter() - start)
    return best * 1e3


def _to_int8(tensor: Tensor) -> Any:
    groups = tensor._data.reshape(-1, _GROUP)
    scale = np.maximum(np.abs(groups).max(axis=1, keepdims=True), 1e-30) / 127
    return np.rint(groups / scale).astype(np.int8), scale


def _from_int8(packed: Any) -> Any:
    values, scale = packed
    return values.astype(np.float32) * scale
