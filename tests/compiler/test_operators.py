"""Samples of every operation, forward and backward, as programs: on other numbers they give what eager calls give."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from tests.ops.cases import REGISTRY, load_operations
from tests.samples.base import all_samples, seeded

import gradpack as torch
from gradpack.base.tree import tree_flatten
from gradpack.compiler.compiled import Compiled

load_operations()
SAMPLES = {name: samples for name, samples in all_samples().items() if name in REGISTRY}
MOST = 2  # samples of an operation


def call_of(op, sample):
    """Return a function of the tensors of a sample: results, and gradients of the sum of their squares."""

    def run(*tensors):
        leaves = [t.detach().requires_grad_(t.is_floating_point()) for t in tensors]
        given = iter(leaves)
        args, kwargs = sample.map(lambda t: next(given))
        found = [v for v in tree_flatten(op.public(*args, **kwargs))[0] if isinstance(v, torch.Tensor)]
        wanted = [v for v in found if v.requires_grad and v.is_floating_point()]
        inputs = [v for v in leaves if v.requires_grad]
        grads = ()
        if wanted and inputs:
            loss = sum((v * v).sum() for v in wanted)
            grads = torch.autograd.grad(loss, inputs, allow_unused=True)
        return [v.detach().clone() for v in found], [g for g in grads if g is not None]

    return run


def compared(op, sample):
    """Call a program and the function on several numbers; return whether it was a program in the end."""
    run = call_of(op, sample)
    program = Compiled(run)
    for turn in range(4):
        values = [torch.tensor(t.array(seeded(f"{op.name}{turn % 3}{i}"))) for i, t in enumerate(sample.tensors())]
        results = []
        for function in (run, program):
            torch.manual_seed(turn)
            try:
                results.append([v.numpy() for part in function(*values) for v in part])
            except (RuntimeError, ValueError, IndexError, TypeError, NotImplementedError) as error:
                results.append(type(error))
        a, b = results
        if isinstance(a, type):
            assert a is b
            return None
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            assert x.dtype == y.dtype and x.shape == y.shape
            np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-9)
    return bool(program.kept)


TRIED: list[tuple[str, bool]] = []


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_an_operation(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sample in SAMPLES[name][:MOST]:
            found = compared(REGISTRY[name], sample)
            if found is not None:
                TRIED.append((name, found))


def test_most_become_programs():
    if len(TRIED) < 600:
        pytest.skip("only some operations were tried")
    refused = {name for name, found in TRIED if not found}
    assert len(refused) < 0.03 * len({name for name, _ in TRIED}), sorted(refused)
