"""Samples of operations, forward and backward, as programs: on other numbers they give what eager calls give.

`GRADPACK_SWEEP=1` or `GRADPACK_ORACLE=1`, as in `.ci/run`, takes every operation; otherwise each third one is tried.
"""

from __future__ import annotations

import os
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
EVERY = 1 if os.environ.get("GRADPACK_SWEEP") or os.environ.get("GRADPACK_ORACLE") else 3


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


def graph_of(op, sample):
    """Return functions of the tensors of a sample that return results with their graph: one of them is compiled."""

    def run(*leaves):
        given = iter(leaves)
        args, kwargs = sample.map(lambda t: next(given))
        return [v for v in tree_flatten(op.public(*args, **kwargs))[0] if isinstance(v, torch.Tensor)]

    def outside(run):
        def call(*tensors):
            leaves = [t.detach().requires_grad_(t.is_floating_point()) for t in tensors]
            found = run(*leaves)
            wanted = [v for v in found if v.requires_grad and v.is_floating_point()]
            inputs = [v for v in leaves if v.requires_grad]
            grads = ()
            if wanted and inputs:
                grads = torch.autograd.grad(sum((v * v).sum() for v in wanted), inputs, allow_unused=True)
            zeros = [torch.zeros_like(v) if g is None else g for v, g in zip(inputs, grads or inputs, strict=True)]
            return [v.detach().clone() for v in found], zeros if wanted else []

        return call

    program = Compiled(run)
    return outside(run), outside(program), program


def compared(op, sample, inside=True):
    """Call a program and the function on several numbers; return whether it was a program in the end."""
    if inside:
        run = call_of(op, sample)
        compiled = program = Compiled(run)
    else:
        run, compiled, program = graph_of(op, sample)
    for turn in range(4):
        values = [torch.tensor(t.array(seeded(f"{op.name}{turn % 3}{i}"))) for i, t in enumerate(sample.tensors())]
        results = []
        for function in (run, compiled):
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


# Operations, besides views, that a function which returns their results with a graph calls as they are.
CALLED = frozenset("_group_norm linalg_eig masked_select_backward unsafe_split unsafe_split_with_sizes".split())


@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize("name", sorted(SAMPLES)[::EVERY])
def test_an_operation_becomes_a_program(name, inside):
    op = REGISTRY[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sample in SAMPLES[name][: MOST if inside else 1]:
            is_program = compared(op, sample, inside)
            assert is_program is not False or (not inside and (op.view or name in CALLED))
