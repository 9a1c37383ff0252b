"""Operations of several steps on large arrays are one compiled loop where Numba is, and the same to a few roundings."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import gradpack as torch
from gradpack.declare.generate.fusion import Fused, fused
from gradpack.declare.generate.fusion_text import Unknown, statements
from gradpack.nn import functional as F
from gradpack.ops.pointwise.operands import limit

pytest.importorskip("numba")

SIZE = (1 << 16) + 77
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 3.0, -3.0, 1.0, -1.0, 0.5, -0.5, 1e-40, -1e-40, 88.0, -104.0, 700.0]

OPERATIONS = {
    "sigmoid": torch.sigmoid, "silu": F.silu, "elu": F.elu, "selu": F.selu, "celu": lambda x: F.celu(x, 0.5),
    "softplus": F.softplus, "softplus 2": lambda x: F.softplus(x, 2.0, 10.0), "leaky_relu": F.leaky_relu,
    "hardtanh": F.hardtanh, "hardswish": F.hardswish, "hardsigmoid": F.hardsigmoid, "logsigmoid": F.logsigmoid,
    "tanhshrink": F.tanhshrink, "softshrink": F.softshrink, "mish": F.mish, "frac": torch.frac, "rsqrt": torch.rsqrt,
    "clamp": lambda x: x.clamp(min=0.5), "clamp 2": lambda x: x.clamp(-0.5, 0.5), "logit": torch.logit,
    "leaky_relu above 1": lambda x: F.leaky_relu(x, 1.5), "lerp": lambda x: torch.lerp(x, x * 0.5, 0.25),
    "logaddexp": lambda x: torch.logaddexp(x, x * 0.5), "where": lambda x: torch.where(x > 0, x * 2, -0.5),
    "hardshrink": F.hardshrink, "sign": torch.sign, "cube": lambda x: x**3,
    "hardtanh 2": lambda x: F.hardtanh(x, -3, 0.5),
    "sin": torch.sin, "cos": torch.cos, "sin of large angles": lambda x: torch.sin(x * 1e5),
    "xlogy": lambda x: torch.xlogy(x, x * x), "addcmul": lambda x: torch.addcmul(x, x, x, value=0.5),
}  # fmt: skip


def array(dtype):
    x = np.random.default_rng(0).normal(size=SIZE).astype(dtype) * 3
    x[: len(SPECIAL)] = x[-len(SPECIAL) :] = SPECIAL
    return x


def results(operation, x, enabled):
    with torch.backends.compiled.flags(enabled=enabled):
        leaf = torch.tensor(x, requires_grad=True)
        out = operation(leaf)
        g = torch.tensor(np.random.default_rng(1).normal(size=tuple(out.shape)).astype(x.dtype))
        return [out.detach().numpy(), torch.autograd.grad(out, leaf, g)[0].numpy()]


EITHER_ZERO = {"elu", "selu", "celu"}  # NumPy's maximum of 0.0 and -0.0 is the one or the other


def check(found, expected, name=""):
    """To some roundings of what the steps are made of, which are of the size of 1 or of the result."""
    assert found.dtype == expected.dtype
    eps = np.finfo(found.dtype).eps
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(found[~finite], expected[~finite])
    assert np.all(np.abs(found[finite] - expected[finite]) <= 16 * eps * (1 + np.abs(expected[finite])))
    zero = (expected == 0) & (name not in EITHER_ZERO)
    np.testing.assert_array_equal(np.signbit(found[zero]), np.signbit(expected[zero]))


@pytest.fixture
def made(monkeypatch):
    """The loops that are made from now on."""
    loops = []
    plain = Fused.made

    def counting(*args):
        loops.append(plain(*args))
        return loops[-1]

    monkeypatch.setattr(Fused, "made", counting)
    return loops


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", OPERATIONS)
def test_a_loop_gives_what_steps_give(name, dtype):
    x = array(dtype)
    for found, expected in zip(*(results(OPERATIONS[name], x, e) for e in (True, False)), strict=True):
        check(found, expected, name)


@pytest.mark.parametrize(
    "prepare", [lambda x: x[:1000], lambda x: x[: SIZE // 2 * 2 : 2], lambda x: x[:60000].reshape(300, 200).T]
)
def test_small_and_scattered_arrays_go_their_own_way(prepare):
    x = prepare(array(np.float32))
    for found, expected in zip(*(results(F.silu, x, e) for e in (True, False)), strict=True):
        check(found, expected)


def steps(x, k, limited):
    y = x * k if k > 1 else x - k
    y += 1.5
    return np.where(y > 0, np.minimum(y, 4.0), -y) if limited else y * y


def test_a_loop_for_each_answer(made):
    x = np.linspace(-4, 4, SIZE, dtype=np.float32)
    run = fused(steps, steps)
    with torch.backends.compiled.flags(enabled=True):
        for k, limited in ((0.5, True), (2.0, True), (3.0, True), (0.25, False)):
            np.testing.assert_allclose(run(x, k, limited), steps(x, np.float32(k), limited), rtol=1e-6, atol=1e-6)
    assert len(made) == 3  # 2.0 and 3.0 answer alike


def test_results_go_where_an_argument_lies():
    x, y = array(np.float32), np.ones(SIZE, np.float32)
    run = fused(steps, steps)
    with torch.backends.compiled.flags(enabled=True):
        expected = run(x, 0.5, True)
        kept = x.copy()
        assert run(kept, 0.5, True, into=kept) is kept
        np.testing.assert_array_equal(kept, expected)
    target = torch.tensor(y)
    target.add_(torch.tensor(x), alpha=0.5)
    np.testing.assert_allclose(target.numpy(), 1 + x * np.float32(0.5), rtol=1e-6, equal_nan=True)


def test_numbers_that_are_none_are_left_to_the_steps(made):
    x = np.linspace(0, 4, SIZE, dtype=np.float32)
    function = Fused(statements(steps), globals(), ("x", "k", "limited"))
    args = (x, np.array(0.5, object), True)
    assert function("fss", args, None) is None
    assert made
    np.testing.assert_array_equal(
        function("fss", (x, np.float32(0.5), True), None), function("fss", (x, 0.5, True), None)
    )


def test_what_numpy_alone_can_do_is_left_to_it(made):
    def turned(x):
        return np.arctan(x) * 2 + 1

    x = np.linspace(0, 4, SIZE, dtype=np.float32)
    run = fused(turned, turned)
    np.testing.assert_array_equal(run(x), turned(x))
    assert [loop.run for loop in made] == [None]


def test_what_is_left_to_the_steps_is_not_tried_again(made):
    def other(x, k):
        if k == 2:
            return x * x + 1
        raise ValueError("another k")

    x = np.ones(SIZE, np.float32)
    function = Fused(statements(other), globals(), ("x", "k"))
    for k in (3.0, 3.0, 2.0, 3.0, 4.0):
        found = function("fs", (x, k), None)
        assert (found is None) == (k != 2)
    assert [way.run is None for way in made] == [True, False]


def test_a_branch_that_raises_is_not_compiled():
    def positive(x, k):
        if k < 0:
            raise ValueError("k is negative")
        return x * k + 1

    x = np.ones(SIZE, np.float32)
    run = fused(positive, positive)
    np.testing.assert_array_equal(run(x, 2.0), 3.0)
    with pytest.raises(ValueError, match="negative"):
        run(x, -1.0)


def test_what_must_not_be_written_to_gives_the_same(made):
    x = np.linspace(0, 4, SIZE, dtype=np.float32)
    run = fused(steps, steps)
    expected = run(x, 0.5, True)
    x.flags.writeable = False
    np.testing.assert_array_equal(run(x, 0.5, True), expected)
    assert len(made) == 1


def test_logical_operations():
    x, y = array(np.float32), array(np.float32)[::-1].copy()
    for name in ("logical_and", "logical_or", "logical_xor"):
        found = getattr(torch, name)(torch.tensor(x), torch.tensor(y)).numpy()
        np.testing.assert_array_equal(found, getattr(np, name)(x, y))
        mixed = getattr(torch, name)(torch.tensor(x > 0), torch.tensor(y)).numpy()
        np.testing.assert_array_equal(mixed, getattr(np, name)(x > 0, y))
    np.testing.assert_array_equal(torch.logical_not(torch.tensor(x)).numpy(), np.logical_not(x))


def twice(x):
    return x + x


def of_steps(x, k):
    """With a helper, a name that is used again, and a choice by a number."""
    y = twice(x * k) if k > 1 else x - k
    y *= x
    return np.where(y > 0, y, -y) + y


@pytest.mark.parametrize("k", [0.5, 2.5])
def test_a_function_becomes_a_loop(made, k):
    x = np.linspace(-4, 4, SIZE, dtype=np.float32)
    assert fused(of_steps, of_steps)(x, k).tobytes() == of_steps(x, np.float32(k)).tobytes()
    assert [loop.run is None for loop in made] == [False]


def with_a_loop(x):
    for _ in range(2):
        x = x * 2
    return x


def of_values(x):
    return x if x[0] > 0 else -x


@pytest.mark.parametrize("function", [with_a_loop, of_values])
def test_what_is_not_understood_is_called(made, function):
    x = np.ones(SIZE, np.float32)
    np.testing.assert_array_equal(fused(function, function)(x), function(x))
    assert [loop.run for loop in made] == [None]


def test_functions_without_a_text_are_refused():
    with pytest.raises(Unknown):
        statements(lambda x: x)


def of_many_choices(x, k):
    if k == 1:
        return x + 1
    if k == 2:
        return x * 2 if k else x * 3
    if k == 3:
        return x * x if k else x - 1
    return x * k if k else x


def test_only_the_branch_that_was_chosen_is_read(made):
    x = np.linspace(1, 2, SIZE, dtype=np.float32)
    run = fused(of_many_choices, of_many_choices)
    for k in range(1, 6):
        np.testing.assert_array_equal(run(x, k), of_many_choices(x, k))
    assert [len(loop.answers) for loop in made] == [1, 3, 4, 4]


def of_limits(x):
    return limit(x, 0, None) * x


def test_a_number_that_is_compared_with_none_warns_of_nothing():
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        fused(of_limits, of_limits)(np.ones(1 << 16, np.float32))
    assert not found


def test_numbers_of_an_earlier_call_hold_for_those_only():
    x = torch.tensor(array("float32"))
    for number in (2.5, 0.0, -0.0, 2.5, 3, True, 1.0, float("nan"), -0.0, 0.0, 2.5):
        with np.errstate(all="ignore"):
            found, expected = x * number, x.numpy() * np.float32(number)
        np.testing.assert_array_equal(found.numpy(), expected)
        np.testing.assert_array_equal(np.signbit(found.numpy()), np.signbit(expected))
    for low, high in ((-0.5, 0.5), (None, 0.5), (-0.5, None), (-0.5, 0.5), (0.0, 1.0), (-0.0, 1.0), (0, 1)):
        np.testing.assert_array_equal(x.clamp(low, high).numpy(), np.clip(x.numpy(), low, high))
    for slope in (0.1, 1.5, 0.1, 0.0, 1.5):
        kept = x.clone().requires_grad_()
        F.leaky_relu(kept, slope).sum().backward()
        np.testing.assert_array_equal(kept.grad.numpy()[20:200], np.where(x.numpy()[20:200] > 0, 1, np.float32(slope)))


def test_elements_have_the_same_bits_beside_far_angles():
    x = np.random.default_rng(0).normal(size=2 * SIZE).astype(np.float32)
    other = x.copy()
    other[::3] = 1e30
    usual, beside = (results(torch.cos, a, True) for a in (x, other))
    for found, expected in zip(beside, usual, strict=True):
        np.testing.assert_array_equal(np.delete(found, np.s_[::3]), np.delete(expected, np.s_[::3]))
