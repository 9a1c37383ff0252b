"""Random numbers of programs: those of the function, from the same generators, in the same order."""

from __future__ import annotations

import numpy as np
import pytest
from tests.compiler.test_lasting import agrees, leaves, x

import gradpack as torch
from gradpack import nn
from gradpack.utils.checkpoint import checkpoint


def a_generator():
    generator = torch.Generator().manual_seed(1)

    def run(f, i):
        if i == 5:
            generator.manual_seed(3)
        return f(x(i)), torch.rand(2), torch.rand(2, generator=generator)

    return run, lambda x: x + torch.rand(3, generator=generator) + torch.randn(3)


def a_generator_as_an_argument():
    generator = torch.Generator().manual_seed(1)
    return lambda f, i: f(x(i), generator), lambda x, g: x + torch.randn(3, generator=g)


def a_guard_that_fails_behind_a_draw():
    generator = torch.Generator().manual_seed(1)

    def f(x):
        drawn = torch.rand(3, generator=generator) + torch.rand(3)
        return drawn * 2 if x.sum() > 0 else drawn - 1

    return lambda f, i: (f(x(i)), torch.rand(2), torch.rand(2, generator=generator)), f


def tensors_that_are_filled():
    generator, w = torch.Generator().manual_seed(1), torch.zeros(3, dtype=torch.float64)

    def f(x):
        w.normal_(generator=generator)
        return (
            w + x, torch.empty(2, 2).uniform_(1, 3), torch.empty(3, dtype=torch.int64).random_(0, 9),
            torch.empty(3).log_normal_(), torch.zeros_like(x).exponential_(2.0), torch.empty(3).bernoulli_(0.3),
        )  # fmt: skip

    return lambda f, i: (f(x(i)), w), f


def draws_by_values_that_require_grad():
    w = leaves(3)

    def f(x):
        p = (w * x).sigmoid()
        hard = torch.bernoulli(p)
        loss = (p + (hard - p).detach()).sum() + (torch.poisson(p) * p + torch.normal(p, p) * x).sum() + hard.sum()
        w.grad = None
        loss.backward()
        return loss.detach(), hard, torch.multinomial(p, 2)

    return lambda f, i: (f(x(i, 3)), w.grad), f


def gumbel_softmax():
    return lambda f, i: f(x(i, 2, 5)), lambda x: nn.functional.gumbel_softmax(x, hard=True)


def parameters_that_are_set_anew():
    layer = nn.Linear(3, 3)

    def f(x):
        nn.init.xavier_uniform_(layer.weight)
        return layer(x.float()).detach()

    return lambda f, i: (f(x(i, 2, 3)), layer.weight.detach().clone()), f


def dropout_that_is_computed_again(use_reentrant=False):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.3), nn.Linear(8, 8), nn.Dropout(0.5)).double()
    last = nn.Dropout(0.2)

    def f(x):
        net.zero_grad()
        h = last(checkpoint(net, x.requires_grad_(), use_reentrant=use_reentrant))
        loss = checkpoint(net, h, use_reentrant=use_reentrant).pow(2).mean()
        loss.backward()
        return loss, torch.rand(2)

    return lambda f, i: (f(x(i, 3, 8)), torch.rand(2), net[0].weight.grad), f


def dropout_in_a_reentrant_checkpoint():
    return dropout_that_is_computed_again(True)


def states_that_are_asked_for():
    def f(x):
        state = torch.get_rng_state()
        first = torch.rand(3)
        torch.set_rng_state(state)
        with torch.random.fork_rng():
            second = torch.rand(3)
        return x + first, second, torch.rand(3)

    return lambda f, i: (f(x(i)), torch.rand(2)), f


DRAWS = (
    a_generator, a_generator_as_an_argument, a_guard_that_fails_behind_a_draw, tensors_that_are_filled, gumbel_softmax,
    draws_by_values_that_require_grad,
    parameters_that_are_set_anew, dropout_that_is_computed_again, dropout_in_a_reentrant_checkpoint,
    states_that_are_asked_for,
)  # fmt: skip


@pytest.mark.parametrize("make", DRAWS)
def test_the_numbers_are_those_of_the_function(make):
    step = agrees(make)
    assert step.kept and "no more programs" not in step.explain(), step.explain()


def a_state_from_outside():
    torch.manual_seed(3)
    state = torch.get_rng_state()

    def run(f, i):
        if i < 5:
            torch.set_rng_state(state)
        return f(x(i)), torch.rand(2)

    return run, lambda x: (torch.set_rng_state(state), x + torch.rand(3))[1]


def a_generator_that_is_made_inside():
    return lambda f, i: f(x(i)), lambda x: x + torch.rand(3, generator=torch.Generator().manual_seed(7))


def a_generator_that_is_seeded_inside():
    generator = torch.Generator()

    def run(f, i):
        return f(x(i)), torch.rand(2, generator=generator)

    return run, lambda x: (generator.manual_seed(5), x + torch.rand(3, generator=generator))[1]


SEEDS = {
    "it sets the state of random numbers": a_state_from_outside,
    "it seeds a generator": a_generator_that_is_made_inside,
    "or looks at its state": a_generator_that_is_seeded_inside,
}


@pytest.mark.parametrize("message", SEEDS)
def test_what_seeds_a_generator_runs_as_it_is(message):
    step = agrees(SEEDS[message])
    assert not step.kept and message in step.explain()


def test_the_state_of_a_generator_is_that_before_an_error():
    generator = torch.Generator().manual_seed(1)

    def f(x, k):
        return torch.rand(3, generator=generator)[k] + x[k]

    step = torch.compile(f)
    for _ in range(4):
        step(x(0), torch.tensor([0]))
    before = generator.get_state().numpy().copy()
    for function in (step, f):
        generator.set_state(torch.from_numpy(before))
        with pytest.raises(IndexError):
            function(x(0), torch.tensor([5]))
        found = generator.get_state().numpy().copy()
        if function is step:
            left = found
    np.testing.assert_array_equal(left, found)
