"""`torch.compile` and the names of `torch.compiler`: a function becomes a program of NumPy's calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = [
    "allow_in_graph", "assume_constant_result", "compile", "disable", "is_compiling", "is_dynamo_compiling",
    "is_exporting", "list_backends", "many", "reset",
]  # fmt: skip

F = TypeVar("F", bound=Callable[..., Any])
_BACKENDS = ("numpy", "inductor", "jax", "eager", "aot_eager")


def compile(
    model: Any = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str | Callable[..., Any] = "numpy",
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
) -> Any:
    """Return a function that records what happens to arrays, and from then on runs that as a program.

    The first call runs as it is, the second is recorded, and the third runs both ways, which have to agree. A program
    is used as long as all that Python looked at is the same: arguments but for the values of tensors, shapes, what the
    function can reach, and the values of tensors that it asked for. Where it is not, another program is made; where
    there can be none, the function runs as it is, with one warning that says why. A step may call `backward` and
    optimizers.

    Args:
        model: a function or a module; without it, `compile` returns a decorator.
        fullgraph: raise an error where a call cannot become a program.
        dynamic: without effect: each shape has a program.
        backend: "numpy", or one of torch's names for it. "jax" gives the program to XLA. "eager" runs the function.
        mode: without effect.
        options: for "jax" `{"place": ...}`, see `docs/compile.md`; else without effect.
        disable: return `model` as it is.

    Returns:
        A callable with the attribute `source`, the text of the program, and the method `explain()`.

    Raises:
        RuntimeError: for an unknown backend.
        ImportError: for "jax" where JAX is not installed.

    Example::

        >>> import gradpack as torch
        >>> w = torch.ones(2, requires_grad=True)
        >>> optimizer = torch.optim.SGD([w], lr=0.1)
        >>> @torch.compile
        ... def step(x):
        ...     optimizer.zero_grad()
        ...     loss = (w * x).sum()
        ...     loss.backward()
        ...     optimizer.step()
        ...     return loss
        >>> for _ in range(4):
        ...     loss = step(torch.tensor([1.0, 2.0]))
        >>> loss
        tensor(1.5000, grad_fn=<CompiledFunctionBackward>)
        >>> print(step.source.splitlines()[0])
        def bind(w):
    """
    if model is None:
        return lambda model: compile(
            model, fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode, options=options, disable=disable
        )
    if not callable(backend) and backend not in _BACKENDS:
        raise RuntimeError(
            f"Invalid backend: {backend!r}, see `torch.compiler.list_backends()` for available backends."
        )
    if disable or callable(backend) or backend in ("eager", "aot_eager"):
        return model
    if not callable(model):
        raise RuntimeError(f"compile expects a function or a module, but got {type(model).__name__}")
    from ..nn import Module
    from .compiled import Compiled
    from .module import OptimizedModule

    if backend == "jax":
        from .jax import compiled_by_jax

        made: Compiled = compiled_by_jax(model, fullgraph, options or {})
    else:
        made = Compiled(model, fullgraph)
    return OptimizedModule(model, made) if isinstance(model, Module) else made


DISABLED: set[Any] = set()  # the code of functions that no program may call


def disable(fn: F | None = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """Return the function; a call of it while a function is recorded lets that one run without a program."""
    if fn is None:
        return lambda fn: disable(fn, recursive, reason=reason)
    code = getattr(fn, "__code__", None)
    if code is not None:
        DISABLED.add(code)
    return fn


def is_compiling() -> bool:
    """Return whether a function is being recorded."""
    import sys

    module = sys.modules.get(f"{__name__}.recording")
    return module is not None and module.current() is not None


def is_dynamo_compiling() -> bool:
    """Return whether a function is being recorded."""
    return is_compiling()


def is_exporting() -> bool:
    """Return False: there is no export."""
    return False


def allow_in_graph(fn: F) -> F:
    """Return the function: all that it does to tensors is recorded."""
    return fn


def assume_constant_result(fn: F) -> F:
    """Return the function: its results are guarded as others are."""
    return fn


def list_backends(exclude_tags: tuple[str, ...] = ("debug", "experimental")) -> list[str]:
    """Return the names of backends."""
    return ["inductor", "jax", "numpy"]


def reset() -> None:
    """Drop all programs: functions are recorded again."""
    import sys

    module = sys.modules.get(f"{__name__}.compiled")
    for compiled in [] if module is None else list(module.ALL):
        compiled.reset()


def many(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of stacked tensors that calls `function` for each slice, and stacks the results.

    Where `function` was compiled with `backend="jax"` and its program is known, all calls are one scan of XLA's.

    Args:
        function: takes tensors by position, and returns tensors, in lists, tuples or dicts.

    Example::

        >>> import gradpack as torch
        >>> torch.compiler.many(lambda x: (x * 2).sum())(torch.ones(3, 2))
        tensor([4., 4., 4.])
    """
    from .stacked import called

    return lambda *stacked: called(function, stacked)
