"""Faults: full disks, corrupted blocks, killed processes, writes that come too early or too late."""

import errno
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path

import pytest

import gradpack as torch
from gradpack import saved
from gradpack.saved.policies import background
from gradpack.saved.policies.offload import OnDisk

hooks = torch.autograd.graph.saved_tensors_hooks


def disk(directory=None, **options):
    return saved.disk(directory, **{"min_bytes": 1, "reserve": 0, "step": 1 << 16, **options})


def leaf(*shape):
    return torch.randn(*(shape or (5000,)), requires_grad=True)


def file_of(policy):
    [stage] = [stage for stage, _ in policy.steps if isinstance(stage, OnDisk)]
    return stage.file


def check_error(run, match, slot="'out' of ExpBackward0"):
    with pytest.raises(OSError, match=match) as caught:
        run()
    assert any(slot in note and __file__ in note for note in caught.value.__notes__)
    return caught.value


@pytest.mark.parametrize("options", [{}, {"direct": False}, {"checksum": False}])
def test_what_is_written_comes_back(options):
    policy = disk(**options)
    for size in (1, 1000, 1024, (1 << 18) + 3, 700_000):
        x = torch.randn(size)
        packed = policy.pack(x)
        policy.wait()
        assert policy.packed_bytes == 0
        assert policy.bytes_on_disk >= x.nbytes
        assert torch.equal(policy.unpack(packed), x)
        del packed
        assert policy.bytes_on_disk == 0


def test_the_file_has_no_name_and_is_private(tmp_path):
    policy = disk(tmp_path)
    packed = policy.pack(torch.randn(5000))
    policy.wait()
    assert packed is not None
    assert list(tmp_path.iterdir()) == []
    state = os.fstat(file_of(policy).fd)
    assert (state.st_nlink, state.st_mode & 0o777) == (0, 0o600)


SCRIPT = """
import sys, os, gradpack as torch
from gradpack import saved
x = torch.randn(1000, 1000, requires_grad=True)
with saved.disk(sys.argv[1]) as policy:
    y = x.exp().sin().sum()
policy.wait()
print(policy.bytes_on_disk, flush=True)
sys.stdin.read()
"""


def test_a_killed_process_leaves_no_file(tmp_path, start):
    child = start([sys.executable, "-c", SCRIPT, str(tmp_path)], stdin=subprocess.PIPE)
    assert int(child.stdout.readline()) >= 4_000_000
    open_files = Path(f"/proc/{child.pid}/fd")
    if open_files.exists():
        assert any(str(tmp_path) in os.readlink(f) for f in open_files.iterdir() if f.is_symlink())
    child.send_signal(signal.SIGKILL)
    child.communicate()
    assert child.returncode == -signal.SIGKILL
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_to_shows_at_once():
    with pytest.raises(OSError, match="nowhere"):
        disk("/nowhere/at/all")


def test_no_room_on_the_disk_shows_in_backward(monkeypatch, tmp_path):
    policy, x = disk(tmp_path, reserve=1 << 62), leaf()
    with policy:
        y = x.exp().sum()
    policy.wait()
    check_error(y.backward, f"no room on disk for saved tensors: {tmp_path} has")
    assert x.grad is None
    assert policy.bytes_on_disk == 0


LIMITED = """
import resource, signal, gradpack as torch
from gradpack import saved
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
x = torch.randn(1 << 20, requires_grad=True)
with saved.disk(step=1 << 12) as policy:
    y = x.exp().sum()
policy.wait()
try:
    y.backward()
except OSError as error:
    print(error.errno, *error.__notes__)
assert x.grad is None
x.exp().sum().backward()
"""


def test_a_file_that_may_not_grow_shows_in_backward():
    done = subprocess.run(
        [sys.executable, "-c", LIMITED], capture_output=True, text=True, env=os.environ, timeout=60, check=True
    )
    assert done.stdout.startswith(f"{errno.EFBIG} While unpacking 'out' of ExpBackward0, saved at <string>:8")


@pytest.mark.parametrize("direct", [False, True])
def test_a_changed_block_is_noticed(direct):
    policy, x = disk(direct=direct), leaf()
    with policy:
        y = x.exp().sum()
    policy.wait()
    page = bytearray(4096)
    with open(f"/proc/self/fd/{file_of(policy).fd}", "r+b", buffering=0) as other:
        page[:] = other.read(4096)
        page[100] ^= 1
        other.seek(0)
        other.write(page)
        os.fsync(other.fileno())
    check_error(y.backward, "another checksum")
    assert x.grad is None


def test_pages_that_changed_places_are_noticed_also_where_only_signs_differ():
    policy = disk()
    signs = torch.randn(2 << 17, dtype=torch.float64).sign()
    packed = policy.pack(signs)
    policy.wait()
    fd = file_of(policy).fd
    with open(f"/proc/self/fd/{fd}", "r+b", buffering=0) as other:
        first, third = os.pread(other.fileno(), 4096, 4096), os.pread(other.fileno(), 4096, 3 * 4096)
        assert first != third
        os.pwrite(other.fileno(), first, 3 * 4096)
        os.pwrite(other.fileno(), third, 4096)
        os.fsync(other.fileno())
    with pytest.raises(OSError, match="another checksum"):
        policy.unpack(packed)


def test_a_file_cut_short_is_noticed():
    policy, x = disk(), leaf()
    with policy:
        y = x.exp().sum()
    policy.wait()
    os.ftruncate(file_of(policy).fd, 4096)
    check_error(y.backward, "something shortened the temporary file")


def slow_writes(monkeypatch):
    """Writes that wait until they are let go."""
    go = threading.Event()
    pwrite = os.pwrite

    def wait(*args):
        go.wait(20)
        return pwrite(*args)

    monkeypatch.setattr(os, "pwrite", wait)
    return go


def test_backward_before_the_write_is_done_uses_the_memory(monkeypatch):
    policy, x = disk(), leaf()
    go = slow_writes(monkeypatch)
    with policy:
        y = x.exp().sum()
        z = x.exp()
    while not policy._workers._threads:
        time.sleep(0.001)
    y.backward()
    assert torch.equal(x.grad, x.exp())
    go.set()
    policy.wait()
    assert z.requires_grad


def test_a_write_to_the_tensor_waits_until_it_is_stored(monkeypatch):
    policy, x = disk(), leaf()
    go = slow_writes(monkeypatch)
    with policy:
        h = x * 1
        y = h.sin().sum()
    threading.Timer(0.1, go.set).start()
    with torch.no_grad():
        h[:100].zero_()
    assert go.is_set()
    y.backward()
    assert torch.equal(x.grad, x.detach().cos())


def test_no_more_waits_to_be_written_than_the_window_allows(monkeypatch):
    policy, x = disk(window=50_000), leaf()
    with policy:
        y = x
        for _ in range(20):
            y = y.sin()
    assert policy._workers.peak <= 50_000
    y.sum().backward()


def test_what_comes_next_is_fetched_in_the_order_of_the_last_time():
    policy = disk()
    fetched = []
    for _ in range(3):
        x, w = leaf(), leaf()
        with policy:
            a, b = x.exp(), w.exp()  # backward of a comes before that of b, although a was packed first
            loss = a.sum() + 0 * b.sum()
        policy.wait()
        handles = [node.__getattribute__("out").handle for node in (a.grad_fn, b.grad_fn)]
        del a, b
        policy.unpack(handles[0])
        fetched.append(handles[1].record._ahead is not None)
        policy.unpack(handles[1])
        del loss, handles
    assert fetched == [False, True, True]


def test_graphs_that_overlap_for_ever_do_not_pile_up(monkeypatch):
    from gradpack.saved.policies import packed_store as order

    monkeypatch.setattr(order, "LONGEST", 50)
    policy, x = disk(), leaf()
    last = None
    for _ in range(100):
        with policy:
            y = x.exp().sum()
        if last is not None:
            last.backward()
        last = y
    assert len(policy._order._now.records) <= 50


def test_threads_of_the_program_may_share_a_policy():
    policy, errors = disk(window=100_000), []

    def work(seed):
        generator = torch.Generator().manual_seed(seed)
        for _ in range(10):
            x = torch.randn(3000, generator=generator).requires_grad_()
            with policy:
                y = (x.exp() * x.sin()).sum()
            y.backward()
            exact = x.detach().exp() * (x.detach().sin() + x.detach().cos())
            if not torch.allclose(x.grad, exact, rtol=1e-5, atol=1e-5):
                errors.append(seed)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    policy.wait()
    assert policy.bytes_on_disk == 0


def test_no_thread_is_started_before_it_is_needed(monkeypatch):
    monkeypatch.setattr(background, "_crew", background.ThreadPool(8))  # not that of other tests
    before = threading.active_count()
    policy = disk()
    assert threading.active_count() == before
    policy.pack(torch.randn(5000))
    assert threading.active_count() == before + 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_has_a_file_and_threads_of_its_own(monkeypatch):
    policy = disk()
    policy.pack(torch.randn(5000))
    policy.wait()
    before = file_of(policy)
    monkeypatch.setattr(os, "getpid", lambda: -1)  # what a child sees: another number
    packed = policy.pack(torch.full((5000,), 2.0))
    assert file_of(policy) is not before
    assert policy.unpack(packed)[0] == 2


def test_an_error_of_a_job_holds_nothing():
    class Big:
        def work(self):
            mine = self
            raise ZeroDivisionError(str(mine)[:1])

    workers, big = background.JobQueue(1, 100), Big()
    known = weakref.ref(big)
    job = workers.add(big.work, 1)
    workers.drain()
    del big
    assert known() is None
    assert type(job.error) is ZeroDivisionError and job.error.__traceback__ is None


def test_jobs_are_done_once_and_errors_stay_with_them():
    done = []
    workers = background.JobQueue(2, 100)
    jobs = [workers.add(lambda i=i: done.append(i), 30) for i in range(20)]
    bad = workers.add(lambda: 1 / 0, 10)
    for job in [*jobs, bad]:
        workers.finish(job)
    assert sorted(done) == list(range(20))
    assert isinstance(bad.error, ZeroDivisionError)
    workers.drain()
    assert workers.under_way == 0
    assert workers.peak <= 100
