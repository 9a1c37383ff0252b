"""Elementwise operations on large arrays of which some are broadcast: loops over rows, with the numbers of NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import gradpack as torch
from gradpack.declare.generate.broadcast_forms import lies, spread

pytest.importorskip("numba")


def drawn(*shape, dtype=np.float32, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize(
    ("shape", "whole", "form"),
    [
        ((4, 5), (4, 5), ("i", 0)),
        ((5,), (3, 4, 5), ("r", 5)),
        ((4, 5), (3, 4, 5), ("r", 20)),
        ((3, 4, 1), (3, 4, 5), ("c", 5)),
        ((3, 1, 1), (3, 4, 5), ("c", 20)),
        ((1, 4, 1), (3, 4, 5), None),
        ((1, 1), (4, 5), None),
        ((6, 3, 4, 5), (3, 4, 5), None),
    ],
)
def test_how_a_shape_is_broadcast(shape, whole, form):
    assert lies(shape, whole) == form


def test_rows_of_different_lengths_are_in_no_loop():
    whole, row, column = drawn(30, 20, 40), drawn(20, 40), drawn(30, 20, 1)
    assert spread((whole, row))[::2] == ("fr", 800)
    assert spread((whole, column))[::2] == ("fc", 40)
    assert spread((whole, row, column))[0] == ""
    assert spread((whole, row.astype(np.float64)))[0] == ""


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(160,), (20, 160), (40, 20, 1), (40, 1, 1), (40, 1, 160), (1, 20, 1)])
def test_results_and_gradients_have_the_numbers_of_numpy(shape, dtype):
    given = [drawn(40, 20, 160, dtype=dtype), drawn(*shape, dtype=dtype, seed=1) + 3]
    for operation in (torch.add, torch.sub, torch.mul, torch.div):
        ways = []
        for enabled in (True, True, False):  # the second call has a plan
            with torch.backends.compiled.flags(enabled=enabled):
                x, y = (torch.tensor(a, requires_grad=True) for a in given)
                out = operation(x, y)
                slopes = torch.autograd.grad(out, (x, y), torch.tensor(given[0]))
                ways.append([out.detach().numpy(), *(s.numpy() for s in slopes)])
        for again, new, plain in zip(*ways, strict=True):
            np.testing.assert_array_equal(again, new)
            np.testing.assert_allclose(again, plain, rtol=1e-5 if dtype == np.float32 else 1e-12, atol=1e-3)


def test_gradients_that_repeat_their_elements():
    x = torch.tensor(drawn(1000, 160), requires_grad=True)
    for _ in range(3):
        x.grad = None
        (x * x).mean(-1).sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), 2 * x.detach().numpy() / 160, rtol=1e-6)


def test_plans_are_for_arrays_that_lie_alike():
    rows = drawn(1000, 320)
    for view in (rows[:, :160], rows[::2], np.asfortranarray(rows), rows[:, ::-1], rows):
        for _ in range(2):
            np.testing.assert_array_equal((torch.tensor(0.5) * torch.from_numpy(view.copy("K"))).numpy(), view * 0.5)
            if min(view.strides) > 0:
                np.testing.assert_array_equal((torch.from_numpy(view) * 0.5).numpy(), view * np.float32(0.5))
    for factor in (0.5, 2, True, 0.25):
        np.testing.assert_array_equal((torch.from_numpy(rows) * factor).numpy(), rows * np.float32(factor))


def test_the_sum_over_many_rows_is_precise():
    x = drawn(200_000, 16) + 100
    np.testing.assert_allclose(torch.tensor(x).sum(0).numpy(), x.astype(np.float64).sum(0), rtol=1e-6)
    y = torch.ones(16, requires_grad=True)
    (torch.tensor(x) * y).sum().backward()
    np.testing.assert_allclose(y.grad.numpy(), x.astype(np.float64).sum(0), rtol=1e-6)


def test_a_result_larger_than_all_that_has_memory_is_in_no_loop():
    g, row, vector = np.broadcast_to(drawn(1, 40_000), (30, 40_000)), drawn(1, 40_000, seed=1), drawn(40_000, seed=2)
    assert spread((g, row, vector))[0] == ""
    x, y = (torch.tensor(a, requires_grad=True) for a in (row, vector))
    other = torch.tensor(drawn(30, 1, seed=3), requires_grad=True)
    slope = torch.autograd.grad(torch.addcmul(other, x, y), other, torch.from_numpy(np.array(g[:1])).expand(30, 40_000))
    np.testing.assert_allclose(slope[0].numpy(), g.astype(np.float64).sum(1, keepdims=True), rtol=1e-4)
