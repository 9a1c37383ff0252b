"""From the facts of an operation, the straight-line code one would write by hand.

`source(op)` is that code as text: a node class and a function. Names of the template start with
an underscore and those of parameters do not, so they cannot collide. What the text does not
handle it hands to `_slow`, the interpreted path.
"""

from __future__ import annotations

from functools import partial
from textwrap import indent
from typing import Any

from ..dispatch.torch_names import freeing
from ..op import Op
from ..signature.arguments import USUAL, option_kinds, tests_of
from ..signature.axis_alias import check_text, lacking
from .inline import Called, Inlined
from .texts import (
    ARRAY,
    ARRAY_IN_ROWS,
    CONSTANT,
    FIT,
    FORWARD,
    FORWARD_QUIET,
    FUNCTION,
    LOAD_INPUT,
    LOAD_RESULT,
    NODE,
    NUMBER,
    OPERAND,
    PLACE,
    PLACE_VIEW,
    RECORD,
    SHAPE_OF_TWO,
    TENSOR,
)
from .tiling import LARGE, body_in_blocks, formula_in_blocks

_CHECK_NO_COMPLEX = frozenset({"add", "sub", "rsub", "neg", "pow"})  # operations whose check accepts complex numbers
_OF_BOOLS = frozenset({"sum", "_sum_dim", "_to_copy"})


def source(op: Op) -> str:
    """The text for `op`."""
    from . import several_results as many

    inlined = Inlined(op)
    if op.returns or op.lists:
        if many.is_list(op) or many.is_many(op):
            return many.node_text(op, partial(_load, op)) + "\n\n" + many.function_text(op)
        return (
            _node_text(op, inlined)
            + f"\n\ndef _call({signature(op)}):\n{out_text(op)}    return _slow({values_of(op)})\n"
        )
    return _node_text(op, inlined) + "\n\n" + _function_text(op, inlined)


def has_complex_form(op: Op) -> bool:
    """Whether complex numbers, whose results are complex, too, have a text of their own."""
    return (
        "c" in op.dtypes
        and op.result in ("same", "float", "sum")
        and not (op.returns or op.lists or op.view or op.sparse or op.structural or op.joint is not None)
        and (op.check is None or op.name in _CHECK_NO_COMPLEX)
    )


def complex_source(op: Op) -> str:
    """The text for complex numbers: formulas and body are called, as their text has numbers of real dtypes in it."""
    called = Called(op)
    text = _node_text(op, called) + "\n\n" + _function_text(op, called, of_complex=True)
    return text.replace("_mode.special", "_mode.busy")  # the code for real tensors has notified the profiler


def signature(op: Op) -> str:
    parts = []
    positional = len(op.params) - op.keyword_only
    required = lacking(op.params, op.defaults) if op.axis else ()
    for i, p in enumerate(op.params):
        if i == positional:
            parts.append("*_former" if op.legacy is not None else "*")
        parts.append(f"{p}=_default_{p}" if p in op.defaults else f"{p}=_missing" if p in required else p)
    named = ([] if op.view else ["out=None"]) + (["axis=None"] if op.axis else [])
    if named and not op.keyword_only:
        parts.append("*")
    return ", ".join(parts + named)


def values_of(op: Op) -> str:
    return "(" + "".join(f"{p}, " for p in op.params) + ")"


def out_text(op: Op) -> str:
    former = ""
    if op.legacy is not None:
        positional = ", ".join(op.params[: len(op.params) - op.keyword_only])
        former = f"    if _former: return _in_former_order(({positional}, *_former), out)\n"
    spelled = ""
    if op.axis:
        out = "" if op.view else ", out"
        test = check_text(lacking(op.params, op.defaults))
        spelled = f"    if {test}: return _spelled({values_of(op)}, axis{out})\n"
    return spelled if op.view else f"{former}{spelled}    if out is not None: return _into(out, {values_of(op)})\n"


def reads(op: Op) -> list[str]:
    return list(dict.fromkeys(n for p in op.inputs for n in op.reads[p]))


def _load(op: Op, n: str) -> str:
    """The statements that load a saved value of a node."""
    what = op.saves(n)
    if what == "input":
        return LOAD_INPUT.format(n=n)
    if what in ("result", "extra"):
        return LOAD_RESULT.format(n=n)
    return f"{n} = _self.{n}\n"


def slots_of(op: Op) -> list[str]:
    """Return the slots of a node: saved values, the saved version of inputs, version counter and version of results."""
    slots: list[str] = []
    for n in reads(op):
        what = op.saves(n)
        slots.append(n)
        if what == "input":
            slots.append(n + "_v")
        elif what in ("result", "extra"):
            slots += [n + "_c", n + "_v"]
    return slots


def _node_text(op: Op, inlined: Inlined) -> str:
    names, inputs = reads(op), list(op.inputs)
    many = len(inputs) > 1
    fitted = many and op.broadcasts
    slots = slots_of(op)
    compiled = bool(inputs) and not (op.returns or op.lists)
    if not compiled:
        text = "".join(f"{s!r}, " for s in slots)
        return f"class _Backward(_CompiledNode):\n    __slots__ = ({text})\n"

    load = partial(_load, op)
    shared = [n for n in names if many and sum(n in op.reads[p] for p in inputs) > 1]
    lines = [f"{''.join(f'{p}_edge, ' for p in inputs)} = _self.edges\n"] if many else []
    for n in shared:
        test = " or ".join(f"{p}_edge is not None" for p in inputs if n in op.reads[p])
        if not all(n in op.reads[p] for p in inputs):
            lines.append(f"if {test}:\n{indent(load(n), '    ')}")
        else:
            lines.append(load(n))
    gradients = []
    if op.joint is not None:
        lines = [f"{''.join(f'{p}_edge, ' for p in inputs)} = _self.edges\n", *map(load, names)]
        needs = "".join(f"{p}_edge is not None, " for p in inputs)
        args = ", ".join(f"{n}={n}" for n in names)
        gradients.append(f"{''.join(f'{p}_g, ' for p in inputs)} = _joint(_g, {args}, needs=({needs}))\n")
    for p in inputs if op.joint is None else ():
        expression = inlined.text(p, {_gradient_name(op, p): "_g"})
        if expression is None:
            expression = f"_vjp_{p}({', '.join(['_g', *op.reads[p]])})"
        if formula_in_blocks(op, p, inlined.expression(p)):
            large = f"_vjp_{p}_large({', '.join(['_g', *op.reads[p]])})"
            expression = f"{expression} if _g.size < {LARGE} else {large}"
        body = "".join(load(n) for n in op.reads[p] if n not in shared) + f"{p}_g = {expression}\n"
        if many:
            body = f"if {p}_edge is not None:\n{indent(body, '    ')}else: {p}_g = None\n"
        gradients.append(body)
    results = ", ".join(f"{p}_g" for p in inputs)
    if fitted:
        slots.append("fit")
    return NODE.format(
        slots="".join(f"{s!r}, " for s in slots),
        load=indent("".join(lines), " " * 8),
        gradients=indent("".join(gradients), " " * 8),
        free=indent("\n".join(freeing(op, names)), " " * 12),
        fit=FIT.format(results=results) if fitted else "",
        results=results,
    )


def _gradient_name(op: Op, p: str) -> str:
    return op.formulas[p].__code__.co_varnames[0]


def _function_text(op: Op, inlined: Inlined, of_complex: bool = False) -> str:
    inputs = list(op.inputs)
    tensors = [p for p in op.params if p in op.inputs or p in op.promote]
    values = values_of(op)
    pair = _is_pair(op, tensors)
    unwrap = ["    _spec = None\n"] if op.scalars and len(tensors) > 1 else []
    # Integers of few bits wrap around and those beside a float become one; int64 beside an int stays as it is.
    wraps = (
        " or not _spec.plain and (_kind is float or _spec is not _INT64)"
        if op.result == "bool" or op.structural
        else ""
    )
    first = True
    for p in op.params:
        if p in tensors:
            differentiable = p in inputs
            edge = f"        {p}_edge = {p}._edge\n" if differentiable else ""
            no_edge = f"        {p}_edge = None\n" if differentiable else ""
            if op.scalars and len(tensors) > 1:
                if first:
                    same = f"        _spec = {p}._spec\n"
                    unknown = ""
                else:
                    same = (
                        f"        if {p}._spec is not _spec:\n"
                        f"            if _spec is not None: return _slow({values})\n"
                        f"            _spec = {p}._spec\n"
                    )
                    unknown = f"        if _spec is None{wraps}: return _slow({values})\n"
                number = NUMBER.format(p=p, unknown=unknown, no_edge=no_edge) if p in op.scalars else ""
                unwrap.append(OPERAND.format(p=p, same=same, edge=edge, number=number, values=values))
            else:
                same = (
                    f"        _spec = {p}._spec\n"
                    if first
                    else f"        if {p}._spec is not _spec: return _slow({values})\n"
                )
                optional = op.defaults.get(p, 0) is None
                none = f"    elif {p} is None:\n        {p}_ = None\n{no_edge}" if optional and not first else ""
                unwrap.append(TENSOR.format(p=p, same=same, edge=edge, none=none, values=values))
            first = False
        elif p in op.arrays:
            unwrap.append(CONSTANT.format(p=p))
    if not tensors:
        return f"def _call({signature(op)}):\n{out_text(op)}    return _slow({values})\n"

    arrays = {p: f"{p}_" if p in tensors or p in op.arrays else p for p in op.params}
    positional = len(op.params) - op.keyword_only
    parts = [arrays[p] for p in op.params[:positional]]
    parts += [f"{p}={arrays[p]}" for p in op.params[positional:]]
    call = inlined.text("forward", arrays) or f"_forward({', '.join(parts)})"
    if body_in_blocks(op, inlined.expression("forward")):
        small = f"{tensors[0]}_.size < {LARGE}"
        if tensors[0] in op.scalars:
            small = f"type({tensors[0]}_) is not _ndarray or {small}"
        call = f"{call} if {small} else _forward_large({', '.join(arrays[p] for p in op.params)})"
    extra = "".join(f", {n}_" for n in op.extra)
    quiet = op.warns and not op.structural and op.result != "bool"
    forward = (FORWARD_QUIET if quiet else FORWARD).format(extra=extra, call=call, values=values)
    if of_complex:
        forward += "    if _data.dtype is not _spec.native: _data = _data.astype(_spec.native)\n"

    spec = {"bool": "_BOOL", "index": "_INT64", "complex": "_spec_of(_data)", None: "_spec_of(_data)"}.get(
        op.result, "_spec"
    )
    if op.result == "sum" and op.name in _OF_BOOLS:
        spec = "_spec if _spec is not _BOOL else _INT64"
    shape = "    _out._shape = _data.shape\n"
    if pair:
        shape = SHAPE_OF_TWO.format(a=tensors[0], b=tensors[1])
    elif op.kind == "elementwise" and len(tensors) == 1:
        shape = f"    _out._shape = {tensors[0]}._shape\n"
    place = PLACE
    if op.view:
        p = tensors[0]
        rest = "".join(f"{q}, " for q in op.params[1:])
        place = PLACE_VIEW.format(p=p, rest=rest, values=values)
        if op.view in ("maybe", "real"):
            body = indent(place, "    ")
            shared = f"_base is not None and _data.size and (_base is {p}_ or _base is {p}_.base)"
            shared += f" or _may_share(_data, {p}_) or not _data.size"  # None is not copied
            place = f"    _base = _data.base\n    if {shared}:\n{body}    else:\n{indent(PLACE, '    ')}"
    record = ""
    if inputs:
        record = RECORD.format(
            some_edge="(" + " or ".join(f"{p}_edge is not None" for p in inputs) + ")",
            # A conversion may end among the integers, which have no gradients.
            differentiable=" and _out._spec.differentiable" if op.result is None else "",
            edges=", ".join(f"{p}_edge" for p in inputs),
            save=indent(_save_text(op, inputs, arrays, pair), " " * 8),
        )
    else:
        record = "    _out._edge = None\n"
    head, otherwise = f"def _call({signature(op)}):\n{out_text(op)}", f"return _slow({values})"
    if of_complex:
        head = f"def _call(_values):\n    {''.join(f'{p}, ' for p in op.params)} = _values\n"
        complex_guard = "not _spec.complex" + (" or type(alpha) is bool" if "alpha" in op.params else "")
    elif has_complex_form(op):
        otherwise = f"\n        if _spec.complex: return _complex({values})\n        {otherwise}"
    return FUNCTION.format(
        head=head,
        unwrap="".join(unwrap),
        guard=complex_guard if of_complex else guard(op),
        otherwise=otherwise,
        values=values,
        forward=forward,
        array=array_text(op),
        spec=spec,
        shape=shape,
        place=place,
        record=record,
    )


def array_text(op: Op, name: str = "_data") -> str:
    """Return the statement that makes an array of the result, C-contiguous if the operation asks for it."""
    return (ARRAY_IN_ROWS if op.contiguous else ARRAY).format(x=name)


def _is_pair(op: Op, tensors: list[str]) -> bool:
    """Whether the shape of the result is that of two operands, which are all there are."""
    return bool(op.scalars) and len(tensors) == 2 and all(p in tensors for p in op.arrays)


def guard(op: Op) -> str:
    """When compiled code must not run: for arrays of other kinds, and options that are to be looked at."""
    return " or ".join([_of_other_arrays(op), *tests_of(option_kinds(op), op.defaults, USUAL)])


def _of_other_arrays(op: Op) -> str:
    """Bodies of comparisons and the like are right for any array of NumPy's."""
    if op.sparse:
        return "True"
    if op.result == "bool" and (op.check is not None or "c" not in op.dtypes):
        return "not _spec.plain and _spec is not _INT64"
    if op.structural or op.result == "bool":
        first = (
            [f"{op.scalars[0]}_s is None"] if op.structural and len(op.scalars) > 1 else []
        )  # of bool, int makes int
        return "not _spec.numpy" if op.view else " or ".join(["not _spec.whole", *first])
    if not op.int64:
        return "not _spec.plain"
    wider = [f"{p}_s is None" for p in op.scalars[:1]]  # a number as first operand is rare
    wider += [f"type({p}) is float" for p in op.scalars[1:]]  # a float beside integers makes floats of them
    wider += [f"{p} != 1 or {p} is True" for p in op.params if p == "alpha"]
    whole = "_spec is not _INT64" if op.name not in _OF_BOOLS else "_spec is not _INT64 and _spec is not _BOOL"
    return f"not _spec.plain and ({' or '.join([whole, *wider])})"


def _save_text(op: Op, inputs: list[str], arrays: dict[str, Any], pair: bool) -> str:
    """The statements that save what the formulas ask for, each only if an input that needs it wants a gradient."""
    always: list[str] = []
    plain: list[str] = []
    packed: list[str] = []
    many = len(inputs) > 1
    for n in reads(op):
        what = op.saves(n)
        readers = [p for p in inputs if n in op.reads[p]]
        test = "" if len(readers) == len(inputs) else f"if {' or '.join(f'{p}_edge is not None' for p in readers)}: "
        label = (op.node_name, n)
        if what == "meta":
            p, _, field = n.rpartition("_")
            if p in inputs or p in op.promote or p in op.arrays:
                value = f"{p}_.shape if hasattr({p}_, 'shape') else ()" if field == "shape" else f"_dtype_of({p})"
                if p == inputs[0] and not op.scalars:
                    value = f"{p}._shape" if field == "shape" else f"{p}._spec.dtype"
            else:
                value = f"_shape_of({p})"
            always.append(f"{test}_node.{n} = {value}")
        elif what == "constant":
            always.append(f"{test}_node.{n} = {n}")
        elif what == "input":
            pack = f"_node.{n} = _pack_input(_mode, {n}, {label!r}, _node)"
            if n in op.promote and op.scalars and len(op.promote) > 1:  # may be a number, which has no versions
                plain.append(f"{test}_node.{n} = {n}; _node.{n}_v = 0 if {n}_s is None else {n}._counter[0]")
                packed.append(f"{test}_node.{n} = {n} if {n}_s is None else _pack_input(_mode, {n}, {label!r}, _node)")
            elif n in inputs and op.defaults.get(n, 0) is not None:
                kept = n
                if op.light is not None and n == inputs[0]:
                    kept = f"{n} if {n}_.size < {LARGE} else _light({n})"
                plain.append(f"{test}_node.{n} = {kept}; _node.{n}_v = {n}._counter[0]")
                packed.append(f"{test}{pack}")
            else:  # may be an array, or None
                keep = f"_node.{n} = {n}; _node.{n}_v = {n}._counter[0]"
                choice = "if isinstance({0}, _Tensor): {1}\nelse: _node.{0} = _constant({0})"
                for body, group in ((keep, plain), (pack, packed)):
                    text = choice.format(n, body)
                    group.append(f"{test}\n{indent(text, '    ')}" if test else text)
        else:
            data = "_data" if what == "result" else f"{n}_"
            counter = "_out._counter" if what == "result" else "[0]"
            plain.append(f"{test}_node.{n} = {data}; _node.{n}_c = {counter}; _node.{n}_v = _node.{n}_c[0]")
            pack = "_pack_result(_mode, _out, _node" if what == "result" else f"_pack_array(_mode, {data}, {counter}"
            last = "" if what == "result" else ", _node"
            packed.append(f"{test}_node.{n} = {pack}, {label!r}{last}); _node.{n}_c = [0]; _node.{n}_v = 0")
    if many:
        if op.broadcasts:
            shapes = ", ".join(f"{p}_s" if op.scalars and len(op.promote) > 1 else f"{p}._shape" for p in inputs)
            always.append("_node.fit = _fit" if pair and len(inputs) == 2 else f"_node.fit = ({shapes})")
    if plain:
        always.append("if _mode.hooks is None:\n" + indent("\n".join(plain), "    "))
        always.append("else:\n" + indent("\n".join(packed), "    "))
    return "\n".join(always) or "pass"
