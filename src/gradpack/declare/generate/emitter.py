"""From the facts of an operation, the straight-line code one would write by hand.

`source(op)` is that code as text: a node class and a function; `function_text` is the function alone, in any `Form`.
Names of the text start with an underscore and those of parameters do not, so they cannot collide. What the text does
not handle it hands to `_slow`, the interpreter.
"""

from __future__ import annotations

from ..op import Op
from .form import Form, arguments, indented, values_of
from .in_place_text import write_text
from .inline import Called, Inlined
from .large_sizes import large_body, smaller
from .node_text import is_list, is_many, node_text, reads
from .operands import guard, tensors_of, unwrap
from .record_text import NODE, is_pair, record, save
from .result_text import one_result, several_results

HUSHED = """\
    for _token in _HUSHED:
        try: {made} = {call}
        except Exception: {leave}
        finally: _unhush(_token)
        break
"""

LOUD = """\
    try: {made} = {call}
    except Exception: {leave}
"""


def source(op: Op, form: Form | None = None) -> str:
    """Return the text of the node class and of the function, for real numbers or for complex ones."""
    form = form or Form()
    inlined = Called(op) if form.complex else Inlined(op)
    text = function_text(op, form, inlined)
    if text is None:
        text = form.begin(op).partition("    _mode")[0] + f"    {form.leave(op)}\n"
    return node_text(op, inlined) + "\n\n" + text


def has_complex_form(op: Op) -> bool:
    """Return whether complex numbers, whose results are complex, too, or real, have a text of their own."""
    return (
        "c" in op.dtypes
        and op.result in ("same", "float", "sum", "real")
        and op.view in (False, "real")
        and not (op.returns or op.lists or op.sparse or op.data_movement or op.joint_vjp is not None)
    )


def function_text(op: Op, form: Form, inlined: Inlined | None = None) -> str | None:
    """Return the text of the function in one of its forms; None if all of its calls are interpreted."""
    if form.in_place:
        return write_text(op, form)
    if inlined is None:
        inlined = Called(op) if form.complex else Inlined(op)
    if op.returns:
        return _several(op, form) if is_many(op) else None
    if op.lists:
        return _one(op, form, inlined) if is_list(op) else None
    return _one(op, form, inlined) if tensors_of(op) else None


def _otherwise(op: Op, form: Form) -> str:
    """Return the statement for operands that the text does not take: complex numbers have a text of their own."""
    if form.complex or not has_complex_form(op):
        return form.leave(op)
    return f"\n        if _spec.complex: {form.leave(op, '_complex')}\n        {form.leave(op)}"


def _start(op: Op, form: Form) -> str:
    return f"{form.begin(op)}{unwrap(op, form)}    if {guard(op, form)}: {_otherwise(op, form)}\n"


def _arrays(op: Op) -> dict[str, str]:
    """Return by parameter the expression that the body gets."""
    tensors = tensors_of(op)
    return {p: f"{p}_" if p in tensors or p in op.arrays else p for p in op.params}


def _one(op: Op, form: Form, inlined: Inlined) -> str:
    """Return the text of an operation with one result."""
    made = "_data" + "".join(f", {n}_" for n in op.residuals)
    quiet = op.warns and not op.data_movement and op.result != "bool" and not op.lists
    compute = (HUSHED if quiet else LOUD).format(made=made, call=_call(op, inlined), leave=form.leave(op))
    real = form.complex and op.result == "real"
    if form.complex and not real:
        compute += "    if _data.dtype is not _spec.native: _data = _data.astype(_spec.native)\n"
    seq = "None if _out._edge is None else _out._edge.seq"
    result = one_result(op, form.leave(op), "_spec_of(_data)" if real else "")
    return _start(op, form) + compute + result + record(op) + form.finish("_out", seq)


def _call(op: Op, inlined: Inlined) -> str:
    """Return the expression that computes the result: the body itself, a call of it, or of its form in blocks."""
    arrays, tensors = _arrays(op), tensors_of(op)
    call = inlined.text("forward", arrays) or f"_forward({arguments(op, arrays)})"
    large = 0 if op.lists else large_body(op, inlined.expression("forward"))
    if not large:
        return call
    small = smaller(f"{tensors[0]}_", large)
    if tensors[0] in op.scalars:
        small = (
            f"{tensors[0]}_s is None or {small}" if is_pair(op) else f"type({tensors[0]}_) is not _ndarray or {small}"
        )
    return f"{call} if {small} else _forward_large({', '.join(arrays[p] for p in op.params)})"


def _several(op: Op, form: Form) -> str:
    """Return the text of an operation with several results."""
    made = "_parts" if op.view else ", ".join(f"{n}_" for n in (*op.results, *op.residuals))
    compute = HUSHED.format(made=made, call=f"_forward({arguments(op, _arrays(op))})", leave=form.leave(op))
    outputs = "len(_parts)" if op.view else str(op.differentiable or len(op.results))
    before = save(op, [n for n in reads(op) if op.saves(n) != "result"])
    some = " or ".join(f"{p}_edge is not None" for p in op.inputs)
    edges = "(" + ", ".join(f"{p}_edge" for p in op.inputs) + ",)"
    node = f"    _node = None\n    if ({some}) and _mode.grad:\n{NODE.format(edges=edges)}"
    node += f"        _node.outputs = {outputs}\n{indented(before, 2)}\n"
    results, all_of_them = several_results(op)
    return _start(op, form) + compute + node + results + form.finish(all_of_them, "_sequence(_result)")


__all__ = ["Form", "function_text", "has_complex_form", "source", "values_of"]
