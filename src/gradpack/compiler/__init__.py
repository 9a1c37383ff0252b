"""`torch.compile` and the names of `torch.compiler`: a function becomes a program of NumPy's calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .unrecorded import DISABLED, set_stance

__all__ = [
    "allow_in_graph", "assume_constant_result", "compile", "disable", "get_default_backend", "is_compiling",
    "is_dynamo_compiling", "is_exporting", "list_backends", "many", "reset", "set_default_backend", "set_stance",
    "wrap_numpy",
]  # fmt: skip

F = TypeVar("F", bound=Callable[..., Any])
_BACKENDS = ("numpy", "inductor", "jax", "eager", "aot_eager")
_MODES = ("default", "lite", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune")
_DEFAULT: list[str | Callable[..., Any]] = ["inductor"]  # the backend of functions that are compiled without one
_AT_ONCE = _MODES[2:]  # loops on small arrays are compiled


def compile(
    model: Any = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str | Callable[..., Any] | None = None,
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    name: str | None = None,
    disable: bool = False,
    recompile_limit: int | None = None,
    isolate_recompiles: bool = False,
    shapes_spec: Any = None,
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
        backend: "numpy", or torch's name for it, "inductor". "jax" gives the program to XLA. "eager" runs the function.
            If not given, that of `set_default_backend`.
        mode: with "reduce-overhead" and "max-autotune", loops on small arrays are compiled at once, where Numba is
            installed; else after 16 calls of a program of a hundred steps, and some ten thousand of a shorter one.
        options: for "jax" `{"place": ...}`, see `docs/compile.md`; else without effect.
        name: without effect.
        disable: return `model` as it is.
        recompile_limit: how many programs there may be before the function runs as it is: 8, if not given.
        isolate_recompiles: without effect: each call of `compile` has programs of its own.
        shapes_spec: without effect: each shape has a program.

    Returns:
        A callable with the attribute `source`, the text of the program, and the method `explain()`.

    Raises:
        RuntimeError: for an unknown backend or mode, or if both `mode` and `options` are given.
        AssertionError: for what is neither a function nor a module.
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
            model, fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode, options=options, name=name,
            disable=disable, recompile_limit=recompile_limit,
        )  # fmt: skip
    backend = _DEFAULT[0] if backend is None else backend
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    if mode is not None and mode not in _MODES:
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(_MODES)}")
    if not callable(backend) and backend not in _BACKENDS:
        raise RuntimeError(
            f"Invalid backend: {backend!r}, see `torch.compiler.list_backends()` for available backends."
        )
    if disable or callable(backend) or backend in ("eager", "aot_eager"):
        return model
    if not callable(model):
        raise AssertionError(f"compile(): a callable function is expected, or a module, but {type(model)} is provided")
    from ..nn import Module
    from .compiled import Compiled
    from .module import OptimizedModule

    if backend == "jax":
        from .jax import compiled_by_jax

        made: Compiled = compiled_by_jax(model, fullgraph, options or {})
    else:
        made = Compiled(model, fullgraph)
    made.at_once = mode in _AT_ONCE
    if recompile_limit is not None:
        made.limit = recompile_limit
    return OptimizedModule(model, made) if isinstance(model, Module) else made


def disable(fn: F | None = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """Return the function; a call of it while a function is recorded lets that one run without a program.

    Args:
        fn: the function. Without it, a decorator is returned.
        recursive: accepted, and of no effect: a caller runs as it is, with all that `fn` calls.
        reason: accepted, and of no effect: why, for whoever reads the code.

    Example::

        >>> import warnings, gradpack as torch
        >>> @torch.compiler.disable
        ... def total(x):
        ...     return x.sum()
        >>> double = torch.compile(lambda x: total(x) * 2)
        >>> with warnings.catch_warnings(action="ignore"):  # that there is no program
        ...     results = [double(torch.ones(2)) for _ in range(3)]
        >>> results[-1], double.source
        (tensor(4.), '')
    """
    if fn is None:
        return lambda fn: disable(fn, recursive, reason=reason)
    code = getattr(fn, "__code__", None)
    if code is not None:
        DISABLED[id(code)] = code
    return fn


def is_compiling() -> bool:
    """Return whether a function is being recorded: `compile` records the second call.

    Example::

        >>> import gradpack as torch
        >>> @torch.compile
        ... def double(x):
        ...     if not torch.compiler.is_compiling():
        ...         print("runs as it is")
        ...     return x * 2
        >>> y = double(torch.ones(2))
        runs as it is
        >>> y = double(torch.ones(2))
    """
    import sys

    module = sys.modules.get(f"{__name__}.recording")
    return module is not None and module.current() is not None


def is_dynamo_compiling() -> bool:
    """Return whether a function is being recorded: the same as `is_compiling`.

    Example::

        >>> import gradpack as torch
        >>> torch.compiler.is_dynamo_compiling()
        False
    """
    return is_compiling()


def is_exporting() -> bool:
    """Return False: there is no export.

    Example::

        >>> import gradpack as torch
        >>> torch.compiler.is_exporting()
        False
    """
    return False


def allow_in_graph(fn: Any) -> Any:
    """Return the function: all that it does to tensors is recorded.

    Args:
        fn: a function, or a list or tuple of functions.

    Raises:
        AssertionError: for anything else.

    Example::

        >>> import gradpack as torch
        >>> @torch.compiler.allow_in_graph
        ... def half(x):
        ...     return x / 2
        >>> torch.compile(lambda x: half(x) + 1)(torch.ones(2))
        tensor([1.5000, 1.5000])
    """
    assert callable(fn) or isinstance(fn, list | tuple), "allow_in_graph expects a callable"
    return fn


def assume_constant_result(fn: F) -> F:
    """Return the function: its results are guarded as others are, and programs do not depend on the promise.

    Args:
        fn: a function that is said to return the same each time.

    Example::

        >>> import gradpack as torch
        >>> @torch.compiler.assume_constant_result
        ... def factor():
        ...     return 3.0
        >>> torch.compile(lambda x: x * factor())(torch.ones(2))
        tensor([3., 3.])
    """
    return fn


def list_backends(exclude_tags: tuple[str, ...] = ("debug", "experimental")) -> list[str]:
    """Return the names that `compile` takes as `backend`: "inductor" is torch's name for "numpy".

    Args:
        exclude_tags: accepted, and of no effect: backends have no tags here.

    Example::

        >>> import gradpack as torch
        >>> torch.compiler.list_backends()
        ['inductor', 'jax', 'numpy']
    """
    return ["inductor", "jax", "numpy"]


def get_default_backend() -> str | Callable[..., Any]:
    """Return the backend that `compile` takes where none is given.

    Example::

        >>> import gradpack as torch
        >>> torch.compiler.get_default_backend()
        'inductor'
    """
    return _DEFAULT[0]


def set_default_backend(backend: str | Callable[..., Any] | None) -> None:
    """Set the backend that `compile` takes where none is given.

    Args:
        backend: as that of `compile`; None: "inductor".

    Raises:
        TypeError: for what is neither a string nor callable.

    Example::

        >>> import gradpack as torch
        >>> torch.compiler.set_default_backend("eager")
        >>> square = torch.compile(torch.square)
        >>> torch.compiler.set_default_backend(None)
        >>> square is torch.square
        True
    """
    if not (backend is None or isinstance(backend, str) or callable(backend)):
        raise TypeError(f"backend must be a string or callable, got {type(backend)}")
    _DEFAULT[0] = "inductor" if backend is None else backend


def wrap_numpy(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of tensors that calls a function of NumPy's arrays: results that are arrays become tensors.

    Args:
        fn: takes and returns arrays of NumPy's, in nested containers.

    Example::

        >>> import gradpack as torch
        >>> @torch.compiler.wrap_numpy
        ... def total(x):
        ...     return x.sum(0)
        >>> total(torch.ones(3, 2))
        tensor([3., 3.])
    """
    from functools import wraps

    from ..core.tensor import Tensor
    from ..ops.create.create import as_tensor
    from ..utils._pytree import tree_map, tree_map_only

    @wraps(fn)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = tree_map_only(Tensor, Tensor.numpy, (args, kwargs))
        return tree_map(lambda value: as_tensor(value) if _is_numpy(value) else value, fn(*args, **kwargs))

    return wrapper


def _is_numpy(value: Any) -> bool:
    return type(value).__module__ == "numpy" and hasattr(value, "__array_interface__")


def reset() -> None:
    """Drop all programs: functions are recorded again.

    Example::

        >>> import gradpack as torch
        >>> double = torch.compile(lambda x: x * 2)
        >>> results = [double(torch.ones(2)) for _ in range(3)]
        >>> torch.compiler.reset()
        >>> double.source
        ''
    """
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
