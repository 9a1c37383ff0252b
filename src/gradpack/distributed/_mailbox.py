"""Messages between ranks: where they wait to be read, and the transport between threads of one process."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from math import inf
from threading import Condition, current_thread, main_thread
from time import monotonic, sleep
from typing import Any, NamedTuple

__all__ = ["DistBackendError", "DistError", "DistNetworkError"]

Channel = tuple[str, str]  # the name of a group, and what the messages are for
ALL = ""  # the name that stands for all groups


class Message(NamedTuple):
    """A message: the rank that sent it, what it is, and its bytes, a one-dimensional array or None."""

    source: int
    label: Any
    data: Any


class DistError(RuntimeError):
    """Something went wrong between ranks."""


class DistBackendError(DistError):
    """A call failed: a rank has ended, is late, or made another call."""


class DistNetworkError(DistError):
    """The ranks could not be connected."""


class Gone(Exception):  # noqa: N818 - it is caught, and told as a sentence
    """Raised to whom waits for a rank that has ended, or in a group that has failed."""


class Late(Exception):  # noqa: N818 - same
    """Raised where no message has arrived in time."""


class Mailbox:
    """The messages that have arrived at one rank, by channel and sender, and what is known of the other ranks.

    Args:
        poll: called by whom waits, for a transport that has no thread that receives. Returns whether something came.
    """

    def __init__(self, poll: Callable[[], bool] | None = None) -> None:
        self._changed = Condition()
        self._waiting: dict[tuple[Channel, int], deque[Message]] = {}
        self._gone: dict[int, str] = {}  # why a rank sends nothing any more
        self._failed: dict[str, str] = {}  # why a group has failed, by its name
        self._poll = poll

    def put(self, channel: Channel, message: Message) -> None:
        """Add a message, and wake those who wait."""
        with self._changed:
            self._waiting.setdefault((channel, message.source), deque()).append(message)
            self._changed.notify_all()

    def fail(self, group: str, why: str) -> None:
        """Note that a group has failed: nobody waits in it any more. The first reason is kept."""
        with self._changed:
            self._failed.setdefault(group, why)
            self._changed.notify_all()

    def end(self, rank: int, why: str) -> None:
        """Note that a rank will send nothing more. What it has sent may still be read."""
        with self._changed:
            self._gone.setdefault(rank, why)
            self._changed.notify_all()

    def holds(self, channel: Channel, source: int) -> bool:
        """Return whether messages of a rank wait to be read."""
        return (channel, source) in self._waiting

    def failure(self, group: str) -> str | None:
        """Why a group has failed; None if it has not."""
        return self._failed.get(ALL) or self._failed.get(group)

    def gone(self, ranks: Sequence[int]) -> list[str]:
        """Why ranks send nothing more: a reason for each that has ended."""
        return [self._gone[rank] for rank in ranks if rank in self._gone]

    def take(self, channel: Channel, sources: Sequence[int], deadline: float, every: bool = False) -> Message:
        """Wait for a message of one of some ranks, and return the first.

        Args:
            every: whether there has to come one of each.

        Raises:
            Gone: if the group has failed, or these ranks have ended; with `every`, one of them.
            Late: if none has come at the time `deadline` of `time.monotonic`.
        """
        # While others are about to send, looking again at once is fastest, but not beside a program that computes.
        patience = monotonic() + (2e-3 if current_thread() is main_thread() else 0)
        while True:
            with self._changed:
                found = self._first(channel, sources, every)
                if found is not None:
                    return found
                left = deadline - monotonic()
                if left <= 0:
                    raise Late
                if self._poll is None:
                    self._changed.wait(min(left, 1.0))
            if self._poll is not None and not self._poll():
                sleep(0 if monotonic() < patience else 2e-4)

    def _first(self, channel: Channel, sources: Sequence[int], every: bool) -> Message | None:
        """The first message of one of some ranks, if there is one; raises Gone where none can come."""
        for source in sources:
            queue = self._waiting.get((channel, source))
            if queue:
                message = queue.popleft()
                if not queue:
                    del self._waiting[channel, source]
                return message
        why, ended = self.failure(channel[0]), self.gone(sources)
        if why is None and ended and (every or len(ended) == len(sources)):
            why = ", ".join(ended)
        if why is not None:
            raise Gone(why)
        return None


class Transport:
    """Sends messages to other ranks, and has the mailbox of this one. This one is for ranks that are threads.

    Attributes:
        name: the backend's.
        rank, size: which of how many ranks this is.
        box: where messages arrive.
    """

    name = "threads"

    def __init__(self, rank: int, boxes: Sequence[Mailbox]) -> None:
        self.rank, self.size, self.box, self._boxes = rank, len(boxes), boxes[rank], boxes

    def send(self, to: int, channel: Channel, label: Any, data: Any, deadline: float = inf) -> None:
        """Send a message. The array may be written to after `flush`."""
        self._boxes[to].put(channel, Message(self.rank, label, None if data is None else data.copy()))

    def may_be_unread(self, to: int, channel: Channel) -> bool:
        """Return whether messages to a rank may not have been read."""
        return self._boxes[to].holds(channel, self.rank)

    def flush(self, deadline: float) -> None:
        """Wait until what was sent needs its arrays no more.

        Raises:
            Late: if that is not so in time.
        """

    def fail(self, to: int, group: str, why: str) -> None:
        """Tell another rank that a group has failed."""
        self._boxes[to].fail(group, why)

    def close(self) -> None:
        """End the connections: the other ranks learn that this one sends nothing more."""
        for box in self._boxes:
            box.end(self.rank, f"rank {self.rank} has ended")

    def abort(self) -> None:
        """End this process if it could not end by itself after an error."""
