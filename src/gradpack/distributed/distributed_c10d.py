"""Groups of ranks, and what they do together: everything that `torch.distributed` gives."""

from __future__ import annotations

from ..base.parts import adopt_parts
from ._arrays import *
from ._bucket import *
from ._collectives import *
from ._groups import *
from ._mailbox import *
from ._objects import *
from ._point_to_point import *
from ._process_group import *
from ._store import *
from ._world import *

adopt_parts(__name__)
# A type checker takes all that is imported for public, as long as it sees no list.
_made = ("ReduceOp", "default_pg_timeout", "group")
globals()["__all__"] = [n for n, v in globals().items() if getattr(v, "__module__", None) == __name__ or n in _made]
