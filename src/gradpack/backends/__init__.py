"""Backends, one file for each array library, which no other folder names; and `torch.backends`."""

from typing import TYPE_CHECKING, Any

from .base import Backend, Spec, backend_of, backend_on, register_backend, register_finder, spec_of
from .numpy import NUMPY

__all__ = ["NUMPY", "Backend", "Spec", "backend_of", "backend_on", "register_backend", "spec_of"]


def _cupys(kind: type) -> Backend | None:
    if not kind.__module__.startswith("cupy"):
        return None
    from .cupy_loading import backend_for

    return backend_for(kind)


register_finder(_cupys)


# Modules that are loaded when they are asked for: those of `torch.backends`, and the switch of compiled loops.
_PUBLIC = frozenset("compiled cpu cuda cudnn mkl mkldnn mps nnpack openmp opt_einsum".split())


if TYPE_CHECKING:  # imported when it is first asked for
    from . import compiled as compiled
    from . import cpu as cpu
    from . import cuda as cuda
    from . import cudnn as cudnn
    from . import mkl as mkl
    from . import mkldnn as mkldnn
    from . import mps as mps
    from . import nnpack as nnpack
    from . import openmp as openmp
    from . import opt_einsum as opt_einsum
else:  # to type checkers, other names are unknown

    def __getattr__(name: str) -> Any:
        if name not in _PUBLIC:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return import_module(f"{__name__}.{name}")
