"""Invertible maps with the log-determinants of their Jacobians."""

from ..base.parts import adopt_parts as _adopt_parts
from ._transform import *
from ._transform import _InverseTransform  # noqa: F401 - others look for it here
from ._transforms_pointwise import *
from ._transforms_vectors import *

# A type checker takes all that is imported for public, as long as it sees no list.
globals()["__all__"] = sorted(n for n in globals() if n[0] != "_")
_adopt_parts(__name__)
