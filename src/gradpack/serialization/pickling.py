"""Pickles as torch writes them, of what its restricted reader takes: names of torch's functions, and storages apart."""

from __future__ import annotations

import codecs
import pickle
import sys
from collections import Counter, OrderedDict
from functools import cache
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backends.memory_layout import address_of, memory_of, owner_of
from ..base import spelling
from ..base.devices import device
from ..base.dtypes import dtype
from ..base.layouts import layout, strided
from ..base.size import Size
from ..core.parameter import Parameter
from ..core.storage import UntypedStorage
from ..core.tensor import Tensor
from ..nn._module.state_dict import StateDict
from ..nn.parameter import Buffer
from .rebuild import STORAGES
from .safe_globals import as_torch, by_name
from .tree import DEEPEST, refused

_STORAGE_OF = {element: name for name, element in STORAGES.items()}


class Name:
    """A function or class of torch's, by the module that files name, and its name there."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name

    def __call__(self) -> None:
        raise NotImplementedError(f"{self.module}.{self.name} is a name in a file")


@cache
def _name(module: str, name: str) -> Name:
    return Name(module, name)


_rebuild = cache(lambda name: Name("torch._utils", name))

# Python's functions and classes that files may name.
_GLOBALS: dict[Any, tuple[str, str]] = {
    OrderedDict: ("collections", "OrderedDict"),
    Counter: ("collections", "Counter"),
    set: ("__builtin__", "set"),
    frozenset: ("__builtin__", "frozenset"),
    complex: ("__builtin__", "complex"),
    bytearray: ("__builtin__", "bytearray"),
    codecs.encode: ("_codecs", "encode"),
    np.ndarray: ("numpy", "ndarray"),
    np.dtype: ("numpy", "dtype"),
    np.array(0).__reduce__()[0]: ("numpy._core.multiarray", "_reconstruct"),
    np.float32().__reduce__()[0]: ("numpy._core.multiarray", "scalar"),
}
# Classes that Python's own pickler writes without naming what torch's reader does not know.
_PLAIN = frozenset({type(None), bool, int, float, str, list, tuple, dict, set, frozenset, bytearray})


class Storage:
    """The memory of some tensors, as the file has it once.

    Args:
        flat: all elements.
        key: the name in the file.
        element: the dtype, None for bytes.
    """

    def __init__(self, flat: Any, key: str, element: dtype | None, place: str) -> None:
        self.flat, self.key, self.element, self.place = flat, key, element, place

    def bytes(self) -> memoryview:
        flat = self.flat if self.flat.flags.c_contiguous else np.ascontiguousarray(self.flat)
        content: Any = flat.view(np.uint8)
        return memoryview(content)


if TYPE_CHECKING:

    class _Base:
        """The parts of Python's pickler in Python that are used here, which type checkers do not know."""

        def __init__(self, file: Any, protocol: int) -> None: ...
        def dump(self, obj: Any) -> None: ...
        def save(self, obj: Any, save_persistent_id: bool = True) -> None: ...
        def memoize(self, obj: Any) -> None: ...
        def write(self, data: bytes) -> None: ...

else:
    _Base = pickle._Pickler


class Pickler(_Base):
    """Writes one object as a pickle, and collects its storages.

    Args:
        file: where the pickle goes.
        views: whether identifiers of storages have a sixth part, as in files of the old form.
    """

    def __init__(self, file: Any, views: bool = False) -> None:
        super().__init__(file, 2)
        self.storages: dict[int, Storage] = {}  # by the identity of the memory
        self._views = views
        self._kept: list[Any] = []  # so that no two objects have one identity
        self._safe = {id(value): name for name, value in by_name().items()}
        self._root: Any = None

    def write_object(self, obj: Any) -> None:
        """Write an object.

        Raises:
            TypeError: for what a file cannot hold without code.
            ValueError: if containers are nested too deeply.
        """
        self._root = obj
        try:
            self.dump(obj)
        except RecursionError:
            raise ValueError(f"save(): containers are nested deeper than {DEEPEST}, or one contains itself") from None

    def save(self, obj: Any, save_persistent_id: bool = True) -> Any:
        if isinstance(obj, float) and type(obj) is not float:
            obj = float(obj)  # a number of NumPy's
        return super().save(obj, save_persistent_id)

    def persistent_id(self, obj: Any) -> Any:
        if isinstance(obj, UntypedStorage):
            obj = self._untyped(obj)
        elif type(obj) is not Storage:
            return None
        kind = _name("torch.storage", "UntypedStorage") if obj.element is None else _name(
            "torch", f"{_STORAGE_OF[obj.element.name]}Storage"
        )  # fmt: skip
        count = obj.flat.nbytes if obj.element is None else obj.flat.size
        return ("storage", kind, obj.key, obj.place, count, *((None,) if self._views else ()))

    def save_global(self, obj: Any, name: str | None = None) -> None:
        module, name = self._named(obj)
        self.write(pickle.GLOBAL + f"{module}\n{name}\n".encode())
        self.memoize(obj)

    def _named(self, obj: Any) -> tuple[str, str]:
        if isinstance(obj, Name):
            return obj.module, obj.name
        if isinstance(obj, dtype):
            return "torch", obj.name
        known = _GLOBALS.get(obj)
        if known is not None:
            return known
        if id(obj) not in self._safe:
            return _place_of(obj)
        module, _, name = as_torch(self._safe[id(obj)]).rpartition(".")
        return module, name

    def reducer_override(self, obj: Any) -> Any:
        kind = type(obj)
        if kind in _PLAIN:
            return NotImplemented
        if isinstance(obj, Tensor):
            return self._tensor(obj)
        if kind is bytes:
            return codecs.encode, (obj.decode("latin1"), "latin1")
        if kind is complex:
            return complex, (obj.real, obj.imag)
        if isinstance(obj, Name | dtype) or id(obj) in self._safe or _is_global(obj):
            return "a global"
        if kind is StateDict or kind is OrderedDict:
            attributes = {name: value for name, value in vars(obj).items() if value is not None}
            return OrderedDict, (), attributes or None, None, iter(obj.items())
        if kind is Counter:
            return Counter, (dict(obj),)
        if kind is Size:
            return _name("torch", "Size"), (tuple(obj),)
        if kind is device:
            return _name("torch", "device"), (obj.type,) if obj.index is None else (obj.type, obj.index)
        if kind is layout:
            return _name("torch.serialization", "_get_layout"), (f"torch.{obj.name}",)
        if kind is _Data:
            return self._rebuilt(obj.parameter, False)
        if isinstance(obj, np.ndarray | np.generic | np.dtype) and _numeric(obj):
            return obj.__reduce__()
        if id(kind) in self._safe:
            return obj.__reduce_ex__(2)
        if not _is_torch():
            raise TypeError(refused(obj, _place(self._root, obj)))
        return "a global" if isinstance(obj, type | FunctionType | BuiltinFunctionType) else NotImplemented

    # -- tensors --

    def _tensor(self, tensor: Tensor) -> Any:
        tensor._data  # noqa: B018 - one whose numbers are with JAX becomes a plain one
        kind = type(tensor)
        if kind is Parameter:
            state = _attributes(tensor)
            made: tuple[Any, ...] = _Data(tensor), tensor.requires_grad, OrderedDict()
            return (_rebuild("_rebuild_parameter_with_state"), (*made, state)) if state else (
                _rebuild("_rebuild_parameter"), made
            )  # fmt: skip
        if kind not in (Tensor, Buffer) and not _is_torch():
            raise TypeError(refused(tensor, _place(self._root, tensor)))
        function, args = self._rebuilt(tensor, tensor.requires_grad)
        state = _attributes(tensor)
        if isinstance(tensor, Buffer):
            state = {"persistent": tensor.persistent, "_is_buffer": True}
        own = kind not in (Tensor, Buffer)
        if not state and not own:
            return function, args
        named = kind if own else _name("torch", "Tensor")
        return _name("torch._tensor", "_rebuild_from_type_v2"), (function, named, args, state)

    def _rebuilt(self, tensor: Tensor, requires_grad: bool) -> tuple[Name, tuple[Any, ...]]:
        if tensor.layout is not strided:
            data = tensor._indices(), tensor._values(), tensor.shape, tensor.is_coalesced()
            return _rebuild("_rebuild_sparse_tensor"), (tensor.layout, data)
        shape = tuple(tensor.shape)
        if tensor.device.type == "meta":
            return _rebuild("_rebuild_meta_tensor_no_storage"), (tensor.dtype, shape, tensor.stride(), requires_grad)
        storage, offset, strides = self._storage(tensor)
        facts: tuple[Any, ...] = storage, offset, shape, strides, requires_grad, OrderedDict()
        if storage.element is None:
            return _rebuild("_rebuild_tensor_v3"), (*facts, tensor.dtype)
        return _rebuild("_rebuild_tensor_v2"), facts

    def _storage(self, tensor: Tensor) -> tuple[Storage, int, tuple[int, ...]]:
        """The storage of a tensor, its first element there, and its strides."""
        array = tensor._spec.backend.to_numpy(tensor._data)
        size = array.itemsize
        flat = memory_of(array)
        start = 0 if flat is None else address_of(array) - address_of(flat)
        if flat is None or not array.size or any(step < 0 or step % size for step in (start, *array.strides)):
            flat = np.ascontiguousarray(array).reshape(-1)
            array, start = flat.reshape(array.shape), 0
        element = tensor.dtype if tensor.dtype.name in _STORAGE_OF else None
        storage = self._known(owner_of(array), flat, element, tensor)
        strides = tuple(step // size for step in array.strides) if array.size else tensor.stride()
        return storage, start // size, strides

    def _untyped(self, storage: UntypedStorage) -> Storage:
        return self._known(storage._owner, storage._memory.view(np.uint8), None, storage._tensor)

    def _known(self, owner: Any, flat: Any, element: dtype | None, tensor: Tensor) -> Storage:
        self._kept += (owner, flat)
        known = self.storages.get(id(owner))
        if known is None:
            known = Storage(flat, str(len(self.storages)), element, str(tensor.device))
            self.storages[id(owner)] = known
        elif known.flat.dtype != flat.dtype:
            raise RuntimeError("Cannot save multiple tensors or storages that view the same data as different types")
        return known


class _Data:
    """The tensor that a parameter is made of."""

    def __init__(self, parameter: Tensor) -> None:
        self.parameter = parameter


def _is_torch() -> bool:
    """Whether this library stands in for torch, which writes objects of any class: those who read refuse them."""
    return spelling.library == "torch"


def _place_of(obj: Any) -> tuple[str, str]:
    """The module and the name of a class or function, as pickles for Python 2 have them.

    Raises:
        pickle.PicklingError: if it is not there.
    """
    name = obj.__qualname__
    module: str = pickle.whichmodule(obj, name)  # type: ignore[attr-defined]
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is not obj:
        raise pickle.PicklingError(f"save(): cannot write {obj!r}: it is not found as {module}.{name}")
    return as_torch("__builtin__" if module == "builtins" else module), name


def _is_global(obj: Any) -> bool:
    try:
        return obj in _GLOBALS
    except TypeError:  # not hashable
        return False


def _numeric(obj: Any) -> bool:
    native = obj if isinstance(obj, np.dtype) else obj.dtype
    return native.kind in "biufc" and native.isnative


def _attributes(tensor: Tensor) -> dict[str, Any]:
    """The attributes that the user set on a tensor."""
    return {name: value for name, value in vars(tensor).items() if name[:1] != "_"}


def _place(root: Any, wanted: Any) -> str:
    """The path in nested containers to an object, with dots."""
    seen: set[int] = set()
    stack: list[tuple[str, Any]] = [("", root)]
    while stack:
        path, item = stack.pop()
        if item is wanted:
            return path
        if id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, dict):
            stack += [(f"{path}.{key}" if path else str(key), value) for key, value in item.items()]
        elif isinstance(item, list | tuple | set):
            stack += [(f"{path}.{i}" if path else str(i), value) for i, value in enumerate(item)]
    return ""
