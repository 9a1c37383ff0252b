"""Tiles of matrix products and blocks of transposed matrices, in vector registers: what no loop is compiled to.

A tile is `ROWS` rows of as many as three vectors of the product. Its sums stay in registers while the inner dimension
is run through: each step reads a row of the packed right factor, and one number of each row of the left one. That is
as many sums as registers hold, so that the processor's multiplications, not its memory, set the pace.
"""

from __future__ import annotations

from collections.abc import Callable
from platform import machine
from typing import Any

from llvmlite import binding, ir
from numba import config, types
from numba.extending import intrinsic

_I32, _I64 = ir.IntType(32), ir.IntType(64)
_CONTRACT = ("contract",)
Code = Callable[..., Any]


def _width() -> tuple[int, bool]:
    """The bytes of a vector register of this processor, and whether it has 32 of them."""
    given = config.CPU_FEATURES
    names = binding.get_host_cpu_features().flatten() if given is None else given
    features = set(names.split(","))
    if "+avx512f" in features:
        return 64, True
    return 32 if "+avx" in features else 16, machine() in ("aarch64", "arm64")


WIDTH, _MANY = _width()
VECTORS = 3  # of a row of a tile
ROWS = 8 if _MANY else 4  # of a tile


def _fetch(builder: Any, address: Any, offset: Any) -> None:
    """Bring what is at an address into the cache, if there is memory there."""
    byte, name = ir.IntType(8).as_pointer(), "llvm.prefetch.p0"
    kind = ir.FunctionType(ir.VoidType(), [byte, _I32, _I32, _I32])
    function = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
    builder.call(function, [builder.inttoptr(builder.add(address, offset), byte), _I32(0), _I32(3), _I32(1)])


class Vectors:
    """Vectors of one floating-point type, and what is compiled for them.

    Args:
        kind: LLVM's type of a number.
        size: its bytes.

    Attributes:
        lanes: how many numbers a vector has.
        tiles: for 1, 2 and 3 vectors, the function of a tile.
        transpose: a function that writes the transpose of a block of `lanes` times `lanes`.
        copy: a function that copies one vector.
    """

    def __init__(self, kind: Any, size: int) -> None:
        self.kind, self.size, self.lanes = kind, size, WIDTH // size
        self.vector = ir.VectorType(kind, self.lanes)
        self.tiles = {count: self._tile(count) for count in range(1, VECTORS + 1)}
        self.transpose, self.copy = self._transpose(), self._copy()

    def _at(self, builder: Any, address: Any, offset: Any, kind: Any) -> Any:
        return builder.inttoptr(builder.add(address, offset), kind.as_pointer())

    def _load(self, builder: Any, address: Any, offset: Any) -> Any:
        return builder.load(self._at(builder, address, offset, self.vector), align=self.size)

    def _store(self, builder: Any, value: Any, address: Any, offset: Any) -> None:
        builder.store(value, self._at(builder, address, offset, self.vector), align=self.size)

    def _shuffled(self, builder: Any, a: Any, b: Any, lanes: list[int]) -> Any:
        return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(_I32, self.lanes), lanes))

    def _filled(self, builder: Any, number: Any) -> Any:
        """A vector of one number."""
        nothing = ir.Constant(self.vector, ir.Undefined)
        first = builder.insert_element(nothing, number, ir.Constant(_I32, 0))
        return self._shuffled(builder, first, nothing, [0] * self.lanes)

    def _tile(self, vectors: int) -> Code:
        @intrinsic  # type: ignore[untyped-decorator]
        def tile(
            typing: Any, a: Any, a_row: Any, a_step: Any, count: Any, b: Any, k: Any, plus: Any, plus_row: Any,
            c: Any, c_row: Any,
        ) -> Any:  # fmt: skip
            """Write a tile of `a @ b + plus` to `c`.

            All are int64. Arrays are given by address and distances in bytes: of rows of `a`, of its numbers, of rows
            of `plus` (0 for a vector), of rows of `c`. `count` is how many rows `a` has, where those are fewer than
            `ROWS`: the last one is read for those that are missing. `b` is packed: `k` rows side by side, aligned.
            """

            def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                a, a_row, a_step, count, b, k, plus, plus_row, c, c_row = args
                for i, parts in enumerate(self._sums(builder, vectors, a, a_row, a_step, count, b, k)):
                    from_, to = (builder.mul(_I64(i), distance) for distance in (plus_row, c_row))
                    for v, part in enumerate(parts):
                        at = _I64(WIDTH * v)
                        other = self._load(builder, plus, builder.add(from_, at))
                        self._store(builder, builder.fadd(part, other), c, builder.add(to, at))
                return context.get_dummy_value()

            return types.void(*(types.int64,) * 10), code

        made: Code = tile
        return made

    def _sums(
        self, builder: Any, vectors: int, a: Any, a_row: Any, a_step: Any, count: Any, b: Any, k: Any
    ) -> list[list[Any]]:
        """Write the loop over the inner dimension of a tile; return the vectors of each row after it."""
        last = builder.sub(count, _I64(1))
        lines = [
            builder.mul(builder.select(builder.icmp_signed("<", _I64(i), count), _I64(i), last), a_row)
            for i in range(ROWS)
        ]
        # The rows below it are fetched meanwhile: a row at each step where numbers of a row are side by side.
        is_flat = builder.icmp_signed("==", a_step, _I64(self.size))
        mask = builder.select(is_flat, _I64(-ROWS * self.size), _I64(-1))
        apart = builder.select(is_flat, a_row, _I64(0))
        below = builder.add(a, builder.mul(_I64(ROWS), a_row))
        before, steps = builder.block, builder.append_basic_block("steps")
        builder.branch(steps)
        builder.position_at_end(steps)
        counters = [builder.phi(_I64) for _ in range(3)]
        step, at_a, at_b = counters
        sums = [[builder.phi(self.vector) for _ in range(vectors)] for _ in range(ROWS)]
        passed = builder.and_(builder.sub(at_a, a), mask)
        _fetch(builder, builder.add(below, passed), builder.mul(builder.and_(step, _I64(ROWS - 1)), apart))
        row = [self._load(builder, at_b, _I64(WIDTH * v)) for v in range(vectors)]
        zero, made = ir.Constant(self.vector, [0.0] * self.lanes), []
        for line, parts in zip(lines, sums, strict=True):
            factor = self._filled(builder, builder.load(self._at(builder, at_a, line, self.kind)))
            made.append([
                builder.fadd(builder.fmul(factor, x, flags=_CONTRACT), part, flags=_CONTRACT)
                for x, part in zip(row, parts, strict=True)
            ])  # fmt: skip
            for part, new in zip(parts, made[-1], strict=True):
                part.add_incoming(zero, before)
                part.add_incoming(new, steps)
        following = [
            builder.add(x, by) for x, by in zip(counters, (_I64(1), a_step, _I64(WIDTH * vectors)), strict=True)
        ]
        for counter, start, new in zip(counters, (_I64(0), a, b), following, strict=True):
            counter.add_incoming(start, before)
            counter.add_incoming(new, steps)
        after = builder.append_basic_block("after")
        builder.cbranch(builder.icmp_signed("<", following[0], k), steps, after)
        builder.position_at_end(after)
        return made

    def _transpose(self) -> Code:
        lanes = self.lanes

        @intrinsic  # type: ignore[untyped-decorator]
        def transpose(typing: Any, source: Any, source_row: Any, target: Any, target_row: Any) -> Any:
            """Write the transpose of a block at an address to another one; rows have distances in bytes."""

            def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                source, source_row, target, target_row = args
                rows = [self._load(builder, source, builder.mul(_I64(i), source_row)) for i in range(lanes)]
                by = 1
                while by < lanes:  # exchange what lies beside the diagonal, in blocks of `by`
                    upper = [j if not j & by else lanes + (j ^ by) for j in range(lanes)]
                    lower = [j | by if not j & by else lanes + j for j in range(lanes)]
                    for i in range(lanes):
                        if not i & by:
                            a, b = rows[i], rows[i | by]
                            rows[i] = self._shuffled(builder, a, b, upper)
                            rows[i | by] = self._shuffled(builder, a, b, lower)
                    by *= 2
                for i, row in enumerate(rows):
                    self._store(builder, row, target, builder.mul(_I64(i), target_row))
                return context.get_dummy_value()

            return types.void(*(types.int64,) * 4), code

        made: Code = transpose
        return made

    def _copy(self) -> Code:
        @intrinsic  # type: ignore[untyped-decorator]
        def copy(typing: Any, source: Any, target: Any) -> Any:
            """Copy a vector from an address to another one."""

            def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                self._store(builder, self._load(builder, args[0], _I64(0)), args[1], _I64(0))
                return context.get_dummy_value()

            return types.void(types.int64, types.int64), code

        made: Code = copy
        return made


OF = {"f": Vectors(ir.FloatType(), 4), "d": Vectors(ir.DoubleType(), 8)}
