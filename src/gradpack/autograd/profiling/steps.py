"""The step counter of profilers."""

from __future__ import annotations


class KinetoStepTracker:
    """Counts steps of several requesters; the global count is the largest of theirs. `profile.step()` counts here.

    Example::

        >>> import gradpack as torch
        >>> tracker = torch.autograd.profiler.KinetoStepTracker
        >>> before = tracker.current_step()
        >>> tracker.init_step_count("loader")
        >>> tracker.increment_step("loader") - before
        1
        >>> tracker.erase_step_count("loader"), tracker.erase_step_count("loader")
        (True, False)
    """

    _current_step = 0
    _step_dict: dict[str, int] = {}  # noqa: RUF012 - one for all, as in torch

    @classmethod
    def init_step_count(cls, requester: str) -> None:
        """Register a requester."""
        cls._step_dict[requester] = cls._current_step

    @classmethod
    def erase_step_count(cls, requester: str) -> bool:
        """Remove a requester; return whether it was registered."""
        return cls._step_dict.pop(requester, None) is not None

    @classmethod
    def increment_step(cls, requester: str) -> int:
        """Increment the count of a requester; return the global count."""
        if requester not in cls._step_dict:
            cls.init_step_count(requester)
        cls._step_dict[requester] += 1
        cls._current_step = max(cls._current_step, *cls._step_dict.values())
        return cls._current_step

    @classmethod
    def current_step(cls) -> int:
        """Return the global count."""
        return cls._current_step
