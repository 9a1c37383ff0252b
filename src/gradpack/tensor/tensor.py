"""Tensor: an array, and the edge of the graph that its gradient flows into.

Operations are attached as methods by the layers above; here is what every tensor has.
"""

from __future__ import annotations

import warnings
import weakref
from typing import TYPE_CHECKING, Any

from ..backends import Spec, spec_of
from ..base.devices import device
from ..base.dtypes import FLOATING, INTEGRAL, dtype
from ..base.dtypes import dtype as Dtype
from ..base.modes import MODE
from ..base.size import Size
from ..graph.node import AccumulateGrad, Node, Nowhere, Slot
from .dropped import Remains

if TYPE_CHECKING:
    from collections.abc import Iterator

_new = object.__new__
_OWN = ("_tangents", "_own_grad", "_aside", "_detached")  # what copies of a tensor do not take over

# The tensors that have tangents, by id, weakly.
DUALS: dict[int, weakref.ref[Tensor]] = {}


class InferenceCounter(list[int]):
    """The version counter of an inference tensor: it has none, and saving the tensor reads it."""

    def __getitem__(self, index: Any) -> Any:
        raise RuntimeError(
            "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode "
            "in computation tracked by autograd. To work around this, you can make a clone to get a normal tensor "
            "and use it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`."
        )


class View:
    """Whose view a tensor is: the tensor it was taken from, and how to take it again."""

    __slots__ = ("args", "meta", "parent", "replay", "version")

    parent: Tensor
    replay: Any  # the operation
    args: tuple[Any, ...]  # its arguments after the tensor
    meta: str | None  # why writing through this view is refused under grad mode, if it is
    version: int  # of the storage when the view's edge was made

    def again(self, source: Tensor) -> Tensor:
        return self.replay(source, *self.args)


class Tensor:
    """A multi-dimensional array that autograd can follow.

    Make one with `gradpack.tensor`, `zeros`, `randn`, `from_numpy` and so on.

    Example::

        >>> import gradpack as torch
        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> (x * x).sum().backward()
        >>> x.grad
        tensor([2., 4.])
    """

    # shape stays beside the array: comparing tuples is cheaper than building them
    __slots__ = ("__dict__", "__weakref__", "_counter", "_data", "_edge", "_remains", "_shape", "_spec", "_view")

    _data: Any  # the array
    _shape: tuple[int, ...]
    _spec: Spec  # dtype, device and backend
    _edge: Node | None  # where the gradient goes
    _counter: list[int]  # counts writes; one per storage, shared by views: it is the storage's identity
    _view: View | None
    _remains: Remains  # of leaves that require grad only

    # rare state lives in __dict__, with these defaults
    _own_grad: Any = None  # `.grad` of a tensor that is not a leaf that requires grad
    _is_param: bool = False
    _relaid: bool = False  # sizes or strides were changed in place: how it was taken says no longer where it lies
    _shown_as = "tensor"  # not for subclasses, which print by their own name

    __array_priority__ = 1000  # `array * tensor` asks the tensor

    if TYPE_CHECKING:  # what the operations attach; the table is in ops/methods.py

        def __getattr__(self, name: str) -> Any: ...

        def __add__(self, other: Any) -> Tensor: ...
        def __radd__(self, other: Any) -> Tensor: ...
        def __sub__(self, other: Any) -> Tensor: ...
        def __rsub__(self, other: Any) -> Tensor: ...
        def __mul__(self, other: Any) -> Tensor: ...
        def __rmul__(self, other: Any) -> Tensor: ...
        def __truediv__(self, other: Any) -> Tensor: ...
        def __rtruediv__(self, other: Any) -> Tensor: ...
        def __floordiv__(self, other: Any) -> Tensor: ...
        def __mod__(self, other: Any) -> Tensor: ...
        def __pow__(self, other: Any) -> Tensor: ...
        def __rpow__(self, other: Any) -> Tensor: ...
        def __matmul__(self, other: Any) -> Tensor: ...
        def __rmatmul__(self, other: Any) -> Tensor: ...
        def __and__(self, other: Any) -> Tensor: ...
        def __or__(self, other: Any) -> Tensor: ...
        def __xor__(self, other: Any) -> Tensor: ...
        def __neg__(self) -> Tensor: ...
        def __abs__(self) -> Tensor: ...
        def __invert__(self) -> Tensor: ...
        def __lt__(self, other: Any) -> Tensor: ...
        def __le__(self, other: Any) -> Tensor: ...
        def __gt__(self, other: Any) -> Tensor: ...
        def __ge__(self, other: Any) -> Tensor: ...
        def __eq__(self, other: object) -> Tensor: ...  # type: ignore[override]
        def __ne__(self, other: object) -> Tensor: ...  # type: ignore[override]
        def __getitem__(self, index: Any) -> Tensor: ...
        def __setitem__(self, index: Any, value: Any) -> None: ...

    def __new__(cls, data: Any = None, *args: Any, **kwargs: Any) -> Any:
        from .construct import legacy_new

        return legacy_new(cls, data, *args, **kwargs)

    @property
    def _tangents(self) -> Any:
        """The tangent of a dual tensor. The level that ends takes it away: see autograd/forward_ad.py."""
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

    # -- what it is --

    @property
    def shape(self) -> Size:
        """The size of each dimension, as a `Size`."""
        return Size(self._shape)

    @property
    def dtype(self) -> dtype:
        return self._spec.dtype

    @property
    def device(self) -> device:
        return self._spec.device

    @property
    def ndim(self) -> int:
        return len(self._shape)

    @property
    def itemsize(self) -> int:
        return self._spec.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.numel() * self._spec.dtype.itemsize

    @property
    def is_cuda(self) -> bool:
        return self._spec.device.type == "cuda"

    @property
    def is_cpu(self) -> bool:
        return self._spec.device.type == "cpu"

    @property
    def is_sparse(self) -> bool:
        return False

    @property
    def is_quantized(self) -> bool:
        return False

    @property
    def is_meta(self) -> bool:
        return False

    @property
    def is_nested(self) -> bool:
        return False

    def dim(self) -> int:
        """The number of dimensions."""
        return len(self._shape)

    ndimension = dim

    def numel(self) -> int:
        """The number of elements."""
        n = 1
        for size in self._shape:
            n *= size
        return n

    nelement = numel

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the size of one dimension."""
        if dim is None:
            return Size(self._shape)
        if not -max(len(self._shape), 1) <= dim < max(len(self._shape), 1) or not self._shape:
            from ..base.errors import dim_out_of_range

            raise dim_out_of_range(dim, len(self._shape))
        return self._shape[dim]

    def element_size(self) -> int:
        """Bytes per element."""
        return self._spec.dtype.itemsize

    def stride(self, dim: int | None = None) -> Any:
        """Steps between neighbours of each dimension, in elements."""
        size = self._data.itemsize
        if 0 in self._shape:  # NumPy's are all 0 then
            strides, step = [], 1
            for n in reversed(self._shape):
                strides.append(step)
                step *= max(n, 1)
            strides.reverse()
        else:
            strides = [s // size for s in self._data.strides]
        return tuple(strides) if dim is None else strides[dim]

    def storage_offset(self) -> int:
        """Where the tensor starts in its storage, in elements."""
        owner = self._data
        while getattr(owner, "base", None) is not None and hasattr(owner.base, "__array_interface__"):
            owner = owner.base
        start = self._data.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
        return int(start // self._data.itemsize)

    def data_ptr(self) -> int:
        """The address of the first element."""
        return int(self._data.__array_interface__["data"][0])

    def is_contiguous(self, memory_format: Any = None) -> bool:
        """Whether the elements lie in row-major order without gaps."""
        return bool(self._data.flags.c_contiguous)

    def is_floating_point(self) -> bool:
        """Whether the dtype is a floating-point one."""
        return self._spec.dtype.category == FLOATING

    def is_complex(self) -> bool:
        """Whether the dtype is a complex one."""
        return self._spec.dtype.is_complex

    def is_signed(self) -> bool:
        """Whether the dtype has negative values."""
        return self._spec.dtype.is_signed

    def is_conj(self) -> bool:
        """Whether it is a lazily conjugated view: never, conjugates are computed."""
        return False

    def is_neg(self) -> bool:
        """Whether it is a lazily negated view: never."""
        return False

    def is_inference(self) -> bool:
        """Whether it was made in inference mode."""
        return type(self._counter) is InferenceCounter

    def is_same_size(self, other: Tensor) -> bool:
        """Whether the shapes are equal."""
        return self._shape == other._shape

    def get_device(self) -> int:
        """The index of the device; -1 for the CPU."""
        return -1 if self._spec.device.type == "cpu" else self._spec.device.index or 0

    # -- autograd --

    @property
    def _version(self) -> int:
        """How often the storage was written to."""
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
        if edge is None or type(edge) is AccumulateGrad or type(edge) is Nowhere:
            return None
        node, nr, outputs = (edge.parent, edge.nr, edge.outputs) if isinstance(edge, Slot) else (edge, 0, 1)
        if len(getattr(node, "_like", ())) != outputs:
            node._like = [None] * outputs
        node._like[nr] = self._shape, self._spec
        return node.settled()

    @property
    def output_nr(self) -> int:
        """Which output of its node the tensor is."""
        edge = self._edge
        return edge.nr if isinstance(edge, Slot) else 0

    @property
    def is_leaf(self) -> bool:
        """Whether it was made by the user and not by a recorded operation."""
        if self._view is not None:  # its history may have to be made again
            return self.grad_fn is None
        edge = self._edge
        return edge is None or type(edge) is AccumulateGrad or type(edge) is Nowhere

    @property
    def requires_grad(self) -> bool:
        """Whether autograd follows this tensor, or the one that it is a view of."""
        if self._edge is None and self._view is not None:
            from .views import base_of

            return base_of(self)._edge is not None
        return self._edge is not None

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        if wanted is not True and wanted is not False:
            raise RuntimeError("requires_grad must be a bool")
        edge = self._edge
        if type(edge) is Nowhere:
            edge = None
        if edge is not None and type(edge) is not AccumulateGrad:
            if wanted:
                return
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables. If you want to use a computed variable "
                "in a subgraph that doesn't require differentiation use var_no_grad = var.detach()."
            )
        if not wanted:
            if edge is not None:  # put aside, with its hooks, for when it is wanted again
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
            self._remains = Remains(self, leaf)
        leaf.grad, self._own_grad = self._own_grad, None
        if "_grad_dtype" in self.__dict__:
            self._tell_grad_dtype(leaf)
        self._edge = leaf

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Set whether autograd follows this leaf; returns it.

        Raises:
            RuntimeError: for integer dtypes, and for False on a tensor that is not a leaf.
        """
        if not isinstance(requires_grad, bool):
            raise TypeError(
                "requires_grad_(): argument 'requires_grad' (position 1) must be bool, not "
                f"{type(requires_grad).__name__}"
            )
        if requires_grad and self._spec.dtype.category < FLOATING:
            raise RuntimeError(
                f"only Tensors of floating point dtype can require gradients (or complex), and this one is {self.dtype}"
            )
        self.requires_grad = requires_grad
        return self

    @property
    def grad(self) -> Tensor | None:
        """The accumulated gradient, or None."""
        edge = self._edge
        if type(edge) is AccumulateGrad:
            return edge.grad
        if edge is not None and type(edge) is not Nowhere and self._own_grad is None and not self.retains_grad:
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
                raise TypeError(
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
                    f"assigned grad has data located on a different device: {value.device} instead of {self.device}"
                )
        if type(self._edge) is AccumulateGrad:
            self._edge.grad = value
        else:
            self._own_grad = value

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    @property
    def grad_dtype(self) -> Dtype | None:
        """The dtype of this leaf's `.grad`: gradients are cast to it. By default the leaf's own; None allows any.

        Raises:
            RuntimeError: for a tensor that is not a leaf, or when `.grad` has another dtype already.
        """
        if not self.is_leaf:
            raise RuntimeError("grad_dtype can only be accessed on leaf tensors.")
        found: Dtype | None = self.__dict__.get("_grad_dtype", self._spec.dtype)
        return found

    @grad_dtype.setter
    def grad_dtype(self, wanted: Dtype | None) -> None:
        if wanted is not None and not isinstance(wanted, Dtype):
            raise RuntimeError(f"grad_dtype must be a torch.dtype or None, but got {type(wanted).__name__}")
        if not self.is_leaf:
            raise RuntimeError("grad_dtype can only be set on leaf tensors.")
        held = self._edge.grad if type(self._edge) is AccumulateGrad else self._own_grad
        if held is not None and wanted is not None and held.dtype is not wanted:
            raise RuntimeError(
                f"Cannot set grad_dtype to '{wanted}' because there is already a gradient with dtype '{held.dtype}'. "
                "Please clear the gradient (.grad = None) before changing grad_dtype, or ensure the new grad_dtype "
                "matches the existing gradient's dtype."
            )
        self.__dict__["_grad_dtype"] = wanted
        if type(self._edge) is AccumulateGrad:
            self._tell_grad_dtype(self._edge)

    def _tell_grad_dtype(self, leaf: AccumulateGrad) -> None:
        from .hooks import extras_of

        extras_of(leaf)  # where the engine looks for anything unusual
        leaf.dtype = self.__dict__["_grad_dtype"] or False

    @property
    def name(self) -> None:
        """Tensors have no names: None."""
        return None

    @property
    def volatile(self) -> bool:
        """False, with a warning: what this once was for is `no_grad`."""
        warnings.warn("volatile was removed (Variable.volatile is always False)", UserWarning, stacklevel=2)
        return False

    @volatile.setter
    def volatile(self, value: object) -> None:
        warnings.warn(
            "volatile was removed and now has no effect. Use `with torch.no_grad():` instead.",
            UserWarning,
            stacklevel=2,
        )

    @property
    def retains_grad(self) -> bool:
        """Whether `retain_grad` was called on this non-leaf."""
        from .hooks import retaining

        return retaining(self, self._edge)

    @property
    def _base(self) -> Tensor | None:
        """The tensor that this one is a view of, at the root of a chain of views; None if it is no view."""
        from .views import base_of, is_view

        return base_of(self) if is_view(self) else None

    def _is_view(self) -> bool:
        """Whether this is a view that autograd follows."""
        from .views import is_view

        return is_view(self)

    def _current_edge(self) -> Node | None:
        """The edge; that of a view is made again if its storage was written to."""
        if self._view is not None:
            from .views import refresh

            refresh(self)
        return self._edge

    def detach(self) -> Tensor:
        """The same storage, out of the graph. Shares the version counter."""
        if type(self) is not Tensor:
            found = _dispatch(Tensor.detach, self)
            if found is not NotImplemented:
                return found
        out = alias(self._data, self._spec, self._shape)
        out._counter = self._counter
        return out

    @property
    def data(self) -> Tensor:
        """The same storage, out of the graph, with a version counter of its own."""
        if type(self) is not Tensor:
            found = _dispatch(_data_of, self)
            if found is not NotImplemented:
                return found
        return _data_of(self)

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        if self._edge is not None and value._spec.dtype.category < FLOATING:
            raise RuntimeError(
                "data set to a tensor that requires gradients must be floating point or complex dtype, "
                f"not {value.dtype}"
            )
        self._data, self._shape, self._spec = value._data, value._shape, value._spec
        if type(self._edge) is AccumulateGrad:
            self._remains.follow(self)

    # -- Python's protocols that need no operation --

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("len() of a 0-d tensor")
        return self._shape[0]

    def __hash__(self) -> int:
        return id(self)

    def __iter__(self) -> Iterator[Any]:
        if not self._shape:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))  # attached by the operations

    def __reversed__(self) -> Any:
        return self.flip(0) if self._shape else self

    def __repr__(self, *, tensor_contents: object = None) -> str:
        from .printing import render

        return render(self)

    def __format__(self, spec: str) -> str:
        if not self._shape:
            return format(self.item(), spec)
        return object.__format__(self, spec) if spec else repr(self)

    def _one(self, what: str) -> Any:
        if self.numel() != 1:
            if what == "Scalar":
                raise RuntimeError(f"a Tensor with {self.numel()} elements cannot be converted to {what}")
            raise ValueError(
                f"only one element tensors can be converted to {what}: this one has shape {list(self._shape)}"
            )
        return self._spec.backend.to_numpy(self._data).reshape(()).tolist()

    def item(self) -> Any:
        """The value of a one-element tensor as a Python number.

        Raises:
            RuntimeError: if there is not exactly one element.
        """
        value = self._one("Scalar")
        return float(value) if self._spec.dtype.low else value

    def tolist(self) -> Any:
        """Nested lists of Python numbers; a number for a 0-dim tensor."""
        values = self._spec.backend.to_numpy(self._data)
        return (values.astype("float32") if self._spec.dtype.low else values).tolist()

    def __bool__(self) -> bool:
        if self.numel() != 1:
            raise RuntimeError(
                "Boolean value of Tensor with no values is ambiguous"
                if not self.numel()
                else "Boolean value of Tensor with more than one value is ambiguous"
            )
        return bool(self.item())

    def __float__(self) -> float:
        return float(self._one("Python scalars"))

    def __int__(self) -> int:
        return int(self._one("Python scalars"))

    def __complex__(self) -> complex:
        return complex(self._one("Python scalars"))

    def __index__(self) -> int:
        if self._spec.dtype.category > INTEGRAL or self.numel() != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.item())

    def __contains__(self, element: Any) -> bool:
        if isinstance(element, Tensor | int | float | complex):
            return bool((element == self).any())  # type: ignore[union-attr]
        raise RuntimeError(
            f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element).__name__}."
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the "
                "moment.  Copy a detach() of this one."
            )
        if id(self) in memo:
            return memo[id(self)]
        from copy import deepcopy

        from .construct import copy_storage

        out = alias(copy_storage(self._data, self._spec, memo), self._spec, self._shape, type(self))
        memo[id(self)] = out
        for name, value in self.__dict__.items():
            if name not in _OWN:
                out.__dict__[name] = deepcopy(value, memo)
        if self._edge is not None:
            out.requires_grad = True
        grad = self._edge.grad if type(self._edge) is AccumulateGrad else self._own_grad
        if grad is not None:
            out.grad = deepcopy(grad, memo)
        return out

    def __reduce_ex__(self, protocol: Any) -> Any:
        from .construct import rebuild

        if self._edge is not None and self._edge.extras is not None:
            from ..utils.hooks import warn_if_has_hooks

            warn_if_has_hooks(self)
        array = self._spec.backend.to_numpy(self._data)
        extra = {k: v for k, v in self.__dict__.items() if k not in _OWN}
        return rebuild, (type(self), array, self.requires_grad, extra)


def _dispatch(func: Any, self: Tensor) -> Any:
    from .torch_function import dispatch

    return dispatch(func, self)


def _data_of(self: Tensor) -> Tensor:
    out: Tensor = alias(self._data, self._spec, self._shape)
    if type(self._counter) is InferenceCounter:
        out._counter = self._counter
    return out


_data_of.__name__ = "__get__"  # as torch names what reads an attribute


def alias(data: Any, spec: Spec, shape: tuple[int, ...], kind: type[Any] = Tensor) -> Any:
    """A tensor around an array: no history, a version counter of its own."""
    out = _new(kind)
    out._data = data
    out._spec = spec
    out._shape = shape
    out._edge = None
    out._counter = [0]
    out._view = None
    return out


def wrap(array: Any) -> Tensor:
    """A tensor around an array of any library that a backend knows."""
    spec = spec_of(array)
    return alias(spec.backend.ensure(array), spec, tuple(array.shape))


def raw(value: Any) -> Any:
    """The array of a Tensor; anything else as it is."""
    return value._data if isinstance(value, Tensor) else value
