"""Large arrays of elements that go another way than most: zeros, infinities, NaN, bounds; against small arrays."""

from __future__ import annotations

import numpy as np
import pytest

import gradpack as torch
from gradpack.backends.compiled import flags

F = torch.nn.functional
EDGES = np.float32([0.0, -0.0, 1.0, -1.0, 3.0, -3.0, 30.0, -30.0, 200.0, -200.0, np.inf, -np.inf, np.nan, 1e-30, -1e30])


def large(edges=EDGES):
    """More elements than are computed at a time, and the edges among them."""
    x = np.random.default_rng(0).normal(size=70_001).astype(np.float32) * 2
    x[:: 70_001 // edges.size][: edges.size] = edges
    return x


def both(function, x):
    """The result and the gradient for a cotangent of 0.5."""
    leaf = torch.tensor(x, requires_grad=True)
    out = function(leaf)
    return out.detach().numpy(), torch.autograd.grad(out, leaf, torch.full(tuple(out.shape), 0.5))[0].numpy()


def in_parts(function, x):
    """The same, computed for few elements at a time: the plain way."""
    parts = [both(function, x[start : start + 1000]) for start in range(0, x.size, 1000)]
    return tuple(np.concatenate(p) for p in zip(*parts, strict=True))


FUNCTIONS = {
    "silu": F.silu, "elu": F.elu, "selu": F.selu, "celu": lambda x: F.celu(x, 0.7), "softplus": F.softplus,
    "softplus soon": lambda x: F.softplus(x, 2.0, 5.0), "logsigmoid": F.logsigmoid, "hardswish": F.hardswish,
    "hardshrink": F.hardshrink, "nan_to_num": torch.nan_to_num, "nan_to_num 2": lambda x: torch.nan_to_num(x, 1, 2, 3),
    "logit": torch.logit, "prelu": lambda x: torch.prelu(x, torch.tensor(0.3)),
    "prelu above 1": lambda x: torch.prelu(x, torch.tensor(3.0)),
    "prelu 0": lambda x: torch.prelu(x, torch.tensor(0.0)),
    "prelu below 0": lambda x: torch.prelu(x, torch.tensor(-1.5)), "leaky_relu": F.leaky_relu,
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("compiled", [False, True])
def test_elements_are_those_of_small_arrays(name, compiled):
    x = large()
    # near its root the digits of this slope cancel, in a loop others than in NumPy's steps
    cancels = compiled and name == "silu"
    with flags(enabled=compiled):
        for found, expected in zip(both(FUNCTIONS[name], x), in_parts(FUNCTIONS[name], x), strict=True):
            np.testing.assert_allclose(found, expected, rtol=2e-6, atol=2e-8 if cancels else 1e-30)


def test_hypot():
    x = large()
    with np.errstate(all="ignore"):
        exact = np.hypot(x.astype(np.float64), x[::-1].astype(np.float64)).astype(np.float32)
    found = torch.hypot(torch.tensor(x), torch.tensor(x[::-1].copy())).numpy()
    np.testing.assert_allclose(found, exact, rtol=2e-7)


@pytest.mark.parametrize("shape", [(40_000,), (8, 60, 80)])
def test_prelu_of_channels(shape):
    x, w = np.resize(large(), (2, *shape)), np.linspace(-1, 2, shape[0]).astype(np.float32)
    if len(shape) == 1:
        w = w[:1]
    found = torch.prelu(torch.tensor(x), torch.tensor(w)).numpy()
    by = w.reshape(1, -1, *(1,) * (x.ndim - 2)) if w.size > 1 else w
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(found, np.where(x > 0, x, by * x))


@pytest.mark.parametrize(("shape", "dim"), [((300, 90), 1), ((300, 90), 0), ((4, 60, 100), 1)])
def test_glu(shape, dim):
    x = np.resize(large(np.float32([0.0])), shape)
    a, b = np.split(x.astype(np.float64), 2, dim)
    np.testing.assert_allclose(F.glu(torch.tensor(x), dim).numpy(), a / (1 + np.exp(-b)), rtol=1e-6)


def test_log_softmax_beside_zero():
    x = np.resize(large(np.float32([0.0])), (700, 100))
    x[::3, 5] = 30  # rows of which one element is nearly all
    x[1::3, 7] = 12
    wide = x.astype(np.float64)
    exact = wide - np.log(np.exp(wide).sum(1, keepdims=True))
    np.testing.assert_allclose(torch.log_softmax(torch.tensor(x), 1).numpy(), exact, rtol=1e-6, atol=5e-7)


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
@pytest.mark.parametrize("pads", [(1, 1, 1, 1), (3, 0, 0, 2), (0, 0, 5, 4)])
def test_pad(mode, pads):
    x = np.random.default_rng(0).normal(size=(2, 3, 40, 50)).astype(np.float32)
    name = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}[mode]
    expected = np.pad(x, ((0, 0), (0, 0), pads[2:], pads[:2]), mode=name)
    np.testing.assert_array_equal(F.pad(torch.tensor(x), pads, mode=mode).numpy(), expected)


def test_scatter_in_rows():
    generator = np.random.default_rng(0)
    x = generator.normal(size=(300, 150)).astype(np.float32)
    index = np.argsort(generator.random((300, 150)), 1)[:, :140]
    src = generator.normal(size=index.shape).astype(np.float32)
    expected = x.copy()
    np.put_along_axis(expected, index, src, 1)
    found = torch.tensor(x).scatter(1, torch.tensor(index), torch.tensor(src))
    np.testing.assert_array_equal(found.numpy(), expected)


def test_rows_of_which_few_come_again():
    generator = np.random.default_rng(0)
    x, values = (generator.normal(size=(4000, 64)).astype(np.float32) for _ in range(2))
    rows = generator.integers(0, 4000, 4000)
    expected = x.astype(np.float64)
    np.add.at(expected, rows, values)
    found = torch.tensor(x).index_add(0, torch.tensor(rows), torch.tensor(values))
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-5)


def test_sums_of_long_rows():
    x = np.random.default_rng(0).normal(size=(5, 20_011)).astype(np.float32)
    np.testing.assert_allclose(torch.tensor(x).sum(1).numpy(), x.astype(np.float64).sum(1), rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_powers_of_large_arrays(dtype, order):
    rng = np.random.default_rng(0)
    base = np.asarray(rng.standard_normal((300, 400)) * 3, dtype, order=order)
    base[0, :6] = 0, -0.0, np.inf, -np.inf, np.nan, 1
    other = np.asarray(rng.standard_normal((300, 400)), dtype)
    x, y = torch.from_numpy(base), torch.from_numpy(other)
    numbers = (1.7, -3, 0, 4, 0.5, -0.5, -2, 1e20, -1e38)
    pairs = [(x, n) for n in numbers] + [(n, x) for n in numbers if n > 0] + [(x, y), (x, y[0]), (x[:, ::2], 1.7)]
    for a, b in pairs:
        made = torch.pow(a, b)
        rows = [[v[i] if isinstance(v, torch.Tensor) and v.dim() > 1 else v for v in (a, b)] for i in range(300)]
        wanted = torch.stack([torch.pow(*row) for row in rows])
        assert made.dtype == x.dtype
        np.testing.assert_allclose(made.numpy(), wanted.numpy(), rtol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("n", [5_000, 40_000, 300_000])
@pytest.mark.parametrize("function", [lambda x: x.pow(0), lambda x: x.pow(1), torch.floor, torch.sign])
def test_gradients_of_large_arrays_have_their_shape(function, n):
    x = torch.rand(n, requires_grad=True)
    function(x).sum().backward()
    wanted = np.ones(n) if function(torch.tensor(2.5)) == 2.5 else np.zeros(n)
    np.testing.assert_array_equal(x.grad.numpy(), wanted)


OF_SUMS = {
    "neg": lambda x, y: -x, "sub": lambda x, y: x - y, "mul": lambda x, y: x * 2, "abs": lambda x, y: x.abs(),
    "gelu": lambda x, y: F.gelu(x), "huber": lambda x, y: F.huber_loss(x, y, reduction="none"),
    "glu": lambda x, y: F.glu(x), "cumsum": lambda x, y: x.cumsum(1), "remainder": torch.remainder,
    "tanh": lambda x, y: torch.tanh(x), "div": lambda x, y: x / y, "copysign": torch.copysign,
    "sqrt": lambda x, y: (x * x).sqrt(),
    "pow": lambda x, y: x.abs() ** 1.7, "where": lambda x, y: torch.where(x > y, x, -y),
    "sgn": lambda x, y: x * x.sgn(),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_SUMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gradients_of_sums_are_those_of_ones(name, dtype):
    rng = np.random.default_rng(0)
    found = []
    for dense in (False, True):
        rng = np.random.default_rng(0)
        leaves = [torch.tensor(rng.standard_normal((300, 400)).astype(dtype), requires_grad=True) for _ in range(2)]
        out = OF_SUMS[name](*leaves)
        if dense:
            out.backward(torch.ones_like(out))
        else:
            grads = [
                g for g in torch.autograd.grad(out.sum(), leaves, retain_graph=True, allow_unused=True) if g is not None
            ]
            assert all(g.shape == (300, 400) for g in grads)
            out.sum().backward()
        found.append([leaf.grad for leaf in leaves if leaf.grad is not None])
        for g in found[-1]:
            assert g.is_contiguous()
            g.add_(1)
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5 if dtype == np.float32 else 1e-12, atol=1e-6)
