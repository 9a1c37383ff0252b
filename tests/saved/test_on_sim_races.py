"""The simulated device finds what streams do to memory without waiting, and finds nothing where policies wait."""

from __future__ import annotations

import random

import pytest
from tests.saved.sim_steps import SIZE, chain, leaf, pinned_in_use

import gradpack as torch
from gradpack import saved
from gradpack.saved.policies.on_device import PackedDeviceStorage
from gradpack.saved.policies.transfers import CopyBack, CopyOut, Transfers, staging_of
from gradpack.testing import sim
from gradpack.testing.sim.backend import SimStreams


@pytest.fixture
def device():
    with sim.devices(capacity="4 MiB") as (only,):
        yield only


def in_step(device):
    """Forward, and backward with what comes back."""
    x = leaf()
    with saved.cpu(window=SIZE, ahead=2 * SIZE):
        y = chain(x, 6)
    y.backward()
    device.synchronize()


def writing(device):
    """Somebody writes to what is being copied."""
    x = leaf()
    with saved.cpu():
        h = x * 1
        y = h.sin().sum()
        h.add_(1)
    y.backward()
    device.synchronize()


def letting_go(device):
    """What has not left the device yet is let go of."""
    x = leaf()
    with saved.cpu():
        y = chain(x, 3)
    y.backward()
    del y
    torch.zeros(1, device="sim:0")
    device.synchronize()


def fetched_in_vain(device):
    """What came back is asked for by nobody, and its place on the host is used again."""
    a, b = leaf(), leaf()
    policy = saved.cpu(window=0, ahead=4 * SIZE)
    for _ in range(3):
        with policy:
            y = chain(a, 2) + chain(b, 2)
        torch.autograd.grad(y, b)
        del y
    device.synchronize()


def role(streams, stream):
    staging = streams.staging
    if staging is None or stream not in (staging.out, staging.back):
        return "main"
    return "out" if stream is staging.out else "back"


# Who no longer waits for whom, and where that shows.
FORGOTTEN = {
    "the copy out, for who wrote": (("out", "main"), in_step),
    "the copy back, for who had the memory before": (("back", "main"), in_step),
    "who uses what came back": (("main", "back"), in_step),
    "who writes to what is being copied": (("main", "out"), writing),
    "the copy out, for the copy back from the same place": (("out", "back"), fetched_in_vain),
}


@pytest.mark.parametrize("what", FORGOTTEN)
def test_a_wait_that_is_left_out_is_found(device, monkeypatch, what):
    forgotten, run = FORGOTTEN[what]
    run(device)
    assert pinned_in_use(device) == 0
    wait, left_out = SimStreams.wait, []

    def sometimes(self, stream, event):
        if (role(self, stream), role(self, event.stream)) == forgotten:
            left_out.append(event)
        else:
            wait(self, stream, event)

    monkeypatch.setattr(SimStreams, "wait", sometimes)
    with pytest.raises(sim.StreamRaceError, match="has not waited for it"):
        run(device)
    assert left_out


def test_memory_that_is_let_go_of_too_early_is_found(device, monkeypatch):
    letting_go(device)
    monkeypatch.setattr(SimStreams, "hold", lambda self, array, home, event: None)
    with pytest.raises(sim.StreamRaceError, match="memory was freed while stream"):
        letting_go(device)


def test_a_source_that_is_let_go_of_before_its_copy_is_found(device, monkeypatch):
    in_step(device)
    monkeypatch.setattr(CopyOut, "look", lambda self: setattr(self, "source", None) or True)
    with pytest.raises(sim.StreamRaceError, match="memory was freed while stream"):
        in_step(device)


def test_a_write_that_nobody_is_told_of_is_found(device, monkeypatch):
    monkeypatch.setattr(PackedDeviceStorage, "before_write", lambda self, _: None)
    with pytest.raises(sim.StreamRaceError, match="writes memory that was read"):
        writing(device)


def test_copying_back_before_all_has_come_is_found(device):
    x = torch.ones(1000, device="sim:0")
    streams = x._spec.backend.streams(x.device)
    staging, stats = staging_of(streams), Transfers()
    home = streams.new()
    departure = CopyOut(staging, x._data, 1 << 20, stats)
    with pytest.raises(sim.StreamRaceError, match="reads memory that was written"):
        CopyBack(staging, departure.host, home, None, 1 << 20, stats)
    arrival = CopyBack(staging, departure.host, home, departure.event, 1 << 20, stats)
    with home:
        assert streams.shown(arrival.taken(), 0, (1000,), (4,), "float32").sum().get() == 1000


@pytest.mark.parametrize("seed", range(8))
def test_random_programs_with_random_bounds(device, seed):
    """Products, sums, views and writes in any order: as on the CPU, without a race, and nothing stays."""
    draw = random.Random(seed)
    moves = [draw.choice(["sin", "mul", "view", "part", "write", "again", "add"]) for _ in range(25)]
    picks = [draw.random() for _ in moves]

    def run(x):
        made = [x * 1]
        for move, pick in zip(moves, picks, strict=True):
            one, last = made[int(pick * len(made))], made[-1]
            if move == "write":
                if all(last is not other for other in made[:-1]) and last._view is None:
                    with torch.no_grad():
                        last.mul_(0.5)
                continue
            made.append(
                {
                    "sin": lambda one=one, last=last: last.sin(),
                    "mul": lambda one=one, last=last: last * one.reshape(-1),
                    "view": lambda one=one, last=last: last.view(32, -1).t().sin().reshape(-1),
                    "part": lambda one=one, last=last: last * last[:16].cos().sum(),
                    "again": lambda one=one, last=last: last.exp() / (1 + last.exp()),
                    "add": lambda one=one, last=last: last + one,
                }[move]()
            )
        return sum(m.sum() for m in made[-3:])

    torch.manual_seed(seed)
    start = torch.randn(2048) * 0.1
    x = start.clone().requires_grad_()
    with saved.Policy(), torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        y = run(x)
    exact = torch.autograd.grad(y, x)[0]
    x = start.to("sim:0").requires_grad_()
    for _ in range(3):
        used = device.arena.used
        size = [draw.choice([0, 8192, 20000, 1 << 20]) for _ in range(3)]
        with saved.cpu(min_bytes=0, window=size[0], ahead=size[1], pinned=size[2]):
            y = run(x)
        grad = torch.autograd.grad(y, x)[0]
        assert torch.equal(grad.cpu(), exact)
        del grad, y
        device.synchronize()
        assert device.arena.used == used and pinned_in_use(device) == 0
