"""`gradpack inspect`: a program runs as Python would run it, and is reported on however it ends."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from gradpack.cli import inspect, main

SOURCE = str(Path(inspect.__file__).parents[2])
SAVES = "import gradpack as torch\nx = torch.ones(1000, requires_grad=True)\ny = x.exp().sin().sum()\n"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def program(text, name="prog.py"):
    Path(name).write_text(SAVES + text)
    return name


def run(*arguments):
    try:
        return main(["inspect", *map(str, arguments)])
    except SystemExit as end:
        return end.code


@pytest.fixture
def command(start):
    env = {**os.environ, "PYTHONPATH": SOURCE}
    return lambda *words: start([sys.executable, "-m", "gradpack", "inspect", *words], env=env, text=True)


def test_a_page_and_tables_and_the_programs_own_output(here, capfd):
    assert run(program("y.backward()\nprint('hello')")) == 0
    said = capfd.readouterr()
    assert said.out == "hello\n"
    assert "operations saved 2 tensors on 1 piece of memory" in said.err
    assert "exp.out" in said.err and "recompute" in said.err and "report: prog.saved.html" in said.err
    page = Path("prog.saved.html").read_text()
    assert page.startswith("<!DOCTYPE html>") and "prog.py" in page


def test_threads_that_never_end_are_not_waited_for(here, capfd):
    ended = threading.Event()
    other = threading.Thread(target=ended.wait)  # of somebody else
    other.start()
    text = "import threading\nthreading.Timer(0.2, print, ['thread']).start()\n"
    text += "from concurrent.futures import ThreadPoolExecutor as Pool\n"
    text += "pool = Pool(1)\npool.submit(print, 'pool').result()\n"
    try:
        assert run(program(text)) == 0
    finally:
        ended.set()
        other.join()
    assert capfd.readouterr().out == "pool\nthread\n"


STEPS = "for _ in range(3):\n    y = x.exp().exp().exp().exp().sum()\n    y.backward()\n"


def test_a_budget_is_kept_and_its_plan_is_told(here, capfd):
    assert run("--budget", "9 KB", program("del y\nx = torch.ones(1024, requires_grad=True)\n" + STEPS)) == 0
    said = capfd.readouterr().err
    assert "of 8.8 KiB at most" in said and "recompute" in said and "would hold" in said
    assert run("--budget", "1MiB", program("")) == 0
    assert "budget('1.0 MiB'): nothing went backward, so that there is no plan" in capfd.readouterr().err


def test_the_plan_of_a_budget_is_part_of_the_json(here, capfd):
    assert run("--json", "--budget", "9000", program("del y\nx = torch.ones(1024, requires_grad=True)\n" + STEPS)) == 0
    told = json.loads(capfd.readouterr().out)["budget"]
    assert told["limit"] == 9000 >= told["peak"] > 0
    assert {"keep", "recompute"} == {row["chosen"] for row in told["rows"]}
    assert {"label", "nbytes", "seconds", "why", "next_best", "next_seconds"} < set(told["rows"][0])


def test_a_budget_that_is_no_number_or_too_small(here, capfd):
    assert run("--budget", "much", program("")) == 2
    assert "--budget: this must be a number of bytes" in capfd.readouterr().err
    assert run("--budget", "1000", program("")) == 1
    assert "cannot hold 'out' of exp [1000], 3.9 KiB, within 1000 B" in capfd.readouterr().err


def test_arguments_name_and_folder_are_those_that_python_gives(here, capfd):
    Path("sub").mkdir()
    Path("sub/beside.py").write_text("word = 'found'")
    script = program(
        "import sys, os, beside\nprint(sys.argv[1:], __name__, os.path.isabs(__file__), beside.word)", "sub/p.py"
    )
    before = sys.argv[:], sys.path[:], sys.modules["__main__"]
    assert run("-o", "r.json", script, "-o", "theirs", "--json", "--", "-m") == 0
    assert capfd.readouterr().out == "['-o', 'theirs', '--json', '--', '-m'] __main__ True found\n"
    assert json.loads(Path("r.json").read_text())["title"] == "p.py"
    assert (sys.argv, sys.path, sys.modules["__main__"]) == before


def test_a_module(here, capfd):
    Path("pack").mkdir()
    Path("pack/__init__.py").touch()
    program("import sys\nprint(sys.argv[1:], __spec__.name)", "pack/work.py")
    assert run("-m", "pack.work", "--flag") == 0
    assert capfd.readouterr().out == "['--flag'] pack.work\n"
    assert Path("pack.work.saved.html").exists()


@pytest.mark.parametrize(
    ("ending", "code"),
    [("sys.exit()", 0), ("sys.exit(7)", 7), ("sys.exit('sorry')", 1), ("raise SystemExit(300)", 44), ("exit(None)", 0)],
)
def test_exit_codes(here, capfd, ending, code):
    assert run(program(f"import sys\n{ending}")) == code
    assert Path("prog.saved.html").exists()
    assert ("sorry" in capfd.readouterr().err) == ("sorry" in ending)


def test_an_error_is_shown_as_python_shows_it_and_the_report_is_written(here, capfd):
    script = program("def f():\n    raise ValueError('mine')\nf()")
    assert run("-o", "r.json", script) == 1
    said = capfd.readouterr().err
    theirs = subprocess.run(
        [sys.executable, script], check=False, env={**os.environ, "PYTHONPATH": SOURCE}, capture_output=True, text=True
    )
    assert said.startswith(theirs.stderr), (said, theirs.stderr)
    assert json.loads(Path("r.json").read_text())["totals"]["saves"] == 2


def test_a_file_that_is_no_python(here, capfd):
    Path("bad.py").write_text("1 +\n")
    assert run("bad.py") == 1
    said = capfd.readouterr().err
    assert "SyntaxError" in said and "runpy" not in said and "inspect.py" not in said


def test_ctrl_c(here, command):
    script = program("import time\nprint('ready', flush=True)\ntime.sleep(60)")
    started = command("-o", "r.json", script)
    assert started.stdout.readline() == "ready\n"
    started.send_signal(signal.SIGINT)
    said = started.communicate(timeout=30)[1]
    assert started.returncode == 130
    assert "KeyboardInterrupt" in said and "prog.py" in said
    report = json.loads(Path("r.json").read_text())
    assert (report["totals"]["saves"], report["error"]) == (2, "KeyboardInterrupt")


def test_json_has_standard_output_for_itself(here, command):
    script = program("import os\nprint('printed')\nos.write(1, b'from below\\n')\nos.system('echo child')")
    done = command("--json", script)
    out, said = done.communicate(timeout=60)
    assert done.returncode == 0
    document = json.loads(out)
    assert document["format"] == "gradpack.saved.record" and len(document["rows"]) == 2
    assert {"printed", "from below", "child"} <= set(said.split("\n"))
    assert not list(here.glob("*.html"))


def test_calls_over_time(here, capfd):
    script = program("with torch.autograd.profiler.record_function('mine'):\n    y.backward()")
    assert run("--profile", "-o", "r.json", script) == 0
    calls = json.loads(Path("r.json").read_text())["flame"]
    assert {"aten::exp", "mine"} <= {call["name"] for call in calls}
    assert any(call["children"] for call in calls if call["name"] == "mine")
    assert run("--profile", script) == 0
    assert '"flame":[{' in Path("prog.saved.html").read_text()


def test_a_trace(here, capfd):
    assert run("-o", "r.trace.json", program("y.backward()")) == 0
    assert {"C", "b", "e"} <= {event["ph"] for event in json.loads(Path("r.trace.json").read_text())["traceEvents"]}


def test_the_program_may_change_its_folder_and_threads_are_waited_for(here, capfd):
    Path("other").mkdir()
    late = "import os, threading, time\nos.chdir('other')\n"
    late += "threading.Thread(target=lambda: (time.sleep(0.3), print('late'))).start()"
    assert run(program(late)) == 0
    assert capfd.readouterr().out == "late\n"
    assert (here / "prog.saved.html").exists()


def test_a_program_without_gradpack(here, capfd):
    Path("plain.py").write_text("print(1)")
    assert run("plain.py") == 0
    assert "no operation saved a tensor" in capfd.readouterr().err
    assert Path("plain.saved.html").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nothing.py"], "there is no file nothing.py"),
        (["-o", "r.pdf", "prog.py"], "must end in one of .html"),
        (["-o", "no/such/r.html", "prog.py"], "there is no folder"),
        (["folder"], "is a folder without a __main__.py"),
        (["--limit", "0", "prog.py"], "above zero"),
        ([], "SCRIPT"),
    ],
)
def test_what_cannot_be_done_is_said_before_the_program_runs(here, capfd, arguments, says):
    program("print('ran')")
    Path("folder").mkdir()
    assert run(*arguments) == 2
    said = capfd.readouterr()
    assert says in said.err and "Traceback" not in said.err and not said.out


def test_without_rich_the_summary_is_printed(here, capfd, monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.console", None)
    assert run(program("")) == 0
    said = capfd.readouterr().err
    assert "gradpack[cli]" in said and "with saved.bf16(min_bytes=4000):" in said


def test_a_program_that_fails_or_saves_nothing_is_told_of(here, capfd):
    assert run(program("raise ValueError('no')")) == 1
    said = " ".join(capfd.readouterr().err.split())
    assert "The program ended with ValueError: this is what was saved until then." in said
    Path("empty.py").write_text("print(1)")
    assert run("empty.py") == 0
    assert "no operation saved a tensor for backward: no operation ran" in capfd.readouterr().err


def test_a_report_that_cannot_be_written_is_an_error(here, capfd):
    assert run("-o", "deep/r.html", program("import shutil\nshutil.rmtree('deep')")) == 2
    Path("deep").mkdir()
    assert run("-o", "deep/r.html", "prog.py") == 1
    assert "cannot write deep/r.html" in capfd.readouterr().err.replace(str(here) + "/", "")
