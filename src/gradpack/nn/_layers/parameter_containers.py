"""Modules that hold parameters: `ParameterList` and `ParameterDict`."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

from ...core.tensor import Tensor
from .._module.entries import pairs, position
from .._public import give_all
from ..modules.module import Module
from ..parameter import Parameter


def _as_entry(value: Any) -> Any:
    """Return a tensor as a `Parameter`, any other value unchanged."""
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


def _describe(value: Any) -> str:
    if not isinstance(value, Tensor):
        return f"Object of type: {type(value).__name__}"
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    where = "" if value.device.type in ("cpu", "meta") else f" ({value.device})"
    return f"{kind} containing: [{value.dtype} of size {'x'.join(map(str, value.shape))}{where}]"


def _checked_key(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"a key of ParameterDict must be a str, not {type(key).__name__}")
    return key


class ParameterList(Module):
    """A list of parameters. Tensors that are put in become parameters; other values stay what they are.

    Example::

        >>> import gradpack as torch
        >>> weights = torch.nn.ParameterList([torch.zeros(2), torch.ones(3)])
        >>> sum(p.numel() for p in weights.parameters())
        5
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __getitem__(self, where: Any) -> Any:
        if isinstance(where, slice):
            return type(self)(self[i] for i in range(*where.indices(len(self))))
        return getattr(self, str(position(len(self), where)))

    def __setitem__(self, where: int, value: Any) -> None:
        setattr(self, str(position(len(self), where)), _as_entry(value))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter(self[i] for i in range(len(self)))

    def append(self, value: Any) -> Self:
        """Add a value at the end; returns self."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Add values at the end; returns self.

        Raises:
            TypeError: unless `values` is iterable, and not a single tensor.
        """
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}")
        for value in list(values):
            self.append(value)
        return self

    def __iadd__(self, values: Iterable[Any]) -> Self:
        return self.extend(values)

    def extra_repr(self) -> str:
        return "\n".join(f"  ({i}): {_describe(value)}" for i, value in enumerate(self))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """A dict of parameters, in order of insertion. Tensors that are put in become parameters.

    Example::

        >>> import gradpack as torch
        >>> weights = torch.nn.ParameterDict({"a": torch.zeros(2)})
        >>> [name for name, _ in weights.named_parameters()]
        ['a']
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        return getattr(self, _checked_key(key))

    def __setitem__(self, key: str, value: Any) -> None:
        setattr(self, _checked_key(key), _as_entry(value))
        self._keys[key] = None

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._keys))

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def keys(self) -> Any:
        """Return the keys."""
        return self._keys.keys()

    def values(self) -> Iterator[Any]:
        """Return the values."""
        return (self[key] for key in self._keys)

    def items(self) -> Iterator[tuple[str, Any]]:
        """Return the keys with their values."""
        return ((key, self[key]) for key in self._keys)

    def get(self, key: str, default: Any = None) -> Any:
        """The value of this key, or `default`."""
        return self[key] if key in self else default  # noqa: SIM401 - this is `get`

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The value of this key, which is set to `default` first if there is none."""
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: str) -> Any:
        """Remove this key, and return its value."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Remove the last key, and return it with its value."""
        if not self._keys:
            raise KeyError("popitem(): dictionary is empty")
        key = next(reversed(self))
        return key, self.pop(key)

    def clear(self) -> None:
        """Remove everything."""
        for key in list(self._keys):
            del self[key]

    def copy(self) -> ParameterDict:
        """Another dict with the same values."""
        return ParameterDict(self)

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """A new dict with these keys, all with the value `default`."""
        return ParameterDict([(key, default) for key in keys])

    def update(self, parameters: Any) -> None:
        """Add values from a mapping, or from pairs of key and value.

        As in torch, the keys of a plain dict come in sorted order; `OrderedDict` and pairs keep theirs.
        """
        entries = pairs("ParameterDict.update", parameters)
        if isinstance(parameters, Mapping) and not isinstance(parameters, OrderedDict):
            entries.sort(key=lambda entry: entry[0])
        for key, value in entries:
            self[key] = value

    def __or__(self, other: ParameterDict) -> ParameterDict:
        result = self.copy()
        result.update(other)
        return result

    def __ror__(self, other: ParameterDict) -> ParameterDict:
        result = other.copy()
        result.update(self)
        return result

    def __ior__(self, other: ParameterDict) -> Self:
        self.update(other)
        return self

    def extra_repr(self) -> str:
        return "\n".join(f"  ({key}): {_describe(value)}" for key, value in self.items())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterDict should not be called.")


give_all(globals())
