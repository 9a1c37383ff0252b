"""Pruning: parameters of which some elements are kept at zero by a mask.

`l1_unstructured(layer, "weight", amount=0.3)` makes of the parameter `weight` a parameter `weight_orig`, a buffer
`weight_mask` of ones and zeros and an attribute `weight`, their product, computed anew before each `forward`.
`remove` makes it a parameter again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ...core.tensor import Tensor
from ...ops.create.fill_like import ones_like
from ...ops.shape.join import cat
from .._public import adopt, give_all
from ..modules.module import Module
from . import pruning_methods
from .convert_parameters import parameters_to_vector
from .pruning_methods import *


def identity(module: Module, name: str) -> Module:
    """Keep a mask of ones for a parameter.

    Example::

        >>> import gradpack as torch
        >>> layer = torch.nn.utils.prune.identity(torch.nn.Linear(2, 3), "bias")
        >>> layer.bias_mask
        tensor([1., 1., 1.])
    """
    pruning_methods.Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: float) -> Module:
    """Prune elements of a parameter at random.

    Args:
        amount: which fraction of them (a float in [0, 1]), or how many (an int).

    Raises:
        TypeError, ValueError: for other amounts, and more than there are.

    Example::

        >>> import gradpack as torch
        >>> layer = torch.nn.utils.prune.random_unstructured(torch.nn.Linear(2, 3), "weight", amount=2)
        >>> layer.weight_mask.sum()
        tensor(4.)
    """
    pruning_methods.RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Module, name: str, amount: float, importance_scores: Tensor | None = None) -> Module:
    """Prune the elements of a parameter that are closest to zero.

    Args:
        amount: which fraction of them (a float in [0, 1]), or how many (an int).
        importance_scores: numbers of the shape of the parameter: those closest to zero are pruned instead.

    Raises:
        TypeError, ValueError: for other amounts, and more than there are.

    Example::

        >>> import gradpack as torch
        >>> layer = torch.nn.utils.prune.l1_unstructured(torch.nn.Linear(2, 3), "weight", amount=0.5)
        >>> sorted(layer.state_dict()), int((layer.weight == 0).sum())
        (['bias', 'weight_mask', 'weight_orig'], 3)
    """
    pruning_methods.L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: float, dim: int) -> Module:
    """Prune whole channels of a parameter, along `dim`, at random.

    Raises:
        ValueError: for a parameter of fewer than two dimensions.
        IndexError: if it has no dimension `dim`.

    Example::

        >>> import gradpack as torch
        >>> layer = torch.nn.utils.prune.random_structured(torch.nn.Linear(2, 3), "weight", amount=1, dim=0)
        >>> layer.weight_mask.sum()
        tensor(4.)
    """
    pruning_methods.RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Module, name: str, amount: float, n: Any, dim: int, importance_scores: Tensor | None = None
) -> Module:
    """Prune the channels of a parameter, along `dim`, that have the smallest `n`-norm.

    Args:
        n: what `norm` takes as `p`: a number, inf, -inf, `"fro"` or `"nuc"`.
        importance_scores: numbers of the shape of the parameter, of which norms are taken instead.

    Raises:
        ValueError: for a parameter of fewer than two dimensions.
        IndexError: if it has no dimension `dim`.

    Example::

        >>> import gradpack as torch
        >>> layer = torch.nn.Linear(2, 2)
        >>> _ = layer.weight.data.copy_(torch.tensor([[1.0, 1.0], [2.0, 2.0]]))
        >>> torch.nn.utils.prune.ln_structured(layer, "weight", amount=1, n=2, dim=0).weight_mask
        tensor([[0., 0.],
                [1., 1.]])
    """
    pruning_methods.LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Module, str]],
    pruning_method: type[pruning_methods.BasePruningMethod],
    importance_scores: dict[tuple[Module, str], Tensor] | None = None,
    **kwargs: Any,
) -> None:
    """Prune several parameters together: those elements that are least of all.

    Args:
        parameters: pairs of module and name.
        pruning_method: an unstructured one, `L1Unstructured` say.
        importance_scores: for some of the pairs, numbers to choose by instead of the parameter.
        kwargs: what the method is made with: `amount`.

    Raises:
        TypeError: for other methods, and for arguments of other types.

    Example::

        >>> import gradpack as torch
        >>> prune = torch.nn.utils.prune
        >>> a, b = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
        >>> prune.global_unstructured([(a, "weight"), (b, "weight")], prune.L1Unstructured, amount=3)
        >>> a.weight_mask.sum() + b.weight_mask.sum()
        tensor(5.)
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    pairs = [(module, name) for module, name in parameters]
    given = importance_scores if importance_scores is not None else {}
    if not isinstance(given, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    scores = parameters_to_vector([given.get(pair, getattr(*pair)) for pair in pairs])
    masks = [getattr(module, name + "_mask", None) for module, name in pairs]
    default = cat(
        [
            (ones_like(getattr(*pair).detach()) if mask is None else mask).reshape(-1)
            for pair, mask in zip(pairs, masks, strict=True)
        ]
    )
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {method.PRUNING_TYPE}"
        )
    method._tensor_name = "temp"
    container = pruning_methods.PruningContainer(method)
    mask = container.compute_mask(scores, default)
    start = 0
    for module, name in pairs:
        value = getattr(module, name)
        custom_from_mask(module, name, mask[start : start + value.numel()].view_as(value))
        start += value.numel()


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prune a parameter by a mask of its shape: zeros (or False) where to prune.

    Example::

        >>> import gradpack as torch
        >>> layer = torch.nn.utils.prune.custom_from_mask(torch.nn.Linear(2, 3), "bias", torch.tensor([0, 1, 0]))
        >>> layer.bias_mask
        tensor([0., 1., 0.])
    """
    pruning_methods.CustomFromMask.apply(module, name, mask)
    return module


def remove(module: Module, name: str) -> Module:
    """Make of a pruned tensor a parameter as before, with its zeros, and stop pruning it.

    Raises:
        ValueError: if it is not pruned.

    Example::

        >>> import gradpack as torch
        >>> layer = torch.nn.utils.prune.random_unstructured(torch.nn.Linear(2, 3), "weight", amount=2)
        >>> sorted(torch.nn.utils.prune.remove(layer, "weight").state_dict())
        ['bias', 'weight']
    """
    for key, hook in pruning_methods._hooks(module):
        if hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module: Module) -> bool:
    """Does this module, or one inside of it, have a pruned parameter?

    Example::

        >>> import gradpack as torch
        >>> layer = torch.nn.Linear(2, 3)
        >>> torch.nn.utils.prune.is_pruned(layer)
        False
        >>> torch.nn.utils.prune.is_pruned(torch.nn.Sequential(torch.nn.utils.prune.identity(layer, "weight")))
        True
    """
    return any(pruning_methods._hooks(inner) for inner in module.modules())


adopt(globals(), pruning_methods.__name__)
give_all(globals())


if not TYPE_CHECKING:  # to type checkers, other names are unknown

    def __getattr__(name: str) -> Any:
        """Helpers that are not part of the interface, `_validate_pruning_amount` say, under torch's path."""
        if not name.startswith("__") and hasattr(pruning_methods, name):
            return getattr(pruning_methods, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
