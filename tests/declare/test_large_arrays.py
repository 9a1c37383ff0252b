"""Large arrays, without compiled loops: the same elements to the last bit as small ones."""

from __future__ import annotations

import numpy as np
import pytest

import gradpack as torch
from gradpack import extend
from gradpack.declare.generate.elementwise_parts import BLOCK
from gradpack.declare.generate.fusion import alike
from gradpack.kernels.dispatch import LARGE
from gradpack.nn import functional as F

SIZE = 2 * LARGE + 77
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 3.0, -3.0, 1.0, -1.0, 0.5, -0.5, 1e-40, -1e-40, 88.0, -104.0, 700.0]

OPERATIONS = [
    torch.sigmoid, F.silu, F.elu, F.selu, F.celu, F.softplus, F.leaky_relu, F.hardtanh, F.hardswish, F.hardsigmoid,
    F.logsigmoid, F.softsign, F.tanhshrink, F.hardshrink, F.softshrink, torch.frac, torch.log1p, torch.atan, torch.erf,
    torch.rsqrt, torch.reciprocal, lambda x: torch.threshold(x, 0.5, 2.0), lambda x: F.leaky_relu(x, 1.5),
]  # fmt: skip


@pytest.fixture(autouse=True)
def without_compiled_loops():
    """What those give may differ in the last bit: see `test_fusion`."""
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


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "operation", [*OPERATIONS, torch.relu, F.relu6, torch.abs, torch.tanh, lambda x: x.clamp(-1, 1)]
)
def test_the_gradient_of_a_sum_has_the_dtype_of_the_array(operation, dtype):
    x, _ = arrays(dtype)
    leaf = torch.tensor(x, requires_grad=True)
    operation(leaf).sum().backward()
    assert leaf.grad.numpy().dtype == dtype
    expected = results(operation, x, np.ones(x.shape, dtype))[1]
    np.testing.assert_array_equal(leaf.grad.numpy(), expected)


def test_arrays_that_are_not_dense_are_taken_whole():
    x, g = arrays(np.float32, 2 * SIZE)
    expected = results(F.silu, x[::2].copy(), g[::2].copy())
    leaf = torch.tensor(x, requires_grad=True)
    out = F.silu(leaf[::2])
    (gradient,) = torch.autograd.grad(out, leaf, torch.tensor(g)[::2])
    np.testing.assert_array_equal(out.detach().numpy(), expected[0])
    np.testing.assert_array_equal(gradient.numpy()[::2], expected[1])


def test_formulas_that_name_operations_of_other_modules_are_computed_in_parts():
    x = torch.full((8 * BLOCK,), 0.5, dtype=torch.float64, requires_grad=True)
    (gradient,) = torch.autograd.grad(torch.erfinv(x), x, torch.ones_like(x))
    np.testing.assert_allclose(gradient.numpy(), np.sqrt(np.pi) / 2 * np.exp(torch.erfinv(x).detach().numpy() ** 2))


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


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.complex64])
@pytest.mark.parametrize("size", [3, 3 * LARGE])
def test_a_product_of_a_tensor_with_itself(size, dtype):
    x = torch.linspace(-3, 3, size).to(dtype).requires_grad_()
    given = torch.linspace(1, 2, size).to(dtype)
    (once,) = torch.autograd.grad(x * x, x, given)
    (apart,) = torch.autograd.grad(x * x.view(size), x, given)  # two operands to the graph
    assert torch.equal(once, apart)


@pytest.mark.parametrize("size", [3, 3 * LARGE])
@pytest.mark.parametrize("unpack", [lambda t: t, lambda t: t.clone(), lambda t: t * 2])
def test_a_product_of_a_tensor_with_itself_under_hooks(size, unpack):
    x = torch.linspace(-3, 3, size).requires_grad_()
    calls = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: calls.append(t) or unpack(t)):
        y = x * x
    y.sum().backward()
    assert len(calls) == 2
    assert torch.equal(x.grad, unpack(2 * x.detach()))


def test_hooks_that_give_two_tensors_for_one():
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    numbers = iter([10.0, 100.0])
    with torch.autograd.graph.saved_tensors_hooks(lambda t: next(numbers), lambda number: torch.full((2,), number)):
        y = x * x
    y.sum().backward()
    assert x.grad.tolist() == [110.0, 110.0]


def test_hooks_of_a_node_see_both_gradients_of_one_tensor():
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    y = x * x
    seen = []
    y.grad_fn.register_hook(lambda inputs, outputs: seen.extend(g.tolist() for g in inputs))
    y.sum().backward()
    assert seen == [[1.0, -2.0]] * 2
    assert x.grad.tolist() == [2.0, -4.0]


def test_formulas_of_one_text_with_other_values_are_not_the_same():
    def times(factor):
        return lambda g, other: g * other * factor

    def other_way(factor):
        return lambda g, input: g * input * factor

    @extend.elementwise(input=times(1.0), other=other_way(3.0))
    def lopsided(input, other):
        return input * other

    x = torch.tensor([2.0], requires_grad=True)
    lopsided(x, x).backward(torch.ones(1))
    assert x.grad.tolist() == [8.0]
    extend.remove("lopsided")
