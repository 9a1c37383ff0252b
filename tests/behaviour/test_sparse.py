"""Sparse tensors in coordinate form, and the gradients that are such."""

from __future__ import annotations

import copy
import pickle

import pytest

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # torch: beta, invariants, cycles

INDICES = [[0, 1, 1], [2, 0, 2]]


@pytest.fixture
def small(torch):
    """A 2x3 matrix with three entries."""
    return torch.sparse_coo_tensor(torch.tensor(INDICES), torch.tensor([3.0, 4.0, 5.0]), (2, 3))


@pytest.fixture
def table(torch):
    return torch.arange(10.0).reshape(5, 2).requires_grad_()


def look_up(torch, table, *rows, **options):
    return torch.nn.functional.embedding(torch.tensor(rows), table, sparse=True, **options)


# -- what they are --


def test_attributes(torch, small):
    assert small.is_sparse and small.layout is torch.sparse_coo and torch.ones(1).layout is torch.strided
    assert not torch.ones(1).is_sparse
    assert (small._nnz(), small.sparse_dim(), small.dense_dim(), small.dim(), small.numel()) == (3, 2, 0, 2, 6)
    assert small.shape == (2, 3) and small.dtype is torch.float32 and small.device.type == "cpu"
    assert not small.is_coalesced() and small.type() == "torch.sparse.FloatTensor"
    assert isinstance(torch.strided, torch.layout)


def test_dense_tensors_have_no_entries(torch):
    dense = torch.ones(2, 3)
    assert (dense.sparse_dim(), dense.dense_dim()) == (0, 2) and dense.to_dense() is dense
    for call in (dense.indices, dense.values, dense.coalesce, dense.is_coalesced):
        with pytest.raises(RuntimeError, match="but got Strided"):
            call()
    for call in (dense._indices, dense._values, dense._nnz):
        with pytest.raises(NotImplementedError, match="Could not run 'aten::_"):
            call()


def test_coalesce_adds_up_and_sorts(torch):
    s = torch.sparse_coo_tensor([[1, 0, 1], [1, 2, 1]], [1.0, 2.0, 3.0], (2, 3))
    for name in ("indices", "values"):
        with pytest.raises(RuntimeError, match=f"Cannot get {name} on an uncoalesced tensor, please call .coalesce"):
            getattr(s, name)()
    c = s.coalesce()
    assert c.is_coalesced() and c.coalesce() is c
    assert c.indices().tolist() == [[0, 1], [2, 1]] and c.values().tolist() == [2.0, 4.0]
    assert s._indices().tolist() == [[1, 0, 1], [1, 2, 1]] and not s.is_coalesced()
    assert s.to_dense().tolist() == [[0, 0, 2], [0, 4, 0]]


def test_to_sparse_and_back(torch):
    dense = torch.tensor([[0.0, 1.0], [2.0, 0.0], [0.0, 0.0]])
    s = dense.to_sparse()
    assert s.is_coalesced() and s.indices().tolist() == [[0, 1], [1, 0]] and torch.equal(s.to_dense(), dense)
    hybrid = dense.to_sparse(1)
    assert hybrid.indices().tolist() == [[0, 1]] and hybrid.values().tolist() == [[0, 1], [2, 0]]
    assert (hybrid.sparse_dim(), hybrid.dense_dim()) == (1, 1) and torch.equal(hybrid.to_dense(), dense)
    assert s.to_sparse() is not None and torch.tensor(3.0).to_sparse().to_dense().item() == 3
    with pytest.raises(RuntimeError, match=r"sparse_dim argument must be in \[0,2\] range, but 5 is given"):
        dense.to_sparse(5)


def test_factories(torch):
    for make in (torch.zeros, torch.empty):
        made = make(2, 3, layout=torch.sparse_coo)
        assert made.is_sparse and made._nnz() == 0 and made.shape == (2, 3)
    with pytest.raises(RuntimeError, match="is not implemented for sparse layout"):
        torch.ones(2, 3, layout=torch.sparse_coo)


def test_sizes_are_inferred_and_checked(torch):
    assert torch.sparse_coo_tensor(INDICES, [1, 2, 3]).shape == (2, 3)
    empty = torch.sparse_coo_tensor(size=(2, 3))
    assert empty._nnz() == 0 and empty.to_dense().tolist() == [[0, 0, 0], [0, 0, 0]]
    with pytest.raises(RuntimeError, match="indices and values must have same nnz"):
        torch.sparse_coo_tensor(INDICES, torch.ones(2), (2, 3))
    with pytest.raises(RuntimeError, match="is not satisfied: len"):
        torch.sparse_coo_tensor(INDICES, torch.ones(3), (2,))
    with pytest.raises(RuntimeError, match="size is inconsistent with indices: for dim 1, size is 2 but found index 2"):
        torch.sparse_coo_tensor(INDICES, torch.ones(3), (2, 2), check_invariants=True)
    with pytest.raises(RuntimeError, match="found negative index -1 for dim 0"):
        torch.sparse_coo_tensor([[-1, 0]], torch.ones(2), (2,), check_invariants=True)


def test_printing(torch, small):
    assert repr(small).replace("gradpack", "torch") == (
        "tensor(indices=tensor([[0, 1, 1],\n                       [2, 0, 2]]),\n       values=tensor([3., 4., 5.]),\n"
        "       size=(2, 3), nnz=3, layout=torch.sparse_coo)"
    )
    assert "values=tensor([], size=(0,))" in repr(torch.sparse_coo_tensor(size=(2, 3)))
    assert "requires_grad=True)" in repr(small.requires_grad_())


def test_copies(torch, small):
    for made in (copy.deepcopy(small), pickle.loads(pickle.dumps(small)), small.clone(), small.detach()):
        assert made.is_sparse and torch.equal(made.to_dense(), small.to_dense())
    small.clone().zero_()
    copy.deepcopy(small).mul_(2)
    assert small.to_dense().sum() == 12


def test_values_share_memory(torch, small):
    small._values().mul_(2)
    assert small.to_dense().sum() == 24


def test_what_is_dense_only_is_refused_in_words(torch, small):
    for call in (
        small.exp,
        small.max,
        small.mean,
        small.nonzero,
        lambda: small.view(6),
        lambda: small == small.clone(),
    ):
        with pytest.raises(NotImplementedError, match="Could not run 'aten::"):
            call()
    with pytest.raises(TypeError, match=r"can't convert Sparse layout tensor to numpy\. Use Tensor.to_dense"):
        small.numpy()
    with pytest.raises(RuntimeError, match="Boolean value of Tensor with more than one value is ambiguous"):
        bool(small)


# -- arithmetic --


def test_arithmetic(torch, small):
    dense = small.to_dense()
    for name, made, expected in (
        ("mul", small * 2, dense * 2),
        ("rmul", 2 * small, dense * 2),
        ("div", small / 2, dense / 2),
        ("neg", -small, -dense),
        ("add", small + small, dense * 2),
        ("alpha", torch.add(small, small, alpha=3), dense * 4),
        ("sub", small - small * 3, dense * -2),
        ("mul sparse", small * small, dense * dense),
        ("mul dense", small * torch.full((2, 3), 2.0), dense * 2),
        ("t", small.t(), dense.t()),
        ("transpose", small.transpose(0, 1), dense.t()),
        ("permute", small.permute(1, 0), dense.t()),
        ("abs", (-small).abs(), dense),
        ("sqrt", small.sqrt(), dense.sqrt()),
        ("pow", small**2, dense**2),
        ("relu", small.relu(), dense),
        ("double", small.double(), dense.double()),
        ("cat", torch.cat([small, small]), torch.cat([dense, dense])),
        ("row", small[1], dense[1]),
        ("unsqueeze", small.unsqueeze(0), dense.unsqueeze(0)),
        ("index_select", small.index_select(0, torch.tensor([1, 1])), dense[[1, 1]]),
        ("zeros_like", torch.zeros_like(small), torch.zeros(2, 3)),
        ("sum", small.sum(0), dense.sum(0)),
    ):
        assert made.is_sparse, name
        assert made.dtype is expected.dtype and torch.equal(made.to_dense(), expected), name
    for made, expected in (
        (torch.ones(2, 3) + small, dense + 1),
        (torch.add(torch.ones(2, 3), small, alpha=2), dense * 2 + 1),
        (torch.ones(2, 3) - small, 1 - dense),
        (small.sum(), dense.sum()),
        (small[0, 2], dense[0, 2]),
        (small.norm(), dense.norm()),
    ):
        assert not made.is_sparse and torch.allclose(made, expected)


def test_in_place(torch, small):
    dense = torch.ones(2, 3)
    same = dense
    dense += small
    assert dense is same and torch.equal(dense, small.to_dense() + 1) and dense._version == 1
    s = small.clone()
    assert s.add_(small) is s and s.mul_(2).to_dense().sum() == 48 and s.div_(4).neg_().to_dense().sum() == -12
    assert s.copy_(small).to_dense().sum() == 12
    assert s.zero_() is s and s._nnz() == 0 and s.shape == (2, 3)


def test_sums_that_are_refused(torch, small):
    for call in (lambda: small + torch.ones(2, 3), lambda: small + 1):
        with pytest.raises(RuntimeError, match=r"add\(sparse, dense\) is not supported. Use add\(dense, sparse\)"):
            call()
    with pytest.raises(RuntimeError, match="dense-sparse addition does not currently support broadcasting"):
        torch.ones(3) + small
    with pytest.raises(RuntimeError, match=r"expected sizes of 'self' and 'other' to match, but \[2, 3\] != \[3, 2\]"):
        small + small.t()
    with pytest.raises(RuntimeError, match="Sparse division requires a scalar or zero-dim dense tensor divisor"):
        small / torch.ones(2, 3)


def test_sparse_mask(torch, small):
    full = torch.arange(6.0).reshape(2, 3).requires_grad_()
    made = full.sparse_mask(small.coalesce())
    assert made.coalesce().values().tolist() == [2, 3, 5]
    made.coalesce().values().sum().backward()
    assert full.grad.tolist() == [[0, 0, 1], [1, 0, 1]]


# -- gradients of sparse tensors --


def test_values_of_a_sparse_tensor_get_gradients(torch):
    values = torch.tensor([3.0, 4.0, 5.0], requires_grad=True)
    s = torch.sparse_coo_tensor(INDICES, values, (2, 3))
    assert s.grad_fn.name() == "SparseCooTensorWithDimsAndTensorsBackward0" and not s.is_leaf
    (s.to_dense() * torch.arange(6.0).reshape(2, 3)).sum().backward()
    assert values.grad.tolist() == [2, 3, 5]
    values.grad = None
    s = torch.sparse_coo_tensor(INDICES, values, (2, 3))
    (s.coalesce().values() ** 2).sum().backward()
    assert values.grad.tolist() == [6, 8, 10]


def test_uncoalesced_values_all_get_the_gradient_of_their_place(torch):
    values = torch.tensor([1.0, 2.0], requires_grad=True)
    s = torch.sparse_coo_tensor([[1, 1]], values, (3,))
    (s.to_dense() ** 2).sum().backward()
    assert values.grad.tolist() == [6, 6]


def test_a_sparse_leaf_gets_a_sparse_gradient(torch, small):
    leaf = small.requires_grad_()
    (leaf.to_dense() * 2).sum().backward()
    assert leaf.grad.is_sparse and leaf.grad._indices().tolist() == INDICES
    assert leaf.grad._values().tolist() == [2, 2, 2]
    leaf.grad = None
    leaf.to_dense(masked_grad=False).sum().backward()
    assert leaf.grad._nnz() == 6


@pytest.mark.parametrize(
    ("name", "value"),
    [("mul", 2), ("neg", -1), ("add", 2), ("sub", -2), ("div", 0.5), ("clone", 1), ("t", 1), ("pow", None)],
)
def test_gradients_through_arithmetic(torch, small, name, value):
    leaf = small.requires_grad_()
    made = {
        "mul": lambda: leaf * 2,
        "neg": lambda: -leaf,
        "add": lambda: leaf + leaf,
        "sub": lambda: leaf - leaf * 3,
        "div": lambda: leaf / 2,
        "clone": lambda: leaf.clone(),
        "t": lambda: leaf.t(),
        "pow": lambda: leaf**2,
    }[name]()
    made.to_dense().sum().backward()
    expected = [6, 8, 10] if value is None else [value] * 3
    assert leaf.grad.is_sparse and leaf.grad.coalesce().values().tolist() == expected


def test_detached_values(torch, small):
    leaf = small.requires_grad_()
    assert not leaf._values().requires_grad and not leaf._indices().requires_grad
    c = leaf.coalesce()
    assert c.grad_fn.name() == "CoalesceBackward0" and c.values().grad_fn.name() == "ValuesBackward0"


# -- products --


@pytest.fixture
def factor(torch):
    return torch.tensor([[1.0, -0.5], [0.5, 2.0], [-1.0, 3.0]], requires_grad=True)


def test_sparse_mm(torch, small, factor):
    leaf = small.requires_grad_()
    out = torch.sparse.mm(leaf, factor)
    assert not out.is_sparse and out.grad_fn.name() == "SparseAddmmBackward0"
    assert torch.allclose(out, small.detach().to_dense() @ factor)
    out.sum().backward()
    assert leaf.grad.is_sparse and leaf.grad.coalesce().values().tolist() == [2.0, 0.5, 2.0]
    assert not factor.grad.is_sparse and factor.grad.tolist() == [[4, 4], [0, 0], [8, 8]]


def test_mm_gives_dense_gradients(torch, small, factor):
    leaf = small.requires_grad_()
    for multiply in (torch.mm, torch.matmul, lambda a, b: a @ b):
        leaf.grad = factor.grad = None
        multiply(leaf, factor).sum().backward()
        assert leaf.grad.tolist() == [[0.5, 2.5, 2.0], [0.5, 2.5, 2.0]]
        assert factor.grad.tolist() == [[4, 4], [0, 0], [8, 8]]


def test_values_get_gradients_through_products(torch, factor):
    for multiply in (torch.sparse.mm, torch.mm):
        values = torch.tensor([3.0, 4.0, 5.0], requires_grad=True)
        multiply(torch.sparse_coo_tensor(INDICES, values, (2, 3)), factor).sum().backward()
        assert values.grad.tolist() == [2.0, 0.5, 2.0]


def test_products_of_other_forms(torch, small, factor):
    dense, two = small.to_dense(), torch.ones(2, 2)
    f = factor.detach()
    assert torch.equal(two @ small, two @ dense) and torch.equal(torch.sparse.mm(two, small), two @ dense)
    assert torch.equal(small @ torch.ones(3), dense @ torch.ones(3))
    both = torch.sparse.mm(small, small.t())
    assert both.is_sparse and torch.equal(both.to_dense(), dense @ dense.t())
    assert torch.allclose(torch.sparse.addmm(two, small, f), two + dense @ f)
    assert torch.allclose(torch.sparse.addmm(two, small, f, beta=2, alpha=3), 2 * two + 3 * (dense @ f))
    assert torch.allclose(torch.addmm(two, small, f, beta=2, alpha=3), 2 * two + 3 * (dense @ f))
    made = torch.smm(small, f)
    assert made.is_sparse and torch.allclose(made.to_dense(), dense @ f)
    assert torch.allclose(torch.hspmm(small, f).to_dense(), dense @ f)
    assert torch.allclose(torch.sspaddmm(two.to_sparse(), small, f).to_dense(), two + dense @ f)


def test_shapes_without_a_product(torch, small):
    with pytest.raises(RuntimeError, match=r"Argument #3 \(dense\): Expected dim 0 size 3, got 2"):
        torch.sparse.mm(small, torch.ones(2, 2))


def test_sparse_mm_twice_differentiated(torch, small, factor):
    values = torch.tensor([3.0, 4.0, 5.0], requires_grad=True)
    s = torch.sparse_coo_tensor(INDICES, values, (2, 3))
    (g,) = torch.autograd.grad((torch.sparse.mm(s, factor) ** 2).sum(), factor, create_graph=True)
    (h,) = torch.autograd.grad((g**2).sum(), values)
    dense = s.detach().to_dense().requires_grad_()
    (g2,) = torch.autograd.grad(((dense @ factor) ** 2).sum(), factor, create_graph=True)
    (h2,) = torch.autograd.grad((g2**2).sum(), dense)
    assert torch.allclose(h, h2[INDICES[0], INDICES[1]])


def test_sums(torch, small):
    leaf = small.requires_grad_()
    total = torch.sparse.sum(leaf)
    assert not total.is_sparse and total.item() == 12
    total.backward()
    assert leaf.grad.is_sparse and leaf.grad._values().tolist() == [1, 1, 1]
    leaf.grad = None
    rows = torch.sparse.sum(leaf, 1)
    assert rows.is_sparse and rows.to_dense().tolist() == [3, 9]
    (rows.to_dense() * torch.tensor([2.0, 3.0])).sum().backward()
    assert leaf.grad.coalesce().values().tolist() == [2, 3, 3]
    assert not torch.sparse.sum(small, (0, 1)).is_sparse
    assert torch.sparse.sum(small.detach(), dtype=torch.float64).dtype is torch.float64


def test_softmax(torch, small):
    leaf = small.requires_grad_()
    for name, along in (("softmax", torch.sparse.softmax), ("log_softmax", torch.sparse.log_softmax)):
        made = along(leaf, 1)
        lines = [torch.tensor([3.0], requires_grad=True), torch.tensor([4.0, 5.0], requires_grad=True)]
        expected = torch.cat([getattr(torch, name)(line, 0) for line in lines])
        assert made.is_sparse and torch.allclose(made.coalesce().values(), expected)
        weights = torch.tensor([2.0, 3.0, 7.0])
        leaf.grad = None
        (made.to_dense() * torch.sparse_coo_tensor(INDICES, weights, (2, 3)).to_dense()).sum().backward()
        (expected * weights).sum().backward()
        assert torch.allclose(leaf.grad.coalesce().values(), torch.cat([line.grad for line in lines]), atol=1e-6)


# -- embedding --


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


# -- optimizers --


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


# -- gradcheck --


@pytest.fixture
def checked(torch):
    """A coalesced leaf in double precision."""
    values = torch.tensor([3.0, 4.0, 5.0], dtype=torch.float64)
    return torch.sparse_coo_tensor(INDICES, values, (2, 3)).coalesce().requires_grad_()


def test_gradcheck_moves_entries(torch, checked):
    factor = torch.tensor([[1.2, -0.5], [0.3, 2.0], [-0.7, 0.9]], dtype=torch.float64, requires_grad=True)
    gradcheck = torch.autograd.gradcheck
    assert gradcheck(torch.sparse.mm, (checked, factor), masked=True)
    for function in (
        lambda s: s.to_dense(),
        torch.sparse.sum,
        lambda s: torch.sparse.softmax(s, 1).to_dense(),
        lambda s: torch.sparse.log_softmax(s, 0).to_dense(),
        lambda s: (s * s + s * 2).to_dense(),
        lambda s: torch.sparse.sum(s, 0).to_dense(),
    ):
        assert gradcheck(function, checked, masked=True)


def test_gradcheck_moves_everything_unless_it_is_masked(torch, checked):
    gradcheck = torch.autograd.gradcheck
    with pytest.raises(RuntimeError, match="Jacobian mismatch for output 0 with respect to input 0"):
        gradcheck(torch.sparse.sum, checked)
    assert gradcheck(lambda s: s.to_dense(masked_grad=False), checked, masked=False)


def test_gradcheck_of_what_is_sparse(torch, checked):
    gradcheck = torch.autograd.gradcheck
    with pytest.raises(ValueError, match="Sparse output is not supported at gradcheck yet"):
        gradcheck(lambda s: s * 2, checked, masked=True)
    weight = torch.ones(3, 2, dtype=torch.float64, requires_grad=True)
    with pytest.raises(RuntimeError, match="grad is incorrect layout"):
        gradcheck(lambda w: look_up(torch, w, 0, 2, 2), weight)
    values = torch.ones(3, dtype=torch.float64, requires_grad=True)
    assert gradcheck(lambda v: torch.sparse_coo_tensor(INDICES, v, (2, 3)).to_dense(), values)
