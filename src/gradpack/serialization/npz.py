"""NumPy's archives of arrays: those that `save` writes, with a description of the structure, and those of others."""

from __future__ import annotations

import struct
import zlib
from typing import IO, Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np

from .tree import STRUCTURE, BadFileError, Decoder, Encoder, to_json, tree_of

UNSAFE = "gradpack reads data only. If you trust the file, load it with the library that wrote it and save it again"

# Errors of reading a damaged archive.
DAMAGE = (BadZipFile, zlib.error, struct.error, EOFError, OSError, NotImplementedError)


def write_npz(obj: Any, file: IO[bytes]) -> None:
    encoder = Encoder()
    tree = encoder.encode(obj)
    with ZipFile(file, "w", ZIP_STORED, allowZip64=True) as archive:
        _member(archive, STRUCTURE, np.frombuffer(to_json(tree).encode(), np.uint8))
        for name, array in encoder.arrays.items():
            own = array.dtype.isbuiltin == 1  # others, as bfloat16, are written as integers
            _member(archive, name, array if own else array.view(f"u{array.itemsize}"))


def _member(archive: ZipFile, name: str, array: Any) -> None:
    # The time of writing is left out: equal objects make equal files.
    with archive.open(ZipInfo(name + ".npy"), "w", force_zip64=True) as member:
        np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)


def read_npz(archive: ZipFile) -> Any:
    arrays = {}
    for name in archive.namelist():
        if not name.endswith(".npy"):
            raise BadFileError(f"load(): the archive has a member {name!r}, which is no array")
        with archive.open(name) as member:
            arrays[name.removesuffix(".npy")] = read_array(name, member)
    structure = arrays.pop(STRUCTURE, None)
    if structure is None:
        return {name: as_tensor(name, array) for name, array in arrays.items()}
    if structure.dtype != np.uint8:
        raise BadFileError("load(): the description of the structure is not text")
    return Decoder(arrays).decode(tree_of(structure.tobytes().decode("utf-8", "replace")))


def read_array(name: str, member: Any) -> Any:
    try:
        return np.lib.format.read_array(member, allow_pickle=False, max_header_size=100_000)
    except (ValueError, TypeError, SyntaxError, KeyError) as error:
        if "pickle" in str(error) or "Object arrays" in str(error):
            raise BadFileError(
                f"load(): {name!r} holds Python objects, which may run code when read: {UNSAFE}"
            ) from None
        raise BadFileError(f"load(): the array {name!r} is damaged: {error}") from None


def as_tensor(name: str, array: Any) -> Any:
    """Return a tensor of an array stored without metadata."""
    from ..core.tensor import wrap

    try:
        return wrap(array)
    except (TypeError, ValueError) as error:
        raise BadFileError(f"load(): {name!r} is no tensor: {error}") from None
