"""The fixture `start`: `start(command)` starts a process, which is killed when the test ends."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.children import children

os.environ.setdefault("GRADPACK_COMPILED_NOTICE", "0")  # tests read standard error


@pytest.fixture
def start() -> Iterator[Callable[..., Any]]:
    with children() as begin:
        yield begin
