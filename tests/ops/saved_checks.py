"""What an operation keeps for backward: functions that fail for one `Case` if it is not what the formulas name."""

from __future__ import annotations

# ruff: noqa: PT017 - the message of one assertion says what all its parts mean
from itertools import product
from typing import Any

from gradpack.autograd.api import backward, grad
from gradpack.autograd.graph import saved_tensors_hooks
from gradpack.base.modes import using
from gradpack.core.saved import FREED
from gradpack.core.tensor import Tensor, wrap

from .cases import Arrays, Case, arguments, like, same, seeded


class Recorder:
    """Is told of saved tensors; a mode with it takes the interpreted path."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def saved(self, op: str, name: str, tensor: Tensor, handle: Any) -> None:
        self.names.append(name)


def subsets(case: Case) -> list[tuple[int, ...]]:
    """Which inputs may require grad: all subsets, of many inputs the empty, the full and the single ones."""
    if len(case.inputs) <= 4:
        flags = product([False, True], repeat=len(case.inputs))
        return [tuple(i for i, f in zip(case.inputs, chosen, strict=True) if f) for chosen in flags]
    return [(), tuple(case.inputs), *((i,) for i in case.inputs)]


def expected_saves(case: Case, needing: tuple[int, ...]) -> list[str]:
    """The names that the formulas of the needing inputs read and that stand for a tensor, once for each tensor."""
    op = case.op
    wanted = {case.params[i] for i in needing}
    names = dict.fromkeys(n for p in op.inputs if p in wanted for n in op.reads[p])
    found: list[str] = []
    for n in names:
        what = op.saves(n)
        if what == "input":
            found += [n] * case.params.count(n)
        elif what in ("result", "residual"):
            found.append(n)
    return found


def saved(case: Case) -> None:
    """Exactly what the formulas name is packed, for every subset of inputs that require grad, on both paths."""
    arrays = case.arrays()
    seeds = case.seeds(arrays)
    full = case.gradients(arrays, seeds)
    for needing in subsets(case):
        where = f"{case}: requires grad: {', '.join(case.params[i] for i in needing) or 'nothing'}"
        for interpreted in (False, True):
            packed: list[Tensor] = []
            with saved_tensors_hooks(lambda t: (packed.append(t), t)[1], lambda t: t):  # noqa: B023 - used in the loop
                with using(recorder=Recorder() if interpreted else None):
                    case.call(case.tensors(arrays, needing))
                with using(grad=False):
                    before = len(packed)
                    case.call(case.tensors(arrays, needing))
                    assert len(packed) == before, f"{where}: no_grad, and something is packed"
            expected = expected_saves(case, needing)
            assert len(packed) == len(expected), f"{where}: {len(packed)} tensors packed; the formulas name {expected}"
        if needing and seeds:
            part = case.gradients(arrays, seeds, needing)
            for i, g in zip(needing, part, strict=True):
                assert same(g, full[case.inputs.index(i)]), f"{where}: another gradient than if all inputs require it"
            _saved_attributes(case, arrays, needing)


def _saved_attributes(case: Case, arrays: Arrays, needing: tuple[int, ...]) -> None:
    """`grad_fn._saved_<name>` exists for what is saved, with its value, until backward frees it."""
    tensors = case.tensors(arrays, needing)
    results = case.call(tensors)
    outs = [o for o in case.differentiable(results) if o.requires_grad]
    if not outs:
        return
    node: Any = outs[0].grad_fn
    held = dict(zip(case.op.params, case.op.bind(*arguments(case, tensors)), strict=True))
    held["out"] = results[0]
    held.update(zip(case.op.results, results, strict=False))
    names = set(expected_saves(case, needing))
    for n in names:
        value = getattr(node, f"_saved_{n}")
        if n in held and isinstance(held[n], Tensor):
            assert isinstance(value, Tensor) and same(value._data, held[n]._data), (
                f"{case}: _saved_{n} is another value"
            )
    backward(outs, [wrap(like(seeded(case.op.name), o._data)) for o in outs])
    for n in names:
        assert getattr(node, n) is FREED, f"{case}: {n} is still held after backward"


def hooks(case: Case) -> None:
    """Hooks that return what they are given, or a copy that went through NumPy, change no bit."""
    arrays = case.arrays()
    seeds = case.seeds(arrays)
    if not case.inputs or not seeds:
        return
    values, gradients = case.values(arrays), case.gradients(arrays, seeds)
    counts = [0, 0]

    def pack(t: Tensor) -> Any:
        counts[0] += 1
        return t._data.copy()

    def unpack(a: Any) -> Tensor:
        counts[1] += 1
        return wrap(a.copy())

    for pair in ((lambda t: t, lambda t: t), (pack, unpack)):
        with saved_tensors_hooks(*pair):
            tensors = case.tensors(arrays)
            outs = case.call(tensors)
        for out, expected in zip(outs, values, strict=True):
            assert same(out._data, expected), f"{case}: another result under hooks"
        found = case.gradients_of(case.differentiable(outs), [tensors[i] for i in case.inputs], seeds)
        for i, g, expected in zip(case.inputs, found, gradients, strict=True):
            assert same(g, expected), f"{case}: another gradient of {case.params[i]} under hooks"
    assert counts[0] == counts[1], f"{case}: {counts[0]} tensors packed and {counts[1]} unpacked"


def versions(case: Case) -> None:
    """A write to what is saved is noticed at backward; a write to anything else is not."""
    arrays = case.arrays()
    seeds = case.seeds(arrays)
    if not case.inputs or not seeds or (case.op.view and case.op.returns):  # several views: refused whatever is saved
        return
    for target in [*range(len(case.leaves)), -1]:
        tensors = case.tensors(arrays)
        results = case.call(tensors)
        outs = case.differentiable(results)
        node = outs[0].grad_fn.name()
        written = results[0] if target < 0 else tensors[target]
        names = expected_saves(case, tuple(case.inputs))
        sharing = {case.params[i] for i, t in enumerate(tensors) if t._counter is written._counter}
        sharing |= {"out"} if results[0]._counter is written._counter else set()
        sharing |= {n for n, r in zip(case.op.results, results, strict=False) if r._counter is written._counter}
        written._counter[0] += 1
        error = None
        try:
            case.gradients_of(outs, [tensors[i] for i in case.inputs], seeds)
        except RuntimeError as caught:
            error = caught
        name = "out" if target < 0 else case.params[target]
        if sharing & set(names):
            assert error is not None, f"{case}: {name} is saved, was written to, and backward did not notice"
            text = str(error)
            assert "modified by an inplace operation" in text and node in text, f"{case}: {text}"
        else:
            assert error is None, f"{case}: {name} is not saved, and a write to it is held against backward: {error}"


def twice(case: Case) -> None:
    """A second backward without retain_graph: refused where something had been saved."""
    arrays = case.arrays()
    seeds = case.seeds(arrays)
    if not case.inputs or not seeds:
        return
    tensors = case.tensors(arrays)
    results = case.call(tensors)
    outs, sources = case.differentiable(results), [tensors[i] for i in case.inputs]
    if not any(o.requires_grad for o in outs):
        return
    pairs = [(o, wrap(u)) for o, u in zip(outs, seeds, strict=True) if o.requires_grad]
    request = ([o for o, _ in pairs], sources, [u for _, u in pairs])
    first = grad(*request, retain_graph=True, allow_unused=True)
    again = grad(*request, allow_unused=True)
    for a, b in zip(first, again, strict=True):
        assert (a is None) == (b is None) and (a is None or same(a._data, b._data)), f"{case}: another second gradient"
    reads = {n for i in case.inputs for n in case.op.reads[case.params[i]]}
    try:
        grad(*request, allow_unused=True)
    except RuntimeError as error:
        assert "backward through the graph a second time" in str(error), f"{case}: {error}"
        assert any(case.op.saves(n) in ("input", "result", "residual") for n in reads), (
            f"{case}: nothing was saved: {error}"
        )
    else:
        assert not expected_saves(case, tuple(case.inputs)), f"{case}: freed values were used again"
