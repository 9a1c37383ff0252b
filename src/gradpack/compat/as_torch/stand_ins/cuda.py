"""Names of `torch.cuda` that programs mention, without a function in gradpack."""

from __future__ import annotations

from .refuse import refused

_initialized = False
CUDAGraph, graph = refused("cuda.CUDAGraph"), refused("cuda.graph")

__all__ = ["CUDAGraph", "graph"]
