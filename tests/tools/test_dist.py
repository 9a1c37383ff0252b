"""What goes to the package index: versions that agree, links that work there, and a check that finds what is wrong."""

from __future__ import annotations

import importlib.util
import sys
import tomllib
import types
import zipfile
from email import message_from_string
from pathlib import Path

import pytest

import gradpack
from tools import dist

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_all_say_the_same_version():
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert PROJECT["version"] == gradpack.__version__
    assert f"version: {gradpack.__version__}\n" in cited
    assert f"repository-code: {PROJECT['urls']['Repository']}\n" in cited
    assert f"license: {PROJECT['license']}\n" in cited


@pytest.fixture
def hook(monkeypatch):
    """The module of the build's hook, without the builder."""
    interface = types.ModuleType("hatchling.metadata.plugin.interface")
    interface.MetadataHookInterface = object
    for name in ("hatchling", "hatchling.metadata", "hatchling.metadata.plugin"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, interface.__name__, interface)
    spec = importlib.util.spec_from_file_location("readme_hook", ROOT / "tools" / "readme.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_links_of_the_readme_are_absolute_in_the_index(hook):
    text = "[a](docs/a.md) ![p](docs/p.png) [b](https://b.org/x) [c](#c)"
    assert hook.absolute(text, "https://r") == (
        "[a](https://r/blob/main/docs/a.md) ![p](https://r/raw/main/docs/p.png) [b](https://b.org/x) [c](#c)"
    )
    made = hook.Readme()
    made.root = str(ROOT)
    metadata = {"urls": PROJECT["urls"]}
    made.update(metadata)
    message = message_from_string("Name: gradpack\n\n" + metadata["readme"]["text"])
    assert not [fault for fault in dist.faults_of_metadata(message) if "README" in fault]


def test_the_check_finds_what_is_wrong(tmp_path):
    wheel = tmp_path / "x.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("gradpack/__init__.py", "")
        archive.writestr("gradpack/odd.py", "")
        archive.writestr("gradpack-0.dist-info/METADATA", "Project-URL: Homepage, https://h\n\n# gradpack\n[a](b.md)")
    faults = dist.faults_of_wheel(wheel)
    assert "gradpack/py.typed is missing" in faults and "gradpack/__init__.pyi is missing" in faults
    assert "gradpack/odd.py does not belong there" in faults and "LICENSE is missing" in faults
    assert "there is no link Issues" in faults and "there is no link Homepage" not in faults
    assert "the README has the relative link b.md" in faults
    assert dist.faults_of_use(wheel)
