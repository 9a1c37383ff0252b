"""Joining, taking apart, diagonals: dtypes, views, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradpack as torch

X = torch.arange(6.0).reshape(2, 3)
V = torch.arange(3)

REFUSED: list[tuple[Any, type[Exception], str]] = [
    (lambda: torch.cat([]), ValueError, "non-empty list"),
    (lambda: torch.cat(X), TypeError, "must be tuple of Tensors, not Tensor"),
    (lambda: torch.cat([X, 1.0]), TypeError, "element 1 in argument 0, but got float"),
    (lambda: torch.cat([X, np.zeros((2, 3))]), TypeError, "element 1 in argument 0, but got ndarray"),
    (lambda: torch.cat([X, torch.tensor(1.0)]), RuntimeError, "zero-dimensional tensor (at position 1)"),
    (lambda: torch.cat([X, V]), RuntimeError, "same number of dimensions: got 2 and 1"),
    (lambda: torch.cat([X, X[:, :2]]), RuntimeError, "Expected size 3 but got size 2 for tensor number 1"),
    (lambda: torch.cat([X, X], 2), IndexError, "Dimension out of range"),
    (lambda: torch.stack([]), RuntimeError, "stack expects a non-empty TensorList"),
    (lambda: torch.stack([X, X[0]]), RuntimeError, "got [2, 3] at entry 0 and [3] at entry 1"),
    (lambda: torch.stack([X], 3), IndexError, "Dimension out of range"),
    (lambda: torch.hstack([]), RuntimeError, "hstack expects a non-empty"),
    (lambda: torch.block_diag(X[None]), RuntimeError, "Input 0 has 3 dimensions"),
    (lambda: torch.block_diag([X]), TypeError, "but got list"),
    (lambda: torch.meshgrid(V, X[0], indexing="ij"), RuntimeError, "same dtype"),
    (lambda: torch.meshgrid(X, indexing="ij"), RuntimeError, "0D or 1D"),
    (lambda: torch.meshgrid(V, indexing="ji"), RuntimeError, 'one of "xy" or "ij", but received: ji'),
    (lambda: X.split(0), RuntimeError, "split_size can only be 0 if dimension size is 0"),
    (lambda: X.split(-1), RuntimeError, "split_size=-1"),
    (lambda: X.split(1.5), TypeError, "must be tuple of ints, not float"),
    (lambda: X.split([1, 2]), RuntimeError, "to sum exactly to 2"),
    (lambda: X.split([3, -1]), RuntimeError, "non-negative"),
    (lambda: X.split(1, 2), IndexError, "Dimension out of range"),
    (lambda: torch.tensor(1.0).split(1), RuntimeError, "at least a 1-dimensional"),
    (lambda: X.chunk(0), RuntimeError, "greater than 0, got: 0"),
    (lambda: X.tensor_split(0), RuntimeError, "larger than 0, got 0"),
    (lambda: X.hsplit(2), RuntimeError, "size of the dimension 3 is not divisible"),
    (lambda: V.vsplit(1), RuntimeError, "at least 2 dimension"),
    (lambda: X.dsplit(1), RuntimeError, "at least 3 dimension"),
    (lambda: torch.tensor(1.0).unbind(), IndexError, "has no dimensions"),
    (lambda: V.tril(), RuntimeError, "at least 2 dimensions"),
    (lambda: X.triu(1.5), TypeError, "must be int, not float"),
    (lambda: torch.tril_indices(-1, 2), RuntimeError, "row must be non-negative"),
    (lambda: torch.triu_indices(1, 2, dtype=torch.float32), NotImplementedError, "not implemented for float32"),
    (lambda: X[None].diag(), RuntimeError, "1D or 2D tensors. Got 3D"),
    (lambda: X.diagonal(0, 0, 0), RuntimeError, "cannot be identical"),
    (lambda: V.diagonal(), IndexError, "Dimension out of range"),
    (lambda: X.diag_embed(0, 1, 1), RuntimeError, "cannot be identical"),
    (lambda: torch.tensor(1.0).diag_embed(), IndexError, "Dimension out of range"),
]


@pytest.mark.parametrize(("action", "kind", "words"), REFUSED, ids=[w for _, _, w in REFUSED])
def test_bad_input(action, kind, words):
    with pytest.raises(kind) as caught:
        action()
    assert words in str(caught.value)


def test_joined_dtypes_are_promoted_and_gradients_come_back_in_their_own():
    a = torch.ones(1, 2, dtype=torch.float16, requires_grad=True)
    b = torch.ones(2, 2, dtype=torch.float64, requires_grad=True)
    c = torch.ones(1, 2, dtype=torch.int64)
    out = torch.cat([a, c, b])
    assert out.dtype == torch.float64 and out.shape == (4, 2)
    (out * torch.arange(4.0)[:, None]).sum().backward()
    assert a.grad.dtype == torch.float16 and a.grad.tolist() == [[0.0, 0.0]]
    assert b.grad.dtype == torch.float64 and b.grad.tolist() == [[2.0, 2.0], [3.0, 3.0]]


def test_one_tensor_joined_with_itself():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (torch.cat([x, x]) * torch.tensor([1.0, 2.0, 3.0, 4.0])).sum().backward()
    assert x.grad.tolist() == [4.0, 6.0]
    x.grad = None
    (torch.stack([x, x], 1) * torch.tensor([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
    assert x.grad.tolist() == [3.0, 7.0]


def test_empty_vectors_join_with_anything():
    assert torch.cat([torch.zeros(0), X]).tolist() == X.tolist()
    e = torch.zeros(0, requires_grad=True)
    (g,) = torch.autograd.grad(torch.cat([X, e], 1).sum(), e)
    assert g.shape == (0,)


def test_axis_is_another_name_of_dim():
    assert torch.concatenate([X, X], axis=1).shape == torch.concat([X, X], dim=1).shape == (2, 6)


@pytest.mark.parametrize(
    "parts",
    [
        lambda x: x.split(2, 1), lambda x: x.split([1, 2], 1), lambda x: x.chunk(2, 1), lambda x: x.unbind(1),
        lambda x: x.tensor_split(2, 1), lambda x: x.hsplit(3), lambda x: x.vsplit(2), lambda x: x.split(9),
    ],
    ids=["split", "sizes", "chunk", "unbind", "tensor_split", "hsplit", "vsplit", "one"],
)  # fmt: skip
def test_parts_are_views_and_parts_that_got_no_gradient_count_as_zero(parts):
    x = X.clone().requires_grad_()
    found = parts(x)
    assert all(np.shares_memory(p.detach().numpy(), x.detach().numpy()) for p in found)
    for used in range(len(found)):
        (g,) = torch.autograd.grad(parts(x)[used].sum(), x)
        expected = np.zeros((2, 3))
        parts(torch.from_numpy(expected))[used].fill_(1.0)
        assert np.array_equal(g.numpy(), expected)
    (g,) = torch.autograd.grad([p.sum() for p in found], x)
    assert np.array_equal(g.numpy(), np.ones((2, 3)))


@pytest.mark.parametrize("n", range(6))
@pytest.mark.parametrize("count", range(1, 5))
def test_sizes_of_parts(n, count):
    x = torch.arange(n)
    assert [len(p) for p in x.tensor_split(count)] == [len(p) for p in np.array_split(np.arange(n), count)]
    chunks = x.chunk(count)
    size = -(-n // count)
    assert [len(p) for p in chunks] == ([min(size, n - s) for s in range(0, n, size)] if n else [0] * count)
    assert torch.cat(x.split(count)).tolist() == list(range(n))


def test_diagonals_can_be_written_to():
    x = torch.zeros(2, 3, 3)
    x.diagonal(0, 1, 2).fill_(1.0)
    x.diagonal(-1, 1, 2)[0] = torch.tensor([5.0, 6.0])
    assert x[0].tolist() == [[1.0, 0.0, 0.0], [5.0, 1.0, 0.0], [0.0, 6.0, 1.0]]
    assert x[1].tolist() == torch.eye(3).tolist()


@pytest.mark.parametrize("offset", range(-4, 5))
def test_diagonal_and_triangles_are_those_of_numpy(offset):
    x = np.arange(12.0).reshape(3, 4)
    t = torch.from_numpy(x)
    assert np.array_equal(t.diagonal(offset).numpy(), np.diagonal(x, offset) if -3 < offset < 4 else np.zeros(0))
    assert np.array_equal(t.tril(offset).numpy(), np.tril(x, offset))
    assert np.array_equal(t.triu(offset).numpy(), np.triu(x, offset))
    assert np.array_equal(torch.tril_indices(3, 4, offset).numpy(), np.stack(np.tril_indices(3, offset, 4)))
    assert np.array_equal(torch.triu_indices(3, 4, offset).numpy(), np.stack(np.triu_indices(3, offset, 4)))
    assert np.array_equal(torch.tensor([1.0, 2.0]).diag(offset).numpy(), np.diag([1.0, 2.0], offset))


def test_meshgrid_is_that_of_numpy():
    a, b, c = torch.arange(2), torch.arange(3), torch.arange(4)
    for indexing in ("ij", "xy"):
        expected = np.meshgrid(*(t.numpy() for t in (a, b, c)), indexing=indexing)
        for ours, theirs in zip(torch.meshgrid(a, b, c, indexing=indexing), expected, strict=True):
            assert np.array_equal(ours.numpy(), theirs)
    with pytest.warns(UserWarning, match="indexing"):
        torch.meshgrid(a, b)


@pytest.mark.parametrize("op", [torch.cat, torch.stack, torch.hstack, torch.vstack])
def test_what_is_not_a_tensor_is_named(op):
    a = torch.ones(2, 2)
    for wrong, nr in (([a, 1], 1), ([1, a], 0), ([1], 0), ((a, None), 1)):
        with pytest.raises(TypeError, match=f"expected Tensor as element {nr} in argument 0, but got"):
            op(wrong)
