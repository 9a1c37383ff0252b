"""Who holds and shares memory: functions that fail for one `Case` if it is not as declared."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np

from gradpack.autograd.api import backward, grad
from gradpack.autograd.graph import saved_tensors_hooks
from gradpack.core.tensor import Tensor, alias, wrap

from .cases import Arrays, Case, same

# Results that may be an input itself: whoever calls these operations copies.
MAY_BE_INPUT = {
    "_copied": "exists for copy_(), which writes its result into the target",
    "unsafe_split": "gives parts that share memory, and tells autograd nothing of it",
    "unsafe_split_with_sizes": "gives parts that share memory, and tells autograd nothing of it",
    "_filled": "exists for fill_(), which writes its result into the target",
}


def aliasing(case: Case) -> None:
    """Nothing given is written to; results share memory only where declared; gradients share it with nothing."""
    arrays = case.arrays()
    seeds = case.seeds(arrays)
    copies = [a.copy() for a in (*arrays, *seeds)]
    for a in (*arrays, *seeds):
        a.flags.writeable = False
    tensors = case.tensors(arrays)
    results = case.call(tensors)
    _results_share(case, tensors, results)
    outs = [o for o in case.differentiable(results) if o.requires_grad]
    given = [wrap(u) for u, o in zip(seeds, case.differentiable(results), strict=True) if o.requires_grad]
    if outs:
        backward(outs, given)
    for a, copy in zip((*arrays, *seeds), copies, strict=True):
        assert same(a, copy), f"{case}: an input or the gradient of a result was written to"
    gradients = [(case.params[i], tensors[i].grad._data) for i in case.inputs if tensors[i].grad is not None]
    for nr, (name, g) in enumerate(gradients):
        assert g.flags.writeable, f"{case}: the gradient of {name} cannot be written to"
        others = [(p, x) for p, x in gradients[:nr]]
        others += [(f"the input {p}", a) for p, a in zip(case.params, arrays, strict=True)]
        others += [("the gradient of a result", u) for u in seeds] + [("a result", o._data) for o in results]
        for other, array in others:
            assert not np.shares_memory(g, array), f"{case}: .grad of {name} shares memory with {other}"


def _results_share(case: Case, tensors: list[Tensor], results: list[Tensor]) -> None:
    first = next(
        (t for t, p in zip(tensors, case.params, strict=True) if p in (case.op.inputs or case.op.params)[:1]), None
    )
    for nr, out in enumerate(results):
        shared = [p for t, p in zip(tensors, case.params, strict=True) if np.shares_memory(t._data, out._data)]
        if case.op.name in MAY_BE_INPUT:
            continue
        if not case.op.view:
            assert not shared, f"{case}: result {nr} shares memory with {shared[0]}, and no view is declared"
            assert out._view is None, f"{case}: result {nr} is marked as a view"
        elif first is not None and out._data.size:
            assert case.op.view == "maybe" or shared or out.dtype is not first.dtype, (
                f"{case}: declared a view, and it is a copy"
            )
            if np.shares_memory(first._data, out._data):
                assert out._view is not None and out._view.parent is first, (
                    f"{case}: shares memory and is not marked as a view"
                )
                assert out._counter is first._counter, f"{case}: a view counts writes by itself"
                _replays(case, out)
    for a in range(len(results)):
        for b in range(a) if not case.op.view else ():
            assert not np.shares_memory(results[a]._data, results[b]._data), f"{case}: results {a} and {b} share memory"


def _replays(case: Case, out: Tensor) -> None:
    """Taken again from its base, a view is the same view."""
    view: Any = out._view
    again = view.replayed(view.parent)
    assert same(again._data, out._data) and again._data.strides == out._data.strides, f"{case}: replayed, another view"
    assert again._data.size == 0 or np.shares_memory(again._data, out._data), f"{case}: replayed, not the same memory"


def lifetime(case: Case) -> None:
    """Saved values die at backward although the result lives, and nothing is left for the garbage collector."""
    arrays = case.arrays()
    seeds = case.seeds(arrays)
    if not case.inputs or not seeds:
        return
    used(case, arrays, seeds)  # what is made once and kept is no garbage of this run
    collecting = gc.isenabled()
    gc.disable()
    gc.collect()
    gc.freeze()  # so that collecting takes no time
    try:
        used(case, arrays, seeds)
        left = gc.collect()
        assert not left, f"{case}: {left} objects in reference cycles"
    finally:
        if collecting:
            gc.enable()


def used(case: Case, arrays: Arrays, seeds: Arrays) -> None:
    """Forward, backward, double backward and a graph that is dropped unused, with hooks that watch what is kept."""
    kept: list[Any] = []

    def pack(t: Tensor) -> Any:
        copy = alias(t._data.copy(), t._spec, t._shape)
        kept.append(weakref.ref(copy._data))
        return copy

    def alive() -> int:
        return sum(ref() is not None for ref in kept)

    for create_graph in (False, True):
        kept.clear()
        with saved_tensors_hooks(pack, lambda t: t):
            tensors = case.tensors(arrays)
            outs = case.differentiable(case.call(tensors))
            assert alive() == len(kept), f"{case}: something packed is not held"
            pairs = [(o, wrap(u)) for o, u in zip(outs, seeds, strict=True) if o.requires_grad]
            if not pairs:
                return
            sources = [tensors[i] for i in case.inputs]
            found = grad(
                [o for o, _ in pairs], sources, [u for _, u in pairs], create_graph=create_graph, allow_unused=True
            )
        if not create_graph:
            assert not alive(), f"{case}: {alive()} of {len(kept)} saved tensors live after backward"
        del outs, pairs, sources, found, tensors
        assert not alive(), f"{case}: {alive()} of {len(kept)} saved tensors live after the graph is gone"
    tensors = case.tensors(arrays)
    refs = [weakref.ref(o._data) for o in case.call(tensors)]
    assert not any(r() is not None for r in refs if not case.op.view), f"{case}: results live after nobody holds them"
