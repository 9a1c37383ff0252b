"""Comparison of results: `torch.testing.assert_close`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..backends.numpy import quiet
from ..base.dtypes import FLOATING, computed_in, promote_types
from ..core.tensor import Tensor, wrap

# dtype -> (relative, absolute) tolerance; all others are to be equal
_TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Assert that tensors, numbers, or sequences and mappings of them are close.

    `|actual - expected| <= atol + rtol * |expected|`. The default tolerances are those of the less precise dtype of
    the two; integers and bool are to be equal.

    Args:
        rtol, atol: both or none.
        equal_nan: whether NaN equals NaN.
        check_dtype, check_device, check_layout, check_stride: whether these are to be equal too.
        msg: a text instead of the one that says what differs, or a function of that one.

    Raises:
        AssertionError: where they are not close.
        TypeError: for what cannot be compared.
        ValueError: for one tolerance without the other.

    Example::

        >>> import gradpack as torch
        >>> torch.testing.assert_close(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0 + 1e-6]))
    """
    if (rtol is None) != (atol is None):
        missing = "rtol" if rtol is None else "atol"
        raise ValueError(f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}.")
    checks = {"device": check_device, "dtype": check_dtype, "layout": check_layout, "stride": check_stride}
    settings = allow_subclasses, rtol, atol, equal_nan, checks
    for path, one, other in _pairs(actual, expected, "", msg):
        text = _difference(one, other, *settings)
        if text is not None:
            raise _failure(text, path, msg)


def _failure(text: str, path: str, msg: str | Callable[[str], str] | None) -> AssertionError:
    if path:
        text += f"\n\nThe failure occurred for item {path}"
    return AssertionError(text if msg is None else msg(text) if callable(msg) else msg)


def _pairs(a: Any, b: Any, path: str, msg: Any) -> list[tuple[str, Any, Any]]:
    """The leaves of two nested structures, side by side."""
    if _is_sequence(a) and _is_sequence(b):
        if len(a) != len(b):
            raise _failure(f"The length of the sequences mismatch: {len(a)} != {len(b)}", path, msg)
        return [p for i, (x, y) in enumerate(zip(a, b, strict=True)) for p in _pairs(x, y, f"{path}[{i}]", msg)]
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        if set(a) != set(b):
            missing, more = ([k for k in x if k not in y] for x, y in ((b, a), (a, b)))
            text = (
                "The keys of the mappings do not match:\n"
                f"Missing keys in the actual mapping: {sorted(missing, key=str)}\n"
                f"Additional keys in the actual mapping: {sorted(more, key=str)}"
            )
            raise _failure(text, path, msg)
        return [p for k in a for p in _pairs(a[k], b[k], f"{path}[{k!r}]", msg)]
    return [(path, a, b)]


def _is_sequence(x: Any) -> bool:
    return isinstance(x, Sequence) and not isinstance(x, str | bytes)


def _difference(
    a: Any, b: Any, subclasses: bool, rtol: float | None, atol: float | None, equal_nan: bool, checks: dict[str, bool]
) -> str | None:
    """Return a message on how two leaves differ, or None if they are close."""
    if a is None or b is None:
        return None if a is b else f"None mismatch: {_short(a)} is not {_short(b)}"
    flags = bool | np.bool_
    numbers = int | float | complex | np.number
    if isinstance(a, flags) and isinstance(b, flags):
        return None if bool(a) == bool(b) else f"Booleans mismatch: {a} is not {b}"
    if isinstance(a, numbers) and isinstance(b, numbers) and not (isinstance(a, bool) or isinstance(b, bool)):
        if checks["dtype"] and type(a) is not type(b):
            return f"The (d)types do not match: {type(a)} != {type(b)}."
        return _scalars(a, b, *_number_tolerances(a, b, rtol, atol), equal_nan)
    x, y = (wrap(v) if isinstance(v, np.ndarray | np.generic) else v for v in (a, b))
    related = isinstance(a, type(b)) or isinstance(b, type(a)) if subclasses else type(a) is type(b)
    if not (isinstance(x, Tensor) and isinstance(y, Tensor) and related):
        raise TypeError(f"No comparison pair was able to handle inputs of type {type(a)} and {type(b)}.")
    return _tensors(x.detach(), y.detach(), rtol, atol, equal_nan, checks)


def _short(value: Any) -> Any:
    return value.item() if isinstance(value, Tensor) and value.numel() == 1 else value


def _number_tolerances(a: Any, b: Any, rtol: float | None, atol: float | None) -> tuple[float, float]:
    if rtol is not None and atol is not None:
        return rtol, atol
    inexact = float | complex | np.inexact
    return (1e-7, 1e-7) if isinstance(a, inexact) or isinstance(b, inexact) else (0.0, 0.0)


def _tensors(
    a: Tensor, b: Tensor, rtol: float | None, atol: float | None, equal_nan: bool, checks: dict[str, bool]
) -> str | None:
    facts: list[tuple[str, Any, Any]] = [("shape", a.shape, b.shape)]
    facts += [(n, getattr(a, n), getattr(b, n)) for n in ("layout", "device", "dtype") if checks[n]]
    if checks["stride"]:
        facts.append(("stride()", a.stride(), b.stride()))
    for name, one, other in facts:
        if one != other:
            return f"The values for attribute '{name}' do not match: {one} != {other}."
    if a.device.type == "meta" or b.device.type == "meta":
        return None
    if a.is_sparse and b.is_sparse:
        return _sparse(a, b, rtol, atol, equal_nan, checks)
    a, b = (t.to_dense() if t.is_sparse else t for t in (a, b))
    if rtol is None or atol is None:
        pairs = [_TOLERANCES.get(t.dtype.name, (0.0, 0.0)) for t in (a, b)]
        rtol, atol = max(p[0] for p in pairs), max(p[1] for p in pairs)
    common = promote_types(a.dtype, b.dtype)
    x, y = (_wide(t.to(common)) for t in (a, b))
    if not x.shape:
        return _scalars(x.item(), y.item(), rtol, atol, equal_nan)
    with quiet():
        off = np.abs(x - y)
        within = off <= atol + rtol * np.abs(y)
        fine = (x == y) | (within & np.isfinite(y)) | (equal_nan & (x != x) & (y != y))  # noqa: PLR0124 - NaN
        if fine.all():
            return None
        off = np.where(fine, np.zeros_like(off), off)
        relative = np.where(fine, 0.0, off / np.abs(y))
        if common.name in ("float32", "complex64", "float16", "bfloat16") or common.category < FLOATING:
            relative = np.where(fine, 0.0, (off.astype("float32") / np.abs(y).astype("float32")))
    equal = rtol == 0 and atol == 0
    bad, total = int((~fine).sum()), fine.size
    lines = [
        f"Tensor-likes are not {'equal' if equal else 'close'}!",
        "",
        f"Mismatched elements: {bad} / {total} ({bad / total:.1%})",
    ]
    for what, values, limit in (("absolute", off, atol), ("relative", relative, rtol)):
        place = np.unravel_index(int(np.argmax(np.where(np.isnan(values), np.inf, values))), values.shape)
        allowed = "" if equal else f" (up to {limit} allowed)"
        lines.append(f"Greatest {what} difference: {values[place].item()} at index {tuple(map(int, place))}{allowed}")
    return "\n".join(lines)


def _sparse(
    a: Tensor, b: Tensor, rtol: float | None, atol: float | None, equal_nan: bool, checks: dict[str, bool]
) -> str | None:
    """Return a message on how two sparse tensors differ: in what they store, or in its places."""
    counts = (("sparse dimensions", a.sparse_dim(), b.sparse_dim()), ("specified values", a._nnz(), b._nnz()))
    for what, one, other in counts:
        if one != other:
            return f"The number of {what} in sparse COO tensors does not match: {one} != {other}"
    of_indices = _tensors(a._indices(), b._indices(), 0, 0, equal_nan, checks)
    if of_indices is not None:
        return of_indices.replace("Tensor-likes", "Sparse COO indices", 1)
    of_values = _tensors(a._values(), b._values(), rtol, atol, equal_nan, checks)
    return None if of_values is None else of_values.replace("Tensor-likes", "Sparse COO values", 1)


def _wide(t: Tensor) -> Any:
    """Return values as an array whose dtype neither wraps around nor loses digits in differences."""
    array = t.cpu().to(computed_in(t.dtype)).numpy()
    return array.astype("int64") if t.dtype.category < FLOATING else array


def _scalars(a: Any, b: Any, rtol: float, atol: float, equal_nan: bool) -> str | None:
    both_nan = a != a and b != b  # noqa: PLR0124 - NaN
    off = abs(a - b)
    if a == b or (equal_nan and both_nan) or (off <= atol + rtol * abs(b) and math.isfinite(abs(b))):
        return None
    equal = rtol == 0 and atol == 0
    relative = off / abs(b) if b else math.inf
    allowed = ["" if equal else f" (up to {limit} allowed)" for limit in (atol, rtol)]
    return (
        f"Scalars are not {'equal' if equal else 'close'}!\n\nExpected {b} but got {a}.\n"
        f"Absolute difference: {off}{allowed[0]}\nRelative difference: {relative}{allowed[1]}"
    )


__all__ = ["assert_close"]
