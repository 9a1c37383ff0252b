"""The interpreted path: the reference semantics of calling an operation.

Compiled code handles the usual case and is tested against this. Here is everything else: mixed
dtypes, low precision, complex numbers, other array libraries, lists of tensors, several results,
tangents, recorders, inference tensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from ...backends import backend_of
from ...backends.memory_layout import _array_type, may_overlap
from ...backends.numpy import NUMPY, as_native, converted, hushed, rounded_number, silently, unhush
from ...base import dtypes
from ...base.devices import CPU
from ...base.errors import not_a_tensor
from ...base.modes import MODE, Mode, through_modes, unwatched
from ...core.tensor import InferenceCounter, Tensor, alias, wrap
from ...core.torch_function import PLAIN, handle, overriding, through_functions
from ...core.views import INFERENCE, MULTIPLE, NO_GRAD, mark_view, refresh
from ...kernels.dispatch import LEAST
from ..op import Op
from ..signature.arguments import options_of, refuse_numbers, refuse_options
from ..signature.missing import MISSING, refuse_missing_of
from .autocast import cast_arguments
from .body_errors import explain, public_of
from .dtype_plan import DtypePlan, OpLayout, as_cast, key_of, layout_of, plan_of, wrapped_int
from .make_node import keep_tangents, record
from .tangents import carry, tangent_of

_PLAIN = PLAIN - {list, tuple}  # those may hold values that override `__torch_function__`


def apply(op: Op, args: tuple[Any, ...]) -> Any:
    """Call an operation. `args` are the values of all its parameters, in order."""
    if args[op.last_required] is MISSING:
        refuse_missing_of(op, public_of(op)[1], args)
    mode = MODE.get()
    if mode.functions:
        return through_functions(*public_of(op), args, *op.given(args))
    if options_of(op):
        refuse_options(op, public_of(op)[1], args)
    if not _PLAIN.issuperset(map(type, args)):
        refuse_missing_of(op, public_of(op)[1], args)
        found = overriding(args, op.name)
        if found:
            return handle(*public_of(op), found, *op.given(args))
    if mode.leaves_fast_path:
        if mode.watched:
            return _watched(op, args, mode)
        if mode.autocast is not None and mode.autocast.enabled:
            args = cast_arguments(mode.autocast, op, args)
        if mode.levels:
            return mode.levels[-1].process(op, args)
    return interpret(op, args, mode)


def _watched(op: Op, args: tuple[Any, ...], mode: Mode) -> Any:
    """Run an operation without the active dispatch watchers, nested in the `look` of each of them."""
    call: Any = partial(op.call, args)
    for watch in reversed(mode.ops):
        call = partial(watch.look, op, args, call)
    try:
        MODE.set(mode.unwatched or unwatched(mode))
        return call()
    finally:
        MODE.set(mode)


def interpret(op: Op, values: Any, mode: Mode) -> Any:
    """Return the result of an operation, or a tuple of several, by its dtype plan: without `vmap` and autocast."""
    layout = op.layout or layout_of(op)
    arrays = list(values)
    key = key_of(layout, values, arrays)
    if key is None:
        from .operands import normalise

        values = list(values)
        if not normalise(op, values):
            return raw_forward(op, values)
        arrays = list(values)
        key = key_of(layout._replace(others=()), values, arrays)
        if key is None:
            raise AssertionError(f"{op.name}: normalised operands have no key")
    plan = op.plans.get(key) or plan_of(op, layout, key, values)
    if op.check is not None:
        op.check(op, list(values), plan.compute)
    if mode.ops or mode.recorder is not None:
        outs, extras = _observed(op, layout, plan, values, arrays, mode)
    else:
        outs, extras = _compute(op, layout, plan, values, arrays, mode)
    if not outs:  # `unbind` of a dimension of size 0
        return ()
    needs = bool(op.inputs) and mode.grad and not mode.inference and _tracked(layout, values)
    if op.view and plan.spec.backend.aliasing:
        mark_views(op, layout, values, outs, mode)
        needs = needs and type(outs[0]._counter) is not InferenceCounter  # views of inference tensors are leaves
    if mode.forward and mode.hooks is not None:
        for i in layout.inputs:
            tangent_of(values[i])  # hooks may need it before `carry` does
    node = record(op, values, layout.position, outs, extras, mode, plan.compute, plan.spec) if needs else None
    if mode.forward:
        carry(op, values, outs, extras, mode)
        if node is not None:
            keep_tangents(op, node, outs)
    if not op.returns:
        return outs[0]
    return op.public.result_type(*outs) if op.results and not op.many else tuple(outs)  # type: ignore[attr-defined]


def _observed(
    op: Op, layout: OpLayout, plan: DtypePlan, values: Any, arrays: list[Any], mode: Mode
) -> tuple[list[Tensor], Sequence[Any]]:
    """Compute as `_compute` does, through the active operation modes, and notify the recorder."""
    start = perf_counter()
    outs, extras = through_modes(op, list(values), lambda: _compute(op, layout, plan, values, arrays, mode))
    if hasattr(mode.recorder, "ran"):
        mode.recorder.ran(op, values, outs, perf_counter() - start)
    return outs, extras


def _compute(
    op: Op, layout: OpLayout, plan: DtypePlan, values: Any, arrays: list[Any], mode: Mode
) -> tuple[list[Tensor], Sequence[Any]]:
    """Run the body on arrays; return the results as tensors without grad_fn, and the extra values for formulas."""
    first, numpy = plan.first, plan.spec.backend is NUMPY
    for i, cast, native in plan.casts:
        if native is None:
            arrays[i] = as_cast(values[i], cast, first)
        else:
            arrays[i] = (converted if arrays[i].size < LEAST else as_native)(arrays[i], native)
    for i in plan.numbers:
        if first is not None:
            if values[i] != 1:
                arrays[i] = rounded_number(values[i], first)
        elif type(values[i]) is int:
            arrays[i] = wrapped_int(values[i], plan.compute)
    for token in hushed:
        try:
            if layout.named or not numpy:
                result = plan.body(**dict(zip(op.params, arrays, strict=True)))
            else:
                result = plan.body(*arrays)
        except Exception as error:
            raise explain(op, list(values), error) from None
        finally:
            unhush(token)
        break
    make = _array_of_numpy if numpy else _array_of
    if not (op.returns or op.residuals or mode.inference):
        return [make(op, plan, result, True)], ()
    parts = list(result) if op.returns or op.residuals else [result]
    count = len(parts) - len(op.residuals)
    known = count if op.differentiable is None else op.differentiable  # how many have the dtype of the plan
    outs = [make(op, plan, part, nr < known) for nr, part in enumerate(parts[:count])]
    if mode.inference:
        for out in outs:
            out._counter = InferenceCounter([0])
    return outs, parts[count:]


def _array_of_numpy(op: Op, plan: DtypePlan, data: Any, known: bool) -> Tensor:
    """Return a tensor around a result of NumPy, in the dtype of the plan if it is `known`."""
    if type(data) is not _array_type or (op.contiguous and not data.flags.c_contiguous):
        data = np.asarray(data, order="C" if op.contiguous else None)
    spec = plan.out if known else None
    if spec is None:
        spec = NUMPY.spec(data)
    elif data.dtype is not spec.native:
        data = NUMPY.cast(data, spec.dtype)
    return alias(data, spec, data.shape)


def _array_of(op: Op, plan: DtypePlan, data: Any, known: bool) -> Tensor:
    """Return a tensor around a result of any library, in the dtype of the plan if it is `known`."""
    backend = plan.spec.backend
    data = backend.in_rows(backend.ensure(data)) if op.contiguous else backend.ensure(data)
    if known and plan.result is not None:
        data = backend.cast(data, plan.result)
    return alias(data, backend.spec(data), tuple(data.shape))


def mark_views(op: Op, layout: OpLayout, values: Any, outs: list[Tensor], mode: Mode) -> None:
    """Mark results as views of the first input, where they share its storage."""
    parent = values[layout.inputs[0]]
    if parent._spec.dtype is not outs[0]._spec.dtype and op.view != "real":
        return
    meta = INFERENCE if mode.inference else NO_GRAD if not mode.grad else MULTIPLE if op.returns else None
    for nr, out in enumerate(outs):
        if op.view is True or 0 in out._shape or out._data is parent._data or may_overlap(out._data, parent._data):
            mark_view(out, parent, Output(op.public, nr) if op.returns else op.public, tuple(values[1:]), meta)


def _tracked(layout: OpLayout, values: Any) -> bool:
    """Return whether an input requires grad; edges of views that were written to are remade."""
    found = False
    for i in layout.inputs:
        value = values[i]
        if i in layout.lists:
            found = _tracked(layout._replace(inputs=tuple(range(len(value))), lists=frozenset()), value) or found
        elif isinstance(value, Tensor):
            if value._view is not None:
                refresh(value)
            found = found or value._edge is not None
    return found


def raw_forward(op: Op, values: list[Any]) -> Any:
    """An operation called without any Tensor is its body, on arrays."""
    for item in (v for value in values for v in (value if isinstance(value, list | tuple) else (value,))):
        backend = backend_of(type(item))
        if backend is not None:
            try:
                return silently(backend.body(op), **dict(zip(op.params, values, strict=True)))
            except Exception:
                refuse_numbers(op, public_of(op)[1], values)
                raise
    from .operands import element, operand

    name = op.inputs[0] if op.inputs else op.params[0]
    position = op.params.index(name)
    if name in op.lists and values[position]:
        element(op, position, 0, values[position][0])
    if op.numbers and isinstance(values[position], int | float | complex):
        value = operand(op, name, position, values[position], False)
        return apply(op, (wrap(NUMPY.asarray(value, dtypes.operand_dtype(value), CPU)), *values[1:]))
    raise not_a_tensor(op.name, name, position + 1, values[position])


class Output:
    """Replay a view that is one of several results of an operation."""

    __slots__ = ("call", "nr")

    def __init__(self, call: Any, nr: int) -> None:
        self.call, self.nr = call, nr

    def __call__(self, *args: Any) -> Any:
        return self.call(*args)[self.nr]
