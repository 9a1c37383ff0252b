"""Every operation under `vmap`: all examples at once give what one call for each gives."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

from gradpack.autograd.api import grad
from gradpack.base.modes import MODE
from gradpack.core.tensor import wrap
from gradpack.declare.batching import batch_call as batching
from gradpack.declare.batching import batch_dispatch
from gradpack.declare.batching import batch_tensor as batched
from gradpack.declare.batching import rules as batching_rules
from gradpack.declare.batching import vmap_fallback as looped
from gradpack.declare.batching.level import VmapLevel
from gradpack.declare.batching.rule_table import RULES
from gradpack.declare.op import REGISTRY
from gradpack.func import batching_coverage
from tests.ops.cases import Case, close, load_operations
from tests.samples.base import all_samples

load_operations()
SIZE = 3
TABLE = {name: samples for name, samples in sorted(all_samples().items()) if name in REGISTRY}
REFUSING = {batching_rules.refused, batching_rules.masked}
DRAWS = {"_dropout", "_attention", "poisson", "_standard_gamma", "rrelu"}


def chosen(count):
    """Which tensors have a batch dimension: all of them, each alone."""
    return [tuple(range(count)), *((i,) for i in range(count) if count > 1)]


def stacked(case, which):
    """Arrays of the leaves, for those in `which` of several examples."""
    made = []
    for i, (leaf, array) in enumerate(zip(case.leaves, case.arrays(), strict=True)):
        if i in which:
            others = [array if leaf.values is not None else leaf.array(np.random.default_rng(b)) for b in (1, 2)]
            array = np.stack([array, *others])
        made.append(array)
    return made


@pytest.mark.parametrize("name", TABLE)
def test_all_examples_at_once(name):
    op = REGISTRY[name]
    rule = batch_dispatch.rule_of(op)
    if rule in REFUSING or name in DRAWS:
        pytest.skip("refuses, or draws random numbers")
    for nr, sample in enumerate(TABLE[name]):
        case = Case(op, nr, sample)
        for which in chosen(len(case.leaves)):
            if any(case.leaves[i].kind == "bool" for i in which) and rule is not batching.elementwise:
                continue  # masks of examples select other numbers of elements
            arrays = stacked(case, which)
            rows = [
                case.call([wrap(a[b]) if i in which else wrap(a) for i, a in enumerate(arrays)]) for b in range(SIZE)
            ]
            level = VmapLevel(SIZE)
            token = MODE.set(MODE.get().replace(levels=(*MODE.get().levels, level)))
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)
                    outs = case.call(
                        [batched.batched(wrap(a), level) if i in which else wrap(a) for i, a in enumerate(arrays)]
                    )
            finally:
                MODE.reset(token)
            for out, column in zip(outs, zip(*rows, strict=True), strict=True):
                found = batched.all_examples(out, level)._data
                expected = np.stack([t._data for t in column])
                assert found.shape == expected.shape and found.dtype == expected.dtype, (case, which)
                np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8, err_msg=f"{case} {which}")


@pytest.mark.parametrize("native", [np.float64, np.float32])
@pytest.mark.parametrize("name", TABLE)
def test_a_batch_of_gradients_is_each_alone(name, native):
    for nr, sample in enumerate(TABLE[name]):
        case = Case(REGISTRY[name], nr, sample)
        arrays = case.arrays(native)
        if not case.inputs or name in DRAWS:
            continue
        tensors = case.tensors(arrays, case.inputs)
        pairs = zip(case.differentiable(case.call(tensors)), case.seeds(arrays), strict=True)
        pairs = [(o, np.stack([u, 3 * u, u[::-1] if u.ndim else -u])) for o, u in pairs if o.requires_grad]
        if not pairs:
            continue
        outs, sources = [o for o, _ in pairs], [tensors[i] for i in case.inputs]
        batch = {"is_grads_batched": True, "retain_graph": True, "allow_unused": True}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            found = grad(outs, sources, [wrap(u) for _, u in pairs], **batch)
        for b in range(SIZE):
            alone = grad(outs, sources, [wrap(u[b].copy()) for _, u in pairs], retain_graph=True, allow_unused=True)
            for g, expected in zip(found, alone, strict=True):
                assert (g is None) is (expected is None), case
                if g is not None:
                    value, wanted = g._data[b], expected._data
                    assert value.shape == wanted.shape and value.dtype == wanted.dtype, case
                    assert close(value, wanted, 1e-9 if native is np.float64 else 1e-4), case


def test_rules_are_of_operations_that_exist():
    assert not set(RULES) - set(REGISTRY)


def test_coverage():
    found = batching_coverage()
    assert found["operations"] == len(REGISTRY)
    assert len(found["loops"]) <= 0.1 * found["operations"]


def test_a_loop_warns_once():
    name = batch_dispatch.uncovered()[0]
    looped._warned.discard(name)
    with pytest.warns(UserWarning, match=f"not yet implemented the batching rule for aten::{name}"):
        looped.warn_of_loop(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        looped.warn_of_loop(name)


def test_samples_differ_between_examples():
    case = Case(REGISTRY["mul"], 0, TABLE["mul"][0])
    assert not np.array_equal(*stacked(case, (0,))[0][:2])
    assert list(itertools.chain(*chosen(2))) == [0, 1, 0, 1]
