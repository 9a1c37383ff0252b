"""`Optimizer`: parameters in groups with options, state for each parameter, saving and loading of both."""

from __future__ import annotations

import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from itertools import chain
from typing import Any

from ..base.errors import is_foreign, mixed
from ..base.modes import MODE
from ..core.hooks import RemovableHandle
from ..core.tensor import Tensor
from ..nn._module.global_hooks import add
from ..nn.parameter import clear_grad
from ._kernels import drop_gradients
from ._step_hooks import HOOKS, after_every_step, before_every_step, record, with_hooks


class _Required:
    """Stands in `defaults` for an option without a default: every group has to give it."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(optimizer, args, kwargs)` before each step of every optimiser."""
    return add(before_every_step, hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(optimizer, args, kwargs)` after each step of every optimiser."""
    return add(after_every_step, hook)


class Optimizer:
    """The base of all optimisers. A subclass defines `step`.

    Args:
        params: tensors, or pairs of name and tensor, or dicts (groups) with the key `"params"` and options.
        defaults: the options of groups that do not give their own.

    Example::

        >>> import gradpack as torch
        >>> class Descent(torch.optim.Optimizer):
        ...     def __init__(self, params, lr):
        ...         super().__init__(params, {"lr": lr})
        ...     @torch.no_grad()
        ...     def step(self, closure=None):
        ...         for group in self.param_groups:
        ...             for p in group["params"]:
        ...                 p -= group["lr"] * p.grad
        >>> w = torch.tensor([1.0], requires_grad=True)
        >>> (3 * w).backward()
        >>> Descent([w], lr=0.5).step()
        >>> w
        tensor([-0.5000], requires_grad=True)
    """

    defaults: dict[str, Any]
    state: defaultdict[Any, Any]
    param_groups: list[dict[str, Any]]
    _optimizer_step_pre_hooks: OrderedDict[int, Any]
    _optimizer_step_post_hooks: OrderedDict[int, Any]
    _optimizer_state_dict_pre_hooks: OrderedDict[int, Any]
    _optimizer_state_dict_post_hooks: OrderedDict[int, Any]
    _optimizer_load_state_dict_pre_hooks: OrderedDict[int, Any]
    _optimizer_load_state_dict_post_hooks: OrderedDict[int, Any]
    _in_step = False
    _in_profile = False
    _opt_called = False
    _counts_in_tensors = False  # is `"step"` of the state a tensor?
    _own_step = False  # was `step` replaced in this optimiser before there was a scheduler?

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__:
            cls.step = with_hooks(cls.__dict__["step"])  # type: ignore[method-assign]

    def _patch_step_function(self) -> None:
        """Do nothing: `step` is wrapped when the class is created. Wrappers of other packages call this."""

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self.state = defaultdict(dict)
        self.param_groups = []
        self.__setstate__({})
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got a "
                f"{type(params).__name__}: write [tensor]"
            )
        if not hasattr(params, "__iter__"):
            wanted = "params argument given to the optimizer should be an iterable of Tensors or dicts"
            raise TypeError(f"{wanted}, but got {type(params).__name__}")
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update the parameters by their gradients.

        Args:
            closure: computes the loss, and its gradients, anew; called once, with autograd on.

        Returns:
            What the closure returned, or None.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define step()")

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters, or fill them with zeros if not `set_to_none`."""
        if MODE.get().profiler is not None:
            with record(f"Optimizer.zero_grad#{type(self).__name__}.zero_grad"):
                self._zero_grad(set_to_none)
        else:
            self._zero_grad(set_to_none)

    def _zero_grad(self, set_to_none: bool) -> None:
        for group in self.param_groups:
            if set_to_none:
                drop_gradients(group["params"])
            else:
                for p in group["params"]:
                    clear_grad(p, set_to_none)

    # --- groups ---

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Optimise more parameters: a dict with the key `"params"`, and options other than the defaults.

        Raises:
            TypeError: unless it is a dict with an ordered collection of tensors.
            ValueError: for tensors that are not leaves, that are in another group, or of which only some have names.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params, names = _params_and_names(param_group["params"])
        for p in params:
            if not isinstance(p, Tensor):
                if is_foreign(p):
                    raise mixed(type(self).__name__)
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(p).__name__}")
            if not self.defaults.get("differentiable") and not (p.is_leaf or p.retains_grad):
                raise ValueError(
                    f"can't optimize a non-leaf Tensor (shape {list(p.shape)}, {p.grad_fn}): only leaves get a .grad"
                )
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
        new = set(params)
        for group in self.param_groups:
            if not new.isdisjoint(group["params"]):
                raise ValueError("some parameters appear in more than one parameter group")
            if bool(names) != ("param_names" in group):
                raise ValueError(
                    "all optimizer param groups should be with/without names. cannot add param group "
                    f"{'with' if names else 'without'} names to the optimizer"
                )
        if len(new) != len(params):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters: each is updated once per mention",
                stacklevel=3,
            )
        param_group["params"] = params
        if names:
            param_group["param_names"] = names
        for name, default in self.defaults.items():
            param_group.setdefault(name, default)
        self.param_groups.append(param_group)

    # --- saving and loading ---

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for name in HOOKS:
            self.__dict__.setdefault(name, OrderedDict())

    def state_dict(self) -> dict[str, Any]:
        """The state and the options, with numbers in place of the parameters, in order of mention.

        Returns:
            A dict with `"state"`, from number to the state of that parameter (tensors are not
            copied), and `"param_groups"`, a list of dicts of options with the numbers under `"params"`.

        Example::

            >>> import gradpack as torch
            >>> w = torch.tensor([1.0], requires_grad=True)
            >>> torch.optim.SGD([w], lr=0.5).state_dict()["param_groups"][0]["params"]
            [0]
        """
        for hook in tuple(self._optimizer_state_dict_pre_hooks.values()):
            hook(self)
        number: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            for p in group["params"]:
                number.setdefault(id(p), len(number))
            packed = {name: value for name, value in group.items() if name != "params"}
            packed["params"] = [number[id(p)] for p in group["params"]]
            groups.append(packed)
        state = {number[id(k)] if isinstance(k, Tensor) else k: value for k, value in self.state.items()}
        result: dict[str, Any] = {"state": state, "param_groups": groups}
        for hook in tuple(self._optimizer_state_dict_post_hooks.values()):
            changed = hook(self, result)
            result = result if changed is None else changed
        return result

    def load_state_dict(self, state_dict: Any) -> None:
        """Load state and options from `state_dict()`. Tensors are copied, to the dtype of their parameter.

        What older versions did not write, options among them, is what it is by default; numbers of steps may be
        plain numbers.

        Raises:
            ValueError: if the groups do not match those of this optimiser, which then stays as it was.
            AttributeError, TypeError: for what is no dict.
        """
        if not isinstance(state_dict, Mapping):
            error = TypeError if hasattr(state_dict, "copy") else AttributeError
            raise error(f"load_state_dict() expects the dict that state_dict() gave, but got {type(state_dict)}")
        state_dict = dict(state_dict)
        for hook in tuple(self._optimizer_load_state_dict_pre_hooks.values()):
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        saved = deepcopy(state_dict["param_groups"])
        if len(saved) != len(self.param_groups):
            raise ValueError(
                f"loaded state dict has a different number of parameter groups: {len(saved)}, and the optimizer "
                f"{len(self.param_groups)}"
            )
        for i, (group, new) in enumerate(zip(self.param_groups, saved, strict=True)):
            if len(group["params"]) != len(new["params"]):
                raise ValueError(
                    f"loaded state dict contains a parameter group that doesn't match the size of optimizer's group: "
                    f"group {i} has {len(new['params'])} parameters there and {len(group['params'])} here"
                )
        numbers = chain.from_iterable(group["params"] for group in saved)
        params = chain.from_iterable(group["params"] for group in self.param_groups)
        from ..ops.create.create import tensor

        by_number = dict(zip(numbers, params, strict=True))
        state: defaultdict[Any, Any] = defaultdict(dict)
        for number, value in state_dict["state"].items():
            if number in by_number:
                state[by_number[number]] = _fitted(by_number[number], value, None)
            else:
                state[number] = value
        if self._counts_in_tensors:
            for own in state.values():
                if isinstance(own.get("step"), int | float):
                    own["step"] = tensor(float(own["step"]))
        for group, new in zip(self.param_groups, saved, strict=True):
            new["params"] = group["params"]
            for name, value in self.defaults.items():
                new.setdefault(name, value)
            if "param_names" in group:
                new.setdefault("param_names", group["param_names"])
        self.__setstate__({"state": state, "param_groups": saved})
        for hook in tuple(self._optimizer_load_state_dict_post_hooks.values()):
            hook(self)

    # --- hooks ---

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` before each step; it may return a pair of new ones."""
        return add(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` after each step."""
        return add(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer)` before `state_dict()`."""
        return add(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)` after `state_dict()`; it may return another dict."""
        return add(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)` before `load_state_dict()`; it may return another dict."""
        return add(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer)` after `load_state_dict()`."""
        return add(self._optimizer_load_state_dict_post_hooks, hook, prepend)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {i}")
            lines += [f"    {name}: {group[name]}" for name in sorted(group) if name != "params"]
        return "\n".join([*lines, ")"])


def _params_and_names(params: Any) -> tuple[list[Any], list[str]]:
    """The tensors of a group, and their names if they have any."""
    if isinstance(params, Tensor):
        return [params], []
    if isinstance(params, set | frozenset):
        raise TypeError(
            "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
            "will change between runs. Please use a list instead."
        )
    entries = list(params)
    names = [entry[0] for entry in entries if isinstance(entry, tuple)]
    if names and len(names) != len(entries):
        raise ValueError("all optimizer params should be with/without names. Some param names are missing")
    return [entry[1] if isinstance(entry, tuple) else entry for entry in entries], names


def _fitted(param: Tensor, value: Any, name: Any) -> Any:
    """A copy of loaded state, on the device and (except the count of steps) in the dtype of its parameter."""
    if isinstance(value, Tensor):
        if name == "step":
            return value.clone()
        if not param.is_floating_point():
            return value.to(param.device).clone()
        return value.to(param.device, param.dtype).clone()
    if isinstance(value, dict):
        return {key: _fitted(param, v, key) for key, v in value.items()}
    if isinstance(value, list | tuple | set):
        return type(value)(_fitted(param, v, None) for v in value)
    return value
