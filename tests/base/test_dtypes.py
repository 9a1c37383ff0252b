"""dtypes, promotion, finfo and iinfo."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradpack as torch
from gradpack.base.dtypes import DTYPES, PROMOTED, result_dtype

ALL = st.sampled_from([d for d in DTYPES.values() if not d.alone])


@given(ALL, ALL, ALL)
def test_promotion_is_a_join(a, b, c):
    assert PROMOTED[a, a] is a
    assert PROMOTED[a, b] is PROMOTED[b, a]
    assert PROMOTED[a, b].category == max(a.category, b.category)
    # The one exception to associativity is torch's own: uint8 with a signed int of the same size.
    if torch.uint8 not in (a, b, c) and not {torch.float16, torch.bfloat16} <= {a, b, c}:
        assert PROMOTED[PROMOTED[a, b], c] is PROMOTED[a, PROMOTED[b, c]]


@given(ALL, ALL)
def test_a_tensor_of_higher_category_decides(full, zero):
    result = result_dtype([full], [zero], [])
    assert result.category == max(full.category, zero.category)
    if full.category >= zero.category:
        assert result is full


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("uint8", "int8", "int16"),
        ("int32", "float16", "float16"),
        ("float16", "bfloat16", "float32"),
        ("float64", "complex64", "complex128"),
        ("int64", "float32", "float32"),
        ("bool", "uint8", "uint8"),
    ],
)
def test_pairs(a, b, expected):
    assert torch.promote_types(getattr(torch, a), getattr(torch, b)) is getattr(torch, expected)


def test_scalars_and_zero_dim_tensors_do_not_widen():
    x = torch.ones(2)
    assert (x * 2.0).dtype is torch.float32
    assert (x * torch.tensor(2.0, dtype=torch.float64)).dtype is torch.float32
    assert (torch.ones(2, dtype=torch.int32) * 2).dtype is torch.int32
    assert (torch.ones(2, dtype=torch.int32) * 2.5).dtype is torch.float32
    assert (x * 1j).dtype is torch.complex64
    assert (torch.ones(2, dtype=torch.bfloat16) * 2.0).dtype is torch.bfloat16


def test_default_dtype():
    assert torch.get_default_dtype() is torch.float32
    torch.set_default_dtype(torch.float64)
    try:
        assert torch.ones(1).dtype is torch.float64
        assert torch.tensor([1.0]).dtype is torch.float64
        assert (torch.ones(1, dtype=torch.int64) / 2).dtype is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    with pytest.raises(TypeError):
        torch.set_default_dtype(torch.int64)


def test_attributes():
    assert torch.float is torch.float32 and torch.long is torch.int64 and torch.half is torch.float16
    assert torch.complex64.is_complex and not torch.complex64.is_floating_point
    assert not torch.uint8.is_signed and torch.bfloat16.itemsize == 2
    assert torch.complex64.to_real() is torch.float32 and torch.float64.to_complex() is torch.complex128
    assert repr(torch.float32) == "gradpack.float32"


def test_dtypes_survive_pickling():
    for d in DTYPES.values():
        assert pickle.loads(pickle.dumps(d)) is d


def test_finfo_and_iinfo():
    assert torch.finfo(torch.float32).eps == 2.0**-23
    assert torch.finfo(torch.bfloat16).max == pytest.approx(3.3895e38, rel=1e-4)
    assert torch.finfo(torch.float16).tiny == pytest.approx(6.1035e-05, rel=1e-4)
    assert torch.iinfo(torch.int8).min == -128 and torch.iinfo(torch.uint8).max == 255
    with pytest.raises(TypeError):
        torch.finfo(torch.int32)
    with pytest.raises(TypeError):
        torch.iinfo(torch.float32)


def test_limits_of_pythons_number_types_are_those_of_the_widest_dtype():
    assert torch.finfo(float).dtype == torch.finfo(complex).dtype == "float64" and torch.iinfo(int).bits == 64
    with pytest.raises(TypeError, match=r"torch\.finfo\(\) requires a floating point input type"):
        torch.finfo(int)
    with pytest.raises(TypeError, match=r"torch\.iinfo\(\) requires an integer input type"):
        torch.iinfo(float)
    with pytest.raises(TypeError, match=r"torch\.bool is not supported by torch\.iinfo"):
        torch.iinfo(bool)
    for call in (torch.finfo, torch.iinfo):
        with pytest.raises(TypeError, match=r"argument 'type' \(position 1\) must be torch\.dtype, not str"):
            call("float32")
