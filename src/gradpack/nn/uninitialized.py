"""Parameters and buffers whose shape is not known yet: what the `Lazy` modules have until they see an input."""

from __future__ import annotations

from collections.abc import Callable
from inspect import getattr_static
from typing import Any, NoReturn

from ..core.tensor import Tensor
from ..core.torch_function import DisableTorchFunctionSubclass
from ..ops.create.fill import empty
from .parameter import Buffer, Parameter

__all__ = ["UninitializedBuffer", "UninitializedParameter", "UninitializedTensorMixin", "is_lazy"]

# What may be asked of one, or done with it: the conversions, which modules are made of.
_ALLOWED = frozenset(
    "bfloat16 char cpu cuda data device double dtype float get_device grad grad_fn half int is_complex is_cuda "
    "is_floating_point is_leaf is_sparse layout long name ndim persistent requires_grad retains_grad short size "
    "to type volatile".split()
)
_CONVERSIONS = ("_to_copy", "__get__")  # of `to` and its kin, and of `data`


class UninitializedTensorMixin:
    """Methods shared by uninitialized parameters and buffers."""

    __slots__ = ()

    cls_to_become: type

    def materialize(self: Any, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Become an ordinary parameter or tensor of this shape, whose elements are not set.

        Args:
            shape: a tuple of ints, or one.
            device: the one it has, unless given.
            dtype: the one it has, unless given.

        Example::

            >>> import gradpack as torch
            >>> weight = torch.nn.UninitializedParameter()
            >>> weight.materialize((2, 3))
            >>> type(weight).__name__, weight.shape
            ('Parameter', gradpack.Size([2, 3]))
        """
        made = empty(shape, device=device or self.device, dtype=dtype or self.dtype)
        self.data = made
        self.__class__ = self.cls_to_become

    @property
    def shape(self) -> Any:
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
            "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call `forward` "
            "to initialize the parameters before accessing their attributes."
        )

    def share_memory_(self) -> NoReturn:
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters "
            "before calling `module.share_memory()`."
        )

    def _shown(self) -> str:
        return f"<{type(self).__name__}>"

    __repr__: Any = _shown
    __str__: Any = _shown

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", str(func))
        if name not in _CONVERSIONS:
            raise _uninitialized(name)
        with DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))


def _uninitialized(name: str) -> ValueError:
    return ValueError(
        f"Attempted to use an uninitialized parameter in {name}. This error happens when you are using a `LazyModule` "
        "or explicitly manipulating `nn.UninitializedParameter` objects. When using LazyModules Call `forward` with a "
        "dummy batch to initialize the parameters before calling torch functions"
    )


def _refused(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
        raise _uninitialized(name)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = "Not before it is initialized."
    return method


def _without_methods(cls: type) -> type:
    """Replace methods of Tensor that read elements or sizes by ones that raise."""
    for name in dir(Tensor):
        if (name.startswith("_") and name != "__len__") or name in _ALLOWED or name in vars(UninitializedTensorMixin):
            continue
        value = getattr_static(Tensor, name)
        if not isinstance(value, property | staticmethod | classmethod) and name not in vars(cls):
            setattr(cls, name, _refused(name))
    return cls


@_without_methods
class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter whose shape is not known yet. `materialize(shape)` makes a `Parameter` of it.

    Anything else that needs its shape or elements raises ValueError.

    Args:
        requires_grad: whether autograd will follow it.
        device: where it will be.
        dtype: what it will hold.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.UninitializedParameter()
        <UninitializedParameter>
    """

    __slots__ = ()

    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        return Parameter.__new__(cls, empty(0, device=device, dtype=dtype), requires_grad)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, self.device, self.dtype)
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> Any:
        return type(self), (self.requires_grad, self.device, self.dtype)


@_without_methods
class UninitializedBuffer(UninitializedTensorMixin, Buffer):
    """A buffer whose shape is not known yet. `materialize(shape)` makes a tensor of it.

    Args:
        requires_grad: whether autograd will follow it.
        device: where it will be.
        dtype: what it will hold.
        persistent: will it be part of `state_dict()`?

    Example::

        >>> import gradpack as torch
        >>> torch.nn.parameter.UninitializedBuffer()
        <UninitializedBuffer>
    """

    __slots__ = ()

    cls_to_become = Tensor

    def __new__(
        cls, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True
    ) -> Any:
        data = empty(0, device=device, dtype=dtype, requires_grad=requires_grad)
        return Buffer.__new__(cls, data, persistent=persistent)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass  # nothing left to do: `__new__` has made it

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, self.device, self.dtype, self.persistent)
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> Any:
        return type(self), (self.requires_grad, self.device, self.dtype, self.persistent)


def is_lazy(param: Any) -> bool:
    """Is it a parameter or buffer whose shape is not known yet?

    Example::

        >>> import gradpack as torch
        >>> torch.nn.parameter.is_lazy(torch.nn.LazyLinear(2).weight)
        True
    """
    return isinstance(param, UninitializedTensorMixin)
