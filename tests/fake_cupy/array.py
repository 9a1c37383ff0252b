"""The arrays and ufuncs of the stand-in: NumPy behind CuPy's manners."""

from __future__ import annotations

import functools
import operator

import numpy as np

from . import device as dev

SCALARS = (bool, int, float, complex, np.generic)


class Flags:
    def __init__(self, flags, owns):
        self.c_contiguous, self.f_contiguous, self.owndata = flags.c_contiguous, flags.f_contiguous, owns
        self.fnc, self.forc = flags.fnc, flags.forc

    def __getitem__(self, name):
        return {"C_CONTIGUOUS": self.c_contiguous, "F_CONTIGUOUS": self.f_contiguous, "OWNDATA": self.owndata}[name]


def check_dtype(native):
    native = np.dtype(native)
    if native.kind not in "?biufcV" and native.kind != "b":
        raise ValueError(f"Unsupported dtype {native}")
    if native.char in "gG" or (native.kind == "V" and native.name != "bfloat16"):
        raise ValueError(f"Unsupported dtype {native}")
    return native


class ndarray:
    __array_priority__ = 100

    def __init__(self, shape, dtype=float, memptr=None, strides=None, order="C"):
        native = check_dtype(dtype)
        shape = (shape,) if isinstance(shape, int) else tuple(map(operator.index, shape))
        if memptr is None:
            size = int(np.prod(shape, dtype=np.int64)) * native.itemsize
            memptr = dev.ALLOCATOR[0](size)
        self._make(np.ndarray(shape, native, memptr.mem.buffer, memptr.ptr - memptr.mem.ptr, strides, order), memptr)

    def _make(self, array, pointer, base=None):
        self._a, self.data, self.base = array, pointer, base

    # -- what there is --
    shape = property(lambda self: self._a.shape, lambda self, v: setattr(self._a, "shape", v))
    strides = property(lambda self: self._a.strides)
    dtype = property(lambda self: self._a.dtype)
    ndim = property(lambda self: self._a.ndim)
    size = property(lambda self: self._a.size)
    nbytes = property(lambda self: self._a.nbytes)
    itemsize = property(lambda self: self._a.itemsize)
    device = property(lambda self: self.data.device)
    flags = property(lambda self: Flags(self._a.flags, self.base is None))
    T = property(lambda self: computed(np.ndarray.transpose, self))
    mT = property(lambda self: computed(np.swapaxes, self, -1, -2))
    flat = property(lambda self: iter(self.ravel()))

    @property
    def real(self):
        return computed(lambda a: a.real, self)

    @real.setter
    def real(self, value):
        self.real[...] = value

    @property
    def imag(self):
        return computed(lambda a: a.imag, self)

    @imag.setter
    def imag(self, value):
        if self.dtype.kind != "c":
            raise TypeError("cupy.ndarray does not have imaginary part to set")
        self.imag[...] = value

    @property
    def __cuda_array_interface__(self):
        return {
            "shape": self.shape, "typestr": self.dtype.str, "descr": self.dtype.descr, "version": 3,
            "strides": None if self._a.flags.c_contiguous else self.strides,
            "data": (self.data.ptr if self.size else 0, False), "stream": 1,
        }  # fmt: skip

    # -- leaving the device --
    def __array__(self, dtype=None, copy=None):
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct a NumPy array "
            "explicitly."
        )

    def get(self, stream=None, order="C", out=None, blocking=True):
        dev.State.copies["d2h"] += 1
        stream = stream or dev.get_current_stream()
        if out is not None:
            if not isinstance(out, np.ndarray):
                raise TypeError("Only numpy.ndarray can be obtained from cupy.ndarray")
            if self.dtype != out.dtype:
                raise TypeError(f"{out.dtype} array cannot be obtained from {self.dtype} array")
            if self.shape != out.shape:
                raise ValueError(f"Shape mismatch. Expected shape: {self.shape}, actual shape: {out.shape}")
            if not (out.flags.c_contiguous or out.flags.f_contiguous):
                raise RuntimeError("`out` cannot be specified when copying to non-contiguous ndarray")
            host, same = out, out.flags.c_contiguous == self._a.flags.c_contiguous
        else:
            host, same = np.empty(self.shape, self.dtype, "C" if order.upper() == "C" else "F"), True
        queue = dev.queue_of(stream)
        source = self._a
        if not same or not (self._a.flags.c_contiguous or self._a.flags.f_contiguous):
            queue.before_kernel()
            source = self._a.copy()  # a kernel makes it contiguous first
        queue.give(lambda: np.copyto(host, source))
        if blocking or not dev.is_pinned(host):  # copies to other host memory are done when they return
            queue.before_kernel()
        return host

    def set(self, arr, stream=None):
        dev.State.copies["h2d"] += 1
        if not isinstance(arr, np.ndarray):
            raise TypeError("Only numpy.ndarray can be set to cupy.ndarray")
        if self.dtype != arr.dtype:
            raise TypeError(f"{arr.dtype} array cannot be set to {self.dtype} array")
        if self.shape != arr.shape:
            raise ValueError(f"Shape mismatch. Old shape: {self.shape}, new shape: {arr.shape}")
        if self._a.flags.c_contiguous:
            host = np.ascontiguousarray(arr)
        elif self._a.flags.f_contiguous:
            host = np.asfortranarray(arr)
        else:
            raise RuntimeError("Cannot set to non-contiguous array")
        pinned, target = dev.is_pinned(host), self._a
        source = host if pinned else host.copy()
        dev.queue_of(stream or dev.get_current_stream()).give(lambda: np.copyto(target, source.reshape(target.shape)))

    def item(self, *args):
        return self.get().item(*args)

    def tolist(self):
        return self.get().tolist()

    def tobytes(self, order="C"):
        return self.get().tobytes(order)

    def __bool__(self):
        return bool(self.get())

    def __int__(self):
        return int(self.get())

    def __float__(self):
        return float(self.get())

    def __complex__(self):
        return complex(self.get())

    def __repr__(self):
        return repr(self.get())

    __str__ = __repr__

    def __format__(self, text):
        return format(self.get(), text)

    def __len__(self):
        if not self.ndim:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self):
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))

    __hash__ = None

    # -- DLPack: the memory is the host's in truth, and is handed out as CUDA's --
    def __dlpack_device__(self):
        return 2, self.device.id

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if dl_device not in (None, (2, self.device.id)):
            raise BufferError("unsupported device requested.")
        dev.kernel()
        array = self._a.view(np.uint16) if self.dtype.kind == "V" else self._a
        return array.__dlpack__() if max_version is None else array.__dlpack__(max_version=max_version)

    # -- indexing --
    def __getitem__(self, index):
        found = _index(index, self)
        return computed(lambda a: _read(a, found), self)

    def __setitem__(self, index, value):
        if isinstance(value, np.ndarray) or (isinstance(value, list | tuple) and _hosts(value)):
            raise TypeError(f"Unsupported type {type(value)}")  # CuPy refuses some of these, and copies others
        place = _index(index, self)
        value = value._a if isinstance(value, ndarray) else value
        dev.kernel()
        with np.errstate(all="ignore"):
            _write(self._a, place, value)

    def _scatter_op(self, slices, value, op):
        value = value._a if isinstance(value, ndarray) else value
        native = np.result_type(self.dtype)
        allowed = _AT[op]
        if native.name not in allowed:
            raise TypeError(f"cupy ufunc.at for {op} only supports {allowed} as data type")
        dev.kernel()
        function = {"add": np.add, "sub": np.subtract, "max": np.maximum, "min": np.minimum}[op]
        function.at(self._a, _index(slices, self), np.asarray(value).astype(native))

    def scatter_add(self, slices, value):
        self._scatter_op(slices, value, "add")

    def scatter_max(self, slices, value):
        self._scatter_op(slices, value, "max")

    def scatter_min(self, slices, value):
        self._scatter_op(slices, value, "min")

    # -- numbers and protocols --
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        import cupy

        if "out" in kwargs:
            (kwargs["out"],) = kwargs["out"]
        function = getattr(cupy, ufunc.__name__, None)
        if function is None:
            return NotImplemented
        return (function if method == "__call__" else getattr(function, method))(*inputs, **kwargs)

    def __array_function__(self, func, types, args, kwargs):
        import cupy

        try:
            home = functools.reduce(getattr, func.__module__.split(".")[1:], cupy)
            found = getattr(home, func.__name__)
        except AttributeError:
            return NotImplemented
        if not all(issubclass(t, ndarray) for t in types):
            return NotImplemented
        return found(*args, **kwargs)

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memo):
        return self.copy()

    def view(self, dtype=None, type=None):
        return computed(lambda a: a.view() if dtype is None else a.view(np.dtype(dtype)), self)

    def astype(self, dtype, order="K", casting=None, subok=None, copy=True):
        if casting is not None or subok is not None:
            raise TypeError("casting is not supported yet")
        native = check_dtype(dtype)
        if native == self.dtype and not copy:
            return self
        return computed(lambda a: a.astype(native, order), self)

    def copy(self, order="C"):
        return computed(lambda a: a.copy(order), self)

    def fill(self, value):
        if isinstance(value, np.ndarray) and value.ndim:
            raise TypeError(f"Unsupported type {type(value)}")
        self[...] = value

    def reshape(self, *shape, order="C", copy=None):
        shape = shape[0] if len(shape) == 1 and isinstance(shape[0], list | tuple) else shape
        return computed(lambda a: a.reshape(tuple(map(operator.index, shape)), order=order), self)

    def transpose(self, *axes):
        axes = axes[0] if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], tuple | list)) else axes or None
        return computed(lambda a: a.transpose(axes), self)

    def ravel(self, order="C"):
        return computed(lambda a: a.ravel(order), self)

    def flatten(self, order="C"):
        return computed(lambda a: a.flatten(order), self)

    def nonzero(self):
        if not self.ndim:
            raise ValueError(
                "Calling nonzero on 0d arrays is not allowed. Use cp.atleast_1d(scalar).nonzero() instead."
            )
        return computed(np.nonzero, self)

    def sort(self, axis=-1, kind=None):
        if not self._a.flags.c_contiguous:
            raise NotImplementedError("Sorting non-contiguous array is not supported.")
        dev.kernel()
        self._a.sort(axis)


_INTS = ("int32", "uint32", "int64", "uint64")
_AT = {
    "add": ("int32", "int64", "float16", "float32", "float64", "uint32", "uint64"),
    "sub": ("int32", "uint32"),
    "max": (*_INTS, "float32", "float64"),
    "min": (*_INTS, "float32", "float64"),
}


def _hosts(values):
    return any(isinstance(v, np.ndarray) or (isinstance(v, list | tuple) and _hosts(v)) for v in values)


def _index(index, array):
    """An index as NumPy takes it. Integer arrays wrap around, as on a device."""
    parts = list(index) if isinstance(index, tuple) else [index]
    found = [p._a if isinstance(p, ndarray) else p for p in parts]
    for p in found:
        if isinstance(p, float | np.floating):
            raise IndexError("only integers, slices, ellipsis, None and integer or boolean arrays are valid indices")
    if sum(isinstance(p, np.ndarray) and p.dtype.kind == "b" for p in found) > 1:
        raise IndexError("more than one boolean array is not supported")  # CuPy's documentation of __setitem__
    used = sum(p.ndim if isinstance(p, np.ndarray) and p.dtype.kind == "b" else p is not None for p in found)
    used -= any(p is Ellipsis for p in found)
    at = 0
    for i, p in enumerate(found):
        if p is Ellipsis:
            at += array.ndim - used
        elif isinstance(p, np.ndarray) and p.dtype.kind == "b":
            at += p.ndim
        elif p is not None:
            if isinstance(p, np.ndarray | list) and at < array.ndim and array.shape[at]:
                held = np.asarray(p)
                if held.dtype.kind in "iu":
                    found[i] = held % array.shape[at]
            at += 1
    return tuple(found) if isinstance(index, tuple) else found[0]


def _read(array, index):
    return array[index]


def _write(array, index, value):
    native = array.dtype
    if isinstance(value, np.ndarray) and value.dtype != native:
        value = value.astype(native)
    array[index] = value


# -- computing --


def opened(value, arrays):
    """Nested arguments as NumPy's; no host array among them."""
    if isinstance(value, ndarray):
        if value.device.id != dev.LOCAL.device:
            raise ValueError(
                "Array device must be same as the current device: "
                f"array device = {value.device.id} while current = {dev.LOCAL.device}"
            )
        arrays.append(value)
        return value._a
    if isinstance(value, np.ndarray):
        raise TypeError(f"Unsupported type {type(value)}")
    if type(value) in (list, tuple):
        return type(value)([opened(v, arrays) for v in value])
    if isinstance(value, dict):
        return {k: opened(v, arrays) for k, v in value.items()}
    return value


def closed(value, arrays):
    """Nested results as arrays of the device. What is a view of an argument stays one."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[closed(v, arrays) for v in value])
    if type(value) in (list, tuple):
        return type(value)([closed(v, arrays) for v in value])
    if not isinstance(value, np.ndarray | np.generic):
        return value
    array = np.asarray(value)
    check_dtype(array.dtype)
    if array.size and array.base is not None:
        at = array.__array_interface__["data"][0]
        for whole in arrays:
            mem = whole.data.mem
            if mem.ptr <= at < mem.ptr + mem.size:
                made = ndarray.__new__(ndarray)
                made._make(array, dev.MemoryPointer(mem, at - mem.ptr), whole if whole.base is None else whole.base)
                return made
    order = sorted(range(array.ndim), key=lambda d: -abs(array.strides[d]))
    strides, step = [0] * array.ndim, array.itemsize
    for d in reversed(order):
        strides[d] = step
        step *= max(array.shape[d], 1)
    made = ndarray(array.shape, array.dtype, strides=tuple(strides))
    np.copyto(made._a, array)
    return made


def computed(function, *args, **kwargs):
    """Run a function of NumPy arrays on the device."""
    dev.kernel()
    arrays = []
    args, kwargs = opened(list(args), arrays), opened(kwargs, arrays)
    with np.errstate(all="ignore"):
        return closed(function(*args, **kwargs), arrays)
