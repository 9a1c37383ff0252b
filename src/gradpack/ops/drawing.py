"""Random numbers under `vmap`: refused, drawn once for all examples, or for each, as `randomness` says."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from ..base.modes import MODE
from ..declare.batched import batched, outside
from .generator import Generator, default_generator

_F = TypeVar("_F", bound=Callable[..., Any])


def drawing(function: _F) -> _F:
    """A function that draws, as one that heeds the levels of `vmap`."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not MODE.get().levels:
            return function(*args, **kwargs)
        return _of_level(call, args, kwargs)

    return call  # type: ignore[return-value]


def _of_level(call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    level = MODE.get().levels[-1]
    if level.randomness == "error":
        raise level.refused_random()
    some = any(map(level.has, (*args, *kwargs.values())))
    same = level.randomness == "same"
    given = args[1:] if call.__name__ == "drawn" else () if call.__name__.endswith("_like") else args
    if same and any(map(level.has, (*given, *kwargs.values()))):
        raise RuntimeError(
            "Vmap does not currently support same randomness with a batched tensor input. Please file an issue with "
            "functorch"
        )
    with outside():
        examples = level.size if some or not same else 1
        if same and call.__name__.endswith("_like"):
            examples = 1
        generator = kwargs.get("generator")
        generator = generator if isinstance(generator, Generator) else default_generator
        state = generator.get_state() if same and examples > 1 else None
        rows = []
        for i in range(examples):
            if state is not None:
                generator.set_state(state)
            one = [_example(level, v, i) for v in args]
            rows.append(call(*one, **{k: _example(level, v, i) for k, v in kwargs.items()}))
        if examples == 1 and same:
            return rows[0]
        from .join import stack

        return batched(stack(rows), level)


def _example(level: Any, value: Any, i: int) -> Any:
    return value._data.value[i] if level.has(value) else value
