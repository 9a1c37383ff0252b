"""`gradpack.array_api`: what differs from torch's functions, and that all of it differentiates.

`make array-api` runs the suite of the standard itself.
"""

from __future__ import annotations

import math

import array_api_strict
import numpy as np
import pytest

import gradpack as torch
import gradpack.array_api as xp
from gradpack.autograd import gradcheck


def of(shape, dtype=torch.float64):
    return torch.rand(*shape, dtype=dtype, requires_grad=True)


def test_every_name_of_the_standard_is_there():
    own = {"Array", "ArrayAPIStrictFlags", "Device", "uint16", "uint32", "uint64"}  # torch promotes no such dtypes
    strict = {n for n in array_api_strict.__all__ if n[0] != "_" and not n.endswith("strict_flags")}
    assert strict - own <= {*xp.__all__}
    for module in ("linalg", "fft"):
        assert {*getattr(array_api_strict, module).__all__} <= {*getattr(xp, module).__all__}


def test_a_tensor_knows_its_namespace():
    x = torch.ones(2)
    assert x.__array_namespace__() is x.__array_namespace__(api_version="2022.12") is xp
    assert xp.__array_api_version__ == "2024.12"
    with pytest.raises(ValueError, match=r"follows version 2024\.12 .* there is no version '2035\.12'"):
        x.__array_namespace__(api_version="2035.12")


def test_a_tensor_moves_to_a_device():
    x = of((2,))
    assert x.to_device("cpu") is x
    with pytest.raises(ValueError, match=r"to_device\(\): stream must be None, not 3"):
        x.to_device("cpu", stream=3)


# -- promotion --


def test_arrays_of_no_dimensions_take_part_in_promotion():
    wide, narrow = torch.ones((), dtype=torch.float64), torch.ones(2)
    assert torch.add(wide, narrow).dtype is torch.float32
    assert xp.add(wide, narrow).dtype is xp.result_type(wide, narrow) is torch.float64
    assert xp.where(narrow > 0, wide, narrow).dtype is torch.float64


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((torch.int8, 3), torch.int8),
        ((torch.int8, 3.0), torch.float32),
        ((torch.float64, 1j), torch.complex128),
        ((torch.uint8, torch.int8, True), torch.int16),
        ((torch.float32, torch.complex64, torch.float64), torch.complex128),
    ],
)
def test_result_types(arguments, expected):
    assert xp.result_type(*arguments) is expected


def test_bad_operands_are_told_of():
    with pytest.raises(ValueError, match="at least one tensor or dtype is needed"):
        xp.result_type(1, 2.0)
    with pytest.raises(TypeError, match="takes tensors, dtypes and Python numbers, and got str"):
        xp.result_type(torch.int8, "int8")
    with pytest.raises(TypeError, match=r"expected at least one tensor, and got int, float: convert one with asarray"):
        xp.add(1, 2.0)


def test_kinds_of_dtypes():
    assert xp.isdtype(torch.uint8, "unsigned integer")
    assert xp.isdtype(torch.uint8, ("bool", "numeric"))
    assert xp.isdtype(torch.uint8, (torch.int8, torch.uint8))
    assert not xp.isdtype(torch.bool, "numeric")
    with pytest.raises(ValueError, match=r"no kind of dtypes is called 'float'; there are bool, signed integer"):
        xp.isdtype(torch.uint8, "float")


def test_casts_are_those_of_promotion():
    assert xp.can_cast(torch.int8, torch.float32)
    assert not xp.can_cast(torch.ones(1, dtype=torch.float64), torch.float32)
    assert not xp.can_cast(torch.uint16, torch.int32)


def test_limits_know_their_dtype():
    assert xp.finfo(torch.complex128).dtype is torch.float64
    assert xp.finfo(torch.ones(1)).eps == torch.finfo(torch.float32).eps
    assert xp.iinfo(torch.int16)._asdict() == {"bits": 16, "max": 32767, "min": -32768, "dtype": torch.int16}


def test_inspection():
    info = xp.__array_namespace_info__()
    assert info.capabilities()["boolean indexing"] is True
    assert info.default_device() in info.devices()
    assert info.default_dtypes()["real floating"] is torch.float32
    assert info.dtypes(kind="complex floating") == {"complex64": torch.complex64, "complex128": torch.complex128}


# -- reductions --


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "max", "min", "all", "any", "var", "count_nonzero"])
def test_no_axis_is_no_reduction(name):
    x = torch.tensor([[3.0, 0.0], [-1.0, 2.0]])
    function = getattr(xp, name)
    assert function(x, axis=()).shape == x.shape
    assert function(x, keepdims=True).shape == (1, 1)
    assert function(x, axis=(0, -1)).shape == ()


def test_integers_are_summed_in_the_widest():
    x = torch.tensor([100, 100], dtype=torch.int8)
    for found in (xp.sum(x), xp.prod(x), xp.prod(x[0]), xp.cumulative_sum(x)[1], xp.sum(x, axis=())[0]):
        assert found.dtype is torch.int64
    assert xp.sum(x, dtype=torch.int8).item() == -56


def test_cumulative_results_may_begin_with_nothing():
    x = torch.tensor([2.0, 3.0])
    assert xp.cumulative_sum(x, include_initial=True).tolist() == [0, 2, 5]
    assert xp.cumulative_prod(x, include_initial=True).tolist() == [1, 2, 6]
    with pytest.raises(ValueError, match=r"cumulative_sum\(\): axis is needed for a tensor of 2 dimensions"):
        xp.cumulative_sum(x[None])


@pytest.mark.parametrize("dtype", [torch.int64, torch.float64, torch.complex128, torch.bool])
def test_distinct_values(dtype):
    x = torch.tensor([[3, 1, 1], [0, 3, 3]]).to(dtype)
    found = xp.unique_all(x)
    expected = np.unique_all(x.numpy())
    for name in ("values", "indices", "inverse_indices", "counts"):
        np.testing.assert_array_equal(getattr(found, name).numpy(), getattr(expected, name))
    assert (found.values[found.inverse_indices] == x).all()
    assert xp.unique_counts(x[:0]).counts.shape == (0,)


def test_nan_differs_from_itself_in_sets():
    found = xp.unique_all(torch.tensor([math.nan, 1.0, math.nan]))
    assert found.counts.tolist() == [1, 1, 1]


# -- arguments that torch does not have --


def test_errors_are_those_of_the_standard():
    x = torch.ones(2, 3)
    with pytest.raises(ValueError, match="not equal to one: axis 0"):
        xp.squeeze(x, 0)
    with pytest.raises(ValueError, match=r"take\(\): axis is needed for a tensor of 2 dimensions"):
        xp.take(x, torch.tensor([0]))
    with pytest.raises(ValueError, match=r"expand_dims\(\): axis=\(0, 0\) names one place twice"):
        xp.expand_dims(x, (0, 0))
    with pytest.raises(IndexError, match=r"range of \[-3, 2\], but got 3"):
        xp.expand_dims(x, 3)
    with pytest.raises(ValueError, match=r"reshape\(copy=False\)"):
        xp.reshape(x.T, (6,), copy=False)
    with pytest.raises(ValueError, match=r"nonzero\(\): the tensor has no dimensions"):
        xp.nonzero(torch.ones(()))
    with pytest.raises(ValueError, match=r"cross\(\): axis -1 must have size 3, not shapes \(2,\)"):
        xp.linalg.cross(torch.ones(2), torch.ones(2))
    with pytest.raises(ValueError, match=r"vecdot\(\): sizes differ along axis -1"):
        xp.vecdot(torch.ones(2), torch.ones(3))


def test_creation():
    assert xp.linspace(0, 1, 4, endpoint=False).tolist() == [0, 0.25, 0.5, 0.75]
    assert xp.arange(3, 0).shape == (0,)
    assert xp.arange(3, 0).dtype is torch.int64
    assert xp.eye(2, 3, k=1).tolist() == [[0, 1, 0], [0, 0, 1]]
    assert xp.eye(2, 3, k=9).sum().item() == 0


def test_negative_indices():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert xp.take(x, torch.tensor([-1]), axis=1).tolist() == [[2], [4]]
    assert xp.take_along_axis(x, torch.tensor([[-1], [0]])).tolist() == [[2], [3]]


def test_parts_may_be_written_to():
    x = of((2, 3)) * 1
    xp.unstack(x)[0][0] = 7.0
    assert x[0, 0].item() == 7


# -- gradients --


def test_lists_of_tensors_keep_their_history():
    x = of((2,))
    xp.sum(xp.asarray([x[0], x[1] * 2, 3.0])).backward()
    assert x.grad.tolist() == [1, 2]
    assert xp.asarray(x) is x
    assert xp.asarray(x, copy=True).requires_grad


@pytest.mark.parametrize(
    "function",
    [
        lambda x: xp.clip(x, 0.3, x * 2),
        lambda x: xp.where(x > 0.5, x, 1.0),
        lambda x: xp.std(x, axis=0, correction=1),
        lambda x: xp.max(x, axis=1),
        lambda x: xp.sort(x, axis=0, descending=True),
        lambda x: xp.unique_values(x),
        lambda x: xp.sign(x) * x,
        lambda x: xp.concat([x, xp.flip(x, axis=0)], axis=None),
        lambda x: xp.cumulative_prod(x, axis=-1, include_initial=True),
        lambda x: xp.take_along_axis(x, xp.argsort(x, axis=0), axis=0),
        lambda x: xp.linalg.solve(x, xp.eye(3, dtype=xp.float64)),
        lambda x: xp.linalg.cross(x, x[:1] * 2),
        lambda x: xp.linalg.trace(x, offset=1),
        lambda x: xp.linalg.vector_norm(x, axis=()),
        lambda x: xp.linalg.outer(x[0], x[1]),
        lambda x: xp.vecdot(x, x + 1j, axis=0),
        lambda x: xp.fft.rfftn(x, axes=(0,)),
        lambda x: xp.fft.fftshift(xp.fft.fft(x, axis=0), axes=1),
        lambda x: xp.special.betainc(2, 3, x),
        lambda x: xp.special.zeta(2, x),
    ],
)
def test_gradients(function):
    torch.manual_seed(1)
    x = (torch.rand(3, 3, dtype=torch.float64) * 0.6 + 0.2).requires_grad_()
    assert gradcheck(function, (x,))
