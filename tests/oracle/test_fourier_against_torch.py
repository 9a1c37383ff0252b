"""Fourier transforms on torch's own sample inputs: values, dtypes, first and second gradients, bad inputs."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch.testing._internal.common_methods_invocations")

from tests.oracle.opinfo import report, table  # noqa: E402

NAMES = sorted(n for n in table() if n.startswith("fft."))


@pytest.mark.parametrize("name", NAMES)
def test_torchs_samples(name):
    assert not report(name, table()[name], 8)
