"""Sparse tensors with random entries, some of one place, against those of torch: values, entries, gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradpack

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

SHAPES = [((4, 5), 2, 7), ((4, 5), 2, 0), ((3, 4, 2), 2, 6), ((3, 4, 2), 3, 9), ((6, 2), 1, 8), ((5,), 1, 3)]
DTYPES = ["float64", "float32", "complex128", "int64"]


def both(shape: tuple[int, ...], sparse_dim: int, nnz: int, dtype: str = "float64", seed: int = 0) -> list[Any]:
    rng = np.random.default_rng(seed)
    indices = np.stack([rng.integers(0, n, nnz) for n in shape[:sparse_dim]])
    values = rng.normal(size=(nnz, *shape[sparse_dim:])) * 4
    values = np.asarray(values + 1j * rng.normal(size=values.shape) if dtype.startswith("c") else values).astype(dtype)
    return [lib.sparse_coo_tensor(lib.tensor(indices), lib.tensor(values), shape) for lib in (gradpack, torch)]


def assert_same(ours: Any, theirs: Any, entries: bool = True) -> None:
    assert ours.is_sparse == theirs.is_sparse and tuple(ours.shape) == tuple(theirs.shape)
    assert str(ours.dtype).split(".")[1] == str(theirs.dtype).split(".")[1]
    if ours.is_sparse:
        assert (ours.sparse_dim(), ours.dense_dim()) == (theirs.sparse_dim(), theirs.dense_dim())
        if entries:
            np.testing.assert_array_equal(ours._indices().numpy(), theirs._indices().numpy())
            np.testing.assert_allclose(ours._values().detach().numpy(), theirs._values().detach().numpy(), rtol=1e-5)
        ours, theirs = ours.to_dense(), theirs.to_dense()
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "sparse_dim", "nnz"), SHAPES)
def test_forms(shape: Any, sparse_dim: int, nnz: int, dtype: str) -> None:
    s, t = both(shape, sparse_dim, nnz, dtype)
    for call in (
        lambda x: x.coalesce(),
        lambda x: x.to_dense(),
        lambda x: x.to_dense().to_sparse(),
        lambda x: x.to_dense().to_sparse(1),
        lambda x: -x,
        lambda x: x * 3,
        lambda x: x.clone(),
        lambda x: x.coalesce() + x.coalesce() * 2,
        lambda x: x.sum(),
    ):
        assert_same(call(s), call(t))


@pytest.mark.parametrize(("shape", "sparse_dim", "nnz"), SHAPES)
def test_pairs(shape: Any, sparse_dim: int, nnz: int) -> None:
    (s, t), (u, v) = both(shape, sparse_dim, nnz), both(shape, sparse_dim, max(nnz - 2, 0), seed=1)
    assert_same(s + u, t + v, entries=False)
    assert_same(s - u, t - v, entries=False)
    assert_same(s.coalesce() + u.coalesce(), t.coalesce() + v.coalesce())
    assert_same(s * u, t * v, entries=False)
    assert_same(u.to_dense() + s, v.to_dense() + t)
    assert_same(u.to_dense().sparse_mask(s.coalesce()), v.to_dense().sparse_mask(t.coalesce()))
    assert_same(gradpack.cat([s, u]), torch.cat([t, v]))


@pytest.mark.parametrize("dim", [0, 1, (0, 1), -1])
def test_sums_and_their_gradients(dim: Any) -> None:
    for shape, sparse_dim, nnz in [((4, 5), 2, 7), ((3, 4, 2), 2, 6), ((6, 2), 1, 8)]:
        found = []
        for lib, x in zip((gradpack, torch), both(shape, sparse_dim, nnz), strict=True):
            leaf = x.coalesce().requires_grad_()
            out = lib.sparse.sum(leaf, dim)
            dense = out.to_dense() if out.is_sparse else out
            (dense**2).sum().backward()
            found.append((out, leaf.grad))
        for ours, theirs in zip(*found, strict=True):
            assert_same(ours, theirs)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_products_and_their_gradients(dtype: str) -> None:
    found = []
    rng = np.random.default_rng(3)
    dense = (rng.normal(size=(5, 3)) + (1j * rng.normal(size=(5, 3)) if dtype == "complex128" else 0)).astype(dtype)
    for lib, x in zip((gradpack, torch), both((4, 5), 2, 7, dtype), strict=True):
        results = []
        for product in (lib.sparse.mm, lib.mm, lambda a, b, lib=lib: lib.sparse.addmm(lib.ones_like(a @ b), a, b)):
            leaf, factor = x.coalesce().requires_grad_(), lib.tensor(dense, requires_grad=True)
            out = product(leaf, factor)
            (out * out.conj()).real.sum().backward() if dtype == "complex128" else (out**2).sum().backward()
            results += [out, leaf.grad, factor.grad]
        results += [lib.sparse.mm(x, x.t()), lib.smm(x, lib.tensor(dense)), lib.hspmm(x, lib.tensor(dense))]
        found.append(results)
    for ours, theirs in zip(*found, strict=True):
        assert_same(ours, theirs, entries=False)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("dim", [0, 1])
def test_softmax(name: str, dim: int) -> None:
    for shape, sparse_dim, nnz in [((4, 5), 2, 9), ((3, 4, 2), 2, 6)]:
        found = []
        for lib, x in zip((gradpack, torch), both(shape, sparse_dim, nnz), strict=True):
            leaf = x.coalesce().requires_grad_()
            out = getattr(lib.sparse, name)(leaf, dim)
            (out.to_dense() ** 2).sum().backward()
            found.append((out, leaf.grad))
        for ours, theirs in zip(*found, strict=True):
            assert_same(ours, theirs)


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
@pytest.mark.parametrize("padding_idx", [None, 2])
def test_embedding(dtype: str, padding_idx: int | None) -> None:
    found = []
    rng = np.random.default_rng(5)
    numbers, rows = rng.normal(size=(6, 3)), rng.integers(0, 6, (4, 3))
    for lib in (gradpack, torch):
        table = lib.tensor(numbers).to(getattr(lib, dtype)).requires_grad_()
        out = lib.nn.functional.embedding(lib.tensor(rows), table, padding_idx=padding_idx, sparse=True)
        (out**2).sum().backward()
        g = table.grad
        found.append(lib.sparse_coo_tensor(g._indices(), g._values().float(), g.shape))
        assert str(g.dtype).endswith(dtype)
    assert_same(*found)


def test_second_derivatives_of_embedding() -> None:
    found = []
    rng = np.random.default_rng(6)
    numbers, rows = rng.normal(size=(6, 3)), rng.integers(0, 6, 5)
    for lib in (gradpack, torch):
        table = lib.tensor(numbers, requires_grad=True)
        out = lib.nn.functional.embedding(lib.tensor(rows), table, sparse=True)
        (g,) = lib.autograd.grad((out**3).sum(), table, create_graph=True)
        (h,) = lib.autograd.grad((g.to_dense() ** 2).sum(), table)
        found.append((g, h))
    assert_same(found[0][0], found[1][0])
    assert_same(found[0][1], found[1][1], entries=False)
