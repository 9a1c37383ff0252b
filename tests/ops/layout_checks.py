"""The same call in other layouts and on the other path: functions that fail for one `Case` if that differs."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradpack.base.modes import using
from gradpack.core.tensor import Tensor

from .cases import Arrays, Case, close, same


class _Note:
    """Anomaly bookkeeping that does nothing: a mode with it takes the interpreted path."""

    def note(self, node: Any) -> None:
        pass


# Operations whose arguments are about the layout itself.
ABOUT_LAYOUT = {"_as_strided", "as_strided", "view_as_complex"}


def layouts(case: Case) -> None:
    """Transposed, strided, reversed and expanded inputs give what dense ones give."""
    if case.op.name in ABOUT_LAYOUT:
        return
    arrays = case.arrays()
    seeds = case.seeds(arrays)
    dense = case.values(arrays)
    gradients = case.gradients(arrays, seeds) if case.inputs and seeds else []
    for name, change in _LAYOUTS.items():
        laid = [change(a) for a in arrays]
        _compare(case, name, laid, dense, gradients, seeds)
    expanded = [
        np.broadcast_to(a[:1], a.shape) if a.ndim and a.shape[0] > 1 and (t.form is None or a.ndim > 2) else a
        for a, t in zip(arrays, case.leaves, strict=True)
    ]
    repeated = [np.ascontiguousarray(a).reshape(a.shape) for a in expanded]
    dense = case.values(repeated)
    seeds = case.seeds(repeated)
    gradients = case.gradients(repeated, seeds) if case.inputs and seeds else []
    _compare(case, "expanded", expanded, dense, gradients, seeds)


def _compare(case: Case, name: str, laid: Arrays, dense: Arrays, gradients: Arrays, seeds: Arrays) -> None:
    for value, expected in zip(case.values(laid), dense, strict=True):
        assert value.dtype == expected.dtype and close(value, expected, 1e-12), (
            f"{case}: {name} inputs give another result"
        )
    if gradients:
        turned = [_LAYOUTS["transposed"](u) for u in seeds]
        for i, g, expected in zip(case.inputs, case.gradients(laid, turned), gradients, strict=True):
            assert close(g, expected, 1e-11, 1e-15), f"{case}: {name} inputs give another gradient of {case.params[i]}"


def _strided(a: Any) -> Any:
    if not a.ndim:
        return a
    wide = np.zeros((*a.shape[:-1], 2 * a.shape[-1] + 1), a.dtype)
    part = wide[..., 1::2]
    part[...] = a
    return part


_LAYOUTS: dict[str, Any] = {
    "transposed": lambda a: np.array(a, order="F"),
    "strided": _strided,
    "reversed": lambda a: np.ascontiguousarray(a[::-1])[::-1] if a.ndim else a,
}


def paths(case: Case) -> None:
    """The compiled path gives the bits of the interpreted one, the same graph and the same gradients."""
    for dtype in (np.float32, np.float64):
        arrays = case.arrays(dtype)
        tensors, again = case.tensors(arrays), case.tensors(arrays)
        outs = case.call(tensors)
        with using(anomaly=_Note()):
            general = case.call(again)
        _same_results(case, outs, general)
    seeds = case.seeds(arrays)
    if not case.inputs or not seeds:
        return
    first = case.gradients_of(case.differentiable(outs), [tensors[i] for i in case.inputs], seeds)
    second = case.gradients_of(case.differentiable(general), [again[i] for i in case.inputs], seeds)
    for i, a, b in zip(case.inputs, first, second, strict=True):
        assert close(a, b, 1e-14), f"{case}: the gradient of {case.params[i]} differs between the two paths"


def _same_results(case: Case, outs: list[Tensor], general: list[Tensor]) -> None:
    assert len(outs) == len(general), f"{case}: {len(outs)} results, and {len(general)} of the interpreted path"
    for a, b in zip(outs, general, strict=True):
        assert same(a._data, b._data) and a._spec is b._spec and a._shape == b._shape, f"{case}: the two paths differ"
        assert a._shape == a._data.shape and a._spec.native == a._data.dtype, (
            f"{case}: shape or dtype beside the array is wrong"
        )
        assert a.requires_grad == b.requires_grad, f"{case}: requires_grad differs between the two paths"
        assert (a._view is None) == (b._view is None), f"{case}: only one path makes a view"
        if a.requires_grad:
            name = a.grad_fn.name()
            assert name == b.grad_fn.name(), f"{case}: {name}"
            name = name.rpartition("::")[2]
            assert name == type(a.grad_fn).__name__, f"{case}: {name}"
            assert case.op.overloads is not None or name == case.op.node_name, f"{case}: {name}"
            assert len(a.grad_fn.next_functions) == len(b.grad_fn.next_functions), f"{case}: other edges"


def bodies(case: Case) -> None:
    """Called without a Tensor, an operation is its body: arrays in, arrays out."""
    arrays = case.arrays()
    if not arrays:
        return
    result = case.call(arrays)
    if case.op.residuals:
        result = list(result[0])[: len(result[0]) - len(case.op.residuals)]
    for value, expected in zip(result, case.values(arrays), strict=True):
        assert not isinstance(value, Tensor), f"{case}: a Tensor from arrays"
        assert close(value, expected, 1e-12), f"{case}: another result on arrays than on Tensors"
