"""Reading and writing at places by compiled loops: the same as without them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradpack as torch
import gradpack.nn.functional as F

pytest.importorskip("numba")


def _results(call: Any, *arrays: Any) -> list[Any]:
    tensors = [torch.tensor(a, requires_grad=a.dtype.kind == "f") for a in arrays]
    made = call(*tensors)
    outs = list(made) if isinstance(made, tuple) else [made]
    if not outs[0].requires_grad:
        return [t.numpy() for t in outs]
    seed = np.random.default_rng(2).normal(size=tuple(outs[0].shape)).astype(outs[0].detach().numpy().dtype)
    wanted = [t for t in tensors if t.requires_grad]
    grads = torch.autograd.grad(outs[0], wanted, torch.tensor(seed), allow_unused=True)
    return [t.detach().numpy() for t in (*outs, *grads) if t is not None]


def _agree(call: Any, *arrays: Any) -> None:
    found = _results(call, *arrays)
    with torch.backends.compiled.flags(enabled=False):
        wanted = _results(call, *arrays)
    for a, b in zip(found, wanted, strict=True):
        assert a.dtype == b.dtype
        error = 1e-5 if a.dtype == np.float32 else 1e-12
        np.testing.assert_allclose(a, b, rtol=error, atol=error * 10)


def _numbers(seed: int, *shape: int, dtype: str = "float32") -> Any:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


@pytest.mark.parametrize("reduce", ["amax", "amin", "prod", "mean"])
@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_index_reduce(reduce: str, include_self: bool, dim: int) -> None:
    index = np.random.default_rng(3).integers(0, 20, 41)
    shape = [33, 35, 37]
    shape[dim] = 41
    x, source = _numbers(1, 33, 35, 37), _numbers(2, *shape)
    _agree(lambda a, b: a.index_reduce(dim, torch.tensor(index), b, reduce, include_self=include_self), x, source)


def test_extremes_of_what_is_no_number() -> None:
    x, source = _numbers(1, 211, 203), _numbers(2, 211, 203)
    x[3, 4], source[5, 6], source[7, 8], x[9], source[9] = np.nan, np.nan, np.inf, 0.0, -0.0
    index = torch.tensor(np.arange(211) // 2)
    for reduce in ("amax", "amin"):
        _agree(lambda a, b, r=reduce: a.detach().index_reduce(0, index, b.detach(), r), x, source)


def test_an_index_out_of_bounds_is_refused_and_nothing_written() -> None:
    x, source = torch.tensor(_numbers(1, 300, 200)), torch.tensor(_numbers(2, 300, 200))
    before = x.clone()
    for wrong in (300, -1):
        index = torch.arange(300)
        index[150] = wrong
        with pytest.raises((IndexError, RuntimeError), match="out of bounds"):
            x.index_reduce_(0, index, source, "amax")
        with pytest.raises(RuntimeError, match="out of bounds"):
            x.scatter_reduce_(0, index[:, None].expand(300, 200), source, "amin")
        with pytest.raises(RuntimeError, match="out of bounds"):
            x.scatter_(0, index[:, None].expand(300, 200), 1.0)
        with pytest.raises(RuntimeError, match="out of bounds"):
            x.gather(0, index[:, None].expand(300, 200))
    assert torch.equal(x, before)


@pytest.mark.parametrize("dim", [0, 1])
def test_an_index_that_is_repeated_for_all_lines(dim: int) -> None:
    x, source = _numbers(1, 203, 211), _numbers(2, 203, 211)
    count = x.shape[dim]
    vector = torch.tensor(np.random.default_rng(3).integers(0, count, count))
    index = vector[:, None].expand(203, 211) if dim == 0 else vector[None].expand(203, 211)
    whole = index.clone()
    for call in (
        lambda a, b, i: a.gather(dim, i),
        lambda a, b, i: a.scatter_add(dim, i, b),
        lambda a, b, i: a.scatter(dim, i, 2.0),
        lambda a, b, i: a.scatter_reduce(dim, i, b, "amax"),
    ):
        for a, b in zip(
            _results(lambda s, t, c=call: c(s, t, index) + 0 * t.sum(), x, source),
            _results(lambda s, t, c=call: c(s, t, whole) + 0 * t.sum(), x, source),
            strict=True,
        ):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("k", [1, 2, 7, 16, 17])
def test_topk(largest: bool, k: int) -> None:
    x = np.random.default_rng(1).permutation(203 * 211).reshape(203, 211).astype(np.float32)
    x[3, 4], x[5, :150], x[6, :] = np.nan, np.inf, -np.inf
    _agree(lambda a: a.topk(k, 1, largest)[0], x[:5])
    values, indices = torch.topk(torch.tensor(x), k, 1, largest)
    assert torch.equal(torch.tensor(x).gather(1, indices).nan_to_num(), values.nan_to_num())
    with torch.backends.compiled.flags(enabled=False):
        assert torch.equal(torch.topk(torch.tensor(x), k, 1, largest)[0].nan_to_num(), values.nan_to_num())
    assert all(len(set(row)) == k for row in indices.tolist())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_histc(dtype: str) -> None:
    x = _numbers(1, 40_003, dtype=dtype)
    _agree(lambda a: a.detach().histc(50), x)
    x[:3] = np.nan, np.inf, -np.inf
    _agree(lambda a: a.detach().histc(7, -1, 1.5), x)
    _agree(lambda a: a.detach().histc(3, 0, 3), (np.arange(40_000) % 5).astype(dtype))


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_grid_sample(mode: str, padding: str) -> None:
    grid = np.random.default_rng(2).uniform(-1.3, 1.3, (4, 33, 35, 2)).astype(np.float32)

    def call(x: Any, at: Any) -> Any:
        return F.grid_sample(x, at, mode, padding, align_corners=False)

    _agree(call, _numbers(1, 4, 8, 33, 37), grid)


def test_grid_sample_of_volumes() -> None:
    grid = np.random.default_rng(2).uniform(-1, 1, (2, 13, 15, 16, 3))
    _agree(lambda x, at: F.grid_sample(x, at, align_corners=True), _numbers(1, 2, 5, 17, 16, 15, dtype="float64"), grid)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_elements_of_rows_vectors_and_whole_rows(dtype: str) -> None:
    r = np.random.default_rng(3)
    x, source = _numbers(1, 203, 211, dtype=dtype), _numbers(2, 203, 211, dtype=dtype)
    inside, rows, flat = (torch.tensor(r.integers(0, 203, shape)) for shape in ((203, 211), 300, 203 * 211))
    bags = torch.tensor(r.integers(0, 203, (50, 6)))
    for call in (
        lambda a, b: a.gather(1, inside) + b,
        lambda a, b: a.scatter_add(1, inside, b),
        lambda a, b: a.scatter(1, inside, b),
        lambda a, b: a.flatten().index_add(0, flat % 1000, b.flatten()),
        lambda a, b: a.flatten().index_put((flat % 1000 - 500,), b.flatten(), accumulate=True),
        lambda a, b: F.embedding(rows, a) + b.sum(),
        lambda a, b: F.embedding_bag(bags, a) + b.sum(),
        lambda a, b: F.embedding_bag(bags, a, mode="sum", padding_idx=3) + b.sum(),
        lambda a, b: a.index_add(0, rows[:203], b),
    ):
        _agree(call, x, source)


def test_embedding_bags_in_any_order_of_rows() -> None:
    table = _numbers(1, 1003, 67)
    index = torch.tensor(np.random.default_rng(3).integers(0, 1003, 4001))
    offsets = torch.tensor([0, 0, 17, 1000, 4001])
    _agree(lambda t: F.embedding_bag(index, t, offsets), table)
