"""`x[...]` and `x[...] = value`: what is read and written, what is a view, where gradients go, what is refused."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import gradpack as torch

FULL = slice(None)


def grid(requires_grad: bool = False) -> torch.Tensor:
    """0 to 23 in shape (2, 3, 4)."""
    return torch.arange(24.0).reshape(2, 3, 4).clone().requires_grad_(requires_grad)


def node_names(x: torch.Tensor) -> list[str]:
    """The names of the nodes from `x` down, along the first edges, without the leaf."""
    names, node = [], x.grad_fn
    while node is not None and node.next_functions:
        names.append(node.name())
        node = node.next_functions[0][0]
    return names


# Subscripts that NumPy reads as torch does. ROWS and so on are put in as NumPy arrays and as tensors.
ROWS = np.array([1, 0, 1])
COLUMNS = np.array([2, -1, 0])
BLOCK = np.array([[0, 1], [1, -1]])
MASK = np.array([[True, False, True], [False, False, True]])

BASIC: list[Any] = [
    0, -1, 1, FULL, ..., None, (), slice(1, None), slice(None, -1), slice(0, 2, 2), slice(5, 9), slice(1, 0),
    (0, 1), (0, 1, 2), (0, ..., 1), (..., 0), (..., None), (None, 0, None), (FULL, 1), (FULL, slice(1, 3), 0),
    (FULL, None, slice(0, 3, 2)), (slice(0, 1), FULL, slice(None, None, 3)), (1, FULL, -2), (FULL, FULL, FULL),
    np.int64(1), (np.int32(0), FULL, np.uint8(2)), slice(np.int64(1), None),
]  # fmt: skip
ADVANCED: list[Any] = [
    ROWS, BLOCK, MASK, (ROWS, COLUMNS), (FULL, COLUMNS), (FULL, FULL, ROWS), (..., ROWS), (ROWS, FULL, COLUMNS),
    (MASK, 1), (MASK, BLOCK[0, 0] + ROWS), (FULL, np.array([True, False, True])), (None, ROWS), (FULL, BLOCK, None),
    (slice(0, 1), COLUMNS, slice(1, 3)), (BLOCK, BLOCK), (np.zeros(0, int),), (FULL, np.zeros((2, 0), int)),
    (ROWS, COLUMNS, ROWS), np.zeros((2, 3), bool), (ROWS.astype(np.int32), 0 + COLUMNS),
]  # fmt: skip

# Those that read no element twice: which of two values is written to one place is not promised.
NUMBERS = np.arange(24).reshape(2, 3, 4)
ONCE = [index for index in (*BASIC, *ADVANCED) if len(np.unique(NUMBERS[index])) == NUMBERS[index].size]


def as_tensors(index: Any) -> Any:
    """The subscript with a tensor for each array in it."""
    if isinstance(index, tuple):
        return tuple(map(as_tensors, index))
    return torch.from_numpy(index) if isinstance(index, np.ndarray) else index


def as_lists(index: Any) -> Any:
    if isinstance(index, tuple):
        return tuple(map(as_lists, index))
    return index.tolist() if isinstance(index, np.ndarray) and index.ndim == 1 else index


@pytest.mark.parametrize("index", BASIC, ids=repr)
def test_basic_subscript_is_a_view_of_what_numpy_reads(index):
    x = grid(requires_grad=True)
    out = x[index]
    assert np.array_equal(out.detach().numpy(), x.detach().numpy()[index])
    assert out.shape == x.detach().numpy()[index].shape
    assert out._version == x._version
    with torch.no_grad():
        x.mul_(2)
    assert out._version == x._version == 1
    assert np.array_equal(out.detach().numpy(), x.detach().numpy()[index])


@pytest.mark.parametrize("form", [lambda i: i, as_tensors, as_lists], ids=["arrays", "tensors", "lists"])
@pytest.mark.parametrize("index", ADVANCED, ids=repr)
def test_index_tensors_copy_what_numpy_reads(index, form):
    x = grid(requires_grad=True)
    out = x[form(index)]
    expected = x.detach().numpy()[index]
    assert np.array_equal(out.detach().numpy(), expected)
    assert out.grad_fn.name() == "IndexBackward0"
    assert not np.shares_memory(out.detach().numpy(), x.detach().numpy())
    assert out.is_contiguous()


@pytest.mark.parametrize("index", [*BASIC, *ADVANCED], ids=repr)
def test_gradient_counts_how_often_an_element_was_read(index):
    x = grid(requires_grad=True)
    out = x[as_tensors(index)]
    weights = np.arange(1.0, out.numel() + 1, dtype=np.float32).reshape(out.shape)
    expected = np.zeros((2, 3, 4), np.float32)
    np.add.at(expected, index, weights)
    (g,) = torch.autograd.grad(out, x, torch.from_numpy(weights), create_graph=True)
    assert np.array_equal(g.numpy(), expected)


def test_int_beside_index_tensor_is_taken_first():
    x = grid()
    # NumPy would count the 0 among the index arrays and put their dimension in front.
    assert x[0, :, torch.tensor([0, 2])].shape == (3, 2)
    assert np.array_equal(x[0, :, [0, 2]].numpy(), x.numpy()[0][:, [0, 2]])
    assert x[:, 1, torch.tensor([[0, 2]])].shape == (2, 1, 2)


@pytest.mark.parametrize("value", [True, False, torch.tensor(True), torch.tensor(False), np.array(True)])
def test_bool_adds_a_dimension(value):
    x = grid(requires_grad=True)
    n = int(bool(value))
    assert x[value].shape == (n, 2, 3, 4)
    assert x[0, value].shape == (n, 3, 4)
    assert torch.tensor(3.0)[value].shape == (n,)
    (g,) = torch.autograd.grad(x[value].sum(), x)
    assert np.array_equal(g.numpy(), np.full((2, 3, 4), n))


def test_scalar_index_tensors_are_ints():
    x = grid()
    for d in (torch.int64, torch.int32, torch.int16, torch.int8):
        i = torch.tensor(1, dtype=d)
        assert np.array_equal(x[i].numpy(), x.numpy()[1])
        assert np.array_equal(x[:, i, i:].numpy(), x.numpy()[:, 1, 1:])
    assert x[torch.tensor(1)]._version == x._version
    x[torch.tensor(1)].zero_()
    assert x._version == 1 and not x.numpy()[1].any()


def test_names_of_nodes():
    x = grid(requires_grad=True)
    i = torch.tensor([0, 1])
    for index, name in [
        (0, "Select"), (FULL, "Slice"), (slice(1, 2), "Slice"), (None, "Unsqueeze"), (..., "Alias"), ((), "Alias"),
        ((slice(0, 1), 0), "Select"), ((0, slice(1, 2)), "Slice"), ((FULL, 1), "Select"), ((0, FULL), "Select"),
        ((..., None), "Unsqueeze"), ((FULL, None), "Unsqueeze"), (i, "Index"), ((FULL, i), "Index"), ((i, i), "Index"),
        ((i, None, i), "Index"), (x > 3, "Index"), ((0, 0, 0), "Select"),
    ]:  # fmt: skip
        assert x[index].grad_fn.name() == name + "Backward0", index
    assert node_names(x[0, :, i]) == ["IndexBackward0", "SelectBackward0"]
    assert node_names(x[:, i]) == ["IndexBackward0"]
    y = x * 1
    y[0] = 1.0
    assert y.grad_fn.name() == "torch::autograd::CopySlices"
    y = x * 1
    y[i] = 1.0
    assert y.grad_fn.name() == "IndexPutBackward0"


def test_lists_that_mean_a_tuple_warn():
    x = grid()
    for index, meant in [([0, FULL], (0, FULL)), ([[0, 1], [1, 0]], ([0, 1], [1, 0])), ([None], (None,))]:
        with pytest.warns(UserWarning, match="tuple"):
            out = x[index]
        assert np.array_equal(out.numpy(), x[meant].numpy())
    with pytest.warns(UserWarning, match="uint8"):
        out = x[torch.tensor([1, 0], dtype=torch.uint8)]
    assert out.shape == (1, 3, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert x[[True, False]].shape == (1, 3, 4)
        assert x[[1, 0]].shape == x[range(2)].shape == x[[0, 1],].shape == (2, 3, 4)
        assert x[[]].shape == (0, 3, 4)


REFUSED: list[tuple[Any, type[Exception], str]] = [
    (5, IndexError, "index 5 is out of bounds for dimension 0 with size 2"),
    (-3, IndexError, "index -3 is out of bounds for dimension 0 with size 2"),
    ((FULL, 3), IndexError, "index 3 is out of bounds for dimension 1 with size 3"),
    ((slice(0, 1), 0, 4), IndexError, "index 4 is out of bounds for dimension 2 with size 4"),
    ((0, 0, 0, 0), IndexError, "too many indices for tensor of dimension 3"),
    ((FULL, FULL, FULL, None, 0), IndexError, "too many indices for tensor of dimension 3"),
    (2**70, ValueError, "Overflow"),
    (slice(None, None, -1), ValueError, "step must be greater than zero"),
    (slice(None, None, 0), ValueError, "step cannot be zero"),
    ((FULL, slice(None, None, -2)), ValueError, "step must be greater than zero"),
    (slice(0.5, 2), TypeError, "slice indices must be integers"),
    (1.0, IndexError, "valid indices (got float)"),
    ({}, IndexError, "valid indices (got dict)"),
    (np.True_, IndexError, "got numpy.bool"),
    ("a", TypeError, "str"),
    (torch.tensor([5]), IndexError, "index 5 is out of bounds for dimension 0 with size 2"),
    (torch.tensor([-3]), IndexError, "index -3 is out of bounds for dimension 0 with size 2"),
    ((FULL, torch.tensor([0, 3])), IndexError, "index 3 is out of bounds for dimension 1 with size 3"),
    ((torch.tensor([0]), torch.tensor([9])), IndexError, "index 9 is out of bounds for dimension 1 with size 3"),
    ((torch.tensor([0]), FULL, torch.tensor([9])), IndexError, "index 9 is out of bounds for dimension 2 with size 4"),
    (
        (torch.tensor([0, 1]), torch.tensor([0, 1, 2])),
        IndexError,
        "could not be broadcast together with shapes [2], [3]",
    ),
    (torch.tensor([True, False, True]), IndexError, "shape of the mask [3] at index 0 does not match"),
    (torch.zeros(2, 4, dtype=torch.bool), IndexError, "shape of the mask [2, 4] at index 1 does not match"),
    (torch.tensor([0.0]), IndexError, "must be long, int, byte or bool tensors"),
    (torch.tensor([0], dtype=torch.int16), IndexError, "must be long, int, byte or bool tensors"),
    ((torch.tensor([0]),) * 4, IndexError, "too many indices for tensor of dimension 3"),
]


@pytest.mark.parametrize(("index", "kind", "words"), REFUSED, ids=lambda v: repr(v)[:40])
def test_bad_subscripts_are_refused_and_nothing_changes(index, kind, words):
    x = grid(requires_grad=True)
    y = x * 1
    before, edge = y.detach().numpy().copy(), y.grad_fn
    for action in (lambda: y[index], lambda: y.__setitem__(index, 1.0), lambda: y.detach().__setitem__(index, 1.0)):
        with pytest.raises(kind) as caught:
            action()
        assert words in str(caught.value)
        assert np.array_equal(y.detach().numpy(), before) and y._version == 0 and y.grad_fn is edge


def test_zero_dim_tensors():
    x = torch.tensor(3.0, requires_grad=True)
    with pytest.raises(IndexError, match=r"Use `tensor.item\(\)`"):
        x[0]
    with pytest.raises(IndexError, match="too many indices for tensor of dimension 0"):
        x[0, 0]
    with pytest.raises(IndexError, match="too many indices for tensor of dimension 0"):
        x[torch.tensor([0])]
    assert x[None].shape == (1,) and x[...].shape == x[()].shape == ()
    y = torch.tensor(3.0)
    y[...] = 4.0
    y[()] = y + 1
    assert y.item() == 5.0


def test_empty_dimensions():
    x = torch.zeros(0, 3)
    assert x[torch.zeros(0, dtype=torch.int64)].shape == (0, 3)
    assert x[:0].shape == x[2:].shape == (0, 3)
    with pytest.raises(IndexError, match="index 0 is out of bounds for dimension 0 with size 0"):
        x[0]
    with pytest.raises(IndexError, match="out of bounds for dimension with size 0"):
        x[torch.tensor([0])]


@pytest.mark.parametrize(
    "read", [lambda x, i: x[i], lambda x, i: x[:, i], lambda x, i: x[i, i], lambda x, i: x[i, None, i]]
)
def test_index_tensors_are_saved_and_watched(read):
    x, i = grid(requires_grad=True), torch.tensor([0, 1])
    out = read(x, i)
    i[0] = 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()
    packed: list[torch.Tensor] = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: (packed.append(t), t)[1], lambda t: t):
        read(x, i)
    assert packed and all(np.array_equal(t.numpy(), i.numpy()) for t in packed)


def test_lists_and_arrays_as_indices_are_copied_or_kept_but_never_change():
    x = grid(requires_grad=True)
    i = [0, 1]
    out = x[i]
    i[0] = 1
    out.sum().backward()
    assert np.array_equal(x.grad.numpy(), np.ones((2, 3, 4)))


def test_iteration_and_unpacking():
    x = grid(requires_grad=True)
    a, b = x
    assert a.grad_fn.name() == "UnbindBackward0" and b.shape == (3, 4)
    (a.sum() + 2 * b.sum()).backward()
    assert np.array_equal(x.grad.numpy(), np.stack([np.ones((3, 4)), np.full((3, 4), 2.0)]))
    assert list(torch.zeros(0, 3)) == []
    with pytest.raises(TypeError, match="0-d"):
        list(torch.tensor(1.0))


@pytest.mark.parametrize("index", [0, (0, 1), slice(1, None), (FULL, 1), None, ...], ids=repr)
def test_no_grad_reads_record_nothing(index):
    x = grid(requires_grad=True)
    with torch.no_grad():
        out = x[index]
    assert out.grad_fn is None and out.is_leaf and not (out * 2).is_leaf
    assert (out * 2).grad_fn.next_functions == ((None, 0), (None, 0))[: len((out * 2).grad_fn.next_functions)]
    assert not grid()[index].requires_grad


@pytest.mark.parametrize("d", ["bool", "uint8", "int32", "int64", "float16", "bfloat16", "float64", "complex64"])
def test_every_dtype_is_moved_as_it_is(d):
    x = grid().to(getattr(torch, d) if d != "bool" else torch.bool)
    i = torch.tensor([1, 0])
    for index in (0, (FULL, 1), i, (i, i), (FULL, i), (i, None, i)):
        out = x[index]
        assert out.dtype == x.dtype
        assert out.tolist() == grid()[index].to(x.dtype).tolist()
    x[0, 1] = x[1, 2]
    x[i] = x[i]
    assert x.dtype == getattr(torch, d) if d != "bool" else x.dtype == torch.bool


@pytest.mark.parametrize("d", ["float16", "bfloat16"])
def test_low_precision_gradients_are_summed_wide(d):
    x = torch.zeros(3, dtype=getattr(torch, d), requires_grad=True)
    i = torch.zeros(3000, dtype=torch.int64)
    (g,) = torch.autograd.grad(x[i], x, torch.ones(3000, dtype=x.dtype))
    assert g.dtype == x.dtype and g.tolist()[0] == torch.tensor(3000.0).to(x.dtype).item()


@pytest.mark.parametrize(
    ("rows", "width", "count"), [(3, 40, 200), (50, 40, 200), (50, 1, 200), (4, 70000, 3), (300, 7, 0)]
)
def test_every_way_of_adding_rows_gives_the_same(rows, width, count):
    rng = np.random.default_rng(0)
    i, g = rng.integers(-rows, rows, count), rng.normal(size=(count, width))
    expected = np.zeros((rows, width))
    np.add.at(expected, i, g)
    x = torch.zeros(rows, width, dtype=torch.float64, requires_grad=True)
    (found,) = torch.autograd.grad(x[torch.from_numpy(i)], x, torch.from_numpy(g))
    assert np.allclose(found.numpy(), expected, rtol=1e-12, atol=1e-12)
    turned = torch.zeros(width, rows, dtype=torch.float64, requires_grad=True)
    (found,) = torch.autograd.grad(turned[:, torch.from_numpy(i)], turned, torch.from_numpy(np.ascontiguousarray(g.T)))
    assert np.allclose(found.numpy(), expected.T, rtol=1e-12, atol=1e-12)


def test_infinities_stay_where_they_are():
    x = torch.zeros(40, 40, requires_grad=True)
    g = np.ones((800, 40), np.float32)
    g[0, 0] = np.inf
    (found,) = torch.autograd.grad(x[torch.arange(800) % 40], x, torch.from_numpy(g))
    expected = np.full((40, 40), 20.0)
    expected[0, 0] = np.inf
    assert np.array_equal(found.numpy(), expected)
