"""Programs on packages that say `import torch` print the same on gradpack as on torch: `make programs`."""

from __future__ import annotations

import os
from importlib import metadata

import pytest
from tests.programs.compare import PROGRAMS, Result, Run, compare, files, page


def test_every_program_is_in_the_table():
    assert set(files()) == set(PROGRAMS)


@pytest.mark.skipif("GRADPACK_PROGRAMS" not in os.environ, reason="run by `make programs`")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_prints_the_same(name):
    for package in PROGRAMS[name][1].split():
        try:
            metadata.version(package)
        except metadata.PackageNotFoundError:
            pytest.skip(f"not installed: {package}")
    assert not compare(name).wrong


def test_the_page_says_what_differs(monkeypatch):
    monkeypatch.setattr(metadata, "version", lambda name: "1.0")
    done = Run(0, "", "", 1.0, 2.0)
    text = page({"einops_mixer": Result(done, done, 1e-6, ""), "timm_vision": Result(done, done, 0.5, "no")})
    assert "| layers | einops 1.0 | `einops_mixer` | equal | 1e-06 | 1.0, 1.0 | 2, 2 |" in text
    assert "| vision | timm 1.0 | `timm_vision` | differs | 5e-01 | 1.0, 1.0 | 2, 2 |" in text
