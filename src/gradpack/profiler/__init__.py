"""The profiler with schedules: `torch.profiler`."""

from typing import TYPE_CHECKING

from ..autograd.profiler import _ExperimentalConfig as _ExperimentalConfig
from ..autograd.profiler import kineto_available, record_function
from ..autograd.profiler_util import DeviceType, ProfilerActivity
from . import itt
from .profiler import ProfilerAction, profile, schedule, supported_activities, tensorboard_trace_handler
from .profiler import _KinetoProfile as _KinetoProfile

__all__ = ["DeviceType", "ProfilerAction", "ProfilerActivity", "itt", "kineto_available", "profile", "record_function"]
__all__ += ["schedule", "supported_activities", "tensorboard_trace_handler"]


if not TYPE_CHECKING:  # to type checkers, other names are unknown

    def __getattr__(name: str) -> object:
        if name == "ExecutionTraceObserver":
            raise AttributeError(
                "gradpack.profiler has no ExecutionTraceObserver, whose files are for replaying torch's kernels: "
                "profile(...).export_chrome_trace(path) writes what was recorded"
            )
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
