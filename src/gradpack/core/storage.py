"""`UntypedStorage`: the memory behind tensors."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ..backends.memory_layout import address_of, memory_of, of_buffer, owner_of
from .tensor import Tensor, alias, wrap

if TYPE_CHECKING:
    from ..backends import Spec
    from ..base.devices import device


class UntypedStorage:
    """The bytes of a tensor's memory. Two tensors that share it have equal storages."""

    def __init__(self, tensor: Tensor, part: bool = False) -> None:
        owner_of(tensor._data)  # raises where there is no memory to show, as under `vmap`
        self._tensor = alias(tensor._data, tensor._spec, tensor._shape)  # follows the memory when that is moved
        self._part = part  # whether it is the elements of the tensor, of more memory

    @classmethod
    def from_file(cls, filename: Any, shared: bool = False, nbytes: int = 0, size: int | None = None) -> UntypedStorage:
        """The bytes of a file, read where they are used.

        Args:
            filename: the path.
            shared: whether what is written to the storage is written to the file, which is made as long as `nbytes`.
            nbytes: how many bytes. Without `shared` the file has to have them.
            size: another name of `nbytes`.
        """
        import mmap

        count = nbytes if size is None else size
        with open(filename, "r+b" if shared and os.path.exists(filename) else "w+b" if shared else "rb") as file:
            length = file.seek(0, os.SEEK_END)
            if length < count:
                if not shared:
                    raise RuntimeError(f"file <{filename}> size <{length}> is smaller than the required <{count}>")
                file.truncate(count)
            access = mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY
            content: Any = mmap.mmap(file.fileno(), count, access=access) if count else b""
        return cls(wrap(of_buffer(content)))

    @property
    def _owner(self) -> Any:
        return owner_of(self._tensor._data)

    @property
    def _memory(self) -> Any:
        return self._tensor._data if self._part else memory_of(self._tensor._data)

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
        """A byte as an int, or a part as a storage that shares the memory."""
        found = self._memory.view("uint8")[index]
        if not isinstance(index, slice):
            return found.tolist()
        if index.step not in (None, 1):
            raise RuntimeError(f"Trying to slice with a step of {index.step}, but only a step of 1 is supported")
        return UntypedStorage(wrap(found), part=True)

    def tolist(self) -> list[int]:
        """All bytes, as ints."""
        found: list[int] = self._memory.view("uint8").tolist()
        return found

    def untyped(self) -> UntypedStorage:
        """The storage itself: it has no dtype."""
        return self

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
        return isinstance(other, UntypedStorage) and self._owner is other._owner and self.data_ptr() == other.data_ptr()

    def __hash__(self) -> int:
        return id(self._owner)

    def __repr__(self) -> str:
        return f"[gradpack.storage.UntypedStorage(device={self.device}) of size {self.nbytes()}]"
