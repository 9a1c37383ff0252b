"""Sums of gradients write to an array only if nobody else can see it."""

from __future__ import annotations

import numpy as np
import pytest

import gradpack as torch
from gradpack.kernels.sums import accumulated

SIZES = [10, 5000, 3_000_000]


def _sum(a, b):  # as the engine calls it
    return accumulated(a, b)


@pytest.mark.parametrize("size", SIZES)
def test_an_array_that_others_hold_stays(size):
    a, b = np.ones(size, np.float32), np.full(size, 2, np.float32)
    made = _sum(a, b)
    assert (a == 1).all() and (b == 2).all() and (made == 3).all()


def test_a_large_array_that_nobody_holds_takes_the_sum():
    held = {0: np.ones(10_000, np.float32)}
    address = held[0].ctypes.data
    made = _sum(held.pop(0), np.ones(10_000, np.float32))
    assert (made == 2).all() and made.ctypes.data == address


@pytest.mark.parametrize("keep", [lambda a: a, lambda a: a[1:], lambda a: memoryview(a), lambda a: torch.from_numpy(a)])
def test_what_holds_it_in_any_way_keeps_its_values(keep):
    held = {0: np.ones(10_000, np.float32)}
    kept = keep(held[0])
    made = _sum(held.pop(0), np.ones(10_000, np.float32))
    assert (made == 2).all() and (np.asarray(kept) == 1).all()


def test_unequal_arrays_are_added_as_numpy_does():
    a = np.ones((100, 100), np.float32)
    assert accumulated(a.T, a).shape == (100, 100)
    assert accumulated(a.astype(np.float64), a).dtype == np.float64
    with pytest.raises(ValueError, match="broadcast"):
        accumulated(a, np.ones((50, 3), np.float32))


@pytest.mark.parametrize("shape", [(600, 200), (3, 200, 200), (70_000, 2), (70_000,)])
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("lines", ["numbers", "one", "turned"])
def test_a_number_for_each_row(shape, first, lines):
    numbers = np.arange(np.prod(shape[:-1]), dtype=np.float32).reshape(*shape[:-1], 1)
    numbers = np.ones(1, np.float32) if lines == "one" else numbers
    numbers = numbers.T.copy().T if lines == "turned" else numbers
    row = np.broadcast_to(numbers, shape)
    whole = np.full(shape, 0.5, np.float32)
    kept = whole.copy()
    made = _sum(whole, row) if first else _sum(row, whole)
    np.testing.assert_array_equal(made, kept + row)
    np.testing.assert_array_equal(whole, kept)
    held = {0: whole}
    address = whole.ctypes.data
    del whole
    made = _sum(held.pop(0), row)
    np.testing.assert_array_equal(made, kept + row)
    assert made.base is None or shape[-1] < 8
    assert made.ctypes.data == address or shape[-1] < 8 or len(shape) == 1


@pytest.mark.parametrize("grad", [True, False])
def test_gradients_are_added_to_a_large_grad(grad):
    size = 300_000
    x = torch.zeros(size, requires_grad=True)
    x.grad = torch.ones(size)
    held, before = x.grad, x.grad._version
    (x * 2).backward(x.grad if grad else torch.full((size,), 0.5))
    assert x.grad is held and (held == (3 if grad else 2)).all() and held._version > before
    memory = torch.arange(size + 1).float()
    x.grad = memory[:-1]
    (x * 1).backward(memory[1:])  # which overlap
    np.testing.assert_array_equal(x.grad.numpy(), np.float32(2) * np.arange(size, dtype=np.float32) + 1)


@pytest.mark.parametrize("size", [10, 20_000, 2_000_000])
def test_gradients_that_hooks_keep_are_not_written_to(size):
    x = torch.full((size,), 0.5, requires_grad=True)
    seen = []
    y = torch.sin(x)
    z = y * y + torch.exp(y) * y + y
    for each in (y, z):
        each.register_hook(seen.append)
    z.register_hook(lambda g: seen.append(g.clone()))
    z.sum().backward()
    s, e = np.sin(0.5), np.exp(np.sin(0.5))
    np.testing.assert_allclose(seen[0].numpy(), 1)
    np.testing.assert_allclose(seen[1].numpy(), 1)
    np.testing.assert_allclose(seen[2].numpy(), 2 * s + e * s + e + 1, rtol=1e-5)
    np.testing.assert_allclose(x.grad.numpy(), np.cos(0.5) * (2 * s + e * s + e + 1), rtol=1e-5)


@pytest.mark.parametrize("size", [20_000, 2_000_000])
def test_given_gradients_and_retained_ones_stay(size):
    x = torch.full((size,), 0.5, requires_grad=True)
    g = torch.full((size,), 3.0)
    y = torch.tanh(x)
    y.retain_grad()
    z = torch.tanh(y)
    for _ in range(2):
        x.grad = y.grad = None
        z.backward(g, retain_graph=True)
        slope = 3 * (1 - np.tanh(np.tanh(0.5)) ** 2)
        np.testing.assert_allclose(y.grad.numpy(), slope, rtol=1e-5)
        np.testing.assert_allclose(x.grad.numpy(), slope * (1 - np.tanh(0.5) ** 2), rtol=1e-5)
        assert (g.numpy() == 3).all()
    np.testing.assert_allclose(torch.autograd.grad(z, y, g)[0].numpy(), slope, rtol=1e-5)


def test_the_gradient_of_a_sum_is_not_made_as_an_array():
    """A gradient of one number repeated is multiplied as a number: the same bits as the whole array gives."""
    x = torch.randn(2_000_000, requires_grad=True)
    (torch.sin(x) * x).sum().backward()
    whole = x.grad
    x.grad = None
    (torch.sin(x) * x).backward(torch.ones(2_000_000))
    np.testing.assert_array_equal(whole.numpy(), x.grad.numpy())
