"""The backend of CuPy where only a stand-in can show it: several devices, no memory, copies as late as they may be."""

from __future__ import annotations

import numpy as np
import pytest
from tests.fake_cupy import device as fake
from tests.fake_cupy import missing_names, on_cuda

import gradpack as torch
from gradpack.backends import cupy_loading


@pytest.fixture
def cupy():
    with on_cuda() as module:
        yield module


def test_the_stand_in_has_no_names_of_its_own():
    assert not missing_names()


def test_what_cupy_refuses_is_computed_on_the_host_and_said_once(cupy):
    x = torch.eye(3, device="cuda") + 1
    with pytest.warns(UserWarning, match=r"lu_factor is computed on the host, .* because CuPy refuses it: TypeError"):
        found = torch.linalg.lu_factor(x)
    assert found[0].device.type == "cuda"
    torch.linalg.lu_factor(x)
    assert cupy_loading.loaded().on_host == {"lu_factor": 2}
    np.testing.assert_allclose(found[0].cpu().numpy(), torch.linalg.lu_factor(x.cpu())[0].numpy())


def test_two_devices(cupy):
    x, y = torch.ones(3, device="cuda:1"), torch.ones(3, device="cuda:0")
    assert (x * 2).device.index == 1 and torch.cuda.current_device() == 0
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        x + y
    assert (x.to("cuda:0") + y).tolist() == [2, 2, 2]
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        torch.ones(1, device="cuda:2")
    with torch.cuda.device(1):
        assert torch.ones(2, device="cuda").device.index == 1 and torch.cuda.current_device() == 1
    assert torch.zeros_like(x).device.index == 1 and y.copy_(x * 5).tolist() == [5] * 3
    x.requires_grad_()
    (x.cuda(0) * y).sum().backward()
    assert x.grad.device.index == 1


def test_out_of_memory():
    with on_cuda(capacity=1 << 20):
        with pytest.raises(torch.OutOfMemoryError, match="CUDA out of memory"):
            torch.zeros(1 << 20, device="cuda")
        x = torch.zeros(1 << 17, device="cuda")
        with pytest.raises(torch.cuda.OutOfMemoryError):
            x.double()


def test_copies_beside_the_host_are_there_when_they_are_waited_for(cupy):
    x = torch.arange(4.0).pin_memory()
    assert x.is_pinned() and not torch.ones(2).is_pinned() and x.pin_memory() is x
    there = x.to("cuda", non_blocking=True)
    assert (there * 2).tolist() == [0, 2, 4, 6], "a kernel of the same stream comes after the copy"
    back = there.to("cpu", non_blocking=True)
    back._data[:] = -1
    assert back.tolist() == [-1] * 4, "nobody has waited yet"
    torch.cuda.synchronize()
    assert back.tolist() == [0, 1, 2, 3] and back.is_pinned()
    held = cupy_loading.loaded()._copying
    torch.ones(4).pin_memory().to("cuda", non_blocking=True)  # nobody else keeps that memory
    assert len(held) == 1 and held[0][1].tolist() == [1] * 4
    torch.cuda.synchronize()
    torch.ones(4).pin_memory().to("cuda", non_blocking=True)
    assert len(held) == 1


def test_the_streams_that_policies_copy_through(cupy):
    streams = cupy_loading.loaded().streams(torch.device("cuda:0"))
    assert cupy_loading.loaded().streams(torch.device("cuda")) is streams and streams.staging is None
    x = torch.arange(12.0, device="cuda").reshape(3, 4).t()
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
    streams.hold(whole, main, streams.record(back))
    again = streams.shown(whole, 4, (3, 3), (4, 16), np.dtype(np.float32))
    assert (again + 0).tolist() == [[1, 5, 9], [2, 6, 10], [3, 7, 11]]
    streams.synchronize(copied)
    assert streams.passed(copied) and host.view(np.float32).tolist() == list(range(12))
    with pytest.raises(ValueError, match="an array with gaps is not one piece of memory"):
        streams.to_host(x._data[:2], np.empty(24, np.uint8), main)


def test_what_is_made_on_the_device_is_not_copied_there(cupy):
    before = fake.State.copies["h2d"]
    torch.zeros(3, device="cuda").normal_()
    for make in (torch.ones, torch.empty, torch.rand, torch.randn):
        make(3, device="cuda")
    torch.randperm(3, device="cuda")
    torch.nn.functional.dropout(torch.full((9,), 2.0, device="cuda"), 0.5)
    assert fake.State.copies["h2d"] == before


def test_memory_that_another_stream_still_reads_is_held(cupy):
    streams = cupy_loading.loaded().streams(torch.device("cuda:0"))
    for holds in (True, False):
        x = torch.ones(128, device="cuda")
        main, side, host = streams.current(), streams.new(), streams.pinned(512)
        streams.wait(side, streams.record(main))
        streams.to_host(x._data, host, side)
        event = streams.record(side)
        if holds:
            streams.hold(x._data, main, event)
        del x
        torch.ones(128, device="cuda")  # the home of the memory goes on
        streams.synchronize(event)
        assert (host.view(np.float32).tolist() == [1.0] * 128) is holds
