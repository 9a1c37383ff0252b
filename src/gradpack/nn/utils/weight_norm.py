"""Weight normalisation by a hook before forward: the older form, with parameters `weight_g` and `weight_v`."""

from __future__ import annotations

import warnings
from typing import Any

from ...core.tensor import Tensor
from ...ops.nn.reparametrize import _weight_norm, norm_except_dim
from ..modules.module import Module
from ..parameter import Parameter, is_lazy


class WeightNorm:
    """The hook that computes the weight anew.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.utils.weight_norm.__name__
        'weight_norm'
    """

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Module) -> Tensor:
        """The direction `weight_v` with the length `weight_g`."""
        return _weight_norm(getattr(module, self.name + "_v"), getattr(module, self.name + "_g"), self.dim)

    @staticmethod
    def apply(module: Module, name: str, dim: int | None) -> WeightNorm:
        """Replace a parameter by its length and direction."""
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, WeightNorm) and hook.name == name:
                raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
        made = WeightNorm(name, dim)
        weight = getattr(module, name)
        if is_lazy(weight):
            raise ValueError(
                "The module passed to `WeightNorm` can't have uninitialized parameters. Make sure to run the dummy "
                "forward before applying weight normalization"
            )
        del module._parameters[name]
        module.register_parameter(name + "_g", Parameter(norm_except_dim(weight, 2, made.dim).data))
        module.register_parameter(name + "_v", Parameter(weight.data))
        setattr(module, name, made.compute_weight(module))
        module.register_forward_pre_hook(made)
        return made

    def remove(self, module: Module) -> None:
        """Make the weight a parameter again."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        for ending in ("_g", "_v"):
            del module._parameters[self.name + ending]
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Split a weight into lengths `weight_g` and directions `weight_v`, in a module: `weight = g * v / norm(v)`.

    Deprecated, with a warning: `parametrizations.weight_norm` is the newer form.

    Args:
        module: the module, which is changed and returned.
        name: the name of the weight.
        dim: the dimension along which there is one length for each slice; None for one length.

    Example::

        >>> import gradpack as torch
        >>> import warnings; warnings.simplefilter("ignore")
        >>> torch.nn.utils.weight_norm(torch.nn.Linear(2, 3)).weight_g.shape
        gradpack.Size([3, 1])
    """
    warnings.warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of `torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module: Module, name: str = "weight") -> Module:
    """Undo `weight_norm`.

    Args:
        module: the module, which is changed and returned.
        name: the name of the weight.

    Raises:
        ValueError: if there is none of that name.

    Example::

        >>> import gradpack as torch
        >>> import warnings; warnings.simplefilter("ignore")
        >>> layer = torch.nn.utils.weight_norm(torch.nn.Linear(2, 3))
        >>> list(torch.nn.utils.remove_weight_norm(layer).state_dict())
        ['bias', 'weight']
    """
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"weight_norm of '{name}' not found in {module}")


__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]
