"""gather, scatter, the index_* family and masks: values against plain loops, what is refused, in-place forms."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import gradpack as torch


def drawn(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(sum(shape)).normal(size=shape)


def places(index: np.ndarray[Any, Any], dim: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """For each element of the index, its own place and the place that it names."""
    found = []
    for at in product(*map(range, index.shape)):
        named = list(at)
        named[dim] = int(index[at])
        found.append((at, tuple(named)))
    return found


INDICES = [
    (np.array([[0, 2, 1], [1, 1, 1]]), 1),
    (np.array([[0, 0, 1], [1, 1, 0], [1, 0, 0]]), 0),
    (np.array([[2]]), -1),
    (np.zeros((2, 0), int), 1),
]


@pytest.mark.parametrize(("index", "dim"), INDICES, ids=repr)
def test_gather_and_scatter_by_definition(index, dim):
    x, src = drawn(2, 3), drawn(*index.shape)
    expected, put, added = np.zeros(index.shape), x.copy(), x.copy()
    for at, named in places(index, dim):
        expected[at] = x[named]
        put[named] = src[at]
        added[named] += src[at]
    t, i, s = torch.from_numpy(x), torch.from_numpy(index), torch.from_numpy(src)
    assert np.array_equal(t.gather(dim, i).numpy(), expected)
    assert np.array_equal(t.scatter(dim, i, s).numpy(), put)
    assert np.allclose(t.scatter_add(dim, i, s).numpy(), added)
    assert np.array_equal(t.clone().scatter_(dim, i, s).numpy(), put)
    assert np.allclose(t.clone().t().contiguous().t().scatter_add_(dim, i, s).numpy(), added)


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize(
    ("reduce", "combine"),
    [("sum", np.sum), ("prod", np.prod), ("mean", np.mean), ("amax", np.max), ("amin", np.min)],
    ids=lambda v: v if isinstance(v, str) else "",
)
@pytest.mark.parametrize(("index", "dim"), INDICES, ids=repr)
def test_scatter_reduce_by_definition(index, dim, reduce, combine, include_self):
    x, src = drawn(2, 3), drawn(*index.shape)
    groups: dict[Any, list[float]] = {}
    for at, named in places(index, dim):
        groups.setdefault(named, []).append(src[at])
    expected = x.copy()
    for named, group in groups.items():
        expected[named] = combine([*([x[named]] if include_self else []), *group])
    out = torch.scatter_reduce(
        torch.from_numpy(x), dim, torch.from_numpy(index), torch.from_numpy(src), reduce, include_self=include_self
    )
    assert np.allclose(out.numpy(), expected)


def test_product_with_zeros_has_the_gradient_of_the_others():
    index = torch.tensor([0, 0, 0, 1, 1])
    src = torch.tensor([2.0, 0.0, 3.0, 0.0, 0.0], requires_grad=True)
    x = torch.tensor([5.0, 7.0], requires_grad=True)
    out = torch.scatter_reduce(x, 0, index, src, "prod")
    g = torch.autograd.grad(out, [x, src], torch.ones(2))
    assert g[0].tolist() == [0.0, 0.0]
    assert g[1].tolist() == [0.0, 30.0, 0.0, 0.0, 0.0]


def test_equal_extremes_share_the_gradient():
    src = torch.tensor([2.0, 2.0, 1.0, 5.0], requires_grad=True)
    x = torch.tensor([2.0, 9.0], requires_grad=True)
    out = torch.scatter_reduce(x, 0, torch.tensor([0, 0, 0, 1]), src, "amax")
    g = torch.autograd.grad(out, [x, src], torch.tensor([3.0, 1.0]))
    assert g[0].tolist() == [1.0, 1.0] and g[1].tolist() == [1.0, 1.0, 0.0, 0.0]


X = torch.arange(6.0).reshape(2, 3)
I = torch.tensor([[0], [2]])
REFUSED: list[tuple[Any, type[Exception], str]] = [
    (lambda: X.gather(1, I + 1), RuntimeError, "index 3 is out of bounds for dimension 1 with size 3"),
    (lambda: X.gather(1, I - 1), RuntimeError, "index -1 is out of bounds"),
    (lambda: X.gather(2, I), IndexError, "Dimension out of range"),
    (lambda: X.gather(0, I[:, 0]), RuntimeError, "same number of dimensions as input"),
    (lambda: X.gather(0, torch.zeros(1, 4, dtype=torch.int64)), RuntimeError, "Size does not match at dimension 1"),
    (lambda: X.gather(1, I.float()), RuntimeError, "Expected dtype int32/int64"),
    (lambda: X.gather(1, [[0]]), TypeError, "must be Tensor, not list"),
    (lambda: X.scatter(1, I + 1, 1.0), RuntimeError, "out of bounds"),
    (lambda: X.scatter(1, I, X[:, :1].double()), RuntimeError, "Expected self.dtype to be equal to src.dtype"),
    (lambda: X.scatter(1, I.expand(2, 2), X[:, :1]), RuntimeError, "to be no larger size than src [2, 1]"),
    (lambda: X.scatter(1, I, 1.0, reduce="mean"), RuntimeError, "either add or multiply"),
    (lambda: X.scatter(1, I), TypeError, "either src, a tensor, or value"),
    (lambda: X.scatter(1, I, "a"), TypeError, "must be Tensor, not str"),
    (lambda: X.scatter_add(1, I, 1.0), TypeError, "must be Tensor, not float"),
    (lambda: X.scatter_reduce(1, I, X[:, :1], "sun"), RuntimeError, "sum, prod, mean, amax or amin, got sun"),
    (lambda: X.index_select(1, torch.tensor([3])), RuntimeError, "index 3 is out of bounds"),
    (lambda: X.index_select(1, torch.tensor([-1])), RuntimeError, "index -1 is out of bounds"),
    (lambda: X.index_select(1, I), IndexError, "supposed to be a vector"),
    (lambda: X.index_select(1, [0]), TypeError, "must be Tensor, not list"),
    (
        lambda: X.index_add(1, I[:, 0], X),
        RuntimeError,
        "Number of indices (2) should be equal to source.size(dim): (3)",
    ),
    (lambda: X.index_add(1, I[:, 0], X[:1, :2]), RuntimeError, "source tensor shape must match self tensor shape"),
    (lambda: X.index_add(1, I[:, 0], X[:, :2].double()), RuntimeError, "must have the same scalar type"),
    (lambda: X.index_copy(1, I[:, 0] + 1, X[:, :2]), IndexError, "index 3 is out of bounds"),
    (lambda: X.index_copy(1, I[:, 0].int(), X[:, :2]), RuntimeError, "Expected a long tensor"),
    (lambda: X.index_fill(1, I[:, 0] + 1, 1), IndexError, "index 3 is out of bounds"),
    (lambda: X.index_fill(1, I, 1), RuntimeError, "vector/scalar"),
    (lambda: X.index_fill(1, I[:, 0], X), RuntimeError, "0-dimensional value tensor"),
    (lambda: X.take(torch.tensor([6])), IndexError, "tried to access index 6 on a tensor of 6 elements"),
    (lambda: X.take(torch.tensor([0], dtype=torch.int32)), RuntimeError, "Expected a long tensor"),
    (lambda: torch.take_along_dim(X, I[:, 0], 1), RuntimeError, "same number of dimensions"),
    (lambda: X.masked_fill(X, 1.0), RuntimeError, "only supports boolean masks"),
    (
        lambda: X.masked_fill(X[:, :2] > 0, 1.0),
        RuntimeError,
        "size of tensor a (3) must match the size of tensor b (2)",
    ),
    (lambda: X.masked_fill(X > 0, X), RuntimeError, "0-dimensional value tensor"),
    (lambda: X.masked_fill(X > 0, 1j), RuntimeError, "without overflow"),
    (lambda: X.half().masked_fill(X > 0, -1e30), RuntimeError, "c10::Half without overflow"),
    (lambda: X[0].clone().masked_fill_(X > 0, 1.0), RuntimeError, "doesn't match the broadcast shape [2, 3]"),
    (lambda: X.masked_select(X), RuntimeError, "expected BoolTensor"),
    (lambda: X.masked_scatter(X > 0, X[0]), RuntimeError, "source < number of ones in mask"),
    (lambda: X.masked_scatter(X > 0, X.double()), RuntimeError, "same dtypes"),
    (lambda: X.select_scatter(X[0], 1, 0), RuntimeError, "equal to the slice of self"),
    (lambda: X.select_scatter(X[0], 0, 2), IndexError, "index 2 out of range"),
    (lambda: X.slice_scatter(X, 1, 0, 2), RuntimeError, "equal to the slice of self"),
    (lambda: X.diagonal_scatter(X[0]), RuntimeError, "equal to the slice of self"),
    (lambda: X.select(1, 3), IndexError, "index 3 out of range"),
    (lambda: X.narrow(1, 2, 2), RuntimeError, "exceeds dimension size (3)"),
    (lambda: X.narrow(1, 0, -1), RuntimeError, "non-negative"),
    (lambda: torch.index_put(X, I, X), TypeError, "must be tuple of Tensors, not Tensor"),
    (lambda: torch.index_put(X, (I, None), X), TypeError, "element 1"),
    (lambda: torch.index_put(X, (I,) * 3, X[0, 0]), IndexError, "too many indices"),
]


@pytest.mark.parametrize(("action", "kind", "words"), REFUSED, ids=[w for _, _, w in REFUSED])
def test_bad_input(action, kind, words):
    with pytest.raises(kind) as caught:
        action()
    assert words in str(caught.value)
    assert X.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] and X._version == 0


INPLACE = {
    "index_put": lambda x, f: f(x)((torch.tensor([1, 0]),), torch.ones(3)),
    "index_add": lambda x, f: f(x)(1, torch.tensor([0, 0]), torch.ones(2, 2), alpha=2),
    "index_copy": lambda x, f: f(x)(1, torch.tensor([2, 0]), torch.ones(2, 2)),
    "index_fill": lambda x, f: f(x)(1, torch.tensor([2, 0]), 4.0),
    "masked_fill": lambda x, f: f(x)(torch.tensor([True, False, True]), 4.0),
    "masked_scatter": lambda x, f: f(x)(torch.tensor([True, False, True]), torch.ones(4)),
    "scatter": lambda x, f: f(x)(1, torch.tensor([[0], [2]]), 4.0),
    "scatter_add": lambda x, f: f(x)(1, torch.tensor([[0, 0], [2, 2]]), torch.ones(2, 2)),
    "scatter_reduce": lambda x, f: f(x)(1, torch.tensor([[0, 0], [2, 2]]), torch.ones(2, 2) * 2, "prod"),
}


@pytest.mark.parametrize("name", INPLACE)
@pytest.mark.parametrize(
    "view", [lambda x: x, lambda x: x[0], lambda x: x.transpose(1, 2)[1].t()], ids=["whole", "row", "turned"]
)
def test_inplace_forms_agree_and_keep_the_history(name, view):
    call = INPLACE[name]
    shape = (2, 3) if view(torch.zeros(2, 2, 3)).ndim == 3 else (2, 2, 3)
    x = torch.arange(float(np.prod(shape))).reshape(*shape).clone().requires_grad_()
    y = x * 2
    expected = call(view(y), lambda t: getattr(t, name))
    (g,) = torch.autograd.grad(expected.sum(), x)
    y = x * 2
    target = view(y)
    out = call(target, lambda t: getattr(t, name + "_"))
    assert out is target and y._version == 1
    assert np.array_equal(out.detach().numpy(), expected.detach().numpy())
    (h,) = torch.autograd.grad(target.sum(), x)
    assert np.array_equal(h.numpy(), g.numpy())
    assert np.array_equal(view(y).detach().numpy(), expected.detach().numpy())


def test_writes_go_into_the_array_itself():
    array = np.arange(6.0)
    x = torch.from_numpy(array)
    x[1] = 9.0
    x.masked_fill_(x > 8, -1.0)
    x.index_fill_(0, torch.tensor([5]), 7.0)
    assert array.tolist() == [0.0, -1.0, 2.0, 3.0, 4.0, 7.0] and x._version == 3


def test_nonzero():
    x = torch.tensor([[0, 5], [7, 0]])
    assert x.nonzero().tolist() == torch.argwhere(x).tolist() == [[0, 1], [1, 0]]
    rows, columns = torch.nonzero(x, as_tuple=True)
    assert x[rows, columns].tolist() == [5, 7]
    assert torch.tensor(3).nonzero().shape == (1, 0) and torch.tensor(0).nonzero().shape == (0, 0)
    assert [t.tolist() for t in torch.tensor(3).nonzero(as_tuple=True)] == [[0]]
    assert torch.zeros(0, 3).nonzero().shape == (0, 2)
