"""The interpreted path: the reference semantics of calling an operation.

Compiled code handles the usual case and is tested against this. Here is everything else: mixed
dtypes, low precision, complex numbers, other array libraries, lists of tensors, several results,
tangents, recorders, inference tensors.
"""

from __future__ import annotations

from functools import partial
from time import perf_counter
from typing import Any

from ...backends import Spec, backend_of
from ...backends.memory_layout import may_overlap
from ...backends.numpy import NUMPY, rounded_number, silently
from ...base import dtypes
from ...base.devices import CPU
from ...base.dtypes import INTEGRAL, complex32, complex64, dtype
from ...base.errors import different_devices, not_a_tensor, too_big
from ...base.layouts import strided
from ...base.modes import MODE, Mode, through_modes, unwatched
from ...core.tensor import InferenceCounter, Tensor, alias, wrap
from ...core.torch_function import handle, overriding, through_functions
from ...core.views import INFERENCE, MULTIPLE, NO_GRAD, mark_view
from ..op import Op
from ..signature.arguments import is_number_of_numpy, options_of, refuse_numbers, refuse_options
from .autocast import cast_arguments
from .body_errors import explain, public_of
from .dtype_plan import quickly, wrapped_int
from .make_node import keep_tangents, record
from .promotion import check_uniform, dtypes_of, rounded_to
from .tangents import carry, tangent_of


def apply(op: Op, args: tuple[Any, ...]) -> Any:
    """Call an operation. `args` are the values of all its parameters, in order."""
    mode = MODE.get()
    if not mode.special:
        if options_of(op):
            refuse_options(op, public_of(op)[1], args)
        quick = quickly(op, args, mode)
        if quick is not None:
            return quick
    elif mode.functions:
        return through_functions(*public_of(op), args, *_as_given(op, args))
    found = overriding(args, op.name)
    if found:
        return handle(*public_of(op), found, *_as_given(op, args))
    if mode.watched:
        return _watched(op, args, mode)
    if mode.special and options_of(op):
        refuse_options(op, public_of(op)[1], args)
    if mode.autocast is not None and mode.autocast.enabled:
        args = cast_arguments(mode.autocast, op, args)
    if mode.levels:
        return mode.levels[-1].process(op, args)
    values = list(args)
    if not _normalise(op, values):
        return raw_forward(op, values)
    return _apply(op, values, mode)


def _watched(op: Op, args: tuple[Any, ...], mode: Mode) -> Any:
    """Run an operation without the active dispatch watchers, nested in the `look` of each of them."""
    count = len(op.params) - op.keyword_only
    call: Any = partial(op.public, *args[:count], **dict(zip(op.params[count:], args[count:], strict=True)))
    for watch in reversed(mode.ops):
        call = partial(watch.look, op, args, call)
    try:
        MODE.set(mode.unwatched or unwatched(mode))
        return call()
    finally:
        MODE.set(mode)


def _as_given(op: Op, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any] | None]:
    """The arguments without those that are left at their defaults."""
    positional = len(op.params) - op.keyword_only
    given = list(args[:positional])
    while given and op.params[len(given) - 1] in op.defaults and given[-1] is op.defaults[op.params[len(given) - 1]]:
        given.pop()
    rest = zip(op.params[positional:], args[positional:], strict=True)
    named = {p: v for p, v in rest if p not in op.defaults or v is not op.defaults[p]}
    return tuple(given), named or None


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
    name = op.inputs[0] if op.inputs else op.params[0]
    position = op.params.index(name)
    if name in op.lists and values[position]:
        _element(op, position, 0, values[position][0])
    if op.numbers and isinstance(values[position], int | float | complex):
        value = _operand(op, name, position, values[position], False)
        return apply(op, (wrap(NUMPY.asarray(value, dtypes.operand_dtype(value), CPU)), *values[1:]))
    raise not_a_tensor(op.name, name, position + 1, values[position])


def _normalise(op: Op, values: list[Any]) -> bool:
    """Replace NumPy scalars, check types; say whether there is any Tensor."""
    for value in values:
        if isinstance(value, Tensor) or (isinstance(value, list | tuple) and any(isinstance(v, Tensor) for v in value)):
            break
    else:
        return False
    for i, param in enumerate(op.params):
        value = values[i]
        if isinstance(value, Tensor) or param not in op.arrays:
            if isinstance(value, Tensor) and param not in op.arrays and param not in op.lists:
                if value.requires_grad:
                    raise TypeError(f"{op.name}(): argument '{param}' must be Number, not a Tensor that requires grad")
                values[i] = value.item() if value.numel() == 1 else value
            continue
        if param in op.lists:
            values[i] = [_element(op, i, nr, v) for nr, v in enumerate(value)]
        elif param in op.promote or param in op.inputs:
            if not (value is None and op.defaults.get(param, 0) is None):
                values[i] = _operand(op, param, i, value, param not in op.scalars)
    return True


def _element(op: Op, position: int, nr: int, value: Any) -> Tensor:
    """Convert one item of a list of tensors."""
    if isinstance(value, Tensor):
        return value
    raise TypeError(
        f"expected Tensor as element {nr} in argument {position}, but got {type(value).__name__} ({op.name}())"
    )


def _operand(op: Op, param: str, position: int, value: Any, must_be_tensor: bool) -> Any:
    if isinstance(value, Tensor):
        return value
    backend = backend_of(type(value))
    if backend is not None:
        if not must_be_tensor and not getattr(value, "shape", ()):
            if not hasattr(value, "flags") or type(value).__module__ == "numpy":
                return value.item() if hasattr(value, "flags") else value
        if not is_number_of_numpy(type(value)):
            return wrap(value)
    if not must_be_tensor and isinstance(value, int | float | complex):
        if type(value) is int and not -(1 << 63) <= value < 1 << 64:
            raise too_big(f"{public_of(op)[1]}(): argument '{param}'", value)
        return value
    raise not_a_tensor(op.name, param, position + 1, value)


def _apply(op: Op, values: list[Any], mode: Mode) -> Any:
    index = {p: i for i, p in enumerate(op.params)}
    tensors: list[Tensor] = []
    for value in values:
        if isinstance(value, Tensor):
            tensors.append(value)
        elif isinstance(value, list | tuple):
            tensors.extend(v for v in value if isinstance(v, Tensor))
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

        spec = SPARSE.spec_for(spec.dtype, spec.device)
    if op.uniform:
        check_uniform(op, values, index)
    out_dtype, compute = dtypes_of(op, values, index, tensors)
    if op.check is not None:
        op.check(op, values, compute)

    start = 0.0 if mode.recorder is None else perf_counter()
    if mode.ops:
        outs, extras = through_modes(op, values, lambda: _compute(op, values, spec, out_dtype, compute, mode))
    else:
        outs, extras = _compute(op, values, spec, out_dtype, compute, mode)
    if mode.recorder is not None and hasattr(mode.recorder, "ran"):
        mode.recorder.ran(op, values, outs, perf_counter() - start)
    if not outs:  # `unbind` of a dimension of size 0
        return ()

    # -- record --
    follow = bool(op.inputs) and mode.grad and not mode.inference
    needs = follow and any(t._current_edge() is not None for t in _inputs(op, values, index))
    if op.view and spec.backend.aliasing:
        parent = next(iter(_inputs(op, values, index)))
        if parent._spec.dtype is outs[0]._spec.dtype or op.view == "real":
            args = tuple(values[1:])
            for nr, out in enumerate(outs):
                if op.view in ("maybe", "real") and 0 not in out._shape and not _shares(out._data, parent._data):
                    continue
                meta = INFERENCE if mode.inference else NO_GRAD if not mode.grad else MULTIPLE if op.returns else None
                replay = Output(op.public, nr) if op.returns else op.public
                mark_view(out, parent, replay, args, meta)
            needs = needs and type(outs[0]._counter) is not InferenceCounter  # views of inference tensors are leaves
    if mode.forward and mode.hooks is not None:
        for t in tensors:
            tangent_of(t)  # hooks may need it before `carry` does
    node = record(op, values, index, outs, extras, mode, compute, spec) if needs else None
    if mode.forward:
        carry(op, values, outs, extras, mode)
        if node is not None:
            keep_tangents(op, node, outs)
    if not op.returns:
        return outs[0]
    return op.public.result_type(*outs) if op.results else tuple(outs)  # type: ignore[attr-defined]


def _compute(
    op: Op, values: list[Any], spec: Spec, out_dtype: dtype | None, compute: dtype | None, mode: Mode
) -> tuple[list[Tensor], list[Any]]:
    """Run the body on arrays; return the results as tensors without grad_fn, and the extra values for formulas."""
    backend = spec.backend
    arrays = list(values)
    first = rounded_to(op, out_dtype, compute)
    for i, param in enumerate(op.params):
        value = values[i]
        cast = compute if param in op.promote or param in op.lists else None
        if isinstance(value, Tensor):
            if first is not None and cast is not None and value._spec.dtype is not first:
                arrays[i] = backend.cast(backend.cast(value._data, first), cast)
            else:
                arrays[i] = _array(value, cast, op)
        elif first is not None and type(value) in (float, int) and (cast is not None or param in ("alpha", "lambd")):
            arrays[i] = rounded_number(value, first)
        elif isinstance(value, list | tuple) and (param in op.arrays or param in op.lists):
            arrays[i] = type(value)(_array(v, cast, op) for v in value) if type(value) in (list, tuple) else value
        elif cast is not None and type(value) is int and cast.category == INTEGRAL:
            arrays[i] = wrapped_int(value, cast)
    try:
        result = silently(backend.body(op), **dict(zip(op.params, arrays, strict=True)))
    except Exception as error:
        raise explain(op, values, error) from None
    many = op.returns or bool(op.extra)
    parts = list(result) if many else [result]
    extras = parts[len(parts) - len(op.extra) :] if op.extra else []
    if op.extra:
        parts = parts[: len(parts) - len(op.extra)]

    outs: list[Tensor] = []
    for nr, part in enumerate(parts):
        data = backend.in_rows(backend.ensure(part)) if op.contiguous else backend.ensure(part)
        if out_dtype is not None and (op.differentiable is None or nr < op.differentiable):
            data = backend.cast(data, out_dtype)
        out = alias(data, backend.spec(data), tuple(data.shape))
        if mode.inference:
            out._counter = InferenceCounter([0])
        outs.append(out)
    return outs, extras


class Output:
    """Replay a view that is one of several results of an operation."""

    __slots__ = ("call", "nr")

    def __init__(self, call: Any, nr: int) -> None:
        self.call, self.nr = call, nr

    def __call__(self, *args: Any) -> Any:
        return self.call(*args)[self.nr]


def _inputs(op: Op, values: list[Any], index: dict[str, int]) -> list[Tensor]:
    found = []
    for p in op.inputs or op.params[:1]:
        value = values[index[p]]
        if isinstance(value, Tensor):
            found.append(value)
        elif p in op.lists:
            found.extend(v for v in value if isinstance(v, Tensor))
    return found


def _array(value: Any, cast: dtype | None, op: Op) -> Any:
    if not isinstance(value, Tensor):
        return value
    if value._spec.dtype is complex32 and op.promote and not op.view:
        return value._spec.backend.cast(value._data, cast or complex64)
    if cast is None or (op.structural and len(op.promote) == 1 and not op.lists):
        return value._data
    return value._spec.backend.cast(value._data, cast)


def _shares(a: Any, b: Any) -> bool:
    """Whether two arrays of one origin overlap in memory (bounds are enough: neither copies partly)."""
    return a is b or may_overlap(a, b)
