"""Results of large arrays are the same in any number of threads, and those of the whole."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from tests.kernels.test_table import arrays, calls, copied, found_of
from tests.ops.cases import SWEEP

import gradpack as torch
from gradpack.backends.numpy import product
from gradpack.base.pool import split
from gradpack.declare.generate import elementwise_parts, fusion
from gradpack.kernels import product_conditions
from gradpack.kernels.blocks import products as blocks
from gradpack.kernels.dispatch import libraries
from gradpack.kernels.parts import run_in_parts
from gradpack.kernels.table import TABLE
from gradpack.nn import functional as F

DIVIDED = {f"{k.function}-{k.library}": k for kernels in TABLE.values() for k in kernels if k.results}


@pytest.fixture(autouse=True)
def threads():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def in_any_number(run):
    """What `run` returns, the same for one, two and five threads."""
    found = []
    for count in (1, 2, 5):
        torch.set_num_threads(count)
        found.append(arrays(run()))
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(a, b)
    return found[0]


@pytest.mark.parametrize("name", DIVIDED)
def test_a_kernel_on_parts_computes_what_it_does_on_the_whole(name):
    kernel = DIVIDED[name]
    if kernel.library != "blocks":
        pytest.importorskip(kernel.library)
    run = found_of(kernel)
    for args in calls(kernel.library)[kernel]:
        whole = run(*copied(args))
        small = kernel._replace(part=max(1, args[0].size // 5))
        made = in_any_number(lambda args=args, small=small: run_in_parts(small, run, copied(args)))
        if not made:  # a kernel may refuse what is too small
            continue
        for a, b in zip(made, arrays(whole), strict=True):
            assert a.shape == b.shape and a.dtype == b.dtype
            np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-4 * max(1, np.abs(b).max()))


FACTORS = [
    ((1000, 300), (300, 200)), ((300, 200), (200, 1100)), ((3, 60_000), (60_000, 5)), ((9000, 50), (50,)),
    ((50, 90_000), (90_000,)), ((90_000,), (90_000, 50)), ((90_000,), (90_000,)), ((8, 4, 64, 32), (8, 4, 32, 64)),
    ((1, 1, 256, 256), (256, 256)), ((4, 1, 64, 64), (5, 64, 128)), ((7, 100, 128), (128, 64)),
    ((128, 64), (9, 64, 99)), ((6, 300, 200), (200,)), ((1, 3, 64, 128), (1, 1, 128, 64)), ((70, 90), (90, 80)),
]  # fmt: skip


@pytest.mark.parametrize(("left", "right"), FACTORS, ids=str)
@pytest.mark.parametrize(("kind", "order"), ["fC", "fF", "dC", "FC", *(["dF", "FF"] if SWEEP else [])])
def test_products(left, right, kind, order):
    draw = np.random.default_rng(0)
    a, b = (np.asarray(draw.standard_normal(shape), kind, order=order) for shape in (left, right))
    (made,) = in_any_number(lambda: product(a, b))
    wanted = np.matmul(a, b)
    assert made.shape == wanted.shape and made.dtype == wanted.dtype
    np.testing.assert_allclose(made, wanted, rtol=1e-4, atol=1e-5 * np.abs(wanted).max())


def test_factors_that_do_not_fit_are_refused_as_small_ones_are():
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        torch.ones(1000, 300) @ torch.ones(301, 200)
    with pytest.raises(RuntimeError, match=r"expected .* same dtype"):
        torch.ones(1000, 300) @ torch.ones(300, 200, dtype=torch.float64)


@functools.cache
def drawn(shape, seed):
    return np.random.default_rng(seed).standard_normal(shape).astype("f")


def large(*shape, seed=0):
    return torch.tensor(drawn(shape, seed), requires_grad=True)


STEPS = {
    "mul": lambda: large(1100, 1000) * large(1100, 1000, seed=1),
    "mul of rows": lambda: large(1100, 1000) * large(1000),
    "mul of columns": lambda: large(1100, 1) * large(1100, 1000),
    "mul of transposed": lambda: large(1000, 1100).T * large(1100, 1000),
    "number": lambda: 3 - large(1100, 1000),
    "add": lambda: large(1100, 1000) + large(1100, 1000, seed=1),
    "add twice": lambda: torch.add(large(1100, 1000), large(1100, 1000, seed=1), alpha=2),
    "exp": lambda: large(1_100_000).exp(),
    "neg": lambda: -large(1_100_000),
    "three dimensions": lambda: large(1, 1100, 1000).tanh() * large(3, 1, 1000),
    "less": lambda: large(1100, 1000) * (large(1100, 1000) < large(1100, 1000, seed=1)),
    "where": lambda: torch.where(large(1100, 1000) > 0, large(1100, 1000), large(1000)),
    "gelu": lambda: F.gelu(large(1100, 1000), approximate="tanh"),
    "linear": lambda: F.linear(large(1000, 300), large(200, 300), large(200)),
    "layer_norm": lambda: F.layer_norm(large(1100, 1000), (1000,), large(1000), large(1000)),
    "conv2d": lambda: F.conv2d(large(32, 8, 28, 28), large(32, 8, 3, 3), large(32), padding=1),
    "max_pool2d": lambda: F.max_pool2d(large(32, 16, 28, 28), 2),
    "attention": lambda: F.scaled_dot_product_attention(*(large(8, 4, 100, 32, seed=s) for s in range(3))),
    "cross_entropy": lambda: F.cross_entropy(large(3000, 100), torch.arange(3000) % 100),
}


def gradients(function):
    """The result, and the gradients of the leaves in the order in which backward reaches them."""
    made, found = [], []
    original = globals()["large"]

    def remembered(*shape, seed=0):
        made.append(original(*shape, seed=seed))
        return made[-1]

    globals()["large"] = remembered
    try:
        out = function()
    finally:
        globals()["large"] = original
    (out * out).sum().backward()
    found = [x.grad.numpy() for x in made if x.grad is not None]
    return [out.detach().numpy(), *found]


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("numba", [False, True])
def test_operations(name, numba):
    with libraries(numba=numba):
        in_any_number(lambda: gradients(STEPS[name]))


@pytest.mark.parametrize("name", [n for n in STEPS if n not in ("conv2d", "attention")])
def test_parts_of_elementwise_operations_change_nothing(name, monkeypatch):
    with libraries(numba=False):
        found = gradients(STEPS[name])
        monkeypatch.setattr(fusion, "in_parts", lambda function, args, *_: function(*args))
        for a, b in zip(found, gradients(STEPS[name]), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)
            assert a.strides == b.strides


def test_work_is_split_where_arrays_are_large(monkeypatch):
    sizes = []
    seen = lambda work, size, part: (sizes.append(size), split(work, size, part))  # noqa: E731
    monkeypatch.setattr(elementwise_parts, "split", seen)
    with libraries(numba=False):
        large(1100, 1000) * large(1100, 1000)
    assert sizes == [1_100_000]


def test_numba_is_imported_for_many_products_of_medium_size(monkeypatch):
    a, b = np.ones((512, 128), np.float32), np.ones((128, 384), np.float32)
    monkeypatch.setattr(product_conditions, "modules", {})
    monkeypatch.setattr(product_conditions, "_WORK", [0])
    size = 512 * 128 * 384
    taken = [product_conditions.product_of_many(a, b) for _ in range(2 + (1 << 35) // size)]
    assert not any(taken[:-2]) and taken[-1] and not product_conditions.product_of_many(a[:1], b)
    monkeypatch.setattr(product_conditions, "_WORK", [0])
    assert product_conditions.product_of_many(np.ones((1024, 512), np.float32), b[[0] * 512])


@pytest.mark.parametrize("shapes", [((512, 128), 384), ((130, 700), 1000), ((256, 512), 64), ((64, 300), 3000)])
@pytest.mark.parametrize("transposed", [False, True])
def test_a_product_with_a_bias_without_numba(shapes, transposed):
    (rows, inner), columns = shapes
    rng = np.random.default_rng(0)
    x, plus = rng.standard_normal((rows, inner)), rng.standard_normal(columns)
    matrix = rng.standard_normal((columns, inner)).T if transposed else rng.standard_normal((inner, columns))
    (made,) = in_any_number(lambda: blocks.affine(x, matrix, plus))
    np.testing.assert_allclose(made, x @ matrix + plus, rtol=1e-12, atol=1e-11)
    assert blocks.affine(x[:1], matrix, plus) is NotImplemented
