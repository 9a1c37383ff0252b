import os
import re
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from gradpack.cli import demo, main, problem

TEXT = "the quick brown fox jumps over the lazy dog; " * 40
SOURCE = str(Path(demo.__file__).parents[2])  # wherever the tested package is, whatever the folder
SMALL = ["--context", "8", "--width", "16", "--heads", "2", "--layers", "2", "--batch", "2", "--rounds", "2"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("text.txt").write_text(TEXT)
    monkeypatch.setattr(demo, "SAMPLE", 20)
    return tmp_path


@pytest.fixture
def untrained(monkeypatch):
    """Whatever is wrong must be found before any training."""

    def trained(*args):
        pytest.fail("training began")

    monkeypatch.setattr(demo, "train", trained)


def sentence(capsys, *arguments, code=2):
    try:
        result = main(["demo", *arguments])
    except SystemExit as end:  # argparse ends the program itself
        result = end.code
    assert result == code
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    return captured.err.strip().splitlines()[-1]


def table(said):
    """The rows of the printed table, by name and heading."""
    lines = [line for line in said.splitlines() if line.startswith(("┃", "│"))]
    above, below, *rows = [[cell.strip() for cell in line[1:-1].split(line[0])] for line in lines]
    headings = [b or a for a, b in zip(above, below, strict=True)]
    return {row[0]: dict(zip(headings, row, strict=True)) for row in rows}


# -- a whole run --


def test_a_small_run_from_end_to_end(here, capsys):
    larger = ["--context", "16", "--width", "64", "--batch", "16", "--heads", "4", "--layers", "2", "--rounds", "2"]
    arguments = ["--text", "text.txt", "--steps", "12", "--out", "p.png", "--save", "w.npz", *larger]
    assert main(["demo", *arguments]) == 0
    said = capsys.readouterr().out
    assert re.search(r"training 12/12  loss \d\.\d\d  [\d,]+ tokens/s", said)
    assert "--- a sample ---\nthe quic" in said
    rows = table(said)
    assert list(rows) == ["keep", "bfloat16", "spill to disk", "recompute blocks"]
    assert rows["keep"]["of keep"] == "100%"
    assert all(row["peak bytes"].endswith(" MiB") for row in rows.values())
    assert [bool(row["on disk"]) for row in rows.values()] == [False, False, True, False]
    assert all(float(row["step time"]) > 0 for row in rows.values())
    kept = [float(row["peak bytes"].split()[0]) for row in rows.values()]
    assert kept[0] > max(kept[1:])
    assert 1e-5 < float(rows["bfloat16"]["difference"]) < 0.1
    assert [row["difference"] for row in rows.values()][2:] == ["none", "none"]
    assert Path("p.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    with np.load("w.npz") as weights:
        assert weights["positions.weight"].shape == (16, 64)
        assert all(np.isfinite(weights[name]).all() for name in weights)
    assert sorted(os.listdir()) == ["p.png", "text.txt", "w.npz"]


def test_the_seed_decides_everything_that_is_random(here, capsys):
    weights = []
    for seed in ("3", "3", "4"):
        assert main(["demo", "--text", "text.txt", "--steps", "2", "--seed", seed, "--save", "w.npz", *SMALL]) == 0
        with np.load("w.npz") as saved:
            weights.append(saved["head.weight"])
    assert np.array_equal(weights[0], weights[1])
    assert not np.array_equal(weights[0], weights[2])


def test_compiled_steps_are_the_same_steps(here, capsys):
    weights = []
    for option in ([], ["--compile"]):
        assert main(["demo", "--text", "text.txt", "--steps", "6", "--save", "w.npz", *option, *SMALL]) == 0
        with np.load("w.npz") as saved:
            weights.append(saved["head.weight"])
    np.testing.assert_allclose(weights[0], weights[1], rtol=1e-4, atol=1e-5)


def test_dropout_is_the_same_under_all_ways(here, capsys):
    assert main(["demo", "--text", "text.txt", "--steps", "2", "--dropout", "0.3", *SMALL]) == 0
    rows = table(capsys.readouterr().out)
    assert rows["spill to disk"]["difference"] == rows["recompute blocks"]["difference"] == "none"


def test_the_default_text_needs_no_file():
    from gradpack.cli.demo import load

    text = load(None)
    assert len(text) > 100_000
    assert "assert" in text


def test_other_encodings_of_the_same_text(here):
    from gradpack.cli.demo import load

    Path("bom.txt").write_bytes(b"\xef\xbb\xbfab\r\ncd")
    assert load("bom.txt") == "ab\ncd"


# -- bad input: a sentence, the exit code 2, and nothing done --


@pytest.mark.parametrize(
    ("contents", "expected"),
    [
        (None, "there is no file bad.txt"),
        (b"", "bad.txt is empty"),
        (b"hello", "the text has 5 characters, and a context of 8 needs at least 9"),
        (b"12345678", "the text has 8 characters"),
        (b"abc\xff\xfe" * 10, "bad.txt is not text in UTF-8: byte 3 is 0xff"),
        (b"a" * 100, "the character 'a' over and over"),
    ],
)
def test_bad_texts(here, untrained, capsys, contents, expected):
    if contents is not None:
        Path("bad.txt").write_bytes(contents)
    assert expected in sentence(capsys, "--text", "bad.txt", *SMALL)
    assert not Path("gradpack-demo.png").exists()


def test_a_folder_is_no_text(here, untrained, capsys):
    assert "is a folder; name a text file" in sentence(capsys, "--text", str(here))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_text(here, untrained, capsys):
    Path("text.txt").chmod(0)
    assert "cannot read text.txt: Permission denied" in sentence(capsys, "--text", "text.txt")


@pytest.mark.parametrize("option", ["--out", "--save"])
def test_outputs_that_cannot_be_written(here, untrained, capsys, option):
    Path("folder").mkdir()
    base = ["--text", "text.txt", *SMALL]
    assert f"{option}: folder is a folder" in sentence(capsys, *base, option, "folder")
    assert f"{option}: there is no folder {here / 'nowhere'}" in sentence(capsys, *base, option, "nowhere/x")
    assert f"{option}: cannot write" in sentence(capsys, *base, option, "x" * 300)
    assert f"{option}: there is no folder" in sentence(capsys, *base, option, "text.txt/x")
    assert sorted(os.listdir()) == ["folder", "text.txt"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_write_protected_folder(here, untrained, capsys):
    folder = here / "locked"
    folder.mkdir(mode=0o500)
    assert "cannot write locked/x.png: Permission denied" in sentence(
        capsys, "--text", "text.txt", "--out", "locked/x.png"
    )


def test_no_file_is_overwritten_by_another_output(here, untrained, capsys):
    base = ["--text", "text.txt", *SMALL]
    assert "--out and --text are the same file" in sentence(capsys, *base, "--out", "./text.txt")
    assert "--save and --out are the same file" in sentence(capsys, *base, "--out", "a", "--save", str(here / "a"))
    assert Path("text.txt").read_text() == TEXT


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_disk_that_is_full_at_the_end(here, capsys):
    arguments = ["--text", "text.txt", "--steps", "1", *SMALL, "--out", "/dev/full"]
    assert "--out: cannot write /dev/full: No space left" in sentence(capsys, *arguments, code=1)


def test_an_output_is_replaced_whole_or_not_at_all(here, monkeypatch):
    Path("w.npz").write_bytes(b"old")

    def fail(self, contents):
        with open(self, "wb") as file:
            file.write(contents[:2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(problem.Problem, match="No space left"):
        problem.write("w.npz", b"new contents", "--save")
    assert Path("w.npz").read_bytes() == b"old"
    assert sorted(os.listdir()) == ["text.txt", "w.npz"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--width", "10", "--heads", "4"], "--heads 4 does not divide --width 10"),
        (["--context", "100000"], "a context of 100000 needs at least 100001"),
        (["--width", "1000000000", "--heads", "1"], "GiB of memory, and this machine has"),
        (["--batch", str(10**15)], "GiB of memory"),
        *(([f"--{name}", "0"], f"argument --{name}: this must be a whole number above zero, not '0'")
          for name in ("steps", "layers", "width", "heads", "context", "batch", "rounds")),
        (["--steps", "-5"], "above zero, not '-5'"),
        (["--steps", "1e3"], "above zero, not '1e3'"),
        (["--steps", str(10**30)], "above zero"),
        (["--seed", "-1"], "from 0 to 2**63 - 1, not '-1'"),
        (["--seed", "x"], "not 'x'"),
        (["--dropout", "1"], "from 0 to below 1, not '1'"),
        (["--dropout", "nan"], "from 0 to below 1"),
        (["--rate", "0"], "above 0 and at most 1"),
        (["--rate", "inf"], "above 0 and at most 1"),
        (["--nonsense"], "unrecognized arguments: --nonsense"),
    ],
)  # fmt: skip
def test_impossible_numbers(here, untrained, capsys, arguments, expected):
    assert expected in sentence(capsys, "--text", "text.txt", *arguments)


@pytest.mark.parametrize(("package", "extra"), [("rich", "cli"), ("matplotlib", "plot")])
def test_a_missing_extra_is_named(here, untrained, capsys, monkeypatch, package, extra):
    monkeypatch.setitem(sys.modules, package, None)  # the import fails
    assert f"needs {package}: pip install 'gradpack[{extra}]'" in sentence(capsys, "--text", "text.txt")


def test_a_loss_that_is_no_number_ends_the_run(here, capsys):
    arguments = ["--text", "text.txt", "--steps", "300", *SMALL, "--rate", "1"]
    from gradpack.examples import gpt

    original = gpt.loss_of
    gpt.loss_of = lambda logits, targets: original(logits, targets) * float("nan")
    try:
        assert "the loss became nan at step 1: try a smaller --rate" in sentence(capsys, *arguments, code=1)
    finally:
        gpt.loss_of = original


def test_help_names_every_option(capsys):
    with pytest.raises(SystemExit) as end:
        main(["demo", "--help"])
    assert end.value.code == 0
    said = capsys.readouterr().out
    for option in ("--text", "--out", "--save", "--steps", "--seed", "--layers", "--width", "--heads", "--context"):
        assert option in said


def test_without_a_command_all_are_listed(capsys):
    assert main([]) == 2
    assert "doctor" in capsys.readouterr().out
    assert main(["dance"]) != 0
    assert "there is no command 'dance'" in capsys.readouterr().err


# -- as a process --


@pytest.fixture
def launch(here, start):
    """Starts the demo as a process of its own."""
    (here / "tmp").mkdir()
    env = {**os.environ, "PYTHONPATH": SOURCE, "TMPDIR": str(here / "tmp"), "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-W", "error", "-m", "gradpack", "demo", "--text", "text.txt"]
    return lambda *words, **more: start([*command, *words], env={**env, **more}, text=True)


def wait_for(process, words):
    said = ""
    while words not in said:
        line = process.stdout.readline()
        assert line, f"ended before it said {words!r}: {said}{process.stderr.read()}"
        said += line


@pytest.mark.parametrize(("words", "steps", "rounds"), [("different;", "100000", "1"), ("a sample", "1", "10000")])
def test_ctrl_c_ends_with_one_line_and_leaves_nothing(here, launch, words, steps, rounds):
    process = launch(*SMALL, "--steps", steps, "--rounds", rounds)
    wait_for(process, words)
    time.sleep(0.5)  # somewhere in the work
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert errors == "gradpack: interrupted\n"
    assert process.returncode == 130
    assert sorted(os.listdir(here)) == ["text.txt", "tmp"]
    assert os.listdir(here / "tmp") == []


def test_a_reader_that_goes_away(launch):
    process = launch(*SMALL, "--steps", "3000")
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(timeout=60) == 1
    assert process.stderr.read() == ""


def test_a_terminal_without_unicode(here, launch):
    Path("text.txt").write_text("“quoted” – and … " * 50)
    process = launch(*SMALL, "--steps", "1", PYTHONIOENCODING="ascii")
    said, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")
    assert "done in" in said
