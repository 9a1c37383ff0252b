"""The public form of a composite function: users call it, operations call the function inside.

An operation that is declared knows what it takes, and says so (`declare.dispatch.interpreter`). A function that is
composed of several is Python: given None it would tell of an attribute that None does not have. Its public form has its
signature, and its own code as text that is made at the first call, like that of operations:

    def cumsum(input, dim=None, *, dtype=None, out=None, axis=None):
        try: return _inside(input, dim, dtype, out, axis)
        except Exception as error: ... raise _explained(error, ...)

Before that it looks at options that are neither their default nor of their usual type. Where no operation is inside
that would do so (functions that make a tensor like another), it asks the `__torch_function__` of a subclass.
"""

from __future__ import annotations

import linecache
from collections.abc import Iterable, Iterator
from functools import partial
from inspect import Parameter, signature
from types import FunctionType
from typing import Any

from ...base.errors import TOO_BIG, NotATensorError, any_foreign, inner_failure, mixed
from ...base.modes import MODE
from ...core.tensor import Tensor
from ...core.torch_function import handle, overriding, tensor_likes
from ..dispatch.autocast import POLICIES, cast_by
from ..op import compiled_at_first_call
from .aliases import TAKE_DIM, check_text, dim_of, in_numpys_names, lacking, numpys_parameters, takes_keepdims
from .arguments import (
    CLOSELY,
    Kinds,
    all_ints,
    check,
    is_unusual,
    kinds_of,
    refuse_lone_int,
    tests_of,
    unexpected,
    usual_types,
)
from .form_text import all_given, all_positional, by_name, first_name, in_memory
from .missing import MISSING, refuse_missing, with_form
from .usual_form import passing_on, usual_of, usual_text

_FORMS: dict[Any, FunctionType] = {}

# Functions that return their argument unchanged, a tensor or not.
_GIVE_BACK = frozenset("conj positive real resolve_conj resolve_neg".split())

_TEXT = """\
def _call({signature}):
{unknown}\
{axis}\
{keepdims}\
{noted}\
{asks}\
{tests}\
    try: return _inside({arguments})
    except Exception as _error:
        if _found := _tensor_likes(_error, {own}): return _asked(_found, {own})
        raise _explained(_error, {values})
"""
_NOTED = """\
    _mode = _MODE()
    if _mode.leaves_fast_path and (_mode.profiler is not None or _mode.functions or _mode.autocast is not None):
        return _outside({given})
"""
_ASKS = """\
    if type({first}) is not _Tensor and (_found := _overriding(({first},))): return _asked(_found, {values})
"""
_AXIS = """\
    if {test}: {found}_dim_of({label!r}, axis, dim, {default}, {required})
"""
_UNKNOWN = """\
    if _unknown: return _unexpected(_unknown, {values})
"""
_KEEPDIMS = """\
    if keepdims is not None: keepdim = keepdims
"""
_TEST = """\
    if {test}: _look({values})
"""


def wrap_module(names: dict[str, Any], exported: Iterable[str], prefix: str = "", options: str | None = None) -> None:
    """Wrap the exported functions of a module in public forms, at the end of the module.

    Args:
        names: its globals.
        prefix: the prefix of function names in error messages.
        options: see `public_form`.
    """
    for name in exported:
        if type(names[name]) is FunctionType:
            if hasattr(names[name], "op") and names[name].__module__ != "gradpack":
                names[name].__module__ = names["__name__"]
            names[name] = public_form(names[name], name, names["__name__"], prefix + name, options)


def public_form(function: Any, name: str, module: str, label: str = "", options: str | None = None) -> Any:
    """Return the public wrapper of a function; the function itself if it is not plain, wrapped or declared already.

    Args:
        name: where it is found in `module`: "cumsum", or "Tensor.cumsum".
        label: what it is called in messages, if not by its own name.
        options: the options checked before the call, if not all: torch's Python functions check less.
    """
    if type(function) is not FunctionType or hasattr(function, "op") or hasattr(function, "outside"):
        return function
    found = _FORMS.get(function)
    if found is not None:
        return found
    policy = POLICIES.get((label or function.__name__).removeprefix("_method_"))
    cast = function if policy is None else cast_by(policy, function)
    names: dict[str, Any] = {"__name__": "gradpack.ops"}
    made: Any = compiled_at_first_call(
        name, names, lambda: _install_forms(made, cast, label or function.__name__, options)
    )
    made.__dict__.update(function.__dict__)
    made.__name__, made.__qualname__, made.__module__ = name.rpartition(".")[2], name, module
    made.__doc__ = function.__doc__
    made.__wrapped__ = made.inside = function
    made.outside = True
    _FORMS[function] = made
    return made


def form_of_users(function: Any) -> Any:
    """Return the public form of a function, or the function itself if it has none."""
    return _FORMS.get(function, function)


def _install_forms(made: Any, function: Any, label: str, options: str | None) -> None:
    """Install the text of a public form; that for all modes in another function, if the usual one has its own."""
    usual = usual_of(function)
    if usual is None:
        _install(made, made, function, label, options)
        return
    general: Any = compiled_at_first_call(
        made.__name__, {"__name__": "gradpack.ops"}, lambda: _install(general, made, function, label, options)
    )
    shown, own = signature(function).parameters, signature(usual, follow_wrapped=False).parameters
    kinds = kinds_of(shown)
    looked_at = {n: k for n, k in kinds.items() if k[0] in CLOSELY and (options is None or n in options.split())}
    defaults = {n: p.default for n, p in own.items() if p.default is not Parameter.empty}
    tests = tests_of({n: k for n, k in looked_at.items() if n in own}, defaults, CLOSELY)
    tests += [
        f"{n} is _missing"
        for n, p in own.items()
        if p.default is Parameter.empty and p.kind is not Parameter.VAR_POSITIONAL
    ]
    if kinds.get(next(iter(shown), ""), ("",))[0] == "tensor":
        tests.append(f"type({next(iter(own))}) is not _Tensor")
    if "dim" in own:
        tests.append("type(dim) is list")  # of which a decorator makes a tuple
    names = made.__globals__
    names.update({f"_default_{n}": value for n, value in defaults.items()})
    names |= {"_usual": all_positional(usual), "_general": passing_on(general, own), "_all_ints": all_ints}
    names |= {"_MODE": MODE.get, "_Tensor": Tensor, "_missing": MISSING}
    names["_unless"] = unless = getattr(getattr(function, "inside", function), "unless", None)
    names["_explained"] = lambda error, given: _told(label, shown, kinds, given, error, options is None)
    names["_tensor_likes"], names["_asked"] = tensor_likes, lambda found, given: _asked(made, found, own, given)
    if unless is not None:
        tests.insert(0, "_unless")
    names["_text"] = usual_text(own, tests, ", ".join(in_memory(own)), by_name(own))
    _compile(made, names["_text"], names, label)


def _install(made: Any, public: Any, function: Any, label: str, options: str | None) -> None:
    """Write, compile and install the text of a public form for all modes; `public` is what users call."""
    inside = getattr(function, "inside", function)  # of what a profiler is told of: that is asked for here
    shown = signature(function).parameters
    own = signature(inside, follow_wrapped=False).parameters
    kinds = kinds_of(shown)
    looked_at = {n: k for n, k in kinds.items() if k[0] in CLOSELY and (options is None or n in options.split())}
    defaults = {n: p.default for n, p in own.items() if p.default is not Parameter.empty}
    values, tests = _values_and_tests(shown, own, looked_at, defaults, label)
    required = [n for n, p in own.items() if p.default is Parameter.empty and p.kind is Parameter.POSITIONAL_OR_KEYWORD]
    tests += [f"{n} is _missing" for n in required[-1:]]
    first = next(iter(shown), "")
    asks = (
        inside is not function
        and not hasattr(function, "casts")
        and (first == "self" or kinds.get(first, ("",))[0] == "tensor")
    )
    spelled = _spelled(own, defaults, label) if options is None else None
    takes_any = any(p.kind is Parameter.VAR_KEYWORD for p in own.values())
    text = _TEXT.format(
        signature=_signature(own, spelled, () if takes_any else ("**_unknown",)),
        unknown="" if takes_any else _UNKNOWN.format(values=by_name([*own, *numpys_parameters(own, spelled)])),
        axis="" if spelled is None else spelled[1],
        arguments=", ".join(in_memory(own)),
        values=values,
        own=by_name(own),
        noted="" if inside is function else _NOTED.format(given=all_given(own)),
        asks=_ASKS.format(first=first_name(own), values=by_name(own)) if asks else "",
        tests="".join(_TEST.format(test=t, values=values) for t in tests),
        keepdims=_KEEPDIMS if takes_keepdims(own, spelled) else "",
    )
    names = made.__globals__
    names.update({f"_default_{n}": value for n, value in defaults.items()})
    names["_text"] = text
    names["_inside"] = all_positional(inside)
    names["_outside"], names["_MODE"], names["_Tensor"] = function, MODE.get, Tensor
    names["_missing"], names["_dim_of"] = MISSING, partial(dim_of, shown=shown)
    names["_all_ints"] = all_ints
    names["_look"] = partial(_look, label, shown, looked_at)
    names["_explained"] = lambda error, values: _told(label, shown, kinds, values, error, options is None)
    names["_overriding"], names["_tensor_likes"] = overriding, tensor_likes
    names["_asked"] = lambda found, given: _asked(public, found, own, given)
    names["_unexpected"] = lambda unknown, given: _in_numpys_names(public, label, shown, own, unknown, given)
    names["_bound"] = lambda given: _bound(shown, own, given)
    usual = {n: usual_types(k[0], shown[n].default) for n, k in looked_at.items() if n in shown}
    by_position = [usual.get(n) for n in _taken_by_position(shown)]
    names["_unusual"] = lambda args: is_unusual(args, by_position)
    names["_unusual_named"] = lambda named: any(n in usual and type(v) not in usual[n] for n, v in named.items())
    _compile(made, text, names, label)


def _values_and_tests(
    shown: Any, own: Any, looked_at: Kinds, defaults: dict[str, Any], label: str
) -> tuple[str, list[str]]:
    """Return the values that an explanation gets, as text, and when to look at arguments closely."""
    if all(n in own for n in shown):
        values = by_name(shown)
        tests = tests_of(looked_at, defaults, CLOSELY)
        if label in _GIVE_BACK:
            looked_at["input"] = "tensor", 1, False
            tests.append("not isinstance(input, _Tensor)")
    else:  # the signature shown differs from that of the function
        values, tests = f"_bound({by_name(own)})", []
        several = {p.kind: n for n, p in own.items()}
        if Parameter.VAR_POSITIONAL in several and looked_at:
            tests.append("len({0}) > 1 and _unusual({0})".format(several[Parameter.VAR_POSITIONAL]))
        if Parameter.VAR_KEYWORD in several and looked_at:
            tests.append("{0} and _unusual_named({0})".format(several[Parameter.VAR_KEYWORD]))
    return values, tests


def _compile(made: Any, text: str, names: dict[str, Any], label: str) -> None:
    """Give a function the code of `_call`, which a text defines."""
    filename = f"<public form of {label}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    exec(compile(text, filename, "exec"), names)
    call = names.pop("_call")
    made.__defaults__, made.__kwdefaults__ = call.__defaults__, call.__kwdefaults__
    made.__code__ = call.__code__.replace(co_name=made.__name__, co_qualname=made.__qualname__)


def _look(label: str, shown: Any, looked_at: Kinds, values: dict[str, Any]) -> None:
    """Raise if an argument is missing, or is none that the function takes."""
    refuse_missing(label, shown, values)
    check(label, looked_at, values)


def _told(label: str, shown: Any, kinds: Kinds, values: dict[str, Any], error: Exception, compiled: bool) -> Exception:
    """Return the error that says most of why a call failed."""
    try:
        refuse_missing(label, shown, values)
    except TypeError as better:
        better.__suppress_context__ = True
        return better
    found = _unknown_keyword(label, shown, error) or with_form(label, shown, error)
    return found or _explained(label, kinds, values, error, compiled)


def _in_numpys_names(made: Any, label: str, shown: Any, own: Any, unknown: Any, given: dict[str, Any]) -> Any:
    """Call with arguments that have NumPy's names; raises for keywords that are none."""
    found, rest = in_numpys_names(given, unknown)
    if rest or any(p.kind is Parameter.VAR_POSITIONAL for p in own.values()):
        raise unexpected(label, shown, rest or unknown)
    return made(**found)


def _asked(made: Any, found: list[Any], own: Any, given: dict[str, Any]) -> Any:
    """Call `__torch_function__` of a tensor subclass, with the arguments that are not their defaults."""
    args: list[Any] = []
    kwargs = {}
    for name, p in own.items():
        if p.kind is Parameter.VAR_POSITIONAL:
            args += given[name]
        elif p.kind is Parameter.VAR_KEYWORD:
            kwargs.update(given[name])
        elif p.default is Parameter.empty:
            args.append(given[name])
        elif given[name] is not p.default:
            kwargs[name] = given[name]
    return handle(made, made.__name__, found, tuple(args), kwargs)


def _spelled(own: Any, defaults: Any, label: str) -> tuple[list[str], str] | None:
    """Return how a wrapper takes `axis` for `dim`; None where torch's function is in Python and does not.

    That is the parameters without a default that get one, and the text.
    """
    several = any(p.kind in (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL) for p in own.values())
    name = label.removeprefix("_method_")
    if "dim" not in own or several or name in TAKE_DIM:
        return None
    itself = "axis" in own  # the function takes it, and may be given either
    required = [] if itself else lacking(own, defaults)
    text = _AXIS.format(
        test=check_text(required),
        found="" if itself else "dim = ",
        label=name,
        default="_default_dim" if "dim" in defaults else "_missing",
        required="{" + ", ".join(f"{n!r}: {n}" for n in required) + "}",
    )
    return required, text


def _signature(parameters: Any, spelled: tuple[list[str], str] | None, last: Iterable[str]) -> str:
    parts: list[str] = []
    for name, p in parameters.items():
        if p.kind is Parameter.KEYWORD_ONLY and not any(part.startswith("*") for part in parts):
            parts.append("*")
        star = {Parameter.VAR_POSITIONAL: "*", Parameter.VAR_KEYWORD: "**"}.get(p.kind, "")
        if p.default is not Parameter.empty:
            parts.append(f"{name}=_default_{name}")
        else:
            parts.append(f"{star}{name}" if star or p.kind is Parameter.KEYWORD_ONLY else f"{name}=_missing")
    if spelled is not None and "axis" not in parameters:
        parts += ["axis=None"] if any(part.startswith("*") for part in parts) else ["*", "axis=None"]
    if takes_keepdims(parameters, spelled):
        parts.append("keepdims=None")
    return ", ".join([*parts, *last])


def _bound(shown: Any, own: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Map the arguments of a function to the parameter names of the signature that its wrapper shows."""
    found = {n: None if p.default is Parameter.empty else p.default for n, p in shown.items()}
    for name, p in own.items():
        if p.kind is Parameter.VAR_POSITIONAL:
            found.update(zip(_taken_by_position(shown), given[name], strict=False))
        elif p.kind is Parameter.VAR_KEYWORD:
            found.update(given[name])
        else:
            found[name] = given[name]
    return found


def _taken_by_position(shown: Any) -> Iterator[str]:
    """Yield the parameters that take positional arguments, up to a variadic one such as `*size`."""
    for name, p in shown.items():
        if p.kind in (Parameter.VAR_POSITIONAL, Parameter.KEYWORD_ONLY):
            return
        yield name


# What is raised on purpose, by functions that torch has in Python: "'foo' is not a valid value for reduction".
_ON_PURPOSE = (ValueError, RuntimeError, IndexError)
# NumPy's error for an array of several elements in place of a number.
_AMBIGUOUS = ("The truth value of an array", "Boolean value of Tensor")


def _explained(label: str, kinds: Kinds, values: dict[str, Any], error: Exception, compiled: bool) -> Exception:
    """Return the exception to raise in place of `error`, which a composite function raised.

    Args:
        compiled: whether torch has the function in C++, where arguments are looked at before anything else.
    """
    if any_foreign(values.values()):
        return mixed(label.removeprefix("_method_"))
    found = _better(label, kinds, values, error, compiled)
    lacking = type(found) is TypeError and "must be Tensor, not" in str(found)
    if lacking and (not compiled or label == "norm") and f"{label}_nd(" not in str(found):
        found = NotATensorError(str(found)).with_traceback(found.__traceback__)
        found.__suppress_context__ = True
    return found


def _unknown_keyword(label: str, shown: Any, error: Exception) -> Exception | None:
    """Return the error for a keyword that a function which takes any by `**` refused; None for other errors."""
    _, told, rest = str(error).partition("got an unexpected keyword argument '")
    name = rest.partition("'")[0]
    if type(error) is not TypeError or not told or name in shown or "\n" in rest:
        return None
    found = unexpected(label, shown, [name])
    found.__suppress_context__ = True
    return found


def _better(label: str, kinds: Kinds, values: dict[str, Any], error: Exception, compiled: bool) -> Exception:
    ours = isinstance(error, TypeError) and any(f"{called}(" in str(error) for called in (label, f"{label}_nd"))
    ambiguous = str(error).startswith(_AMBIGUOUS)
    if isinstance(error, OverflowError) and str(error).startswith(TOO_BIG):
        return error
    if not ours and (compiled or ambiguous or not isinstance(error, _ON_PURPOSE)):
        try:
            check(label, kinds, values)
            refuse_lone_int(label, kinds, values, error)
        except Exception as better:
            better.__suppress_context__ = True
            return better
    shapes = {n: list(v._shape) for n, v in values.items() if isinstance(v, Tensor)}
    return inner_failure(label, error, shapes)
