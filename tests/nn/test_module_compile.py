"""`Module.compile` compiles in place; copies and pickles of what is compiled have no programs."""

from __future__ import annotations

import copy
import pickle

import pytest

import gradpack as torch


def net():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)).double()


X = torch.linspace(-1, 1, 20, dtype=torch.float64).reshape(5, 4)


def test_training_is_that_of_the_module_that_is_not_compiled():
    plain, module = net(), net()
    assert module.compile() is None
    assert list(module.state_dict()) == list(plain.state_dict())
    losses = []
    for each in (plain, module):
        optimizer = torch.optim.SGD(each.parameters(), lr=0.1)
        losses.append([])
        for _ in range(6):
            optimizer.zero_grad()
            loss = each(X).square().mean()
            loss.backward()
            optimizer.step()
            losses[-1].append(loss.item())
    assert losses[0] == losses[1]
    assert "def program(" in module.forward.source


def test_hooks_of_the_module_run_at_each_call():
    module, seen = net(), torch.zeros(())
    module.compile()
    module.register_forward_hook(lambda module, args, out: seen.add_(1) and None)
    for _ in range(6):
        module(X)
    assert seen == 6


def test_compiling_anew_and_an_unknown_backend():
    module = net()
    forward = module.forward.__func__
    for _ in range(2):
        module.compile()
        assert module.forward.function.__func__ is forward
    before = module.forward
    with pytest.raises(RuntimeError, match="Invalid backend"):
        module.compile(backend="nonsense")
    assert module.forward is before
    module.compile(backend="eager")
    assert "forward" not in module.__dict__
    assert module(X).shape == (5, 1)


def test_a_forward_of_the_object_stays_its_own():
    module = net()
    module.forward = lambda x: x * 2
    module.compile()
    for each in (module, copy.copy(module)):
        for _ in range(4):
            assert torch.equal(each(X), X * 2)
    module.compile(disable=True)
    assert torch.equal(module(X), X * 2)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda module: pickle.loads(pickle.dumps(module))])
@pytest.mark.parametrize("in_place", [True, False])
def test_copies_have_no_programs(copied, in_place):
    module = net()
    if in_place:
        module.compile()
    else:
        module = torch.compile(module)
    for _ in range(4):
        expected = module(X)
    other = copied(module)
    assert torch.equal(other(X), expected)
    if copied is copy.copy:
        return
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.zero_()
    for _ in range(4):
        assert not other(X).any()
    assert torch.equal(module(X), expected)


@torch.compile
def doubled(x):
    return x * 2


def test_a_compiled_function_is_copied_by_its_name():
    assert copy.deepcopy(doubled) is doubled
    assert pickle.loads(pickle.dumps(doubled)) is doubled
