"""When a result of gradpack is that of torch: shape, dtype, whether it requires grad, values."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import torch
from tests.oracle.translate import array_of

import gradpack

# What torch's own tests allow, and a little less strict where sums are long.
TOLERANCE = {
    "float64": 1e-7,
    "complex128": 1e-7,
    "float32": 2e-4,
    "complex64": 2e-4,
    "bfloat16": 1.6e-2,
    "float16": 2e-3,
    "complex32": 2e-3,
}


def flat(value: Any, kind: Any) -> list[Any]:
    if isinstance(value, kind) or not isinstance(value, tuple | list):
        return [value]
    return [leaf for v in value for leaf in flat(v, kind)]


def name_of(dtype: Any) -> str:
    return str(dtype).split(".")[1]


def differences(
    theirs: Any, ours: Any, what: str, tolerance: float = 0.0, values: bool = True, finer: Any = None
) -> str | None:
    """In words, or None.

    Args:
        values: False where only shapes and dtypes can be expected to agree.
        finer: torch's results computed in float32 where these are of half precision: a result that is
            these, rounded once, is as good as one whose steps were rounded in torch's way.
    """
    t, o = flat(theirs, torch.Tensor), flat(ours, gradpack.Tensor)
    if len(t) != len(o):
        return f"{what}: {len(o)} results instead of {len(t)}"
    f = flat(finer, torch.Tensor) if finer is not None else [None] * len(t)
    for i, (a, b) in enumerate(zip(t, o, strict=True)):
        where = f"{what}[{i}]" if len(t) > 1 else what
        if not isinstance(a, torch.Tensor):
            if isinstance(b, gradpack.Tensor):
                return f"{where}: a Tensor instead of {a!r}"
            if isinstance(a, bool | int | float | complex | str) and values and not _same_number(a, b, tolerance):
                return f"{where}: {b!r} instead of {a!r}"
            continue
        if not isinstance(b, gradpack.Tensor):
            return f"{where}: {type(b).__name__} instead of a Tensor"
        if tuple(a.shape) != tuple(b.shape):
            return f"{where}: shape {tuple(b.shape)} instead of {tuple(a.shape)}"
        if name_of(a.dtype) != name_of(b.dtype):
            return f"{where}: dtype {b.dtype} instead of {a.dtype}"
        if a.requires_grad != b.requires_grad:
            return f"{where}: requires_grad {b.requires_grad} instead of {a.requires_grad}"
        if values and a.numel():
            found = _values(a, b, where, tolerance)
            if found and isinstance(f[i] if len(f) == len(t) else None, torch.Tensor):
                rounded = f[i].to(a.dtype)
                found = found if _values(rounded, b, where, tolerance / 2) else None
            if found:
                return found
    return None


def _same_number(a: Any, b: Any, tolerance: float) -> bool:
    if repr(a) == repr(b):
        return True
    return type(a) is type(b) and isinstance(a, float | complex) and abs(a - b) <= tolerance * max(1, abs(a))


def _values(a: Any, b: Any, where: str, tolerance: float) -> str | None:
    if a.layout is not torch.strided:
        if not b.is_sparse:
            return f"{where}: a dense tensor instead of one of layout {a.layout}"
        a, b = a.to_dense(), b.to_dense()
    name = name_of(a.dtype)
    if a.dtype is torch.complex32:
        a, b = a.to(torch.complex64), b.to(gradpack.complex64)
    x, y = array_of(a), np.asarray(b.detach().numpy())
    if x.dtype.kind not in "fc" and x.dtype != ml_dtypes.bfloat16:
        if not np.array_equal(x, y):
            return f"{where}: {y.ravel()[:6]} instead of {x.ravel()[:6]}"
        return None
    wide = np.complex128 if x.dtype.kind == "c" else np.float64
    x, y = x.astype(wide), y.astype(wide)
    near = max(tolerance, TOLERANCE[name])
    if np.allclose(y, x, rtol=near, atol=near, equal_nan=True):
        return None
    off = np.abs(y - x)
    worst = np.unravel_index(np.argmax(np.where(np.isnan(off), np.inf, off)), off.shape)
    return f"{where}: off by {np.nanmax(off):.3g}: {y[worst]} instead of {x[worst]} at {tuple(map(int, worst))}"


def same_places(theirs: Any, ours: Any, input: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether two indices of sorted elements point at the same values: among equals any order is right."""
    t, o = flat(theirs, torch.Tensor)[-1], flat(ours, gradpack.Tensor)[-1]
    if not isinstance(t, torch.Tensor) or t.dtype != torch.int64 or tuple(t.shape) != tuple(o.shape):
        return False
    mine = torch.from_numpy(np.array(o.numpy()))
    whole = [d for d in (kwargs.get("dim"), *args, -1) if type(d) is int and -input.dim() <= d < input.dim()]
    for dim in whole:
        a, b = (x if x.dim() == input.dim() else x.unsqueeze(dim) for x in (t, mine))
        if a.dim() != input.dim() or a.dim() == 0:
            continue
        try:
            if torch.equal(input.gather(dim, a).nan_to_num(nan=1e9), input.gather(dim, b).nan_to_num(nan=1e9)):
                return True
        except (RuntimeError, TypeError):
            continue
    return False
