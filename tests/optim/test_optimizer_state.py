"""Groups of parameters, saving and loading, hooks of steps."""

from __future__ import annotations

import copy
import gc
import pickle
from typing import Any

import pytest
from tests.optim.common import OPTIMIZERS, every, parameter

import gradpack as torch

# --- groups ---


def test_groups_have_their_own_options() -> None:
    a, b = parameter([1.0], [1.0]), parameter([1.0], [1.0])
    optimizer = torch.optim.SGD([{"params": [a]}, {"params": b, "lr": 0.5}], lr=0.25)
    optimizer.step()
    assert (a.item(), b.item()) == (0.75, 0.5)
    optimizer.param_groups[0]["lr"] = 0.75
    optimizer.step()
    assert a.item() == 0.0


def test_a_group_that_is_refused_leaves_the_optimizer_as_it_was() -> None:
    p = parameter([1.0], [1.0])
    optimizer = torch.optim.SGD([p], lr=0.1)
    group = {"params": [parameter([1.0], [1.0]), p]}
    with pytest.raises(ValueError, match="more than one parameter group"):
        optimizer.add_param_group(group)
    assert len(optimizer.param_groups) == 1
    assert list(group) == ["params"]


def test_the_same_parameter_twice_in_a_group_warns() -> None:
    p = parameter([1.0], [1.0])
    with pytest.warns(UserWarning, match="duplicate parameters"):
        torch.optim.SGD([p, p], lr=0.1)


def test_a_required_option() -> None:
    class Mine(torch.optim.Optimizer):
        def __init__(self, params: Any) -> None:
            super().__init__(params, {"lr": torch.optim.optimizer.required})

    with pytest.raises(ValueError, match="required optimization parameter lr"):
        Mine([parameter([1.0], [1.0])])
    assert Mine([{"params": [parameter([1.0], [1.0])], "lr": 1}]).param_groups[0]["lr"] == 1


def test_zero_grad() -> None:
    a, b = parameter([1.0], [1.0]), torch.nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([a, b], lr=0.1)
    grad = a.grad
    optimizer.zero_grad(set_to_none=False)
    assert a.grad is grad
    assert (grad.tolist(), b.grad) == ([0.0], None)
    optimizer.zero_grad()
    assert a.grad is None
    a.grad = torch.ones(1, requires_grad=True) * 2
    optimizer.zero_grad(set_to_none=False)
    assert (a.grad.tolist(), a.grad.requires_grad) == ([0.0], False)


def test_parameters_without_gradient_have_no_state() -> None:
    p = torch.nn.Parameter(torch.ones(1))
    optimizer = torch.optim.Adam([p])
    optimizer.step()
    assert p.item() == 1
    assert optimizer.state_dict()["state"] == {}


# --- state ---


@every
def test_state_goes_through_pickle_and_continues_equally(name: str) -> None:
    p = parameter([1.0, 2.0], [0.5, -0.5])
    optimizer = OPTIMIZERS[name]([p])
    optimizer.step()
    state = pickle.loads(pickle.dumps(optimizer.state_dict()))
    q = torch.nn.Parameter(p.detach().clone())
    other = OPTIMIZERS[name]([q])
    other.load_state_dict(state)
    for _ in range(3):
        for x, o in ((p, optimizer), (q, other)):
            x.grad = torch.tensor([0.1, 0.7])
            o.step()
    assert p.tolist() == q.tolist()


def test_loaded_state_is_a_copy_in_the_dtype_of_the_parameter() -> None:
    p = parameter([1.0], [1.0])
    first = torch.optim.Adam([p])
    first.step()
    q = parameter([1.0], [1.0], torch.float64)
    second = torch.optim.Adam([q])
    second.load_state_dict(first.state_dict())
    state = second.state[q]
    assert (state["exp_avg"].dtype, state["step"].dtype) == (torch.float64, torch.float32)
    second.step()
    assert (first.state[p]["step"].item(), state["step"].item()) == (1, 2)


def test_a_state_that_does_not_fit_leaves_everything_as_it_was() -> None:
    p = parameter([1.0], [1.0])
    optimizer = torch.optim.SGD([p], lr=0.1, momentum=0.9)
    optimizer.step()
    before = (dict(optimizer.state), [dict(g) for g in optimizer.param_groups])
    for groups in ([], [{"params": [0, 1], "lr": 5}]):
        with pytest.raises(ValueError, match="loaded state dict"):
            optimizer.load_state_dict({"state": {}, "param_groups": groups})
    assert (dict(optimizer.state), [dict(g) for g in optimizer.param_groups]) == before


@every
def test_copies_are_independent(name: str) -> None:
    p = parameter([1.0], [1.0])
    optimizer = OPTIMIZERS[name]([p])
    optimizer.step()
    for other in (copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))):
        q = other.param_groups[0]["params"][0]
        q.grad = torch.ones(1)
        other.step()
        assert q.item() != p.item()


def test_names_of_parameters_are_kept() -> None:
    optimizer = torch.optim.SGD(torch.nn.Linear(1, 1).named_parameters(), lr=0.1)
    assert optimizer.state_dict()["param_groups"][0]["param_names"] == ["weight", "bias"]
    other = torch.optim.SGD(torch.nn.Linear(1, 1).parameters(), lr=0.1)
    other.load_state_dict(optimizer.state_dict())
    assert other.param_groups[0]["param_names"] == ["weight", "bias"]


# --- hooks ---


def test_hooks_of_steps() -> None:
    events: list[Any] = []
    p = parameter([1.0], [1.0])
    optimizer = torch.optim.SGD([p], lr=0.5)
    module = torch.optim.optimizer
    handles = [
        optimizer.register_step_pre_hook(lambda o, args, kwargs: events.append(("pre", p.item(), args == (o,)))),
        optimizer.register_step_post_hook(lambda o, args, kwargs: events.append(("post", p.item()))),
        module.register_optimizer_step_pre_hook(lambda o, args, kwargs: events.append("every pre")),
        module.register_optimizer_step_post_hook(lambda o, args, kwargs: events.append("every post")),
    ]
    optimizer.step()
    for handle in handles:
        handle.remove()
    optimizer.step()
    assert events == ["every pre", ("pre", 1.0, True), ("post", 0.5), "every post"]


def test_hooks_run_once_when_steps_call_each_other() -> None:
    class Mine(torch.optim.SGD):
        def step(self, closure: Any = None) -> Any:
            return super().step(closure)

    events: list[str] = []
    p = parameter([1.0], [1.0])
    optimizer = Mine([p], lr=0.5)
    optimizer.register_step_post_hook(lambda o, args, kwargs: events.append("post"))
    optimizer.step()
    optimizer.step()
    assert (events, p.item()) == (["post", "post"], 0.0)


def test_a_hook_that_raises_leaves_the_hooks_on() -> None:
    p = parameter([1.0], [1.0])
    optimizer = torch.optim.SGD([p], lr=0.5)
    optimizer.register_step_pre_hook(lambda o, args, kwargs: 1 / 0)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            optimizer.step()
    assert p.item() == 1.0


def test_a_pre_hook_may_replace_the_arguments() -> None:
    p = torch.nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([p], lr=0.5)
    optimizer.register_step_pre_hook(lambda o, args, kwargs: ((*args, lambda: 77), kwargs))
    assert optimizer.step() == 77
    optimizer.register_step_pre_hook(lambda o, args, kwargs: 3)
    with pytest.raises(RuntimeError, match="pre-hook"):
        optimizer.step()


def test_hooks_of_state() -> None:
    p = parameter([1.0], [1.0])
    optimizer = torch.optim.SGD([p], lr=0.5)
    events: list[str] = []
    optimizer.register_state_dict_pre_hook(lambda o: events.append("pre"))
    optimizer.register_state_dict_post_hook(lambda o, state: {**state, "more": 1})
    optimizer.register_load_state_dict_pre_hook(lambda o, state: events.append(f"load {state['more']}"))
    optimizer.register_load_state_dict_pre_hook(lambda o, state: events.append("first"), prepend=True)
    optimizer.register_load_state_dict_post_hook(lambda o: events.append("loaded"))
    optimizer.load_state_dict(optimizer.state_dict())
    assert events == ["pre", "first", "load 1", "loaded"]


def test_no_cycle_keeps_an_optimizer_alive() -> None:
    import weakref

    gc.collect()
    gc.disable()
    try:
        model = torch.nn.Linear(2, 2)
        optimizer = torch.optim.Adam(model.parameters())
        schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
        model(torch.ones(1, 2)).sum().backward()
        optimizer.step()
        gone = [weakref.ref(model.weight), weakref.ref(optimizer.state[model.weight]["exp_avg"])]
        del model, optimizer, schedule
        assert [ref() for ref in gone] == [None, None]
    finally:
        gc.enable()
