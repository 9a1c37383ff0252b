"""Tensors whose numbers stay with JAX until somebody asks for them.

After a program, the arrays of parameters and of the state of optimizers are those of JAX. To bring them to NumPy at
each step would cost as much as a small step, so a tensor that nobody else shares memory with gets another class, which
is left at the first look at the tensor: then it is what it was, around a new array of NumPy's.
"""

from __future__ import annotations

import sys
from typing import Any

from ...backends.memory_layout import _array_type
from ...core.parameter import Parameter
from ...core.tensor import Tensor
from ...graph.node import AccumulateGrad
from .packing import fetched

_slot: Any = vars(Tensor)["_data"]
counter_of: Any = vars(Tensor)["_counter"].__get__
edge_of: Any = vars(Tensor)["_edge"].__get__
leaf_of: Any = vars(Tensor)["_leaf_state"].__get__
held_by: Any = _slot.__get__
_set: Any = _slot.__set__
_look = object.__getattribute__
# What does not depend on the numbers, nor gives away their memory.
_HARMLESS = frozenset(
    "_edge _spec _shape _counter _view _leaf_state _own_grad _is_param _version __dict__ __class__ __weakref__ grad "
    "requires_grad is_leaf shape dtype device ndim layout size numel dim ndimension retains_grad "
    "__torch_function__".split()
)


def _shown(self: Any, *, tensor_contents: object = None) -> str:
    bring(self)
    return repr(self)


class DeferredTensor(Tensor):
    """A tensor whose array is one of JAX's. It becomes a plain one at the first look."""

    __slots__ = ()
    __module__ = "gradpack"

    def __getattribute__(self, name: str) -> Any:
        if name not in _HARMLESS:
            bring(self)
        return _look(self, name)

    __repr__: Any = _shown

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        for each in (*args, *(kwargs or {}).values()):
            bring_all(each)
        return func(*args, **(kwargs or {}))


class DeferredParameter(Parameter):
    """A parameter whose array is one of JAX's. It becomes a plain one at the first look."""

    __slots__ = ()
    __module__ = "gradpack.nn.parameter"
    __getattribute__ = DeferredTensor.__getattribute__
    __repr__: Any = _shown
    __torch_function__ = vars(DeferredTensor)["__torch_function__"]


DeferredTensor.__qualname__ = DeferredTensor.__name__ = "Tensor"
DeferredParameter.__qualname__ = DeferredParameter.__name__ = "Parameter"
CLASSES: dict[type, type] = {Tensor: DeferredTensor, Parameter: DeferredParameter}
_PLAIN = {deferred: plain for plain, deferred in CLASSES.items()}


def plain_class(kind: type) -> type:
    """Return the class that a tensor has when its numbers are looked at."""
    return _PLAIN.get(kind, kind)


def bring(tensor: Any) -> None:
    """Give a deferred tensor its array of NumPy's, and its class."""
    plain = _PLAIN.get(type(tensor))
    if plain is not None:
        held = held_by(tensor)
        if type(held) is not _array_type:
            _set(tensor, fetched(held))
        tensor.__class__ = plain
        if type(tensor._edge) is AccumulateGrad:
            tensor._leaf_state.follow(tensor)
            tensor._leaf_state.kind = plain


def bring_all(value: Any) -> None:
    """Do so for all tensors in nested values."""
    if isinstance(value, tuple | list):
        for item in value:
            bring_all(item)
    elif isinstance(value, dict):
        bring_all(list(value.values()))
    else:
        bring(value)


def is_shared(tensor: Any) -> bool:
    """Return whether something beside a plain tensor can see its memory."""
    array = held_by(tensor)
    leaf = type(tensor._edge) is AccumulateGrad and tensor._leaf_state.data is array
    if sys.getrefcount(array) > 3 + leaf:  # the tensor, the name here, and the argument
        return True
    base = array.base
    while base is not None:
        if type(base) is not _array_type or sys.getrefcount(base) > 3:
            return True
        del array
        array, base = base, base.base
    return False


def put(tensor: Any, array: Any) -> None:
    """Give a tensor an array or a `Part`: later if only it can see its memory, else its numbers at once, in place."""
    kind = type(tensor)
    if kind in CLASSES and not is_shared(tensor):
        tensor.__class__ = kind = CLASSES[kind]
        if type(edge_of(tensor)) is AccumulateGrad:
            leaf_of(tensor).kind = kind
    if kind not in _PLAIN:
        tensor._data[...] = fetched(array)
        return
    _set(tensor, array)
    if type(edge_of(tensor)) is AccumulateGrad:
        leaf_of(tensor).data = array


def new(array: Any, spec: Any, shape: tuple[int, ...]) -> Any:
    """Return a new tensor around an array of JAX's, or a `Part`."""
    made = object.__new__(DeferredTensor)
    _set(made, array)
    made._spec, made._shape, made._edge, made._counter, made._view = spec, shape, None, [0], None
    return made
