"""Batching rules of products and of what solves with matrices."""

from __future__ import annotations

from math import prod
from typing import Any

from ...base.modes import MODE
from ...core.tensor import Tensor
from ..op import REGISTRY
from .batch_call import Call, Rule, _loop, call, lift
from .batch_tensor import all_examples, batched, entered, expanded
from .decompositions import MEANINGS
from .rules import alike, leading, run_one


def cores(*sizes: int) -> Rule:
    """Make the batching rule of operations on the last `sizes[i]` dimensions of tensor i; leading ones broadcast."""

    def rule(c: Call) -> Any:
        values = list(c.values)
        places = c.tensors()
        before = max(c.ndim(i) - own for i, own in zip(places, sizes, strict=True))
        for i, own in zip(places, sizes, strict=True):
            values[i] = lift(c.whole(i), before + own)
        return c.run(values)

    return rule


def solve(c: Call) -> Any:
    """A right-hand side may be one vector for each matrix."""
    a, b = c.values[:2]
    shape_a, shape_b = a._shape[bool(c.flags[0]) :], b._shape[bool(c.flags[1]) :]
    vector = len(shape_b) == 1 or (len(shape_b) == len(shape_a) - 1 and shape_b == shape_a[:-1])
    if not vector:
        made = leading(c)
        return type(made)(made[0], call("reshape", made[1], (c.size, *shape_a[:-2])))
    values = list(c.values)
    values[1] = call("unsqueeze", c.whole(1), -1)
    made = leading(Call(c.level, c.op, values, [c.flags[0], True, *c.flags[2:]]))
    return type(made)(call("squeeze", made[0], -1), made[1])


def least_squares(c: Call) -> Any:
    if c.ndim(1) >= c.ndim(0):
        made = leading(c)
    elif c.whole(1)._shape == c.whole(0)._shape[:-1]:
        made = alike(c)  # one vector for each matrix
    else:
        return _loop(c)
    return type(made)(*[expanded(m, c.size) if m._shape == (0,) else m for m in made])  # (0,): was not computed


# The exact number of dimensions of the operands of some products.
_RANKS = {"mm": (2, 2), "bmm": (3, 3), "mv": (2, 1), "dot": (1, 1), "outer": (1, 1)}


def matmul(c: Call) -> Any:
    a, b = c.values[:2]
    fa, fb = c.flags[:2]
    na, nb = c.ndim(0), c.ndim(1)
    if not na or not nb:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {na}D and {nb}D")
    _check_ranks(c)
    product = REGISTRY["matmul"].public
    if fa and not fb:
        return product(a, b) if nb <= 2 or (na > 1 and na >= nb) else _products(a, expanded(b, c.size), na, nb)
    if fb and not fa and nb > 1 and (na <= 2 or nb >= na):
        return product(a, b)
    if fb and not fa and nb == 1 and na <= 2:
        return product(b, call("t", a) if na == 2 else a)
    return _products(a if fa else expanded(a, c.size), b if fb else expanded(b, c.size), na, nb)


def _products(a: Tensor, b: Tensor, na: int, nb: int) -> Any:
    if na == 1:
        a = call("unsqueeze", a, -2)
    if nb == 1:
        b = call("unsqueeze", b, -1)
    ndim = max(a.ndim, b.ndim) - 1
    if ndim == 2 and a._spec is b._spec and a._shape[2] == b._shape[1]:
        out = call("product_each", a, b)
    else:
        out = REGISTRY["matmul"].public(lift(a, ndim), lift(b, ndim))
    if na == 1:
        out = call("squeeze", out, -2 if nb > 1 else -1)
    return call("squeeze", out, -1) if nb == 1 else out


def _check_ranks(c: Call) -> None:
    given = (c.ndim(0), c.ndim(1))
    wanted = _RANKS.get(c.op.name, given)
    if given != wanted:
        raise RuntimeError(
            f"Shape mismatch: Got incorrect dims for {c.op.name}(a, b). a has dim {given[0]} and b has dim {given[1]} "
            f"but expected them to have dim {wanted[0]} and dim {wanted[1]}"
        )


def outer(c: Call) -> Any:
    _check_ranks(c)
    a, b = c.values
    a = call("unsqueeze", a, -1)
    return call("mul", a, call("unsqueeze", b, -2) if c.flags[1] else b)


def linear(c: Call) -> Any:
    input, weight, bias = c.values
    if not c.ndim(0):
        run_one(c)
    if not c.flags[1] and not c.flags[2]:
        return c.run([input, weight, bias])
    if not c.flags[1]:
        out = c.run([c.whole(0), weight, None])
        return call("add", out, lift(bias, out.ndim - 1))
    if c.ndim(1) != 2:
        out = matmul(Call(c.level, REGISTRY["matmul"], [input, weight], [c.flags[0], True]))
        if bias is None:
            return out
        return call("add", out, lift(bias, out.ndim - 1) if c.flags[2] else bias)
    whole = c.whole(0)
    shape = whole._shape
    rows = whole if len(shape) == 3 else call("reshape", whole, (c.size, prod(shape[1:-1]), shape[-1]))
    if rows._shape[2] != weight._shape[2]:
        c.run([whole[0], weight[0], None])  # raises torch's error
    out = call("linear_each", rows, weight, None if bias is None else c.whole(2))
    return out if len(shape) == 3 else call("reshape", out, (*shape[:-1], weight._shape[1]))


def triple(c: Call) -> Any:
    """An einsum of three: a letter more for the batch."""
    equation = c.get("equation")
    letter = next(x for x in "zyxwvutsrqponmlkjihgfedcbaABCDEFGHIJKLMNOPQRSTUVWXYZ" if x not in equation)
    left, _, right = equation.partition("->")
    parts = [(letter if f else "") + p for p, f in zip(left.split(","), c.flags[1:], strict=True)]
    return c.run([f"{','.join(parts)}->{letter}{right}", *c.values[1:]])


def by_meaning(c: Call) -> Any:
    """A fused operation as the composition that it stands for, in which every part has a rule."""
    meaning: Any = MEANINGS.get(c.op.name) or c.op.decomposition
    level = c.level
    values = [batched(v, level) if f is True else v for v, f in zip(c.values, c.flags, strict=True)]
    outer = MODE.get()
    try:
        MODE.set(entered(outer, level))
        made = meaning(*values)
    finally:
        MODE.set(outer)
    return tuple(all_examples(m, level) for m in made) if isinstance(made, tuple) else all_examples(made, level)
