"""dtypes, devices and array libraries from outside."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import gradpack as torch
from gradpack import extend
from gradpack.backends import backend_of
from gradpack.backends.array_api import ArrayAPIBackend


@pytest.fixture(autouse=True)
def removed():
    with extend.registering():
        yield


def test_a_dtype_that_rounds_once():
    small = extend.dtype("float8_e3m4", ml_dtypes.float8_e3m4)
    assert torch.float8_e3m4 is small and repr(small) == "gradpack.float8_e3m4"
    x = torch.tensor([1.0, 0.3], dtype=small, requires_grad=True)
    y = x.exp() * 2
    assert y.dtype is small and y.itemsize == 1
    y.sum().backward()
    assert x.grad.dtype is small
    expected = np.exp(x.detach().to(torch.float32).numpy()).astype(ml_dtypes.float8_e3m4)
    assert x.detach().exp().numpy().tolist() == expected.tolist()
    assert (x + torch.ones(2)).dtype is torch.float32 and (x + 1).dtype is small
    assert torch.promote_types(small, torch.float16) is torch.float16
    assert x.to(torch.float64).dtype is torch.float64 and torch.ones(2).to(small).dtype is small


def test_a_dtype_of_integers():
    small = extend.dtype("nibble", ml_dtypes.uint4, category="integral", signed=False)
    x = torch.from_numpy(np.array([1, 15], ml_dtypes.uint4))
    assert x.dtype is small and (x + x).tolist() == [2, 14] and not small.is_signed
    with pytest.raises(RuntimeError, match="floating point"):
        x.requires_grad_()


def test_a_dtype_goes_away():
    extend.dtype("nibble", ml_dtypes.uint4, category="integral", signed=False)
    extend.remove("nibble")
    assert not hasattr(torch, "nibble")
    with pytest.raises(TypeError, match=r"can't convert np\.ndarray of type ml_dtypes\.uint4"):
        torch.from_numpy(np.zeros(2, ml_dtypes.uint4))


def test_a_device():
    strict = pytest.importorskip("array_api_strict")

    class Far(ArrayAPIBackend):
        def device_of(self, array):
            return torch.device("far")

    before = backend_of(type(strict.asarray(0.0)))
    backend = extend.backend(Far(strict, name="far"), replace=True)
    extend.device("far", backend)
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    moved = w.to("far")
    assert moved.device == torch.device("far") and type(moved._data) is type(strict.asarray(0.0))
    y = (moved * moved).sum()
    assert y.device.type == "far" and moved.to("far") is moved
    y.backward()
    assert w.grad.device.type == "cpu" and w.grad.tolist() == [2, 4]
    (first,) = torch.autograd.grad((w.to("far") ** 3).sum().cpu(), w, create_graph=True)
    assert torch.autograd.grad(first.sum(), w)[0].tolist() == [6, 12]
    assert y.cpu().device.type == "cpu" and y.cpu().item() == 5
    assert w.to("far", torch.float64).dtype is torch.float64
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        moved + w
    assert torch.zeros(2, device="far").device.type == "far" and torch.zeros_like(moved).device.type == "far"
    extend.remove("far")
    assert backend_of(type(strict.asarray(0.0))) is before
    with pytest.raises(RuntimeError, match="Expected one of cpu"):
        w.to("far")
