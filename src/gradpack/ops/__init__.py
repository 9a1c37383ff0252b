"""The operations, one declaration each.

Formulas name operations of other modules, and adjoint pairs name each other: so a module imports
those at its end, when all of its own names are there. Importing starts at `shape`, whose beginning
needs no other.
"""

from . import shape

__all__ = ["shape"]
