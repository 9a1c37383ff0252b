"""Products, attention, losses, embedding, normalisation, shapes: values, gradients and second order."""

from __future__ import annotations

import numpy as np
import pytest

import gradpack

torch = pytest.importorskip("torch")

RNG = np.random.default_rng(0)


def real(*shape):
    return RNG.normal(size=shape)


def whole(high, *shape):
    return RNG.integers(0, high, shape)


def mask(*shape):
    return RNG.random(shape) < 0.7


def attend(t, *args, **kwargs):
    return t.nn.functional.scaled_dot_product_attention(*args, **kwargs)


EINSUM = [
    ("ij,jk->ik", real(2, 3), real(3, 4)),
    ("ij,jk", real(2, 3), real(3, 4)),
    ("bij,bjk->bik", real(2, 3, 4), real(2, 4, 5)),
    ("ii->i", real(3, 3)),
    ("ii", real(3, 3)),
    ("ij->ji", real(2, 3)),
    ("ij->", real(2, 3)),
    ("i,j->ij", real(2), real(3)),
    ("i,i->", real(3), real(3)),
    ("...ij,...jk->...ik", real(5, 2, 3), real(3, 4)),
    ("...i->...", real(2, 3)),
    ("i...,i->...", real(2, 3, 4), real(2)),
    ("bhqd,bhkd->bhqk", real(2, 2, 3, 4), real(2, 2, 5, 4)),
    ("ij,jk,kl->il", real(2, 3), real(3, 4), real(4, 5)),
    ("bn,anm,bm->ba", real(2, 3), real(4, 3, 5), real(2, 5)),
    ("ij,kj->ik", real(2, 1), real(3, 4)),
    ("ijk,jil->kl", real(2, 3, 4), real(3, 2, 5)),
    ("a,b,c,d->dbca", real(2), real(3), real(4), real(5)),
    ("ij,ij->ij", real(2, 3), real(2, 3)),
    ("ik,kj->", real(2, 3), real(3, 4)),
]

CALLS = {
    **{f"einsum {e[0]}": (lambda t, *a, eq=e[0]: t.einsum(eq, *a), e[1:]) for e in EINSUM},
    "tensordot": (lambda t, a, b: t.tensordot(a, b, ([1, 0], [0, 1])), (real(2, 3, 4), real(3, 2, 5))),
    "inner": (lambda t, a, b: t.inner(a, b), (real(2, 3), real(4, 3))),
    "attention": (lambda t, q, k, v: attend(t, q, k, v), (real(2, 2, 3, 4), real(2, 2, 5, 4), real(2, 2, 5, 6))),
    "attention causal": (
        lambda t, q, k, v: attend(t, q, k, v, is_causal=True),
        (real(2, 4, 3), real(2, 4, 3), real(2, 4, 3)),
    ),
    "attention causal longer": (
        lambda t, q, k, v: attend(t, q, k, v, is_causal=True),
        (real(2, 3, 4), real(2, 5, 4), real(2, 5, 4)),
    ),
    "attention mask": (
        lambda t, q, k, v, m: attend(t, q, k, v, m),
        (real(2, 3, 4), real(2, 5, 4), real(2, 5, 4), mask(3, 5)),
    ),
    "attention bias": (
        lambda t, q, k, v, m: attend(t, q, k, v, m, scale=0.3),
        (real(2, 3, 4), real(2, 5, 4), real(2, 5, 4), real(2, 3, 5)),
    ),
    "attention groups": (
        lambda t, q, k, v: attend(t, q, k, v, enable_gqa=True),
        (real(1, 4, 3, 4), real(1, 2, 3, 4), real(1, 2, 3, 4)),
    ),
    "layer_norm": (lambda t, x, w, b: t.nn.functional.layer_norm(x, (4,), w, b), (real(3, 4), real(4), real(4))),
    "layer_norm plain": (lambda t, x: t.nn.functional.layer_norm(x, (3, 4), eps=0.1), (real(2, 3, 4),)),
    "rms_norm": (lambda t, x, w: t.nn.functional.rms_norm(x, (4,), w), (real(3, 4), real(4))),
    "gelu tanh": (lambda t, x: t.nn.functional.gelu(x, approximate="tanh"), (real(3, 4) * 3,)),
    "gelu": (lambda t, x: t.nn.functional.gelu(x), (real(3, 4) * 3,)),
    "bilinear": (
        lambda t, a, b, w, c: t.nn.functional.bilinear(a, b, w, c),
        (real(2, 3), real(2, 4), real(5, 3, 4), real(5)),
    ),
    "normalize": (lambda t, x: t.nn.functional.normalize(x, dim=0), (real(3, 4),)),
    "mse mean": (lambda t, a, b: t.nn.functional.mse_loss(a, b), (real(3, 4), real(3, 4))),
    "mse sum": (lambda t, a, b: t.nn.functional.mse_loss(a, b, reduction="sum"), (real(3, 4), real(3, 4))),
    "l1 none": (lambda t, a, b: t.nn.functional.l1_loss(a, b, reduction="none"), (real(3, 4), real(3, 4))),
    "glu": (lambda t, x: t.nn.functional.glu(x, 0), (real(4, 3),)),
    "prelu": (lambda t, x, w: t.nn.functional.prelu(x, w), (real(2, 3, 4), real(3))),
    "celu": (lambda t, x: t.celu(x, 0.5), (real(3, 4),)),
    "elu at 0": (lambda t, x: t.nn.functional.elu(x, 0.5) + t.celu(x, 0.5) + t.selu(x), (np.array([0.0, -0.5, 2.0]),)),
    "hardtanh of NaN": (lambda t, x: t.nn.functional.hardtanh(x), (np.array([np.nan, 1.0, -0.5]),)),
    "unfold": (lambda t, x: x.unfold(1, 3, 2), (real(2, 8),)),
    "as_strided": (lambda t, x: x.as_strided((2, 3), (1, 2), 1), (real(3, 4),)),
    "repeat": (lambda t, x: x.repeat(2, 1, 3), (real(2, 3),)),
    "repeat_interleave": (lambda t, x: x.repeat_interleave(t.tensor([1, 0, 2]), 1), (real(2, 3),)),
    "rot90": (lambda t, x: t.rot90(x, 3), (real(2, 3),)),
    "movedim": (lambda t, x: t.movedim(x, (0, 1), (-1, 0)), (real(2, 3, 4),)),
    "unflatten": (lambda t, x: x.unflatten(1, (2, -1)), (real(2, 6),)),
}
WEIGHT = real(5) ** 2 + 0.1
OPTIONS = (
    {},
    {"label_smoothing": 0.1},
    {"ignore_index": 1},
    {"weight": WEIGHT},
    {"weight": WEIGHT, "label_smoothing": 0.2, "ignore_index": 2},
)
for reduction in ("none", "mean", "sum"):
    for options in OPTIONS:
        label = f"cross_entropy {reduction} {' '.join(options)}"

        def call(t, x, y, r=reduction, o=options):
            given = {k: t.from_numpy(v) if k == "weight" else v for k, v in o.items()}
            return t.nn.functional.cross_entropy(x, y, reduction=r, **given)

        CALLS[label] = (call, (real(4, 5), whole(5, 4)))
        CALLS[label + " spatial"] = (call, (real(2, 5, 3), whole(5, 2, 3)))
        if "ignore_index" not in options:
            CALLS[label + " soft"] = (call, (real(4, 5), np.abs(real(4, 5))))
for options in ({}, {"padding_idx": 2}, {"scale_grad_by_freq": True}, {"padding_idx": -1, "scale_grad_by_freq": True}):
    CALLS[f"embedding {' '.join(options)}"] = (
        lambda t, i, w, o=options: t.nn.functional.embedding(i, w, **o),
        (np.array([[0, 2, 2], [3, 0, 2]]), real(4, 3)),
    )


def run(t, call, arrays, order):
    leaves = [t.from_numpy(a.copy()) for a in arrays]
    for x in leaves:
        if x.is_floating_point():
            x.requires_grad_()
    out = call(t, *leaves)
    seed = t.from_numpy(np.cos(np.arange(out.numel(), dtype=np.float64)).reshape(tuple(out.shape)))
    inputs = [x for x in leaves if x.requires_grad]
    first = t.autograd.grad(out, inputs, seed, create_graph=order == 2)
    results = [out.detach().numpy(), *[g.detach().numpy() for g in first]]
    if order == 2:
        total = sum((g * g).sum() for g in first if g.requires_grad)
        if not isinstance(total, int):
            second = t.autograd.grad(total, inputs, allow_unused=True)
            results += [None if g is None else g.detach().numpy(force=True) for g in second]
    return results


@pytest.mark.parametrize("name", CALLS)
def test_values_and_gradients(name):
    call, arrays = CALLS[name]
    for order in (1, 2):
        try:
            theirs = run(torch, call, arrays, order)
        except RuntimeError as error:
            if "is not implemented" in str(error):  # torch cannot differentiate its fused attention twice
                continue
            raise
        ours = run(gradpack, call, arrays, order)
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            a, b = (np.zeros(()) if x is None else x for x in (a, b))
            np.testing.assert_allclose(a, np.broadcast_to(b, a.shape) if not b.shape else b, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk->ik", [(2, 3), (4, 5)]),
        ("ij->ijk", [(2, 3)]),
        ("ij", [(2, 3, 4)]),
        ("ii", [(2, 3)]),
        ("ij,jk", [(2, 3)]),
        ("i1->i", [(2, 3)]),
    ],
)
def test_einsum_refuses(equation, shapes):
    for t in (gradpack, torch):
        with pytest.raises(RuntimeError):
            t.einsum(equation, *[t.ones(s) for s in shapes])
