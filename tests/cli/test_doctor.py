"""`gradpack doctor` and `gradpack --version`."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import gradpack
from gradpack.cli import doctor, main

ROOT = Path(__file__).parents[2]


def test_the_version(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"gradpack {gradpack.__version__}\n"


def test_every_optional_package_is_told():
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    users = {name: packages for name, packages in listed.items() if not any("gradpack[" in p for p in packages)}
    for name in ("typing", "docs", "dist"):
        users.pop(name)
    packages = {(extra, p.partition(">")[0]) for extra, several in users.items() for p in several}
    assert packages - {("cuda", "numpy")} == {(one.extra, one.package) for one in doctor.OPTIONAL}


def test_what_is_missing_comes_with_the_command_that_gets_it(monkeypatch, capsys):
    there = doctor.version_of
    monkeypatch.setattr(doctor, "version_of", lambda name: None if name in ("numba", "einops") else there(name))
    monkeypatch.setattr("gradpack.backends.compiled.is_available", lambda: False)
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "large arrays     NumPy, pass by pass: Numba is not installed" in out
    assert "pip install 'gradpack[einops]'" in out
    todo = out.partition("to do\n")[2]
    assert "pip install 'gradpack[compiled]'" in todo and "einops" not in todo


def test_what_is_switched_off_is_told(monkeypatch, capsys):
    with gradpack.backends.compiled.flags(enabled=False):
        assert main(["doctor", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert any("GRADPACK_COMPILED" in line for line in found["advice"])
    assert found["gradpack"] == gradpack.__version__ and found["threads"] == gradpack.get_num_threads()
    assert {one["package"] for one in found["extras"]} == {one.package for one in doctor.OPTIONAL}


def test_a_folder_that_cannot_be_written_is_told(monkeypatch, tmp_path):
    monkeypatch.setenv("GRADPACK_CACHE_DIR", str(tmp_path / "kept"))
    assert doctor.examine()["cache"] == {"folder": str(tmp_path / "kept"), "loops": 0, "writable": True}
    monkeypatch.setattr(doctor, "_may_write", lambda folder: False)
    assert any("GRADPACK_CACHE_DIR" in line for line in doctor.examine()["advice"])


def test_no_large_library_is_imported_for_it():
    code = (
        "import sys\nfrom gradpack.cli import main\nmain(['doctor'])\n"
        "assert not {'numba', 'scipy', 'matplotlib', 'cupy'} & {*sys.modules}"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
