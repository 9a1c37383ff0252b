"""NumPy's protocols: what `numpy.sin(t)`, `numpy.concatenate([t, a])` and `a * t` mean for a Tensor `t`.

Each NumPy function is dispatched to the gradpack operation that `table` names, so that code written for
arrays differentiates. One that has none works on the values, as in torch, if no tensor in the call is
followed by autograd; else it is refused with a sentence, for its result would have lost the gradient.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from ...backends.numpy import NUMPY
from ...base import dtypes, late
from ...core.tensor import Tensor, wrap
from ..create.convert import _method_numpy
from .forms import found
from .table import ABOUT_VALUES, CALLS, UFUNC_METHODS, UFUNCS

METHODS = "to_device"
OPERATORS: dict[str, Any] = {}


def _followed(value: Any) -> bool:
    """Whether autograd follows a tensor in an argument."""
    if isinstance(value, Tensor):
        return value.requires_grad or value._tangents is not None
    return isinstance(value, list | tuple) and any(map(_followed, value))


def _plain(value: Any) -> Any:
    """The argument with arrays for tensors."""
    if isinstance(value, Tensor):
        return value._spec.backend.to_numpy(value._data)
    if isinstance(value, list | tuple) and any(isinstance(v, Tensor | list | tuple) for v in value):
        return [_plain(v) for v in value] if type(value) is list else tuple(_plain(v) for v in value)
    return value


def _tensor(value: Any) -> Any:
    """Convert an operand: arrays and nested lists to tensors, NumPy scalars to Python numbers."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return wrap(value)
    if isinstance(value, list) or (isinstance(value, tuple) and value and not isinstance(value[0], Tensor)):
        return late.as_tensor(value)
    return value


def _argument(name: str, value: Any) -> Any:
    """Convert an argument of a function; arguments such as axes and modes are left as they are."""
    if name == "dtype":
        return value if isinstance(value, dtypes.dtype) else NUMPY.dtype_of(np.dtype(value))
    if isinstance(value, np.ndarray | np.generic):
        return _tensor(value)
    if isinstance(value, list | tuple) and any(isinstance(v, Tensor | np.ndarray) for v in value):
        return [_tensor(v) for v in value]
    return value


def _refuse(name: str, why: str) -> TypeError:
    return TypeError(
        f"numpy.{name}() {why}. Use the operation of gradpack, or call it on t.detach().numpy() if no gradient is "
        "to go through"
    )


def _left_out(value: Any) -> bool:
    return value is None or value is np._NoValue or value is True


# -- ufuncs --


def _array_ufunc(self: Tensor, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """A NumPy ufunc called with a Tensor."""
    if not all(_may_share_call(type(x)) for x in (*inputs, *(kwargs.get("out") or ()))):
        return NotImplemented
    name = ufunc.__name__
    followed = any(map(_followed, inputs)) or _followed(kwargs.get("out"))
    given = {k: v for k, v in kwargs.items() if not _left_out(v)}
    shown = name if method == "__call__" else f"{name}.{method}"
    if "out" in given or "where" in given:
        if followed or any(isinstance(x, Tensor) for x in given.get("out", ())):
            what = "out=" if "out" in given else "where="
            raise _refuse(shown, f"was called with {what} and a Tensor: a gradient cannot go through it")
        return getattr(ufunc, method)(*map(_plain, inputs), **kwargs)
    call = _ufunc_target(name, method)
    if call is None:
        if followed:
            raise _refuse(shown, "has no counterpart among the operations that autograd knows")
        return _wrapped(getattr(ufunc, method)(*map(_plain, inputs), **given))
    operands = _operands(call, inputs, given.pop("dtype", None))
    given.pop("casting", None)
    if method in ("reduce", "accumulate"):
        return call(*operands, **_along(method, kwargs))
    if given:
        raise _refuse(shown, f"of a Tensor does not take {', '.join(given)}")
    if method == "outer" and all(isinstance(x, Tensor) for x in operands):
        first, second = operands
        operands[0] = first.reshape((*first.shape, *(1,) * second.ndim))
    return call(*operands)


def _operands(call: Any, inputs: tuple[Any, ...], dtype: Any) -> list[Any]:
    """Return the operands, as tensors where our operation takes no number, and in `dtype` if one is given."""
    op = getattr(call, "op", None)
    first, *others = map(_tensor, inputs)
    takes_numbers = op is None or op.params[-1] in op.scalars
    operands = [_as_operand(first), *(others if takes_numbers else map(_as_operand, others))]
    if dtype is None:
        return operands
    wanted = _argument("dtype", dtype)
    return [x.to(wanted) if isinstance(x, Tensor) else x for x in operands]


def _along(method: str, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a reduction or accumulation: along the first dimension, if none is given."""
    dim = kwargs.get("axis", 0)
    found = {} if dim is None else {"dim": dim}
    return found | {"keepdim": True} if method == "reduce" and kwargs.get("keepdims", False) is True else found


def _ufunc_target(name: str, method: str) -> Any:
    known = UFUNCS.get(name) if method in ("__call__", "outer") else UFUNC_METHODS.get((name, method))
    return None if known is None else found(known)


def _wrapped(result: Any) -> Any:
    if isinstance(result, tuple):
        return tuple(map(_wrapped, result))
    if isinstance(result, np.ndarray | np.generic):
        return wrap(np.asarray(result))
    return result


def _may_share_call(kind: type) -> bool:
    """Return whether arguments of this type let Tensor handle the ufunc call."""
    known = Tensor, np.ndarray, np.generic, int, float, complex, list, tuple, type(None)
    return issubclass(kind, known) or getattr(kind, "__array_ufunc__", None) is None


# -- functions --


def _array_function(self: Tensor, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A NumPy function called with a Tensor."""
    if not all(issubclass(kind, Tensor | np.ndarray) for kind in types):
        return NotImplemented
    module = (getattr(func, "__module__", None) or "numpy").removeprefix("numpy").lstrip(".")
    name = f"{module}.{func.__name__}" if module else func.__name__
    if name in ABOUT_VALUES:
        return _on_values(func, args, kwargs)
    target, params = CALLS.get(name, ("", ()))
    call = found(target) if target else None
    if call is not None:
        bound = _bound(name, params, args, kwargs)
        if bound is not None:
            positional, named = bound
            return call(*positional, **named)
    if any(map(_followed, args)) or any(map(_followed, kwargs.values())):
        if call is None:
            raise _refuse(name, "has no counterpart among the operations that autograd knows")
        known = ", ".join(own for own, to in params if to != "-")
        raise _refuse(name, f"of a Tensor that autograd follows takes {known} only")
    return _on_values(func, args, kwargs)


def _on_values(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return func(*map(_plain, args), **{k: _plain(v) for k, v in kwargs.items()})


def _bound(
    name: str, params: tuple[tuple[str, str], ...], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]] | None:
    """Map NumPy's arguments to those of the gradpack function; None if it lacks one of them."""
    if params[0][0] == "*":
        return [_argument("", a) for a in args], {}
    names = dict(params)
    if len(args) > len(params):
        return None
    given = dict(zip(names, args, strict=False)) | kwargs
    positional, named = [], {}
    first = params[0][0]
    for own, value in given.items():
        if own == first:
            positional.append(_first(value))
        elif value is np._NoValue or (value is None and own != "axis"):
            continue
        elif names.get(own, "-") == "-":
            if _left_out(value) or (own == "order" and value in ("C", "K", "A")) or own == "subok":
                continue
            return None
        elif value is None and names[own] != own:
            continue  # our own default is all dimensions, too
        else:
            named[names[own]] = _argument(own, value)
    return positional, named


def _first(value: Any) -> Any:
    """Convert the first argument: the operand, or a sequence of operands."""
    if isinstance(value, list | tuple) and any(isinstance(v, Tensor | np.ndarray) for v in value):
        return [_as_operand(v) for v in value]
    return _as_operand(value)


def _as_operand(value: Any) -> Any:
    return value if isinstance(value, Tensor | str) else late.as_tensor(value)


# -- arrays --


def _array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> Any:
    """The elements as an array: what `numpy.asarray(t)` gives. Shares memory unless `dtype` or `copy` forbid it."""
    array = _method_numpy(self)
    if dtype is not None and array.dtype != dtype:
        if copy is False:
            raise ValueError(
                f"Unable to avoid copy while creating an array as requested: the tensor is {self.dtype}, not {dtype}"
            )
        return array.astype(dtype)
    return array.copy() if copy else array


def _array_wrap(self: Tensor, array: Any, context: Any = None, return_scalar: bool = False) -> Tensor:
    """Wrap an array that NumPy computed from a Tensor."""
    return wrap(np.asarray(array))


def _cuda_array_interface(self: Tensor) -> Any:
    """Where the elements lie on a CUDA device, for other libraries.

    Raises:
        AttributeError: if the tensor is not on one.
        RuntimeError: if it requires grad.
    """
    if self._spec.device.type == "cuda":
        if self.requires_grad:
            raise RuntimeError(
                "Can't get __cuda_array_interface__ on Variable that requires grad. If gradients aren't required, use "
                "var.detach() to get Variable that doesn't require grad."
            )
        return self._data.__cuda_array_interface__
    raise AttributeError(
        f"Can't get __cuda_array_interface__ on non-CUDA tensor type: {self.type()} If CUDA data is required use "
        "tensor.cuda() to copy tensor to device memory."
    )


# -- the array API standard --


def _array_namespace(self: Tensor, /, *, api_version: str | None = None) -> ModuleType:
    """The functions of the array API standard for tensors: `gradpack.array_api`.

    Raises:
        ValueError: if it does not follow the version of the standard that is asked for.
    """
    found: ModuleType = import_module("gradpack.array_api")._namespace_of(api_version)
    return found


def to_device(self: Tensor, device: Any, /, *, stream: Any = None) -> Tensor:
    """A tensor of these elements on a device: the array API standard's name of `to`.

    Args:
        device: a device, or its name.
        stream: None.

    Raises:
        ValueError: if a stream is given: copies are ordered without one.

    Example::

        >>> import gradpack as torch
        >>> torch.ones(2).to_device("cpu")
        tensor([1., 1.])
    """
    if stream is not None:
        raise ValueError(f"to_device(): stream must be None, not {stream!r}: copies are in order without one")
    return self.to(device)


OPERATORS |= {
    "__array_namespace__": _array_namespace,
    "__array__": _array,
    "__array_wrap__": _array_wrap,
    "__array_ufunc__": _array_ufunc,
    "__array_function__": _array_function,
    "__cuda_array_interface__": property(_cuda_array_interface),
}
