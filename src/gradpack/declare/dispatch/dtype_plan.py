"""Dtype plans: what an operation does with its operands that depends on their dtypes, layouts and devices only.

The interpreter asks for it once for each combination that occurs, and keeps it with the operation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ...backends import NUMPY, Spec
from ...base import dtypes
from ...base.dtypes import INTEGRAL, complex32, complex64, dtype
from ...base.errors import different_devices
from ...base.layouts import strided
from ...core.tensor import Tensor
from ..op import Op
from .promotion import check_uniform, dtypes_of, rounded_to

_NUMBERS = frozenset({bool, int, float, complex})
_LISTS = (list, tuple)
_LEAST = -(1 << 63)
_MOST_PLANS = 512  # of one operation, before all of them are dropped


class OpLayout(NamedTuple):
    """The positions of an operation's parameters by what may be there."""

    operands: tuple[tuple[int, frozenset[type] | None], ...]  # tensors, or plain values of these types (None: any)
    lists: frozenset[int]  # lists of tensors
    others: tuple[int, ...]  # no tensors
    inputs: tuple[int, ...]  # the differentiable inputs; the first parameter where there are none
    named: tuple[str, ...]  # the keyword-only parameters
    position: dict[str, int]


class DtypePlan(NamedTuple):
    """How to compute an operation for one combination of operands."""

    spec: Spec  # of the operands: its library computes
    body: Callable[..., Any]
    compute: dtype | None  # the dtype to compute in; None: that of the operands
    result: dtype | None  # the dtype of the result; None: that of the array that comes out
    first: dtype | None  # the dtype that operands are rounded to first
    casts: tuple[tuple[int, dtype, Any], ...]  # the operands to convert: position, dtype, and NumPy's if that is all
    numbers: tuple[int, ...]  # positions of Python numbers to round, or to wrap to the range of an integer dtype
    out: Spec | None  # of the results, if the library is NumPy and `result` is not None


def layout_of(op: Op) -> OpLayout:
    """Return the layout of an operation's parameters (cached)."""
    if op.layout is None:
        position = {p: i for i, p in enumerate(op.params)}
        given = dict.fromkeys((*op.promote, *op.inputs, *op.arrays))
        operands = []
        for p in given:
            if p in op.lists or p not in position:
                continue
            none = frozenset({type(None)}) if op.defaults.get(p, 0) is None else frozenset[type]()
            numbers: frozenset[type] = _NUMBERS if p in op.scalars else frozenset()
            strict = p in op.promote or p in op.inputs
            operands.append((position[p], numbers | none if strict else None))
        lists = frozenset(position[p] for p in op.lists)
        taken = {i for i, _ in operands} | lists
        op.layout = OpLayout(
            tuple(sorted(operands)),
            lists,
            tuple(i for i in position.values() if i not in taken),
            tuple(position[p] for p in op.inputs or op.params[:1]),
            op.params[len(op.params) - op.keyword_only :],
            position,
        )
    found: OpLayout = op.layout
    return found


def key_of(layout: OpLayout, values: Any, arrays: list[Any]) -> tuple[Any, ...] | None:
    """Return what the plan for these values depends on, and put the arrays of tensors into `arrays`.

    Returns:
        None if a value is of a type that the interpreter has to convert first, or if there is no tensor.
    """
    key: list[Any] = [dtypes._default]
    some = False
    for i, allowed in layout.operands:
        value = values[i]
        if isinstance(value, Tensor):
            key.append(value._spec if value._shape else (value._spec,))  # 0-dim tensors have lower priority
            arrays[i] = value._data
            some = True
            continue
        kind = type(value)
        if allowed is None:
            if kind in _LISTS:
                found = [v._spec for v in value if isinstance(v, Tensor)]
                some = some or bool(found)
                key.append(tuple(dict.fromkeys(found)))
                arrays[i] = kind(v._data if isinstance(v, Tensor) else v for v in value)
        elif kind not in allowed:
            return None
        elif kind is int and not _LEAST <= value < -_LEAST:
            if not 0 < value < -2 * _LEAST:
                return None
            key.append(dtypes.uint64)
        else:
            key.append(kind)
    for i in layout.lists:
        if type(values[i]) not in _LISTS or not all(isinstance(v, Tensor) for v in values[i]):
            return None
        some = some or bool(values[i])
        key.append(tuple(dict.fromkeys(v._spec if v._shape else (v._spec,) for v in values[i])))
        arrays[i] = [v._data for v in values[i]]
    for i in layout.others:
        if isinstance(values[i], Tensor):
            return None
    return tuple(key) if some else None


def plan_of(op: Op, layout: OpLayout, key: tuple[Any, ...], values: Any) -> DtypePlan:
    """Return the plan for these values, whose key this is.

    Raises:
        RuntimeError: if their dtypes or devices do not go together.
        NotImplementedError: if torch has no kernel for the dtype.
    """
    found = op.plans.get(key)
    if found is None:
        if len(op.plans) >= _MOST_PLANS:
            op.plans.clear()
        found = op.plans[key] = _plan(op, layout, values)
    return found


def _plan(op: Op, layout: OpLayout, values: Any) -> DtypePlan:
    tensors = [t for v in values for t in (v if isinstance(v, list | tuple) else (v,)) if isinstance(t, Tensor)]
    spec = _spec_of(op, tensors)
    if op.same_dtype:
        check_uniform(op, values, layout.position)
    result, compute = dtypes_of(op, values, layout.position, tensors)
    first = rounded_to(op, result, compute)
    promoted = tuple(layout.position[p] for p in (*op.promote, *op.lists))
    numbers: tuple[int, ...] = ()
    if first is not None:
        numbers = (*promoted, *(layout.position[p] for p in ("alpha", "lambd") if p in layout.position))
    elif compute is not None and compute.category == INTEGRAL:
        numbers = promoted
    casts = []
    for i, value in enumerate(values):
        cast = compute if i in promoted else None
        if _needs_cast(op, value, cast, first):
            casts.append((i, cast or complex64, _native_of(value, cast, first)))
    return DtypePlan(
        spec,
        spec.backend.body(op),
        compute,
        result,
        first,
        tuple(casts),
        tuple(i for i in numbers if type(values[i]) in (int, float)),
        None if result is None or spec.backend is not NUMPY else NUMPY.spec_for(result, spec.device),
    )


def _spec_of(op: Op, tensors: list[Tensor]) -> Spec:
    """Return the spec whose library computes: that of the first tensor, except for 0-dim ones beside other devices."""
    spec = tensors[0]._spec
    for t in tensors:
        if t._spec.device != spec.device and t._shape:
            places = [x._spec.device for x in tensors if x._shape]
            if any(place != places[0] for place in places):
                raise different_devices(op.name, places)
            spec = t._spec
        if t._spec.layout is not spec.layout and spec.layout is strided:
            spec = t._spec
    if op.sparse and spec.layout is strided:
        from ...backends.sparse import SPARSE

        return SPARSE.spec_for(spec.dtype, spec.device)
    return spec


def _needs_cast(op: Op, value: Any, cast: dtype | None, first: dtype | None) -> bool:
    """Return whether a tensor, or one of a list, is converted before the body gets it."""
    if isinstance(value, list | tuple):
        return any(_needs_cast(op, v, cast, first) for v in value)
    if not isinstance(value, Tensor):
        return False
    own = value._spec.dtype
    if own is complex32 and op.promote and not op.view:
        return True
    if cast is None or (op.data_movement and len(op.promote) == 1 and not op.lists):
        return False
    return own is not cast or (first is not None and own is not first)


def _native_of(value: Any, cast: dtype | None, first: dtype | None) -> Any:
    """Return NumPy's dtype to convert a tensor to, if nothing else is to be done; else None."""
    if not isinstance(value, Tensor) or cast is None or not value._spec.numpy:
        return None
    own = value._spec.dtype
    if complex32 in (cast, own) or (own.is_complex and not cast.is_complex) or (first is not None and own is not first):
        return None
    return NUMPY.native_of(cast)


def as_cast(value: Any, cast: dtype, first: dtype | None) -> Any:
    """Return the array of a tensor, or those of a list, in the dtype `cast`, rounded to `first` before."""
    if isinstance(value, list | tuple):
        return type(value)(as_cast(v, cast, first) for v in value)
    if not isinstance(value, Tensor):
        return value
    backend, array = value._spec.backend, value._data
    if first is not None and value._spec.dtype is not first:
        array = backend.cast(array, first)
    return backend.cast(array, cast)


def wrapped_int(value: int, d: Any) -> int:
    """Wrap an int to the range of an integer dtype, as an overflow does."""
    bits = d.itemsize * 8
    value &= (1 << bits) - 1
    return value - (1 << bits) if d.is_signed and value >> (bits - 1) else value
