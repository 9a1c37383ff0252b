"""How ranks that are processes find each other.

Rank 0 listens at an address that all know, or get from a store. The others connect, say where they listen themselves,
and get the table of all addresses; then every rank connects to those before it.
"""

from __future__ import annotations

import os
import secrets
import socket
import sys
from ast import literal_eval
from datetime import timedelta
from time import monotonic
from typing import Any

from ._mailbox import DistNetworkError
from ._sockets import Sockets, hear, is_loopback, reach, say, tcp_address
from ._store import DistStoreError, Store

Sock = socket.socket


def connect(where: tuple[str, int] | Store, rank: int, size: int, timeout: float) -> Sockets:
    """Connect all ranks; rank 0 listens at an address that all know, or at one that it puts into a store.

    Raises:
        DistNetworkError: if that does not succeed in time.
    """
    deadline, token = monotonic() + timeout, os.environ.get("TORCHELASTIC_RUN_ID", "")
    peers: list[Sock | None] = [None] * size
    opened: list[Sock] = []
    try:
        host, port = where if isinstance(where, tuple) else (_own_address(), 0)
        if isinstance(where, Store):  # what an earlier call has put into it is not meant
            key = f"gradpack/{where.add(f'gradpack/calls of {rank}', 1)}"
        if rank == 0:
            own, port = _listen(host, port, size, opened)
            if isinstance(where, Store):
                where.set(key, repr((host, port)))
            table = _collect(own, peers, opened, token, deadline)
            for peer in peers[1:]:
                assert peer is not None
                say(peer, table)
        else:
            if isinstance(where, Store):
                where.wait([key], timedelta(seconds=timeout))
                host, port = literal_eval(where.get(key).decode())
            first = peers[0] = _reach(host, port, deadline, opened)
            address = first.getsockname()  # that of a name is empty
            own, number = _listen(address[0] if address else host, 0, size, opened)
            say(first, (token, rank, size, number))
            table = hear(first, deadline)
            for other in range(1, rank):
                there, at = table[other]
                to = peers[other] = _reach(there or host, at, deadline, opened)
                say(to, (token, rank, size, 0))
            _collect(own, peers, opened, token, deadline, rank + 1)
        own.close()
    except (OSError, EOFError, DistStoreError) as error:
        for sock in opened:
            sock.close()
        place = "a store" if isinstance(where, Store) else f"{where[0]}:{where[1]}"
        missing = [r for r, peer in enumerate(peers) if peer is None and r != rank]
        raise DistNetworkError(
            f"init_process_group: rank {rank} of {size} could not be connected with rank "
            f"{', '.join(map(str, missing)) or 0} by way of {place} within {timeout:g} seconds "
            f"({str(error) or 'the connection was closed'}): are all ranks started, with the same MASTER_ADDR, "
            "MASTER_PORT and WORLD_SIZE?"
        ) from None
    return Sockets(rank, peers)


def _own_address() -> str:
    """The address of this machine, where other machines may reach it."""
    try:
        return str(socket.getaddrinfo(socket.gethostname(), None)[0][4][0])
    except OSError:
        return "127.0.0.1"


def _has_name(host: str) -> bool:
    """Whether sockets at an address have names, in no folder: on this machine alone, where the system has that.

    They are faster.
    """
    return sys.platform == "linux" and is_loopback(host)


def _address(host: str, port: int) -> tuple[int, Any]:
    return (socket.AF_UNIX, f"\0gradpack {port}") if _has_name(host) else tcp_address(host, port)


def _listen(host: str, port: int, size: int, opened: list[Sock]) -> tuple[Sock, int]:
    """Listen at a port, or at a free one for 0; return the port, too."""
    if _has_name(host):
        port = port or os.getpid() << 16 | secrets.randbits(16)
    family, address = _address(host, port)
    if not is_loopback(host):
        address = ("", port)
    own = socket.create_server(address, family=family, backlog=size)
    opened.append(own)
    return own, port or own.getsockname()[1]


def _collect(
    own: Sock, peers: list[Sock | None], opened: list[Sock], token: str, deadline: float, first: int = 1
) -> dict[int, tuple[str, int]]:
    """Accept connections until every rank from `first` on has one; return where they listen."""
    table = {}
    while None in peers[first:]:
        own.settimeout(max(deadline - monotonic(), 0.001))
        peer, address = own.accept()
        opened.append(peer)
        try:
            theirs, rank, size, port = hear(peer, min(deadline, monotonic() + 5))
        except (OSError, EOFError, ValueError):
            peer.close()  # a stranger
            continue
        if theirs != token or size != len(peers) or not first <= rank < size or peers[rank] is not None:
            peer.close()
            raise OSError(f"a process said that it is rank {rank} of {size}, which does not fit")
        peers[rank], table[rank] = peer, (address[0] if address else "", port)
    return table


def _reach(host: str, port: int, deadline: float, opened: list[Sock]) -> Sock:
    opened.append(reach(*_address(host, port), deadline))
    return opened[-1]
