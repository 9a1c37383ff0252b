"""Every operation on the simulated device: values and gradients are those of the CPU."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import gradpack as torch
from gradpack.core.tensor import wrap
from gradpack.declare.op import REGISTRY
from gradpack.testing import sim
from tests.ops.cases import WITHOUT_PHASE, Case, load_operations
from tests.samples.base import all_samples

load_operations()
TABLE = {name: samples for name, samples in sorted(all_samples().items()) if name in REGISTRY}


@pytest.fixture(scope="module", autouse=True)
def device():
    with sim.devices(capacity="256 MiB") as (only,):
        yield only


def results(case, where):
    """What a case gives on a device, and the gradients of its inputs."""
    leaves = [wrap(a).to(where) for a in case.arrays()]
    inputs = [leaves[i].requires_grad_() for i in case.inputs]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outs = case.call(leaves)
    followed = [t for t in case.differentiable(outs) if t.requires_grad]
    if not followed or case.op.name in WITHOUT_PHASE:
        return outs, []
    seeds = [torch.ones_like(t) for t in followed]
    return outs, torch.autograd.grad(followed, inputs, seeds, allow_unused=True)


@pytest.mark.parametrize("name", TABLE)
def test_values_and_gradients(name, device):
    for nr, sample in enumerate(TABLE[name][:2]):
        case = Case(REGISTRY[name], nr, sample)
        expected, wanted = results(case, "cpu")
        found, got = results(case, "sim:0")
        for a, b in zip([*expected, *wanted], [*found, *got], strict=True):
            assert (a is None) == (b is None)
            if a is not None:
                assert b.device.type == "sim"
                np.testing.assert_allclose(b.detach().cpu().numpy(), a.detach().numpy(), rtol=1e-6, atol=1e-12)
