"""For the examples in docstrings."""

from __future__ import annotations

import builtins
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

collect_ignore_glob = [] if find_spec("jax") else ["src/gradpack/compiler/jax/*"]  # these import JAX at their heads

SOURCES = Path(__file__).parent / "src"


def pytest_collect_file(file_path: Path) -> None:
    """Import the package of a module of ours by its name: pytest would by its path, past the finders of gradpack."""
    if SOURCES in file_path.parents and file_path.suffix == ".py":
        import_module(".".join(file_path.parent.relative_to(SOURCES).parts))


@pytest.fixture(autouse=True)
def python_numbers(doctest_namespace: dict[str, Any]) -> None:
    """In the namespace of `gradpack` some names are dtypes that programs know as Python's types."""
    doctest_namespace.update({name: getattr(builtins, name) for name in ("bool", "float", "int", "complex")})
