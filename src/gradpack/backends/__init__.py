"""Array libraries. The only place where they are named; one file for each."""

from .base import Backend, Spec, backend_of, backend_on, register_backend, spec_of
from .numpy import NUMPY

__all__ = ["NUMPY", "Backend", "Spec", "backend_of", "backend_on", "register_backend", "spec_of"]
