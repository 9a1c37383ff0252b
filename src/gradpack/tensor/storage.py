"""The memory behind tensors, as much of it as Python can say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..backends.windows import address_of, owner_of

if TYPE_CHECKING:
    from ..backends import Spec
    from ..base.devices import device
    from .tensor import Tensor


def memory_of(array: Any) -> Any:
    """All elements of the memory that an array is a view of, in order; None if it is no whole array of its dtype."""
    owner = owner_of(array)
    if owner.dtype != array.dtype:
        return None
    if owner.flags.c_contiguous:
        return owner.reshape(-1)
    flat = owner.ravel(order="K")
    return None if flat.flags.owndata else flat


class UntypedStorage:
    """The bytes of a tensor's memory. Two tensors that share it have equal storages."""

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor
        self._owner = owner_of(tensor._data)

    def _flat(self, spec: Spec) -> Any:
        return self._owner.ravel(order="K").view(spec.native)

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return address_of(self._owner)

    def nbytes(self) -> int:
        """The size in bytes."""
        return int(self._owner.nbytes)

    size = nbytes
    __len__ = nbytes

    @property
    def device(self) -> device:
        return self._tensor._spec.device

    def __getitem__(self, index: Any) -> Any:
        return self._owner.ravel(order="K").view("uint8")[index].tolist()

    def tolist(self) -> list[int]:
        """All bytes, as ints."""
        found: list[int] = self._owner.ravel(order="K").view("uint8").tolist()
        return found

    def is_shared(self) -> bool:
        """Whether it is shared between processes: never."""
        return False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UntypedStorage) and self._owner is other._owner

    def __hash__(self) -> int:
        return id(self._owner)

    def __repr__(self) -> str:
        return f"[gradpack.storage.UntypedStorage(device={self.device}) of size {self.nbytes()}]"
