"""The facts of one declaration, and the table of all of them."""

from __future__ import annotations

from _thread import RLock
from collections.abc import Callable
from inspect import signature
from types import FunctionType
from typing import Any

from .annotations import may_be_array


class Registry(dict[str, "Op"]):
    """Name -> Op: what tests, documentation, reports and `list_ops` read. Looking a name up loads its module."""

    elsewhere: Callable[[str], None] | None = None  # loads an operation on demand; KeyError if there is none

    def __missing__(self, name: str) -> Op:
        if self.elsewhere is not None:
            self.elsewhere(name)
        if name not in self:
            raise KeyError(name)
        return self[name]


REGISTRY = Registry()

# The functions that users call, by name, filled when they are attached.
PUBLIC: dict[str, Any] = {}

_COMPILING = RLock()  # of threads that call a function for the first time, the others wait


def _stub(*args: Any, **kwargs: Any) -> Any:
    return _compile_first(*args, **kwargs)  # type: ignore[name-defined]  # noqa: F821 - in the function's own globals


def compiled_at_first_call(name: str, names: dict[str, Any], install: Callable[[], object]) -> FunctionType:
    """Return a function with these globals, whose text is made at its first call: what is not used costs nothing.

    Args:
        install: compiles the text and puts the code into the function, and the text under "_text" into `names`.
    """
    function = FunctionType(_stub.__code__.replace(co_name=name, co_qualname=name), names, name)

    def compile_first(*args: Any, **kwargs: Any) -> Any:
        with _COMPILING:
            if "_text" not in names:  # another thread may have done it while this one waited
                install()
        return function(*args, **kwargs)

    names["_compile_first"] = compile_first
    return function


_META = ("_shape", "_dtype")


class Options:
    """The options of a declaration, and what each is if it is not given.

    Attributes:
        autocast: what autocast casts operands to: "lower" (its dtype), "float32" or "widest" (of the operands).
        axis: takes `axis` for `dim`, which is NumPy's name.
        shape_error: raises the right error for shapes that the body refused.
        blocks: False if the body of an elementwise operation is not made a compiled loop for large arrays. Or a
            function that takes these in its place: it is given the body, and what that takes.
        broadcasts: inputs may be broadcast, so that gradients must be summed back to their shapes.
        check: raises for operands that torch refuses; called with the operation, its values and common dtype. What
            it refuses is never among floating or complex tensors of one dtype: generated code does not call it.
        compares: the formulas compare what they saved, with a bound or with the result: rounding would change them.
        contiguous: results lie in memory row by row, whatever the layout of the operands.
        cost: "cheap" or "dear" where the kind does not say what computing the result again costs.
        differentiable: how many of several results are differentiable; None: all.
        draws: the parameter that says whether random numbers are drawn.
        dtypes: what it takes: letters of "bifc" for bool, integer, floating and complex; "F": floating but not 16 bits.
        edges: by torch's name of the node, its inputs as torch has them, where we have others: numbers are none there,
            and some come in another order.
        residuals: names of results that only formulas see.
        flat: the gradient depends on `input` in steps only, and under `create_graph` a node that gives zeros joins it
            to that: its name, or True for the one that torch usually has.
        holomorphic: False if complex gradients are not those of a holomorphic function.
        inputs: the differentiable inputs, where `joint_vjp` gives their gradients.
        int64: the body gives the right result on arrays of int64 as they are; "bool": and on those of bool; "real": and
            on those of all real dtypes of NumPy's.
        joint_vjp: one formula for all inputs of a fused operation: gets `needs`, a bool for each, and returns a tuple.
            Inputs that `decomposition` does not take (a bias) have a formula of their own beside it.
        jvp: the tangent rule where the kind does not give it.
        legacy: which older order of arguments is taken, and warned of: "alpha", "value" or "beta".
        save_as: says what to keep in place of a large first input, if no hook is asked: that input, or a `Packed`.
        lists: those inputs that are sequences of tensors.
        many: the body returns a tuple of results, however many; with `results`, these are a plain tuple.
        decomposition: the composition of other operations that a fused one stands for: what is differentiated twice, if
            formulas save what it takes; else they are differentiated.
        name: torch's name, where it is not that of the body.
        node: torch's name of the node, where it is not made from `name`.
        numbers: two Python numbers make a tensor.
        overlap: "read_first" if operands may lie in the memory that the result is written to, as they are read before;
            "apart" if they may not even be the very tensor that is written to.
        overloads: torch's names of the node, where the operands decide: by the operand that is a Python number, and for
            "" if none is. Or a function that returns the name for a node.
        promote: parameters that share one dtype.
        refuses: words of "unsigned" (uint16, uint32, uint64) and "complex32": dtypes for which torch has no kernel.
        result: rule for the dtype of the result: "same", "float", "bool", "index", "sum", "real", "complex" or None.
        results: names of several results; `differentiable` says how many of them are.
        rounds: for a result of 16 bits, numbers and tensors of wider dtypes are rounded to it before it computes in
            float32; others take them as they are, and round once. Comparisons round to the common dtype.
        saved_as: the attributes of its node in torch, as words: a name alone is one of `torch_names.COMMON` or of ours,
            `name=value` says what it is: a saved value, `.shape`, `.strides`, `.numel` of one, `[i]` of it or of its
            shape, `(x)` for a tuple of one if it is no tuple, or a literal after `:`. A dict says it for each of
            several names of nodes, "" standing for all others. None: the node shows what formulas read.
        scalars: those inputs for which a Python number will do (given as True: all, False: none).
        sparse: takes or gives sparse tensors: no compiled code, which knows dense ones only.
        data_movement: moves elements and computes nothing: any dtype as it is.
        ufunc: computes what the body does if all keyword-only parameters have their defaults; takes `out=`, as NumPy's
            ufuncs do. In-place forms call it.
        same_dtype: inputs must have one dtype: none is promoted. Or the sentence that is said to others.
        view: True if the result shares the storage of the first input, "maybe" if it may.
        warns: False if NumPy has nothing to warn of, such as a division by zero.
    """

    autocast: str | None = None
    axis: bool = False
    shape_error: Callable[..., None] | None = None
    blocks: bool | Callable[..., Any] | None = None
    broadcasts: bool | None = None
    check: Callable[..., None] | None = None
    compares: bool = False
    contiguous: bool = False
    cost: str | None = None
    differentiable: int | None = None
    draws: str | None = None
    dtypes: str = "bifc"
    edges: dict[str, str] = {}  # noqa: RUF012 - an option is not written to
    residuals: tuple[str, ...] = ()
    flat: bool | str = False
    holomorphic: bool = True
    inputs: tuple[str, ...] = ()
    int64: bool | str = False
    joint_vjp: Callable[..., Any] | None = None
    jvp: Callable[..., Any] | None = None
    legacy: str | None = None
    save_as: Callable[[Any], Any] | None = None
    lists: tuple[str, ...] = ()
    many: bool = False
    decomposition: Callable[..., Any] | None = None
    name: str | None = None
    node: str | None = None
    numbers: bool = False
    overlap: str | None = None
    overloads: dict[str, str] | Callable[[Any], str] | None = None
    promote: tuple[str, ...] | None = None
    refuses: str = ""
    result: str | None = "same"
    results: tuple[str, ...] = ()
    rounds: bool = False
    saved_as: str | dict[str, str] | None = None
    scalars: bool | tuple[str, ...] | None = None
    sparse: bool = False
    data_movement: bool = False
    ufunc: Callable[..., Any] | None = None
    same_dtype: bool | str = False
    view: bool | str = False
    warns: bool = True


OPTIONS = frozenset(Options.__annotations__)


class Op(Options):
    """One operation: its body, its formulas, its options, and what follows from these.

    Attributes:
        name: torch's name.
        forward: the body, on arrays.
        params: its parameters in order; the last `keyword_only` of them are keyword-only.
        inputs: the differentiable ones.
        arrays: parameters that may be tensors or arrays: see `annotations`.
        formulas: for each input, from the gradient of the result to that of the input.
        reads: for each input, the names its formula asks for, without the gradient.
        saved: the names that formulas ask for.
        kind: "elementwise", "linear", "bilinear" or "general".
        functions: the public function and its copies (dunder methods), which share one text.
        generate: writes and compiles the text of the function and of the node classes.
        keyword_only: how many of the parameters are keyword-only.
        last_required: the index of the last positional parameter without a default.
        defaults: of the parameters.
        returns: whether the body returns a tuple of results.
        recomposes: whether double backward differentiates the decomposition.
        public: the function that users call.
        layout, plans: of its parameters, and what to do for each combination of dtypes: see `dispatch/dtype_plan.py`.
        node_name, node_class, interpreted_class: of the node of generated code, and of that of the interpreter.
    """

    name: str
    inputs: tuple[str, ...]
    promote: tuple[str, ...]
    scalars: tuple[str, ...]
    broadcasts: bool
    flat: Any  # the name of the node, or False
    public: Callable[..., Any]
    generate: Callable[[Op], None]
    node_class: Any = None
    interpreted_class: Any = None

    def __init__(
        self, function: Callable[..., Any], kind: str, formulas: dict[str, Callable[..., Any]], **options: Any
    ) -> None:
        unknown = options.keys() - OPTIONS
        if unknown:
            raise TypeError(f"{function.__name__}: there is no option {', '.join(sorted(unknown))}: see `Options`")
        vars(self).update(options)
        code = function.__code__
        self.name = self.name or function.__name__
        self.forward, self.kind, self.formulas = function, kind, formulas
        self.params = _params_of(function)
        self.keyword_only = code.co_kwonlyargcount
        defaults = function.__defaults__ or ()
        self.defaults: dict[str, Any] = dict(
            zip(self.params[code.co_argcount - len(defaults) : code.co_argcount], defaults, strict=True)
        )
        self.defaults.update(function.__kwdefaults__ or {})
        self.last_required = max(code.co_argcount - len(defaults) - 1, 0)
        self.returns = bool(self.results) or self.many
        if self.joint_vjp is None:
            self.inputs = tuple(formulas)
            self.reads = {p: _params_of(f)[1:] for p, f in formulas.items()}
        elif self.decomposition is None:
            raise TypeError(f"{self.name}: a joint formula needs the composition that the operation means")
        else:
            self.reads = dict.fromkeys(self.inputs, tuple(n for n in _params_of(self.joint_vjp)[1:] if n != "needs"))
        self.saved = frozenset(n for names in self.reads.values() for n in names)
        self.recomposes = self.decomposition is not None and self.saved.issuperset(_params_of(self.decomposition))
        self._check_formulas()
        self.arrays = tuple(
            p
            for p in self.params
            if p in self.inputs or (self.defaults.get(p) is None and may_be_array(function.__annotations__.get(p)))
        )
        promote, scalars, broadcasts = (options.get(name) for name in ("promote", "scalars", "broadcasts"))
        self.promote = tuple(p for p in self.inputs if p not in self.lists) if promote is None else promote
        if scalars is None:
            scalars = kind == "elementwise" and len(self.promote) > 1
        self.scalars = scalars if isinstance(scalars, tuple) else self.promote if scalars else ()
        self.broadcasts = kind in ("elementwise", "bilinear") if broadcasts is None else broadcasts
        words = "".join(w[:1].upper() + w[1:] for w in self.name.split("_"))
        self.node_name = self.node or f"{words}Backward0"
        if self.flat is True:
            self.flat = self.node_name.replace("Backward0", "BackwardBackward0")
        self.functions: list[Any] = []
        self.layout: Any = None
        self.plans: dict[Any, Any] = {}

    def _check_formulas(self) -> None:
        """Raise if a formula is given for no parameter, or names what the operation does not have."""
        known = {*self.params, *(p + m for p in self.params for m in _META), "out", *self.residuals, *self.results}
        for p, names in self.reads.items():
            if p not in self.params:
                raise TypeError(f"{self.name}: a formula is given for {p!r}, which is not a parameter of it")
            unknown = [n for n in names if n not in known]
            if unknown:
                raise TypeError(
                    f"{self.name}: the formula of {p!r} names {', '.join(map(repr, unknown))}, which {self.name} "
                    f"does not have. It may name {', '.join(sorted(known))}"
                )

    def node_classes(self) -> tuple[Any, Any]:
        """Return the node classes of generated code and of the interpreter, generating them if necessary."""
        if self.node_class is None:
            self.generate(self)
        return self.node_class, self.interpreted_class

    def saves(self, name: str) -> str:
        """Return what a formula's parameter saves: "meta", "input", "residual", "result" or "constant"."""
        if name in self.arrays:
            return "input"
        if name in self.params:
            return "constant"
        if name == "out" or name in self.results:
            return "result"
        return "residual" if name in self.residuals else "meta"

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """Return the values of all parameters in order, with defaults."""
        positional = len(self.params) - self.keyword_only
        if len(args) > positional:
            raise TypeError(f"{self.name}() takes {positional} positional arguments but {len(args)} were given")
        values = dict(zip(self.params, args, strict=False))
        for key, value in kwargs.items():
            if key in values:
                raise TypeError(f"{self.name}() got multiple values for argument '{key}'")
            if key not in self.params:
                from .signature.arguments import unexpected

                raise unexpected(self.name, signature(self.public).parameters, [key])
            values[key] = value
        missing = [p for p in self.params if p not in values and p not in self.defaults]
        if missing:
            from .signature.missing import error_of

            raise error_of(self.name, signature(self.public).parameters, missing)
        return [values[p] if p in values else self.defaults[p] for p in self.params]

    def split(self, values: Any) -> tuple[Any, dict[str, Any]]:
        """Return the values of all parameters as positional and as keyword arguments."""
        count = len(self.params) - self.keyword_only
        return values[:count], dict(zip(self.params[count:], values[count:], strict=True))

    def call(self, values: Any) -> Any:
        """Call the public function with the values of all parameters."""
        if not self.keyword_only:
            return self.public(*values)
        args, kwargs = self.split(values)
        return self.public(*args, **kwargs)

    def given(self, values: Any) -> tuple[tuple[Any, ...], dict[str, Any] | None]:
        """Return positional and keyword arguments without those that are left at their defaults."""
        args, kwargs = self.split(tuple(values))
        while args and args[-1] is self.defaults.get(self.params[len(args) - 1], ...):
            args = args[:-1]
        return args, {p: v for p, v in kwargs.items() if v is not self.defaults.get(p, ...)} or None

    def __repr__(self) -> str:
        return f"<op {self.name}: {self.kind}({', '.join(self.inputs)})>"


def _params_of(function: Callable[..., Any]) -> tuple[str, ...]:
    code = function.__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def register(op: Op) -> None:
    if op.name in REGISTRY:
        raise TypeError(f"{op.name} is declared twice")
    REGISTRY[op.name] = op
