"""`UntypedStorage`: the memory behind tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..backends.memory_layout import address_of, memory_of, owner_of
from .tensor import Tensor, alias

if TYPE_CHECKING:
    from ..backends import Spec
    from ..base.devices import device


class UntypedStorage:
    """The bytes of a tensor's memory. Two tensors that share it have equal storages."""

    def __init__(self, tensor: Tensor) -> None:
        owner_of(tensor._data)  # raises where there is no memory to show, as under `vmap`
        self._tensor = alias(tensor._data, tensor._spec, tensor._shape)  # follows the memory when that is moved

    @property
    def _owner(self) -> Any:
        return owner_of(self._tensor._data)

    @property
    def _memory(self) -> Any:
        return memory_of(self._tensor._data)

    def _flat(self, spec: Spec) -> Any:
        return self._memory.view(spec.native)

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return address_of(self._memory)

    def nbytes(self) -> int:
        """The size in bytes."""
        return int(self._memory.nbytes)

    size = nbytes
    __len__ = nbytes

    @property
    def device(self) -> device:
        return self._tensor._spec.device

    def __getitem__(self, index: Any) -> Any:
        return self._memory.view("uint8")[index].tolist()

    def tolist(self) -> list[int]:
        """All bytes, as ints."""
        found: list[int] = self._memory.view("uint8").tolist()
        return found

    def is_shared(self) -> bool:
        """Whether other processes can share it."""
        from .shared_memory import is_shared

        return is_shared(self._tensor)

    def share_memory_(self) -> UntypedStorage:
        """Move it to shared memory: see `Tensor.share_memory_`."""
        from .shared_memory import share

        share([self._tensor])
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UntypedStorage) and self._owner is other._owner

    def __hash__(self) -> int:
        return id(self._owner)

    def __repr__(self) -> str:
        return f"[gradpack.storage.UntypedStorage(device={self.device}) of size {self.nbytes()}]"
