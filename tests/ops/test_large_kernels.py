"""Forms that only large arrays take, against the plain formulas in float64."""

import numpy as np
import pytest

import gradpack as torch
from gradpack.kernels.dispatch import ENABLED
from gradpack.ops.reduce import row_products

F = torch.nn.functional


def gradients(function, *arrays):
    """The result, and the gradients for a cotangent with a fixed seed."""
    leaves = [torch.tensor(a, requires_grad=True) for a in arrays]
    out = function(*leaves)
    g = np.random.default_rng(9).normal(size=tuple(out.shape)).astype(arrays[0].dtype)
    return [out.detach().numpy(), *(x.numpy() for x in torch.autograd.grad(out, leaves, torch.tensor(g)))]


def close(found, expected, tolerance=2e-5):
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == np.float32
        assert np.abs(a - b).max() <= tolerance * np.abs(b).max()


def compare(function, plain, *arrays, tolerance=2e-5):
    """`function` in float32, against `plain` in float64."""
    wide = (a.astype(np.float64) for a in arrays)
    close(gradients(function, *arrays), gradients(plain, *wide), tolerance)


def normal(*shape, scale=1.0, shift=0.0):
    return (np.random.default_rng(0).normal(size=shape) * scale + shift).astype(np.float32)


@pytest.mark.parametrize(("scale", "shift"), [(1.0, 0.0), (5.0, 3.0), (0.1, 20.0)])  # the last is centred first
@pytest.mark.parametrize("affine", [True, False])
def test_layer_norm(scale, shift, affine):
    vectors = (normal(48, shift=1.0), normal(48)) if affine else ()

    def plain(x, weight=1.0, bias=0.0):
        centred = x - x.mean(-1, True)
        return centred / ((centred * centred).mean(-1, True) + 1e-5).sqrt() * weight + bias

    compare(
        lambda x, *v: F.layer_norm(x, (48,), *v), plain, normal(3, 1000, 48, scale=scale, shift=shift), *vectors,
        tolerance=1e-4 if shift == 20 else 2e-5,
    )  # fmt: skip


@pytest.mark.parametrize("shift", [0.0, 30.0])
def test_group_norm(shift):
    def plain(x, weight, bias):
        rows = x.reshape(4, 2, -1)
        rows = rows - rows.mean(-1, True)
        y = (rows / ((rows * rows).mean(-1, True) + 1e-5).sqrt()).reshape(x.shape)
        return y * weight.reshape(-1, 1, 1) + bias.reshape(-1, 1, 1)

    x = normal(4, 6, 30, 30, shift=shift)
    compare(lambda x, w, b: F.group_norm(x, 2, w, b), plain, x, normal(6), normal(6), tolerance=1e-4)


@pytest.mark.parametrize("scale", [1.0, 100.0])  # the second needs the largest of each row
@pytest.mark.parametrize("logarithm", [True, False])
def test_softmax(scale, logarithm):
    def plain(x, dim):
        x = x - x.amax(dim, True).detach()
        p = x.exp() / x.exp().sum(dim, True)
        return x - x.exp().sum(dim, True).log() if logarithm else p

    call = torch.log_softmax if logarithm else torch.softmax
    compare(lambda x: call(x, -1), lambda x: plain(x, -1), normal(700, 101, scale=scale))


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(("rows", "columns"), [(40, 40), (300, 600), (600, 300)])  # in one block, and in several
@pytest.mark.parametrize("scale", [1.0, 40.0])
def test_attention(causal, rows, columns, scale):
    def plain(q, k, v):
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if causal:
            scores = scores.masked_fill(torch.ones(rows, columns, dtype=torch.bool).tril().logical_not(), -1e30)
        return scores.softmax(-1) @ v

    shapes = ((2, 3, rows, 8), (2, 3, columns, 8), (2, 3, columns, 5))
    arrays = [np.random.default_rng(n).normal(size=s).astype(np.float32) for n, s in enumerate(shapes)]
    arrays[0] *= scale
    compare(
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=causal), plain, *arrays,
        tolerance=1e-3 if scale > 1 else 5e-5,
    )  # fmt: skip


def masks_of_attention(rows, columns):
    r = np.random.default_rng(4)
    holds = r.random((rows, columns)) < 0.7
    holds[:, 0] = True
    some = holds.copy()
    some[3] = False  # a row that sees nothing
    return {
        "bools": holds,
        "bools of a batch": np.broadcast_to(r.random((2, 1, 1, columns)) < 0.8, (2, 1, 1, columns)).copy(),
        "a row of nothing": some,
        "numbers": r.normal(size=(rows, columns)).astype(np.float32),
        "numbers of heads": r.normal(size=(1, 3, rows, columns)).astype(np.float32),
        "-inf": np.where(holds, 0, -np.inf).astype(np.float32),
        "-1e9": np.where(some, 0, -1e9).astype(np.float32),
        "a row of numbers": r.normal(size=columns).astype(np.float32),
    }


@pytest.mark.parametrize("dropout", [0.0, 0.25, 1.0])
@pytest.mark.parametrize("name", [None, "causal", *masks_of_attention(4, 4)])
@pytest.mark.parametrize(("rows", "columns"), [(40, 40), (300, 600)])  # in one block, and in several
def test_attention_masked_and_dropped(rows, columns, name, dropout):
    mask = torch.tensor(masks_of_attention(rows, columns)[name]) if name not in (None, "causal") else None
    above = torch.ones(rows, columns, dtype=torch.bool).tril().logical_not()

    def plain(q, k, v):
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if name == "causal":
            scores = scores.masked_fill(above, -np.inf)
        if mask is not None:
            scores = scores.masked_fill(~mask, -np.inf) if mask.dtype == torch.bool else scores + mask
        p = scores.softmax(-1)
        p = p.nan_to_num(0.0)  # rows of nothing
        torch.manual_seed(5)
        return F.dropout(p, dropout) @ v

    def fused(q, k, v):
        torch.manual_seed(5)
        return F.scaled_dot_product_attention(q, k, v, mask, dropout, is_causal=name == "causal")

    shapes = ((2, 3, rows, 8), (2, 3, columns, 8), (2, 3, columns, 5))
    arrays = [np.random.default_rng(n).normal(size=s).astype(np.float32) for n, s in enumerate(shapes)]
    if name == "-1e9":  # beside which float32 forgets the scores: the row that sees nothing else is uniform
        close(gradients(fused, *arrays), gradients(plain, *arrays), tolerance=5e-5)
    else:
        compare(fused, plain, *arrays, tolerance=5e-5)


@pytest.mark.parametrize("shape", [(40_000,), (3, 16_000), (3, 16_001)])
def test_cumsum(shape):
    compare(lambda x: x.cumsum(-1), lambda x: x.cumsum(-1), normal(*shape), tolerance=1e-6)


def test_cumsum_beside_infinity():
    x = normal(40_000)
    x[39_000] = np.inf
    found = torch.tensor(x).cumsum(0).numpy()
    assert np.isfinite(found[:39_000]).all()
    assert (found[39_000:] == np.inf).all()


@pytest.mark.parametrize("scipy", [True, False])
@pytest.mark.parametrize("most", [3, 2000])  # rows that come a few times, and very often
def test_rows_added_by_index(most, scipy, monkeypatch):
    monkeypatch.setitem(ENABLED, "scipy", scipy)
    index = np.random.default_rng(1).integers(0, 6000 // most, 6000)
    source, table = normal(6000, 40), normal(6000 // most, 40)
    expected = table.astype(np.float64)
    np.add.at(expected, index, source)
    found = torch.tensor(table).index_add(0, torch.tensor(index), torch.tensor(source)).numpy()
    assert np.allclose(found, expected, rtol=1e-4, atol=1e-4)
    rows = torch.tensor(table, requires_grad=True)
    F.embedding(torch.tensor(index), rows).backward(torch.tensor(source))
    assert np.allclose(rows.grad.numpy(), expected - table, rtol=1e-4, atol=1e-4)


def test_a_number_is_added_to_each_row():
    for dtype in (np.float32, np.float64):
        made, column = (normal(*shape).astype(dtype) for shape in ((700, 60), (700,)))
        wide = made.astype(np.float64)
        row_products.add_repeated(made, column)
        np.testing.assert_allclose(made, wide + column[:, None], atol=2e-6)


@pytest.mark.parametrize("scipy", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_adding_into_rows_by_place(dtype, scipy, monkeypatch):
    monkeypatch.setitem(ENABLED, "scipy", scipy)
    x, source = normal(400, 70).astype(dtype), normal(400, 200).astype(dtype)
    index = np.random.default_rng(1).integers(0, 70, (400, 200))
    expected = x.copy()
    np.add.at(expected, (np.arange(400)[:, None], index), source)
    found = torch.tensor(x).scatter_add(1, torch.tensor(index), torch.tensor(source)).numpy()
    np.testing.assert_array_equal(found, expected)  # in the same order
    expected = x.copy()
    np.add.at(expected, (slice(None), index[0]), source)
    found = torch.tensor(x).index_add(1, torch.tensor(index[0]), torch.tensor(source)).numpy()
    np.testing.assert_array_equal(found, expected)
    places = torch.tensor(np.where(index == 5, 70, index))
    with pytest.raises(RuntimeError, match="out of bounds"):
        torch.tensor(x).scatter_add(1, places, torch.tensor(source))


@pytest.mark.parametrize("scipy", [True, False])
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_scatter_along_any_dimension(dim, scipy, monkeypatch):
    monkeypatch.setitem(ENABLED, "scipy", scipy)
    x = normal(40, 50, 60)
    index = np.random.default_rng(1).integers(0, x.shape[dim], x.shape)
    places = [np.broadcast_to(p, x.shape) for p in np.ogrid[:40, :50, :60]]
    places[dim] = index
    expected = np.zeros_like(x)
    np.add.at(expected, tuple(places), x)
    found = torch.zeros(40, 50, 60).scatter_add(dim, torch.tensor(index), torch.tensor(x)).numpy()
    np.testing.assert_allclose(found, expected, atol=1e-5)
    found = torch.tensor(x).gather(dim, torch.tensor(index)).numpy()
    np.testing.assert_array_equal(found, np.take_along_axis(x, index, dim))


@pytest.mark.parametrize("scipy", [True, False])
@pytest.mark.parametrize("loc", [0.0, 5.0, 200.0])
def test_softmax_and_layer_norm_with_and_without_compiled_loops(loc, scipy, monkeypatch):
    monkeypatch.setitem(ENABLED, "scipy", scipy)
    x, g = normal(900, 100) + np.float32(loc), normal(900, 100)
    wide = x.astype(np.float64)
    powers = np.exp(wide - wide.max(1, keepdims=True))
    soft = powers / powers.sum(1, keepdims=True)
    leaf = torch.tensor(x, requires_grad=True)
    out = leaf.softmax(1)
    np.testing.assert_allclose(out.detach().numpy(), soft, rtol=3e-6)
    out.backward(torch.tensor(g))
    slope = soft * (g - (g * soft).sum(1, keepdims=True))
    np.testing.assert_allclose(leaf.grad.numpy(), slope, atol=2e-7)
    leaf.grad = None
    out = leaf.log_softmax(1)
    np.testing.assert_allclose(out.detach().numpy(), np.log(soft), rtol=3e-6, atol=1e-5 if loc else 2e-6)
    out.backward(torch.tensor(g))
    np.testing.assert_allclose(leaf.grad.numpy(), g - soft * g.sum(1, keepdims=True), atol=1e-5)
    out = F.layer_norm(torch.tensor(x), (100,)).numpy()
    centred = wide - wide.mean(1, keepdims=True)
    np.testing.assert_allclose(out, centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5), atol=2e-4)


@pytest.mark.parametrize("bound", [0.25, 1.0, 40.0])
@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_losses_that_bend_are_those_of_their_elements(bound, reduction):
    x, y = normal(70_001), normal(70_001)[::-1].copy()
    for loss, name in ((F.huber_loss, "delta"), (F.smooth_l1_loss, "beta")):
        each = loss(torch.tensor(x), torch.tensor(y), reduction="none", **{name: bound}).numpy().astype(np.float64)
        found = loss(torch.tensor(x), torch.tensor(y), reduction=reduction, **{name: bound})
        assert found.shape == () and found.dtype is torch.float32
        np.testing.assert_allclose(found.item(), getattr(each, reduction)(), rtol=1e-6)
    x[3] = np.nan
    assert np.isnan(F.huber_loss(torch.tensor(x), torch.tensor(y), delta=bound, reduction=reduction).item())


def test_gather_in_rows():
    x, index = normal(300, 80), np.random.default_rng(1).integers(0, 80, (300, 90))
    assert np.array_equal(torch.tensor(x).gather(1, torch.tensor(index)).numpy(), np.take_along_axis(x, index, 1))
    with pytest.raises(RuntimeError, match="out of bounds"):
        torch.tensor(x).gather(1, torch.tensor(np.where(index == 5, 80, index)))


@pytest.mark.parametrize("scipy", [True, False])
def test_bags_of_one_size(scipy, monkeypatch):
    monkeypatch.setitem(ENABLED, "scipy", scipy)
    table, bags = normal(50, 40), np.random.default_rng(1).integers(0, 50, (600, 8))
    compare(lambda t: F.embedding_bag(torch.tensor(bags), t, mode="sum"), lambda t: t[torch.tensor(bags)].sum(1), table)
    compare(lambda t: F.embedding_bag(torch.tensor(bags), t), lambda t: t[torch.tensor(bags)].mean(1), table)


def test_large_bags_of_any_size():
    rng = np.random.default_rng(2)
    table, rows = normal(300, 64), torch.tensor(rng.integers(0, 300, 2000))
    starts = np.sort(rng.integers(0, 2000, 250))  # some are empty
    starts[0] = 0
    ends = [*starts[1:], 2000]

    def sums(t):
        return torch.stack([t[rows[a:b]].sum(0) for a, b in zip(starts.tolist(), ends, strict=True)])

    offsets = torch.tensor(starts)
    compare(lambda t: F.embedding_bag(rows, t, offsets, mode="sum"), sums, table)
    found = F.embedding_bag(rows, torch.tensor(table), offsets, mode="mean", padding_idx=7).numpy()
    for mean, a, b in zip(found, starts, ends, strict=True):
        counted = rows.numpy()[a:b][rows.numpy()[a:b] != 7]
        np.testing.assert_allclose(mean, table[counted].mean(0) if counted.size else 0 * mean, atol=1e-6)
    with pytest.raises(RuntimeError, match="found idx to be 300"):
        F.embedding_bag(torch.where(rows == 7, 300, rows), torch.tensor(table), offsets)


@pytest.mark.parametrize("shape", [(200, 150), (3, 70, 130), (2, 20000)])
def test_places_in_rows_are_worked_on_in_portions(shape):
    rng = np.random.default_rng(4)
    x, values = rng.normal(size=shape), rng.normal(size=(*shape[:-1], 140))
    index = rng.integers(0, shape[-1], (*shape[:-1], 140))
    leaf = torch.tensor(x, requires_grad=True)
    out = torch.gather(leaf, -1, torch.tensor(index))
    np.testing.assert_array_equal(out.detach().numpy(), np.take_along_axis(x, index, -1))
    (gradient,) = torch.autograd.grad(out, leaf, torch.tensor(values))
    added = np.zeros(shape).reshape(-1, shape[-1])
    rows = np.arange(len(added))[:, None]
    np.add.at(added, (rows, index.reshape(len(added), -1)), values.reshape(len(added), -1))
    np.testing.assert_allclose(gradient.numpy(), added.reshape(shape), rtol=1e-12)
    found = torch.scatter_add(torch.tensor(x), -1, torch.tensor(index), torch.tensor(values))
    np.testing.assert_allclose(found.numpy(), x + added.reshape(shape), rtol=1e-12)


def test_one_index_for_all_rows():
    rng = np.random.default_rng(5)
    x, values, index = rng.normal(size=(300, 90)), rng.normal(size=(300, 120)), rng.integers(0, 90, 120)
    expected = x.copy()
    np.add.at(expected, (slice(None), index), values)
    found = torch.index_add(torch.tensor(x), 1, torch.tensor(index), torch.tensor(values))
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12)


def test_an_index_out_of_bounds_is_said_for_large_arrays_too():
    index = torch.zeros(200, 150, dtype=torch.int64)
    index[199, 149] = 150
    with pytest.raises(RuntimeError, match="index 150 is out of bounds"):
        torch.gather(torch.zeros(200, 150), 1, index)


def test_products_of_long_vectors():
    x = 1 + np.random.default_rng(6).normal(size=100_003) / 300
    np.testing.assert_allclose(torch.tensor(x).prod().numpy(), np.prod(x), rtol=1e-9)


def test_nansum_with_and_without_nan():
    x = np.random.default_rng(7).normal(size=(100, 80))
    np.testing.assert_allclose(torch.tensor(x).nansum(1).numpy(), x.sum(1), rtol=1e-9)
    x[::3, 5] = np.nan
    np.testing.assert_allclose(torch.tensor(x).nansum(1).numpy(), np.nansum(x, 1), rtol=1e-9)
    x[0, 0], x[0, 1] = np.inf, -np.inf
    assert np.isnan(torch.tensor(x).nansum(1).numpy()[0])
