"""Where the tests of this folder run."""

from __future__ import annotations

import os
from contextlib import ExitStack

import pytest

import gradpack as torch
from gradpack.backends import cupy_loading
from tests.fake_cupy import on_cuda

REAL = bool(os.environ.get("GRADPACK_GPU"))


def pytest_report_header():
    if REAL and torch.cuda.is_available():
        return f"cuda: {torch.cuda.get_device_name()}, CuPy {cupy_loading.library().__version__}"
    return "cuda: a stand-in, made over NumPy"


@pytest.fixture(scope="module")
def real():
    """Whether there is a device behind it: rounding may differ then, and copies run when they like."""
    if REAL and not torch.cuda.is_available():
        pytest.exit("GRADPACK_GPU=1, and there is no CUDA device that CuPy finds", returncode=2)
    return REAL


@pytest.fixture(scope="module", autouse=True)
def cupy(real):
    with ExitStack() as stack:
        if real:
            cupy_loading.bring()
            yield cupy_loading.library()
        else:
            yield stack.enter_context(on_cuda())
