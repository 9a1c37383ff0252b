"""Checks the wheel and the source archive in `dist`: files, metadata, and that the wheel works."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path

ROOT = Path(__file__).parents[1]
_PROGRAM = """\
import gradpack as torch
from gradpack.cli import main
assert torch.__file__.startswith({place!r}), torch.__file__
x = torch.ones(3, requires_grad=True)
torch.nn.functional.gelu(x * 2).sum().backward()
torch.extend.coverage()
assert main(["ops", "F.gelu"]) == 0 and main(["doctor"]) == 0
"""


def faults_of_wheel(wheel: Path) -> list[str]:
    """Return what is wrong with a wheel: files that are missing or do not belong there, or metadata."""
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
        found = message_from_bytes(archive.read(next(n for n in inside if n.endswith(".dist-info/METADATA"))))
    wanted = {path.relative_to(ROOT / "src").as_posix() for path in tracked("src/gradpack")}
    faults = [f"{name} is missing" for name in sorted(wanted - inside)]
    faults += [f"{name} does not belong there" for name in sorted(inside - wanted) if ".dist-info/" not in name]
    if not any(name.endswith("licenses/LICENSE") for name in inside):
        faults.append("LICENSE is missing")
    return faults + faults_of_metadata(found)


def faults_of_metadata(found: Message) -> list[str]:
    """Return what is wrong with metadata: links, classifiers, and relative links of the README."""
    links = {str(value).partition(",")[0] for value in found.get_all("Project-URL", [])}
    wanted = ("Homepage", "Documentation", "Repository", "Issues", "Changelog")
    faults = [f"there is no link {name}" for name in wanted if name not in links]
    if "Typing :: Typed" not in found.get_all("Classifier", []):
        faults.append("it does not say that it is typed")
    text = str(found.get_payload())
    if not text.startswith("# gradpack"):
        faults.append("there is no README")
    faults += [f"the README has the relative link {link}" for link in re.findall(r"]\(((?!https?://|#)[^)]*)\)", text)]
    return faults


def faults_of_source(archive: Path) -> list[str]:
    """Return what is wrong with a source archive: files that are missing."""
    with tarfile.open(archive) as opened:
        inside = {name.partition("/")[2] for name in opened.getnames()}
    wanted = {path.relative_to(ROOT).as_posix() for path in tracked("src", "tests", "tools", "docs")}
    wanted |= {"README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "pyproject.toml", "PKG-INFO"}
    return [f"{name} is missing" for name in sorted(wanted - inside)]


def tracked(*places: str) -> list[Path]:
    """Return the files that the repository has in some folders."""
    listed = subprocess.run(["git", "ls-files", "-z", *places], cwd=ROOT, check=True, capture_output=True, text=True)
    return [ROOT / name for name in listed.stdout.split("\0") if name]


def faults_of_use(wheel: Path) -> list[str]:
    """Return what a program says that uses the wheel, unpacked into an empty folder."""
    with tempfile.TemporaryDirectory() as place:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(place)
        command = [sys.executable, "-W", "error", "-c", _PROGRAM.format(place=place)]
        done = subprocess.run(
            command, cwd=place, env={"PYTHONPATH": place}, check=False, capture_output=True, text=True
        )
    return [done.stderr] if done.returncode else []


def main() -> int:
    wheels, archives = sorted((ROOT / "dist").glob("*.whl")), sorted((ROOT / "dist").glob("*.tar.gz"))
    if len(wheels) != 1 or len(archives) != 1:
        print("dist must have one wheel and one source archive: `make dist` makes them")
        return 1
    faults = faults_of_wheel(wheels[0]) + faults_of_source(archives[0]) + faults_of_use(wheels[0])
    print("\n".join(faults) or f"{wheels[0].name} and {archives[0].name} are as they must be")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
