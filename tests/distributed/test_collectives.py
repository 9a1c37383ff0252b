"""Collectives, groups and messages between ranks that are threads."""

from __future__ import annotations

import threading
import time
from datetime import timedelta

import numpy as np
import pytest

import gradpack as torch

dist = torch.distributed


def on(n, body, *args):
    """What a function returns on each of `n` ranks."""

    def rank(r):
        dist.init_process_group("threads", timeout=timedelta(seconds=60))
        return body(r, *args)

    return dist.threads.spawn(rank, nprocs=n)


def values(rank, shape=(2, 3), dtype=torch.float32):
    return (torch.arange(6).reshape(shape) + 10 * rank).to(dtype)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("size", [0, 5, 40_000])  # none; sent to all at once; in parts
def test_all_reduce_gives_the_same_bits_everywhere(n, size):
    rng = np.random.default_rng(0)
    data = rng.normal(size=(n, size)).astype(np.float32)

    def body(r):
        x = torch.from_numpy(data[r].copy())
        before = x._version
        assert dist.all_reduce(x) is None
        assert x._version > before
        return x.numpy()

    found = on(n, body)
    assert all((f == found[0]).all() for f in found)
    np.testing.assert_allclose(found[0], data.sum(0), rtol=1e-5, atol=1e-5)


OPS = {
    "SUM": lambda a: a.sum(0), "AVG": lambda a: a.mean(0), "PRODUCT": lambda a: a.prod(0), "MIN": lambda a: a.min(0),
    "MAX": lambda a: a.max(0), "BAND": np.bitwise_and.reduce,
    "BOR": np.bitwise_or.reduce, "BXOR": np.bitwise_xor.reduce,
}  # fmt: skip


@pytest.mark.parametrize("op", OPS)
def test_the_reductions(op):
    dtype = torch.int32 if op[0] == "B" else torch.float64
    every = np.stack([values(r, dtype=dtype).numpy() for r in range(3)])

    def body(r):
        x = values(r, dtype=dtype)
        parts = list(values(r, dtype=dtype).view(3, 2).unbind())
        one, other, top = (torch.zeros(2, dtype=dtype) for _ in range(3))
        dist.all_reduce(x, getattr(dist.ReduceOp, op))
        dist.reduce_scatter(one, parts, op=getattr(dist.ReduceOp, op))
        dist.reduce_scatter_tensor(other, values(r, dtype=dtype), getattr(dist.ReduceOp, op))
        top = values(r, dtype=dtype)
        dist.reduce(top, 1, getattr(dist.ReduceOp, op))
        return x.numpy(), one.numpy(), other.numpy(), top.numpy()

    for r, (x, one, other, top) in enumerate(on(3, body)):
        want = OPS[op](every)
        np.testing.assert_array_equal(x, want)
        np.testing.assert_array_equal(one, want.reshape(3, 2)[r])
        np.testing.assert_array_equal(other, want.reshape(3, 2)[r])
        np.testing.assert_array_equal(top, want if r == 1 else every[r])


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.complex64, torch.bool, torch.uint8])
def test_dtypes(dtype):
    def body(r):
        x = torch.tensor([0, 1, r]).to(dtype)
        y, parts = torch.zeros_like(x), [torch.zeros_like(x) for _ in range(2)]
        dist.all_gather(parts, x)
        y.copy_(x)
        dist.broadcast(y, 1)
        dist.all_reduce(x)
        return x, y, parts

    for x, y, parts in on(2, body):
        assert torch.equal(x, torch.tensor([0, 2, 1]).to(dtype)) or dtype is torch.bool
        assert torch.equal(y, torch.tensor([0, 1, 1]).to(dtype)) and x.dtype is y.dtype is dtype
        assert [p[2].item() for p in parts] == [torch.tensor(r).to(dtype).item() for r in range(2)]


def test_tensors_that_are_not_laid_out_row_by_row():
    def body(r):
        whole = torch.zeros(3, 2)
        x = whole.T  # not contiguous, and a view
        x += values(r)
        dist.all_reduce(x)
        part = torch.zeros(4, 6)[::2, ::2]
        dist.broadcast(part, 0) if r else dist.broadcast(torch.ones(2, 3), 0)
        leaf = torch.ones(2, requires_grad=True)
        dist.all_reduce(leaf)
        return whole.T.tolist(), part.sum().item() if r else 6.0, leaf.tolist(), leaf.is_leaf

    for found in on(2, body):
        assert found == ((values(0) + values(1)).tolist(), 6.0, [2.0, 2.0], True)


def test_parts_that_change_hands():
    def body(r):
        whole, listed = torch.zeros(6, 3), [torch.zeros(2, 3) for _ in range(3)]
        dist.all_gather_into_tensor(whole, values(r))
        dist.gather(values(r), listed if r == 2 else None, dst=2)
        mine = torch.zeros(2)
        dist.scatter(mine, list(values(7).view(3, 2)) if r == 1 else None, group_src=1)
        objects, at_2 = [None] * 3, [None] * 3 if r == 2 else None
        dist.all_gather_object(objects, {"rank": r, "of": torch.ones(r)})
        dist.gather_object("abc"[r], at_2, group_dst=2)
        sent = [r, "x" * r]
        dist.broadcast_object_list(sent, src=2)
        return whole, listed, mine, [len(o["of"]) for o in objects], at_2, sent

    every = torch.cat([values(r) for r in range(3)])
    for r, (whole, listed, mine, lengths, at_2, sent) in enumerate(on(3, body)):
        assert torch.equal(whole, every) and mine.tolist() == values(7).view(3, 2)[r].tolist()
        assert torch.equal(torch.cat(listed), every if r == 2 else torch.zeros(6, 3))
        assert lengths == [0, 1, 2] and at_2 == (["a", "b", "c"] if r == 2 else None) and sent == [2, "xx"]


def test_all_to_all():
    def body(r):
        out = [torch.zeros(2) for _ in range(3)]
        dist.all_to_all(out, list(values(r).view(3, 2)))
        rows = [torch.zeros(r + 1) for _ in range(3)]  # shapes may differ
        dist.all_to_all(rows, [torch.full((i + 1,), float(r)) for i in range(3)])
        whole, cut = torch.zeros(6), torch.zeros(3 * (r + 1), 1)
        assert dist.all_to_all_single(whole, values(r).view(6), async_op=True).wait()
        dist.all_to_all_single(cut, values(r).view(6, 1), [r + 1] * 3, [1, 2, 3])
        return (
            torch.stack(out).tolist(),
            [t.tolist() for t in rows],
            whole.view(3, 2).tolist(),
            cut.view(3, -1).tolist(),
        )

    for r, (out, rows, whole, cut) in enumerate(on(3, body)):
        assert out == whole == [values(i).view(3, 2)[r].tolist() for i in range(3)]
        assert rows == [[float(i)] * (r + 1) for i in range(3)]
        assert cut == [list(values(i).view(6).split([1, 2, 3])[r]) for i in range(3)]


def test_objects_from_one_rank_to_each():
    def body(r):
        got = [None, "stays"]
        dist.scatter_object_list(got, [{"for": i} for i in range(2)] if r == 1 else None, src=1)
        return got

    assert on(2, body) == [[{"for": 0}, "stays"], [{"for": 1}, "stays"]]


def test_several_messages_at_once():
    def body(r):
        got = torch.zeros(2)
        ops = [dist.P2POp(dist.isend, torch.full((2,), float(r)), (r + 1) % 3, tag=4)]
        ops.append(dist.P2POp(dist.irecv, got, group_peer=(r - 1) % 3, tag=4))
        works = dist.batch_isend_irecv(ops)
        return [w.wait() for w in works], works[1].source_rank(), works[1].result()[0].tolist(), ops[1].peer

    for r, found in enumerate(on(3, body)):
        left = (r - 1) % 3
        assert found == ([True, True], left, [left, left], left)


def test_messages_from_rank_to_rank():
    def body(r):
        left, right = (r - 1) % 3, (r + 1) % 3
        works = [dist.isend(torch.full((2,), 10.0 * r + i), right, tag=i % 2) for i in range(4)]
        got = [torch.zeros(2) for _ in range(4)]
        waits = [dist.irecv(got[i], left, tag=i % 2) for i in range(4)]
        waits[3].wait()  # those that were asked for before come first
        assert waits[1].is_completed() and all(w.wait() for w in waits + works) and works[0].is_success()
        if r == 0:
            first, second = torch.zeros(()), torch.zeros(())
            return [g[0].item() for g in got], {dist.recv(first), dist.recv(second)}, (first + second).item()
        time.sleep(0.01 * r)
        dist.send(torch.tensor(float(r)), group_dst=0)
        return [g[0].item() for g in got], {1, 2}, 3.0

    for r, found in enumerate(on(3, body)):
        assert found == ([10.0 * ((r - 1) % 3) + i for i in range(4)], {1, 2}, 3.0)


def test_a_receiver_that_has_ended_since_is_no_error():
    def body(r):
        x = torch.ones(2)
        if r == 1:
            dist.recv(x, 0)
            return x.tolist()
        work = dist.isend(x, 1)
        time.sleep(0.2)  # the other one ends meanwhile
        return work.wait()

    assert on(2, body) == [True, [1.0, 1.0]]


def test_handles():
    def body(r):
        x, y = torch.full((50_000,), r + 1.0), torch.ones(2)
        works = [dist.all_reduce(x, async_op=True) for _ in range(3)]
        dist.all_reduce(y)  # comes after those, and does not overtake them
        assert all(w.is_completed() for w in works)
        future = dist.all_reduce(y, dist.ReduceOp.MAX, async_op=True).get_future().then(lambda f: f.value()[0] * 10)
        assert works[0].wait() and works[2].result()[0] is x and works[1].exception() is None
        assert dist.barrier(async_op=True).wait(timedelta(seconds=60))
        return x[7].item(), future.wait().tolist()

    assert on(2, body) == [(12.0, [20.0, 20.0])] * 2


def test_groups():
    def body(r):
        even, odd = dist.new_group([2, 0]), dist.new_group([1, 3], timedelta(seconds=50))
        mine, other = (odd, even) if r % 2 else (even, odd)
        assert other == dist.GroupMember.NON_GROUP_MEMBER and dist.get_rank(other) == dist.get_world_size(other) == -1
        assert dist.get_rank(mine) == r // 2 and dist.get_process_group_ranks(mine) == [r % 2, r % 2 + 2]
        assert dist.get_global_rank(mine, 1) == r % 2 + 2 and dist.get_group_rank(mine, r) == r // 2
        turned = dist.new_group([3, 2, 1, 0], sort_ranks=False)
        assert dist.get_rank(turned) == 3 - r and dist.get_backend(turned) == "threads"
        x, y = torch.tensor(float(r)), torch.tensor(float(r))
        dist.all_reduce(x, group=mine)
        dist.broadcast(y, 1, turned)
        y += r
        dist.broadcast(y, group=turned, group_src=0)
        dist.destroy_process_group(mine)
        with pytest.raises(ValueError, match="Invalid process group specified"):
            dist.destroy_process_group(mine)
        with pytest.raises(ValueError, match="is not registered, please create group"):
            dist.all_reduce(x, group=mine)
        dist.destroy_process_group(other)
        dist.barrier(dist.group.WORLD)
        return x.item(), y.item()

    assert on(4, body) == [(2.0, 4.0), (4.0, 4.0), (2.0, 4.0), (4.0, 4.0)]


@pytest.mark.filterwarnings("ignore:Running all_reduce on global rank 0 which does not belong")
def test_a_call_in_a_group_of_others_does_nothing():
    def body(r):
        group, x = dist.new_group([1]), torch.ones(1)
        return dist.all_reduce(x * 2, group=group, async_op=True) is None

    assert on(2, body) == [True, False]


BAD = {
    "no tensor": (lambda r: dist.all_reduce([1.0]), TypeError, "Expected parameter `tensor` of type torch.Tensor"),
    "sparse": (lambda r: dist.all_reduce(torch.eye(2).to_sparse()), RuntimeError, "sparse tensor.*to_dense"),
    "bits of floats": (
        lambda r: dist.all_reduce(torch.ones(1), dist.ReduceOp.BAND), RuntimeError,
        "Cannot use ReduceOp.BAND with non-integral dtype",
    ),
    "mean of ints": (lambda r: dist.all_reduce(torch.arange(2), dist.ReduceOp.AVG), RuntimeError, "AVG with integral"),
    "no reduction": (lambda r: dist.all_reduce(torch.ones(1), "sum"), TypeError, "must be a torch.distributed"),
    "not of complex": (
        lambda r: dist.all_reduce(torch.ones(1) * 1j, dist.ReduceOp.MAX), ValueError, "MAX on complex tensors",
    ),
    "parts": (lambda r: dist.all_to_all([torch.ones(1)] * 2, [torch.ones(3)] * 2), RuntimeError, "sends 3 el.* for 1"),
    "parts of dtypes": (
        lambda r: dist.all_to_all([torch.ones(1)] * 2, [torch.ones(1).int()] * 2), ValueError, "different dtypes",
    ),
    "odd": (lambda r: dist.all_to_all_single(torch.ones(3), torch.ones(3)), RuntimeError, "not divide equally"),
    "splits": (
        lambda r: dist.all_to_all_single(torch.ones(3), torch.ones(3), [1, 1], [1, 1]), RuntimeError, "Split sizes doe",
    ),
    "op": (lambda r: dist.P2POp(dist.send, torch.ones(1), 1 - r), ValueError, "Invalid ``op``"),
    "no ops": (lambda r: dist.batch_isend_irecv([dist.isend]), ValueError, "expected to be of type"),
    "no place": (lambda r: dist.scatter_object_list([], [1, 2]), ValueError, "a list of size at least 1"),
    "another backend": (lambda r: dist.new_group(backend="fast"), AssertionError, "Unknown backend type fast"),
    "list too short": (lambda r: dist.all_gather([torch.ones(1)], torch.ones(1)), RuntimeError, "1 tensors.*2 ranks"),
    "other shape": (
        lambda r: dist.all_gather([torch.ones(2)] * 2, torch.ones(1)), RuntimeError, r"float32 \[2\] at 0.*\[1\] is",
    ),
    "other size": (
        lambda r: dist.all_gather_into_tensor(torch.ones(3), torch.ones(1)), RuntimeError, "has 3 elements of .*need 2",
    ),
    "no root": (lambda r: dist.broadcast(torch.ones(1)), ValueError, "Must specify global_rank or group_rank"),
    "two roots": (lambda r: dist.broadcast(torch.ones(1), 0, group_src=0), ValueError, "both group_rank and global"),
    "root outside": (lambda r: dist.broadcast(torch.ones(1), 2), RuntimeError, "src=2 is not one of the 2 ranks"),
    "to itself": (lambda r: dist.send(torch.ones(1), r), ValueError, "should not be the same as the rank of the curr"),
    "list missing": (lambda r: dist.gather(torch.ones(1), None if r == 0 else [torch.ones(1)]), ValueError, "Argument"),
    "no group": (lambda r: dist.barrier("WORLD"), TypeError, "group must be a torch.distributed.ProcessGroup"),
    "unknown rank": (lambda r: dist.new_group([0, 2]), ValueError, "Rank 2 is out of range"),
    "rank twice": (lambda r: dist.new_group([0, 0]), ValueError, "world size should be less or equal"),
    "again": (lambda r: dist.init_process_group(), ValueError, "initialize the default process group twice"),
}  # fmt: skip


def test_wrong_arguments_leave_the_group_as_it_is():
    def body(r):
        for name, (call, kind, said) in BAD.items():
            with pytest.raises(kind, match=said):
                call(r)
            x = torch.ones(1)
            dist.all_reduce(x)
            assert x.item() == 2, name

    on(2, body)


DIFFERENT = {
    "shape": (
        lambda r: dist.all_reduce(torch.ones(2 + r)),
        r"all_reduce\(gradpack.float32 \[[23]\], SUM\).*\[[23]\], SUM",
    ),
    "dtype": (
        lambda r: dist.all_reduce(torch.ones(2).to([torch.float32, torch.int64][r])),
        "float32.*int64|int64.*float32",
    ),
    "call": (lambda r: dist.barrier() if r else dist.all_reduce(torch.ones(1)), "barrier"),
    "root": (
        lambda r: dist.broadcast(torch.ones(1), r),
        r"rank . made barrier\(\) as call 1 .*broadcast\(gradpack.float32 \[1\], src=.\) as call 0",
    ),
    "number": (lambda r: [dist.all_reduce(torch.ones(1)) for _ in range(2 - r)], "rank 1 has ended"),
}


@pytest.mark.parametrize("case", DIFFERENT)
def test_ranks_that_disagree_all_hear_of_it(case):
    call, said = DIFFERENT[case]
    heard = []

    def body(r):
        dist.init_process_group("threads", timeout=timedelta(seconds=60))
        try:
            call(r)
            dist.barrier() if case == "root" else None
        except RuntimeError as error:
            heard.append(str(error))
            with pytest.raises(RuntimeError, match="the process group has failed"):
                dist.barrier()
            raise

    begun = time.monotonic()
    with pytest.raises(dist.DistBackendError, match=said):
        dist.threads.spawn(body, nprocs=2)
    assert time.monotonic() - begun < 30 and len(heard) == (1 if case == "number" else 2)


def test_a_thread_that_fails_ends_the_others():
    def body(r):
        if r == 1:
            raise KeyError("a bad batch")
        dist.all_reduce(torch.ones(1))

    with pytest.raises(KeyError, match="a bad batch") as caught:
        on(3, body)
    assert caught.value.__notes__ == ["(in rank 1 of 3)"]
    assert not [t for t in threading.enumerate() if t.name.startswith("gradpack rank")]


def test_a_rank_that_does_not_come():
    def body(r):
        if r == 2:
            time.sleep(0.5)
        else:
            dist.barrier(timeout=timedelta(seconds=0.1))

    with pytest.raises(RuntimeError, match="has waited too long for rank 2: it does not"):
        on(3, body)


def test_a_message_that_does_not_fit():
    def body(r):
        if r == 0:
            dist.send(torch.ones(3), 1)
            dist.send(torch.ones(4), 1)
            return None
        with pytest.raises(RuntimeError, match=r"rank 0 sent gradpack.float32 \[3\].*float64 \[3\]"):
            dist.recv(torch.ones(3, dtype=torch.float64), 0)
        x = torch.zeros(2, 2)
        dist.recv(x, 0)
        return x.sum().item()

    assert on(2, body) == [None, 4.0]


def test_before_there_is_a_group():
    assert dist.is_available() and not dist.is_initialized() and dist.group.WORLD is None
    with pytest.raises(AssertionError, match="Process group cannot be None"):
        dist.destroy_process_group()
    for call in (dist.get_rank, dist.get_world_size, dist.barrier, dist.get_backend):
        with pytest.raises(ValueError, match="Default process group has not been initialized"):
            call()
    for backend, kind, said in (
        ("threads", ValueError, "started by torch.distributed.threads.spawn"),
        ("nccl", RuntimeError, "doesn't have NCCL built in"),
        ("fast", AssertionError, "Unknown backend type fast: there are 'gloo'"),
        (3, ValueError, "must be string-ish"),
        ("gloo", ValueError, "environment variable RANK expected, but not set"),
    ):
        with pytest.raises(kind, match=said):
            dist.init_process_group(backend)
    with pytest.raises(RuntimeError, match="No rendezvous handler for ftp://"):
        dist.init_process_group("gloo", "ftp://x")
    with pytest.raises(ValueError, match="not of the form 'tcp://HOST:PORT'"):
        dist.init_process_group("gloo", "tcp://x")
    with pytest.raises(AssertionError, match="a store needs rank="):
        dist.init_process_group("gloo", store=dist.HashStore())
    with pytest.raises(TypeError, match="Expected timeout argument to be of type"):
        dist.init_process_group("gloo", timeout=3)
    assert not dist.is_initialized() and not dist.is_nccl_available() and dist.is_backend_available("GLOO")


def test_nothing_stays_when_ranks_have_ended():
    def body(r):
        dist.all_reduce(torch.ones(1), async_op=True).wait()
        dist.destroy_process_group()
        return dist.is_initialized()

    assert on(2, body) == [False, False]
    until = time.monotonic() + 30
    while any(t.name.startswith("gradpack group") for t in threading.enumerate()) and time.monotonic() < until:
        time.sleep(0.01)
    assert not [t.name for t in threading.enumerate() if t.name.startswith("gradpack group")]
