"""`compile(backend="jax")`: programs of JAX, which XLA runs."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .compiled import JaxCompiled


def compiled_by_jax(function: Callable[..., Any], fullgraph: bool, options: dict[str, Any]) -> JaxCompiled:
    """Return a function that becomes programs of XLA's.

    Raises:
        ImportError: if JAX is not installed.
    """
    if find_spec("jax") is None:
        raise ImportError('compile(backend="jax") needs JAX, which is not installed: pip install gradpack[jax]')
    from .compiled import JaxCompiled

    return JaxCompiled(function, fullgraph, options)
