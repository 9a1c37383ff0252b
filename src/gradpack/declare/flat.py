"""Gradients that do not change with the input, and that torch takes for functions of it all the same."""

from __future__ import annotations

import re
from functools import cache

from ..base.modes import MODE, TRANSFORMS
from ..graph.node import Node
from ..tensor.tensor import Tensor, alias
from .op import REGISTRY

_FLAT = re.compile(
    "(Relu|LeakyRelu|Hardtanh|Threshold|PreluKernel|RreluWithNoise|Softshrink|Hardshrink|Hardsigmoid|NllLoss|NllLoss2D|"
    "MultiMarginLoss|MultilabelMarginLoss|(Reflection|Replication)Pad[123]D|[A-Za-z]+Pool[123]D[A-Za-z]*)Backward0"
)


@cache
def is_flat(name: str) -> bool:
    """Whether the gradient of nodes of this name requires grad under `create_graph` whenever the input does."""
    return _FLAT.fullmatch(name) is not None


def followed(gradient: Tensor, source: Node | None) -> Tensor:
    """The gradient, or tangent, with a history that leads to an operand, whose gradient is zero there."""
    mode = MODE.get()
    if source is None or not mode.grad or mode.levels or TRANSFORMS.get():
        return gradient
    like = alias(gradient._data, gradient._spec, gradient._shape)
    like._edge = source
    out = alias(gradient._data, gradient._spec, gradient._shape)
    out._counter, out._tangents = gradient._counter, gradient._tangents
    out._edge = REGISTRY["_zeroed"].public(like)._edge
    return out
