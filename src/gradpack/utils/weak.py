"""`torch.utils.weak`: dictionaries whose keys are objects, not their values, and go when nobody else holds them."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any


class WeakIdRef(weakref.ref[Any]):
    """A weak reference that is equal to another one if the two are to the same object.

    Example::

        >>> import gradpack as torch
        >>> a = torch.ones(2)
        >>> torch.utils.weak.WeakIdRef(a) == torch.utils.weak.WeakIdRef(a)
        True
    """

    __slots__ = ("_id",)

    def __init__(self, key: Any, callback: Any = None) -> None:
        self._id = id(key)
        super().__init__(key, callback)  # type: ignore[call-arg]

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        mine, its = self(), other() if isinstance(other, weakref.ref) else None
        return self is other if mine is None or its is None else mine is its  # another object may get the same id later


class _WeakHashRef(weakref.ref[Any]):
    """A weak reference that has the hash of its object, and compares as that does."""

    __slots__ = ("_id",)

    def __init__(self, key: Any, callback: Any = None) -> None:
        self._id = hash(key)
        super().__init__(key, callback)  # type: ignore[call-arg]

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        mine, its = self(), other() if isinstance(other, weakref.ref) else None
        return self is other if mine is None or its is None else bool(mine == its)


class WeakIdKeyDictionary(MutableMapping[Any, Any]):
    """A dictionary with weak keys that are told apart by identity. An entry goes when its key does.

    Args:
        dict: what is in it at first.
        ref_type: how keys are held.

    Example::

        >>> import gradpack as torch
        >>> names = torch.utils.weak.WeakTensorKeyDictionary()
        >>> a = torch.ones(2)
        >>> names[a] = "a"
        >>> names[a], a.clone() in names
        ('a', False)
        >>> del a
        >>> len(names)
        0
    """

    def __init__(self, dict: Mapping[Any, Any] | None = None, ref_type: type[weakref.ref[Any]] = WeakIdRef) -> None:
        self.data: Any = {}
        self.ref_type: Any = ref_type
        held = weakref.ref(self)

        def remove(key: Any) -> None:
            there = held()
            if there is not None:
                there.data.pop(key, None)

        self._remove = remove
        self.update(dict or {})

    def __getitem__(self, key: Any) -> Any:
        return self.data[self.ref_type(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.data[self.ref_type(key, self._remove)] = value

    def __delitem__(self, key: Any) -> None:
        del self.data[self.ref_type(key)]

    def __contains__(self, key: object) -> bool:
        try:
            return self.ref_type(key) in self.data
        except TypeError:  # weak references to it cannot be made
            return False

    def __iter__(self) -> Iterator[Any]:
        for key in list(self.data):  # entries may go meanwhile
            there = key()
            if there is not None:
                yield there

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {id(self):#x}>"

    def keyrefs(self) -> list[Any]:
        """Return the weak references to the keys."""
        return list(self.data)

    def copy(self) -> WeakIdKeyDictionary:
        """Return a dictionary of the same kind with the same entries."""
        return type(self)(self, ref_type=self.ref_type)

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> WeakIdKeyDictionary:
        """Return a dictionary with the same keys and copies of the values."""
        from copy import deepcopy

        made = type(self)(ref_type=self.ref_type)
        made.update((key, deepcopy(value, memo)) for key, value in self.items())
        return made

    def __or__(self, other: Any) -> Any:
        if not isinstance(other, Mapping):
            return NotImplemented
        made = self.copy()
        made.update(other)
        return made

    def __ror__(self, other: Any) -> Any:
        if not isinstance(other, Mapping):
            return NotImplemented
        made = type(self)(other, ref_type=self.ref_type)
        made.update(self)
        return made

    def __ior__(self, other: Any) -> Any:
        self.update(other)
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        return {id(k): v for k, v in self.items()} == {id(k): v for k, v in other.items()}

    __hash__ = None  # type: ignore[assignment]


WeakTensorKeyDictionary = WeakIdKeyDictionary


class TensorWeakRef:
    """A weak reference to a tensor.

    Raises:
        TypeError: for what is no tensor.
    """

    def __init__(self, tensor: Any) -> None:
        from ..core.tensor import Tensor

        if not isinstance(tensor, Tensor):
            raise TypeError(f"TensorWeakRef() takes a Tensor, not {type(tensor).__name__}")
        self.ref = weakref.ref(tensor)

    def __call__(self) -> Any:
        return self.ref()


__all__ = ["TensorWeakRef", "WeakIdKeyDictionary", "WeakIdRef", "WeakTensorKeyDictionary"]
