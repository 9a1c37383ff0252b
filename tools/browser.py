"""Collects what gradpack needs in a browser: Pyodide from npm, NumPy and ml_dtypes built for it, a wheel of gradpack.

    python -m tools.browser [--wheels FOLDER]

They go to `build/browser`, where `tests/browser` and the documentation find them. The wheels of NumPy and ml_dtypes
come from where Pyodide's own list says, and have to be what it says; or from FOLDER: what is not there is left out.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any
from urllib.request import urlopen

ROOT = Path(__file__).parents[1]
PLACE = ROOT / "build" / "browser"
VERSION = "0.29.5"  # of Pyodide: the last with a version of Python that gradpack is made for
_FILES = ("pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
_PACKAGES = ("numpy", "ml-dtypes")
_LIST = "packages.json"  # the names of the wheels, in the order in which they are unpacked


def collect(wheels: Path | None = None) -> None:
    """Fill `PLACE`. What is there from an earlier call is kept, but for the wheel of gradpack.

    Raises:
        subprocess.CalledProcessError: if npm or pip fails.
        OSError: if a wheel cannot be had.
        ValueError: if a wheel is not the one that Pyodide's list names.
    """
    PLACE.mkdir(parents=True, exist_ok=True)
    if not all((PLACE / name).exists() for name in _FILES):
        _pyodide()
    lock = json.loads((PLACE / "pyodide-lock.json").read_text())["packages"]
    names = [name for package in _PACKAGES if (name := _wheel(lock[package], wheels))]
    for old in PLACE.glob("gradpack-*.whl"):
        old.unlink()
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*pip, "--wheel-dir", str(PLACE), str(ROOT)], check=True)
    names.append(next(PLACE.glob("gradpack-*.whl")).name)
    (PLACE / _LIST).write_text(json.dumps(names) + "\n")


def _pyodide() -> None:
    """Put the files of Pyodide into `PLACE`, from its npm package."""
    with tempfile.TemporaryDirectory() as folder:
        npm = shutil.which("npm")
        if npm is None:
            raise OSError("npm is not installed: it comes with node, from https://nodejs.org")
        command = [npm, "pack", "--silent", f"pyodide@{VERSION}"]
        packed = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
        with tarfile.open(Path(folder, packed.stdout.strip().splitlines()[-1])) as archive:
            for name in _FILES:
                found = archive.extractfile(f"package/{name}")
                assert found is not None
                (PLACE / name).write_bytes(found.read())


def _wheel(package: dict[str, Any], wheels: Path | None) -> str | None:
    """Put a wheel into `PLACE`, and return its name; None if it is not in the folder that was given."""
    name: str = package["file_name"]
    if wheels is not None:
        given = next(wheels.glob(f"{name.partition('-')[0]}-*.whl"), None)
        if given is None:
            print(f"tools.browser: no wheel of {package['name']} in {wheels}: gradpack will be without it")
            return None
        shutil.copy(given, PLACE)
        return given.name
    if not (PLACE / name).exists():
        url = f"https://cdn.jsdelivr.net/pyodide/v{VERSION}/full/{name}"
        with urlopen(url, timeout=60) as answer:
            data = answer.read()
        if hashlib.sha256(data).hexdigest() != package["sha256"]:
            raise ValueError(f"{name}: what was downloaded is not the file that Pyodide's list names")
        (PLACE / name).write_bytes(data)
    return name


def on_post_build(config: Any, **_: Any) -> None:
    """Copy it all into the site, for docs/browser.md. Called by mkdocs; the page says so where there is nothing."""
    if (PLACE / _LIST).exists():
        shutil.copytree(PLACE, Path(config["site_dir"], "browser", "files"), dirs_exist_ok=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--wheels", type=Path, help="a folder with wheels of NumPy and ml_dtypes for Pyodide")
    try:
        collect(parser.parse_args().wheels)
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        sys.exit(f"tools.browser: {error}")
