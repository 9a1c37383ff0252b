"""`x[...] = value`: what is written, what views see of it, where gradients go, what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from tests.core.test_indexing import FULL, NUMBERS, ONCE, as_tensors, grid

import gradpack as torch


@pytest.mark.parametrize("index", ONCE, ids=repr)
def test_assignment_writes_what_the_subscript_reads(index):
    for value in (-1.0, "tensor"):
        x, y = grid(), grid().numpy().copy()
        if value == "tensor":
            values = -np.arange(float(y[index].size)).reshape(y[index].shape)
            x[as_tensors(index)] = torch.tensor(values, dtype=torch.float32)
            y[index] = values
        else:
            x[as_tensors(index)] = value
            y[index] = value
        assert np.array_equal(x.numpy(), y)
        assert x._version == 1


@pytest.mark.parametrize("index", ONCE, ids=repr)
def test_assignment_splits_the_gradient_between_what_was_and_what_is_written(index):
    where = NUMBERS[index]
    x, v = grid(requires_grad=True), torch.ones(where.shape, requires_grad=True)
    y = x * 2
    y[as_tensors(index)] = v * 3
    weights = torch.arange(24.0).reshape(2, 3, 4)
    (y * weights).sum().backward()
    expected = 2 * weights.numpy()
    expected[index] = 0
    assert np.array_equal(x.grad.numpy(), expected)
    assert np.array_equal(v.grad.numpy(), 3 * weights.numpy()[index])


@pytest.mark.parametrize(
    ("value", "kind", "words"),
    [
        ([1.0, 2.0], TypeError, "can't assign a list"),
        (None, TypeError, "can't assign a NoneType"),
        ("a", TypeError, "can't assign a str"),
        (np.zeros(4), TypeError, "can't assign a ndarray"),
        (1j, RuntimeError, "cannot be converted to type float without overflow"),
        (1e300, RuntimeError, "cannot be converted to type float without overflow"),
        (2**70, ValueError, "Overflow"),
        (torch.zeros(3), RuntimeError, "must match the existing size (3) at non-singleton dimension"),
        (torch.zeros(2, 4), RuntimeError, "must be greater or equal to the number of dimensions"),
    ],
    ids=lambda v: repr(v)[:30],
)
def test_bad_values_are_refused_and_nothing_changes(value, kind, words):
    for x in (grid(), grid(requires_grad=True) * 1, grid().reshape(2, 3, 4)):
        before = x.detach().numpy().copy()
        with pytest.raises(kind) as caught:
            x[0, 1] = value
        assert words in str(caught.value)
        assert np.array_equal(x.detach().numpy(), before) and x._version == 0


def test_values_are_broadcast_and_converted():
    x = torch.zeros(2, 3)
    x[0] = torch.ones(1, 1, 3)
    x[:, 1] = torch.tensor([5, 6])  # int64
    x[torch.tensor([1])] = torch.full((1, 1, 1, 3), 7.0)
    assert x.tolist() == [[1.0, 5.0, 1.0], [7.0, 7.0, 7.0]]
    y = torch.zeros(2, dtype=torch.int64)
    y[0] = 1.9
    y[1] = torch.tensor(2.9)
    assert y.tolist() == [1, 2]
    y = torch.zeros(2, dtype=torch.uint8)
    y[0] = -1
    assert y.tolist() == [255, 0]
    with pytest.raises(RuntimeError, match="int8_t without overflow"):
        torch.zeros(2, dtype=torch.int8)[0] = 300
    for bad in (torch.zeros(3, dtype=torch.float64), torch.tensor(1)):
        with pytest.raises(RuntimeError, match="Index put requires the source and destination dtypes match"):
            x[torch.tensor([0])] = bad
    with pytest.raises(
        RuntimeError, match=r"value tensor of shape \[4\] cannot be broadcast to indexing result of shape"
    ):
        x[torch.tensor([0])] = torch.zeros(4)


def test_gradient_of_a_value_keeps_its_dtype_and_shape():
    v = torch.tensor([[2.0]], dtype=torch.float64, requires_grad=True)
    y = torch.zeros(2, 3)
    y[0] = v
    y.sum().backward()
    assert v.grad.dtype == torch.float64 and v.grad.tolist() == [[3.0]]
    w = torch.ones(1, 1, 3, requires_grad=True)
    y = torch.zeros(2, 3)
    y[torch.tensor([1, 0])] = w
    (y * torch.tensor([[1.0], [10.0]])).sum().backward()
    assert w.grad.tolist() == [[[11.0, 11.0, 11.0]]]


def test_assignment_through_views_reaches_the_base():
    x = grid(requires_grad=True)
    v = torch.ones(4, requires_grad=True)
    y = x * 1
    y[0][1] = v
    assert y.grad_fn.name() == "torch::autograd::CopySlices" and np.array_equal(y.detach().numpy()[0, 1], np.ones(4))
    y.sum().backward()
    expected = np.ones((2, 3, 4))
    expected[0, 1] = 0
    assert np.array_equal(x.grad.numpy(), expected) and np.array_equal(v.grad.numpy(), np.ones(4))


def test_assignment_to_the_base_reaches_its_views():
    v = torch.ones(4, requires_grad=True)
    y = grid()
    row = y[0, 1]
    assert not row.requires_grad
    y[0, 1] = v * 5
    assert row.requires_grad
    row.sum().backward()
    assert np.array_equal(v.grad.numpy(), np.full(4, 5.0))


@pytest.mark.parametrize("index", [0, (0, 1), (FULL, [1, 0]), torch.tensor([1, 0]), slice(0, 1)], ids=repr)
def test_augmented_assignment(index):
    x = grid(requires_grad=True)
    y = x * 1
    y[index] += 10
    y[index] *= 2
    expected, factor = grid().numpy().copy(), np.ones((2, 3, 4))
    native = index.numpy() if isinstance(index, torch.Tensor) else index
    expected[native] = (expected[native] + 10) * 2
    factor[native] = 2
    assert np.array_equal(y.detach().numpy(), expected)
    y.sum().backward()
    assert np.array_equal(x.grad.numpy(), factor)


def test_overlapping_source_is_read_before_it_is_written():
    x = torch.arange(5.0)
    x[1:] = x[:-1].clone()
    assert x.tolist() == [0, 0, 1, 2, 3]
    y = torch.arange(5.0)
    y[torch.tensor([0, 1])] = y[torch.tensor([1, 0])]
    assert y.tolist() == [1, 0, 2, 3, 4]


def test_what_may_not_be_written_to():
    x = grid(requires_grad=True)
    for index in (0, FULL, torch.tensor([0])):
        with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
            x[index] = 1.0
    with torch.no_grad():
        x[0] = 1.0
    assert x._version == 1 and x.is_leaf
    y = x * 1
    for parts in (y.unbind(0), y.split(1), y.chunk(2, 1)):
        with pytest.raises(RuntimeError, match="returns multiple views"):
            parts[0][0] = 1.0
    with torch.no_grad():
        part = y[0]
    with pytest.raises(RuntimeError, match="created in no_grad mode"):
        part[0] = 1.0
    assert y._version == 0


def test_written_values_that_were_saved_are_noticed():
    x = grid(requires_grad=True)
    for index in (0, (FULL, 1), torch.tensor([0]), x > 100):
        y = x * 1
        z = y * y
        y[index] = 0.0
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            z.sum().backward()


def test_second_derivative_through_assignment():
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    y = x * x
    y[0] = x[1] ** 3
    (g,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)  # 3^6 and 3^4
    assert np.allclose(g.detach().numpy(), [0.0, 6 * 3.0**5 + 4 * 3.0**3])
    (h,) = torch.autograd.grad(g.sum(), x)
    assert np.allclose(h.numpy(), [0.0, 30 * 3.0**4 + 12 * 3.0**2])


def test_a_subscript_of_false_writes_nothing():
    x = torch.zeros(3)
    x[False] = torch.ones(5)
    x[False] *= 2
    assert x.tolist() == [0.0, 0.0, 0.0]
    assert x._version == 0


def test_a_subscript_of_true_writes_all_and_converts():
    x = torch.zeros(3)
    x[True] = torch.tensor([1, 2, 3])
    assert x.tolist() == [1.0, 2.0, 3.0]
    v = torch.ones(3, dtype=torch.float64, requires_grad=True)
    x[True] = v
    x.sum().backward()
    assert v.grad.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x.__setitem__([0, 1, 2], x),
        lambda x: x.__setitem__(x > 0, x),
        lambda x: x.__setitem__([0, 1], x[:1]),
        lambda x: x.__setitem__([0, 1], x[1:]),
    ],
)
def test_elements_of_the_tensor_itself_are_not_written_to_indices(write):
    x = torch.tensor([1.0, 2.0, 3.0])
    with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to tensor"):
        write(x)
    assert x.tolist() == [1.0, 2.0, 3.0]
    assert x._version == 0


def test_one_element_of_the_tensor_is_written_to_a_mask():
    x = torch.tensor([1.0, 2.0, 3.0])
    x[x > 1] = x[0]
    assert x.tolist() == [1.0, 1.0, 1.0]
