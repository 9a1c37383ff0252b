"""The number of threads: what is asked for, and what it sets."""

from __future__ import annotations

import pytest

import gradpack as torch
from gradpack.base import threads


def test_the_number_is_that_of_the_environment_unless_it_was_set(monkeypatch):
    monkeypatch.setattr(threads, "_chosen", [])
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert torch.get_num_threads() == 3
    monkeypatch.setenv("MKL_NUM_THREADS", "2")
    assert torch.get_num_threads() == 2
    for name in ("MKL_NUM_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.setenv(name, "none")
    assert torch.get_num_threads() == threads._available()


def test_it_sets_the_threads_of_blas(monkeypatch):
    control = pytest.importorskip("threadpoolctl")

    def of_blas():
        return {library["num_threads"] for library in control.threadpool_info() if library["user_api"] == "blas"}

    monkeypatch.setattr(threads, "_chosen", [])
    torch.ones(2, 2) @ torch.ones(2, 2)
    with control.threadpool_limits(1, user_api="blas"):
        torch.set_num_threads(2)
        assert torch.get_num_threads() == 2 and of_blas() <= {2}
        torch.set_num_threads(1)
        assert torch.get_num_threads() == 1 and of_blas() <= {1}
