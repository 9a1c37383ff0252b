"""The simulated device: memory, transfers, streams, and what it finds."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import gradpack as torch
import gradpack.nn.functional as F
from gradpack.testing import sim


@pytest.fixture
def device():
    with sim.devices(capacity="1 MiB") as (only,):
        yield only


def test_a_training_step_is_that_of_the_cpu(device):
    def train(where, dtype, optimizer_class):
        torch.manual_seed(0)
        model = torch.nn.Sequential(
            torch.nn.Conv2d(1, 3, 3),
            torch.nn.BatchNorm2d(3),
            torch.nn.ReLU(),
            torch.nn.Flatten(),
            torch.nn.Linear(48, 4),
        ).to(where, dtype)
        optimizer = optimizer_class(model.parameters(), lr=0.01)
        x, y = torch.randn(5, 1, 6, 6).to(where, dtype), torch.tensor([0, 1, 2, 3, 0], device=where)
        losses = []
        for _ in range(3):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        assert {p.device.type for p in model.parameters()} == {torch.device(where).type}
        return losses

    def both(*how):
        return train("sim:0", *how), train("cpu", *how)

    # BLAS has products of its own for some processors and alignments, few numbers are summed in float64 on the CPU,
    # and AdamW goes through kernels for NumPy: last digits differ.
    for optimizer_class in (torch.optim.SGD, torch.optim.AdamW):
        there, here = both(torch.float64, optimizer_class)
        assert there == pytest.approx(here, rel=1e-14)
    there, here = both(torch.float32, torch.optim.AdamW)
    assert there == pytest.approx(here, rel=2e-7)


def test_memory_is_counted_and_comes_back(device):
    before = device.arena.used
    x = torch.ones(1000, device="sim:0")
    assert device.arena.used - before == 4096  # 4000 bytes in whole grains
    y = x[10:20]
    del x
    assert device.arena.used - before == 4096, "the view keeps the memory"
    del y
    assert device.arena.used == before
    gc.disable()
    try:
        w = torch.ones(1000, device="sim:0", requires_grad=True)
        (w * w).sin().sum().backward()
        del w
        assert device.arena.used == before, "by counting references alone"
    finally:
        gc.enable()
    assert device.arena.peak > before


def test_out_of_memory(device):
    kept = torch.zeros(100_000, device="sim:0")
    with pytest.raises(RuntimeError, match=r"sim:0 out of memory. Tried to allocate 800256 bytes: 400384 of 1048576"):
        kept.double()
    assert kept.sum().item() == 0


def test_what_was_freed_is_not_a_number(device):
    x = torch.ones(4, device="sim:0")
    assert x.sum().item() == 4
    array = x._data._array  # what a stale pointer would see
    del x
    assert np.isnan(array).all()


def test_the_host_does_not_see_the_memory(device):
    x = torch.ones(3, device="sim:0")
    with pytest.raises(sim.ImplicitTransferError, match=r"an array of sim:0 is not in host memory"):
        np.asarray(x._data)
    with pytest.raises(TypeError, match="can't convert sim:0 device type tensor to numpy"):
        x.numpy()
    assert device.counts["d2h"] == 0
    assert x.cpu().tolist() == [1, 1, 1] and device.counts["d2h"] == 1 and device.counts["d2h_bytes"] == 12
    device.forbid_sync = True
    with pytest.raises(RuntimeError, match="the host waits for the device, which is forbidden here"):
        x.sum().item()


def test_two_devices():
    with sim.devices(2, capacity=65536):
        x = torch.arange(3, device="sim:1")
        assert x.device == torch.device("sim:1") and x.to("sim:1") is x
        y = x.to("sim:0")
        assert y.device == torch.device("sim", 0) and y.tolist() == [0, 1, 2]
        with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
            x + y
        with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
            x + torch.ones(3)
        with pytest.raises(RuntimeError, match="there is no device 'sim:2': there are 2 simulated devices"):
            torch.zeros(1, device="sim:2")
        with torch.device("sim:1"):
            assert torch.zeros(2).device.index == 1
            assert torch.zeros(2, device="cpu").device.type == "cpu"
    with pytest.raises(RuntimeError, match="Expected one of cpu"):
        torch.zeros(1, device="sim:0")


def test_a_copy_runs_when_it_is_waited_for(device):
    x = torch.arange(4.0, device="sim:0")._data
    host = sim.pinned(4)
    host[:] = -1
    side = sim.Stream(device)
    side.wait_stream(device.default)
    x.get(stream=side, out=host, blocking=False)
    assert host.tolist() == [-1] * 4, "nobody has waited yet"
    done = side.record()
    assert not done.query()
    done.synchronize()
    assert done.query() and host.tolist() == [0, 1, 2, 3]


def test_reading_what_another_stream_wrote(device):
    side = sim.Stream(device)
    with side:
        x = torch.ones(4, device="sim:0")
    with pytest.raises(sim.StreamRaceError, match=r"reads memory that was written on stream .*use wait_event"):
        x + 1
    device.default.wait_stream(side)
    assert (x + 1).tolist() == [2, 2, 2, 2]


def test_writing_what_another_stream_reads(device):
    x, side = torch.ones(4, device="sim:0"), sim.Stream(device)
    side.wait_stream(device.default)
    with side:
        y = x * 2
    with pytest.raises(sim.StreamRaceError, match="writes memory that was read"):
        x.add_(1)
    device.default.wait_event(side.record())
    x.add_(1)
    assert x.tolist() == [2] * 4 and y.tolist() == [2] * 4


@pytest.mark.parametrize("how", ["nothing", "record_stream", "wait"])
def test_freeing_what_another_stream_still_copies(device, how):
    x, side, host = torch.ones(4, device="sim:0"), sim.Stream(device), sim.pinned(4)
    side.wait_stream(device.default)
    x._data.get(stream=side, out=host, blocking=False)
    if how == "record_stream":
        x._data.record_stream(side)
    elif how == "wait":
        device.default.wait_stream(side)
    used = device.arena.used
    del x
    if how == "nothing":
        with pytest.raises(sim.StreamRaceError, match=r"memory was freed while stream .* may still use it"):
            torch.zeros(1, device="sim:0")
        return
    assert device.arena.used == used, "not before the copy has run"
    side.synchronize()
    assert device.arena.used < used and host.tolist() == [1] * 4


def test_what_the_host_has_seen_to_be_done_is_done(device):
    x, side, host = torch.ones(4, device="sim:0"), sim.Stream(device), sim.pinned(4)
    side.wait_stream(device.default)
    x._data.get(stream=side, out=host, blocking=False)
    copied = side.record()
    with pytest.raises(sim.OutOfMemoryError):  # before it says so, the device does what it can
        torch.empty(1 << 20, device="sim:0")
    assert copied.query() and host.tolist() == [1] * 4
    del x
    torch.zeros(1, device="sim:0")


def test_saved_tensors_moved_to_the_host(device):
    x = torch.randn(1000, device="sim:0", requires_grad=True)
    expected = torch.autograd.grad(x.sin().exp().sum(), x)[0].tolist()
    device.reset_counts()
    with torch.autograd.graph.save_on_cpu():
        y = x.sin().exp().sum()
    assert device.counts["d2h"] == 2 and device.counts["d2h_bytes"] == 8000
    assert torch.autograd.grad(y, x)[0].tolist() == expected
