"""Nested containers of tensors as JSON and a table of arrays, and back.

A value that JSON has is itself. All else is an object with one key that says what it is:
`{"list": [...]}`, `{"dict": [[key, value], ...]}`, `{"tensor": {...}}` and so on. Tensors that are one
object, and tensors that share memory, are so again after loading.
"""

from __future__ import annotations

import base64
import json
import math
from collections import Counter, OrderedDict
from collections.abc import Iterator
from pickle import UnpicklingError
from typing import Any

import numpy as np

from ..backends.numpy import NATIVE, NUMPY
from ..base.devices import device
from ..base.dtypes import DTYPES, dtype
from ..base.size import Size
from ..core.parameter import Parameter
from ..core.tensor import Tensor, wrap
from ..nn._module.state_dict import StateDict

DEEPEST = 200  # containers within containers: more would exhaust Python's stack


class BadFileError(RuntimeError, UnpicklingError):
    """A file that is not what `save` writes: in torch an UnpicklingError, or for archives a RuntimeError."""


STRUCTURE = "__structure__"  # the name of the description in an archive
_FORMAT = {"format": "gradpack", "version": 1}


def to_json(tree: Any) -> str:
    return json.dumps({**_FORMAT, "tree": tree}, separators=(",", ":"), allow_nan=False)


def tree_of(text: str) -> Any:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadFileError(f"load(): the description of the structure is damaged: {error}") from None
    if not isinstance(found, dict) or found.get("format") != "gradpack" or "tree" not in found:
        raise BadFileError("load(): the description of the structure is not gradpack's")
    if found.get("version") != 1:
        raise BadFileError(f"load(): the file has version {found.get('version')!r}, and this gradpack reads version 1")
    return found["tree"]


# -- to JSON --


class Encoder:
    """Makes the tree, and collects the arrays that it names."""

    def __init__(self) -> None:
        self.arrays: dict[str, Any] = {}
        self._names: dict[int, str] = {}  # number of each piece of memory in the table, by its owner
        self._seen: dict[int, tuple[Any, int]] = {}  # tensors by id (kept alive) -> their numbers
        self._users: Counter[int] = Counter()  # of each piece of memory, how many tensors are in it

    def encode(self, obj: Any) -> Any:
        self._users = Counter(map(_owner_key, _tensors(obj)))
        return self._value(obj, "")

    def _value(self, obj: Any, path: str, depth: int = 0) -> Any:
        if depth > DEEPEST:
            raise ValueError(f"save(): containers are nested deeper than {DEEPEST}, or one contains itself")
        if obj is None or type(obj) in (bool, int, str):
            return obj
        if isinstance(obj, Tensor):
            return self._tensor(obj, path)
        if isinstance(obj, float):
            return float(obj) if math.isfinite(obj) else {"float": repr(float(obj))}
        if type(obj) is complex:
            return {"complex": [obj.real.hex(), obj.imag.hex()]}
        if isinstance(obj, bytes):
            return {"bytes": base64.b64encode(obj).decode()}
        if type(obj) is Size:
            return {"size": list(obj)}
        if isinstance(obj, dtype):
            return {"dtype": obj.name}
        if isinstance(obj, device):
            return {"device": str(obj)}
        if isinstance(obj, np.ndarray):
            return {"array": self._store(path, obj), "dtype": NUMPY.dtype_of(obj.dtype).name}
        kind = _CONTAINERS.get(type(obj))
        if kind in _SEQUENCES:
            return {kind: [self._value(v, f"{path}.{i}" if path else str(i), depth + 1) for i, v in enumerate(obj)]}
        if kind is not None:
            pairs = [
                [self._key(k), self._value(v, f"{path}.{k}" if path else str(k), depth + 1)] for k, v in obj.items()
            ]
            made: dict[str, Any] = {kind: pairs}
            if getattr(obj, "_metadata", None) is not None:
                made["metadata"] = self._value(obj._metadata, f"{path}._metadata", depth + 1)
            return made
        raise TypeError(refused(obj, path))

    def _key(self, key: Any) -> Any:
        if isinstance(key, Tensor | list | dict | set):
            raise TypeError(f"save(): a key of a dict is a {type(key).__name__}: keys are strings, numbers or tuples")
        return self._value(key, "key")

    def _tensor(self, tensor: Tensor, path: str) -> Any:
        known = self._seen.get(id(tensor))
        if known is not None:
            return {"same": known[1]}
        if type(tensor) not in (Tensor, Parameter):
            raise TypeError(refused(tensor, path))
        self._seen[id(tensor)] = tensor, len(self._seen)
        flags = {"requires_grad": tensor.requires_grad, "parameter": isinstance(tensor, Parameter)}
        facts: dict[str, Any] = {"dtype": tensor.dtype.name} | {name: True for name, is_on in flags.items() if is_on}
        array = tensor._spec.backend.to_numpy(tensor._data)
        key = _owner_key(tensor)
        if self._users[key] > 1 and array.size:
            owner = _owner(array)
            name = self._names.get(key)
            if name is None:
                flat = np.ndarray((owner.nbytes // array.itemsize,), array.dtype, _memory(owner))
                name = self._names[key] = self._store(path, flat)
            facts["offset"] = (array.ctypes.data - owner.ctypes.data) // array.itemsize
            facts["shape"] = list(array.shape)
            facts["stride"] = [s // array.itemsize for s in array.strides]
        else:
            name = self._store(path, array)
            if not array.flags.c_contiguous and not array.flags.f_contiguous:
                facts["order"] = sorted(range(array.ndim), key=lambda i: -array.strides[i])
        return {"tensor": name, **facts}

    def _store(self, path: str, array: Any) -> str:
        name, n = path or "tensor", 1
        while name in self.arrays or name in _RESERVED:
            n += 1
            name = f"{path or 'tensor'}~{n}"
        self.arrays[name] = array
        return name


_RESERVED = frozenset({"file", "__structure__", "__metadata__"})
_SEQUENCES: dict[str, Any] = {"list": list, "tuple": tuple, "set": set}
_MAPPINGS: dict[str, Any] = {"dict": dict, "ordered": OrderedDict, "state": StateDict, "counter": Counter}
_CONTAINERS: dict[type, str] = {kind: name for name, kind in (_SEQUENCES | _MAPPINGS).items()}


def refused(obj: Any, path: str) -> str:
    kind = type(obj)
    where = f" at {path!r}" if path else ""
    what = f"save(): cannot write a {kind.__module__}.{kind.__qualname__}{where}: "
    if hasattr(obj, "state_dict"):
        return what + "write its state_dict() instead, and give that to load_state_dict() of a new one"
    return what + (
        "a file holds tensors, numbers, strings, None, and lists, tuples, sets and dicts of them, because loading it "
        "must not be able to run code"
    )


def _tensors(obj: Any) -> Iterator[Tensor]:
    """Every tensor in an object, each once for each time it is another object."""
    seen: set[int] = set()
    stack = [obj]
    while stack:
        item = stack.pop()
        if id(item) in seen or not isinstance(item, Tensor | list | tuple | dict | set):
            continue
        seen.add(id(item))
        if isinstance(item, Tensor):
            yield item
        else:
            stack.extend(item.values() if isinstance(item, dict) else item)


def _owner(array: Any) -> Any:
    """Return the NumPy array that owns the memory of a view."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _owner_key(tensor: Tensor) -> int:
    array = tensor._spec.backend.to_numpy(tensor._data)
    owner = _owner(array)
    whole = owner.flags.c_contiguous or owner.flags.f_contiguous
    return id(owner) if whole and owner.dtype == array.dtype and owner.size else -id(tensor)


def _memory(owner: Any) -> Any:
    return owner if owner.flags.c_contiguous else owner.T


# -- back --


class Decoder:
    """Makes the objects again. Everything that the tree says is checked: a file may come from anyone."""

    def __init__(self, arrays: dict[str, Any]) -> None:
        self.arrays = arrays
        self._tensors: list[Tensor] = []
        self._shared: dict[str, Any] = {}

    def decode(self, tree: Any) -> Any:
        try:
            return self._value(tree)
        except BadFileError:
            raise
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError, OverflowError) as error:
            raise BadFileError(f"load(): the description of the structure is damaged: {error}") from None

    def _value(self, tree: Any, depth: int = 0) -> Any:
        if depth > 2 * DEEPEST:
            raise BadFileError(f"load(): containers are nested deeper than {DEEPEST}")
        if tree is None or isinstance(tree, bool | int | float | str):
            return tree
        if not isinstance(tree, dict) or not tree:
            raise BadFileError(f"load(): the description of the structure has a {type(tree).__name__} where it may not")
        kind = next(iter(tree))
        content = tree[kind]
        if kind == "tensor":
            made = self._tensor(tree)
            self._tensors.append(made)
            return made
        if kind == "same":
            if type(content) is not int or not 0 <= content < len(self._tensors):
                raise BadFileError("load(): the description of the structure names a tensor that is not there")
            return self._tensors[content]
        if kind in _SEQUENCES:
            return _SEQUENCES[kind]([self._value(v, depth + 1) for v in content])
        if kind in _MAPPINGS:
            mapping: Any = _MAPPINGS[kind]()
            for key, value in content:
                mapping[self._value(key, depth + 1)] = self._value(value, depth + 1)
            if "metadata" in tree:
                mapping._metadata = self._value(tree["metadata"], depth + 1)
            return mapping
        if kind == "array":
            return _typed(self._array(content), tree["dtype"])
        simple = _SIMPLE.get(kind)
        if simple is None:
            raise BadFileError(
                f"load(): the description of the structure has a {kind!r}, which this version does not know"
            )
        return simple(content)

    def _array(self, name: str) -> Any:
        if name not in self.arrays:
            raise BadFileError(f"load(): the tensor {name!r} is missing in the file")
        return self.arrays[name]

    def _tensor(self, facts: dict[str, Any]) -> Tensor:
        name = facts["tensor"]
        if "stride" in facts:
            if name not in self._shared:
                self._shared[name] = np.ascontiguousarray(_typed(self._array(name), facts["dtype"])).reshape(-1)
            array = strided(self._shared[name], facts["shape"], facts["stride"], facts["offset"])
        else:
            array = _typed(self._array(name), facts["dtype"])
            if "order" in facts:
                order = facts["order"]
                dense = np.ascontiguousarray(array.transpose(order))
                array = dense.transpose([order.index(i) for i in range(array.ndim)])
        out: Tensor = wrap(array)
        if facts.get("parameter"):
            return Parameter(out, bool(facts.get("requires_grad")))
        if facts.get("requires_grad"):
            out.requires_grad = True
        return out


_SIMPLE: dict[str, Any] = {
    "float": lambda text: {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[text],
    "complex": lambda parts: complex(float.fromhex(parts[0]), float.fromhex(parts[1])),
    "bytes": lambda text: base64.b64decode(text, validate=True),
    "size": Size,
    "dtype": lambda name: DTYPES[name],
    "device": device,
}


def _typed(array: Any, name: str) -> Any:
    """Return the array in its dtype: file formats store some dtypes as others."""
    native = NATIVE[DTYPES[name]]
    if array.dtype == native:
        return array
    if array.dtype.itemsize == native.itemsize and array.dtype.kind in "Vu":
        return array.view(native)
    if native.kind in "cV" and array.dtype.itemsize * 2 == native.itemsize and array.shape[-1:] == (2,):
        return np.ascontiguousarray(array).view(native).reshape(array.shape[:-1])
    raise BadFileError(f"load(): a tensor is stored as {array.dtype}, which is no form of {name}")


def strided(flat: Any, shape: list[int], stride: list[int], offset: int) -> Any:
    """Return a strided view of a piece of memory. Raises if it would reach outside."""
    numbers = [*shape, *stride, offset]
    if len(shape) != len(stride) or any(type(n) is not int or n < 0 for n in numbers):
        raise BadFileError("load(): a tensor has a shape or strides that cannot be")
    last = offset + sum((n - 1) * s for n, s in zip(shape, stride, strict=True) if n)
    if 0 not in shape and last >= flat.size:
        raise BadFileError("load(): a tensor reaches outside its storage")
    if 0 in shape:
        return np.zeros(shape, flat.dtype)
    return np.ndarray(shape, flat.dtype, flat, offset * flat.itemsize, [s * flat.itemsize for s in stride])
