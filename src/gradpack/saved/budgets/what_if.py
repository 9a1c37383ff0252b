"""Estimates of the bytes that other policies would save, and of their time on this machine.

Each policy is timed once per process, on a small and on a large tensor; times are linear in the bytes.
Background work counts as if the program waited for it.
"""

from __future__ import annotations

from contextlib import suppress
from contextvars import Context
from functools import cache
from time import perf_counter
from typing import Any, NamedTuple

from ...ops.create.ranges import linspace
from ..policies.casts import bf16
from ..policies.offload import disk
from ..policies.quantize import quantize
from ..recorder.document import Estimates
from ..recorder.rows import Row

_SMALL, _LARGE = 1 << 10, 1 << 20  # elements
_TRIES = 5
_WIDE = {"float32": 4, "float64": 8}  # bytes per element of the dtypes that rounding makes smaller
_EXACT = ("parameter", "buffer", "stat", "mask", "index")


class PolicyCost(NamedTuple):
    """The measured cost of a policy."""

    kept: float  # bytes in memory per element
    fixed: float  # milliseconds to pack and unpack, whatever the size
    per_byte: float  # milliseconds per byte of the tensor

    def ms(self, size: int) -> float:
        return self.fixed + self.per_byte * size


def estimates() -> Estimates:
    """Return for each policy a function from a row to (bytes saved, milliseconds), or None if it does not apply."""
    return {"bf16": lambda row: _rounded("bf16", row), "int8": lambda row: _rounded("int8", row)} | {
        "recompute": _recomputed,
        "disk": _on_disk,
    }


def _rounded(name: str, row: Row) -> tuple[int, float] | None:
    """Estimate a rounding policy, for floating-point tensors that are kept as they are and may be rounded."""
    if not row.charged or row.dtype not in _WIDE or row.kind in _EXACT or row.exact or row.packed_bytes is not None:
        return None
    cost = _costs()[name]
    saved = round(row.charged - cost.kept * (row.charged // _WIDE[row.dtype]))
    return (saved, cost.ms(row.charged)) if saved > 0 else None


def _recomputed(row: Row) -> tuple[int, float] | None:
    return None if row.recompute_ms is None else (row.charged, row.recompute_ms)


def _on_disk(row: Row) -> tuple[int, float] | None:
    cost = _costs().get("disk")
    return None if cost is None or not row.charged or row.tier == "disk" else (row.charged, cost.ms(row.charged))


@cache
def _costs() -> dict[str, PolicyCost]:
    """Return the measured cost of each policy, measured in an empty context, without active modes."""
    return Context().run(_try_all)


def _try_all() -> dict[str, PolicyCost]:
    found = {"bf16": _try(bf16(min_bytes=0)), "int8": _try(quantize(8, min_bytes=0))}
    with suppress(OSError):  # no place for a temporary file: no estimate
        found["disk"] = _try(disk(min_bytes=0))
    return found


def _try(policy: Any) -> PolicyCost:
    small, _ = _measured(policy, _SMALL)
    large, kept = _measured(policy, _LARGE)
    per_byte = max(0.0, (large - small) / (4 * (_LARGE - _SMALL)))
    return PolicyCost(kept / _LARGE, max(0.0, small - per_byte * 4 * _SMALL), per_byte)


def _measured(policy: Any, elements: int) -> tuple[float, int]:
    """Return the minimum milliseconds of `_TRIES` runs, since noise only adds, and the bytes kept."""
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
