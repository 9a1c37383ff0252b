"""The text that makes tensors of what a body returns: one, a view, a named tuple, or several views."""

from __future__ import annotations

from ..op import Op
from .form import indented
from .node_text import reads
from .operands import spec_of_result, tensors_of
from .record_text import is_pair, save

SHAPE_OF_TWO = """\
    if {a}_s == {b}_s: _out._shape = {a}_s; _fit = None
    elif {b}_s is None: _out._shape = {a}_s; _fit = None
    elif {a}_s is None: _out._shape = {b}_s; _fit = None
    else: _out._shape = _data.shape; _fit = ({a}_s, {b}_s)
"""

PLACE = """\
    _out._counter = [0]
    _out._view = None
"""

PLACE_VIEW = """\
    if type({p}._counter) is not list: {leave}
    _out._counter = {p}._counter
    _out._view = _view = _new(_View)
    _view.parent = {p}
    _view.replay = _public
    _view.args = ({rest})
    _view.meta = None if _mode.grad else 'no_grad'
    _view.version = {p}._counter[0]
"""

VIEWS = """\
    _outs = []
    _count = len(_parts)
    _version = {p}._counter[0]
    _meta = 'multiple' if _mode.grad else 'no_grad'
    for _nr, _data in enumerate(_parts):
        _out = _new(_Tensor)
        _out._data = _data
        _out._spec = _spec
        _out._shape = _data.shape
        _out._counter = {p}._counter
        _out._view = _view = _new(_View)
        _view.parent = {p}
        _view.replay = _Output(_public, _nr)
        _view.args = ({rest})
        _view.meta = _meta
        _view.version = _version
        if _node is None: _out._edge = None
        elif _count == 1: _out._edge = _node
        else:
            _out._edge = _slot = _new(_Slot)
            _slot.edges = (_node,); _slot.seq = _next_seq(); _slot.extras = None
            _slot.nr = _nr; _slot.outputs = _count
        _outs.append(_out)
    if _node is not None: _node._like = [(_out._shape, _out._spec) for _out in _outs]
"""

RESULT = """\
{array}    {n}_out = _new(_Tensor)
    {n}_out._data = {n}_
    {n}_out._spec = {spec}
    {n}_out._shape = {n}_.shape
    {n}_out._counter = [0]
    {n}_out._view = None
"""


def _array(op: Op, name: str) -> str:
    """Return the statement that makes an array of the result, C-contiguous if the operation asks for it."""
    if op.contiguous:
        return (
            f"    if type({name}) is not _ndarray or not {name}.flags.c_contiguous: "
            f"{name} = _asarray({name}, order='C')\n"
        )
    return f"    if type({name}) is not _ndarray: {name} = _asarray({name})\n"


def one_result(op: Op, leave: str, spec: str = "") -> str:
    """Return the statements that make the tensor `_out` of the array `_data`.

    Args:
        spec: the expression for its spec, if that is not the one for real numbers.
    """
    tensors = tensors_of(op)
    shape = "    _out._shape = _data.shape\n"
    if is_pair(op):
        shape = SHAPE_OF_TWO.format(a=tensors[0], b=tensors[1])
    elif op.kind == "elementwise" and len(tensors) == 1:
        shape = f"    _out._shape = {tensors[0]}._shape\n"
    place = PLACE
    if op.view:
        p = tensors[0]
        place = PLACE_VIEW.format(p=p, rest="".join(f"{q}, " for q in op.params[1:]), leave=leave)
        if op.view in ("maybe", "real"):
            shared = f"_base is not None and _data.size and (_base is {p}_ or _base is {p}_.base)"
            shared += f" or _may_share(_data, {p}_) or not _data.size"  # None is not copied
            place = f"    _base = _data.base\n    if {shared}:\n{indented(place)}    else:\n{indented(PLACE)}"
    return (
        f"{_array(op, '_data')}    _out = _new(_Tensor)\n    _out._data = _data\n"
        f"    _out._spec = {spec or spec_of_result(op)}\n{shape}{place}"
    )


def several_results(op: Op) -> tuple[str, str]:
    """Return the statements that make the tensors of the arrays `_parts`, and the expression for all of them."""
    if op.view:
        return VIEWS.format(p=op.inputs[0], rest="".join(f"{q}, " for q in op.params[1:])), "tuple(_outs)"
    differentiable = op.differentiable or len(op.results)
    lines = []
    for nr, n in enumerate(op.results):
        spec = "_spec" if nr < differentiable and op.result == "same" else f"_spec_of({n}_)"
        lines.append(RESULT.format(n=n, spec=spec, array=_array(op, f"{n}_")))
        if nr >= differentiable:
            lines.append(f"    {n}_out._edge = None\n")
    lines.append("    if _node is None: " + " = ".join(f"{n}_out._edge" for n in op.results[:differentiable]))
    lines.append(" = None\n    else:\n")
    if differentiable == 1:
        lines.append(f"        {op.results[0]}_out._edge = _node\n")
    else:
        for nr, n in enumerate(op.results[:differentiable]):
            lines.append(
                f"        {n}_out._edge = _slot = _new(_Slot)\n"
                "        _slot.edges = (_node,); _slot.seq = _next_seq(); _slot.extras = None\n"
                f"        _slot.nr = {nr}; _slot.outputs = {differentiable}\n"
            )
        known = ", ".join(f"({n}_out._shape, {n}_out._spec)" for n in op.results[:differentiable])
        lines.append(f"        _node._like = [{known}]\n")
    saved = [n for n in reads(op) if op.saves(n) == "result"]
    if saved:
        lines.append(indented(save(op, saved), 2) + "\n")
    return "".join(lines), f"_tuple(_result_type, ({', '.join(f'{n}_out' for n in op.results)},))"
