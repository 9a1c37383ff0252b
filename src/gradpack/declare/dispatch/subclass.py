"""`Tensor.as_subclass`: an operation, because the result has a history."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...core.torch_function import DisableTorchFunctionSubclass, instance
from ..op import REGISTRY


def as_subclass(self: Tensor, cls: type) -> Any:
    """The same tensor as an instance of `cls`, with its history and its storage.

    Args:
        cls: a subclass of Tensor. Its `__init__` is not called.

    Raises:
        TypeError: if `cls` is no subclass of Tensor.

    Example::

        >>> import gradpack as torch
        >>> class MyTensor(torch.Tensor):
        ...     pass
        >>> torch.ones(2).as_subclass(MyTensor)
        MyTensor([1., 1.])
    """
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise TypeError(
            "Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. Make sure your "
            "class inherits from Tensor."
        )
    with DisableTorchFunctionSubclass():
        made = REGISTRY["alias"].public(self)
    return instance(made, cls)


Tensor.as_subclass = as_subclass  # type: ignore[method-assign, assignment]
