"""The text of tensors (`repr`), as in torch."""

from __future__ import annotations

import math
from typing import Any

from ..base import dtypes
from ..base.layouts import sparse_coo
from ..base.modes import TRANSFORMS

OPTIONS: dict[str, Any] = {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None}
_PROFILES: dict[str, dict[str, Any]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set options for printing.

    Args:
        precision: digits after the point.
        threshold: the number of elements above which the middle is left out.
        edgeitems: how many elements are shown at each end then.
        linewidth: characters in a line.
        profile: "default", "short" or "full".
        sci_mode: whether to print like 1.0e+00; None decides by the values.

    Example::

        >>> import gradpack as torch
        >>> torch.set_printoptions(precision=2)
        >>> torch.tensor([1.12345])
        tensor([1.12])
        >>> torch.set_printoptions(profile="default")
    """
    if profile is not None:
        if profile not in _PROFILES:
            raise ValueError(f"profile must be one of {', '.join(_PROFILES)}, got {profile!r}")
        OPTIONS.update(_PROFILES[profile])
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    OPTIONS.update({k: v for k, v in given.items() if v is not None})
    OPTIONS["sci_mode"] = sci_mode


class _Format:
    """The format of the numbers of a tensor: integers, fixed point or scientific."""

    def __init__(self, values: list[Any], floating: bool) -> None:
        self.floating, self.whole, self.scientific, self.width = floating, True, False, 1
        precision = OPTIONS["precision"]
        if not floating:
            self.width = max((len(str(v)) for v in values), default=1)
            return
        finite = [abs(v) for v in values if math.isfinite(v) and v != 0]
        if finite:
            largest, smallest = max(finite), min(finite)
            self.whole = all(v == math.ceil(v) for v in finite)
            self.scientific = largest / smallest > 1000 or largest > 1e8 or (not self.whole and smallest < 1e-4)
        if OPTIONS["sci_mode"] is not None:
            self.scientific = OPTIONS["sci_mode"]
        self.precision = precision
        self.width = max((len(self.text(v)) for v in values if math.isfinite(v) and v != 0), default=1)

    def text(self, value: Any) -> str:
        if not self.floating:
            return str(value)
        if self.scientific:
            return f"{value:.{self.precision}e}"
        if self.whole:
            return f"{value:.0f}." if math.isfinite(value) else f"{value:.0f}"
        return f"{value:.{self.precision}f}"

    def padded(self, value: Any) -> str:
        return self.text(value).rjust(self.width)


class _Complex:
    def __init__(self, values: list[Any]) -> None:
        self.real = _Format([v.real for v in values], True)
        self.imag = _Format([v.imag for v in values], True)
        self.width = self.real.width + self.imag.width + 1

    def padded(self, value: Any) -> str:
        imag = self.imag.text(value.imag).lstrip()
        sign = "" if imag.startswith("-") else "+"
        return self.real.padded(value.real) + sign + imag + "j"


def _shown(array: Any, summarise: bool) -> list[Any]:
    """The elements that will be printed, in a flat list."""
    edge = OPTIONS["edgeitems"]
    if not summarise:
        return array.reshape(-1).tolist()
    index = [slice(None) if n <= 2 * edge else [*range(edge), *range(n - edge, n)] for n in array.shape]
    for axis, picked in enumerate(index):
        if isinstance(picked, list):
            array = array.take(picked, axis=axis)
    return array.reshape(-1).tolist()


def _lines(array: Any, indent: int, summarise: bool, fmt: Any) -> str:
    edge = OPTIONS["edgeitems"]
    if array.ndim == 0:
        return fmt.padded(array.item())
    n = array.shape[0]
    cut = summarise and n > 2 * edge
    if array.ndim == 1:
        per_line = max(1, (OPTIONS["linewidth"] - indent) // (fmt.width + 2))
        items = [fmt.padded(v) for v in (array.tolist() if not cut else array[:edge].tolist())]
        if cut:
            items += [" ...", *[fmt.padded(v) for v in array[-edge:].tolist()]]
        rows = [items[i : i + per_line] for i in range(0, len(items), per_line)]
        return "[" + (",\n" + " " * (indent + 1)).join(", ".join(row) for row in rows) + "]"
    picked = [*range(edge), None, *range(n - edge, n)] if cut else list(range(n))
    parts = ["..." if i is None else _lines(array[i], indent + 1, summarise, fmt) for i in picked]
    return "[" + ("," + "\n" * (array.ndim - 1) + " " * (indent + 1)).join(parts) + "]"


def _elements(array: Any, indent: int) -> str:
    """The text of the elements of an array that has some."""
    summarise = array.size > OPTIONS["threshold"]
    shown = _shown(array, summarise)
    kind = array.dtype.kind
    return _lines(array, indent, summarise, _Complex(shown) if kind == "c" else _Format(shown, kind == "f"))


def _dtype_suffix(d: dtypes.dtype) -> list[str]:
    """The suffix for the dtype of a tensor with elements, unless they show it."""
    usual = d in (dtypes.get_default_dtype(), dtypes.int64, dtypes.bool_, dtypes.default_complex())
    return [] if usual else [f"dtype={d}"]


def _with_suffixes(text: str, suffixes: list[str], indent: int) -> str:
    """Append suffixes to the values, each on a new line if the last one is full."""
    used = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if used + len(suffix) + 2 > OPTIONS["linewidth"]:
            text += ",\n" + " " * indent + suffix
            used = indent + len(suffix)
        else:
            text += ", " + suffix
            used += len(suffix) + 2
    return text


# Returns the text of a tensor that a functional transform wraps, else None; set by the module of transforms.
TRANSFORMED: list[Any] = [lambda tensor: None]


def render(tensor: Any) -> str:
    """The text of a tensor: values, and dtype, device and grad_fn where they are not the default."""
    if TRANSFORMS.get():
        inside: str | None = TRANSFORMED[0](tensor)
        if inside is not None:
            return inside
    kind = type(tensor)
    if not tensor._spec.numpy:
        text: str | None = tensor._spec.backend.text(tensor)
        if text is not None:
            return text
    name = vars(kind).get("_shown_as")
    prefix = f"{name or kind.__name__}("
    text = (_sparse if tensor._spec.layout is sparse_coo else _dense)(tensor, prefix) + ")"
    return f"Parameter({text})" if tensor._is_param and name is None else text


def _dense(tensor: Any, prefix: str) -> str:
    """The text of a dense tensor: values, and what else there is to say."""
    backend, d = tensor._spec.backend, tensor._spec.dtype
    array = backend.to_numpy(backend.cast(tensor._data, dtypes.computed_in(d)))
    suffixes = []
    if tensor.device.type != "cpu":
        suffixes.append(f"device='{tensor.device}'")
    if not array.size:
        if array.ndim != 1:
            suffixes.append(f"size={tuple(array.shape)}")
        body = "[]"
        if d is not dtypes.get_default_dtype():
            suffixes.append(f"dtype={d}")
    else:
        body = _elements(array, len(prefix))
        suffixes += _dtype_suffix(d)
    suffixes += _history(tensor)
    return _with_suffixes(prefix + body, suffixes, len(prefix))


def _history(tensor: Any) -> list[str]:
    """The suffixes for `grad_fn` or `requires_grad`, and for the tangent."""
    suffixes = []
    try:
        made_by = None if tensor.grad_fn is None else tensor.grad_fn.name().rsplit("::", 1)[-1]
    except RuntimeError:  # a view whose base was modified in place where that is forbidden
        made_by = "Invalid"
    if made_by is not None:
        suffixes.append(f"grad_fn=<{made_by}>")
    elif tensor.requires_grad:
        suffixes.append("requires_grad=True")
    if tensor._tangents is not None:
        suffixes.append(f"tangent={tensor._tangents!r}")
    return suffixes


def _sparse(tensor: Any, prefix: str) -> str:
    """The text of a sparse tensor: indices, values, size and nnz."""
    data = tensor._data
    indent = len(prefix)
    parts = []
    for name, array in (("indices", data.indices), ("values", data.values)):
        start = f"{name}=tensor("
        if array.dtype.kind == "V" or array.dtype == "float16":
            array = array.astype("float32")
        body = _elements(array, indent + len(start)) if array.size else f"[], size={tuple(array.shape)}"
        parts.append(f"{start}{body})")
    text = (prefix + (",\n" + " " * indent).join(parts)) + ",\n" + " " * indent
    text += f"size={tuple(tensor._shape)}, nnz={data.nnz}"
    return _with_suffixes(text, [*_dtype_suffix(tensor.dtype), f"layout={tensor.layout}", *_history(tensor)], indent)
