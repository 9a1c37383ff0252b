"""The decorators that declare an operation. Each says how a tangent goes through it.

    @elementwise(input=lambda g, other: g * other, other=lambda g, input: g * input)
    def mul(input, other):
        '''Multiply two tensors, element by element, with broadcasting.'''
        return input * other

One keyword for each differentiable input: its formula, from the gradient of the result (the first
parameter) to the gradient of that input. Every other parameter of a formula names an argument,
the result (`out`), or metadata of an argument (`<name>_shape`). What a formula names is saved, and
only when that input needs a gradient. The body is the forward, on arrays. Called without any
Tensor, an operation is its body, so that the same formula runs on arrays and, under create_graph,
on Tensors. Formulas are those of real numbers: complex gradients are conjugated around them.

Kinds: `elementwise` (the Jacobian is diagonal: each formula is its own transpose), `linear`
(jointly linear in its inputs: the tangent rule is the operation itself), `bilinear` (linear in each
input alone), `general` (a rule given as `jvp=`, or derived by transposing the formulas).
Other keywords are the options of `Op`.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from functools import cache, partial
from inspect import signature
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from ..backends import spec_of
from ..backends.numpy import NUMPY, clip, hushed, product, unhush
from ..base import dtypes
from ..base.devices import CPU
from ..base.modes import MODE
from ..base.return_types import return_type
from ..core.packed import Packed, pack_array, pack_input, pack_result
from ..core.parameter import Parameter
from ..core.saved import FREED, check, freed, unpack_input, unpack_result
from ..core.tensor import Tensor, View
from ..core.views import refresh, skip_refresh
from ..graph.node import OutputSlot, PartialGrads, next_seq
from ..kernels.dispatch import SEEN
from .dispatch import subclass  # noqa: F401 - attaches its method
from .dispatch.body_errors import public_of
from .dispatch.interpreter import Output, apply
from .dispatch.nodes import OpNode, constant, name_node
from .dispatch.unbroadcast import fit_arrays
from .generate.profiling import forget, timed, watched
from .op import OPTIONS, Op, compiled_at_first_call, register
from .signature.aliases import NUMPYS_NAMES, dim_of, in_former_order, in_numpys_names
from .signature.arguments import unexpected
from .signature.missing import MISSING
from .signature.shown import of_function


def _kind(kind: str) -> Callable[..., Callable[[Callable[..., Any]], Any]]:
    def declare(**keywords: Any) -> Callable[[Callable[..., Any]], Any]:
        options = {k: v for k, v in keywords.items() if k in OPTIONS}
        formulas = {k: v for k, v in keywords.items() if k not in OPTIONS}

        def decorate(function: Callable[..., Any]) -> Any:
            op = Op(function, kind, formulas, **options)
            op.generate = _materialise
            register(op)
            return _public(op)

        return decorate

    declare.__name__ = kind
    return declare


elementwise = _kind("elementwise")
linear = _kind("linear")
bilinear = _kind("bilinear")
general = _kind("general")
nondifferentiable = general  # without formulas: comparisons, indices of maxima and the like


def _public(op: Op) -> FunctionType:
    public = copy_of(op, op.name, partial(apply, op))
    op.public = public
    public.__doc__ = op.forward.__doc__
    public.__module__ = op.forward.__module__
    public.__wrapped__ = op.forward  # type: ignore[attr-defined]
    public.__signature__ = of_function(op)  # type: ignore[attr-defined]
    if op.results:
        public.result_type = tuple if op.many else return_type(op.name, op.results)  # type: ignore[attr-defined]
    return public


def copy_of(op: Op, name: str, slow: Callable[[tuple[Any, ...]], Any]) -> FunctionType:
    """A function that runs the compiled text, with its own way of handling what that does not."""
    names: dict[str, Any] = {"__name__": "gradpack.ops"}
    names["_slow"] = timed(op, op.name, slow, names)
    function = names["_function"] = compiled_at_first_call(name, names, partial(_materialise, op))
    function.op = op  # type: ignore[attr-defined]
    op.functions.append(function)
    return function


@cache
def _compiled(text: str) -> CodeType:
    return compile(text, "<op>", "exec")


def _with_more(op: Op, values: tuple[Any, ...], more: dict[str, Any]) -> Any:
    """Call an operation with keywords that its text does not take: `out`, `axis`, or none that there is."""
    from .dispatch.out_argument import into

    shown = signature(op.public).parameters
    if not NUMPYS_NAMES.keys().isdisjoint(more):
        named, more = in_numpys_names(dict(zip(op.params, values, strict=True)), more)
        values = tuple(named.values())
    unknown = [n for n in more if not ((n == "axis" and op.axis) or (n == "out" and not op.view))]
    if unknown:
        raise unexpected(public_of(op)[1], shown, unknown)
    if op.axis:
        named = dict(zip(op.params, values, strict=True))
        named["dim"] = dim_of(op.name, more.get("axis"), named["dim"], op.defaults.get("dim", MISSING), named, shown)
        values = tuple(named.values())
    out = more.get("out")
    return op.call(values) if out is None else watched(op, op.name, lambda *given: into(op, out, given), values)


# The globals of every text.
_COMMON: dict[str, Any] = {
    "_MODE": MODE.get,
    "_FREED": FREED,
    "_BOOL": NUMPY.spec_for(dtypes.bool_, CPU),
    "_INT64": NUMPY.spec_for(dtypes.int64, CPU),
    "_FLOAT": NUMPY.spec_for(dtypes.float32, CPU),
    "_HUSHED": hushed,
    "_unhush": unhush,
    "_clip": clip,
    "_new": object.__new__,
    "_next_seq": next_seq,
    "_asarray": np.asarray,
    "_ndarray": np.ndarray,
    "_may_share": np.may_share_memory,
    "_shape_of": np.shape,
    "_Slot": OutputSlot,
    "_Part": PartialGrads,
    "_tuple": tuple.__new__,
    "_missing": MISSING,
    "_seen": SEEN,
}
_COMMON.update((f"_{kind.__name__}", kind) for kind in (OpNode, Tensor, Parameter, View, Packed, Output))
_COMMON.update((f"_{f.__name__}", f) for f in (check, freed, spec_of, constant, fit_arrays, product))
_COMMON.update((f"_{f.__name__}", f) for f in (unpack_input, unpack_result, pack_input, pack_array, pack_result))


def _names_of(op: Op) -> dict[str, Any]:
    """Return the globals of an operation's text that are its own: body, formulas, defaults, other ways to call it."""
    names: dict[str, Any] = {
        "_refresh": refresh if op.inputs else skip_refresh,
        "_light": op.save_as,
        "_forward": NUMPY.bind(op.forward),
        "_public": op.public,
        "_in_former_order": lambda values, more: in_former_order(op, op.name, op.public, values, more),
        "_with_more": partial(_with_more, op),
        "_result_type": getattr(op.public, "result_type", None),
        "_joint": None if op.joint_vjp is None else NUMPY.bind(op.joint_vjp),
    }
    names.update({f"_vjp_{p}": NUMPY.bind(f) for p, f in op.formulas.items()})
    names.update({f"_default_{p}": v for p, v in op.defaults.items()})
    return names


def _materialise(op: Op) -> None:
    """Generate, compile and install the text of an operation."""
    from .generate.complex_form import of_complex
    from .generate.constants import REAL, SINGLES, constants_in
    from .generate.emitter import has_complex_form, source
    from .generate.fusion import large_forms
    from .generate.inline import Inlined

    text, filename = source(op), f"<op {op.name}>"
    common = _COMMON | _names_of(op) | {"_text": text}
    if has_complex_form(op):
        common["_complex"] = of_complex(op, common)
    inlined = Inlined(op)
    common.update(inlined.names)
    common.update(large_forms(op, inlined, common["_forward"], {p: common[f"_vjp_{p}"] for p in op.formulas}))
    common.update(constants_in(text), _singles=SINGLES, _REAL=REAL)
    names = {**common, "__name__": "gradpack.ops"}
    exec(_compiled(text), names)
    _install_node(op, names["_Backward"], filename, common)
    common["_Backward"] = op.node_class
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    call = names["_call"]
    for function in op.functions:
        forget(function)
        function.__globals__.update(common)
        function.__defaults__, function.__kwdefaults__ = call.__defaults__, call.__kwdefaults__
        # Code objects of its own: named like the operation in tracebacks, and not sharing
        # CPython's inline caches with other operations of the same shape.
        function.__code__ = call.__code__.replace(
            co_name=function.__name__, co_qualname=function.__name__, co_filename=filename
        )
        function.__source__ = text


def _install_node(op: Op, node_class: Any, filename: str, names: dict[str, Any]) -> None:
    from .dispatch.interpreted_node import InterpretedNode

    for name in ("backward_batched", "backward_graph"):
        setattr(node_class, name, _made_at_first_call(name, op, node_class, names))

    general = type(
        op.node_name,
        (InterpretedNode, node_class),
        {
            "__slots__": (
                "backend",
                "compute",
                "held",
                "low",
                "tangents",
                *(n for n in ("fit", "outputs") if n not in node_class.__slots__),
            ),
            "backward": InterpretedNode.backward,
        },
    )
    made: Any
    for made in (node_class, general):
        name_node(op, made, filename)
    op.node_class, op.interpreted_class = node_class, general


def _made_at_first_call(name: str, op: Op, node_class: Any, names: dict[str, Any]) -> Callable[[Any, Any, bool], Any]:
    """Return a method of a node class that replaces itself by the one that `other_backward` makes."""

    def method(self: Any, g: Any, keep: bool) -> Any:
        from .generate import other_backward

        made = getattr(other_backward, name)(op, names)
        setattr(node_class, name, made)
        return made(self, g, keep)

    return method
