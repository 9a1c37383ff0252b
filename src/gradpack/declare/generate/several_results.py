"""The text of operations with several results, or with a list of tensors: `max` along a dimension, `split`, `cat`.

Each takes one tensor, or one list of tensors, of one dtype. What is rarer than that (a list whose
tensors a formula reads, several tensors and several results) is left to the interpreted path.
"""

from __future__ import annotations

from textwrap import indent
from typing import Any

from ..dispatch.torch_names import freeing
from ..op import Op
from .emitter import array_text, guard, out_text, reads, signature, slots_of, values_of
from .texts import CONSTANT, TENSOR

LIST = """\
    if type({p}) is not list and type({p}) is not tuple: return _slow({values})
    _spec = _some = None
    {p}_ = []; _edges = []
    for _one in {p}:
        _kind = type(_one)
        if _kind is not _Tensor and _kind is not _Parameter or _one._spec is not _spec and _spec is not None:
            return _slow({values})
        _spec = _one._spec
        if _one._view is not None and _refresh(_one): return _slow({values})
        {p}_.append(_one._data)
        _edge = _one._edge
        _edges.append(_edge)
        if _edge is not None: _some = _edge
    if _spec is None: return _slow({values})
"""

RECORD_LIST = """\
    if _some is not None and _mode.grad:
        _node = _out._edge = _new(_Backward)
        _node.seq = _next_seq()
        _node.edges = tuple(_edges)
        _node.extras = None
{save}
    else: _out._edge = None
"""

LIST_FUNCTION = """\
def _call({signature}):
{out}\
    _mode = _MODE()
    if _mode.special: return _slow({values})
{unwrap}\
    if {guard}: return _slow({values})
    try: _data = _forward({call})
    except Exception: return _slow({values})
{array}    _out = _new(_Tensor)
    _out._data = _data
    _out._spec = _spec
    _out._shape = _data.shape
    _out._counter = [0]
    _out._view = None
{record}\
    return _out
"""

MANY_FUNCTION = """\
def _call({signature}):
{out}\
    _mode = _MODE()
    if _mode.special: return _slow({values})
{unwrap}\
    if {guard}: return _slow({values})
    for _token in _HUSHED:
        try: _parts = _forward({call})
        except Exception: return _slow({values})
        finally: _unhush(_token)
        break
    _node = None
    if {p}_edge is not None and _mode.grad:
        _node = _new(_Backward)
        _node.seq = _next_seq()
        _node.edges = ({p}_edge,)
        _node.extras = None
        _node.outputs = {outputs}
{save}
{results}\
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
    return tuple(_outs)
"""

RESULT = """\
{array}    {n}_out = _new(_Tensor)
    {n}_out._data = {n}_
    {n}_out._spec = {spec}
    {n}_out._shape = {n}_.shape
    {n}_out._counter = [0]
    {n}_out._view = None
"""

NODE = """\
class _Backward(_CompiledNode):
    __slots__ = ({slots})

    def backward(_self, _g, _keep):
{load}\
{part}\
        {p}_g = _vjp_{p}({args})
        if not _keep:
{free}
        return {result}
"""


def is_list(op: Op) -> bool:
    """Return whether the only operand is a list of tensors, of which formulas read only the shapes."""
    return (
        op.lists == op.inputs
        and len(op.lists) == 1
        and not op.returns
        and not op.extra
        and op.joint is None
        and not op.view
        and op.result == "same"
        and all(op.saves(n) in ("meta", "constant") for n in reads(op))
    )


def is_many(op: Op) -> bool:
    """Return whether the operation has one tensor and several results: views of it, or a named tuple."""
    return (
        op.returns
        and not op.lists
        and not op.extra
        and len(op.inputs) == 1
        and op.promote == op.inputs
        and op.joint is None
        and op.view in (False, True)
        and bool(op.view) is not bool(op.results)
    )


def node_text(op: Op, load: Any) -> str:
    """The node; `load` gives the statements that load a saved value."""
    (p,) = op.inputs
    slots = [*(["outputs"] if op.returns else []), *slots_of(op)]
    several = op.returns and (op.view or op.differentiable is None or op.differentiable > 1)
    return NODE.format(
        slots="".join(f"{s!r}, " for s in slots),
        load=indent("".join(map(load, reads(op))), " " * 8),
        part="        if type(_g) is _Part: _g = tuple(_g)\n" if several else "",
        p=p,
        args=", ".join(["_g", *reads(op)]),
        free=indent("\n".join(freeing(op, reads(op))), " " * 12),
        result=f"{p}_g" if op.lists else f"({p}_g,)",
    )


def function_text(op: Op) -> str:
    (p,) = op.inputs
    values = values_of(op)
    arrays = {q: f"{q}_" if q == p or q in op.arrays else q for q in op.params}
    positional = len(op.params) - op.keyword_only
    parts = [arrays[q] for q in op.params[:positional]]
    parts += [f"{q}={arrays[q]}" for q in op.params[positional:]]
    unwrap = "".join(CONSTANT.format(p=q) for q in op.params if q in op.arrays and q != p)
    common = {
        "signature": signature(op),
        "out": out_text(op),
        # Views of inference tensors are no views that autograd knows.
        "guard": guard(op) + (f" or type({p}._counter) is not list" if op.view else ""),
        "values": values,
        "call": ", ".join(parts),
    }
    if op.lists:
        lines = []
        for n in reads(op):
            if op.saves(n) == "constant":
                lines.append(f"_node.{n} = {n}")
            else:
                field = "_shape" if n.endswith("_shape") else "_spec.dtype"
                lines.append(f"_node.{n} = [_one.{field} for _one in {p}]")
        record = RECORD_LIST.format(save=indent("\n".join(lines) or "pass", " " * 8))
        return LIST_FUNCTION.format(
            array=array_text(op), unwrap=LIST.format(p=p, values=values) + unwrap, record=record, **common
        )
    same = f"        _spec = {p}._spec\n"
    edge = f"        {p}_edge = {p}._edge\n"
    tensor = TENSOR.format(p=p, same=same, edge=edge, none="", values=values)
    if op.view:
        rest = "".join(f"{q}, " for q in op.params[1:])
        results = VIEWS.format(p=p, rest=rest)
        outputs = "len(_parts)"
    else:
        results, outputs = _named_results(op), str(op.differentiable or len(op.results))
    return MANY_FUNCTION.format(
        unwrap=tensor + unwrap, p=p, outputs=outputs, save=indent(_save(op), " " * 8), results=results, **common
    )


def _named_results(op: Op) -> str:
    """A tensor for each, what formulas need of them saved, and the named tuple."""
    differentiable = op.differentiable or len(op.results)
    lines = [f"    {', '.join(f'{n}_' for n in op.results)} = _parts\n"]
    for nr, n in enumerate(op.results):
        spec = "_spec" if nr < differentiable and op.result == "same" else f"_spec_of({n}_)"
        lines.append(RESULT.format(n=n, spec=spec, array=array_text(op, f"{n}_")))
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
    plain, packed = [], []
    for n in reads(op):
        if op.saves(n) == "result":
            counter = f"{n}_out._counter"
            plain.append(f"_node.{n} = {n}_; _node.{n}_c = {counter}; _node.{n}_v = 0")
            label = (op.node_name, n)
            packed.append(
                f"_node.{n} = _pack_array(_mode, {n}_, {counter}, {label!r}, _node); _node.{n}_c = [0]; _node.{n}_v = 0"
            )
    if plain:
        lines.append("        if _mode.hooks is None:\n" + indent("\n".join(plain), " " * 12) + "\n")
        lines.append("        else:\n" + indent("\n".join(packed), " " * 12) + "\n")
    lines.append(f"    return _tuple(_result_type, ({', '.join(f'{n}_out' for n in op.results)},))\n")
    return "".join(lines)


def _save(op: Op) -> str:
    """Return the statements that save what is known before the forward: inputs, shapes, dtypes, constants."""
    lines, plain, packed = [], [], []
    for n in reads(op):
        what = op.saves(n)
        if what == "meta":
            p, _, field = n.rpartition("_")
            if p in op.inputs:
                lines.append(f"_node.{n} = {p}._shape" if field == "shape" else f"_node.{n} = {p}._spec.dtype")
            else:
                lines.append(f"_node.{n} = _shape_of({p})")
        elif what == "constant":
            lines.append(f"_node.{n} = {n}")
        elif what == "input":
            label = (op.node_name, n)
            keep, pack = (
                f"_node.{n} = {n}; _node.{n}_v = {n}._counter[0]",
                f"_node.{n} = _pack_input(_mode, {n}, {label!r}, _node)",
            )
            if n in op.inputs:
                plain.append(keep)
                packed.append(pack)
            else:  # may be an array, or None
                choice = "if isinstance({0}, _Tensor): {1}\nelse: _node.{0} = _constant({0})"
                plain.append(choice.format(n, keep))
                packed.append(choice.format(n, pack))
    if plain:
        lines.append("if _mode.hooks is None:\n" + indent("\n".join(plain), "    "))
        lines.append("else:\n" + indent("\n".join(packed), "    "))
    return "\n".join(lines) or "pass"
