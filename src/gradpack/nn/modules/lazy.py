"""`LazyModuleMixin`: modules that initialize their parameters at the first input."""

from __future__ import annotations

from typing import Any

from ...autograd.grad_mode import no_grad
from ..parameter import UninitializedParameter, is_lazy

__all__ = ["LazyModuleMixin"]


class LazyModuleMixin:
    """Mixed into a module, before its class, whose parameters take their shapes from the first input.

    The module makes `UninitializedParameter`s, and materializes them in `initialize_parameters`, which gets the
    arguments of the first call. After that call it is an ordinary module, of class `cls_to_become` if that is set.
    State that is loaded before gives the shapes as well.

    Example::

        >>> import gradpack as torch
        >>> class Scale(torch.nn.modules.lazy.LazyModuleMixin, torch.nn.Module):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.factor = torch.nn.UninitializedParameter()
        ...
        ...     def initialize_parameters(self, x):
        ...         self.factor.materialize(x.shape[-1:])
        ...         torch.nn.init.ones_(self.factor)
        ...
        ...     def forward(self, x):
        ...         return x * self.factor
        >>> module = Scale()
        >>> module(torch.ones(4, 3)).shape, module.factor.shape
        (gradpack.Size([4, 3]), gradpack.Size([3]))
    """

    cls_to_become: type | None = None

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.register_load_state_dict_pre_hook(_take_shapes)
        self.register_forward_pre_hook(_first_call, with_kwargs=True)

    def _save_to_state_dict(self: Any, destination: Any, prefix: str, keep_vars: bool) -> None:
        from .._module.state_dict import own_state

        lazy = {name: value for name, value in own_state(self).items() if is_lazy(value)}
        for name, value in own_state(self).items():
            destination[prefix + name] = value if keep_vars or name in lazy else value.detach()

    def initialize_parameters(self: Any, *args: Any, **kwargs: Any) -> None:
        """Materialize the parameters from the arguments of `forward`. To be defined by subclasses.

        Raises:
            NotImplementedError: unless a subclass defines it.
        """
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self: Any) -> bool:
        """Are there parameters or buffers whose shape is not known yet?"""
        return any(is_lazy(t) for t in (*self._parameters.values(), *self._buffers.values()))

    def _infer_parameters(self: Any, args: Any, kwargs: Any = None) -> None:
        """Initialize the parameters for these arguments, and stop being lazy."""
        self.initialize_parameters(*args, **(kwargs or {}))
        if self.has_uninitialized_params():
            raise RuntimeError(f"module {type(self).__name__} has not been fully initialized")
        for hooks, own in ((self._forward_pre_hooks, _first_call), (self._load_state_dict_pre_hooks, _take_shapes)):
            for key in [key for key, hook in hooks.items() if hook is own]:
                del hooks[key]
                self._forward_pre_hooks_with_kwargs.pop(key, None)
        if self.cls_to_become is not None:
            self.__class__ = self.cls_to_become


def _first_call(module: Any, args: Any, kwargs: Any) -> None:
    module._infer_parameters(args, kwargs)


def _take_shapes(module: Any, state_dict: Any, prefix: str, *rest: Any) -> None:
    """Before loading, give uninitialized tensors the shapes of the loaded ones."""
    for registry in module._parameters, module._buffers:
        for name, value in registry.items():
            given = state_dict.get(prefix + name)
            if is_lazy(value) and given is not None and not is_lazy(given):
                value.materialize(given.shape)


class _LazyLayer(LazyModuleMixin):
    """Base class of the lazy layers: the size `sized_by` is taken from the first input."""

    sized_by: str

    def _later(self: Any, bias: bool, device: Any, dtype: Any) -> None:
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self: Any) -> None:
        """Initialize parameters and statistics, if their sizes are known."""
        if not self.has_uninitialized_params() and getattr(self, self.sized_by):
            super().reset_parameters()  # type: ignore[misc]

    def _materialize(self: Any, size: int, **shapes: tuple[int, ...]) -> None:
        """Set the size, and give shapes to parameters and buffers, unless loading has done it."""
        fresh = self.has_uninitialized_params()
        setattr(self, self.sized_by, size)
        if fresh:
            with no_grad():
                for name, shape in shapes.items():
                    value = getattr(self, name)
                    if value is not None:
                        value.materialize(shape)
                self.reset_parameters()


def _named(made: Any, base: Any, words: str, arguments: str) -> Any:
    made.__name__ = made.__qualname__ = f"Lazy{base.__name__}"
    made.__module__ = base.__module__
    shape = ", ".join(["1", "2", *["4"] * int(base.__name__[-2])])
    made.__doc__ = f"""{words[0].upper()}{words[1:]}: see `{base.__name__}` for its arguments.

    Example::

        >>> import gradpack as torch
        >>> layer = torch.nn.{made.__name__}{arguments}
        >>> _ = layer(torch.randn({shape}))
        >>> type(layer).__name__
        '{base.__name__}'
    """
    return made
