"""Generated code of an in-place operation for the usual case: nothing to record, arrays of one dtype.

What the text does not handle it hands to `_slow`, which is `declare.inplace`. Anything that NumPy
refuses (a read-only array, shapes that do not fit) it refuses before it writes, and goes there too.
"""

from __future__ import annotations

from collections.abc import Callable
from textwrap import indent
from types import FunctionType
from typing import Any

import numpy as np

from ...backends.numpy import NUMPY, hushed, unhush
from ...base.modes import MODE
from ...core.parameter import Parameter
from ...core.tensor import Tensor
from ..generate.buffers import limit_into
from ..generate.profiling import timed
from ..generate.tiling import LARGE, of_body
from ..op import COMPILING, Op
from ..signature.arguments import USUAL, option_kinds, tests_of
from ..signature.legacy import call as in_former_order


def _relu_into(x: Any, out: Any) -> Any:
    """relu; NumPy's maximum of a large array and a number takes three times as long as its clip."""
    return np.maximum(x, 0, out=out) if x.size < 4096 else np.clip(x, 0, np.inf, out=out)


# Bodies that are one function of NumPy's, which can write into an array: the function, and when it is all there is.
_UFUNCS: dict[str, tuple[Any, str]] = {
    "add": (np.add, "type(alpha) is int and alpha == 1"),
    "sub": (np.subtract, "type(alpha) is int and alpha == 1"),
    "mul": (np.multiply, ""),
    "div": (np.true_divide, ""),
    "neg": (np.negative, ""),
    "exp": (np.exp, ""),
    "relu": (_relu_into, ""),
    "sqrt": (np.sqrt, ""),
    "sin": (np.sin, ""),
    "cos": (np.cos, ""),
    "tanh": (np.tanh, ""),
    "log": (np.log, ""),
    "abs": (np.absolute, ""),
    "floor": (np.floor, ""),
    "ceil": (np.ceil, ""),
    "clamp_to_numbers": (limit_into, ""),
}
_WITH_NUMBERS = frozenset({"clamp_to_numbers"})  # the functions among these that take the other arguments, too
_UNCHECKED = frozenset("lerp pow clamp_min clamp_max".split())  # whose check refuses only what is no operand here

FUNCTION = """\
def {name}({signature}):
{former}\
    _mode = _MODE()
    _kind = type({first})
    if _mode.special or (_kind is not _Tensor and _kind is not _Parameter): return _slow({values})
    _spec = {first}._spec
    _counter = {first}._counter
    if not _spec.plain or type(_counter) is not list or len(_counter) != 1: return _slow({values})
    if _mode.grad:
        if {first}._edge is not None: return _slow({values})
        _view = {first}._view
        if _view is not None and (_view.parent._edge is not None or _view.parent._view is not None):
            return _slow({values})
{others}\
    _array = {first}._data
{write}\
    return {first}
"""

OTHER = """\
    _kind = type({p})
    if _kind is _Tensor or _kind is _Parameter:
        if {p}._spec is not _spec or ({p}._counter is _counter and {p} is not {first}): return _slow({values})
        if _mode.grad:
            if {p}._edge is not None: return _slow({values})
            _view = {p}._view
            if _view is not None and (_view.parent._edge is not None or _view.parent._view is not None):
                return _slow({values})
        {p}_ = {p}._data
{number}\
    else: return _slow({values})
"""

NUMBER = """\
    elif _kind is float or _kind is int and -9223372036854775808 <= {p} < 9223372036854775808: {p}_ = {p}
"""

NONE = """\
    elif {p} is None: {p}_ = None
"""

INTO = """\
    try: _ufunc({operands}, out=_array)
    except Exception: return _slow({values})
    except BaseException:
        _counter[0] += 1
        raise
    _counter[0] += 1
"""

LARGE_FORM = """\
    if _array.size >= {limit}{numbers}:
        try: _data = _forward_large({args}, into=_array)
        except Exception: return _slow({values})
        except BaseException:
            _counter[0] += 1
            raise
        if _data is not _array:
            if _data.shape != _array.shape: return _slow({values})
            _array[...] = _data
        _counter[0] += 1
        return {first}
"""

THROUGH = """\
    try:
        _data = {call}
        if _data.shape != _array.shape: return _slow({values})
        _array[...] = _data
    except Exception: return _slow({values})
    _counter[0] += 1
"""


def text(op: Op, name: str) -> str | None:
    """The text for the in-place form of `op`; None if it is not of the usual kind."""
    tensors = [p for p in op.params if p in op.inputs or p in op.promote]
    if op.kind != "elementwise" or op.returns or op.lists or op.extra or op.keyword_only > 1:
        return None
    if op.check is not None and op.name not in _UFUNCS and op.name not in _UNCHECKED:
        return None
    if not tensors or tensors[0] != op.params[0] or op.result not in _RESULTS:
        return None
    if set(op.arrays) - set(tensors) and op.name not in _WITH_NUMBERS:
        return None
    first = tensors[0]
    values = "(" + "".join(f"{p}, " for p in op.params) + ")"
    positional = len(op.params) - op.keyword_only
    signature = []
    for i, p in enumerate(op.params):
        if i == positional:
            signature.append("*_former" if op.legacy is not None else "*")
        signature.append(f"{p}=_default_{p}" if p in op.defaults else p)
    others = "".join(
        OTHER.format(
            p=p,
            first=first,
            values=values,
            number=(NUMBER.format(p=p) if p in op.scalars else "")
            + (NONE.format(p=p) if op.defaults.get(p, 0) is None else ""),
        )
        for p in tensors[1:]
    )
    if op.name not in _UFUNCS:
        numbers = {n: k for n, k in option_kinds(op).items() if k[0] == "number"}
        others = (
            "".join(f"    if {t}: return _slow({values})\n" for t in tests_of(numbers, op.defaults, USUAL)) + others
        )
    arrays = {p: f"{p}_" if p in tensors else p for p in op.params} | {first: "_array"}
    large = ""
    if op.blocks is not False and not op.extra and "generator" not in op.params:
        large = LARGE_FORM.format(
            limit=LARGE,
            numbers="".join(f" and not isinstance({p}, _Tensor)" for p in op.params if p not in tensors),
            args=", ".join(arrays[p] for p in op.params),
            values=values,
            first=first,
        )
    parts = [arrays[p] for p in op.params[:positional]]
    parts += [f"{p}={arrays[p]}" for p in op.params[positional:]]
    through = THROUGH.format(call=f"_forward({', '.join(parts)})", values=values)
    ufunc = _UFUNCS.get(op.name)
    if ufunc is not None:
        operands = ", ".join(arrays[p] for p in (op.params if op.name in _WITH_NUMBERS else tensors))
        write = INTO.format(operands=operands, values=values)
        if ufunc[1]:
            rest = f"    if {USUAL['number'].format('alpha')}: return _slow({values})\n"
            rest += through
            rest = indent(f"{large}{rest}    return {first}\n", "    ")
            write = f"    if not ({ufunc[1]}):\n{rest}{write}"
    else:
        write = large + through

    if op.warns or large:
        write = indent(write, "        ")
        write = f"    for _token in _HUSHED:\n        try:\n{write}        finally: _unhush(_token)\n        break\n"
    former = ""
    if op.legacy is not None:
        former = f"    if _former: return _in_former_order(({', '.join(op.params[:positional])}, *_former))\n"
    return FUNCTION.format(
        former=former, name=name, signature=", ".join(signature), first=first, values=values, others=others, write=write
    )


_RESULTS = frozenset({"same", "float", "bool"})


def _stub(*args: Any, **kwargs: Any) -> Any:
    return _compile_first(*args, **kwargs)  # type: ignore[name-defined]  # noqa: F821 - in the function's own globals


def function(op: Op, name: str, slow: Callable[[tuple[Any, ...]], Any]) -> FunctionType:
    """The in-place form of `op` as a function. Its text is made at the first call."""
    names: dict[str, Any] = {
        "__name__": "gradpack.ops",
        "_MODE": MODE.get,
        "_Tensor": Tensor,
        "_Parameter": Parameter,
        "_HUSHED": hushed,
        "_unhush": unhush,
    }
    names["_slow"] = timed(op, name, slow, names)
    made = names["_function"] = FunctionType(_stub.__code__.replace(co_name=name, co_qualname=name), names, name)

    def compile_first(*args: Any, **kwargs: Any) -> Any:
        with COMPILING:
            if "_text" not in names:  # a thread that waited here finds it done
                compile_now()
        return made(*args, **kwargs)

    def compile_now() -> None:
        source = text(op, name)
        if source is None:
            former = ""
            if op.legacy is not None:
                former = f"if len(args) > {len(op.params) - op.keyword_only}: return _in_former_order(args)\n    "
            source = f"def {name}(*args, **kwargs):\n    {former}return _slow(_bind(args, kwargs))"
            names["_bind"] = op.bind
        names["_text"] = source
        if op.legacy is not None:
            names["_in_former_order"] = lambda values: in_former_order(op, name, made, values)
        names["_ufunc"] = _UFUNCS[op.name][0] if op.name in _UFUNCS else None
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
