"""Loops from text that other modules write, with what such text may call.

Machine code is kept by the module and the name of a function. The text is said to come from this
file, under a name made of all that it says; so processes after the first one find it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from hashlib import sha1
from typing import Any

import numpy as np
from numba import carray

from . import functions, trigonometry
from .loop import exact, loop, use_widest_vectors
from .native import strip

_MOST = 1024
_NAMES: dict[str, Any] = {
    **{name: getattr(functions, name) for name in "exp exp2 expm1 log log1p tanh maximum minimum".split()},
    **{name: getattr(trigonometry, name) for name in "sin cos is_far sin_of_any cos_of_any".split()},
    **{name: getattr(np, name) for name in "sqrt floor ceil trunc rint empty".split()},
    "one": np.float32(1),
    "carray": carray,
    "float32": np.float32,
    "strip": strip,
    "use_widest_vectors": use_widest_vectors,
}


@lru_cache(_MOST)
def loop_of(text: str, is_exact: bool = False) -> Callable[..., Any]:
    """The loop that the text of one function defines, whose name is `{name}` there.

    Args:
        text: may call, by their names, `functions` and `trigonometry` of float32, and those of NumPy that are exact.
        is_exact: round after each step, as calls of NumPy's do.
    """
    name = ("exact_" if is_exact else "loop_") + sha1(text.encode(), usedforsecurity=False).hexdigest()[:16]
    names = {"__name__": __name__} | _NAMES
    exec(compile(text.format(name=name), __file__, "exec"), names)
    return exact(names[name]) if is_exact else loop(names[name])
