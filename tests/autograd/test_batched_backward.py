"""A batch of gradients that goes backward at once: where it may run the compiled text, and where it may not."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import gradpack as torch

jacobian, hessian = torch.autograd.functional.jacobian, torch.autograd.functional.hessian
A = torch.linspace(0.2, 0.9, 6).reshape(2, 3)
ROW = torch.linspace(0.5, 1.5, 3)


FUNCTIONS = {
    "products": lambda x: x * A * x,
    "broadcasting": lambda x: x * ROW + ROW,
    "broadcasting of the input": lambda x: x[0] * A + x,
    "numbers": lambda x: 2 * x - 1 / x + 0.5**x,
    "results": lambda x: x.exp().tanh().sigmoid().sqrt(),
    "tensors of no dimension": lambda x: x * x[0, 0] + x[1, 1],
    "choices": lambda x: torch.maximum(x, A).clamp(0.3, 0.8) + torch.where(x > 0.5, x, x**2),
    "quotients": lambda x: torch.addcdiv(x, A, x, value=2) + torch.lerp(x, A, 0.3),
    "two dtypes": lambda x: x.double() * A.double() + x,
    "products of matrices and vectors": lambda x: (x @ ROW)[:, None] * (x[:, 0] @ x) + (x.T @ x[:, 1])[:2, None],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_all_rows_at_once_are_the_rows_one_by_one(name):
    f, x = FUNCTIONS[name], torch.linspace(0.1, 1, 6).reshape(2, 3)
    torch.testing.assert_close(jacobian(f, x, vectorize=True), jacobian(f, x))
    number = lambda x: (f(x) * A).sum()  # noqa: E731
    torch.testing.assert_close(hessian(number, x, vectorize=True), hessian(number, x))
    torch.testing.assert_close(hessian(number, x, vectorize=True), torch.func.hessian(number)(x))


def test_large_arrays():
    x = torch.linspace(0.1, 1, 300)
    found = jacobian(lambda x: x.exp() * x, x, vectorize=True)
    np.testing.assert_allclose(found.diagonal(), (x.exp() * (1 + x)).numpy(), rtol=1e-5)
    assert found.count_nonzero() == 300


def test_what_is_saved_goes_through_hooks_once():
    unpacked = []
    x = torch.ones(3, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: unpacked.append(t) or t / 2):
        y = x.exp() * x
    (g,) = torch.autograd.grad(y, x, torch.eye(3), is_grads_batched=True)
    torch.testing.assert_close(g, torch.diag((x.exp() * 2).detach()))
    assert len(unpacked) == 3


def test_a_graph_is_freed_and_changes_are_found():
    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    torch.autograd.grad(y, x, torch.eye(3), is_grads_batched=True, retain_graph=True)
    torch.autograd.grad(y, x, torch.eye(3), is_grads_batched=True)
    with pytest.raises(RuntimeError, match="a second time"):
        torch.autograd.grad(y, x, torch.eye(3), is_grads_batched=True)
    z = x.exp()
    with torch.no_grad():
        z.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        torch.autograd.grad(z, x, torch.eye(3), is_grads_batched=True)


def test_rows_with_a_history():
    x = torch.linspace(0.1, 1, 3, requires_grad=True)
    (g,) = torch.autograd.grad(x.exp() * x, x, torch.eye(3), is_grads_batched=True, create_graph=True)
    g.sum().backward()
    torch.testing.assert_close(x.grad, (x.exp() * (2 + x)).detach())


def test_no_cycles():
    def f(x):
        return (x[1:] ** 3).sum() + torch.stack(x.unbind()).prod() + torch.outer(x, x).exp().mean()

    x = torch.linspace(0.1, 1, 3)
    hessian(f, x, vectorize=True)
    gc.collect()
    gc.disable()
    try:
        hessian(f, x, vectorize=True)
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_one_batch_inside_of_another():
    x = torch.linspace(0.1, 1, 3, requires_grad=True)
    y = x.exp() * x

    def rows(seed):
        return torch.autograd.grad(y, x, torch.eye(3) * seed, is_grads_batched=True, retain_graph=True)[0]

    found = torch.vmap(rows)(torch.tensor([1.0, 2.0]))
    one = torch.diag(x.exp() * (1 + x)).detach()
    torch.testing.assert_close(found, torch.stack([one, 2 * one]))


def test_others_are_told_of_operations():
    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    with torch.autograd.profiler.profile() as prof:
        torch.autograd.grad(y, x, torch.eye(3), is_grads_batched=True)
    assert "aten::mul" in [event.name for event in prof.function_events]


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


PASSES = {
    "parts": lambda x: torch.cat([a * b for a, b in zip(x.split(2), x.flip(0).unbind()[:2], strict=False)]),
    "a function of one's own": lambda x: Double.apply(x.exp()) * x,
    "windows and sums": lambda x: x.cumsum(0) * x.mean() + x[None].transpose(0, 1).sum(1) + x.expand(2, 4).sum((0, 1)),
    "no dimensions": lambda x: x.sum().expand(4) * x.prod() + x[1:2].squeeze().unsqueeze(0).permute(0),
    "matrices": lambda x: (x.reshape(2, 2).mm(x.view(2, 2).exp()) @ x.view(2, 2).diagonal()).repeat(2),
}


@pytest.mark.parametrize("hooked", [False, True])
@pytest.mark.parametrize("name", PASSES)
def test_inputs_on_the_way_and_hooks(name, hooked):
    x = torch.linspace(0.3, 1, 4, requires_grad=True)
    middle = x * 1.5
    y = PASSES[name](middle)
    seen = []
    if hooked:
        middle.register_hook(lambda g: seen.append(g.shape) or g * 3)
    seeds = torch.eye(4) + 0.5
    found = torch.autograd.grad(y, (x, middle), seeds, is_grads_batched=True, retain_graph=True)
    assert seen == [(4,)] * hooked
    rows = [torch.autograd.grad(y, (x, middle), seed, retain_graph=True) for seed in seeds]
    for g, each in zip(found, zip(*rows, strict=True), strict=True):
        torch.testing.assert_close(g, torch.stack(each))
        assert g.grad_fn is None and not g.requires_grad


def test_large_batches_are_left_as_they_came():
    torch.ones(1 << 20).tanh()  # after which arrays take the forms for large ones, which write to gradients
    found = jacobian(lambda x: x.mul(2).neg().abs().neg(), torch.linspace(-1, 1, 1030), vectorize=True)
    torch.testing.assert_close(found, torch.diag(torch.linspace(-1, 1, 1030).sign() * -2))
