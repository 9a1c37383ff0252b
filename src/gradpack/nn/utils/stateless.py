"""Calling a module with other parameters and buffers than its own."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

from ...base.exits import block, surely
from ...core.tensor import Tensor
from ..module import Module


def _tied(module: Module, given: dict[str, Any]) -> dict[str, Any]:
    """Return the given tensors, under all names of tied parameters and buffers.

    Raises:
        ValueError: for different values under two names of one.
    """
    names: dict[int, list[str]] = {}
    own = [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]
    for name, tensor in own:
        names.setdefault(id(tensor), []).append(name)
    out = dict(given)
    for group in names.values():
        values = {id(given[n]): given[n] for n in group if n in given}
        if len(values) > 1:
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(group)}, which are tied. Consider using "
                "tie_weights=False"
            )
        if len(group) > 1:
            out.update(dict.fromkeys(group, next(iter(values.values()))) if values else {})
    return out


def _place(module: Module, name: str) -> tuple[Any, str]:
    """Return the submodule that holds a tensor, and its name there."""
    path, _, last = name.rpartition(".")
    found: Any = module
    for part in path.split(".") if path else ():
        if part not in found._modules:
            raise AttributeError(f"{type(found).__name__} has no attribute `{part}`")
        found = found._modules[part]
    return found, last


def _registry(owner: Any, name: str) -> dict[str, Any]:
    """Return the dict that holds a tensor: `_parameters`, `_buffers` or else `__dict__`."""
    for registry in (owner._parameters, owner._buffers):
        if name in registry:
            return registry
    if not hasattr(owner, name):
        raise AttributeError(f"`{name}` is not a tensor of {type(owner).__name__}")
    return owner.__dict__


def _present(owner: Any, name: str) -> Any:
    """Return a tensor of a module by name."""
    return _registry(owner, name).get(name, getattr(owner, name))


@block
def reparametrized(module: Module, tensors: dict[str, Any], tie_weights: bool, strict: bool) -> Iterator[None]:
    """Replace tensors of the module within this block; changes of buffers show in the dict afterwards."""
    given = _tied(module, tensors) if tie_weights else dict(tensors)
    if strict:
        own = {n for n, _ in module.named_parameters(remove_duplicate=False)}
        own |= {n for n, _ in module.named_buffers(remove_duplicate=False)}
        unexpected, missing = [n for n in given if n not in own], sorted(own - set(given))
        said = [f"Unexpected key(s): {', '.join(map(repr, unexpected))}."] if unexpected else []
        said += [f"Missing key(s): {', '.join(map(repr, missing))}."] if missing else []
        if said:
            raise RuntimeError(f"Error(s) in reparametrizing for {type(module).__name__}:\n\t" + "\n\t".join(said))
    places = {name: _place(module, name) for name in given}
    before = {name: _present(*place) for name, place in places.items()}

    def put_back() -> None:
        for name, old in before.items():
            owner, last = places[name]
            registry = _registry(owner, last)
            now = registry.get(last, old)
            if now is not old:
                registry[last] = old
                if name in tensors:
                    tensors[name] = now

    with surely(put_back):
        for name, value in given.items():
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(f"{value} is not an instance of torch.Tensor")
            owner, last = places[name]
            _registry(owner, last)[last] = value
        yield


def call(
    module: Module, tensors: dict[str, Any], args: Any = None, kwargs: Any = None, tie_weights: bool = True,
    strict: bool = False,
) -> Any:  # fmt: skip
    """`module(*args, **kwargs)` with other parameters and buffers."""
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with reparametrized(module, tensors, tie_weights, strict):
        return module(*args, **(kwargs or {}))


def functional_call(
    module: Module,
    parameters_and_buffers: dict[str, Tensor],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with the given tensors in the place of its own. Deprecated in torch for `torch.func`'s.

    Args:
        parameters_and_buffers: by name; those not given stay.
        args: a tuple of arguments, or one.
        tie_weights: does a value for one name of a tensor count for its other names?
        strict: must all names be given, and no others?

    Example::

        >>> import gradpack as torch
        >>> import warnings; warnings.simplefilter("ignore")
        >>> layer = torch.nn.Linear(1, 1)
        >>> own = {"weight": torch.ones(1, 1), "bias": torch.zeros(1)}
        >>> torch.nn.utils.stateless.functional_call(layer, own, torch.ones(1, 1))
        tensor([[1.]])
    """
    warnings.warn(
        "`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be removed in a future "
        "version of PyTorch. Please use `torch.func.functional_call` instead which is a drop-in replacement.",
        FutureWarning,
        stacklevel=2,
    )
    return call(module, parameters_and_buffers, args, kwargs, tie_weights, strict)


__all__ = ["functional_call"]
