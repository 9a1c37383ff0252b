"""Reports on operations: their names, their properties, and which names of torch exist here."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from functools import cache
from operator import attrgetter
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

from ..core.properties import TensorBase
from ..declare.generate.inline import _definition
from ..declare.op import PUBLIC, REGISTRY, Op
from ..declare.signature.arguments import taken
from ..ops import methods


class OpInfo(NamedTuple):
    """Description of one operation.

    Attributes:
        name: its name; `gradpack.<name>` where `path` says so.
        path: where users find it: "gradpack.sin", "Tensor.copy_", or "" for a part of others.
        kind: "elementwise", "linear", "bilinear", "general", or "composition" of others.
        signature: its parameters, as text.
        inputs: those that gradients go to.
        formulas: for each input, the text of its formula.
        jvp: how a tangent goes through: "declared", "by its kind", "by its meaning", "derived", or "" for not at all.
        dtypes: the categories of dtypes that it takes.
        result: the rule for the dtype of its result.
        view: whether the result shares memory with the input: True, False or "maybe".
        node: the name of its node in the graph.
        parts: of a composition, the declared operations that it calls, directly or not.
        doc: the first sentence of its documentation.

    Example::

        >>> import gradpack as torch
        >>> from gradpack import extend
        >>> info = extend.get_op_info("matmul")
        >>> info.path, info.kind, info.inputs, info.node
        ('gradpack.matmul', 'bilinear', ('input', 'other'), 'MmBackward0')
        >>> info.differentiable, info.result, info.view
        (True, 'same', False)
        >>> extend.get_op_info("linalg.norm").kind
        'composition'
    """

    name: str
    path: str
    kind: str
    signature: str
    inputs: tuple[str, ...]
    formulas: dict[str, str]
    jvp: str
    dtypes: tuple[str, ...]
    result: str | None
    view: bool | str
    node: str
    parts: tuple[str, ...]
    doc: str

    @property
    def differentiable(self) -> bool:
        """Whether a gradient goes through it; of a composition, through any of its parts."""
        return bool(self.inputs) or any(REGISTRY[p].inputs for p in self.parts)


def list_ops(kind: str | None = None) -> list[str]:
    """The names of all operations, sorted.

    Args:
        kind: only those of this kind: "elementwise", "linear", "bilinear", "general", "composition".

    Example::

        >>> from gradpack import extend
        >>> [name for name in extend.list_ops("bilinear") if name.startswith("m")][:3]
        ['matmul', 'mm', 'mv']
    """
    methods.load_all()
    names = sorted({n for n in (*PUBLIC, *REGISTRY) if not n.startswith("_") and _function(n) is not None})
    return names if kind is None else [n for n in names if get_op_info(n).kind == kind]


def _function(name: str) -> Callable[..., Any] | None:
    found = PUBLIC.get(name)
    if isinstance(found, FunctionType):
        return found
    op = REGISTRY.get(name)
    return None if op is None else op.public


# Where users find functions that are no operations by themselves, in the order in which a bare name is looked up.
_PLACES = ("", "nn.functional", "Tensor", "linalg", "fft", "special", "func", "autograd", "utils.checkpoint", "nn.init")
_SHORT = {"F": "nn.functional", "functional": "nn.functional"}


def list_functions() -> list[str]:
    """The paths of the functions and methods of tensors that users call, sorted.

    Example::

        >>> from gradpack.extend.report import list_functions
        >>> {"sin", "linalg.svd", "nn.functional.cross_entropy", "Tensor.add_"} <= {*list_functions()}
        True
    """
    methods.load_all()
    found = set()
    for place in _PLACES:
        space = _at(place)
        for name in getattr(space, "__all__", None) or dir(space):
            if name[0] != "_" and isinstance(getattr(space, name, None), FunctionType):
                found.add(f"{place}.{name}".lstrip("."))
    return sorted(found)


def _at(path: str) -> Any:
    import gradpack

    return attrgetter(path)(gradpack) if path else gradpack


def _called(name: str) -> tuple[str, Callable[..., Any]] | None:
    """Return the path and the function that users mean by a name: `F.gelu`, `torch.linalg.svd`, `Tensor.to`."""
    first, _, rest = name.removeprefix("torch.").removeprefix("gradpack.").partition(".")
    path = f"{_SHORT.get(first, first)}.{rest}" if rest else first
    for place in _PLACES:
        full = f"{place}.{path}".lstrip(".")
        try:
            found = _at(full)
        except AttributeError:
            continue
        if isinstance(found, FunctionType):
            return f"gradpack.{full}".removeprefix("gradpack." if place == "Tensor" or first == "Tensor" else ""), found
    return None


def get_op_info(name: str) -> OpInfo:
    """Return the description of an operation, or of a function by a name that users call it: "linalg.svd", "F.gelu".

    Args:
        name: the name of an operation or a function.

    Raises:
        KeyError: if there is none of the name; it names those that are near.

    Example::

        >>> from gradpack import extend
        >>> info = extend.get_op_info("sin")
        >>> info.kind, info.inputs, info.formulas["input"], info.jvp
        ('elementwise', ('input',), 'g * cos(input)', 'by its kind')
    """
    methods.load_all()
    function, path = _function(name), ""
    called = _called(name) if function is None else None
    if called is not None:
        path, function = called
    if function is None:
        from difflib import get_close_matches

        near = get_close_matches(name, {*list_ops(), *list_functions()}, 3)
        hint = f": did you mean {', '.join(near)}?" if near else ""
        raise KeyError(f"get_op_info(): there is no operation {name!r}{hint}")
    op: Op | None = getattr(function, "op", None) or REGISTRY.get(name)
    if not path:
        path = f"gradpack.{name}" if name in PUBLIC else f"Tensor.{name}" if hasattr(TensorBase, name) else ""
    try:
        signature = str(taken(inspect.signature(function).parameters))
    except (TypeError, ValueError):
        signature = "(...)"
    doc = (inspect.getdoc(function) or "").split("\n\n")[0].replace("\n", " ")
    if op is None:
        parts = tuple(sorted(_parts(function)))
        jvp = "by its parts" if any(REGISTRY[p].inputs for p in parts) else ""
        return OpInfo(name, path, "composition", signature, (), {}, jvp, (), None, False, "", parts, doc)
    dtypes, node = tuple(_CATEGORIES[letter] for letter in op.dtypes), op.node_name if op.inputs else ""
    facts = op.kind, signature, op.inputs, _formulas(op), _jvp(op), dtypes, op.result, op.view, node
    return OpInfo(name, path, *facts, (), doc)


_CATEGORIES = {"b": "bool", "i": "integral", "f": "floating", "F": "floating but not of 16 bits", "c": "complex"}


def _jvp(op: Op) -> str:
    if not op.inputs or op.jvp is not None:
        return "declared" if op.inputs else ""
    return "by its meaning" if op.decomposition is not None else "derived" if op.kind == "general" else "by its kind"


def _formulas(op: Op) -> dict[str, str]:
    if op.joint_vjp is not None:
        return dict.fromkeys(op.inputs, _name_of(op.joint_vjp))
    tree = _definition(op.forward)
    found = {}
    for decorator in [] if tree is None else tree.decorator_list:
        for keyword in decorator.keywords if isinstance(decorator, ast.Call) else ():
            if keyword.arg in op.formulas:
                value = keyword.value
                text = ast.unparse(value.body if isinstance(value, ast.Lambda) else value)
                found[keyword.arg] = text.replace("late.", "")
    return {p: found.get(p) or _name_of(f) for p, f in op.formulas.items()}


def _name_of(function: Any) -> str:
    return getattr(function, "__name__", repr(function))


@cache
def _parts(function: FunctionType) -> frozenset[str]:
    """Return the names of declared operations that a function calls, directly or through compositions."""
    found: set[str] = set()
    seen: set[Any] = set()
    stack: list[Any] = [function]
    while stack:
        item = stack.pop()
        if item in seen:
            continue
        seen.add(item)
        item = getattr(item, "inside", item)  # behind the form that users call
        op = getattr(item, "op", None)
        if isinstance(op, Op):
            found.add(op.name)
        elif isinstance(item, FunctionType) and (item.__module__ or "").startswith("gradpack"):
            code = [item.__code__]
            while code:
                one = code.pop()
                code.extend(c for c in one.co_consts if isinstance(c, type(one)))
                stack += [f for f in _named_in(one, item.__globals__) if f not in seen]
    return frozenset(n for n in found if n in REGISTRY)


def _named_in(code: CodeType, names: dict[str, Any]) -> Iterator[FunctionType]:
    """Yield the functions that code names: of its module, of modules that it names, and methods of tensors."""
    named = (names.get(n) for n in code.co_names)
    spaces = [s for s in named if isinstance(s, ModuleType) and s.__name__.startswith("gradpack.ops")]
    for name in code.co_names:
        own = names.get(name) or vars(TensorBase).get(name)
        for found in (own, *(vars(s).get(name) for s in spaces)):
            if isinstance(found, FunctionType):
                yield found


def has_op(name: str) -> bool:
    """Whether there is an operation of the name.

    Args:
        name: the name.

    Example::

        >>> from gradpack import extend
        >>> extend.has_op("sin"), extend.has_op("sinn")
        (True, False)
    """
    methods.load_all()
    return not name.startswith("_") and _function(name) is not None


def has_vjp(name: str) -> bool:
    """Whether gradients go through an operation.

    Args:
        name: the name of the operation.

    Example::

        >>> from gradpack import extend
        >>> extend.has_vjp("sin"), extend.has_vjp("argmax")
        (True, False)
    """
    return has_op(name) and get_op_info(name).differentiable


def has_jvp(name: str) -> bool:
    """Whether forward mode goes through an operation.

    Args:
        name: the name of the operation.

    Example::

        >>> from gradpack import extend
        >>> extend.has_jvp("sin"), extend.has_jvp("argmax")
        (True, False)
    """
    return has_op(name) and bool(get_op_info(name).jvp)


def coverage() -> dict[str, bool]:
    """Each path of torch that this project has set out to provide, and whether it is there.

    Example::

        >>> from gradpack import extend
        >>> extend.coverage()["torch.nn.functional.relu"]
        True
    """
    return {path: _exists(path) for path in paths()}


def _exists(path: str) -> bool:
    import gradpack

    try:
        attrgetter(path.partition(".")[2])(gradpack)
    except AttributeError:
        return False
    return True


def sections(file: Path) -> dict[str, list[str]]:
    """Return the entries of a list of names by section; continuation lines belong to the entry before."""
    found: dict[str, list[str]] = {}
    entries: list[str] = []
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("#") or not line:
            continue
        if line.startswith("["):
            entries = found.setdefault(line.strip("[]").removesuffix("] autograd"), [])
        elif line.startswith("  "):
            entries[-1] += " " + line.strip()
        else:
            entries.append(line)
    return found


@cache
def paths() -> tuple[str, ...]:
    """Return every path of torch that is to exist here, sorted."""
    listed = sections(Path(__file__).with_name("names.txt")).items()
    names = (
        (place, word.partition("=")[0]) for place, entries in listed for entry in entries for word in entry.split()
    )
    return tuple(sorted({f"{place}.{name}" for place, name in names}))
