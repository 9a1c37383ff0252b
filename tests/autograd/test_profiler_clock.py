"""While a profiler is on that wants times only, operations run a text with a clock in it, and then theirs again."""

from __future__ import annotations

import threading

import pytest

import gradpack as torch
from gradpack import extend
from gradpack.autograd import profiler


def names(prof):
    return [event.name for event in prof.function_events]


def test_operations_are_what_they_were_after_the_last_profiler():
    x = torch.ones(2)
    functions = [torch.exp, torch.Tensor.__mul__, torch.Tensor.add_]
    for _ in range(2):
        x.exp(), x * x, x.add_(1)
        before = [f.__code__ for f in functions]
        with profiler.profile() as outer:
            torch.exp(x), x * x, x.add_(1)
            assert all(f.__code__ is not code for f, code in zip(functions, before, strict=True))
            with profiler.profile(record_shapes=True):
                torch.exp(x)
            torch.exp(x)
        assert [f.__code__ for f in functions] == before
        assert names(outer) == ["aten::exp", "aten::mul", "aten::add_", "aten::exp", "aten::exp"]


def test_large_writes_in_place_are_events():
    x = torch.ones(1 << 16)
    x.add_(1, alpha=2), x.mul_(2)  # what is compiled is compiled here
    with profiler.profile() as prof:
        for _ in range(3):
            x.add_(1, alpha=2), x.mul_(2)
    assert names(prof) == ["aten::add_", "aten::mul_"] * 3


def test_a_profiler_that_is_not_left_in_order():
    x = torch.ones(2)
    x.exp()
    before = torch.exp.__code__
    with pytest.raises(RuntimeError), profiler.profile():
        torch.exp(x) + torch.ones(3)
    assert torch.exp.__code__ is before
    first, second = profiler.profile(), profiler.profile()
    first.__enter__(), second.__enter__()
    first.__exit__(None, None, None), second.__exit__(None, None, None)
    first.__exit__(None, None, None)
    torch.exp(x)
    assert torch.exp.__code__ is before


def test_other_threads_run_as_without_a_profiler():
    x = torch.ones(3, requires_grad=True)
    found = []

    def work():
        y = torch.ones(3)
        found.append(torch.exp(x * 2).grad_fn.name())
        with torch.inference_mode():
            found.append(torch.exp(y).is_inference())
        found.append(y.add_(1).tolist())
        with pytest.raises(RuntimeError):
            torch.exp(y, out=torch.ones(3, dtype=torch.int64))

    with profiler.profile() as prof:
        torch.exp(x * 2), torch.ones(3).add_(1)
        other = threading.Thread(target=work)
        other.start()
        other.join()
    assert found == ["ExpBackward0", True, [2.0, 2.0, 2.0]]
    assert names(prof) == ["aten::mul", "aten::exp", "aten::ones", "aten::add_"]


def test_arguments_are_those_of_the_operation():
    out = torch.zeros(2)
    with profiler.profile():
        for _ in range(2):
            assert torch.add(torch.ones(2), 2, alpha=3).tolist() == [7, 7]
            assert torch.add(input=torch.ones(2), other=torch.ones(2), out=out) is out and out.tolist() == [2, 2]
            with pytest.raises(TypeError):
                torch.exp()
            with pytest.raises(RuntimeError):
                torch.ones(2) * torch.ones(3)


def test_a_kernel_that_comes_later_is_run():
    x = torch.ones(2)
    with profiler.profile():
        x.tanh()
    try:

        @extend.kernel("tanh")
        def tanh(input):
            return 0 * input + 5

        with profiler.profile() as prof:
            assert x.tanh().tolist() == [5, 5] and x.tanh().tolist() == [5, 5]
        assert names(prof) == ["aten::tanh"] * 2
    finally:
        extend.remove("tanh")
    with profiler.profile():
        assert x.tanh()[0].item() < 1
    assert x.tanh()[0].item() < 1


def test_nodes_that_fail_are_events_too():
    class Fails(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            raise KeyError("the user's")

    x = torch.ones(2, requires_grad=True)
    for y, node in ((Fails.apply(x).exp(), "FailsBackward"), (x.exp(), "ExpBackward0")):
        if node == "ExpBackward0":
            y.sum().backward()
            y = y.sum()
        with profiler.profile() as prof, pytest.raises((KeyError, RuntimeError)):
            y.sum().backward()
        assert node in names(prof)


def test_numbers_join_operations_and_nodes():
    x = torch.ones(3, requires_grad=True)
    for _ in range(2):
        with profiler.profile() as prof:
            y = x * 2
            with torch.no_grad():
                x * 3
            y.exp().pow(2).sum().backward()
        ops = {e.name: e.sequence_nr for e in prof.function_events if e.scope == 0 and e.sequence_nr >= 0}
        nodes = {e.name: e.sequence_nr for e in prof.function_events if e.scope == 1}
        assert ops["aten::exp"] == nodes["ExpBackward0"] and ops["aten::pow"] == nodes["PowBackward0"]
        assert ops["aten::mul"] == nodes["MulBackward0"]
        assert [e.sequence_nr for e in prof.function_events if e.name == "aten::mul"][1] == -1
