"""Parametrisations: a parameter that is computed from others each time it is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any

from ...autograd.grad_mode import no_grad
from ...base.exits import block
from ...core.tensor import Tensor
from .._public import give_all
from ..modules.container import ModuleDict, ModuleList
from ..modules.module import Module
from ..parameter import Parameter

_cache: dict[tuple[int, str], Tensor] = {}
_caching = 0


@block
def cached() -> Iterator[None]:
    """Compute each parametrized tensor only once within this block.

    Example::

        >>> import gradpack as torch
        >>> layer = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(2, 2))
        >>> with torch.nn.utils.parametrize.cached():
        ...     layer.weight is layer.weight
        True
    """
    global _caching
    before = _caching
    try:
        _caching = before + 1
        yield
    finally:
        _caching = before
        if not before:
            _cache.clear()


def _register(module: Module, name: str, value: Any) -> None:
    if isinstance(value, Parameter):
        module.register_parameter(name, value)
    else:
        module.register_buffer(name, value)


def _set(target: Tensor, source: Tensor) -> None:
    """Replace the data of a tensor in place: optimizers keep their reference to it."""
    target.data = source.detach()


def _check_same(dtype: Any, shape: Any, new: Tensor, message: str) -> None:
    """Raise ValueError, with the attribute and both values in the message, unless a tensor has this dtype and shape."""
    for attribute, old in (("dtype", dtype), ("shape", shape)):
        found = getattr(new, attribute)
        if found != old:
            raise ValueError(message.format(attribute, old, found))


class ParametrizationList(ModuleList):
    """The parametrisations of one tensor, first to last, and what the first takes: `original` or `original0`, ...

    Args:
        modules: at least one.
        original: the tensor as it was.
        unsafe: do not check that dtype and shape stay?

    Example::

        >>> import gradpack as torch
        >>> layer = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(2, 2))
        >>> type(layer.parametrizations.weight).__name__
        'ParametrizationList'
    """

    def __init__(self, modules: Sequence[Module], original: Any, unsafe: bool = False) -> None:
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        with no_grad():
            new: Any = original
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    try:
                        new = module.right_inverse(new)
                    except NotImplementedError:
                        continue
        wanted = "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got"
        if not isinstance(new, Tensor | Sequence):
            raise ValueError(f"{wanted} {type(new).__name__}")
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if isinstance(new, Tensor) else len(new)
        if isinstance(new, Tensor):
            if new.dtype is not dtype:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                    f"original.dtype: {dtype}\nright_inverse(original).dtype: {new.dtype}"
                )
            _set(original, new)
            _register(self, "original", original)
        else:
            for i, part in enumerate(new):
                if not isinstance(part, Tensor):
                    raise ValueError(f"{wanted} element {i} of the sequence with type {type(part).__name__}.")
                if isinstance(original, Parameter):
                    part = Parameter(part, original.requires_grad)
                part.requires_grad_(original.requires_grad)
                _register(self, f"original{i}", part)
        if not unsafe:
            found = self()
            if not isinstance(found, Tensor):
                raise ValueError(f"A parametrization must return a tensor. Got {type(found).__name__}.")
            _check_same(
                dtype,
                shape,
                found,
                "Registering a parametrization may not change the {0} of the tensor, unless `unsafe` flag is enabled.\n"
                "unparametrized {0}: {1}\nparametrized {0}: {2}",
            )

    def originals(self) -> list[Tensor]:
        """Return the original tensors, the inputs of the first parametrization."""
        return [getattr(self, place) for place in self._places()]

    def _places(self) -> list[str]:
        return ["original"] if self.is_tensor else [f"original{i}" for i in range(self.ntensors)]

    def right_inverse(self, value: Any) -> None:
        """Set the originals so that the parametrised tensor becomes `value`."""
        with no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
            if self.is_tensor:
                if not isinstance(value, Tensor):
                    raise ValueError(f"`right_inverse` should return a tensor. Got {type(value).__name__}")
                if value.dtype is not self.original.dtype:
                    raise ValueError(
                        f"The tensor returned by `right_inverse` has dtype {value.dtype} while `original` has dtype "
                        f"{self.original.dtype}"
                    )
                value = [value]
            elif not isinstance(value, Sequence):
                raise ValueError(f"'right_inverse' must return a sequence of tensors. Got {type(value).__name__}.")
            if len(value) != self.ntensors:
                raise ValueError(
                    f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. Got a sequence of "
                    f"length {len(value)}."
                )
            for i, (old, new) in enumerate(zip(self.originals(), value, strict=True)):
                if new.dtype is not old.dtype:
                    raise ValueError(
                        f"Tensor {i} returned by `right_inverse` has dtype {new.dtype} while `original{i}` has dtype "
                        f"{old.dtype}"
                    )
                _set(old, new)

    def forward(self) -> Tensor:
        first, *rest = self
        x: Tensor = first(*self.originals())
        for module in rest:
            x = module(x)
        return x


def _deepcopied(self: Any, memo: dict[int, Any]) -> Any:
    found = memo.get(id(self))
    if found is None:
        found = memo[id(self)] = self.__new__(type(self))
        found.__dict__ = deepcopy(self.__dict__, memo)
    return found


def _no_state(self: Any) -> Any:
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through state_dict(). See:\n"
        "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
        "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
    )


def _inject(module: Module, name: str) -> None:
    """Make `name` a property of the module's own class."""

    def get(self: Any) -> Tensor:
        found = self.parametrizations[name]
        if not _caching:
            return found()
        key = (id(self), name)
        if key not in _cache:
            _cache[key] = found()
        return _cache[key]

    def put(self: Any, value: Tensor) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(get, put))


def _lists(module: Module) -> ModuleDict:
    """Return the lists of parametrizations of a module, by the names of tensors."""
    found: Any = module.parametrizations
    return found


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Compute a parameter or buffer of a module by another module from now on.

    Args:
        parametrization: its `forward` gives the tensor; its `right_inverse`, if any, what `forward` takes for a given
            tensor, when somebody assigns one.
        unsafe: do not check that dtype and shape stay?

    Raises:
        ValueError: if there is no such tensor, or dtype or shape would change.

    Example::

        >>> import gradpack as torch
        >>> class Symmetric(torch.nn.Module):
        ...     def forward(self, x):
        ...         return x.triu() + x.triu(1).T
        >>> layer = torch.nn.Linear(3, 3)
        >>> _ = torch.nn.utils.parametrize.register_parametrization(layer, "weight", Symmetric())
        >>> bool((layer.weight == layer.weight.T).all())
        True
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_next(module, tensor_name, parametrization)
        found: Any = _lists(module)[tensor_name]
        found.append(parametrization)
        found.unsafe |= unsafe
        return module
    if tensor_name not in module._buffers and tensor_name not in module._parameters:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
            f"'{tensor_name}'"
        )
    made = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe=unsafe)
    delattr(module, tensor_name)
    if not is_parametrized(module):
        kind = type(module)
        members: dict[str, Any] = {"__getstate__": _no_state}
        if not hasattr(kind, "__deepcopy__"):
            members["__deepcopy__"] = _deepcopied
        module.__class__ = type(f"Parametrized{kind.__name__}", (kind,), members)
        module.parametrizations = ModuleDict()
    _inject(module, tensor_name)
    _lists(module)[tensor_name] = made
    return module


def _check_next(module: Module, name: str, parametrization: Any) -> None:
    """Raise unless one more parametrization, and its inverse, keep dtype and shape."""
    y = getattr(module, name)
    x = parametrization(y)
    if not isinstance(x, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(x).__name__}.")
    end = f"unless the `unsafe` flag is enabled.\nmodule.{name}.{{0}}: {{1}}\n"
    change = "Registering a parametrization may not change the {0} of the tensor"
    _check_same(y.dtype, y.shape, x, f"{change}, {end}parametrization(module.{name}).{{0}}: {{2}}")
    if hasattr(parametrization, "right_inverse"):
        try:
            z = parametrization.right_inverse(x)
        except NotImplementedError:
            return
        if not isinstance(z, Tensor):
            raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {type(z).__name__}")
        change = "The tensor returned by parametrization.right_inverse must have the same {0} as"
        _check_same(y.dtype, y.shape, z, f"{change} module.{name}, {end}returned {{0}}: {{2}}")


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a module has a parametrised tensor, or one of that name.

    Example::

        >>> import gradpack as torch
        >>> torch.nn.utils.parametrize.is_parametrized(torch.nn.Linear(2, 2))
        False
    """
    found = getattr(module, "parametrizations", None)
    if not isinstance(found, ModuleDict):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Make a parametrised tensor an ordinary one again: with its value, or with the original's.

    Raises:
        ValueError: if it is not parametrised; if several originals are to be left.

    Example::

        >>> import gradpack as torch
        >>> layer = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(2, 2))
        >>> torch.nn.utils.parametrize.remove_parametrizations(layer, "weight")
        Linear(in_features=2, out_features=2, bias=True)
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    found: Any = _lists(module)[tensor_name]
    if found.is_tensor:
        original = found.original
        if leave_parametrized:
            with no_grad():
                _set(original, getattr(module, tensor_name))
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        original = Parameter(value) if value.requires_grad else value
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a "
            "sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """The class that a module had before it was parametrised.

    Example::

        >>> import gradpack as torch
        >>> layer = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(2, 2))
        >>> torch.nn.utils.parametrize.type_before_parametrizations(layer).__name__
        'Linear'
    """
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Copy the parametrizations and original tensors of one module to another.

    Example::

        >>> import gradpack as torch
        >>> a = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(2, 2))
        >>> b = torch.nn.utils.parametrize.transfer_parametrizations_and_params(a, torch.nn.Linear(2, 2))
        >>> bool((a.weight == b.weight).all())
        True
    """
    if not is_parametrized(from_module):
        return to_module
    for name in list(_lists(from_module)) if tensor_name is None else [tensor_name]:
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name)))
        source: Any = _lists(from_module)[name]
        for parametrization in source:
            register_parametrization(to_module, name, parametrization)
        target: Any = _lists(to_module)[name]
        for place in source._places():
            setattr(target, place, getattr(source, place))
    return to_module


give_all(globals())
