"""Messages between processes over connected sockets, each with a thread that receives."""

from __future__ import annotations

import os
import pickle
import socket
import struct
from ast import literal_eval
from collections.abc import Sequence
from contextlib import suppress
from math import inf
from threading import Lock, Thread
from time import monotonic, sleep
from typing import Any

import numpy as np

from ..base.threads import start
from ._mailbox import Channel, Mailbox, Message, Transport

_SIZES = struct.Struct("!IQ")  # of the label of a message, and of its data
_ALL_OF_IT = getattr(socket, "MSG_WAITALL", 0)  # one call instead of many, after each of which Python is locked again
_LONG = 1e6  # seconds
_NO_DATA = 2**64 - 1
_FAILED = ("", "failed")  # the channel of the messages that tell of failed groups


class Sockets(Transport):
    """Sends and receives over connections to all other ranks.

    Args:
        peers: a connected socket by rank; None for this one.
    """

    name = "gloo"

    def __init__(self, rank: int, peers: Sequence[socket.socket | None]) -> None:
        self.rank, self.size, self.box, self._peers = rank, len(peers), Mailbox(), peers
        self._locks = [Lock() for _ in peers]
        self._closed = False
        for other, peer in enumerate(peers):
            if peer is not None:
                _keep_alive(peer)
                start(Thread(target=self._receive, args=(other, peer), name=f"gradpack from rank {other}", daemon=True))

    def send(self, to: int, channel: Channel, label: Any, data: Any, deadline: float = inf) -> None:
        peer = self._peers[to]
        if peer is None:
            self.box.put(channel, Message(to, label, None if data is None else data.copy()))
            return
        written = pickle.dumps((channel, tuple(label)))
        size = _NO_DATA if data is None else data.nbytes
        with self._locks[to], suppress(OSError):  # whom it should reach has ended: who waits for that rank hears of it
            try:
                _limit(peer, deadline)
                peer.sendall(_SIZES.pack(len(written), size) + written)
                if data is not None and size:
                    peer.sendall(data.view("u1"))
            except BlockingIOError:
                self.box.end(to, f"rank {to} receives nothing")
                peer.shutdown(socket.SHUT_RDWR)

    def may_be_unread(self, to: int, channel: Channel) -> bool:
        return True  # nobody tells

    def fail(self, to: int, group: str, why: str) -> None:
        self.send(to, _FAILED, (group, why), None, monotonic() + 1)

    def close(self) -> None:
        self._closed = True
        for peer in self._peers:
            if peer is not None:
                with suppress(OSError):
                    peer.shutdown(socket.SHUT_RDWR)
                peer.close()

    def _receive(self, other: int, peer: socket.socket) -> None:
        """Put what comes from a rank into the mailbox, until the connection ends."""
        why = f"rank {other} has ended"
        try:
            while True:
                label_size, size = _SIZES.unpack(read(peer, bytearray(_SIZES.size)))
                channel, label = pickle.loads(read(peer, bytearray(label_size)))  # noqa: S301 - of our own ranks
                data = None if size == _NO_DATA else np.empty(size, "u1")
                if size and data is not None:
                    read(peer, data.data)
                if channel == _FAILED:
                    self.box.fail(*label)
                else:
                    self.box.put(channel, Message(other, label, data))
        except (OSError, EOFError) as error:
            if not isinstance(error, EOFError):
                why = f"{why}, or cannot be reached ({error})"
        finally:
            self.box.end(other, why if not self._closed else f"rank {self.rank} has closed its connections")


def _limit(peer: socket.socket, deadline: float) -> None:
    """Let what is sent from now on fail if it is not received in time; receiving may last."""
    if os.name == "posix":
        left = min(max(deadline - monotonic(), 0.001), _LONG)
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", int(left), int(left % 1 * 1e6)))


def read(peer: socket.socket, into: Any) -> Any:
    """Fill a buffer from a socket, and return it; EOFError if the other side has closed it."""
    view, at = memoryview(into), 0
    while at < len(view):
        count = peer.recv_into(view[at:], 0, _ALL_OF_IT)
        if not count:
            raise EOFError
        at += count
    return into


def say(peer: socket.socket, what: Any) -> None:
    """Send a literal."""
    written = repr(what).encode()
    peer.sendall(struct.pack("!I", len(written)) + written)


def hear(peer: socket.socket, deadline: float) -> Any:
    """Receive a literal, until a time of `time.monotonic`; ValueError for what is none."""
    peer.settimeout(min(max(deadline - monotonic(), 0.001), _LONG))
    (size,) = struct.unpack("!I", read(peer, bytearray(4)))
    if size > 1 << 24:
        raise ValueError("not a message of a rank")
    return literal_eval(read(peer, bytearray(size)).decode())


def is_loopback(host: str) -> bool:
    """Return whether an address is of this machine alone."""
    return str(socket.getaddrinfo(host, None)[0][4][0]) in ("127.0.0.1", "::1")


def tcp_address(host: str, port: int) -> tuple[int, Any]:
    """Return the family and the address of sockets over TCP."""
    family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    return family, address


def reach(family: int, address: Any, deadline: float) -> socket.socket:
    """Connect to an address, again and again until somebody listens there; OSError if it is late."""
    while True:
        peer = socket.socket(family)
        try:
            peer.settimeout(max(deadline - monotonic(), 0.001))
            peer.connect(address)
        except OSError:
            peer.close()
            if monotonic() > deadline:
                raise
            sleep(0.02)
        else:
            return peer


def _keep_alive(peer: socket.socket) -> None:
    """Send small messages at once; notice within some ten seconds that the other machine is gone."""
    peer.settimeout(None)
    if peer.family == getattr(socket, "AF_UNIX", None):
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)  # so that few turns are taken
        return
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_KEEPIDLE", 4), ("TCP_KEEPINTVL", 2), ("TCP_KEEPCNT", 2)):
        if hasattr(socket, name):
            peer.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
