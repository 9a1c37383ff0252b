"""The streams of the simulated device, through the methods by which policies copy beside the program."""

from __future__ import annotations

import numpy as np
import pytest

import gradpack as torch
from gradpack.backends import NUMPY, backend_on
from gradpack.testing import sim


@pytest.fixture
def device():
    with sim.devices(capacity="1 MiB") as (only,):
        yield only


@pytest.fixture
def streams(device):
    return backend_on("sim").streams(torch.device("sim:0"))


def test_there_is_one_object_for_a_device_and_none_for_the_cpu(streams):
    assert backend_on("sim").streams(torch.device("sim")) is streams
    assert streams.staging is None
    assert NUMPY.streams(torch.device("cpu")) is None


def test_there_and_back(device, streams):
    x = torch.arange(12.0, device="sim:0").reshape(3, 4).t()  # in whatever order of dimensions
    device.reset_counts()
    out, back, main = streams.new(), streams.new(), streams.current()
    host = streams.pinned(x.nbytes)
    host[:] = 0
    streams.wait(out, streams.record(main))
    streams.to_host(x._data, host, out)
    copied = streams.record(out)
    assert not streams.passed(copied) and not host.any()
    whole = streams.empty(x.nbytes, main)
    streams.wait(back, streams.record(main))
    streams.wait(back, copied)
    streams.to_device(host, whole, back)
    arrived = streams.record(back)
    assert device.counts["syncs"] == 0
    streams.wait(main, arrived)
    again = streams.shown(whole, 4, (3, 3), (4, 16), np.float32)
    sums = again + 0
    streams.synchronize(copied)
    assert host.view(np.float32).tolist() == list(range(12))
    assert (device.counts["d2h"], device.counts["h2d"], device.counts["syncs"]) == (1, 1, 1)
    assert sums.tolist() == [[1, 5, 9], [2, 6, 10], [3, 7, 11]]


def test_a_shown_part_keeps_the_memory(device, streams):
    used = device.arena.used
    part = streams.shown(streams.empty(4000, streams.current()), 0, (2,), (4,), np.float32)
    assert device.arena.used - used == 4096
    del part
    assert device.arena.used == used


def test_ordinary_memory_is_copied_at_once(device, streams):
    host = np.ones(8, np.uint8)
    array = streams.empty(8, streams.current())
    streams.to_device(host, array, streams.current())
    host[:] = 2
    streams.to_host(array, host, streams.current())
    assert host.tolist() == [1] * 8


def test_arrays_with_gaps_are_refused(streams):
    x = torch.ones(4, 4, device="sim:0")
    for gaps in (x[:, :2], x[::2], x[:1].expand(3, 4)):
        with pytest.raises(ValueError, match="an array with gaps is not one piece of memory"):
            streams.to_host(gaps._data, np.empty(gaps._data.nbytes, np.uint8), streams.current())
    host = np.empty(32, np.uint8)
    streams.to_host(x[2:, :]._data, host, streams.current())
    assert host.view(np.float32).tolist() == [1] * 8


def test_memory_is_held_until_another_stream_is_done(device, streams):
    used, side, host = device.arena.used, streams.new(), streams.pinned(16)
    x = torch.ones(4, device="sim:0")
    streams.wait(side, streams.record(streams.current()))
    streams.to_host(x._data, host, side)
    event = streams.record(side)
    streams.hold(x._data, streams.current(), event)
    del x
    assert device.arena.used > used and not streams.passed(event)
    streams.synchronize(event)
    assert device.arena.used == used
    assert host.view(np.float32).tolist() == [1] * 4


def test_what_is_held_comes_back_before_there_is_no_memory(device, streams):
    side, host = streams.new(), streams.pinned(800_000)
    x = torch.ones(200_000, device="sim:0")
    streams.wait(side, streams.record(streams.current()))
    streams.to_host(x._data, host, side)
    streams.hold(x._data, streams.current(), streams.record(side))
    del x
    assert torch.zeros(200_000, device="sim:0").sum().item() == 0
    assert host.view(np.float32).all()


def test_pinned_memory_that_a_copy_still_reads_is_not_to_be_written_to(streams):
    first, second, host = streams.new(), streams.new(), streams.pinned(8)
    array = streams.empty(8, first)
    streams.to_device(host, array, first)
    with pytest.raises(sim.StreamRaceError, match="writes memory that was read"):
        streams.to_host(streams.empty(8, second), host, second)
