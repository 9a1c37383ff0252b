"""The arguments and settings of a call: compared with those of others, and taken apart by the text of a call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import MethodType
from typing import Any

from ..base import dtypes
from ..base.devices import _DEFAULTS
from ..base.modes import MODE, TRANSFORMS, Mode
from ..base.settings import FILLING
from ..base.tree import TreeSpec, tree_flatten
from ..core.tensor import Tensor
from ..nn._module.global_hooks import PRESENT
from ..optim._step_hooks import after_every_step, before_every_step
from .facts import TENSOR, Kept
from .python.guard import became
from .trees import flattened

MISSED = object()  # what a call returns where it does not fit


def plain_parameters(function: Any) -> tuple[str | None, ...]:
    """Return the names of the parameters of a function without `*args`, `**kwargs` and keyword-only ones, else ().

    Those that are positional-only are None: no keyword is.
    """
    code = function.__code__
    if code.co_kwonlyargcount or code.co_flags & (CO_VARARGS | CO_VARKEYWORDS):
        return ()
    names: tuple[str, ...] = code.co_varnames[: code.co_argcount]
    only = code.co_posonlyargcount
    return (*(None,) * only, *names[only:])[isinstance(function, MethodType) :]


def named_parameters(function: Any) -> tuple[list[str], list[str]]:
    """Return the names of the parameters that may be given by position, and of those by keyword only.

    Both are empty if others may be given, or one is positional-only or begins with "_".
    """
    code = function.__code__
    count, more = code.co_argcount, code.co_kwonlyargcount
    names = [*code.co_varnames[: count + more]]
    if code.co_flags & (CO_VARARGS | CO_VARKEYWORDS) or code.co_posonlyargcount or any(n[0] == "_" for n in names):
        return [], []
    return names[isinstance(function, MethodType) : count], names[count:]


def leaves_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], TreeSpec, list[Tensor]]:
    """Return the leaves of the arguments of a call, their structure, and the tensors among them."""
    if not kwargs and all(type(a) is Tensor for a in args):
        return list(args), plain_tree(len(args)), list(args)
    leaves, tree = flattened((args, kwargs))
    inputs = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
    for each in inputs:
        each._data  # noqa: B018 - one whose numbers are with JAX becomes a plain one
    return leaves, tree, inputs


def plain_tree(count: int) -> TreeSpec:
    """Return the structure of so many arguments by position."""
    found = _TREES.get(count)
    if found is None:
        found = _TREES[count] = tree_flatten(((None,) * count, {}))[1]
    return found


_TREES: dict[int, TreeSpec] = {}


def same_leaf(x: Any, y: Any) -> bool:
    """Return whether an argument is the one that was recorded, or a number that is equal."""
    return x is y or (type(x) is type(y) and type(x) in _EQUAL and x == y and repr(x) == repr(y))


_EQUAL = frozenset({int, float, bool, str, complex, bytes})


def is_known(tree: TreeSpec) -> bool:
    """Return whether arguments are in no other containers than tuples, lists and dicts."""
    return tree.type in (None, tuple, list, dict) and all(map(is_known, tree._children))


def taken_apart(
    name: str, tree: TreeSpec, leaves: Iterator[str], kind: str, name_of: Callable[[str, Any], str]
) -> list[str]:
    """Return lines that give the values in a container their names.

    Args:
        leaves: the names of those that are no containers.
        kind: the test that the container is one, or "".
        name_of: gives a value a name that begins so.
    """
    own: list[str] = []
    inner: list[str] = []
    for i, child in enumerate(tree._children):
        own.append(next(leaves) if child.type is None else f"{name}_{i}")
        if child.type is not None:
            test = f"type({own[-1]}) is not {child.type.__name__} or "
            inner += taken_apart(own[-1], child, leaves, test, name_of)
    found = f"{''.join(f'{each}, ' for each in own)}= {name}"
    if not own:
        return [f"if {kind}{name}: return MISSED"]
    if tree.type is not dict:
        return [f"if {kind}len({name}) != {len(own)}: return MISSED", found, *inner]
    keys = name_of("n", list(tree.context))
    return [f"if {kind}[*{name}] != {keys}: return MISSED", f"{found}.values()", *inner]


def other_call(kept: Kept, context: Any, leaves: list[Any], tree: TreeSpec) -> str:
    """Return what of a call is not as it was, tensors apart."""
    if kept.context != context:
        return "the grad mode, the default dtype or a setting of algorithms is another one"
    if tree != kept.tree:
        return "the number of arguments, their names or the structure of one is another one"
    for a, b in zip(leaves, kept.leaves, strict=True):
        if (b is TENSOR) is not isinstance(a, Tensor):
            return f"an argument is a {type(a).__name__}, and was a {'Tensor' if b is TENSOR else type(b).__name__}"
        if b is not TENSOR and not same_leaf(a, b):
            number = isinstance(a, int | float) and not isinstance(a, bool)
            return f"an argument was {became(b, a)} and is {became(a, b)}{': make a tensor of it' if number else ''}"
    return "arguments differ"


def same_leaves(a: list[Any], b: list[Any]) -> bool:
    """Return whether arguments are those that were recorded: tensors where there were some, and equal others."""
    return all(isinstance(x, Tensor) if y is TENSOR else same_leaf(x, y) for x, y in zip(a, b, strict=True))


def context() -> Any:
    """Return the settings that programs depend on; None where only eager calls are right."""
    settings = settings_of(MODE.get())
    if settings is None or TRANSFORMS.get():
        return None
    if is_elsewhere(_DEFAULTS.get()):
        return None
    if PRESENT or before_every_step or after_every_step:  # hooks of all modules, and of all optimizers
        return None
    return settings, dtypes._default, FILLING[0]


def settings_of(mode: Mode) -> Any:
    """Return what of a mode programs depend on; None for modes in which operations do more than to compute."""
    if not mode.plain:
        return None
    return mode.grad, mode.inference, None if mode.autocast is None else mode.autocast.settings


def is_elsewhere(devices: tuple[Any, ...]) -> bool:
    """Return whether one of the default devices is not the CPU."""
    return any(device.type != "cpu" for device in devices)
