"""In place, with `out=`, and with bad input: functions that fail for one `Case` if a form of calling differs."""

# ruff: noqa: PT017 - the message of one assertion says what all its parts mean

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import gradpack
import gradpack.nn.functional
from gradpack.base.modes import using
from gradpack.core.tensor import Tensor, wrap
from gradpack.declare.op import REGISTRY

from .cases import Arrays, Case, arguments, close, mode_now, native, same

# Only what users can call checks what they give.
PUBLIC = {name for place in (gradpack, gradpack.nn.functional, Tensor) for name in dir(place) if name[0] != "_"}


def inplace(case: Case) -> None:
    """The in-place method does what the operation does, and says so to autograd."""
    method: Any = getattr(Tensor, case.op.name + "_", None)
    if (
        method is None
        or getattr(method, "op", None) is not case.op
        or not case.leaves
        or case.params[0] != case.op.params[0]
    ):
        return
    arrays = case.arrays()
    expected = case.values(arrays)[0]
    kwargs = dict(zip(case.op.params, case.op.bind(*arguments(case, [wrap(a) for a in arrays])), strict=True))
    first = case.op.params[0]
    del kwargs[first]
    target = wrap(arrays[0].copy())
    if expected.shape == arrays[0].shape and np.can_cast(expected.dtype, arrays[0].dtype, "same_kind"):
        expected = expected.astype(arrays[0].dtype)  # eq_() writes zeros and ones of the tensor's dtype
    else:
        try:
            method(target, **kwargs)
        except RuntimeError as error:
            words = (f"output with shape {list(arrays[0].shape)}", "can't be cast to the desired output type")
            torchs = any(w in str(error) for w in words)  # which name shapes or dtypes only
            assert torchs or case.op.name in str(error), f"{case}: in place: {error}"
            assert same(target._data, arrays[0]) and not target._version, f"{case}: refused in place, and yet written"
            return
        raise AssertionError(f"{case}: in place, a result of shape {expected.shape} fits into {arrays[0].shape}")
    data = target._data
    assert method(target, **kwargs) is target, f"{case}: in place, returns another tensor"
    assert same(target._data, expected) and target._data is data, f"{case}: in place, another result"
    assert target._version == 1, f"{case}: in place, the write counts as {target._version}"
    if case.inputs and case.inputs[0] == 0:
        _inplace_gradients(case, arrays, method)


def _inplace_gradients(case: Case, arrays: Arrays, method: Any) -> None:
    seeds = case.seeds(arrays)
    gradients = case.gradients(arrays, seeds)
    tensors = case.tensors(arrays)
    sources = [tensors[i] for i in case.inputs]
    try:
        method(*_reordered(case, tensors)[0], **_reordered(case, tensors)[1])
    except RuntimeError as error:
        assert "a leaf Variable that requires grad" in str(error), f"{case}: in place on a leaf: {error}"
    else:
        raise AssertionError(f"{case}: in place on a leaf that requires grad")
    assert same(tensors[0]._data, arrays[0]), f"{case}: in place on a leaf: refused, and yet written"
    tensors[0] = REGISTRY["mul"].public(tensors[0], 1.0)
    args, kwargs = _reordered(case, tensors)
    out = method(*args, **kwargs)
    name = case.differentiable(case.call(case.tensors(arrays)))[0].grad_fn.name()
    assert out.grad_fn.name() == name, f"{case}: in place, the history is {out.grad_fn.name()}"
    found = case.gradients_of([out], sources, seeds)
    for i, a, b in zip(case.inputs, found, gradients, strict=True):
        assert close(a, b, 1e-13), f"{case}: in place, another gradient of {case.params[i]}"


def _reordered(case: Case, tensors: list[Tensor]) -> tuple[list[Any], dict[str, Any]]:
    """The arguments with the first parameter in front, the others by name."""
    values = dict(zip(case.op.params, case.op.bind(*arguments(case, tensors)), strict=True))
    first = values.pop(case.op.params[0])
    return [first], values


def out_argument(case: Case) -> None:
    """`out=` writes the result there and returns it; inputs that require grad are refused."""
    if case.op.view or not case.leaves:
        return
    arrays = case.arrays()
    expected = case.values(arrays)
    targets = [wrap(np.full(e.shape, 1, e.dtype)) for e in expected]
    given: Any = tuple(targets) if case.op.returns else targets[0]
    with using(grad=False):
        result = case.call([wrap(a) for a in arrays], out=given)
    for target, value, returned in zip(targets, expected, result, strict=True):
        assert returned is target, f"{case}: out= is not what is returned"
        assert same(target._data, value) and target._version == 1, f"{case}: out= holds another result"
    if case.inputs:
        try:
            case.call(case.tensors(arrays), out=given)
        except RuntimeError as error:
            assert case.op.name in str(error) and "out=" in str(error), f"{case}: {error}"
        else:
            raise AssertionError(f"{case}: out= with an input that requires grad")
    for target in targets:  # one of no elements takes the shape of the result without a word
        target._data, target._shape = np.zeros((0, 1, 0), target._data.dtype), (0, 1, 0)
    with using(grad=False), warnings.catch_warnings():
        warnings.simplefilter("error")
        case.call([wrap(a) for a in arrays], out=given)
    for target, value in zip(targets, expected, strict=True):
        assert same(target._data, value) and target._shape == value.shape, f"{case}: out= was not resized"


def bad_input(case: Case) -> None:
    """What cannot be is refused with torch's exception and a sentence that names the operation."""
    op, before = case.op, mode_now()
    if op.name not in PUBLIC:
        return
    tensors = [wrap(a) for a in case.arrays()]
    values = dict(zip(op.params, op.bind(*arguments(case, tensors)), strict=True))
    name = op.inputs[0] if op.inputs else op.params[0]
    if name in values and isinstance(values[name], Tensor):
        _refused(case, {**values, name: "text"}, TypeError, op.name)
    if (
        "dim" in values
        and "dim" in op.params
        and isinstance(values["dim"], int)
        and not isinstance(values["dim"], bool)
        and not _all_empty(values)
    ):
        for dim in (99, -99):
            _refused(case, {**values, "dim": dim}, IndexError, "Dimension out of range")
    operands = [p for p in op.inputs if isinstance(values.get(p), Tensor)]
    if op.kind == "elementwise" and len(operands) >= 2:
        d = values[operands[0]].dtype
        bad = {p: wrap(np.zeros((2, 3 + nr), native(d))) for nr, p in enumerate(operands)}
        _refused(case, {**values, **bad}, RuntimeError, op.name)
    assert mode_now() == before, f"{case}: bad input left the mode changed"


def _all_empty(values: dict[str, Any]) -> bool:
    """Whether only empty vectors are joined: torch looks at no dimension then."""
    given = values.get("tensors")
    return bool(given) and all(tuple(t.shape) == (0,) for t in given)


def _refused(case: Case, values: dict[str, Any], kind: type[Exception], words: str) -> None:
    positional = len(case.op.params) - case.op.keyword_only
    args = [values[p] for p in case.op.params[:positional]]
    kwargs = {p: values[p] for p in case.op.params[positional:]}
    try:
        case.op.public(*args, **kwargs)
    except kind as error:
        assert words in str(error), f"{case}: {error!r} does not say {words!r}"
        return
    except Exception as error:
        raise AssertionError(f"{case}: {error!r} where torch raises {kind.__name__}") from error
    raise AssertionError(f"{case}: no {kind.__name__} for bad input")
