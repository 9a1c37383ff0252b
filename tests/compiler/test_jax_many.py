"""Many calls as one scan compute what the calls compute."""

from __future__ import annotations

import numpy as np
import pytest

import gradpack as torch
from gradpack.compiler import many
from gradpack.nn import functional as F

pytest.importorskip("jax")
from gradpack.compiler.jax import compiled as by_jax


def training(compiles, dropout=0.0):
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Dropout(dropout), torch.nn.Linear(8, 3)
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return model, optimizer, torch.compile(step, backend="jax", fullgraph=True) if compiles else step


def batches(count, seed):
    r = np.random.default_rng(seed)
    return torch.tensor(r.normal(size=(count, 5, 6)).astype("f4")), torch.tensor(r.integers(0, 3, (count, 5)))


@pytest.fixture
def scans(monkeypatch):
    ran, original = [], by_jax.scan

    def watched(binding, stacked, count):
        found = original(binding, stacked, count)
        ran.append(found[1])
        return found

    monkeypatch.setattr(by_jax, "scan", watched)
    return ran


@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_many_steps_are_the_steps(scans, dropout):
    (a, first, eager), (b, second, fast) = training(False, dropout), training(True, dropout)
    for turn in range(3):
        xs, ys = batches(6, turn)
        torch.manual_seed(turn)
        wanted = torch.stack([eager(x, y).detach() for x, y in zip(xs, ys, strict=True)])
        state = torch.get_rng_state()
        torch.manual_seed(turn)
        np.testing.assert_allclose(many(fast)(xs, ys).numpy(), wanted.numpy(), rtol=1e-5, atol=1e-6)
        assert torch.equal(torch.get_rng_state(), state)
        for group in (*first.param_groups, *second.param_groups):
            group["lr"] *= 0.5
    assert scans == [2, 6, 6]
    for p, q in zip(a.parameters(), b.parameters(), strict=True):
        assert p._version == q._version
        np.testing.assert_allclose(q.detach().numpy(), p.detach().numpy(), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(q.grad.numpy(), p.grad.numpy(), rtol=1e-4, atol=1e-5)


def test_a_scan_ends_where_a_value_that_python_saw_is_another(scans):
    total = torch.zeros(3)

    @torch.compile(backend="jax")
    def step(x):
        total.add_(x * 2 if x.sum() > 0 else x)
        return total.sum()

    values = np.ones((12, 3), "f4")
    values[9] = -1
    want = np.cumsum(np.where(values > 0, 2 * values, values), 0)
    found = many(step)(torch.tensor(values))
    np.testing.assert_allclose(found.numpy(), want.sum(1), rtol=1e-6)
    np.testing.assert_allclose(total.numpy(), want[-1], rtol=1e-6)
    assert 5 in scans


def test_gradients_that_the_function_drops(scans):
    w = torch.ones(3, requires_grad=True)

    @torch.compile(backend="jax")
    def step(x):
        (w * x).sum().backward()
        with torch.no_grad():
            w.sub_(w.grad)
        w.grad = None
        return w.detach().sum()

    found = many(step)(torch.ones(8, 3))
    np.testing.assert_allclose(found.numpy(), 3 * (1 - np.arange(1, 9)))
    assert w.grad is None


def test_arguments_are_checked():
    with pytest.raises(TypeError, match="must be tensors"):
        many(lambda x: x)(3)
    with pytest.raises(RuntimeError, match="first dimensions"):
        many(lambda x, y: x + y)(torch.ones(3, 2), torch.ones(2, 2))
    with pytest.raises(TypeError, match="must return tensors"):
        many(lambda x: 3)(torch.ones(3, 2))
