"""SciPy computes with tensors, and gradients go through it: it asks them for `gradpack.array_api`."""

from __future__ import annotations

import os
import subprocess
import sys
from textwrap import dedent

import numpy as np
import pytest

import gradpack as torch
import gradpack.array_api as xp


def test_array_api_compat_finds_the_namespace():
    array_api_compat = pytest.importorskip("array_api_compat")
    x = torch.ones(2, requires_grad=True)
    assert array_api_compat.is_array_api_obj(x)
    assert array_api_compat.array_namespace(x, 1.0) is xp
    assert array_api_compat.device(x) == torch.device("cpu")
    assert array_api_compat.size(x) == 2
    with pytest.raises(TypeError, match="Multiple namespaces"):
        array_api_compat.array_namespace(x, np.ones(2))


@pytest.fixture(scope="module")
def scipy_says():
    """What a program prints that runs with SciPy's switch for other arrays, which it reads when it is imported."""
    program = """
        import gradpack as torch
        import scipy.fft, scipy.integrate, scipy.signal, scipy.special, scipy.stats
        from scipy.spatial.transform import Rotation

        cases = {
            "logsumexp": lambda x: scipy.special.logsumexp(x, axis=0),
            "log_softmax": lambda x: scipy.special.log_softmax(x, axis=-1),
            "ndtri": scipy.special.ndtri,
            "stdtr": lambda x: scipy.special.stdtr(3.0, x),
            "skew": scipy.stats.skew,
            "gmean": scipy.stats.gmean,
            "ttest": lambda x: scipy.stats.ttest_1samp(x, 0.5).pvalue,
            "pearsonr": lambda x: scipy.stats.pearsonr(x[:, 0], x[:, 1]).statistic,
            "ifft": scipy.fft.ifft,
            "fftconvolve": lambda x: scipy.signal.fftconvolve(x[:, 0], x[:, 1]),
            "trapezoid": scipy.integrate.trapezoid,
            "rotation": lambda x: Rotation.from_rotvec(x).as_matrix(),
        }
        torch.manual_seed(0)
        values = torch.rand(5, 3, dtype=torch.float64) * 0.8 + 0.1
        for name, function in cases.items():
            x = values.clone().requires_grad_()
            with torch.autograd.graph.allow_mutation_on_saved_tensors():
                y = function(x)
                right = torch.autograd.gradcheck(lambda x: function(x + 0), (x,))
            print(name, type(y).__module__, y.requires_grad, right)
    """
    environment = {**os.environ, "SCIPY_ARRAY_API": "1", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, "-c", dedent(program)], env=environment, capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stderr
    return dict(line.split(" ", 1) for line in done.stdout.splitlines())


def test_gradients_go_through_scipy(scipy_says):
    assert len(scipy_says) == 12
    assert {*scipy_says.values()} == {"gradpack True True"}
