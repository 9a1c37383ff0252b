"""Helpers of the linear algebra modules: kinds of operations, checks of operands, named tuples of results, `out=`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, update_wrapper
from typing import Any

import numpy as np

from ...base.dtypes import FLOATING
from ...base.errors import LinAlgError, scalar_type
from ...base.modes import MODE
from ...base.return_types import return_type
from ...core.tensor import Tensor
from ...declare.decorators import general
from ...declare.dispatch.out_argument import put
from ...declare.inplace.write_checks import refuse_grad
from ...declare.signature.shown import also_out, showing
from .matrix_parts import array_of

_array_type = np.ndarray  # NumPy's own, also where `np` is bound to another library
_FEW = 64  # numbers, of which Python finds those that are not zero before NumPy does

# The kind of operations on matrices, whose body says the dtype of the result; and of those whose complex gradients are
# not those of a holomorphic function.
matrix_op = partial(general, result=None)
conjugating_op = partial(matrix_op, holomorphic=False)


# -- operands --


def matrices(name: str, input: Any, label: str = "A") -> None:
    """Raise unless there are two dimensions at least."""
    if len(input.shape) < 2:
        raise RuntimeError(f"{name}: The input tensor {label} must have at least 2 dimensions.")


def square(name: str, input: Any, label: str = "A") -> None:
    """Raise unless these are square matrices."""
    matrices(name, input, label)
    if input.shape[-1] != input.shape[-2]:
        raise RuntimeError(
            f"{name}: {label} must be batches of square matrices, but they are {input.shape[-2]} by "
            f"{input.shape[-1]} matrices"
        )


def floats(
    name: str, kernel: str = "", whole: str = "", low: bool = False, same: bool = False
) -> Callable[[Any, Any, Any], None]:
    """Make the `check=` of an operation that takes float32, float64, complex64 and complex128 only.

    Args:
        name: what the message for integers begins with.
        kernel: what torch calls the kernel that low precision has none of; without it, the message is that of `name`.
        whole: the same for integers.
        low: it takes low precision too.
        same: its first two operands must have one dtype.
    """

    def check(op: Any, values: Any, common: Any) -> None:
        if same:
            same_dtype(name, values[0], values[1])
        for value in values:
            if isinstance(value, Tensor):
                refuse_dtype(name, value._spec.dtype, kernel, whole, low)
                return

    return check


def refuse_dtype(name: str, dtype: Any, kernel: str = "", whole: str = "", low: bool = False) -> None:
    """Raise what torch raises for integers, and for low precision unless the operation takes it (`low`)."""
    if dtype.category >= FLOATING and (low or not dtype.low):
        return
    given = scalar_type(dtype)
    if dtype.category < FLOATING:
        if whole:
            raise NotImplementedError(f"\"{whole}\" not implemented for '{given}': convert with .to(dtype) first")
        raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got {given}")
    if kernel:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{given}': convert with .to(dtype) first")
    raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {given}")


def same_dtype(name: str, a: Any, b: Any, labels: tuple[str, str] = ("A", "B")) -> None:
    """Raise unless two tensors have one dtype."""
    if isinstance(a, Tensor) and isinstance(b, Tensor) and a._spec.dtype is not b._spec.dtype:
        raise RuntimeError(
            f"{name}: Expected {labels[0]} and {labels[1]} to have the same dtype, but found {labels[0]} of type "
            f"{scalar_type(a._spec.dtype)} and {labels[1]} of type {scalar_type(b._spec.dtype)} instead"
        )


def first_bad(info: Any) -> tuple[str, int] | None:
    """Return torch's prefix for the first batch element with nonzero `info`, and that info; None if all are 0."""
    if type(info) is _array_type and info.size < _FEW and not any(info.ravel().tolist()):
        return None
    flat = np.reshape(info, (-1,))
    bad = np.flatnonzero(flat)
    if not bad.size:
        return None
    place = f"(Batch element {int(bad[0])}): " if len(info.shape) else ""
    return place, int(flat[bad[0]])


def checked(result: Any, wanted: bool, sentence: str, error: type[Exception] = LinAlgError) -> Any:
    """Return the results of an operation; raises as `raise_if_bad` for their `info` if that is wanted."""
    if wanted:
        raise_if_bad(result.info, sentence, error)
    return result


def same_sizes(name: str, A: Any, B: Any, left: bool) -> None:
    """Raise unless the shapes of matrices fit the equation `A @ X = B`, or `X @ A = B` if not `left`."""
    if A[-1] != B[-2 if left else -1]:
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation {'AX = B' if left else 'XA = B'} "
            f"({A[-2]}x{A[-1]} and {B[-2]}x{B[-1]})"
        )


def raise_if_bad(info: Any, sentence: str, error: type[Exception] = LinAlgError) -> None:
    """Raise a sentence about the first matrix with nonzero `info`: `{place}` is torch's prefix, `{info}` that info."""
    found = first_bad(array_of(info))
    if found is not None:
        raise error(sentence.format(place=found[0], info=found[1]))


# -- results --


def result_type(name: str, fields: str) -> Any:
    """Return the named tuple type of a function's results, as in `torch.return_types`."""
    return return_type(name, fields.split())


def with_out(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `out=` to a function: a tensor, or a tuple of one per result."""
    code = function.__code__
    by_input = code.co_varnames[: code.co_argcount][:1] == ("input",)

    def call(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        if "x" in kwargs and by_input and not args:  # NumPy's name of it, which torch takes too
            kwargs["input"] = kwargs.pop("x")
        if out is None:
            return function(*args, **kwargs)
        name = function.__name__
        targets = tuple(out) if isinstance(out, tuple | list) else (out,)
        for target in targets:
            if not isinstance(target, Tensor):
                raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(target).__name__}")
        given = [v for group in args for v in (group if isinstance(group, tuple | list) else (group,))]
        refuse_grad(name, *given, *kwargs.values(), *targets)
        result = function(*args, **kwargs)
        results = result if isinstance(result, tuple) else (result,)
        if len(results) != len(targets):
            raise TypeError(f"{name}(): expected {len(results)} tensors as 'out', got {len(targets)}")
        for target, value in zip(targets, results, strict=True):
            put(name, target, value)
        if isinstance(result, tuple):
            return type(result)(*targets) if hasattr(result, "_fields") else targets
        return targets[0]

    made: Any = showing(also_out(function))(update_wrapper(call, function, updated=()))
    made.usual = function
    return made


def followed(*tensors: Any) -> bool:
    """Return whether derivatives of results of these tensors may be needed."""
    mode = MODE.get()
    if mode.levels or mode.forward:
        return True
    return bool(mode.grad) and any(isinstance(t, Tensor) and t.requires_grad for t in tensors)
