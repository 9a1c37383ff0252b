"""`Module`: the base of all layers. Keeps parameters, buffers and child modules, and finds them again."""

from __future__ import annotations

import sys
from types import FunctionType
from typing import Any, ClassVar

from ...base.modes import MODE
from ...core.tensor import Tensor
from .._module import compiled, conversion, global_hooks, hooks, traversal
from .._module import state_dict as state
from .._module.calls import CALLS, Call, Called, no_arguments, not_a_module
from .._module.global_hooks import *
from .._module.global_hooks import PRESENT as _OF_ALL
from .._module.global_hooks import passed
from .._module.printing import _addindent, bracketed, module_html
from ..parameter import Buffer, Parameter

TYPE_CHECKING = False  # type checkers take it for true; editors, which follow `forward`, for what it is

_IncompatibleKeys = state._IncompatibleKeys
_buffer_hooks = global_hooks._global_buffer_registration_hooks
_module_hooks = global_hooks._global_module_registration_hooks
_parameter_hooks = global_hooks._global_parameter_registration_hooks


class Module(Called):
    """A piece of a network: a function `forward` with the parameters that it owns.

    Assigning a `Parameter`, a `Buffer` or another `Module` to an attribute registers it, so that
    `parameters()`, `state_dict()`, `to()` and `train()` reach everything below.

    Example::

        >>> import gradpack as torch
        >>> class Scale(torch.nn.Module):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.factor = torch.nn.Parameter(torch.tensor(2.0))
        ...     def forward(self, x):
        ...         return x * self.factor
        >>> scale = Scale()
        >>> scale(torch.ones(2)).tolist()
        [2.0, 2.0]
        >>> [name for name, _ in scale.named_parameters()]
        ['factor']
    """

    _version: int = 1
    call_super_init: bool = False  # pass the arguments of `__init__` on to the next class of the MRO?
    training: bool
    _shown: ClassVar[tuple[str, ...]] = ()  # the attributes that `extra_repr` gives

    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Module | None]
    _non_persistent_buffers_set: set[str]
    _is_full_backward_hook: bool | None = None

    _forward_pre_hooks = hooks.Hooks()
    _forward_pre_hooks_with_kwargs = hooks.Hooks()
    _forward_hooks = hooks.Hooks()
    _forward_hooks_with_kwargs = hooks.Hooks()
    _forward_hooks_always_called = hooks.Hooks()
    _backward_pre_hooks = hooks.Hooks()
    _backward_hooks = hooks.Hooks()
    _state_dict_pre_hooks = hooks.Hooks()
    _state_dict_hooks = hooks.Hooks()
    _load_state_dict_pre_hooks = hooks.Hooks()
    _load_state_dict_post_hooks = hooks.Hooks()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if (args or kwargs) and not self.call_super_init:
            raise TypeError(no_arguments(type(self).__name__, args, kwargs))
        # Straight into __dict__: __setattr__ below checks for these.
        own = self.__dict__
        own["training"] = True
        own["_parameters"] = {}
        own["_buffers"] = {}
        own["_modules"] = {}
        own["_non_persistent_buffers_set"] = set()
        own["_hook_dicts"] = {}
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    # --- calling ---

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Define the computation performed at every call. Should be overridden by all subclasses.

        Raises:
            NotImplementedError: if the subclass did not.
        """
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    if not TYPE_CHECKING:  # see `Called`; editors follow what it returns

        def __call__(self, *args, **kwargs):  # noqa: ANN002, ANN003, ANN204
            own = self.__dict__
            try:
                hooked = own["_hook_dicts"] or _OF_ALL
            except KeyError:
                raise AttributeError(
                    f"{type(self).__name__!r} object has no attribute '_forward_hooks': {_CALL_INIT}"
                ) from None
            if MODE.get().traced:
                around = CALLS.get()
                try:
                    CALLS.set(Call(self, around))
                    return hooks.call(self, args, kwargs) if hooked else self.forward(*args, **kwargs)
                finally:
                    CALLS.set(around)
            if hooked:
                return hooks.call(self, args, kwargs)
            return self.forward(*args, **kwargs)

    # --- attributes ---

    def __getattr__(self, name: str) -> Tensor:
        # A Tensor to type checkers, as buffers are; other registered attributes are annotated where they matter.
        own: Any = self.__dict__
        if "_parameters" in own:
            found = own["_parameters"]
            if name in found:
                return found[name]
            found = own["_modules"]
            if name in found:
                return found[name]
            found = own["_buffers"]
            if name in found:
                return found[name]
            why = ""
        else:
            known = name == "training" or name in _REGISTRIES or type(getattr(type(self), name, None)) is hooks.Hooks
            why = f": {_CALL_INIT}" if known else ""
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{why}")

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        if isinstance(value, Parameter):
            kind = "parameters"
        elif isinstance(value, Module):
            kind = "module"
        elif isinstance(value, Buffer):
            kind = "buffer"
        else:
            kind = ""
        if "_parameters" not in own:
            if kind:
                raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
            object.__setattr__(self, name, value)
        elif kind == "parameters":
            self._forget(name, keep="_parameters")
            self.register_parameter(name, value)
        elif name in own["_parameters"]:
            if value is not None:
                raise _cannot_assign(name, value, "parameter", "nn.Parameter")
            self.register_parameter(name, None)
        elif kind == "module":
            self._forget(name, keep="_modules")
            own["_modules"][name] = passed(_module_hooks, self, name, value) if _module_hooks else value
        elif name in own["_modules"]:
            if value is not None:
                raise _cannot_assign(name, value, "child module", "nn.Module")
            own["_modules"][name] = passed(_module_hooks, self, name, None)
        elif kind == "buffer":
            self.register_buffer(name, value, value.persistent)
        elif name in own["_buffers"]:
            if value is not None and not isinstance(value, Tensor):
                raise _cannot_assign(name, value, "buffer", "nn.Buffer, Tensor")
            own["_buffers"][name] = passed(_buffer_hooks, self, name, value) if _buffer_hooks else value
        else:
            object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        for registry in (self._parameters, self._buffers, self._modules):
            if name in registry:
                del registry[name]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def _forget(self, name: str, keep: str) -> None:
        """Delete `name` from all registries except the one it is about to be added to."""
        own = self.__dict__
        own.pop(name, None)
        for registry in _REGISTRIES:
            if registry != keep:
                own[registry].pop(name, None)
        own["_non_persistent_buffers_set"].discard(name)

    def _check_name(self, registry: str, name: str, what: str) -> None:
        if registry not in self.__dict__:
            raise AttributeError(f"cannot assign {what} before Module.__init__() call")
        if not isinstance(name, str):
            raise TypeError(f"{what} name should be a string. Got {type(name).__name__}")
        if "." in name:
            raise KeyError(f'{what} name can\'t contain ".", got: {name}')
        if name == "":
            raise KeyError(f'{what} name can\'t be empty string ""')
        if name not in self.__dict__[registry] and hasattr(self, name):
            raise KeyError(f"attribute '{name}' already exists")

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Make `param` a parameter of this module, as attribute `name`; None keeps the name without a value.

        Raises:
            TypeError: unless `param` is a `Parameter` or None.
            KeyError: if the name is empty, has a dot, or is an attribute of another kind.
            ValueError: if `param` was computed from something.
        """
        self._check_name("_parameters", name, "parameter")
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign {type(param).__name__!r} object to parameter {name!r}: wrap it in nn.Parameter, "
                "or give None"
            )
        if param is not None and param.grad_fn is not None:
            raise ValueError(
                f"cannot assign a non-leaf Tensor to parameter {name!r}: parameters are leaves of the graph. "
                "To express it as a function of another tensor, compute it in forward()"
            )
        self._parameters[name] = None if param is None else passed(_parameter_hooks, self, name, param)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Make `tensor` a buffer: state that is no parameter. A persistent one is part of `state_dict()`.

        Raises:
            TypeError: unless `tensor` is a Tensor or None.
            KeyError: if the name is empty, has a dot, or is an attribute of another kind.
        """
        self._check_name("_buffers", name, "buffer")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign {type(tensor).__name__!r} object to buffer {name!r} (Tensor or None required)"
            )
        self._buffers[name] = passed(_buffer_hooks, self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Make `module` a child of this module, as attribute `name`.

        Raises:
            TypeError: unless `module` is a Module or None.
            KeyError: if the name is empty, has a dot, or is an attribute of another kind.
        """
        if module is not None and not isinstance(module, Module):
            raise not_a_module(module)
        self._check_name("_modules", name, "module")
        self._modules[name] = passed(_module_hooks, self, name, module)

    def register_module(self, name: str, module: Module | None) -> None:
        """The same as `add_module`."""
        self.add_module(name, module)

    def get_submodule(self, target: str) -> Module:
        """The module with this dotted name; the empty name is this module.

        Raises:
            AttributeError: if there is none, or something else has that name.
        """
        module: Any = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module  # checked in the loop

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put `module` where the dotted name says; `strict` demands that a module is there already.

        Raises:
            ValueError: if the name is empty or `module` is no Module.
            AttributeError: if the way there does not exist, or `strict` and nothing is there.
        """
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        where, _, name = target.rpartition(".")
        parent = self.get_submodule(where)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{type(parent).__name__} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    # --- printing ---

    def extra_repr(self) -> str:
        """Return the text that `repr` prints between the brackets before the children, such as a layer's sizes."""
        return ", ".join(f"{name}={getattr(self, name)}" for name in self._shown)

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = [f"({name}): {_addindent(repr(module), 2)}" for name, module in self._modules.items()]
        return bracketed(self._get_name(), extra.split("\n") if extra else [], lines)

    # --- kept in files of their own ---

    _repr_html_ = module_html
    __dir__ = traversal.attribute_names
    apply = traversal.apply
    train = traversal.train
    eval = traversal.eval_
    requires_grad_ = traversal.requires_grad_
    zero_grad = traversal.zero_grad
    named_modules = traversal.named_modules
    modules = traversal.modules
    named_children = traversal.named_children
    children = traversal.children
    _named_members = traversal._named_members
    named_parameters = traversal.named_parameters
    parameters = traversal.parameters
    named_buffers = traversal.named_buffers
    buffers = traversal.buffers
    _get_member = traversal._get_member
    get_parameter = traversal.get_parameter
    get_buffer = traversal.get_buffer

    to = conversion.to
    to_empty = conversion.to_empty
    share_memory = conversion.share_memory
    type = conversion.type_
    float = conversion.float_
    double = conversion.double
    half = conversion.half
    bfloat16 = conversion.bfloat16
    cpu = conversion.cpu
    cuda = conversion.cuda
    compile = compiled.compile
    _apply = conversion.apply_to_tensors

    state_dict = state.state_dict
    load_state_dict = state.load_state_dict
    __getstate__ = compiled.get_state
    __setstate__ = state.set_state
    get_extra_state = state.get_extra_state
    set_extra_state = state.set_extra_state
    register_state_dict_pre_hook = state.register_state_dict_pre_hook
    register_state_dict_post_hook = state.register_state_dict_post_hook
    register_load_state_dict_pre_hook = state.register_load_state_dict_pre_hook
    register_load_state_dict_post_hook = state.register_load_state_dict_post_hook
    _register_state_dict_hook = state._register_state_dict_hook
    _register_load_state_dict_pre_hook = state._register_load_state_dict_pre_hook
    _save_to_state_dict = state.save_own
    _load_from_state_dict = state.load_own

    register_forward_pre_hook = hooks.register_forward_pre_hook
    register_forward_hook = hooks.register_forward_hook
    register_full_backward_pre_hook = hooks.register_full_backward_pre_hook
    register_full_backward_hook = hooks.register_full_backward_hook
    register_backward_hook = hooks.register_backward_hook


_REGISTRIES = ("_parameters", "_buffers", "_modules")
_CALL_INIT = "call super().__init__() first in the module's __init__"


def _cannot_assign(name: str, value: Any, what: str, wanted: str) -> TypeError:
    kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
    return TypeError(f"cannot assign {kind!r} as {what} {name!r} ({wanted} or None expected): del the attribute first")


globals().update((n, found) for n, found in vars(global_hooks).items() if n.startswith("_global_"))
_registering = [name for name in globals() if name.startswith("register_module_")]
globals()["__all__"] = ["Module", *_registering]
for _name in ("_IncompatibleKeys", "_addindent", *_registering):
    globals()[_name].__module__ = __name__  # where torch has them
for _name, _value in vars(Module).items():
    if isinstance(_value, FunctionType):  # those of other files, too
        _value.__name__, _value.__qualname__, _value.__module__ = _name, f"Module.{_name}", __name__
sys.modules[__name__].__class__ = global_hooks.WithGlobalHooks
