"""Tensors of PyTorch itself beside ours: a TypeError that says how to make one of the other, never a recursion.

PyTorch is played by a class that takes part in `__torch_function__` as its tensors do; tests/oracle has the real one.
"""

from __future__ import annotations

import operator

import numpy as np
import pytest

import gradpack as torch


class TensorBase:
    """Calls the function that was called once more, as `torch.Tensor.__torch_function__` does."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))

    def __iter__(self):
        return iter([self])

    def __array__(self, dtype=None, copy=None):
        return np.ones(2, np.float32)


TensorBase.__module__ = "torch._C"


class Foreign(TensorBase):
    pass


CALLS = {
    **{name: getattr(operator, name) for name in "add sub mul truediv pow matmul eq ne lt iadd imul".split()},
    "cat": lambda x, y: torch.cat([x, y]),
    "stack": lambda x, y: torch.stack([y, x]),
    "where": lambda x, y: torch.where(x > 0, x, y),
    "linear": torch.nn.functional.linear,
    "mse_loss": torch.nn.functional.mse_loss,
    "sum": lambda x, y: torch.sum(y),
    "zeros_like": lambda x, y: torch.zeros_like(y),
    "add_": lambda x, y: x.add_(y),
    "copy_": lambda x, y: x.copy_(y),
    "fill_": lambda x, y: x.fill_(y),
    "full": lambda x, y: torch.full((2,), y),
    "equal": torch.equal,
    "einsum": lambda x, y: torch.einsum("i,i", x, y),
    "expand_as": lambda x, y: x.expand_as(y),
    "to": lambda x, y: x.to(y),
    "an element": lambda x, y: x[y],
    "an assignment": lambda x, y: x.__setitem__(0, y),
    "grad": lambda x, y: setattr(x, "grad", y),
    "data": lambda x, y: setattr(x, "data", y),
    "backward": lambda x, y: (x.requires_grad_() * 1).backward(y),
    "out": lambda x, y: torch.add(x, x, out=y),
    "Parameter": lambda x, y: torch.nn.Parameter(y),
    "a module": lambda x, y: torch.nn.Linear(2, 2)(y),
    "an optimiser": lambda x, y: torch.optim.SGD([y], lr=0.1),
    "a distribution": lambda x, y: torch.distributions.Normal(y, 1.0),
}


@pytest.mark.parametrize("name", CALLS)
def test_they_do_not_mix(name):
    with pytest.raises(TypeError, match="from_dlpack"):
        CALLS[name](torch.ones(2), Foreign())


@pytest.mark.parametrize("name", ["add", "mul", "matmul", "eq", "lt"])
def test_in_either_order(name):
    with pytest.raises(TypeError, match="from_dlpack"):
        CALLS[name](Foreign(), torch.ones(2))


def test_functions_of_theirs_are_refused():
    def exp(x):
        return torch.Tensor.__torch_function__(exp, (torch.Tensor,), (x,))

    exp.__module__ = "torch.functional"
    exp = type(exp)(exp.__code__, {"__name__": "torch.functional", "torch": torch}, "exp", None, exp.__closure__)
    exp.__globals__["exp"] = exp
    with pytest.raises(TypeError, match="from_dlpack"):
        exp(torch.ones(2))


def test_their_numbers_make_tensors():
    for make in (torch.tensor, torch.as_tensor, torch.Tensor, torch.ones(1).new_tensor):
        assert make(Foreign()).tolist() == [1.0, 1.0]
        assert type(make(Foreign())) is torch.Tensor
    assert torch.tensor([Foreign(), Foreign()]).tolist() == [[1.0, 1.0]] * 2


def test_subclasses_of_ours_still_take_part():
    class Mine(torch.Tensor):
        pass

    x = torch.ones(2).as_subclass(Mine)
    with torch._C.DisableTorchFunctionSubclass():
        assert type(Mine.__torch_function__(torch.add, (Mine,), (x, x))) is Mine
    assert type(x + 1) is Mine
