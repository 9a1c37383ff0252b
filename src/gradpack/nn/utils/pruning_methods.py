"""Ways to choose which elements of a parameter to keep: classes that compute masks of ones and zeros.

A method stands before `forward` as a hook, and writes `weight_orig * weight_mask` to `weight`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

from ...core.tensor import Tensor
from ...ops.create.fill_like import ones_like
from ...ops.random.floats import rand, rand_like
from .._public import give_all
from ..modules.module import Module
from .pruning_amounts import (
    _compute_norm,
    _how_many,
    _mask_elements,
    _validate_pruning_amount_init,
    _validate_pruning_dim,
    _validate_structured_pruning,
)


class BasePruningMethod(ABC):
    """Base class of pruning methods: a subclass defines `compute_mask` and `PRUNING_TYPE`.

    `PRUNING_TYPE` is `"unstructured"` (elements that are still there), `"structured"` (channels that are still there)
    or `"global"` (all elements): it says what a method sees of a parameter that was pruned before.

    Example::

        >>> import gradpack as torch
        >>> class EveryOther(torch.nn.utils.prune.BasePruningMethod):
        ...     PRUNING_TYPE = "unstructured"
        ...     def compute_mask(self, t, default_mask):
        ...         mask = default_mask.clone()
        ...         mask.view(-1)[::2] = 0
        ...         return mask
        >>> layer = torch.nn.Linear(2, 2)
        >>> method = EveryOther.apply(layer, "weight")
        >>> layer.weight_mask
        tensor([[0., 1.],
                [0., 1.]])
    """

    PRUNING_TYPE: str
    _tensor_name: str

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """A mask of the shape of `t`, importance scores: zeros where `default_mask` has them, and where to prune."""

    def apply_mask(self, module: Module) -> Tensor:
        """Return the parameter times its mask."""
        name = self._tensor_name
        orig, mask = getattr(module, name + "_orig"), getattr(module, name + "_mask")
        pruned: Tensor = mask.to(orig.dtype) * orig
        return pruned

    @classmethod
    def apply(cls, module: Module, name: str, *args: Any, importance_scores: Any = None, **kwargs: Any) -> Any:
        """Prune `module.name`, on top of what was pruned before, and keep the method as a hook of the module.

        Args:
            args, kwargs: what the method is made with.
            importance_scores: numbers of the shape of the parameter to choose by, instead of the parameter.

        Returns:
            The hook: the method, or a `PruningContainer` with all methods of the parameter.

        Raises:
            AssertionError: if the scores have another shape.
        """
        return cls._attach(cls(*args, **kwargs), module, name, importance_scores)

    @staticmethod
    def _attach(method: BasePruningMethod, module: Module, name: str, importance_scores: Tensor | None) -> Any:
        """Prune `module.name` by a method: see `apply`."""
        before = [(key, hook) for key, hook in _hooks(module) if hook._tensor_name == name]
        method._tensor_name = name
        for _, old in before:
            chain = old if isinstance(old, PruningContainer) else PruningContainer(old)
            method = PruningContainer(*chain, method)
        value = getattr(module, name)
        scores = value if importance_scores is None else importance_scores
        if scores.shape != value.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as parameter {name} of {module}, "
                f"got {scores.shape} vs {value.shape}"
            )
        default = getattr(module, name + "_mask").detach().clone() if before else ones_like(value.detach())
        mask = method.compute_mask(scores, default_mask=default)
        if before:
            for key, _ in before:
                del module._forward_pre_hooks[key]
        else:
            del module._parameters[name]
            module.register_parameter(name + "_orig", value)
        module.register_buffer(name + "_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None) -> Tensor:
        """Return a pruned copy of a tensor that need not belong to a module.

        Args:
            default_mask: what was pruned before; nothing by default.
            importance_scores: numbers of the shape of `t` to choose by.
        """
        scores = t if importance_scores is None else importance_scores
        if scores.shape != t.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as tensor t, got {scores.shape} vs {t.shape}"
            )
        start = ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=start)

    def remove(self, module: Module) -> None:
        """Make the pruned tensor the parameter, and forget the mask. The hook stays: `prune.remove` takes it."""
        name = self._tensor_name
        pruned = self.apply_mask(module)
        if name in module.__dict__:
            delattr(module, name)
        orig: Any = module._parameters.pop(name + "_orig")
        orig.data = pruned.data
        del module._buffers[name + "_mask"]
        module.register_parameter(name, orig)


def _hooks(module: Module) -> list[tuple[int, BasePruningMethod]]:
    """Return the pruning methods of a module with the keys of their hooks."""
    return [(k, hook) for k, hook in module._forward_pre_hooks.items() if isinstance(hook, BasePruningMethod)]


class PruningContainer(BasePruningMethod):
    """Several methods for one parameter, each applied to the elements that those before it kept.

    Example::

        >>> import gradpack as torch
        >>> prune = torch.nn.utils.prune
        >>> layer = prune.l1_unstructured(torch.nn.Linear(2, 2), "weight", amount=1)
        >>> hook = prune.L1Unstructured.apply(layer, "weight", amount=1)
        >>> len(hook), int(layer.weight_mask.sum())
        (2, 2)
    """

    def __init__(self, *args: BasePruningMethod) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        if args:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod | None) -> None:
        """Add a method, for the same parameter as the others.

        Raises:
            TypeError: unless it is a method, or None.
            ValueError: if it is for another parameter.
        """
        if method is None:
            return
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method._tensor_name != self._tensor_name:
            raise ValueError(
                f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to "
                f"PruningContainer {self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, index: Any) -> Any:
        return self._pruning_methods[index]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask of the last method, applied to the elements that `default_mask` keeps."""
        method = self._pruning_methods[-1]
        kind = method.PRUNING_TYPE
        if kind == "unstructured":
            left: Any = default_mask == 1
        elif kind == "structured":
            dim = method.dim % t.dim()  # type: ignore[attr-defined]
            others = tuple(d for d in range(t.dim()) if d != dim)
            left = (slice(None),) * dim + (default_mask.sum(dim=others) != 0,)
        elif kind == "global":
            left = (slice(None),) * t.dim()
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {kind}: it is unstructured, structured or global")
        mask = default_mask.to(t.dtype, copy=True)
        mask[left] = method.compute_mask(t[left], default_mask=mask[left]).to(mask.dtype)
        return mask


class Identity(BasePruningMethod):
    """Prunes nothing: a mask of ones.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.utils.prune.Identity().prune(torch.ones(2))
        tensor([1., 1.])
    """

    PRUNING_TYPE = "unstructured"

    @classmethod
    def apply(cls, module: Module, name: str) -> Any:  # type: ignore[override]
        """Prune nothing of `module.name`, and keep the method as a hook of the module."""
        return cls._attach(cls(), module, name, None)

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask


class CustomFromMask(BasePruningMethod):
    """Prunes by a mask that is given.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.utils.prune.CustomFromMask(torch.tensor([1, 0])).prune(torch.ones(2))
        tensor([1., 0.])
    """

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    @classmethod
    def apply(cls, module: Module, name: str, mask: Tensor) -> Any:  # type: ignore[override]
        """Prune `module.name` by a mask, and keep the method as a hook of the module."""
        return cls._attach(cls(mask), module, name, None)

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"default_mask shape {default_mask.shape} must match self.mask shape {self.mask.shape}"
            )
        return default_mask * self.mask.to(dtype=default_mask.dtype)


class RandomUnstructured(BasePruningMethod):
    """Prunes elements at random: a fraction of them (float in [0, 1]), or so many (int).

    Raises:
        TypeError, ValueError: for other amounts; and ValueError for more than there are.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.utils.prune.RandomUnstructured(0.5).prune(torch.ones(4)).sum()
        tensor(2.)
    """

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: float) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount

    @classmethod
    def apply(cls, module: Module, name: str, amount: float) -> Any:  # type: ignore[override]
        """Prune elements of `module.name` at random, and keep the method as a hook of the module."""
        return cls._attach(cls(amount), module, name, None)

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return _mask_elements(rand_like(t.detach()), self.amount, default_mask)


class L1Unstructured(RandomUnstructured):
    """Prunes the elements that are closest to zero: a fraction of them (float in [0, 1]), or so many (int).

    Example::

        >>> import gradpack as torch
        >>> torch.nn.utils.prune.L1Unstructured(1).prune(torch.tensor([3.0, -1.0, 2.0]))
        tensor([3., -0., 2.])
    """

    @classmethod
    def apply(  # type: ignore[override]
        cls, module: Module, name: str, amount: float, importance_scores: Tensor | None = None
    ) -> Any:
        """Prune the elements of `module.name` that are closest to zero, and keep the method as a hook of the module."""
        return cls._attach(cls(amount), module, name, importance_scores)

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return _mask_elements(t.detach().abs(), self.amount, default_mask)


class RandomStructured(RandomUnstructured):
    """Prunes whole channels along `dim` at random.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.utils.prune.RandomStructured(1, dim=0).prune(torch.ones(3, 2)).sum()
        tensor(4.)
    """

    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    @classmethod
    def apply(cls, module: Module, name: str, amount: float, dim: int = -1) -> Any:  # type: ignore[override]
        """Prune channels of `module.name` at random, and keep the method as a hook of the module."""
        return cls._attach(cls(amount, dim), module, name, None)

    def scores(self, t: Tensor) -> Tensor:
        """A number for each channel: the smallest are pruned."""
        return rand(t.shape[self.dim], device=t.device)

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        _validate_structured_pruning(t)
        _validate_pruning_dim(t, self.dim)
        count = _how_many(self.amount, t.shape[self.dim])
        if not count:
            return default_mask
        kept = ones_like(default_mask).movedim(self.dim, 0)
        kept[self.scores(t).topk(count, largest=False).indices] = 0
        return kept.movedim(0, self.dim) * default_mask


class LnStructured(RandomStructured):
    """Prunes the channels along `dim` that have the smallest `n`-norm (a number, inf, -inf, `"fro"` or `"nuc"`).

    Example::

        >>> import gradpack as torch
        >>> torch.nn.utils.prune.LnStructured(1, n=2, dim=0).prune(torch.tensor([[1.0, 1.0], [2.0, 2.0]]))
        tensor([[0., 0.],
                [2., 2.]])
    """

    def __init__(self, amount: float, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    @classmethod
    def apply(  # type: ignore[override]
        cls, module: Module, name: str, amount: float, n: Any, dim: int, importance_scores: Tensor | None = None
    ) -> Any:
        """Prune channels of `module.name` of the smallest norm, and keep the method as a hook of the module."""
        return cls._attach(cls(amount, n, dim), module, name, importance_scores)

    def scores(self, t: Tensor) -> Tensor:
        return _compute_norm(t.detach(), self.n, self.dim)


give_all(globals())
