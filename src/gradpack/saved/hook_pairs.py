"""Pack and unpack functions for `saved_tensors_hooks`: `bfloat16`, in half the bits, and `Disk`, in a file.

All tensors of a `Disk` are in one unlinked temporary file, so that nothing is left behind however the process
ends. The file grows in steps, and the extents of freed tensors are reused.
"""

from __future__ import annotations

import os
from _thread import allocate_lock
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from errno import EINVAL, ENOSYS, EOPNOTSUPP
from functools import partial
from typing import Any

import numpy as np

from ..base.dtypes import bfloat16 as BFLOAT16
from ..base.dtypes import float32
from ..base.sizes import shown
from ..core.tensor import Tensor, wrap
from .storage import FinalizedQueue, Storages, dense, once, undense

_NOT_SUPPORTED = {EINVAL, ENOSYS, EOPNOTSUPP}


class Disk:
    """Hooks that write saved tensors to a private temporary file and read them back.

    Values, dtypes, shapes and the order of strides are restored exactly. Reads and writes are
    synchronous, through the page cache of the operating system. A tensor that several operations
    save is written once.

    Args:
        directory: the folder of the file; by default the system's folder for temporary files.
        parameters: tensors whose storages stay in memory, also when a view of them is saved.
        at_least: smaller tensors, in bytes, stay in memory.
        step: by how many bytes the file grows.

    `in_use` and `peak` are the bytes of tensors in the file now and at most, `size` the bytes of
    the file. `close()`, or leaving a `with` block, frees the disk space at once; otherwise it is
    freed when the last tensor in the file is gone.

    Raises:
        OSError: if the file cannot be created; in pack, if the disk is full; in unpack, if the file
            cannot be read.

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
        self._open = partial(ExtentFile, directory, step)
        self._use(self._open())

    def _use(self, file: ExtentFile) -> None:
        self._file = file
        self._write = once(file.write)

    def __repr__(self) -> str:
        return f"<disk: {shown(self.in_use)} in use, {shown(self.peak)} at the peak>"

    def pack(self, tensor: Tensor) -> Any:
        """Write the tensor and return its `Extent`, or return the tensor itself if it stays in memory."""
        if tensor.nbytes < self.at_least or not isinstance(tensor._data, np.ndarray) or tensor._data in self._exempt:
            return tensor
        if self._file.process != os.getpid():  # forked: the file belongs to the parent
            self._use(self._open())
        extent = self._write(tensor)
        self.peak = max(self.peak, self._file.in_use)
        return extent

    def unpack(self, packed: Any) -> Tensor:
        """Read the tensor that `pack` wrote, into new memory."""
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
        """Free the disk space. Tensors that are still in the file can no longer be unpacked."""
        self._file.close()

    def __enter__(self) -> Disk:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class Extent:
    """The place of one array in the file, which is freed when this object dies."""

    checksum = b""

    def __init__(self, file: ExtentFile, array: Any, layout: Any) -> None:
        self.file, self.size, self.dtype, self.layout = file, array.nbytes, array.dtype, layout
        length = file.padded(self.size)
        with file._lock:
            self.start = file._place(length)
        file.lent.watch(self, (self.start, length))

    def read(self) -> Tensor:
        elements = np.empty(self.size, np.uint8)
        self.file.read_into(elements, self.start)
        return wrap(undense(elements.view(self.dtype), self.layout))


class ExtentFile:
    """An unlinked temporary file, with a list of its free extents."""

    def __init__(self, directory: str | os.PathLike[str] | None, step: int) -> None:
        from tempfile import gettempdir, mkstemp

        self.fd = -1
        self.directory = os.fspath(directory) if directory is not None else gettempdir()
        self.fd, name = mkstemp(prefix="gradpack-", dir=self.directory)
        os.unlink(name)
        self.process = os.getpid()
        self.size = 0  # bytes of the file
        self.lent = FinalizedQueue()  # watches the living extents
        self._step = step
        self._end = 0  # the end of the last extent in use
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
        extent = Extent(self, elements, layout)
        self._write_all(elements.reshape(-1).view(np.uint8), extent.start, extent.size)
        return extent

    def padded(self, size: int) -> int:
        """Return the bytes that an array of `size` bytes takes in the file."""
        return size

    def _write_all(self, contents: Any, start: int, whole: int) -> None:
        self._move(os.pwrite, contents, start, "write", whole)

    def read_into(self, elements: Any, start: int) -> None:
        if self.fd < 0:
            raise OSError("this saved tensor was on disk, and the Disk was closed before backward needed it")
        self._move(_pread_into, elements, start, "read", elements.nbytes)

    def _move(self, call: Callable[..., int], elements: Any, start: int, what: str, whole: int) -> None:
        """Read or write all elements: one call of the system's may do a part of them."""
        done = 0
        while done < elements.nbytes:
            try:
                count = call(self.fd, elements[done:], start + done)
            except OSError as error:
                raise self._failed(error, what, whole) from error
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
        """Allocate an extent and return its start: the first gap that is large enough, else the end of the file."""
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
        """Raise OSError if the file must not grow by `more` bytes; does nothing here."""

    def _bury(self) -> None:
        """Free the extents of dead objects, and merge them with adjacent free extents."""
        for ending in self.lent.over():
            start, length = ending.data
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
    """Grow the file and reserve its blocks, so that a full disk raises here and not in the middle of a write."""
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


Hooks = tuple[Callable[[Tensor], Any], Callable[[Any], Tensor]]


def bfloat16(parameters: Iterable[Tensor] = (), at_least: int = 65536) -> Hooks:
    """Return a pack and an unpack function that keep float32 tensors as bfloat16: half the bytes.

    bfloat16 has the range of float32 and 8 bits of precision: each value is rounded to the nearest,
    with a relative error of at most 1/256. Kept as they are: other dtypes; the storages of `parameters`,
    which stay in memory anyway, so that a copy would only add to it; and small tensors, which save
    little and often hold one statistic per row (a mean, a logsumexp) that the whole row depends on.
    A tensor that several operations save is packed once.

    Use it around the body of a model and leave the loss outside: log-probabilities with 8 bits of
    precision lose far more than all the rest.

    Args:
        parameters: tensors whose storages are kept as they are, also when a view of them is saved.
        at_least: smaller tensors, in bytes, are kept as they are.

    Returns:
        `(pack, unpack)`, for `torch.autograd.graph.saved_tensors_hooks(*pair)`.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.saved import bfloat16
        >>> x = torch.tensor([1.0, 1.001], requires_grad=True)
        >>> with torch.autograd.graph.saved_tensors_hooks(*bfloat16(at_least=0)):
        ...     y = (x * x).sum()
        >>> y.backward()
        >>> x.grad  # 2 * 1.001 would be 2.002
        tensor([2., 2.])
    """
    exempt = Storages(parameters)
    low = once(lambda tensor: tensor.to(BFLOAT16))

    def pack(tensor: Tensor) -> Any:
        if tensor.dtype is not float32 or tensor.nbytes < at_least or tensor._data in exempt:
            return tensor
        return (low(tensor),)  # the tuple marks it as packed: an unpacked tensor may be bfloat16, too

    def unpack(packed: Any) -> Tensor:
        return packed[0].to(float32) if isinstance(packed, tuple) else packed

    return pack, unpack
