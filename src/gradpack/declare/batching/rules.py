"""Batching rules by what an operation does with dimensions. Batch dimensions come first."""

from __future__ import annotations

from typing import Any

from ...base import late
from ...core.tensor import Tensor
from ..op import REGISTRY
from .batch_call import Call, Rule, call, elementwise, lift, rows, shifted
from .batch_tensor import expanded
from .vmap_fallback import dynamic_shape, results

DIMS = ("dim", "dims", "dim0", "dim1", "dim2", "dimension")


def along(c: Call) -> Any:
    """Batching rule of operations along given dimensions: shift each `dim` by the batch dimension in front."""
    values = c.wholes(ndim=2 if c.op.name == "_unfold_backward" else 1)
    ndim = c.ndim(0)
    if ndim == 0 and c.op.name in ("unbind", "split", "split_with_sizes"):
        run_one(c)
    if "shape" in c.op.params:
        ndim = len(c.get("shape"))
        values[c.at("shape")] = (c.size, *c.get("shape")) if ndim else (c.size, 1)
    for name in DIMS:
        if name in c.op.params and c.get(name) is not None:
            values[c.at(name)] = shifted(c.get(name), ndim)
    made = c.run(values)
    if c.op.name == "gather":  # the result has the shape of the index
        ndim = c.ndim(c.at("index"))
    if ndim == 0:
        return results(made, lambda m: call("reshape", m, (c.size, 1) if c.op.name == "unfold" else (c.size,)))
    return made


def reducing(c: Call) -> Any:
    """Batching rule of reductions that reduce all dimensions by default: reduce all but the batch dimension."""
    i = c.at("dim")
    dim = c.values[i]
    if isinstance(dim, list | tuple) and not dim and c.op.name in ("all", "any"):
        return c.run()
    if dim is None or (isinstance(dim, list | tuple) and not dim):
        c.values[i] = tuple(range(c.ndim(0))) or 0
    return along(c)


def flattening(c: Call) -> Any:
    """Batching rule of operations on the flattened input if `dim` is None: flatten each example."""
    i = c.at("dim")
    if c.values[i] is None:
        ndim = c.ndim(0)
        c.values[0] = rows(c.values[0])
        c.values[i] = 0
        keepdim = "keepdim" in c.op.params and c.get("keepdim")
        made = along(c)
        return results(made, lambda m: call("reshape", m, (c.size, *(1,) * ndim))) if keepdim else made
    return along(c)


def reduced(c: Call) -> Any:
    """Batching rule of losses: reduce (`reduction` 1: mean, 2: sum) over the elements of each example."""
    values = c.wholes()  # all batched, as the vjps expect: gradients have a batch dimension
    i = c.at("reduction")
    reduction, values[i] = values[i], 0
    made = elementwise(Call(c.level, c.op, values, [isinstance(v, Tensor) for v in values]))
    if not reduction or made.ndim == 1:
        return made
    return call("_sum_dim" if reduction == 2 else "_mean_dim", made, tuple(range(1, made.ndim)))


def squared(c: Call) -> Any:
    """`reduced` for mse_loss, by the operation of squared differences."""
    whole = [lift(c.whole(i), max(c.ndim(0), c.ndim(1))) for i in (0, 1)]
    made = call("_squared_difference", *whole)
    dims = tuple(range(1, made.ndim))
    return call("_sum_dim" if c.get("reduction") == 2 else "_mean_dim", made, dims) if dims else made


def instead(name: str, several: bool = True, take: int | None = None) -> Rule:
    """Make the rule of a full reduction: the operation `name` along the dimensions of an example.

    Args:
        several: whether it takes several dimensions; else examples are flattened.
        take: which of its results to return, if it has several.
    """

    def rule(c: Call) -> Any:
        value = c.values[0]
        n = len(value._shape)
        if n == 1 or not several:
            made = call(name, rows(value), 1)
            return made if take is None else made[take]
        return REGISTRY[name].public(value, 1 if n == 2 else tuple(range(1, n)))

    return rule


def leading(c: Call) -> Any:
    """Batching rule of operations on the last two dimensions, with any number of leading batch dimensions."""
    _need_matrices(c)
    return c.run(c.wholes(ndim=max(map(c.ndim, c.tensors()))))


def renorm(c: Call) -> Any:
    """Batching rule of `renorm`: fold the batch dimension into the dimension of the slices."""
    value, p, dim, maxnorm = c.values
    at = shifted(dim, c.ndim(0))
    order = (0, at, *[d for d in range(1, value.ndim) if d != at])
    moved = call("permute", value, order)
    flat = call("reshape", moved, (moved._shape[0] * moved._shape[1], *moved._shape[2:]))
    made = call("reshape", c.run([flat, p, 0, maxnorm]), moved._shape)
    back = sorted(range(value.ndim), key=lambda d: order[d])
    return call("permute", made, tuple(back))


def masked_fill_tensor(c: Call) -> Any:
    input, mask, value = c.values
    if not c.flags[2]:
        return elementwise(c)
    ndim = max(c.ndim(0), c.ndim(1))
    input, mask = (lift(v, ndim) if f else v for v, f in zip((input, mask), c.flags[:2], strict=True))
    value = lift(value, ndim)
    if value._spec.dtype is not input._spec.dtype:
        value = call("_to_copy", value, input._spec.dtype)
    return call("where", mask, value, input)


def alike(c: Call) -> Any:
    """Batching rule for operations on matrices, and tensors of other numbers of dimensions of equal batch size."""
    _need_matrices(c)
    return c.run(c.wholes())


def _need_matrices(c: Call) -> None:
    """Raise what the operation raises for an example of fewer dimensions: all examples would be taken for a matrix."""
    if c.ndim(0) < 2:
        run_one(c)


def run_one(c: Call) -> Any:
    """Run on an example of zeros, to raise what the operation raises; there may be no example."""
    return c.run([v.new_zeros(v._shape[1:]) if f is True else v for v, f in zip(c.values, c.flags, strict=True)])


def simply(c: Call) -> Any:
    """Batching rule of operations that do not depend on dimensions: run on the tensors of all examples."""
    return c.run()


def cloned(c: Call) -> Any:
    """Batching rule of `clone`. Memory formats tied to a number of dimensions are refused."""
    name = getattr(c.get("memory_format"), "name", None)
    if name not in (None, "preserve_format", "contiguous_format"):
        raise RuntimeError(
            "NYI: Tensor.clone(memory_format) inside vmap is only supported with memory_format torch.preserve_format "
            f"or torch.contiguous_format (got {''.join(w.capitalize() for w in name.split('_'))})"
        )
    return c.run()


def sized(*names: str) -> Rule:
    """Make the batching rule of operations that take the size of the result: put the batch size in front of it."""

    def rule(c: Call) -> Any:
        values = c.wholes()
        for name in names:
            i = c.at(name)
            values[i] = (c.size, *values[i])
        return c.run(values)

    return rule


def reshape(c: Call) -> Any:
    value, shape = c.values[0], tuple(c.values[1])
    if -1 in shape and (not c.size or not value.numel()):
        inner = call("reshape", REGISTRY["zeros_as"].public(value, value._shape[1:]), shape)
        shape = inner._shape
    elif -1 in shape:
        known = 1
        for n in shape:
            known *= n if n != -1 else 1
        count = value.numel() // c.size
        if known <= 0 or count % known or shape.count(-1) > 1:
            call("reshape", value[0], shape)  # raises torch's error
        shape = tuple(count // known if n == -1 else n for n in shape)
    return c.run([value, (c.size, *shape)])


def expand(c: Call) -> Any:
    size = tuple(c.values[1])
    if len(size) < c.ndim(0) or -1 in size[: len(size) - c.ndim(0)]:
        return c.run([c.values[0][0], size])
    return c.run([lift(c.values[0], len(size)), (c.size, *size)])


def repeat(c: Call) -> Any:
    return c.run([lift(c.values[0], len(c.values[1])), (1, *c.values[1])])


def sum_to_size(c: Call) -> Any:
    size = tuple(c.values[1])
    missing = c.ndim(0) - len(size)
    if missing < 0:
        return c.run([c.values[0][0], size])
    return call("reshape", c.run([c.values[0], (c.size, *(1,) * missing, *size)]), (c.size, *size))


def permute(c: Call) -> Any:
    dims = c.values[1]
    return c.run([c.values[0], (0, *shifted(tuple(dims), c.ndim(0)))])


def squeeze(c: Call) -> Any:
    value, dim = c.values
    n = c.ndim(0)
    named = tuple(range(n)) if dim is None else tuple(dim) if isinstance(dim, list | tuple) else (dim,)
    if not n and any(d not in (0, -1) for d in named):
        raise RuntimeError(f"Dimension is out of range (expected to be in range of [-1, 0], but got {list(named)}")
    return c.run([value, shifted(named, n) if n else ()])


def unsqueeze(c: Call) -> Any:
    return c.run([c.values[0], shifted(c.values[1], c.ndim(0) + 1)])


def transpose(c: Call) -> Any:
    if c.ndim(0):
        return along(c)
    shifted(tuple(c.values[1:3]), 0)  # raises torch's error
    return c.values[0]


def transposed(c: Call) -> Any:
    if c.ndim(0) > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {c.ndim(0)}D")
    return c.values[0] if c.ndim(0) < 2 else call("transpose", c.values[0], 1, 2)


def subscript(c: Call) -> Any:
    """A subscript of ints and slices, or zeros with gradients there."""
    place = c.get("place")
    place = place if isinstance(place, tuple) else (place,)
    shape = [(c.size, *c.get("shape"))] if "shape" in c.op.params else []
    return c.run([c.values[0], *shape, (slice(None), *place)])


def part(c: Call) -> Any:
    """The part where a view was, of each example."""
    return c.run([c.values[0], c.get("at").of_examples(c.size)])


def joined(c: Call) -> Any:
    """`cat` and `stack`."""
    tensors, flags = c.values[0], c.flags[0]
    items = [t if f else expanded(t, c.size) for t, f in zip(tensors, flags, strict=True)]
    shape = next((t._shape for t in items if t._shape[1:] != (0,)), items[0]._shape)
    dim = shifted(c.values[1], len(shape) - 1 + (c.op.name == "stack"))
    if c.op.name == "cat":  # legacy: empty tensors of shape (0,) are compatible with all others
        nothing = (*shape[:dim], 0, *shape[dim + 1 :])
        items = [t if t._shape[1:] != (0,) else call("reshape", t, nothing) for t in items]
    return c.run([items, dim])


def embedding(c: Call) -> Any:
    weight = c.values[0]
    padding = c.get("padding_idx")
    if not c.flags[0]:
        return c.run()
    length = weight._shape[1]
    whole = call("_counted", c.whole(1), length, False)
    start = call_arange(c.size, whole)
    if padding is not None and padding >= 0 and weight.requires_grad:
        mask = call("eq", call_arange(length, whole), padding)
        weight = REGISTRY["where"].public(call("unsqueeze", mask, -1), weight.detach(), weight)
    flat = call("reshape", weight, (c.size * length, *weight._shape[2:]))
    return c.run([flat, call("add", whole, call("mul", lift(start, whole.ndim - 1), length)), -1, *c.values[3:]])


def call_arange(count: int, like: Tensor) -> Tensor:
    made: Tensor = late.arange(count, device=like.device)
    return made


def refused(c: Call) -> Any:
    """Raise: the shape of the result depends on the values of each example, which `vmap` does not support."""
    raise dynamic_shape(c.op.name)


def masked(c: Call) -> Any:
    """Elements where a mask is set: that must be the same for all examples."""
    if not c.flags[1]:
        value, mask = c.values
        whole = elementwise(Call(c.level, REGISTRY["where"], [mask, value, value], [False, True, True]))
        flat = rows(whole)
        chosen = call("nonzero", call("reshape", call("expand", mask, whole._shape[1:]), (-1,)))
        return call("index_select", flat, 1, call("squeeze", chosen, 1))
    raise RuntimeError(
        "vmap: Attempted to vmap over `mask` in torch.masked_select(self, mask) We cannot support this because for "
        "each batch this would return a differently shaped Tensor. Please file an issue at "
        "https://github.com/pytorch/pytorch/issues if you need this feature."
    )


def trace(c: Call) -> Any:
    _need_matrices(c)
    return call("_sum_dim", call("diagonal", c.values[0], 0, 1, 2), 1)


def diag_embed(c: Call) -> Any:
    value, offset, dim1, dim2 = c.values
    n = c.ndim(0) + 1
    return c.run([value, offset, shifted(dim1, n), shifted(dim2, n)])


def roll(c: Call) -> Any:
    value, shifts, dims = c.values
    if dims is None or (isinstance(dims, list | tuple) and not dims):
        flat = rows(value)
        return call("reshape", c.run([flat, shifts, 1]), value._shape)
    return along(c)


def cross(c: Call) -> Any:
    if c.ndim(0) != c.ndim(1):
        run_one(c)
    return c.run([c.whole(0), c.whole(1), shifted(c.values[2], c.ndim(0))])


def select_scatter(c: Call) -> Any:
    return c.run([c.whole(0), c.whole(1), shifted(c.values[2], c.ndim(0)), c.values[3]])


def copied(c: Call) -> Any:
    """`input` with other values: those of each example."""
    value = c.values[1]
    return c.run([c.whole(0), lift(value, c.ndim(0)) if c.flags[1] else value])


def masked_back(c: Call) -> Any:
    """Zeros with gradients where a mask is set that is the same for all examples."""
    if c.has("mask"):
        raise dynamic_shape(c.op.name)
    shape = tuple(c.get("shape"))
    wide = call("expand", c.get("mask"), shape)
    chosen = call("nonzero", call("reshape", wide, (-1,)))
    zeros = call("zeros_as", c.values[0], (c.size, wide.numel()))
    made = call("index_copy", zeros, 1, call("squeeze", chosen, 1), c.values[0])
    return call("reshape", made, (c.size, *shape))
