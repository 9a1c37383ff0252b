"""A sample of every operation, forward and backward, as a program of XLA's, but for those that run as they are."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from tests.ops.cases import REGISTRY
from tests.samples.base import seeded

import gradpack as torch

pytest.importorskip("jax")
from tests.compiler.test_operators import SAMPLES, call_of

from gradpack.compiler.jax.compiled import JaxCompiled

# What JAX cannot trace, and the beginning of the reason.
EAGER = {
    "_as_strided": "maximum recursion depth",  # its gradient writes through views of places of views
    "_part_spread": "maximum recursion depth",
    "_part_taken": "Python needs all values",
    "_standard_gamma": "JAX has no gammaincinv",
    "linalg_lu": "Python needs all values",  # pivots are found row by row, by Python
    "linalg_lu_factor_ex": "Python needs all values",
    "linalg_lu_solve": "programs were made for what operations look at",
    "poisson": "random numbers that depend on values",
    "special_airy_ai": "JAX has no airy",
    "special_bessel_j0": "JAX has no j0",
    "special_bessel_j1": "JAX has no j1",
    "special_bessel_y0": "JAX has no y0",
    "special_bessel_y1": "JAX has no y1",
    "special_modified_bessel_k0": "JAX has no k0",
    "special_modified_bessel_k1": "JAX has no k1",
    "special_scaled_modified_bessel_k0": "JAX has no k0e",
    "special_scaled_modified_bessel_k1": "JAX has no k1e",
}
ERRORS = RuntimeError, ValueError, IndexError, TypeError, NotImplementedError


def result_of(function, values):
    try:
        return [v.numpy() for part in function(*values) for v in part]
    except ERRORS as error:
        return type(error)


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_an_operation(name):
    op, sample = REGISTRY[name], SAMPLES[name][0]
    run = call_of(op, sample)
    program = JaxCompiled(run)
    for turn in range(4):
        values = [torch.tensor(t.array(seeded(f"{name}{turn % 3}{i}"))) for i, t in enumerate(sample.tensors())]
        torch.manual_seed(turn)
        wanted = result_of(run, values)
        torch.manual_seed(turn)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = result_of(program, values)
        if isinstance(wanted, type):
            assert found is wanted
            return
        for x, y in zip(wanted, found, strict=True):
            assert x.dtype == y.dtype and x.shape == y.shape
            np.testing.assert_allclose(y, x, rtol=1e-7, atol=1e-8)
    if name in EAGER:
        assert EAGER[name] in program.stopped
    else:
        assert program.bindings, program.stopped
