"""The events of a profiler, and their averages; public in `autograd.profiler_util`.

Times are in microseconds, counted from the start of the profiler.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import InitVar, dataclass, field
from typing import TYPE_CHECKING, Any
from warnings import warn

from .event_parts import DeviceType, FormattedTimesMixin, Interval, Kernel
from .kineto import EventMetadata, metadata_of

MEMORY_EVENT_NAME = "[memory]"


def _former(name: str, now: str, held: str = "") -> Any:
    """A deprecated name of an attribute, or of what another one holds."""

    def read(event: Any) -> Any:
        warn(f"`{name}` is deprecated. Use `{now}` instead.", FutureWarning, stacklevel=2)
        return getattr(event, held or now)

    return property(read)


def _own_memory(name: str, doc: str) -> Any:
    """The property of a `FunctionEvent` that is another one, without that of its child events."""

    def own(event: Any) -> int:
        return 0 if event.is_async else getattr(event, name) - sum(getattr(c, name) for c in event.cpu_children)

    return property(own, doc=doc)


@dataclass(eq=False, repr=False)
class _EventData:
    """The arguments of `FunctionEvent`, and attributes that depend on other events."""

    id: int
    name: str
    thread: int
    start_us: InitVar[float]
    end_us: InitVar[float]
    overload_name: str | None = None
    fwd_thread: int | None = None
    input_shapes: Any = None
    stack: Any = None
    scope: int = 0
    use_device: str | None = None
    cpu_memory_usage: int = 0
    device_memory_usage: int = 0
    is_async: bool = False
    is_remote: bool = False
    sequence_nr: int = -1
    node_id: int = -1
    device_type: DeviceType = DeviceType.CPU
    device_index: int = 0
    device_resource_id: int | None = None
    is_legacy: bool = False
    flops: int | None = None
    trace_name: str | None = None
    concrete_inputs: Any = None
    kwinputs: Any = None
    is_user_annotation: bool = False
    is_python_function: bool = False
    activity_type: str | None = None
    metadata_json: InitVar[str | None] = None
    flow_id: int | None = None
    flow_type: int | None = None
    flow_start: bool | None = None
    external_id: int = 0
    linked_correlation_id: int = 0
    extra_meta: InitVar[Mapping[str, str] | None] = None
    structured_input_shapes: Any = None
    structured_input_strides: Any = None
    input_dtypes: Any = None
    python_id: int = -1
    python_parent_id: int = -1
    python_module_id: int = -1
    module_hierarchy: str = field(default="", kw_only=True)

    def __post_init__(
        self, start_us: float, end_us: float, metadata_json: str | None, extra_meta: Mapping[str, str] | None
    ) -> None:
        self.time_range = Interval(start_us, end_us)
        if self.device_resource_id is None:
            self.device_resource_id = self.thread
        self._metadata_json = metadata_json
        self.event_metadata: EventMetadata | None = metadata_of(extra_meta) if extra_meta else None
        self.count = 1
        self.kernels: list[Kernel] = []
        self.cpu_children: list[FunctionEvent] = []
        self.cpu_parent: FunctionEvent | None = None
        self.self_cpu_percent: Any = -1
        self.total_cpu_percent: Any = -1
        self.total_device_percent: Any = -1


class FunctionEvent(_EventData, FormattedTimesMixin):
    """One call of an operation, a graph node, a module or a labelled block of code.

    Profilers make them: the arguments say what an event is made of, and are attributes, too.

    Args:
        id: the number of the event.
        name: `aten::mul` for an operation, `MulBackward0` for a node.
        thread: the thread it ran on; threads are counted from 1.
        start_us, end_us: when it began and ended, in microseconds: `time_range`.
        overload_name: the overload of the operation; the profiler gives "".
        fwd_thread: for a node, the thread of the forward operation that made it.
        input_shapes: of each argument, if recorded; `[]` for one that is no tensor.
        stack: the callers, innermost first, as `file(line): function`, if recorded.
        scope: 0 for an operation, 1 for a node, 7 for a module or a labelled block.
        use_device: the kind of the device that is measured beside the CPU, such as `"cuda"`; None for none.
        cpu_memory_usage: by how many bytes tensor memory grew during the event, if recorded.
        device_memory_usage: the same on the other device.
        is_async: whether it ended on another thread: such an event has no `self_cpu_time_total`.
        is_remote: whether it ran in another process.
        sequence_nr: the sequence number that a recorded operation and its node have in common; else -1.
        node_id: the process it ran in, of several that were measured; -1 for one.
        device_type: the kind of device it ran on.
        device_index: the number of that device.
        device_resource_id: the stream on it; on the CPU the thread.
        is_legacy: whether `device_time_total` leaves out the kernels of child events.
        flops: estimated floating point operations, if requested; 0 where not known.
        trace_name: the name in an exported trace: averages are over all steps, which have numbers in the trace.
        concrete_inputs: the arguments that are no tensors, if recorded; None for tensors.
        kwinputs: arguments given by name, if recorded; this profiler gives {}.
        is_user_annotation: whether it is a block labelled by `record_function`.
        is_python_function: whether it is a call of a module.
        activity_type: "cpu_op", "user_annotation", "python_function" for a call of a module; None for memory.
        metadata_json: the former form of `extra_meta`: a str.
        flow_id, flow_type, flow_start: for an operation and its backward node, a number that both have, 1, and whether
            it is the operation; else 0, 0 and False.
        external_id: the number that other tools know it by: its own.
        linked_correlation_id: the number of the event that launched it, for work on another device; else 0.
        extra_meta: details of a kernel as text, by the names that traces have: `event_metadata`.
        structured_input_shapes: as `input_shapes`, with the shapes of the tensors in a list of tensors.
        structured_input_strides: the strides, likewise.
        input_dtypes: the kind of each argument: the C++ name of a dtype, "Scalar", "ScalarList", "TensorList", or "".
        python_id, python_parent_id, python_module_id: numbers of the Python call, of its caller and of the module; -1
            for what is none.
        module_hierarchy: the modules around it, joined by dots, if recorded.

    Attributes:
        time_range: an `Interval` in microseconds.
        kernels: the kernels that it launched on another device, each a `Kernel`.
        count: 1: averages have the number of their events.
        cpu_children, cpu_parent: the child events, and the parent event.
        event_metadata: details of a kernel from `extra_meta`, as an `EventMetadata`; None on the CPU.

    Example::

        >>> import gradpack as torch
        >>> x = torch.ones(2, 3, requires_grad=True)
        >>> with torch.autograd.profiler.profile(record_shapes=True) as prof:
        ...     (x * 2).sum().backward()
        >>> forward = prof.function_events[0]
        >>> forward.name, forward.input_shapes, forward.cpu_time_total > 0
        ('aten::mul', [[2, 3], []], True)
        >>> backward, = [event for event in prof.function_events if event.name == "MulBackward0"]
        >>> backward.sequence_nr == forward.sequence_nr
        True
        >>> backward.cpu_parent.name
        'autograd::engine::evaluate_function: MulBackward0'
    """

    cuda_time_total = _former("cuda_time_total", "device_time_total")
    self_cuda_time_total = _former("self_cuda_time_total", "self_device_time_total")
    self_cuda_memory_usage = _former("self_cuda_memory_usage", "self_device_memory_usage")
    metadata_json = _former("metadata_json", "event_metadata", "_metadata_json")

    @property
    def key(self) -> str:
        """The key for averages: the name."""
        return self.name

    def append_kernel(self, name: str, device: int, duration: float) -> None:
        """Add a kernel on another device; `duration` in microseconds."""
        self.kernels.append(Kernel(name, device, duration))

    def append_cpu_child(self, child: FunctionEvent) -> None:
        """Add a direct child event."""
        if not isinstance(child, FunctionEvent):
            raise AssertionError(f"Expected child to be a FunctionEvent, not {type(child).__name__}")
        self.cpu_children.append(child)

    def set_cpu_parent(self, parent: FunctionEvent) -> None:
        """Set the parent event."""
        if not isinstance(parent, FunctionEvent):
            raise AssertionError(f"Expected parent to be a FunctionEvent, not {type(parent).__name__}")
        self.cpu_parent = parent

    @property
    def cpu_time_total(self) -> float:
        """The duration in microseconds; 0 for an event on another device."""
        return self.time_range.elapsed_us() if self.device_type is DeviceType.CPU else 0

    @property
    def self_cpu_time_total(self) -> float:
        """The duration without child events, in microseconds."""
        if self.is_async or self.device_type is not DeviceType.CPU:
            return 0
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    self_cpu_memory_usage = _own_memory("cpu_memory_usage", "The growth of CPU memory in bytes, without child events.")
    self_device_memory_usage = _own_memory(
        "device_memory_usage", "The growth of the other device's memory in bytes, without child events."
    )

    @property
    def device_time_total(self) -> float:
        """The time of its work on another device: its own duration there, or that of the kernels it launched."""
        if self.is_async or not self.use_device:
            return 0
        if self.device_type is not DeviceType.CPU:
            return self.time_range.elapsed_us()
        own = sum(kernel.duration for kernel in self.kernels)
        return own if self.is_legacy else own + sum(child.device_time_total for child in self.cpu_children)

    @property
    def self_device_time_total(self) -> float:
        """`device_time_total` without child events."""
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


# Attributes that averages sum up, and those that they take from the first event.
_SUMS = (
    "cpu_time_total device_time_total self_cpu_time_total self_device_time_total cpu_memory_usage device_memory_usage "
    "self_cpu_memory_usage self_device_memory_usage count"
).split()
_FIRST = (
    "key node_id is_async is_remote cpu_parent cpu_children overload_name input_shapes stack scope device_type "
    "is_legacy use_device is_user_annotation"
).split()


class FunctionEventAvg(FormattedTimesMixin):
    """The sums over several events with the same key, as `key_averages` returns them.

    Example::

        >>> import gradpack as torch
        >>> with torch.autograd.profiler.profile() as prof:
        ...     _ = torch.ones(3).exp() * torch.ones(3).exp()
        >>> average = max(prof.key_averages(), key=lambda average: average.count)
        >>> average.key, average.count
        ('aten::ones', 2)
        >>> average.cpu_time * average.count == average.cpu_time_total
        True
    """

    if TYPE_CHECKING:  # the attributes of `_SUMS` and `_FIRST`

        def __getattr__(self, name: str) -> Any: ...

        def __setattr__(self, name: str, value: Any) -> None: ...

    def __init__(self) -> None:
        vars(self).update(dict.fromkeys(_SUMS, 0), **dict.fromkeys(_FIRST))
        self.is_async = self.is_remote = self.is_legacy = self.is_user_annotation = False
        self.node_id, self.device_type = 0, DeviceType.CPU
        self.flops: int | None = 0
        self.self_cpu_percent: Any = -1
        self.total_cpu_percent: Any = -1

    def add(self, other: Any) -> FunctionEventAvg:
        """Add an event, or another average, with the same key.

        Raises:
            AssertionError: for another key or type.
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
