"""Every operation of the table of samples on `cuda`: values and gradients are those of NumPy."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from gradpack.backends import cupy_loading
from gradpack.declare.op import REGISTRY
from tests.ops.cases import DRAWING, SWEEP, Case, load_operations
from tests.samples.base import all_samples
from tests.testing.test_sim_ops import results

load_operations()
TABLE = {name: samples for name, samples in sorted(all_samples().items()) if name in REGISTRY}
DRAWN = {"_standard_gamma"}  # draws in a parameter of another name
# What CuPy has not, and NumPy computes on the host: LU, LDL, maxima and products over unsorted segments, and the
# gradient of what was written into a view of a transposed base; `bitwise_xor.reduce`, for hashes. `_grid_sampled` is
# for small arrays of NumPy's only.
ON_HOST = {
    "_as_strided", "_bag_maxima", "_grid_sampled", "_of_segments", "_part_spread", "_part_taken", "hash_tensor",
    "linalg_ldl_factor_ex", "linalg_ldl_solve", "linalg_lu", "linalg_lu_factor_ex", "linalg_lu_solve", "mode",
    "scatter_prod",
}  # fmt: skip


@pytest.mark.parametrize("name", TABLE)
def test_values_and_gradients(name, real):
    backend = cupy_loading.loaded()
    before = sum(backend.on_host.values())
    drawn = DRAWING & set(REGISTRY[name].params) or name in DRAWN
    for nr, sample in enumerate(TABLE[name][: 3 if SWEEP or real else 1]):
        case = Case(REGISTRY[name], nr, sample)
        expected, wanted = results(case, "cpu")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found, got = results(case, "cuda:0")
        for a, b in zip([*expected, *wanted], [*found, *got], strict=True):
            assert (a is None) == (b is None)
            if a is None:
                continue
            assert b.device.type == "cuda" and b.dtype is a.dtype and b.shape == a.shape
            if not drawn:
                np.testing.assert_allclose(b.detach().cpu().numpy(), a.detach().numpy(), rtol=1e-6, atol=1e-10)
    if not real:
        assert name in ON_HOST or sum(backend.on_host.values()) == before, "computed on the host"
