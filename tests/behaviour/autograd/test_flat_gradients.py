"""Gradients that are constant almost everywhere: what requires grad under `create_graph`, NaN, and writes in place."""

from __future__ import annotations

import pytest

FLAT = {
    "relu": lambda t, x: t.relu(x),
    "leaky_relu": lambda t, x: t.nn.functional.leaky_relu(x),
    "relu6": lambda t, x: t.nn.functional.relu6(x),
    "threshold": lambda t, x: t.nn.functional.threshold(x, 0.5, 2.0),
    "prelu": lambda t, x: t.nn.functional.prelu(x, t.tensor([0.25])),
    "softshrink": lambda t, x: t.nn.functional.softshrink(x),
    "hardshrink": lambda t, x: t.nn.functional.hardshrink(x),
    "max_pool": lambda t, x: t.nn.functional.max_pool2d(x[None], 2),
    "avg_pool": lambda t, x: t.nn.functional.avg_pool1d(x, 2),
    "adaptive_pool": lambda t, x: t.nn.functional.adaptive_avg_pool1d(x, 2),
    "pad": lambda t, x: t.nn.functional.pad(x, (1, 1), mode="reflect"),
    "nll_loss": lambda t, x: t.nn.functional.nll_loss(x[0], t.tensor([0, 1])),
}


@pytest.mark.parametrize("name", FLAT)
def test_a_recorded_gradient_can_be_differentiated_and_gives_zeros(torch, name):
    x = torch.tensor([[[1.0, -2.0], [0.25, 3.0]]], requires_grad=True)
    (g,) = torch.autograd.grad(FLAT[name](torch, x).sum(), x, create_graph=True)
    assert g.requires_grad
    g.sum().backward()
    assert x.grad.tolist() == [[[0.0, 0.0], [0.0, 0.0]]]


def test_the_gradient_of_a_result_before_still_flows(torch):
    x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
    (g,) = torch.autograd.grad(torch.relu(x * x).sum(), x, create_graph=True)
    g.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]


def test_without_create_graph_nothing_requires_grad(torch):
    x = torch.ones(2, requires_grad=True)
    (g,) = torch.autograd.grad(torch.relu(x).sum(), x)
    assert not g.requires_grad


@pytest.mark.parametrize("size", [3, 1 << 16])
def test_nan_passes_the_gradient_of_relu_on(torch, size):
    x = torch.full((size,), float("nan"), requires_grad=True)
    torch.relu(x).sum().backward()
    assert x.grad.eq(1).all()


def test_nan_passes_the_gradient_on_where_bits_are_kept(torch):
    x = torch.full((1, 1, 1 << 16), float("nan"), requires_grad=True)
    torch.nn.functional.avg_pool1d(torch.relu(x), 1).sum().backward()
    assert x.grad.eq(1).all()


@pytest.mark.parametrize("name", ["erfinv", "hardshrink", "softshrink"])
def test_the_result_may_be_written_to(torch, name):
    function = getattr(torch, name, None) or getattr(torch.nn.functional, name)
    x = torch.tensor([0.0, 0.75], requires_grad=True)
    function(x).sum().backward()
    expected = (x.grad * 3).tolist()
    x.grad = None
    function(x).mul_(3).sum().backward()
    assert x.grad.tolist() == pytest.approx(expected)


@pytest.mark.parametrize("name", ["pixel_shuffle", "pixel_unshuffle"])
def test_what_keeps_numbers_only_runs_backward_again(torch, name):
    x = torch.ones(1, 4, 2, 2, requires_grad=True)
    y = getattr(torch.nn.functional, name)(x, 2)
    y.sum().backward()
    y.sum().backward()
    assert x.grad.eq(2).all()
