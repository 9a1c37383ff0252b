"""The two libraries, and what tests of modules do with both."""

from __future__ import annotations

from typing import Any

import pytest

import gradpack

torch = pytest.importorskip("torch")

LIBRARIES = (gradpack, torch)


def outcome(job: Any, lib: Any) -> Any:
    """What `job(lib)` gives, or the type of what it raises."""
    try:
        return comparable(job(lib))
    except Exception as error:
        return type(error)


def comparable(value: Any) -> Any:
    """Without what differs by name only: tensors as lists, types by name."""
    if isinstance(value, gradpack.Tensor | torch.Tensor):
        return (tuple(value.shape), str(value.dtype).split(".")[1], value.tolist())
    if isinstance(value, gradpack.nn.Module | torch.nn.Module):
        return repr(value)
    if isinstance(value, dict):
        return {key: comparable(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [comparable(v) for v in value]
    if isinstance(value, set):
        return sorted(value)
    return value


def linear(lib: Any, features: int = 2) -> Any:
    layer = lib.nn.Linear(features, features)
    with lib.no_grad():
        layer.weight.copy_(lib.arange(features * features).view(features, features) * 0.1)
        layer.bias.fill_(0.5)
    return layer


def net(lib: Any) -> Any:
    """Layers with a tie, a buffer of each kind, and a missing child."""
    model = lib.nn.Sequential(linear(lib), lib.nn.Sequential(lib.nn.ReLU(), linear(lib)), lib.nn.Tanh())
    model[1][1].weight = model[0].weight
    model.register_buffer("steps", lib.tensor([1, 2]))
    model.register_buffer("scratch", lib.ones(1), persistent=False)
    model[1].register_module("missing", None)
    model.shared = model[2]
    return model


def changed(module: Any, change: Any) -> Any:
    change(module)
    return module
