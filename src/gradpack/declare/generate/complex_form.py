"""The generated code for complex tensors: the formulas for real tensors, with conjugates."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import numpy as np

from ..op import Op
from .inline import Called


def of_complex(op: Op, names: dict[str, Any]) -> Callable[[tuple[Any, ...]], Any]:
    """A function of the values of all parameters. Its text is made at the first call.

    Args:
        names: the globals of the text for real numbers.
    """
    made: list[Callable[[tuple[Any, ...]], Any]] = []

    def call(values: tuple[Any, ...]) -> Any:
        if not made:
            made.append(_made(op, names))
        return made[0](values)

    return call


def _made(op: Op, names: dict[str, Any]) -> Callable[[tuple[Any, ...]], Any]:
    from ..dispatch.interpreter import apply
    from ..dispatch.nodes import name_node
    from .emitter import Form, source
    from .fusion import large_forms

    text, filename = source(op, Form(complex=True, inner=True)), f"<complex op {op.name}>"
    own = {**names, "__name__": "gradpack.ops", "_slow": lambda values: apply(op, values)}
    own.update(large_forms(op, Called(op), names["_forward"], {p: names[f"_vjp_{p}"] for p in op.formulas}))
    exec(compile(text, filename, "exec"), own)
    node = own["_Backward"]
    if "backward" in vars(node) and op.holomorphic and op.result != "real":  # whose gradient is real
        node.backward = _conjugating(node.backward)
    name_node(op, node, filename)
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    call: Callable[[tuple[Any, ...]], Any] = own["_call"]
    return call


def _conjugating(plain: Callable[..., Any]) -> Callable[..., Any]:
    def backward(self: Any, g: Any, keep: bool, edges: Any = None) -> Any:
        gradients = plain(self, np.conjugate(g), keep, edges)
        return tuple([x if x is None else np.conjugate(x, dtype=g.dtype) for x in gradients])

    return backward
