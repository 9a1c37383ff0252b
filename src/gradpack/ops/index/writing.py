"""In-place operations that write a part of a tensor: only that part is touched.

`declare.inplace` runs an operation out of place and copies its result back, which is right for all
of them. Where an operation leaves most elements as they are, this writes into the array itself and
records the same node.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ...backends.memory_layout import overlap, writable
from ...backends.numpy import hushed, unhush
from ...base.dtypes import INTEGRAL, dtype
from ...base.info import number_for
from ...base.modes import MODE
from ...core.tensor import Tensor, alias, wrap
from ...declare.batching.batch_tensor import is_batched
from ...declare.decorators import general, linear
from ...declare.dispatch.body_errors import explain
from ...declare.dispatch.make_node import record
from ...declare.generate.profiling import watched
from ...declare.inplace.inplace import History, inplace
from ...declare.inplace.write_checks import check_history, check_overlap, check_writable, tensors_in
from ...declare.op import Op
from ...declare.signature.arguments import python_number
from ..reduce.kernels import _array_type

# The kind of operations that give `input` with some of its elements replaced, or added to.
write_op = partial(linear, promote=("input",), data_movement=True, refuses="unsigned")
# That of operations that write one number.
number_op = partial(general, data_movement=True, refuses="unsigned")


def write_part(
    op: Op, name: str, values: list[Any], kernel: Callable[..., Any], *, indexed: bool | None = False
) -> Tensor:
    """The in-place form of `op` on `values`, of which the first is the tensor to write to.

    `kernel` is `op` in-place on arrays: it is called with the arrays of all values. It must raise its
    errors before it writes.

    Args:
        indexed: whether writing to an expanded tensor is allowed, with a warning; None: without one.
    """
    if MODE.get().profiler is not None:
        return watched(op, name, lambda *given: _write_part(op, name, list(given), kernel, indexed), tuple(values))
    return _write_part(op, name, values, kernel, indexed)


def _write_part(op: Op, name: str, values: list[Any], kernel: Callable[..., Any], indexed: bool | None) -> Tensor:
    target = values[0]
    mode = MODE.get()
    if not isinstance(target, Tensor) or mode.needs_interpreter or not target._spec.whole or len(target._counter) > 1:
        return inplace(op, name, values)
    rest = values[1:]
    if _is_apart(target, rest):
        _written(op, values, target, kernel, History(target, None))
        return target
    others = tensors_in(rest)
    others_need = mode.grad and any(v._current_edge() is not None for v in others)
    check_writable(target, name, others_need, indexed=indexed)
    if op.overlap != "read_first":
        check_overlap(target, others)
    edge = target._current_edge() if mode.grad else None
    made = None
    if edge is not None or others_need:
        out = alias(target._data, target._spec, target._shape)
        source = alias(target._data, target._spec, target._shape)
        source._edge = edge
        index = {p: i for i, p in enumerate(op.params)}
        record(op, [source, *rest], index, [out], [], mode, target._spec.dtype, target._spec)
        made = out._edge
    history = History(target, made)
    _written(op, values, target, kernel, history)
    return target


def _is_apart(target: Tensor, rest: Sequence[Any]) -> bool:
    """Whether all tensors have no autograd history and own their storage: then no checks and no node are needed."""
    if target._edge is not None or target._view is not None or target._data.base is not None:
        return False
    if type(target._counter) is not list:
        return False
    for value in rest:
        if isinstance(value, Tensor):
            if value._data is target._data or value._edge is not None:
                return False
            if (value._view is not None or value._data.base is not None) and not _is_index_elsewhere(value, target):
                return False
        elif isinstance(value, list | tuple) and not _is_apart(target, value):
            return False
    return True


def _is_index_elsewhere(value: Tensor, target: Tensor) -> bool:
    """Whether a view has integers or bools, which have no history, in memory of an array that is not the target's."""
    base = value._data.base
    if value._spec.dtype.category > INTEGRAL or not value._spec.numpy:
        return False
    return base is None or (base is not target._data and type(base) is _array_type and base.base is None)


def _written(op: Op, values: list[Any], target: Tensor, kernel: Callable[..., Any], history: History) -> None:
    counts = type(target._counter) is list
    array, given = writable(target._data), [_arrays(v) for v in values[1:]]
    written = False
    for token in hushed:
        try:
            kernel(array, *given)
            written = True
            if counts:
                target._counter[0] += 1
            history.set()
        except Exception as error:
            raise explain(op, values, error) from None
        except BaseException:  # an interrupt
            if written:
                history.set()
            else:
                if counts:
                    target._counter[0] += 1
                history.lose()
            raise
        finally:
            unhush(token)
        break


def _arrays(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value._data
    return [_arrays(v) for v in value] if isinstance(value, list | tuple) else value


def keep_apart(target: Any, *others: Any) -> None:
    """Raise if an operand (such as an index) shares memory with the tensor written to."""
    if isinstance(target, Tensor) and not MODE.get().levels:
        if target._spec.whole and _is_apart(target, others):
            return
        tensors = [v for v in others if isinstance(v, Tensor)]
        try:
            check_overlap(target, tensors, apart=True)
        except RuntimeError:
            check_history(target, any(t.requires_grad for t in tensors))  # a leaf is refused as one
            raise


def own_value(target: Tensor, value: Any) -> Any:
    """The value to fill with; cloned if it is an element of the tensor written to."""
    if isinstance(value, Tensor) and not (value._shape or MODE.get().levels) and overlap(value._data, target._data):
        return value.clone()
    return value


def item_for(value: Any, d: dtype) -> Any:
    """Convert a number that is assigned to elements to the dtype `d`; a ValueError for ints beyond 64 bits."""
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ValueError(f"Overflow when unpacking long long: {value}")
    return number_for(value, d)


def number_tensor(value: Any, like: Tensor) -> Tensor:
    """A Python number as a 0-dim tensor of the dtype and device of `like`."""
    return wrap(number_array(value, like))


def number_array(value: Any, like: Tensor) -> Any:
    """A Python number as an array of the dtype and on the device of `like`."""
    spec = like._spec
    return spec.backend.asarray(item_for(value, spec.dtype), spec.dtype, spec.device)


def value_form(name: str, number: Any, tensor: Any, input: Any, value: Any) -> tuple[Any, Any]:
    """Choose the operation `number` or `tensor` by the type of `value`, and convert the value for it."""
    if isinstance(value, Tensor):
        if value._shape:
            raise RuntimeError(
                f"{name} only supports a 0-dimensional value tensor, but got tensor with {value.ndim} dimension(s)."
            )
        if value._spec.dtype is not input._spec.dtype and not is_batched(value):
            number_for(value.item(), input._spec.dtype)
        return tensor, value
    value = python_number(value)
    if not isinstance(value, int | float | complex):
        raise TypeError(f"{name}(): argument 'value' must be Tensor or Number, not {type(value).__name__}")
    return number, number_for(value, input._spec.dtype) if isinstance(input, Tensor) else value
