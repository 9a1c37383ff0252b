"""The parts of a profiler's events: kinds of devices, intervals, kernels, and times as text.

Times are in microseconds.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple
from warnings import warn

from .table import format_time


class DeviceType(Enum):
    """The kind of device that an event ran on: CPU, CUDA, XPU, HPU or PrivateUse1, with torch's numbers.

    Example::

        >>> import gradpack as torch
        >>> with torch.autograd.profiler.profile() as prof:
        ...     _ = torch.ones(3).exp()
        >>> prof.function_events[0].device_type
        <DeviceType.CPU: 0>
        >>> torch.autograd.DeviceType(1)
        <DeviceType.CUDA: 1>
    """

    CPU = 0
    CUDA = 1
    XPU = 12
    HPU = 18
    PrivateUse1 = 20

    def __repr__(self) -> str:
        return f"<DeviceType.{self.name}: {self.value}>"


class ProfilerActivity(Enum):
    """A kind of work that `torch.profiler.profile` may record: that of the CPU, or of another device. Torch's numbers.

    Example::

        >>> import gradpack as torch
        >>> with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as prof:
        ...     _ = torch.ones(3).exp()
        >>> [event.name for event in prof.events()]
        ['aten::ones', 'aten::exp']
    """

    CPU = 0
    XPU = 1
    CUDA = 2
    HPU = 3
    MTIA = 4
    PrivateUse1 = 5


class Interval:
    """A time interval from `start` to `end`, in microseconds.

    Args:
        start: when it begins.
        end: when it ends.

    Example::

        >>> import gradpack as torch
        >>> interval = torch.autograd.profiler_util.Interval(10.0, 25.5)
        >>> interval.elapsed_us()
        15.5
    """

    def __init__(self, start: float, end: float) -> None:
        self.start, self.end = start, end

    def elapsed_us(self) -> float:
        """Return the duration in microseconds."""
        return self.end - self.start

    def __repr__(self) -> str:
        return f"Interval(start={self.start}, end={self.end})"


class Kernel(NamedTuple):
    """A kernel that ran on another device: an entry of `FunctionEvent.kernels`.

    Args:
        name: the name of the kernel.
        device: the number of the device.
        duration: how long it ran: in microseconds, or the unit of the trace it was read from.

    Example::

        >>> import gradpack as torch
        >>> event = torch.autograd.profiler_util.FunctionEvent(1, "aten::mul", 1, 0.0, 20.0, use_device="cuda")
        >>> event.append_kernel("mul_kernel", 0, 12.5)
        >>> event.kernels
        [Kernel(name='mul_kernel', device=0, duration=12.5)]
        >>> event.device_time_total
        12.5
    """

    name: str
    device: int
    duration: float


def _as_text(name: str) -> Any:
    return property(lambda self: format_time(getattr(self, name)))


class FormattedTimesMixin:
    """Average times per call, and all times as text: the base of `FunctionEvent` and `FunctionEventAvg`.

    Example::

        >>> import gradpack as torch
        >>> event = torch.autograd.profiler_util.FunctionEvent(1, "aten::mul", 1, 0.0, 1500.0)
        >>> event.cpu_time, event.cpu_time_str
        (1500.0, '1.500ms')
    """

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
        """The CPU time per call, in microseconds."""
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def device_time(self) -> float:
        """The time on another device per call, in microseconds."""
        return self.device_time_total / self.count if self.count else 0.0

    @property
    def cuda_time(self) -> float:
        """Deprecated name of `device_time`."""
        warn("`cuda_time` is deprecated, please use `device_time` instead.", FutureWarning, stacklevel=2)
        return self.device_time
