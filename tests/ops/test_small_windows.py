"""Convolution and pooling of few elements give what the general way gives; what is not for them they leave alone."""

import numpy as np
import pytest

import gradpack as torch
from gradpack.ops.conv import avg_pool
from gradpack.ops.conv import small_windows as small

F = torch.nn.functional

CONVOLUTIONS = [
    ((1, 2, 5), (3, 2, 3), {}),
    ((2, 2, 5, 4), (4, 2, 3, 2), {"padding": 1, "stride": 2}),
    ((2, 4, 5, 5), (4, 2, 3, 3), {"padding": (2, 1), "dilation": 2, "groups": 2}),
    ((3, 2, 4, 4), (2, 1, 1, 1), {"groups": 2}),
    ((1, 1, 3, 3, 3), (2, 1, 2, 2, 2), {"padding": 1}),
]


def numbers(*shape, requires_grad=False):
    generator = torch.Generator().manual_seed(len(shape))
    return torch.randn(shape, generator=generator, requires_grad=requires_grad)


def both_ways(monkeypatch, run):
    few = run()
    with monkeypatch.context() as patch:
        patch.setattr(small, "table_for", lambda *args: None)
        patch.setattr(small, "table_of_pool", lambda *args: None)
        patch.setattr(small, "FEW", 0)
        patch.setattr(avg_pool, "SMALL", 0)
        general = run()
    return zip(few, general, strict=True)


@pytest.mark.parametrize(("shape", "weight", "options"), CONVOLUTIONS)
def test_a_convolution_and_its_gradients_are_those_of_the_general_way(monkeypatch, shape, weight, options):
    x, w = numbers(*shape, requires_grad=True), numbers(*weight, requires_grad=True)
    bias = numbers(weight[0], requires_grad=True)

    def run():
        call = getattr(F, f"conv{len(shape) - 2}d")
        out = call(x, w, bias, **options)
        return out, *torch.autograd.grad((out * out).sum(), (x, w, bias))

    for few, general in both_ways(monkeypatch, run):
        np.testing.assert_allclose(few.detach().numpy(), general.detach().numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("pool", ["max_pool2d", "avg_pool2d"])
@pytest.mark.parametrize("options", [{}, {"padding": 1}, {"stride": 1}, {"stride": 1, "padding": 1}])
@pytest.mark.parametrize("special", [None, float("nan"), float("-inf")])
def test_pooling_is_that_of_the_general_way(monkeypatch, pool, options, special):
    values = numbers(2, 2, 5, 5)
    if special is not None:
        values[0, 1, :3, :3] = special
    x = values.requires_grad_()

    def run():
        out = getattr(F, pool)(x, 3, **options)
        return out, torch.autograd.grad(out, x, torch.ones_like(out))[0]

    for few, general in both_ways(monkeypatch, run):
        np.testing.assert_allclose(few.detach().numpy(), general.detach().numpy(), rtol=1e-5, atol=1e-6)


def test_large_arrays_have_no_table():
    assert small.table_for(np.ones(5000), np.ones(1), (5000,), (1,), (1,), (0,), (1,), (5000,), 1) is None
    x = np.ones((1, 8, 16, 16), np.float32)
    assert small.table_of_pool(x, x.shape, ((3, 3), (1, 1), (0, 0), (1, 1), (14, 14))) is None


def test_a_table_is_made_once_for_a_geometry():
    x, w = numbers(1, 2, 5), numbers(3, 2, 3)
    F.conv1d(x, w)
    made = small._table.cache_info().misses
    F.conv1d(x, w)
    assert small._table.cache_info().misses == made


@pytest.mark.parametrize(
    "name", ["adaptive_max_pool1d", "adaptive_avg_pool1d", "adaptive_max_pool2d", "adaptive_avg_pool2d"]
)
@pytest.mark.parametrize("special", [None, float("nan"), float("-inf")])
def test_adaptive_pooling_into_uneven_parts_is_that_of_the_general_way(monkeypatch, name, special):
    values = numbers(2, 2, 8, 7) if name.endswith("2d") else numbers(2, 2, 7)
    if special is not None:
        values[0, 1, :3] = special
    x = values.requires_grad_()

    def run():
        pool = getattr(F, name)
        out = pool(x, 3, return_indices=True) if "max" in name else (pool(x, 3),)
        return *out, torch.autograd.grad(out[0], x, torch.ones_like(out[0]))[0]

    for few, general in both_ways(monkeypatch, run):
        np.testing.assert_allclose(few.detach().numpy(), general.detach().numpy(), rtol=1e-5, atol=1e-6)


def test_places_of_maxima_are_those_of_the_general_way(monkeypatch):
    x = numbers(2, 2, 7, 6)

    def run():
        return F.max_pool2d(x, 3, 2, 1, return_indices=True)

    for few, general in both_ways(monkeypatch, run):
        np.testing.assert_array_equal(few.numpy(), general.numpy())
