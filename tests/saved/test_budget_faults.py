"""Faults under a budget: a clear error, no wrong gradient, nothing left behind, and the next step is right."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.saved.held import Look

import gradpack as torch
from gradpack import saved
from gradpack.saved.policies.offload import OnDisk

ONE = 64 * 64 * 4  # bytes of a tensor
THREE = 3 * ONE


def leaf():
    return torch.from_numpy(np.random.default_rng(0).standard_normal((64, 64)).astype(np.float32)).requires_grad_()


def spilling(limit=THREE, **options):
    """A budget that can do nothing but keep tensors or write them to disk."""
    policy = saved.budget(limit, disk=1 << 30, min_bytes=0, **options)
    policy._methods[:] = [means for means in policy._methods if means.on_disk]
    policy._residency._recipe = lambda slot: False
    return policy


def forward(policy, x):
    with policy:
        h = x
        for _ in range(6):
            h = (h @ x * 0.1).exp()
        return h.sum()


@pytest.fixture
def exact():
    x = leaf()
    forward(saved.keep(), x).backward()
    return x.grad.numpy()


def check_next_step(policy, exact):
    """All is as if nothing had happened."""
    x = leaf()
    look = Look(policy, x)
    for _ in range(2):
        x.grad = None
        forward(policy, x).backward()
        np.testing.assert_array_equal(x.grad.numpy(), exact)
    assert max(policy.peak, look.peak) <= policy.limit
    for means in policy._methods:
        means.policy.made().wait()  # threads that write let go of what they wrote a moment later
    assert policy.held == policy.in_ram == policy.on_disk == look.now == 0


def file_of(policy):
    [means] = policy._methods
    return next(stage for stage, _ in means.policy.made().steps if isinstance(stage, OnDisk)).file


def fail_with(code):
    def fail(*args):
        raise OSError(code, os.strerror(code))

    return fail


@pytest.mark.parametrize("call", ["posix_fallocate", "pwrite"])
def test_a_full_disk(monkeypatch, tmp_path, exact, call):
    policy, x = spilling(directory=tmp_path), leaf()
    monkeypatch.setattr(os, call, fail_with(errno.ENOSPC))
    with pytest.raises(OSError, match=f"No space left on device.*{tmp_path} has .* bytes free") as caught:
        forward(policy, x).backward()
    assert caught.value.errno == errno.ENOSPC
    assert any("While packing" in note and __file__ in note for note in caught.value.__notes__)
    assert x.grad is None
    monkeypatch.undo()
    del caught
    check_next_step(policy, exact)


def test_a_disk_that_is_nearly_full(monkeypatch, tmp_path, exact):
    policy, x = spilling(directory=tmp_path), leaf()
    state = os.statvfs(tmp_path)
    monkeypatch.setattr(os, "statvfs", lambda path: os.statvfs_result([*state[:3], 1, 1, *state[5:]]))
    with pytest.raises(OSError, match="no room on disk for saved tensors"):
        forward(policy, x)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    check_next_step(policy, exact)


def test_a_changed_block(exact):
    policy, x = spilling(), leaf()
    out = forward(policy, x)
    while policy._residency._land():
        pass
    file = file_of(policy)
    with open(f"/proc/self/fd/{file.fd}", "r+b", buffering=0) as other:
        page = bytearray(other.read(4096))
        page[100] ^= 1
        other.seek(0)
        other.write(page)
        os.fsync(other.fileno())
    with pytest.raises(OSError, match="another checksum") as caught:
        out.backward()
    assert any("While unpacking" in note and __file__ in note for note in caught.value.__notes__)
    assert x.grad is None
    del out, caught
    check_next_step(policy, exact)


def test_a_file_cut_short(exact):
    policy, x = spilling(), leaf()
    out = forward(policy, x)
    while policy._residency._land():
        pass
    os.ftruncate(file_of(policy).fd, 0)
    with pytest.raises(OSError, match="something shortened the temporary file"):
        out.backward()
    assert x.grad is None
    file_of(policy).size = 0  # what nobody does outside of a test
    del out
    check_next_step(policy, exact)


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, ZeroDivisionError])
@pytest.mark.parametrize("at", [1, 3])
def test_an_error_in_the_middle_of_packing(error, at, exact):
    policy, x = spilling(), leaf()
    [means] = policy._methods
    pack, count = means.policy.pack, [0]

    def interrupted(tensor, info=None):
        count[0] += 1
        packed = pack(tensor, info)
        if count[0] == at:
            raise error("here")
        return packed

    means.policy.pack = interrupted
    with pytest.raises(error, match="here"):
        forward(policy, x)
    del means.policy.pack
    assert policy.held == policy.on_disk == 0
    check_next_step(policy, exact)


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, ZeroDivisionError])
def test_an_error_in_the_middle_of_backward(error, exact):
    policy, x = spilling(), leaf()
    forward(policy, x).backward()
    [means] = policy._methods
    unpack = means.policy.unpack

    def interrupted(packed):
        unpack(packed)
        raise error("here")

    means.policy.unpack = interrupted
    x.grad = None
    out = forward(policy, x)
    with pytest.raises(error, match="here"):
        out.backward()
    assert x.grad is None
    del means.policy.unpack, out
    assert policy.held == policy.on_disk == 0
    check_next_step(policy, exact)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_an_error_while_something_is_made_again(monkeypatch, error):
    from gradpack.saved.policies import recompute_graph as recipes

    x = leaf()
    exact = leaf()
    (exact @ exact).tanh().exp().tanh().exp().sum().backward()
    policy = saved.budget(2 * ONE, seed=0, min_bytes=0)
    follow = recipes.Recipe.follow

    def interrupted(self, arrays):
        follow(self, arrays)
        raise error("here")

    for broken in (True, False, True, False):
        monkeypatch.setattr(recipes.Recipe, "follow", interrupted if broken else follow)
        x.grad = None
        with policy:
            out = (x @ x).tanh().exp().tanh().exp().sum()
        if broken:
            with pytest.raises(error, match="here"):
                out.backward()
            del out
        else:
            out.backward()
            np.testing.assert_array_equal(x.grad.numpy(), exact.grad.numpy())
        assert policy.held == 0


def test_a_hook_of_the_user_that_raises(exact):
    """Hooks inside of the block take its place; what they raise leaves the budget alone."""
    policy, x = spilling(), leaf()

    def raises(value):
        raise ZeroDivisionError("mine")

    def step(pair):
        with policy:
            h = (x @ x).exp()
            with torch.autograd.graph.saved_tensors_hooks(*pair):
                h = h.exp()
            h = h.exp().sum()
        h.backward()

    for pair in ((raises, lambda packed: packed), (lambda tensor: tensor, raises)):
        x.grad = None
        with pytest.raises(ZeroDivisionError, match="mine"):
            step(pair)
        assert x.grad is None
        assert policy.held == policy.on_disk == 0
    check_next_step(policy, exact)


@pytest.mark.parametrize("error", [ImportError, RuntimeError])
def test_a_library_that_is_broken_is_done_without(monkeypatch, exact, error):
    from gradpack.saved.budgets import accounting as means

    def broken(*args, **options):
        raise error("half installed")

    monkeypatch.setattr(means, "lossless", broken)
    monkeypatch.setattr(means, "find_spec", lambda name: True)
    policy, x = saved.budget(THREE, disk=1 << 30, min_bytes=0), leaf()
    forward(policy, x).backward()
    np.testing.assert_array_equal(x.grad.numpy(), exact)
    assert "lossless" not in [means.name for means in policy._methods]


def test_a_folder_that_cannot_be_used_shows_at_once(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        saved.budget("1 MiB", disk="1 MiB", directory=tmp_path / "nowhere")
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError, match="file"):
        saved.budget("1 MiB", disk="1 MiB", directory=tmp_path / "file")
    saved.budget("1 MiB", directory=tmp_path / "nowhere")  # which is not used
    monkeypatch.setattr(os, "access", lambda *args: False)
    with pytest.raises(PermissionError, match="cannot be written to"):
        saved.budget("1 MiB", disk="1 MiB", directory=tmp_path)


def test_the_file_has_no_name_and_is_for_nobody_else(tmp_path):
    policy, x = spilling(directory=tmp_path), leaf()
    out = forward(policy, x)
    assert list(tmp_path.iterdir()) == []
    state = os.fstat(file_of(policy).fd)
    assert (state.st_nlink, state.st_mode & 0o777) == (0, 0o600)
    assert policy.on_disk > 0
    out.backward()


SCRIPT = """
import os, sys, threading
import numpy as np
import gradpack as torch
from gradpack import saved

policy = saved.budget(3 * 16384, disk="64 MiB", directory=sys.argv[1], min_bytes=0)
x = torch.from_numpy(np.ones((64, 64), np.float32)).requires_grad_()
policy._residency._recipe = lambda slot: False
policy._methods[:] = [means for means in policy._methods if means.on_disk]

def step():
    x.grad = None
    with policy:
        h = x
        for _ in range(8):
            h = (h @ x * 0.01).exp()
        return h.sum()
"""

WAITS = """
out = step()
print(policy.on_disk, flush=True)
sys.stdin.read()
"""

ENDS = """
kept = step()
threads = sum(thread.name == "gradpack-saved" for thread in threading.enumerate())
print(policy.on_disk, threads, flush=True)
"""

FORKS = """
step().backward()
exact, out = x.grad.numpy().copy(), step()
while policy._residency._land():
    pass
child = os.fork()
out.backward()  # what was spilled before, in both
assert (x.grad.numpy() == exact).all()
for _ in range(2):
    step().backward()
    assert (x.grad.numpy() == exact).all()
assert policy.peak <= policy.limit and policy.on_disk == 0
if child:
    assert os.waitpid(child, 0)[1] == 0
    print("both", flush=True)
else:
    os._exit(0)
"""


def run(text, folder, **options):
    command = [sys.executable, "-W", "error", "-c", SCRIPT + text, str(folder)]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ, timeout=60, check=False, **options)


def test_a_killed_process_leaves_no_file(tmp_path, start):
    child = start([sys.executable, "-c", SCRIPT + WAITS, str(tmp_path)], stdin=subprocess.PIPE)
    assert int(child.stdout.readline()) > 0
    open_files = Path(f"/proc/{child.pid}/fd")
    assert not open_files.exists() or any(str(tmp_path) in os.readlink(file) for file in open_files.iterdir())
    child.send_signal(signal.SIGKILL)
    child.communicate()
    assert child.returncode == -signal.SIGKILL
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("end", ["", "sys.exit(0)", "os._exit(0)", "raise SystemExit", "os.kill(os.getpid(), 15)"])
def test_a_program_ends_while_graphs_and_threads_live(tmp_path, end):
    done = run(ENDS + end, tmp_path)
    assert done.returncode == (-15 if "kill" in end else 0)
    assert done.stderr == ""
    on_disk, threads = map(int, done.stdout.split())
    assert on_disk > 0
    assert threads > 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_both_sides_of_a_fork_go_on(tmp_path):
    done = run(FORKS, tmp_path)
    assert (done.stderr, done.stdout) == ("", "both\n")
    assert list(tmp_path.iterdir()) == []
