"""Schedules of a profiler: the action of each step, and the activities that can be recorded."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from warnings import warn

from ..autograd.profiler_util import ProfilerActivity


class ProfilerAction(Enum):
    """A profiler's action in a step, which a schedule returns: nothing, warm up, record, or record and save the trace.

    `DEVICE_STOPPED` is torch's for a device that has stopped recording before the CPU; no schedule returns it.

    Example::

        >>> import gradpack as torch
        >>> Action = torch.profiler.ProfilerAction
        >>> def only_the_second(step):
        ...     return Action.RECORD_AND_SAVE if step == 1 else Action.NONE
        >>> x, functions = torch.ones(2), [torch.sin, torch.cos, torch.tan]
        >>> with torch.profiler.profile(schedule=only_the_second) as prof:
        ...     for function in functions:
        ...         y = function(x)
        ...         prof.step()
        >>> [event.name for event in prof.events()]
        ['ProfilerStep*', 'aten::cos']
    """

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3
    DEVICE_STOPPED = 4


def supported_activities() -> set[ProfilerActivity]:
    """Return the activities that can be recorded: CPU, and CUDA if there is a device.

    Example::

        >>> import gradpack as torch
        >>> sorted(activity.name for activity in torch.profiler.supported_activities() if activity.name != "CUDA")
        ['CPU']
    """
    from ..backends.cupy_loading import count

    return {ProfilerActivity.CPU, ProfilerActivity.CUDA} if count() else {ProfilerActivity.CPU}


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Callable[[int], ProfilerAction]:
    """Return a schedule: a function from the number of a step to a `ProfilerAction`.

    Args:
        wait, warmup, active: a cycle is so many steps of nothing, of warming up, and of recording; after the last
            of them the trace is ready.
        repeat: so many cycles; 0 for no end.
        skip_first: so many steps of nothing before the first cycle.
        skip_first_wait: not 0: the first cycle does not wait.

    Raises:
        AssertionError: for negative numbers, or nothing to record.

    Example::

        >>> import gradpack as torch
        >>> plan = torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=1)
        >>> [plan(step).name for step in range(5)]
        ['NONE', 'WARMUP', 'RECORD', 'RECORD_AND_SAVE', 'NONE']
    """
    if wait < 0 or warmup < 0 or active <= 0 or repeat < 0 or skip_first < 0:
        raise AssertionError(
            f"Invalid profiler schedule arguments. Got wait={wait} (need >= 0), warmup={warmup} (need >= 0), "
            f"active={active} (need > 0), repeat={repeat} (need >= 0), skip_first={skip_first} (need >= 0)."
        )
    if warmup == 0:
        warn("Profiler won't be using warmup, this can skew profiler results", stacklevel=2)
    cycle = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        step -= skip_first
        if step < 0:
            return ProfilerAction.NONE
        if skip_first_wait:
            step += wait
        if repeat and step >= repeat * cycle:
            return ProfilerAction.NONE
        place = step % cycle
        if place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD_AND_SAVE if place == cycle - 1 else ProfilerAction.RECORD

    return action


def always(_: int) -> ProfilerAction:
    """The default schedule: record from start to stop."""
    return ProfilerAction.RECORD
