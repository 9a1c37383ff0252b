"""`TorchDispatchMode`: a block in which a user's object handles every operation, below autograd.

Each operation comes to `__torch_dispatch__` under the name that torch's dispatcher has for it, such as
`torch.ops.aten.mul.Tensor`. Where torch runs several kernels for one operation of ours, it comes once;
see docs/differences.md.
"""

from __future__ import annotations

from typing import Any

from ..base.modes import MODE, OpMode
from ..core.tensor import Tensor
from ..ops.aten import arguments_of, overload_of, running


class TorchDispatchMode(OpMode):
    """A block in which `__torch_dispatch__` of this object is called for every operation, backward included.

    It gets the overload, the classes of arguments that are subclasses of Tensor, and the arguments, and returns the
    result: that of `func(*args, **kwargs)`, or another of the same form. Inside of it the mode is off, as is
    autograd, and modes around it are on.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.utils._python_dispatch import TorchDispatchMode
        >>> class Log(TorchDispatchMode):
        ...     def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        ...         print(func)
        ...         return func(*args, **(kwargs or {}))
        >>> x = torch.ones(2, requires_grad=True)
        >>> with Log():
        ...     y = (x.sin() * 2).sum()
        aten.sin.default
        aten.mul.Tensor
        aten.sum.default
    """

    backward = True

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Compute `func(*args, **kwargs)`. To be overridden."""
        raise NotImplementedError

    def operation(self, op: Any, values: list[Any], run: Any) -> Any:
        """Let `__torch_dispatch__` do it. What only formulas see of the operation is always its own."""
        overload, args = overload_of(op, values), arguments_of(op, values)
        with running(overload, args, run) as call:
            result = self.__torch_dispatch__(overload, (), tuple(args), {})
            outs, extras = call.results if call.results is not None else (None, None)
            found = list(result) if isinstance(result, tuple | list) else [result]
            if outs is None or [id(t) for t in found] != [id(t) for t in outs]:
                if outs is None and op.residuals:
                    outs, extras = run()
                extras = extras or []
                outs = [t.detach() if isinstance(t, Tensor) else t for t in found]
        return outs, extras


def _get_current_dispatch_mode() -> Any:
    """Return the innermost active mode, or None."""
    modes = MODE.get().ops
    return modes[-1] if modes else None


def is_traceable_wrapper_subclass_type(t: type) -> bool:
    """Return whether a class is a subclass of Tensor that says how it is made of other tensors."""
    return (
        issubclass(t, Tensor)
        and t is not Tensor
        and hasattr(t, "__tensor_flatten__")
        and hasattr(t, "__tensor_unflatten__")
    )


def is_traceable_wrapper_subclass(t: object) -> bool:
    """Return whether a value is a tensor of a class that says how it is made of other tensors."""
    return isinstance(t, Tensor) and is_traceable_wrapper_subclass_type(type(t))


__all__ = ["TorchDispatchMode"]
