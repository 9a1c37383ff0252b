"""`rearrange`: dimensions by name, in the notation of einops."""

from __future__ import annotations

import math
import re
from typing import Any

from ..core.tensor import Tensor

_ELLIPSIS = "..."
_WORDS = re.compile(r"\s*(\.\.\.|\(|\)|[^\s().]+|\.)")

Group = list[str]  # the axes of one dimension: none for an unnamed one of size 1


def rearrange(tensor: Any, pattern: str, **axes_lengths: int) -> Tensor:
    """Permute, split, merge, add and drop dimensions, as a pattern says: a view where one is possible.

    Args:
        tensor: a Tensor, or a sequence of tensors of one shape, which are stacked along a new first dimension.
        pattern: `"before -> after"`. Each side names the dimensions in order; names in parentheses belong to one
            dimension, `1` or `()` is one of size 1, and `...` stands for all that are not named.
        axes_lengths: sizes of names in parentheses, where they do not follow from the rest.

    Raises:
        ValueError: for an invalid pattern, or one that does not fit the shape.
        TypeError: for lengths that are no integers.

    Example::

        >>> import gradpack as torch
        >>> images = torch.zeros(2, 6, 4, 3)
        >>> torch.func.rearrange(images, "b (h p) w c -> b c (h w) p", p=2).shape
        gradpack.Size([2, 3, 12, 2])
    """
    from ..ops.shape.join import stack

    for length in axes_lengths.values():
        if isinstance(length, bool) or not isinstance(length, int):
            raise TypeError(f"rearrange axis lengths must be integers, got: {type(length)}")
    sides = pattern.split("->")
    if len(sides) != 2:
        raise ValueError("Pattern must contain a single '->' separator")
    before, after = map(_parsed, sides)
    named, asked = _names(before), _names(after)
    if _ELLIPSIS in asked and _ELLIPSIS not in named:
        raise ValueError(f"Ellipsis found in right side, but not left side of a pattern {pattern}")
    if any(_ELLIPSIS in group and group != [_ELLIPSIS] for group in before):
        raise ValueError(f"Ellipsis is parenthesis in the left side is not allowed: {pattern}")
    if set(named) != set(asked):
        raise ValueError(
            "Identifiers only on one side of rearrange expression (should be on both): "
            f"{set(named).symmetric_difference(asked)}"
        )
    unknown = set(axes_lengths) - set(named)
    if unknown:
        raise ValueError(f"Identifiers not found in rearrange expression: {unknown}")
    source = tensor if isinstance(tensor, Tensor) else stack(tensor)
    sizes = _sizes(before, list(source.shape), axes_lengths)
    names = [name for group in before for name in group if name != "("]
    split = source.reshape([n for name in names for n in sizes[name]])
    places, start = {}, 0
    for name in names:
        places[name] = range(start, start + len(sizes[name]))
        start += len(sizes[name])
    order = [place for group in after for name in group if name != "(" for place in places[name]]
    shape: list[int] = []
    for group in after:
        inside = [sizes[name] for name in group if name != "("]
        shape += inside[0] if group == [_ELLIPSIS] else [math.prod(math.prod(size) for size in inside)]
    return split.permute(order).reshape(shape)


def _parsed(side: str) -> list[Group]:
    """Parse one side of a pattern into a group for each dimension; an ellipsis in parentheses begins with `(`."""
    groups: list[Group] = []
    inside: Group | None = None
    for word in _WORDS.findall(side):
        if word == "(":
            if inside is not None:
                raise ValueError("Axis composition is one-level (brackets inside brackets not allowed)")
            inside = []
        elif word == ")":
            if inside is None:
                raise ValueError("Brackets are not balanced")
            groups.append(["(", *inside] if _ELLIPSIS in inside else inside)
            inside = None
        else:
            axis = _axis(word)
            if inside is None:
                groups.append(axis)
            else:
                inside += axis
    if inside is not None:
        raise ValueError(f"Imbalanced parentheses in expression: '{side}'")
    return groups


def _axis(word: str) -> Group:
    if word == _ELLIPSIS:
        return [word]
    if word == ".":
        raise ValueError("Expression may contain dots only inside ellipsis (...)")
    if word.isdecimal():
        if int(word) != 1:
            raise ValueError("rearrange only supports unnamed axes of size 1")
        return []
    strange = next((c for c in word if not (c.isalnum() or c == "_")), None)
    if strange is not None:
        raise ValueError(f"Unknown character '{strange}'")
    if not word.isidentifier():
        raise ValueError(f"Invalid axis identifier: {word}\nnot a valid python identifier")
    if word.startswith("_") or word.endswith("_"):
        raise ValueError(f"Invalid axis identifier: {word}\naxis name should not start or end with underscore")
    return [word]


def _names(groups: list[Group]) -> list[str]:
    names = [name for group in groups for name in group if name != "("]
    for name in names:
        if names.count(name) > 1 and name == _ELLIPSIS:
            raise ValueError("Expression may contain dots only inside ellipsis (...); only one ellipsis for tensor ")
        if names.count(name) > 1:
            raise ValueError(f"Indexing expression contains duplicate dimension '{name}'")
    return names


def _sizes(groups: list[Group], shape: list[int], lengths: dict[str, int]) -> dict[str, list[int]]:
    """The sizes of each name: one, or for an ellipsis those of the remaining dimensions."""
    free = len(shape) - sum(group != [_ELLIPSIS] for group in groups)
    if free < 0 or (free > 0 and [_ELLIPSIS] not in groups):
        raise ValueError(
            f"Number of dimensions in pattern ({len(groups)}) must be equal to the number of dimensions in the tensor "
            f"({len(shape)})"
        )
    sizes: dict[str, list[int]] = {}
    for group in groups:
        if group == [_ELLIPSIS]:
            sizes[_ELLIPSIS], shape = shape[:free], shape[free:]
            continue
        n, shape = shape[0], shape[1:]
        known = math.prod(lengths.get(name, 1) for name in group)
        open_names = [name for name in group if name not in lengths]
        if len(open_names) > 1:
            raise ValueError(f"cannot infer the sizes of two dimensions at once {' and '.join(open_names)}")
        if known <= 0 or n % known or (not open_names and n != known):
            raise ValueError(f"the axes {' '.join(group) or '1'} of {lengths} do not fit into a dimension of size {n}")
        sizes |= {name: [lengths.get(name, n // known)] for name in group}
    return sizes
