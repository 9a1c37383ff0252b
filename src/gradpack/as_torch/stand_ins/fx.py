"""`torch.fx`: programs are not traced."""

from .jit import _identity
from .refuse import refused

wrap = _identity
GraphModule, Graph, Node, Proxy, Tracer, symbolic_trace = map(
    refused, "fx.GraphModule fx.Graph fx.Node fx.Proxy fx.Tracer fx.symbolic_trace".split()
)

__all__ = ["Graph", "GraphModule", "Node", "Proxy", "Tracer", "symbolic_trace", "wrap"]
