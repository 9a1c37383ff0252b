"""Subclasses that never call `super().__init__()` work until they need what it makes."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest

import gradpack as torch
from gradpack.optim.optimizer import register_optimizer_step_pre_hook


class Plain(torch.optim.Optimizer):
    def __init__(self, params: Any) -> None:
        self.params = list(params)

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:
        for p in self.params:
            p -= 0.5 * p.grad


class Around(torch.optim.Optimizer):
    """An optimiser around another, as programs write it."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.state, self.defaults = inner, defaultdict(dict), inner.defaults

    @property
    def param_groups(self) -> Any:
        return self.inner.param_groups

    def step(self, closure: Any = None) -> Any:
        return self.inner.step(closure)


class Further(Around):
    def step(self, closure: Any = None) -> Any:
        return super().step(closure)


def weight() -> Any:
    w = torch.nn.Parameter(torch.tensor([1.0]))
    (w**2).sum().backward()
    return w


def test_an_optimizer_of_its_own() -> None:
    w = weight()
    Plain([w]).step()
    assert w.item() == 0.0
    with pytest.raises(AttributeError, match="param_groups"):
        Plain([w]).zero_grad()


@pytest.mark.parametrize("kind", [Around, Further])
def test_an_optimizer_around_another(kind: Any) -> None:
    w, seen = weight(), []
    outer = kind(torch.optim.SGD([w], lr=0.25))
    schedule = torch.optim.lr_scheduler.LambdaLR(outer, lambda epoch: 0.5**epoch)
    with register_optimizer_step_pre_hook(lambda optimizer, *_: seen.append(type(optimizer))):
        outer.step()
    schedule.step()
    assert w.item() == 0.5 and seen == [torch.optim.SGD] and schedule.get_last_lr() == [0.125]
    outer.zero_grad()
    assert w.grad is None
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0)
    scaler.scale((w**2).sum()).backward()
    scaler.step(outer)
    assert w.item() == 0.375


def test_modes_and_hooks() -> None:
    class Off(torch.no_grad):
        def __init__(self) -> None:
            pass

    class Kept(torch.autograd.graph.saved_tensors_hooks):
        def __init__(self) -> None:
            self.pack_hook = self.unpack_hook = lambda x: x

    x = torch.ones(1, requires_grad=True)
    with Off():
        assert not (x * 2).requires_grad
    with Kept():
        y = x * x
    y.backward()
    assert x.grad.item() == 2.0


def test_a_loader_sets_what_it_likes_before_it_is_one() -> None:
    class Loader(torch.utils.data.DataLoader):
        def __init__(self, data: Any) -> None:
            self.dataset = self.batch_size = None
            super().__init__(data, batch_size=2)

    loader = Loader(list(range(4)))
    assert [b.tolist() for b in loader] == [[0, 1], [2, 3]]
    with pytest.raises(ValueError, match="dataset attribute should not be set after Loader is initialized"):
        loader.dataset = None
