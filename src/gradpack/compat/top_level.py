"""Functions of the module `torch` itself that programs call and that mean little here."""

from __future__ import annotations

import os
import sys
import warnings
from importlib import import_module
from typing import Any

from ..base.threads import check_count, get_num_threads
from ..core.storage import UntypedStorage
from ..core.tensor import Tensor
from ..ops.attributes import TypedStorage

__name__ = "gradpack"  # so torch has it

_state: dict[str, Any] = {"precision": "highest", "interop": None}  # settings without effect


def compiled_with_cxx11_abi() -> bool:
    """Whether the library was compiled with the C++11 ABI: there is no compiled part. True, as torch says of itself.

    Example::

        >>> import gradpack as torch
        >>> torch.compiled_with_cxx11_abi()
        True
    """
    return True


def get_file_path(*path_components: str) -> str:
    """The path of a file in the folder that `gradpack` is in.

    Args:
        *path_components: the names of folders and of the file on the way there, from that folder on.

    Example::

        >>> import gradpack as torch
        >>> torch.get_file_path("gradpack", "py.typed").endswith("py.typed")
        True
    """
    return os.path.join(os.path.dirname(sys.modules["gradpack"].__path__[0]), *path_components)


def get_device_module(device: Any = None) -> Any:
    """The module of a kind of device: `gradpack.cpu`, `gradpack.cuda`.

    Raises:
        RuntimeError: for a kind that has none.

    Example::

        >>> import gradpack as torch
        >>> torch.get_device_module("cpu").__name__
        'gradpack.cpu'
    """
    kind = "cpu" if device is None else str(device).partition(":")[0]
    if kind not in ("cpu", "cuda", "mps", "xpu"):
        raise RuntimeError(f"Invalid device type '{kind}': it has no module in gradpack")
    return import_module(f"{__name__}.{kind}")


def typename(obj: Any, /) -> str:
    """The name of an object's type; of a tensor with its dtype.

    Args:
        obj: a tensor, or any other object; of a class or function, the result is its own name.

    Example::

        >>> import gradpack as torch
        >>> torch.typename(torch.ones(1))
        'torch.FloatTensor'
    """
    if isinstance(obj, Tensor):
        return str(obj.type())
    kind = obj if isinstance(obj, type) else type(obj)
    name = getattr(obj, "__qualname__", None) or getattr(obj, "__name__", None) or kind.__qualname__
    module = getattr(obj, "__module__", None) or ""
    return name if module in ("", "builtins", "__builtin__") else f"{module}.{name}"


def is_storage(obj: Any, /) -> bool:
    """Whether an object is the storage of a tensor.

    Args:
        obj: any object.

    Example::

        >>> import gradpack as torch
        >>> torch.is_storage(torch.ones(1).untyped_storage())
        True
    """
    return isinstance(obj, UntypedStorage | TypedStorage)


def get_float32_matmul_precision() -> str:
    """Return "highest", "high" or "medium". Products of float32 are always computed in float32.

    Example::

        >>> import gradpack as torch
        >>> torch.get_float32_matmul_precision()
        'highest'
    """
    return str(_state["precision"])


def set_float32_matmul_precision(precision: str) -> None:
    """Set the value that `get_float32_matmul_precision` returns. Products are computed in float32 whatever it is.

    Args:
        precision: `"highest"`, `"high"` or `"medium"`; for another one there is a warning, and nothing changes.

    Raises:
        RuntimeError: if it is no str.

    Example::

        >>> import gradpack as torch
        >>> torch.set_float32_matmul_precision("highest")
    """
    if not isinstance(precision, str):
        raise RuntimeError(f"set_float32_matmul_precision expects a str, but got {type(precision).__name__}")
    if precision not in ("highest", "high", "medium"):
        warnings.warn(
            f"{precision} is not one of 'highest', 'high', or 'medium'; the current setFloat32MatmulPrecision call has "
            "no effect.",
            UserWarning,
            stacklevel=2,
        )
        return
    _state["precision"] = precision


def get_num_interop_threads() -> int:
    """Return the number set by `set_num_interop_threads`, else `get_num_threads()`.

    Example::

        >>> import gradpack as torch
        >>> torch.get_num_interop_threads() >= 1
        True
    """
    return int(_state["interop"] or get_num_threads())


def set_num_interop_threads(threads: int, /) -> None:
    """Set the number that `get_num_interop_threads` returns. It has no effect: operations do not run in parallel here.

    Args:
        threads: the number of threads: a positive int.

    Raises:
        RuntimeError: if the number is not positive.

    Example::

        >>> import gradpack as torch
        >>> torch.set_num_interop_threads(1)
    """
    check_count("set_num_interop_threads", threads)
    _state["interop"] = threads


def set_flush_denormal(mode: bool, /) -> bool:
    """Set whether denormal numbers are flushed to zero. Not supported by NumPy: returns False if `mode` is True.

    Args:
        mode: whether to flush them.

    Example::

        >>> import gradpack as torch
        >>> torch.set_flush_denormal(False)
        True
    """
    return not mode


def profiler_allow_cudagraph_cupti_lazy_reinit_cuda12() -> bool:
    """Always True, as in torch: a setting of CUDA's profiling library, which is not used here.

    Example::

        >>> import gradpack as torch
        >>> torch.profiler_allow_cudagraph_cupti_lazy_reinit_cuda12()
        True
    """
    return True
