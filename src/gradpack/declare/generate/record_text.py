"""The text that records a call: makes the node, and saves what its formulas read."""

from __future__ import annotations

from ...kernels.dispatch import LARGE
from ..op import Op
from .form import indented
from .node_text import readers_of, reads
from .operands import takes_numbers

NODE = """\
        _node = _new(_Backward)
        _node.seq = _next_seq()
        _node.edges = {edges}
        _node.extras = None
"""


def record(op: Op) -> str:
    """Return the statements that record a call with one result, `_out`."""
    if not op.inputs:
        return "    _out._edge = None\n"
    some = "(" + " or ".join(f"{p}_edge is not None" for p in op.inputs) + ")"
    edges = "(" + ", ".join(f"{p}_edge" for p in op.inputs) + ",)"
    if op.lists:
        some, edges = "_some is not None", "tuple(_edges)"
    # A conversion may end among the integers, which have no gradients.
    differentiable = " and _out._spec.differentiable" if op.result is None else ""
    return (
        f"    if {some} and _mode.grad{differentiable}:\n{NODE.format(edges=edges)}"
        f"{indented(save(op, reads(op)), 2)}\n        _out._edge = _node\n    else: _out._edge = None\n"
    )


def save(op: Op, names: list[str]) -> str:
    """Return the statements that save these values, each only if an input whose formula reads it needs a gradient."""
    always: list[str] = []
    plain: list[str] = []
    packed: list[str] = []
    for n in names:
        readers = readers_of(op, n)
        test = ""
        if len(readers) < len(op.inputs):
            test = f"if {' or '.join(f'{p}_edge is not None' for p in readers)}: "
        what = op.saves(n)
        if what == "meta":
            always.append(f"{test}_node.{n} = {_meta(op, n)}")
        elif what == "constant":
            always.append(f"{test}_node.{n} = {n}")
        else:
            keep, pack = _input(op, n, test) if what == "input" else _result(op, n, test, what)
            plain.append(keep)
            packed.append(pack)
    if len(op.inputs) > 1 and op.broadcasts:
        always.append(_fit(op))
    if plain:
        always.append("if _mode.hooks is None:\n" + indented("\n".join(plain)))
        always.append("else:\n" + indented("\n".join(packed)))
    return "\n".join(always) or "pass"


def _fit(op: Op) -> str:
    if is_pair(op) and len(op.inputs) == 2:
        return "_node.fit = _fit"
    return f"_node.fit = ({', '.join(f'{p}_s' if takes_numbers(op) else f'{p}._shape' for p in op.inputs)})"


def is_pair(op: Op) -> bool:
    """Return whether the shape of the result is that of two operands, which are all there are."""
    tensors = [p for p in op.params if p in op.inputs or p in op.promote]
    return bool(op.scalars) and len(tensors) == 2 and all(p in tensors for p in op.arrays)


def _meta(op: Op, n: str) -> str:
    """Return the expression for the shape or dtype of an argument."""
    p, _, field = n.rpartition("_")
    if p in op.lists:
        return f"[_one.{'_shape' if field == 'shape' else '_spec.dtype'} for _one in {p}]"
    if p == op.inputs[0] and not op.scalars:
        return f"{p}._shape" if field == "shape" else f"{p}._spec.dtype"
    if p in op.inputs or p in op.promote or p in op.arrays:
        return f"{p}_.shape if hasattr({p}_, 'shape') else ()" if field == "shape" else f"_dtype_of({p})"
    return f"_shape_of({p})"


def _input(op: Op, n: str, test: str) -> tuple[str, str]:
    """Return the statement that saves an input, and that which packs it."""
    pack = f"_node.{n} = _pack_input(_mode, {n}, {(op.node_name, n)!r}, _node)"
    keep = f"_node.{n} = {n}; _node.{n}_v = {n}._counter[0]"
    if n in op.promote and op.scalars and len(op.promote) > 1:  # may be a number, which has no versions
        return (
            f"{test}_node.{n} = {n}; _node.{n}_v = 0 if {n}_s is None else {n}._counter[0]",
            f"{test}_node.{n} = {n} if {n}_s is None else {pack.partition(' = ')[2]}",
        )
    if n in op.inputs and op.defaults.get(n, 0) is not None:
        if op.save_as is not None and n == op.inputs[0]:
            keep = f"_node.{n} = {n} if {n}_.size < {LARGE} else _light({n}); _node.{n}_v = {n}._counter[0]"
        return test + keep, test + pack
    # may be an array, or None
    texts = [f"if isinstance({n}, _Tensor): {one}\nelse: _node.{n} = _constant({n})" for one in (keep, pack)]
    keep, pack = [f"{test}\n{indented(text)}" for text in texts] if test else texts
    return keep, pack


def _result(op: Op, n: str, test: str, what: str) -> tuple[str, str]:
    """Return the statement that saves a result or an extra value, and that which packs it."""
    label = (op.node_name, n)
    keep = "{test}_node.{n} = {data}; _node.{n}_c = {counter}; _node.{n}_v = {version}"
    if what == "residual":
        data, counter = f"{n}_", "[0]"
    else:
        data, counter = (f"{n}_", f"{n}_out._counter") if op.returns else ("_data", "_out._counter")
    version = "0" if op.returns else f"_node.{n}_c[0]"
    if what == "result" and not op.returns:
        pack = f"_pack_result(_mode, _out, _node, {label!r})"
    else:
        pack = f"_pack_array(_mode, {data}, {counter}, {label!r}, _node)"
    return (
        keep.format(test=test, n=n, data=data, counter=counter, version=version),
        keep.format(test=test, n=n, data=pack, counter="[0]", version="0"),
    )
