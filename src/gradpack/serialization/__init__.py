"""`save` and `load`: tensors and what holds them, in files that run no code when they are read.

torch's files are pickles, and unpickling runs whatever their writer wanted. Here an interpreter of pickles calls a
table of functions that make tensors, numbers, strings and containers, and what `add_safe_globals` was given, and
nothing else. `save` writes such files, which torch loads with `weights_only=True`, or an `.npz` archive, which NumPy
reads, or a `.safetensors` file, with a description of the structure in JSON.
"""

from .api import load, save
from .pytorch import get_unsafe_globals_in_checkpoint
from .safe_globals import add_safe_globals, clear_safe_globals, get_safe_globals, safe_globals

__all__ = [
    "add_safe_globals",
    "clear_safe_globals",
    "get_safe_globals",
    "get_unsafe_globals_in_checkpoint",
    "load",
    "safe_globals",
    "save",
]
