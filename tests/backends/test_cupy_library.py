"""CuPy itself, where it is installed, with or without a GPU: are the names there that the backend asks for?"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from tests.fake_cupy import facts

import gradpack
from gradpack.backends.cupy import CuPyBackend

cupy = pytest.importorskip("cupy")
SOURCES = sorted((Path(gradpack.__file__).parent / "ops").rglob("*.py"))


def used():
    """Each `np.…` in bodies of operations."""
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            parts = []
            while isinstance(node, ast.Attribute):
                parts.append(node.attr)
                node = node.value
            if parts and isinstance(node, ast.Name) and node.id == "np" and "_core" not in parts:
                yield tuple(reversed(parts))


def test_bodies_find_their_functions(monkeypatch):
    monkeypatch.setattr(cupy.cuda.runtime, "getDeviceCount", lambda: 1)
    xp = CuPyBackend(cupy).xp
    for parts in sorted(set(used())):
        found = xp
        for part in parts:
            found = getattr(found, part)


def test_the_stand_in_knows_this_version():
    known = facts.FILE.read_text(encoding="utf-8").splitlines()
    if known[0] != f"version {cupy.__version__}":
        pytest.skip(f"the stand-in was made from CuPy {known[0].split()[1]}, and this is {cupy.__version__}")
    assert facts.read() == known
