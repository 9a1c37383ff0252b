"""Messages between processes over TCP: how the ranks find each other, and a thread for each that receives.

Rank 0 listens at an address that all know. The others connect, say where they listen themselves, and get the table of
all addresses; then every rank connects to those before it.
"""

from __future__ import annotations

import os
import pickle
import secrets
import socket
import struct
import sys
from collections.abc import Sequence
from contextlib import suppress
from threading import Lock, Thread
from time import monotonic, sleep
from typing import Any

import numpy as np

from ..base.threads import start
from ._mailbox import Channel, DistNetworkError, Mailbox, Message, Transport

_SIZES = struct.Struct("!IQ")  # of the label of a message, and of its data
_NO_DATA = 2**64 - 1
_ALL_OF_IT = getattr(socket, "MSG_WAITALL", 0)  # one call instead of many, after each of which Python is locked again
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
                name = f"gradpack from rank {other}"
                start(Thread(target=self._receive, args=(other, peer), name=name, daemon=True))

    def send(self, to: int, channel: Channel, label: Any, data: Any) -> None:
        peer = self._peers[to]
        if peer is None:
            self.box.put(channel, Message(to, label, None if data is None else data.copy()))
            return
        written = pickle.dumps((channel, tuple(label)))
        size = _NO_DATA if data is None else data.nbytes
        with self._locks[to], suppress(OSError):  # whom it should reach has ended: who waits for that rank hears of it
            peer.sendall(_SIZES.pack(len(written), size) + written)
            if data is not None and size:
                peer.sendall(data.view("u1"))

    def fail(self, to: int, group: str, why: str) -> None:
        self.send(to, _FAILED, (group, why), None)

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
                label_size, size = _SIZES.unpack(_read(peer, bytearray(_SIZES.size)))
                channel, label = pickle.loads(_read(peer, bytearray(label_size)))  # noqa: S301 - of our own ranks
                data = None if size == _NO_DATA else np.empty(size, "u1")
                if size and data is not None:
                    _read(peer, data.data)
                if channel == _FAILED:
                    self.box.fail(*label)
                else:
                    self.box.put(channel, Message(other, label, data))
        except (OSError, EOFError) as error:
            if not isinstance(error, EOFError):
                why = f"{why}, or cannot be reached ({error})"
        finally:
            self.box.end(other, why if not self._closed else f"rank {self.rank} has closed its connections")


def _read(peer: socket.socket, into: Any) -> Any:
    """Fill a buffer from a socket, and return it."""
    view, at = memoryview(into), 0
    while at < len(view):
        count = peer.recv_into(view[at:], 0, _ALL_OF_IT)
        if not count:
            raise EOFError
        at += count
    return into


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


def connect(host: str, port: int, rank: int, size: int, timeout: float) -> Sockets:
    """Connect all ranks; rank 0 listens at `host` and `port`.

    Raises:
        DistNetworkError: if that does not succeed in time.
    """
    deadline, token = monotonic() + timeout, os.environ.get("TORCHELASTIC_RUN_ID", "")
    peers: list[socket.socket | None] = [None] * size
    opened: list[socket.socket] = []
    try:
        if rank == 0:
            own, _ = _listen(host, port, size, opened)
            table = _collect(own, peers, opened, token, deadline)
            for peer in peers[1:]:
                assert peer is not None
                _say(peer, table)
        else:
            first = peers[0] = _reach(host, port, deadline, opened)
            address = first.getsockname()  # that of a name is empty
            own, number = _listen(address[0] if address else host, 0, size, opened)
            _say(first, (token, rank, size, number))
            table = _hear(first, deadline)
            for other in range(1, rank):
                there, at = table[other]
                to = peers[other] = _reach(there or host, at, deadline, opened)
                _say(to, (token, rank, size, 0))
            _collect(own, peers, opened, token, deadline, rank + 1)
        own.close()
    except (OSError, EOFError) as error:
        for sock in opened:
            sock.close()
        missing = [r for r, peer in enumerate(peers) if peer is None and r != rank]
        raise DistNetworkError(
            f"init_process_group: rank {rank} of {size} could not be connected with rank "
            f"{', '.join(map(str, missing)) or 0} by way of {host}:{port} within {timeout:g} seconds "
            f"({error or 'the connection was closed'}): are all ranks started, with the same MASTER_ADDR, MASTER_PORT "
            "and WORLD_SIZE?"
        ) from None
    return Sockets(rank, peers)


def _is_here(host: str, port: int) -> bool:
    """Whether an address is of this machine alone. There, where the system has them, sockets with a name are faster."""
    address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][4][0]
    return sys.platform == "linux" and str(address) in ("127.0.0.1", "::1")


def _listen(host: str, port: int, size: int, opened: list[socket.socket]) -> tuple[socket.socket, int]:
    """Listen at a port, or at a free one for 0; return the port, too. For an address of this machine, at a name."""
    family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    if _is_here(host, port):
        own = socket.socket(socket.AF_UNIX)
        port = port or os.getpid() << 16 | secrets.randbits(16)
        own.bind(_name_of(port))
        own.listen(size)
    else:
        where = host if str(address[0]) in ("127.0.0.1", "::1") else ""
        own = socket.create_server((where, port), family=family, backlog=size)
        port = own.getsockname()[1]
    opened.append(own)
    return own, port


def _name_of(port: int) -> str:
    """The name, which is in no folder, of the socket that stands for a port."""
    return f"\0gradpack {port}"


def _collect(
    own: socket.socket,
    peers: list[socket.socket | None],
    opened: list[socket.socket],
    token: str,
    deadline: float,
    first: int = 1,
) -> dict[int, tuple[str, int]]:
    """Accept connections until every rank from `first` on has one; return where they listen."""
    table = {}
    while None in peers[first:]:
        own.settimeout(max(deadline - monotonic(), 0.001))
        peer, address = own.accept()
        opened.append(peer)
        try:
            theirs, rank, size, port = _hear(peer, min(deadline, monotonic() + 5))
        except (OSError, EOFError, pickle.UnpicklingError, ValueError):
            peer.close()  # a stranger
            continue
        if theirs != token or size != len(peers) or not first <= rank < size or peers[rank] is not None:
            peer.close()
            raise OSError(f"a process said that it is rank {rank} of {size}, which does not fit")
        peers[rank], table[rank] = peer, (address[0] if address else "", port)
    return table


def _reach(host: str, port: int, deadline: float, opened: list[socket.socket]) -> socket.socket:
    """Connect to an address, again and again until somebody listens there."""
    while True:
        peer = None
        try:
            if _is_here(host, port):
                peer = socket.socket(socket.AF_UNIX)
                peer.connect(_name_of(port))
            else:
                peer = socket.create_connection((host, port), timeout=max(deadline - monotonic(), 0.001))
        except OSError:
            if peer is not None:
                peer.close()
            if monotonic() > deadline:
                raise
            sleep(0.05)
        else:
            opened.append(peer)
            return peer


def _say(peer: socket.socket, what: Any) -> None:
    written = repr(what).encode()
    peer.sendall(struct.pack("!I", len(written)) + written)


def _hear(peer: socket.socket, deadline: float) -> Any:
    from ast import literal_eval

    peer.settimeout(max(deadline - monotonic(), 0.001))
    (size,) = struct.unpack("!I", _read(peer, bytearray(4)))
    if size > 1 << 20:
        raise ValueError("not a message of a rank")
    return literal_eval(_read(peer, bytearray(size)).decode())
