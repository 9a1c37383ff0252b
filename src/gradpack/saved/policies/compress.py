"""Policies that keep saved tensors in fewer bytes: cast to bfloat16, float16 or 8-bit floats, or compressed exactly.

`lossless` compresses with an optional library or zlib, `mask` keeps masks as bits.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from ...backends.numpy import ml_dtypes, quiet
from ..info import SavedInfo
from .codec import EachPart, Lossy, arguments, check_bytes
from .storage_policy import Stored

_LEAST = 1024  # bytes: smaller tensors are kept as they are


class Cast(EachPart, Lossy):
    """Cast to a smaller dtype, rounding to the nearest value."""

    def __init__(self, name: str, to: Any, min_bytes: int) -> None:
        check_bytes(name, min_bytes=min_bytes)
        self.to, self.min_bytes = np.dtype(to), min_bytes
        self.name = f"{name}({arguments({'min_bytes': _LEAST}, min_bytes=min_bytes)})"

    def takes(self, info: SavedInfo) -> bool:
        return Lossy.takes(self, info) and info.dtype.itemsize > self.to.itemsize

    def encode_part(self, part: Any) -> tuple[Any, tuple[Any, ...]] | None:
        if not _is_float(part):
            return None
        with quiet():
            return part.astype(self.to), (part.dtype,)

    def decode_part(self, part: Any, *how: Any) -> Any:
        return part.astype(how[0])


class Float8Cast(Cast):
    """Cast to an 8-bit float dtype, with one scale per storage that maps its largest value to the dtype's largest."""

    coarse = True

    def encode_part(self, part: Any) -> tuple[Any, tuple[Any, ...]] | None:
        if not _is_float(part):
            return None
        largest = float(max(part.max(initial=0.0), -part.min(initial=0.0)))
        scale = largest / float(_values(self.to)[_LARGEST[self.to.name]]) if 0 < largest < np.inf else 1.0
        return _eight_bits(part, scale, self.to), (part.dtype, scale)

    def decode_part(self, part: Any, *how: Any) -> Any:
        dtype, scale = how
        with quiet():
            values = (_values(self.to) * scale).astype(dtype)
        return np.take(values, part.view(np.uint8), mode="clip")


_LARGEST = {"float8_e4m3fn": 0x7E, "float8_e5m2": 0x7B}  # the codes of the largest finite values


def _is_float(part: Any) -> bool:
    return part.dtype.kind == "f" or part.dtype.name == "bfloat16"


@cache
def _values(to: Any) -> Any:
    with quiet():
        return np.arange(256, dtype=np.uint8).view(to).astype(np.float64)


@cache
def _codes(to: Any) -> Any:
    """Return a table of the 8-bit code of each float16: rounding twice loses little, and a table is much faster."""
    with quiet():
        halves = np.arange(65536, dtype=np.uint16).view(np.float16).astype(np.float32)
        return halves.astype(to).view(np.uint8)


def _eight_bits(part: Any, scale: float, to: Any) -> Any:
    table = _codes(to)
    out = np.empty(part.shape, np.uint8)
    for start in range(0, part.size, 1 << 16):
        block = slice(start, start + (1 << 16))
        with quiet():
            halves = (part[block].astype(np.float32, copy=False) * np.float32(1 / scale)).astype(np.float16)
        np.take(table, halves.view(np.uint16), out=out[block], mode="clip")
    return out.view(to)


def bf16(min_bytes: int = _LEAST) -> Stored:
    """Keep floating-point tensors as bfloat16: half the bytes of float32, its range, and 8 bits of precision.

    Each value is rounded to the nearest: the relative error is at most 1/256. Integers, parameters, and tensors that
    losses and statistics depend on are kept as they are.

    Args:
        min_bytes: smaller tensors stay as they are.

    Example::

        >>> import gradpack as torch
        >>> from gradpack import saved
        >>> x = torch.tensor([1.0, 1.001], requires_grad=True)
        >>> with saved.bf16(min_bytes=0):
        ...     y = (x * x).sum()
        >>> y.backward()
        >>> x.grad  # 2 * 1.001 would be 2.002
        tensor([2., 2.])
    """
    return Stored((Cast("bf16", ml_dtypes().bfloat16, min_bytes), None))


def fp16(min_bytes: int = _LEAST) -> Stored:
    """Keep floating-point tensors as float16: 11 bits of precision; values beyond 65504 become inf.

    Args:
        min_bytes: smaller tensors stay as they are.

    Example::

        >>> from gradpack import saved
        >>> saved.fp16()
        fp16()
    """
    return Stored((Cast("fp16", np.float16, min_bytes), None))


def fp8(format: str = "e4m3", min_bytes: int = _LEAST) -> Stored:
    """Keep floating-point tensors in 8 bits, scaled so that the largest value of each storage is representable.

    Args:
        format: "e4m3", with 4 bits of precision, or "e5m2", with 3 and more range.
        min_bytes: smaller tensors stay as they are.

    Raises:
        ValueError: for another format.
        ImportError: without ml_dtypes.

    Example::

        >>> from gradpack import saved
        >>> saved.fp8() >> saved.lossless("zlib")
        fp8() >> lossless('zlib')
    """
    formats = {"e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2"}
    if format not in formats:
        raise ValueError(f"fp8(): format is 'e4m3' or 'e5m2', not {format!r}")
    return Stored((Float8Cast("fp8", getattr(ml_dtypes(), formats[format]), min_bytes), None))


_WHOLE = 1 << 30  # bytes: larger arrays are not compressed

Codec = tuple[Callable[[Any], bytes], Callable[[Any, Any, int], Any]]
CodecMaker = Callable[[Any, int | None], Codec]  # of the library and the level


class Lossless(EachPart):
    """A stage that compresses each array, or keeps it as it is if that saves nothing."""

    def __init__(self, codec: str, level: int | None, min_bytes: int) -> None:
        if codec not in _CODECS:
            raise ValueError(f"lossless(): codec is one of {', '.join(map(repr, _CODECS))}, not {codec!r}")
        check_bytes("lossless", min_bytes=min_bytes)
        self.min_bytes = min_bytes
        try:
            library = import_module(codec)
        except ImportError as error:
            raise ImportError(
                f"lossless({codec!r}) needs {codec}: pip install 'gradpack[compress]' ({error})"
            ) from None
        self._compress, self._decompress = _CODECS[codec](library, level)
        self.name = f"lossless({codec!r}{'' if level is None else f', level={level}'})"

    def encode_part(self, part: Any) -> tuple[Any, tuple[Any, ...]] | None:
        flat = part.reshape(-1)
        packed = self._compress(flat) if 0 < flat.nbytes <= _WHOLE else None
        if packed is None or len(packed) >= flat.nbytes:
            return None
        return np.frombuffer(packed, np.uint8), (flat.dtype, flat.size, part.shape)

    def decode_part(self, part: Any, *how: Any) -> Any:
        dtype, size, shape = how
        return self._decompress(part, dtype, size).reshape(shape)


def _shuffled(part: Any) -> Any:
    """Return the first bytes of all elements, then all second bytes, and so on, which compresses better."""
    return np.ascontiguousarray(part.view(np.uint8).reshape(part.size, -1).T)


def _unshuffled(data: Any, dtype: Any, size: int) -> Any:
    rows = np.frombuffer(data, np.uint8).reshape(-1, size)
    return np.ascontiguousarray(rows.T).reshape(-1).view(dtype)


def _zlib(library: Any, level: int | None) -> Codec:
    return (
        lambda part: library.compress(_shuffled(part), 1 if level is None else level),
        lambda packed, dtype, size: _unshuffled(bytearray(library.decompress(packed)), dtype, size),
    )


def _zstandard(library: Any, level: int | None) -> Codec:
    # A new object for each call: they must not be shared by threads, and are cheap to make.
    return (
        lambda part: library.ZstdCompressor(level=1 if level is None else level).compress(_shuffled(part)),
        lambda packed, dtype, size: _unshuffled(library.ZstdDecompressor().decompress(packed), dtype, size),
    )


def _blosc2(library: Any, level: int | None) -> Codec:
    def compress(part: Any) -> bytes:
        done: bytes = library.compress2(
            part.view(np.uint8),
            typesize=part.itemsize,
            codec=library.Codec.ZSTD,
            clevel=1 if level is None else level,
            filters=[library.Filter.SHUFFLE],
            nthreads=1,
        )
        return done

    def decompress(packed: Any, dtype: Any, size: int) -> Any:
        out = np.empty(size, dtype)
        library.decompress2(packed.tobytes(), dst=out.view(np.uint8), nthreads=1)
        return out

    return compress, decompress


def _pcodec(library: Any, level: int | None) -> Codec:
    kinds = {"f2", "f4", "f8", "i2", "i4", "i8", "u2", "u4", "u8"}
    unsigned = {1: None, 2: np.uint16, 4: np.uint32, 8: np.uint64}

    def compress(part: Any) -> Any:
        if part.dtype.str[1:] not in kinds:
            other = unsigned.get(part.itemsize)
            if other is None:
                return b"\0" * part.nbytes  # not supported: a result this long makes `encode` keep the array
            part = part.view(other)
        return library.standalone.simple_compress(part, library.ChunkConfig(compression_level=level or 4))

    def decompress(packed: Any, dtype: Any, size: int) -> Any:
        return library.standalone.simple_decompress(packed.tobytes()).view(dtype)

    return compress, decompress


# The modules of the codecs, and what makes their functions.
_CODECS: dict[str, CodecMaker] = {"blosc2": _blosc2, "pcodec": _pcodec, "zstandard": _zstandard, "zlib": _zlib}


def lossless(codec: str = "blosc2", level: int | None = None, min_bytes: int = 4096) -> Stored:
    """Compress saved tensors exactly. Tensors that do not get smaller are kept as they are.

    Args:
        codec: "blosc2" (fast), "pcodec" (small), "zstandard", all of the extra `gradpack[compress]`; or "zlib", which
            is always there, and slow.
        level: of compression, as the codec counts; by default a fast one.
        min_bytes: smaller tensors stay as they are.

    Raises:
        ValueError: for another codec.
        ImportError: if its library is not installed.

    Example::

        >>> import gradpack as torch
        >>> from gradpack import saved
        >>> x = torch.randn(4096, requires_grad=True)
        >>> with saved.lossless("zlib") as policy:
        ...     y = x.relu().sum()  # half of what relu keeps are zeros
        >>> policy.packed_bytes < 12_000
        True
        >>> y.backward()
    """
    return Stored((Lossless(codec, level, min_bytes), None))


_LOOK = 256  # elements to test first


class Bits(EachPart):
    """A stage that packs arrays with only two values, 0 and one other, as bits, and keeps other arrays. Exact."""

    def __init__(self, min_bytes: int) -> None:
        check_bytes("mask", min_bytes=min_bytes)
        self.min_bytes = min_bytes
        self.name = "mask()" if min_bytes == 64 else f"mask(min_bytes={min_bytes})"

    def takes(self, info: SavedInfo) -> bool:
        return EachPart.takes(self, info) and info.kind in ("mask", "constant", "index") and not info.dtype.is_complex

    def encode_part(self, part: Any) -> tuple[Any, tuple[Any, ...]] | None:
        value = _other(part)
        if value is None:
            return None
        return np.packbits(part if part.dtype == np.bool_ else part != 0), (part.size, part.dtype, value)

    def decode_part(self, part: Any, *how: Any) -> Any:
        size, dtype, value = how
        bits = np.unpackbits(part, count=size)
        return bits.view(np.bool_) if dtype == np.bool_ else np.array([0, value], dtype)[bits]


def _other(part: Any) -> Any:
    """Return the other value of a flat array that has only 0 and one more value; None for any other array."""
    if part.dtype == np.bool_:
        return True
    for some in (part[:_LOOK], part):  # most arrays that are no masks fail the first test
        if not some.size:
            return None
        least, largest = some.min(), some.max()
        value = largest if least == 0 else least
        if not (least == 0 or largest == 0) or not ((some == 0) | (some == value)).all():
            return None
    if part.dtype.kind != "u" and np.signbit(part[part == 0]).any():  # the sign of a zero would be lost
        return None
    return value


def mask(min_bytes: int = 64) -> Stored:
    """Keep masks as bits: bool tensors, and constants whose only values are 0 and one other. Exact.

    Args:
        min_bytes: tensors of fewer bytes are kept as they are.

    Example::

        >>> import gradpack as torch
        >>> from gradpack import saved
        >>> x = torch.randn(100, requires_grad=True)
        >>> policy = saved.mask()
        >>> with policy:
        ...     y = torch.where(x > 0, x, 0.0).sum()
        >>> policy.packed_bytes
        13
        >>> y.backward()
    """
    return Stored((Bits(min_bytes), None))
