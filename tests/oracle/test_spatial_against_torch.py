"""Convolution, pooling, padding, normalisation over batches, resizing: against torch, to the second order."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import gradpack

torch = pytest.importorskip("torch")

RNG = np.random.default_rng(0)


def real(*shape: int) -> Any:
    return RNG.normal(size=shape)


def far(*shape: int) -> Any:
    """Numbers in a random order, none near another."""
    size = int(np.prod(shape))
    return RNG.permutation(size).reshape(shape) * 0.1


LINE, IMAGE, VOLUME = real(2, 4, 9), real(2, 4, 7, 8), real(2, 4, 5, 4, 6)
GRID, GRID3 = RNG.uniform(-1.3, 1.3, (2, 3, 4, 2)), RNG.uniform(-1.3, 1.3, (2, 2, 3, 2, 3))


def pooled(function: str, *args: Any, **kwargs: Any) -> Any:
    return lambda F, x: getattr(F, function)(x, *args, **kwargs)


def convolved(function: str, *args: Any, **kwargs: Any) -> Any:
    return lambda F, x, w, *b: getattr(F, function)(x, w, *b, *args, **kwargs)


def unpooled(F: Any, x: Any, **kwargs: Any) -> Any:
    out, indices = F.max_pool2d(x, 2, return_indices=True)
    return F.max_unpool2d(out, indices, 2, **kwargs)


CONVOLUTIONS: dict[str, tuple[Any, ...]] = {
    "conv1d": (convolved("conv1d"), LINE, real(6, 4, 3), real(6)),
    "conv1d same": (convolved("conv1d", None, padding="same", dilation=2), LINE, real(6, 4, 4)),
    "conv1d of one": (convolved("conv1d", None, 2, 1), real(4, 9), real(6, 4, 3)),
    "conv2d": (convolved("conv2d", (2, 1), (1, 2), (1, 2)), IMAGE, real(6, 4, 3, 2), real(6)),
    "conv2d 1x1": (convolved("conv2d"), IMAGE, real(6, 4, 1, 1), real(6)),
    "conv2d of groups": (convolved("conv2d", None, 1, 1, groups=2), IMAGE, real(6, 2, 3, 3)),
    "conv2d by channel": (convolved("conv2d", None, 2, 1, groups=4), IMAGE, real(8, 1, 3, 3)),
    "conv2d of nothing": (convolved("conv2d"), real(0, 4, 7, 8), real(6, 4, 3, 2), real(6)),
    "conv3d": (convolved("conv3d", (1, 2, 1), 1), VOLUME, real(2, 4, 2, 3, 2), real(2)),
    "conv_transpose1d": (convolved("conv_transpose1d", 2, 1, 1), LINE, real(4, 3, 4), real(3)),
    "conv_transpose2d": (convolved("conv_transpose2d", (3, 2), 1, (2, 1), 2, 2), IMAGE, real(4, 3, 3, 2), real(6)),
    "conv_transpose2d dense": (convolved("conv_transpose2d"), IMAGE, real(4, 3, 3, 3), real(3)),
    "conv_transpose3d": (convolved("conv_transpose3d", 2), VOLUME, real(4, 2, 2, 1, 2), real(2)),
    "conv_tbc": (convolved("conv_tbc", 1), real(5, 2, 4), real(3, 4, 6), real(6)),
    "fold": (lambda F, x: F.fold(x, (5, 6), (2, 3), dilation=(2, 1), padding=1, stride=2), real(2, 12, 9)),
    "unfold": (pooled("unfold", (2, 3), 1, (0, 1), 2), IMAGE),
}
POOLS: dict[str, tuple[Any, ...]] = {
    "max_pool1d": (pooled("max_pool1d", 3, 2, 1), far(2, 4, 9)),
    "max_pool2d": (pooled("max_pool2d", 2), far(2, 4, 7, 8)),
    "max_pool2d ceil": (pooled("max_pool2d", (3, 2), (2, 3), 1, ceil_mode=True), far(2, 4, 7, 8)),
    "max_pool2d dilated": (pooled("max_pool2d", 2, 1, 1, (2, 3)), far(4, 7, 8)),
    "max_pool2d with indices": (pooled("max_pool2d", 3, 2, 1, return_indices=True), far(2, 4, 7, 8)),
    "max_pool2d of ties": (pooled("max_pool2d", 3, 1, 1, return_indices=True), np.round(IMAGE)),
    "max_pool3d": (pooled("max_pool3d", 2, (1, 2, 1), return_indices=True), far(2, 4, 5, 4, 6)),
    "max_unpool2d": (unpooled, far(2, 4, 6, 8)),
    "max_unpool2d to a size": (lambda F, x: unpooled(F, x, output_size=(7, 9)), far(2, 4, 6, 8)),
    "avg_pool1d": (pooled("avg_pool1d", 3, 2, 1, True), LINE),
    "avg_pool2d": (pooled("avg_pool2d", (3, 2), (2, 3), 1, True, False), IMAGE),
    "avg_pool2d divided by": (pooled("avg_pool2d", 2, divisor_override=3), IMAGE),
    "avg_pool2d ceil, padded": (pooled("avg_pool2d", 4, 3, 2, True), IMAGE),
    "avg_pool3d": (pooled("avg_pool3d", 2, 1), VOLUME),
    "adaptive_avg_pool1d": (pooled("adaptive_avg_pool1d", 4), LINE),
    "adaptive_avg_pool2d": (pooled("adaptive_avg_pool2d", (3, None)), IMAGE),
    "adaptive_avg_pool2d, even": (pooled("adaptive_avg_pool2d", (7, 4)), IMAGE),
    "adaptive_avg_pool2d of one": (pooled("adaptive_avg_pool2d", 1), IMAGE),
    "adaptive_avg_pool3d": (pooled("adaptive_avg_pool3d", (2, 3, 4)), VOLUME),
    "adaptive_max_pool1d": (pooled("adaptive_max_pool1d", 4, True), far(2, 4, 9)),
    "adaptive_max_pool2d": (pooled("adaptive_max_pool2d", (3, 5), True), far(2, 4, 7, 8)),
    "adaptive_max_pool3d": (pooled("adaptive_max_pool3d", (2, 3, 4)), far(2, 4, 5, 4, 6)),
    "lp_pool1d": (pooled("lp_pool1d", 2.0, 3, 2), np.abs(LINE)),
    "lp_pool2d": (pooled("lp_pool2d", 3.0, (2, 3), ceil_mode=True), np.abs(IMAGE) + 0.1),
    "lp_pool3d": (pooled("lp_pool3d", 2.0, 2), np.abs(VOLUME)),
}
PADS: dict[str, tuple[Any, ...]] = {
    f"pad {mode} {pad}": (pooled("pad", pad, mode), x)
    for mode in ("constant", "reflect", "replicate", "circular")
    for x, pad in ((LINE, (3, 2)), (IMAGE, (1, 2, 3, 0)), (VOLUME, (1, 1, 2, 0, 1, 2)), (IMAGE, (-2, 1, 0, -1)))
}
NORMS: dict[str, tuple[Any, ...]] = {
    "batch_norm": (lambda F, x, w, b: F.batch_norm(x, None, None, w, b, True), IMAGE, real(4), real(4)),
    "batch_norm of rows": (lambda F, x, w: F.batch_norm(x, None, None, w, None, True, eps=0.1), real(5, 4), real(4)),
    "instance_norm": (lambda F, x, w, b: F.instance_norm(x, None, None, w, b), IMAGE, real(4), real(4)),
    "group_norm": (lambda F, x, w, b: F.group_norm(x, 2, w, b), IMAGE, real(4), real(4)),
    "group_norm alone": (lambda F, x: F.group_norm(x, 4, eps=0.1), IMAGE),
    "local_response_norm": (pooled("local_response_norm", 3, 0.5, 0.6, 2.0), IMAGE),
    "local_response_norm of lines": (pooled("local_response_norm", 2), LINE),
}
RESIZES: dict[str, tuple[Any, ...]] = {
    f"interpolate {mode} {kwargs}": (pooled("interpolate", mode=mode, **kwargs), x)
    for mode, x in (
        ("nearest", LINE),
        ("nearest", IMAGE),
        ("nearest-exact", VOLUME),
        ("linear", LINE),
        ("bilinear", IMAGE),
        ("bicubic", IMAGE),
        ("trilinear", VOLUME),
        ("area", IMAGE),
    )
    for kwargs in (
        {"size": 5},
        {"scale_factor": 1.7},
        {"scale_factor": 0.6, "recompute_scale_factor": True},
        *([{"size": 11, "align_corners": True}] if "linear" in mode or mode == "bicubic" else []),
        *([{"size": 3, "antialias": True}, {"scale_factor": 0.4, "antialias": True}] if mode[:2] == "bi" else []),
    )
}
READS: dict[str, tuple[Any, ...]] = {
    f"grid_sample {mode} {padding} {align}": (
        lambda F, x, g, m=mode, p=padding, a=align: F.grid_sample(x, g, m, p, a),
        *((VOLUME, GRID3) if deep else (IMAGE, GRID)),
    )
    for mode in ("bilinear", "nearest", "bicubic")
    for padding in ("zeros", "border", "reflection")
    for align in (False, True)
    for deep in ((False, True) if mode != "bicubic" else (False,))
}
OTHERS: dict[str, tuple[Any, ...]] = {
    "affine_grid": (lambda F, x: F.affine_grid(x, (2, 1, 3, 4), align_corners=False), real(2, 2, 3)),
    "affine_grid of volumes": (lambda F, x: F.affine_grid(x, (2, 1, 3, 4, 2), align_corners=True), real(2, 3, 4)),
    "pixel_shuffle": (pooled("pixel_shuffle", 2), IMAGE),
    "pixel_unshuffle": (pooled("pixel_unshuffle", 2), real(2, 3, 4, 6)),
    "channel_shuffle": (pooled("channel_shuffle", 2), IMAGE),
}
CALLS = {**CONVOLUTIONS, **POOLS, **PADS, **NORMS, **RESIZES, **READS, **OTHERS}


def flat(value: Any) -> list[Any]:
    return list(value) if isinstance(value, tuple) else [value]


def run(lib: Any, call: Any, arrays: Any, order: int) -> list[Any]:
    """Results, gradients, gradients of gradients, as arrays."""
    leaves = [lib.tensor(a, requires_grad=True) for a in arrays]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outs = flat(call(lib.nn.functional, *leaves))
    found = [o.detach().numpy() for o in outs]
    level = [o for o in outs if o.requires_grad]
    for nr in range(order):
        rng = np.random.default_rng(nr)
        seeds = [lib.tensor(rng.normal(size=tuple(o.shape))) for o in level]
        grads = lib.autograd.grad(level, leaves, seeds, create_graph=nr + 1 < order, allow_unused=True)
        found += [np.zeros(a.shape) if g is None else g.detach().numpy() for g, a in zip(grads, arrays, strict=True)]
        level = [g for g in grads if g is not None and g.requires_grad]
        if not level:  # linear: torch goes on with zeros, some of its formulas name the input
            found += [np.zeros(a.shape) for _ in range(nr + 1, order) for a in arrays]
            break
    return found


@pytest.mark.parametrize("name", CALLS)
def test_values_and_gradients(name: str) -> None:
    call, *arrays = CALLS[name]
    order = 1 if "grid_sample" in name else 2  # torch has no second order there
    expected, given = run(torch, call, arrays, order), run(gradpack, call, arrays, order)
    assert len(expected) == len(given)
    for a, b in zip(expected, given, strict=True):
        assert a.shape == b.shape and a.dtype == b.dtype
        np.testing.assert_allclose(b, a, rtol=1e-8, atol=1e-8 * (1 + np.abs(a).max(initial=0)))


@pytest.mark.parametrize("name", [n for n in CALLS if "_transpose" in n or n.startswith(("conv", "pad", "fold"))])
def test_complex_numbers(name: str) -> None:
    if name == "conv_tbc":
        pytest.skip("torch has no complex conv_tbc")
    call, *arrays = CALLS[name]
    arrays = [a + 1j * np.random.default_rng(7).normal(size=a.shape) for a in arrays]
    results = []
    for lib in (torch, gradpack):
        leaves = [lib.tensor(a, requires_grad=True) for a in arrays]
        out = call(lib.nn.functional, *leaves)
        seed = lib.tensor(np.random.default_rng(8).normal(size=tuple(out.shape)) + 0.5j)
        results.append([out.detach().numpy(), *(g.numpy() for g in lib.autograd.grad(out, leaves, seed))])
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["batch_norm", "instance_norm"])
@pytest.mark.parametrize("training", [True, False])
def test_running_statistics(name: str, training: bool) -> None:
    results = []
    for lib in (torch, gradpack):
        x = lib.tensor(IMAGE, requires_grad=True)
        mean, var = lib.tensor([0.1, 0.2, 0.3, 0.4], dtype=x.dtype), lib.tensor([1.0, 2.0, 0.5, 1.5], dtype=x.dtype)
        weight = lib.tensor([1.0, 2.0, 3.0, 4.0], dtype=x.dtype, requires_grad=True)
        out = getattr(lib.nn.functional, name)(x, mean, var, weight, None, training, 0.3)
        (out * out).sum().backward()
        assert mean._version == (name == "instance_norm" and training)
        results.append([t.detach().numpy() for t in (out, mean, var, x.grad, weight.grad)])
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("ndim", [2, 3])
def test_fractional_max_pool(ndim: int) -> None:
    x, samples = far(2, 3, *(6, 7, 8)[:ndim]), np.random.default_rng(5).uniform(size=(2, 3, ndim))
    results = []
    for lib in (torch, gradpack):
        leaf = lib.tensor(x, requires_grad=True)
        call = getattr(lib.nn.functional, f"fractional_max_pool{ndim}d")
        out, where = call(leaf, 2, output_ratio=(0.5,) * ndim, return_indices=True, _random_samples=lib.tensor(samples))
        (out * out).sum().backward()
        results.append([out.detach().numpy(), where.numpy(), leaf.grad.numpy()])
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(b, a)


BAGS = {
    "rows": (np.array([[0, 1, 2], [4, 4, 0]]), {}),
    "offsets": (np.array([0, 1, 2, 4, 4, 0]), {"offsets": [0, 2, 2, 5]}),
    "last offset": (np.array([0, 1, 2, 4, 4, 0]), {"offsets": [0, 2, 6], "include_last_offset": True}),
    "padding": (np.array([[0, 1, 2], [4, 4, 0]]), {"padding_idx": 4}),
    "empty": (np.array([], dtype=np.int64), {"offsets": [0, 0]}),
    "scaled": (np.array([[0, 1, 2], [4, 4, 0]]), {"scale_grad_by_freq": True}),
    "shortened": (np.array([[0, 1, 2], [4, 4, 0]]), {"max_norm": 0.7}),
}


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("name", BAGS)
@pytest.mark.parametrize("weighted", [False, True])
def test_embedding_bag(name: str, mode: str, weighted: bool) -> None:
    index, options = BAGS[name]
    if (weighted and mode != "sum") or (mode == "max" and name == "scaled"):
        pytest.skip("torch refuses")
    if name == "scaled":
        index = np.array([[0, 1], [1, 0]])  # torch takes the count of another row where counts differ
    table, factors = far(5, 3), np.random.default_rng(1).normal(size=index.shape)
    results = []
    for lib in (torch, gradpack):
        weight = lib.tensor(table, requires_grad=True)
        more = {**options}
        if "offsets" in more:
            more["offsets"] = lib.tensor(more["offsets"])
        leaves = [weight]
        if weighted:
            leaves.append(lib.tensor(factors, requires_grad=True))
            more["per_sample_weights"] = leaves[1]
        base = weight if name != "shortened" else weight.detach().clone().requires_grad_()
        leaves[0] = base
        out = lib.nn.functional.embedding_bag(lib.tensor(index), base, mode=mode, **more)
        grads = lib.autograd.grad((out * out).sum(), leaves)
        results.append([out.detach().numpy(), base.detach().numpy(), *(g.numpy() for g in grads)])
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-9)


def test_scaled_by_how_often_the_row_was_looked_up() -> None:
    """Deliberately not as torch, which takes the count of another row: see docs/differences.md."""
    weight = gradpack.core(real(5, 3), requires_grad=True)
    index = gradpack.core([[0, 1, 2], [4, 4, 0]])
    gradpack.nn.functional.embedding_bag(index, weight, mode="sum", scale_grad_by_freq=True).sum().backward()
    assert weight.grad.tolist() == [[1.0] * 3, [1.0] * 3, [1.0] * 3, [0.0] * 3, [1.0] * 3]


@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_gradients_of_convolutions_as_functions(ndim: int) -> None:
    x, w = real(2, 4, *(7, 6, 5)[:ndim]), real(6, 2, *(3, 2, 2)[:ndim])
    results = []
    for lib in (torch, gradpack):
        settings = {"stride": 2, "padding": 1, "groups": 2}
        out = getattr(lib.nn.functional, f"conv{ndim}d")(lib.tensor(x), lib.tensor(w), **settings)
        by_input = getattr(lib.nn.grad, f"conv{ndim}d_input")(x.shape, lib.tensor(w), out, **settings)
        by_weight = getattr(lib.nn.grad, f"conv{ndim}d_weight")(lib.tensor(x), w.shape, out, **settings)
        results.append([by_input.numpy(), by_weight.numpy()])
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-9)


X = "torch.ones(2, 4, 6, 6)"
REFUSED = [
    f"F.conv2d({X}, torch.ones(6, 3, 3, 3))",
    f"F.conv2d({X}, torch.ones(6, 4, 3, 3), torch.ones(5))",
    f"F.conv2d({X}, torch.ones(6, 4, 3, 3).double())",
    f"F.conv2d({X}, torch.ones(6, 4, 3, 3), torch.ones(6).double())",
    f"F.conv2d({X}, torch.ones(6, 4, 7, 7))",
    f"F.conv2d({X}, torch.ones(6, 4, 3, 3), stride=0)",
    f"F.conv2d({X}, torch.ones(6, 4, 3, 3), stride=(1, 1, 1))",
    f"F.conv2d({X}, torch.ones(6, 4, 3, 3), padding=-1)",
    f"F.conv2d({X}, torch.ones(6, 4, 3, 3), padding='other')",
    f"F.conv2d({X}, torch.ones(6, 4, 3, 3), padding='same', stride=2)",
    f"F.conv2d({X}, torch.ones(6, 4, 3, 3), dilation=0)",
    f"F.conv2d({X}, torch.ones(6, 4, 3, 3), groups=0)",
    f"F.conv2d({X}, torch.ones(5, 2, 3, 3), groups=2)",
    f"F.conv2d({X}, torch.ones(6, 4, 3, 3), 'bias')",
    f"F.conv2d({X}, torch.ones(6, 4, 3, 3), stride=1.5)",
    f"F.conv2d({X}.bool(), torch.ones(6, 4, 3, 3).bool())",
    f"F.conv1d({X}, torch.ones(6, 4, 3))",
    f"F.conv_transpose2d({X}, torch.ones(3, 4, 3, 3))",
    f"F.conv_transpose2d({X}, torch.ones(4, 3, 3, 3), output_padding=1)",
    f"F.conv_transpose2d({X}, torch.ones(4, 3, 3, 3), torch.ones(4))",
    f"F.max_pool2d({X}, 0)",
    f"F.max_pool2d({X}, 2, 0)",
    f"F.max_pool2d({X}, 2, 1, 2)",
    f"F.max_pool2d({X}, 2, 1, -1)",
    f"F.max_pool2d({X}, 2, 1, 0, 0)",
    f"F.max_pool2d({X}, 9)",
    f"F.max_pool2d({X}, (2, 2, 2))",
    f"F.max_pool2d({X}, 2.5)",
    f"F.max_pool2d({X}[:, :0], 2)",
    f"F.max_pool2d({X}.bool(), 2)",
    f"F.max_pool1d({X}, 2)",
    "F.max_pool1d(torch.ones(3, 4), 9)",
    f"F.avg_pool2d({X}, 2, divisor_override=0)",
    f"F.avg_pool2d({X}, 9)",
    f"F.adaptive_avg_pool2d({X}, (2, 2, 2))",
    f"F.adaptive_avg_pool2d({X}, -1)",
    f"F.adaptive_avg_pool2d({X}[0, 0], 2)",
    f"F.adaptive_avg_pool2d({X}.long(), 2)",
    "F.adaptive_avg_pool1d(torch.ones(2, 3, 4), None)",
    f"F.fractional_max_pool2d({X}, 2)",
    f"F.fractional_max_pool2d({X}, 2, 6)",
    f"F.pad({X}, (1,))",
    f"F.pad({X}, (1, 1), 'reflect')",
    f"F.pad({X}, (6, 0, 0, 0), 'reflect')",
    f"F.pad({X}, (7, 0, 0, 0), 'circular')",
    f"F.pad({X}, (1, 1, 1, 1), 'other')",
    f"F.pad({X}, (1, 1, 1, 1), 'reflect', 1.0)",
    f"F.pad({X}, (1,) * 10)",
    f"F.pad({X}, (-4, -4))",
    f"F.pad({X}, 'all')",
    f"F.pad({X}, (1.5, 1))",
    f"F.interpolate({X})",
    f"F.interpolate({X}, 3, 2)",
    f"F.interpolate({X}, (3, 3, 3))",
    f"F.interpolate({X}, 3, mode='linear')",
    f"F.interpolate({X}, 3, mode='trilinear')",
    f"F.interpolate({X}, 3, mode='other')",
    f"F.interpolate({X}, 3, align_corners=True)",
    f"F.interpolate({X}, 3, antialias=True)",
    f"F.interpolate({X}, 0)",
    f"F.interpolate({X}, (2.5, 3))",
    f"F.interpolate({X}, 3, recompute_scale_factor=True)",
    f"F.grid_sample({X}, torch.ones(2, 3, 3, 3), align_corners=False)",
    f"F.grid_sample({X}, torch.ones(1, 3, 3, 2), align_corners=False)",
    f"F.grid_sample({X}, torch.ones(2, 3, 3, 2).double(), align_corners=False)",
    f"F.grid_sample({X}, torch.ones(2, 3, 3, 2), 'other')",
    f"F.grid_sample({X}, torch.ones(2, 3, 3, 2), padding_mode='other')",
    "F.affine_grid(torch.ones(1, 2, 2), (1, 1, 2, 2), align_corners=False)",
    "F.affine_grid(torch.ones(1, 2, 3).long(), (1, 1, 2, 2), align_corners=False)",
    "F.affine_grid(torch.ones(1, 2, 3), (1, 1, 2), align_corners=False)",
    "F.batch_norm(torch.ones(1, 3), None, None, training=True)",
    "F.batch_norm(torch.ones(2, 3), None, None)",
    "F.batch_norm(torch.ones(2, 3), torch.ones(4), torch.ones(4))",
    "F.batch_norm(torch.ones(2, 3).long(), None, None, training=True)",
    "F.instance_norm(torch.ones(2, 3, 1))",
    "F.group_norm(torch.ones(2, 3, 4), 2)",
    "F.group_norm(torch.ones(2), 2)",
    "F.group_norm(torch.ones(2, 4, 3), 2, torch.ones(3))",
    "F.local_response_norm(torch.ones(2, 3), 2)",
    "F.pixel_shuffle(torch.ones(1, 3, 2, 2), 2)",
    "F.pixel_shuffle(torch.ones(2, 2), 2)",
    "F.pixel_shuffle(torch.ones(1, 4, 2, 2), 0)",
    "F.pixel_unshuffle(torch.ones(1, 4, 3, 2), 2)",
    "F.channel_shuffle(torch.ones(1, 4, 3), 3)",
    "F.fold(torch.ones(1, 4, 3), 4, 2)",
    "F.fold(torch.ones(1, 3, 9), 4, 2)",
    "F.unfold(torch.ones(1, 3, 4, 4), 5)",
    "F.unfold(torch.ones(3, 4), 2)",
    "F.unfold(torch.ones(1, 3, 4, 4), 0)",
    "F.embedding_bag(torch.tensor([0, 1]), torch.ones(3, 2))",
    "F.embedding_bag(torch.tensor([[0, 1]]), torch.ones(3, 2), torch.tensor([0]))",
    "F.embedding_bag(torch.tensor([0, 1]), torch.ones(3, 2), torch.tensor([1]))",
    "F.embedding_bag(torch.tensor([[0, 1]]), torch.ones(3, 2), mode='other')",
    "F.embedding_bag(torch.tensor([[0.0, 1.0]]), torch.ones(3, 2))",
    "F.max_unpool2d(torch.ones(1, 2, 2), torch.ones(1, 2, 2).int(), 2)",
    "F.max_unpool2d(torch.ones(1, 2, 2), torch.ones(1, 2, 3).long(), 2)",
    "F.max_unpool2d(torch.ones(1, 2, 2), torch.ones(1, 2, 2).long() * 99, 2)",
    "F.max_unpool2d(torch.ones(1, 2, 2), torch.ones(1, 2, 2).long(), 2, output_size=(9, 9))",
    "torch.nn.Conv2d(3, 4, 2, groups=2)",
    "torch.nn.Conv2d(3, 4, 2, padding='other')",
    "torch.nn.Conv2d(3, 4, 2, padding_mode='other')",
    "torch.nn.Conv2d(3, 4, 2, 2, padding='same')",
    "torch.nn.ConvTranspose2d(3, 4, 2, padding_mode='reflect')",
    "torch.nn.ConvTranspose2d(4, 4, 2, 2)(torch.ones(1, 4, 3, 3), output_size=(9, 9))",
    "torch.nn.BatchNorm2d(3)(torch.ones(2, 3))",
    "torch.nn.InstanceNorm1d(3, affine=True)(torch.ones(2, 4, 5))",
    "torch.nn.GroupNorm(2, 3)",
    "torch.nn.FractionalMaxPool2d(2)",
    "torch.nn.FractionalMaxPool2d(2, 3, 0.5)",
    "torch.nn.CircularPad2d(1)(torch.ones(2, 2))",
]


def refusal(lib: Any, text: str) -> Exception | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            eval(text, {"torch": lib, "F": lib.nn.functional})
        except Exception as error:
            return error
    return None


@pytest.mark.parametrize("text", REFUSED)
def test_refused_alike(text: str) -> None:
    theirs, ours = refusal(torch, text), refusal(gradpack, text)
    assert theirs is not None and type(theirs) is type(ours)
