"""A tensor as notebooks show it: its facts, and a table of its elements."""

from __future__ import annotations

from typing import Any

from ..base import dtypes
from ..base.html import framed, preformatted, table
from ..base.layouts import strided
from ..base.modes import TRANSFORMS
from ..base.sizes import shown
from .printing import OPTIONS, _Complex, _Format, _history, render

_MOST = 10  # rows or columns of a table; of more, those at the edges are shown


def tensor_html(tensor: Any) -> str:
    """Return the HTML of a tensor: elements of one or two dimensions in a table, others as `repr` writes them."""
    name = "Parameter" if tensor._is_param else vars(type(tensor)).get("_shown_as") or type(tensor).__name__
    facts = [" × ".join(map(str, tensor._shape)) or "one number", str(tensor.dtype), str(tensor.device)]
    facts += [shown(tensor.nbytes)] if tensor._spec.layout is strided else [str(tensor.layout)]
    plain = tensor._spec.numpy and tensor._spec.layout is strided and not TRANSFORMS.get()
    if not plain or not 1 <= tensor.ndim <= 2 or not tensor.numel():
        return framed(name, facts, preformatted(render(tensor)))
    return framed(name, facts + _history(tensor), _elements(tensor))


def _elements(tensor: Any) -> str:
    backend, d = tensor._spec.backend, tensor._spec.dtype
    array = backend.to_numpy(backend.cast(tensor._data, dtypes.computed_in(d)))
    rows, columns = (_places(n) for n in (array.shape if array.ndim == 2 else (1, *array.shape)))
    if array.ndim == 1:
        array = array[None]
    values = [[None if i is None or j is None else array[i, j].item() for j in columns] for i in rows]
    numbers = [v for row in values for v in row if v is not None]
    kind = array.dtype.kind
    fmt = _Complex(numbers) if kind == "c" else _Format(numbers, kind == "f")
    named = len(rows) > 1
    cells = [
        [*([] if not named else ["⋮" if i is None else i]), *("…" if v is None else fmt.padded(v).strip() for v in row)]
        for i, row in zip(rows, values, strict=True)
    ]
    head = [*([""] if named else []), *("…" if j is None else str(j) for j in columns)]
    return table(head, cells, range(len(head)))


def _places(n: int) -> list[int | None]:
    """Return the places along a dimension that are shown, and None where others are left out."""
    edge = max(1, min(OPTIONS["edgeitems"], _MOST // 2))
    return [*range(n)] if n <= _MOST else [*range(edge), None, *range(n - edge, n)]
