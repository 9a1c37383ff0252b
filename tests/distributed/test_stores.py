"""Stores: tables that processes share, and by which ranks find each other."""

from __future__ import annotations

import re
import threading
import time
from datetime import timedelta

import pytest

import gradpack as torch
from tests.distributed.ranks import launch

dist = torch.distributed


@pytest.fixture(params=["hash", "file", "tcp", "prefix"])
def store(request, tmp_path):
    if request.param == "file":
        return dist.FileStore(str(tmp_path / "store"))
    if request.param == "tcp":
        return dist.TCPStore("127.0.0.1", 0, 1, is_master=True)
    return dist.PrefixStore("of", dist.HashStore()) if request.param == "prefix" else dist.HashStore()


def test_what_a_store_holds(store):
    before = store.num_keys()
    store.set("a", "1")
    store.set("b", b"\x00\n")
    assert store.get("a") == b"1" and store.get("b") == b"\x00\n" and store.num_keys() == before + 2
    assert [store.add("n", 3), store.add("n", -1)] == [3, 2] and store.get("n") == b"2"
    store.append("b", "x")
    assert store.get("b") == b"\x00\nx"
    assert store.check(["a", "n"]) and not store.check(["a", "c"])
    assert store.compare_set("c", "old", "new") == b"old" and not store.check(["c"])
    assert store.compare_set("c", "", "new") == b"new"
    assert store.compare_set("c", "new", "newer") == b"newer" == store.compare_set("c", "new", "newest")
    assert store.delete_key("a") and not store.delete_key("a") and not store.check(["a"])
    with pytest.raises(TypeError, match="must be a str or bytes, not int"):
        store.set("a", 3)


def test_a_store_waits(store):
    store.set_timeout(timedelta(seconds=0.2))
    assert store.timeout == timedelta(seconds=0.2)
    for call in (lambda: store.get("late"), lambda: store.wait(["late"]), lambda: store.wait(["late"], timedelta(0))):
        with pytest.raises(dist.DistStoreError, match=r"wait timeout after \d+ms, keys: late"):
            call()
    threading.Timer(0.1, store.set, ("late", "here")).start()
    store.wait(["late"], timedelta(seconds=30))
    assert store.get("late") == b"here"


def test_what_a_store_over_tcp_refuses():
    alone = dist.TCPStore("127.0.0.1", 0, None, True)
    with pytest.raises(dist.DistNetworkError, match=r"cannot be reached, or is taken"):
        dist.TCPStore("127.0.0.1", alone.port, 1, True)
    with pytest.raises(dist.DistNetworkError, match=r"127.0.0.1:1 cannot be reached"):
        dist.TCPStore("127.0.0.1", 1, 2, timeout=timedelta(seconds=0.2))
    with pytest.raises(dist.DistStoreError, match="keys: init/all"):
        dist.TCPStore("127.0.0.1", 0, 2, True, timedelta(seconds=0.2))
    assert dist.TCPStore("127.0.0.1", 0, 2, True, wait_for_workers=False).port


def test_a_store_over_tcp_ends_with_its_object():
    store = dist.TCPStore("127.0.0.1", 0, 1, True)
    name = f"gradpack store {store.port}"
    assert name in [t.name for t in threading.enumerate()]
    del store
    until = time.monotonic() + 30
    while name in [t.name for t in threading.enumerate()] and time.monotonic() < until:
        time.sleep(0.01)
    assert name not in [t.name for t in threading.enumerate()]


def test_ranks_that_meet_by_a_store_or_a_file(tmp_path):
    text = """
import os
rank, path = int(os.environ["RANK"]), sys.argv[1]
store = dist.TCPStore("127.0.0.1", int(os.environ["MASTER_PORT"]), 3, rank == 0)
for said in ({"store": store}, {"init_method": f"file://{path}"}, {"store": dist.PrefixStore("x", store)}) * 2:
    dist.init_process_group("gloo", rank=rank, world_size=3, **said)
    x = torch.tensor(rank + 1)
    dist.all_reduce(x)
    print(x.item(), end=" ", flush=True)
    dist.barrier()
    dist.destroy_process_group()
print("file", os.path.exists(path), flush=True)
store.add("ended", 1)
while not rank and store.add("ended", 0) < 3:
    pass
"""
    code, out, err = launch(tmp_path, text, str(tmp_path / "meeting"), n=3)
    assert (code, err) == (0, "")
    assert len(re.findall(r"(?:6 ){6}file False", out)) == 3
