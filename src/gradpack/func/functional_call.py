"""Modules as functions of their parameters: `functional_call`, `stack_module_state`, and batch norms for `vmap`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from ..base.exits import surely
from ..core.tensor import Tensor

if TYPE_CHECKING:
    from ..nn import Module


def functional_call(
    module: Module,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with its parameters and buffers replaced by other tensors.

    Args:
        module: a `nn.Module`; restored after the call.
        parameter_and_buffer_dicts: names and tensors, or a sequence of such dicts. What the module assigns to
            its parameters and buffers ends up there.
        args: the positional arguments: a tuple, or one.
        kwargs: the others.
        tie_weights: a tensor given for one name replaces all names of the same tied parameter.
        strict: raise RuntimeError unless all parameters and buffers, and no others, are given.

    Raises:
        ValueError: for what are no dicts, for a name in two of them, and for two values of tied names.

    Example::

        >>> import gradpack as torch
        >>> layer = torch.nn.Linear(1, 1)
        >>> given = {"weight": torch.ones(1, 1), "bias": torch.zeros(1)}
        >>> torch.func.functional_call(layer, given, torch.tensor([2.0]))
        tensor([2.])
    """
    if isinstance(parameter_and_buffer_dicts, dict):
        given = parameter_and_buffer_dicts
    elif isinstance(parameter_and_buffer_dicts, list | tuple):
        if not all(isinstance(d, dict) for d in parameter_and_buffer_dicts):
            raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
        keys = [k for d in parameter_and_buffer_dicts for k in d]
        repeated = [k for k in dict.fromkeys(keys) if keys.count(k) > 1]
        if repeated:
            raise ValueError(f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous")
        given = {k: v for d in parameter_and_buffer_dicts for k, v in d.items()}
    else:
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(parameter_and_buffer_dicts)}"
        )
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    wanted = _tied(module, given) if tie_weights else dict(given)
    if strict:
        _check_names(module, wanted)
    before = {name: _found(module, name) for name in wanted}

    def put_back() -> None:
        for name, value in before.items():
            left = _found(module, name)
            if left is not value:
                _exchange(module, name, value)
                if name in given:
                    given[name] = left

    with surely(put_back):
        for name, value in wanted.items():
            _exchange(module, name, value)
        return module(*args, **(kwargs or {}))


_MISSING = object()


def _found(module: Any, path: str) -> Any:
    """The parameter, buffer or attribute of a module at a dotted name; `_MISSING` if there is none."""
    module, name = _owner(module, path)
    for table in (module._parameters, module._buffers):
        if name in table:
            return table[name]
    return getattr(module, name, _MISSING)


def _exchange(module: Any, path: str, value: Any) -> None:
    """Set the tensor of a module at a dotted name; `_MISSING` removes it.

    Raises:
        KeyError: for an empty name.
        AttributeError: if a module on the way does not exist.
        TypeError: if the owner is no module, or the value no tensor.
    """
    module, name = _owner(module, path)
    if value is not _MISSING and not isinstance(value, Tensor) and value is not None:
        raise TypeError(f"{value} is not an instance of torch.Tensor")
    if not name:
        raise KeyError('tensor name can\'t be empty string ""')
    for table in (module._parameters, module._buffers):
        if name in table:
            if value is _MISSING:  # the module set a Parameter of a new name
                del table[name]
            else:
                table[name] = value
            return
    if value is _MISSING:
        delattr(module, name)
        return
    old = getattr(module, name, _MISSING)
    if old is not _MISSING and old is not None and not isinstance(old, Tensor):
        raise TypeError(f"attribute `{name}`: {old} is not an instance of torch.Tensor")
    setattr(module, name, value)


def _owner(module: Any, path: str) -> tuple[Any, str]:
    """The submodule that owns what a dotted name stands for, and the last part of the name."""
    *parts, name = path.split(".")
    for i, part in enumerate(parts, 1):
        found = getattr(module, part, _MISSING)
        if found is _MISSING:
            raise AttributeError(f"{module._get_name()} has no attribute `{part}`")
        if not hasattr(found, "_modules"):
            raise TypeError(f"submodule `{'.'.join(parts[:i])}`: {found} is not an instance of torch.nn.Module")
        module = found
    return module, name


def _named(module: Any) -> dict[str, Any]:
    """All parameters and buffers by dotted name; a tied tensor under each of its names."""
    found: dict[str, Any] = {}
    stack = [("", module)]
    while stack:
        prefix, owner = stack.pop()
        for table in (owner._parameters, owner._buffers):
            found |= {prefix + name: value for name, value in table.items() if value is not None}
        stack.extend((f"{prefix}{name}.", child) for name, child in owner._modules.items() if child is not None)
    return found


def _tied(module: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Return `given`, with each tensor repeated under all names that are tied to its own."""
    groups: dict[int, list[str]] = {}
    for name, tensor in _named(module).items():
        groups.setdefault(id(tensor), []).append(name)
    wanted = dict(given)
    for group in groups.values():
        values = [given[n] for n in group if n in given]
        if len(group) == 1 or not values:
            continue
        if any(v is not values[0] for v in values):
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(group)}, which are tied. Consider using "
                "tie_weights=False"
            )
        wanted.update(dict.fromkeys(group, values[0]))
    return wanted


def _check_names(module: Any, wanted: dict[str, Any]) -> None:
    known = _named(module)
    odd = ("Unexpected", wanted.keys() - known.keys()), ("Missing", known.keys() - wanted.keys())
    wrong = [f"{what} key(s): {', '.join(map(repr, sorted(names)))}." for what, names in odd if names]
    if wrong:
        raise RuntimeError(f"Error(s) in reparametrizing for {module._get_name()}:\n\t" + "\n\t".join(wrong))


def stack_module_state(models: Any) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The parameters and the buffers of several modules of one class, each stacked along a new first dimension.

    Args:
        models: the modules: a sequence.

    Raises:
        RuntimeError: for no modules, different classes, or modes of training, or `requires_grad`.

    Example::

        >>> import gradpack as torch
        >>> models = [torch.nn.Linear(2, 3) for _ in range(4)]
        >>> params, buffers = torch.func.stack_module_state(models)
        >>> params["weight"].shape
        gradpack.Size([4, 3, 2])
    """
    models = list(models)
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({m.training for m in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if len({type(m) for m in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    params = [dict(m.named_parameters()) for m in models]
    buffers = [dict(m.named_buffers()) for m in models]
    return (
        {k: _stacked([p[k] for p in params], k) for k in params[0]},
        {k: _stacked([b[k] for b in buffers], k) for k in buffers[0]},
    )


def _stacked(tensors: list[Tensor], name: str) -> Tensor:
    from ..ops.shape.join import stack

    needs = [t.requires_grad for t in tensors]
    if any(needs) and not all(needs):
        raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
    made: Tensor = stack(tensors)
    return made.detach().requires_grad_() if all(needs) else made


_M = TypeVar("_M")


def replace_all_batch_norm_modules_(root: _M) -> _M:
    """Make every batch normalisation in a module use batch statistics only, in place.

    Under `vmap`, one buffer cannot have running statistics for each example. So they are dropped:
    `running_mean`, `running_var` and `num_batches_tracked` become None, and `track_running_stats` False.

    Args:
        root: the module.

    Returns:
        The module.

    Example::

        >>> import gradpack as torch
        >>> model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
        >>> torch.func.replace_all_batch_norm_modules_(model)[1].running_mean is None
        True
    """
    whole: Any = root
    for module in whole.modules():
        if any(kind.__name__ == "_BatchNorm" for kind in type(module).__mro__):  # layers are above this module
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root
