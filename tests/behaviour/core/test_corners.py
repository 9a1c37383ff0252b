"""Corners of tensors: addresses of empty ones, signs of dtypes, checks."""

from __future__ import annotations

import math

import pytest


def test_a_tensor_without_elements_has_no_address(torch):
    x = torch.ones(3)
    assert [torch.empty(0).data_ptr(), x[3:].data_ptr(), torch.ones(2, 3)[:, 3:].data_ptr()] == [0, 0, 0]
    assert x.data_ptr() != 0


@pytest.mark.parametrize(("dtype", "is_signed"), [("float32", True), ("int8", True), ("uint8", False), ("bool", False)])
def test_is_signed(torch, dtype, is_signed):
    x = torch.ones(2, dtype=getattr(torch, dtype))
    assert torch.is_signed(x) is is_signed
    assert x.is_signed() is is_signed


def test_checks_raise_what_they_are_for(torch):
    assert torch._check(True, lambda: "no") is None
    for check, error in ((torch._check, RuntimeError), (torch._check_index, IndexError),
                         (torch._check_value, ValueError), (torch._check_type, TypeError),
                         (torch._check_not_implemented, NotImplementedError)):  # fmt: skip
        with pytest.raises(error, match="says so"):
            check(False, lambda: "says so")
    for wrong in ((1, None), ("x", None), (False, "no function")):
        with pytest.raises(TypeError):
            torch._check(*wrong)
    assert torch._check_tensor_all(torch.tensor([True, True])) is None
    with pytest.raises(RuntimeError, match="says so"):
        torch._check_tensor_all(torch.tensor([True, False]), lambda: "says so")


def test_grids_are_of_tensors_of_one_device(torch):
    with pytest.raises(RuntimeError, match="expects all tensors to have the same device"):
        torch.meshgrid(torch.tensor([1]), torch.tensor([1], device="meta"), indexing="ij")


def test_complex_sums_of_no_exponentials_have_no_phase(torch):
    x = torch.tensor([complex(-math.inf, 4), complex(-math.inf, 1), 1.2 + 2.1j])
    assert torch.logcumsumexp(x, 0)[:2].tolist() == [complex(-math.inf, 0)] * 2
