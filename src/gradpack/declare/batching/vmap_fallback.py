"""`vmap` of functions that read values: a call per example, or one call with the batch dimension folded."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from ...base.callers import depth_of_user
from ...base.modes import MODE, Mode
from ...core.tensor import Tensor
from ..op import REGISTRY
from .batch_tensor import below, expanded, is_batched

_F = TypeVar("_F", bound=Callable[..., Any])
_warned: set[str] = set()


def warn_of_loop(name: str) -> None:
    """Say once that an operation has no rule."""
    if name not in _warned:
        _warned.add(name)
        warnings.warn(
            "There is a performance drop because we have not yet implemented the batching rule for "
            f"aten::{name}. Please file us an issue on GitHub so that we can prioritize its implementation. (vmap "
            "loops over the examples.)",
            UserWarning,
            stacklevel=depth_of_user(),
        )


def dynamic_shape(name: str) -> RuntimeError:
    return RuntimeError(
        "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over "
        f"aten::{name}. Please file an issue at https://github.com/pytorch/pytorch/issues if you need this feature."
    )


def each_example(function: _F) -> _F:
    """Decorate a function that reads values: under `vmap` it is called once per example."""

    @wraps(function)
    def call_each(*args: Any, **kwargs: Any) -> Any:
        mode = MODE.get()
        return function(*args, **kwargs) if not mode.levels else _for_each(call_each, mode, args, kwargs)

    call_each.usual = function  # type: ignore[attr-defined]
    return call_each  # type: ignore[return-value]


def looking_at(*names: str) -> Callable[[_F], _F]:
    """Decorate a function that reads the values of some arguments: it loops under `vmap` if one of these is batched."""

    def decorate(function: _F) -> _F:
        from inspect import signature

        places = [list(signature(function).parameters).index(name) for name in names]

        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            mode = MODE.get()
            if mode.levels:
                seen = [args[i] if i < len(args) else kwargs.get(n) for i, n in zip(places, names, strict=True)]
                if any(is_batched(t) for v in seen for t in (v if isinstance(v, list | tuple) else (v,))):
                    return _for_each(call, mode, args, kwargs)
            return function(*args, **kwargs)

        call.usual = function  # type: ignore[attr-defined]
        return call  # type: ignore[return-value]

    return decorate


def _for_each(call: Callable[..., Any], mode: Mode, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call outside the innermost level: once per example if it has batched an argument, else once."""
    level = mode.levels[-1]
    values = [*args, *kwargs.values()]
    flags = [[level.has(t) for t in v] if isinstance(v, list | tuple) else level.has(v) for v in values]
    outer = MODE.get()
    try:
        MODE.set(below(mode))
        if not any(any(f) if isinstance(f, list) else f for f in flags):
            return call(*args, **kwargs)
        warn_of_loop(call.__name__)
        bare = [
            list(map(level.unwrap, v)) if isinstance(f, list) else level.unwrap(v)
            for v, f in zip(values, flags, strict=True)
        ]
        columns = [
            examples(v, f if not isinstance(f, list) or any(f) else False, level.size)
            for v, f in zip(bare, flags, strict=True)
        ]
        n = len(args)
        rows = [call(*row[:n], **dict(zip(kwargs, row[n:], strict=True))) for row in zip(*columns, strict=True)]
        made = stacked(call.__name__, rows)
    finally:
        MODE.set(outer)
    return results(made, level.wrap)


def stacked(name: str, rows: list[Any]) -> Any:
    """Stack the results for each example; what is no tensor is that of the first."""
    if isinstance(rows[0], tuple):
        parts = [stacked(name, list(column)) for column in zip(*rows, strict=True)]
        return type(rows[0])(*parts) if hasattr(rows[0], "_fields") else tuple(parts)
    if not isinstance(rows[0], Tensor):
        return rows[0]
    if len({r._shape for r in rows}) > 1:
        raise dynamic_shape(name)
    return REGISTRY["stack"].public(rows, 0)


def results(made: Any, change: Callable[[Any], Any]) -> Any:
    """Apply `change` to a result, or to each item of a (named) tuple of results."""
    if isinstance(made, tuple):
        items = [change(m) for m in made]
        return type(made)(*items) if hasattr(made, "_fields") else tuple(items)
    return change(made)


def examples(value: Any, flag: Any, size: int) -> Any:
    """Split an argument into one per example; `flag` says whether it is batched, for a list each of its items."""
    if flag is True:
        return REGISTRY["unbind"].public(value, 0)
    if isinstance(flag, list):
        columns = [examples(v, f, size) for v, f in zip(value, flag, strict=True)]
        return [list(row) for row in zip(*columns, strict=True)]
    return [value] * size


def of_images(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function whose first dimension is a batch: `vmap` folds its batch dimension into that."""

    @wraps(function)
    def call_folded(*args: Any, **kwargs: Any) -> Any:
        mode = MODE.get()
        if not mode.levels:
            return function(*args, **kwargs)
        level = mode.levels[-1]
        some = any(map(level.has, (*args, *kwargs.values())))
        reshape = REGISTRY["reshape"].public

        def folded(value: Any) -> Any:
            if not some or not isinstance(value, Tensor):
                return value
            whole = level.unwrap(value) if level.has(value) else expanded(value, level.size)
            return reshape(whole, (whole._shape[0] * whole._shape[1], *whole._shape[2:]))

        outer = MODE.get()
        try:
            MODE.set(below(mode))
            made = call_folded(*map(folded, args), **{k: folded(v) for k, v in kwargs.items()})
            if some:
                made = reshape(made, (level.size, made._shape[0] // max(level.size, 1), *made._shape[1:]))
        finally:
            MODE.set(outer)
        return level.wrap(made) if some else made

    return call_folded
