"""`torch.nn.modules.utils` and `torch.nn.common_types`: sizes for each dimension."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from typing import Any, TypeAlias

from ...core.tensor import Tensor

_Sizes: TypeAlias = int | Sequence[int]  # one for all dimensions, or one for each


def _ntuple(n: int, name: str = "parse") -> Callable[[Any], tuple[Any, ...]]:
    """A function that makes a tuple of `n` out of one value, and a tuple out of any other iterable."""

    def parse(x: Any) -> tuple[Any, ...]:
        return tuple(x) if isinstance(x, Iterable) else tuple(repeat(x, n))

    parse.__name__ = name
    return parse


_single, _pair, _triple, _quadruple = (_ntuple(n) for n in (1, 2, 3, 4))


def _reverse_repeat_tuple(t: Iterable[Any], n: int) -> tuple[Any, ...]:
    """Each element `n` times, the last first: paddings for `pad` from paddings of a convolution."""
    return tuple(x for x in reversed(list(t)) for _ in range(n))


def _list_with_default(out_size: Any, defaults: list[int]) -> Any:
    """Sizes with None replaced by the last of `defaults`."""
    if isinstance(out_size, int):
        return out_size
    return [d if v is None else v for v, d in zip(out_size, defaults[-len(out_size) :], strict=True)]


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Take `prefix` off the names of a state dict, in place."""
    for key in [k for k in state_dict if k.startswith(prefix)]:
        state_dict[key.removeprefix(prefix)] = state_dict.pop(key)


_scalar_or_tuple_any_t = _scalar_or_tuple_1_t = _size_1_t = _size_2_t = _size_3_t = _size_4_t = _size_any_t = Any
_size_any_opt_t = _size_2_opt_t = _size_3_opt_t = _ratio_2_t = _ratio_3_t = _ratio_any_t = Any
_tensor_list_t = list[Tensor]
_maybe_indices_t = Any

__all__ = ["consume_prefix_in_state_dict_if_present"]
