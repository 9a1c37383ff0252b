"""A second array library: array-api-strict runs the same training step as NumPy, with equal results."""

from __future__ import annotations

import numpy as np
import pytest

import gradpack as torch
from gradpack.backends import array_api, backend_of
from gradpack.core.tensor import wrap

strict = pytest.importorskip("array_api_strict")


@pytest.fixture(scope="module", autouse=True)
def backend():
    return array_api.register(strict) if backend_of(type(strict.asarray(0.0))) is None else None


def step(make):
    """Two steps of gradient descent on a small network; the parameters after them, and the losses."""
    rng = np.random.default_rng(0)
    x, y = make(rng.normal(size=(8, 4))), make(rng.normal(size=(8, 1)))
    w1, b1 = make(rng.normal(size=(5, 4)) * 0.5).requires_grad_(), make(np.zeros(5)).requires_grad_()
    w2, b2 = make(rng.normal(size=(1, 5)) * 0.5).requires_grad_(), make(np.zeros(1)).requires_grad_()
    losses = []
    for _ in range(2):
        hidden = torch.tanh(torch.nn.functional.linear(x, w1, b1))
        out = torch.nn.functional.linear(hidden, w2, b2)
        loss = ((out - y) ** 2).mean()
        loss.backward()
        losses.append(loss)
        with torch.no_grad():
            for p in (w1, b1, w2, b2):
                p -= 0.1 * p.grad
                p.grad = None
    return [w1, b1, w2, b2], losses


def test_training_step_equals_numpys():
    ours, losses = step(lambda a: wrap(strict.asarray(a)))
    reference, expected = step(lambda a: wrap(np.array(a)))
    assert all(type(p._data) is type(strict.asarray(0.0)) for p in ours)
    for a, b in zip([*ours, *losses], [*reference, *expected], strict=True):
        np.testing.assert_allclose(np.asarray(a.detach().numpy()), b.detach().numpy(), rtol=1e-12)


def test_double_backward():
    x = wrap(strict.asarray([1.0, 2.0])).requires_grad_()
    (g,) = torch.autograd.grad((x * x * x).sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    assert np.asarray(h.numpy()).tolist() == [6.0, 12.0]


def test_hooks_and_the_in_place_check():
    x = wrap(strict.asarray([1.0, 2.0])).requires_grad_()
    packs = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: packs.append(t) or t, lambda t: t):
        h = x * 1.0
        y = h.sin()
    assert len(packs) == 1
    h.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_mixing_libraries_is_refused():
    x = wrap(strict.asarray([1.0, 2.0]))
    with pytest.raises((RuntimeError, TypeError)):
        x + torch.ones(2, dtype=torch.float64)


def test_one_type_has_one_backend():
    with pytest.raises(ValueError, match="already belong"):
        array_api.register(strict)
