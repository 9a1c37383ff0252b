"""Calls on NumPy arrays of any dtypes, when no mode or hook is active.

What compiled text does not take are integers beside floats, complex numbers, float32 beside float64, several results
of several tensors. All that the interpreted path would find out there depends on dtypes only: it is found out once for
each combination of them, and kept as a plan.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...backends import NUMPY, Spec, spec_of
from ...backends.memory_layout import may_overlap
from ...backends.numpy import as_native, hushed, rounded_number, unhush
from ...base import dtypes
from ...base.dtypes import INTEGRAL, complex32, dtype
from ...base.modes import Mode
from ...core.parameter import Parameter
from ...core.tensor import Tensor, alias
from ...core.views import NO_GRAD, mark_view, refresh
from ..op import Op
from .make_node import record
from .promotion import check_uniform, dtypes_of, rounded_to

_array_type = np.ndarray
_NUMBERS = frozenset({bool, int, float, complex})
_LEAST = -(1 << 63)


class Plan(NamedTuple):
    """Dtype promotion of an operation for one combination of operand dtypes."""

    compute: dtype | None  # the dtype to compute in; None: that of the operands
    native: Any  # NumPy's dtype for `compute`; None if operands are not converted
    result: dtype | None  # the dtype of the result; None: that of the array that comes out
    spec: Spec | None  # the spec for `result`, or None
    first: dtype | None  # the dtype that Python numbers are rounded to first


class Form(NamedTuple):
    """The facts of an operation that do not depend on its arguments, and the cache of its plans."""

    places: tuple[int, ...]  # positions of the promoted operands; empty: no plan is possible
    others: tuple[int, ...]  # positions of the other parameters
    body: Any
    named: tuple[str, ...]  # parameters that are keyword-only
    position: dict[str, int]  # position of each parameter
    plans: dict[Any, Plan | None]  # by the default dtype and the kind of each operand; None: not possible


_FORMS: dict[Op, Form] = {}


def _form(op: Op) -> Form:
    fits = not (op.lists or op.sparse or (op.view and op.returns))
    places = tuple(op.params.index(p) for p in op.promote or op.arrays) if fits else ()
    others = tuple(i for i, p in enumerate(op.params) if i not in places)
    named, position = op.params[len(op.params) - op.keyword_only :], {p: i for i, p in enumerate(op.params)}
    return Form(places, others, NUMPY.body(op), named, position, {})


def quickly(op: Op, values: tuple[Any, ...], mode: Mode) -> Any:
    """Return the result, or a tuple of results, with grad_fn if an operand has one; None if the caller must interpret.

    `mode` has nothing active besides grad mode.
    """
    form = _FORMS.get(op)
    if form is None:
        form = _FORMS[op] = _form(op)
    kinds: list[Any] = [dtypes.get_default_dtype()]
    arrays, found, tracked = list(values), None, False
    for i in form.places:
        value = arrays[i]
        kind: Any = type(value)
        if kind is Tensor or kind is Parameter:
            if value._view is not None and op.inputs and refresh(value):
                return None
            if value._edge is not None:
                tracked = mode.grad
            found = value._spec
            kinds.append(value._spec if value._shape else (value._spec,))  # 0-dim tensors have lower priority
            arrays[i] = value._data
        elif op.params[i] in op.scalars if kind in _NUMBERS else value is op.defaults.get(op.params[i], op) is None:
            if kind is int and not _LEAST <= value < -_LEAST:
                return None
            kinds.append(kind)
        else:
            return None
    if found is None:
        return None
    if op.view and type(values[form.places[0]]._counter) is not list:
        return None  # autograd does not track views of inference tensors
    for i in form.others:
        if isinstance(arrays[i], Tensor | list | tuple | np.generic):
            return None
    key = tuple(kinds)
    plan = form.plans.get(key)
    if plan is None:
        if key in form.plans:
            return None
        plan = form.plans[key] = _plan(op, form, values)
        if plan is None:
            return None
    if op.check is not None:
        op.check(op, list(values), plan.compute)
    if plan.first is not None and any(type(arrays[i]) in (float, int) and arrays[i] != 1 for i in form.others):
        return None  # `alpha` is rounded, too
    compute, native = plan.compute, plan.native
    if native is not None:
        for i in form.places:
            value = arrays[i]
            if type(value) is _array_type:
                if value.dtype is not native:
                    arrays[i] = as_native(value, native)
            elif type(value) is int and compute.category == INTEGRAL:  # type: ignore[union-attr]
                arrays[i] = wrapped_int(value, compute)
            elif plan.first is not None and type(value) in (float, int):
                arrays[i] = rounded_number(value, plan.first)
    for token in hushed:
        try:
            if form.named:
                count = len(arrays) - len(form.named)
                data = form.body(*arrays[:count], **dict(zip(form.named, arrays[count:], strict=True)))
            else:
                data = form.body(*arrays)
        except Exception:
            return None  # the interpreted path raises the right error
        finally:
            unhush(token)
        break
    extras: Any = ()
    if op.extra:
        data, extras = data[: -len(op.extra)], data[-len(op.extra) :]
    if not op.returns:
        out = _tensor(data[0] if op.extra else data, plan.spec, op.contiguous)
        if op.view:
            _mark(op, out, values, mode)
        if tracked:
            record(op, list(values), form.position, [out], extras, mode, plan.compute, found)
        return out
    count = len(data) if op.differentiable is None else op.differentiable
    outs = [_tensor(part, plan.spec if nr < count else None, op.contiguous) for nr, part in enumerate(data)]
    if tracked and outs:
        record(op, list(values), form.position, outs, extras, mode, plan.compute, found)
    return op.public.result_type(*outs) if op.results else tuple(outs)  # type: ignore[attr-defined]


def _mark(op: Op, out: Tensor, values: tuple[Any, ...], mode: Mode) -> None:
    """Mark a result as a view of the first operand, if it is one."""
    parent = values[0]
    if parent._spec.dtype is not out._spec.dtype and op.view != "real":
        return
    if op.view is True or 0 in out._shape or may_overlap(out._data, parent._data):
        mark_view(out, parent, op.public, values[1:], None if mode.grad else NO_GRAD)


def _tensor(data: Any, spec: Spec | None, contiguous: bool) -> Tensor:
    if type(data) is not _array_type or (contiguous and not data.flags.c_contiguous):
        data = np.asarray(data, order="C")
    if spec is None:
        spec = spec_of(data)
    elif data.dtype is not spec.native:
        data = NUMPY.cast(data, spec.dtype)
    return alias(data, spec, data.shape)


def _plan(op: Op, form: Form, values: tuple[Any, ...]) -> Plan | None:
    """Return the plan for the dtypes of these values; None if they need the interpreted path."""
    tensors = [v for v in values if isinstance(v, Tensor)]
    if any(not t._spec.numpy or t._spec.dtype is complex32 or t._spec.dtype.alone for t in tensors):
        return None
    if op.uniform:
        check_uniform(op, list(values), form.position)
    result, compute = dtypes_of(op, list(values), form.position, tensors)
    first = rounded_to(op, result, compute)
    if first is not None and any(t._spec.dtype is not first for t in tensors):
        return None
    moves = compute is None or (op.structural and len(op.promote) == 1)
    return Plan(
        compute,
        None if moves else NUMPY.native_of(compute),  # type: ignore[arg-type]
        result,
        None if result is None else NUMPY.spec_for(result, tensors[0]._spec.device),
        first,
    )


def wrapped_int(value: int, d: Any) -> int:
    """Wrap an int to the range of an integer dtype, as an overflow does."""
    bits = d.itemsize * 8
    value &= (1 << bits) - 1
    return value - (1 << bits) if d.is_signed and value >> (bits - 1) else value
