"""Calls by a dtype plan that is kept: against a plan made for this call."""

import numpy as np
import pytest

import gradpack as torch
from gradpack.base.modes import MODE
from gradpack.declare.dispatch.interpreter import interpret
from gradpack.declare.op import REGISTRY

NUMBERS = (2, 2.5, True, 1j)
TENSORS = {
    "bool": torch.tensor([True, False, True]),
    "uint8": torch.tensor([3, 200, 7], dtype=torch.uint8),
    "int64": torch.tensor([3, -2, 7]),
    "float16": torch.tensor([0.5, 2.0, -1.0], dtype=torch.float16),
    "bfloat16": torch.tensor([0.5, 2.0, -1.0], dtype=torch.bfloat16),
    "float32": torch.tensor([0.5, 2.0, -1.0]),
    "float64 without dimensions": torch.tensor(1.5, dtype=torch.float64),
    "complex64": torch.tensor([1 + 2j, 0.5, -1j]),
}


def called(op, values):
    try:
        return interpret(op, values, MODE.get()), None
    except Exception as error:
        return None, (type(error), str(error))


@pytest.mark.parametrize("name", ["mul", "div", "pow", "maximum", "remainder", "eq", "atan2", "exp", "isnan", "sum"])
@pytest.mark.parametrize("first", TENSORS)
def test_a_plan_that_is_kept_gives_what_a_new_one_gives(name, first):
    op = REGISTRY[name]
    rest = [None] if len(op.promote) < 2 else [*TENSORS.values(), *NUMBERS]
    expected = []
    for repeated in (False, True):
        for i, other in enumerate(rest):
            values = (TENSORS[first],) if other is None else (TENSORS[first], other)
            values = (*values, *[op.defaults[p] for p in op.params[len(values) :]])
            if not repeated:
                op.plans.clear()
                expected.append(called(op, values))
                continue
            called(op, values)
            (made, refused), (found, error) = expected[i], called(op, values)
            assert error == refused, values
            if found is not None:
                assert found.dtype is made.dtype and found.shape == made.shape, values
                assert found._data.tobytes() == made._data.tobytes(), values


def test_results_of_several_keep_their_names():
    op = REGISTRY["_cholesky_ex" if "_cholesky_ex" in REGISTRY else "linalg_cholesky_ex"]
    found = interpret(op, (torch.eye(2, dtype=torch.float64), False), MODE.get())
    assert found._fields == ("L", "info") and found.info.dtype is torch.int32 and found.L.dtype is torch.float64


def test_what_needs_a_gradient_is_recorded():
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    values = (x, torch.full((3, 1), 2.0))
    made = interpret(REGISTRY["mul"], values, MODE.get())
    assert made.dtype is torch.float64
    made.sum().backward()
    assert x.grad.tolist() == [6, 6] and x.grad.dtype is torch.float64
    with torch.no_grad():
        assert interpret(REGISTRY["mul"], values, MODE.get()).grad_fn is None


def test_views_are_views():
    z = torch.ones(2, dtype=torch.complex64, requires_grad=True)
    part = interpret(REGISTRY["real"], (z,), MODE.get())
    assert part._base is z and part.dtype is torch.float32
    w = torch.zeros(2, dtype=torch.complex64)
    torch.view_as_real(w)[:, 1] = 1.0
    assert w.tolist() == [1j, 1j]
    with torch.no_grad():
        late = torch.view_as_real(z)
    assert late.grad_fn is None and late._base is z
    with pytest.raises(RuntimeError, match="no_grad mode"):
        late.mul_(2)


def test_several_results_of_several_kinds():
    x = torch.tensor([1.0, 2.0, 6.0], dtype=torch.float64, requires_grad=True)
    var, mean = torch.var_mean(x)
    (var + mean).backward()
    assert (var.item(), mean.item()) == (7.0, 3.0)
    assert x.grad.tolist() == pytest.approx([-2 + 1 / 3, -1 + 1 / 3, 3 + 1 / 3])


def test_plans_follow_the_default_dtype():
    whole = torch.tensor([1, 2])
    assert (whole / 2).dtype is torch.float32
    torch.set_default_dtype(torch.float64)
    try:
        assert (whole / 2).dtype is torch.float64 and (whole * 0.5).dtype is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    assert (whole / 2).dtype is torch.float32


def test_numbers_of_few_bits_wrap_around():
    assert (torch.tensor([250], dtype=torch.uint8) + 10).tolist() == [4]
    assert (torch.tensor([100], dtype=torch.int8) * torch.tensor([3], dtype=torch.int8)).tolist() == [44]


def test_a_plan_warns_of_nothing_and_leaves_numpy_as_it_was():
    before = np.geterr()
    assert torch.tensor([1, -1]).div(0).tolist() == [float("inf"), float("-inf")]
    assert np.geterr() == before


def test_what_is_refused_is_refused_by_name():
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        torch.tensor([1, 2]) // 0
    with pytest.raises(RuntimeError, match=r"shape|size"):
        torch.ones(2, dtype=torch.float64) * torch.ones(3)
