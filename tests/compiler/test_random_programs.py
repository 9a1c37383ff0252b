"""Random steps, small and large, compiled: they do what they do without.

`GRADPACK_SWEEP=1` takes every seed; otherwise each third one is tried.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
from tests.ops.cases import SWEEP

import gradpack as torch
from gradpack.compiler.compiled import Compiled
from gradpack.kernels.dispatch import libraries

EVERY = 1 if SWEEP else 3
UNARY = {
    "tanh": lambda a: a.tanh(),
    "exp": lambda a: (a * 0.1).exp(),
    "relu": lambda a: a.relu(),
    "square": lambda a: a * a * 0.5,
    "power": lambda a: a**2 - a**1 + a**0,
    "sigmoid": lambda a: a.sigmoid(),
    "neg": lambda a: -a,
    "root": lambda a: (a * a + 1).sqrt(),
    "sin": lambda a: a.sin() * a.cos(),
    "one": lambda a: a * 1 / 1,
    "number": lambda a: 2.5 - a * 3,
    "in place": lambda a: (a * 1.5).add_(1).mul_(0.5),
    "written": lambda a: a.clone().fill_(0.25) * a,
    "view": lambda a: a.T.contiguous().T * 0.5,
    "part": lambda a: torch.cat([a[:1] * 2, a[1:] + 1]),
    "flat": lambda a: a.reshape(-1).view(a.shape) + a.view(-1)[:1],
    "mask": lambda a: torch.where(a > 0.2, a, a * 0.3),
    "clamp": lambda a: a.clamp(-0.7, 0.9),
    "softmax": lambda a: a.softmax(-1) * 3,
    "mean": lambda a: a - a.mean(0, keepdim=True),
    "norm": lambda a: torch.nn.functional.layer_norm(a, a.shape[-1:]),
    "item": lambda a: a * (2.0 if a.shape[0] > 2 else 3.0),
    "detached": lambda a: a * a.detach().abs(),
    "double": lambda a: a.double().mul(1.25).to(a.dtype),
    "row": lambda a: a + a[0],
    "abs": lambda a: a.abs().log1p(),
    "drop": lambda a: torch.nn.functional.dropout(a, 0.3),
    "max": lambda a: a + a.max(),
}
BINARY = {
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "sub": lambda a, b: torch.sub(a, b, alpha=0.5),
    "div": lambda a, b: a / (b * b + 1),
    "maximum": torch.maximum,
    "matmul": lambda a, b: (a @ b.T) @ b * 0.1 if a.numel() < 1000 else a + b * 0.1,
    "lerp": lambda a, b: torch.lerp(a, b, 0.3),
    "where": lambda a, b: torch.where(a > b, a, b * 2),
    "stacked": lambda a, b: torch.stack([a, b]).sum(0),
}


def step_of(seed, shape, dtype):
    """Return a random training step and its parameters."""
    chosen = random.Random(seed)
    numbers = torch.Generator().manual_seed(seed)
    params = [torch.randn(*shape, generator=numbers, dtype=dtype).requires_grad_() for _ in range(2)]
    kinds = [
        lambda p: torch.optim.SGD(p, lr=0.05),
        lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True, weight_decay=0.1),
        lambda p: torch.optim.Adam(p, lr=0.05, amsgrad=True),
        lambda p: torch.optim.AdamW(p, lr=0.05),
    ]
    optimizer = chosen.choice(kinds)(params)
    plan = []
    for _ in range(chosen.randrange(4, 12)):
        if chosen.random() < 0.6:
            plan.append((UNARY[chosen.choice(sorted(UNARY))], [chosen.randrange(99)]))
        else:
            plan.append((BINARY[chosen.choice(sorted(BINARY))], [chosen.randrange(99), chosen.randrange(99)]))
    keep = chosen.random() < 0.3

    def step(x):
        if not keep:
            optimizer.zero_grad()
        known = [x, *params]
        for function, places in plan:
            known.append(function(*[known[-1 - p % len(known)] for p in places]))
        loss = sum((k * k).mean() for k in (*known[-3:], *params))
        loss.backward()
        optimizer.step()
        return loss, known[-1].detach()

    return step, params


def run_both(seed, shape, dtype, calls=6):
    found = []
    for compile in (False, True):
        torch.manual_seed(seed)
        step, params = step_of(seed, shape, dtype)
        use = Compiled(step, fullgraph=True) if compile else step
        numbers = torch.Generator().manual_seed(seed + 1)
        results = []
        for _ in range(calls):
            loss, last = use(torch.randn(*shape, generator=numbers, dtype=dtype))
            results.append((loss.item(), last.numpy(), [p.grad.numpy().copy() for p in params]))
        found.append((results, [p.detach().numpy() for p in params]))
    assert any(k.checked[0] for k in use.kept), use.misses
    return found


def agree(a, b, tolerance):
    for x, y in zip(a, b, strict=True):
        if isinstance(x, list | tuple):
            agree(x, y, tolerance)
        else:
            np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance * max(1.0, float(np.abs(y).max())))


@pytest.mark.parametrize("seed", range(0, 60, EVERY))
def test_small(seed):
    eager, compiled = run_both(seed, (3, 4), torch.float64)
    agree(compiled, eager, 1e-11)


@pytest.mark.parametrize("seed", range(100, 112, EVERY))
@pytest.mark.parametrize("numba", [True, False])
def test_large(seed, numba):
    with libraries(numba=numba):
        eager, compiled = run_both(seed, (200, 211), torch.float32, calls=5)
    agree(compiled, eager, 2e-3)


def test_results_of_loops_do_not_depend_on_the_number_of_threads():
    def f(x):
        y = x.exp() * x.sin() + (x * x + 1).sqrt()
        return y, (y.tanh() - x).abs() * 2

    x = torch.randn(1200, 1000)
    found = []
    before = torch.get_num_threads()
    try:
        for threads in (1, 2, 5):
            torch.set_num_threads(threads)
            compiled = Compiled(f, fullgraph=True)
            for _ in range(4):
                results = compiled(x)
            found.append([r.numpy().tobytes() for r in results])
    finally:
        torch.set_num_threads(before)
    assert found[0] == found[1] == found[2]


def test_results_of_earlier_calls_stay():
    compiled = Compiled(lambda x: (x.exp() * 2 + x.tanh()).relu() * 3, fullgraph=True)
    given = [torch.randn(300, 300) for _ in range(6)]
    results = [compiled(x) for x in given]
    for x, y in zip(given, results, strict=True):
        torch.testing.assert_close(y, (x.exp() * 2 + x.tanh()).relu() * 3, rtol=1e-4, atol=1e-4)
