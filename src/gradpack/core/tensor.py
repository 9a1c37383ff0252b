"""Tensor: an array, and the edge of the graph that its gradient flows into.

Operations are attached as methods by the layers above; here is what every tensor has.
"""

from __future__ import annotations

import warnings
import weakref
from typing import TYPE_CHECKING, Any

from ..backends import Spec, spec_of
from ..base import late
from ..base.dtypes import FLOATING
from ..base.errors import inside_a_transform, is_foreign, mixed
from ..base.modes import MODE, TRANSFORMS
from ..graph.node import AccumulateGrad, Node, NoGradEdge, OutputSlot, TransformInput
from ..kernels.dispatch import HEAVY, SEEN, note_large
from .leaf_lifetime import LeafState
from .properties import TensorBase

_new = object.__new__

_ONLY_LEAVES = "you can only change requires_grad flags of leaf variables."
_DETACH = (
    "If you want to use a computed variable in a subgraph that doesn't require differentiation use var_no_grad = "
    "var.detach()."
)

# Weak references to the tensors that have tangents, by id.
DUALS: dict[int, weakref.ref[Tensor]] = {}


class InferenceCounter(list[int]):
    """The version counter of an inference tensor, which tracks none: reading it, as saving the tensor does, raises."""

    def __getitem__(self, index: Any) -> Any:
        raise RuntimeError(
            "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode "
            "in computation tracked by autograd. To work around this, you can make a clone to get a normal tensor "
            "and use it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`."
        )


class View:
    """Marks a tensor as a view: the tensor it was taken from, and how to replay the view.

    Attributes:
        replay, args: the operation, and its arguments after the tensor.
        meta: why in-place writes to this view are forbidden under grad mode, if they are.
        version: of the storage when the view's edge was made.
    """

    __slots__ = ("args", "meta", "parent", "replay", "version")

    def __init__(self, parent: Tensor, replay: Any, args: tuple[Any, ...], meta: str | None) -> None:
        self.parent, self.replay, self.args, self.meta = parent, replay, args, meta
        self.version = 0 if type(parent._counter) is InferenceCounter else parent._counter[0]

    def replayed(self, source: Tensor) -> Tensor:
        return self.replay(source, *self.args)


class Tensor(TensorBase):
    """A multi-dimensional array with automatic differentiation.

    Make one with `gradpack.tensor`, `zeros`, `randn`, `from_numpy` and so on.

    Example::

        >>> import gradpack as torch
        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> (x * x).sum().backward()
        >>> x.grad
        tensor([2., 4.])
    """

    __module__ = "gradpack"  # as torch has it: pickles name the public place
    # shape stays beside the array: comparing tuples is cheaper than building them
    __slots__ = ("__dict__", "__weakref__", "_counter", "_data", "_edge", "_leaf_state", "_shape", "_spec", "_view")

    _data: Any  # the array
    _shape: tuple[int, ...]
    _spec: Spec  # dtype, device and backend
    _edge: Node | None  # where the gradient goes
    _counter: list[int]  # counts writes; one per storage, shared by views: it is the storage's identity
    _view: View | None
    _leaf_state: LeafState  # of leaves that require grad only

    # rare state lives in __dict__, with these defaults
    _own_grad: Any = None  # `.grad` of any tensor but leaves that require grad
    _is_param: bool = False
    _relaid: bool = False  # size or strides were changed in place: replaying the view no longer gives them
    _shown_as = "tensor"  # the name in `repr`; subclasses print by their own

    __array_priority__ = 1000  # `array * tensor` asks the tensor

    if TYPE_CHECKING:  # attached by copying.py

        def __deepcopy__(self, memo: dict[int, Any]) -> Tensor: ...
        def __reduce_ex__(self, protocol: Any) -> Any: ...

    def __new__(cls, *args: Any, device: Any = None, **kwargs: Any) -> Any:
        from .legacy_constructors import legacy_new

        return legacy_new(cls, (kwargs["data"],) if "data" in kwargs else args, device)

    @property
    def _tangents(self) -> Any:
        """The tangent of a dual tensor; removed when its level ends: see autograd/forward_ad.py."""
        return self.__dict__.get("_tangents")

    @_tangents.setter
    def _tangents(self, value: Any) -> None:
        if value is None:
            self.__dict__.pop("_tangents", None)
            return
        self.__dict__["_tangents"] = value
        key = id(self)
        if key not in DUALS:
            DUALS[key] = weakref.ref(self, lambda _: DUALS.pop(key, None))

    # -- autograd --

    def is_inference(self) -> bool:
        """Whether it was made in inference mode."""
        return type(self._counter) is InferenceCounter

    @property
    def _version(self) -> int:
        """The version counter: how often the storage was modified in place."""
        if type(self._counter) is InferenceCounter:
            raise RuntimeError("Inference tensors do not track version counter.")
        return int(self._counter[0])

    @property
    def grad_fn(self) -> Node | None:
        """The node that made this tensor, or None for a leaf."""
        edge = self._edge
        if self._view is not None:
            from .views import renew

            renew(self)
            edge = self._edge
        if edge is None or type(edge) in (AccumulateGrad, NoGradEdge, TransformInput):
            return None
        node, nr, outputs = (edge.parent, edge.nr, edge.outputs) if isinstance(edge, OutputSlot) else (edge, 0, 1)
        if len(getattr(node, "_like", ())) != outputs:
            node._like = [None] * outputs
        node._like[nr] = self._shape, self._spec
        return node.settled()

    @property
    def output_nr(self) -> int:
        """The number of this tensor among the outputs of its grad_fn."""
        edge = self._edge
        return edge.nr if isinstance(edge, OutputSlot) else 0

    @property
    def is_leaf(self) -> bool:
        """Whether it is a leaf: no recorded operation made it."""
        if self._view is not None:  # its edge may have to be remade
            return self.grad_fn is None
        edge = self._edge
        return edge is None or type(edge) in (AccumulateGrad, NoGradEdge, TransformInput)

    @property
    def requires_grad(self) -> bool:
        """Whether autograd records operations on this tensor, or on the one that it is a view of."""
        if self._view is not None and (self._edge is None or type(self._edge) is NoGradEdge):
            from .views import base_of

            return type(self._counter) is list and base_of(self)._edge is not None
        return self._edge is not None

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        if wanted is not True and wanted is not False:
            raise RuntimeError("requires_grad must be a bool")
        if not self._spec.numpy and self._spec.backend.follow(self, wanted):
            return
        edge = self._edge
        if type(edge) is NoGradEdge:
            edge = None
        if edge is not None and type(edge) is not AccumulateGrad:
            if wanted and type(edge) is TransformInput:
                return
            raise RuntimeError(_ONLY_LEAVES if wanted else f"{_ONLY_LEAVES} {_DETACH}")
        if not wanted:
            if edge is not None:  # kept, with its hooks, for when grad is required again
                if edge.grad is not None:
                    self._own_grad, edge.grad = edge.grad, None
                self.__dict__["_aside"], self._edge = edge, None
            return
        if edge is not None:
            return
        if self._spec.dtype.category < FLOATING:
            raise RuntimeError(
                f"only Tensors of floating point and complex dtype can require gradients, and this one is {self.dtype}"
            )
        if type(self._counter) is InferenceCounter and not MODE.get().inference:
            raise RuntimeError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
        leaf = self.__dict__.pop("_aside", None)
        if leaf is None:
            leaf = AccumulateGrad(weakref.ref(self))
            self._leaf_state = LeafState(self, leaf)
        leaf.grad, self._own_grad = self._own_grad, None
        if "_grad_dtype" in self.__dict__ or self._spec.flow is not self._spec.dtype:
            from .data import apply_grad_dtype

            apply_grad_dtype(self, leaf)
        self._edge = leaf

    @requires_grad.deleter
    def requires_grad(self) -> None:
        raise RuntimeError("requires_grad must be a bool")

    def _follow(self, wanted: bool = True) -> Tensor:
        """`requires_grad_` without its checks."""
        self.requires_grad = wanted
        return self

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Set whether autograd records operations on this leaf; returns it.

        Args:
            requires_grad: whether they are recorded.

        Raises:
            RuntimeError: for integer dtypes, and for False on a tensor that is not a leaf.
        """
        if not isinstance(requires_grad, bool):
            raise TypeError(
                "requires_grad_(): argument 'requires_grad' (position 1) must be bool, not "
                f"{type(requires_grad).__name__}"
            )
        if TRANSFORMS.get() or MODE.get().levels:
            raise inside_a_transform("requires_grad_")
        if requires_grad and self._spec.dtype.category < FLOATING:
            raise RuntimeError(
                f"only Tensors of floating point dtype can require gradients (or complex), and this one is {self.dtype}"
            )
        if not requires_grad or self.is_leaf:
            self.requires_grad = requires_grad
        return self

    @property
    def grad(self) -> Tensor | None:
        """The accumulated gradient, or None."""
        edge = self._edge
        if type(edge) is AccumulateGrad:
            return edge.grad
        if edge is not None and type(edge) is not NoGradEdge and self._own_grad is None and not self.retains_grad:
            warnings.warn(
                "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute "
                "won't be populated during autograd.backward(). If you indeed want the .grad field to be populated "
                "for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor "
                "by mistake, make sure you access the leaf Tensor instead.",
                UserWarning,
                stacklevel=2,
            )
        return self._own_grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            if not isinstance(value, Tensor):
                raise (mixed("grad") if is_foreign(value) else None) or TypeError(
                    f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}"
                )
            if value is self:
                raise RuntimeError("can't assign Variable as its own grad")
            if value._shape != self._shape:
                raise RuntimeError(
                    f"attempting to assign a gradient of size '{list(value._shape)}' to a tensor of size "
                    f"'{list(self._shape)}'. Please ensure that the gradient and the tensor are the same size"
                )
            allowed = self.__dict__.get("_grad_dtype", self._spec.dtype)
            if allowed is not None and value._spec.dtype is not allowed:
                raise RuntimeError(
                    f"attempting to assign a gradient with dtype '{value.dtype}' to a tensor with grad_dtype "
                    f"'{allowed}'. The gradient must match the tensor's grad_dtype (defaults to the tensor's dtype). "
                    "You can set the tensor's grad_dtype attribute with a specific dtype, or None to allow any dtype."
                )
            if value._spec.device != self._spec.device:
                raise RuntimeError(
                    f"attempting to assign a gradient with device type '{value.device.type}' to a tensor with device "
                    f"type '{self.device.type}'. Please ensure that the gradient and the tensor are on the same device"
                )
        if type(self._edge) is AccumulateGrad:
            self._edge.grad = value
        else:
            self._own_grad = value

    @grad.deleter
    def grad(self) -> None:
        _forget_grad(self)

    _grad = grad  # torch's C++ name, which some programs set

    @property
    def retains_grad(self) -> bool:
        """Whether `retain_grad` was called on this non-leaf."""
        from .hooks import retaining

        return retaining(self, self._edge)

    @property
    def _grad_fn(self) -> Node | None:
        """The same as `grad_fn`."""
        return self.grad_fn

    @_grad_fn.setter
    def _grad_fn(self, value: None) -> None:
        if value is not None:
            raise RuntimeError("_grad_fn can be only set to None")
        self.detach_()

    @_grad_fn.deleter
    def _grad_fn(self) -> None:
        raise RuntimeError("Deletion of _grad_fn not allowed. Detach tensor instead!")

    @property
    def _base(self) -> Tensor | None:
        """The tensor that this one is a view of, at the root of a chain of views; None if it is no view."""
        from .views import base_of, is_view

        return base_of(self) if is_view(self) else None

    def _is_view(self) -> bool:
        """Whether this is a view that autograd tracks."""
        from .views import is_view

        return is_view(self)

    def _current_edge(self) -> Node | None:
        """The edge; that of a view is remade if its storage was written to."""
        if self._view is not None:
            late.refresh(self)
        return self._edge

    def detach(self) -> Tensor:
        """A tensor of the same elements, out of the graph: no gradient goes through it. It shares storage and version
        counter.

        Example::

            >>> import gradpack as torch
            >>> x = torch.ones(2, requires_grad=True)
            >>> x.detach().requires_grad
            False
        """
        if type(self) is not Tensor:
            found = _dispatch(Tensor.detach, self)
            if found is not NotImplemented:
                return found
        if not self._spec.numpy:
            out = self._spec.backend.detached(self)
            if out is not None:
                return out
        out = alias(self._data, self._spec, self._shape)
        out._counter = self._counter
        return out


def _dispatch(func: Any, self: Tensor) -> Any:
    return late.dispatch(func, self)


def _forget_grad(tensor: Tensor) -> None:
    tensor.grad = None


def alias(data: Any, spec: Spec, shape: tuple[int, ...], kind: type[Any] = Tensor) -> Any:
    """Return a tensor around an array, without history, with a version counter of its own."""
    out = _new(kind)
    out._data = data
    out._spec = spec
    out._shape = shape
    out._edge = None
    out._counter = [0]
    out._view = None
    if not SEEN and spec.backend.is_numpy and data.size >= 2 * HEAVY:
        note_large(data.size)
    return out


def wrap(array: Any) -> Tensor:
    """Return a tensor around an array of any library that has a backend."""
    spec = spec_of(array)
    return alias(spec.backend.ensure(array), spec, tuple(array.shape))


def raw(value: Any) -> Any:
    """The array of a Tensor; anything else as it is."""
    return value._data if isinstance(value, Tensor) else value
