"""Tensors of PyTorch and of gradpack in one process, in either order."""

from __future__ import annotations

import operator

import pytest

import gradpack

torch = pytest.importorskip("torch")

NAMES = (
    "add sub mul truediv floordiv mod pow matmul eq ne lt le gt ge and_ or_ xor lshift rshift "
    "iadd isub imul itruediv ifloordiv imod ipow imatmul"
).split()


@pytest.mark.parametrize("name", NAMES)
def test_operators(name):
    call = getattr(operator, name)
    for first, second in ((gradpack, torch), (torch, gradpack)):
        for kind in ("float32", "int64"):
            with pytest.raises(TypeError, match="from_dlpack"):
                call(first.ones(2, dtype=getattr(first, kind)), second.ones(2, dtype=getattr(second, kind)))


CALLS = {
    "cat": lambda a, x, y: a.cat([x, y]),
    "stack": lambda a, x, y: a.stack([y, x]),
    "add": lambda a, x, y: a.add(y, x),
    "exp": lambda a, x, y: a.exp(y),
    "where": lambda a, x, y: a.where(x > 0, x, y),
    "linear": lambda a, x, y: a.nn.functional.linear(x, y),
    "mse_loss": lambda a, x, y: a.nn.functional.mse_loss(x, y),
    "norm": lambda a, x, y: a.norm(y),
    "einsum": lambda a, x, y: a.einsum("i,i", x, y),
    "copy_": lambda a, x, y: x.copy_(y),
    "setitem": lambda a, x, y: x.__setitem__(0, y[0]),
    "getitem": lambda a, x, y: x[(y > 0)],
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("of_torch", [False, True])
def test_functions(name, of_torch):
    own, other = (torch, gradpack) if of_torch else (gradpack, torch)
    with pytest.raises(TypeError, match="from_dlpack"):
        CALLS[name](own, own.ones(2), other.ones(2))


def test_one_of_the_other():
    x = torch.tensor([1.0, 2.0])
    assert gradpack.core(x).tolist() == gradpack.core([x[0], x[1]]).tolist() == [1.0, 2.0]
    shared = gradpack.from_dlpack(x)
    shared[0] = 5.0
    assert x.tolist() == [5.0, 2.0] and torch.from_dlpack(shared).tolist() == [5.0, 2.0]
