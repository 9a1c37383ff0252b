"""Attributes of a node for its saved tensors: `grad_fn._saved_self`, `grad_fn._raw_saved_self`."""

from __future__ import annotations

from typing import Any

from ...backends import NUMPY, backend_of
from ...base.devices import CPU
from ...base.dtypes import scalar_dtype
from ...base.errors import saved_was_freed
from ...base.modes import MODE
from ...core.packed import Packed, pack_array, pack_input
from ...core.saved import FREED, Constant, unpack_input, unpack_result
from ...core.tensor import Tensor, wrap
from .make_node import SavedList
from .torch_names import COMMON, attributes, read


def names(node: Any) -> list[str]:
    """Return the names of a node's `_saved_...` and `_raw_saved_...` attributes, as in torch."""
    op = node.op
    known = attributes(node)
    if known is None:
        ours = {v: k for k, v in COMMON.items()}
        known = {ours.get(n, n): n for n in node.saves if n in ours or not n.endswith(("_shape", "_dtype"))}
    tensors = [k for k, where in known.items() if _is_tensor(op, where) and not _is_number(node, where)]
    return [*("_saved_" + k for k in known), *("_raw_saved_" + k for k in tensors)]


def _is_tensor(op: Any, where: str) -> bool:
    name, _, what = where.partition(".")
    return what == "indices" or (what in ("", "T") and name in op.saved and op.saves(name) not in ("meta", "constant"))


def _is_number(node: Any, where: str) -> bool:
    return isinstance(getattr(node, where, None), bool | int | float | complex) and node.shows_number(where)


def get(node: Any, full: str) -> Any:
    """The attribute `_saved_...` or `_raw_saved_...` of a node.

    Raises:
        AttributeError: if it has none of that name.
        RuntimeError: if it was freed, or written to.
    """
    is_raw, name = full.startswith("_raw"), full.partition("_saved_")[2]
    op = node.op
    where = (attributes(node) or {}).get(name)
    if where is None and name not in op.saved:
        where = COMMON.get(name)
    where = name if where is None else where
    if where.isidentifier() and where not in op.saved:
        raise AttributeError(f"{node.name()!r} object has no attribute {full!r}")
    if not is_raw:
        return read(node, where, lambda n: _value(node, n))
    if not _is_tensor(op, where):
        raise AttributeError(f"{node.name()!r} object has no attribute {full!r}")
    own, _, what = where.partition(".")
    if what == "indices":
        items = ["first", "second"] if own == "pair" else [None] * node.start + ["index"]
        return tuple(SavedTensor._of(node, item) for item in items)
    return SavedTensor._of(node, own)


def _value(node: Any, name: str) -> Any:
    if not hasattr(node, name) or name not in node.needs:  # only another input's gradient would have needed it
        return None
    if getattr(node, name) is FREED:
        raise saved_was_freed(node.name(), name)
    value = node._value(name, node._sources())
    if isinstance(value, Tensor) or node.op.saves(name) in ("meta", "constant"):
        return value
    if isinstance(value, bool | int | float | complex):
        return value if node.shows_number(name) else _number(value)
    if isinstance(value, list):
        return tuple(value)
    return wrap(value) if backend_of(type(value)) is not None else value


def _number(value: Any) -> Tensor:
    return wrap(NUMPY.asarray(value, scalar_dtype(value), CPU))


class PackedNumber(Constant):
    """A saved number that a hook has packed as a tensor without dimensions."""

    __slots__ = ("node", "packed", "slot")

    def __init__(self, packed: Packed, node: str, slot: str) -> None:
        self.packed, self.node, self.slot = packed, node, slot

    @property
    def value(self) -> Any:
        return self.packed.get(self, self.slot).item()

    def name(self) -> str:
        return self.node


class SavedTensor:
    """A saved tensor before unpacking, to register hooks on: `grad_fn._raw_saved_self`."""

    __slots__ = ("_node", "_slot")

    _node: Any
    _slot: str | None  # None for a place that holds no tensor

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")

    @classmethod
    def _of(cls, node: Any, slot: str | None) -> SavedTensor:
        made = object.__new__(cls)
        made._node, made._slot = node, slot
        return made

    def register_hooks(self, pack_hook: Any = None, unpack_hook: Any = None, /) -> None:
        """Pack this saved tensor now with `pack_hook`; `unpack_hook` gives it back when it is needed.

        Raises:
            RuntimeError: if it has been freed, has hooks already, or is None.
        """
        for hook in (pack_hook, unpack_hook):
            if not callable(hook):
                raise TypeError(
                    f"register_hooks(): incompatible function arguments: it takes two callables, not "
                    f"{type(hook).__name__}"
                )
        node, slot, saved = self._node, self._slot, self._saved
        if saved is FREED:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the "
                "graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need "
                "to backward through the graph a second time or if you need to access saved variables after calling "
                "backward."
            )
        if isinstance(saved, Packed | PackedNumber):
            raise RuntimeError(
                "Calling register_hooks on a saved tensor whose hooks have already been set. "
                "Hint: only one pair of hooks is allowed at a time."
            )
        if saved is None or slot is None:
            raise RuntimeError("Calling register_hooks on a saved tensor with value None is forbidden")
        mode = MODE.get().replace(hooks=(pack_hook, unpack_hook), mutation=None)
        label = (node.name(), slot)
        packed: Any
        if isinstance(saved, Tensor):
            unpack_input(node, slot)  # raises if it was written to
            packed = pack_input(mode, saved, label)
        elif isinstance(saved, bool | int | float | complex):
            packed = PackedNumber(pack_input(mode, _number(saved), label), *label)
        elif node.op.saves(slot) == "input" or isinstance(saved, SavedList):
            packed = pack_input(mode, wrap(unpack_input(node, slot)), label)
        else:
            packed = pack_array(mode, unpack_result(node, slot), getattr(node, slot + "_c"), label)
        setattr(node, slot, packed)

    @property
    def _saved(self) -> Any:
        return None if self._slot is None else getattr(self._node, self._slot, None)

    @property
    def data(self) -> Any:
        """The saved tensor, what its pack hook returned, or None."""
        saved = self._saved
        if saved is None or saved is FREED:
            return None
        packed = saved.packed if isinstance(saved, PackedNumber) else saved
        if isinstance(packed, Packed):
            return packed.handle
        return packed if isinstance(packed, Tensor) else self.unpack()

    @property
    def unpack_hook(self) -> Any:
        """The hook that gives the tensor back, or None."""
        saved = self._saved
        packed = saved.packed if isinstance(saved, PackedNumber) else saved
        return packed.unpack if isinstance(packed, Packed) else None

    def unpack(self) -> Any:
        """The tensor, or None.

        Raises:
            RuntimeError: if it was freed, or written to.
        """
        return None if self._slot is None else _value(self._node, self._slot)


SavedTensor.__module__ = "gradpack._C._autograd"
