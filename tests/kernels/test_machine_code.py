"""Machine code on disk: where it is, who may write, what is damaged; the line for who waits; the event in profiles."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gradpack.kernels.compilation import _print

pytest.importorskip("numba")

LOOP = (
    "import gradpack as torch\n"
    "from gradpack.kernels.numba.machine_code import COUNTS\n"
    "torch.erf(torch.ones(1 << 16))\n"
    "print(COUNTS['compiled'] > 0, COUNTS['read'] > 0)"
)


def command(text: str, folder: Path, **environment: str) -> dict[str, Any]:
    names = {**os.environ, "GRADPACK_COMPILED": "1", "GRADPACK_CACHE_DIR": str(folder)}
    names |= {"GRADPACK_COMPILED_NOTICE": "1", **environment}
    return {"args": [sys.executable, "-W", "error", "-c", text], "env": names, "text": True}


def run(text: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(**command(text, folder, **environment), check=True, capture_output=True)


def quiet(text: str, folder: Path) -> str:
    made = run(text, folder, GRADPACK_COMPILED_NOTICE="0")
    assert not made.stderr
    return made.stdout.strip()


PROFILED = (
    "import gradpack as torch\n"
    "from gradpack.kernels.numba.machine_code import COUNTS\n"
    "x = torch.ones(1 << 16)\n"
    "with torch.profiler.profile() as prof:\n    torch.erf(x)\n"
    "print(COUNTS['compiled'] > 0, COUNTS['read'] > 0)\n"
    "found = {e.key: e for e in prof.key_averages()}\n"
    "made, erf = found['gradpack::compile'], found['aten::erf']\n"
    "print(made.self_cpu_time_total > erf.self_cpu_time_total, made.cpu_time_total <= erf.cpu_time_total)"
)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A folder into which a process compiled, where there were folders of other states, and what it printed."""
    folder = tmp_path_factory.mktemp("loops")
    for number in range(7):
        (folder / f"loops-{number}").mkdir()
        os.utime(folder / f"loops-{number}", (number, number))
    (folder / "other").mkdir()
    return folder, quiet(PROFILED, folder).splitlines()


def test_a_second_process_compiles_nothing_and_damage_is_compiled_again(compiled: tuple[Path, list[str]]) -> None:
    folder, said = compiled
    assert said[0] == "True False"
    assert quiet(LOOP, folder) == "False True"
    files = [p for p in folder.rglob("*") if p.is_file()]
    assert files
    for number, path in enumerate(files):
        data = path.read_bytes()
        path.write_bytes([b"", data[: len(data) // 2], data[:-1] + bytes([data[-1] ^ 1])][number % 3])
    assert quiet(LOOP, folder) == "True False"
    assert quiet(LOOP, folder) == "False True"


def test_code_that_is_read_needs_no_compiler_and_is_not_announced(tmp_path: Path) -> None:
    text = (
        "from gradpack.kernels import compilation\ncompilation.PATIENCE = 1e-9\n"
        "import sys, gradpack as torch\n"
        "torch.erf(torch.ones(1 << 16))\n"
        "print('numba.np.arraymath' in sys.modules)"
    )
    first, second = run(text, tmp_path), run(text, tmp_path)
    assert "compiling loops" in first.stderr
    assert (first.stdout.strip(), second.stdout.strip(), second.stderr) == ("True", "False", "")


def test_processes_write_at_once(tmp_path: Path) -> None:
    options = command(LOOP, tmp_path, GRADPACK_COMPILED_NOTICE="0")
    started = [subprocess.Popen(**options, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
    for process in started:
        _, errors = process.communicate()
        assert (process.returncode, errors) == (0, "")
    assert not list(tmp_path.rglob("*.tmp"))
    assert quiet(LOOP, tmp_path) == "False True"


def test_without_a_folder_loops_are_compiled_each_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    for _ in range(2):
        assert quiet(LOOP, tmp_path / "file" / "below") == "True False"


def test_few_folders_of_other_states_stay(compiled: tuple[Path, list[str]]) -> None:
    left = {p.name for p in compiled[0].iterdir()}
    assert {"other", "loops-3", "loops-4", "loops-5", "loops-6"} < left
    assert len(left) == 6


def test_who_waits_is_told_once_and_no_thread_is_left(tmp_path: Path) -> None:
    text = (
        "import threading, time\nfrom gradpack.kernels.compilation import Notice\n"
        "notice = Notice()\n"
        "for _ in range(3):\n"
        "    notice.start(); notice.start(); time.sleep(0.3); notice.stop(); notice.stop()\n"
        "    print(threading.active_count())\n"
    )
    made = run(text, tmp_path)
    assert made.stdout.split() == ["1"] * 3
    assert made.stderr.splitlines() == [
        f"gradpack: compiling loops (once; kept in {tmp_path}; `gradpack warmup` does it ahead)"
    ]
    assert not run(text, tmp_path, GRADPACK_COMPILED_NOTICE="0").stderr
    for lost in ("sys.stderr = None", "sys.stderr.close()"):
        assert not run(f"import sys\n{lost}\n{text}", tmp_path).stderr


def test_a_profile_shows_compilation_by_itself(compiled: tuple[Path, list[str]]) -> None:
    assert compiled[1][1] == "True True"


def test_numba_is_not_imported_for_what_has_no_loop(tmp_path: Path) -> None:
    text = (
        "import sys, gradpack as torch\n"
        "torch.relu(torch.ones(1 << 16, requires_grad=True)).sum().backward()\n"
        "print('numba' in sys.modules)"
    )
    assert quiet(text, tmp_path) == "False"


def test_the_folder_is_that_of_the_platform(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from gradpack.kernels.compilation import cache_folder

    monkeypatch.delenv("GRADPACK_CACHE_DIR", raising=False)
    for platform, name, parts in (
        ("linux", "XDG_CACHE_HOME", ("gradpack",)),
        ("win32", "LOCALAPPDATA", ("gradpack", "Cache")),
    ):
        monkeypatch.setattr(sys, "platform", platform)
        monkeypatch.setenv(name, str(tmp_path))
        assert cache_folder() == tmp_path.joinpath(*parts)
    monkeypatch.setattr(sys, "platform", "darwin")
    assert cache_folder() == Path.home() / "Library" / "Caches" / "gradpack"


@pytest.mark.parametrize("writable", [True, False])
def test_the_line_says_whether_machine_code_is_kept(monkeypatch, tmp_path, capsys, writable):
    (tmp_path / "file").touch()
    folder = tmp_path / ("new" if writable else "file") / "cache"
    monkeypatch.setenv("GRADPACK_CACHE_DIR", str(folder))
    _print()
    said = capsys.readouterr().err
    assert f"kept in {folder};" in said if writable else f"not kept: {folder} cannot be written to;" in said
