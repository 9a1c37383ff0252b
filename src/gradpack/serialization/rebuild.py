"""Functions that the pickles in files of torch's may call: they make tensors, sizes and the like of what was stored."""

from __future__ import annotations

import _codecs
from collections import Counter, OrderedDict
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ..backends.numpy import NATIVE
from ..base import layouts
from ..base.devices import device
from ..base.dtypes import ALIASES, DTYPES, dtype
from ..base.size import Size
from ..core.parameter import Parameter
from ..core.tensor import Tensor, wrap
from ..nn.parameter import Buffer
from ..ops import methods
from .tree import BadFileError, strided

# Names of storages and of the dtype of their elements.
STORAGES = {
    "Float": "float32", "Double": "float64", "Half": "float16", "BFloat16": "bfloat16", "Long": "int64", "Int": "int32",
    "Short": "int16", "Char": "int8", "Byte": "uint8", "Bool": "bool", "ComplexFloat": "complex64",
    "ComplexDouble": "complex128",
}  # fmt: skip


class StorageType:
    """The class of a storage in a file: the dtype of its elements, None for bytes."""

    def __init__(self, element: dtype | None) -> None:
        self.element = element

    @property
    def itemsize(self) -> int:
        return 1 if self.element is None else self.element.itemsize


class Stored:
    """A storage of a file: its memory, and where tensors in it go.

    Args:
        memory: the bytes, in the dtype of the elements if there is one.
        place: the device of the tensors.
    """

    def __init__(self, memory: Any, element: dtype | None, place: Any = None) -> None:
        self.memory, self.element, self.place = memory, element, place

    def flat(self, element: dtype | None = None) -> Any:
        """All elements, in a dtype."""
        wanted = element or self.element
        if wanted is None:
            raise BadFileError("load(): a tensor in the file has a storage without a dtype")
        native = NATIVE[wanted]
        if self.memory.dtype == native:
            return self.memory
        if self.memory.nbytes % native.itemsize:
            raise BadFileError(f"load(): a storage of {self.memory.nbytes} bytes cannot hold elements of {wanted}")
        return self.memory.view(native)

    def part(self, offset: int, count: int) -> Stored:
        """Some of the elements, as a storage."""
        if not 0 <= offset <= offset + count <= self.memory.size:
            raise BadFileError("load(): a storage in the file reaches outside of the one that it is a part of")
        return Stored(self.memory[offset : offset + count], self.element, self.place)


def plain(found: Any, seen: set[int] | None = None) -> Any:
    """The object of a file, where storages that it has outside of tensors are `UntypedStorage`."""
    seen = set() if seen is None else seen
    if isinstance(found, Stored):
        from ..core.storage import UntypedStorage

        return UntypedStorage(_placed(wrap(found.flat(found.element or DTYPES["uint8"])), found))
    if id(found) in seen or not isinstance(found, list | tuple | dict):
        return found
    seen.add(id(found))
    if isinstance(found, dict):
        for key, value in found.items():
            found[key] = plain(value, seen)
    elif isinstance(found, list):
        found[:] = [plain(value, seen) for value in found]
    elif type(found) is tuple:
        return tuple([plain(value, seen) for value in found])
    return found


def op(name: str) -> Any:
    return methods.EXPORTED.get(name) or methods.exported(name)


def _placed(made: Tensor, storage: Stored) -> Tensor:
    return made if storage.place is None else made.to(storage.place)


def _tensor(storage: Any, element: dtype | None, offset: int, size: Any, stride: Any) -> Tensor:
    if not isinstance(storage, Stored):
        raise BadFileError(f"load(): a tensor in the file lies in a {type(storage).__name__}, which is no storage")
    return _placed(wrap(strided(storage.flat(element), list(size), list(stride), offset)), storage)


def _rebuild_tensor(storage: Any, offset: int, size: Any, stride: Any) -> Tensor:
    return _tensor(storage, None, offset, size, stride)


def _rebuild_tensor_v2(
    storage: Any, offset: int, size: Any, stride: Any, requires_grad: bool, hooks: Any = None, metadata: Any = None
) -> Tensor:
    return _finished(_tensor(storage, None, offset, size, stride), requires_grad, metadata)


def _rebuild_tensor_v3(
    storage: Any, offset: int, size: Any, stride: Any, requires_grad: bool, hooks: Any, d: dtype, metadata: Any = None
) -> Tensor:
    if not isinstance(d, dtype):
        raise BadFileError(f"load(): a tensor in the file has the dtype {d!r}, which is none")
    return _finished(_tensor(storage, d, offset, size, stride), requires_grad, metadata)


def _finished(made: Tensor, requires_grad: bool, metadata: Any) -> Tensor:
    for name, on in (metadata or {}).items():
        if name not in ("conj", "neg"):
            raise BadFileError(f"load(): a tensor in the file has the property {name!r}, which gradpack does not know")
        if on:
            made = made.conj() if name == "conj" else -made
    if requires_grad:
        made.requires_grad = True
    return made


def _rebuild_parameter(data: Tensor, requires_grad: bool, hooks: Any = None) -> Parameter:
    if not isinstance(data, Tensor):
        raise BadFileError(f"load(): a parameter in the file is made of a {type(data).__name__}, which is no tensor")
    return Parameter(data, bool(requires_grad))


def _rebuild_parameter_with_state(data: Tensor, requires_grad: bool, hooks: Any, state: Any) -> Parameter:
    made = _rebuild_parameter(data, requires_grad)
    _set_state(made, state)
    return made


def _rebuild_from_type_v2(function: Callable[..., Any], kind: Any, args: tuple[Any, ...], state: Any) -> Tensor:
    if function not in _REBUILDS.values():
        raise BadFileError("load(): a tensor in the file is made by a function that makes no tensors")
    made: Tensor = function(*args)
    if isinstance(state, dict) and state.get("_is_buffer") is True:
        return Buffer(made, persistent=bool(state.get("persistent", True)))
    if kind is Parameter and type(made) is not Parameter:
        made = Parameter(made.detach(), made.requires_grad)
    elif isinstance(kind, type) and issubclass(kind, Tensor) and not issubclass(kind, Parameter):
        made = made.as_subclass(kind)  # one that the user allows
    elif kind is not Parameter:
        raise BadFileError(f"load(): the file has a tensor of the class {kind!r}, which gradpack cannot make")
    _set_state(made, state)
    return made


def _set_state(made: Tensor, state: Any) -> None:
    """Give a tensor the attributes that the user's had."""
    for part in state if isinstance(state, tuple) else (state,):
        for name, value in (part or {}).items():
            if type(name) is not str or name[:1] == "_" or hasattr(Tensor, name):
                raise BadFileError(f"load(): a tensor in the file has an attribute {name!r}, which cannot be set")
            setattr(made, name, value)


def _rebuild_sparse_tensor(layout: Any, data: Any) -> Any:
    if layout is not layouts.sparse_coo:
        raise BadFileError(f"load(): the file has a tensor of the layout {layout!r}, which gradpack does not have")
    indices, values, size, *coalesced = data
    return op("sparse_coo_tensor")(indices, values, size, is_coalesced=bool(coalesced and coalesced[0]) or None)


def _rebuild_meta_tensor_no_storage(d: dtype, size: Any, stride: Any, requires_grad: bool) -> Tensor:
    return _finished(op("empty_strided")(size, stride, dtype=d, device="meta"), requires_grad, None)


def _rebuild_device_tensor_from_cpu_tensor(data: Tensor, d: dtype, place: Any, requires_grad: bool) -> Tensor:
    return _finished(data.to(place, d), requires_grad, None)


def _rebuild_device_tensor_from_numpy(data: Any, d: dtype, place: Any, requires_grad: bool) -> Tensor:
    return _finished(wrap(data).to(place, d), requires_grad, None)


_REBUILDS: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        _rebuild_tensor, _rebuild_tensor_v2, _rebuild_tensor_v3, _rebuild_parameter, _rebuild_parameter_with_state,
        _rebuild_sparse_tensor, _rebuild_meta_tensor_no_storage, _rebuild_device_tensor_from_cpu_tensor,
        _rebuild_device_tensor_from_numpy,
    )
}  # fmt: skip


def _layout(name: str) -> Any:
    found = getattr(layouts, str(name).removeprefix("torch."), None)
    if not isinstance(found, layouts.layout):
        raise BadFileError(f"load(): the file names the layout {name!r}, which gradpack does not have")
    return found


def _device(kind: str, index: int | None = None) -> device:
    return device(kind if index is None else f"{kind}:{index}")


def _encode(text: str, encoding: str = "utf-8", errors: str = "strict") -> bytes:
    if encoding not in ("latin1", "utf-8", "ascii"):
        raise BadFileError(f"load(): the file has bytes in the encoding {encoding!r}")
    return _codecs.encode(text, encoding, errors)


def _bytearray(content: Any = b"", encoding: str = "latin1") -> bytearray:
    if not isinstance(content, str | bytes):
        raise BadFileError(f"load(): the file has bytes made of a {type(content).__name__}")
    return bytearray(_encode(content, encoding) if isinstance(content, str) else content)


# -- NumPy's arrays and numbers --


def _array_dtype(code: Any, align: Any = False, copy: Any = True) -> Any:
    return _numeric(np.dtype(str(code)))


def _numeric(native: Any) -> Any:
    if not isinstance(native, np.dtype) or native.kind not in "biufc":
        raise BadFileError(f"load(): the file has an array of NumPy's of {native}: only numbers are read")
    return native


def _array(kind: Any, shape: Any, code: Any) -> Any:
    return np.empty(0, np.uint8)  # its content follows


def _scalar(native: Any, content: bytes) -> Any:
    return np.frombuffer(content, _numeric(native), 1)[0]


def _set_array(made: Any, state: Any) -> None:
    _, shape, native, fortran, content = state
    if type(content) is not bytes:
        raise BadFileError("load(): the file has an array of NumPy's without its bytes")
    made.__setstate__((1, shape, _numeric(native), bool(fortran), content))


def _set_dtype(made: Any, state: Any) -> None:
    if state[1] not in "<|=" or any(part is not None for part in state[2:5]):
        raise BadFileError(f"load(): the file has an array of NumPy's of {made} in a form that is not read")


def _set_ordered(made: Any, state: Any) -> None:
    if any(type(name) is not str or hasattr(OrderedDict, name) for name in state):
        raise BadFileError("load(): the file has a dict with attributes that cannot be set")
    vars(made).update(state)


# How objects of these classes are given a state.
BUILDS: dict[type, Callable[[Any, Any], None]] = {
    OrderedDict: _set_ordered, np.ndarray: _set_array, np.dtype: _set_dtype,
}  # fmt: skip


@cache
def allowed() -> dict[str, Any]:
    """The functions, classes and values that files may name without being asked, by their full names."""
    found: dict[str, Any] = {
        "collections.OrderedDict": OrderedDict,
        "collections.Counter": Counter,
        "builtins.set": set,
        "builtins.frozenset": frozenset,
        "builtins.complex": complex,
        "builtins.bytearray": _bytearray,
        "builtins.bytes": lambda: b"",  # others are encoded texts
        "_codecs.encode": _encode,
        "numpy.ndarray": np.ndarray,
        "numpy.dtype": _array_dtype,
        "numpy._core.multiarray._reconstruct": _array,
        "numpy._core.multiarray.scalar": _scalar,
        "torch.Size": Size,
        "torch.device": _device,
        "torch.Tensor": Tensor,
        "torch.nn.parameter.Parameter": Parameter,
        "torch.serialization._get_layout": _layout,
        "torch._tensor._rebuild_from_type_v2": _rebuild_from_type_v2,
        "torch.storage.UntypedStorage": StorageType(None),
    }
    found |= {f"torch._utils.{name}": function for name, function in _REBUILDS.items()}
    found |= {f"torch.{name}": d for name, d in (DTYPES | ALIASES).items()}
    for name, element in STORAGES.items():
        found[f"torch.{name}Storage"] = found[f"torch.cuda.{name}Storage"] = StorageType(DTYPES[element])
    return found
