"""Promotion, result types and limits, for every combination."""

from __future__ import annotations

import itertools

import pytest

import gradpack

torch = pytest.importorskip("torch")

NAMES = list(gradpack.base.dtypes.DTYPES)


def name(d):
    return repr(d).split(".")[-1]


def promoted(m, a, b):
    try:
        return name(m.promote_types(getattr(m, a), getattr(m, b)))
    except RuntimeError as error:
        return str(error).split(",")[0]


def test_promote_types():
    for a, b in itertools.product(NAMES, NAMES):
        assert promoted(gradpack, a, b) == promoted(torch, a, b), (a, b)


def test_can_cast():
    for a, b in itertools.product(NAMES, NAMES):
        ours = gradpack.can_cast(getattr(gradpack, a), getattr(gradpack, b))
        assert ours == torch.can_cast(getattr(torch, a), getattr(torch, b)), (a, b)


@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
@pytest.mark.parametrize("op", ["add", "mul", "sub", "div"])
def test_result_types_of_tensors_zero_dim_tensors_and_numbers(op):
    operands = [(n, shape) for n in NAMES for shape in ((2,), ())]
    for (a, sa), (b, sb) in itertools.product(operands, operands):
        results = []
        for m in (gradpack, torch):
            try:
                r = getattr(m, op)(m.ones(sa, dtype=getattr(m, a)), m.ones(sb, dtype=getattr(m, b)))
                results.append(name(r.dtype))
            except RuntimeError:
                results.append("error")
        if (results[0], results[1]) != ("complex32", "error"):  # few operations of torch's take it
            assert results[0] == results[1], (op, a, sa, b, sb)
    for (a, sa), number in itertools.product(operands, [True, 2, 2.5, 1j]):
        results = []
        for m in (gradpack, torch):
            try:
                results.append(name(getattr(m, op)(m.ones(sa, dtype=getattr(m, a)), number).dtype))
            except RuntimeError:
                results.append("error")
        if (results[0], results[1]) != ("complex32", "error"):
            assert results[0] == results[1], (op, a, sa, number)


@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float32", "float64", "complex64"])
def test_finfo(kind):
    ours, theirs = gradpack.finfo(getattr(gradpack, kind)), torch.finfo(getattr(torch, kind))
    for field in ("bits", "eps", "max", "min", "tiny", "smallest_normal", "resolution", "dtype"):
        assert getattr(ours, field) == getattr(theirs, field), field


def test_printing():
    cases = [
        [0.1, 100.0], [1e-5, 1.0], [1.0, 1000000.0], [float("nan"), 1.0], [float("inf"), 0.5], [1, 2, 3], [True, False],
        [[1.5, 2.0], [3.0, 4.0]], 2.5, 3, [], [[]], [1 + 2j, 0.5], [1e10, 1.0], [-1.0, 2.0], [1.0, 2.0], [0.0, 1e-10],
        list(range(100)), [[[1.0]], [[2.0]]], [1e-3, 1e-2], [123456.0, 1.5], list(range(2000)),
    ]  # fmt: skip
    for case in cases:
        ours, theirs = repr(gradpack.core(case)), repr(torch.tensor(case))
        assert ours.replace("gradpack.", "torch.") == theirs, case
    for d in ("float64", "int32", "bfloat16", "float16", "complex128", "uint8"):
        ours = repr(gradpack.core([1, 2], dtype=getattr(gradpack, d)))
        assert ours.replace("gradpack.", "torch.") == repr(torch.tensor([1, 2], dtype=getattr(torch, d)))
    x = gradpack.ones(2, requires_grad=True)
    assert repr(x) == "tensor([1., 1.], requires_grad=True)"
    assert repr(x * 2) == "tensor([2., 2.], grad_fn=<MulBackward0>)"
