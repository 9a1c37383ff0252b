"""The text that takes the arrays and edges out of operands, and leaves where they are not the usual ones."""

from __future__ import annotations

from ..op import Op
from ..signature.arguments import USUAL, option_kinds, tests_of
from .form import Form

TENSOR = """\
    _kind = type({p})
    if _kind is _Tensor or _kind is _Parameter:
{same}\
        if {p}._view is not None and _refresh({p}): {leave}
        {p}_ = {p}._data{shape}
{edge}\
{number}\
    else: {leave}
"""

NUMBER = """\
    elif _kind is float or _kind is int and -9223372036854775808 <= {p} < 9223372036854775808:
{unknown}\
        {p}_ = {p}; {p}_s = None
{no_edge}\
"""

LIST = """\
    if type({p}) is not list and type({p}) is not tuple: {leave}
    _spec = _some = None
    {p}_ = []; _edges = []
    for _one in {p}:
        _kind = type(_one)
        if _kind is not _Tensor and _kind is not _Parameter or _one._spec is not _spec and _spec is not None:
            {leave}
        _spec = _one._spec
        if _one._view is not None and _refresh(_one): {leave}
        {p}_.append(_one._data)
        _edge = _one._edge
        _edges.append(_edge)
        if _edge is not None: _some = _edge
    if _spec is None: {leave}
"""


def tensors_of(op: Op) -> list[str]:
    """Return the parameters that are tensors of one dtype, differentiable or not."""
    return [p for p in op.params if p in op.inputs or p in op.promote]


def takes_numbers(op: Op) -> bool:
    """Return whether an operand may be a Python number beside a tensor."""
    return bool(op.scalars) and len(tensors_of(op)) > 1


def unwrap(op: Op, form: Form) -> str:
    """Return the statements that set `<p>_` to the array of each operand, `<p>_edge` to its edge, and `_spec`."""
    tensors, lines = tensors_of(op), []
    if takes_numbers(op):
        lines.append("    _spec = None\n")
    for p in op.params:
        if p in op.lists:
            lines.append(LIST.format(p=p, leave=form.leave(op)))
        elif p in tensors:
            lines.append(_tensor(op, form, p, p == tensors[0]))
        elif p in op.arrays:
            lines.append(f"    {p}_ = {p}._data if isinstance({p}, _Tensor) else {p}\n")
    return "".join(lines)


def _tensor(op: Op, form: Form, p: str, first: bool) -> str:
    leave = form.leave(op)
    edge, no_edge = "", ""
    if p in op.inputs:
        edge, no_edge = f"        {p}_edge = {p}._edge\n", f"        {p}_edge = None\n"
    number = ""
    if first:
        same = f"        _spec = {p}._spec\n"
    elif takes_numbers(op):
        same = (
            f"        if {p}._spec is not _spec:\n"
            f"            if _spec is not None: {leave}\n"
            f"            _spec = {p}._spec\n"
        )
    else:
        same = f"        if {p}._spec is not _spec: {leave}\n"
    if p in op.scalars and takes_numbers(op):
        unknown = "" if first else f"        if _spec is None{_wraps(op)}: {leave}\n"
        number = NUMBER.format(p=p, unknown=unknown, no_edge=no_edge)
    elif not takes_numbers(op) and not first and op.defaults.get(p, 0) is None:
        number = f"    elif {p} is None:\n        {p}_ = None\n{no_edge}"
    shape = f"; {p}_s = {p}._shape" if takes_numbers(op) else ""
    return TENSOR.format(p=p, same=same, edge=edge, number=number, shape=shape, leave=leave)


def _wraps(op: Op) -> str:
    """Integers of few bits wrap around and those beside a float become one; int64 beside an int stays as it is."""
    if op.result == "bool" or op.data_movement:
        return " or not _spec.plain and (_kind is float or _spec is not _INT64)"
    return ""


def guard(op: Op, form: Form) -> str:
    """Return when the text must not run: for arrays of other kinds, and options that are to be looked at."""
    if form.complex:
        return "".join(["not _spec.complex", *[f" or type({p}) is bool" for p in ("alpha", "beta") if p in op.params]])
    tests = [_of_other_arrays(op), *tests_of(option_kinds(op), op.defaults, USUAL)]
    if op.returns and op.view:  # views of inference tensors are no views that autograd knows
        tests.append(f"type({op.inputs[0]}._counter) is not list")
    return " or ".join(tests)


def _of_other_arrays(op: Op) -> str:
    """Bodies of comparisons and the like are right for any array of NumPy's."""
    if op.sparse:
        return "True"
    if op.result == "bool" and (op.check is not None or "c" not in op.dtypes):
        return "not _spec.plain and _spec is not _INT64"
    if op.data_movement or op.result == "bool":
        if op.view:
            return "not _spec.numpy"
        # of bool, int makes int
        first = [f"{op.scalars[0]}_s is None"] if op.data_movement and len(op.scalars) > 1 else []
        return " or ".join(["not _spec.whole", *first])
    if not op.int64:
        return "not _spec.plain"
    if op.int64 == "real":
        return "not _spec.whole or _spec.complex"
    wider = [f"{p}_s is None" for p in op.scalars[:1]]  # a number as first operand is rare
    wider += [f"type({p}) is float" for p in op.scalars[1:]]  # a float beside integers makes floats of them
    wider += [f"{p} != 1 or {p} is True" for p in op.params if p == "alpha"]
    whole = "_spec is not _INT64" if op.int64 != "bool" else "_spec is not _INT64 and _spec is not _BOOL"
    return f"not _spec.plain and ({' or '.join([whole, *wider])})"


def spec_of_result(op: Op) -> str:
    """Return the expression for the spec of the result."""
    if op.result == "sum" and op.int64 == "bool":
        return "_spec if _spec is not _BOOL else _INT64"
    own = {"bool": "_BOOL", "index": "_INT64", "complex": "_spec_of(_data)", None: "_spec_of(_data)"}
    return own.get(op.result, "_spec")
