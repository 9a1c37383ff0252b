"""What Python does inside of operations, hooks and backward passes is noticed as it is outside of them."""

from __future__ import annotations

import time
import warnings

import pytest

import gradpack as torch
from gradpack import extend


def stamp(*_):
    time.perf_counter()


def of_hook(x):
    y = (x * 2).exp()
    y.register_hook(stamp)
    y.sum().backward()


def of_leaf_hook(x):
    y = x.detach().requires_grad_()
    y.register_hook(lambda g: stamp())
    (y * 2).sum().backward()


def of_saved_tensor(x):
    with torch.autograd.graph.saved_tensors_hooks(lambda t: (stamp(), t)[1], lambda t: t):
        x.exp().sum().backward()


def of_unpacking(x):
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: (stamp(), t)[1]):
        y = x.exp().sum()
    y.backward()


class Stamped(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        stamp()
        return g * 2


def of_function(x):
    Stamped.apply(x).sum().backward()


def of_checkpoint(x):
    def part(x):
        stamp()
        return x.exp()

    torch.utils.checkpoint.checkpoint(part, x, use_reentrant=False).sum().backward()


CASES = [of_hook, of_leaf_hook, of_saved_tensor, of_unpacking, of_function, of_checkpoint]


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_a_clock_is_noticed(function):
    assert "perf_counter()" in told(function, torch.ones(3, requires_grad=True))


def test_a_clock_in_the_body_of_an_operation_of_the_users_is_noticed():
    with extend.registering():

        @extend.elementwise(input=lambda g: g * 2)
        def doubled_by_the_clock(input):
            stamp()
            return input * 2

        assert "perf_counter()" in told(lambda x: doubled_by_the_clock(x) + 1, torch.ones(3))


def test_an_operation_of_the_users_is_a_part_of_programs():
    with extend.registering():

        @extend.elementwise(input=lambda g, input: g * 3 * input**2)
        def cubed_by_the_user(input):
            return input**3

        def step(x):
            cubed_by_the_user(x).sum().backward()
            return cubed_by_the_user(x.detach())

        compiled = torch.compile(step, fullgraph=True)
        for scale in range(1, 5):
            x = torch.full((3,), float(scale), requires_grad=True)
            assert compiled(x).tolist() == [scale**3] * 3
            assert x.grad.tolist() == [3 * scale**2] * 3
        assert "** 3" in compiled.source


def told(function, x):
    """Return what is said of a function that gets no program."""
    compiled = torch.compile(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(6):
            compiled(x)
    assert compiled.source == ""
    return compiled.explain()
