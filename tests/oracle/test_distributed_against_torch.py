"""One program on two ranks, run by PyTorch with gloo and by gradpack: both print the same."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from tests.distributed.ranks import HERE, LIMIT

PROGRAM = """
import datetime, os
import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import fp16_compress_hook

dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=60))
rank, size = dist.get_rank(), dist.get_world_size()


def show(*values):
    print(*(v.tolist() if isinstance(v, torch.Tensor) else v for v in values), flush=True)


def refused(call, words=60):
    try:
        call()
    except Exception as error:
        print(type(error).__name__, str(error).split("\\n")[0][:words], flush=True)


x = torch.arange(4.0) + rank
for op in ("SUM", "PRODUCT", "MIN", "MAX"):
    y = x.clone()
    show(op, dist.all_reduce(y, getattr(dist.ReduceOp, op)), y)
y = x.long()
dist.all_reduce(y, op=dist.ReduceOp.BXOR)
gathered = [torch.zeros(4) for _ in range(2)]
dist.all_gather(gathered, x)
whole = torch.zeros(8)
dist.all_gather_into_tensor(whole, x)
at = [torch.zeros(4) for _ in range(2)] if rank == 1 else None
dist.gather(x, at, dst=1)
part, mine = torch.zeros(2), torch.zeros(2)
dist.scatter(mine, [torch.ones(2), torch.ones(2) * 2] if rank == 0 else None, src=0)
dist.reduce_scatter_tensor(part, x)
total = x.clone()
dist.reduce(total, 1)
show(y, *gathered, whole, at, part, mine, total if rank else "")
objects, said = [None, None], ["a", {"b": rank}]
dist.all_gather_object(objects, (rank, "x"))
dist.broadcast_object_list(said, src=1)
show(objects, said)
z = torch.zeros(2)
if rank:
    dist.send(torch.ones(2) * 7, 0, tag=3)
else:
    show(dist.recv(z, 1, tag=3), z)
work = dist.all_reduce(z, async_op=True)
show(work.wait(), work.is_completed(), z)
group = dist.new_group([1])
show(dist.get_rank(group), dist.get_world_size(group), dist.get_backend(), dist.is_initialized())
into, single = [torch.zeros(2), torch.zeros(2)], torch.zeros(2 + 4 * rank)
dist.all_to_all(into, [x[:2], x[2:]])
dist.all_to_all_single(single, x, [1 + 2 * rank] * 2, [1, 3])
show(*into, single)
ops = [dist.P2POp(dist.isend, x, 1 - rank, tag=1), dist.P2POp(dist.irecv, y := torch.zeros(4), 1 - rank, tag=1)]
show([work.wait() for work in dist.batch_isend_irecv(ops)], y)
one = [None]
dist.scatter_object_list(one, [{"a": 1}, "b"] if rank else None, src=1)
show(one, dist.get_node_local_rank(), dist.get_process_group_ranks(None), dist.group.WORLD.group_desc)
for op in (dist.ReduceOp.AVG, dist.ReduceOp.BOR, dist.ReduceOp.PRODUCT):
    for dtype in (torch.int64, torch.float64, torch.complex64):
        refused(lambda: show(str(op), repr(op), op.name, dist.all_reduce(v := x.to(dtype), op), v), 0)
refused(lambda: dist.all_to_all([z], [z]), 0)
refused(lambda: dist.all_to_all_single(z, z, [2], [2]), 0)
refused(lambda: dist.all_to_all_single(z, z, [1, 1], [1, 2]), 20)
refused(lambda: dist.all_to_all(z, [z, z]))
refused(lambda: dist.all_gather([z], z), 0)
refused(lambda: dist.gather(z, [z], dst=rank), 0)
refused(lambda: dist.broadcast(z, 7), 0)
refused(lambda: dist.P2POp(dist.send, z, 0), 0)
refused(lambda: dist.P2POp(dist.isend, z))
refused(lambda: dist.batch_isend_irecv([3]), 0)
refused(lambda: dist.scatter_object_list([], [1, 2], src=0))
refused(lambda: dist.new_group(backend="fast"), 25)
gone = dist.new_group()
dist.destroy_process_group(gone)
refused(lambda: dist.get_rank(gone), 0)

server = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False) if rank == 0 else None
at = [server.port if rank == 0 else None]
dist.broadcast_object_list(at, src=0)
store = dist.TCPStore("127.0.0.1", at[0], is_master=False)
if rank == 0:
    for store_ in (store, dist.HashStore(), dist.PrefixStore("p", store)):
        store_.set("a", "1")
        show(store_.get("a"), store_.add("n", 2), store_.add("n", 3), store_.check(["a", "b"]), store_.num_keys() > 1)
        show(store_.compare_set("c", "x", "y"), store_.compare_set("c", "", "y"), store_.compare_set("c", "y", "z"))
        show(store_.compare_set("c", "y", "w"), store_.delete_key("c"), store_.delete_key("c"))
        store_.append("a", "2")
        refused(lambda: store_.wait(["never"], datetime.timedelta(seconds=0.1)), 0)
        refused(lambda: store_.set("a", 3), 0)
    store.set("end", "yes")
show(store.get("end"), store.get("a"))
refused(lambda: dist.broadcast(z))
refused(lambda: dist.broadcast(z, 0, group_src=0))
refused(lambda: dist.all_reduce(3))
refused(lambda: dist.gather(z, None if rank == 0 else [z], dst=0))
refused(lambda: dist.send(z, rank))
refused(lambda: dist.new_group([0, 5]))
refused(lambda: dist.init_process_group("gloo"))

torch.manual_seed(0)
for options in ({}, {"find_unused_parameters": True}, {"gradient_as_bucket_view": True}, {"bucket_cap_mb": 1e-4}):
    for hook in (None, fp16_compress_hook):
        layers = torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Tanh(), torch.nn.Linear(4, 2)
        model = torch.nn.Sequential(*layers)
        with torch.no_grad():
            for i, p in enumerate(model.parameters()):
                p.copy_(torch.linspace(-1, 1 + i + rank, p.numel()).reshape(p.shape))
        ddp = torch.nn.parallel.DistributedDataParallel(model, **options)
        if hook is not None:
            ddp.register_comm_hook(None, hook)
        data = torch.linspace(0, 1, 24).reshape(2, 4, 3)[rank]
        with ddp.no_sync():
            ddp(data).square().mean().backward()
        ddp(data * 2).square().mean().backward()
        show(sorted(options), [[round(g, 3) for g in p.grad.flatten().tolist()] for p in ddp.parameters()])
        ddp(data)
        show([[round(g, 4) for g in b.flatten().tolist()] for b in ddp.buffers()])
for options in ({}, {"divide_by_initial_world_size": False}, {"throw_on_early_termination": True}):
    layers = torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Tanh(), torch.nn.Linear(4, 2)
    model = torch.nn.Sequential(*layers)
    with torch.no_grad():
        for i, p in enumerate(model.parameters()):
            p.copy_(torch.linspace(-1, 1 + i, p.numel()).reshape(p.shape))
    ddp = torch.nn.parallel.DistributedDataParallel(model)

    def loop():
        with ddp.join(**options):
            for i in range(2 + 2 * rank):
                ddp(torch.linspace(0, 1, 24).reshape(2, 4, 3)[rank] + i).square().mean().backward()
                with torch.no_grad():
                    for p in model.parameters():
                        p -= 0.1 * p.grad

    refused(loop)
    show([[round(g, 2) for g in p.flatten().tolist()] for p in ddp.state_dict().values()])
refused(lambda: torch.nn.parallel.DistributedDataParallel(model, device_ids=[0]), 0)
refused(lambda: torch.nn.parallel.DistributedDataParallel(torch.nn.ReLU()))
refused(lambda: ddp.register_comm_hook(None, hook))
dist.barrier()
dist.destroy_process_group()
refused(lambda: dist.get_rank())
"""

# Threads of PyTorch's call abort() now and then when the interpreter ends, after all has been printed.
WITHOUT_ENDING_THE_INTERPRETER = "os._exit(0)\n"


def lines(path, program, *words):
    script = path / "program.py"
    script.write_text(program)
    command = [sys.executable, "-W", "ignore", "-m", "gradpack", "launch", "-n", "2", *words, str(script)]
    environment = {**os.environ, **HERE, "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.returncode == 0, done.stderr
    return [[line for line in done.stdout.splitlines() if line.startswith(f"[rank {r}]")] for r in range(2)]


def test_both_libraries_print_the_same(tmp_path):
    pytest.importorskip("torch")
    all_of_theirs = lines(tmp_path, PROGRAM + WITHOUT_ENDING_THE_INTERPRETER)
    for theirs, ours in zip(all_of_theirs, lines(tmp_path, PROGRAM, "--as-torch"), strict=True):
        assert len(theirs) >= 30
        assert [re.sub(r"-0\.0\b(?!\d)", "0.0", line) for line in ours] == [
            re.sub(r"-0\.0\b(?!\d)", "0.0", line) for line in theirs
        ]
