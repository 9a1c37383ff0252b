"""The fixture `torch`: gradpack, and with GRADPACK_ORACLE=1 the real torch as well."""

from __future__ import annotations

import importlib
import os

import pytest

import gradpack

MODULES = ["gradpack", "torch"] if os.environ.get("GRADPACK_ORACLE") else ["gradpack"]


@pytest.fixture(params=MODULES)
def torch(request):
    if request.param == "gradpack":
        return gradpack
    module = pytest.importorskip("torch")
    import torch.utils.checkpoint  # noqa: F401 - torch.utils does not import it by itself

    return module


@pytest.fixture
def real(torch):
    """Whether the module is the real torch."""
    return torch is not gradpack


@pytest.fixture
def make_function(torch):
    """A `Function` class from a forward, a backward and whatever else."""

    def build(forward=None, backward=None, name="My", **extra):
        body = {
            "forward": staticmethod(forward or (lambda ctx, x: x * 2)),
            "backward": staticmethod(backward or (lambda ctx, g: g * 2)),
        }
        body.update(extra)
        base = torch.autograd.Function
        return type(base)(name, (base,), body)

    return build


@pytest.fixture
def leaf(torch):
    """Ones that require grad."""
    return lambda *shape: torch.ones(*(shape or (2,)), requires_grad=True)


@pytest.fixture
def func(torch):
    """`torch.func`."""
    return importlib.import_module(f"{torch.__name__}.func")


@pytest.fixture
def profiler(torch):
    return torch.autograd.profiler


@pytest.fixture
def checkpointing(torch):
    """The module `torch.utils.checkpoint`."""
    return importlib.import_module(f"{torch.__name__}.utils.checkpoint")


@pytest.fixture
def checkpoint(checkpointing):
    """`checkpoint`, not reentrant unless it is asked to be."""

    def call(function, *args, use_reentrant=False, **kwargs):
        return checkpointing.checkpoint(function, *args, use_reentrant=use_reentrant, **kwargs)

    return call


@pytest.fixture
def small(torch):
    """A sparse 2x3 matrix with three entries."""
    return torch.sparse_coo_tensor(torch.tensor([[0, 1, 1], [2, 0, 2]]), torch.tensor([3.0, 4.0, 5.0]), (2, 3))
