"""`SavedInfo`: the metadata of a saved tensor, which neither unpacks it nor keeps it alive."""

from __future__ import annotations

import sys
from itertools import count
from math import prod
from typing import Any, NamedTuple
from weakref import ref

from ..backends import NUMPY
from ..backends.memory_layout import owner_of
from ..base import dtypes
from ..base.callers import Where
from ..base.devices import CPU, device
from ..base.dtypes import FLOATING, dtype
from ..core.tensor import Tensor
from ..declare.op import Op
from ..nn._module.calls import CALLS, Call
from .storage import WeakIdentityMap, same_memory

KINDS = ("input", "output", "parameter", "buffer", "constant", "mask", "index", "stat")

_STATS = frozenset({"mean", "rstd", "invstd", "var", "lse", "logsumexp", "alpha", "norm"})
_MASKS = frozenset({"mask", "kept", "noise"})
_EXACT = frozenset({"log_softmax", "logsumexp", "ctc"})  # like the operations in `ops/loss*.py`

_ordinal = count().__next__
_serial = count(1).__next__


_serials: WeakIdentityMap[int] = WeakIdentityMap()


def _distinct_bytes(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> int:
    """Return the bytes of an array's distinct elements: expanded dimensions count as one element."""
    return itemsize * prod(n if stride or not n else 1 for n, stride in zip(shape, strides, strict=True))


def is_exact(op: Op) -> bool:
    """Return whether lossy policies must not round what an operation saves, as for losses."""
    return op.name.lstrip("_") in _EXACT or op.forward.__module__.rpartition(".")[2].startswith("loss")


class LearnedInfo(NamedTuple):
    """The node and slot that save a tensor of an installed torch, learned in an earlier step.

    Attributes:
        label: the name of the node, and the slot.
        names: the names of the operation, torch's first.
        exact: whether lossy policies must not round it.
        kind: the value for `SavedInfo.kind` if node and slot imply it, else "".
    """

    label: tuple[str, str]
    names: tuple[str, ...]
    exact: bool
    kind: str


class BriefInfo:
    """A cheap stand-in for a `SavedInfo`, which `full` makes when it is needed."""

    policy = tier = ""
    pack_seconds = unpack_seconds = 0.0
    unpacks = 0
    packed_bytes: int | None = None
    _node: Any = None
    _where: Any = None

    def __init__(self, label: tuple[str, str], node: Any, where: Any) -> None:
        self.label = label
        self._node = None if node is None else ref(node)
        self._where = where

    @property
    def node(self) -> Any:
        """The node that saves it; None once the node is freed."""
        return None if self._node is None else self._node()

    def full(self, tensor: Tensor) -> SavedInfo:
        """Return the `SavedInfo` of the tensor."""
        return SavedInfo(tensor, self.label, self.node, self._where)


class SavedInfo(BriefInfo):
    """The metadata of one saved tensor. A policy's `pack` gets it with the tensor; `saved.record()` lists it.

    Args:
        tensor: the tensor that is saved.
        label: the name of the node that saves it, and the name under which it does: `node_name` and `slot`.
        node: that node, which is held weakly.

    Attributes:
        node_name: the name of the node that saves it, as in torch: "MulBackward0".
        slot: the name under which the node saves it: "input", "other", "out", "mask".
        kind: one of "input", "output" (of the operation that saves it), "parameter", "buffer", "constant" (needs no
            gradient), "mask", "index", "stat" (a mean, a norm: one number that many elements depend on).
        shape: the shape of the tensor.
        dtype, device: the dtype and device of the tensor.
        nbytes: bytes of its distinct elements: expanded dimensions count as one element.
        strides: in elements, or None where the array library has none.
        version: the version of the tensor when it was saved.
        offset: bytes from the start of the storage to the first element.
        ordinal: a serial number, in the order of saving.
        name: the name that `saved.name` gave it, or None.
        where: the place in the user's program: `file`, `line`, `function`; or None.
        exact: whether a loss or statistics depend on it, so that lossy policies must not round it.
        learned: for a tensor of an installed torch, what `saved.torch` has learned about it; None otherwise.
        pack_seconds, unpack_seconds, unpacks: the time spent in hooks, and how often it was unpacked.
        packed_bytes, policy, tier: set by the policy: the bytes it keeps, the policies that applied, and where
            the bytes are ("memory", "disk", ...).

    Example::

        >>> import gradpack as torch
        >>> from gradpack import saved
        >>> class Seen(saved.Policy):
        ...     def pack(self, tensor, info):
        ...         print(info.node_name, info.slot, info.kind, tuple(info.shape), info.nbytes)
        ...         return tensor
        ...     def unpack(self, packed):
        ...         return packed
        >>> x = torch.ones(2, 3, requires_grad=True)
        >>> with Seen():
        ...     y = (x.exp() * torch.ones(3)).sum()
        ExpBackward0 out output (2, 3) 24
        MulBackward0 other constant (3,) 12
    """

    node_name = slot = _what = ""
    offset = 0
    name: str | None = None
    strides: tuple[int, ...] | None = None
    learned: LearnedInfo | None = None
    _call: Call | None = None
    _op: Op | None = None
    _owner: Any = staticmethod(lambda: None)

    def __init__(self, tensor: Tensor, label: tuple[str, str], node: Any = None, where: Any = None) -> None:
        data: Any = tensor._data
        self.node_name, self.slot = label
        self._where = where
        self.ordinal = _ordinal()
        self.shape = tensor._shape
        self.spec = tensor._spec
        self.version = int(tensor._counter[0])
        self.name = tensor.__dict__.get("_saved_name")
        self._call = CALLS.get()
        op = None
        if node is not None:
            self._node, op = ref(node), getattr(node, "op", None)
        self._op = op = op if isinstance(op, Op) else None
        self._what = "input" if op is None or label[1] not in op.saved else op.saves(label[1])
        whole = owner_of(data)
        self._owner = ref(whole)
        strides = getattr(data, "strides", None)
        size = self.spec.dtype.itemsize
        self.nbytes = size * tensor.numel()
        if strides is not None:
            self.strides = tuple(s // size for s in strides)
            if 0 in strides:
                self.nbytes = _distinct_bytes(self.shape, strides, size)
            if whole is not data:
                address = self.spec.backend.address
                self.offset = address(data) - address(whole)
        self.kind = self._kind_of(tensor)

    def learn(self, learned: LearnedInfo) -> None:
        """Set node, slot and kind from what an earlier step has shown."""
        self.learned = learned
        self.node_name, self.slot = learned.label
        if learned.kind and self.kind in ("input", "constant"):
            self.kind = learned.kind

    def _kind_of(self, tensor: Tensor) -> str:
        root = tensor
        while root._view is not None:
            root = root._view.parent
        if root._is_param:
            return "parameter"
        call = self._call
        while call is not None:
            module = call.module()
            if module is not None:
                for kind, held in (("parameter", "_parameters"), ("buffer", "_buffers")):
                    for candidate in module.__dict__[held].values():
                        if candidate is not None and same_memory(candidate._data, tensor._data):
                            return kind
            call = call.outer
        dtype = tensor._spec.dtype
        if dtype.name == "bool" or self.slot in _MASKS:
            return "mask"
        if dtype.category < FLOATING:
            return "index"
        if self.slot in _STATS:
            return "stat"
        if self._what in ("residual", "result"):
            return "output"
        return "input" if tensor._edge is not None or root._edge is not None else "constant"

    @property
    def op(self) -> str:
        """The name of the operation, such as "mul"; else of what saves it: the class of a `Function`, "checkpoint"."""
        if self.learned is not None:
            return self.learned.names[0]
        if self._op is not None:
            return self._op.name.lstrip("_")
        return self.node_name.removesuffix("Backward0").removesuffix("Backward")

    @property
    def names(self) -> tuple[str, ...]:
        """All names of the operation, and that of the node."""
        known = (self.op,) if self.learned is None else self.learned.names
        return (*known, self.node_name)

    @property
    def dtype(self) -> dtype:
        return self.spec.dtype

    @property
    def device(self) -> device:
        return self.spec.device

    @property
    def module(self) -> str:
        """The path of the module that was running, "blocks.0.mlp.1"; "" for the outermost, or outside of modules."""
        return "" if self._call is None else self._call.path

    @property
    def modules(self) -> tuple[str, ...]:
        """The class names of the modules that were running, from the outermost to the innermost."""
        found = []
        call = self._call
        while call is not None:
            module = call.module()
            found.append("" if module is None else type(module).__name__)
            call = call.outer
        return tuple(reversed(found))

    @property
    def storage(self) -> int | None:
        """A number for its storage, the same for views and never reused; None once the storage is freed."""
        whole = self._owner()
        return None if whole is None else storage_number(whole)

    @property
    def storage_bytes(self) -> int:
        """The bytes of the whole storage that it keeps alive; 0 once the storage is freed."""
        whole = self._owner()
        return 0 if whole is None else int(whole.nbytes)

    @property
    def exact(self) -> bool:
        if self.kind == "stat":
            return True
        if self.learned is not None:
            return self.learned.exact
        return self._op is not None and is_exact(self._op)

    @property
    def compares(self) -> bool:
        """Whether backward compares it with a bound or with the result, so that rounding would change the gradient."""
        return self._op is not None and self._op.compares

    @property
    def where(self) -> Where | None:
        return None if self._where is None else Where(*self._where)

    @property
    def file(self) -> str | None:
        return None if self.where is None else self.where.file

    @property
    def line(self) -> int | None:
        return None if self.where is None else self.where.line

    def __repr__(self) -> str:
        return (
            f"<{self.slot!r} of {self.node_name}: {self.kind}, {self.dtype.name}{list(self.shape)}, {self.nbytes} bytes"
            f"{f', in {self.module}' if self.module else ''}{f', at {self.where}' if self.where else ''}>"
        )


def storage_number(whole: Any) -> int:
    """Return a number for an array that owns its memory; it is never reused."""
    found = _serials.get(whole)
    return _serials.set(whole, _serial()) if found is None else found


def described(tensor: Any) -> SavedInfo:
    """Return the `SavedInfo` of a tensor alone: node and slot are empty."""
    if isinstance(tensor, Tensor):
        return SavedInfo(tensor, ("", ""))
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(tensor, torch.Tensor):
        raise TypeError(f"a policy packs tensors, not {type(tensor).__name__}")
    root = tensor if tensor._base is None else tensor._base
    kind = "parameter" if isinstance(root, torch.nn.Parameter) else None
    kind = kind or ("input" if tensor.requires_grad else "constant")
    dtype = getattr(dtypes, str(tensor.dtype).rpartition(".")[2].replace("bool", "bool_"))
    info = SavedInfo.__new__(SavedInfo)  # hooks of another library are not told node and slot
    info.shape, info.strides, info.version = tuple(tensor.shape), tensor.stride(), tensor._version
    info.spec = NUMPY.spec_for(dtype, CPU)
    info.nbytes = _distinct_bytes(info.shape, tensor.stride(), dtype.itemsize)
    info.kind = "mask" if dtype.name == "bool" else kind if dtype.category >= FLOATING else "index"
    info.ordinal = _ordinal()
    return info
