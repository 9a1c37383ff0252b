"""Names of `torch.cuda` that programs mention, and gradpack has nothing behind."""

from __future__ import annotations

from .refuse import refused

_initialized = False
CUDAGraph, graph = refused("cuda.CUDAGraph"), refused("cuda.graph")

__all__ = ["CUDAGraph", "graph"]
