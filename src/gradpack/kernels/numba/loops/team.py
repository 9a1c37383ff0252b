"""Threads that take the parts of compiled work without the lock of the interpreter.

What they share is an array of int64, a line of the cache for each number: the number of the work that came last, how
many threads are at work, what the work is, and for each seat the next part. Work is a function of `(block, low, high)`,
all int64: the address of its arguments, and a range. A thread takes the parts of its own seat first, so that what one
operation wrote is in the cache of the core that reads it in the next, and then what is left of others.
"""

from __future__ import annotations

from time import perf_counter_ns
from typing import Any

from .loop import loop, short
from .native import add, call, pause, read, write

LINE = 64  # bytes
TURN, OPEN, ACTIVE, SEATS, HELPERS, PYTHON, FUNCTION, BLOCK, SIZE, PART, NEXT = (LINE * i for i in range(11))
MOST = 64  # seats: where there are more threads, some share one
CELLS = LINE // 8 * (10 + MOST)


@loop
def _take_parts(shared: int, seat: int) -> None:
    function, block, size, part, seats = (
        read(shared + FUNCTION), read(shared + BLOCK), read(shared + SIZE), read(shared + PART), read(shared + SEATS),
    )  # fmt: skip
    parts = (size + part - 1) // part
    for i in range(seats):
        at = (seat + i) % seats
        end = (at + 1) * parts // seats
        while True:
            nr = add(shared + NEXT + LINE * at, 1)
            if nr >= end:
                break
            call(function, block, nr * part, min(size, (nr + 1) * part))


@loop
def serve(shared: int, seat: int, seen: int, rounds: int, after: int) -> bool:
    """Take parts of the work that comes, until none came for so many rounds; return whether Python has work instead.

    Args:
        seat: the number of this thread; 0 is that of the one that brings work.
        seen: the address of the number of the work that this thread has seen last.
        after: rounds to wait before Python's work: the thread that brings it has the lock of the interpreter.
    """
    left = rounds
    while True:
        turn = read(shared + TURN)
        if turn == read(seen):
            if left <= 0:
                return False
            left -= 1
            pause()
            continue
        write(seen, turn)
        left = rounds
        if read(shared + PYTHON) == turn:
            for _ in range(after):
                pause()
            return True
        add(shared + ACTIVE, 1)  # now the work stays, if it is still open
        if read(shared + OPEN) == turn and seat <= read(shared + HELPERS):
            _take_parts(shared, seat)
        add(shared + ACTIVE, -1)


@loop
def wait(address: int, value: int, rounds: int) -> bool:
    """Wait for so many rounds until the number at an address is no other one; return whether it is."""
    left = rounds
    while read(address) != value:
        if left <= 0:
            return False
        left -= 1
        pause()
    return True


@loop
def run(shared: int, function: int, block: int, size: int, part: int, helpers: int, rounds: int) -> bool:
    """Take parts of new work, together with so many threads of those that serve.

    Args:
        rounds: how long to wait for the others when no part is left.

    Returns:
        Whether no thread is at work any more.
    """
    write(shared + FUNCTION, function)
    write(shared + BLOCK, block)
    write(shared + SIZE, size)
    write(shared + PART, part)
    write(shared + HELPERS, helpers)
    seats, parts = min(helpers + 1, MOST), (size + part - 1) // part
    write(shared + SEATS, seats)
    for seat in range(seats):
        write(shared + NEXT + LINE * seat, seat * parts // seats)
    turn = read(shared + TURN) + 1
    write(shared + OPEN, turn)
    write(shared + TURN, turn)
    _take_parts(shared, 0)
    write(shared + OPEN, 0)
    return wait(shared + ACTIVE, 0, rounds)


@loop
def alone(function: int, block: int, size: int, part: int) -> None:
    """Run all parts of some work on this thread."""
    for low in range(0, size, part):
        call(function, block, low, min(size, low + part))


@short
def once(function: int, block: int, size: int) -> None:
    """Run some work on this thread in one part."""
    call(function, block, 0, size)


@short
def in_turn(table: int, count: int) -> None:
    """Run works one after the other, each on this thread in one part.

    Args:
        table: the address of three int64 for each work: function, block and size.
    """
    for i in range(count):
        at = table + 24 * i
        call(read(at), read(at + 8), 0, read(at + 16))


def rounds_of_a_microsecond(address: int) -> int:
    """Return how many rounds of waiting take a microsecond on this processor; the number at the address is not -1."""
    least = 1 << 62
    wait(address, -1, 1)
    for _ in range(5):
        start = perf_counter_ns()
        wait(address, -1, 4000)
        least = min(least, perf_counter_ns() - start)
    return max(1, 4000 * 1000 // least)


def of_pool() -> Any:
    """Return what `base.pool.teams` holds."""
    from array import array

    from ....base.pool import Team

    cell = array("q", [0])
    rounds = rounds_of_a_microsecond(cell.buffer_info()[0])
    return Team(serve, run, wait, alone, rounds, CELLS, TURN, ACTIVE, PYTHON)
