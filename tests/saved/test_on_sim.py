"""Every policy on a device: the gradient, the bytes that are left there, and what was copied."""

from __future__ import annotations

import pytest
from tests.saved.sim_steps import COUNT, SIZE, chain, error, leaf, masked, measured

import gradpack as torch
from gradpack import saved
from gradpack.saved.policies.codec import Lossy
from gradpack.testing import sim
from gradpack.testing.sim.backend import SimBackend


@pytest.fixture
def device():
    with sim.devices(capacity="4 MiB") as (only,):
        yield only


@pytest.fixture(autouse=True)
def window(monkeypatch):
    """Of policies that round: two tensors may wait on the device, and as many come back ahead."""
    monkeypatch.setattr(Lossy, "window", 2 * SIZE)


def cpu(**options):
    return saved.cpu(**{"window": 0, "ahead": 2 * SIZE, **options})


def disk():
    return saved.disk(window=2 * SIZE)


EXACT = {
    "cpu": cpu,
    "disk": disk,
    "lossless": lambda: saved.lossless("zlib", 1),
    "cpu >> disk": lambda: cpu() >> disk(),
    "cpu >> lossless": lambda: cpu() >> saved.lossless("zlib", 1),
    "lossless >> disk": lambda: saved.lossless("zlib", 1) >> disk(),
}
LOSSY = {
    "bf16": (saved.bf16, 5e-3),
    "fp16": (saved.fp16, 1e-3),
    "fp8": (saved.fp8, 0.1),
    "quantize(8)": (lambda: saved.quantize(8), 2e-2),
    "quantize(4)": (lambda: saved.quantize(4), 0.3),
    "quantize(8) >> cpu": (lambda: saved.quantize(8) >> cpu(), 2e-2),
    "bf16 >> disk": (lambda: saved.bf16() >> disk(), 5e-3),
    "bf16 >> lossless >> cpu": (lambda: saved.bf16() >> saved.lossless("zlib", 1) >> cpu(), 5e-3),
}
ALL = {name: (make, 0.0) for name, make in EXACT.items()} | LOSSY
# While `sin` runs backward: the tensor that is used, two that come, the gradient and the next, and a cosine.
WORKING = 6 * SIZE


@pytest.mark.parametrize("name", ALL)
def test_gradient_peak_and_copies(device, name):
    make, bound = ALL[name]
    exact, plain = measured(device, None)
    assert plain["peak"] == (COUNT + 1) * SIZE + 1024 and plain["held"] == COUNT * SIZE - SIZE + 512, (
        "x is there anyway"
    )
    policy = make()
    for _ in range(3):
        grad, found = measured(device, policy)
        assert error(grad, exact) <= bound
        assert found["held"] == 512, "the sum is all that is left on the device"
        assert found["peak"] <= WORKING < plain["peak"] // 2
        assert (found["d2h"], found["d2h_bytes"]) == (COUNT, COUNT * SIZE), "each storage once"
        assert (found["h2d"], found["h2d_bytes"]) == (COUNT, COUNT * SIZE)
        assert (found["left"], found["pinned"]) == (0, 0)
    transfers = policy.transfers
    assert (transfers.out, transfers.back, transfers.forwarded) == (3 * COUNT, 3 * COUNT, 0)
    assert transfers.hits + transfers.misses == 3 * COUNT


@pytest.mark.parametrize("name", EXACT)
def test_exact_policies_are_exact(device, name):
    exact, _ = measured(device, None)
    grad, _ = measured(device, EXACT[name]())
    assert torch.equal(grad, exact)


def test_keep_copies_a_small_slice_on_the_device(device):
    def step(x):
        return (x * 2)[: SIZE // 64].sin().sum()

    exact, plain = measured(device, None, step)
    grad, found = measured(device, saved.keep(), step)
    assert torch.equal(grad, exact)
    assert plain["held"] == SIZE + 512 and found["held"] == SIZE // 16 + 512
    assert (found["d2h"], found["h2d"], found["left"]) == (0, 0, 0)


def test_mask_needs_no_more_than_bits(device):
    exact, plain = measured(device, None, masked)
    policy = saved.mask()
    grad, found = measured(device, policy, masked)
    assert torch.equal(grad, exact)
    assert plain["held"] == COUNT * SIZE // 4 + 512 and found["held"] == 512
    assert found["d2h_bytes"] == found["h2d_bytes"] == COUNT * SIZE // 4
    assert found["left"] == found["pinned"] == 0
    with policy:
        y = masked(leaf())
    assert policy.packed_bytes == COUNT * SIZE // 32
    y.backward()


def test_recompute_makes_one_branch_at_a_time(device):
    def step(x):
        return sum((x * k).sin().sin().sin().sin() for k in range(1, 5)).sum()

    exact, plain = measured(device, None, step)
    grad, found = measured(device, saved.recompute(at_least=0), step)
    assert torch.equal(grad, exact)
    assert plain["held"] == 16 * SIZE + 512
    assert found["peak"] <= 8 * SIZE < plain["peak"] // 2
    assert (found["d2h"], found["h2d"], found["left"]) == (0, 0, 0)


@pytest.mark.parametrize("means", [{}, {"lossy": True, "seed": 0}, {"disk": "4 MiB"}])
def test_budget(device, means):
    exact, plain = measured(device, None)
    policy = saved.budget(5 * SIZE, **means)
    for _ in range(2):
        grad, found = measured(device, policy)
        assert error(grad, exact) <= (2e-2 if "lossy" in means else 0)
        assert found["held"] <= 5 * SIZE + 512 < plain["held"]
        assert found["peak"] <= 9 * SIZE < plain["peak"]
        assert (found["left"], found["pinned"]) == (0, 0)


def test_where_the_plain_step_runs_out_of_memory():
    with sim.devices(capacity=(COUNT + 1) * SIZE) as (device,):
        with pytest.raises(sim.OutOfMemoryError, match="sim:0 out of memory"):
            measured(device, None)
        device.synchronize()
        assert device.arena.used == 0
        grad, found = measured(device, cpu())
        assert found["peak"] <= WORKING
        assert found["left"] == 0
    with sim.devices(capacity="4 MiB") as (device,):
        assert torch.equal(grad, measured(device, None)[0])


def test_views_and_other_uses_of_a_storage_are_copied_once(device):
    def step(x):
        h = x * 2
        rows = h.view(64, -1)
        return (h.sin() * h.cos()).sum() + (rows.t().exp() * rows[:32].sum()).sum() + (rows.exp() * rows).sum()

    exact, _ = measured(device, None, step)
    grad, found = measured(device, cpu(ahead=32 * SIZE), step)
    assert torch.allclose(grad, exact, rtol=1e-6, atol=0)
    sizes = found["d2h_bytes"] // SIZE
    assert found["d2h"] == sizes, "h with all its views, and the results of sin, cos, exp and exp: whole storages"
    assert (found["h2d"], found["h2d_bytes"]) == (found["d2h"], found["d2h_bytes"])
    assert (found["left"], found["pinned"]) == (0, 0)


def test_expanded_and_strided_tensors_come_back_as_they_were(device):
    seen = []
    policy = cpu(min_bytes=0)
    x = torch.randn(8, 6, 4, device="sim:0")
    views = [x, x.transpose(0, 2), x[:, 2:], x[:, :, 1], x[:1].expand(8, 6, 4), x.permute(2, 0, 1)[1:], x[3, 2, 1]]
    for view in [*views, x.to(torch.bfloat16), x > 0, x.to(torch.complex64), torch.arange(5, device="sim:0")]:
        packed = policy.pack(view)
        policy.wait()
        again = policy.unpack(packed)
        seen.append(packed is view)
        assert again is not view and torch.equal(again, view)
        assert again.stride() == view.stride() and again.dtype is view.dtype and again.device == view.device
    assert not any(seen)
    empty = torch.zeros(0, 3, device="sim:0")
    assert policy.unpack(policy.pack(empty)).shape == (0, 3)


def test_parameters_and_small_tensors_stay(device):
    net = torch.nn.Linear(64, 64).to("sim:0")
    with cpu(min_bytes=1 << 20) as policy:
        y = net(torch.ones(4, 64, device="sim:0", requires_grad=True)).sin().sum()
    y.backward()
    with cpu(min_bytes=0) as other:
        y = net(torch.ones(4, 64, device="sim:0", requires_grad=True)).sum()
    assert policy.transfers.out == 0
    assert other.transfers.bytes_out == 4 * 64 * 4, "the input, not the weights"
    y.backward()


def test_a_model_in_several_steps(device):
    def train(policy):
        torch.manual_seed(0)
        net = torch.nn.Sequential(
            torch.nn.Conv2d(2, 4, 3, padding=1),
            torch.nn.BatchNorm2d(4),
            torch.nn.ReLU(),
            torch.nn.MaxPool2d(2),
            torch.nn.Flatten(),
            torch.nn.Linear(64, 32),
            torch.nn.Dropout(0.5),
            torch.nn.Linear(32, 4),
        ).to("sim:0")
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
        x, y = torch.randn(16, 2, 8, 8).to("sim:0"), (torch.arange(16) % 4).to("sim:0")
        losses = []
        for _ in range(4):
            optimizer.zero_grad()
            with policy:
                loss = torch.nn.functional.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    exact = train(saved.Policy())
    assert train(cpu(min_bytes=0)) == exact
    assert train(cpu(min_bytes=0, window=4096, ahead=4096)) == exact
    assert train(cpu(min_bytes=0) >> saved.disk(min_bytes=0)) == exact
    assert train(saved.quantize(8) >> cpu()) == pytest.approx(exact, rel=0.02)


@pytest.mark.parametrize("name", ["cpu", "bf16", "cpu >> disk"])
def test_a_device_without_streams(device, monkeypatch, name):
    make, bound = ALL[name]
    exact, _ = measured(device, None)
    monkeypatch.setattr(SimBackend, "streams", lambda self, where: None)
    grad, found = measured(device, make())
    assert error(grad, exact) <= bound
    assert (found["held"], found["d2h"], found["left"]) == (512, COUNT, 0)


def test_a_recording_shows_what_is_where(device):
    x = leaf()
    with saved.record() as r, cpu() as policy:
        y = chain(x)
        assert r.tiers == {"cpu": COUNT * SIZE} and r.now == 0
        y.backward()
    assert {row.tier for row in r.rows} == {"cpu"}
    assert r.peak == 0 and r.tiers == {"cpu": 0}
    assert (r.transfers.bytes_out, r.transfers.bytes_back) == (COUNT * SIZE, COUNT * SIZE)
    assert r.transfers.hits == policy.transfers.hits == COUNT - 1
    measured(device, policy)
    assert r.transfers.out == COUNT, "what comes after the block does not count"
    with saved.record() as plain:
        y = chain(x)
    assert plain.tiers == {"memory": COUNT * SIZE} and plain.transfers.out == 0
    with saved.meter() as m, cpu():
        y = chain(x)
    assert m.now == (COUNT + 1) * SIZE, "on the host, and x, which is alive anyway"
    y.backward()
