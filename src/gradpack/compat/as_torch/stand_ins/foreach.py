"""`torch._foreach_add` and its kin: an operation on each tensor of a list, one after the other."""

from __future__ import annotations

from typing import Any

from ....core.tensor import Tensor

_PREFIX = "_foreach_"
_VALUED = frozenset({"addcmul", "addcdiv"})  # take numbers after their tensors
_LIMITS = {"clamp_min": "min", "clamp_max": "max"}


def named(name: str) -> Any:
    """The function for a name that begins with `_foreach_`; None if there is no such operation."""
    word = name.removeprefix(_PREFIX)
    plain = word.removesuffix("_")
    one = _norm if word == "norm" else getattr(Tensor, word, None)
    if not name.startswith(_PREFIX) or (one is None and plain not in ("maximum", "minimum")):
        return None

    def foreach(first: Any, *others: Any, **options: Any) -> Any:
        lists = [first, *others]
        if plain in _VALUED and len(lists) == 4:
            options["value"] = lists.pop()
        if isinstance(options.get("value"), Tensor):
            options["value"] = options["value"].tolist()
        n = next(len(x) for x in lists if isinstance(x, list | tuple))
        results = []
        for i in range(n):
            values = [x[i] if isinstance(x, list | tuple) else x for x in lists]
            each = {k: v[i] if isinstance(v, list | tuple) else v for k, v in options.items()}
            results.append(_call(word, plain, one, values, each))
        return first if word.endswith("_") else tuple(results)

    foreach.__name__ = foreach.__qualname__ = name
    foreach.__doc__ = f"`{word}` of each tensor of a list."
    return foreach


def _call(word: str, plain: str, one: Any, values: list[Any], options: dict[str, Any]) -> Any:
    if plain in ("maximum", "minimum"):
        first, other = values
        low = {"min" if plain == "maximum" else "max": other}
        return getattr(first, "clamp_" if word.endswith("_") else "clamp")(**low)
    if plain in _LIMITS:
        first, limit = values
        return getattr(first, "clamp_" if word.endswith("_") else "clamp")(**{_LIMITS[plain]: limit})
    if not isinstance(values[0], Tensor):  # pow of a number
        values[0] = values[1].new_tensor(values[0])
    return one(*values, **options)


def _norm(tensor: Tensor, ord: float = 2, dtype: Any = None) -> Any:
    from ....linalg import vector_norm

    return vector_norm(tensor, ord, dtype=dtype)


def _group_tensors_by_device_and_dtype(lists: list[list[Any]], with_indices: bool = False) -> dict[Any, Any]:
    """The tensors of parallel lists by device and dtype of those in the first, each group with its indices."""
    found: dict[Any, tuple[list[list[Any]], list[int]]] = {}
    for i, first in enumerate(lists[0]):
        columns, indices = found.setdefault((first.device, first.dtype), ([[] for _ in lists], []))
        for column, values in zip(columns, lists, strict=True):
            column.append(values[i] if values else None)
        if with_indices:
            indices.append(i)
    return found


def _get_foreach_kernels_supported_devices() -> list[str]:
    """Kinds of devices on which one kernel does a list: none."""
    return []


def _get_fused_kernels_supported_devices() -> list[str]:
    """Kinds of devices on which one kernel does a step: none."""
    return []


def _device_has_foreach_support(device: Any) -> bool:
    """Whether one kernel does a list: no."""
    return False


__all__: list[str] = []
