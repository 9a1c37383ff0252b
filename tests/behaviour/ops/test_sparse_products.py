"""Products of sparse matrices, sums and softmax."""

from __future__ import annotations

import pytest

from tests.behaviour.ops.test_sparse import INDICES

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # torch: beta, invariants, cycles


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
