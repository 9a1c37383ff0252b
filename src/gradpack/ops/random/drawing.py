"""Random numbers under `vmap`: an error, the same for all examples, or different, by its argument `randomness`."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from itertools import product
from typing import TYPE_CHECKING, Any, TypeVar

from ...base import late
from ...base.modes import MODE, using
from ...core.tensor import Tensor
from ...declare.batching.batch_tensor import all_examples, batched
from ..create.making import RECORDERS

if TYPE_CHECKING:
    from ...declare.batching.level import VmapLevel

_F = TypeVar("_F", bound=Callable[..., Any])

_SAME_OF_EACH = (
    "Vmap does not currently support same randomness with a batched tensor input. Please file an issue with functorch"
)
_NO_OUT = (
    "vmap: We do not support calling out variants of random operations inside of vmap. Please use non-out variants as "
    "a workaround"
)
# How a function draws for several examples at once: it is given their number in its size; or one call on batched
# arguments draws independent numbers for each, of its first argument (TARGET) or of all (SHAPE) by their shapes only.
SIZE, ELEMENT, TARGET, SHAPE = "size", "element", "target", "shape"


def drawing(function: _F, how: str = "") -> _F:
    """Decorate a function that draws random numbers to support `vmap`; `how` is one of those above, if any holds."""

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not MODE.get().levels:
            if RECORDERS and RECORDERS[-1].is_ours():
                return RECORDERS[-1].drawn(function, args, kwargs)
            return function(*args, **kwargs)
        return _of_levels(function, how, args, kwargs)

    call.usual, call.unless = function, RECORDERS  # type: ignore[attr-defined]
    return call  # type: ignore[return-value]


def _of_levels(function: Callable[..., Any], how: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call `function` with a batch dimension for each `vmap` level with randomness "different", the outermost first."""
    levels = MODE.get().levels
    values = [*args, *kwargs.values()]
    given = range({SHAPE: len(values), TARGET: 1}.get(how, 0), len(values))
    drawn: list[VmapLevel] = []
    for depth in reversed(range(len(levels))):
        level = levels[depth]
        if level.randomness == "error":
            raise level.refused_random()
        if kwargs.get("out") is not None:
            raise RuntimeError(_NO_OUT)
        same = level.randomness == "same"
        if same and not level.alike and any(level.has(values[i]) for i in given):
            raise RuntimeError(_SAME_OF_EACH)
        with using(levels=levels[:depth]):
            values = [_outside(level, v, not same) for v in values]
        if not same:
            drawn.insert(0, level)
    n = len(args)
    with using(levels=()):
        made = _drawn(function, how, drawn, values[:n], dict(zip(kwargs, values[n:], strict=True)))
    for level in drawn:
        made = batched(made, level)
    return made


def _outside(level: VmapLevel, value: Any, separate: bool) -> Any:
    """Unwrap an argument from a `vmap` level: with its batch dimension first if `separate`, else the first example."""
    if not isinstance(value, Tensor):
        return value
    if separate:
        return all_examples(value, level)
    return value._data.value[0] if level.has(value) else value


def _drawn(
    function: Callable[..., Any], how: str, drawn: list[VmapLevel], args: list[Any], kwargs: dict[str, Any]
) -> Any:
    """Draw independent numbers for all examples of these levels, whose batch dimensions come first in the arguments."""
    if not drawn:
        return function(*args, **kwargs)
    sizes = tuple(level.size for level in drawn)
    if how == SIZE:
        from ..create.making import shape_of

        size = kwargs.pop("size", None)
        return function(size=(*sizes, *shape_of(function.__name__, tuple(args) if size is None else (size,))), **kwargs)
    if how and len({v._shape for v in (*args, *kwargs.values()) if isinstance(v, Tensor)}) == 1:
        return function(*args, **kwargs)

    def example(value: Any, place: tuple[int, ...]) -> Any:
        return value[place] if isinstance(value, Tensor) else value

    places = product(*map(range, sizes))
    rows = [
        function(*[example(v, at) for v in args], **{k: example(v, at) for k, v in kwargs.items()}) for at in places
    ]
    made: Tensor = late.stack(rows)
    return made.reshape((*sizes, *made._shape[1:]))
