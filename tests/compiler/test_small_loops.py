"""Loops on small arrays: programs that ran often get them, with the same results."""

from __future__ import annotations

import random
import re
from operator import length_hint

import numpy as np
import pytest
from tests.compiler.test_random_programs import agree, step_of

import gradpack as torch
from gradpack.compiler import recompiled
from gradpack.compiler.compiled import Compiled
from gradpack.kernels.dispatch import libraries

pytest.importorskip("numba")

FAST = "reduce-overhead"


def bits(*tensors):
    return [(t.shape, t.dtype, t.detach().numpy().tobytes()) for t in tensors]


def has_loops(compiled):
    return "compiled:" in compiled.source


def many_steps(x):
    for _ in range(60):
        x = x * 1.01 - 0.001
    return x


def chosen(x, row):
    return torch.where(x > row, x * row, 0.5 - x).clamp(-1, 1) / (row * row + 1)


def several(x, row):
    y = x * row + 1
    return y * y, y - row, (y > 1) & (x < row)


def of_one_number(x, row):
    return (x - row[:1]) * x[:1, :1] + row.sum()


def in_place(x, row):
    y = x.clone()
    y *= row
    y[1] += x[0] * 2
    return y.sqrt_().nan_to_num(), y.T * 3 - 1


def columns(x, row):
    return (x.T * x.T[:1] + row[:1]).T - x.mean(1, keepdim=True) * row


def numbers_alone(x, row):
    a, b = x[0, 0] * row[0], x[0, -1] + 2.5
    for _ in range(3):
        a, b = a * b - 1, b * 0.5 + a.detach()
    return a, a > b, b.sqrt()


def joined(x, row):
    y = torch.cat([x * 2, row[None] + 1, x[:1]]) - 1
    z = torch.stack([x + 1, x * row], 1) * 2
    return y, z, torch.cat([z, x[:, None] / 3], 1) + 1, torch.hstack([x[0] * 1.5, row + 2, row.sum()[None]]) - x[0, 0]


def added(x, row):
    y = x * row
    return y.sum() + 1, y.sum(0) * 2, y.sum(-1, keepdim=True) - y, y.mean() / 3, (y * 0).sum(0) + -0.0


def largest(x, row):
    y = x * row
    return y.softmax(-1) * 2, y.amax(0) - 1, y.amax() + y, (y / 0).amax(-1) * 2, (y - y).mul(torch.nan).amax(0) + 1


def parts_written(x, row):
    x, row = x.detach().requires_grad_(), row.detach().requires_grad_()
    made = (
        (x[1:] * x[:-1]).sum() + (x[:, ::2] * 3 - x[0, 0]).square().sum() + (row[-1] * x[-1, 0] - row[None, :1]).sum()
    )
    return (made.detach(), *torch.autograd.grad(made, (x, row)))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize(
    "function",
    [chosen, several, of_one_number, in_place, columns, numbers_alone, joined, added, largest, parts_written],
)
@pytest.mark.parametrize("shape", [(3, 4), (5, 1), (40, 70)])
def test_results_have_the_bits_of_the_function(function, shape, dtype):
    compiled = torch.compile(function, mode=FAST, fullgraph=True)
    numbers = torch.Generator().manual_seed(1)
    for _ in range(5):
        x, row = (torch.randn(*s, generator=numbers, dtype=dtype) for s in (shape, shape[1:]))
        wanted, found = function(x, row), compiled(x, row)
        wanted, found = ((r,) if isinstance(r, torch.Tensor) else r for r in (wanted, found))
        if dtype is torch.float32 and function in (added, parts_written):  # sums of rows are products with ones
            torch.testing.assert_close(found, wanted)
        else:
            assert bits(*found) == bits(*wanted)
    assert has_loops(compiled) and compiled.stopped is None


def test_neighbouring_loops_are_one_call():
    def pendulum(state, force):
        angle, speed = state[0], state[1]
        for _ in range(5):
            angle, speed = angle + 0.05 * speed, speed - 0.05 * (angle * angle * 9.8 - force)
        return torch.stack([angle, speed]).square().sum()

    compiled = torch.compile(lambda s, f: torch.func.grad(pendulum)(s, f), mode=FAST, fullgraph=True)
    for seed in range(5):
        state, force = (torch.randn(shape, generator=torch.Generator().manual_seed(seed)) for shape in ((2,), ()))
        assert bits(compiled(state, force)) == bits(compiled.function(state, force))
    (text,) = [line.strip() for line in compiled.source.splitlines() if re.fullmatch(r" *loops?\w*\(\)", line)]
    assert text.startswith("loops0_to_") and "np.add(" not in compiled.source


def test_a_program_of_many_steps_gets_loops_soon():
    compiled, x = Compiled(many_steps, fullgraph=True), torch.randn(3, 5)
    wanted = bits(many_steps(x))
    for _ in range(3):
        assert bits(compiled(x)) == wanted
    assert not has_loops(compiled) and "loops on small arrays after 1" in compiled.explain()
    for _ in range(20):
        assert bits(compiled(x)) == wanted
    assert has_loops(compiled) and "more calls" not in compiled.explain()
    assert len(compiled.kept) == 1 and compiled.stopped is None and not compiled.misses


def test_a_long_program_gets_them_later(monkeypatch):
    monkeypatch.setattr(recompiled, "_LONG", 100)
    compiled = Compiled(many_steps, fullgraph=True)
    for _ in range(40):
        compiled(torch.ones(3))
    assert not has_loops(compiled) and 200 < length_hint(compiled.kept[0].turn.left) < 300


def test_a_program_of_few_steps_gets_them_late(monkeypatch):
    compiled = Compiled(lambda x: (x * 2 + 1) * (x - 1), fullgraph=True)
    for _ in range(4):
        compiled(torch.ones(3))
    (kept,) = compiled.kept
    assert length_hint(kept.turn.left) > 10_000
    monkeypatch.setattr(recompiled, "_AT_LEAST", 10)
    monkeypatch.setattr(recompiled, "_FOR_ONE", 0)
    compiled.reset()
    for _ in range(20):
        compiled(torch.ones(3))
    assert has_loops(compiled)


def test_programs_without_calls_on_small_arrays_get_none():
    for function, x in ((lambda x: x @ x, torch.ones(3, 3)), (lambda x: x * 2 + 1, torch.ones(300, 300))):
        compiled = torch.compile(function, mode=FAST)
        for _ in range(5):
            compiled(x)
        assert compiled.kept[0].turn.left is None
    with libraries(numba=False):
        compiled = torch.compile(many_steps, mode=FAST)
        for _ in range(5):
            compiled(torch.ones(3))
    assert not has_loops(compiled) and compiled.kept[0].turn.left is None


@pytest.mark.parametrize("seed", range(8))
def test_random_steps(seed):
    shape, dtype = random.Random(seed).choice([(3, 4), (1, 5), (7, 33)]), (torch.float32, torch.float64)[seed % 2]
    found = []
    for is_compiled in (False, True):
        torch.manual_seed(seed)
        step, params = step_of(seed, shape, dtype)
        use = torch.compile(step, mode=FAST, fullgraph=True) if is_compiled else step
        numbers = torch.Generator().manual_seed(seed + 1)
        results = [use(torch.randn(*shape, generator=numbers, dtype=dtype)) for _ in range(6)]
        found.append([[t.detach().numpy() for t in result] for result in results])
        found[-1].append([p.detach().numpy() for p in params] + [p.grad.numpy() for p in params])
    assert has_loops(use) and use.hits
    agree(*found, 1e-11 if dtype is torch.float64 else 1e-4)


def test_the_backward_pass_of_results_has_loops():
    w = torch.randn(5, requires_grad=True, dtype=torch.float64)
    compiled = torch.compile(lambda x: (x * w + 1) / (w * w + 2) * x, mode=FAST, fullgraph=True)
    for _ in range(5):
        x = torch.randn(3, 5, dtype=torch.float64)
        grads = []
        for function in (compiled, compiled.function):
            function(x).pow(2).sum().backward()
            grads.append(w.grad)
            w.grad = None
        np.testing.assert_allclose(*[g.numpy() for g in grads], rtol=1e-13)
    forward, _, backward = compiled.source.partition("# backward:")
    assert "    loop" in forward and "    loop" in backward


def test_parameters_that_get_other_arrays():
    w = torch.ones(4)
    compiled = torch.compile(lambda x: (x * w - 1) * (w + x), mode=FAST, fullgraph=True)
    x = torch.arange(4.0)
    for value in (1.0, 2.0, 3.0):
        w.data = torch.full((4,), value)
        for _ in range(4):
            assert bits(compiled(x)) == bits((x * w - 1) * (w + x))
    assert has_loops(compiled) and compiled.stopped is None


@pytest.mark.parametrize("fails", ["compiled", "numbers"])
def test_a_program_stays_where_loops_fail(monkeypatch, fails):
    build = recompiled.build

    def fail(*given):
        if fails == "compiled":
            raise NotImplementedError("no such machine")
        made = build(*given)
        return made._replace(bind=lambda *steady: lambda *arrays: tuple(a + 1 for a in made.bind(*steady)(*arrays)))

    monkeypatch.setattr(recompiled, "build", fail)
    compiled, x = torch.compile(many_steps, mode=FAST), torch.ones(3)
    for _ in range(6):
        assert bits(compiled(x)) == bits(many_steps(x))
    assert compiled.hits and compiled.stopped is None and not has_loops(compiled)
    assert "loops on small arrays" in compiled.misses[-1]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_options_of_an_optimizer_are_read_at_each_call(dtype):
    found = []
    for is_compiled in (False, True):
        torch.manual_seed(0)
        net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1)).to(dtype)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

        def step(x, net=net, optimizer=optimizer):
            optimizer.zero_grad()
            loss = net(x).square().sum()
            loss.backward()
            optimizer.step()
            return loss

        use = torch.compile(step, mode=FAST, fullgraph=True) if is_compiled else step
        losses = []
        for i in range(8):
            optimizer.param_groups[0]["lr"] = 0.1 / (i + 1)
            losses.append(use(torch.ones(2, 3, dtype=dtype) * i))
        found.append([t.detach().numpy() for t in (*losses, *net.parameters())])
    assert has_loops(use) and use.hits and use.stopped is None and len(use.kept) == 1
    agree(*found, 1e-13 if dtype is torch.float64 else 1e-5)
