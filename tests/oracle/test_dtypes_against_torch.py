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
        if op == "mul" and "float8" in a + b and "float8" in results[1]:
            continue  # torch multiplies floats of eight bits by a number in a tensor, and by nothing else
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


@pytest.mark.parametrize(
    "kind", ["float8_e4m3fn", "float8_e5m2", "float16", "bfloat16", "float32", "float64", "complex64"]
)
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
        ours, theirs = repr(gradpack.tensor(case)), repr(torch.tensor(case))
        assert ours.replace("gradpack.", "torch.") == theirs, case
    for d in ("float64", "int32", "bfloat16", "float16", "complex128", "uint8", "float8_e4m3fn", "float8_e5m2"):
        ours = repr(gradpack.tensor([1, 2], dtype=getattr(gradpack, d)))
        assert ours.replace("gradpack.", "torch.") == repr(torch.tensor([1, 2], dtype=getattr(torch, d)))
    x = gradpack.ones(2, requires_grad=True)
    assert repr(x) == "tensor([1., 1.], requires_grad=True)"
    assert repr(x * 2) == "tensor([2., 2.], grad_fn=<MulBackward0>)"


# --- floats of eight bits ---

FLOAT8 = ["float8_e4m3fn", "float8_e5m2"]


@pytest.mark.parametrize("kind", FLOAT8)
@pytest.mark.parametrize("of", ["float32", "float64", "float16", "bfloat16", "int64", "bool"])
def test_numbers_in_eight_bits(kind, of):
    """Every float16, and numbers beyond: the same codes, and the same numbers of them."""
    codes = torch.arange(-(2**15), 2**15, dtype=torch.int32).to(torch.int16).view(torch.float16)
    numbers = codes.to(getattr(torch, of)) if of != "int64" else torch.arange(-70000, 70000)
    if of in ("float32", "float64"):
        numbers = torch.cat([numbers, numbers * 1000, numbers * (1 + 2.0**-12)])
    theirs = numbers.to(getattr(torch, kind))
    given = gradpack.tensor(numbers.tolist(), dtype=getattr(gradpack, of))
    ours = given.to(getattr(gradpack, kind))
    defined = ~(theirs.float().isnan())
    assert (ours.float().isnan().numpy() == (~defined).numpy()).all()
    assert (ours.view(gradpack.uint8).numpy() == theirs.view(torch.uint8).numpy())[defined.numpy()].all()
    assert (ours.to(gradpack.float64).numpy() == theirs.to(torch.float64).numpy())[defined.numpy()].all()


OF_FLOAT8 = {
    "add": lambda m, x: x + x, "add a number": lambda m, x: x + 1, "promote": lambda m, x: x + m.ones(2, 2),
    "neg": lambda m, x: -x, "eq": lambda m, x: x == x.clone(), "lt": lambda m, x: x < x.clone(),
    "abs": lambda m, x: x.abs(), "mask": lambda m, x: x[x.float() > 1],
    "sum": lambda m, x: x.sum(), "sum in float32": lambda m, x: x.sum(dtype=m.float32), "mm": lambda m, x: x @ x,
    "cat": lambda m, x: m.cat([x, x]), "index": lambda m, x: x[m.tensor([1, 0])],
    "full": lambda m, x: m.full((2,), 3, dtype=x.dtype), "eye": lambda m, x: m.eye(2, dtype=x.dtype),
    "arange": lambda m, x: m.arange(3, dtype=x.dtype), "where": lambda m, x: m.where(x.float() > 1, x, x),
    "fill": lambda m, x: x.clone().fill_(2), "copy": lambda m, x: x.clone().copy_(m.ones(2, 2)),
    "isnan": lambda m, x: x.isnan(), "isfinite": lambda m, x: x.isfinite(), "isinf": lambda m, x: x.isinf(),
    "bytes": lambda m, x: x.view(m.uint8), "max": lambda m, x: x.max(), "mul": lambda m, x: x * 2.0,
    "exp": lambda m, x: x.exp(), "relu": lambda m, x: x.relu(), "sort": lambda m, x: x.sort(),
    "roll": lambda m, x: x.roll(1), "repeat": lambda m, x: x.repeat(2, 1), "type": lambda m, x: x.type(),
    "linear": lambda m, x: m.nn.functional.linear(x, x), "pad": lambda m, x: m.nn.functional.pad(x, (1, 1)),
    "any": lambda m, x: x.any(), "argmax": lambda m, x: x.argmax(), "clamp": lambda m, x: x.clamp(0, 1),
    "default": lambda m, x: m.set_default_dtype(x.dtype), "result": lambda m, x: m.result_type(x, 1),
    "grad": lambda m, x: m.autograd.grad(x.requires_grad_().float().square().sum(), x)[0],
}  # fmt: skip


@pytest.mark.parametrize("job", OF_FLOAT8.values(), ids=OF_FLOAT8)
@pytest.mark.parametrize("kind", FLOAT8)
def test_few_operations_take_eight_bits(kind, job):
    answers = []
    for m in (gradpack, torch):
        try:
            found = job(m, m.tensor([[1.0, 2.0], [3.0, 4.5]], dtype=getattr(m, kind)))
            answers.append(repr(found).replace("gradpack.", "torch."))
        except (NotImplementedError, RuntimeError, TypeError) as error:
            answers.append(type(error))
    assert answers[0] == answers[1]
