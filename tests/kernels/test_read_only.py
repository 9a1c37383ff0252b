"""Memory that must not be written to, as that of tensors on their way to a disk, goes through the same loops."""

from __future__ import annotations

import numpy as np
import pytest

import gradpack as torch
from gradpack.nn import functional as F

pytest.importorskip("numba")

OPERATIONS = {
    "erf": (torch.erf, (40_000,)),
    "gelu": (F.gelu, (40_000,)),
    "silu": (F.silu, (40_000,)),
    "log_softmax": (lambda x: torch.log_softmax(x, 1), (200, 200)),
    "layer_norm": (lambda x: F.layer_norm(x, (200,)), (200, 200)),
    "batch_norm": (lambda x: F.batch_norm(x, None, None, training=True), (8, 4, 40, 40)),
    "conv2d": (lambda x: F.conv2d(x, torch.ones(8, 4, 3, 3), padding=1), (8, 4, 40, 40)),
    "max_pool2d": (lambda x: F.max_pool2d(x, 2), (8, 4, 40, 40)),
    "cumsum": (lambda x: x.cumsum(1), (200, 200)),
    "cummax": (lambda x: x.cummax(1).values, (200, 200)),
    "topk": (lambda x: x.topk(3, 1).values, (200, 200)),
    "gather": (lambda x: x.gather(1, torch.arange(200).flip(0).repeat(200, 1)), (200, 200)),
    "interpolate": (lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), (8, 4, 40, 40)),
    "pad": (lambda x: F.pad(x, (1, 1, 1, 1), mode="reflect"), (8, 4, 40, 40)),
    "half": (lambda x: x.half(), (40_000,)),
}


def results(operation, x, g):
    leaf = torch.from_numpy(x).requires_grad_()
    out = operation(leaf)
    g = torch.from_numpy(g[: out.numel()].reshape(out.shape)).to(out.dtype)
    return out.detach().numpy(), torch.autograd.grad(out, leaf, g)[0].numpy()


@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")
@pytest.mark.parametrize("name", OPERATIONS)
def test_the_same_to_the_last_bit(name):
    operation, shape = OPERATIONS[name]
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    g = np.random.default_rng(1).standard_normal(4 * x.size).astype(np.float32)
    expected = results(operation, x, g)
    x.flags.writeable = g.flags.writeable = False
    for found, plain in zip(results(operation, x, g), expected, strict=True):
        np.testing.assert_array_equal(found, plain)


def test_gradients_do_not_depend_on_when_a_disk_is_ready():
    x = torch.randn(256, 256, requires_grad=True)

    def gradient(policy, wait):
        with policy:
            y = torch.log_softmax(F.gelu(F.layer_norm(x, (256,))), 1)
        if wait:
            policy.wait()
        return torch.autograd.grad((y * y).sum(), x)[0].numpy()

    expected = gradient(torch.saved.keep(), wait=True)
    for wait in (True, False):
        np.testing.assert_array_equal(gradient(torch.saved.disk(), wait), expected)
