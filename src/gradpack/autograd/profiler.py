"""The profiler: where the time of a program is spent. `torch.autograd.profiler`.

`profile` measures the time of operations, graph nodes and named blocks of code; `emit_nvtx` and `emit_itt` emit
them as ranges for the tools of NVIDIA and Intel. Each is active in the thread or asyncio task that enters it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4
from warnings import warn

from ..base.exits import Exit
from ..base.modes import MODE
from . import kineto_available
from .profiler_util import DeviceType, EventList, FunctionEvent, FunctionEventAvg, ProfilerActivity
from .profiling.blocks import record_function
from .profiling.emit import emit_itt, emit_nvtx
from .profiling.kineto import MemRecordsAcc
from .profiling.nvprof import EnforceUnique, load_nvprof, parse_nvprof_trace
from .profiling.recorder import Recorder
from .profiling.steps import KinetoStepTracker

F = TypeVar("F", bound=Callable[..., Any])

_UNFINISHED = "<unfinished torch.autograd.profile>"


@dataclass(frozen=True)
class _ExperimentalConfig:
    """torch's experimental settings of Kineto, of which few have an effect here.

    Args:
        verbose, performance_events, enable_cuda_sync_events, profile_all_threads, capture_overload_names: ignored.
        trace_only: events can be exported, but not accessed.
    """

    profiler_metrics: tuple[str, ...] = ()
    profiler_measure_per_kernel: bool = False
    verbose: bool = False
    performance_events: tuple[str, ...] = ()
    enable_cuda_sync_events: bool = False
    adjust_profiler_step: bool = False
    disable_external_correlation: bool = False
    profile_all_threads: bool = False
    capture_overload_names: bool = False
    trace_only: bool = False


def _of_events(method: F) -> F:
    """The method of a profiler that calls this one of its events."""

    @wraps(method)
    def called(prof: Any, *args: Any, **kwargs: Any) -> Any:
        return method(prof._found(), *args, **kwargs)

    return called  # type: ignore[return-value]


class profile:  # noqa: N801 - torch's name
    """Context manager that profiles the operations of a block.

    Args:
        enabled: False disables it.
        use_cuda, use_device: another device to measure, "cuda". Warns if there is none.
        record_shapes: record the shapes of arguments.
        with_flops: estimate the floating point operations of matrix products, convolutions, attention, additions and
            multiplications. Records shapes as well.
        profile_memory: record allocations and releases of tensor memory.
        with_stack: record the call stack.
        with_modules: record module calls: each is an event, and other events list the modules around them.
        use_kineto, experimental_config, activity_filters: accepted for compatibility with torch.
        use_cpu: must be True.
        acc_events: accumulate the events of several blocks when `gradpack.profiler` enters the profiler again.
        custom_trace_id_callback: returns the id of the trace.
        post_processing_timeout_s: ignored.

    Raises:
        AssertionError: for `use_cpu=False`.
        RuntimeError: if it is entered twice.

    Example::

        >>> import gradpack as torch
        >>> x = torch.ones(3, requires_grad=True)
        >>> with torch.autograd.profiler.profile() as prof:
        ...     (x * 2).sum().backward()
        >>> [event.name for event in prof.function_events][:3]
        ['aten::mul', 'aten::sum', 'autograd::engine::evaluate_function: SumBackward0']
        >>> sorted(average.key for average in prof.key_averages())[:2]
        ['MulBackward0', 'SumBackward0']
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_cuda: bool = False,
        use_device: str | None = None,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        use_kineto: bool = False,
        use_cpu: bool = True,
        experimental_config: Any = None,
        acc_events: bool = False,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
        activity_filters: Mapping[Any, set[str]] | None = None,
    ) -> None:
        self.enabled = enabled
        self.record_shapes, self.with_flops = record_shapes or with_flops, with_flops
        self.profile_memory, self.with_stack, self.with_modules = profile_memory, with_stack, with_modules
        self.use_cpu, self.acc_events = use_cpu, acc_events
        self.experimental_config = experimental_config or _ExperimentalConfig()
        self.custom_trace_id_callback = custom_trace_id_callback
        self.post_processing_timeout_s = post_processing_timeout_s
        self.activity_filters = dict(activity_filters or {})
        self.entered = False
        self.trace_id = ""
        self.use_device: str | None = None
        self.use_cuda = False
        self._recorder: Recorder | None = None
        self._make_recorder: Callable[..., Recorder] = Recorder
        self._stop_modules: Callable[[], None] | None = None
        self._events: EventList | None = None
        self._earlier: EventList | None = None
        self._started_us = 0.0
        if not enabled:
            return
        if use_cuda:
            warn(
                "The attribute `use_cuda` will be deprecated soon, please use ``use_device = 'cuda'`` instead.",
                FutureWarning,
                stacklevel=2,
            )
            use_device = "cuda"
        if use_device is not None:
            self._find_device(use_device)
        if not use_cpu and self.use_device is None:
            if not use_kineto:
                raise AssertionError("Device-only events supported only with Kineto (use_kineto=True)")
            raise AssertionError("No activities specified for the profiler: there is no device beside the CPU")
        if post_processing_timeout_s is not None and post_processing_timeout_s < 0:
            raise ValueError("post_processing_timeout_s must be non-negative")

    def _find_device(self, use_device: str) -> None:
        """Set the device to measure, with its clock; warn if it has none."""
        if use_device not in ("cuda", "xpu", "mtia", "hpu"):
            warn(f"The {use_device} is not a valid device option.", stacklevel=3)
            return
        from .profiling.device import DeviceRecorder, clock_of

        clock, name = clock_of(use_device), use_device.upper()
        if clock is None:
            warn(f"{name} is not available, disabling {name} profiling", stacklevel=3)
            return
        self.use_device, self._make_recorder = use_device, partial(DeviceRecorder, clock)

    def default_trace_id(self) -> str:
        """Return a unique trace id of 32 hexadecimal digits."""
        return f"{uuid4().int:032X}"

    def create_trace_id(self) -> str:
        """Return a trace id, from `custom_trace_id_callback` if that was given."""
        return self.default_trace_id() if self.custom_trace_id_callback is None else self.custom_trace_id_callback()

    # -- on and off --

    def __enter__(self) -> profile | None:
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        try:
            self._prepare_trace()
            self._start_trace()
        except BaseException:  # also an interrupt: a profiler that was not entered is not left
            self._stop_trace()
            raise
        return self

    def _stop_trace(self) -> None:
        """Stop recording. May be interrupted, and called again."""
        if self._stop_modules is not None:
            self._stop_modules()
            self._stop_modules = None
        if self._recorder is None:
            return
        self._recorder.stop()
        if self._events is not None and self.acc_events:
            self._earlier = self._events
        self._events = None

    __exit__ = Exit(lambda self: self.enabled, lambda self, enabled: self._stop_trace() if enabled else None)

    def _prepare_trace(self) -> None:
        self.entered = True
        self.trace_id = self.create_trace_id()

    def _start_trace(self) -> None:
        outer = MODE.get().profiler
        if outer is not None and not isinstance(outer, Recorder):
            raise RuntimeError(f"the profiler cannot be used inside of {outer.name}: leave that first")
        if self._recorder is not None and self.acc_events:
            self._earlier = self.function_events
        self._events = None
        self._recorder = self._make_recorder(
            shapes=self.record_shapes,
            stack=self.with_stack,
            memory=self.profile_memory,
            modules=self.with_modules,
            outer=outer,
        )
        if self.with_modules:
            from ..nn._module.observed import observe

            self._stop_modules = observe()
        self._started_us = time.time_ns() / 1000
        self._recorder.start()

    # -- what was found --

    def _found(self) -> EventList:
        if self._events is None:
            if self.experimental_config.trace_only:
                raise RuntimeError(
                    "events() is not available when trace_only=True in ExperimentalConfig. Use export_chrome_trace() "
                    "instead."
                )
            self._events = self._built()
            if self._earlier is not None:
                self._events.extend(self._earlier)
                self._earlier = None
        return self._events

    def _built(self) -> EventList:
        from .profiling.build import build

        if self._recorder is None:
            nothing = EventList(profile_memory=self.profile_memory, with_flops=self.with_flops)
            nothing._build_tree()
            return nothing
        return build(self._recorder, use_device=self.use_device, with_flops=self.with_flops)

    @property
    def function_events(self) -> EventList:
        """The events as an `EventList` of `FunctionEvent`s, oldest first."""
        return self._found()

    def __repr__(self) -> str:
        return repr(self._found()) if self._recorder is not None else _UNFINISHED

    def __str__(self) -> str:
        return str(self._found()) if self._recorder is not None else _UNFINISHED

    def _repr_html_(self) -> str | None:
        return self.key_averages()._repr_html_() if self._recorder is not None else None

    table = _of_events(EventList.table)
    total_average = _of_events(EventList.total_average)

    def export_chrome_trace(
        self, path: str, metadata: Mapping[str, Any] | None = None, use_python_export: bool = False
    ) -> None:
        """Export a trace for chrome://tracing, Perfetto and TensorBoard; compressed, if `path` ends in `.gz`.

        Flow arrows lead from operations to the graph nodes of their backward.

        Args:
            metadata: top-level entries to add to the trace.
            use_python_export: ignored.
        """
        from .profiling.trace import write_trace

        flags = {n: int(getattr(self, n)) for n in ("with_stack", "record_shapes", "with_modules", "profile_memory")}
        given = {"trace_id": self.trace_id, "deviceProperties": [], **flags, **(metadata or {})}
        events = self._built() if self.experimental_config.trace_only else self._found()
        write_trace(path, events, events._memory, given, base_us=self._started_us)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write stacks and times for flame graphs. See `EventList.export_stacks`.

        Raises:
            AssertionError: unless stacks were recorded by `with_stack=True`.
        """
        if not self.with_stack:
            raise AssertionError("export_stacks() requires with_stack=True")
        self._found().export_stacks(path, metric)

    def toggle_collection_dynamic(self, enabled: bool, activities: Any) -> None:
        """Pause or resume recording within the block."""
        if self._recorder is not None and any(getattr(a, "name", a) == "CPU" for a in activities):
            MODE.set(MODE.get().replace(profiler=self._recorder if enabled else self._recorder.outer))

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """Return sums over events of the same name. See `EventList.key_averages`."""
        return self._found().key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    @property
    def self_cpu_time_total(self) -> float:
        """The sum of the self CPU times of all events (without child events), in microseconds."""
        return self._found().self_cpu_time_total

    def flame(self) -> list[dict[str, Any]]:
        """Return the events as nested dicts, for flame graphs.

        Each has the keys name, start and duration (in microseconds), thread and children.

        Example::

            >>> import gradpack as torch
            >>> with torch.autograd.profiler.profile() as prof:
            ...     with torch.autograd.profiler.record_function("twice"):
            ...         y = torch.ones(3) * 2
            >>> (top,) = prof.flame()
            >>> top["name"], [child["name"] for child in top["children"]]
            ('twice', ['aten::ones', 'aten::mul'])
        """
        tops: list[dict[str, Any]] = []
        inside: dict[int, list[dict[str, Any]]] = {}  # the children of an event
        for event in self._found():  # a parent comes before its children
            span, children = event.time_range, inside.setdefault(id(event), [])
            row = {"name": event.name, "start": span.start, "duration": span.elapsed_us(), "thread": event.thread}
            inside.get(id(event.cpu_parent), tops).append({**row, "children": children})
        return tops


if not TYPE_CHECKING:  # to type checkers, other names are unknown

    def __getattr__(name: str) -> Any:
        if name == "_is_profiler_enabled":  # asked for by programs written for torch
            return MODE.get().profiler is not None
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["DeviceType", "EnforceUnique", "EventList", "FunctionEvent", "FunctionEventAvg", "KinetoStepTracker"]
__all__ += ["MemRecordsAcc", "ProfilerActivity", "emit_itt", "emit_nvtx", "kineto_available", "load_nvprof"]
__all__ += ["parse_nvprof_trace", "profile", "record_function"]
