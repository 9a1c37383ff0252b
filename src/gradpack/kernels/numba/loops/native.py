"""Functions that loops call: numbers and arrays at addresses, counters that threads share, calls by address."""

from __future__ import annotations

from platform import machine
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.cgutils import alloca_once
from numba.extending import intrinsic

from ...dispatch import STRIP
from .loop import inlined

_I8, _I32, _I64, _F64 = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.DoubleType()
_HEAD = object.__basicsize__
_PAUSES = {"x86_64": "llvm.x86.sse2.pause", "AMD64": "llvm.x86.sse2.pause"}


def _pointer(builder: Any, address: Any, kind: Any) -> Any:
    return builder.inttoptr(address, kind.as_pointer())


@intrinsic  # type: ignore[untyped-decorator]
def read(typing: Any, address: Any) -> Any:
    """The int64 at an address, which other threads may write."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load_atomic(_pointer(builder, args[0], _I64), "seq_cst", 8)

    return types.int64(types.int64), code


@intrinsic  # type: ignore[untyped-decorator]
def write(typing: Any, address: Any, value: Any) -> Any:
    """Set the int64 at an address, which other threads may read."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store_atomic(args[1], _pointer(builder, args[0], _I64), "seq_cst", 8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), code


@intrinsic  # type: ignore[untyped-decorator]
def add(typing: Any, address: Any, value: Any) -> Any:
    """Add to the int64 at an address in one step; return what it was before."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.atomic_rmw("add", _pointer(builder, args[0], _I64), args[1], "seq_cst")

    return types.int64(types.int64, types.int64), code


@intrinsic  # type: ignore[untyped-decorator]
def pause(typing: Any) -> Any:
    """Let the other thread of this core run for some cycles."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        name = _PAUSES.get(machine())
        if name is not None:
            builder.call(builder.module.declare_intrinsic(name, (), ir.FunctionType(ir.VoidType(), [])), ())
        return context.get_dummy_value()

    return types.void(), code


@intrinsic  # type: ignore[untyped-decorator]
def number_at(typing: Any, address: Any) -> Any:
    """The float64 at an address."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(_pointer(builder, args[0], _F64))

    return types.float64(types.int64), code


@intrinsic  # type: ignore[untyped-decorator]
def memory_at(typing: Any, address: Any) -> Any:
    """An address as a pointer, for `numba.carray`."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], _I8.as_pointer())

    return types.voidptr(types.int64), code


@intrinsic  # type: ignore[untyped-decorator]
def strip(typing: Any) -> Any:
    """Memory of the stack for a strip of float32, as a pointer for `numba.carray`: one for each call in the text."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        made = alloca_once(builder, ir.ArrayType(ir.FloatType(), STRIP))
        made.align = 64
        return builder.bitcast(made, _I8.as_pointer())

    return types.voidptr(), code


@intrinsic  # type: ignore[untyped-decorator]
def call(typing: Any, function: Any, block: Any, low: Any, high: Any) -> Any:
    """Call the function of three int64 whose address `address_of` returned."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _called(builder, args)

    return types.int32(types.int64, types.int64, types.int64, types.int64), code


@intrinsic  # type: ignore[untyped-decorator]
def multiply(
    typing: Any, function: Any, a: Any, a_row: Any, a_step: Any, b: Any, b_row: Any, b_step: Any, m: Any, n: Any,
    k: Any, plus: Any, plus_row: Any, c: Any, c_row: Any, memory: Any,
) -> Any:  # fmt: skip
    """Call the function of products whose address `matrix_products.multiply_of` returned."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _called(builder, args)

    return types.int32(*(types.int64,) * 15), code


def _called(builder: Any, args: Any) -> Any:
    """Call a function, the first argument, as Numba's are called."""
    pointer = _I8.as_pointer()
    kind = ir.FunctionType(_I32, [pointer.as_pointer(), pointer.as_pointer(), *[_I64] * (len(args) - 1)])
    result, error = (alloca_once(builder, pointer) for _ in range(2))  # once, also in a loop
    return builder.call(_pointer(builder, args[0], kind), [result, error, *args[1:]])


@inlined
def data_of(array: int) -> int:
    """The address of the numbers of an array of NumPy's, from the address of the object: `id(array)` in CPython."""
    return read(array + _HEAD)  # the first field of an array, behind those that every object has


def address_of(function: Any, count: int = 3) -> int:
    """Return the address of the machine code of a loop of so many int64 that returns nothing."""
    signature = (types.int64,) * count
    function.compile(signature)
    made = function.overloads[signature]
    _KEPT.append(made)
    return int(made.library.get_pointer_to_function(made.fndesc.llvm_func_name))


_KEPT: list[Any] = []  # code whose address is known must stay
