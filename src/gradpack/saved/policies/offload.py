"""`disk` and `cpu`: policies that offload saved tensors to a file, and those of other devices to host memory.

The file cannot outlive the process: it is unlinked before the first byte is written. Reads and writes
use O_DIRECT where the system allows it, through aligned blocks of 1 MiB, so that offloaded tensors do
not fill the page cache. Every array has a checksum.
"""

from __future__ import annotations

import os
import threading
from errno import ENOSPC
from typing import Any

import numpy as np

from ...base.sizes import in_bytes
from ..hook_pairs import Extent, ExtentFile
from ..info import SavedInfo
from .codec import CopyLimits, Parts, Stage, arguments, check_bytes
from .storage_policy import Stored
from .transfers import half_of_memory

_DISK_LEAST = 16384
_ALIGN = 4096
_BLOCK = 1 << 20
_COLUMNS = 1023  # 8-byte words per row of a checksum: no two pages of a block begin at the same column

_local = threading.local()


def _block() -> Any:
    """Return this thread's aligned buffer of `_BLOCK` bytes."""
    block = getattr(_local, "block", None)
    if block is None:
        memory = np.zeros(_BLOCK + _ALIGN, np.uint8)
        start = -memory.__array_interface__["data"][0] % _ALIGN
        block = _local.block = memory[start : start + _BLOCK]
    return block


class _File(ExtentFile):
    """An `ExtentFile` with direct I/O and checksums."""

    def __init__(self, directory: Any, step: int, reserve: int, is_direct: bool, checks: bool) -> None:
        super().__init__(directory, step)
        self.reserve, self.checks = reserve, checks
        self.is_direct = is_direct and _around_cache(self.fd)

    def padded(self, size: int) -> int:
        return -(-size // _ALIGN) * _ALIGN

    def put(self, part: Any) -> Extent:
        contents = part.reshape(-1).view(np.uint8)
        piece = Extent(self, part, part.shape)
        size, start = piece.size, piece.start
        block = _block()
        check = _Check() if self.checks else None
        for at in range(0, size, _BLOCK):
            count = min(_BLOCK, size - at)
            block[:count] = contents[at : at + count]
            padded = self.padded(count)
            block[count:padded] = 0
            if check is not None:
                check.add(block[:padded])
            self._write_all(block[:padded], start + at, size)
            if not self.is_direct and hasattr(os, "posix_fadvise") and (start + at) % (8 * _BLOCK) < _BLOCK:
                os.fdatasync(self.fd)
                os.posix_fadvise(self.fd, 0, 0, os.POSIX_FADV_DONTNEED)
        if check is not None:
            piece.checksum = check.digest()
        return piece

    def get(self, piece: Extent) -> Any:
        padded = self.padded(piece.size)
        memory = np.empty(padded + _ALIGN, np.uint8)
        first = -memory.ctypes.data % _ALIGN
        out = memory[first : first + padded]
        check = _Check() if self.checks else None
        for at in range(0, padded, _BLOCK):
            block = out[at : at + _BLOCK]
            self.read_into(block, piece.start + at)
            if check is not None:
                check.add(block)
        if check is not None and check.digest() != piece.checksum:
            raise OSError(
                f"a saved tensor of {piece.size} bytes came back from the temporary file in {self.directory} with "
                "another checksum: the disk or something else has changed it. The gradient would have been wrong"
            )
        if not self.is_direct and hasattr(os, "posix_fadvise"):
            os.posix_fadvise(self.fd, piece.start, piece.size, os.POSIX_FADV_DONTNEED)
        return out[: piece.size].view(piece.dtype).reshape(piece.layout)

    def _room(self, more: int) -> None:
        state = os.statvfs(self.directory)
        free = state.f_bavail * state.f_frsize
        if free < more + self.reserve:
            raise OSError(
                ENOSPC,
                f"no room on disk for saved tensors: {self.directory} has {free} bytes free, {more} more are needed, "
                f"and {self.reserve} are to stay free. Free some, or name another folder: disk(directory)",
            )


class _Check:
    """A 64-bit checksum: a hash of the column sums of each block's 8-byte words. As fast as memory, unlike crc32.

    The length of a row is no multiple of a page, so that swapped pages add to other columns. (A weighted sum of words
    would detect less: float64 numbers that differ in sign only differ in the highest bit, and that times an even
    difference of weights is zero modulo 2**64.)
    """

    def __init__(self) -> None:
        from hashlib import blake2b

        self._hash = blake2b(digest_size=8)

    def add(self, block: Any) -> None:
        words = block.view(np.uint64)
        whole = len(words) // _COLUMNS * _COLUMNS
        self._hash.update(np.add.reduce(words[:whole].reshape(-1, _COLUMNS), axis=0))
        self._hash.update(words[whole:])

    def digest(self) -> bytes:
        return self._hash.digest()


def _around_cache(fd: int) -> bool:
    """Set O_DIRECT on a file; return False if the system or file system does not support it."""
    flag = getattr(os, "O_DIRECT", 0)
    if not flag:
        return False
    try:
        from fcntl import F_GETFL, F_SETFL, fcntl
    except ImportError:
        return False
    before = fcntl(fd, F_GETFL)
    try:
        fcntl(fd, F_SETFL, before | flag)
        os.pwrite(fd, _block()[:_ALIGN], 0)
    except OSError:
        fcntl(fd, F_SETFL, before)
        return False
    return True


class OnDisk(Stage):
    """A stage that writes arrays to a file and reads them back."""

    background = 0
    tier = "disk"

    def __init__(
        self, directory: Any, window: int, step: int, reserve: int, direct: bool, checksum: bool, min_bytes: int
    ) -> None:
        check_bytes("disk", window=window, step=step, reserve=reserve, min_bytes=min_bytes)
        if not hasattr(os, "pwrite"):
            raise OSError("disk() needs os.pread and os.pwrite, which this system does not have")
        self.window, self.min_bytes = window, min_bytes
        self._how = (directory, max(step, _ALIGN), reserve, direct, checksum)
        self._lock = threading.Lock()
        self._file = _File(*self._how)  # opened now, so that a folder that cannot be written to raises here
        given = arguments({"min_bytes": _DISK_LEAST}, min_bytes=min_bytes)
        self.name = f"disk({', '.join(filter(None, ['' if directory is None else repr(str(directory)), given]))})"

    @property
    def file(self) -> _File:
        with self._lock:
            if self._file.process != os.getpid():  # forked: the file belongs to the parent
                self._file = _File(*self._how)
            return self._file

    @property
    def bytes_on_disk(self) -> int:
        return self.file.in_use

    def encode(self, parts: Parts, drawn: Any) -> tuple[Parts, Any]:
        file = self.file
        # Small arrays, such as the scales of `quantize`, stay in memory: they are not worth a block of the file.
        stays = [part.nbytes < min(self.min_bytes, _ALIGN) for part in parts]
        pieces = [None if stay else file.put(part) for part, stay in zip(parts, stays, strict=True)]
        return tuple([part for part, stay in zip(parts, stays, strict=True) if stay]), pieces

    def decode(self, parts: Parts, extra: Any) -> Parts:
        left = list(parts)
        return tuple([left.pop(0) if piece is None else piece.file.get(piece) for piece in extra])


def disk(
    directory: str | os.PathLike[str] | None = None,
    *,
    window: int = 16 << 20,
    step: int = 64 << 20,
    reserve: int = 64 << 20,
    direct: bool = True,
    checksum: bool = True,
    min_bytes: int = _DISK_LEAST,
) -> Stored:
    """Offload saved tensors to a temporary file until backward needs them. Exact.

    Two background threads write, and prefetch in the order of the last backward. If backward needs a tensor before it
    is written, it uses the one in memory; an in-place write to it waits. The file is unlinked, so that no other user
    can open it, and it is gone when the process ends, however it ends.

    Args:
        directory: the folder of the file; by default the system's folder for temporary files.
        window: bytes that may wait to be written; saving more waits for the oldest write.
        step: by how many bytes the file grows.
        reserve: bytes to leave free on the disk.
        direct: use O_DIRECT, to bypass the page cache, where the file system supports it.
        checksum: raise in backward if the bytes read are not those that were written.
        min_bytes: smaller tensors stay in memory.

    Raises:
        OSError: here, if the file cannot be created; in backward, where the tensor is unpacked, if it could not be
            written or read, or has changed on disk.

    Example::

        >>> import gradpack as torch
        >>> from gradpack import saved
        >>> x = torch.randn(10000, requires_grad=True)
        >>> with saved.disk() as policy:
        ...     y = x.exp().sum()
        >>> policy.wait()
        >>> policy.packed_bytes, policy.bytes_on_disk
        (0, 40960)
        >>> y.backward()
    """
    return Stored((OnDisk(directory, window, step, reserve, direct, checksum, min_bytes), None))


_CPU_LEAST = 1024
_WINDOW = "256 MiB"


class OnHost(Stage):
    """A stage that does nothing: a policy copies arrays of a device to host memory before its stages see them."""

    tier = "cpu"
    looks = False

    def __init__(self, min_bytes: int, limits: CopyLimits, name: str) -> None:
        check_bytes("cpu", min_bytes=min_bytes)
        self.min_bytes, self.limits, self.name = min_bytes, limits, name

    def takes(self, info: SavedInfo) -> bool:
        return Stage.takes(self, info) and info.device.type != "cpu"


def cpu(
    min_bytes: int = _CPU_LEAST,
    *,
    window: int | str = _WINDOW,
    ahead: int | str = _WINDOW,
    pinned: int | str | None = None,
) -> Stored:
    """Offload saved tensors of other devices to host memory until backward needs them. Exact.

    Where the device has streams, copies are asynchronous. A tensor is freed on the device when its copy is done, and
    prefetched before it is needed, in the order in which the last backward of a similar graph unpacked its saved
    tensors, at first in the reverse order of saving. A wrong order costs time only. A tensor whose copy is not done
    is used as it is, and an in-place write to it waits for the copy. A storage that is saved several times, or in
    several views, is copied once. CPU tensors are kept as they are, under the usual version check.
    `policy.transfers` counts the copies.

    Args:
        min_bytes: smaller tensors stay where they are.
        window: bytes that may wait on the device for their copy: a number, or text such as "256 MiB". Saving more
            waits for the oldest copy. With 0 every copy is synchronous.
        ahead: bytes on the device for tensors that are prefetched, or held between two uses. With 0 nothing is
            prefetched.
        pinned: bytes of host memory that all policies together may pin, by default half of the machine's memory. It
            is reused in every step. Beyond it copies use pageable memory, and are synchronous.

    Raises:
        ValueError: for a negative number of bytes, or text that is no size.
        Exception: in backward, where the tensor is unpacked: the error of its copy.

    Example::

        >>> import gradpack as torch
        >>> from gradpack import saved
        >>> from gradpack.testing import sim
        >>> with sim.devices(capacity="1 MiB"):
        ...     x = torch.ones(1000, device="sim:0", requires_grad=True)
        ...     with saved.cpu(window=0) as policy:
        ...         y = x.exp().sin().sum()
        ...     y.backward()
        ...     print(policy.transfers.bytes_out, policy.transfers.bytes_back)
        4000 4000
    """
    given: dict[str, Any] = {"window": window, "ahead": ahead, "pinned": pinned}
    limits = CopyLimits(*[half_of_memory() if v is None else in_bytes("cpu", k, v) for k, v in given.items()])
    usual = {"window": _WINDOW, "ahead": _WINDOW, "pinned": None, "min_bytes": _CPU_LEAST}
    return Stored((OnHost(min_bytes, limits, f"cpu({arguments(usual, min_bytes=min_bytes, **given)})"), None))
