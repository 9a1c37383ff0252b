"""What the tests of optimisers share: one of each kind, and a parameter that has a gradient."""

from __future__ import annotations

from typing import Any

import pytest

import gradpack as torch

OPTIMIZERS = {
    "sgd": lambda params, **o: torch.optim.SGD(params, lr=0.1, **o),
    "momentum": lambda params, **o: torch.optim.SGD(params, lr=0.1, momentum=0.9, weight_decay=0.01, **o),
    "adam": lambda params, **o: torch.optim.Adam(params, lr=0.1, **o),
    "amsgrad": lambda params, **o: torch.optim.Adam(params, lr=0.1, amsgrad=True, weight_decay=0.01, **o),
    "adamw": lambda params, **o: torch.optim.AdamW(params, lr=0.1, maximize=True, **o),
}
every = pytest.mark.parametrize("name", OPTIMIZERS)


def parameter(values: Any, grad: Any, dtype: Any = None) -> Any:
    p = torch.nn.Parameter(torch.tensor(values, dtype=dtype))
    p.grad = torch.tensor(grad, dtype=dtype)
    return p
