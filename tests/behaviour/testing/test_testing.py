"""`torch.testing`: what is close, and what is said of what is not."""

from __future__ import annotations

import math

import numpy as np
import pytest

NAN = float("nan")
TENSORS = """Tensor-likes are not close!

Mismatched elements: 2 / 4 (50.0%)
Greatest absolute difference: 2.0 at index (1, 0) (up to 1e-05 allowed)
Greatest relative difference: 0.4000000059604645 at index (1, 0) (up to 1.3e-06 allowed)"""
SCALARS = """Scalars are not close!

Expected 2.0 but got 1.0.
Absolute difference: 1.0 (up to 1e-05 allowed)
Relative difference: 0.5 (up to 1.3e-06 allowed)"""


def said(torch, a, b, **options):
    with pytest.raises(AssertionError) as caught:
        torch.testing.assert_close(a, b, **options)
    return str(caught.value).replace("gradpack", "torch")


def test_what_is_close(torch):
    close, t = torch.testing.assert_close, torch.tensor
    close(t([1.0, 2.0]), t([1.0, 2.0 + 1e-6]))
    close(t([1.0]), t([1.0], dtype=torch.float64), check_dtype=False)
    close(t([NAN]), t([NAN]), equal_nan=True)
    close(t([1.0]), t([1.1]), rtol=0.2, atol=0)
    close([t(1.0), {"a": 2.0}], (t(1.0), {"a": 2.0}))
    close(t([1.0], requires_grad=True), t([1.0]))
    close(t([math.inf]), t([math.inf]))
    close(t([1.0]).bfloat16(), t([1.01]).bfloat16())
    close(np.ones(2), np.ones(2))
    close(None, None)
    close(1.0, 1.0 + 1e-9)
    close(torch.nn.Parameter(t([1.0])), t([1.0]))


def test_what_is_said(torch):
    t = torch.tensor
    assert said(torch, t([[1.0, 2.0], [3.0, 4.0]]), t([[1.0, 2.0], [5.0, 4.5]])) == TENSORS
    assert said(torch, t(1.0), t(2.0)) == SCALARS
    assert said(torch, {"a": [t(1.0)]}, {"a": [t(2.0)]}) == SCALARS + "\n\nThe failure occurred for item ['a'][0]"
    assert said(torch, t(1.0), t(2.0), msg="hello") == "hello"
    assert said(torch, t(1.0), t(2.0), msg=lambda m: "more:\n" + m) == "more:\n" + SCALARS
    shapes = "The values for attribute 'shape' do not match: torch.Size([1]) != torch.Size([2])."
    assert said(torch, t([1.0]), t([1.0, 2.0])) == shapes
    kinds = "The values for attribute 'dtype' do not match: torch.float32 != torch.float64."
    assert said(torch, t([1.0]), t([1.0], dtype=torch.float64)) == kinds
    strides = "The values for attribute 'stride()' do not match: (1, 3) != (2, 1)."
    assert said(torch, torch.ones(2, 3).T, torch.ones(3, 2), check_stride=True) == strides
    assert said(torch, [t(1.0)], [t(1.0), t(2.0)]) == "The length of the sequences mismatch: 1 != 2"
    assert "Missing keys in the actual mapping: ['b']" in said(torch, {"a": 1}, {"b": 1})
    assert said(torch, True, False) == "Booleans mismatch: True is not False"
    assert said(torch, 1, 1.0) == "The (d)types do not match: <class 'int'> != <class 'float'>."
    assert "Tensor-likes are not equal!" in said(torch, t([1, 2, 3]), t([4, 2, 8]))
    assert "Greatest absolute difference: 5 at index (2,)" in said(torch, t([1, 2, 3]), t([4, 2, 8]))
    assert "Mismatched elements: 1 / 1 (100.0%)" in said(torch, t([NAN]), t([NAN]))


def test_what_cannot_be_compared(torch):
    with pytest.raises(TypeError, match="No comparison pair was able to handle inputs of type"):
        torch.testing.assert_close("a", "a")
    with pytest.raises(TypeError, match="No comparison pair"):
        torch.testing.assert_close(torch.nn.Parameter(torch.ones(1)), torch.ones(1), allow_subclasses=False)
    with pytest.raises(ValueError, match="Both 'rtol' and 'atol' must be either specified or omitted, but got no atol"):
        torch.testing.assert_close(1.0, 1.0, rtol=0.1)


@pytest.mark.parametrize("name", "bool uint8 int8 int64 float16 bfloat16 float32 float64 complex64".split())
def test_tensors_to_compare(torch, name):
    make = torch.testing.make_tensor
    d = getattr(torch, name)
    x = make((30, 4), dtype=d, device="cpu")
    assert x.shape == (30, 4) and x.dtype is d and not x.requires_grad
    assert make(2, 3, dtype=d, device="cpu").shape == (2, 3)
    low, high = (0, 10) if name == "uint8" else (0, 2) if name == "bool" else (-9, 10)
    real = torch.view_as_real(x) if d.is_complex else x
    assert low <= real.double().min().item() and real.double().max().item() <= high
    assert not make((2, 3), dtype=d, device="cpu", noncontiguous=True).is_contiguous()


def test_limits_of_made_tensors(torch):
    make = torch.testing.make_tensor
    x = make((1000,), dtype=torch.float32, device="cpu", low=1, high=2, requires_grad=True)
    assert x.requires_grad and x.is_leaf and bool((x >= 1).all()) and bool((x < 2).all())
    assert bool((make((1000,), dtype=torch.int64, device="cpu", low=-1, high=2, exclude_zero=True) != 0).all())
    with pytest.raises(ValueError, match="`low` must be less than `high`, but got 2 >= 1"):
        make((2,), dtype=torch.float32, device="cpu", low=2, high=1)
    with pytest.raises(ValueError, match="is not supported for boolean and integral dtypes"):
        make((2,), dtype=torch.int64, device="cpu", requires_grad=True)
