"""Sums of products that stay in registers: what the compiler does not make of a loop by itself.

A tile is a small block of results, all of whose sums run side by side, in vectors as wide as the processor has. Each
number that is loaded is used for a whole row or column of the tile, so that multiplications are what it waits for.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.registry import cpu_target
from numba.extending import intrinsic

# Asked of the compiler, not of NumPy: loops are kept by what it compiles for, and contain these numbers.
_FEATURES: str = cpu_target.target_context.codegen().magic_tuple()[2]
_MANY_REGISTERS = "+avx512f" in _FEATURES.split(",")  # 32 vectors of 16 numbers, else 16 of 8

LANES = 16 if _MANY_REGISTERS else 8
ROWS = 8 if _MANY_REGISTERS else 4  # results of one place
PLACES = 3 * LANES  # places side by side, for so many rows
ALONE = 8 * LANES if _MANY_REGISTERS else 6 * LANES  # and for a single one
DOT_ROWS, DOT_TAPS = (4, 6) if _MANY_REGISTERS else (3, 4)
_SHORT = 8  # lanes of a row that is copied
OVER = _SHORT - 1

_FLOAT, _INDEX = ir.FloatType(), ir.IntType(64)
_VECTOR = ir.VectorType(_FLOAT, LANES)
_LANE = ir.IntType(32)


_VECTORS = types.Array(types.float32, 1, "C")


def _read(kind: Any) -> Any:
    """The type of a vector that is only read, which may be one that must not be written to."""
    assert kind.ndim == 1 and kind.layout == "C", kind
    return kind


def _data(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    return context.make_array(kind)(context, builder, value).data


def _vector_at(builder: Any, data: Any, place: Any) -> Any:
    return builder.bitcast(builder.gep(data, [place]), _VECTOR.as_pointer())


def _load(builder: Any, data: Any, place: Any) -> Any:
    return builder.load(_vector_at(builder, data, place), align=4)


def _repeated(builder: Any, number: Any) -> Any:
    first = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), number, ir.Constant(_LANE, 0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(_LANE, LANES), [0] * LANES))


def _add_product(builder: Any, sum: Any, a: Any, b: Any) -> None:
    product = builder.fmul(a, b, flags=("contract",))
    builder.store(builder.fadd(builder.load(sum), product, flags=("contract",)), sum)


def _zeros(builder: Any, count: int) -> list[Any]:
    """Places for sums, which the compiler makes registers of."""
    sums = [cgutils.alloca_once(builder, _VECTOR) for _ in range(count)]
    for sum in sums:
        builder.store(ir.Constant(_VECTOR, [0.0] * LANES), sum)
    return sums


def _constant(n: int) -> Any:
    return ir.Constant(_INDEX, n)


def _weighted(rows: int, vectors: int) -> Any:
    @intrinsic  # type: ignore[untyped-decorator]
    def weighted(
        context: Any, x: Any, start: Any, taps: Any, factors: Any, first: Any, out: Any, to: Any, step: Any
    ) -> Any:
        """`out[to + r * step + i] = sum of factors[first + t * rows + r] * x[start + i + taps[t]]` over all t."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            x, start, taps, factors, first, out, to, step = args
            count = context.make_array(signature.args[2])(context, builder, taps).nitems
            x, taps, factors, out = (_data(context, builder, signature.args[nr], args[nr]) for nr in (0, 2, 3, 5))
            sums = _zeros(builder, rows * vectors)
            with cgutils.for_range(builder, count) as loop:
                at = builder.add(start, builder.load(builder.gep(taps, [loop.index])))
                seen = [_load(builder, x, builder.add(at, _constant(v * LANES))) for v in range(vectors)]
                begin = builder.add(first, builder.mul(loop.index, _constant(rows)))
                for r in range(rows):
                    factor = builder.load(builder.gep(factors, [builder.add(begin, _constant(r))]))
                    for v in range(vectors):
                        _add_product(builder, sums[r * vectors + v], seen[v], _repeated(builder, factor))
            for r in range(rows):
                row = builder.add(to, builder.mul(step, _constant(r)))
                for v in range(vectors):
                    target = _vector_at(builder, out, builder.add(row, _constant(v * LANES)))
                    builder.store(builder.load(sums[r * vectors + v]), target, align=4)
            return context.get_dummy_value()

        size = types.int64
        return types.void(_read(x), size, _read(taps), _read(factors), size, _VECTORS, size, size), generate

    return weighted


def _dots(rows: int, taps: int) -> Any:
    @intrinsic  # type: ignore[untyped-decorator]
    def dots(
        context: Any, y: Any, start: Any, step: Any, x: Any, places: Any, first: Any, count: Any, out: Any, to: Any,
        width: Any,
    ) -> Any:  # fmt: skip
        """`out[to + r * width + t] += sum of y[start + r * step + i] * x[places[first + t] + i]` over `count` i."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            y, start, step, x, places, first, count, out, to, width = args
            y, x, places, out = (_data(context, builder, signature.args[nr], args[nr]) for nr in (0, 3, 4, 7))
            sums = _zeros(builder, rows * taps)
            begins = [builder.load(builder.gep(places, [builder.add(first, _constant(t))])) for t in range(taps)]
            lines = [builder.add(start, builder.mul(step, _constant(r))) for r in range(rows)]
            with cgutils.for_range(builder, builder.sdiv(count, _constant(LANES))) as loop:
                at = builder.mul(loop.index, _constant(LANES))
                given = [_load(builder, y, builder.add(line, at)) for line in lines]
                for t in range(taps):
                    seen = _load(builder, x, builder.add(begins[t], at))
                    for r in range(rows):
                        _add_product(builder, sums[r * taps + t], given[r], seen)
            for r in range(rows):
                row = builder.add(to, builder.mul(width, _constant(r)))
                for t in range(taps):
                    target = builder.gep(out, [builder.add(row, _constant(t))])
                    total = _across(builder, builder.load(sums[r * taps + t]))
                    builder.store(builder.fadd(builder.load(target), total), target)
            return context.get_dummy_value()

        size = types.int64
        given = _read(y), size, size, _read(x), _read(places), size, size, _VECTORS, size, size
        return types.void(*given), generate

    return dots


def _across(builder: Any, vector: Any) -> Any:
    """The sum of the numbers in a vector, by halves."""
    lanes = LANES
    while lanes > 1:
        lanes //= 2
        halves = [
            builder.shuffle_vector(
                vector, vector, ir.Constant(ir.VectorType(_LANE, lanes), list(range(low, low + lanes)))
            )
            for low in (0, lanes)
        ]
        vector = builder.fadd(*halves)
    return builder.extract_element(vector, ir.Constant(_LANE, 0))


@intrinsic  # type: ignore[untyped-decorator]
def move_over(context: Any, source: Any, start: Any, target: Any, to: Any, count: Any, plus: Any) -> Any:
    """`target[to + i] = source[start + i] + plus` for `count` i, and up to `OVER` more."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        source, start, target, to, count, plus = args
        source, target = (_data(context, builder, signature.args[nr], args[nr]) for nr in (0, 2))
        kind = ir.VectorType(_FLOAT, _SHORT)
        first = builder.insert_element(ir.Constant(kind, ir.Undefined), plus, ir.Constant(_LANE, 0))
        every = builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(_LANE, _SHORT), [0] * _SHORT))
        vectors = builder.sdiv(builder.add(count, _constant(_SHORT - 1)), _constant(_SHORT))
        with cgutils.for_range(builder, vectors) as loop:
            at = builder.mul(loop.index, _constant(_SHORT))
            here, there = (
                builder.bitcast(builder.gep(data, [builder.add(begin, at)]), kind.as_pointer())
                for data, begin in ((source, start), (target, to))
            )
            builder.store(builder.fadd(builder.load(here, align=4), every), there, align=4)
        return context.get_dummy_value()

    size = types.int64
    return types.void(_read(source), size, _VECTORS, size, size, types.float32), generate


weighted_rows = _weighted(ROWS, 3)
weighted_alone = _weighted(1, ALONE // LANES)
dots_of_rows = _dots(DOT_ROWS, DOT_TAPS)
dots_alone = _dots(1, DOT_TAPS)
