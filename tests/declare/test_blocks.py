"""Operations of several steps take large arrays in blocks, and give the same elements to the last bit."""

from __future__ import annotations

import ast

import numpy as np
import pytest

import gradpack as torch
from gradpack.declare.generate.buffers import BLOCK, pick
from gradpack.declare.generate.fusion_parse import Reader, loop, statements
from gradpack.declare.generate.fusion_steps import Unknown
from gradpack.declare.generate.tiling import LARGE, alike, fused, in_blocks
from gradpack.nn import functional as F

SIZE = 2 * LARGE + 77  # several blocks, the last one odd
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 3.0, -3.0, 1.0, -1.0, 0.5, -0.5, 1e-40, -1e-40, 88.0, -104.0, 700.0]

OPERATIONS = [
    torch.sigmoid, F.silu, F.elu, F.selu, F.celu, F.softplus, F.leaky_relu, F.hardtanh, F.hardswish, F.hardsigmoid,
    F.logsigmoid, F.softsign, F.tanhshrink, F.hardshrink, F.softshrink, torch.frac, torch.log1p, torch.atan, torch.erf,
    torch.rsqrt, torch.reciprocal, lambda x: torch.threshold(x, 0.5, 2.0), lambda x: F.leaky_relu(x, 1.5),
]  # fmt: skip


@pytest.fixture(autouse=True)
def without_compiled_loops():
    """What those give may differ in the last bit: see `test_fuse_numbers`."""
    with torch.backends.compiled.flags(enabled=False):
        yield


def arrays(dtype, size=SIZE):
    x = np.random.default_rng(0).normal(size=size).astype(dtype) * 3
    x[: len(SPECIAL)] = SPECIAL
    x[-len(SPECIAL) :] = SPECIAL
    return x, np.random.default_rng(1).normal(size=size).astype(dtype)


def results(operation, x, g):
    leaf = torch.tensor(x, requires_grad=True)
    out = operation(leaf)
    (gradient,) = torch.autograd.grad(out, leaf, torch.tensor(g))
    return out.detach().numpy(), gradient.numpy()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_large_arrays_give_what_small_ones_give(operation, dtype):
    x, g = arrays(dtype)
    whole = results(operation, x, g)
    step = LARGE // 2
    parts = [results(operation, x[i : i + step], g[i : i + step]) for i in range(0, SIZE, step)]
    for found, expected in zip(whole, map(np.concatenate, zip(*parts, strict=True)), strict=True):
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


def test_arrays_that_are_not_dense_are_taken_whole():
    x, g = arrays(np.float32, 2 * SIZE)
    expected = results(F.silu, x[::2].copy(), g[::2].copy())
    leaf = torch.tensor(x, requires_grad=True)
    out = F.silu(leaf[::2])
    (gradient,) = torch.autograd.grad(out, leaf, torch.tensor(g)[::2])
    np.testing.assert_array_equal(out.detach().numpy(), expected[0])
    np.testing.assert_array_equal(gradient.numpy()[::2], expected[1])


def test_inputs_of_different_shapes_are_taken_whole():
    x, row = torch.randn(300, 200, requires_grad=True), torch.randn(200, requires_grad=True)
    torch.logaddexp(x, row).sum().backward()
    slope = 1 / (np.exp((row - x).detach().numpy()) + 1)
    np.testing.assert_allclose(x.grad.numpy(), slope, rtol=1e-5)
    np.testing.assert_allclose(row.grad.numpy(), (1 - slope).sum(0), rtol=1e-4)


def test_arguments_of_a_loop_are_alike():
    a, b = np.zeros(4, np.float32), np.zeros(4, np.float64)
    assert alike((a, 2.0, None, a > 0, a)) == "fss?f"
    assert alike((a, b)) == alike((a, a[:3])) == alike((a, a[::2])) == alike((a, np.arange(4))) == ""
    assert alike((a, np.float64(2))) == ""  # which would make float64 of it


def test_pick_is_where():
    x, y = arrays(np.float32)
    c = np.random.default_rng(2).random(SIZE) < 0.5
    out, mask = np.empty_like(x), np.empty(SIZE, np.int32)
    for first, second in ((x, y), (x, 0.0), (0.0, y), (x, -0.0), (2.5, y), (1.0, np.nan), (x, 1)):
        pick(c, first, second, out, mask)
        assert out.tobytes() == np.where(c, first, second).astype(np.float32).tobytes()


def twice(x):
    return x + x


def of_steps(x, k):
    """With a helper, a name that is used again, and a choice by a number."""
    y = twice(x * k) if k > 1 else x - k
    y *= x
    return np.where(y > 0, y, np.exp(-y)) + y


@pytest.mark.parametrize("k", [0.5, 2.5])
def test_a_function_becomes_a_loop(k):
    x = np.linspace(-4, 4, SIZE, dtype=np.float32)
    run = loop(statements(of_steps), globals(), ("x", "k"), "fs")
    assert run(x, k).tobytes() == of_steps(x, k).tobytes()
    assert in_blocks(of_steps)(x, k).tobytes() == of_steps(x, k).tobytes()


def with_a_loop(x):
    for _ in range(2):
        x = x * 2
    return x


def of_values(x):
    return x if x[0] > 0 else -x


@pytest.mark.parametrize("function", [with_a_loop, of_values, lambda x: x])
def test_what_is_not_understood_is_said(function):
    with pytest.raises(Unknown):
        loop(statements(function), globals(), ("x",), "f")


def test_what_is_not_understood_is_called():
    x = np.ones(SIZE, np.float32)
    made = fused(ast.parse("for _ in range(2): x = x * 2\nreturn x").body, with_a_loop, with_a_loop)
    assert (made(x) == 4).all()


def test_blocks_are_whole_lines_of_the_cache():
    assert BLOCK % 64 == 0
    assert LARGE >= BLOCK // 4


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("sub_", lambda x, y: (y, {"alpha": 0.5})),
        ("lerp_", lambda x, y: (y, 0.25)),
        ("lerp_", lambda x, y: (y, 0.75)),
        ("addcmul_", lambda x, y: (x, x)),
        ("lerp_", lambda x, y: (y, x)),
        ("sigmoid_", lambda x, y: ()),
        ("logit_", lambda x, y: (0.25,)),
    ],
)
def test_the_first_operand_may_take_the_result(name, given):
    """Where it is read after that, too."""
    x, y = arrays(np.float32)
    results = []
    for method in (name, name[:-1]):
        a, b = torch.tensor(x), torch.tensor(y)
        args = given(a, b)
        more = args[-1] if args and isinstance(args[-1], dict) else {}
        results.append(getattr(a, method)(*args[: len(args) - bool(more)], **more).numpy())
    np.testing.assert_array_equal(*results)


def of_many_choices(x, k):
    if k == 1:
        return x + 1
    if k == 2:
        return x * 2 if k else x * 3
    if k == 3:
        return x * x if k else x - 1
    if k == 4:
        return 1 / x if k else x * 2
    if k == 5:
        return -x if k else x
    if k == 6:
        return x - 6 if k else x * 6
    if k == 7:
        return x - 7 if k else x * 7
    return x * k


def test_choices_are_read_in_turn(monkeypatch):
    """Not one after each answer of all before."""
    read, run = [], Reader.run
    monkeypatch.setattr(Reader, "run", lambda *args: (read.append(1), run(*args))[1])
    made = loop(statements(of_many_choices), globals(), ("x", "k"), "fs")
    assert len(read) < 200
    x = np.linspace(1, 2, SIZE, dtype=np.float32)
    for k in range(1, 10):
        np.testing.assert_array_equal(made(x, k), of_many_choices(x, k))
