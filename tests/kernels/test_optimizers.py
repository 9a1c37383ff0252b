"""Steps of optimizers by a compiled loop have the bits that NumPy's passes have."""

from __future__ import annotations

import numpy as np
import pytest

import gradpack as torch
from gradpack.kernels.dispatch import libraries

pytest.importorskip("numba")

OPTIONS = [
    {}, {"weight_decay": 0.1}, {"weight_decay": 0.1, "decoupled_weight_decay": True}, {"amsgrad": True},
    {"maximize": True, "betas": (0.3, 0.99)}, {"eps": 0.0, "lr": 1.0}, {"amsgrad": True, "weight_decay": 1e-3},
]  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("kind", ["f", "d", "F"])
def test_adam(options, kind):
    found = []
    for numba in (True, False):
        draw = np.random.default_rng(0)
        x = torch.tensor(draw.standard_normal((70, 100)).astype(kind), requires_grad=True)
        optimizer = torch.optim.Adam([x], **options)
        with libraries(numba=numba):
            for step in range(4):
                g = draw.standard_normal((70, 100)).astype(kind)
                g[step, :5] = [0, np.inf, np.nan, 1e-30, 1e30]
                x.grad = torch.tensor(g)
                with np.errstate(all="ignore"):
                    optimizer.step()
        state = optimizer.state[x]
        found.append([x.detach().numpy(), *(v.numpy() for v in state.values())])
    for a, b in zip(*found, strict=True):
        np.testing.assert_array_equal(a, b)


def test_adam_of_a_transposed_parameter_takes_the_usual_way():
    x = torch.zeros(100, 70).T.requires_grad_()
    x.grad = torch.ones(70, 100)
    torch.optim.Adam([x], lr=0.5).step()
    np.testing.assert_allclose(x.detach().numpy(), -0.5, rtol=1e-6)
