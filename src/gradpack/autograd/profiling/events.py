"""What a profiler found: events, and their averages. Users find them in `autograd.profiler_util`.

Times are in microseconds, counted from the start of the profiler.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, NamedTuple
from warnings import warn

from .kineto import EventMetadata, metadata_of
from .table import format_time

MEMORY_EVENT_NAME = "[memory]"


class DeviceType(Enum):
    """Kinds of devices, with torch's numbers. Events here are of the CPU."""

    CPU = 0
    CUDA = 1
    XPU = 12
    HPU = 18
    PrivateUse1 = 20

    def __repr__(self) -> str:
        return f"<DeviceType.{self.name}: {self.value}>"


class ProfilerActivity(Enum):
    """What there is to record. Here: the CPU."""

    CPU = 0
    XPU = 1
    CUDA = 2
    HPU = 3
    MTIA = 4
    PrivateUse1 = 5


class Interval:
    """From `start` to `end`."""

    def __init__(self, start: float, end: float) -> None:
        self.start, self.end = start, end

    def elapsed_us(self) -> float:
        """How long it is."""
        return self.end - self.start

    def __repr__(self) -> str:
        return f"Interval(start={self.start}, end={self.end})"


class Kernel(NamedTuple):
    """A piece of work on another device, as nvprof has it."""

    name: str
    device: int
    duration: float


def _as_text(name: str) -> Any:
    return property(lambda self: format_time(getattr(self, name)))


def _former(name: str, now: str) -> Any:
    """An attribute under the name that torch had for it once."""

    def read(event: Any) -> Any:
        warn(f"`{name}` is deprecated. Use `{now}` instead.", FutureWarning, stacklevel=2)
        return getattr(event, now)

    return property(read)


class FormattedTimesMixin:
    """Times per call, and all times as text."""

    count: int
    cpu_time_total: Any
    device_time_total: Any

    cpu_time_str = _as_text("cpu_time")
    device_time_str = _as_text("device_time")
    cpu_time_total_str = _as_text("cpu_time_total")
    device_time_total_str = _as_text("device_time_total")
    self_cpu_time_total_str = _as_text("self_cpu_time_total")
    self_device_time_total_str = _as_text("self_device_time_total")

    @property
    def cpu_time(self) -> float:
        """The time on the CPU, for each call."""
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def device_time(self) -> float:
        """The time on another device, for each call."""
        return self.device_time_total / self.count if self.count else 0.0

    @property
    def cuda_time(self) -> float:
        """The same, under the name that it had once."""
        warn("`cuda_time` is deprecated, please use `device_time` instead.", FutureWarning, stacklevel=2)
        return self.device_time


class FunctionEvent(FormattedTimesMixin):
    """One call: of an operation, a node of the graph, a block of code that the user has named.

    Attributes:
        name: `aten::mul` for an operation, `MulBackward0` for a node.
        time_range: an `Interval` in microseconds.
        thread: the thread it ran on; threads are counted from 1.
        fwd_thread: of a node: the thread of the operation that it is the backward of.
        sequence_nr: of an operation that is recorded, and its node: the number that both have; else -1.
        scope: 0 for an operation, 1 for a node, 7 for a block of the user's.
        input_shapes: of each argument, if shapes were asked for; `[]` for what is no tensor.
        structured_input_shapes: likewise, with the shapes of the tensors in a list of tensors.
        structured_input_strides: the strides, likewise.
        input_dtypes: what arguments are: a dtype by its name in C++, "Scalar", "ScalarList", "TensorList", or "".
        concrete_inputs: the arguments that are no tensors, likewise; None for tensors.
        stack: who called it, innermost first, as `file(line): function`, if that was asked for.
        module_hierarchy: the modules that it ran in, joined by dots, if that was asked for.
        flops: floating point operations, estimated from the shapes, if that was asked for; 0 where not known.
        cpu_memory_usage: bytes that tensors held more at its end than at its start, if that was asked for.
        cpu_children, cpu_parent: the events inside of it, and the one that it is inside of.
        activity_type: "cpu_op", "user_annotation", "python_function" for a call of a module; None for memory.
        flow_id, flow_type, flow_start: of an operation and the node that is its backward: a number that both have,
            1, and whether it is the operation; else 0, 0 and False.
        event_metadata: details of a kernel as an `EventMetadata`, out of `extra_meta`; None on the CPU.
        is_python_function, external_id, linked_correlation_id, python_id, python_parent_id, python_module_id: as torch
            has them; an event is known outside by its own number.
    """

    def __init__(
        self,
        id: int,
        name: str,
        thread: int,
        start_us: float,
        end_us: float,
        overload_name: str | None = None,
        fwd_thread: int | None = None,
        input_shapes: Any = None,
        stack: Any = None,
        scope: int = 0,
        use_device: str | None = None,
        cpu_memory_usage: int = 0,
        device_memory_usage: int = 0,
        is_async: bool = False,
        is_remote: bool = False,
        sequence_nr: int = -1,
        node_id: int = -1,
        device_type: DeviceType = DeviceType.CPU,
        device_index: int = 0,
        device_resource_id: int | None = None,
        is_legacy: bool = False,
        flops: int | None = None,
        trace_name: str | None = None,
        concrete_inputs: Any = None,
        kwinputs: Any = None,
        is_user_annotation: bool = False,
        is_python_function: bool = False,
        activity_type: str | None = None,
        metadata_json: str | None = None,
        flow_id: int | None = None,
        flow_type: int | None = None,
        flow_start: bool | None = None,
        external_id: int = 0,
        linked_correlation_id: int = 0,
        extra_meta: Mapping[str, str] | None = None,
        structured_input_shapes: Any = None,
        structured_input_strides: Any = None,
        input_dtypes: Any = None,
        python_id: int = -1,
        python_parent_id: int = -1,
        python_module_id: int = -1,
        *,
        module_hierarchy: str = "",
    ) -> None:
        self.id, self.name, self.thread, self.node_id = id, name, thread, node_id
        self.overload_name, self.trace_name = overload_name, trace_name
        self.time_range = Interval(start_us, end_us)
        self.fwd_thread, self.scope, self.sequence_nr = fwd_thread, scope, sequence_nr
        self.input_shapes, self.concrete_inputs, self.kwinputs = input_shapes, concrete_inputs, kwinputs
        self.input_dtypes, self.module_hierarchy = input_dtypes, module_hierarchy
        self.stack, self.flops = stack, flops
        self.use_device, self.device_type, self.device_index = use_device, device_type, device_index
        self.device_resource_id = thread if device_resource_id is None else device_resource_id
        self.cpu_memory_usage, self.device_memory_usage = cpu_memory_usage, device_memory_usage
        self.is_async, self.is_remote, self.is_legacy = is_async, is_remote, is_legacy
        self.is_user_annotation, self.is_python_function = is_user_annotation, is_python_function
        self.activity_type, self._metadata_json = activity_type, metadata_json
        self.flow_id, self.flow_type, self.flow_start = flow_id, flow_type, flow_start
        self.external_id, self.linked_correlation_id = external_id, linked_correlation_id
        self.event_metadata: EventMetadata | None = metadata_of(extra_meta) if extra_meta else None
        self.structured_input_shapes = structured_input_shapes
        self.structured_input_strides = structured_input_strides
        self.python_id, self.python_parent_id, self.python_module_id = python_id, python_parent_id, python_module_id
        self.count = 1
        self.kernels: list[Kernel] = []
        self.cpu_children: list[FunctionEvent] = []
        self.cpu_parent: FunctionEvent | None = None
        self.self_cpu_percent: Any = -1
        self.total_cpu_percent: Any = -1
        self.total_device_percent: Any = -1

    cuda_time_total = _former("cuda_time_total", "device_time_total")
    self_cuda_time_total = _former("self_cuda_time_total", "self_device_time_total")
    self_cuda_memory_usage = _former("self_cuda_memory_usage", "self_device_memory_usage")

    @property
    def metadata_json(self) -> str | None:
        """Details as text, as they were once."""
        warn("`metadata_json` is deprecated. Use `event_metadata` instead.", FutureWarning, stacklevel=2)
        return self._metadata_json

    @property
    def key(self) -> str:
        """What events are grouped by: the name."""
        return self.name

    def append_kernel(self, name: str, device: int, duration: float) -> None:
        """Add a piece of work on another device."""
        self.kernels.append(Kernel(name, device, duration))

    def append_cpu_child(self, child: FunctionEvent) -> None:
        """Add an event that is inside of this one, and of none that is inside of it."""
        if not isinstance(child, FunctionEvent):
            raise AssertionError(f"Expected child to be a FunctionEvent, not {type(child).__name__}")
        self.cpu_children.append(child)

    def set_cpu_parent(self, parent: FunctionEvent) -> None:
        """Say which event this one is inside of."""
        if not isinstance(parent, FunctionEvent):
            raise AssertionError(f"Expected parent to be a FunctionEvent, not {type(parent).__name__}")
        self.cpu_parent = parent

    @property
    def cpu_time_total(self) -> float:
        """How long it took; nothing, if it ran on another device."""
        return self.time_range.elapsed_us() if self.device_type is DeviceType.CPU else 0

    @property
    def self_cpu_time_total(self) -> float:
        """How long it took, without the events inside of it."""
        if self.is_async or self.device_type is not DeviceType.CPU:
            return 0
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    @property
    def self_cpu_memory_usage(self) -> int:
        """The bytes that tensors held more, without the events inside of it."""
        if self.is_async:
            return 0
        return self.cpu_memory_usage - sum(child.cpu_memory_usage for child in self.cpu_children)

    @property
    def self_device_memory_usage(self) -> int:
        """The same of another device."""
        if self.is_async:
            return 0
        return self.device_memory_usage - sum(child.device_memory_usage for child in self.cpu_children)

    @property
    def device_time_total(self) -> float:
        """The time of its work on another device: its own, or that of the kernels that it has started."""
        if self.is_async or not self.use_device:
            return 0
        if self.device_type is not DeviceType.CPU:
            return self.time_range.elapsed_us()
        own = sum(kernel.duration for kernel in self.kernels)
        return own if self.is_legacy else own + sum(child.device_time_total for child in self.cpu_children)

    @property
    def self_device_time_total(self) -> float:
        """The same, without the events inside of it."""
        if self.is_async or not self.use_device:
            return 0
        inside = 0 if self.device_type is not DeviceType.CPU else sum(c.device_time_total for c in self.cpu_children)
        return self.device_time_total - inside

    def __repr__(self) -> str:
        device = self.use_device
        return (
            f"<FunctionEvent id={self.id} name={self.name} overload_name={self.overload_name} "
            f"device_type={self.device_type} node_id={self.node_id} cpu_time={self.cpu_time_str} "
            f"start_us={self.time_range.start} end_us={self.time_range.end} "
            f"cpu_children={[child.id for child in self.cpu_children]} {device}_time={self.device_time_str} "
            f"name={self.name} thread={self.thread} input_shapes={self.input_shapes} "
            f"cpu_memory_usage={self.cpu_memory_usage} {device}_memory_usage={self.device_memory_usage} "
            f"is_async={self.is_async} is_remote={self.is_remote} seq_nr={self.sequence_nr} is_legacy={self.is_legacy}>"
        )


# What is added up, and what is taken from the first event, when events are averaged.
_SUMS = (
    "cpu_time_total device_time_total self_cpu_time_total self_device_time_total cpu_memory_usage device_memory_usage "
    "self_cpu_memory_usage self_device_memory_usage count"
).split()
_FIRST = (
    "key node_id is_async is_remote cpu_parent cpu_children overload_name input_shapes stack scope device_type "
    "is_legacy use_device is_user_annotation"
).split()


class FunctionEventAvg(FormattedTimesMixin):
    """The sums over several events of one key."""

    cpu_memory_usage: int
    device_memory_usage: int

    def __init__(self) -> None:
        for name in _SUMS:
            setattr(self, name, 0)
        for name in _FIRST:
            setattr(self, name, None)
        self.is_async = self.is_remote = self.is_legacy = self.is_user_annotation = False
        self.node_id: int = 0
        self.key: str | None = None
        self.stack: Any = None
        self.input_shapes: Any = None
        self.overload_name: Any = None
        self.use_device: str | None = None
        self.device_type = DeviceType.CPU
        self.flops: int | None = 0
        self.self_cpu_percent: Any = -1
        self.total_cpu_percent: Any = -1
        self.cpu_parent: FunctionEvent | None = None
        self.cpu_children: list[FunctionEvent] | None = None

    def add(self, other: Any) -> FunctionEventAvg:
        """Add an event, or another average, of the same key.

        Raises:
            AssertionError: if the key is another, or if it is neither.
        """
        if not isinstance(other, FunctionEvent | FunctionEventAvg):
            raise AssertionError("Expected other to be a FunctionEvent or FunctionEventAvg")
        if self.key is None:
            for name in _FIRST:
                setattr(self, name, getattr(other, name))
        if other.key != self.key:
            raise AssertionError(f"Expected keys to match, but got {other.key} vs {self.key}")
        for name in _SUMS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        if self.flops is None:
            self.flops = other.flops
        elif other.flops is not None:
            self.flops += other.flops
        return self

    def __iadd__(self, other: Any) -> FunctionEventAvg:
        return self.add(other)

    def __repr__(self) -> str:
        device = self.use_device or "cuda"
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} "
            f"cpu_time={self.cpu_time_str}  self_{device}_time={self.self_device_time_total_str} "
            f"{device}_time={self.device_time_str} input_shapes={self.input_shapes} "
            f"cpu_memory_usage={self.cpu_memory_usage} {device}_memory_usage={self.device_memory_usage}>"
        )
