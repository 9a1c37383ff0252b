"""Anomaly detection."""

from __future__ import annotations

import warnings

import pytest


@pytest.fixture
def detect(torch):
    def enter(**kwargs):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it says that it is slow
            return torch.autograd.detect_anomaly(**kwargs)

    return enter


def test_nan_in_a_gradient_is_an_error_and_shows_the_forward_call(torch, detect):
    x = torch.tensor([0.0], requires_grad=True)
    with detect():
        y = (x * 0).sqrt() * 0
        with pytest.warns(UserWarning, match="Traceback of forward call that caused the error") as caught:
            with pytest.raises(RuntimeError, match=r"SqrtBackward0' returned nan values in its 0th output"):
                y.backward()
    assert "test_anomaly" in str(caught[0].message)
    assert x.grad is None


def test_without_the_nan_check(torch, detect):
    x = torch.tensor([0.0], requires_grad=True)
    with detect(check_nan=False):
        ((x * 0).sqrt() * 0).backward()
    assert x.grad.isnan().all()


def test_an_exception_in_backward_shows_the_forward_call(torch, detect):
    class Fail(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            raise ValueError("stop")

    x = torch.ones(1, requires_grad=True)
    with detect():
        y = Fail.apply(x)
        with pytest.warns(UserWarning, match="Error detected in FailBackward"), pytest.raises(ValueError, match="stop"):
            y.backward()


def test_queries_and_switch(torch):
    assert not torch.is_anomaly_enabled()
    with torch.autograd.set_detect_anomaly(True):
        assert torch.is_anomaly_enabled() and torch.is_anomaly_check_nan_enabled()
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        assert not torch.is_anomaly_check_nan_enabled()
    torch.autograd.set_detect_anomaly(True)
    assert torch.is_anomaly_enabled()
    torch.autograd.set_detect_anomaly(False)
    assert not torch.is_anomaly_enabled()
