"""The facts of one declaration, and the table of all of them."""

from __future__ import annotations

from _thread import RLock
from collections.abc import Callable
from typing import Any

from .annotations import may_be_array


class Registry(dict[str, "Op"]):
    """Name -> Op: what tests, documentation, reports and `list_ops` read. Looking a name up loads its module."""

    elsewhere: Callable[[str], None] | None = None  # loads an operation that is not there yet; KeyError for no such

    def __missing__(self, name: str) -> Op:
        if self.elsewhere is None:
            raise KeyError(name)
        self.elsewhere(name)
        return self.get(name) or self._absent(name)

    @staticmethod
    def _absent(name: str) -> Op:
        raise KeyError(name)


REGISTRY = Registry()

# The functions that users call, by name, filled when they are attached.
PUBLIC: dict[str, Any] = {}

# Held while the text of a function is compiled and put in its place, which its first call does: of threads that call it
# at once, the others wait.
COMPILING = RLock()

_META = ("_shape", "_dtype")


class Op:
    """One operation.

    Attributes:
        name: torch's name.
        forward: the body, on arrays.
        params: its parameters in order; the last `keyword_only` of them are keyword-only.
        inputs: the differentiable ones.
        lists: those inputs that are sequences of tensors.
        arrays: parameters that may be tensors or arrays: see `annotations`.
        promote: parameters that share one dtype.
        formulas: for each input, from the gradient of the result to that of the input.
        reads: for each input, the names its formula asks for, without the gradient.
        saved: the names that formulas ask for.
        kind: "elementwise", "linear", "bilinear" or "general".
        jvp: the tangent rule where the kind does not give it.
        result: rule for the dtype of the result: "same", "float", "bool", "index", "sum", "real", "complex" or None.
        view: True if the result shares the storage of the first input, "maybe" if it may.
        results: names of several results; `differentiable` says how many of them are.
        extra: names of results that only formulas see.
        meaning: the composition of other operations that a fused operation stands for: what is differentiated twice.
        joint: one formula for all inputs of a fused operation: gets `needs`, a bool for each, and returns a tuple.
            Inputs that `meaning` does not take (a bias) have a formula of their own beside it.
        broadcasts: inputs may be broadcast, so that gradients must be summed back to their shapes.
        functions: the public function and its copies (dunder methods), which share one text.
        uniform: inputs must have one dtype: none is promoted. Or the sentence that is said to others.
        blame: raises the right error for shapes that the body refused.
        check: raises for operands that torch refuses; called with the operation, its values and their common dtype.
        scalars: those inputs for which a Python number will do (given as True: all, False: none).
        dtypes: what it takes: letters of "bifc" for bool, integer, floating and complex; "F": floating but not 16 bits.
        sparse: takes or gives sparse tensors: no compiled code, which knows dense ones only.
        structural: moves elements and computes nothing: any dtype as it is.
        blocks: False if the body of an elementwise operation is to get large arrays whole: it takes one step, or
            divides them itself. Or a function that takes them in its place: it is given the body, and what that takes.
        rounds: for a result of 16 bits, numbers and tensors of wider dtypes are rounded to it before it computes in
            float32; others take them as they are, and round once. Comparisons round to the common dtype.
        contiguous: results lie in memory row by row, whatever the layout of the operands.
        flat: the gradient depends on `input` in steps only, and under `create_graph` a node that gives zeros joins it
            to that: its name, or True for the one that torch usually has.
        generate: writes and compiles the text of the function and of the node classes.
        light: says what to keep in place of a large first input, if no hook is asked: that input, or a `Packed`.
    """

    __slots__ = (
        "arrays",
        "blame",
        "blocks",
        "broadcasts",
        "check",
        "contiguous",
        "defaults",
        "differentiable",
        "dtypes",
        "extra",
        "flat",
        "formulas",
        "forward",
        "functions",
        "general_class",
        "generate",
        "holomorphic",
        "inputs",
        "joint",
        "jvp",
        "keyword_only",
        "kind",
        "light",
        "lists",
        "meaning",
        "name",
        "node_class",
        "node_name",
        "params",
        "promote",
        "public",
        "reads",
        "result",
        "results",
        "returns",
        "rounds",
        "saved",
        "scalars",
        "sparse",
        "structural",
        "uniform",
        "view",
    )

    name: str
    forward: Callable[..., Any]
    public: Callable[..., Any]
    node_class: Any
    general_class: Any
    generate: Callable[[Op], None]

    def __init__(
        self,
        function: Callable[..., Any],
        kind: str,
        formulas: dict[str, Callable[..., Any]],
        *,
        jvp: Callable[..., Any] | None = None,
        result: str | None = "same",
        view: bool | str = False,
        results: tuple[str, ...] = (),
        differentiable: int | None = None,
        extra: tuple[str, ...] = (),
        meaning: Callable[..., Any] | None = None,
        promote: tuple[str, ...] | None = None,
        lists: tuple[str, ...] = (),
        structural: bool = False,
        scalars: bool | tuple[str, ...] | None = None,
        holomorphic: bool = True,
        node: str | None = None,
        many: bool = False,
        broadcasts: bool | None = None,
        uniform: bool | str = False,
        blame: Callable[..., None] | None = None,
        dtypes: str = "bifc",
        check: Callable[..., None] | None = None,
        joint: Callable[..., Any] | None = None,
        inputs: tuple[str, ...] = (),
        name: str | None = None,
        sparse: bool = False,
        blocks: bool | Callable[..., Any] | None = None,
        light: Callable[[Any], Any] | None = None,
        contiguous: bool = False,
        rounds: bool = False,
        flat: bool | str = False,
    ) -> None:
        code = function.__code__
        count = code.co_argcount + code.co_kwonlyargcount
        self.name = name or function.__name__
        self.forward = function
        self.params = code.co_varnames[:count]
        self.keyword_only = code.co_kwonlyargcount
        defaults = function.__defaults__ or ()
        self.defaults: dict[str, Any] = dict(
            zip(self.params[code.co_argcount - len(defaults) : code.co_argcount], defaults, strict=True)
        )
        self.defaults.update(function.__kwdefaults__ or {})
        self.kind, self.jvp, self.result, self.view, self.meaning = kind, jvp, result, view, meaning
        self.formulas, self.joint = formulas, joint
        self.inputs = inputs if joint is not None else tuple(formulas)
        self.lists, self.extra, self.structural, self.holomorphic = lists, extra, structural, holomorphic
        self.results, self.uniform, self.blame, self.check, self.dtypes = results, uniform, blame, check, dtypes
        self.returns = bool(results) or many  # does the body return a tuple of results?
        self.differentiable = differentiable
        self.sparse, self.blocks, self.light, self.contiguous, self.rounds = sparse, blocks, light, contiguous, rounds
        if joint is not None:
            if meaning is None:
                raise TypeError(f"{self.name}: a joint formula needs the composition that the operation means")
            self.reads = dict.fromkeys(inputs, tuple(n for n in _params_of(joint)[1:] if n != "needs"))
        else:
            self.reads = {p: _params_of(f)[1:] for p, f in formulas.items()}
        self.arrays = tuple(
            p
            for p in self.params
            if p in self.inputs or (self.defaults.get(p) is None and may_be_array(function.__annotations__.get(p)))
        )
        self.promote = tuple(p for p in self.inputs if p not in lists) if promote is None else promote
        several = len(self.promote) > 1
        if scalars is None:
            scalars = kind == "elementwise" and several
        self.scalars: tuple[str, ...] = (self.promote if scalars else ()) if isinstance(scalars, bool) else scalars
        words = "".join(w[:1].upper() + w[1:] for w in self.name.split("_"))
        self.node_name = node or f"{words}Backward0"
        self.flat = self.node_name.replace("Backward0", "BackwardBackward0") if flat is True else flat
        self.node_class = self.general_class = None
        self.broadcasts = kind in ("elementwise", "bilinear") if broadcasts is None else broadcasts
        self.functions: list[Any] = []
        self.saved = frozenset(n for names in self.reads.values() for n in names)
        for p, names in self.reads.items():
            if p not in self.params:
                raise TypeError(f"{self.name}: a formula is given for {p!r}, which is not a parameter of it")
            if self.saved.issubset(self.params):
                continue
            known = {*self.params, *(p + m for p in self.params for m in _META), "out", *extra, *results}
            unknown = [n for n in names if n not in known]
            if unknown:
                raise TypeError(
                    f"{self.name}: the formula of {p!r} names {', '.join(map(repr, unknown))}, which {self.name} "
                    f"does not have. It may name {', '.join(sorted(known))}"
                )

    def node_classes(self) -> tuple[Any, Any]:
        """The node class of generated code and that of the interpreter, generated if they are not there yet."""
        if self.node_class is None:
            self.generate(self)
        return self.node_class, self.general_class

    def saves(self, name: str) -> str:
        """What a formula's parameter is: "meta", "input", "extra", "result" or "constant"."""
        if name in self.arrays:
            return "input"
        if name in self.params:
            return "constant"
        if name == "out" or name in self.results:
            return "result"
        return "extra" if name in self.extra else "meta"

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The values of all parameters in order, defaults filled in."""
        positional = len(self.params) - self.keyword_only
        if len(args) > positional:
            raise TypeError(f"{self.name}() takes {positional} positional arguments but {len(args)} were given")
        values = dict(zip(self.params, args, strict=False))
        for key, value in kwargs.items():
            if key in values:
                raise TypeError(f"{self.name}() got multiple values for argument '{key}'")
            if key not in self.params:
                raise TypeError(f"{self.name}() got an unexpected keyword argument '{key}'")
            values[key] = value
        missing = [p for p in self.params if p not in values and p not in self.defaults]
        if missing:
            raise TypeError(f"{self.name}() missing required arguments: {', '.join(map(repr, missing))}")
        return [values[p] if p in values else self.defaults[p] for p in self.params]

    def __repr__(self) -> str:
        return f"<op {self.name}: {self.kind}({', '.join(self.inputs)})>"


def _params_of(function: Callable[..., Any]) -> tuple[str, ...]:
    code = function.__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def register(op: Op) -> None:
    if op.name in REGISTRY:
        raise TypeError(f"{op.name} is declared twice")
    REGISTRY[op.name] = op
