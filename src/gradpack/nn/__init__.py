"""Modules, their functions, starting values and helpers."""

import typing as _typing

from . import functional as functional
from . import grad as grad
from . import init as init
from . import modules as modules
from . import utils as utils
from .modules import *
from .parameter import Buffer as Buffer
from .parameter import Parameter as Parameter
from .parameter import UninitializedBuffer as UninitializedBuffer
from .parameter import UninitializedParameter as UninitializedParameter

if _typing.TYPE_CHECKING:  # imported when it is first asked for
    from . import parallel as parallel

globals()["__all__"] = sorted(n for n in globals() if n[0] != "_")  # as in `modules`
