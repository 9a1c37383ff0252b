"""Fixtures of all tests.

`start(command)` starts a process, which is killed when the test ends. Each test has to leave settings as they were.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from gradpack.base import dtypes
from gradpack.base.devices import _DEFAULTS
from gradpack.base.modes import MODE, TRANSFORMS
from gradpack.base.settings import FILLING
from gradpack.nn._module.global_hooks import PRESENT
from gradpack.optim._step_hooks import after_every_step, before_every_step
from tests.children import children

os.environ.setdefault("GRADPACK_COMPILED_NOTICE", "0")  # tests read standard error


@pytest.fixture(scope="module", autouse=True)
def frozen() -> None:
    """Freeze what is there before a module's tests: then to collect garbage, or to look for objects, takes no time."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def start() -> Iterator[Callable[..., Any]]:
    with children() as begin:
        yield begin


@pytest.fixture(autouse=True)
def settings() -> Iterator[None]:
    before = _settings()
    yield
    assert _settings() == before, "a test has to leave settings as they were"


def _settings() -> Any:
    mode = MODE.get()
    hooks = [bool(each) for each in (PRESENT, before_every_step, after_every_step, mode.hooks)]
    return dtypes._default, _DEFAULTS.get(), FILLING[0], TRANSFORMS.get(), mode.grad, mode.leaves_fast_path, hooks
