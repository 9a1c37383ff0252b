"""The levels of `vmap`: who has batched which tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...base.modes import MODE, depth
from ...core.tensor import Tensor
from .batch_dispatch import process
from .batch_inplace import unbatch
from .batch_tensor import BatchedData, all_examples, batched, entered

_RANDOM = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' "
    "randomness flags on vmap or perform the randomness operation out of vmap"
)
_RANDOM_INSIDE = (
    "vmap: We do not yet support calling random operations inside of vmap. Please perform random operations outside of "
    "vmap as a workaround"
)


class VmapLevel:
    """One active `vmap`.

    Attributes:
        alike: whether its examples differ in their tangents only, as the columns of a Jacobian do.
        inner: whether it is that of `is_grads_batched` and `vectorize`, which users see nothing of: a `Function` needs
            no rule for it.
        batched_inplace: the tensors that were given the examples of the level, and what they were: see `batch_inplace`.
    """

    __slots__ = ("__weakref__", "alike", "batched_inplace", "inner", "number", "randomness", "size")

    batched_inplace: list[Any] | tuple[()]

    def __init__(self, size: int, randomness: str = "error", alike: bool = False, inner: bool = False) -> None:
        self.size, self.randomness, self.alike, self.number = size, randomness, alike, depth() + 1
        self.inner, self.batched_inplace = inner, ()

    def refused_random(self) -> RuntimeError:
        """Return the error for a random operation under `randomness="error"`."""
        return RuntimeError(_RANDOM_INSIDE if self.inner else _RANDOM)

    def has(self, value: Any) -> bool:
        """Whether a value is a tensor that this level has batched."""
        return isinstance(value, Tensor) and type(value._data) is BatchedData and value._data.level is self

    process = process

    def close(self) -> None:
        """Restore tensors that were batched in place; called after the results have been unwrapped."""
        if self.batched_inplace:
            unbatch(self)

    def wrap(self, value: Any) -> Any:
        return batched(value, self) if isinstance(value, Tensor) else value

    def unwrap(self, value: Any) -> Any:
        return value._data.value if self.has(value) else value


def mapped(
    function: Callable[..., Any], columns: Any, randomness: str = "error", alike: bool = False, inner: bool = True
) -> tuple[Tensor, ...]:
    """`function(tuple)` of tensors, mapped over their first dimension; its results are a tuple of tensors."""
    mode = MODE.get()
    level = VmapLevel(columns[0]._shape[0], randomness, alike, inner)
    try:
        try:
            MODE.set(entered(mode, level))
            results = function(tuple(batched(c, level) for c in columns))
        finally:
            MODE.set(mode)
        return tuple(all_examples(r, level) for r in results)
    finally:
        level.close()
