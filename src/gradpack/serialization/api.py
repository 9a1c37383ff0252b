"""`save` and `load`, with torch's arguments, and the two kinds of file: NumPy's archive of arrays, and safetensors."""

from __future__ import annotations

import io
import json
import os
import secrets
import struct
import zlib
from collections.abc import Callable
from typing import IO, Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np

from ..backends.numpy import PAIR
from ..base.devices import device
from ..base.errors import missing_extra
from .tree import BadFileError, Decoder, Encoder


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
    """Write tensors, and numbers, strings, lists, tuples, sets and dicts with them, to a file.

    Tensors that are one object or share memory do so again after `load`; dtype, strides, `requires_grad` and
    being a `Parameter` are kept; history, gradients and hooks are not.

    Args:
        obj: what to write: the `state_dict()` of a module or an optimizer, say.
        f: a path, or an object with `write`. A path is replaced in one step: whatever happens, there is the old
            file or the new one.
        pickle_module, pickle_protocol: ignored. Files hold no pickles.
        format: "npz" or "safetensors" (which needs the extra of that name). By default what the ending of the path
            says, else "npz".

    Raises:
        TypeError: for an object whose loading would have to run code: a module, a function.
        RuntimeError: if the folder does not exist.

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
        format = "safetensors" if path is not None and os.fspath(path).endswith(".safetensors") else "npz"
    if format not in _WRITERS:
        raise ValueError(f"save(): format must be one of {', '.join(_WRITERS)}, not {format!r}")
    if path is None:
        _to_file(_WRITERS[format], obj, f)
    else:
        _to_path(_WRITERS[format], obj, os.path.realpath(path))


def _to_file(write: Callable[[Any, Any], None], obj: Any, f: Any) -> None:
    import io

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
    """Read what `save` wrote; also `.npz`, `.npy` and `.safetensors` files of others.

    Args:
        f: a path, or an object with `read` and `seek`.
        map_location: where tensors go: the CPU. Another place is refused; `.to()` moves what was loaded there.
        pickle_module, weights_only: ignored. No file can run code.
        mmap: accepted as a wish: the file is read.

    Raises:
        FileNotFoundError: if there is no such file.
        EOFError: if it is empty.
        RuntimeError: for a file of PyTorch's own, which is a pickle, for one that is damaged, for one that is
            none of these, and for another `map_location` than the CPU.

    Example::

        >>> import io, numpy as np, gradpack as torch
        >>> file = io.BytesIO()
        >>> np.savez(file, weight=np.ones(2, "float32"))
        >>> _ = file.seek(0)
        >>> torch.load(file)
        {'weight': tensor([1., 1.])}
    """
    _check_location(map_location)
    if isinstance(f, str | os.PathLike):
        with open(f, "rb") as file:
            return read(file)
    if not hasattr(f, "seek") or not hasattr(f, "read"):
        raise AttributeError(
            f"'{type(f).__name__}' object has no attribute 'seek'. You can only torch.load from a file that is "
            "seekable. Please pre-load the data into a buffer like io.BytesIO and try to load from it instead."
        )
    return read(f)


def _check_location(where: Any) -> None:
    if where is None or callable(where):
        return
    for place in where.values() if isinstance(where, dict) else (where,):
        kind = place.type if isinstance(place, device) else str(place).partition(":")[0]
        if kind != "cpu":
            raise RuntimeError(
                f"load(): cannot put tensors on {place!r}: use map_location='cpu', and move them with .to() where that "
                "device is there"
            )


STRUCTURE = "__structure__"
_FORMAT = {"format": "gradpack", "version": 1}


def _json(tree: Any) -> str:
    return json.dumps({**_FORMAT, "tree": tree}, separators=(",", ":"), allow_nan=False)


def _tree(text: str) -> Any:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadFileError(f"load(): the description of the structure is damaged: {error}") from None
    if not isinstance(found, dict) or found.get("format") != "gradpack" or "tree" not in found:
        raise BadFileError("load(): the description of the structure is not gradpack's")
    if found.get("version") != 1:
        raise BadFileError(f"load(): the file has version {found.get('version')!r}, and this gradpack reads version 1")
    return found["tree"]


# -- npz --

# Errors of reading a damaged archive.
_DAMAGE = (BadZipFile, zlib.error, struct.error, EOFError, OSError, NotImplementedError)


def write_npz(obj: Any, file: IO[bytes]) -> None:
    encoder = Encoder()
    tree = encoder.encode(obj)
    with ZipFile(file, "w", ZIP_STORED, allowZip64=True) as archive:
        _member(archive, STRUCTURE, np.frombuffer(_json(tree).encode(), np.uint8))
        for name, array in encoder.arrays.items():
            _member(archive, name, array.view(f"u{array.itemsize}") if array.dtype.kind == "V" else array)


def _member(archive: ZipFile, name: str, array: Any) -> None:
    # The time of writing is left out: equal objects make equal files.
    with archive.open(ZipInfo(name + ".npy"), "w", force_zip64=True) as member:
        np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)


def read_npz(file: IO[bytes]) -> Any:
    arrays = {}
    try:
        with ZipFile(file) as archive:
            names = archive.namelist()
            if any(name == "data.pkl" or name.endswith("/data.pkl") for name in names):
                raise BadFileError(PYTORCH)
            for name in names:
                if not name.endswith(".npy"):
                    raise BadFileError(f"load(): the archive has a member {name!r}, which is no array")
                with archive.open(name) as member:
                    arrays[name.removesuffix(".npy")] = _array(name, member)
    except (*_DAMAGE, ValueError, OverflowError, MemoryError) as error:
        raise BadFileError(f"load(): the archive is damaged or not complete: {error}") from None
    structure = arrays.pop(STRUCTURE, None)
    if structure is None:
        return {name: _plain(name, array) for name, array in arrays.items()}
    if structure.dtype != np.uint8:
        raise BadFileError("load(): the description of the structure is not text")
    return Decoder(arrays).decode(_tree(structure.tobytes().decode("utf-8", "replace")))


def _array(name: str, member: Any) -> Any:
    try:
        return np.lib.format.read_array(member, allow_pickle=False, max_header_size=100_000)
    except (ValueError, TypeError, SyntaxError, KeyError) as error:
        if "pickle" in str(error) or "Object arrays" in str(error):
            raise BadFileError(
                f"load(): {name!r} holds Python objects, which may run code when read: {UNSAFE}"
            ) from None
        raise BadFileError(f"load(): the array {name!r} is damaged: {error}") from None


def _plain(name: str, array: Any) -> Any:
    """Return a tensor of an array stored without metadata."""
    from ..core.tensor import wrap

    try:
        return wrap(array)
    except (TypeError, ValueError) as error:
        raise BadFileError(f"load(): {name!r} is no tensor: {error}") from None


# -- safetensors --


def write_safetensors(obj: Any, file: IO[bytes]) -> None:
    library = _safetensors()
    encoder = Encoder()
    tree = encoder.encode(obj)
    arrays = {n: _writable(a) for n, a in encoder.arrays.items()}
    metadata = None if _is_plain(tree) else {"gradpack": _json(tree)}
    file.write(library.numpy.save(arrays, metadata))


def _is_plain(tree: Any) -> bool:
    """Whether the structure is what every file of this format has: names and tensors."""
    return (
        isinstance(tree, dict)
        and list(tree) == ["dict"]
        and all(
            isinstance(key, str) and isinstance(value, dict) and list(value) == ["tensor", "dtype"]
            and value["tensor"] == key and value["dtype"] not in ("complex32", "complex128")
            for key, value in tree["dict"]
        )
    )  # fmt: skip


# Complex numbers that the format does not have, and their parts.
_PARTS = {np.dtype(np.complex128): np.float64, PAIR: np.float16}


def _writable(array: Any) -> Any:
    array = np.ascontiguousarray(array).reshape(array.shape)
    if array.dtype in _PARTS:
        return array.view(_PARTS[array.dtype]).reshape((*array.shape, 2))
    return array


def read_safetensors(data: Any) -> Any:
    library = _safetensors()
    try:
        found = library.deserialize(bytes(data))
        header = json.loads(bytes(data[8 : 8 + int.from_bytes(data[:8], "little")]))
    except (library.SafetensorError, ValueError) as error:
        raise BadFileError(f"load(): not a valid safetensors file: {error}") from None
    arrays = {}
    for name, entry in found:
        native = _NATIVE.get(entry["dtype"])
        if native is None:
            raise BadFileError(
                f"load(): the tensor {name!r} has the dtype {entry['dtype']}, which gradpack does not have"
            )
        try:
            arrays[name] = np.frombuffer(entry["data"], native).reshape(entry["shape"])
        except ValueError as error:  # more dimensions or elements than an array can have
            shape = entry["shape"]
            shown = f"{len(shape)} dimensions" if len(shape) > 32 else f"the shape {list(shape)}"
            raise BadFileError(f"load(): the tensor {name!r} has {shown}, which no array can have: {error}") from None
    described = (header.get("__metadata__") or {}).get("gradpack")
    if described is not None:
        return Decoder(arrays).decode(_tree(described))
    names = [n for n in header if n != "__metadata__" and n in arrays]  # in the order of the file
    tree = {"dict": [[n, {"tensor": n, "dtype": _NAMES[found_dtype]}] for n in names
                     for found_dtype in [header[n]["dtype"]]]}  # fmt: skip
    return Decoder(arrays).decode(tree)


_NAMES = {
    "BOOL": "bool", "U8": "uint8", "U16": "uint16", "U32": "uint32", "U64": "uint64", "I8": "int8", "I16": "int16",
    "I32": "int32", "I64": "int64", "F16": "float16", "BF16": "bfloat16", "F32": "float32", "F64": "float64",
    "C64": "complex64",
}  # fmt: skip
_NATIVE = {name: np.dtype(np.uint16 if ours == "bfloat16" else ours) for name, ours in _NAMES.items()}


def _safetensors() -> Any:
    try:
        import safetensors
        import safetensors.numpy
    except ImportError:
        raise missing_extra("a .safetensors file", "safetensors", "safetensors") from None
    return safetensors


# -- which one it is --

_WRITERS: dict[str, Callable[[Any, Any], None]] = {"npz": write_npz, "safetensors": write_safetensors}
UNSAFE = "gradpack reads data only. If you trust the file, load it with the library that wrote it and save it again"
PYTORCH = (
    "load(): this file was written by torch.save of PyTorch, and is a pickle: reading it can run code of whoever "
    "wrote it, so gradpack does not. With PyTorch: safetensors.torch.save_file(torch.load(path), 'x.safetensors'), "
    "or numpy.savez('x.npz', **{name: t.numpy() for name, t in torch.load(path).items()})"
)


def read(file: IO[bytes]) -> Any:
    """Read a file of any kind that is known by its first bytes."""
    start = file.tell()
    head = file.read(16)
    file.seek(start)
    if not head:
        raise EOFError("load(): the file is empty")
    if head[:4] == b"PK\x03\x04":
        return read_npz(file if start == 0 else io.BytesIO(file.read()))
    if head[:6] == b"\x93NUMPY":
        return _plain("the array", _array("the array", file))
    if head[:1] == b"\x80" and head[1:2] in b"\x02\x03\x04\x05":
        raise BadFileError(PYTORCH)
    if len(head) > 8 and head[8:9] == b"{":
        return read_safetensors(file.read())
    raise BadFileError(
        "load(): neither a file that save() wrote, nor an .npz, .npy or .safetensors file (its first bytes are "
        f"{head[:8]!r})"
    )
