"""Messages between processes over MPI, by the package mpi4py."""

from __future__ import annotations

import pickle
from collections import deque
from contextlib import suppress
from math import inf
from threading import Lock
from time import monotonic, sleep
from typing import Any

import numpy as np

from ._mailbox import Channel, Late, Mailbox, Message, Transport

_LABEL, _DATA = 1, 2  # tags: what a message is, then its bytes
_FAILED, _ENDED = ("", "failed"), ("", "ended")


class MPITransport(Transport):
    """Sends and receives by a communicator of its own. Who waits for a message receives all that arrive."""

    name = "mpi"

    def __init__(self) -> None:
        from mpi4py import MPI

        if MPI.Query_thread() < MPI.THREAD_MULTIPLE:
            raise RuntimeError("init_process_group: this MPI was started without MPI.THREAD_MULTIPLE, which is needed")
        self._mpi, self._comm = MPI, MPI.COMM_WORLD.Dup()
        self.rank, self.size = self._comm.rank, self._comm.size
        self.box = Mailbox(self._poll)
        self._lock = Lock()
        self._sent: list[tuple[Any, Any]] = []  # requests, and what they read
        self._coming: deque[tuple[Any, Channel, Message]] = deque()

    def send(self, to: int, channel: Channel, label: Any, data: Any, deadline: float = inf) -> None:
        written = pickle.dumps((channel, tuple(label), None if data is None else data.nbytes))
        with self._lock:
            self._sent.append((self._comm.Isend([written, self._mpi.BYTE], to, _LABEL), written))
            if data is not None and data.nbytes:
                bits = data.view("u1")
                self._sent.append((self._comm.Isend(bits, to, _DATA), bits))

    def may_be_unread(self, to: int, channel: Channel) -> bool:
        return True  # nobody tells

    def flush(self, deadline: float) -> None:
        while True:
            with self._lock:
                self._sent = [pair for pair in self._sent if not pair[0].Test()]
            if not self._sent:
                return
            if monotonic() > deadline:
                raise Late
            self._poll()

    def fail(self, to: int, group: str, why: str) -> None:
        self.send(to, _FAILED, (group, why), None)

    def _poll(self) -> bool:
        """Receive what has arrived. Returns whether there was something."""
        with self._lock:
            status = self._mpi.Status()
            message = self._comm.Improbe(self._mpi.ANY_SOURCE, _LABEL, status)
            if message is not None:
                written = bytearray(status.Get_count(self._mpi.BYTE))
                message.Recv([written, self._mpi.BYTE])
                channel, label, size = pickle.loads(written)  # noqa: S301 - of our own ranks
                data, request = None if size is None else np.empty(size, "u1"), None
                if size:
                    request = self._comm.Irecv(data, status.Get_source(), _DATA)
                self._coming.append((request, channel, Message(status.Get_source(), label, data)))
            some = message is not None
            while self._coming and (self._coming[0][0] is None or self._coming[0][0].Test()):
                _, channel, arrived = self._coming.popleft()
                some = True
                if channel == _FAILED:
                    self.box.fail(*arrived.label)
                elif channel == _ENDED:
                    self.box.end(arrived.source, f"rank {arrived.source} has ended")
                else:
                    self.box.put(channel, arrived)
            return some

    def close(self) -> None:
        for other in {*range(self.size)} - {self.rank}:
            self.send(other, _ENDED, (), None)
        with suppress(Late):
            self.flush(monotonic() + 1)
        self._sent.clear()

    def abort(self) -> None:
        """End all processes of this MPI program: to wait for those that do not come would never end."""
        until = monotonic() + 1
        while monotonic() < until:  # time for the others to say why they end, too
            self._poll()
            sleep(0.01)
        self._mpi.COMM_WORLD.Abort(1)
