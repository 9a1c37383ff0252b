"""Automatic mixed precision: `torch.autocast`, and the functions that read and set its state."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..base import dtypes
from ..base.autocast import DEFAULTS, Autocast, become, current
from ..base.devices import KINDS, NAMES
from ..base.dtypes import dtype as dtype_type
from ..base.exits import Exit
from ..base.modes import MODE
from ..core.tensor import Tensor
from ..declare.signature.constructors import explain_constructors


def _check_type(device_type: Any) -> None:
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")


def _kind(name: Any, function: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"{function}(): argument 'device_type' (position 1) must be str, not {type(name).__name__}")
    kind = name.partition(":")[0]
    if kind not in NAMES.split(", "):
        raise RuntimeError(f"Expected one of {NAMES} device type at start of device string: {kind}")
    return kind


def is_autocast_available(device_type: str) -> bool:
    """Whether autocast knows a kind of device. (It acts on tensors of the kinds that are installed.)

    Example::

        >>> import gradpack as torch
        >>> torch.amp.is_autocast_available("cpu")
        True
    """
    return _kind(device_type, "_is_autocast_available") in DEFAULTS


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether autocast is on for a kind of device.

    Example::

        >>> import gradpack as torch
        >>> with torch.autocast("cpu"):
        ...     torch.is_autocast_enabled("cpu")
        True
    """
    return _kind(device_type, "is_autocast_enabled") in current().enabled


def set_autocast_enabled(device_type: Any, enabled: Any = None) -> None:
    """Switch autocast on or off for a kind of device: `autocast` does so for a block.

    Example::

        >>> import gradpack as torch
        >>> torch.set_autocast_enabled("cpu", False)
    """
    if enabled is None and isinstance(device_type, bool):  # torch's old form, for "cuda"
        device_type, enabled = "cuda", device_type
    kind = _kind(device_type, "set_autocast_enabled")
    if not isinstance(enabled, bool):
        raise TypeError(
            f"set_autocast_enabled(): argument 'enabled' (position 2) must be bool, not {type(enabled).__name__}"
        )
    become(current().changed(kind, enabled))


def get_autocast_dtype(device_type: str) -> dtype_type:
    """The dtype that autocast casts to for a kind of device.

    Example::

        >>> import gradpack as torch
        >>> torch.get_autocast_dtype("cpu")
        gradpack.bfloat16
    """
    kind = _kind(device_type, "get_autocast_dtype")
    if kind not in DEFAULTS:
        raise RuntimeError(f"unsupported scalarType: autocast has no dtype for {kind}")
    return current().dtype_of(kind)


def set_autocast_dtype(device_type: str, dtype: dtype_type) -> None:
    """Set the dtype that autocast casts to for a kind of device.

    Example::

        >>> import gradpack as torch
        >>> torch.set_autocast_dtype("cpu", torch.bfloat16)
    """
    kind = _kind(device_type, "set_autocast_dtype")
    if not isinstance(dtype, dtype_type):
        raise TypeError(
            f"set_autocast_dtype(): argument 'dtype' (position 2) must be torch.dtype, not {type(dtype).__name__}"
        )
    become(current().changed(kind, dtype=dtype))


def is_autocast_cache_enabled() -> bool:
    """Whether casts of leaves are kept for reuse inside of an autocast block.

    Example::

        >>> import gradpack as torch
        >>> torch.is_autocast_cache_enabled()
        True
    """
    return current().caching


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Keep casts of leaves for reuse, or do not.

    Example::

        >>> import gradpack as torch
        >>> torch.set_autocast_cache_enabled(True)
    """
    become(current().replaced(caching=bool(enabled)))


def clear_autocast_cache() -> None:
    """Forget the casts that are kept.

    Example::

        >>> import gradpack as torch
        >>> torch.clear_autocast_cache()
    """
    current().cache.clear()


def autocast_increment_nesting() -> int:
    """Count one more autocast block around, and return how many there are.

    Example::

        >>> import gradpack as torch
        >>> torch.autocast_increment_nesting(), torch.autocast_decrement_nesting()
        (1, 0)
    """
    return _nest(1)


def autocast_decrement_nesting() -> int:
    """Count one autocast block less, and return how many there are. See `autocast_increment_nesting`.

    Example::

        >>> import gradpack as torch
        >>> torch.autocast_increment_nesting(), torch.autocast_decrement_nesting()
        (1, 0)
    """
    return _nest(-1)


def _nest(step: int) -> int:
    state = current()
    become(state.replaced(nesting=state.nesting + step))
    return state.nesting + step


class autocast:  # noqa: N801 - torch's name
    """Run matrix products of this block in low precision, and losses in float32: casts are differentiable.

    Args:
        device_type: the kind of device whose tensors are cast: "cpu".
        dtype: bfloat16 (the default on the CPU) or float16.
        enabled: False switches autocast off inside of another block.
        cache_enabled: whether the cast of a leaf is kept until the outermost block ends.

    It decorates functions too, and follows threads and asyncio tasks as other modes do.

    Raises:
        ValueError: if `device_type` is no str.
        RuntimeError: if it is not a kind of device.

    Example::

        >>> import gradpack as torch
        >>> x = torch.ones(2, 2, requires_grad=True)
        >>> with torch.autocast("cpu"):
        ...     y = x @ x
        >>> y.dtype
        gradpack.bfloat16
        >>> y.sum().backward()
        >>> x.grad.dtype
        gradpack.float32
    """

    def __init__(
        self, device_type: str, dtype: dtype_type | None = None, enabled: bool = True, cache_enabled: bool | None = None
    ) -> None:
        _check_type(device_type)
        if dtype is not None and not isinstance(dtype, dtype_type):
            raise TypeError(f"autocast(): argument 'dtype' must be torch.dtype, not {type(dtype).__name__}")
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        self.device = device_type
        if not is_autocast_available(device_type):
            raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
        self.custom_backend_name = "privateuseone"
        self._cache_enabled = is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        if enabled and device_type == "cuda" and "cuda" not in KINDS:
            warnings.warn("CUDA is not available or torch_xla is imported. Disabling autocast.", stacklevel=2)
            enabled = False
        elif enabled and self.fast_dtype not in (dtypes.bfloat16, dtypes.float16):
            warnings.warn(
                f"In {device_type.upper()} autocast, but the target dtype is not supported. Disabling autocast.\n"
                f"{device_type.upper()} Autocast only supports dtypes of torch.bfloat16, torch.float16 currently.",
                stacklevel=2,
            )
            enabled = False
        self._enabled = enabled
        self._before: tuple[tuple[bool, bool, dtype_type], ...] = ()

    def __enter__(self) -> autocast:
        mode, state = MODE.get(), current()
        try:
            become(self._changed(state, self._enabled, self.fast_dtype, self._cache_enabled, 1))
            self._before = (*self._before, (state.caching, self.device in state.enabled, state.dtype_of(self.device)))
        except BaseException:  # an interrupt: `__exit__` does not run if `__enter__` raised
            MODE.set(mode)
            raise
        return self

    def _after(self) -> tuple[Autocast, Any]:
        """Return the state after the block, and the stack of states saved by enclosing blocks of the same object."""
        caching, enabled, dtype = self._before[-1]
        return self._changed(current(), enabled, dtype, caching, -1), self._before[:-1]

    def _leave(self, found: tuple[Autocast, Any]) -> None:
        state, before = found
        if not state.nesting:
            state.cache.clear()
        become(state)
        self._before = before

    __exit__ = Exit(_after, _leave)

    def _changed(self, state: Autocast, enabled: bool, dtype: dtype_type, caching: bool, step: int) -> Autocast:
        return state.changed(self.device, enabled, dtype, caching=caching, nesting=state.nesting + step)

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        if not callable(func):
            raise TypeError(
                f"autocast()(func) requires a callable, but got {type(func).__name__}. Did you mean to use autocast as "
                "a context manager? For example:\n    with torch.autocast(device_type=...):\n"
                "        output = model(input)"
            )
        return autocast_decorator(self, func)


def autocast_decorator(autocast_instance: autocast, func: Callable[..., Any]) -> Callable[..., Any]:
    """`func`, run inside `autocast_instance` at each call."""

    @functools.wraps(func)
    def decorate_autocast(*args: Any, **kwargs: Any) -> Any:
        with autocast_instance:
            return func(*args, **kwargs)

    return decorate_autocast


def _cast(value: Any, device_type: str, dtype: dtype_type) -> Any:
    """Return floating-point tensors cast to another dtype, in containers too."""
    if isinstance(value, Tensor):
        eligible = value.is_floating_point() and value.device.type == device_type and value.dtype is not dtypes.float64
        return value.to(dtype) if eligible else value
    if isinstance(value, str | bytes) or hasattr(value, "__array_interface__"):
        return value
    if isinstance(value, Mapping):
        return {_cast(k, device_type, dtype): _cast(v, device_type, dtype) for k, v in value.items()}
    if isinstance(value, Iterable):
        items = (_cast(v, device_type, dtype) for v in value)
        return type(value)(items) if isinstance(value, list | tuple) else items
    return value


def custom_fwd(fwd: Any = None, *, device_type: str, cast_inputs: dtype_type | None = None) -> Any:
    """Decorate `forward` of a `Function` that is used under autocast.

    Args:
        fwd: `forward`, a function of `ctx` and the inputs. Without it, a decorator is returned.
        device_type: whose autocast counts.
        cast_inputs: under autocast, cast floating-point tensors to this and run with autocast off. None: the operations
            in `forward` see autocast as it is.

    Raises:
        ValueError: if `device_type` is no str.

    Example::

        >>> import gradpack as torch
        >>> class Double(torch.autograd.Function):
        ...     @staticmethod
        ...     @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
        ...     def forward(ctx, x):
        ...         return x * 2
        ...     @staticmethod
        ...     @torch.amp.custom_bwd(device_type="cpu")
        ...     def backward(ctx, grad):
        ...         return grad * 2
        >>> with torch.autocast("cpu"):
        ...     Double.apply(torch.ones(2, dtype=torch.bfloat16)).dtype
        gradpack.float32
    """
    _check_type(device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorate_fwd(*args: Any, **kwargs: Any) -> Any:
        ctx = args[0]
        ctx._dtype = get_autocast_dtype(device_type)
        if cast_inputs is None:
            ctx._fwd_used_autocast = is_autocast_enabled(device_type)
            return fwd(*args, **kwargs)
        ctx._fwd_used_autocast = False
        if not is_autocast_enabled(device_type):
            return fwd(*args, **kwargs)
        with autocast(device_type, enabled=False):
            return fwd(ctx, *_cast(args[1:], device_type, cast_inputs), **_cast(kwargs, device_type, cast_inputs))

    return decorate_fwd


def custom_bwd(bwd: Any = None, *, device_type: str) -> Any:
    """Decorate `backward` of a `Function` whose `forward` has `custom_fwd`: runs it with the same autocast state.

    Args:
        bwd: `backward`, a function of `ctx` and the gradients of the results. Without it, a decorator is returned.
        device_type: whose autocast counts: the same as for `custom_fwd`.

    Raises:
        ValueError: if `device_type` is no str.

    Example::

        >>> import gradpack as torch
        >>> class Seen(torch.autograd.Function):
        ...     @staticmethod
        ...     @torch.amp.custom_fwd(device_type="cpu")
        ...     def forward(ctx, x):
        ...         return x.clone()
        ...     @staticmethod
        ...     @torch.amp.custom_bwd(device_type="cpu")
        ...     def backward(ctx, grad):
        ...         print("autocast:", torch.is_autocast_enabled("cpu"))
        ...         return grad
        >>> x = torch.ones(2, requires_grad=True)
        >>> with torch.autocast("cpu"):
        ...     y = Seen.apply(x)
        >>> y.sum().backward()
        autocast: True
    """
    _check_type(device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorate_bwd(*args: Any, **kwargs: Any) -> Any:
        with autocast(device_type, enabled=args[0]._fwd_used_autocast, dtype=args[0]._dtype):
            return bwd(*args, **kwargs)

    return decorate_bwd


explain_constructors([*globals().values()])

__all__ = ["autocast", "autocast_decorator", "custom_bwd", "custom_fwd", "is_autocast_available"]
