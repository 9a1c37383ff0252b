"""Calls that record nothing, by a plan: against the interpreted path, which says what they mean."""

import numpy as np
import pytest

import gradpack as torch
from gradpack.base.modes import MODE
from gradpack.declare.apply import _apply
from gradpack.declare.op import REGISTRY
from gradpack.declare.quick import quickly

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


def interpreted(op, values):
    try:
        return _apply(op, list(values), MODE.get()), None
    except Exception as error:
        return None, type(error)


def planned(op, values):
    try:
        return quickly(op, values, MODE.get()), None
    except Exception as error:
        return None, type(error)


@pytest.mark.parametrize("name", ["mul", "div", "pow", "maximum", "remainder", "eq", "atan2", "exp", "isnan", "sum"])
@pytest.mark.parametrize("first", TENSORS)
def test_is_what_the_interpreted_path_gives(name, first):
    op = REGISTRY[name]
    rest = [None] if len(op.promote) < 2 else [*TENSORS.values(), *NUMBERS]
    compared = 0
    for other in rest:
        values = (TENSORS[first],) if other is None else (TENSORS[first], other)
        values = (*values, *[op.defaults[p] for p in op.params[len(values) :]])
        expected, refused = interpreted(op, values)
        found, error = planned(op, values)
        if refused is not None:
            assert found is None and error in (None, refused), values
        elif found is not None:
            assert found.dtype is expected.dtype and found.shape == expected.shape, values
            assert found._data.tobytes() == expected._data.tobytes(), values
            compared += 1
    assert compared or refused is not None


def test_results_of_several_keep_their_names():
    op = REGISTRY["_cholesky_ex" if "_cholesky_ex" in REGISTRY else "linalg_cholesky_ex"]
    found = quickly(op, (torch.eye(2, dtype=torch.float64), False), MODE.get())
    assert found._fields == ("L", "info") and found.info.dtype is torch.int32 and found.L.dtype is torch.float64


def test_what_needs_a_gradient_has_no_plan():
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    values = (x, torch.ones(2))
    assert quickly(REGISTRY["mul"], values, MODE.get()) is None
    with torch.no_grad():
        assert quickly(REGISTRY["mul"], values, MODE.get()).dtype is torch.float64
    assert (x * torch.ones(2)).requires_grad


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
