"""Gradients of results of compiled functions are differentiated themselves: the function runs again."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import gradpack as torch
from gradpack import nn

BACKENDS = ("numpy", "jax")


def compiled_by(backend, function):
    if backend == "jax":
        pytest.importorskip("jax")
    return torch.compile(function, backend=backend)


def numbers(*shape, seed=0):
    return torch.tensor(np.random.default_rng(seed).standard_normal(shape))


def critic():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1)).double()


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_penalty_of_gradients(backend):
    found = []
    for wrap in (lambda f: f, lambda f: compiled_by(backend, f)):
        net = critic()
        optimizer, judge = torch.optim.SGD(net.parameters(), lr=0.1), wrap(net)
        for i in range(7):
            x = numbers(4, 3, seed=i).requires_grad_()
            (slope,) = torch.autograd.grad(judge(x).sum(), x, create_graph=True)
            loss = judge(x).mean() + (slope.norm(dim=1) - 1).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            found.append([loss.detach().numpy(), *[p.detach().clone().numpy() for p in net.parameters()]])
    for one, other in zip(found[:7], found[7:], strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("backend", BACKENDS)
def test_derivatives_of_any_order_and_of_several_results(backend):
    weight = nn.Parameter(numbers(3, 3, seed=9))
    function = lambda x, k: ((x @ weight).tanh() * k, {"a": (x * weight).sum(0), "b": x + 1})  # noqa: E731
    compiled = compiled_by(backend, function)
    for i in range(6):
        x = numbers(3, seed=i).requires_grad_()
        orders = []
        for f in (function, compiled):
            y, more = f(x, 2.0)
            value = y.sum() + (more["a"] * 3).sum()
            for _ in range(3):
                (value,) = torch.autograd.grad(value.sum(), x, create_graph=True)
                orders.append(value.detach().numpy())
            orders.append(torch.autograd.grad(value.sum(), (x, weight), allow_unused=True))
        for a, b in zip(orders[:3], orders[4:7], strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-8)
        for a, b in zip(orders[3], orders[7], strict=True):
            np.testing.assert_allclose(b.numpy(), a.numpy(), rtol=1e-8)
    assert compiled.kept


def test_batches_of_gradients_with_a_graph():
    compiled = torch.compile(lambda x: x.sin() * x.sum())
    for i in range(5):
        x = numbers(3, seed=i).requires_grad_()
        seeds = torch.eye(3, dtype=torch.float64)
        rows = []
        for f in (lambda x: x.sin() * x.sum(), compiled):
            (jacobian,) = torch.autograd.grad(f(x), x, seeds, is_grads_batched=True, create_graph=True)
            rows.append(torch.autograd.grad(jacobian.square().sum(), x)[0].numpy())
        np.testing.assert_allclose(rows[1], rows[0], rtol=1e-8)


def test_what_has_changed_since_is_an_error():
    weight, bias = nn.Parameter(numbers(3, seed=1)), nn.Parameter(numbers(3, seed=2))
    compiled = torch.compile(lambda x: (x * weight + bias).tanh())
    for i in range(6):
        x = numbers(3, seed=i).requires_grad_()
        y = compiled(x)
    with torch.no_grad():
        bias.add_(1)  # no operation saved it
    torch.autograd.grad(y.sum(), x, retain_graph=True)
    with pytest.raises(
        RuntimeError, match="has been modified by an inplace operation: the compiled function ran again"
    ):
        torch.autograd.grad(y.sum(), x, create_graph=True)


COUNT = torch.zeros(3)


@pytest.mark.parametrize("function", [lambda x: nn.functional.dropout(x * 2), lambda x: (COUNT.add_(1), x * 3)[1]])
def test_functions_that_do_more_say_so(function):
    compiled = torch.compile(function)
    for i in range(6):
        x = numbers(3, seed=i).requires_grad_()
        y = compiled(x)
    with pytest.raises(RuntimeError, match="does not support double backward of a function that writes to tensors"):
        torch.autograd.grad(y.sum(), x, create_graph=True)


def test_arguments_are_freed_with_the_graph():
    compiled = torch.compile(lambda x, w: x + w)
    w = numbers(3).requires_grad_()
    for _ in range(5):
        x = numbers(3)
        alive, y = weakref.ref(x), compiled(x, w)
        del x
        y.sum().backward()
        assert alive() is None
    gc.disable()
    try:
        y = compiled(numbers(3), w)
        node = weakref.ref(y.grad_fn)
        del y
        assert node() is None
    finally:
        gc.enable()


def test_arguments_that_are_not_saved_may_be_freed_before():
    sigmoid = torch.compile(lambda x: x.sigmoid())
    w = numbers(3).requires_grad_()
    for _ in range(6):
        h = w * 2
        alive, y = weakref.ref(h), sigmoid(h)  # saves its result
        del h
    assert alive() is None
    y.sum().backward(retain_graph=True)
    with pytest.raises(RuntimeError, match=r"tensor 0 among the arguments of a compiled function was freed before"):
        torch.autograd.grad(y.sum(), w, create_graph=True)
    square = torch.compile(lambda x: x * x)
    for _ in range(6):
        y = square(w * 2)  # saves its argument
    (g,) = torch.autograd.grad(y.sum(), w, create_graph=True)
    assert torch.allclose(torch.autograd.grad(g.sum(), w)[0], torch.full_like(w, 8.0))
