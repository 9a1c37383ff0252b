"""Sparse tensors in coordinate form: what they are, arithmetic, and gradients by them."""

from __future__ import annotations

import copy
import pickle

import pytest

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # torch: beta, invariants, cycles

INDICES = [[0, 1, 1], [2, 0, 2]]


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


def test_to_sparse_by_the_number_of_dense_dimensions(torch, small):
    dense = torch.tensor([[0.0, 1.0], [2.0, 0.0], [0.0, 0.0]])
    hybrid = dense.to_sparse(dense_dim=1)
    assert (hybrid.sparse_dim(), hybrid.dense_dim()) == (1, 1) and torch.equal(hybrid.to_dense(), dense)
    assert dense.to_sparse(dense_dim=0).sparse_dim() == 2 and dense.to_sparse(layout=torch.strided) is dense
    for count, message in (
        (2, "dense_dim argument must be !=self.dim()"),
        (3, r"dense_dim argument must be in \[0,2\]"),
    ):
        with pytest.raises(RuntimeError, match=message):
            dense.to_sparse(dense_dim=count)
    with pytest.raises(RuntimeError, match="dense_dim argument given is not supported"):
        small.to_sparse(dense_dim=0)
    with pytest.raises(RuntimeError, match="blocksize"):
        dense.to_sparse(blocksize=(1, 1))
    with pytest.raises(TypeError):
        dense.to_sparse(1, dense_dim=1)


@pytest.mark.parametrize(
    "call",
    "rand(2) randn(2) randperm(3) arange(3) linspace(0,1,3) eye(2) empty_strided((2,),(1,)) ones_like(x) rand_like(x) "
    "full_like(x,1.0) tril_indices(2,2) x.new_ones(2) x.new_full((2,),1.0)".split(),
)
def test_makers_of_dense_tensors_refuse_the_layout(torch, call):
    names = {"x": torch.ones(2)} | {n: getattr(torch, n) for n in call.split("(")[:1] if "." not in n}
    with pytest.raises(NotImplementedError):
        eval(f"{call[:-1]}, layout=layout)", names | {"layout": torch.sparse_coo})
    made = eval(f"{call[:-1]}, layout=layout)", names | {"layout": torch.strided})
    assert made.layout is torch.strided


def test_empty_sparse_tensors(torch, small):
    x, how = torch.ones(2, 3), {"layout": torch.sparse_coo}
    for made in (
        torch.zeros(2, 3, **how),
        torch.empty((2, 3), **how),
        torch.zeros_like(x, **how),
        x.new_zeros(2, 3, **how),
        x.new_empty((2, 3), **how),
        small.new_zeros(2, 3),
        torch.zeros_like(small),
    ):
        assert made.is_sparse and made.shape == (2, 3) and made._nnz() == 0 and made.dtype is torch.float32
    for name in ("full", "hann_window"):
        with pytest.raises(RuntimeError, match="not implemented for sparse"):
            getattr(torch, name)(*((2,), 1.0) if name == "full" else (3,), **how)
    assert torch.zeros_like(small, layout=torch.strided).layout is torch.strided


def test_resize(torch, small):
    assert small.sparse_resize_((4, 5), 2, 0).shape == (4, 5) and small._nnz() == 3
    for size, counts, message in (
        ((4, 5, 6), (2, 1), r"number of dense dimensions \(from 0 to 1\)"),
        ((4, 5, 6), (3, 0), r"number of sparse dimensions \(from 2 to 3\)"),
        ((1, 1), (2, 0), r"size of sparse dimensions \(from \[4, 5\] to \[1, 1\]\)"),
        ((4, 5), (1, 0), "is not satisfied"),
    ):
        with pytest.raises(RuntimeError, match=message):
            small.sparse_resize_(size, *counts)
    hybrid = torch.eye(2).to_sparse(1)
    assert hybrid.sparse_resize_((3, 2), 1, 1).to_dense().tolist() == [[1, 0], [0, 1], [0, 0]]
    with pytest.raises(RuntimeError, match=r"size of dense dimensions \(from \[2\] to \[1\]\)"):
        hybrid.sparse_resize_((3, 1), 1, 1)
    cleared = small.sparse_resize_and_clear_((4, 5, 6), 1, 2)
    assert cleared is small and (cleared._nnz(), cleared.sparse_dim(), cleared.dense_dim()) == (0, 1, 2)
    assert small.sparse_resize_((4, 5), 2, 0).sparse_dim() == 2  # without entries, all shapes do


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
        gradcheck(lambda w: torch.nn.functional.embedding(torch.tensor([0, 2, 2]), w, sparse=True), weight)
    values = torch.ones(3, dtype=torch.float64, requires_grad=True)
    assert gradcheck(lambda v: torch.sparse_coo_tensor(INDICES, v, (2, 3)).to_dense(), values)
