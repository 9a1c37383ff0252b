"""For the examples in docstrings."""

from __future__ import annotations

import builtins
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def python_numbers(doctest_namespace: dict[str, Any]) -> None:
    """In the namespace of `gradpack` some names are dtypes that programs know as Python's types."""
    doctest_namespace.update({name: getattr(builtins, name) for name in ("bool", "float", "int", "complex")})
