"""The in-place form of an operation as a function, whose text is made at its first call."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from ...backends.numpy import NUMPY, hushed, unhush
from ...base.modes import MODE
from ...core.parameter import Parameter
from ...core.tensor import Tensor
from ..generate.profiling import timed
from ..op import COMPILING, Op
from ..signature.legacy import call as in_former_order


def _stub(*args: Any, **kwargs: Any) -> Any:
    return _compile_first(*args, **kwargs)  # type: ignore[name-defined]  # noqa: F821 - in the function's own globals


def function(
    op: Op, name: str, slow: Callable[[tuple[Any, ...]], Any], recorded: Callable[[tuple[Any, ...]], Any] | None = None
) -> FunctionType:
    """The in-place form of `op` as a function. Its text is made at the first call.

    Args:
        slow: takes what the text does not.
        recorded: takes calls on a target that has a grad_fn.
    """
    names: dict[str, Any] = {
        "__name__": "gradpack.ops",
        "_MODE": MODE.get,
        "_Tensor": Tensor,
        "_Parameter": Parameter,
        "_HUSHED": hushed,
        "_unhush": unhush,
        "_recorded": recorded or slow,
    }
    names["_slow"] = timed(op, name, slow, names, in_place=True)
    made = names["_function"] = FunctionType(_stub.__code__.replace(co_name=name, co_qualname=name), names, name)

    def compile_first(*args: Any, **kwargs: Any) -> Any:
        with COMPILING:
            if "_text" not in names:  # a thread that waited here finds it done
                compile_now()
        return made(*args, **kwargs)

    def compile_now() -> None:
        from ..generate.emitter import Form, function_text
        from ..generate.fusion import of_body

        source = function_text(op, Form(in_place=name))
        if source is None:
            former = ""
            if op.legacy is not None:
                former = f"if len(args) > {len(op.params) - op.keyword_only}: return _in_former_order(args)\n    "
            source = f"def {name}(*args, **kwargs):\n    {former}return _slow(_bind(args, kwargs))"
            names["_bind"] = op.bind
        names["_text"] = source
        if op.legacy is not None:
            names["_in_former_order"] = lambda values: in_former_order(op, name, made, values)
        names["_ufunc"] = op.ufunc
        names["_forward"] = NUMPY.bind(op.forward)
        names["_forward_large"] = of_body(op, names["_forward"])
        names.update({f"_default_{p}": v for p, v in op.defaults.items()})
        scratch = dict(names)
        exec(compile(source, f"<in-place op {op.name}>", "exec"), scratch)
        found = scratch[name]
        made.__defaults__, made.__kwdefaults__ = found.__defaults__, found.__kwdefaults__
        made.__code__ = found.__code__

    names["_compile_first"] = compile_first
    return made
