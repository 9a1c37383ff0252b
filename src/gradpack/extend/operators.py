"""Operations, functions, methods and kernels from outside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from keyword import iskeyword
from typing import Any

from ..backends import NUMPY, Backend
from ..base.exits import block, surely
from ..core.tensor import Tensor
from ..declare import decorators as kinds
from ..declare.inplace.forms import inplace_of, is_taken
from ..declare.op import OPTIONS, PUBLIC, REGISTRY, Op
from ..ops import methods
from . import added

Function = Callable[..., Any]


def _library() -> Any:
    import gradpack

    return gradpack


def known_operation(name: str) -> bool:
    """Whether the table has an operation; its module is loaded if so."""
    with suppress(KeyError):
        return REGISTRY[name] is not None
    return False


def is_exported(name: str) -> bool:
    return name in PUBLIC or name in methods.MODULE_OF


def _check_name(what: str, name: str) -> None:
    if not name.isidentifier() or iskeyword(name):
        raise ValueError(f"extend.{what}(): {name!r} is no Python identifier")


def _declared(kind: str) -> Callable[..., Callable[[Function], Any]]:
    declare = getattr(kinds, kind)

    def opened(
        *, method: bool = False, inplace: bool = False, export: bool = False, **keywords: Any
    ) -> Callable[[Function], Any]:
        def decorate(body: Function) -> Any:
            keywords.update({_FORMER[old]: keywords.pop(old) for old in _FORMER.keys() & keywords})
            name = keywords.get("name") or body.__name__
            _check_name(kind, name)
            _check_formulas(kind, name, keywords)
            if known_operation(name):
                added.refuse(kind, name, "the table of operations")
            if is_exported(name) or (export and hasattr(_library(), name)):
                added.refuse(kind, name, "gradpack")
            wanted = [name] * method + [name + "_"] * inplace
            for attribute in wanted:
                if is_taken(attribute, Tensor):
                    added.refuse(kind, attribute, "Tensor")
            public = declare(**keywords)(body)
            public.__module__ = body.__module__
            added.note(f"op {name}", lambda: _forget(name))
            if method:
                _attach(name, public)
            if inplace:
                _attach(name + "_", inplace_of(public.op))
            if export:
                function(public, name=name)
            return public

        return decorate

    opened.__name__ = opened.__qualname__ = kind
    opened.__doc__ = _DOC.format(means=_KINDS[kind], example=_EXAMPLES[kind])
    return opened


# Options by the names that they had.
_FORMER = {
    "meaning": "decomposition", "joint": "joint_vjp", "extra": "residuals", "blame": "shape_error", "light": "save_as",
    "structural": "data_movement", "uniform": "same_dtype",
}  # fmt: skip


def _check_formulas(kind: str, name: str, keywords: dict[str, Any]) -> None:
    for key, value in keywords.items():
        if key not in OPTIONS and not callable(value):
            raise TypeError(
                f"extend.{kind}(): {key}={value!r} for {name}: a formula is a function. Options are method, inplace, "
                f"export, {', '.join(sorted(OPTIONS))}"
            )


def _forget(name: str) -> None:
    op = REGISTRY.get(name)
    if op is not None:
        NUMPY._bound.pop(op.forward, None)
    REGISTRY.pop(name, None)


_KINDS = {
    "elementwise": "whose result at a place depends on the operands at that place only",
    "linear": "that is linear in all its inputs together",
    "bilinear": "that is linear in each of its inputs",
    "general": "of any other kind",
    "nondifferentiable": "without gradient: comparisons, indices and the like",
}
_EXAMPLES = {
    "elementwise": """
        >>> @extend.elementwise(input=lambda g, input: 3 * g * input * input, method=True)
        ... def cubed(input):
        ...     return input * input * input
        >>> x = torch.tensor([2.0], requires_grad=True)
        >>> torch.autograd.grad(x.cubed(), x)
        (tensor([12.]),)
        >>> extend.remove("cubed")
    """,
    "linear": """
        >>> @extend.linear(input=lambda g, input_shape: torch.broadcast_to(g, input_shape))
        ... def total(input):
        ...     return input.sum()
        >>> x = torch.ones(3, requires_grad=True)
        >>> torch.autograd.grad(total(x), x)
        (tensor([1., 1., 1.]),)
        >>> torch.func.jvp(total, (torch.ones(3),), (torch.ones(3),))[1]  # the tangent goes the same way
        tensor(3.)
        >>> extend.remove("total")
    """,
    "bilinear": """
        >>> @extend.bilinear(rows=lambda g, columns: g @ columns, columns=lambda g, rows: rows @ g)
        ... def table(rows, columns):
        ...     return rows[:, None] * columns
        >>> a, b = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([3.0, 4.0], requires_grad=True)
        >>> torch.autograd.grad(table(a, b).sum(), (a, b))
        (tensor([7., 7.]), tensor([3., 3.]))
        >>> extend.remove("table")
    """,
    "general": """
        >>> @extend.general(input=lambda g, input, out: (g - out * (g * out).sum()) / (input * input).sum() ** 0.5)
        ... def direction(input):
        ...     return input / (input * input).sum() ** 0.5
        >>> x = torch.tensor([3.0, 4.0], dtype=torch.float64, requires_grad=True)
        >>> torch.autograd.gradcheck(direction, x) and torch.autograd.gradgradcheck(direction, x)
        True
        >>> extend.remove("direction")
    """,
    "nondifferentiable": """
        >>> @extend.nondifferentiable()
        ... def count_positive(input):
        ...     return (input > 0).sum()
        >>> count_positive(torch.tensor([1.0, -1.0, 2.0], requires_grad=True))
        tensor(2)
        >>> extend.remove("count_positive")
    """,
}
_DOC = """Declare an operation {means}.

    Args:
        method: also make it a method of `Tensor`.
        inplace: also make its in-place form a method, under the name with an underscore.
        export: also make it a function of the module `gradpack`.
        keywords: for each differentiable input its formula, from the gradient of the result (the first parameter) and
            what the others name: arguments, `out`, `<argument>_shape`. All other keywords are options of `Op`.

    Raises:
        ValueError: if the name is taken.
        TypeError: if a formula names what the operation does not have.

    Use as a decorator of the body, which gets and returns arrays.

    Example::

        >>> import gradpack as torch
        >>> from gradpack import extend{example}"""

elementwise = _declared("elementwise")
linear = _declared("linear")
bilinear = _declared("bilinear")
general = _declared("general")
nondifferentiable = _declared("nondifferentiable")


def _attach(name: str, call: Function) -> None:
    setattr(Tensor, name, call)

    def undo() -> None:
        if hasattr(Tensor, name):
            delattr(Tensor, name)

    added.note(f"method {name}", undo)


def method(call: Function | None = None, *, name: str | None = None) -> Any:
    """Make a function of tensors a method of `Tensor`: a decorator.

    Args:
        call: the function. Without it, a decorator is returned.
        name: the name; that of the function, unless given.

    Raises:
        ValueError: if `Tensor` has the name.

    Example::

        >>> import gradpack as torch
        >>> from gradpack import extend
        >>> @extend.method
        ... def halved(self):
        ...     return self / 2
        >>> torch.ones(2).halved()
        tensor([0.5000, 0.5000])
        >>> extend.remove("halved")
    """
    if call is None:
        return lambda given: method(given, name=name)
    known = name or call.__name__
    _check_name("method", known)
    if hasattr(Tensor, known):
        added.refuse("method", known, "Tensor")
    _attach(known, call)
    return call


def function(call: Function | None = None, *, name: str | None = None) -> Any:
    """Make a function one of the module `gradpack`: a decorator.

    Args:
        call: the function. Without it, a decorator is returned.
        name: the name; that of the function, unless given.

    Raises:
        ValueError: if gradpack has the name.

    Example::

        >>> import gradpack as torch
        >>> from gradpack import extend
        >>> @extend.function
        ... def third(x):
        ...     return x / 3
        >>> torch.third(torch.ones(1))
        tensor([0.3333])
        >>> extend.remove("third")
    """
    if call is None:
        return lambda given: function(given, name=name)
    known = name or call.__name__
    _check_name("function", known)
    if hasattr(_library(), known) or is_exported(known):
        added.refuse("function", known, "gradpack")
    vars(_library())[known] = PUBLIC[known] = call

    def undo() -> None:
        vars(_library()).pop(known, None)
        PUBLIC.pop(known, None)

    added.note(f"function {known}", undo)
    return call


# -- kernels --


def kernel(op: str | Function, backend: Backend = NUMPY) -> Callable[[Function], Function]:
    """Compute an operation by another body on the arrays of one library: a decorator.

    Args:
        op: the operation, or its name in the table of operations.
        backend: whose arrays; NumPy's by default.

    The body has the parameters of the operation's. Its gradient formulas stay. What was compiled with the old body
    by then, as a part of other operations, keeps it.

    Example::

        >>> import numpy as np, gradpack as torch
        >>> from gradpack import extend
        >>> @extend.kernel("relu")
        ... def relu(input):
        ...     return np.maximum(input, 0) + 100
        >>> torch.relu(torch.tensor([-1.0, 1.0]))
        tensor([100., 101.])
        >>> extend.remove("relu")
        >>> torch.relu(torch.tensor([-1.0, 1.0]))
        tensor([0., 1.])
    """
    found = _op(op)

    def decorate(body: Function) -> Function:
        what = f"kernel {found.name}"
        if what in added.known():
            added.refuse("kernel", found.name, "the table of kernels")
        names = Op(body, "general", {}, name=found.name).params
        if names != found.params:
            raise TypeError(
                f"extend.kernel(): the body of {found.name} takes ({', '.join(found.params)}), and this one takes "
                f"({', '.join(names)})"
            )
        before = backend._bound.get(found.forward)
        backend._bound[found.forward] = body

        def undo() -> None:
            if before is None:
                backend._bound.pop(found.forward, None)
            else:
                backend._bound[found.forward] = before
            _compile_again(found, backend)

        _compile_again(found, backend)
        added.note(what, undo)
        return body

    return decorate


def _compile_again(op: Op, backend: Backend) -> None:
    op.plans.clear()
    if backend is NUMPY and op.node_class is not None:
        kinds._materialise(op)


def _op(op: Any) -> Op:
    found = getattr(op, "op", None)
    if isinstance(op, str):
        found = next((REGISTRY[n] for n in (op, f"_{op}") if known_operation(n)), None)
    if not isinstance(found, Op):
        raise ValueError(f"extend.kernel(): {op!r} is no operation: extend.list_ops() names all")
    return found


# -- removal --


def remove(name: str) -> None:
    """Remove an addition by its name: operation, method, function, kernel, dtype, device.

    Tensors that it made stay, and so do graphs that it is in.

    Args:
        name: the name that it was added under.

    Raises:
        KeyError: if nothing was added under the name.

    Example::

        >>> import gradpack as torch
        >>> from gradpack import extend
        >>> @extend.method
        ... def doubled(self):
        ...     return self * 2
        >>> extend.remove("doubled")
        >>> hasattr(torch.Tensor, "doubled")
        False
    """
    own = [what for what in added.known() if what.split(" ", 1)[1] in (name, name + "_")]
    if not own:
        raise KeyError(f"extend.remove(): nothing was added under the name {name!r}")
    for what in reversed(own):
        added.undo(what)


@block
def registering() -> Iterator[None]:
    """`with extend.registering(): ...` removes the additions of the block at its end.

    Example::

        >>> import numpy as np, gradpack as torch
        >>> from gradpack import extend
        >>> with extend.registering():
        ...     @extend.elementwise(input=lambda g: 3 * g, method=True)
        ...     def tripled(input):
        ...         return 3 * input
        ...     print(torch.ones(2).tripled())
        tensor([3., 3.])
        >>> hasattr(torch.Tensor, "tripled")
        False
    """
    before = set(added.known())

    def take_away() -> None:
        for what in reversed([w for w in added.known() if w not in before]):
            added.undo(what)

    with surely(take_away):
        yield
