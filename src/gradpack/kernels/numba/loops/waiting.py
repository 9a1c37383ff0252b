"""Waiting for another thread without sleeping: to wake a thread takes tens of microseconds, a part of work no more."""

from __future__ import annotations

from array import array
from platform import machine
from time import perf_counter_ns
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .loop import loop

_PAUSES = {"x86_64": "llvm.x86.sse2.pause", "AMD64": "llvm.x86.sse2.pause"}


@intrinsic  # type: ignore[untyped-decorator]
def _number_at(typing: Any, address: Any) -> Any:
    """The int64 at an address, which another thread may write."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = builder.inttoptr(args[0], ir.IntType(64).as_pointer())
        return builder.load_atomic(place, "acquire", 8)

    return types.int64(types.int64), code


@intrinsic  # type: ignore[untyped-decorator]
def _pause(typing: Any) -> Any:
    """Let the other thread of this core run for some cycles."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        name = _PAUSES.get(machine())
        if name is not None:
            builder.call(builder.module.declare_intrinsic(name, (), ir.FunctionType(ir.VoidType(), [])), ())
        return context.get_dummy_value()

    return types.void(), code


@loop
def wait(address: int, seen: int, rounds: int, after: int) -> bool:
    """Wait while the number at an address is `seen`, for so many rounds; return whether it changed.

    Args:
        after: rounds to wait once it changed.
    """
    left = rounds
    while _number_at(address) == seen:
        if left == 0:
            return False
        left -= 1
        _pause()
    for _ in range(after):
        _pause()
    return True


def of_pool() -> tuple[Any, int]:
    """Return what `pool.waiting` holds: `wait`, and how many rounds a microsecond takes on this processor."""
    cell = array("q", [0])
    address, _ = cell.buffer_info()
    wait(address, 0, 1, 0)
    least = 1 << 62
    for _ in range(5):
        start = perf_counter_ns()
        wait(address, 0, 4000, 0)
        least = min(least, perf_counter_ns() - start)
    return wait, max(1, 4000 * 1000 // least)
