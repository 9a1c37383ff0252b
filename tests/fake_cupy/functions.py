"""The functions of the stand-in: those of NumPy that CuPy has, with CuPy's parameters and limits."""

from __future__ import annotations

import inspect
import warnings

import numpy as np

from . import device as dev
from .array import check_dtype, closed, computed, ndarray, opened
from .facts import FILE
from .ufuncs import ufunc

HOST = frozenset("array asarray asanyarray ascontiguousarray asfortranarray asnumpy isscalar".split())


def signature(words):
    kinds = {"*": inspect.Parameter.VAR_POSITIONAL, "&": inspect.Parameter.KEYWORD_ONLY}
    found = []
    for word in words.split():
        default = None if word.endswith("=") else inspect.Parameter.empty
        word = word.rstrip("=")
        if word.startswith("**"):
            found.append(inspect.Parameter(word[2:], inspect.Parameter.VAR_KEYWORD))
            continue
        kind = kinds.get(word[0], inspect.Parameter.POSITIONAL_OR_KEYWORD)
        if word[0] == "!":
            kind = inspect.Parameter.POSITIONAL_ONLY
        found.append(inspect.Parameter(word.lstrip("*&!"), kind, default=default))
    return inspect.Signature(found)


def strict(name, words, run):
    """A function that takes what CuPy's takes."""
    takes = None if words == "?" else signature(words)

    def function(*args, **kwargs):
        if takes is not None:
            takes.bind(*args, **kwargs)  # TypeError for what CuPy does not take
        return run(*args, **kwargs)

    function.__name__ = function.__qualname__ = name.rpartition(".")[2]
    return function


def plain(host):
    def run(*args, **kwargs):
        return computed(host, *args, **kwargs)

    return run


# -- those that do otherwise --


def _array(obj, dtype=None, copy=True, order="K", subok=False, ndmin=0, *, blocking=False):
    dev.kernel()
    arrays = []
    if isinstance(obj, ndarray) and obj.device.id != dev.LOCAL.device:
        return closed(obj._a.astype(dtype or obj.dtype), [])
    if isinstance(obj, ndarray):
        made = obj if (dtype is None or obj.dtype == dtype) and not copy else obj.astype(dtype or obj.dtype)
        return made.reshape((1,) * max(ndmin - made.ndim, 0) + made.shape)
    if isinstance(obj, list | tuple) and _any_device(obj):
        obj = opened(obj, arrays)
        return closed(np.array(obj, dtype, ndmin=ndmin), [])
    host = np.array(obj, dtype, order=order, ndmin=ndmin)
    check_dtype(host.dtype)
    dev.State.copies["h2d"] += 1
    return closed(host, [])


def _any_device(values):
    return any(isinstance(v, ndarray) or (isinstance(v, list | tuple) and _any_device(v)) for v in values)


def _asarray(a, dtype=None, order=None, *, copy=None, blocking=False):
    return _array(a, dtype, copy=bool(copy))


def _ascontiguousarray(a, dtype=None):
    made = _asarray(a, dtype)
    return made if made.flags.c_contiguous else made.copy()


def _asnumpy(a, stream=None, order="C", out=None, *, blocking=True):
    return a.get(stream, order, out, blocking) if isinstance(a, ndarray) else np.asarray(a)


def _searchsorted(a, v, side="left", sorter=None):
    if not isinstance(a, ndarray) or not isinstance(v, ndarray):
        raise NotImplementedError("Only int or ndarray are supported")
    if a.ndim != 1:
        raise ValueError("object too deep for desired array")
    return computed(np.searchsorted, a, v, side)


def _lexsort(keys):
    if keys.ndim > 2:
        raise NotImplementedError("Keys with the rank of three or more is not supported in lexsort")
    return computed(np.lexsort, keys)


def _packbits(a, axis=None, bitorder="big"):
    if a.dtype.kind not in "biu":
        raise TypeError("Expected an input array of integer or boolean data type")
    if axis is not None:
        raise NotImplementedError("axis option is not supported yet")
    return computed(np.packbits, a, bitorder=bitorder)


def _unpackbits(a, axis=None, bitorder="big"):
    if a.dtype != np.uint8:
        raise TypeError("Expected an input array of unsigned byte data type")
    if axis is not None:
        raise NotImplementedError("axis option is not supported yet")
    return computed(np.unpackbits, a, bitorder=bitorder)


def _sort(a, axis=-1, kind=None):
    if not a.ndim:
        raise np.exceptions.AxisError("Sorting arrays with the rank of zero is not supported")
    return computed(np.sort, a, axis=axis, kind="stable")


def _argsort(a, axis=-1, kind=None):
    return computed(lambda x: np.argsort(np.atleast_1d(x), axis=axis, kind="stable"), a)


def _bincount(x, weights=None, minlength=None):
    return computed(np.bincount, x, weights, minlength or 0)


def _nonzero(a):
    return a.nonzero()


def _copyto(dst, src, casting="same_kind", where=None):
    if not isinstance(src, ndarray | bool | int | float | complex | np.generic):
        raise TypeError(f"Unsupported type {type(src)}")
    if isinstance(where, np.ndarray):
        raise TypeError(f"Unsupported type {type(where)}")
    if isinstance(src, ndarray) and not np.can_cast(src.dtype, dst.dtype, casting):
        raise TypeError(f"Cannot cast {src.dtype} to {dst.dtype} in {casting} casting mode")
    dev.kernel()
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mask = True if where is None else where._a
        np.copyto(dst._a, src._a if isinstance(src, ndarray) else src, casting="unsafe", where=mask)


def _matmul(a, b, *, axes=None, axis=None, keepdims=False, casting="same_kind", dtype=None, signature=None, order="K",
            out=None):  # fmt: skip
    for x in (a, b):
        if not isinstance(x, ndarray):
            raise TypeError(f"Unsupported type {type(x)}")
    made = computed(np.matmul, a, b)
    if out is None:
        return made
    out[...] = made
    return out


def _from_dlpack(x, /, *, device=None, copy=None):
    if x.__dlpack_device__()[0] not in (2, 13):
        raise BufferError("CPU arrays cannot be directly imported to CuPy.")
    return closed_over(x)


class _Producer:
    def __init__(self, capsule):
        self._capsule = capsule

    def __dlpack__(self, **_):
        return self._capsule

    def __dlpack_device__(self):
        return 1, 0


def closed_over(x):
    host = np.from_dlpack(_Producer(x.__dlpack__()))
    made = ndarray.__new__(ndarray)
    mem = dev.Memory.__new__(dev.Memory)
    mem.device_id, mem.size, mem.ptr = x.__dlpack_device__()[1], host.nbytes, host.__array_interface__["data"][0]
    mem.buffer, mem.home = (
        np.zeros(0, np.uint8),
        dev.queue_of(dev.get_current_stream()),
    )  # dies without touching what is not its own
    dev.POOL.used[mem.device_id] = dev.POOL.used.get(mem.device_id, 0) + mem.size
    writable = np.lib.stride_tricks.as_strided(host, writeable=False)
    made._make(writable, dev.MemoryPointer(mem, 0))
    return made


SPECIAL = {
    "array": _array, "asarray": _asarray, "asanyarray": _asarray, "ascontiguousarray": _ascontiguousarray,
    "asnumpy": _asnumpy, "searchsorted": _searchsorted, "lexsort": _lexsort, "packbits": _packbits,
    "unpackbits": _unpackbits, "sort": _sort, "argsort": _argsort, "bincount": _bincount, "nonzero": _nonzero,
    "copyto": _copyto, "matmul": _matmul, "from_dlpack": _from_dlpack,
    "get_default_memory_pool": lambda: dev.POOL, "get_default_pinned_memory_pool": lambda: dev.PINNED_POOL,
}  # fmt: skip


# -- linalg: what is singular gives nan, unless cupyx.errstate says otherwise --

ERRSTATE = {"linalg": "ignore"}


class errstate:
    def __init__(self, *, divide=None, over=None, under=None, invalid=None, linalg=None, fallback_mode=None):
        self.linalg = linalg

    def __enter__(self):
        self.before = dict(ERRSTATE)
        if self.linalg is not None:
            ERRSTATE["linalg"] = self.linalg

    def __exit__(self, *exc):
        ERRSTATE.update(self.before)


def linalg(name):
    host = getattr(np.linalg, name)

    def run(*args, **kwargs):
        for a in args:
            if isinstance(a, ndarray) and a.dtype.name in ("float16", "bfloat16"):
                raise TypeError("float16 is unsupported in linalg")
        try:
            made = computed(host, *args, **kwargs)
            return tuple(made) if isinstance(made, tuple) else made  # CuPy's have no fields
        except np.linalg.LinAlgError as error:
            if ERRSTATE["linalg"] == "raise" or ("singular" not in str(error).lower() and "definite" not in str(error)):
                raise
            return computed(lambda a, *rest: np.full_like(a if not rest else rest[0], np.nan), *args)

    return run


# -- random numbers --


class Philox4x3210:
    def __init__(self, seed=None, *, size=-1):
        sequence = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
        dev.kernel()
        self._host = np.random.Generator(np.random.Philox(sequence))
        self._device = dev.LOCAL.device


class Generator:
    """CuPy's: fewer dtypes, and no `float16`."""

    def __init__(self, bit_generator):
        self.bit_generator = bit_generator

    def _draw(self, name, *args, **kwargs):
        if self.bit_generator._device != dev.LOCAL.device:
            raise RuntimeError("This Generator state is allocated in a different device")
        host = self.bit_generator._host
        return computed(lambda *a, **k: getattr(host, name)(*a, **k), *args, **kwargs)

    def random(self, size=None, dtype=np.float64, out=None):
        return self._draw("random", size, dtype)

    def uniform(self, low=0.0, high=1.0, size=None, dtype=np.float64):
        return self._draw("uniform", low, high, size).astype(dtype)

    def integers(self, low, high=None, size=None, dtype=np.int64, endpoint=False):
        return self._draw("integers", low, high, size, dtype, endpoint)

    def standard_normal(self, size=None, dtype=np.float64, out=None):
        if np.dtype(dtype).char not in "fd":
            raise TypeError("Unsupported dtype for standard_normal")
        return self._draw("standard_normal", size, dtype)

    def exponential(self, scale=1.0, size=None):
        return self._draw("exponential", scale, size)

    def geometric(self, p, size=None):
        return self._draw("geometric", p, size)

    def binomial(self, n, p, size=None):
        return self._draw("binomial", n, p, size)

    def poisson(self, lam=1.0, size=None):
        return self._draw("poisson", lam, size)

    def standard_gamma(self, shape, size=None, dtype=np.float64, out=None):
        return self._draw("standard_gamma", shape, size, dtype)


def special():
    """The functions of cupyx.scipy.special that SciPy has, too."""
    import scipy.special

    names = [line.split(" ")[1] for line in FILE.read_text(encoding="utf-8").splitlines() if line[:8] == "special "]
    return {n: plain(getattr(scipy.special, n)) for n in names if hasattr(scipy.special, n)}


# -- all of it --


def fill(modules):
    """Put into modules, by name, what CuPy has there."""
    for line in FILE.read_text(encoding="utf-8").splitlines():
        what, name, *rest = line.split(" ")
        home, _, short = name.rpartition(".")
        if home not in modules:
            continue
        module, host = modules[home], np
        for part in home.split("."):
            host = getattr(host, part, None) if part else host
        if what == "ufunc" and hasattr(np, short) and isinstance(getattr(np, short), np.ufunc):
            made = ufunc(short, [t for t in rest if "->" in t], rest[-1])
        elif what == "function":
            words = " ".join(rest)
            special = SPECIAL.get(name)
            if special is None:
                found = getattr(host, short, None)
                if found is None:
                    continue
                special = linalg(short) if home == "linalg" else plain(found)
            made = strict(name, words, special)
        elif what == "class" and isinstance(getattr(np, short, None), type) and not home:
            made = getattr(np, short)  # dtypes, finfo and the like are NumPy's
        elif what == "value" and home in ("", "linalg") and hasattr(host, short):
            made = getattr(host, short)
        elif what == "class" and home == "linalg":
            made = getattr(np.linalg, short, None)
        else:
            continue
        setattr(module, short, made)
