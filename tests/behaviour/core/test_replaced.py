"""What a program puts in the place of a method or function is found by the next look-up, and gives way when deleted."""

from __future__ import annotations

import subprocess
import sys
from typing import Any
from unittest import mock

import pytest

import gradpack as torch
from gradpack import nn
from gradpack.nn import functional as F

Tensor = torch.Tensor
x = torch.tensor([1.0, 2.0])


def replace_before_use(code: str) -> None:
    """Run code in a process where few modules of operations are loaded."""
    subprocess.run(
        [sys.executable, "-c", f"import gradpack as torch\nx = torch.tensor([1.0, 2.0])\n{code}"], check=True
    )


@pytest.mark.parametrize("name", ["add", "sin", "erfinv", "logsumexp", "neg_", "T", "grad", "requires_grad", "data"])
def test_set_and_deleted(name: str) -> None:
    before, w = getattr(Tensor, name), nn.Parameter(x)
    setattr(Tensor, name, property(lambda self: "mine"))
    try:
        assert getattr(x, name) == "mine" and getattr(w, name) == "mine"
    finally:
        delattr(Tensor, name)
    assert getattr(Tensor, name) is before


@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("__add__", lambda: x + 1),
        ("__radd__", lambda: 1 + x),
        ("__getitem__", lambda: x[0]),
        ("__matmul__", lambda: x @ x),
        ("__neg__", lambda: -x),
        ("__eq__", lambda: x == x),  # noqa: PLR0124 - the operator
    ],
)
def test_operators(name: str, use: Any) -> None:
    setattr(Tensor, name, lambda self, *other: "mine")
    try:
        assert use() == "mine"
    finally:
        delattr(Tensor, name)
    assert isinstance(use(), Tensor)


def test_methods_that_are_not_loaded_yet() -> None:
    replace_before_use(
        """
torch.Tensor.nanmedian = lambda self: "mine"
torch.Tensor.arcsin = lambda self: "mine"
assert x.nanmedian() == "mine" and torch.nanmedian(x).item() == 1.0 and x.kthvalue(1).values.item() == 1.0
assert x.nanmedian() == "mine" and x.arcsin() == "mine" and x.asin()[0] > 1.5 and torch.arcsin(x)[0] > 1.5
del torch.Tensor.nanmedian, torch.Tensor.arcsin
assert x.nanmedian().item() == 1.0 and x.arcsin()[0] > 1.5
"""
    )


def test_methods_that_are_loaded_while_they_are_replaced() -> None:
    replace_before_use(
        """
from unittest import mock
held = vars(torch.Tensor).get("erfc")
with mock.patch.object(torch.Tensor, "erfc", lambda self: "mine"):
    assert x.erfc() == "mine" and torch.erfc(x * 0).tolist() == [1.0, 1.0]
assert (x * 0).erfc().tolist() == [1.0, 1.0]
"""
    )


def test_a_subclass_calls_a_method_that_is_not_loaded_yet() -> None:
    replace_before_use(
        """
class Sub(torch.Tensor):
    def erfinv(self):
        return "mine", super().erfinv()
assert x.mul(0).as_subclass(Sub).erfinv()[1].tolist() == [0.0, 0.0]
"""
    )


def test_functions_that_layers_call() -> None:
    with mock.patch.object(F, "relu", return_value="mine"):
        assert nn.ReLU()(x) == "mine" and F.relu(x) == "mine"
    assert isinstance(nn.ReLU()(x), Tensor)
    with torch.install_as_torch(force=True):
        import torch as theirs

        theirs.add = lambda *args: "sum"
        assert theirs.add(x, x) == "sum" and isinstance(x.add(x), Tensor)
        for name in dir(theirs.nn.functional):
            getattr(theirs.nn.functional, name)
    assert isinstance(torch.add(x, x), Tensor)
