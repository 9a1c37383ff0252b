"""Budgets under programs that hypothesis makes up: the limit holds at every moment, and gradients are exact."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.saved.held import Look

import gradpack as torch
from gradpack import saved

F = torch.nn.functional
SIZE = 24

STEPS = {
    "tanh": lambda h, w: (h * 0.7).tanh(),
    "exp": lambda h, w: (h * 0.1).exp(),
    "matmul": lambda h, w: h @ w * 0.2,
    "square": lambda h, w: h * h * 0.5,
    "gate": lambda h, w: h * h.sigmoid(),
    "chunk": lambda h, w: torch.cat([part * 0.5 for part in h.chunk(3, -1)][::-1], -1) * h,
    "turned": lambda h, w: (h.t() @ h.exp()).t() * 0.1,
    "softmax": lambda h, w: h.softmax(-1) + h,
    "relu_": lambda h, w: (h * 1.5).relu_(),
    "add_": lambda h, w: (h * 1.0).add_(w.detach()).sin(),
    "drop": lambda h, w: F.dropout(h, 0.3, True),
    "row": lambda h, w: h * h[0].exp() * h.mean(1, keepdim=True).cos(),  # tiny ones
    "norm": lambda h, w: F.layer_norm(h, h.shape[-1:]),
    "rows": lambda h, w: h[: SIZE // 2].sin().repeat(2, 1) * h,
}

programs = st.lists(st.sampled_from(sorted(STEPS)), min_size=2, max_size=10)
quick = settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


def leaf(seed=0, rows=SIZE):
    data = np.random.default_rng(seed).standard_normal((rows, SIZE)).astype(np.float32)
    return torch.from_numpy(data).requires_grad_()


def forward(policy, program, x, w):
    torch.manual_seed(1)
    h = x * 0.5
    with policy:
        for name in program:
            h = STEPS[name](h, w)
        return h.sum()


def gradients(policy, program, passes=1):
    x, w = leaf(), leaf(1)
    out = forward(policy, program, x, w)
    for left in range(passes - 1, -1, -1):
        out.backward(retain_graph=left > 0)
    return [t.grad.numpy() if t.grad is not None else np.zeros(1) for t in (x, w)]


def largest(program):
    """The bytes that are held without a limit."""
    policy = saved.budget(1 << 40, min_bytes=0)
    gradients(policy, program)
    return policy.peak


@quick
@given(programs, st.integers(10, 100), st.integers(1, 2))
def test_within_the_limit_at_every_moment_and_exact(program, part, passes):
    exact = gradients(nullcontext(), program, passes)
    limit = max(largest(program) * part // 100, 3 * SIZE * SIZE * 4)
    x, w = leaf(), leaf(1)
    policy = saved.budget(limit, disk=1 << 30, min_bytes=0)
    look = Look(policy, x, w)
    for _ in range(3):
        x.grad = w.grad = None
        out = forward(policy, program, x, w)
        for left in range(passes - 1, -1, -1):
            out.backward(retain_graph=left > 0)
        for mine, other in zip((x, w), exact, strict=True):
            if mine.grad is not None:
                np.testing.assert_array_equal(mine.grad.numpy(), other)
        del out
        assert policy.peak <= limit
        assert look.peak <= limit
        assert policy.held == policy.on_disk == look.now == 0


@quick
@given(st.lists(st.tuples(programs, st.integers(4, SIZE)), min_size=2, max_size=5), st.integers(15, 90))
def test_steps_that_are_never_the_same(steps, part):
    limit = max(max(largest(program) for program, _ in steps) * part // 100, 3 * SIZE * SIZE * 4)
    w = leaf(1)
    policy = saved.budget(limit, disk=1 << 30, min_bytes=0)
    look = Look(policy, w)
    for program, rows in [*steps, *steps]:
        program = [name for name in program if rows == SIZE or name not in ("add_", "turned", "rows")]
        results = []
        for way in (nullcontext(), policy):
            x, w.grad = leaf(2, rows), None
            look._users.add(id(x._data))
            forward(way, program, x, w).backward()
            results.append(x.grad.numpy())
        np.testing.assert_array_equal(*results)
        assert policy.peak <= limit
        assert look.peak <= limit
    assert policy.held == policy.on_disk == look.now == 0


@quick
@given(programs, st.integers(5, 80))
def test_without_disk_it_fits_or_says_so(program, part):
    """What cannot be held is refused in forward, with nothing left behind; what is not refused is right."""
    exact = gradients(nullcontext(), program)
    limit = largest(program) * part // 100
    x, w = leaf(), leaf(1)
    policy = saved.budget(limit, min_bytes=0)
    look = Look(policy, x, w)
    for _ in range(2):
        x.grad = w.grad = None
        try:
            forward(policy, program, x, w).backward()
        except RuntimeError as error:
            assert "cannot hold" in str(error) and "larger budget or disk=" in str(error)  # noqa: PT017
            assert x.grad is None
        else:
            np.testing.assert_array_equal(x.grad.numpy(), exact[0])
        assert max(policy.peak, look.peak) <= limit
        assert policy.held == look.now == 0
