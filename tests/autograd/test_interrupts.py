"""An interrupt of the program, whenever it comes: modes are as they were, and the next step is right."""

import numpy as np
import pytest

import gradpack as torch
from gradpack import saved
from gradpack.autograd import api
from gradpack.base.modes import MODE, RUN

X = np.linspace(-1, 1, 300, dtype=np.float32)


def interrupted(*args, **kwargs):
    raise KeyboardInterrupt


def loss(x):
    return (x.sin() * x.exp()).tanh().sum()


def rows(x):
    return torch.autograd.functional.jacobian(lambda y: y[:3].exp(), x)


@pytest.mark.parametrize("run", [lambda x: loss(x).backward(), rows])
@pytest.mark.parametrize("name", ["hush", "without_grad"])
def test_before_the_first_node_runs(monkeypatch, name, run):
    x = torch.tensor(X, requires_grad=True)
    before, settings = MODE.get(), np.geterr()
    found = getattr(api, name)

    def late(*args):
        found(*args)
        raise KeyboardInterrupt

    monkeypatch.setattr(api, name, late if name == "without_grad" else interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(x)
    assert (MODE.get(), RUN.get(), np.geterr()) == (before, None, settings)


@pytest.mark.parametrize("informed", [False, True])
def test_in_a_hook(informed):
    class Interrupted(saved.Policy):
        pack = interrupted

    x, before = torch.tensor(X, requires_grad=True), MODE.get()
    block = Interrupted() if informed else torch.autograd.graph.saved_tensors_hooks(interrupted, interrupted)
    with pytest.raises(KeyboardInterrupt), block:
        loss(x)
    assert (MODE.get().grad, MODE.get().hooks, MODE.get().ops) == (before.grad, None, ())
