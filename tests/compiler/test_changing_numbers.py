"""NumberArguments among the arguments that are others at each call are tensors of one program."""

from __future__ import annotations

import copy
import json
import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradpack as torch
from gradpack import nn
from gradpack.compiler.compiled import Unsupported

BACKENDS = ("numpy", "jax")


def x():
    return torch.tensor([1.0, -2.0, 3.0])


def shown(value):
    if isinstance(value, torch.Tensor):
        return str(value.dtype), value.tolist()
    if isinstance(value, list | tuple):
        return type(value), [shown(each) for each in value]
    return type(value), value


def agrees(function, calls, backend="numpy", programs=1):
    """Compare a function and what `compile` makes of it, call by call; it has so many programs then."""
    if backend == "jax":
        pytest.importorskip("jax")
    compiled = torch.compile(function, backend=backend)
    for args, kwargs in calls:
        one, other = function(*args, **kwargs), compiled(*args, **kwargs)
        (a, b), (c, d) = shown(one), shown(other)
        assert a == c
        if isinstance(one, torch.Tensor):
            np.testing.assert_allclose(d, b, rtol=1e-5)
        else:
            assert d == b
    assert programs is None or len(compiled.kept) == programs, compiled.explain()
    return compiled


def epochs(count=12):
    return [((x(), i, 1 / (i + 1)), {}) for i in range(count)]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "function",
    [
        lambda x, n, v: x * n + v,
        lambda x, n, v: (x.sin() * (1 + 0.1 * n) - v / (n + 1)) * 0.9**n,
        lambda x, n, v: n * x.double() - (v - 2) * x.long(),
        lambda x, n, v: -abs(v - 1) * x + (n - 20) * (n + 3) * v**0.5,
        lambda x, n, v: torch.add(x, v).mul(n).div(v) > n,
        lambda x, n, v: 2 / (v * x) - (v + n) / (n + 1),
    ],
)
def test_arithmetic_is_a_part_of_the_program(function, backend):
    compiled = agrees(function, epochs(), backend)
    assert "numbers that are given as tensors, by argument: 1, 2" in compiled.explain()


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_training_step_with_a_weight_and_an_epoch(backend):
    if backend == "jax":
        pytest.importorskip("jax")
    found = []
    for wrap in (lambda f: f, lambda f: torch.compile(f, backend=backend)):
        torch.manual_seed(0)
        net = nn.Linear(3, 3).double()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

        def step(x, weight, *, epoch, net=net, optimizer=optimizer):
            optimizer.zero_grad()
            loss = net(x).square().mean() * weight + (0.5 if epoch > 6 else 0.1) * net.weight.square().sum()
            loss.backward()
            optimizer.step()
            return loss

        run = wrap(step)
        losses = [run(x().double(), min(1.0, i / 10), epoch=i).item() for i in range(14)]
        found.append([losses, *[p.detach().numpy() for p in net.parameters()]])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-9)
    assert 1 <= len(run.kept) <= 4, run.explain()


def test_comparisons_make_a_program_for_each_outcome():
    agrees(lambda x, n, v: x * 2 if n > 6 else x - v, epochs(20), programs=2)


def test_what_needs_the_number_itself_runs_as_before():
    with warnings.catch_warnings(action="ignore"):
        for function in (
            lambda x, n, v: x * math.cos(v),
            lambda x, n, v: x * sum(range(n)),
            lambda x, n, v: (x, f"{v:.2f}", {n: v}[n], round(v, 1), n % 3, int(v), isinstance(v, float), n // 2),
            lambda x, n, v: x[: n % 3] + torch.full((1,), v) + torch.tensor(n),
            lambda x, n, v: x.long() + torch.tensor(0.5**n) + torch.tensor([v, v, n]),
            lambda x, n, v: x * float(np.maximum(n, v)) + torch.from_numpy(np.full(3, v)) * len(np.zeros(n)),
        ):
            agrees(function, epochs(30), programs=None)


def test_classes_of_numbers_and_large_ones():
    calls = [((x(), value, 0.5), {}) for value in (1, 2, 3, 4, 5, 0.5, True, 2**40, -7, 6, np.float64(2.0), 7)]
    agrees(lambda x, n, v: x * n + v, calls)


def test_what_keeps_a_number_gets_the_number():
    kept = {"list": [], "value": None}

    def function(x, n, v):
        kept["value"] = v * 2
        kept["list"].append(n)
        return x * v

    compiled = torch.compile(function)
    with warnings.catch_warnings(action="ignore"):
        for i in range(20):
            compiled(x(), i, i * 0.5)
            assert type(kept["value"]) is float
            assert kept["value"] == i
            assert json.dumps(kept["list"]) == json.dumps(list(range(i + 1)))


def test_places_that_a_function_keeps_numbers_in():
    class Thing:
        value = 0.0

    held, appended, pairs, things, outer = [0.0], [], [], {}, 0.0
    thing = Thing()

    def function(x, v):
        nonlocal outer
        appended.append(-v)
        pairs.append((v, (x, v)))
        held[0], things["a"], thing.value, outer = v, v + 1, abs(v), v * 3
        return x * v

    def state():
        return [*appended, *[v for a, (_, b) in pairs for v in (a, b)], *held, *things.values(), thing.value, outer]

    compiled = torch.compile(function)
    with warnings.catch_warnings(action="ignore"):
        for i in range(12):
            compiled(x(), i + 0.5)
            assert all(type(each) is float for each in state()), i
            assert state()[-6:] == [i + 0.5, i + 0.5, i + 0.5, i + 1.5, i + 0.5, 3 * (i + 0.5)]


def test_what_is_returned_is_a_number():
    with warnings.catch_warnings(action="ignore"):
        agrees(lambda x, n, v: (x * v, v * 2, [n + 1]), epochs(20), programs=8)


def test_errors_are_those_of_python():
    compiled = torch.compile(lambda x, n, v: x * (v / (n - 5)))
    for i in range(12):
        if i == 5:
            with pytest.raises(ZeroDivisionError):
                compiled(x(), i, 1.5 + i)
        else:
            np.testing.assert_allclose(
                compiled(x(), i, 1.5 + i).numpy(), (x() * ((1.5 + i) / (i - 5))).numpy(), rtol=1e-6
            )


def test_methods_modules_and_copies():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear, self.steps = nn.Linear(3, 3), 0

        def forward(self, x, t=1.0):
            self.steps += 1
            return self.linear(x) * t

    net = Net()
    compiled = torch.compile(net)
    for i in range(8):
        wanted = net.linear(x()) * (i * 0.5)
        assert torch.allclose(compiled(x(), t=i * 0.5), wanted)
    assert net.steps == 8
    assert torch.allclose(copy.deepcopy(compiled)(x(), 3.0), net.linear(x()) * 3)


def test_a_part_of_another_function_gets_numbers():
    inner = torch.compile(lambda x, t: x * t)
    for i in range(6):
        inner(x(), i * 0.5)
    outer = torch.compile(lambda x: inner(x, 2.5) + 1)
    for _ in range(5):
        assert torch.equal(outer(x()), x() * 2.5 + 1)


def test_fullgraph_is_an_error_where_there_can_be_no_program():
    compiled = torch.compile(lambda x, n: x * n if n < 5 else torch.from_numpy(x.numpy() * n), fullgraph=True)
    for i in range(5):
        assert torch.equal(compiled(x(), i), x() * i)
    with pytest.raises(Unsupported):
        [compiled(x(), i) for i in range(5, 9)]


def test_the_function_runs_where_it_takes_less_time():
    compiled = torch.compile(lambda x, t: x * t)
    for i in range(200):
        assert torch.equal(compiled(x(), i * 0.5), x() * (i * 0.5))
    assert "the function runs: it took" in compiled.explain()
    assert compiled._instead is compiled.function
    weight = torch.nn.Parameter(torch.ones(200, 200))

    def step(x, t):
        weight.grad = None
        ((weight * x).sin() * t).sum().backward()
        return weight.grad

    compiled = torch.compile(step)
    for i in range(200):
        assert torch.allclose(compiled(torch.ones(200), i * 0.5), step(torch.ones(200), i * 0.5))
    assert "by argument: 1" in compiled.explain()


def test_reset_begins_anew():
    compiled = agrees(lambda x, n, v: x * n, epochs())
    torch.compiler.reset()
    assert not compiled.kept
    for i in range(8):
        assert torch.equal(compiled(x(), i, 0.5), x() * i)
    assert len(compiled.kept) == 1


NUMBERS = st.sampled_from([0, 1, 2, 3, -1, 7, 0.5, -2.5, 1e3, 1e-3])
EXPRESSIONS = st.recursive(
    st.sampled_from(["n", "v", "2", "0.5", "-3"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda each: f"({''.join(each)})"),
        st.tuples(inner, st.sampled_from(["<", ">=", "=="]), inner).map(lambda e: f"(1 if {''.join(e)} else n)"),
        inner.map(lambda each: f"(abs({each}) + 1) ** 0.5"),
        inner.map(lambda each: f"float({each})"),
        st.tuples(inner, inner).map(lambda each: f"min({each[0]}, {each[1]})"),
    ),
    max_leaves=5,
)


@settings(max_examples=25, deadline=None)
@given(EXPRESSIONS, EXPRESSIONS, st.lists(st.tuples(NUMBERS, NUMBERS), min_size=9, max_size=9))
def test_random_arithmetic(one, other, numbers):
    function = eval(f"lambda x, n, v: (x * {one} + x.sum() * ({other}), x - ({one}))")
    compiled = torch.compile(function)
    with warnings.catch_warnings(action="ignore"):
        for i, (n, v) in enumerate([(1, 0.1), (2, 0.2), (3, 0.3), (4, 0.4), *numbers]):
            try:
                wanted = function(x() * i, n, v)
            except (ZeroDivisionError, OverflowError) as error:
                with pytest.raises(type(error)):
                    compiled(x() * i, n, v)
                continue
            for a, b in zip(compiled(x() * i, n, v), wanted, strict=True):
                np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=1e-5)
                assert a.dtype == b.dtype
