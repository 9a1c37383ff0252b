"""The kind of argument that each parameter takes, by its annotation or name, and the errors for other arguments.

Nothing here runs while arguments are right: an operation asks after something has failed, or about an option that is
neither its default nor of the usual type (`tests_of`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from inspect import Parameter, Signature, signature
from types import FunctionType
from typing import Any, NamedTuple

from ...backends import backend_of
from ...base.dtypes import FLOATING, dtype
from ...base.errors import is_foreign, mixed, not_a_tensor, size_too_big, too_big
from ...base.layouts import layout, sparse_coo
from ...base.memory_formats import memory_format
from ...core.tensor import Tensor
from ..op import Op

_ANNOTATED = {"Tensor": "tensor", "int | float": "number"} | {n: n for n in "bool int float str dtype".split()}

# Parameters with one of these annotations are told apart by their names.
_BY_NAME = frozenset("Any Array Dim Number Setting Sizes".split())
_NAMED = {
    name: kind
    for kind, names in {
        "tensor": "self input mat mat1 mat2 batch1 batch2 vec vec1 vec2 tensor1 tensor2 mask",
        "tensors": "tensors",
        "bool": "keepdim keepdims unbiased stable descending largest requires_grad pin_memory upper non_blocking",
        "ints": "dim dims axis s size shape normalized_shape stride physical_layout",
        "number": "alpha beta correction fill_value",
        "dtype": "dtype",
        "layout": "layout",
        "memory_format": "memory_format",
    }.items()
    for name in names.split()
}

# Integers that torch also takes from arrays and tensors of one element, as they may be sizes that a compiler traces.
_SIZES = frozenset("storage_offset length start n m k N C HxW groups minlength split_size".split())

_OPERANDS = frozenset("self input other value min max exponent weight s src elements test_elements".split())

# What another form of the function takes in the same place: a flag, or pairs of dimensions.
_OVERLOADED = (
    "std.dim var.dim std_mean.dim var_mean.dim max.dim min.dim tensordot.dims searchsorted.input bucketize.input "
    "scalar_tensor.s result_type.tensor1 result_type.tensor2 type.dtype"
).split()

Kinds = dict[str, tuple[str, int, bool]]


def kind_of(name: str, annotation: Any) -> str | None:
    """The kind of argument that a parameter takes; None where that is not known."""
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "Any")
    text = text.removesuffix(" | None")
    kind = _ANNOTATED.get(text) or (_NAMED.get(name) if text in _BY_NAME else None)
    return "size" if kind == "int" and name in _SIZES else kind


def kinds_of(parameters: Mapping[str, Parameter]) -> Kinds:
    """Return by parameter name: its kind, its position, and whether None is accepted."""
    found = {}
    first = 0 if "self" in parameters else 1  # torch does not count `self`
    for i, (name, p) in enumerate(parameters.items(), first):
        kind = kind_of(name, p.annotation)
        if kind is not None and p.kind not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD):
            # torch accepts None for these flags, as False
            optional = p.default is None or "None" in str(p.annotation) or name == "requires_grad"
            found[name] = kind, i, optional
    return found


def tests_of(kinds: Kinds, defaults: Iterable[str], usual: Mapping[str, str]) -> list[str]:
    """Return for each option the expression that is true if its argument has to be checked."""
    tests = []
    for name, (kind, _, optional) in kinds.items():
        test = usual.get(kind)
        if test is not None:
            if kind != "bool" and name in defaults:
                test = f"{{0}} is not _default_{name} and {test}"
            elif optional and kind == "bool":
                test = f"{test} and {{0}} is not None"
            tests.append(test.format(name))
    return tests


def check(op: str, kinds: Kinds, values: Mapping[str, Any]) -> None:
    """Raise the error for the first argument that is not of its parameter's kind, or does not fit into 64 bits."""
    for name, (kind, position, optional) in kinds.items():
        value = values[name]
        if op == "view_copy" and type(value) is dtype:  # in the place of a size
            continue
        if not (value is None and optional) and not KINDS[kind].fits(value) and f"{op}.{name}" not in _OVERLOADED:
            found = f"not {type(value).__name__}"
            if kind == "ints" and isinstance(value, tuple | list):
                odd = next(v for v in value if not _is_size(v))
                found = f"but found element of type {type(odd).__name__}"
            called = op.removeprefix("_method_")
            if is_foreign(value):
                raise mixed(called)
            position -= called != op  # `self` does not count
            raise TypeError(f"{called}(): argument '{name}' (position {position}) must be {KINDS[kind].word}, {found}")
        if value is sparse_coo and kind == "layout" and op.removeprefix("_method_") not in _SPARSE:
            raise _no_sparse_result(op.removeprefix("_method_"))
    check_range(op, kinds, values)


# Functions that may give a sparse tensor, or say themselves that they do not.
_SPARSE = frozenset("zeros ones empty zeros_like new_zeros new_empty scalar_tensor sparse_coo_tensor to_sparse".split())


def _no_sparse_result(op: str) -> Exception:
    kind = RuntimeError if op == "full" or op.endswith("_window") else NotImplementedError
    return kind(f"{op}(...) is not implemented for sparse layout: make a dense tensor, and call to_sparse() on it")


def unexpected(op: str, parameters: Mapping[str, Parameter], unknown: Iterable[str]) -> TypeError:
    """Return the error for keywords that a function does not have, with the one that was meant, and all that it has."""
    name = next(iter(unknown))
    meant = _meant(name, [n for n, p in parameters.items() if p.kind not in _VARIADIC])
    hint = f" Did you mean '{meant}'?" if meant else ""
    called = op.removeprefix("_method_")
    return TypeError(f"{called}() got an unexpected keyword argument '{name}'.{hint} It takes\n * {taken(parameters)}")


_VARIADIC = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


def taken(parameters: Mapping[str, Parameter]) -> Signature:
    """Return a signature that shows names and defaults, of functions their names."""
    shown = [p.replace(annotation=Parameter.empty) for p in parameters.values()]
    functions = [isinstance(p.default, FunctionType) for p in shown]
    named = [p.replace(default=_Name(p.default.__name__)) if f else p for p, f in zip(shown, functions, strict=True)]
    return Signature(named)


class _Name(str):
    __slots__ = ()
    __repr__ = str.__str__


def _meant(name: str, known: Sequence[str]) -> str | None:
    """Return the parameter that is most like a name: by its letters, by its initials (`lr`), or cut short (`eps`)."""
    from difflib import get_close_matches

    near = get_close_matches(name, known, 1)
    if near:
        return near[0]
    initials = "".join(word[:1] for word in name.split("_"))
    short = [n for n in known if n == initials or name.startswith(n)]
    return max(short, key=len) if short else None


def all_ints(value: Any) -> bool:
    """Whether a value is a tuple or list of nothing but ints: the usual sizes and dimensions."""
    return type(value) in (tuple, list) and _INT.issuperset(map(type, value))


_INT = frozenset({int})
_OPERAND_KINDS = frozenset("number float tensor".split())


def check_range(op: str, kinds: Kinds, values: Mapping[str, Any]) -> None:
    """Raise the error for the first int that has more than 64 bits: of any argument, once all others are right."""
    for name, value in values.items():
        if name in ("data", "obj"):  # `tensor` and its kin have errors of their own
            continue
        kind = kinds[name][0] if name in kinds else "number" if name in _OPERANDS else "int"
        counts = kind not in _OPERAND_KINDS
        most = 63 if counts else 64  # operands may be numbers of uint64
        for at, number in enumerate(value if isinstance(value, tuple | list) else (value,)):
            if type(number) is int and not -(1 << 63) <= number < 1 << most:
                what = f"{op.removeprefix('_method_')}(): argument '{name}'"
                if number is not value and name != "place":  # what a subscript names is a tuple here only
                    raise size_too_big(op, name, at, number)
                if not counts:
                    raise too_big(what, number)
                raise ValueError(f"Overflow when unpacking long long: {what} does not fit into 64 bits: {number}")


# -- of operations that are declared --


@cache
def _kinds_of_op(op: Op) -> Kinds:
    return kinds_of(signature(op.forward).parameters)


@cache
def option_kinds(op: Op) -> Kinds:
    """Return the kinds of the options of an operation that have to be checked, as a wrong one would raise no error."""
    kinds = {n: k for n, k in _kinds_of_op(op).items() if n not in op.arrays and n not in op.lists}
    looked_at = ("bool", "float", "number", "str") if op.name.startswith("_") else USUAL
    return {n: k for n, k in kinds.items() if k[0] in looked_at}


@cache
def options_of(op: Op) -> tuple[tuple[int, Any], ...]:
    """Return (position, default) of each option of an operation."""
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
    """Raise the error for an argument of a wrong type or range that made the body raise."""
    kinds = {n: k for n, k in _kinds_of_op(op).items() if n not in op.arrays and n not in op.lists}
    named = dict(zip(op.params, values, strict=True))
    if not (isinstance(error, TypeError) and f"{name}(" in str(error)):
        check(name, kinds, named)
    refuse_lone_int(name, kinds, named, error)
    check_range(name, kinds, named)


def refuse_lone_int(op: str, kinds: Kinds, values: Mapping[str, Any], error: Exception) -> None:
    """Raise if what failed is that an int stands for several."""
    if isinstance(error, TypeError) and str(error).startswith(
        ("'int' object is not iter", "object of type 'int' has no")
    ):
        for name, (kind, position, _) in kinds.items():
            if kind == "ints" and isinstance(values[name], int):
                raise TypeError(f"{op}(): argument '{name}' (position {position}) must be tuple of ints, not int")


def python_number(value: Any) -> Any:
    """Convert a NumPy scalar to a Python number; return any other value as it is."""
    return value.item() if is_number_of_numpy(type(value)) else value


def refuse_numbers(op: Op, name: str, values: Any) -> None:
    """Raise TypeError for a NumPy scalar in place of a tensor."""
    for i, (param, value) in enumerate(zip(op.params, values, strict=True)):
        if param in op.arrays and param not in op.scalars and is_number_of_numpy(type(value)):
            raise not_a_tensor(name, param, i + 1, value)


# -- which values fit --


def _is_tensor(value: Any) -> bool:
    kind = type(value)
    if isinstance(value, Tensor) or hasattr(kind, "__torch_function__"):
        return True
    return backend_of(kind) is not None and not is_number_of_numpy(kind)


def _is_tensors(value: Any) -> bool:
    return _is_tensor(value) or (isinstance(value, tuple | list) and all(map(_is_tensor, value)))


def is_number_of_numpy(kind: type) -> bool:
    """Return whether a type is a NumPy scalar type, which is not accepted in place of a tensor."""
    return kind.__module__ == "numpy" and not hasattr(kind, "__setitem__")


def _is_array_of_numpy(kind: type) -> bool:
    return kind.__module__ == "numpy" and hasattr(kind, "__setitem__")


def _is_int(value: Any) -> bool:
    if isinstance(value, Tensor):
        return not value._shape and value._spec.dtype.category < FLOATING
    kind = type(value)
    return hasattr(kind, "__index__") and kind is not bool and not _is_array_of_numpy(kind)


def _is_size(value: Any) -> bool:
    if isinstance(value, Tensor):
        return value.numel() == 1 and value._spec.dtype.category < FLOATING
    return _is_int(value) or (_is_array_of_numpy(type(value)) and value.size == 1 and value.dtype.kind in "iu")


def _is_ints(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return all(map(_is_size, value))
    return _is_size(value) and not _is_array_of_numpy(type(value))


def _is_float(value: Any) -> bool:
    if isinstance(value, int | float):
        return True
    kind = type(value)
    return hasattr(kind, "__float__") and not _is_array_of_numpy(kind) and not getattr(value, "shape", ())


class Kind(NamedTuple):
    """A kind of argument.

    Attributes:
        word: torch's name of it in error messages.
        fits: whether a value is of this kind.
        unusual: the test before a call, true for unusual values, where a wrong one would otherwise raise no error.
    """

    word: str
    fits: Callable[[Any], bool]
    unusual: str = ""


KINDS = {
    "tensor": Kind("Tensor", _is_tensor),
    "tensors": Kind("tuple of Tensors", _is_tensors),
    "bool": Kind("bool", lambda value: isinstance(value, bool), "{0} is not True and {0} is not False"),
    "int": Kind("int", _is_int, "type({0}) is not int"),
    "size": Kind("int", _is_size, "type({0}) is not int"),
    "ints": Kind(
        "tuple of ints", _is_ints, "type({0}) is not int and type({0}) is not tuple and type({0}) is not list"
    ),
    "float": Kind(
        "float",
        _is_float,
        f"type({{0}}) is not float and not (type({{0}}) is int and {-(1 << 63)} <= {{0}} < {1 << 63})",
    ),
    "number": Kind(
        "Number",
        lambda value: isinstance(value, complex) or _is_float(value),
        f"type({{0}}) is not float and not (type({{0}}) is int and {-(1 << 63)} <= {{0}} < {1 << 64})",
    ),
    "str": Kind("str", lambda value: isinstance(value, str | bytes), "type({0}) is not str"),  # bytes match no name
    "dtype": Kind("torch.dtype", lambda value: isinstance(value, dtype) or value in (bool, int, float, complex)),
    "layout": Kind("torch.layout", lambda value: isinstance(value, layout), "{0} is not None"),
    "memory_format": Kind("torch.memory_format", lambda value: isinstance(value, memory_format), "{0} is not None"),
}
USUAL = {name: kind.unusual for name, kind in KINDS.items() if kind.unusual}

# The same with stricter tests, for composite functions, where the cost of a check matters less.
_INT_64 = f"not (type({{0}}) is int and {-(1 << 63)} <= {{0}} < {1 << 63})"
CLOSELY = USUAL | {"int": _INT_64, "size": _INT_64, "ints": "type({0}) is not int and not _all_ints({0})"}


def usual_types(kind: str, default: Any) -> tuple[type, ...]:
    """Return the types of arguments that a wrapper passes on unchecked."""
    return _TYPES.get(kind, ()) if default is Parameter.empty else (*_TYPES.get(kind, ()), type(default))


_TYPES = {"bool": (bool,), "int": (int,), "ints": (int,), "float": (float,), "number": (int, float), "str": (str,)}


def is_unusual(args: tuple[Any, ...], usual: list[tuple[type, ...] | None]) -> bool:
    """Return whether positional arguments have to be checked: one has another type, or there are too many."""
    if len(args) > len(usual):
        return True
    for value, types in zip(args, usual, strict=False):  # noqa: SIM110 - a generator takes longer
        if types is not None and type(value) not in types:
            return True
    return False
