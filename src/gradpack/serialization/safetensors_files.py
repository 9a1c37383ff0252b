"""Files in the format safetensors: plain ones, and those with a description of the structure in their metadata."""

from __future__ import annotations

import json
from typing import IO, Any

import numpy as np

from ..backends.numpy import PAIR
from ..base.errors import missing_extra
from .tree import BadFileError, Decoder, Encoder, to_json, tree_of


def write_safetensors(obj: Any, file: IO[bytes]) -> None:
    library = _safetensors()
    encoder = Encoder()
    tree = encoder.encode(obj)
    arrays = {n: _writable(a) for n, a in encoder.arrays.items()}
    metadata = None if _is_plain(tree) else {"gradpack": to_json(tree)}
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
        return Decoder(arrays).decode(tree_of(described))
    names = [n for n in header if n != "__metadata__" and n in arrays]  # in the order of the file
    tree = {"dict": [[n, {"tensor": n, "dtype": _NAMES[found_dtype]}] for n in names
                     for found_dtype in [header[n]["dtype"]]]}  # fmt: skip
    return Decoder(arrays).decode(tree)


_NAMES = {
    "BOOL": "bool", "U8": "uint8", "U16": "uint16", "U32": "uint32", "U64": "uint64", "I8": "int8", "I16": "int16",
    "I32": "int32", "I64": "int64", "F16": "float16", "BF16": "bfloat16", "F32": "float32", "F64": "float64",
    "C64": "complex64", "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2",
}  # fmt: skip
_NATIVE = {
    name: np.dtype({"bfloat16": "uint16"}.get(ours, "uint8" if "float8" in ours else ours))
    for name, ours in _NAMES.items()
}


def _safetensors() -> Any:
    try:
        import safetensors
        import safetensors.numpy
    except ImportError:
        raise missing_extra("a .safetensors file", "safetensors", "safetensors") from None
    return safetensors
