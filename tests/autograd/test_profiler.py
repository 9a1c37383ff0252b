"""What torch's profiler has not, or has otherwise: nested profilers, modules, stacks, sums, ranges of libraries."""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
import types
import weakref

import pytest

import gradpack as torch
from gradpack import profiler as steps
from gradpack.autograd import profiler
from gradpack.base.modes import MODE
from gradpack.examples import gpt
from gradpack.testing import sim

EVALUATE = "autograd::engine::evaluate_function: "


def names(prof):
    return [event.name for event in prof.function_events]


def test_nothing_is_left_behind():
    with profiler.profile(profile_memory=True, with_modules=True):
        torch.nn.Linear(2, 2)(torch.ones(2)).sum().backward()
    assert MODE.get().profiler is None and not MODE.get().leaves_fast_path
    assert torch.nn.Module.__call__.__qualname__ == "Module.__call__"


def test_a_profiler_inside_of_another():
    x = torch.ones(2)
    with profiler.profile() as outer:
        x.exp()
        with profiler.profile() as inner:
            x.sin()
        x.cos()
    assert names(inner) == ["aten::sin"] and names(outer) == ["aten::exp", "aten::sin", "aten::cos"]


def test_modules():
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())
    with profiler.profile(with_modules=True) as prof:
        model(torch.ones(1, 2))
    assert names(prof) == [
        "aten::ones",
        "nn.Module: Sequential",
        "nn.Module: Linear",
        "aten::linear",
        "nn.Module: ReLU",
        "aten::relu",
    ]
    places = {event.name: event.module_hierarchy for event in prof.function_events}
    assert places["aten::linear"] == "Sequential.Linear" and places["aten::relu"] == "Sequential.ReLU"
    assert not any(event.is_user_annotation for event in prof.function_events)


def test_stacks_of_forward_and_backward(tmp_path):
    def inner(x):
        return x * 2

    with profiler.profile(with_stack=True) as prof:
        inner(torch.ones(2, requires_grad=True)).sum().backward()
    by_name = {event.name: event for event in prof.function_events}
    first, second, *_ = by_name["aten::mul"].stack
    assert first.endswith(": inner") and second.endswith(": test_stacks_of_forward_and_backward")
    assert __file__ in first and by_name["MulBackward0"].stack == by_name["aten::mul"].stack
    prof.export_stacks(str(tmp_path / "stacks"))
    lines = (tmp_path / "stacks").read_text().splitlines()
    assert any(":_test_stacks_of_forward_and_backward;" in line and ":_inner " in line for line in lines)
    assert all(int(line.rpartition(" ")[2]) > 0 for line in lines)
    averages = prof.key_averages(group_by_stack_n=2)
    assert {len(a.stack) for a in averages if a.key == "aten::mul"} == {2}
    assert "Source Location" in averages.table() and ": inner" in averages.table(max_src_column_width=30)


def test_flops_of_attention_linear_and_transposed_convolutions():
    F = torch.nn.functional
    q, k = torch.ones(2, 3, 4, 8), torch.ones(2, 3, 5, 8)
    with profiler.profile(with_flops=True) as prof:
        F.scaled_dot_product_attention(q, k, k)
        F.linear(torch.ones(2, 4), torch.ones(5, 4), torch.ones(5))
        torch.ones(2, 3, 4) @ torch.ones(4, 5)
        F.conv_transpose2d(torch.ones(2, 4, 8, 8), torch.ones(4, 3, 3, 3))
    found = {event.name: event.flops for event in prof.function_events}
    assert found["aten::scaled_dot_product_attention"] == 2 * 2 * (2 * 3 * 4 * 5 * 8)
    assert found["aten::linear"] == 80 and found["aten::matmul"] == 240
    assert found["aten::convolution"] == 2 * (2 * 4 * 8 * 8) * (3 * 3 * 3)


def test_sums_agree_with_the_clock(tmp_path):
    """Within 5 %: what a step of the example takes, the sum of all self times, and the event of the step."""
    torch.manual_seed(0)
    model = gpt.GPT(vocabulary=32, context=16, width=32, heads=2, layers=2)
    optimizer = torch.optim.AdamW(model.parameters())
    tokens = torch.randint(0, 32, (4, 17))

    def step():
        optimizer.zero_grad()
        logits = model(tokens[:, :-1])
        loss = torch.nn.functional.cross_entropy(logits.reshape(-1, 32), tokens[:, 1:].reshape(-1))
        loss.backward()
        optimizer.step()

    def own(row):
        return row["duration"] - sum(c["duration"] for c in row["children"]) + sum(map(own, row["children"]))

    def sums():
        """What the clock says, and what the profiler says in several ways."""
        with profiler.profile() as prof:
            began = time.perf_counter()
            with profiler.record_function("step"):
                step()
            wall = (time.perf_counter() - began) * 1e6
        (top,) = [event for event in prof.function_events if event.name == "step"]
        (flame,) = prof.flame()
        prof.export_chrome_trace(str(tmp_path / "trace.json"))
        rows = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
        traced = sum(row["dur"] for row in rows if row["ph"] == "X" and row["name"] == "step")
        backward = sum(e.cpu_time_total for e in prof.function_events if e.name.startswith(EVALUATE))
        assert 0 < backward < top.cpu_time_total
        return wall, [prof.self_cpu_time_total, top.cpu_time_total, own(flame), traced]

    found = [sums() for _ in range(6)]  # the first makes the text with the clock in it; others may be interrupted
    assert any(said == [pytest.approx(wall, rel=0.05)] * 4 for wall, said in found), found


def test_flame_is_plain_data():
    with profiler.profile() as prof:
        with profiler.record_function("a"):
            torch.ones(2).exp()
        torch.ones(2).sin()
    data = json.loads(json.dumps(prof.flame()))
    assert [(row["name"], [c["name"] for c in row["children"]]) for row in data] == [
        ("a", ["aten::ones", "aten::exp"]),
        ("aten::ones", []),
        ("aten::sin", []),
    ]
    child = data[0]["children"][1]
    assert data[0]["start"] <= child["start"]
    assert child["start"] + child["duration"] <= data[0]["start"] + data[0]["duration"]


def test_memory_that_is_given_back():
    a = torch.ones(1000)
    with profiler.profile(profile_memory=True) as prof:
        b = a * 2
        c = b + b
        del b
        kept = c
        del c
    changes = [event.cpu_memory_usage for event in prof.function_events]
    assert [event.name for event in prof.function_events] == ["aten::mul", "aten::add", "[memory]"]
    assert changes == [4000, 4000, -4000] and sum(changes) == kept.numel() * 4


def test_memory_of_gradients():
    x = torch.ones(1000, requires_grad=True)
    with profiler.profile(profile_memory=True) as prof:
        (x * 2).sum().backward()
    total = sum(e.cpu_memory_usage for e in prof.function_events if e.cpu_parent is None)
    assert total == x.grad.numel() * 4


def test_memory_of_another_device():
    with sim.devices(capacity="1 MiB"), profiler.profile(profile_memory=True) as prof:
        x = torch.ones(1000, device="sim:0", requires_grad=True)
        y = (x * 2).exp()
        kept = torch.ones(10) * 2
    (event,) = [e for e in prof.function_events if e.name == "aten::exp"]
    assert event.device_memory_usage == 4000 and event.cpu_memory_usage == 0 and y.shape == (1000,)
    assert sum(e.cpu_memory_usage for e in prof.function_events) == 40 == kept.numel() * 4
    text = prof.key_averages().table()
    assert "SIM Mem" in text and "Self SIM Mem" in text and "3.91 KB" in text and "40 B" in text


def test_tensors_die_as_before():
    with profiler.profile(profile_memory=True, record_shapes=True, with_stack=True):
        y = torch.ones(3, requires_grad=True) * 2
        node = weakref.ref(y.grad_fn)
        del y
        gc.disable()
        try:
            assert node() is None
        finally:
            gc.enable()


def test_tasks_have_profilers_of_their_own():
    async def work(name):
        with profiler.profile() as prof:
            await asyncio.sleep(0.001)
            getattr(torch.ones(2), name)()
            await asyncio.sleep(0.001)
        return names(prof)

    async def both():
        return await asyncio.gather(work("exp"), work("sin"))

    assert asyncio.run(both()) == [["aten::ones", "aten::exp"], ["aten::ones", "aten::sin"]]


def test_modes_and_subclasses_are_seen():
    class Mine(torch.Tensor):
        pass

    with profiler.profile() as prof:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            torch.ones(2, 2).mm(torch.ones(2, 2))
        torch.ones(2).as_subclass(Mine) + 1
        with torch.inference_mode():
            torch.ones(2).exp()
    found = names(prof)
    assert "aten::mm" in found and "aten::add" in found and found[-1] == "aten::exp"
    (product,) = [event for event in prof.function_events if event.name == "aten::mm"]
    assert [child.name for child in product.cpu_children] == ["aten::to"] * 2


def test_a_failing_node_ends_the_pass():
    class Fails(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            raise ValueError("no")

    with profiler.profile() as prof:
        y = Fails.apply(torch.ones(2, requires_grad=True)).sum()
        with pytest.raises(ValueError, match="no"):
            y.backward()
        torch.ones(2).exp()
    found = names(prof)
    assert "FailsBackward" in found
    (event,) = [e for e in prof.function_events if e.name == "aten::exp"]
    assert event.cpu_parent is None


def test_tables_of_kernels():
    event = profiler.FunctionEvent(1, "mul", 0, 0, 10)
    event.use_device = "cuda"
    event.append_kernel("kernel", 0, 7)
    events = profiler.EventList([event], use_device="cuda")
    events._build_tree()
    text = events.table()
    assert "Self CUDA %" in text and "CUDA time avg" in text and text.endswith("Self CUDA time total: 7.000us\n")
    assert events.total_average().device_time_total == 7 and "cuda_time=7.000us" in repr(event)


def test_trace_without_a_profiler(tmp_path):
    with profiler.profile() as prof:
        torch.ones(2).exp()
    prof.function_events.export_chrome_trace(str(tmp_path / "trace.json"))
    rows = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert [row["name"] for row in rows if row["ph"] == "X"] == ["aten::ones", "aten::exp"]


def test_a_cycle_ends_what_was_recorded_before():
    with steps.profile(schedule=steps.schedule(wait=0, warmup=1, active=1)) as prof:
        prof.step()
        with pytest.warns(UserWarning, match="Profiler clears events at the end of each cycle"):
            prof.step()


def test_metadata_may_have_quotes(tmp_path):
    with steps.profile() as prof:
        prof.add_metadata("who", 'me "too"')
        with pytest.raises(ValueError):
            prof.add_metadata_json("broken", "{")
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    assert json.loads((tmp_path / "trace.json").read_text())["who"] == 'me "too"'


def test_timeline_of_memory(tmp_path):
    path = tmp_path / "memory.json"
    ones = torch.ones(1000)
    with steps.profile(profile_memory=True, record_shapes=True, with_stack=True) as prof:
        kept = ones * 2
        kept = kept * 2
    with pytest.warns(FutureWarning, match="deprecated"):
        prof.export_memory_timeline(str(path))
    times, sizes = json.loads(path.read_text())
    assert times == sorted(times) and [sum(row) for row in sizes] == [4000, 8000, 4000] and kept.numel()
    with pytest.warns(FutureWarning), pytest.raises(ValueError, match=r"\.json"):
        prof.export_memory_timeline("plot.html")
    with steps.profile() as prof:
        pass
    with pytest.warns(FutureWarning), pytest.raises(ValueError, match="profile_memory=True"):
        prof.export_memory_timeline(str(path))


def test_what_torch_has_and_this_has_not():
    with pytest.raises(RuntimeError, match=r"no torch\.profiler\.ExecutionTraceObserver"):
        steps.ExecutionTraceObserver()
    with pytest.raises(AttributeError, match="nothing_of_it"):
        steps.nothing_of_it
    assert not steps.kineto_available()


@pytest.fixture
def ranges(monkeypatch):
    """Libraries of ranges that write down what they are told."""
    seen = []
    nvtx = types.ModuleType("nvtx")
    nvtx.push_range, nvtx.pop_range = seen.append, lambda: seen.append("")
    itt = types.ModuleType("ittapi")
    itt.domain = itt.string_handle = lambda name: name
    itt.task_begin = lambda domain, text: seen.append(text)
    itt.task_end = lambda domain: seen.append("")
    monkeypatch.setitem(sys.modules, "nvtx", nvtx)
    monkeypatch.setitem(sys.modules, "ittapi", itt)
    return seen


@pytest.mark.parametrize("emit", [profiler.emit_nvtx, profiler.emit_itt])
def test_ranges(ranges, emit):
    x = torch.ones(2, 3, requires_grad=True)
    with emit(record_shapes=True):
        y = x * 2
        z = y.sum()
        with profiler.record_function("block", "args"):
            z.backward()
    first, second = y.grad_fn._sequence_nr(), z.grad_fn._sequence_nr()
    assert ranges == [
        f"aten::mul, seq = {first}, sizes = [[2, 3], []]",
        "",
        f"aten::sum, seq = {second}, sizes = [[2, 3]]",
        "",
        "block, args",
        f"SumBackward0, stashed seq = {second}, sizes = [[]]",
        "",
        f"MulBackward0, stashed seq = {first}, sizes = [[2, 3]]",
        "",
        "torch::autograd::AccumulateGrad, sizes = [[2, 3]]",
        "",
        "",
    ]


def test_ranges_without_grad_have_no_numbers(ranges):
    with profiler.emit_nvtx(), torch.no_grad():
        torch.ones(2).exp()
    assert ranges == ["aten::ones", "", "aten::exp", ""]


def test_ranges_of_a_double_backward_are_numbered(ranges):
    x = torch.ones(2, requires_grad=True)
    with profiler.emit_nvtx():
        (g,) = torch.autograd.grad((x * x).sum(), x, create_graph=True)
        numbers = {text.rpartition("= ")[2] for text in ranges if "aten" in text}
        ranges.clear()
        g.sum().backward()
    stashed = {text.rpartition("= ")[2] for text in ranges if "stashed" in text}
    assert stashed & numbers


def test_ranges_end_when_something_fails(ranges):
    two, three = torch.ones(2), torch.ones(3)
    with profiler.emit_nvtx():
        with pytest.raises(RuntimeError):
            two + three
    assert len(ranges) == 2 and ranges[1] == ""


@pytest.mark.parametrize("emit", [profiler.emit_nvtx, profiler.emit_itt])
def test_ranges_are_entered_once_and_alone(ranges, emit):
    twice = emit()
    with twice:
        with pytest.raises(RuntimeError, match="not reentrant"):
            twice.__enter__()
        with pytest.raises(RuntimeError, match="cannot be used inside of"):
            profiler.profile().__enter__()
    with profiler.profile(), pytest.raises(RuntimeError, match="inside of another profiler"):
        emit().__enter__()
    with emit(enabled=False) as off:
        torch.ones(2).exp()
    assert off is None and not ranges and MODE.get().profiler is None


@pytest.mark.parametrize(("emit", "extra"), [(profiler.emit_nvtx, "nvtx"), (profiler.emit_itt, "itt")])
def test_libraries_that_are_absent(monkeypatch, emit, extra):
    for name in ("nvtx", "ittapi"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=rf"gradpack\[{extra}\]"), emit():
        pass
    assert MODE.get().profiler is None


def test_ranges_of_the_user(ranges):
    assert steps.itt.range_push("outer") == 0 and steps.itt.range_push("inner") == 1
    assert steps.itt.range_pop() == 1 and steps.itt.range_pop() == 0
    with steps.itt.range("number {}", 3):
        steps.itt.mark("here")
    assert ranges == ["outer", "inner", "", "", "number 3", "here", "", ""]


def test_the_libraries_themselves():
    for emit, library in ((profiler.emit_nvtx, "nvtx"), (profiler.emit_itt, "ittapi")):
        pytest.importorskip(library)
        with emit(record_shapes=True):
            torch.ones(2, requires_grad=True).exp().sum().backward()


def test_one_that_is_switched_off_has_a_text():
    with profiler.profile(enabled=False) as prof:
        pass
    assert prof is None and str(profiler.profile(enabled=False)) == "<unfinished torch.autograd.profile>"
