"""Rows that are computed one after another are computed at once, where that is the same."""

from __future__ import annotations

import numpy as np
import pytest

import gradpack as torch

W = torch.from_numpy(np.random.default_rng(0).standard_normal((6, 5)))
X = torch.from_numpy(np.random.default_rng(1).standard_normal((8, 5)))


def jacobian(x):
    return torch.autograd.functional.jacobian(lambda x: torch.tanh(W @ x).exp(), x[0])


def samples(x):
    return torch.stack([torch.tanh(row @ W.T) * 2 for row in x])


def products(x):
    return torch.stack([W @ (x[i] * x[i]) for i in range(8)])


def sums(x):
    return torch.stack([(x[i] * W).sum(1).exp() for i in range(8)])


def parts_of_samples(x):
    return torch.stack([x[i, 1:4] * x[i, 1:4] + 1 for i in range(2, 7)])


def others_between(x):
    return torch.stack([torch.softmax(x[i], 0) * 2 + x[i] for i in range(8)])


def chained(x):
    rows = [x[0]]
    for _ in range(6):
        rows.append(torch.sin(rows[-1]))
    return torch.stack(rows[1:])


def long(x):
    rows = []
    for i in range(4):
        row = x[i]
        for _ in range(150):
            row = row * 0.99 + 0.01
        rows.append(row)
    return torch.stack(rows)


def needed_twice(x):
    rows = [torch.sin(x[i]) for i in range(8)]
    return torch.stack([row * 2 for row in rows]), rows[3]


def written_between(x):
    y, rows = x.clone(), []
    for i in range(4):
        rows.append(torch.sin(y[i]) * 2)
        y.mul_(1.5)
    return torch.stack(rows)


def written_afterwards(x):
    y = x.clone()
    found = torch.stack([torch.sin(y[i]) * 2 for i in range(8)])
    y.mul_(1.5)
    return found.mul_(3), y


def of_other_shapes(x):
    return torch.stack([(x[i] * torch.tensor(1.0 + i)).sum() for i in range(8)])


def by_matrices_of_matrices(x):
    matrices = torch.stack([W.T, 2 * W.T, 3 * W.T])  # as many as there are rows
    return torch.stack([(x[2 * i : 2 * i + 2] * 2) @ matrices for i in range(3)])


AT_ONCE = {jacobian: 9, samples: 4, products: 5, sums: 4, parts_of_samples: 4}  # calls, at most
OTHERS = (
    others_between,
    chained,
    long,
    needed_twice,
    written_between,
    written_afterwards,
    of_other_shapes,
    by_matrices_of_matrices,
)


@pytest.mark.parametrize("function", [*AT_ONCE, *OTHERS], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_results_are_those_of_the_function(function, dtype):
    compiled = torch.compile(function, fullgraph=True)
    x = X.to(getattr(torch, dtype))
    for scale in (1.0, 0.5, 2.0, -1.0):
        with torch.no_grad():
            weight = W.clone()
            W.data = weight.to(x.dtype)
            try:
                found, wanted = compiled(x * scale), function(x * scale)
            finally:
                W.data = weight
        found, wanted = (v if isinstance(v, tuple) else (v,) for v in (found, wanted))
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-5 if dtype == "float32" else 1e-12)


@pytest.mark.parametrize("function", AT_ONCE, ids=lambda f: f.__name__)
def test_few_calls_stand_for_all_rows(function):
    compiled = torch.compile(function, fullgraph=True)
    for _ in range(3):
        compiled(X)
    calls = [line for line in compiled.source.splitlines() if "np." in line and "np.empty" not in line]
    assert len(calls) <= AT_ONCE[function], compiled.source
