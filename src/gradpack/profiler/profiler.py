"""A profiler with steps and schedules that passes its traces to a callback."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any
from warnings import warn

from ..autograd import profiler as plain
from ..autograd.profiler_util import EventList, ProfilerActivity
from ..base.exits import Exit
from ..base.parts import adopt_parts
from ._files import tensorboard_trace_handler, write_memory_timeline
from ._schedules import ProfilerAction, always, schedule, supported_activities

_STEP = "ProfilerStep"
# Options of a profiler with a schedule that the one that records takes, too.
_OPTIONS = (
    "record_shapes profile_memory with_stack with_flops with_modules experimental_config acc_events "
    "custom_trace_id_callback post_processing_timeout_s"
).split()
_RECORDING = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)


def _activities(given: Iterable[Any] | None) -> tuple[set[ProfilerActivity], dict[ProfilerActivity, set[str]]]:
    """Return the activities to record, and for some of them the only names to record."""
    if given is None:
        return supported_activities(), {}
    found: set[ProfilerActivity] = set()
    filters: dict[ProfilerActivity, set[str]] = {}
    for item in given:
        if not isinstance(item, Mapping | ProfilerActivity):
            raise TypeError(f"Expected ProfilerActivity or dict, got {type(item)}")
        new = set(item) if isinstance(item, Mapping) else {item}
        if twice := found & new:
            raise ValueError(f"Activity {twice.pop()} specified more than once")
        found |= new
        if isinstance(item, Mapping):
            filters |= {activity: set(names) for activity, names in item.items()}
    return found, filters


class _KinetoProfile:
    """A profiler with manual `start` and `stop`. Arguments as for `profile`."""

    def __init__(
        self,
        *,
        activities: Iterable[Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: Any = None,
        execution_trace_observer: Any = None,
        acc_events: bool = False,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
    ) -> None:
        self.activities, self.activity_filters = _activities(activities)
        if experimental_config is not None and experimental_config.trace_only and with_stack:
            warn("trace_only=True does not go together with with_stack=True, and is left out", stacklevel=3)
            experimental_config = replace(experimental_config, trace_only=False)
        self.record_shapes, self.with_flops, self.profile_memory = record_shapes, with_flops, profile_memory
        self.with_stack, self.with_modules, self.acc_events = with_stack, with_modules, acc_events
        self.experimental_config = experimental_config
        self.execution_trace_observer = execution_trace_observer
        self.custom_trace_id_callback = custom_trace_id_callback
        self.post_processing_timeout_s = post_processing_timeout_s
        self.profiler: plain.profile | None = None
        self.preset_metadata: dict[str, str] = {}
        self._metadata: dict[str, Any] = {}
        names = {a.name.lower() for a in self.activities} - {"cpu"}
        self.use_device = min(names) if names else None

    def start(self) -> None:
        """Start recording."""
        self.prepare_trace()
        self.start_trace()

    def stop(self) -> None:
        """Stop recording."""
        self.stop_trace()

    def prepare_trace(self) -> None:
        """Prepare a trace (warm-up)."""
        if self.profiler is not None and not self.acc_events:
            warn(
                "Warning: Profiler clears events at the end of each cycle. Only events from the current cycle will be "
                "reported. To keep events across cycles, set acc_events=True.",
                stacklevel=4,
            )
        if self.profiler is None or not self.acc_events:
            self.profiler = plain.profile(
                use_cpu=ProfilerActivity.CPU in self.activities,
                use_device=self.use_device,
                use_kineto=True,
                activity_filters=self.activity_filters,
                **{name: getattr(self, name) for name in _OPTIONS},
            )
        self.profiler._prepare_trace()

    def start_trace(self) -> None:
        """Start recording the prepared trace."""
        if self.execution_trace_observer is not None:
            self.execution_trace_observer.start()
        self._known("starting trace")._start_trace()
        for key, value in self.preset_metadata.items():
            self.add_metadata_json(key, value)

    def stop_trace(self) -> None:
        """Stop recording the trace."""
        if self.execution_trace_observer is not None:
            self.execution_trace_observer.stop()
        self._known("stopping trace")._stop_trace()

    def _known(self, what: str) -> plain.profile:
        if self.profiler is None:
            raise AssertionError(f"Profiler must be initialized before {what}")
        return self.profiler

    def toggle_collection_dynamic(self, enable: bool, activities: Iterable[ProfilerActivity]) -> None:
        """Pause or resume recording."""
        if self.profiler is not None:
            self.profiler.toggle_collection_dynamic(enable, activities)

    # -- results --

    def __repr__(self) -> str:
        """The longest rows of `key_averages()`, as a table."""
        found = ""
        if self.profiler is not None and not self.profiler.experimental_config.trace_only:
            found = self.key_averages().table(sort_by="self_cpu_time_total", row_limit=10)
        return found or f"<{type(self).__name__}: no events>"

    def _repr_html_(self) -> str | None:
        return None if self.profiler is None else self.profiler._repr_html_()

    def events(self) -> EventList:
        """The events of the trace, oldest first."""
        return self._known("accessing events").function_events

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """The sums over events of the same name. See `EventList.key_averages`."""
        found = self._known("getting key averages")
        return found.key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def flame(self) -> list[dict[str, Any]]:
        """The events as nested plain data. See `gradpack.autograd.profiler.profile.flame`."""
        return self._known("accessing events").flame()

    def export_chrome_trace(self, path: str, use_python_export: bool = False) -> None:
        """Write the trace for chrome://tracing, Perfetto and TensorBoard; compressed, if `path` ends in `.gz`."""
        self._known("exporting chrome trace").export_chrome_trace(path, self._metadata)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write callers and times: what flame graphs are made of. See `EventList.export_stacks`."""
        self._known("exporting stacks").export_stacks(path, metric)

    def export_memory_timeline(self, path: str, device: str | None = None) -> None:
        """Write what memory tensors held, and when, as JSON: `[times in nanoseconds, bytes of each kind]`.

        The kinds are those of torch, whose last is "unknown": everything is of that kind here. Counted are arrays
        that were made while the profiler was on.

        Args:
            path: the file; compressed, if it ends in `.gz`. For a name in `raw.json.gz` it holds the changes instead:
                `[time, 1 (made) or 3 (dropped), bytes, kind]`.
            device: the kind of device: "cpu" by default.

        Raises:
            ValueError: if memory was not recorded, or for a name in `.html`.
        """
        warn(
            "`export_memory_timeline` is deprecated, as in torch: export_chrome_trace has the same numbers",
            FutureWarning,
            stacklevel=2,
        )
        recorder = None if self.profiler is None else self.profiler._recorder
        if recorder is None or recorder.memory is None:
            raise ValueError("profile_memory=True required for memory profiling.")
        if path.endswith(".html"):
            raise ValueError(f"{path}: a plot is not written here; name a file in .json or .json.gz")
        write_memory_timeline(path, recorder.records, device or "cpu")

    def add_metadata(self, key: str, value: str) -> None:
        """Add a string to the metadata of the trace."""
        self._metadata[key] = str(value)

    def add_metadata_json(self, key: str, value: str) -> None:
        """Add a JSON value to the metadata of the trace.

        Raises:
            ValueError: if it is no JSON.
        """
        self._metadata[key] = json.loads(value)

    def preset_metadata_json(self, key: str, value: str) -> None:
        """Add a JSON value to the metadata of every trace started from now on."""
        self.preset_metadata[key] = value


class profile(_KinetoProfile):  # noqa: N801 - torch's name
    """`with profile(...) as prof: ...` records a block, or, with a schedule, some of its steps.

    Args:
        activities: what to record, as `ProfilerActivity`. Default: all there is, the CPU.
        schedule: what to do in which step: see `schedule`. The block then calls `prof.step()` after each step, and
            each step is an event `ProfilerStep*` (in traces with its number). Default: record all.
        on_trace_ready: called with the profiler when a cycle of the schedule, or the block, has ended.
        record_shapes, profile_memory, with_stack, with_flops, with_modules: see `gradpack.autograd.profiler.profile`.
        experimental_config: settings of torch's profiler: see `gradpack.autograd.profiler.profile`.
        execution_trace_observer: its `start`, `stop` and `cleanup` are called with the recording.
        acc_events: keep the events of earlier cycles.
        use_cuda: deprecated: it only warns. `activities` says what to record.
        custom_trace_id_callback: called without arguments; returns the id of a trace: by default a random one.
        post_processing_timeout_s: accepted, and of no effect.

    Raises:
        AssertionError: if there is nothing to record.
        TypeError, ValueError: for something else among `activities`, or one that is there twice.

    Example::

        >>> import gradpack as torch
        >>> x, names = torch.ones(2), []
        >>> with torch.profiler.profile(
        ...     schedule=torch.profiler.schedule(wait=1, warmup=1, active=1),
        ...     on_trace_ready=lambda prof: names.extend(event.name for event in prof.events()),
        ... ) as prof:
        ...     for _ in range(3):
        ...         y = x * 2
        ...         prof.step()
        >>> names
        ['ProfilerStep*', 'aten::mul']
    """

    def __init__(
        self,
        *,
        activities: Iterable[Any] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[Any], Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: Any = None,
        execution_trace_observer: Any = None,
        acc_events: bool = False,
        use_cuda: bool | None = None,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
    ) -> None:
        arguments = locals()
        if use_cuda is not None:
            warn("`use_cuda` is deprecated, use `activities` argument instead", FutureWarning, stacklevel=2)
        activities = None if activities is None else list(activities)
        if activities is not None and not any(a for a in activities if isinstance(a, Mapping | ProfilerActivity)):
            raise AssertionError("No valid profiler activities found")
        super().__init__(
            activities=activities,
            execution_trace_observer=execution_trace_observer,
            **{name: arguments[name] for name in _OPTIONS},
        )
        self.schedule = schedule or always
        self.record_steps = schedule is not None
        self.on_trace_ready = on_trace_ready
        self.step_num = 0
        self.step_rec_fn: plain.record_function | None = None
        self.current_action = self._planned(0)
        plain.KinetoStepTracker.init_step_count(_STEP)

    def _planned(self, step: int) -> ProfilerAction:
        action = self.schedule(step)
        if action is ProfilerAction.DEVICE_STOPPED:
            raise ValueError("a schedule must not give ProfilerAction.DEVICE_STOPPED")
        return action

    def __enter__(self) -> profile:
        try:
            self.start()
        except BaseException:  # also an interrupt: `__exit__` does not run if `__enter__` raised
            self._switch_off()
            raise
        return self

    def _leave(self, begun: list[bool]) -> None:
        if begun:  # and interrupted
            self._switch_off()
            return
        begun.append(True)
        self.stop()
        plain.KinetoStepTracker.erase_step_count(_STEP)
        if self.execution_trace_observer is not None:
            self.execution_trace_observer.cleanup()

    def _switch_off(self) -> None:
        """Stop recording without calling callbacks."""
        if self.profiler is not None:
            self.profiler._stop_trace()

    __exit__ = Exit(lambda self: [], _leave)

    def start(self) -> None:
        """Begin the first step."""
        self._change(ProfilerAction.NONE, self.current_action)
        self._begin_step()

    def stop(self) -> None:
        """End the last step and pass on the trace being recorded."""
        self._end_step()
        self._change(self.current_action, None)

    def step(self) -> None:
        """End a step, and begin the next one."""
        self._end_step()
        before, after = self.current_action, self._planned(self.step_num + 1)
        self.step_num += 1
        self.current_action = after
        self._change(before, after)
        self._begin_step()

    def _begin_step(self) -> None:
        if self.record_steps:
            self.step_rec_fn = plain.record_function(f"{_STEP}#{self.step_num}")
            self.step_rec_fn.__enter__()

    def _end_step(self) -> None:
        if self.step_rec_fn is not None:
            self.step_rec_fn.__exit__(None, None, None)
            self.step_rec_fn = None

    def _change(self, before: ProfilerAction, after: ProfilerAction | None) -> None:
        """Make the transition from the action of one step to that of the next; None at the end."""
        saved = before is ProfilerAction.RECORD_AND_SAVE
        recording = before in _RECORDING
        if after in (ProfilerAction.NONE, ProfilerAction.WARMUP) and before is ProfilerAction.RECORD:
            warn(f"Incorrect schedule: RECORD followed by {after.name}", stacklevel=3)
        if after is ProfilerAction.NONE and before is ProfilerAction.WARMUP:
            warn("Incorrect schedule: WARMUP followed by NONE", stacklevel=3)
        if recording and (saved or after not in _RECORDING):
            self.stop_trace()
            recording = False
            if saved or after is None:
                self._trace_ready()
        if after is ProfilerAction.WARMUP and before is not ProfilerAction.WARMUP:
            self.prepare_trace()
        if after in _RECORDING and not recording:
            if before is not ProfilerAction.WARMUP:
                self.prepare_trace()
            self.start_trace()

    def _trace_ready(self) -> None:
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def set_custom_trace_id_callback(self, callback: Callable[[], str]) -> None:
        """Let `callback` give the names of traces, from the next one on."""
        self.custom_trace_id_callback = callback

    def get_trace_id(self) -> str | None:
        """The name of the trace; None before the first one."""
        return None if self.profiler is None else self.profiler.trace_id


__all__ = ["ProfilerAction", "profile", "schedule", "supported_activities", "tensorboard_trace_handler"]

adopt_parts(__name__)
