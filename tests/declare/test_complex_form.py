"""The compiled text for complex numbers: against the interpreted path, which says what it means."""

import numpy as np
import pytest

import gradpack as torch
from gradpack.base.modes import MODE
from gradpack.declare.dispatch.interpreted_node import InterpretedNode
from gradpack.declare.dispatch.interpreter import interpret
from gradpack.declare.op import REGISTRY

CALLS = {
    "mul": ((3,), (2, 3)),
    "add": ((2, 3), (3,)),
    "sub": ((2, 1), (1, 3)),
    "div": ((3,), (3,)),
    "matmul": ((2, 3), (3, 2)),
    "exp": ((4,),),
    "sin": ((4,),),
    "sigmoid": ((2, 2),),
    "sum": ((2, 2),),
}


def operands(shapes):
    draw = np.random.default_rng(5).normal
    return [torch.tensor((draw(size=s) + 1j * draw(size=s)).astype(np.complex64), requires_grad=True) for s in shapes]


@pytest.mark.parametrize("name", CALLS)
def test_values_and_gradients_are_those_of_the_interpreted_path(name):
    op = REGISTRY[name]
    inputs = operands(CALLS[name])
    values = [*inputs, *[op.defaults[p] for p in op.params[len(inputs) :]]]
    expected = interpret(op, values, MODE.get())
    found = op.public(*inputs)
    assert isinstance(expected.grad_fn, InterpretedNode) and not isinstance(found.grad_fn, InterpretedNode)
    assert type(found.grad_fn).__name__ == type(expected.grad_fn).__name__
    assert found.dtype is torch.complex64 and found._data.tobytes() == expected._data.tobytes()
    seed = torch.full_like(found, 0.5 - 2j).detach()
    for a, b in zip(torch.autograd.grad(found, inputs, seed), torch.autograd.grad(expected, inputs, seed), strict=True):
        assert a.dtype is b.dtype and np.allclose(a._data, b._data, rtol=1e-5, atol=1e-6)


def test_it_is_differentiated_twice():
    x = torch.tensor([1 + 2j, 0.3 - 1j], dtype=torch.complex128, requires_grad=True)
    assert torch.autograd.gradgradcheck(lambda v: v * v.exp(), [x])


def test_saved_tensors_are_watched():
    x = torch.tensor([1 + 1j], requires_grad=True)
    y = torch.tensor([2j])
    out = x * y
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward(torch.tensor(1 + 0j))


def test_saved_tensor_hooks_see_complex_operands():
    packed = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t.dtype) or t, lambda t: t):
        x, y = operands(((2,), (2,)))
        out = x * y
    assert packed == [torch.complex64, torch.complex64]
    assert torch.equal(torch.autograd.grad(out, x, torch.ones_like(out).detach())[0], y.conj().resolve_conj())


def test_a_bool_alpha_is_refused():
    x = torch.tensor([1j])
    with pytest.raises(RuntimeError, match="Boolean alpha"):
        torch.add(x, x, alpha=True)
