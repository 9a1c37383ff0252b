"""Automatic differentiation: `torch.autograd`, from scratch."""

from ..tensor.tensor import Tensor
from . import anomaly_mode, function, grad_mode, graph
from .anomaly_mode import detect_anomaly, set_detect_anomaly
from .api import backward, grad, queue_callback
from .function import Function
from .grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_multithreading_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)


class _Engine:
    """What torch calls the execution engine, as far as users reach for it."""

    queue_callback = staticmethod(queue_callback)


class _VariableMeta(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, Tensor)


class Variable(metaclass=_VariableMeta):
    """Torch's old name for a tensor that autograd follows: `Variable(data)` gives the tensor itself.

    Example::

        >>> import gradpack as torch
        >>> torch.autograd.Variable(torch.ones(1), requires_grad=True)
        tensor([1.], requires_grad=True)
    """

    _execution_engine = _Engine()

    def __new__(cls, data: Tensor, requires_grad: bool = False, volatile: bool = False) -> Tensor:  # type: ignore[misc]
        out = data.detach()
        return out.requires_grad_() if requires_grad else out


__all__ = [
    "Function",
    "Variable",
    "anomaly_mode",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "function",
    "grad",
    "grad_mode",
    "graph",
    "inference_mode",
    "is_grad_enabled",
    "is_multithreading_enabled",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
]
