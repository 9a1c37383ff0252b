"""Backends, one file for each array library, which no other folder names; and `torch.backends`."""

from typing import Any

from ..base.devices import BRINGS
from .base import Backend, Spec, backend_of, backend_on, register_backend, register_finder, spec_of
from .numpy import NUMPY

__all__ = ["NUMPY", "Backend", "Spec", "backend_of", "backend_on", "register_backend", "spec_of"]


def _bring_cuda() -> Exception | None:
    from .cupy_loading import bring

    return bring()


def _cupys(kind: type) -> Backend | None:
    if not kind.__module__.startswith("cupy"):
        return None
    from .cupy_loading import backend_for

    return backend_for(kind)


def _bring_meta() -> Exception | None:
    from .meta import bring

    return bring()


BRINGS["cuda"] = _bring_cuda
BRINGS["meta"] = _bring_meta
register_finder(_cupys)


def __getattr__(name: str) -> Any:
    if name in ("compiled", "opt_einsum"):
        from importlib import import_module

        return import_module(f".{name}", __name__)
    from .absent import module

    found = module(name)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found
