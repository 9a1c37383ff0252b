"""The public names, pinned: a change of them is a change of this project's promise, and shows in a diff.

`python -m tests.test_public_api` writes the list anew.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from types import FunctionType

import pytest

import gradpack
from gradpack.compat import torch_names

LIST = Path(__file__).with_name("public_names.txt")
MODULES = [
    "gradpack",
    "gradpack.amp",
    "gradpack.array_api",
    "gradpack.array_api.fft",
    "gradpack.array_api.linalg",
    "gradpack.autograd",
    "gradpack.autograd.functional",
    "gradpack.autograd.graph",
    "gradpack.autograd.profiler",
    "gradpack.autograd.profiler_util",
    "gradpack.accelerator",
    "gradpack.cpu",
    "gradpack.distributed",
    "gradpack.distributed.algorithms.ddp_comm_hooks.default_hooks",
    "gradpack.distributions",
    "gradpack.distributions.constraint_registry",
    "gradpack.distributions.constraints",
    "gradpack.distributions.transforms",
    "gradpack.distributions.utils",
    "gradpack.fft",
    "gradpack.masked",
    "gradpack.extend",
    "gradpack.func",
    "gradpack.library",
    "gradpack.linalg",
    "gradpack.nn",
    "gradpack.nn.functional",
    "gradpack.nn.init",
    "gradpack.nn.parallel",
    "gradpack.nn.utils",
    "gradpack.optim",
    "gradpack.optim.lr_scheduler",
    "gradpack.optim.swa_utils",
    "gradpack.profiler",
    "gradpack.profiler.itt",
    "gradpack.saved",
    "gradpack.saved.torch",
    "gradpack.signal",
    "gradpack.signal.windows",
    "gradpack.special",
    "gradpack.serialization",
    "gradpack.utils.checkpoint",
    "gradpack.utils.data",
    "gradpack.utils.flop_counter",
    "gradpack.as_torch",
]


def names_of(module: str) -> list[str]:
    """The names in `__all__`, else those that the module defines."""
    found = importlib.import_module(module)
    own = [n for n, v in vars(found).items() if n[0] != "_" and getattr(v, "__module__", None) == module]
    return sorted(getattr(found, "__all__", own))


def methods() -> list[str]:
    return sorted(n for n in dir(gradpack.Tensor) if not n.startswith("_"))


def lines() -> list[str]:
    found = [f"{module}.{name}" for module in MODULES for name in names_of(module)]
    return found + [f"gradpack.Tensor.{name}" for name in methods()]


def test_the_public_names_are_those_of_the_list():
    pinned, now = set(LIST.read_text(encoding="utf-8").split()), set(lines())
    assert not pinned - now, "names that users have are gone"
    assert not now - pinned, "names that the list does not have: `python -m tests.test_public_api` writes it anew"


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_exists_once_and_is_documented(module):
    found, names = importlib.import_module(module), names_of(module)
    assert len(names) == len(set(names))
    assert not [n for n in names if n.startswith("_")]
    silent = [n for n in names if isinstance(value := getattr(found, n), FunctionType | type) and not value.__doc__]
    assert not silent, f"no docstring: {', '.join(silent)}"


def test_every_function_has_an_example():
    silent = [
        n
        for n in names_of("gradpack")
        if not n.endswith("_")  # in-place forms refer to the operation
        and isinstance(value := getattr(gradpack, n), FunctionType)
        and ">>>" not in (value.__doc__ or "")
    ]
    assert not silent, f"no example: {', '.join(silent)}"


def test_every_method_is_documented():
    silent = [n for n in methods() if callable(value := getattr(gradpack.Tensor, n)) and not value.__doc__]
    assert not silent, f"no docstring: {', '.join(silent)}"


def test_nothing_else_is_visible():
    """What a module imports for itself is not taken for a part of its interface."""
    of_torch = {n for n, entry in torch_names.names("torch").items() if entry.kind == "/"}  # imported by other tests
    visible = {n for n in vars(gradpack) if not n.startswith("_")} - of_torch
    folders = {p.stem for p in Path(gradpack.__file__).parent.iterdir()}
    assert visible - set(gradpack.__all__) - folders <= {"annotations"}


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="module 'gradpack' has no attribute 'tensr'"):
        _ = gradpack.tensr


if __name__ == "__main__":
    LIST.write_text("\n".join(lines()) + "\n", encoding="utf-8")
