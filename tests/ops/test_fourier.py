"""The transforms without SciPy, which is faster and not needed."""

import numpy as np
import pytest

import gradpack
from gradpack.ops.fft import fourier


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numpy_gives_the_same(monkeypatch, dtype):
    x = gradpack.from_numpy(np.sin(np.arange(24, dtype=dtype)).reshape(2, 3, 4))

    def results():
        half = gradpack.fft.rfftn(x, norm="ortho")
        return [
            gradpack.fft.fft(x, 5, 1),
            gradpack.fft.ifft(x),
            gradpack.fft.fftn(x, dim=(0, 2)),
            half,
            gradpack.fft.irfftn(half, s=(2, 3, 4), norm="ortho"),
            gradpack.fft.hfft(half),
        ]

    expected = results()
    monkeypatch.setattr(fourier, "_library", lambda numpy: None)
    for a, b in zip(expected, results(), strict=True):
        assert a.dtype is b.dtype
        np.testing.assert_allclose(b.numpy(), a.numpy(), atol=1e-5 if dtype == np.float32 else 1e-12)
