"""Gradients that are sparse: those of embeddings, how they accumulate, what hooks and optimizers make of them."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # torch: beta, invariants, cycles


@pytest.fixture
def table(torch):
    return torch.arange(10.0).reshape(5, 2).requires_grad_()


def look_up(torch, table, *rows, **options):
    return torch.nn.functional.embedding(torch.tensor(rows), table, sparse=True, **options)


def test_the_gradient_of_embedding_is_sparse(torch, table):
    look_up(torch, table, 1, 3, 1).sum().backward()
    g = table.grad
    assert g.is_sparse and not g.is_coalesced() and g.shape == (5, 2) and not g.requires_grad
    assert g._indices().tolist() == [[1, 3, 1]] and g._values().tolist() == [[1, 1], [1, 1], [1, 1]]
    assert g.to_dense().tolist() == [[0, 0], [2, 2], [0, 0], [1, 1], [0, 0]]


def test_sparse_gradients_accumulate_in_place(torch, table):
    look_up(torch, table, 1, 3).sum().backward()
    g = table.grad
    look_up(torch, table, 1).sum().backward()
    assert table.grad is g and g.is_sparse and g.to_dense().tolist() == [[0, 0], [2, 2], [0, 0], [1, 1], [0, 0]]


def test_dense_after_sparse_and_sparse_after_dense(torch, table):
    look_up(torch, table, 1, 3).sum().backward()
    g = table.grad
    (table * 2).sum().backward()
    assert table.grad is not g and not table.grad.is_sparse
    assert table.grad.tolist() == [[2, 2], [3, 3], [2, 2], [3, 3], [2, 2]]
    g = table.grad
    look_up(torch, table, 1, 1).sum().backward()
    assert table.grad is g and g.tolist() == [[2, 2], [5, 5], [2, 2], [3, 3], [2, 2]]


def test_in_one_backward(torch, table):
    (look_up(torch, table, 1).sum() + look_up(torch, table, 2).sum()).backward()
    assert table.grad.is_sparse and table.grad.to_dense().sum() == 4
    table.grad = None
    (look_up(torch, table, 1).sum() + table.sum()).backward()
    assert not table.grad.is_sparse and table.grad.sum() == 12


def test_create_graph(torch, table):
    (look_up(torch, table, 1, 1) ** 2).sum().backward(create_graph=True)
    assert table.grad.is_sparse and table.grad.requires_grad
    (table**2).sum().backward(create_graph=True)
    assert not table.grad.is_sparse
    (h,) = torch.autograd.grad(table.grad.sum(), table)
    assert h.to_dense().tolist() == [[2, 2], [6, 6], [2, 2], [2, 2], [2, 2]]


def test_through_what_comes_before(torch, table):
    look_up(torch, table * 3, 1).sum().backward()
    assert table.grad.is_sparse and table.grad.to_dense().sum() == 6


def test_autograd_grad_is_sparse(torch, table):
    (g,) = torch.autograd.grad(look_up(torch, table, 1).sum(), table)
    assert g.is_sparse and table.grad is None


def test_hooks_see_sparse_gradients(torch, table):
    seen = []

    def hook(g):
        seen.append(g.is_sparse)
        return g * 2

    table.register_hook(hook)
    table.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.is_sparse))
    look_up(torch, table, 1).sum().backward()
    assert seen == [True, True] and table.grad.to_dense().sum() == 4


def test_padding_has_no_entries(torch, table):
    look_up(torch, table, 1, 3, 1, padding_idx=1).sum().backward()
    assert table.grad._indices().tolist() == [[3]]


def test_scaling_by_frequency_has_no_sparse_gradient(torch, table):
    out = look_up(torch, table, 1, 1, scale_grad_by_freq=True)
    with pytest.raises(RuntimeError, match="scale_grad_by_freq not supported with sparse gradients"):
        out.sum().backward()


@pytest.mark.parametrize("mode", ["sum", "mean"])
def test_bags(torch, table, mode):
    bag = torch.nn.functional.embedding_bag
    index = torch.tensor([[1, 3], [1, 0]])
    bag(index, table, mode=mode, sparse=True).sum().backward()
    sparse, table.grad = table.grad, None
    bag(index, table, mode=mode).sum().backward()
    assert sparse.is_sparse and sparse._nnz() == 4 and torch.allclose(sparse.to_dense(), table.grad)


def test_bags_with_weights(torch, table):
    index, weights = torch.tensor([[1, 3], [1, 0]]), torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    bags = torch.nn.functional.embedding_bag(index, table, mode="sum", sparse=True, per_sample_weights=weights)
    bags.sum().backward()
    assert table.grad.to_dense()[:, 0].tolist() == [4, 4, 0, 2, 0]
    assert weights.grad.tolist() == [[5, 13], [5, 1]]


def test_modules(torch):
    layer = torch.nn.Embedding(4, 2, sparse=True)
    assert repr(layer) == "Embedding(4, 2, sparse=True)"
    layer(torch.tensor([1, 1])).sum().backward()
    assert layer.weight.grad.is_sparse
    layer.zero_grad(set_to_none=False)
    assert layer.weight.grad.is_sparse and layer.weight.grad._nnz() == 0
    layer.zero_grad()
    assert layer.weight.grad is None
    bags = torch.nn.EmbeddingBag(4, 2, mode="sum", sparse=True)
    bags(torch.tensor([[1, 2]])).sum().backward()
    assert bags.weight.grad.is_sparse


def test_grad_takes_sparse_tensors(torch, table):
    table.grad = torch.sparse_coo_tensor([[1]], torch.ones(1, 2), (5, 2))
    look_up(torch, table, 1).sum().backward()
    assert table.grad.to_dense().sum() == 4


def test_retained_gradients(torch, table):
    doubled = table * 2
    doubled.retain_grad()
    look_up(torch, doubled, 1).sum().backward()
    assert doubled.grad.is_sparse and table.grad.is_sparse


def test_sgd(torch, table):
    before = table.detach().clone()
    optimizer = torch.optim.SGD([table], lr=0.5, momentum=0.9)
    for _ in range(2):
        optimizer.zero_grad()
        look_up(torch, table, 1, 3, 1).sum().backward()
        optimizer.step()
    assert optimizer.state[table]["momentum_buffer"].is_sparse
    assert torch.allclose(before - table, torch.tensor([0, 2.9, 0, 1.45, 0])[:, None].expand(5, 2))


def test_weight_decay_is_dense(torch, table):
    look_up(torch, table, 1).sum().backward()
    with pytest.raises(RuntimeError, match=r"add\(sparse, dense\) is not supported"):
        torch.optim.SGD([table], lr=0.5, weight_decay=0.1).step()


def test_adam_takes_none(torch, table):
    look_up(torch, table, 1).sum().backward()
    for kind in (torch.optim.Adam, torch.optim.AdamW):
        with pytest.raises(RuntimeError, match="Adam does not support sparse gradients, please consider SparseAdam"):
            kind([table]).step()
    assert table[1].tolist() == [2, 3]


# -- gather --


def gathered(torch, x, dim, index):
    y = torch.gather(x, dim, torch.tensor(index), sparse_grad=True)
    (y * y).sum().backward()
    g = x.grad
    assert g.is_sparse and g.shape == x.shape and not g.requires_grad
    return g._indices().tolist(), g._values().tolist()


@pytest.mark.parametrize(
    ("shape", "dim", "index", "places", "values"),
    [
        ((2, 3), 0, [[0, 1, 0]], [[0, 1, 0], [0, 1, 2]], [2, 10, 6]),
        ((2, 3), 1, [[0, 0], [2, 1]], [[0, 0, 1, 1], [0, 0, 2, 1]], [2, 2, 12, 10]),
        ((2, 3), -1, [[2]], [[0], [2]], [6]),
        ((3,), 0, [2, 0, 2], [[2, 0, 2]], [6, 2, 6]),
        ((3,), 0, 1, [[1]], [4]),
        ((), 0, 0, [], [2]),
        ((2, 2, 2), 1, [[[0, 1]], [[1, 1]]], [[0, 0, 1, 1], [0, 1, 1, 1], [0, 1, 0, 1]], [2, 8, 14, 16]),
    ],
)
def test_the_gradient_of_gather(torch, shape, dim, index, places, values):
    size = 1
    for n in shape:
        size *= n
    x = torch.arange(1.0, 1 + size).reshape(shape).requires_grad_()
    assert gathered(torch, x, dim, index) == (places, values)


def test_the_gradient_of_a_gather_of_nothing(torch):
    x = torch.ones(2, 3, requires_grad=True)
    torch.gather(x, 0, torch.zeros(0, 3, dtype=torch.int64), sparse_grad=True).sum().backward()
    assert x.grad.is_sparse and x.grad._nnz() == 0 and x.grad.shape == (2, 3)


def test_gather_as_a_method_within_a_graph_and_in_bfloat16(torch):
    x = torch.ones(2, 3, dtype=torch.bfloat16, requires_grad=True)
    (x * 2).gather(1, torch.tensor([[0], [2]]), sparse_grad=True).sum().backward()
    assert x.grad.is_sparse and x.grad.dtype is torch.bfloat16
    assert x.grad.to_dense().tolist() == [[2, 0, 0], [0, 0, 2]]
    x.grad = None
    x.gather(1, torch.tensor([[0], [2]])).sum().backward()
    assert not x.grad.is_sparse


@pytest.mark.parametrize("dtype", ["float16", "float64", "complex64"])
def test_on_the_way_through_a_product(torch, dtype):
    x = torch.ones(3, 2, dtype=getattr(torch, dtype), requires_grad=True)
    torch.gather(x * 2, 0, torch.tensor([[1, 1], [1, 1]]), sparse_grad=True).sum().abs().backward()
    assert x.grad.is_sparse and x.grad.dtype is x.dtype
    assert x.grad.to_dense().tolist() == [[0, 0], [4, 4], [0, 0]]


def test_gather_differentiated_twice(torch):
    x = torch.arange(1.0, 7.0).reshape(2, 3).requires_grad_()
    y = torch.gather(x, 1, torch.tensor([[0, 0], [2, 1]]), sparse_grad=True)
    (g,) = torch.autograd.grad((y**3).sum(), x, create_graph=True)
    assert g.is_sparse and g.requires_grad
    (g.to_dense() ** 2).sum().backward()
    assert x.grad.to_dense().tolist() == [[144, 0, 0], [0, 4500, 7776]]


@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")
def test_gather_forwards(torch):
    x = torch.arange(1.0, 7.0).reshape(2, 3)
    index = torch.tensor([[0], [2]])
    made, tangent = torch.func.jvp(lambda x: torch.gather(x, 1, index, sparse_grad=True), (x,), (x + 1,))
    assert made.tolist() == [[1], [6]] and tangent.tolist() == [[2], [7]]
