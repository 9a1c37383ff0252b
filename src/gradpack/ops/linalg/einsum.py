"""`einsum`, by matrix products: each pair of operands is contracted with one batched matmul."""

from __future__ import annotations

import string
from functools import lru_cache
from itertools import islice
from math import prod
from typing import Any

from ...base import late
from ...core.tensor import Tensor

FUNCTIONS = "einsum"


def einsum(equation: Any, *operands: Any) -> Tensor:
    """Sums of products of tensors whose dimensions have letters: Einstein's notation.

    Dimensions with the same letter have the same size and go together; letters that are not in the result are summed
    over. With opt_einsum installed and more than two operands, pairs are contracted in its order.

    Args:
        equation: letters of each operand, then of the result, as in `"ij,jk->ik"`. Without an arrow, letters that occur
            once are kept in alphabetical order; a letter twice in one operand takes a diagonal; `...` stands for any
            dimensions, which broadcast.
        operands: the tensors. Or tensors and lists of ints in turn, with a list for the result at the end, instead of
            an equation.

    Raises:
        RuntimeError: for letters, dimensions or sizes that do not fit.

    Example::

        >>> import gradpack as torch
        >>> A = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> torch.einsum("ij,j->i", A, torch.tensor([1.0, 10.0]))  # a matrix and a vector
        tensor([21., 43.])
        >>> torch.einsum("ii", A), torch.einsum("ij->ji", A)  # trace, transposed
        (tensor(5.), tensor([[1., 3.],
                [2., 4.]]))
        >>> torch.einsum("bhqd,bhkd->bhqk", torch.ones(2, 4, 5, 8), torch.ones(2, 4, 6, 8)).shape  # scores of attention
        gradpack.Size([2, 4, 5, 6])
    """
    if not isinstance(equation, str):
        equation, operands = _from_lists(equation, operands)
    if len(operands) == 1 and isinstance(operands[0], list | tuple):
        operands = tuple(operands[0])
    if not operands:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand and its "
            "subscripts list"
        )
    for t in operands:
        if not isinstance(t, Tensor):
            raise TypeError(f"einsum(): operands must be Tensor, not {type(t).__name__}")
    inputs, output = _labels(equation, *[t._shape for t in operands])
    terms = [_diagonals(t, labels) for t, labels in zip(operands, inputs, strict=True)]
    for a, b in _order(tuple(labels for _, labels in terms), output, [t for t, _ in terms]):
        a, b = sorted((a, b))
        second, first = terms.pop(b), terms.pop(a)
        later = set(output).union(*[labels for _, labels in terms]) if terms else set(output)
        terms.append(_contract(first, second, later))
    tensor, labels = _sum_out(*terms[0], set(output))
    order = tuple(labels.index(c) for c in output)
    return tensor if order == tuple(range(len(order))) else late.permute(tensor, order)


def _order(inputs: tuple[str, ...], output: str, tensors: list[Tensor]) -> list[tuple[int, int]]:
    """Return a contraction path: opt_einsum's, or from left to right, the last result with the next operand."""
    count = len(tensors)
    if count > 2:
        from ...backends import opt_einsum

        settings: Any = opt_einsum  # a module that checks what is assigned to it
        library = settings.get_opt_einsum() if settings.enabled else None
        if library is not None:
            path, _ = library.contract_path(
                ",".join(_letters(inputs)) + "->" + _letters((output,), inputs)[0],
                *[t._shape for t in tensors],
                shapes=True,
                optimize=settings.strategy,
            )
            steps = [tuple(step) for step in path]
            if all(len(step) == 2 for step in steps):
                return steps
    return [(0, 1)] + [(0, left - 1) for left in range(count - 1, 1, -1)] if count > 1 else []


def _letters(terms: tuple[str, ...], known: tuple[str, ...] | None = None) -> list[str]:
    """Labels in letters that opt_einsum takes (ours may be digits for the dimensions of `...`)."""
    labels = sorted(set("".join(known or terms)))
    pool = dict(zip(labels, string.ascii_letters, strict=False))
    return ["".join(pool[c] for c in term) for term in terms]


def _from_lists(first: Any, rest: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """The equation that `einsum(a, [0, 1], b, [1, 2], [0, 2])` means."""
    items = (first, *rest)
    letters = string.ascii_uppercase + string.ascii_lowercase

    def text(labels: Any) -> str:
        return "".join("..." if label is Ellipsis else letters[label] for label in labels)

    for labels in items[1::2]:
        if not isinstance(labels, list | tuple):
            raise TypeError(
                f"einsum(): the subscripts of an operand must be a list of ints, not {type(labels).__name__}: give "
                "them after each operand, or an equation string before all operands"
            )
    operands = items[0 : len(items) // 2 * 2 : 2]
    terms = [text(labels) for labels in items[1::2]]
    output = "->" + text(items[-1]) if len(items) % 2 else ""
    return ",".join(terms) + output, tuple(operands)


@lru_cache(512)
def _labels(equation: str, *shapes: tuple[int, ...]) -> tuple[tuple[str, ...], str]:
    """Labels of each operand and of the result (digits for the dimensions of `...`)."""
    text = equation.replace(" ", "")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(shapes):
        raise RuntimeError(
            f"einsum(): {'fewer' if len(terms) > len(shapes) else 'more'} operands were provided than specified in "
            f"the equation {equation!r}: {len(shapes)} for {len(terms)}"
        )
    dots = 0
    for term, shape in zip(terms, shapes, strict=True):
        plain = term.replace("...", "", 1)
        bad = next((c for c in plain if c not in string.ascii_letters), None)
        if bad is not None:
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {term.index(bad)} in the equation string, "
                f"subscripts must be in [a-zA-Z], found {bad!r}"
            )
        if "..." in term:
            dots = max(dots, len(shape) - len(plain))
        if ("..." not in term and len(shape) != len(plain)) or len(shape) < len(plain):
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({len(plain)}) does not match the number of "
                f"dimensions ({len(shape)}) for operand {term!r} "
                f"of shape {list(shape)} and no ellipsis was given"
            )
    names = "0123456789"[:dots]
    inputs = []
    for term, shape in zip(terms, shapes, strict=True):
        extra = len(shape) - len(term.replace("...", "", 1))
        inputs.append(term.replace("...", names[dots - extra :] if extra else ""))
    if arrow:
        output = right.replace("...", names)
        for c in output:
            if c not in "".join(inputs):
                raise RuntimeError(
                    f"einsum(): output subscript {c} does not appear in the equation for any input operand"
                )
            if output.count(c) > 1:
                raise RuntimeError(f"einsum(): output subscript {c} appears more than once in the output")
    else:
        joined = "".join(terms).replace(".", "")
        output = names + "".join(sorted(c for c in set(joined) if joined.count(c) == 1))
    sizes: dict[str, int] = {}
    for i, (labels, shape) in enumerate(zip(inputs, shapes, strict=True)):
        for c, n in zip(labels, shape, strict=True):
            old = sizes.get(c, 1)
            if n != old and 1 not in (n, old):
                raise RuntimeError(
                    f"einsum(): subscript {c} has size {n} for operand {i} which does not broadcast with previously "
                    f"seen size {old}"
                )
            sizes[c] = max(n, old) if 0 not in (n, old) else 0
    return tuple(inputs), output


def _diagonals(t: Tensor, labels: str) -> tuple[Tensor, str]:
    """Take diagonals where a letter occurs twice in one operand."""
    for c in dict.fromkeys(labels):
        while labels.count(c) > 1:
            i = labels.index(c)
            j = labels.index(c, i + 1)
            if t._shape[i] != t._shape[j]:
                raise RuntimeError(
                    f"einsum(): subscript {c} is repeated for an operand but the sizes don't match, {t._shape[j]} != "
                    f"{t._shape[i]}"
                )
            t = late.diagonal(t, 0, i, j)
            labels = labels[:i] + labels[i + 1 : j] + labels[j + 1 :] + c
    return t, labels


def _contract(first: tuple[Tensor, str], second: tuple[Tensor, str], later: set[str]) -> tuple[Tensor, str]:
    """Two operands as one batched matrix product; letters that nobody needs later are summed."""
    (a, la), (b, lb) = first, second
    a, la = _sum_out(a, la, later | set(lb))
    b, lb = _sum_out(b, lb, later | set(la))
    a, la = _drop_ones(a, la, lb, b)
    b, lb = _drop_ones(b, lb, la, a)
    batch = [c for c in la if c in lb and c in later]
    inner = [c for c in la if c in lb and c not in later]
    left = [c for c in la if c not in lb]
    right = [c for c in lb if c not in la]
    lead = (batch,) if batch else ()
    x = _arrange(a, la, (*lead, left, inner))
    y = _arrange(b, lb, (*lead, inner, right))
    if not inner:
        out = x * y  # an outer product per batch: (batch, left, 1) by (batch, 1, right)
    else:
        out = late.matmul(x, y)
    labels = "".join(batch + left + right)
    if len(left) == len(right) == 1 and len(batch) < 2:
        return out, labels
    dims = {c: n for t, ls in ((a, la), (b, lb)) for c, n in zip(ls, t._shape, strict=True)}
    return late.reshape(out, tuple(dims[c] for c in labels)), labels


def _drop_ones(t: Tensor, labels: str, other: str, u: Tensor) -> tuple[Tensor, str]:
    """A dimension of size 1 that the other operand has in full broadcasts: leave it to that one."""
    drop = [i for i, c in enumerate(labels) if c in other and t._shape[i] == 1 and u._shape[other.index(c)] != 1]
    if drop:
        t = late.squeeze(t, tuple(drop))
        labels = "".join(c for i, c in enumerate(labels) if i not in drop)
    return t, labels


def _sum_out(t: Tensor, labels: str, needed: set[str]) -> tuple[Tensor, str]:
    gone = tuple(i for i, c in enumerate(labels) if c not in needed)
    if not gone:
        return t, labels
    return late.sum(t, gone), "".join(c for c in labels if c in needed)


def _arrange(t: Tensor, labels: str, groups: tuple[list[str], ...]) -> Tensor:
    """Permute and join dimensions into those of a matrix, or the three of a batched one."""
    order = [labels.index(c) for group in groups for c in group]
    t = late.permute(t, tuple(order)) if order != list(range(len(order))) else t
    sizes = iter(t._shape)
    shape = tuple(prod(islice(sizes, len(group))) for group in groups)
    return t if t._shape == shape else late.reshape(t, shape)
