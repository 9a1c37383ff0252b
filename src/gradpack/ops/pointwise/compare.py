"""Comparisons and logic. Operations on bits stand in a file of their own."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...base.errors import not_a_tensor
from ...core.tensor import Tensor
from ...declare.annotations import Array
from ...declare.batching.batch_tensor import is_batched
from ...declare.decorators import nondifferentiable
from ...declare.generate.profiling import profiled
from .blockwise import is_numpy
from .operands import LARGE, is_complex, is_whole

FUNCTIONS = (
    "eq ne lt le gt ge isnan isinf isfinite isposinf isneginf isreal isclose allclose equal logical_and logical_or "
    "logical_xor logical_not"
)
METHODS = FUNCTIONS
INPLACE = "eq_ ne_ lt_ le_ gt_ ge_ logical_and_ logical_or_ logical_xor_ logical_not_"
ALIASES = {"greater": "gt", "greater_equal": "ge", "less": "lt", "less_equal": "le", "not_equal": "ne"}
OPERATORS = {"__eq__": "eq", "__ne__": "ne", "__lt__": "lt", "__le__": "le", "__gt__": "gt", "__ge__": "ge"}

_BOTH = ("input", "other")


_comparison = partial(nondifferentiable, result="bool", promote=_BOTH, scalars=("other",), rounds=True, cost="cheap")
_predicate = partial(nondifferentiable, result="bool", promote=("input",), cost="cheap")
_logic = partial(
    nondifferentiable, result="bool", promote=_BOTH, scalars=False, refuses="unsigned complex32", cost="cheap"
)


@_comparison()
def eq(input: Array, other: Array) -> Any:
    """Where `input == other`; NaN equals nothing.

    Example::

        >>> import gradpack as torch
        >>> torch.eq(torch.tensor([1, 2]), torch.tensor([1, 3]))
        tensor([ True, False])
    """
    return input == other


@_comparison()
def ne(input: Array, other: Array) -> Any:
    """Where `input != other`.

    Example::

        >>> import gradpack as torch
        >>> torch.tensor([1, 2]) != 2
        tensor([ True, False])
    """
    return input != other


@_comparison(dtypes="bif", refuses="unsigned")
def lt(input: Array, other: Array) -> Any:
    """Where `input < other`.

    Raises:
        NotImplementedError: for complex numbers, which have no order.

    Example::

        >>> import gradpack as torch
        >>> torch.tensor([1.0, 2.0]) < 2
        tensor([ True, False])
    """
    return input < other


@_comparison(dtypes="bif", refuses="unsigned")
def le(input: Array, other: Array) -> Any:
    """Where `input <= other`.

    Raises:
        NotImplementedError: for complex numbers, which have no order.

    Example::

        >>> import gradpack as torch
        >>> torch.tensor([1.0, 2.0]) <= 1
        tensor([ True, False])
    """
    return input <= other


@_comparison(dtypes="bif", refuses="unsigned")
def gt(input: Array, other: Array) -> Any:
    """Where `input > other`.

    Raises:
        NotImplementedError: for complex numbers, which have no order.

    Example::

        >>> import gradpack as torch
        >>> torch.tensor([1.0, 2.0]) > 1
        tensor([False,  True])
    """
    return input > other


@_comparison(dtypes="bif", refuses="unsigned")
def ge(input: Array, other: Array) -> Any:
    """Where `input >= other`.

    Raises:
        NotImplementedError: for complex numbers, which have no order.

    Example::

        >>> import gradpack as torch
        >>> torch.tensor([1.0, 2.0]) >= 2
        tensor([False,  True])
    """
    return input >= other


@_predicate()
def isnan(input: Array) -> Any:
    """Where there is NaN, in one of the parts of a complex number.

    Example::

        >>> import gradpack as torch
        >>> torch.isnan(torch.tensor([1.0, float("nan")]))
        tensor([False,  True])
    """
    return np.isnan(input)


@_predicate()
def isinf(input: Array) -> Any:
    """Where there is an infinity, in one of the parts of a complex number.

    Example::

        >>> import gradpack as torch
        >>> torch.isinf(torch.tensor([1.0, float("-inf")]))
        tensor([False,  True])
    """
    return np.isinf(input)


@_predicate()
def isfinite(input: Array) -> Any:
    """Where there is neither an infinity nor NaN.

    Example::

        >>> import gradpack as torch
        >>> torch.isfinite(torch.tensor([1.0, float("inf"), float("nan")]))
        tensor([ True, False, False])
    """
    return np.isfinite(input)


@_predicate(dtypes="bif")
def isposinf(input: Array) -> Any:
    """Where there is the positive infinity.

    Example::

        >>> import gradpack as torch
        >>> torch.isposinf(torch.tensor([float("inf"), float("-inf")]))
        tensor([ True, False])
    """
    return input == np.inf


@_predicate(dtypes="bif")
def isneginf(input: Array) -> Any:
    """Where there is the negative infinity.

    Example::

        >>> import gradpack as torch
        >>> torch.isneginf(torch.tensor([float("inf"), float("-inf")]))
        tensor([False,  True])
    """
    return input == -np.inf


@nondifferentiable(result="bool", promote=("input",))
def isreal(input: Array) -> Any:
    """Where the imaginary part is 0: everywhere, unless the dtype is complex.

    Example::

        >>> import gradpack as torch
        >>> torch.isreal(torch.tensor([1 + 0j, 1j]))
        tensor([ True, False])
    """
    return np.imag(input) == 0 if is_complex(input) else np.ones_like(input == 0)


def _check_same_dtype(op: Any, values: Any, common: Any) -> None:
    a, b = (v._spec.dtype for v in values[:2])
    if a is not b:
        raise RuntimeError(f"{a.name} did not match {b.name}: {op.name}() takes tensors of one dtype")


@nondifferentiable(result="bool", promote=_BOTH, scalars=False, check=_check_same_dtype)
def isclose(input: Array, other: Array, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """Where `|input - other| <= atol + rtol * |other|`, or both are the same infinity.

    Args:
        rtol: the tolerance relative to `other`.
        atol: the absolute tolerance.
        equal_nan: whether two NaN are close.

    Raises:
        RuntimeError: for tensors of different dtypes, or a negative tolerance.

    Example::

        >>> import gradpack as torch
        >>> torch.isclose(torch.tensor([1.0, 2.0]), torch.tensor([1.000001, 2.1]))
        tensor([ True, False])
    """
    for name, value in (("rtol", rtol), ("atol", atol)):
        if value < 0:
            raise RuntimeError(f"isclose(): {name} must be greater than or equal to zero, but got {value}")
    close = input == other
    if equal_nan:
        close = close | ((input != input) & (other != other))  # noqa: PLR0124 - NaN
    if is_whole(input):
        wide = np.int64  # a difference of bytes would wrap around
        input, other = np.asarray(input, dtype=wide), np.asarray(other, dtype=wide)
    error = np.abs(input - other)
    return close | (np.isfinite(error) & (error <= atol + np.abs(rtol * other)))


@profiled
def allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether `isclose` holds for all elements.

    Example::

        >>> import gradpack as torch
        >>> torch.allclose(torch.tensor([1.0]), torch.tensor([1.000001]))
        True
    """
    close = isclose(input, other, rtol, atol, equal_nan).all()
    if is_batched(close):
        raise RuntimeError(
            "vmap over torch.allclose isn't supported yet. Please file an issue at "
            "https://github.com/pytorch/pytorch/issues if you need this feature."
        )
    return bool(close)


@profiled
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape and equal elements.

    Args:
        other: the second tensor.

    Raises:
        TypeError: if one of them is no tensor.

    Example::

        >>> import gradpack as torch
        >>> torch.equal(torch.tensor([1, 2]), torch.tensor([1, 2]))
        True
    """
    if not isinstance(input, Tensor):
        raise not_a_tensor("equal", "input", 1, input)
    if not isinstance(other, Tensor):
        raise not_a_tensor("equal", "other", 2, other)
    if input._shape != other._shape:
        if is_batched(input) or is_batched(other):
            raise RuntimeError(_NO_RULE)
        return False
    if input._spec is other._spec and input._spec.whole:
        a, b = input._data, other._data
        if a.size < _FEW:
            return bool(a.tolist() == b.tolist())  # no NaN is another
        if is_numpy(a) and is_numpy(b):
            return not np.count_nonzero(a != b)
    same = eq(input, other).all()
    if is_batched(same):
        raise RuntimeError(_NO_RULE)
    return bool(same)


_NO_RULE = "Batching rule not implemented for aten::equal. We could not generate a fallback."
_FEW = 64  # numbers, of which Python compares lists before NumPy compares arrays


def _holds(x: Any) -> Any:
    """Where a number is not 0, in fewer steps than `numpy.logical_not` takes twice."""
    return x if np.isdtype(x.dtype, "bool") else x != 0


@_logic()
def logical_and(input: Array, other: Array) -> Any:
    """Where both are different from 0.

    Example::

        >>> import gradpack as torch
        >>> torch.logical_and(torch.tensor([0, 1, 2]), torch.tensor([1, 0, 1]))
        tensor([False, False,  True])
    """
    return np.logical_and(input, other) if input.size < LARGE else _holds(input) & _holds(other)


@_logic()
def logical_or(input: Array, other: Array) -> Any:
    """Where one of the two is different from 0.

    Example::

        >>> import gradpack as torch
        >>> torch.logical_or(torch.tensor([0, 1, 2]), torch.tensor([0, 0, 1]))
        tensor([False,  True,  True])
    """
    return np.logical_or(input, other) if input.size < LARGE else _holds(input) | _holds(other)


@_logic()
def logical_xor(input: Array, other: Array) -> Any:
    """Where exactly one of the two is different from 0.

    Example::

        >>> import gradpack as torch
        >>> torch.logical_xor(torch.tensor([0, 1, 2]), torch.tensor([0, 0, 1]))
        tensor([False,  True, False])
    """
    return np.logical_xor(input, other) if input.size < LARGE else _holds(input) ^ _holds(other)


@_predicate(refuses="unsigned complex32")
def logical_not(input: Array) -> Any:
    """Where `input` is 0.

    Example::

        >>> import gradpack as torch
        >>> torch.logical_not(torch.tensor([0, 1, 2]))
        tensor([ True, False, False])
    """
    return np.logical_not(input) if input.size < LARGE else input == 0
