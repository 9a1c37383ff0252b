"""Indices of 64 bits where an address has 32, as in a browser's Python: NumPy takes and gives narrower ones."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


def lines(*words: str) -> list[str]:
    program = Path(__file__).with_name("narrow_numpy.py")
    environment = {**os.environ, "GRADPACK_COMPILED": "0"}
    done = subprocess.run(
        [sys.executable, program, *words], capture_output=True, text=True, check=False, timeout=120, env=environment
    )
    assert not done.returncode, done.stderr
    return done.stdout.splitlines()


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="methods of arrays are replaced in memory")
def test_indices_are_those_of_wide_addresses() -> None:
    assert lines("narrow") == lines()
