"""Interface to a library that computes asynchronously: streams, events and pinned memory of one device.

Kernels and copies are given to streams. Each stream does what it was given in that order; two streams, or a stream
and the host, know nothing of each other unless one waits for an event of the other. `Backend.streams(device)` returns
an object with these methods, always the same one for one device, or None where the host waits for everything, as on
the CPU. Streams, events and arrays are whatever the library has: nobody looks into them but these methods.

Memory has a home: the stream that was current when it was asked for, or the one that `empty` was given. Who lets go of
an array says by that only that its home is done with it. If another stream may still use it, the home has to wait for
that stream first, or the host has, or `hold` is called.
"""

from __future__ import annotations

from typing import Any, Protocol


class Streams(Protocol):
    """The streams of one device. All methods may be called from any thread, whichever device that one has chosen.

    `hold` is called while objects die, so at any moment: a lock that it takes must be one that its thread may take
    again.

    Attributes:
        staging: for whoever copies through these streams to keep what belongs to them. None at first.
    """

    staging: Any

    def current(self) -> Any:
        """Return the current stream of this thread. Streams compare with `==`."""

    def new(self) -> Any:
        """Create a stream without implicit synchronization (in CUDA, a non-blocking one)."""

    def record(self, stream: Any) -> Any:
        """Record an event, which passes when the stream has done all work submitted to it so far."""

    def wait(self, stream: Any, event: Any) -> None:
        """Make work submitted to the stream from now on wait for the event. Does not block the host."""

    def synchronize(self, event: Any) -> None:
        """Block the host until an event has passed. Raises errors of the device, if it reports them."""

    def passed(self, event: Any) -> bool:
        """Return whether an event has passed, without waiting."""

    def pinned(self, nbytes: int) -> Any:
        """New host memory that the device can copy from and to by itself: a NumPy array of `nbytes` uint8.

        Raises:
            MemoryError: if the system gives none.
        """

    def empty(self, nbytes: int, stream: Any) -> Any:
        """A new array of `nbytes` uint8 on the device, with any content. Its home is `stream`.

        Raises:
            Exception: the library's own, if there is no memory.
        """

    def to_host(self, array: Any, host: Any, stream: Any) -> None:
        """Have a stream copy from the device. The host goes on at once, if `host` is part of pinned memory.

        Args:
            array: of the device, its elements without gaps, in whatever order of dimensions.
            host: as many uint8, which get its bytes in the order in which they lie in memory.
        """

    def to_device(self, host: Any, array: Any, stream: Any) -> None:
        """The other way: have a stream copy `host`, of uint8, to where the elements of `array` lie.

        The host goes on at once, and may not write to `host` until that has happened, if it is part of pinned memory;
        other memory is read before this returns.
        """

    def shown(self, whole: Any, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], native: Any) -> Any:
        """An array that shows a part of the memory of a contiguous one, and keeps it alive.

        Args:
            offset: of its first element, in bytes from the first of `whole`.
            strides: in bytes.
            native: the dtype that arrays of the library have.
        """

    def hold(self, array: Any, home: Any, event: Any) -> None:
        """An array is let go of that another stream uses until an event: its memory is not to be reused before.

        Does not let the host wait. Where memory that is freed is reused in the order of its home stream, it is enough
        to have the home wait for the event (`wait(home, event)`); where one can tell the allocator, tell it
        (`record_stream`).

        Args:
            home: the stream that its memory belongs to, as far as is known.
        """
