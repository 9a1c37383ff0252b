"""Errors of float32, next to torch's: how far both are from the results in float64."""

from __future__ import annotations

import numpy as np
import pytest
from tests.oracle.both import gradpack, torch

LEAST = 6e-8  # half a unit in the last place: an error below is none


def normal(*shape, seed=0, shift=0.0, scale=1.0):
    return (np.random.default_rng(seed).standard_normal(shape) * scale + shift).astype(np.float32)


def positive(*shape):
    return np.abs(normal(*shape)) + np.float32(0.01)


def definite(n, ridge):
    a = normal(n, n)
    return (a @ a.T / n + ridge * np.eye(n)).astype(np.float32)


X, Y = normal(64, 257), normal(64, 257, seed=1)
LONG = normal(20000, 8, shift=1)

# A function of the library and tensors, and the arrays that these are made of.
JOBS = {
    "sum of all": (lambda m, x: x.sum(), LONG),
    "sum of long columns": (lambda m, x: x.sum(0), LONG),
    "sum of long rows that are not contiguous": (lambda m, x: x.t().sum(1), LONG),
    "sum over the middle": (lambda m, x: x.sum(1), normal(20, 1500, 30, shift=1)),
    "sum over two dimensions": (lambda m, x: x.sum((0, 2)), normal(20, 50, 300, shift=1)),
    "mean of long columns": (lambda m, x: x.mean(0), LONG),
    "gradient of a bias": (lambda m, x, b: x + b, LONG, normal(8, seed=1)),
    "gradient of a scale": (lambda m, x, b: x * b, LONG, normal(1, seed=1)),
    "gradient of expand": (lambda m, x: x.expand(20000, 8) * 1, normal(1, 8)),
    "gradient of an embedding": (lambda m, w: m.nn.functional.embedding(m.arange(20000) % 5, w), normal(5, 16)),
    "index_add": (lambda m, x: m.zeros(3, 8, dtype=x.dtype).index_add(0, m.arange(20000) % 3, x), LONG),
    "cumsum": (lambda m, x: x.cumsum(0), normal(100000, shift=1)),
    "cumprod": (lambda m, x: x.cumprod(1), 1 + X / 100),
    "cumprod of few lines": (lambda m, x: x.cumprod(0), 1 + normal(3000, 2) / 100),
    "logcumsumexp": (lambda m, x: x.logcumsumexp(0), normal(100000, shift=1)),
    "logcumsumexp of rows": (lambda m, x: x.logcumsumexp(1), X),
    "logsumexp": (lambda m, x: x.logsumexp(1), X + 100),
    "var": (lambda m, x: x.var(), normal(100000, shift=10)),
    "erf": (lambda m, x: m.erf(x), X),
    "erfc": (lambda m, x: m.erfc(x), X),
    "erfc of few": (lambda m, x: m.erfc(x), normal(1000)),
    "softmax": (lambda m, x: x.softmax(1), X * 10),
    "log_softmax": (lambda m, x: x.log_softmax(1), X * 10),
    "cross_entropy": (lambda m, x: m.nn.functional.cross_entropy(x, m.arange(64)), X * 10),
    "layer_norm far from zero": (lambda m, x: m.nn.functional.layer_norm(x, (257,)), X + 50),
    "batch_norm": (lambda m, x: m.nn.functional.batch_norm(x, None, None, training=True), X),
    "matmul": (lambda m, x, y: x @ y, normal(64, 1000), normal(1000, 32, seed=1)),
    "conv2d": (lambda m, x, w: m.nn.functional.conv2d(x, w), normal(4, 32, 14, 14), normal(16, 32, 3, 3, seed=1)),
    "attention": (
        lambda m, q, k, v: m.nn.functional.scaled_dot_product_attention(q, k, v),
        normal(2, 4, 64, 32), normal(2, 4, 64, 32, seed=1), normal(2, 4, 64, 32, seed=2),
    ),
    "cholesky": (lambda m, x: m.linalg.cholesky(x), definite(100, 1e-3)),
    "logdet": (lambda m, x: m.logdet(x), definite(100, 1e-3)),
    "solve": (lambda m, x, b: m.linalg.solve(x, b), definite(100, 1e-3), normal(100, 3, seed=4)),
    "cdist": (lambda m, x, y: m.cdist(x, y), normal(60, 50), normal(70, 50, seed=1)),
    "digamma": (lambda m, x: m.digamma(x), positive(64, 257)),
    "pow": (lambda m, x, y: x**y, positive(64, 257), Y),
}  # fmt: skip


def results(m, job, dtype):
    """The result, and the gradients of a weighted sum of it, as arrays of float64."""
    function, *arrays = job
    inputs = [m.from_numpy(a.copy()).to(getattr(m, dtype)).requires_grad_() for a in arrays]
    out = function(m, *inputs)
    weights = m.from_numpy(np.asarray(normal(*out.shape, seed=9))).to(out.dtype)
    (out * weights).sum().backward()
    return [np.asarray(t.detach().numpy(), np.float64) for t in (out, *(x.grad for x in inputs))]


def errors(truth, found):
    """The largest error relative to the largest number, and its root mean square."""
    scale = np.abs(truth).max() or 1.0
    away = np.abs(found - truth) / scale
    return away.max(), np.sqrt((away**2).mean())


@pytest.mark.parametrize("job", JOBS.values(), ids=JOBS)
def test_float32_is_as_exact_as_torch(job):
    truth, theirs, ours = (
        results(torch, job, "float64"),
        results(torch, job, "float32"),
        results(gradpack, job, "float32"),
    )
    for exact, a, b in zip(truth, theirs, ours, strict=True):
        for mine, other in zip(errors(exact, b), errors(exact, a), strict=True):
            assert mine <= 3 * max(other, LEAST), (mine, other)
