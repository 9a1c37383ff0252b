"""Ranks that are processes: they train as one, and when one fails all end with a sentence."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from importlib.util import find_spec

import pytest

from tests.distributed.ranks import HERE, LIMIT, TRAINING, alive, launch

BACKENDS = [
    "gloo",
    pytest.param("mpi", marks=pytest.mark.skipif(find_spec("mpi4py") is None, reason="mpi4py is not installed")),
]
pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="sends signals")


@pytest.mark.parametrize("backend", BACKENDS)
def test_two_ranks_train_as_one(tmp_path, backend):
    code, out, err = launch(tmp_path, TRAINING, backend, mpi=backend == "mpi")
    assert code == 0, err
    found = re.findall(r"buckets (\d+) away (\S+)", out)
    assert len(found) == 2
    for buckets, away in found:
        assert int(buckets) > 2 and float(away) < 1e-6


ENDS = """
import datetime, os, signal, time
dist.init_process_group(sys.argv[1], timeout=datetime.timedelta(seconds=60))
print("pid", os.getpid(), flush=True)
rank, x = dist.get_rank(), torch.ones(3)
dist.all_reduce(x)
{}
dist.all_reduce(x)
print("not reached")
"""
CASES = {
    "killed": ("if rank == 1: os.kill(os.getpid(), signal.SIGKILL)", r"rank 1 has ended", "signal SIGKILL"),
    "exited": ("if rank == 1: os._exit(3)", r"rank 1 has ended", "exit code 3"),
    "raised": ("if rank == 1: raise ValueError('a bad batch')", r"rank 1 has ended with ValueError: a bad batch", ""),
    "returned": ("if rank == 1: sys.exit()", r"rank 1 has ended", "exit code 1"),
    "shape": ("x = torch.ones(3 + rank)", r"rank 0 made all_reduce\(gradpack.float32 \[3\].*rank 1 all_reduce", ""),
    "dtype": ("x = x.double() if rank else x", r"rank 0 made all_reduce\(gradpack.float32 .*rank 1 all_.*float64", ""),
    "order": ("if rank: dist.barrier()", r"rank 0 made all_reduce.* and rank 1 barrier\(\) as call 1", ""),
    "op": ("dist.all_reduce(x, dist.ReduceOp.MAX if rank else dist.ReduceOp.MIN)", "MIN.* and rank 1 .*MAX", ""),
}


@pytest.mark.parametrize("case", ["raised", "returned", "shape", "order"])
def test_a_rank_that_fails_ends_all_under_mpi(tmp_path, case):
    if find_spec("mpi4py") is None:
        pytest.skip("mpi4py is not installed")
    wrong, sentence, _ = CASES[case]
    code, out, err = launch(tmp_path, ENDS.format(wrong), "mpi", mpi=True)
    assert code and "not reached" not in out
    assert "DistBackendError" in err and re.search(sentence, err)  # what two ranks write at once may be mixed


@pytest.mark.parametrize("case", CASES)
def test_a_rank_that_fails_ends_all(tmp_path, case):
    wrong, sentence, ended = CASES[case]
    begun = time.monotonic()
    code, out, err = launch(tmp_path, ENDS.format(wrong), "gloo")
    assert time.monotonic() - begun < 30
    assert code == 1 and "not reached" not in out
    of_rank_0 = [line for line in err.splitlines() if line.startswith("[rank 0] gradpack")]
    assert len(of_rank_0) == 1 and re.search(sentence, of_rank_0[0])
    assert re.search(rf"^gradpack launch: rank \d failed, with {ended}", err, re.MULTILINE)
    if case in ("killed", "exited", "raised"):
        assert "gradpack launch: rank 1 failed" in err
    if case == "raised":  # the traceback of the first failure comes last
        assert err.splitlines()[-1] == "ValueError: a bad batch"
    assert len(re.findall("pid", out)) == 2 and not alive(out)


def test_a_rank_that_does_not_come_is_named_after_the_timeout(tmp_path):
    wrong = (
        "group = dist.new_group(timeout=datetime.timedelta(seconds=1))\nif rank: time.sleep(30)\ndist.barrier(group)"
    )
    code, _, err = launch(tmp_path, ENDS.format(wrong), "gloo")
    assert code == 1 and "rank 0 in barrier() has waited too long for rank 1" in err


@pytest.mark.parametrize("call", ["dist.all_reduce(big)", "[dist.send(big, 1) for _ in range(9)]"])
def test_a_rank_that_stands_still(tmp_path, call):
    """It receives nothing: whoever sends to it hears of that after the timeout."""
    wrong = f"""
big, group = torch.ones(5_000_000), dist.group.WORLD
group.timeout = 1
if rank: os.kill(os.getpid(), signal.SIGSTOP)
{call}
"""
    code, out, err = launch(tmp_path, ENDS.format(wrong), "gloo")
    assert code == 1 and re.search("has waited too long for rank 1|rank 1 receives nothing", err)
    assert not alive(out)


def test_one_of_several_is_gone(tmp_path):
    """Others hear of it who wait for another rank, which waits for a message of any."""
    wrong = """
if rank == 1: os.kill(os.getpid(), signal.SIGKILL)
dist.barrier() if rank else dist.recv(x)
"""
    begun = time.monotonic()
    code, out, err = launch(tmp_path, ENDS.format(wrong), "gloo", n=3)
    assert code == 1 and time.monotonic() - begun < 30
    assert "rank 2 in barrier(): rank 1 has ended" in err and "not reached" not in out


def test_ranks_that_never_meet(tmp_path):
    text = """
import datetime, os
os.environ["WORLD_SIZE"] = "3"
dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=1))
"""
    code, _, err = launch(tmp_path, text)
    assert code == 1 and re.search(r"rank 0 of 3 could not be connected with rank 2 by way of 127\.0\.0\.1:\d+", err)


def test_other_ways_of_meeting(tmp_path):
    text = """
import os
method = f"tcp://localhost:{os.environ['MASTER_PORT']}"
dist.init_process_group("cpu:gloo,cuda:nccl", method, rank=1 - int(os.environ["RANK"]), world_size=2)
objects = [None, None]
dist.all_gather_object(objects, dist.get_rank())
print(objects, dist.get_backend(), dist.get_rank(), dist.is_torchelastic_launched(), flush=True)
"""
    code, out, err = launch(tmp_path, text)
    assert code == 0 and not err
    assert sorted(out.splitlines()) == ["[rank 0] [0, 1] gloo 1 True", "[rank 1] [0, 1] gloo 0 True"]


class TestLaunch:
    def test_the_environment_and_the_arguments(self, tmp_path):
        text = """
import os
names = "RANK LOCAL_RANK WORLD_SIZE LOCAL_WORLD_SIZE GROUP_RANK OMP_NUM_THREADS"
print(*(os.environ[name] for name in names.split()), sys.argv[1:], file=sys.stderr)
"""
        code, out, err = launch(tmp_path, text, "--flag", "-n", "7", n=3)
        assert (code, out) == (0, "")
        assert sorted(err.splitlines()) == [f"[rank {r}] {r} {r} 3 3 0 1 ['--flag', '-n', '7']" for r in range(3)]

    def test_a_single_rank_prints_as_it_is(self, tmp_path):
        assert launch(tmp_path, "print('one')", n=1) == (0, "one\n", "")

    def test_a_program_that_imports_torch(self, tmp_path):
        script = tmp_path / "torch_program.py"
        script.write_text("import torch\nprint(torch.distributed.__name__, torch.__version__)\n")
        command = [sys.executable, "-m", "gradpack", "launch", "--as-torch", str(script)]
        done = subprocess.run(command, env=HERE, capture_output=True, text=True, timeout=LIMIT, check=False)
        assert done.stdout == "torch.distributed 2.13.0+gradpack\n"

    def test_what_is_asked_for_in_vain(self):
        for words, said in (
            (["none.py"], "there is no file none.py"),
            (["--node-rank", "2", __file__], "--node-rank 2 is not one of 1 machines"),
            (["--nnodes", "2", __file__], "several machines need"),
        ):
            command = [sys.executable, "-m", "gradpack", "launch", *words]
            done = subprocess.run(command, env=HERE, capture_output=True, text=True, timeout=LIMIT, check=False)
            assert done.returncode == 2 and said in done.stderr

    @pytest.mark.parametrize("number", [signal.SIGTERM, getattr(signal, "SIGKILL", None), signal.SIGINT])
    def test_nothing_is_left_behind(self, start, tmp_path, number):
        """Neither of the ranks nor of what they have started, however the command ends."""
        if number == signal.SIGKILL and sys.platform != "linux":
            pytest.skip("the system has no signal for the death of a parent")
        script = tmp_path / "waits.py"
        child = "" if number == signal.SIGKILL else "subprocess.Popen(['sleep', '300'])"
        script.write_text(
            f"import os, subprocess, time\nchild = {child or None}\n"
            "print(f'pid {os.getpid()}', f'pid {child.pid}' if child else '', flush=True)\ntime.sleep(300)\n"
        )
        command = [sys.executable, "-m", "gradpack", "launch", "-n", "2", str(script)]
        process = start(command, env=HERE, text=True)
        out = "".join(process.stdout.readline() for _ in range(2))
        assert len(alive(out)) == out.count("pid") == (2 if number == signal.SIGKILL else 4)
        process.send_signal(number)
        process.wait(30)
        until = time.monotonic() + 10
        while alive(out) and time.monotonic() < until:
            time.sleep(0.05)
        assert not alive(out)
