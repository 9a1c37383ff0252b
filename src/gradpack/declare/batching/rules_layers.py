"""Batching rules of what layers of networks do: images fold the batch into their own, or into their channels."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ..op import REGISTRY
from .batch_call import Call, Rule, _loop, call, elementwise, lift, run
from .batch_tensor import expanded
from .rules import alike, call_arange
from .vmap_fallback import results


def joined_rows(value: Tensor) -> Tensor:
    """The batch and the dimension after it as one."""
    found: Tensor = call("reshape", value, (value._shape[0] * value._shape[1], *value._shape[2:]))
    return found


def apart(value: Tensor, size: int) -> Tensor:
    found: Tensor = call("reshape", value, (size, value._shape[0] // max(size, 1), *value._shape[1:]))
    return found


def folded(c: Call) -> Any:
    """Batching rule of operations whose first dimension is a batch: fold the `vmap` batch dimension into it."""
    values = [joined_rows(v) if isinstance(v, Tensor) else v for v in c.wholes()]
    for name in ("size", "shape"):
        if name in c.op.params and isinstance(c.get(name), list | tuple) and len(c.get(name)) == c.ndim(0):
            first = c.get(name)
            values[c.at(name)] = (first[0] * c.size, *first[1:])
    return results(c.run(values), lambda m: apart(m, c.size))


def images(dims: int) -> Rule:
    """The same for what takes images of `dims` dimensions, or maps of them, with any number of dimensions before."""

    def rule(c: Call) -> Any:
        return alike(c) if any(c.ndim(i) <= dims for i in c.tensors()) else folded(c)

    return rule


def convolution(c: Call) -> Any:
    """Examples of one kernel are more images; kernels of their own are more groups."""
    weight, bias = c.values[1:3]
    groups = c.get("groups")
    if not c.flags[1]:
        out = apart(run(c.op, [joined_rows(c.whole(0)), weight, None if c.flags[2] else bias, *c.values[3:]]), c.size)
    else:
        values = [_as_channels(c, 0), joined_rows(weight), None, *c.values[3:]]
        values[c.at("groups")] = groups * c.size
        made = run(c.op, values)
        out = _from_channels(c, made, made.ndim + 1)
        if bias is not None and not c.flags[2]:
            bias, c.flags[2] = expanded(bias, c.size), True
    if bias is not None and c.flags[2]:
        tail = out.ndim - 3
        out = call("add", out, call("reshape", bias, (c.size, 1, bias._shape[1], *(1,) * tail)))
    return out


def layer_norm(c: Call) -> Any:
    shape, weight, bias, eps = c.values[1:]
    if not c.flags[2] and not c.flags[3]:
        return c.run()
    out = run(c.op, [c.whole(0), shape, None, None, eps])
    return _affine(c, out, weight, bias, out.ndim - 1)


def _affine(c: Call, out: Tensor, weight: Any, bias: Any, ndim: int) -> Any:
    if weight is not None:
        out = call("mul", out, lift(weight, ndim) if c.has("weight") else weight)
    if bias is not None:
        out = call("add", out, lift(bias, ndim) if c.has("bias") else bias)
    return out


def group_norm(c: Call) -> Any:
    input, groups, weight, bias, eps = c.values
    if c.has("weight") or c.has("bias"):
        out = apart(run(c.op, [joined_rows(c.whole(0)), groups, None, None, eps]), c.size)
        return _per_channel(c, out, weight, bias)
    return apart(run(c.op, [joined_rows(input), *c.values[1:]]), c.size)


def _per_channel(c: Call, out: Tensor, weight: Any, bias: Any) -> Any:
    tail = (1,) * (out.ndim - 3)
    for name, value in (("mul", weight), ("add", bias)):
        if value is not None:
            flag = c.has("weight" if name == "mul" else "bias")
            first = (c.size, 1, value._shape[1]) if flag else (1, 1, value._shape[0])
            out = call(name, out, call("reshape", value, (*first, *tail)))
    return out


def batch_norm(c: Call) -> Any:
    """Statistics are of each channel: those of examples are channels of their own."""
    weight, bias = c.values[1:3]
    flat = _as_channels(c, 0)
    rest = list(c.values[3:])
    for k in (3, 4):
        value = c.values[k]
        if isinstance(value, Tensor):
            rest[k - 3] = call("reshape", c.whole(k), (-1,))
    made = _from_channels(c, run(c.op, [flat, None, None, *rest]), c.whole(0).ndim)
    return _per_channel(c, made, weight, bias)


def _as_channels(c: Call, i: int) -> Tensor:
    """Examples beside the channels of an image: [B, N, C, ...] -> [N, B * C, ...]."""
    whole = c.whole(i)
    moved = call("permute", whole, (1, 0, *range(2, whole.ndim)))
    found: Tensor = call("reshape", moved, (moved._shape[0], moved._shape[1] * moved._shape[2], *moved._shape[3:]))
    return found


def _from_channels(c: Call, made: Tensor, ndim: int) -> Tensor:
    split = call("reshape", made, (made._shape[0], c.size, made._shape[1] // c.size, *made._shape[2:]))
    found: Tensor = call("permute", split, (1, 0, *range(2, ndim)))
    return found


def batch_stats(c: Call) -> Any:
    made = run(c.op, [_as_channels(c, 0)])
    return results(made, lambda m: call("reshape", m, (c.size, -1)))


def dropout(c: Call) -> Any:
    """Drawn for each example, or once for all, as `randomness` says."""
    if c.get("kept") is not None:
        return c.run()
    if c.level.randomness == "error":
        raise c.level.refused_random()
    if c.level.randomness == "different":
        return c.run([c.whole(0), *c.values[1:]])
    one = REGISTRY["select"].public(c.values[0], (0, ...))
    ones = call("_filled_number", one.detach(), 1)
    return call("mul", c.values[0], c.run([ones, *c.values[1:]]))


def apply_mask(c: Call) -> Any:
    g, mask, shape, p = c.values
    if c.flags[1]:
        return _loop(c)
    one = REGISTRY["zeros_as"].public(g, tuple(shape))
    return call("mul", g, run(c.op, [call("_filled_number", one, 1), mask, shape, p]))


def embedding_back(c: Call) -> Any:
    """Gradients of rows: those of all examples side by side, or at rows of their own."""
    g, indices, rows, padding, scaled = c.values
    if not c.flags[1]:
        n = indices.ndim
        moved = call("permute", g, (*range(1, n + 1), 0, *range(n + 1, g.ndim)))
        made = run(c.op, [moved, *c.values[1:]])
        return call("permute", made, (1, 0, *range(2, made.ndim)))
    if scaled:
        return _loop(c)
    where = call("add", indices, lift(call("mul", call_arange(c.size, indices), rows), indices.ndim - 1))
    made = run(c.op, [c.whole(0), where, rows * c.size, -1, False])
    made = apart(made, c.size)
    if padding is not None and padding >= 0:
        mask = call("eq", call_arange(rows, indices), padding)
        made = call("masked_fill", made, call("reshape", mask, (rows, *(1,) * (made.ndim - 2))), 0)
    return made


def attention(c: Call) -> Any:
    """Leading dimensions of queries, keys and values are a batch already."""
    if c.get("dropout_p"):
        if c.level.randomness == "error":
            raise c.level.refused_random()
        return _loop(c) if c.level.randomness == "different" else _the_same_draw(c)
    ndim = max(map(c.ndim, range(3)))
    values = c.wholes(range(3), ndim)
    mask = c.values[3]
    if isinstance(mask, Tensor) and c.flags[3]:
        values[3] = lift(mask, ndim)
    return c.run(values)


def conv_weight(c: Call) -> Any:
    """The gradient of a kernel for each example: examples are groups of channels."""
    values = list(c.values)
    values[0], values[1] = _as_channels(c, 0), _as_channels(c, 1)
    values[c.at("groups")] = c.get("groups") * c.size
    return apart(c.run(values), c.size)


def conv_gradient(c: Call) -> Any:
    """Gradients of images, for one kernel or for kernels of their own."""
    values = list(c.values)
    if not c.flags[1]:
        values[0] = joined_rows(c.values[0])
        return apart(c.run(values), c.size)
    values[0], values[1] = _as_channels(c, 0), joined_rows(c.whole(1))
    values[c.at("groups")] = c.get("groups") * c.size
    made = c.run(values)
    return _from_channels(c, made, made.ndim + 1)


def at_places(c: Call) -> Any:
    """Values at places of images: weights and places are of each corner, then of each image."""
    values = list(c.values)
    for i in c.tensors():
        whole = c.whole(i)
        if c.op.params[i] in ("weight", "index"):
            whole = call("permute", whole, (1, 0, *range(2, whole.ndim)))
            values[i] = call("reshape", whole, (whole._shape[0], -1, *whole._shape[3:]))
        else:
            values[i] = joined_rows(whole)
    made = c.run(values)
    if c.op.name == "_products_at":
        made = call("reshape", made, (made._shape[0], c.size, -1, *made._shape[2:]))
        return call("permute", made, (1, 0, *range(2, made.ndim)))
    return apart(made, c.size)


def by_class(c: Call) -> Any:
    """Elements of images by their class; with a divisor, the sum over an image's examples of them."""
    values = list(c.values)
    divisor = c.get("divisor")
    values[c.at("divisor")] = None
    if "shape" in c.op.params:
        first, *rest = c.get("shape")
        values[c.at("shape")] = (first * c.size, *rest)
        if divisor is not None:
            target = c.get("target")
            shape = target._shape[bool(c.has("target")) :]
            g = call("div", c.whole(0), divisor)
            c.values[0] = call("expand", call("reshape", g, (c.size, *(1,) * len(shape))), (c.size, *shape))
            c.flags[0], divisor = True, None
    for i in c.tensors():
        values[i] = joined_rows(c.whole(i))
    made = apart(c.run(values), c.size)
    if divisor is None:
        return made
    return call("div", call("_sum_dim", made, tuple(range(1, made.ndim))), divisor)


def drawn(c: Call) -> Any:
    """Random numbers that depend on tensors."""
    if c.op.name == "rrelu" and not c.get("training"):
        return c.run()
    if c.level.randomness == "error":
        raise c.level.refused_random()
    if c.level.randomness == "different":
        values = c.wholes()
        return elementwise(Call(c.level, c.op, values, [isinstance(v, Tensor) for v in values]))
    return _the_same_draw(c)


def _the_same_draw(c: Call) -> Any:
    """One call for each example, all with the same random numbers."""
    from ...ops.random.generator import default_generator

    generator = ("generator" in c.op.params and c.get("generator")) or default_generator
    state = generator.get_state()
    rows = []
    for i in range(c.size):
        generator.set_state(state)
        rows.append(c.run([v[i] if f else v for v, f in zip(c.values, c.flags, strict=True)]))
    return call("stack", rows, 0)
