"""The switch of the loops over elements that Numba compiles, where it is installed: the extra `compiled`.

NumPy runs one instruction over a whole array before the next, so a formula of twenty instructions
reads and writes memory twenty times. Where that is what an operation waits for, `kernels/numba` has
the same formula as one loop, for large dense arrays of float32 or float64 only. Without Numba
everything works, in more passes. Numba is imported, and each loop compiled, when one is first
needed; the machine code is kept in the user's cache folder, for all programs and environments.
`gradpack warmup` compiles ahead what ordinary training needs. Profiles show the event `gradpack::compile`.

`GRADPACK_COMPILED=0` in the environment switches the loops off, as `flags` does for a while.
`GRADPACK_CACHE_DIR` names the folder. `GRADPACK_COMPILED_NOTICE=0` switches off the line on standard
error that is printed when compilation has taken half a second.

Example::

    >>> import gradpack as torch
    >>> with torch.backends.compiled.flags(enabled=False):
    ...     torch.erf(torch.zeros(2))
    tensor([0., 0.])
"""

from __future__ import annotations

from typing import Any

from ..kernels.dispatch import ENABLED, libraries


def is_available() -> bool:
    """Whether Numba is installed. It is imported when a large array first needs it."""
    from importlib.util import find_spec

    return find_spec("numba") is not None


def is_enabled() -> bool:
    """Whether compiled loops are used where they are available."""
    return ENABLED["numba"]


def flags(enabled: bool = True) -> Any:
    """Use compiled loops, or do not, in this process, until the context is left."""
    return libraries(numba=bool(enabled))
