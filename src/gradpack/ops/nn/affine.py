"""`linear` and `bilinear`: products with a weight, plus a bias."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy import ndarray

from ...backends.numpy import product
from ...base import late
from ...declare.annotations import Array, Setting
from ...declare.decorators import general
from ...declare.decorators import linear as linear_kind
from ...kernels.dispatch import accelerated
from ...kernels.table import PRODUCT
from ..reduce.kernels import add_up, reshaped
from .dropped import light

FUNCTIONS = ""


def _blame_linear(input: Any, weight: Any, bias: Any = ()) -> None:
    if not input or not weight:
        raise RuntimeError(
            f"both arguments to linear need to be at least 1D, but they are {len(input)}D and {len(weight)}D"
        )
    if len(weight) > 2:
        raise RuntimeError(f"linear() expects a weight with <= 2 dimensions, but it is {len(weight)}D: {list(weight)}")
    rows = 1
    for n in input[:-1]:
        rows *= n
    if input[-1] != weight[-1]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({rows}x{input[-1]} and {weight[-1]}x{weight[0]}): linear() "
            f"got input {list(input)} and weight {list(weight)}"
        )
    if len(weight) < 2:
        raise RuntimeError(f"linear(): beside a bias of {list(bias)} the weight must be a matrix, not {len(weight)}-D")
    raise RuntimeError(f"linear(): bias of shape {list(bias)} does not fit weight {list(weight)}")


@general(
    input=lambda g, weight: late.matmul(g, weight) if len(weight.shape) == 2 else late.unsqueeze(g, -1) * weight,
    weight=lambda g, input, weight_shape: (
        late.matmul(g.mT, input)
        if len(input.shape) == len(weight_shape) == 2
        else _weight_gradient(g, input, weight_shape)
    ),
    bias=lambda g, bias_shape: (
        _over_rows(g) if len(g.shape) > 1 and g.shape[-1:] == bias_shape else late.sum_to_size(g, bias_shape)
    ),
    same_dtype=True,
    dtypes="ifc",
    shape_error=_blame_linear,
    node="AddmmBackward0",
    overloads=lambda node: "AddmmBackward0" if hasattr(node, "bias_shape") else "MmBackward0",
    edges={"AddmmBackward0": "bias input weight", "MmBackward0": "input weight"},
    save_as=light,
    autocast="lower",
    refuses="unsigned",
    overlap="read_first",
    saved_as=(
        "alpha=:1 beta=:1 mat1=input mat2=weight.T mat1_sym_sizes=input.shape mat1_sym_strides=input.strides "
        "mat2_sym_sizes=weight.T.shape mat2_sym_strides=weight.T.strides"
    ),
)
def linear(input: Array, weight: Array, bias: Array = None) -> Any:
    """`input @ weight.T + bias`.

    Args:
        input: shape (..., in_features).
        weight: shape (out_features, in_features), or (in_features).
        bias: shape (out_features), or () beside a vector as weight.

    Raises:
        RuntimeError: if the shapes do not fit, or the dtypes differ.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.linear(torch.ones(1, 2), torch.ones(3, 2), torch.zeros(3))
        tensor([[2., 2., 2.]])
    """
    if type(input) is ndarray and input.size + weight.size < PRODUCT and input.ndim == 2 == weight.ndim:
        if bias is None:
            return input.dot(weight.T)
        if bias.shape == weight.shape[:1]:
            out = input.dot(weight.T)
            out += bias
            return out
    if bias is not None and (
        (len(weight.shape) < 2 and bias.shape)
        or (len(bias.shape) > 1 and bias.shape[0] != 1)
        or (bias.shape and bias.shape[-1] not in (1, weight.shape[0]))
    ):
        raise ValueError("bias")
    if len(weight.shape) < 2:
        out = product(input, weight)
        return out if bias is None else out + bias
    if not input.shape or len(weight.shape) > 2:
        raise ValueError("dimensions")
    rows = input  # one large product is faster than one for each leading index
    if len(input.shape) != 2:
        rows = reshaped(input, (math.prod(input.shape[:-1]), input.shape[-1]))
    out = product(rows, weight.mT) if bias is None else affine(rows, weight.mT, bias)
    return out if rows is input else reshaped(out, (*input.shape[:-1], weight.shape[0]))


@accelerated
def affine(rows: Any, matrix: Any, bias: Any) -> Any:
    """`rows @ matrix + bias`."""
    out = product(rows, matrix)
    out += bias
    return out


def _weight_gradient(g: Any, input: Any, shape: Any) -> Any:
    if len(shape) < 2:
        return late.sum_to_size(late.unsqueeze(g, -1) * input, shape)
    if len(input.shape) == 1:
        return late.unsqueeze(g, -1) * input
    if len(input.shape) > 2:
        rows = math.prod(input.shape[:-1])
        g = late.reshape(g, (rows, shape[0]))
        input = late.reshape(input, (rows, shape[1]))
    return late.matmul(g.mT, input)


@linear_kind(input=lambda g, input_shape: late.expand(g, input_shape), node="SumBackward1")
def _over_rows(input: Array) -> Any:
    """The sum over all dimensions but the last."""
    return add_up(input, 0 if len(input.shape) == 2 else tuple(range(len(input.shape) - 1)))


@general(
    input1=lambda g, input2, weight: einsum_product("bo,oij,bj->bi", g, weight, input2),
    input2=lambda g, input1, weight: einsum_product("bo,oij,bi->bj", g, weight, input1),
    weight=lambda g, input1, input2: einsum_product("bo,bi,bj->oij", g, input1, input2),
    bias=lambda g, bias_shape: late.sum_to_size(g, bias_shape),
    same_dtype=True,
    dtypes="ifc",
    refuses="unsigned",
)
def bilinear(input1: Array, input2: Array, weight: Array, bias: Array = None) -> Any:
    """`input1 @ weight[k] @ input2 + bias[k]` for each output k.

    Args:
        input1: shape (..., n).
        input2: shape (..., m), with the same dimensions before.
        weight: shape (out_features, n, m).
        bias: shape (out_features), or None.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.functional.bilinear(torch.ones(1, 2), torch.ones(1, 3), torch.ones(4, 2, 3))
        tensor([[6., 6., 6., 6.]])
    """
    if input1.shape[-1] != weight.shape[1] or input2.shape[-1] != weight.shape[2]:
        raise RuntimeError(
            f"bilinear(): weight of shape {list(weight.shape)} does not fit inputs with last dimensions "
            f"{input1.shape[-1]} and {input2.shape[-1]}"
        )
    if input1.shape[:-1] != input2.shape[:-1]:
        raise RuntimeError(
            f"bilinear(): input batch dimensions do not match: {list(input1.shape)} and {list(input2.shape)}"
        )
    rows, (made, first, second) = math.prod(input1.shape[:-1]), weight.shape
    weights = np.reshape(np.moveaxis(weight, 1, 0), (first, made * second))
    half = np.reshape(product(np.reshape(input1, (rows, first)), weights), (rows, made, second))
    out = np.sum(half * np.expand_dims(np.reshape(input2, (rows, second)), 1), axis=-1)
    out = np.reshape(out, (*input1.shape[:-1], weight.shape[0]))
    return out if bias is None else out + bias


@general(
    first=lambda g, equation, second, third: _transposed(equation, 0, g, second, third),
    second=lambda g, equation, first, third: _transposed(equation, 1, g, first, third),
    third=lambda g, equation, first, second: _transposed(equation, 2, g, first, second),
    node="EinsumBackward0",
    autocast="lower",
)
def _triple(equation: Setting, first: Array, second: Array, third: Array) -> Any:
    """An einsum of three operands whose letters each occur twice."""
    return np.einsum(equation, first, second, third, optimize=True)


def _transposed(equation: str, nr: int, g: Any, a: Any, b: Any) -> Any:
    left, _, right = equation.partition("->")
    terms = left.split(",")
    rest = [t for i, t in enumerate(terms) if i != nr]
    return _triple(f"{right},{','.join(rest)}->{terms[nr]}", g, a, b)


def einsum_product(equation: str, g: Any, a: Any, b: Any) -> Any:
    """`_triple` over any leading dimensions, which stand as the letter b."""
    letters, _, out = equation.partition("->")
    shapes = [x.shape for x in (g, a, b)]
    lead = shapes[0][:-1]
    flat = [
        late.reshape(x, (math.prod(x.shape[:-1]), x.shape[-1])) if term.startswith("b") and len(term) == 2 else x
        for x, term in zip((g, a, b), letters.split(","), strict=True)
    ]
    made = _triple(equation, *flat)
    return late.reshape(made, (*lead, made.shape[-1])) if out.startswith("b") else made
