"""`torch.jit` without a compiler: what is scripted or traced is the function or module itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from ....nn import Module
from .refuse import refused


def _identity(obj: Any) -> Any:
    return obj


def _given(obj: Any = None, *args: Any, **kwargs: Any) -> Any:
    """Return the argument unchanged; a decorator if there is none."""
    return _identity if obj is None else obj


script = trace = trace_module = freeze = optimize_for_inference = script_if_tracing = interface = _given
ignore = unused = export = script_method = _overload = _overload_method = _given
set_module = _given


class ScriptModule(Module):
    """A module; none is compiled."""


class RecursiveScriptModule(ScriptModule):
    """Type of a scripted module, for `isinstance`; here `torch.jit.script` returns the module itself."""


class ScriptFunction:
    """Type of a scripted function, for `isinstance`; here `torch.jit.script` returns the function itself."""


load, save = refused("jit.load"), refused("jit.save")


def Attribute(value: Any, type: Any) -> Any:  # noqa: N802 - torch's name
    """Return the value unchanged."""
    return value


def annotate(the_type: Any, the_value: Any) -> Any:
    """Return the value unchanged."""
    return the_value


def isinstance(obj: Any, target_type: Any) -> bool:
    """As Python's, for types that it has."""
    import builtins

    return builtins.isinstance(obj, target_type)


def is_scripting() -> bool:
    """Whether a compiler reads the code: no."""
    return False


is_tracing = is_scripting


def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call `func` synchronously and return its result in place of a future."""
    return func(*args, **kwargs)


def wait(future: Any) -> Any:
    """Return the result of `fork`, which is complete already."""
    return future


@contextmanager
def optimized_execution(should_optimize: bool) -> Iterator[None]:
    """Do nothing: nothing is optimized."""
    yield


@contextmanager
def fuser(name: str) -> Iterator[None]:
    """Do nothing: nothing is fused."""
    yield


def enable_onednn_fusion(enabled: bool) -> None:
    """Do nothing: nothing is fused."""


def boolean_dispatch(
    arg_name: str, arg_index: int, default: bool, if_true: Any, if_false: Any, module_name: str, func_name: str
) -> Any:
    """Return a function that calls one of two, chosen by a boolean argument."""

    def chosen(*args: Any, **kwargs: Any) -> Any:
        flag = kwargs.get(arg_name, args[arg_index] if len(args) > arg_index else default)
        return (if_true if flag else if_false)(*args, **kwargs)

    return chosen


__all__ = [
    "Attribute",
    "Final",
    "ScriptFunction",
    "ScriptModule",
    "annotate",
    "export",
    "fork",
    "freeze",
    "ignore",
    "interface",
    "is_scripting",
    "is_tracing",
    "isinstance",
    "load",
    "optimize_for_inference",
    "save",
    "script",
    "script_if_tracing",
    "script_method",
    "trace",
    "trace_module",
    "unused",
    "wait",
]
