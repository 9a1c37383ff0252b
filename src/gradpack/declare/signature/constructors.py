"""The errors of public classes that are made with wrong arguments: they name the class, and list its parameters.

Python's own message names the class in which `__init__` is defined, which may be a private base, and lists nothing.
Here `__init__` of each public class is a function of its own, which passes its arguments on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping
from functools import update_wrapper
from inspect import Parameter, signature
from types import FunctionType
from typing import Any

from .arguments import taken, unexpected

# From Python 3.13 on, a name that is like the other one follows.
_UNKNOWN = re.compile(r"[\w.<>]+\(\) got an unexpected keyword argument '(.*?)'(\. Did you mean '.*'\?)?")
_COUNT = re.compile(r"([\w.<>]+)\(\) ((missing|takes) .*)")


def explain_constructors(names: Iterable[Any]) -> None:
    """Let classes say which parameters they take, where they are given others. What is no class is passed over."""
    for cls in names:
        if isinstance(cls, type) and cls.__module__.startswith("gradpack.") and not _explains(cls):
            init = _inside(cls)
            if type(init) is FunctionType and not _takes_any(cls, init):
                owner: Any = cls
                owner.__init__ = _explaining(cls, init)


def _explains(cls: type) -> bool:
    return hasattr(vars(cls).get("__init__"), "inside")


def _inside(cls: Any) -> Any:
    """Return `__init__` as it is written."""
    return getattr(cls.__init__, "inside", cls.__init__)


def _takes_any(cls: type, init: FunctionType) -> bool:
    """Return whether a class takes any arguments, and its signature says nothing else."""
    any_number = init.__code__.co_argcount == 1 and init.__code__.co_flags & 0x0C == 0x0C  # `*args` and `**kwargs`
    return any_number and not (hasattr(cls, "__signature__") or hasattr(init, "__signature__"))


def _explaining(cls: type, init: FunctionType) -> Callable[..., None]:
    def explaining_init(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            init(self, *args, **kwargs)
        except TypeError as error:
            mro = type(self).__mro__
            if next(c for c in mro if _explains(c)) is not cls:
                raise  # of a base: the class itself explains it
            inside = {_inside(c).__qualname__ for c in mro}
            found = explained(f"{cls.__qualname__}.__init__", inside, cls, kwargs, error)
            if found is None:
                raise
            raise found from None

    made: Any = update_wrapper(explaining_init, init)
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    made.inside = init
    return made


def explained(
    called: str, inside: Container[str], shown: Callable[..., Any], given: Mapping[str, Any], error: TypeError
) -> TypeError | None:
    """Return the error to raise in place of Python's for a call with wrong arguments; None for any other error.

    Args:
        called: the name of what was called.
        inside: the names by which Python's message may call it.
        shown: what has the signature that users see.
        given: the keywords of the call.
    """
    text = str(error)
    unknown = _UNKNOWN.fullmatch(text)
    counted = _COUNT.fullmatch(text)
    if unknown is None and (counted is None or counted[1] not in inside):
        return None
    parameters = dict(signature(shown).parameters)
    parameters.pop("self", None)
    if unknown is None:
        assert counted is not None
        return TypeError(f"{called}() {counted[2]}. It takes\n * {taken(parameters)}")
    name = unknown[1].partition("'")[0]
    if name not in given or name in parameters:
        return None
    known = {n: p for n, p in parameters.items() if p.kind not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)}
    return unexpected(called, parameters, [name]) if known else None
