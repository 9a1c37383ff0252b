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
ANY, BY_ROWS, BY_COLUMNS = 0, 4, 8  # how the left factor of a tile lies in memory
STEPS = 4  # of the inner dimension that are written out
ROWS = 8 if _MANY else 4  # of a tile


class Vectors:
    """Vectors of one floating-point type, and what is compiled for them.

    Args:
        kind: LLVM's type of a number.
        size: its bytes.

    Attributes:
        lanes: how many numbers a vector has.
        tile: the function of a tile.
        transpose: a function that writes the transpose of a block of `lanes` times `lanes`.
        copy: a function that copies one vector.
    """

    def __init__(self, kind: Any, size: int) -> None:
        self.kind, self.size, self.lanes = kind, size, WIDTH // size
        self.vector = ir.VectorType(kind, self.lanes)
        self.tile = self._tile()
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

    def _tile(self) -> Code:
        @intrinsic  # type: ignore[untyped-decorator]
        def tile(
            typing: Any, kind: Any, a: Any, a_row: Any, a_step: Any, count: Any, b: Any, k: Any, plus: Any,
            plus_row: Any, c: Any, c_row: Any,
        ) -> Any:  # fmt: skip
            """Write a tile of `a @ b + plus` to `c`.

            All are int64. Arrays are given by address and distances in bytes: of rows of `a`, of its numbers, of rows
            of `plus` (0 for a vector), of rows of `c`. `count` is how many rows `a` has, where those are fewer than
            `ROWS`: the last one is read for those that are missing. `b` is packed: `k` rows side by side, aligned.
            `kind` is `ANY`, or `BY_ROWS` or `BY_COLUMNS` where `a` has all rows and numbers of a row or column lie side
            by side, plus how many vectors a row of the tile has.
            """

            def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                after = builder.append_basic_block("done")
                choice = builder.switch(args[0], after)
                for lies in (ANY, BY_ROWS, BY_COLUMNS):
                    for vectors in range(1, VECTORS + 1):
                        block = builder.append_basic_block(f"tile{lies + vectors}")
                        choice.add_case(_I64(lies + vectors), block)
                        builder.position_at_end(block)
                        self._write(builder, lies, vectors, args[1:])
                        builder.branch(after)
                builder.position_at_end(after)
                return context.get_dummy_value()

            return types.void(*(types.int64,) * 11), code

        made: Code = tile
        return made

    def _write(self, builder: Any, lies: int, vectors: int, args: Any) -> None:
        """Write the code of a tile."""
        plus, plus_row, c, c_row = args[6:]
        for i, parts in enumerate(self._sums(builder, lies, vectors, *args[:6])):
            from_, to = (builder.mul(_I64(i), distance) for distance in (plus_row, c_row))
            for v, part in enumerate(parts):
                at = _I64(WIDTH * v)
                other = self._load(builder, plus, builder.add(from_, at))
                self._store(builder, builder.fadd(part, other), c, builder.add(to, at))

    def _sums(
        self, builder: Any, lies: int, vectors: int, a: Any, a_row: Any, a_step: Any, count: Any, b: Any, k: Any
    ) -> list[list[Any]]:
        """Write the loops over the inner dimension of a tile; return the vectors of each row after them."""
        size, last = self.size, builder.sub(count, _I64(1))
        rows: list[Any] = [_I64(i) for i in range(ROWS)]
        if lies == ANY:
            rows = [builder.select(builder.icmp_signed("<", i, count), i, last) for i in rows]
        lines = [_I64(i * size) if lies == BY_COLUMNS else builder.mul(row, a_row) for i, row in enumerate(rows)]
        step = _I64(size) if lies == BY_ROWS else a_step
        zero = ir.Constant(self.vector, [0.0] * self.lanes)

        def written(state: list[Any], nr: int) -> list[Any]:
            """Write a step of the inner dimension; return the sums after it."""
            at_a, at_b, *sums = state
            row = [self._load(builder, at_b, _I64(WIDTH * (v + vectors * nr))) for v in range(vectors)]
            ahead = _I64(size * nr) if lies == BY_ROWS else builder.mul(step, _I64(nr))
            made = []
            for i, line in enumerate(lines):
                place = self._at(builder, at_a, builder.add(line, ahead), self.kind)
                factor = self._filled(builder, builder.load(place))
                for x, part in zip(row, sums[i * vectors : (i + 1) * vectors], strict=True):
                    product = builder.fmul(factor, x, flags=_CONTRACT)
                    made.append(builder.fadd(product, part, flags=_CONTRACT))
            return [at_a, at_b, *made]

        def steps(state: list[Any], times: Any, each: int) -> list[Any]:
            """Write a loop of so many times so many steps, perhaps none; return its state after it."""
            before = builder.block
            body, after = builder.append_basic_block("steps"), builder.append_basic_block("after")
            builder.cbranch(builder.icmp_signed(">", times, _I64(0)), body, after)
            builder.position_at_end(body)
            left, *given = (builder.phi(value.type) for value in (times, *state))
            made = list(given)
            for nr in range(each):
                made = written(made, nr)
            made[0] = builder.add(made[0], builder.mul(step, _I64(each)))
            made[1] = builder.add(made[1], _I64(WIDTH * vectors * each))
            fewer = builder.sub(left, _I64(1))
            for phi, first, new in zip((left, *given), (times, *state), (fewer, *made), strict=True):
                phi.add_incoming(first, before)
                phi.add_incoming(new, body)
            builder.cbranch(builder.icmp_signed(">", fewer, _I64(0)), body, after)
            builder.position_at_end(after)
            ends = [builder.phi(value.type) for value in state]
            for phi, first, new in zip(ends, state, made, strict=True):
                phi.add_incoming(first, before)
                phi.add_incoming(new, body)
            return ends

        state = [a, b, *[zero] * (ROWS * vectors)]
        if lies != ANY:
            state = steps(state, builder.sdiv(k, _I64(STEPS)), STEPS)
            k = builder.and_(k, _I64(STEPS - 1))
        sums = steps(state, k, 1)[2:]
        return [sums[i * vectors : (i + 1) * vectors] for i in range(ROWS)]

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
