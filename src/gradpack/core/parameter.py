"""`Parameter`: a tensor that modules register."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..base.errors import is_foreign, mixed
from .tensor import Tensor, alias


class _ParameterMeta(type):
    """Makes `isinstance(x, Parameter)` true for parameters of other subclasses of Tensor, which keep their class."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if super().__instancecheck__(instance):
            return True
        return cls is Parameter and isinstance(instance, Tensor) and instance._is_param


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A leaf tensor that a `Module` registers when it is assigned as an attribute.

    Args:
        data: the tensor whose storage it takes (default: an empty one).
        requires_grad: whether autograd records operations on it.

    Operations on it return plain tensors.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.Parameter(torch.ones(2))
        Parameter containing:
        tensor([1., 1.], requires_grad=True)
    """

    __slots__ = ()
    __module__ = "gradpack.nn.parameter"  # as torch has it

    _is_param = True
    _shown_as = "tensor"

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        if requires_grad is not True and requires_grad is not False:
            raise TypeError(f"{cls.__name__}(): requires_grad must be bool, not {type(requires_grad).__name__}")
        if data is None:
            data = Tensor()
        if type(data) is not Tensor and not issubclass(type(data), Parameter):
            if is_foreign(data):
                raise mixed(cls.__name__)
            made: Any = data.detach()._follow(requires_grad)  # an AttributeError for what is no tensor, as in torch
            if type(made) is not Tensor:
                made._is_param = True
                return made
            data = made.detach()
        out: Parameter = alias(data._data, data._spec, data._shape, cls)
        out._counter = data._counter
        if requires_grad:
            out.requires_grad = True
        return out

    if not TYPE_CHECKING:  # to type checkers, arguments are those of __new__

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            pass  # all is done in __new__

    def __repr__(self, *, tensor_contents: object = None) -> str:  # type: ignore[override]
        return "Parameter containing:\n" + super().__repr__()

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        """A parameter with a copy of the data, without the gradient."""
        if id(self) in memo:
            return memo[id(self)]
        out = memo[id(self)] = type(self)(
            alias(self._spec.backend.copy(self._data), self._spec, self._shape), self.requires_grad
        )
        return out
