"""Keep saved tensors on disk: a pair of functions for `saved_tensors_hooks`.

All of them lie in one temporary file that has no name any more, so that nothing is left behind
however the process ends. The file grows in steps, and the place of a tensor that died is used
again.
"""

from __future__ import annotations

import os
from _thread import allocate_lock
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from errno import EINVAL, ENOSYS, EOPNOTSUPP
from typing import Any

import numpy as np

from ..tensor.tensor import Tensor, wrap
from .endings import Endings
from .storage import Layout, Storages, dense, once, undense

_NOT_SUPPORTED = {EINVAL, ENOSYS, EOPNOTSUPP}


class Disk:
    """Hooks that write saved tensors to a private temporary file and read them back.

    Values, dtypes, shapes and the order of strides come back exactly. Reading and writing wait for
    the operating system; what it caches of the file it drops when memory gets short. A tensor that
    several operations save is written once.

    Args:
        directory: where the file lies; by default the system's folder for temporary files.
        parameters: tensors whose storages to leave in memory, under any view.
        at_least: smaller tensors, in bytes, stay in memory.
        step: by how many bytes the file grows.

    `in_use` and `peak` are the bytes of tensors in the file now and at most, `size` the bytes of
    the file. `close()`, or leaving a `with` block, gives the disk space back at once; without, it is
    given back when the last tensor in the file is gone.

    Raises:
        OSError: when the file cannot be made or the disk is full (in pack), or when it cannot be
            read (in unpack).

    Example::

        >>> import gradpack as torch
        >>> from gradpack.saved import Disk
        >>> x = torch.ones(4096, requires_grad=True)
        >>> with Disk() as disk:
        ...     with torch.autograd.graph.saved_tensors_hooks(*disk):
        ...         y = x.exp().sum()
        ...     print(disk.in_use)
        ...     y.backward()
        ...     print(disk.in_use)
        16384
        0
    """

    __slots__ = ("_exempt", "_file", "_open", "_write", "at_least", "peak")

    at_least: int
    peak: int
    _open: Callable[[], ExtentFile]

    def __init__(
        self,
        directory: str | os.PathLike[str] | None = None,
        parameters: Iterable[Tensor] = (),
        at_least: int = 4096,
        step: int = 64 << 20,
    ) -> None:
        if not hasattr(os, "pwrite"):
            raise OSError("Disk needs os.pread and os.pwrite, which this system does not have")
        if at_least < 1 or step < 1:
            raise ValueError(f"Disk: at_least and step are bytes and at least 1, not {at_least} and {step}")
        self.at_least = at_least
        self.peak = 0
        self._exempt = Storages(parameters)
        self._open = lambda: ExtentFile(directory, step)
        self._use(self._open())

    def _use(self, file: ExtentFile) -> None:
        self._file = file
        self._write = once(file.write)

    def pack(self, tensor: Tensor) -> Any:
        """Writes the tensor; returns its place in the file, or the tensor if that stays in memory."""
        if tensor.nbytes < self.at_least or not isinstance(tensor._data, np.ndarray) or tensor._data in self._exempt:
            return tensor
        if self._file.process != os.getpid():  # a fork: the file is the parent's
            self._use(self._open())
        extent = self._write(tensor)
        self.peak = max(self.peak, self._file.in_use)
        return extent

    def unpack(self, packed: Any) -> Tensor:
        """Reads what `pack` wrote, into new memory."""
        return packed.read() if isinstance(packed, Extent) else packed

    def __iter__(self) -> Iterator[Callable[..., Any]]:
        return iter((self.pack, self.unpack))

    @property
    def in_use(self) -> int:
        return self._file.in_use

    @property
    def size(self) -> int:
        return self._file.size

    def close(self) -> None:
        """Gives the disk space back. What is still in the file cannot be unpacked any more."""
        self._file.close()

    def __enter__(self) -> Disk:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class Extent:
    """The place of one tensor in the file. The place is free when this object dies."""

    __slots__ = ("__weakref__", "_dtype", "_file", "_layout", "length", "start")

    def __init__(self, file: ExtentFile, start: int, length: int, dtype: Any, layout: Layout) -> None:
        self._file, self.start, self.length = file, start, length
        self._dtype, self._layout = dtype, layout
        file.lent.watch(self, (start, length))

    def read(self) -> Tensor:
        elements = np.empty(self.length, np.uint8)
        self._file.read_into(elements, self.start)
        return wrap(undense(elements.view(self._dtype), self._layout))


class ExtentFile:
    """An unlinked file, and which parts of it are free."""

    __slots__ = ("_end", "_free", "_lock", "_step", "_used", "directory", "fd", "lent", "process", "size")

    def __init__(self, directory: str | os.PathLike[str] | None, step: int) -> None:
        from tempfile import gettempdir, mkstemp

        self.fd = -1
        self.directory = os.fspath(directory) if directory is not None else gettempdir()
        self.fd, name = mkstemp(prefix="gradpack-", dir=self.directory)
        os.unlink(name)
        self.process = os.getpid()
        self.size = 0  # of the file
        self.lent = Endings()  # the places of what is in the file
        self._step = step
        self._end = 0  # nothing was ever put beyond
        self._used = 0
        self._free: list[tuple[int, int]] = []  # (start, length) by start, no two adjacent
        self._lock = allocate_lock()

    @property
    def in_use(self) -> int:
        with self._lock:
            self._bury()
            return self._used

    def write(self, tensor: Tensor) -> Extent:
        elements, layout = dense(tensor._data)
        contents = elements.reshape(-1).view(np.uint8)
        with self._lock:
            start = self._place(contents.nbytes)
        extent = Extent(self, start, contents.nbytes, elements.dtype, layout)
        self._write_all(contents, start, contents.nbytes)
        return extent

    def _write_all(self, contents: Any, start: int, whole: int) -> None:
        done = 0
        while done < contents.nbytes:  # the system may take less than it is given
            try:
                count = os.pwrite(self.fd, contents[done:], start + done)
            except OSError as error:
                raise self._failed(error, "write", whole) from error
            done += count

    def read_into(self, elements: Any, start: int) -> None:
        if self.fd < 0:
            raise OSError("this saved tensor was on disk, and the Disk was closed before backward needed it")
        done = 0
        while done < elements.nbytes:
            try:
                count = _pread_into(self.fd, elements[done:], start + done)
            except OSError as error:
                raise self._failed(error, "read", elements.nbytes) from error
            if not count:
                raise OSError(
                    f"a saved tensor of {elements.nbytes} bytes came back from {self.directory} with {done} bytes: "
                    "something shortened the temporary file"
                )
            done += count

    def close(self) -> None:
        fd, self.fd = self.fd, -1
        if fd >= 0:
            os.close(fd)

    def __del__(self) -> None:
        self.close()

    def _place(self, length: int) -> int:
        """Where to put this many bytes: the first gap that is large enough, else the end."""
        if self.fd < 0:
            raise OSError("this Disk is closed: make another one, and keep it open until backward is done")
        self._bury()
        for index, (start, gap) in enumerate(self._free):
            if gap >= length:
                self._free[index : index + 1] = [(start + length, gap - length)] if gap > length else []
                break
        else:
            start = self._end
            self._grow(start + length)
            self._end = start + length
        self._used += length
        return start

    def _grow(self, needed: int) -> None:
        if needed <= self.size:
            return
        size = -(-needed // self._step) * self._step
        self._room(size - self.size)
        try:
            _extend(self.fd, self.size, size)
        except OSError as error:
            raise self._failed(error, "make room for", needed - self._end) from error
        self.size = size

    def _room(self, more: int) -> None:
        """Raise if the file had better not grow so much."""

    def _bury(self) -> None:
        """Makes the places of dead extents free, joined with their free neighbours."""
        for ending in self.lent.over():
            start, length = ending.told
            self._used -= length
            index = bisect_left(self._free, (start, 0))
            if index < len(self._free) and self._free[index][0] == start + length:
                length += self._free.pop(index)[1]
            if index and sum(self._free[index - 1]) == start:
                index -= 1
                start, before = self._free.pop(index)
                length += before
            if start + length == self._end:
                self._end = start
            else:
                self._free.insert(index, (start, length))

    def _failed(self, error: OSError, what: str, length: int) -> OSError:
        state = os.statvfs(self.directory)
        return OSError(
            error.errno,
            f"cannot {what} a saved tensor of {length} bytes on disk ({error.strerror}): {self.directory} has "
            f"{state.f_bavail * state.f_frsize} bytes free. Free some, or name another folder: Disk(directory=...)",
        )


def _extend(fd: int, size: int, wanted: int) -> None:
    """Reserves the blocks, so that a full disk shows now and not in the middle of a write."""
    if hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(fd, size, wanted - size)
        except OSError as error:
            if error.errno not in _NOT_SUPPORTED:
                os.ftruncate(fd, size)  # give back what was reserved before it failed
                raise
        else:
            return
    os.ftruncate(fd, wanted)


def _pread_into(fd: int, buffer: Any, offset: int) -> int:
    if hasattr(os, "preadv"):
        return os.preadv(fd, [buffer], offset)
    data = os.pread(fd, buffer.nbytes, offset)
    buffer[: len(data)] = np.frombuffer(data, np.uint8)
    return len(data)
