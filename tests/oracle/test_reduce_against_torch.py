"""Reductions, extremes, sorting, running sums and softmax against torch's: values, dtypes, errors, gradients."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import gradpack

torch = pytest.importorskip("torch")

INF, NAN = float("inf"), float("nan")
DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "uint8", "bool", "complex64", "complex128")

# Expressions in `x` (2, 3), `c` (3, 3, 2) with ties, `z` 0-dim, `e` (0, 3): in every dtype the same outcome.
EVERY_DTYPE = """
x.sum() | x.sum(0) | x.sum(-1, True) | c.sum((0, 2)) | z.sum() | z.sum(0) | e.sum() | e.sum(0) | e.sum(1) | x.mean()
x.mean(0) | c.mean((1, 2), True) | z.mean() | e.mean(0) | x.nansum() | x.nansum(1) | x.nanmean() | c.nanmean(0)
x.prod() | x.prod(0) | c.prod(1, True) | z.prod() | z.prod(0) | e.prod() | e.prod(0) | x.var() | x.var(0)
c.var((0, 1), correction=0) | x.std(1, True, True) | torch.var_mean(x, 1) | torch.std_mean(c) | x.logsumexp(0)
c.logsumexp((0, 1), True) | z.logsumexp(0) | e.logsumexp(0) | x.norm() | x.norm(1, 0) | c.norm(INF, (0, 1))
x.norm(-INF) | x.norm(0) | c.norm(3, 1) | x.norm('fro', dim=1) | e.norm() | x.any() | x.any(0) | x.all(1, True)
c.all((0, 1)) | c.any((0, -1)) | z.any(0) | e.any() | e.all(0) | x.any(()) | x.count_nonzero() | c.count_nonzero(1)
c.count_nonzero((0, 2)) | z.count_nonzero(0) | x.aminmax() | c.aminmax(dim=1) | z.aminmax(dim=0) | e.aminmax()
x.max() | x.min() | x.max(0) | c.min(1, True) | x.max(x) | torch.min(x, x[:, :1]) | z.max(0) | e.max() | e.max(0)
e.max(1) | x.amax() | x.amin(0) | c.amax((0, 1), True) | c.amin(-1) | e.amax() | e.amax(0) | e.amax(1) | x.argmax()
c.argmin(1) | c.argmax(0, True) | x.argmin(keepdim=True) | z.argmax() | z.argmax(0) | e.argmax() | e.argmin(0)
torch.maximum(x, x[0]) | torch.minimum(x[:, :1], x) | torch.fmax(x, z) | torch.fmin(z, x) | x.median() | z.median()
z.median(0) | x.nanmedian() | x.nanmedian(1) | e.median(0) | x.sort() | c.sort(dim=1, stable=True)
c.sort(dim=0, descending=True, stable=True) | z.sort() | e.sort(0) | x.argsort(0)
c.argsort(dim=1, descending=True, stable=True) | x.msort() | x.topk(2) | x.topk(1, 0, False) | z.topk(1)
x.kthvalue(2) | x.kthvalue(1, 0, True) | z.kthvalue(1) | x.cummax(1) | c.cummax(0) | c.cummin(1) | z.cummax(0)
e.cummin(0) | x.cumsum(0) | c.cumsum(1) | z.cumsum(0) | e.cumsum(1) | x.cumprod(1) | c.cumprod(0) | z.cumprod(0)
x.logcumsumexp(1) | z.logcumsumexp(0) | x.diff() | c.diff(2, 0) | x.diff(prepend=x[:, :1]) | x.diff(0) | x.softmax(0)
x.softmax(-1) | c.softmax(1) | z.softmax(0) | e.softmax(0) | x.log_softmax(0) | c.log_softmax(1) | F.softmin(x, 0)
x.softmax(0, torch.float64) | x.log_softmax(1, dtype=torch.float32) | x.sum_to_size(3) | x.sum_to_size(2, 1)
x.sum(dtype=torch.float64) | x.sum(0, dtype=torch.int8) | x.prod(dtype=torch.float32) | x.cumsum(0, dtype=torch.int16)
x.mean(dtype=torch.float32) | x.mean(0, dtype=torch.int64) | x.nansum(dtype=torch.float64)
x.norm(dtype=torch.float64) | x.norm(dtype=torch.complex64) | x.norm(dtype=torch.float32)
"""

# Ways of calling and of failing: `x` float32 (2, 3), `i` int64, `n` with NaN, `h` float16.
FORMS = """
x.sum(()) | x.sum([]) | x.sum([0, 1], True) | x.sum(axis=0, keepdims=True) | torch.sum(input=x, axis=(0, 1))
x.sum(0, 1) | x.sum(dim=None, keepdim=True) | x.sum((0, 0)) | x.sum(2) | z.sum(1) | z.sum((0, -1)) | x.sum('a')
x.sum(1.5) | x.sum(dim=0, axis=0) | torch.sum(x, 0, out=torch.empty(3))
torch.sum(x, 0, dtype=torch.float64, out=torch.empty(3)) | x.sum(dim=torch.tensor(1))
torch.mean(x, 0, out=torch.empty(3)) | x.mean(None, True) | x.mean(()) | x.mean(0, 1) | torch.mean(x, axis=0)
x.mean(7) | x.prod((0, 1)) | x.prod(axis=0, keepdims=True) | x.prod(0, keepdim=True, dtype=torch.float64) | x.prod(5)
x.var(False) | x.var(True) | x.var(0, True) | x.var(0, True, True) | x.var(0, unbiased=False) | x.var((0, 1), False)
x.var(correction=2) | x.var(correction=0.5) | x.var(correction=None) | x.var(keepdim=True) | x.var(())
x.var(axis=0, keepdims=True) | x.var(dim=0, correction=1, unbiased=True) | x.var(2) | x.var((0, 0)) | x.var(0, 1)
torch.std(x, None, True, False) | torch.var_mean(x, False) | torch.var_mean(x, dim=0, correction=0, keepdim=True)
torch.std(x, (0,), False, False) | torch.var(x, 0, out=torch.empty(3)) | torch.std_mean(i) | x.std(axis=0)
x.norm(None) | x.norm(2, None, True) | x.norm(p=1, dim=1) | x.norm('foo') | x.norm(2, 5) | i.norm() | e.norm(INF)
e.norm(INF, 0) | e.norm(INF, 1) | e.norm(-1) | e.norm(0, 0) | torch.norm(x, 2, 0, False, None, torch.float64)
torch.norm(x, 2, 0, False, torch.empty(3)) | x.norm(0.5) | x.norm(-1) | x.norm(2, []) | x.norm(axis=0)
x.any(dim=None, keepdim=True) | x.all(axis=0, keepdims=True) | torch.any(x, axis=(0, 1)) | x.any(5) | x.any((0, 0))
n.any() | torch.any(x, 0, out=torch.empty(3, dtype=torch.bool)) | x.count_nonzero(axis=0) | x.count_nonzero(dim=())
x.count_nonzero(9) | x.aminmax(keepdim=True) | x.aminmax(0) | x.aminmax(axis=0) | n.aminmax() | e.aminmax(dim=0)
e.aminmax(dim=1) | x.max(0, True) | x.max(dim=0) | x.max(axis=0) | x.max(other=x) | torch.max(x, 1, True).values
x.max((0, 1)) | x.max(1.5) | x.max(z) | n.max() | n.max(0) | n.min(0) | x.max(2) | x.max(0, 1) | x.max(keepdim=True)
h.max() | torch.max(x, 0, out=(torch.empty(3), torch.empty(3, dtype=torch.int64)))[1]
torch.max(x, out=torch.empty(())) | torch.max(x, x, out=torch.empty(2, 3)) | torch.maximum(i, x) | torch.maximum(x, 1)
torch.maximum(x, torch.zeros(2, 2)) | x.amax(axis=0) | x.amax(0, 1) | x.amax((0, 0)) | x.amax(3) | n.amin()
x.argmax((0,)) | x.argmax(axis=0, keepdims=True) | x.argmax(None, True) | n.argmax() | n.argmin() | x.argmax(2)
torch.tensor([1, 3, 3, 1]).argmax() | torch.tensor([1, 3, 1]).argmin() | n.median() | n.median(0) | n.nanmedian()
n.nanmedian(0) | torch.full((3,), NAN).nanmedian(0) | torch.full((3,), NAN).nanmedian()
torch.tensor([3, 1, 2, 1]).median(0) | torch.tensor([1.0, 1.0, 1.0, 2.0]).median(0)
torch.tensor([2.0, 1.0, 1.0, 1.0]).median(0) | x.median((0, 1)) | x.median(axis=0, keepdims=True)
torch.zeros(0).median() | torch.zeros(0, dtype=torch.int64).median() | x.median(4) | n.sort()
n.sort(descending=True) | x.sort(dim=0, descending=True) | torch.sort(x, -1, True) | x.sort(2) | x.sort(axis=0)
torch.tensor([1, 1, 0, 0]).sort(descending=True, stable=True) | x.argsort(True) | x.argsort(dim=0, descending=True)
x.topk(0) | x.topk(4) | x.topk(-1) | z.topk(0) | z.topk(2) | n.topk(2) | n.topk(2, largest=False) | x.topk(1, axis=0)
x.topk(1, 3) | torch.arange(100.0).topk(3) | torch.arange(100.0).topk(3, largest=False) | x.topk(2, 1, True, True)
x.kthvalue(0) | x.kthvalue(4) | n.kthvalue(3) | n.kthvalue(2) | e.kthvalue(1, 0) | e.kthvalue(1, 1)
x.kthvalue(1, axis=0) | torch.tensor([1.0, NAN, 3.0, 2.0]).cummax(0) | torch.tensor([1.0, NAN, 3.0, NAN]).cummin(0)
x.cummax() | x.cummax(axis=0) | x.cummax(4) | torch.tensor([1.0, 3.0, 3.0, 2.0]).cummax(0) | x.cumsum()
x.cumsum(axis=0) | x.cumsum((0,)) | z.cumsum(1) | x.cumprod(2) | torch.cumsum(x, 0, out=torch.empty(2, 3))
x.clone().cumsum_(1) | i.clone().cumprod_(1) | h.clone().cumsum_(0)
torch.tensor([-INF, -INF, 1.0, INF, 2.0]).logcumsumexp(0) | x.logcumsumexp(9) | x.logcumsumexp(axis=1) | x.diff(5)
x.diff(-1) | x.diff(dim=0) | x.diff(axis=0) | x.diff(prepend=torch.zeros(2)) | x.diff(prepend=torch.zeros(1, 1))
z.diff() | x.diff(prepend=torch.zeros(2, 1), append=torch.ones(2, 2)) | i.diff(prepend=torch.zeros(2, 1))
x.diff(dim=3) | e.diff(dim=0) | torch.tensor([True, False, False]).diff(append=torch.tensor([True]))
x.sum_to_size(()) | x.sum_to_size(4) | x.sum_to_size(2, 2, 3) | i.to(torch.int32).sum_to_size(3)
i.to(torch.int32).sum_to_size(2, 3) | x.sum_to_size((1, 3)) | x.sum_to_size(2, 3) is x
torch.tensor([-INF, -INF]).softmax(0) | torch.tensor([-INF, 1.0]).softmax(0) | torch.tensor([INF, 1.0]).softmax(0)
x.softmax(2) | torch.tensor([-INF, 1.0]).log_softmax(0) | torch.tensor([-INF, -INF]).log_softmax(0) | x.softmax()
torch.softmax(x, None) | torch.softmax(x, 0, out=torch.empty(2, 3)) | i.softmax(0, dtype=torch.float32)
h.softmax(0, dtype=torch.float32) | x.softmax(axis=0) | torch.logsumexp(torch.tensor([-INF, -INF]), 0)
torch.logsumexp(torch.tensor([INF, 1.0]), 0) | x.logsumexp() | x.logsumexp(axis=0)
"""

# Expressions in `v`, and its values: the name of the node, the gradient and its derivative are torch's.
SOME, TIES, ZEROS = (
    [[0.5, -1.5, 2.0], [1.0, -0.3, 0.7]],
    [[3.0, 3.0, 1.0], [1.0, 3.0, 2.0]],
    [[2.0, 0.0, 3.0], [0.0, 0.0, 1.5]],
)
OF_SOME = """
v.sum() | v.sum(0) | v.sum((0, 1), True) | v.sum(dtype=torch.float64) | v.mean() | v.mean(1) | v.mean(None, True)
v.prod() | v.prod(1) | v.var() | v.var(0) | v.std() | v.std(1, keepdim=True) | v.var(correction=0.5)
torch.var_mean(v, 1) | torch.std_mean(v) | torch.var_mean(v, 1)[1] | v.logsumexp(0) | v.logsumexp((0, 1)) | v.norm()
v.norm(1) | v.norm(3, 0) | v.norm(INF) | v.norm(-INF, 1) | v.norm(2, 1, True) | v.norm(2.5)
v.norm(dtype=torch.float64) | v.cumsum(1) | v.cumprod(0) | v.logcumsumexp(1) | v.diff() | v.diff(2) | v.softmax(1)
v.softmax(0) | v.log_softmax(1) | v.log_softmax(-2) | F.softmin(v, 1) | v.softmax(1, torch.float64) | v.sort(1, True)
v.topk(2) | v.kthvalue(2) | v.median(1) | v.median() | v.nanmedian() | v.aminmax(dim=1) | torch.max(v, v.detach()[:1])
v.sum_to_size(1, 3) | v.nansum(1) | v.nanmean()
"""
OF_TIES = """
v.max() | v.min() | v.max(1) | v.min(0) | v.amax() | v.amax(1) | v.amin(0) | v.aminmax() | v.aminmax(dim=0)
v.median() | v.norm(INF) | v.norm(-INF, 0) | v.cummax(0) | v.cummin(1) | torch.maximum(v, v.detach().flip(0))
torch.fmin(v, v.detach()) | torch.fmax(v.detach(), v) | torch.minimum(v[0], v[1]) | v.nanmedian()
"""
OF_ZEROS = """
v.prod() | v.prod(0) | v.prod(1) | v.cumprod(0) | v.cumprod(1) | v[0].prod() | v[1:].prod() | v.norm() | v.norm(1, 1)
v.norm(3, 0)
"""
SPECIAL: list[tuple[str, Any]] = [
    ("v.norm()", [0.0, 0.0]),
    ("v.norm(INF)", [0.0, 0.0]),
    ("v.std()", [1.0, 1.0]),
    ("v.var()", [1.0]),
    ("v.std()", [1.0]),
    ("v.logsumexp(0)", [-INF, 1.0]),
    ("v.logsumexp(0)", [-INF, -INF]),
    ("v.softmax(0)", [-INF, 0.0]),
    ("v.log_softmax(0)", [-INF, 0.0]),
    ("v.max()", [3.0, NAN, NAN]),
    ("v.max(0)", [3.0, NAN, NAN]),
    ("v.median()", [NAN, NAN, 1.0]),
    ("v.nanmedian()", [NAN, 2.0, 2.0]),
    ("v.nansum()", [1.0, NAN]),
    ("v.nanmean()", [1.0, NAN]),
    ("v.nanmedian(0)", [NAN, 2.0, 1.0]),
    ("v.logcumsumexp(0)", [-INF, 0.0, -INF, 1.0]),
    ("v.logcumsumexp(0)", [0.0, INF, 1.0]),
    ("v.prod()", 3.0),
    ("v.prod(0)", 3.0),
    ("v.sum(0)", 2.0),
    ("v.max(0)", 2.0),
    ("v.cumprod(0)", 2.0),
    ("v.softmax(0)", 2.0),
    ("v.norm()", -2.0),
    ("v.sort()", 2.0),
    ("v.norm()", [3 + 1j, 4.0]),
    ("v.norm(1)", [1 - 2j, -4j]),
    ("v.norm(3)", [1 + 1j, -4j]),
    ("v.norm(INF)", [1.0, -4j]),
    ("v.var()", [3 + 1j, 4.0, 1j]),
    ("v.std()", [3 + 1j, 4.0, 1j]),
    ("v.prod()", [3 + 1j, 4j, 0.0]),
    ("v.cumprod(0)", [3 + 1j, 0.0, 4j]),
    ("v.logsumexp(0)", [1 + 1j, 2.0]),
    ("v.logcumsumexp(0)", [1 + 1j, 2.0, -1j]),
    ("v.sum()", [3 + 1j, 4.0]),
    ("v.mean(0)", [3 + 1j, 4.0]),
    ("v.cumsum(0)", [3 + 1j, 4.0]),
    ("v.diff()", [3 + 1j, 4.0]),
    ("torch.var_mean(v)", [3 + 1j, 4.0, 1j]),
]

TOLERANCE = {"float64": 1e-12, "complex128": 1e-12, "float16": 1e-3, "bfloat16": 1e-2}


def expressions(text: str) -> list[str]:
    return [e.strip() for line in text.strip().splitlines() for e in line.split(" | ")]


def array_of(value: Any) -> np.ndarray[Any, Any]:
    """The values, low precision as float32."""
    value = value.detach()
    if str(value.dtype).endswith("16") and "int" not in str(value.dtype):
        value = value.float()
    return np.asarray(value.numpy(force=True))


def outcome(expression: str, lib: Any, names: dict[str, Any]) -> Any:
    """Names, shapes, dtypes and values of what comes out; the type of what is raised."""
    scope = {"torch": lib, "F": lib.nn.functional, "INF": INF, "NAN": NAN, **names}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = eval(expression, scope)
    except Exception as error:
        return type(error)
    kind = type(found).__name__.removesuffix("_out") if isinstance(found, tuple) else ""
    return kind, [
        (tuple(v.shape), str(v.dtype).split(".")[1], array_of(v)) if hasattr(v, "dtype") else v
        for v in (found if isinstance(found, tuple) else (found,))
    ]


def brief(found: Any) -> str:
    """An outcome on one line."""
    if isinstance(found, type):
        return found.__name__
    return found[0] + " ".join(
        f"{v[1]}{list(v[0])} {v[2].tolist()}" if isinstance(v, tuple) else str(v) for v in found[1]
    )


def inputs(lib: Any, dtype: str) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    values = {
        "x": np.array([[0.0, 1.0, 2.0], [3.0, -4.0, 5.0]]),
        "c": rng.integers(-2, 3, (3, 3, 2)).astype(float),
        "z": np.array(3.0),
        "e": np.zeros((0, 3)),
    }
    made = {}
    for name, value in values.items():
        if "complex" in dtype:
            value = value + 1j * np.round(rng.normal(size=value.shape), 1)
        if dtype == "uint8":
            value = np.abs(value)
        made[name] = lib.tensor(value.tolist() if value.size else [], dtype=getattr(lib, dtype)).reshape(value.shape)
    return made


def same(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, type) or isinstance(theirs, type):
        return ours is theirs or (ours is NotImplementedError and theirs is RuntimeError)
    if ours[0] != theirs[0] or len(ours[1]) != len(theirs[1]):
        return False
    for a, b in zip(ours[1], theirs[1], strict=True):
        if not isinstance(a, tuple):
            if a != b:
                return False
        else:
            eps = TOLERANCE.get(a[1], 1e-6)
            if a[:2] != b[:2] or not np.allclose(a[2], b[2], rtol=eps, atol=eps, equal_nan=True):
                return False
    return True


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(dtype):
    wrong = []
    for e in expressions(EVERY_DTYPE):
        ours, theirs = (outcome(e, lib, inputs(lib, dtype)) for lib in (gradpack, torch))
        if ours is NotImplementedError and theirs is not ours and e[:2] in ("z.", "e."):
            continue  # torch takes a dtype that it has no kernel for where nothing is to be computed
        if not same(ours, theirs):
            wrong.append(f"{e}: {brief(ours)}, and torch: {brief(theirs)}")
    assert not wrong, "\n".join(wrong)


def test_forms_of_calling_and_errors():
    wrong = []
    for e in expressions(FORMS):
        found = []
        for lib in (gradpack, torch):
            i = lib.arange(6).reshape(2, 3)
            names = {
                "x": lib.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]), "i": i, "z": lib.tensor(3.0), "e": lib.zeros(0, 3),
                "n": lib.tensor([1.0, NAN, 2.0]), "h": lib.tensor([1.0, 2.0], dtype=lib.float16),
            }  # fmt: skip
            found.append(outcome(e, lib, names))
        if not same(*found):
            wrong.append(f"{e}: {brief(found[0])}, and torch: {brief(found[1])}")
    assert not wrong, "\n".join(wrong)


def derivatives(lib: Any, expression: str, values: Any) -> tuple[Any, ...]:
    """The name of the node, the gradient for weights, and the gradient of that for other weights."""
    is_complex = np.asarray(values).dtype.kind == "c"
    v = lib.tensor(values, dtype=lib.complex128 if is_complex else lib.float64, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = eval(expression, {"torch": lib, "F": lib.nn.functional, "INF": INF, "v": v})
    outs = [o for o in (found if isinstance(found, tuple) else (found,)) if o.requires_grad]
    weights = [lib.tensor((np.arange(1.0, o.numel() + 1) / 3).tolist(), dtype=o.dtype).reshape(o.shape) for o in outs]
    (g,) = lib.autograd.grad(outs, v, weights, create_graph=True)
    second = None
    if g.requires_grad:
        other = lib.tensor((np.arange(g.numel(), 0, -1.0) / 5).tolist(), dtype=g.dtype).reshape(g.shape)
        (second,) = lib.autograd.grad(g, v, other, allow_unused=True)
    return outs[0].grad_fn.name(), array_of(g), np.zeros_like(array_of(g)) if second is None else array_of(second)


GRADIENTS = [(e, v) for text, v in ((OF_SOME, SOME), (OF_TIES, TIES), (OF_ZEROS, ZEROS)) for e in expressions(text)]


@pytest.mark.parametrize(("expression", "values"), GRADIENTS + SPECIAL, ids=lambda p: p if isinstance(p, str) else "")
def test_gradients(expression, values):
    ours, theirs = derivatives(gradpack, expression, values), derivatives(torch, expression, values)
    assert ours[0] == theirs[0]
    np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-10, atol=1e-12)
    if np.isfinite(ours[1]).all():  # beyond that, and where torch has NaN, second order is nobody's promise
        known = np.isfinite(theirs[2])
        np.testing.assert_allclose(ours[2][known], theirs[2][known], rtol=1e-9, atol=1e-11)


def test_large_arrays_are_summed_as_precisely():
    """Float32 sums of many elements, over any dimensions and layout, within some rounding errors of the exact ones."""
    rng = np.random.default_rng(0)
    for shape in ((70_000,), (300, 257), (3, 5000), (5000, 3), (7, 90, 65), (2, 3000, 5), (40, 2048)):
        values = rng.uniform(0.5, 1.0, shape).astype(np.float32)
        for layout in (values, np.asfortranarray(values), np.flip(values, 0)):
            x = gradpack.from_numpy(layout.copy(order="K") if layout is not values else layout)
            for dim in (None, *range(len(shape)), tuple(range(len(shape))), (0, -1) if len(shape) > 1 else 0):
                exact = layout.astype(np.float64).sum(dim)
                found = gradpack.sum(x, dim).numpy()
                assert found.dtype == np.float32
                np.testing.assert_allclose(found, exact, rtol=2e-6, err_msg=f"{shape} over {dim}")
    ones = gradpack.full((100_000,), 0.1)
    np.testing.assert_allclose(ones.cumsum(0).numpy()[-1], 10_000.0, rtol=1e-6)


@pytest.mark.parametrize("scale", [1.0, 30.0, 1000.0])
@pytest.mark.parametrize("shape", [(50, 70), (300, 3), (4, 5000)])
@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_of_large_arrays(name, dim, shape, scale):
    values = (np.random.default_rng(1).normal(size=shape) * scale).astype(np.float32)
    values[0, 0] = -np.inf
    g = np.random.default_rng(2).normal(size=shape).astype(np.float32)
    found = []
    for lib in (gradpack, torch):
        x = lib.tensor(values.tolist(), requires_grad=True)
        y = getattr(lib, name)(x, dim)
        y.backward(lib.tensor(g.tolist()))
        found.append((array_of(y), array_of(x.grad)))
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6 * (1 if name == "softmax" else np.abs(g).sum(dim).max()))
