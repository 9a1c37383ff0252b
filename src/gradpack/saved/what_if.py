"""What other ways of keeping saved tensors would save, and what they would take on this machine.

Each policy is tried once per process, on a small and on a large tensor; what lies between is a line. Work
that a policy does beside the program counts as if the program waited for it.
"""

from __future__ import annotations

from contextlib import suppress
from contextvars import Context
from functools import cache
from time import perf_counter
from typing import Any, NamedTuple

from ..ops.create.ranges import linspace
from .casts import bf16
from .disk import disk
from .document import Estimates
from .quantize import quantize
from .rows import Row

_SMALL, _LARGE = 1 << 10, 1 << 20  # elements
_TRIES = 5
_WIDE = {"float32": 4, "float64": 8}  # what is wide enough to gain from fewer bits
_EXACT = ("parameter", "buffer", "stat", "mask", "index")


class Way(NamedTuple):
    """What keeping tensors some other way takes."""

    kept: float  # bytes in memory for each element
    fixed: float  # milliseconds to pack and unpack, whatever the size
    per_byte: float  # and for each byte of what is packed

    def ms(self, size: int) -> float:
        return self.fixed + self.per_byte * size


def estimates() -> Estimates:
    """For each way, from a row to the bytes that it would save and the milliseconds that it would take."""
    return {"bf16": lambda row: _rounded("bf16", row), "int8": lambda row: _rounded("int8", row)} | {
        "recompute": _recomputed,
        "disk": _on_disk,
    }


def _rounded(name: str, row: Row) -> tuple[int, float] | None:
    """Of a float that is kept as it is, and that rounding does not spoil."""
    if not row.charged or row.dtype not in _WIDE or row.kind in _EXACT or row.exact or row.packed_bytes is not None:
        return None
    way = _ways()[name]
    saved = round(row.charged - way.kept * (row.charged // _WIDE[row.dtype]))
    return (saved, way.ms(row.charged)) if saved > 0 else None


def _recomputed(row: Row) -> tuple[int, float] | None:
    return None if row.recompute_ms is None else (row.charged, row.recompute_ms)


def _on_disk(row: Row) -> tuple[int, float] | None:
    way = _ways().get("disk")
    return None if way is None or not row.charged or row.tier == "disk" else (row.charged, way.ms(row.charged))


@cache
def _ways() -> dict[str, Way]:
    """What packing and unpacking take here, whatever modes are on."""
    return Context().run(_try_all)


def _try_all() -> dict[str, Way]:
    found = {"bf16": _try(bf16(min_bytes=0)), "int8": _try(quantize(8, min_bytes=0))}
    with suppress(OSError):  # no place for a temporary file: no estimate
        found["disk"] = _try(disk(min_bytes=0))
    return found


def _try(policy: Any) -> Way:
    small, _ = _measured(policy, _SMALL)
    large, kept = _measured(policy, _LARGE)
    per_byte = max(0.0, (large - small) / (4 * (_LARGE - _SMALL)))
    return Way(kept / _LARGE, max(0.0, small - per_byte * 4 * _SMALL), per_byte)


def _measured(policy: Any, elements: int) -> tuple[float, int]:
    """The least milliseconds of some tries, as what is in the way of one only makes it longer; and the bytes kept."""
    best, kept = float("inf"), 0
    for _ in range(_TRIES):
        tensor = linspace(-1, 1, elements)
        start = perf_counter()
        handle = policy.pack(tensor)
        policy.wait()
        kept = policy.packed_bytes
        policy.unpack(handle)
        best = min(best, perf_counter() - start)
        del handle
    return best * 1e3, kept
