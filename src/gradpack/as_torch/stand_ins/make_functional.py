"""Modules as functions of tuples of parameters, as `functorch` had them before `torch.func.functional_call`."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from ...core.tensor import Tensor
from ...func import functional_call
from ...nn import Module
from ...ops.shape.join import stack


class FunctionalModuleWithBuffers:
    """`func(params, buffers, *args, **kwargs)`: a module called with other tensors than its own.

    Attributes:
        param_names, buffer_names: what the tensors of the two tuples are called.
        stateless_model: the module.
    """

    def __init__(self, model: Any, param_names: dict[str, list[str]], buffer_names: dict[str, list[str]]) -> None:
        self.stateless_model = model
        self.param_names, self.buffer_names = tuple(param_names), tuple(buffer_names)
        self._names = [*param_names.values()], [*buffer_names.values()]

    def forward(self, params: Any, buffers: Any, *args: Any, **kwargs: Any) -> Any:
        given: dict[str, Any] = {}
        for groups, tensors in zip(self._names, (params, buffers), strict=True):
            for group, tensor in zip(groups, tensors, strict=True):
                given.update(dict.fromkeys(group, tensor))
        return functional_call(self.stateless_model, given, args, kwargs, tie_weights=False)

    __call__ = forward


class FunctionalModule(FunctionalModuleWithBuffers):
    """`func(params, *args, **kwargs)`: the same for a module that has no buffers."""

    def forward(self, params: Any, *args: Any, **kwargs: Any) -> Any:
        return super().forward(params, (), *args, **kwargs)

    __call__ = forward


def make_functional_with_buffers(model: Any, disable_autograd_tracking: bool = False) -> Any:
    """A module as `(func, params, buffers)`: a function of its parameters and buffers, and copies of these.

    Args:
        disable_autograd_tracking: whether the parameters do not require gradients.
    """
    copied = deepcopy(model)
    params, param_names = _taken(copied, "_parameters")
    buffers, buffer_names = _taken(copied, "_buffers")
    if disable_autograd_tracking:
        for p in params:
            p.requires_grad_(False)
    return FunctionalModuleWithBuffers(copied, param_names, buffer_names), params, buffers


def make_functional(model: Any, disable_autograd_tracking: bool = False) -> Any:
    """The same for a module without buffers: `(func, params)`.

    Raises:
        RuntimeError: if it has some.
    """
    if any(True for _ in model.buffers()):
        raise RuntimeError(
            "make_functional(model): `model` has buffers. Please use make_functional_with_buffers(model) instead."
        )
    func, params, _ = make_functional_with_buffers(model, disable_autograd_tracking)
    names = dict(zip(func.param_names, func._names[0], strict=True))
    return FunctionalModule(func.stateless_model, names, {}), params


def combine_state_for_ensemble(models: Any) -> Any:
    """Modules of one class as one function, and their parameters and buffers, each stacked: for `vmap`.

    Raises:
        RuntimeError: for no modules, different classes, or modes of training.
    """
    models = list(models)
    if not models:
        raise RuntimeError("combine_state_for_ensemble: Expected at least one model, got 0.")
    if len({m.training for m in models}) > 1:
        raise RuntimeError("combine_state_for_ensemble: Expected all models to have the same training/eval mode.")
    if len({type(m) for m in models}) > 1:
        raise RuntimeError("combine_state_for_ensemble: Expected all models to be of the same class.")
    functions, params, buffers = zip(*map(make_functional_with_buffers, models), strict=True)
    return functions[0], _stacked(params), _stacked(buffers)


def _stacked(tuples: Any) -> tuple[Tensor, ...]:
    return tuple(stack(list(column)).detach() for column in zip(*tuples, strict=True))


def _taken(model: Module, table: str) -> tuple[tuple[Tensor, ...], dict[str, list[str]]]:
    """The tensors in a table of all modules, and the names of each, by the first of them."""
    names: dict[int, list[str]] = {}
    tensors: dict[int, Tensor] = {}
    for prefix, module in model.named_modules(remove_duplicate=False):
        for name, value in getattr(module, table).items():
            if value is not None:
                tensors[id(value)] = value
                names.setdefault(id(value), []).append(f"{prefix}.{name}" if prefix else name)
    return tuple(tensors.values()), {group[0]: group for group in names.values()}


__all__ = [
    "FunctionalModule",
    "FunctionalModuleWithBuffers",
    "combine_state_for_ensemble",
    "make_functional",
    "make_functional_with_buffers",
]
