"""The profiler with a schedule: `torch.profiler`."""

from __future__ import annotations

import gzip
import json
import warnings

import pytest


@pytest.fixture
def profiler(torch):
    return torch.profiler


def names(prof, *kept):
    return [e.name for e in prof.events() if e.name in kept or e.name.startswith("ProfilerStep")]


def test_without_a_schedule_everything_is_recorded(torch, profiler):
    with profiler.profile(record_shapes=True) as prof:
        with profiler.record_function("block"):
            torch.ones(3).exp()
        prof.step()
        torch.ones(4).exp()
    assert names(prof, "block", "aten::exp") == ["block", "aten::exp", "aten::exp"]
    shapes = [a.input_shapes for a in prof.key_averages(group_by_input_shape=True) if a.key == "aten::exp"]
    assert shapes == [[[3]], [[4]]] and prof.step_num == 1


def test_schedule(profiler):
    plan = profiler.schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1)
    cycle = ["NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE"]
    assert [plan(i).name for i in range(12)] == ["NONE", *cycle, *cycle, "NONE", "NONE", "NONE"]
    plan = profiler.schedule(wait=3, warmup=1, active=1, skip_first=1, skip_first_wait=1)
    assert [plan(i).name for i in range(8)] == [
        "NONE",
        *cycle[1:2],
        cycle[3],
        "NONE",
        "NONE",
        "NONE",
        "WARMUP",
        cycle[3],
    ]


@pytest.mark.parametrize("wrong", [{"wait": -1}, {"warmup": -1}, {"active": 0}, {"repeat": -1}, {"skip_first": -1}])
def test_schedules_that_are_none(profiler, wrong):
    with pytest.raises(AssertionError, match="Invalid profiler schedule arguments"):
        profiler.schedule(**{"wait": 1, "warmup": 1, "active": 1, **wrong})


def test_no_warmup_and_no_step(profiler):
    with pytest.warns(UserWarning, match="warmup"):
        plan = profiler.schedule(wait=0, warmup=0, active=1)
    assert plan(0) is profiler.ProfilerAction.RECORD_AND_SAVE
    with pytest.raises(AssertionError, match="non-negative"):
        plan(-1)


def test_cycles(torch, profiler):
    seen = []

    def ready(prof):
        seen.append((prof.step_num, names(prof, "aten::exp")))

    plan = profiler.schedule(wait=1, warmup=1, active=2, repeat=1)
    with profiler.profile(schedule=plan, on_trace_ready=ready) as prof:
        for _ in range(6):
            torch.ones(3).exp()
            prof.step()
    assert seen == [(4, ["ProfilerStep*", "aten::exp", "ProfilerStep*", "aten::exp"])]
    steps = [e.trace_name for e in prof.events() if e.name == "ProfilerStep*"]
    assert steps == ["ProfilerStep#2", "ProfilerStep#3"]
    assert [a.count for a in prof.key_averages() if a.key == "ProfilerStep*"] == [2]
    assert prof.current_action is profiler.ProfilerAction.NONE and prof.step_num == 6


def test_several_cycles(torch, profiler):
    seen = []
    plan = profiler.schedule(wait=0, warmup=1, active=1)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Warning: Profiler clears events at the end of each cycle")
        with profiler.profile(schedule=plan, on_trace_ready=lambda p: seen.append(names(p, "aten::exp"))) as prof:
            for _ in range(4):
                torch.ones(3).exp()
                prof.step()
    assert seen == [["ProfilerStep*", "aten::exp"]] * 2


def test_events_of_all_cycles(torch, profiler):
    counts = []
    plan = profiler.schedule(wait=0, warmup=1, active=1)
    ready = lambda p: counts.append(sum(e.name == "aten::exp" for e in p.events()))  # noqa: E731
    with profiler.profile(schedule=plan, on_trace_ready=ready, acc_events=True) as prof:
        for _ in range(4):
            torch.ones(3).exp()
            prof.step()
    assert counts == [1, 2]


def test_a_block_that_ends_in_a_cycle_is_ready(torch, profiler):
    seen = []
    plan = profiler.schedule(wait=0, warmup=1, active=5)
    with profiler.profile(schedule=plan, on_trace_ready=lambda p: seen.append(p.step_num)) as prof:
        for _ in range(3):
            prof.step()
    assert seen == [3]


def test_schedules_of_the_user(torch, profiler):
    action = profiler.ProfilerAction
    plan = [action.RECORD, action.NONE, action.WARMUP, action.NONE, action.NONE]
    with profiler.profile(schedule=lambda step: plan[step]) as prof:
        with pytest.warns(UserWarning, match="Incorrect schedule: RECORD followed by NONE"):
            prof.step()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Warning: Profiler clears events")
            prof.step()
        with pytest.warns(UserWarning, match="Incorrect schedule: WARMUP followed by NONE"):
            prof.step()
    if hasattr(action, "DEVICE_STOPPED"):
        with pytest.raises(ValueError, match="DEVICE_STOPPED"):
            profiler.profile(schedule=lambda step: action.DEVICE_STOPPED)


def test_start_and_stop(torch, profiler):
    ready = []
    prof = profiler.profile(on_trace_ready=ready.append)
    prof.start()
    torch.ones(3).exp()
    prof.stop()
    torch.ones(3).exp()
    assert names(prof, "aten::exp") == ["aten::exp"] and ready == [prof]


def test_before_it_ran(profiler, tmp_path):
    prof = profiler.profile()
    for call in (
        prof.events,
        prof.key_averages,
        lambda: prof.export_chrome_trace(str(tmp_path / "trace.json")),
        lambda: prof.export_stacks(str(tmp_path / "stacks")),
    ):
        with pytest.raises(AssertionError, match="Profiler must be initialized before"):
            call()
    assert prof.get_trace_id() is None


def test_activities(torch, profiler):
    activity = profiler.ProfilerActivity
    assert torch.autograd.ProfilerActivity is activity is torch.autograd.profiler.ProfilerActivity
    assert torch.autograd.DeviceType is profiler.DeviceType and profiler.DeviceType.CPU.name == "CPU"
    assert activity.CPU in profiler.supported_activities()
    assert {"CPU", "CUDA", "XPU", "MTIA", "HPU", "PrivateUse1"} <= set(activity.__members__)
    with pytest.raises(AssertionError, match="No valid profiler activities found"):
        profiler.profile(activities=[])
    assert profiler.profile(activities=[activity.CPU]).activities == {activity.CPU}
    assert profiler.profile(activities=[{activity.CPU: ["x"]}]).activities == {activity.CPU}
    assert profiler.profile().activities == profiler.supported_activities()


def test_traces_and_what_goes_with_them(torch, profiler, tmp_path):
    with profiler.profile(record_shapes=True, with_modules=True) as prof:
        torch.ones(3).exp()
        prof.add_metadata("who", "me")
        prof.add_metadata_json("numbers", "[1, 2]")
    path = str(tmp_path / "trace.json.gz")
    prof.export_chrome_trace(path)
    with gzip.open(path, "rt") as file:
        trace = json.load(file)
    assert trace["who"] == "me" and trace["numbers"] == [1, 2]
    assert trace["record_shapes"] == 1 and trace["with_modules"] == 1 and trace["trace_id"] == prof.get_trace_id()
    assert [row["name"] for row in trace["traceEvents"] if row["name"] == "aten::exp"] == ["aten::exp"]


def test_files_for_tensorboard(torch, profiler, tmp_path):
    folder = tmp_path / "runs" / "first"
    handler = profiler.tensorboard_trace_handler(str(folder), worker_name="me")
    with profiler.profile(on_trace_ready=handler):
        torch.ones(3).exp()
    packed = profiler.tensorboard_trace_handler(str(folder), use_gzip=True)
    with profiler.profile(on_trace_ready=packed):
        torch.ones(3).exp()
    first, second = sorted(folder.iterdir(), key=lambda path: path.name.endswith(".gz"))
    assert first.name.startswith("me.") and first.name.endswith(".pt.trace.json")
    assert second.name.endswith(".pt.trace.json.gz")
    assert "aten::exp" in {row["name"] for row in json.loads(first.read_text())["traceEvents"]}
    (tmp_path / "file").write_text("")
    broken = profiler.tensorboard_trace_handler(str(tmp_path / "file"))
    with pytest.raises((RuntimeError, OSError)), profiler.profile(on_trace_ready=broken):
        torch.ones(3).exp()


def test_names_of_traces(torch, profiler):
    numbers = iter(range(10))
    plan = profiler.schedule(wait=0, warmup=1, active=1)
    seen = []
    with profiler.profile(
        schedule=plan,
        acc_events=True,
        custom_trace_id_callback=lambda: f"trace {next(numbers)}",
        on_trace_ready=lambda p: seen.append(p.get_trace_id()),
    ) as prof:
        for _ in range(4):
            prof.step()
    assert len(seen) == 2 and seen[0].startswith("trace ") and seen[0] != seen[1]


def test_only_the_trace(torch, profiler, tmp_path):
    config = profiler._ExperimentalConfig(trace_only=True)
    with profiler.profile(experimental_config=config) as prof:
        torch.ones(3).exp()
    with pytest.raises(RuntimeError, match="trace_only=True"):
        prof.events()
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    assert "aten::exp" in (tmp_path / "trace.json").read_text()


def test_on_and_off_in_the_middle(torch, profiler):
    cpu = [profiler.ProfilerActivity.CPU]
    with profiler.profile() as prof:
        torch.ones(3).exp()
        prof.toggle_collection_dynamic(False, cpu)
        torch.ones(3).sin()
        prof.toggle_collection_dynamic(True, cpu)
        torch.ones(3).cos()
    assert names(prof, "aten::exp", "aten::sin", "aten::cos") == ["aten::exp", "aten::cos"]


def test_observers(torch, profiler):
    calls = []

    class Observer:
        def start(self):
            calls.append("start")

        def stop(self):
            calls.append("stop")

        def cleanup(self):
            calls.append("cleanup")

    with profiler.profile(execution_trace_observer=Observer()):
        torch.ones(3).exp()
    assert calls == ["start", "stop", "cleanup"]


def test_steps_are_counted(torch):
    tracker = torch.autograd.profiler.KinetoStepTracker
    before = tracker.current_step()
    tracker.init_step_count("one")
    tracker.init_step_count("two")
    assert tracker.increment_step("one") == before + 1 and tracker.increment_step("one") == before + 2
    assert tracker.erase_step_count("one") and tracker.erase_step_count("two") and not tracker.erase_step_count("one")


def test_activities_that_are_none(torch, profiler):
    CPU = profiler.ProfilerActivity.CPU
    for given in ([], [{}], [3], ["cpu"]):
        with pytest.raises(AssertionError, match="No valid profiler activities found"):
            profiler.profile(activities=given)
    for given in ([CPU, 3], ["cpu", CPU]):
        with pytest.raises(TypeError, match="Expected ProfilerActivity or dict, got <class"):
            profiler.profile(activities=given)
    with pytest.raises(ValueError, match="specified more than once"):
        profiler.profile(activities=[CPU, CPU])
    prof = profiler.profile(activities=[{CPU: ["a"]}])
    assert prof.activities == {CPU} and prof.activity_filters == {CPU: {"a"}}


def test_numbers_of_activities(torch, profiler):
    names = ["CPU", "XPU", "CUDA", "HPU", "MTIA", "PrivateUse1"]
    assert [int(getattr(getattr(profiler.ProfilerActivity, n), "value", n)) for n in names] == list(range(6))


def test_memory_timelines_need_memory(torch, profiler, tmp_path):
    prof = profiler.profile(activities=[profiler.ProfilerActivity.CPU])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match="profile_memory=True"):
            prof.export_memory_timeline(str(tmp_path / "memory.json"))


def test_traces_have_every_change_of_memory(torch, profiler, tmp_path):
    with profiler.profile(activities=[profiler.ProfilerActivity.CPU], profile_memory=True, record_shapes=True) as prof:
        x = torch.ones(100)
        y = x * x
        (x > 0, x.double(), y.to(torch.int64))
        del y
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    trace = json.loads((tmp_path / "trace.json").read_text())
    assert trace["baseTimeNanoseconds"] >= 0 and trace["host_name"]
    changes = [row["args"] for row in trace["traceEvents"] if row["name"] == "[memory]"]
    assert {400, -400, 800} <= {args["Bytes"] for args in changes}
    assert all(args["Device Type"] == 0 and args["Device Id"] == -1 for args in changes)
    one, two = changes[:2]
    assert two["Total Allocated"] - one["Total Allocated"] == two["Bytes"]
    types = {
        row["name"]: row["args"]["Input type"] for row in trace["traceEvents"] if "Input type" in row.get("args", {})
    }
    assert types["aten::mul"] == ["float", "float"]
