"""`save` and `load`, with torch's arguments, and the kinds of files: torch's, NumPy's archives, safetensors."""

from __future__ import annotations

import io
import os
import secrets
from collections.abc import Callable
from typing import IO, Any
from zipfile import ZipFile

from ..base.devices import device
from .npz import DAMAGE, as_tensor, read_array, read_npz, write_npz
from .pytorch import map_file, placing, read_archive, read_legacy, write_archive, write_legacy
from .safetensors_files import read_safetensors, write_safetensors
from .tree import BadFileError

_WRITERS: dict[str, Callable[[Any, Any], None]] = {
    "torch": write_archive, "npz": write_npz, "safetensors": write_safetensors,
}  # fmt: skip


def save(
    obj: Any,
    f: Any,
    pickle_module: Any = None,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
    *,
    format: str | None = None,
) -> None:
    """Write tensors, and numbers, strings, lists, tuples, sets and dicts with them, to a file that torch reads, too.

    Tensors that are one object or share memory do so again after `load`; dtype, strides, `requires_grad` and
    being a `Parameter` are kept; history, gradients and hooks are not.

    Args:
        obj: what to write: the `state_dict()` of a module or an optimizer, say.
        f: a path, or an object with `write`. A path is replaced in one step: whatever happens, there is the old
            file or the new one.
        pickle_module, pickle_protocol: ignored: files are those of protocol 2, which all versions of torch read.
        _use_new_zipfile_serialization: False writes the form of torch before version 1.6.
        format: "torch", which torch reads with `weights_only=True`, "npz" or "safetensors" (which needs the extra of
            that name). By default what the ending of the path says, else "torch".

    Raises:
        TypeError: for an object whose loading would have to run code: a module, a function. Instances of the classes
            that `torch.serialization.add_safe_globals` was given are written.
        RuntimeError: if the folder does not exist, or tensors of several dtypes share memory.

    Example::

        >>> import io, gradpack as torch
        >>> file = io.BytesIO()
        >>> torch.save({"w": torch.ones(2), "step": 3}, file)
        >>> _ = file.seek(0)
        >>> torch.load(file)
        {'w': tensor([1., 1.]), 'step': 3}
    """
    path = f if isinstance(f, str | os.PathLike) else None
    if path is None and not hasattr(f, "write"):
        raise AttributeError("expected 'f' to be string, path, or a file-like object with a 'write' attribute")
    if format is None:
        ending = "" if path is None else os.path.splitext(os.fspath(path))[1][1:]
        format = ending if ending in ("npz", "safetensors") else "torch"
    if format not in _WRITERS:
        raise ValueError(f"save(): format must be one of {', '.join(_WRITERS)}, not {format!r}")
    old = format == "torch" and not _use_new_zipfile_serialization
    write = write_legacy if old else _WRITERS[format]
    if path is None:
        _to_file(write, obj, f)
    else:
        _to_path(write, obj, os.path.realpath(path))


def _to_file(write: Callable[[Any, Any], None], obj: Any, f: Any) -> None:
    made = io.BytesIO()  # if writing fails, the caller's file stays unchanged
    write(obj, made)
    f.write(made.getbuffer())


def _to_path(write: Callable[[Any, Any], None], obj: Any, path: str) -> None:
    folder, name = os.path.split(path)
    if not os.path.isdir(folder):
        raise RuntimeError(f"Parent directory {folder} does not exist.")
    if os.path.isdir(path):
        raise RuntimeError(f"save(): {path} is a directory: name a file in it")
    if os.path.exists(path) and not os.path.isfile(path):  # a device or a pipe
        with open(path, "wb") as file:
            _to_file(write, obj, file)
        return
    temporary = os.path.join(folder, f".{name}.{secrets.token_hex(6)}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(descriptor, "w+b") as file:
            write(obj, file)
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(path):
            os.chmod(temporary, os.stat(path).st_mode & 0o7777)
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Read what `save` and torch's `save` wrote; also `.npz`, `.npy` and `.safetensors` files of others.

    Args:
        f: a path, or an object with `read` and `seek`.
        map_location: where tensors go, if not to the device that they were on: the CPU, a function of a storage and
            its location that returns a storage or None, or a dict from locations to locations. Other devices are
            refused; `.to()` moves what was loaded there.
        pickle_module, pickle_load_args: ignored.
        weights_only: ignored: no file can run code. What its pickle may name are tensors, numbers, strings, containers,
            dtypes, sizes, arrays of NumPy's, and what `torch.serialization.add_safe_globals` was given.
        mmap: whether tensors of a file of torch's are parts of the file in memory, read when they are used. Writing to
            them does not change the file.

    Raises:
        FileNotFoundError: if there is no such file.
        EOFError: if it is empty.
        ValueError: for `mmap` of something that is no path.
        pickle.UnpicklingError: for a file that names what is not allowed.
        RuntimeError: that too, and for a file that is damaged, for one that is none of these, for another
            `map_location` than the CPU, and for tensors of a device that is not there.

    Example::

        >>> import io, numpy as np, gradpack as torch
        >>> file = io.BytesIO()
        >>> np.savez(file, weight=np.ones(2, "float32"))
        >>> _ = file.seek(0)
        >>> torch.load(file)
        {'weight': tensor([1., 1.])}
    """
    _check_location(map_location)
    if weights_only and pickle_module is not None:
        raise RuntimeError(
            "Can not safely load weights when explicit pickle_module is specified: leave out pickle_module, which "
            "load() does not use"
        )
    if isinstance(f, str | os.PathLike):
        with open(f, "rb") as file:
            return read(file, map_location, f if mmap else None)
    if mmap:
        raise ValueError("f must be a file path in order to use the mmap argument")
    if not hasattr(f, "seek") or not hasattr(f, "read"):
        raise AttributeError(
            f"'{type(f).__name__}' object has no attribute 'seek'. You can only torch.load from a file that is "
            "seekable. Please pre-load the data into a buffer like io.BytesIO and try to load from it instead."
        )
    return read(f, map_location)


def _check_location(where: Any) -> None:
    if where is None or (callable(where) and not isinstance(where, device)):
        return
    for place in where.values() if isinstance(where, dict) else (where,):
        kind = place.type if isinstance(place, device) else str(place).partition(":")[0]
        if kind != "cpu":
            raise RuntimeError(
                f"load(): cannot put tensors on {place!r}: use map_location='cpu', and move them with .to() where that "
                "device is there"
            )


def read(file: IO[bytes], map_location: Any = None, mapped: Any = None) -> Any:
    """Read a file of any kind that is known by its first bytes.

    Args:
        file: the file, at its beginning.
        map_location: where tensors of files of torch's go.
        mapped: the path, if storages of such a file are to be parts of it in memory.
    """
    start = file.tell()
    head = file.read(16)
    file.seek(start)
    if not head:
        raise EOFError("load(): the file is empty")
    if head[:4] == b"PK\x03\x04":
        whole = start == 0 and hasattr(file, "seekable")  # `zipfile` asks for it
        return _read_zip(file if whole else io.BytesIO(file.read()), map_location, mapped)
    if head[:6] == b"\x93NUMPY":
        return as_tensor("the array", read_array("the array", file))
    if head[:1] == b"\x80" and head[1:2] in b"\x02\x03\x04\x05":
        if mapped is not None:
            raise RuntimeError(
                "mmap can only be used with files saved with `torch.save(_use_new_zipfile_serialization=True)`, please "
                "torch.save your checkpoint with this option in order to use mmap."
            )
        return read_legacy(file if hasattr(file, "readline") else io.BytesIO(file.read()), placing(map_location))
    if len(head) > 8 and head[8:9] == b"{":
        return read_safetensors(file.read())
    raise BadFileError(
        "load(): neither a file that save() wrote, nor one of torch's, nor an .npz, .npy or .safetensors file (its "
        f"first bytes are {head[:8]!r})"
    )


def _read_zip(file: IO[bytes], map_location: Any, mapped: Any) -> Any:
    try:
        with ZipFile(file) as archive:
            if not any(name == "data.pkl" or name.endswith("/data.pkl") for name in archive.namelist()):
                return read_npz(archive)
            return read_archive(archive, placing(map_location), None if mapped is None else map_file(mapped))
    except (*DAMAGE, ValueError, OverflowError, MemoryError) as error:
        raise BadFileError(f"load(): the archive is damaged or not complete: {error}") from None
