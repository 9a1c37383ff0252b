"""The stack of module calls in progress: recorded only while some hook or recorder asks for it."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, ParamSpec, Protocol, TypeVar
from weakref import ref


class Call:
    """One call of a module, and the call that it is part of. Keeps no module alive."""

    __slots__ = ("_path", "module", "outer")

    def __init__(self, module: Any, outer: Call | None) -> None:
        self.module, self.outer = ref(module), outer
        self._path: str | None = None

    @property
    def path(self) -> str:
        """The module's name within the outermost one that was called: "blocks.0.mlp"; "" for that one itself.

        A module that is no part of those around it goes by the name of its class.
        """
        if self._path is None:
            self._path = self._find()
        return self._path

    def _find(self) -> str:
        module, outer = self.module(), self.outer
        if outer is None or module is None:
            return ""
        around: Call | None = outer
        while around is not None:
            name = _name_within(around.module(), module)
            if name is not None:
                return ".".join(part for part in (around.path, name) if part)
            around = around.outer
        return ".".join(part for part in (outer.path, type(module).__name__) if part)


def _name_within(outer: Any, module: Any) -> str | None:
    if outer is None:
        return None
    for name, child in outer.__dict__["_modules"].items():  # the usual case
        if child is module:
            return str(name)
    return next((str(name) for name, child in outer.named_modules() if child is module), None)


CALLS: ContextVar[Call | None] = ContextVar("gradpack module calls", default=None)


def no_arguments(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Return the error of a module that is made with arguments and takes none."""
    if kwargs:
        return f"{name}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}': it takes no arguments"
    return f"{name}.__init__() takes 1 positional argument but {1 + len(args)} were given: it takes no arguments"


TYPE_CHECKING = False  # type checkers take it for true; editors, which follow `forward`, for what it is

_P = ParamSpec("_P")
_R_co = TypeVar("_R_co", covariant=True)

if TYPE_CHECKING:

    class _Forward(Protocol[_P, _R_co]):
        """A module, for the question what a call takes."""

        def forward(self, *args: _P.args, **kwargs: _P.kwargs) -> _R_co: ...

    class Called:
        """A call, as type checkers see it: it has the parameters of `forward`, and its result."""

        def __call__(self: _Forward[_P, _R_co], *args: _P.args, **kwargs: _P.kwargs) -> _R_co: ...

else:
    Called = object


def not_a_module(value: Any) -> TypeError:
    """Return the error for a value in the place of a module."""
    if isinstance(value, type):
        return TypeError(f"{value.__qualname__} is not a Module subclass, but a class: write {value.__name__}(...)")
    if callable(value) and hasattr(value, "__name__"):
        return TypeError(f"{value.__name__} is not a Module subclass, but a function: it needs a Module that calls it")
    return TypeError(f"{type(value).__name__} is not a Module subclass")
