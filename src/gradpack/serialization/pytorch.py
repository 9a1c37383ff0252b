"""Files of torch's: archives of a pickle and storages, and the older form of pickles that storages follow."""

from __future__ import annotations

import io
import mmap
import os
import struct
import sys
from collections.abc import Callable
from pickle import dumps
from pickletools import genops
from typing import IO, Any
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import numpy as np

from ..backends.numpy import NATIVE
from ..base.devices import device
from . import safe_globals
from .pickling import Pickler
from .rebuild import BUILDS, StorageType, Stored, allowed, op, plain
from .tree import BadFileError
from .unpickle import Unpickler, full_name

_MAGIC = 0x1950A86A20F9469CFC6C
_VERSION = 1001  # of the older form
_ALIGNED = 64  # where storages begin in an archive
_LITTLE = sys.byteorder == "little"

Place = Callable[[Any, str], Any]  # the device of tensors whose storage had a location


def _unpickler(file: IO[bytes], size: int, persistent: Any = None) -> Unpickler:
    return Unpickler(file.read, file.readline, size, allowed(), safe_globals.by_name(), BUILDS, persistent)


def _identifier(key: tuple[Any, ...]) -> tuple[StorageType, str, str, int, Any]:
    """The parts of a storage's identifier: class, name in the file, location, elements, part of another one."""
    kind, name, place, count = key[1:5]
    name, place = (v.decode("ascii", "replace") if isinstance(v, bytes) else v for v in (name, place))
    if not isinstance(kind, StorageType) or type(name) is not str or type(place) is not str:
        raise BadFileError("load(): the file has a storage of a kind that gradpack does not know")
    if type(count) is not int or count < 0:
        raise BadFileError(f"load(): the file has a storage of {count!r} elements")
    return kind, name, place, count, key[5] if len(key) > 5 else None


def _empty(kind: StorageType, count: int, most: int) -> Any:
    """Memory for so many elements, if the file can have them."""
    if count * kind.itemsize > most:
        raise BadFileError(f"load(): the file ends before the end of a storage of {count} elements")
    return np.empty(count, np.uint8 if kind.element is None else NATIVE[kind.element])


# -- archives --


def read_archive(archive: ZipFile, place: Place, mapped: Any = None) -> Any:
    """Read an archive of torch's.

    Args:
        place: says where the tensors of a storage go.
        mapped: the bytes of the file in memory, if storages are to be parts of them.
    """
    members = {info.filename: info for info in archive.infolist()}
    pickled = next((name for name in members if name == "data.pkl" or name.endswith("/data.pkl")), "")
    folder = pickled.removesuffix("data.pkl")
    if f"{folder}constants.pkl" in members:
        raise BadFileError(
            "load(): the file holds a program of torch.jit, not tensors: with PyTorch, save the state_dict() of what "
            "torch.jit.load returns"
        )
    order = archive.read(f"{folder}byteorder") if f"{folder}byteorder" in members else b"little"
    if order not in (b"little", b"big"):
        raise BadFileError(f"load(): the file has an unknown byte order {order!r}")
    swapped = (order == b"little") is not _LITTLE
    storages: dict[str, Stored] = {}

    def persistent(key: tuple[Any, ...]) -> Stored:
        kind, name, location, count, _ = _identifier(key)
        if name in storages:
            return storages[name]
        info = members.get(f"{folder}data/{name}")
        if info is None:
            raise BadFileError(f"load(): the storage {name!r} is missing in the file")
        if info.file_size != count * kind.itemsize:
            raise BadFileError(f"load(): the storage {name!r} has {info.file_size} bytes, not {count * kind.itemsize}")
        if mapped is not None and not swapped and info.compress_type == ZIP_STORED:
            memory = _mapped(mapped, info, kind)
        else:
            memory = _read(archive, info, kind, count, swapped)
        storages[name] = Stored(memory, kind.element, None)
        storages[name].place = place(storages[name], location)
        return storages[name]

    content = archive.read(pickled)
    return plain(_unpickler(io.BytesIO(content), len(content), persistent).load())


def _read(archive: ZipFile, info: ZipInfo, kind: StorageType, count: int, swapped: bool) -> Any:
    most = info.file_size if info.compress_type != ZIP_STORED else info.compress_size
    memory = _empty(kind, count, most)
    bytes_of: Any = memory.view(np.uint8)
    view, done = memoryview(bytes_of), 0
    with archive.open(info) as opened:
        member: Any = opened
        while done < len(view):
            got = member.readinto(view[done:])
            if not got:
                raise BadFileError(f"load(): the storage {info.filename!r} ends too early")
            done += got
        member.read(1)  # at the end of a member its checksum is compared
    if swapped and kind.element is not None:
        parts = 2 if kind.element.is_complex else 1
        single = memory.view(np.uint8).view(f"u{kind.itemsize // parts}")
        single.byteswap(inplace=True)
    return memory


def _mapped(mapped: Any, info: ZipInfo, kind: StorageType) -> Any:
    header = bytes(mapped[info.header_offset : info.header_offset + 30])
    if len(header) < 30 or header[:4] != b"PK\x03\x04":
        raise BadFileError(f"load(): the archive is damaged: there is no member {info.filename!r} where it should be")
    names, extra = struct.unpack("<HH", header[26:])
    start = info.header_offset + 30 + names + extra
    if start + info.file_size > len(mapped):
        raise BadFileError(f"load(): the storage {info.filename!r} ends after the file")
    native = np.dtype(np.uint8) if kind.element is None else NATIVE[kind.element]
    return np.frombuffer(mapped, native, info.file_size // kind.itemsize, start)


def map_file(path: Any) -> Any:
    """The bytes of a file in memory. What is written to them does not change the file."""
    with open(path, "rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)


def write_archive(obj: Any, file: IO[bytes]) -> None:
    """Write an archive as torch does."""
    pickled = io.BytesIO()
    pickler = Pickler(pickled)
    pickler.write_object(obj)
    name = "archive"
    with ZipFile(file, "w", ZIP_STORED, allowZip64=True) as archive:
        _member(archive, f"{name}/data.pkl", pickled.getbuffer())
        _member(archive, f"{name}/.format_version", b"1")
        _member(archive, f"{name}/.storage_alignment", str(_ALIGNED).encode())
        _member(archive, f"{name}/byteorder", sys.byteorder.encode())
        for storage in pickler.storages.values():
            _member(archive, f"{name}/data/{storage.key}", storage.bytes())
        _member(archive, f"{name}/version", b"3\n")


def _member(archive: ZipFile, name: str, content: Any) -> None:
    info = ZipInfo(name)  # without the time of writing: equal objects make equal files
    info.file_size = len(content)
    large = info.file_size * 1.05 > (1 << 31) - 1
    file: Any = archive.fp
    start = file.tell() + 30 + len(name.encode()) + 4 + 20 * large
    gap = -start % _ALIGNED
    info.extra = b"FB" + struct.pack("<H", gap) + b"Z" * gap
    with archive.open(info, "w", force_zip64=large) as member:
        member.write(content)


# -- the older form --


def read_legacy(file: IO[bytes], place: Place) -> Any:
    """Read the form of files that torch wrote before version 1.6, and writes with
    `_use_new_zipfile_serialization=False`.
    """
    start = file.tell()
    size = file.seek(0, os.SEEK_END) - start
    file.seek(start)
    if _unpickler(file, size).load() != _MAGIC:
        raise BadFileError("Invalid magic number; corrupt file? load(): the file is a pickle that torch did not write")
    version = _unpickler(file, size).load()
    if version != _VERSION:
        raise BadFileError(f"Invalid protocol version: {version}")
    facts = _unpickler(file, size).load()
    if not isinstance(facts, dict) or facts.get("little_endian", True) is not _LITTLE:
        raise BadFileError("load(): the file was written on a machine with another order of bytes")
    storages: dict[str, Stored] = {}
    parts: dict[Any, Stored] = {}

    def persistent(key: tuple[Any, ...]) -> Stored:
        kind, name, location, count, part = _identifier(key)
        whole = storages.get(name)
        if whole is None:
            whole = storages[name] = Stored(_empty(kind, count, size), kind.element)
            whole.place = place(whole, location)
        if part is None:
            return whole
        part_name, offset, length = part
        if part_name not in parts:
            parts[part_name] = whole.part(offset, length)
        return parts[part_name]

    found = _unpickler(file, size, persistent).load()
    keys = _unpickler(file, size).load()
    if not isinstance(keys, list) or any(type(key) is not str for key in keys) or {*keys} != {*storages}:
        raise BadFileError("load(): the file lists other storages than it names")
    for key in keys:
        _fill(storages[key].memory, file)
    return plain(found)


def _fill(memory: Any, file: IO[bytes]) -> None:
    count = file.read(8)
    if len(count) < 8 or int.from_bytes(count, "little") != memory.size:
        raise BadFileError("load(): a storage in the file has another size than its identifier says")
    content = file.read(memory.nbytes)
    if len(content) != memory.nbytes:
        raise BadFileError("load(): the file ends before the end of a storage")
    memory.view(np.uint8)[:] = np.frombuffer(content, np.uint8)


def write_legacy(obj: Any, file: IO[bytes]) -> None:
    """Write the older form."""
    facts = {"protocol_version": _VERSION, "little_endian": _LITTLE, "type_sizes": {"short": 2, "int": 4, "long": 4}}
    for head in (_MAGIC, _VERSION, facts):
        file.write(dumps(head, 2))
    pickler = Pickler(file, views=True)
    pickler.write_object(obj)
    storages = sorted(pickler.storages.values(), key=lambda storage: storage.key)
    file.write(dumps([storage.key for storage in storages], 2))
    for storage in storages:
        file.write(struct.pack("<q", storage.flat.size if storage.element else storage.flat.nbytes))
        file.write(storage.bytes())


# -- where tensors go --


def placing(map_location: Any) -> Place:
    """The function from a storage and its location to the device of its tensors, None for the CPU."""

    def place(storage: Stored, location: str) -> Any:
        if isinstance(map_location, str | device):
            return None  # checked: it is the CPU
        if isinstance(map_location, dict):
            location = str(map_location.get(location, location))
        elif callable(map_location):
            found = map_location(plain(Stored(storage.memory, storage.element)), location)
            if found is not None:
                return None if found.device.type == "cpu" else found.device
        return None if location == "cpu" else _device(location)

    return place


def _device(location: str) -> device:
    try:
        op("empty")(0, device=location)
    except (AssertionError, ImportError, RuntimeError, ValueError) as error:
        raise BadFileError(
            f"Attempting to deserialize object on {location!r}, and that device is not there ({error}). If you are "
            "running on a CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map your "
            "storages to the CPU."
        ) from None
    return device(location)


def get_unsafe_globals_in_checkpoint(f: Any) -> list[str]:
    """Return the names of functions and classes in a file of torch's that `load` would refuse.

    Args:
        f: a path, or an object with `read` and `seek`, of an archive.

    Example::

        >>> import fractions, io, gradpack as torch
        >>> file = io.BytesIO()
        >>> with torch.serialization.safe_globals([fractions.Fraction]):
        ...     torch.save([torch.ones(2), fractions.Fraction(1, 2)], file)
        >>> torch.serialization.get_unsafe_globals_in_checkpoint(file)
        ['fractions.Fraction']
    """
    with ZipFile(f) as archive:
        pickled = next((name for name in archive.namelist() if name.endswith("data.pkl")), None)
        if pickled is None:
            raise BadFileError("get_unsafe_globals_in_checkpoint(): the file is no archive of torch's")
        content = archive.read(pickled)
    found = []
    before: list[Any] = ["", ""]
    for operation, value, _ in genops(content):
        if operation.name == "GLOBAL":
            found.append(full_name(*str(value).split(" ", 1)))
        elif operation.name == "STACK_GLOBAL":
            found.append(full_name(*before))
        elif isinstance(value, str):
            before = [before[1], value]
    known = {**allowed(), **safe_globals.by_name()}
    return sorted({name for name in found if name not in known})
