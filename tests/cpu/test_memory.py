"""What memory tensors hold: now, at most, and what came and went."""

from __future__ import annotations

import gc
import sys

import pytest

import gradpack as torch
from gradpack.autograd import profiler
from gradpack.base.modes import MODE
from gradpack.core.memory_tracking import held
from gradpack.testing import sim

cpu = torch.cpu


@pytest.fixture(autouse=True)
def nothing_left():
    gc.collect()
    yield
    cpu.memory._record_memory_history(enabled=None)
    assert MODE.get().profiler is None


def test_tensors_count_and_views_do_not():
    before = cpu.memory_allocated()
    x = torch.zeros(1000)
    views = [x[1:], x.reshape(10, 100), x.expand(5, 1000), x.detach(), torch.from_numpy(x.numpy())]
    assert cpu.memory_allocated() - before == 4000 == cpu.memory_allocated("cpu:0") - before
    del x
    assert cpu.memory_allocated() - before == 4000 and len(views) == 5
    views.clear()
    assert cpu.memory_allocated() == before


def test_what_only_the_graph_holds_counts():
    before = cpu.memory_allocated()
    x = torch.zeros(1000, requires_grad=True)
    y = x.exp().sum()
    assert cpu.memory_allocated() - before == 8000 + 4
    y.backward()
    assert cpu.memory_allocated() - before == 8000 + 4  # the result of exp went, the gradient came
    x.grad = None
    assert cpu.memory_allocated() - before == 4000 + 4


def test_what_hooks_packed_counts():
    before = cpu.memory_allocated()
    x = torch.zeros(1000, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.to(torch.float16), lambda t: t.to(torch.float32)):
        y = x.sin()
    assert cpu.memory_allocated() - before == 4000 + 4000 + 2000 and y.requires_grad


def test_peaks():
    cpu.reset_peak_memory_stats()
    before = cpu.memory_allocated()
    x = torch.zeros(1000)
    for _ in range(3):
        x = x * 2
    assert cpu.max_memory_allocated() - before == 8000 and cpu.memory_allocated() - before == 4000
    cpu.reset_peak_memory_stats()
    assert cpu.max_memory_allocated() == cpu.memory_allocated()


def test_what_was_there_before_may_go():
    x = torch.zeros(1000)
    before = cpu.memory_allocated()
    cpu.reset_peak_memory_stats()
    del x
    y = torch.zeros(500) + 1
    assert cpu.max_memory_allocated() == before and cpu.memory_allocated() == before - 4000 + y.numel() * 4


def test_peaks_of_backward():
    x = torch.zeros(1000, requires_grad=True)
    y = x
    for _ in range(4):
        y = y.exp()
    loss = y.sum()
    del y
    before = cpu.memory_allocated()
    cpu.reset_peak_memory_stats()
    loss.backward()
    peak = cpu.max_memory_allocated() - before
    assert 4000 <= peak <= 12000 and cpu.memory_allocated() == before - 3 * 4000


def test_without_a_watch_the_peak_is_now():
    assert cpu.max_memory_allocated() == cpu.memory_allocated() == cpu.memory_reserved() == cpu.max_memory_reserved()


def test_stats():
    cpu.reset_peak_memory_stats()
    cpu.reset_accumulated_memory_stats()
    x = torch.zeros(1000)
    y = x + 1
    del x
    stats = cpu.memory_stats()
    assert stats["allocated_bytes.all.allocated"] == 8000 and stats["allocated_bytes.all.freed"] == 4000
    assert stats["allocation.all.allocated"] == 2 and stats["allocation.all.freed"] == 1
    assert stats["allocated_bytes.all.current"] == cpu.memory_allocated() and y.numel() == 1000
    assert stats["allocated_bytes.all.peak"] >= stats["allocated_bytes.all.current"] and stats["num_ooms"] == 0
    nested = cpu.memory_stats_as_nested_dict()
    assert nested["allocated_bytes"]["all"]["peak"] == stats["allocated_bytes.all.peak"] and nested["num_ooms"] == 0


def test_summary():
    kept = torch.zeros(1 << 20)
    text = cpu.memory_summary()
    lines = text.splitlines()
    assert len({len(line) for line in lines}) == 1 and "device cpu:0" in lines[1] and kept.numel()
    titles = [cell.strip() for cell in lines[3].strip("|").split("|")]
    assert titles == ["Metric", "Cur Usage", "Peak Usage", "Tot Alloc", "Tot Freed"]
    assert "MB" in lines[5] and lines[5].startswith("| Allocated memory") and "Allocations" in text
    assert "Allocations" not in cpu.memory_summary(abbreviated=True)


def test_a_profiler_inside_of_a_watch():
    cpu.reset_peak_memory_stats()
    before = cpu.memory_allocated()
    x = torch.ones(1000, requires_grad=True)
    with profiler.profile(profile_memory=True) as prof:
        (x * 2).sum().backward()
    assert cpu.max_memory_allocated() - before >= 8000
    assert "aten::mul" in [event.name for event in prof.function_events]


def test_a_watch_is_not_begun_inside_of_a_profiler():
    with profiler.profile(), pytest.raises(RuntimeError, match="leave that first"):
        cpu.reset_peak_memory_stats()


def test_results_are_the_same_while_somebody_watches():
    x = torch.linspace(0, 1, 50, requires_grad=True)

    def gradient():
        y = (x.sin() * x).softmax(0).clone()
        y[:3] = y[3:6] * 2
        return torch.autograd.grad(y.square().sum(), x)[0]

    expected = gradient()
    cpu.reset_peak_memory_stats()
    assert torch.equal(gradient(), expected)


def test_other_devices():
    assert cpu.memory_allocated("cuda") == 0
    with pytest.raises(RuntimeError, match="toaster"):
        cpu.memory_allocated("toaster")
    with pytest.raises(RuntimeError, match="Cannot access accelerator device when none is available"):
        torch.accelerator.memory_allocated()
    assert torch.accelerator.memory_allocated("cpu") == cpu.memory_allocated()
    for name in ("max_memory_allocated", "memory_reserved", "max_memory_reserved", "memory_stats"):
        assert getattr(torch.accelerator, name)("cpu") == getattr(cpu, name)()
    torch.accelerator.empty_cache()
    cpu.empty_cache()


def test_an_added_device():
    with sim.devices(capacity="1 MiB"):
        x = torch.ones(1000, device="sim:0", requires_grad=True)
        assert cpu.memory_allocated("sim:0") == 4000 == cpu.memory_allocated(x.device)
        before = cpu.memory_allocated()
        cpu.reset_peak_memory_stats()
        (x.exp() * 2).sum().backward()
        assert cpu.memory_allocated("sim:0") == 8000 and cpu.max_memory_allocated("sim:0") >= 12000
        assert cpu.max_memory_allocated() - before < 4000
        assert "device sim:0" in cpu.memory_summary("sim:0")
        cpu.memory._record_memory_history(enabled=None)


def test_looking_leaves_no_references():
    array = torch.zeros(3)._data
    count = sys.getrefcount(array)
    for _ in range(3):
        held()
    assert sys.getrefcount(array) == count


def test_memory_is_counted_inside_of_vmap():
    inside = []

    def f(x):
        inside.append(cpu.memory_allocated())
        y = x.sin()
        inside.append(cpu.memory_allocated())
        return y * 2

    x = torch.zeros(100, 5)
    before = cpu.memory_allocated()
    torch.func.vmap(f)(x)
    assert inside == [before, before + 2000]
    cpu.reset_peak_memory_stats()
    torch.func.vmap(torch.func.vmap(f))(x)
    assert cpu.max_memory_allocated() - before == 4000  # the sine, and its double
    with profiler.profile(profile_memory=True) as prof:
        torch.func.vmap(f)(x)
    counted = [(e.name, e.cpu_memory_usage) for e in prof.function_events]
    assert counted[:2] == [("aten::sin", 2000), ("aten::mul", 2000)]
