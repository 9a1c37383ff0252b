"""Batching rules of what reads and writes by index tensors."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ..op import REGISTRY
from .batch_call import Call, _loop, call, lift, rows, shifted
from .batch_tensor import expanded
from .rules import call_arange


def starts(c: Call, ndim: int, step: int = 1) -> Tensor:
    """The number of each example, times `step`, as a column for index tensors of `ndim` dimensions."""
    made = call_arange(c.size, c.values[0])
    made = call("mul", made, step) if step != 1 else made
    return lift(made, ndim)


def _asked(c: Call) -> tuple[list[Any], list[bool]]:
    """The indices, None for dimensions without one; which of them are batched."""
    indices = list(c.values[1])
    return indices, c.flags[1] if isinstance(c.flags[1], list) else [False] * len(indices)


def _places(indices: list[Any], flags: list[bool]) -> tuple[list[int], bool, int]:
    """Which dimensions have an index, whether they stand together, how many dimensions the result has for them."""
    given = [k for k, i in enumerate(indices) if i is not None]
    return given, given[-1] - given[0] + 1 == len(given), max(indices[k].ndim - flags[k] for k in given)


def index(c: Call) -> Any:
    """`input[indices]`."""
    indices, flags = _asked(c)
    if _has_mask(indices):
        return _with_mask(c, indices, flags)
    given, together, ndim = _places(indices, flags)
    if not any(flags):
        made = c.run([c.values[0], [None, *indices]])
        return made if together else _moved(made, ndim, 0)
    if not c.flags[0] and together and given[0] == 0:
        return c.run([c.values[0], _aligned(indices, flags, ndim)])
    whole = c.whole(0)
    made = c.run([whole, [starts(c, ndim), *_aligned(indices, flags, ndim)]])
    if together and given[0] > 0:  # index arrays apart from the first put their dimensions in front
        first, count = given[0], ndim
        order = [0, *range(1 + count, 1 + count + first), *range(1, 1 + count), *range(1 + count + first, made.ndim)]
        made = call("permute", made, tuple(order))
    return made


def _moved(made: Tensor, place: int, to: int) -> Any:
    order = list(range(made.ndim))
    order.insert(to, order.pop(place))
    return call("permute", made, tuple(order))


def _aligned(indices: list[Any], flags: list[bool], ndim: int) -> list[Any]:
    return [lift(i, ndim) if f else i for i, f in zip(indices, flags, strict=True)]


def _has_mask(indices: list[Any]) -> bool:
    return any(i is not None and i.dtype.category == 0 for i in indices)


def _with_mask(c: Call, indices: list[Any], flags: list[bool]) -> Any:
    if any(f and i is not None and i.dtype.category == 0 for i, f in zip(indices, flags, strict=True)):
        raise RuntimeError(
            "vmap: We do not support batching operators that can support dynamic shape. Attempting to batch over "
            "indexing with a boolean mask."
        )
    plain: list[Any] = []
    kept: list[bool] = []
    for i, f in zip(indices, flags, strict=True):
        if i is not None and i.dtype.category == 0:
            found = call("nonzero", i)
            plain.extend(call("unbind", found, 1))
            kept.extend([False] * i.ndim)
        else:
            plain.append(i)
            kept.append(f)
    values = list(c.values)
    values[1] = plain
    new = list(c.flags)
    new[1] = kept if any(kept) else False
    return (index if c.op.name == "index" else index_back if c.op.name == "index_backward" else index_put)(
        Call(c.level, c.op, values, new)
    )


def index_back(c: Call) -> Any:
    """Zeros with gradients added where `index` reads: all examples, one after the other."""
    indices, flags = _asked(c)
    if _has_mask(indices):
        return _with_mask(c, indices, flags)
    given, together, ndim = _places(indices, flags)
    g = c.whole(0)
    if together and given[0] > 0:
        first = given[0]
        order = [0, *range(1 + first, 1 + first + ndim), *range(1, 1 + first), *range(1 + first + ndim, g.ndim)]
        g = call("permute", g, tuple(order))
    full = [starts(c, ndim), *_aligned(indices, flags, ndim)]
    return c.run([g, full, (c.size, *c.get("shape"))])


def index_put(c: Call) -> Any:
    indices, flags = _asked(c)
    if _has_mask(indices):
        return _put_mask(c, indices, flags)
    given, together, ndim = _places(indices, flags)
    if together and given[0] > 0:
        return _loop(c)
    values = c.wholes([0])
    values[1] = [starts(c, ndim), *_aligned(indices, flags, ndim)]
    if c.op.name == "index_put" and c.flags[2]:
        values[2] = lift(c.values[2], ndim + c.ndim(0) - len(given))
    return c.run(values)


def _put_mask(c: Call, indices: list[Any], flags: list[bool]) -> Any:
    """Where a mask says, a number; anything else would need to know how many places there are."""
    one = c.op.name == "index_put" and c.ndim(2) == 0 and not c.get("accumulate")
    if len(indices) > 1 or not (one or c.op.name == "index_put_backward"):
        return _with_mask(c, indices, flags)
    mask = indices[0] if flags[0] else expanded(indices[0], c.size)
    mask = call("reshape", mask, (*mask._shape, *(1,) * (c.ndim(0) + 1 - mask.ndim)))
    if not one:
        return call("masked_fill", c.whole(0), mask, 0)
    value = lift(c.values[2], c.ndim(0)) if c.flags[2] else c.values[2]
    return REGISTRY["where"].public(mask, value, c.whole(0))


def index_listed(c: Call) -> Any:
    """One index tensor at a dimension, or two at the first ones: as `index`, or its gradient."""
    if "start" in c.op.params:
        start = c.get("start")
        indices, flags = [None] * start + [c.get("index")], [False] * start + [c.has("index")]
    else:
        indices, flags = [c.get("first"), c.get("second")], [c.has("first"), c.has("second")]
    shape = [c.get("shape")] if "shape" in c.op.params else []
    name = "index_backward" if shape else "index"
    values = [c.values[0], indices, *shape]
    given = [c.flags[0], flags if any(flags) else False, *[False for _ in shape]]
    return (index_back if shape else index)(Call(c.level, REGISTRY[name], values, given))


def index_select(c: Call) -> Any:
    """One dimension by a vector of indices."""
    i = c.at("index")
    value, dim = c.values[0], c.get("dim")
    if not c.flags[i]:
        values = list(c.values)
        if c.ndim(0) == 0 and "shape" in c.op.params:
            return _loop(c)
        if c.ndim(0) == 0:
            return call("reshape", c.run([lift(value, 1), 1, values[i]]), (c.size,))
        values[c.at("dim")] = shifted(dim, c.ndim(0))
        if "shape" in c.op.params:
            values[c.at("shape")] = (c.size, *c.get("shape"))
        return c.run(values)
    ndim = c.ndim(0)
    if not ndim or not c.ndim(i) or "shape" in c.op.params:
        return _loop(c)
    at = shifted(dim, ndim) - 1
    made = Call(c.level, REGISTRY["index"], [value, [None] * at + [c.values[i]]], [c.flags[0], [False] * at + [True]])
    return index(made)


def index_write(c: Call) -> Any:
    """`index_add` and the like: with indices for each example, all rows of all examples are one dimension."""
    i, d = c.at("index"), c.at("dim")
    ndim = c.ndim(0)
    if ndim == 0 or c.ndim(i) == 0:
        return _loop(c)
    values = list(c.values)
    others = [k for k in c.tensors() if k != i]
    dim = shifted(c.values[d], ndim)
    for k in others:
        if not (k != 0 and c.ndim(k) == 0 and not c.flags[k]):
            values[k] = c.whole(k)
        if k != 0 and c.ndim(k) not in (0, ndim):
            return _loop(c)
        if c.flags[k] and c.ndim(k) == 0:
            return _loop(c)
    if not c.flags[i]:
        values[d] = dim
        return c.run(values)
    size = values[0]._shape[dim]
    shapes = {}
    for k in others:
        if values[k].ndim == ndim + 1:
            order = [0, dim, *[x for x in range(1, ndim + 1) if x != dim]]
            moved = call("permute", values[k], tuple(order))
            shapes[k] = moved._shape
            values[k] = call("reshape", moved, (moved._shape[0] * moved._shape[1], *moved._shape[2:]))
    where = call("add", call("_counted", values[i], size, True), starts(c, c.ndim(i), size))
    values[i] = call("reshape", where, (-1,))
    values[d] = 0
    made = call("reshape", c.run(values), shapes[0])
    return _moved(made, 1, dim)


def at_numbers(c: Call) -> Any:
    """Elements by their number in a row of all: read, written to, or zeroed."""
    i = c.at("index")
    values = c.wholes([k for k in c.tensors() if k != i])
    count = values[0].numel() // max(c.size, 1)
    values[i] = call("add", call("_counted", c.values[i], count, True), starts(c, c.ndim(i), count))
    if c.op.name == "take":
        values[0] = call("reshape", values[0], (-1,))
    return c.run(values)


def isin(c: Call) -> Any:
    tests = c.get("test_elements")
    if not c.has("test_elements") or not isinstance(tests, Tensor):
        return c.run()
    if c.get("assume_unique") or not isinstance(c.values[0], Tensor):
        return _loop(c)
    elements = c.whole(0)
    flat = call("reshape", tests, (c.size, *(1,) * c.ndim(0), -1))
    found = call("any", call("eq", call("unsqueeze", elements, -1), flat), -1, False)
    return call("logical_not", found) if c.get("invert") else found


def searchsorted(c: Call) -> Any:
    """Sorted sequences in the last dimension: one for all, or one for each."""
    bounds, values = c.values[0], c.values[1]
    if not c.flags[0] and c.ndim(0) == 1:
        return c.run()
    if not isinstance(values, Tensor) or c.ndim(1) == 0:
        return _loop(c)
    ndim = c.ndim(1)
    if c.ndim(0) == 1 and ndim > 1:
        wide = rows(c.whole(1))
        return call("reshape", c.run([bounds, wide, c.values[2]]), (c.size, *values._shape[bool(c.flags[1]) :]))
    return c.run([c.whole(0), c.whole(1), c.values[2]])
