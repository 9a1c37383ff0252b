"""Conversions between float32 and 16-bit floats, of large arrays: bit for bit those of NumPy and ml_dtypes."""

from __future__ import annotations

import numpy as np
import pytest

import gradpack as torch

pytest.importorskip("numba")


def all_of_16_bits():
    return np.arange(1 << 16, dtype=np.uint16)


def floats():
    """Every number of 16 bits, what lies in the middle between two of them, and beside that; and any bits."""
    bits = [all_of_16_bits().view(np.float16).astype(np.float32).view(np.uint32), np.uint32(1 << 16) * all_of_16_bits()]
    bits += [b + np.uint32(more) for b in bits for more in (0xFFF, 0x1000, 0x1001, 0x7FFF, 0x8000, 0x8001)]
    steps = (np.arange(1024) + 0.5) * 2.0**-24  # between denormal numbers of float16
    bits += [steps.astype(np.float32).view(np.uint32) + np.uint32(more) for more in (0, 1)]
    bits.append(np.random.default_rng(0).integers(0, 1 << 32, 100_000, dtype=np.uint32))
    return np.concatenate(bits).view(np.float32)


def alike(found, expected):
    """The same numbers with the same signs, NaN of any kind."""
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    number = ~np.isnan(expected)
    np.testing.assert_array_equal(found[number].view(np.uint32), expected[number].view(np.uint32))
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_from_float32(name):
    dtype = getattr(torch, name)
    x = torch.tensor(floats())
    found = x.to(dtype)
    assert found.dtype is dtype
    with torch.backends.compiled.flags(enabled=False):
        alike(found.float().numpy(), x.to(dtype).float().numpy())


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_to_float32(name):
    x = torch.tensor(all_of_16_bits().view(np.int16)).view(getattr(torch, name)).reshape(256, 256)
    found = x.float()
    assert found.dtype is torch.float32
    assert found.shape == (256, 256)
    with torch.backends.compiled.flags(enabled=False):
        alike(found.numpy(), x.float().numpy())


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_an_operation_in_low_precision(name):
    x = torch.linspace(-4, 4, 70_001).to(getattr(torch, name))
    found = x * 1.5 + x
    with torch.backends.compiled.flags(enabled=False):
        assert torch.equal(found, x * 1.5 + x)


def test_transposed_and_small_arrays():
    x = torch.randn(300, 200)
    for d in (torch.float16, torch.bfloat16):
        assert torch.equal(x.T.to(d), x.to(d).T)
        assert torch.equal(x[:2].to(d), x.to(d)[:2])
        assert torch.equal(x[:, ::2].to(d), x.to(d)[:, ::2])
