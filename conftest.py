"""For the examples in docstrings."""

from __future__ import annotations

import builtins
from importlib.util import find_spec
from typing import Any

import pytest

collect_ignore_glob = [] if find_spec("jax") else ["src/gradpack/compiler/jax/*"]  # these import JAX at their heads


@pytest.fixture(autouse=True)
def python_numbers(doctest_namespace: dict[str, Any]) -> None:
    """In the namespace of `gradpack` some names are dtypes that programs know as Python's types."""
    doctest_namespace.update({name: getattr(builtins, name) for name in ("bool", "float", "int", "complex")})
