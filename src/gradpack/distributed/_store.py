"""Tables that processes share, by which ranks find each other: in this process, in a file, or over TCP."""

from __future__ import annotations

import os
from ast import literal_eval
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from math import inf
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Lock, Thread
from time import monotonic, sleep
from typing import Any
from weakref import finalize

from ..base.threads import start
from ._mailbox import DistError, DistNetworkError
from ._sockets import hear, is_loopback, reach, say, tcp_address

__all__ = ["DistStoreError", "FileStore", "HashStore", "PrefixStore", "Store", "TCPStore"]

_PAUSE = 0.01  # seconds between two looks at a table


class DistStoreError(DistError):
    """A store has not got a key in time."""


def _change(table: dict[str, bytes], what: str, keys: Sequence[str], *values: Any) -> Any:
    """Do one thing to a table, and return what comes of it. `check` is of all keys, everything else of the first."""
    key = keys[0] if keys else ""
    held = table.get(key)
    if what == "check":
        return all(k in table for k in keys)
    if what == "list":
        return list(table)
    if what == "delete":
        return table.pop(key, None) is not None
    if what == "set":
        table[key] = values[0]
    elif what == "append":
        table[key] = (held or b"") + values[0]
    elif what == "add":
        table[key] = b"%d" % (int(held or 0) + values[0])
    elif what == "compare_set":
        if held is None and values[0]:
            return values[0]
        if held == values[0] or held is None:
            table[key] = values[1]
    return table.get(key)


def _bytes(value: str | bytes) -> bytes:
    if not isinstance(value, str | bytes):
        raise TypeError(f"the value of a key must be a str or bytes, not {type(value).__name__}")
    return value.encode() if isinstance(value, str) else value


class Store:
    """A table of bytes by names, which processes share. `HashStore`, `FileStore` and `TCPStore` are such.

    Attributes:
        timeout: how long `get` and `wait` wait: 300 seconds until `set_timeout`.
    """

    timeout = timedelta(seconds=300)

    def _do(self, what: str, keys: Sequence[str], *values: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no {what}()")

    def set_timeout(self, timeout: timedelta) -> None:
        """Set how long `get` and `wait` wait."""
        self.timeout = timeout

    def set(self, key: str, value: str | bytes) -> None:
        """Put a value into the table."""
        self._do("set", [key], _bytes(value))

    def get(self, key: str) -> bytes:
        """Wait for a key, and return its value; DistStoreError if it does not come in time."""
        self.wait([key])
        return bytes(self._do("get", [key]))

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Wait until all keys are in the table.

        Raises:
            DistStoreError: if they are not in time.
        """
        seconds = (self.timeout if timeout is None else timeout).total_seconds()
        deadline = monotonic() + seconds
        while not self.check(keys):
            if monotonic() > deadline:
                raise DistStoreError(f"wait timeout after {seconds * 1000:.0f}ms, keys: {', '.join(keys)}")
            sleep(_PAUSE)

    def check(self, keys: Sequence[str]) -> bool:
        """Return whether all keys are in the table."""
        return bool(self._do("check", keys))

    def add(self, key: str, amount: int) -> int:
        """Add to the number under a key, at first 0, and return the sum."""
        return int(self._do("add", [key], amount))

    def append(self, key: str, value: str | bytes) -> None:
        """Add bytes to the end of a value."""
        self._do("append", [key], _bytes(value))

    def compare_set(self, key: str, expected_value: str, desired_value: str) -> bytes:
        """Put a value in the place of the one that is expected; return what is there then.

        A key that is not there is set if the empty string is expected; otherwise what is expected is returned.
        """
        return bytes(self._do("compare_set", [key], _bytes(expected_value), _bytes(desired_value)))

    def delete_key(self, key: str) -> bool:
        """Remove a key, and return whether it was there."""
        return bool(self._do("delete", [key]))

    def num_keys(self) -> int:
        """Return the number of keys."""
        return len(self._do("list", []))


class HashStore(Store):
    """A store in the memory of this process, for ranks that are threads and for tests."""

    def __init__(self) -> None:
        self._table: dict[str, bytes] = {}
        self._lock = Lock()

    def _do(self, what: str, keys: Sequence[str], *values: Any) -> Any:
        with self._lock:
            return _change(self._table, what, keys, *values)


class FileStore(Store):
    """A store in a file, in a folder that all processes see.

    Attributes:
        path: of the file.
    """

    def __init__(self, file_name: str, world_size: int = -1) -> None:
        self.path = file_name
        self.num_keys()  # the file is made here

    def _do(self, what: str, keys: Sequence[str], *values: Any) -> Any:
        import fcntl

        with open(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            before = file.read()
            table = literal_eval(before.decode()) if before else {}
            result = _change(table, what, keys, *values)
            after = repr(table).encode()
            if after != before:
                file.seek(0)
                file.truncate()
                file.write(after)
            return result


class TCPStore(Store):
    """A store in the memory of one process, which others reach over TCP.

    Args:
        host_name, port: where the process with `is_master` listens: at a free port for 0.
        world_size: how many processes there are. Unless it is None, the master waits for all.
        timeout: of this, and of `get` and `wait`.

    Attributes:
        host, port: where it listens.

    Raises:
        DistNetworkError: if the port cannot be had, or the store not be reached in time.
        DistStoreError: if the other processes do not come in time.
    """

    def __init__(
        self,
        host_name: str,
        port: int,
        world_size: int | None = None,
        is_master: bool = False,
        timeout: timedelta = Store.timeout,
        wait_for_workers: bool = True,
        **others: Any,
    ) -> None:
        self.host, self.port, self.timeout, self._lock = host_name, port, timeout, Lock()
        deadline = monotonic() + timeout.total_seconds()
        try:
            if is_master:
                server: Any = _Server((host_name if is_loopback(host_name) else "", port), _Answer)
                server.store = HashStore()
                self.port = server.server_address[1]
                finalize(self, server.server_close)
                finalize(self, server.shutdown)  # the last one is called first
                start(Thread(target=server.serve_forever, args=(0.1,), name=f"gradpack store {self.port}", daemon=True))
            self._peer = reach(*tcp_address(host_name, self.port), deadline)
        except OSError as error:
            raise DistNetworkError(f"TCPStore: {host_name}:{port} cannot be reached, or is taken: {error}") from None
        finalize(self, self._peer.close)
        if world_size is not None and wait_for_workers:
            if self.add("init/", 1) == world_size:
                self.set("init/all", b"")
            if is_master:
                self.wait(["init/all"])
                self.delete_key("init/all")

    def __repr__(self) -> str:
        return f"TCPStore(host={self.host!r}, port={self.port})"

    def _do(self, what: str, keys: Sequence[str], *values: Any) -> Any:
        with self._lock, suppress(OSError, EOFError):
            say(self._peer, (what, list(keys), *values))
            return hear(self._peer, monotonic() + self.timeout.total_seconds())
        raise DistNetworkError(f"TCPStore: the process at {self.host}:{self.port} has ended, or does not answer")


class _Server(ThreadingTCPServer):
    daemon_threads = allow_reuse_address = True


class _Answer(StreamRequestHandler):
    def handle(self) -> None:
        with suppress(OSError, EOFError, ValueError, SyntaxError):
            while True:
                what, keys, *values = hear(self.request, inf)
                say(self.request, self.server.store._do(what, keys, *values))  # type: ignore[attr-defined]


class PrefixStore(Store):
    """Another store, in which all keys get a prefix.

    Attributes:
        underlying_store: the other store.
    """

    def __init__(self, prefix: str, store: Store) -> None:
        self._prefix, self.underlying_store, self.timeout = prefix, store, store.timeout

    def _do(self, what: str, keys: Sequence[str], *values: Any) -> Any:
        return self.underlying_store._do(what, [f"{self._prefix}/{key}" for key in keys], *values)
