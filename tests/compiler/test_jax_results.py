"""What programs of XLA's return and leave behind are tensors like others."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import gradpack as torch

pytest.importorskip("jax")
from tests.compiler.test_jax import by_jax, numbers, same

from gradpack.compiler.jax.deferred import DeferredParameter, DeferredTensor


def test_results_that_require_grad_have_a_backward_pass_of_xla():
    torch.manual_seed(0)
    plain = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Tanh(), torch.nn.Linear(3, 2))
    ours = copy.deepcopy(plain)
    net = torch.compile(ours, backend="jax", fullgraph=True)
    for i in range(6):
        x = numbers(5, 4, seed=i).requires_grad_()
        y = numbers(5, 4, seed=i).requires_grad_()
        (plain(x) ** 2).sum().backward()
        out = net(y)
        (out**2).sum().backward()
        same(y.grad, x.grad)
    assert type(out.grad_fn).__name__ == "CompiledFunctionBackward"
    for a, b in zip(plain.parameters(), ours.parameters(), strict=True):
        same(b.grad, a.grad)


def test_results_are_arguments_of_other_programs():
    first, second, third = by_jax(lambda x: x * 2), by_jax(lambda x: x + 1), torch.compile(lambda x: x + 1)
    for i in range(12):
        x = numbers(3, seed=i)
        same(second(first(x)), x * 2 + 1)
        same(third(first(x)), x * 2 + 1)
    assert len(second.kept) == len(third.kept) == 1


def test_deferred_tensors_are_saved(tmp_path):
    w = torch.nn.Parameter(torch.ones(3))
    optimizer = torch.optim.SGD([w], lr=0.1)

    @by_jax
    def step(x):
        optimizer.zero_grad()
        loss = (w * x).sum()
        loss.backward()
        optimizer.step()
        return loss.detach()

    for _ in range(5):
        loss = step(torch.ones(3))
    assert type(w) is DeferredParameter and type(loss) is DeferredTensor
    torch.save([w, loss], tmp_path / "found.pt")
    found = torch.load(tmp_path / "found.pt")
    same(found[0], np.full(3, 0.5))
    same(found[1], 1.8)
    assert type(found[0]) is torch.nn.Parameter


@pytest.mark.parametrize("when", ["before the step", "after the step", "in a dict"])
def test_numbers_that_are_only_returned_are_others_at_each_call(when):
    runs = []
    for compile_ in (lambda f: f, lambda f: by_jax(f, fullgraph=True)):
        torch.manual_seed(0)
        net = torch.nn.Linear(4, 2)
        optimizer = torch.optim.Adam(net.parameters(), lr=0.1)

        def step(x, net=net, optimizer=optimizer):
            optimizer.zero_grad()
            loss = (net(x) ** 2).mean()
            loss.backward()
            if when == "before the step":
                found = loss.item()
                optimizer.step()
                return found
            optimizer.step()
            return loss.item() if when == "after the step" else {"loss": loss.item(), "output": net(x)}

        compiled = compile_(step)
        found = [compiled(numbers(5, 4, seed=i)) for i in range(6)]
        runs.append([f["loss"] if isinstance(f, dict) else f for f in found])
        assert all(type(f) is float for f in runs[-1])
    same(*map(np.array, runs))
    assert len(compiled.kept) == 1


def test_a_step_returns_its_loss_and_accuracy_as_numbers():
    torch.manual_seed(0)
    net = torch.nn.Linear(4, 3)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    def step(x, y):
        optimizer.zero_grad()
        out = net(x)
        loss = torch.nn.functional.cross_entropy(out, y)
        loss.backward()
        optimizer.step()
        accuracy = (out.argmax(1) == y).float().mean().item()
        return loss.item(), accuracy, float(loss.detach())

    compiled = by_jax(step, fullgraph=True)
    labels = torch.tensor([0, 1, 2, 1, 0])
    found = [compiled(numbers(5, 4, seed=i), labels) for i in range(6)]
    assert len(compiled.kept) == 1
    assert all(round(5 * accuracy, 6).is_integer() for _, accuracy, _ in found)
    assert all(type(again) is float and loss == again for loss, _, again in found)


def test_averages_of_parameters_are_compared_but_for_rounding():
    """They follow a bias whose gradient is only rounding, and have its shape."""
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(6, 16), torch.nn.BatchNorm1d(16), torch.nn.Linear(16, 3))
    average = copy.deepcopy(net)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)

    def step(x):
        optimizer.zero_grad()
        (net(x) ** 2).mean().backward()
        optimizer.step()
        with torch.no_grad():
            for a, b in zip(average.parameters(), net.parameters(), strict=True):
                a.mul_(0.9).add_(b, alpha=0.1)

    compiled = by_jax(step, fullgraph=True)
    for i in range(6):
        compiled(numbers(8, 6, seed=i))
    assert len(compiled.kept) == 1


def test_a_step_is_traced_again_while_parameters_are_with_jax():
    """Resizing asks whether all numbers are finite, and another answer is another trace."""

    def run(wrap):
        torch.manual_seed(0)
        net = torch.nn.Linear(4, 8)
        optimizer = torch.optim.Adam(net.parameters(), lr=0.1)

        def step(*inputs):
            optimizer.zero_grad()
            a, b = (torch.nn.functional.interpolate(x[None], scale_factor=2, mode="linear")[0] for x in inputs)
            loss = (net(inputs[1]) * b + a.nan_to_num(0, 0, 0)).square().sum()
            loss.backward()
            optimizer.step()
            return loss

        step = wrap(step)
        for k in range(12):
            x, y = numbers(5, 4, seed=k), numbers(5, 4, seed=k + 20)
            x[0, 0] *= float("inf") if k in (6, 7, 10) else 1
            step(x, y)
        return net, step

    (net, _), (other, step) = run(lambda f: f), run(by_jax)
    same(other.weight, net.weight)
    (binding,) = step.bindings.values()
    assert len(binding.program.traces) == 4 and step.misses == []


def test_indices_are_compared_with_their_bound_only():
    torch.manual_seed(0)
    plain, ours = (torch.nn.Parameter(numbers(5, 6)) for _ in range(2))
    steps = []
    for w in (plain, ours):
        optimizer = torch.optim.Adam([w], lr=0.1)

        def step(x, i, w=w, optimizer=optimizer):
            optimizer.zero_grad()
            loss = (w * x).gather(1, i).square().sum()
            loss.backward()
            optimizer.step()
            return loss

        steps.append(step)
    compiled = by_jax(steps[1], fullgraph=True)
    for k in range(10):
        x, i = numbers(5, 6, seed=k), torch.tensor(np.random.default_rng(k).integers(0, 2 + k % 5, (5, 2)))
        same(compiled(x, i), steps[0](x, i))
    same(ours, plain)
    (binding,) = compiled.bindings.values()
    assert len(binding.program.traces) == 1
    with pytest.raises(RuntimeError, match="index 6 is out of bounds for dimension 1 with size 6"):
        compiled(x, i + 6 - i.max())
    same(ours, plain)


def test_programs_run_in_inference_mode_and_under_autocast():
    torch.manual_seed(0)
    net = torch.nn.Linear(4, 3)
    compiled = by_jax(lambda x: net(x).tanh(), fullgraph=True)
    for i in range(12):
        with torch.inference_mode(i % 3 == 0), torch.autocast("cpu", enabled=i % 3 == 1):
            x = torch.tensor(np.random.default_rng(i).standard_normal((2, 4)), dtype=torch.float32)
            found, wanted = compiled(x), net(x).tanh()
        assert (found.is_inference(), found.requires_grad, found.dtype) == (i % 3 == 0, i % 3 > 0, wanted.dtype)
        torch.testing.assert_close(found, wanted)
        if i % 3:
            net.zero_grad()
            found.float().sum().backward()
            got, net.weight.grad = net.weight.grad, None
            wanted.float().sum().backward()
            torch.testing.assert_close(got, net.weight.grad)
    assert len({kept.context for kept in compiled.kept}) == 3
