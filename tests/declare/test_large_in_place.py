"""In-place forms on arrays so large that loops or parts of arrays compute them, on all cores."""

from __future__ import annotations

import numpy as np
import pytest

import gradpack as torch
from gradpack.kernels.dispatch import libraries

SIZE = 300_000
CALLS = {
    "mul_ of a number": lambda x, y: x.mul_(1.5),
    "mul_": lambda x, y: x.mul_(y),
    "add_": lambda x, y: x.add_(y),
    "add_ with alpha": lambda x, y: x.add_(y, alpha=0.25),
    "sub_ of itself": lambda x, y: x.sub_(x),
    "mul_ of itself": lambda x, y: x.mul_(x),
    "div_": lambda x, y: x.div_(y),
    "neg_": lambda x, y: x.neg_(),
    "sqrt_": lambda x, y: x.abs_().sqrt_(),
    "mul_ of a row": lambda x, y: x.view(100, -1).mul_(y[:3000]),
    "mul_ of a column": lambda x, y: x.view(-1, 100).mul_(y[:3000, None]),
    "mul_ of every second": lambda x, y: x[::2].mul_(y[::2]),
}


@pytest.mark.parametrize("numba", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16])
@pytest.mark.parametrize("call", CALLS)
def test_they_write_what_numpy_does(call, dtype, numba):
    torch.manual_seed(0)
    given = torch.randn(SIZE).to(dtype), torch.rand(SIZE).to(dtype) + 1
    small = [x.clone() for x in given]
    with libraries(numba=numba):
        CALLS[call](*given)
    numbers = [np.array(x.numpy()) for x in small]
    parts = [torch.from_numpy(x) for x in numbers]
    with libraries(numba=False, blocks=False):
        for start in range(0, SIZE, 3000) if "of a" not in call or "number" in call else ():
            CALLS[call](*(x[start : start + 3000] for x in parts))
    if "of a row" in call:
        numbers[0] = (numbers[0].reshape(100, -1) * numbers[1][:3000]).reshape(-1)
    elif "of a column" in call:
        numbers[0] = (numbers[0].reshape(-1, 100) * numbers[1][:3000, None]).reshape(-1)
    np.testing.assert_allclose(given[0].numpy(), numbers[0], rtol=2 * np.finfo(numbers[0].dtype).eps)
    assert given[0]._version >= 1 and np.array_equal(given[1].numpy(), numbers[1])


def test_integers_are_no_floats_afterwards():
    x = torch.arange(SIZE)
    with pytest.raises(RuntimeError, match="can't be cast"):
        x.mul_(1.5)
    with pytest.raises(RuntimeError, match="can't be cast"):
        x.add_(torch.rand(SIZE))
    assert torch.equal(x, torch.arange(SIZE)) and x._version == 0
    assert torch.equal(x.mul_(2), torch.arange(0, 2 * SIZE, 2))


def test_shapes_that_do_not_fit_leave_everything_as_it_was():
    x, before = torch.ones(1, SIZE), torch.ones(1, SIZE)
    with pytest.raises(RuntimeError, match="shape"):
        x.mul_(torch.ones(2, SIZE))
    assert torch.equal(x, before) and x._version == 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_gradients_of_a_chain_are_written_over_the_gradient_that_nobody_else_holds(dtype):
    torch.manual_seed(0)
    x = torch.randn(SIZE, dtype=dtype, requires_grad=True)
    g = torch.randn(SIZE, dtype=dtype)
    kept = g.clone()
    y = ((x * 0.5).tanh() * 3).sigmoid() * x
    made = torch.autograd.grad(y, x, g)[0]
    assert torch.equal(g, kept)
    u = np.tanh(0.5 * x.detach().double().numpy())
    s = 1 / (1 + np.exp(-3 * u))
    slope = s + x.detach().double().numpy() * s * (1 - s) * 3 * (1 - u * u) * 0.5
    np.testing.assert_allclose(made.numpy(), slope * g.double().numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("numba", [True, False])
@pytest.mark.parametrize("call", ["mul_ of a number", "add_ with alpha", "sqrt_", "neg_"])
def test_read_only_arrays_are_refused(call, numba):
    array = np.ones(SIZE, np.float32)
    array.flags.writeable = False
    with pytest.warns(UserWarning, match="not writable"):
        x = torch.from_numpy(array)
    with libraries(numba=numba), pytest.raises(RuntimeError, match="read-only"):
        CALLS[call](x, torch.ones(SIZE))
    assert (array == 1).all() and x._version == 0


@pytest.mark.parametrize("numba", [True, False])
@pytest.mark.parametrize("call", ["mul_", "add_", "add_ with alpha"])
@pytest.mark.parametrize("shift", [1, -1])
def test_an_operand_that_overlaps_is_read_before_it_is_written(call, numba, shift):
    whole = np.linspace(1, 2, SIZE + 1, dtype=np.float32)
    parts = (whole[1:], whole[:-1])[::shift]
    apart = [torch.tensor(x) for x in parts]
    with libraries(numba=numba):
        expected = CALLS[call](*apart).numpy()
        CALLS[call](*map(torch.from_numpy, parts))
    np.testing.assert_array_equal(parts[0], expected)
