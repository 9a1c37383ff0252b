"""The text of an operation's node class: what it saves, and the formulas that its backward runs on arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..dispatch.torch_names import freeing
from ..op import Op
from .form import indented
from .inline import Inlined
from .large_sizes import large_formula, smaller

NODE = """\
class _Backward(_OpNode):
    __slots__ = ({slots})
    selects = {selects}

    def backward(_self, _g, _keep, _edges=None):
{load}\
{gradients}\
        if not _keep:
{free}
{fit}\
        return {results}
"""

LOAD_INPUT = """\
{n} = _self.{n}
if type({n}) is _Tensor:
    if {n}._counter[0] != _self.{n}_v: _check(_self, {n!r}, {n})
    {n} = {n}._data
elif type({n}) is _Packed: {n} = {n}.get(_self, {n!r})._data
elif type({n}) is not float and type({n}) is not int: {n} = _unpack_input(_self, {n!r})
"""

LOAD_RESULT = """\
{n} = _self.{n}
if type({n}) is not _ndarray or _self.{n}_c[0] != _self.{n}_v: {n} = _unpack_result(_self, {n!r})
"""


def reads(op: Op) -> list[str]:
    """Return the names that formulas read, in order."""
    return list(dict.fromkeys(n for p in op.inputs for n in op.reads[p]))


def readers_of(op: Op, name: str) -> list[str]:
    """Return the inputs whose formulas read a name."""
    return [p for p in op.inputs if name in op.reads[p]]


def has_backward(op: Op) -> bool:
    """Return whether generated code goes backward: not for lists that formulas read, and many results of many."""
    return bool(op.inputs) and (is_list(op) or is_many(op) or not (op.returns or op.lists))


def is_list(op: Op) -> bool:
    """Return whether the only operand is a list of tensors, of which formulas read only the shapes."""
    return (
        op.lists == op.inputs
        and len(op.lists) == 1
        and not op.returns
        and not op.residuals
        and op.joint_vjp is None
        and not op.view
        and op.result == "same"
        and all(op.saves(n) in ("meta", "constant") for n in reads(op))
    )


def is_many(op: Op) -> bool:
    """Return whether there are several results: views of the only tensor, or a named tuple made of one or several."""
    if not op.returns or op.lists or op.promote != op.inputs or op.view not in (False, True):
        return False
    if op.view:
        return len(op.inputs) == 1 and not op.results
    return bool(op.results) and bool(op.inputs)


def is_symmetric(op: Op) -> bool:
    """Return whether the formulas of two operands are one and the same, of the other operand each."""
    if op.kind != "elementwise" or len(op.inputs) != 2 or op.returns or op.joint_vjp is not None:
        return False
    a, b = op.inputs
    codes, names, values = zip(*[_meaning(op.formulas[p]) for p in op.inputs], strict=True)
    alike = codes[0] == codes[1] and names[0] is names[1] and not any(map(any, values))
    return alike and op.reads[a] == (b,) and op.reads[b] == (a,)


def _meaning(formula: Callable[..., Any]) -> tuple[Any, Any, Any]:
    """Return what a formula does: its code, its globals, and values that it has besides."""
    code: Any = formula.__code__
    values = formula.__closure__, formula.__defaults__, formula.__kwdefaults__
    return (code.co_code, code.co_consts, code.co_names), formula.__globals__, values


def node_text(op: Op, inlined: Inlined) -> str:
    """Return the text of the node class."""
    slots = [*(["outputs"] if op.returns and is_many(op) else []), *_slots(op)]
    if not has_backward(op):
        return f"class _Backward(_OpNode):\n    __slots__ = ({_tuple(slots)})\n"
    results = [f"{p}_g" for p in op.inputs]
    fit = ""
    if len(op.inputs) > 1 and op.broadcasts:
        slots.append("fit")
        fit = "        if _self.fit is not None: {0} = _fit_arrays(({0}), _self.fit)\n".format(", ".join(results) + ",")
    load, gradients = _gradients(op, inlined)
    return NODE.format(
        slots=_tuple(slots),
        selects=len(op.inputs) > 1,
        load=indented(load, 2),
        gradients=indented(gradients, 2),
        free=indented("\n".join(freeing(op, reads(op))), 3),
        fit=fit,
        results=results[0] if op.lists else ", ".join(results) + ",",
    )


def _tuple(names: list[str]) -> str:
    return "".join(f"{n!r}, " for n in names)


def _slots(op: Op) -> list[str]:
    """Return the slots of a node: saved values, the saved version of inputs, version counter and version of results."""
    slots: list[str] = []
    for n in reads(op):
        what = op.saves(n)
        slots.append(n)
        if what == "input":
            slots.append(n + "_v")
        elif what in ("result", "residual"):
            slots += [n + "_c", n + "_v"]
    return slots


def _load(op: Op, n: str) -> str:
    """Return the statements that load a saved value of a node."""
    what = op.saves(n)
    if what == "input":
        return LOAD_INPUT.format(n=n)
    if what in ("result", "residual"):
        return LOAD_RESULT.format(n=n)
    return f"{n} = _self.{n}\n"


def _gradients(op: Op, inlined: Inlined) -> tuple[str, str]:
    """Return the statements that load what several formulas read, and those that compute each gradient."""
    if op.joint_vjp is not None:
        load = f"{''.join(f'{p}_edge, ' for p in op.inputs)} = _self.edges\n" + "".join(_load(op, n) for n in reads(op))
        load += _parts(op)
        needs = "".join(f"{p}_edge is not None and ({_asked(i)}), " for i, p in enumerate(op.inputs))
        args = ", ".join(f"{n}={n}" for n in reads(op))
        return load, f"{''.join(f'{p}_g, ' for p in op.inputs)} = _joint(_g, {args}, needs=({needs}))\n"
    if len(op.inputs) == 1:
        (p,) = op.inputs
        return "", "".join(_load(op, n) for n in reads(op)) + _parts(op) + f"{p}_g = {_formula(op, inlined, p)}\n"
    lines = [f"{''.join(f'{p}_edge, ' for p in op.inputs)} = _self.edges\n", _parts(op)]
    shared = [n for n in reads(op) if len(readers_of(op, n)) > 1]
    for n in shared:
        test = " or ".join(f"{p}_edge is not None" for p in readers_of(op, n))
        all_read = len(readers_of(op, n)) == len(op.inputs)
        lines.append(_load(op, n) if all_read else f"if {test}:\n{indented(_load(op, n))}")
    gradients = []
    for i, p in enumerate(op.inputs):
        own = "".join(_load(op, n) for n in op.reads[p] if n not in shared)
        made = f"if {_asked(i)}: {p}_g = {_formula(op, inlined, p)}\nelse: {p}_g = None\n"
        gradients.append(f"if {p}_edge is not None:\n{indented(own + made)}else: {p}_g = None\n")
    return "".join(lines), _of_one_tensor(op, inlined, "".join(gradients)) if is_symmetric(op) else "".join(gradients)


def _asked(i: int) -> str:
    """Return the test whether the pass needs a gradient. What it would read is loaded in any case, as in torch."""
    return f"_edges is None or _edges[{i}] is not None"


def _of_one_tensor(op: Op, inlined: Inlined, gradients: str) -> str:
    """Return the statements for gradients, and before them those for both operands being one tensor.

    The engine adds the two gradients, which are equal: twice one of them, without the other, takes fewer passes. Hooks
    of the node are to see both. Hooks of saved tensors may have made two tensors of the one.
    """
    a, b = op.inputs
    twice = f"{a}_g = {_formula(op, inlined, a, ' * 2')}\n{b}_g = None\n"
    each = "".join(f"{p}_g = {_formula(op, inlined, p)}\n" for p in op.inputs)
    saved = f"{_load(op, b)}if _self.{a} is _self.{b}: {a} = {b}\nelse:\n{indented(_load(op, a))}"
    both = f"{saved}if {a} is {b}:\n{indented(twice)}else:\n{indented(each)}"
    return f"if {a}_edge is {b}_edge and _self.extras is None:\n{indented(both)}else:\n{indented(gradients)}"


def _parts(op: Op) -> str:
    """Return the statement that makes a tuple of the gradients of several results."""
    several = op.returns and (op.view or op.differentiable is None or op.differentiable > 1)
    return "if type(_g) is _Part: _g = tuple(_g)\n" if several else ""


def _formula(op: Op, inlined: Inlined, p: str, factor: str = "") -> str:
    """Return the expression for the gradient of an input, or for twice that."""
    args = ", ".join(["_g", *op.reads[p]])
    expression = f"_vjp_{p}({args})"
    if op.returns or op.lists:
        return expression
    gradient = op.formulas[p].__code__.co_varnames[0]
    expression = (inlined.text(p, {gradient: "_g"}) or expression) + factor
    large = large_formula(op, p, inlined.expression(p))
    if not large:
        return expression
    later = [f"{q}_edge is None" for q in op.inputs[op.inputs.index(p) + 1 :]] if not factor else []  # read `_g`, too
    form = f"_vjp_{'twice' if factor else p}_large"
    return f"{expression} if {smaller('_g', large)} else {form}({args}, own={' and '.join(later) or True})"
