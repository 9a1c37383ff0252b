"""Builds events from the records of a profiler."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from itertools import accumulate
from typing import Any

from ...declare.generate.profiling import ANNOTATION, FUNCTION, MEMORY, MODULE, NODE, OP
from ..flops import RULES
from ..profiler_util import EventList, FunctionEvent
from .aten_names import aten_name
from .kineto import type_name
from .recorder import Detail, Record, Recorder

_EVALUATE = "autograd::engine::evaluate_function: "
_SCOPES = {OP: 0, FUNCTION: 0, NODE: 1, ANNOTATION: 7, MODULE: 7}
_ACTIVITIES = {ANNOTATION: "user_annotation", MODULE: "python_function"}
_STEP = "ProfilerStep#"
_NOTHING = Detail()

_threads: dict[int, int] = {}  # the number of a thread: in order of appearance, from 1


def thread_number(ident: int) -> int:
    """Return a small number for a thread, the same in all profilers."""
    return _threads.setdefault(ident, len(_threads) + 1)


def build(recorder: Recorder, *, use_device: str | None = None, with_flops: bool = False) -> EventList:
    """Build the events of a recorder, oldest first, nested by time."""
    noted, origin = recorder.records, recorder.start_ns
    records = [r for r in noted if r[0] != MEMORY]
    changes = [r for r in noted if r[0] == MEMORY]
    rows: list[tuple[int, int, int, str, Record]] = []  # start, -end, scope, name, record
    for record in records:
        kind, name, start, end, _, _, detail = record
        if kind == NODE:
            over = detail if isinstance(detail, int) else detail[0]
            rows.append((start, -over, 0, _EVALUATE + name, record))
            rows.append((start, -end, 1, name, record))
        else:
            rows.append((start, -end, _SCOPES[kind], aten_name(name) if kind == OP else name, record))
    rows.sort(key=lambda row: row[:3])  # a node and its children may begin and end at the same time
    forward = _threads_of_forward(records)
    events = EventList(use_device=use_device, profile_memory=recorder.memory is not None, with_flops=with_flops)
    for number, (start, end, scope, name, record) in enumerate(rows, 1):
        kind, label, _, _, ident, seq, detail = record
        thread = thread_number(ident)
        event = FunctionEvent(number, name, thread, 0, 0, scope=scope, external_id=number)
        what: Detail = detail if isinstance(detail, Detail) else _NOTHING
        event.stack, event.fwd_thread = what.stack or [], 0
        if kind == NODE:
            if scope == 1 and not isinstance(detail, int):
                what = detail[1]
            event.fwd_thread = forward.get(seq, thread if seq is not None and seq <= 0 else 0)
        elif with_flops and kind == OP and what.shapes is not None:
            rule = RULES.get(label.removesuffix("_"))
            event.flops = 0 if rule is None else rule(what.shapes, what.values or [])
        event.structured_input_shapes, event.structured_input_strides = what.shapes or [], what.strides or []
        event.input_dtypes = [type_name(dtype) for dtype in what.dtypes or ()]
        lists = [dtype == "TensorList" for dtype in event.input_dtypes]
        event.input_shapes = [[] if many else s for s, many in zip(event.structured_input_shapes, lists, strict=True)]
        event.concrete_inputs, event.kwinputs = what.values or [], {}
        event.module_hierarchy = ".".join(what.modules)
        event.activity_type, event.is_python_function = _ACTIVITIES.get(kind, "cpu_op"), kind == MODULE
        event.time_range.start, event.time_range.end = (start - origin) / 1000, (-end - origin) / 1000
        event.sequence_nr = -seq if seq is not None and seq <= 0 else -1
        event.is_user_annotation = kind == ANNOTATION
        event.trace_name, event.use_device, event.overload_name = name, use_device, ""
        if name.startswith(_STEP) and kind == ANNOTATION:
            event.name = f"{_STEP[:-1]}*"  # so that the averages are over all steps
        event.flops = event.flops or 0
        events.append(event)
    _give_flows(events)
    events._build_tree()
    if changes:
        _remember(events, changes, origin)
    recorder.finish(events, thread_number)
    return events


def _give_flows(events: EventList) -> None:
    """Link operations and their backward nodes by flow ids, which traces show as arrows."""
    operations: dict[int, FunctionEvent] = {}
    for event in events:
        event.flow_id, event.flow_type, event.flow_start = 0, 0, False
        seq = event.sequence_nr
        if seq < 0:
            continue
        if event.scope == 1 and seq in operations:
            first = operations[seq]
            first.flow_id = event.flow_id = seq + 1
            first.flow_type = event.flow_type = 1
            first.flow_start = True
        elif event.scope != 1 and not event.name.startswith(_EVALUATE):
            operations.setdefault(seq, event)


def _threads_of_forward(records: list[Record]) -> dict[int | None, int]:
    """The thread of the forward operation, by the sequence number of its node."""
    found: dict[int | None, int] = {}
    for kind, _, _, _, ident, seq, _ in records:
        if kind != NODE and seq is not None and seq <= 0:
            found.setdefault(seq, thread_number(ident))
    return found


def _remember(events: EventList, changes: list[Record], origin: int) -> None:
    """Attribute memory changes to the events during which they happened; the rest become events of their own."""
    groups: dict[tuple[int, str], list[tuple[float, int]]] = defaultdict(list)
    for _, place, time, _, ident, _, change in changes:
        groups[thread_number(ident), place].append(((time - origin) / 1000, change))
    ran = list(events)
    events._memory = [(*pair, *group) for group, pairs in groups.items() for pair in pairs]
    for (thread, place), pairs in groups.items():
        name = "cpu_memory_usage" if place == "cpu" else "device_memory_usage"
        pairs.sort()
        times = [time for time, _ in pairs]
        sums = [0, *accumulate(change for _, change in pairs)]
        covered = bytearray(len(pairs))
        for event in ran:
            if event.thread == thread:
                first, last = bisect_left(times, event.time_range.start), bisect_right(times, event.time_range.end)
                setattr(event, name, getattr(event, name) + sums[last] - sums[first])
                if event.cpu_parent is None:
                    covered[first:last] = b"\1" * (last - first)
        for (when, change), inside in zip(pairs, covered, strict=True):
            if not inside:
                about: dict[str, Any] = {name: change, "stack": [], "input_shapes": [], "flops": 0, "fwd_thread": 0}
                about |= {"trace_name": "[memory]", "overload_name": ""}
                events.append(FunctionEvent(len(events) + 1, "[memory]", thread, when, when, **about))
    places = sorted({place for _, place in groups} - {"cpu"})
    for event in events if places else ():
        event.use_device = event.use_device or places[0]
