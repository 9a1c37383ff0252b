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


SGD = [
    {}, {"weight_decay": 0.1}, {"momentum": 0.9}, {"momentum": 0.9, "dampening": 0.5, "maximize": True},
    {"momentum": 0.9, "nesterov": True, "weight_decay": 1e-3},
]  # fmt: skip


@pytest.mark.parametrize("options", SGD, ids=str)
@pytest.mark.parametrize("kind", ["f", "d", "F"])
def test_sgd(options, kind):
    check(lambda params: torch.optim.SGD(params, lr=0.1, **options), kind)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("kind", ["f", "d", "F"])
def test_adam(options, kind):
    check(lambda params: torch.optim.Adam(params, **options), kind)


def check(make, kind):
    """Parameters of many sizes: each has elements in several parts of the loop, or many share one."""
    shapes = [(70, 100), (), (3,), (0, 4), (300, 301), (1, 1), (5000,)]
    found = []
    for numba in (True, False):
        draw = np.random.default_rng(0)
        params = [torch.tensor(np.asarray(draw.standard_normal(s), kind), requires_grad=True) for s in shapes]
        late = torch.tensor(np.ones(9000, kind), requires_grad=True)  # has its first gradient in the third step
        optimizer = make([*params, late])
        with libraries(numba=numba):
            for step in range(4):
                for x in [*params, late][: len(params) + (step > 1)]:
                    g = np.asarray(draw.standard_normal(x.shape), kind)
                    g.reshape(-1)[step : step + 5] = [0, np.inf, np.nan, 1e-30, 1e30][: max(0, g.size - step)]
                    x.grad = torch.tensor(g)
                with np.errstate(all="ignore"):
                    optimizer.step()
        states = [v for x in [*params, late] for v in optimizer.state[x].values() if v is not None]
        found.append([v.detach().numpy() for v in (*params, late, *states)])
    for a, b in zip(*found, strict=True):
        np.testing.assert_array_equal(a, b)


def test_adam_of_a_transposed_parameter_takes_the_usual_way():
    x = torch.zeros(100, 70).T.requires_grad_()
    x.grad = torch.ones(70, 100)
    torch.optim.Adam([x], lr=0.5).step()
    np.testing.assert_allclose(x.detach().numpy(), -0.5, rtol=1e-6)


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
@pytest.mark.parametrize("options", [{}, {"momentum": 0.9}], ids=str)
def test_a_gradient_of_another_shape_is_an_error_and_writes_nothing(kind, options):
    """The parameter got larger data since: the loop must not read behind the end of the gradient."""
    x = torch.zeros(200, 200).requires_grad_()
    optimizer = getattr(torch.optim, kind)([x], lr=0.1, **(options if kind == "SGD" else {}))
    x.grad = torch.ones(200, 200)
    optimizer.step()
    x.data = torch.zeros(900, 900)
    with pytest.raises(RuntimeError, match=r"200.*900|900.*200"):
        optimizer.step()
    assert not x.detach().numpy().any()


def test_a_parameter_that_is_there_twice_is_updated_twice():
    x = torch.zeros(300, 300).requires_grad_()
    x.grad = torch.ones(300, 300)
    with pytest.warns(UserWarning, match="duplicate"):
        optimizer = torch.optim.SGD([x, x], lr=0.5)
    for _ in range(20):
        optimizer.step()
    np.testing.assert_array_equal(x.detach().numpy(), -20.0)
