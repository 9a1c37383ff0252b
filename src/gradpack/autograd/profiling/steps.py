"""How many steps a program has made, for those who ask."""

from __future__ import annotations


class KinetoStepTracker:
    """Counts steps for all who announce them: the count is the largest of theirs."""

    _current_step = 0
    _step_dict: dict[str, int] = {}  # noqa: RUF012 - one for all, as in torch

    @classmethod
    def init_step_count(cls, requester: str) -> None:
        """Begin to count for someone."""
        cls._step_dict[requester] = cls._current_step

    @classmethod
    def erase_step_count(cls, requester: str) -> bool:
        """Forget someone; whether there was such a one."""
        return cls._step_dict.pop(requester, None) is not None

    @classmethod
    def increment_step(cls, requester: str) -> int:
        """Count a step of someone, and say how many there are."""
        if requester not in cls._step_dict:
            cls.init_step_count(requester)
        cls._step_dict[requester] += 1
        cls._current_step = max(cls._current_step, *cls._step_dict.values())
        return cls._current_step

    @classmethod
    def current_step(cls) -> int:
        """How many steps there were."""
        return cls._current_step
