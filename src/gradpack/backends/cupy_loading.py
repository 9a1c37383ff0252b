"""When `cuda` is first asked for: CuPy is imported, and its arrays become tensors."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import Any

from ..base.devices import KINDS, device
from .base import Backend, backend_on, bring_backend

NOT_BUILT = "Torch not compiled with CUDA enabled"  # torch's words where it was built for the CPU only
NO_DRIVER = (
    "Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver from "
    "http://www.nvidia.com/Download/index.aspx"
)


def library() -> Any:
    """The package CuPy, imported; None if it is not installed."""
    if "cupy" not in sys.modules and find_spec("cupy") is None:
        return None
    import cupy

    return cupy


def count() -> int:
    """The number of CUDA devices; 0 if CuPy is not installed, or finds no driver."""
    cupy = library()
    if cupy is None:
        return 0
    try:
        return int(cupy.cuda.runtime.getDeviceCount())
    except RuntimeError:  # CUDARuntimeError: no driver, no device
        return 0


def bring() -> Exception | None:
    """Make `cuda` a kind of device that tensors can be on. Returns what to raise if it cannot be one."""
    if "cuda" in KINDS:
        return None
    cupy = library()
    if cupy is None:
        return AssertionError(f"{NOT_BUILT}: CuPy is not installed, and pip install 'gradpack[cuda]' would bring it")
    if not count():
        return RuntimeError(NO_DRIVER)
    from .cupy import CuPyBackend

    bring_backend("cuda", CuPyBackend(cupy))
    return None


def loaded() -> Any:
    """The backend of `cuda`.

    Raises:
        AssertionError: if CuPy is not installed, in torch's words.
        RuntimeError: if there is no driver.
    """
    error = bring()
    if error is not None:
        raise error
    return backend_on("cuda")


def backend_for(kind: type) -> Backend | None:
    """CuPy's backend, for a type of arrays that are CuPy's."""
    if kind.__name__ != "ndarray" or kind.__module__.partition(".")[0] != "cupy" or bring() is not None:
        return None
    found = backend_on("cuda")
    return found if found is not None and kind in found.array_types else None


def at(index: int) -> device:
    return _DEVICES.setdefault(index, device("cuda", index))


_DEVICES: dict[int, device] = {}
