"""Fourier transforms on torch's own sample inputs: values, dtypes, first and second gradients, bad inputs."""

from __future__ import annotations

import numpy as np
import pytest

import gradpack

torch = pytest.importorskip("torch")
pytest.importorskip("torch.testing._internal.common_methods_invocations")

from tests.oracle.both import outcome  # noqa: E402
from tests.oracle.opinfo import report, table  # noqa: E402

NAMES = sorted(n for n in table() if n.startswith("fft."))


@pytest.mark.parametrize("name", NAMES)
def test_torchs_samples(name):
    assert not report(name, table()[name], 8)


CALLS = """
t.fft.fft(t.ones(2, 3), dim=0, n=4) ; t.fft.rfft(t.ones(4), n=3) ; t.fft.irfft(t.ones(3) * 1j, n=3)
t.fft.hfft(t.tensor([1 + 1j, 2, 3]), norm="ortho") ; t.fft.ihfft(t.tensor([1.0, 2, 3]), norm="forward")
t.fft.fftn(t.arange(8.0).reshape(2, 2, 2), s=(2, -1)) ; t.fft.fftn(t.arange(8.0).reshape(2, 2, 2), s=(3,), dim=1)
t.fft.hfftn(t.arange(8.0).reshape(2, 2, 2), dim=(0,)) ; t.fft.ihfft2(t.arange(8.0).reshape(2, 2, 2))
t.fft.fft2(t.ones(2, 2), dim=0) ; t.fft.fft2(t.ones(2, 2), s=2) ; t.fft.fft(t.ones(3, 0)) ; t.fft.fft2(t.ones(3))
t.fft.fftfreq(5, 2) ; t.fft.fftfreq(4, dtype=t.complex64) ; t.fft.fftfreq(4.0) ; t.fft.rfftfreq(5, requires_grad=True)
t.fft.fftshift(t.tensor(1)) ; t.fft.ifftshift(t.arange(6).reshape(2, 3), dim=1) ; t.fft.fftshift(t.ones(2), 3)
t.fft.irfft(t.ones(3) * 1j, out=t.empty(0)) ; t.fft.rfft(t.ones(4), out=t.empty(3)) ; t.fft.hfft(t.ones(2), "x")
"""


@pytest.mark.parametrize("call", [c for line in CALLS.strip().split("\n") for c in line.split(" ; ")])
def test_calls(call):
    expected, given = (outcome(lambda t: eval(call, {"t": t}), lib) for lib in (torch, gradpack))
    if isinstance(expected, type):
        assert given is expected
    else:
        assert given[:2] == expected[:2]
        np.testing.assert_allclose(given[2], expected[2], atol=1e-6)
