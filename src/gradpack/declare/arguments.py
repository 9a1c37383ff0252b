"""What a parameter takes, by its annotation or its name, and what is said to an argument that is something else.

Nothing here runs while arguments are right: an operation asks after something has failed, or about an option that is
neither its default nor of the usual type (`tests_of`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from inspect import Parameter, signature
from typing import Any

from ..backends import backend_of
from ..base.dtypes import FLOATING, dtype
from ..base.layouts import layout
from ..base.memory_formats import memory_format
from ..tensor.tensor import Tensor
from .op import Op

# What torch's messages call a kind of argument.
WORDS = {
    "tensor": "Tensor",
    "operand": "Tensor",
    "tensors": "tuple of Tensors",
    "bool": "bool",
    "int": "int",
    "ints": "tuple of ints",
    "float": "float",
    "number": "Number",
    "str": "str",
    "dtype": "torch.dtype",
    "layout": "torch.layout",
    "memory_format": "torch.memory_format",
}

_ANNOTATED = {
    "Tensor": "tensor",
    "bool": "bool",
    "int": "int",
    "float": "float",
    "int | float": "number",
    "str": "str",
    "dtype": "dtype",
}

# Parameters that run on arrays and numbers, too, and are annotated Any.
_NAMED = {
    name: kind
    for kind, names in {
        "tensor": "self input mat mat1 mat2 batch1 batch2 vec vec1 vec2 tensor1 tensor2 mask",
        "tensors": "tensors",
        "bool": "keepdim keepdims unbiased stable descending largest requires_grad pin_memory upper non_blocking",
        "ints": "dim dims axis",
        "number": "alpha beta correction fill_value",
        "dtype": "dtype",
        "layout": "layout",
        "memory_format": "memory_format",
    }.items()
    for name in names.split()
}

# What another form of the function takes in the same place: a flag, or pairs of dimensions.
_OVERLOADED = {
    *((op, "dim") for op in ("std", "var", "std_mean", "var_mean")),
    ("tensordot", "dims"),
    ("searchsorted", "input"),
    ("max", "dim"),
    ("min", "dim"),
    ("_method_type", "dtype"),  # the name of a type
}

Kinds = dict[str, tuple[str, int, bool]]

# What is looked at before the call, as it would be taken in silence: how the usual value is told from others.
USUAL = {
    "bool": "{0} is not True and {0} is not False",
    "int": "type({0}) is not int",
    "float": "type({0}) is not float",
    "number": "type({0}) is not int and type({0}) is not float",
    "str": "type({0}) is not str",
    "layout": "{0} is not None",
    "memory_format": "{0} is not None",
}


def kind_of(name: str, annotation: Any) -> str | None:
    """The kind of argument that a parameter takes; None where that is not known."""
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "Any")
    return _ANNOTATED.get(text.removesuffix(" | None")) or (_NAMED.get(name) if text == "Any" else None)


def kinds_of(parameters: Mapping[str, Parameter]) -> Kinds:
    """By name of a parameter: its kind, its position, and whether None stands for nothing."""
    found = {}
    for i, (name, p) in enumerate(parameters.items()):
        kind = kind_of(name, p.annotation)
        if kind is not None and p.kind not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD):
            found[name] = kind, i + 1, p.default is None or "None" in str(p.annotation)
    return found


def tests_of(kinds: Kinds, defaults: Iterable[str]) -> list[str]:
    """For each option the expression that is true of an argument that is to be looked at."""
    tests = []
    for name, (kind, _, optional) in kinds.items():
        test = USUAL.get(kind)
        if test is not None:
            if kind != "bool" and name in defaults:
                test = f"{{0}} is not _default_{name} and {test}"
            elif optional and kind == "bool":
                test = f"{test} and {{0}} is not None"
            tests.append(test.format(name))
    return tests


def check(op: str, kinds: Kinds, values: Mapping[str, Any]) -> None:
    """Raise the TypeError for the first argument that is not of its parameter's kind."""
    for name, (kind, position, optional) in kinds.items():
        value = values[name]
        if not (value is None and optional) and not FITS[kind](value) and (op, name) not in _OVERLOADED:
            raise TypeError(
                f"{op}(): argument '{name}' (position {position}) must be {WORDS[kind]}, not {type(value).__name__}"
            )


def check_range(op: str, kinds: Kinds, values: Mapping[str, Any]) -> None:
    """Raise the error for the first int that has more than 64 bits."""
    for name, (kind, _, _) in kinds.items():
        value = values[name]
        for number in value if isinstance(value, tuple | list) else (value,):
            if type(number) is int and not -(1 << 63) <= number < 1 << 63:
                in_list = number is not value
                error: Any = TypeError if in_list else OverflowError if kind in ("number", "float") else ValueError
                raise error(f"{op}(): argument '{name}' does not fit into 64 bits: {number}")


# -- of operations that are declared --


@cache
def _kinds_of_op(op: Op) -> Kinds:
    return kinds_of(signature(op.forward).parameters)


@cache
def option_kinds(op: Op) -> Kinds:
    """What the options of an operation take that would be taken in silence. (An int of another kind is refused by
    NumPy, or does no harm.)
    """
    kinds = {n: k for n, k in _kinds_of_op(op).items() if n not in op.arrays and n not in op.lists}
    return {n: k for n, k in kinds.items() if k[0] in ("bool", "float", "number", "str")}


@cache
def options_of(op: Op) -> tuple[tuple[int, Any], ...]:
    """Where the options of an operation stand, and their defaults."""
    return tuple((op.params.index(n), op.defaults.get(n, Parameter.empty)) for n in option_kinds(op))


def refuse_options(op: Op, name: str, values: Any) -> None:
    """Raise for an option that is not of its kind, or a complex factor of real tensors."""
    for place, default in options_of(op):
        value = values[place]
        if value is not default:
            check(name, option_kinds(op), dict(zip(op.params, values, strict=True)))
            if isinstance(value, complex) and (op.check is None or op.params[place] == "value"):
                if op.params[place] not in ("alpha", "beta", "value"):
                    continue
                if not any(isinstance(v, Tensor) and v._spec.dtype.is_complex for v in values):
                    raise RuntimeError(
                        f"{name}(): value cannot be converted to type float without overflow: argument "
                        f"'{op.params[place]}' is {value}, and no tensor is complex"
                    )


def refuse_unfit(op: Op, name: str, values: Any, error: Exception) -> None:
    """Raise the error for an argument that is to blame for what a body raised."""
    kinds = {n: k for n, k in _kinds_of_op(op).items() if n not in op.arrays and n not in op.lists}
    named = dict(zip(op.params, values, strict=True))
    if not (isinstance(error, TypeError) and f"{name}(" in str(error)):
        check(name, kinds, named)
    check_range(name, kinds, named)


# -- which values fit --


def _is_tensor(value: Any) -> bool:
    kind = type(value)
    return isinstance(value, Tensor) or backend_of(kind) is not None or hasattr(kind, "__torch_function__")


def _is_operand(value: Any) -> bool:
    return _is_tensor(value) or isinstance(value, int | float | complex)


def _is_tensors(value: Any) -> bool:
    return _is_tensor(value) or (isinstance(value, tuple | list) and all(map(_is_tensor, value)))


def _one(value: Any) -> bool:
    """Whether a tensor or array has one element, so that a number can be made of it."""
    return getattr(value, "shape", None) is not None and all(n == 1 for n in value.shape)


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool) or (type(value).__module__ == "numpy" and type(value).__name__.startswith("bool"))


def _is_int(value: Any) -> bool:
    if isinstance(value, Tensor):
        return _one(value) and value._spec.dtype.category < FLOATING
    return hasattr(type(value), "__index__") and not isinstance(value, bool)


def _is_ints(value: Any) -> bool:
    return all(map(_is_int, value)) if isinstance(value, tuple | list) else _is_int(value)


def _is_float(value: Any) -> bool:
    return isinstance(value, int | float) or (hasattr(type(value), "__float__") and _one(value))


def _is_number(value: Any) -> bool:
    return isinstance(value, complex) or _is_float(value)


def _is_dtype(value: Any) -> bool:
    return isinstance(value, dtype) or value in (bool, int, float, complex)


FITS: dict[str, Callable[[Any], bool]] = {
    "tensor": _is_tensor,
    "operand": _is_operand,
    "tensors": _is_tensors,
    "bool": _is_bool,
    "int": _is_int,
    "ints": _is_ints,
    "float": _is_float,
    "number": _is_number,
    "str": lambda value: isinstance(value, str),
    "dtype": _is_dtype,
    "layout": lambda value: isinstance(value, layout),
    "memory_format": lambda value: isinstance(value, memory_format),
}
