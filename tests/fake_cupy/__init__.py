"""A stand-in for CuPy, made over NumPy, for machines without a GPU.

It has the names of CuPy 14.2 and takes their parameters (`facts.txt`, read off CuPy itself). Its arrays are no NumPy
arrays, do not become any unasked, and do not mix with them; results without dimensions stay arrays; what CuPy
refuses is refused. It says nothing of kernels that do not compile, of speed, or of rounding.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from types import ModuleType

import numpy as np

from . import device as dev
from . import functions
from .array import ndarray
from .ufuncs import ufunc


def build():
    """The modules, by full name."""
    names = "cupy cupy.linalg cupy.fft cupy.random cupy.lib cupy.lib.stride_tricks cupy.cuda cupy.cuda.runtime cupyx"
    modules = {name: ModuleType(name) for name in [*names.split(), "cupyx.scipy", "cupyx.scipy.special"]}
    for name, module in modules.items():
        module.__path__ = []
        module.__spec__ = ModuleSpec(name, None, is_package=True)
        home, _, short = name.rpartition(".")
        if home:
            setattr(modules[home], short, module)
    cupy = modules["cupy"]
    homes = {"": cupy, "linalg": cupy.linalg, "fft": cupy.fft, "lib.stride_tricks": cupy.lib.stride_tricks}
    functions.fill(homes)
    cupy.__version__ = "14.2.0"
    cupy.ndarray, cupy.ufunc = ndarray, ufunc
    cupy.ndarray.__module__ = "cupy"
    for name in "pi e inf nan newaxis".split():
        setattr(cupy, name, getattr(np, name))
    cupy.random.Generator, cupy.random.Philox4x3210 = functions.Generator, functions.Philox4x3210
    cuda = cupy.cuda
    for name in (
        "Device Event MemoryPointer MemoryPool PinnedMemoryPool Stream alloc_pinned_memory get_allocator "
        "get_current_stream get_device_id get_elapsed_time is_available set_allocator"
    ).split():
        setattr(cuda, name, getattr(dev, name))
    for name in [n for n in vars(dev.runtime) if not n.startswith("_")]:
        setattr(cuda.runtime, name, getattr(dev.runtime, name))
    cuda.memory = ModuleType("cupy.cuda.memory")
    cuda.memory.OutOfMemoryError = dev.OutOfMemoryError
    modules["cupyx"].errstate = functions.errstate
    vars(modules["cupyx.scipy.special"]).update(functions.special())
    return modules


def missing_names():
    """Names of the stand-in that CuPy does not have."""
    cupy = build()["cupy"]
    known = {line.split(" ")[1] for line in functions.FILE.read_text(encoding="utf-8").splitlines()}
    mine = {n for n in vars(cupy) if not n.startswith("_")} | {f"cuda.{n}" for n in vars(cupy.cuda) if n[0] != "_"}
    return mine - known - {"cuda.memory"}


@contextmanager
def installed(count=2, capacity=1 << 30):
    """`import cupy` gives the stand-in within the block, with so many devices."""
    if isinstance(getattr(sys.modules.get("cupy"), "_stand_in", None), bool):
        raise RuntimeError("the stand-in is installed already")
    modules = build()
    modules["cupy"]._stand_in = True
    real = {n: m for n, m in sys.modules.items() if n.partition(".")[0] in ("cupy", "cupyx")}
    for name in real:
        del sys.modules[name]
    sys.modules.update(modules)
    dev.State.count, dev.State.capacity = count, capacity
    dev.State.copies.update(dict.fromkeys(dev.State.copies, 0))
    try:
        yield modules["cupy"]
    finally:
        dev.State.count = 0
        dev.LOCAL.device = 0
        dev.set_allocator(None)
        for name in modules:
            sys.modules.pop(name, None)
        sys.modules.update(real)


def forget_kind(kind):
    """Make a kind of device one that was never asked for."""
    from gradpack.backends.base import backend_on, forget_backend, unplace_backend

    backend = backend_on(kind)
    if backend is not None:
        unplace_backend(kind)
        forget_backend(backend, {})


@contextmanager
def on_cuda(count=2, capacity=1 << 30):
    """The stand-in, and `cuda` as a device of gradpack's, for the block."""
    from gradpack.backends import cupy_loading

    with installed(count, capacity) as cupy:
        forget_kind("cuda")
        cupy_loading.bring()
        try:
            yield cupy
        finally:
            forget_kind("cuda")
