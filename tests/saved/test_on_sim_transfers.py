"""Copies beside the program: their order, their bounds, what goes wrong, and that nothing stays behind."""

from __future__ import annotations

import threading

import pytest
from tests.saved.sim_steps import COUNT, SIZE, chain, leaf, measured, pinned_in_use

import gradpack as torch
from gradpack import saved
from gradpack.saved.policies.background import drain_all
from gradpack.testing import sim
from gradpack.testing.sim.backend import SimStreams


@pytest.fixture
def device():
    with sim.devices(capacity="4 MiB") as (only,):
        yield only


@pytest.fixture
def clean(device):
    """Nothing is left on the device or in pinned memory after the test."""
    used = device.arena.used
    yield device
    drain_all()  # background threads may be about to give the device another copy
    device.synchronize()
    assert (pinned_in_use(device), device.arena.used) == (0, used)


def expected(x, step=chain):
    return torch.autograd.grad(step(x), x)[0]


# --- how far copies are behind, and ahead ---


@pytest.mark.parametrize("tensors", [0, 1, 3])
def test_what_waits_on_the_device_stays_within_the_window(device, tensors):
    policy = saved.cpu(window=tensors * SIZE, ahead=0)
    _, found = measured(device, policy, wait=False)
    assert policy._flight.peak == tensors * SIZE
    inputs = 1 if tensors else 0  # x is there anyway, and the first to go
    assert found["held"] == tensors * SIZE + 512
    assert inputs <= tensors
    assert policy.transfers.forwarded == tensors
    assert (policy.transfers.out, policy.transfers.back) == (COUNT, COUNT - tensors)


@pytest.mark.parametrize("tensors", [1, 2, 5])
def test_what_comes_back_stays_within_its_bound(device, tensors):
    peaks = []
    for ahead in (0, tensors):
        policy = saved.cpu(window=0, ahead=ahead * SIZE)
        _, found = measured(device, policy)
        peaks.append(found["peak"])
        assert (policy.transfers.hits, policy.transfers.misses) == (COUNT - 1 if ahead else 0, 1 if ahead else COUNT)
        assert found["h2d"] == COUNT
    assert peaks[1] - peaks[0] <= tensors * SIZE


def test_the_host_waits_for_nothing_where_there_is_room(clean):
    x = leaf()
    exact = expected(x)
    policy = saved.cpu(ahead=2 * SIZE)
    clean.forbid_sync = True
    with policy:
        y = chain(x)
    clean.forbid_sync = False
    policy.wait()
    clean.forbid_sync = True
    grad = torch.autograd.grad(y, x)[0]
    clean.forbid_sync = False
    assert torch.equal(grad, exact)
    assert policy.transfers.hits == COUNT - 1


def test_what_has_not_left_is_used_as_it_is(clean):
    x = leaf()
    exact = expected(x)
    policy = saved.cpu()
    with policy:
        y = chain(x)
    clean.forbid_sync = True
    grad = torch.autograd.grad(y, x)[0]
    clean.forbid_sync = False
    assert torch.equal(grad, exact)
    assert (policy.transfers.forwarded, policy.transfers.back) == (COUNT, 0)


def skipping(x):
    """Unpacks in another order than the reverse of packing: the first half of each pair last."""
    early = [x * 1.5]
    for _ in range(6):
        early.append(early[-1].sin())
    late = [h.exp() * h for h in early]
    return sum(h.sum() for h in late)


def test_the_order_of_the_last_backward_is_learned(clean):
    x = leaf()
    exact = expected(x, skipping)
    policy = saved.cpu(window=0, ahead=3 * SIZE)
    misses = []
    for _ in range(3):
        before = policy.transfers.misses
        with policy:
            y = skipping(x)
        assert torch.equal(torch.autograd.grad(y, x)[0], exact)
        del y
        misses.append(policy.transfers.misses - before)
    assert misses[1:] == [1, 1] and misses[0] > 1


def test_another_graph_of_the_same_sizes_does_not_take_over_the_order(clean):
    x = leaf()
    policy = saved.cpu(window=0, ahead=3 * SIZE)
    for step in (skipping, lambda x: chain(x, 20), skipping, lambda x: chain(x, 20)):
        before, exact = policy.transfers.misses, expected(x, step)
        with policy:
            y = step(x)
        assert torch.equal(torch.autograd.grad(y, x)[0], exact)
        del y
    assert policy.transfers.misses - before == 1


def test_no_memory_to_fetch_ahead_is_a_miss(clean, monkeypatch):
    empty, calls = SimStreams.empty, []

    def seldom(self, nbytes, stream):
        calls.append(nbytes)
        if len(calls) % 3 == 2:
            raise sim.OutOfMemoryError("sim:0 out of memory")
        return empty(self, nbytes, stream)

    x = leaf()
    exact = expected(x)
    policy = saved.cpu(window=0, ahead=SIZE)
    with policy:
        y = chain(x)
    monkeypatch.setattr(SimStreams, "empty", seldom)
    assert torch.equal(torch.autograd.grad(y, x)[0], exact)
    assert policy.transfers.misses > 1 and policy.transfers.hits + policy.transfers.misses == COUNT


# --- pinned memory ---


def test_pinned_memory_is_of_the_sizes_asked_for_and_used_again(device):
    policy = saved.cpu(window=2 * SIZE, ahead=2 * SIZE)
    made = []
    for _ in range(4):
        measured(device, policy)
        pool = device.copies.staging.pool
        made.append((pool.made, pool.total))
    assert made == [(COUNT, COUNT * SIZE)] * 4
    measured(device, saved.cpu(window=0))
    assert pool.made == COUNT, "all policies share it"


def test_beyond_the_cap_memory_is_not_pinned(device):
    exact, _ = measured(device, None)
    policy = saved.cpu(window=0, pinned=5 * SIZE)
    for _ in range(2):
        grad, found = measured(device, policy)
        pool = device.copies.staging.pool
        assert torch.equal(grad, exact) and pool.total == 5 * SIZE
        assert (found["d2h"], found["h2d"], found["left"]) == (COUNT, COUNT, 0)
    other = torch.ones(SIZE, device="sim:0")  # of another size: what is idle goes back to the system
    packed = policy.pack(other)
    assert pool.total == 5 * SIZE and pool.in_use == 4 * SIZE
    assert torch.equal(policy.unpack(packed), other)


def test_no_pinned_memory_at_all(device, monkeypatch):
    def none(self, nbytes):
        raise MemoryError

    exact, _ = measured(device, None)
    monkeypatch.setattr(SimStreams, "pinned", none)
    for policy in (saved.cpu(), saved.bf16() >> saved.cpu(), saved.cpu() >> saved.disk()):
        grad, found = measured(device, policy)
        assert torch.allclose(grad, exact, rtol=0.02, atol=1e-3)
        assert (found["left"], found["pinned"]) == (0, 0)


# --- graphs that live longer, or shorter ---

POLICIES = {
    "cpu": lambda: saved.cpu(window=2 * SIZE, ahead=2 * SIZE),
    "cpu at once": lambda: saved.cpu(window=0, ahead=0),
    "cpu at leisure": saved.cpu,
    "cpu >> disk": lambda: saved.cpu(window=2 * SIZE, ahead=2 * SIZE) >> saved.disk(),
}
each = pytest.mark.parametrize("make", POLICIES.values(), ids=POLICIES)


@each
def test_retain_graph(clean, make):
    x = leaf()
    exact = expected(x)
    with make() as policy:
        y = chain(x)
    for _ in range(3):
        assert torch.equal(torch.autograd.grad(y, x, retain_graph=True)[0], exact)
    assert policy.transfers.out == COUNT
    assert policy.transfers.back <= 3 * COUNT
    assert torch.equal(torch.autograd.grad(y, x)[0], exact)


@each
@pytest.mark.parametrize("inside", [False, True])
def test_double_backward(clean, make, inside):
    def second(policy):
        x = leaf()
        with policy:
            y = (x.sin() * x.exp()).sum()
            if inside:
                (first,) = torch.autograd.grad(y, x, create_graph=True)
        if not inside:
            (first,) = torch.autograd.grad(y, x, create_graph=True)
        return torch.autograd.grad((first * first).sum(), x)[0].cpu()

    assert torch.equal(second(make()), second(saved.Policy()))


@each
def test_branches_that_backward_does_not_reach(clean, make):
    a, b, policy = leaf(), leaf(), make()
    for _ in range(3):
        with policy:
            used, unused = chain(a, 4), chain(b, 4)
            both = used + unused
        assert torch.equal(torch.autograd.grad(both, a)[0], expected(a, lambda x: chain(x, 4)))
        del used, unused, both


@each
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_several_graphs_at_a_time(clean, make, order):
    x, policy, graphs = leaf(), make(), []
    for count in (3, 5, 4):
        with policy:
            graphs.append(chain(x, count))
    for i in order:
        exact = expected(x, lambda x, i=i: chain(x, (3, 5, 4)[i]))
        assert torch.equal(torch.autograd.grad(graphs[i], x)[0], exact)
    graphs.clear()


@each
def test_a_graph_that_is_let_go_of(clean, make):
    x, policy = leaf(), make()
    with policy:
        y = chain(x)
    del y
    with policy:
        y = chain(x)
    assert torch.equal(torch.autograd.grad(y, x)[0], expected(x))


@each
def test_several_threads(clean, make):
    exact = expected(leaf())
    policy, wrong = make(), []

    def work():
        try:
            x = leaf()
            for _ in range(4):
                with policy:
                    y = chain(x)
                if not torch.equal(torch.autograd.grad(y, x)[0], exact):
                    wrong.append("another gradient")
                del y
        except BaseException as error:
            wrong.append(repr(error))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@each
def test_an_exception_in_the_middle(clean, make):
    x, policy = leaf(), make()

    def fail(grad):
        raise KeyError("in the middle")

    def forward():
        with policy:
            chain(x, 5)
            raise ZeroDivisionError

    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            forward()
        with policy:
            h = x * 2
            for _ in range(4):
                h = h.sin()
            h.register_hook(fail)
            y = chain(h, 4)
        with pytest.raises(KeyError, match="in the middle"):
            y.backward()
        del h, y
    with policy:
        y = chain(x)
    assert torch.equal(torch.autograd.grad(y, x)[0], expected(x))


# --- writes in place ---


@each
def test_writing_to_what_was_saved(clean, make):
    x = leaf()
    exact = expected(x, lambda x: (x * 1).sin().sum())
    with make():
        h = x * 1
        y = h.sin().sum()
        h.add_(1)
        z = h.sin().sum()
        h.mul_(2)
    assert torch.equal(torch.autograd.grad(y, x, retain_graph=True)[0], exact)
    assert torch.allclose(torch.autograd.grad(z, x)[0], (x.detach() + 1).cos())


def test_the_check_for_writes_watches_over_what_stays(clean):
    x = leaf()
    with saved.cpu(min_bytes=1 << 30):
        h = x * 1
        y = h.sin().sum()
        h.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()
    del h, y, x


# --- streams of the user's ---


def test_backward_on_another_stream(clean):
    x, side = leaf(), sim.Stream(clean)
    exact = expected(x)
    with saved.cpu(window=0, ahead=4 * SIZE) as policy:
        y = chain(x)
    torch.autograd.grad(y, x, retain_graph=True)
    side.wait_stream(clean.default)
    with side:
        grad = torch.autograd.grad(y, x)[0]
    clean.default.wait_stream(side)
    assert torch.equal(grad, exact)
    assert policy.transfers.hits > COUNT


# --- what goes wrong ---

FAULTS = {
    "it cannot begin": ("to_host", "cpu"),
    "it fails": ("synchronize", "cpu at once"),
    "it fails beside the program": ("synchronize", "cpu >> disk"),
    "it cannot come back": ("to_device", "cpu at once"),
    "it cannot come back from disk": ("to_device", "cpu >> disk"),
}


@pytest.mark.parametrize("what", FAULTS)
def test_what_goes_wrong_in_a_copy_shows_where_the_tensor_is_needed(clean, monkeypatch, what):
    method, name = FAULTS[what]
    x, policy = leaf(), POLICIES[name]()
    exact = expected(x)

    def fail(self, *args):
        raise OSError("the link is down")

    with monkeypatch.context() as broken:
        if method != "to_device":
            broken.setattr(SimStreams, method, fail)
        with policy:
            y = chain(x)
        policy.wait()
        if method == "to_device":
            broken.setattr(SimStreams, method, fail)
        with pytest.raises(OSError, match="the link is down") as caught:
            y.backward()
    assert any("'input' of SinBackward0" in note and "sim_steps.py" in note for note in caught.value.__notes__)
    assert x.grad is None
    del y, caught
    with policy:
        y = chain(x)
    assert torch.equal(torch.autograd.grad(y, x)[0], exact)


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"window": -1}, ValueError, r"cpu\(\): window is a number of bytes, not -1"),
        ({"ahead": "much"}, ValueError, r"cpu\(\): ahead is a number of bytes such as '512 MiB'"),
        ({"pinned": 1.5}, TypeError, r"cpu\(\): pinned is a number of bytes, an int or text"),
        ({"min_bytes": -1}, ValueError, r"cpu\(\): min_bytes is a number of bytes, 0 or more"),
    ],
)
def test_numbers_that_are_none(options, error, match):
    with pytest.raises(error, match=match):
        saved.cpu(**options)


def test_texts(device):
    policy = saved.cpu(window="1 MiB")
    assert repr(policy) == "cpu(window='1 MiB')" and repr(saved.cpu()) == "cpu()"
    measured(device, policy)
    assert str(policy.transfers).startswith("768.0 KiB to the host, 768.0 KiB back: ")
