"""Functions whose calls are as fast as those of the function: such as ended, and such as do little."""

from __future__ import annotations

import copy
import pickle
from functools import partial
from inspect import signature
from itertools import accumulate, chain, cycle, repeat

import numpy as np
import pytest

import gradpack as torch
from gradpack.compiler import small
from gradpack.compiler.compiled import Compiled

CALLS = small._WARM + 4 * small._ROUNDS  # after which a comparison has ended


def same(a, b):
    np.testing.assert_array_equal(a.detach().numpy(), b.detach().numpy())
    assert a.dtype == b.dtype and a.requires_grad == b.requires_grad


@pytest.fixture
def clock(monkeypatch):
    """Let calls of the function, and of the program, take a given time."""

    def set_to(eager, program):
        ticks = accumulate(chain.from_iterable(zip(repeat(5), cycle((eager, program)))))
        monkeypatch.setattr(small, "perf_counter_ns", lambda: next(ticks))

    return set_to


@torch.compile
def ended(x, y=1.0):
    return x * float(x.numpy().sum()) + y


def test_a_function_that_ended_is_called_without_a_step_between():
    x = torch.ones(3)
    torch.compiler.reset()
    ended(x)
    with pytest.warns(UserWarning, match="runs without a program"):
        ended(x)
    assert type(ended).__call__.__get__(ended) is ended.function
    same(ended(x, y=2.0), torch.full((3,), 5.0))
    with pytest.raises(TypeError, match=r"ended\(\) got an unexpected keyword argument 'z'"):
        ended(x, z=1)
    assert isinstance(ended, Compiled) and ended.source == "" and "numpy" in ended.explain()
    assert copy.deepcopy(ended) is ended and pickle.loads(pickle.dumps(ended)) is ended
    ended.reset()
    assert type(ended) is Compiled and ended.stopped is None


def test_an_object_that_ended_is_copied_without_what_ended():
    scaled = torch.compile(partial(torch.mul, other=2))
    scaled.call_instead(scaled.function)
    same(scaled(torch.ones(2)), torch.full((2,), 2.0))
    assert type(copy.copy(scaled)) is Compiled and "other" in signature(scaled).parameters


def test_a_function_that_raises_while_it_is_compared(clock):
    clock(1000, 2000)

    def chosen(x, i):
        return x[i]

    compiled, x = torch.compile(chosen), torch.ones(3)
    for n in range(small._BEFORE + CALLS):
        if n < small._BEFORE:
            compiled(x, torch.tensor(2))
            continue
        with pytest.raises(IndexError):
            compiled(x, torch.tensor(3))
    same(compiled(x, torch.tensor(1)), x[1])


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: x * y,
        lambda x, y: (x, y)[0],
        lambda x, y: (x * y).sum(),
        lambda x, y: x.add_(y),
        lambda x, y: x + torch.rand(3),
        lambda *both: both[0] - both[1],
        lambda _x, y: _x - y,
    ],
)
def test_the_function_runs_where_its_program_takes_longer(function, clock):
    clock(1000, 2000)
    compiled, x, y = torch.compile(function), torch.ones(3), torch.arange(3.0)
    a = b = x
    for _ in range(CALLS):
        compiled(x.clone(), y)
    hits, source = compiled.hits, compiled.source
    torch.manual_seed(0)
    a = compiled(x.clone(), y)
    torch.manual_seed(0)
    b = function(x.clone(), y)
    same(a, b)
    assert compiled.hits == hits and compiled.source == source != "" and len(compiled.kept) == 1
    assert "the function runs for [3], [3]: it took 1.0 us, and its program 2.0 us" in compiled.explain()
    compiled.reset()
    assert type(compiled) is Compiled and "the function runs" not in compiled.explain()


def test_the_program_runs_where_the_function_takes_longer(clock):
    clock(2000, 1000)
    compiled, x = torch.compile(lambda x: x * 2), torch.ones(3)
    for _ in range(CALLS):
        same(compiled(x), x * 2)
    hits = compiled.hits
    compiled(x)
    assert compiled.hits == hits + 1 and type(compiled) is Compiled and "the function runs" not in compiled.explain()


def test_one_call_that_takes_long_decides_nothing(monkeypatch):
    times = cycle([1000] * 6 + [1_000_000] + [2000])  # of calls of the function and of the program, by turns
    ticks = accumulate(chain.from_iterable(zip(repeat(5), chain.from_iterable(zip(times, repeat(1500))))))
    monkeypatch.setattr(small, "perf_counter_ns", lambda: next(ticks))
    compiled, x = torch.compile(lambda x: x * 2), torch.ones(3)
    for _ in range(CALLS):
        compiled(x)
    assert "it took 1.0 us, and its program 1.5 us" in compiled.explain()


def test_other_shapes_values_and_modes_behind_a_comparison(clock):
    clock(1000, 2000)
    scale = 2.0

    def function(x, y, k=3):
        return x * scale + y * k

    compiled = torch.compile(function, fullgraph=True)
    x, y = torch.ones(3), torch.arange(3.0)
    for _ in range(CALLS):
        compiled(x, y)
    hits = compiled.hits
    scale = 5.0  # what a program guards is the function's own
    same(compiled(x, y), function(x, y))
    same(compiled(x, y=y), function(x, y))
    same(compiled(x, y.double()), function(x, y.double()))
    same(compiled(x.requires_grad_(), y), function(x, y))
    assert compiled.hits == hits
    for _ in range(4):
        same(compiled(torch.ones(2, 3), y), function(torch.ones(2, 3), y))
        same(compiled(x=torch.ones(2, 3), y=y), function(torch.ones(2, 3), y))
        same(compiled(x, y, 4), function(x, y, 4))
        same(compiled(x, k=4, y=y), function(x, y, 4))
        same(compiled(k=4, y=2.0, x=x), function(x, 2.0, 4))
    assert compiled.hits > hits and len(compiled.kept) > 1
    for args, named in [((x,), {}), ((x, y, 1, 2), {}), ((x,), {"z": y}), ((x,), {"x": y})]:
        with pytest.raises(TypeError, match="function"):
            compiled(*args, **named)


def test_tensors_in_containers_and_by_keyword_only(clock):
    clock(1000, 2000)

    def function(pair, *, by):
        return pair[0] * pair[1]["of"] + by

    compiled, x = torch.compile(function), torch.ones(3)
    for _ in range(CALLS):
        compiled([x, {"of": x}], by=x)
    hits = compiled.hits
    same(compiled([x, {"of": x}], by=x), x + x)
    assert compiled.hits == hits
    for pair, by in [([x, {"of": 2.0}], x), ((x, {"of": x}), x), ([x, {"of": x}], 1.0), ([2.0, {"of": x, "to": 1}], x)]:
        same(compiled(pair, by=by), function(pair, by=by))
    with pytest.raises(TypeError, match="by"):
        compiled([x, {"of": x}])


def test_each_of_several_shapes_is_compared(clock):
    clock(1000, 2000)
    compiled = torch.compile(lambda x: x * 2)
    for n in (2, 3):
        for _ in range(CALLS):
            compiled(torch.ones(n))
    assert "for [2]:" in compiled.explain()
    assert "for [3]:" in compiled.explain()
    hits = compiled.hits
    same(compiled(torch.ones(3)), torch.full((3,), 2.0))
    assert compiled.hits == hits


def test_programs_that_do_much_are_not_compared():
    def long(x):
        for _ in range(small._FEW + 1):
            x = torch.erfinv(x.sin())
        return x

    for function, size in ((lambda x: x * 2, small._SMALL + 1), (long, 3)):
        compiled = torch.compile(function)
        for _ in range(5):
            compiled(torch.ones(size))
        assert compiled.hits and compiled.trial is None and type(compiled) is Compiled


def test_a_backward_pass_of_results_that_have_none():
    w = torch.ones(3, requires_grad=True)
    both = torch.compile(lambda x: ((x * w).exp().sin() * w, w.exp() * x))
    x, seed = torch.arange(3.0), torch.arange(6.0)[::2]
    for _ in range(5):
        first, second = both(x)
        (got,) = torch.autograd.grad(second, w, seed, retain_graph=True)
        same(got, seed * w.detach().exp() * x)
        (got,) = torch.autograd.grad(first.sum(), w)


def test_keyword_only_arguments_behind_a_comparison(clock):
    clock(1000, 2000)

    def function(x, *, k, scale=2.0, y=None):
        return x * k * scale + (0 if y is None else y)

    compiled, x, y = torch.compile(function), torch.ones(3), torch.arange(3.0)
    for _ in range(CALLS):
        compiled(x, k=y)
    hits = compiled.hits
    assert "the function runs for [3], [3]" in compiled.explain()
    for call in (
        lambda f: f(x, k=y), lambda f: f(k=y, x=x), lambda f: f(x, k=2.0), lambda f: f(x, k=y, scale=3.0),
        lambda f: f(x, y=y, k=y), lambda f: f(torch.ones(2, 3), k=y), lambda f: f(x, scale=1.0, k=y),
    ):  # fmt: skip
        same(call(compiled), call(function))
    assert compiled.hits == hits
    for call, message in (
        (lambda: compiled(x, y), "takes 1 positional argument but 2 "),
        (lambda: compiled(x), "missing 1 required keyword-only argument: 'k'"),
        (lambda: compiled(x, k=y, z=1), "unexpected keyword argument 'z'"),
    ):
        with pytest.raises(TypeError, match=message):
            call()


def test_a_function_that_takes_far_longer_is_called_twice_only(clock):
    calls = []

    def doubled(x):
        return x * 2

    compiled, x = Compiled(doubled), torch.ones(3)
    clock(eager=500, program=100)
    for _ in range(small._BEFORE + 10):
        same(compiled(x), x * 2)
    compiled.function = lambda x: calls.append(x)
    for _ in range(CALLS):
        same(compiled(x), x * 2)
    assert not calls and "the function runs for" not in compiled.explain()
