"""A budget where tensors lie on a device: its own memory, host memory and disk have limits of their own."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest

import gradpack as torch
from gradpack import saved
from gradpack.testing import sim

ONE = 64 * 64 * 4  # bytes of a tensor


@pytest.fixture
def device():
    with sim.devices(capacity="8 MiB") as (first,):
        yield first


def step(policy, count=1):
    x = torch.from_numpy(np.linspace(-1, 1, 4096, dtype=np.float32).reshape(64, 64)).to("sim:0").requires_grad_()
    for _ in range(count):
        x.grad = None
        with policy:
            h = x @ x
            y = (h @ x + h.exp() @ x + h.sin() @ h.exp() @ h).sum()
        y.backward()
    return x.grad.cpu().numpy()


@pytest.mark.parametrize("kept", [1, 2, 3])
@pytest.mark.parametrize(
    ("ram", "disk"), [(None, 0), (ONE + 300, 0), (0, 0), (0, 1 << 20), (ONE + 300, 2 * ONE), ("1 MiB", "1 MiB")]
)
def test_each_place_has_its_limit(device, kept, ram, disk):
    exact = step(nullcontext())
    policy = saved.budget(kept * ONE + 100, ram=ram, disk=disk, seed=0)
    np.testing.assert_array_equal(step(policy, 3), exact)
    assert policy.peak <= policy.limit
    assert policy.ram_peak <= (float("inf") if policy.ram is None else policy.ram)
    assert policy.disk_peak <= policy.disk
    assert policy.held == policy.in_ram == policy.on_disk == 0
    plan = policy.plan
    assert plan.fits
    assert plan.peak <= policy.limit
    assert {"keep", "cpu"} < {c.name for c in plan._items[0].choices}


def test_what_leaves_the_device_leaves_it(device):
    policy = saved.budget(ONE + 100, seed=0)
    x = torch.ones(64, 64, device="sim:0", requires_grad=True)
    before = device.arena.used
    with policy:
        y = x.exp().sin().exp().cos().exp().sum()
    assert policy.held <= ONE
    assert policy.in_ram >= ONE
    assert device.arena.used - before <= ONE + 2048  # blocks are rounded up
    y.backward()
    assert policy.held == policy.in_ram == 0


def test_no_host_memory_is_refused_with_what_would_help(device):
    x = torch.ones(64, 64, device="sim:0")
    w = torch.ones(64, 64, device="sim:0", requires_grad=True)
    message = (
        r"cannot hold .*16.0 KiB, within 9.8 KiB: .* 0 B of 0 B in host memory are taken.*larger budget or.*ram=.*disk="
    )
    with pytest.raises(RuntimeError, match=message), saved.budget(10_000, ram=0):
        x * w
    with saved.budget(10_000) as policy:
        y = (x * w).sum()
    assert policy.in_ram == ONE
    y.backward()


def test_tensors_of_the_cpu_count_in_both():
    x = torch.from_numpy(np.ones((64, 64), np.float32)).requires_grad_()
    for limit, ram in ((8 * ONE, 2 * ONE), (2 * ONE, 8 * ONE)):
        policy = saved.budget(limit, ram=ram, disk="1 MiB")
        for _ in range(2):
            with policy:
                y = x.exp().sin().exp().cos().exp().sum()
            y.backward()
        assert policy.peak == policy.ram_peak <= 2 * ONE
        assert policy.plan.host_peak <= 2 * ONE
    given = torch.from_numpy(np.random.default_rng(0).random((64, 64), np.float32))
    with pytest.raises(RuntimeError, match=r"cannot hold .* within 9.8 KiB: .*larger ram="):
        with saved.budget(1 << 40, ram=10_000):
            x * given


@pytest.mark.parametrize("wrong", ["much", -1])
def test_a_number_of_bytes_is_asked_for(wrong):
    with pytest.raises(ValueError, match="ram is a number of bytes"):
        saved.budget("1 MiB", ram=wrong)
