"""What an event of a profiler knows: arguments, what belongs together, what torch's helpers make of records."""

from __future__ import annotations

import json
import warnings

import pytest


@pytest.fixture
def util(torch):
    return torch.autograd.profiler_util


def profiled(torch, run, **options):
    with torch.autograd.profiler.profile(**options) as prof:
        run()
    return prof.function_events


def one(events, name):
    found = [event for event in events if event.name == name]
    assert found, [event.name for event in events]
    return found[0]


def test_arguments_have_the_names_of_their_types_in_cpp(torch):
    names = {
        "float32": "float",
        "float64": "double",
        "int64": "long int",
        "int32": "int",
        "uint8": "unsigned char",
        "bool": "bool",
        "bfloat16": "c10::BFloat16",
        "complex64": "c10::complex<float>",
    }
    for dtype, name in names.items():
        x = torch.ones(2, dtype=getattr(torch, dtype))
        event = one(profiled(torch, x.clone, record_shapes=True), "aten::clone")
        assert event.input_dtypes[0] == name


def test_tensors_in_a_list_have_shapes_in_the_structured_form_only(torch):
    parts = [torch.ones(2, 3), torch.ones(1, 3)]
    event = one(profiled(torch, lambda: torch.cat(parts, 0), record_shapes=True), "aten::cat")
    assert event.input_shapes == [[], []] and event.structured_input_shapes == [[[2, 3], [1, 3]], []]
    assert event.structured_input_strides == [[[3, 1], [3, 1]], []]
    assert event.input_dtypes == ["TensorList", "Scalar"] and event.concrete_inputs == [None, 0]


def test_strides_and_lists_of_numbers(torch):
    x = torch.ones(2, 3).t()
    events = profiled(torch, lambda: (x.exp(), x.permute(1, 0)), record_shapes=True)
    assert one(events, "aten::exp").structured_input_strides == [[1, 3]]
    event = one(events, "aten::permute")
    assert event.concrete_inputs == [None, [1, 0]] and event.input_dtypes == ["float", "ScalarList"]


def test_without_shapes_nothing_is_known_of_arguments(torch):
    event = one(profiled(torch, torch.ones(3).exp), "aten::exp")
    assert event.input_shapes == event.structured_input_shapes == event.input_dtypes == []


def test_nodes_know_the_gradients_that_they_get(torch, leaf):
    y = leaf(2, 3).exp().sum()
    events = profiled(torch, y.backward, record_shapes=True)
    event = one(events, "ExpBackward0")
    assert event.input_shapes == [[2, 3]] and event.input_dtypes == ["float" if y.dtype == torch.float32 else "double"]
    assert event.concrete_inputs == [None] and event.kwinputs == {} and event.structured_input_strides == [[0, 0]]
    assert event.cpu_parent.input_shapes == []


def test_operation_and_node_share_a_flow(torch, leaf):
    x = leaf(3)
    events = profiled(torch, lambda: x.exp().sum().backward())
    first, second = one(events, "aten::exp"), one(events, "ExpBackward0")
    assert first.flow_id == second.flow_id > 0 and first.flow_type == second.flow_type == 1
    assert first.flow_start and not second.flow_start
    assert one(events, "aten::sum").flow_id != first.flow_id
    alone = one(events, "torch::autograd::AccumulateGrad")
    assert (alone.flow_id, alone.flow_type, alone.flow_start) == (0, 0, False)


def test_what_is_never_differentiated_has_no_flow(torch, leaf):
    x = leaf(3)
    event = one(profiled(torch, x.exp), "aten::exp")
    assert event.sequence_nr >= 0 and event.flow_id == 0 and event.flow_start is False


def test_kinds_of_activities(torch):
    def run():
        with torch.autograd.profiler.record_function("block"):
            torch.ones(2).exp()

    events = profiled(torch, run)
    assert one(events, "block").activity_type == "user_annotation"
    event = one(events, "aten::exp")
    assert event.activity_type == "cpu_op" and event.is_python_function is False and event.external_id == event.id
    assert event.linked_correlation_id == 0 and event.event_metadata is None


def test_traces_say_what_arguments_are(torch, tmp_path, leaf):
    x = leaf(2, 3)
    with torch.profiler.profile(record_shapes=True) as prof:
        torch.cat([x, x], 0).sum().backward()
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    trace = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    (row,) = [e for e in trace if e["name"] == "aten::cat"]
    assert row["cat"] == "cpu_op" and row["args"]["Input Dims"] == [[[2, 3], [2, 3]], []]
    assert row["args"]["Input Strides"] == [[[3, 1], [3, 1]], []] and row["args"]["Concrete Inputs"] == ["", "0"]
    about = {e["name"]: e["args"] for e in trace if e["ph"] == "M"}
    assert about["process_labels"] == {"labels": "CPU"} and "python" in about["thread_name"]["name"]
    assert {"process_sort_index", "thread_sort_index"} <= about.keys()
    begun, ended = ([e["id"] for e in trace if e["ph"] == kind] for kind in "sf")
    assert sorted(begun) == sorted(ended) and len(begun) == len(set(begun)) >= 2


def test_events_made_by_hand_on_another_device(torch, util):
    event = util.FunctionEvent(1, "kernel", 0, 10.0, 30.0, use_device="cuda", device_type=util.DeviceType.CUDA)
    assert event.cpu_time_total == event.self_cpu_time_total == 0
    assert event.device_time_total == event.self_device_time_total == 20.0


def test_a_launched_kernel_counts_for_those_around_unless_events_are_of_the_old_kind(torch, util):
    for legacy, total in ((False, 5.0), (True, 0)):
        outer = util.FunctionEvent(1, "outer", 0, 0.0, 30.0, use_device="cuda", is_legacy=legacy)
        inner = util.FunctionEvent(2, "inner", 0, 5.0, 20.0, use_device="cuda", is_legacy=legacy)
        inner.append_kernel("kernel", 0, 5.0)
        outer.append_cpu_child(inner)
        assert outer.device_time_total == total and inner.device_time_total == 5.0


def test_details_of_kernels(torch, util):
    texts = {
        "grid": "[4, 1, 1]",
        "blocks per SM": "0.25",
        "stream": "7",
        "memory bandwidth (GB/s)": "12.5",
        "Collective name": '"allreduce"',
        "In msg nelems": "8",
        "Process Group Name": '"0"',
        "Is asynchronized op": "true",
        "registers per thread": "32",
        "something else": "?",
    }
    event = util.FunctionEvent(1, "kernel", 0, 0.0, 1.0, extra_meta=texts)
    known = {name: value for name, value in event.event_metadata._asdict().items() if value is not None}
    assert known == {
        "registers_per_thread": 32,
        "grid": [4, 1, 1],
        "blocks_per_sm": 0.25,
        "stream": 7,
        "bandwidth_gb_s": 12.5,
        "collective_name": "allreduce",
        "in_msg_nelems": 8,
        "process_group_name": "0",
        "is_async": True,
    }
    assert util.FunctionEvent(1, "kernel", 0, 0.0, 1.0, extra_meta={"unknown": "1"}).event_metadata is None


def test_every_detail_has_a_name_in_traces(torch, util):
    """The names of fields and those in traces, which differ by more than spaces for some."""
    names = (
        "registers per thread|shared memory|grid|block|priority|blocks per SM|warps per SM|occupancy|"
        "est. achieved occupancy %|queued|graph id|graph node id|stream|context|channel|channel_type|bytes|"
        "memory bandwidth (GB/s)|Collective name|dtype|In msg nelems|Out msg nelems|In split size|Out split size|"
        "Global rank start|Global rank stride|Group size|Process Group Name|Process Group Description|"
        "Process Group Ranks|Rank|Src Rank|Dst Rank|Seq|Is asynchronized op"
    ).split("|")
    event = util.FunctionEvent(1, "kernel", 0, 0.0, 1.0, extra_meta=dict.fromkeys(names, "1"))
    assert len(names) == len(util.EventMetadata._fields) and None not in event.event_metadata


def test_metadata_json_is_a_former_name(torch, util):
    event = util.FunctionEvent(1, "mul", 0, 0.0, 1.0, metadata_json="{}")
    with pytest.warns(FutureWarning, match="event_metadata"):
        assert event.metadata_json == "{}"


def test_names_that_a_compiler_made(torch, util):
    names = util.StringTable()
    assert names["_Z3foov"] == "foo()" and names["t"] == "t" and names["aten::mul"] == "aten::mul"
    assert sorted(names) == ["_Z3foov", "aten::mul", "t"] and len(names) == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert util.StringTable(lambda: "never asked")["std::vector<int>"] == "std::vector<int>"


def test_records_of_memory_by_time(torch, util):
    class Record:
        def __init__(self, start):
            self.start = start

        def start_ns(self):
            return self.start

    records = [[Record(start), start] for start in (30, 10, 20, 10)]
    accessed = util.MemRecordsAcc(records)
    assert [number for _, number in accessed.in_interval(10, 20)] == [10, 10, 20]
    assert list(accessed.in_interval(11, 19)) == [] and list(util.MemRecordsAcc([]).in_interval(0, 99)) == []
    assert torch.autograd.profiler.MemRecordsAcc is util.MemRecordsAcc
