"""`save` and `load`, with torch's arguments."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from typing import Any

from ..base.devices import device
from .containers import read, write_npz, write_safetensors

_WRITERS: dict[str, Callable[[Any, Any], None]] = {"npz": write_npz, "safetensors": write_safetensors}


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
