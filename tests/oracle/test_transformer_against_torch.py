"""The demo's transformer, with equal weights and data, in torch."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import gradpack

torch = pytest.importorskip("torch")

SOURCE = Path(__file__).parents[2] / "examples" / "gpt.py"


def load(module_name: str):
    """The example as a module that imports `module_name` as torch."""
    text = re.sub(r"\bgradpack\b", module_name, SOURCE.read_text(encoding="utf-8"))
    spec = importlib.util.spec_from_loader(f"gpt_on_{module_name}", loader=None)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    exec(compile(text, f"gpt_on_{module_name}.py", "exec"), module.__dict__)
    return module


def build(gpt, vocabulary):
    return gpt.GPT(vocabulary, width=48, heads=4, layers=3, context=32, dropout=0.0)


@pytest.mark.parametrize(("dtype", "bound"), [("float32", 1e-5), ("float64", 1e-12)])
def test_loss_and_every_gradient(dtype, bound):
    theirs = build(load("torch"), 65).to(getattr(torch, dtype))
    ours = build(load("gradpack"), 65).to(getattr(gradpack, dtype))
    state = {k: v.detach().numpy() for k, v in theirs.state_dict().items()}
    ours.load_state_dict({k: gradpack.from_numpy(v.copy()) for k, v in state.items()})
    rng = np.random.default_rng(0)
    tokens = rng.integers(0, 65, (8, 33))
    losses = []
    for module, model in ((torch, theirs), (gradpack, ours)):
        x = module.from_numpy(tokens[:, :-1].copy())
        y = module.from_numpy(tokens[:, 1:].copy())
        logits = model(x)
        loss = module.nn.functional.cross_entropy(logits.reshape(-1, 65), y.reshape(-1))
        loss.backward()
        losses.append(loss.item())
    assert losses[1] == pytest.approx(losses[0], rel=bound)
    expected = dict(theirs.named_parameters())
    for name, p in ours.named_parameters():
        g, e = p.grad.numpy(), expected[name].grad.numpy()
        assert np.abs(g - e).max() <= bound * max(np.abs(e).max(), 1e-30), name
