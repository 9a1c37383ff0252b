"""`torch.library`: functions of tensors as operations, with a gradient registered beside them.

    @torch.library.custom_op("mylib::numpy_sin", mutates_args=())
    def numpy_sin(x: Tensor) -> Tensor:
        return torch.from_numpy(np.sin(x.numpy()))

    numpy_sin.register_autograd(backward, setup_context=setup_context)

For operations with formulas, and all that comes with them, see `gradpack.extend`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

from ..base.exits import block
from ..base.modes import MODE, using
from ..core.tensor import Tensor
from ..ops import NAMESPACES
from .harmless import decorator
from .library_calls import Call, call_mapped_by, flattened, function_of
from .library_schemas import hints_of, infer_schema

__name__ = "gradpack.library"

__all__ = [
    "CustomOpDef",
    "custom_op",
    "infer_schema",
    "register_autograd",
    "register_fake",
    "register_kernel",
    "register_vmap",
]

_OPS: dict[str, CustomOpDef] = {}


class CustomOpDef:
    """An operation made by `custom_op`: call it as the function that it was made of.

    Args:
        name: `"namespace::name"`.
        function: what computes the operation: the kernel for all kinds of devices until others are registered.
        schema: its arguments and results, as `infer_schema` writes them: messages show it.
        mutated: the names of the arguments that it writes to; where there are any, it can have no gradient.

    Example::

        >>> import gradpack as torch
        >>> @torch.library.custom_op("doc::half", mutates_args=())
        ... def half(x: torch.Tensor) -> torch.Tensor:
        ...     return x / 2
        >>> half, half(torch.tensor([3.0]))
        (<CustomOpDef(doc::half)>, tensor([1.5000]))
    """

    def __init__(self, name: str, function: Callable[..., Any], schema: str, mutated: frozenset[str]) -> None:
        self._namespace, _, self._name = name.partition("::")
        self._qualname, self._init_fn, self._schema = name, function, schema
        self._mutated = mutated
        self._signature = inspect.signature(function)
        self._hints = hints_of(function)
        self._kernels: dict[str | None, Callable[..., Any]] = {None: function}  # None: of all kinds of devices
        self._disabled: set[str] = set()
        self._backward: Callable[..., Any] | None = None
        self._setup: Callable[..., Any] | None = None
        self._abstract_fn: Callable[..., Any] | None = None
        self._vmap_fn: Callable[..., Any] | None = None
        self._function = function_of(self)
        self.default = self  # the only overload

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        positional, keyword = self._bound(args, kwargs)
        mode = MODE.get()
        if mode.levels:
            return call_mapped_by(self, mode.levels[-1], positional, keyword)
        flat, shape = flattened(positional)
        tensors = [t for t in (*flat, *keyword.values()) if isinstance(t, Tensor)]
        if not mode.forward and not (mode.grad and any(t.requires_grad for t in tensors)):
            with using(grad=False):
                return self._compute(positional, keyword)
        results: list[Any] = []
        made = self._function.apply(Call(self, shape, keyword, results), *flat)
        return results[0](made)

    def _declaration(self) -> str:
        return f"Declaration: {self._qualname}{self._schema}"

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        for name in kwargs:
            if name not in self._signature.parameters:
                raise RuntimeError(
                    f"Unknown keyword argument '{name}' for operator '{self._qualname}'. Schema: "
                    f"{self._qualname}{self._schema}"
                )
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            given = len(args), set(kwargs)
            missing = next(
                (
                    n
                    for i, (n, p) in enumerate(self._signature.parameters.items())
                    if p.default is p.empty and i >= given[0] and n not in given[1]
                ),
                None,
            )
            if missing is None:
                raise RuntimeError(f"{self._qualname}() {error}. {self._declaration()}") from None
            raise RuntimeError(
                f"{self._qualname}() is missing value for argument '{missing}'. {self._declaration()}"
            ) from None
        bound.apply_defaults()
        for nr, (name, value) in enumerate(bound.arguments.items()):
            if self._hints.get(name) is Tensor and not isinstance(value, Tensor):
                raise RuntimeError(
                    f"{self._qualname}() Expected a value of type 'Tensor' for argument '{name}' but instead found "
                    f"type '{type(value).__name__}'.\nPosition: {nr}\nValue: {value}\n{self._declaration()}\nCast "
                    f"error details: Unable to cast {value} to Tensor"
                )
        return bound.args, bound.kwargs

    def _compute(self, args: tuple[Any, ...], keyword: dict[str, Any]) -> Any:
        tensors = [a for a in flattened(args)[0] if isinstance(a, Tensor)]
        place = tensors[0].device.type if tensors else "cpu"
        kernel = self._init_fn if place in self._disabled else self._kernels.get(place, self._kernels.get(None))
        if kernel is None and tensors:
            raise NotImplementedError(
                f"Could not run '{self._qualname}' with arguments from the '{place.upper()}' backend: give it a kernel "
                "for that with register_kernel"
            )
        kernel = kernel or self._init_fn
        result = kernel(*args, **keyword)
        written = [v for n, v in zip(self._signature.parameters, args, strict=False) if n in self._mutated]
        for t in [*written, *(v for n, v in keyword.items() if n in self._mutated)]:
            if isinstance(t, Tensor) and type(t._counter) is list:
                t._counter[0] += 1
        for out in result if isinstance(result, tuple | list) else (result,):
            if isinstance(out, Tensor) and any(out is t or out._counter is t._counter for t in tensors):
                raise RuntimeError(
                    f"{self._name}: The output of this custom operator (1) must not also be an input to this custom "
                    "operator and (2) may not alias any inputs to this custom operator or other returns. The most "
                    "common way to trigger this error is if we have y = custom_op(x) and y and x are the same Tensor. "
                    "Please instead return a clone of the offending output tensor(s) (e.g. return x.clone()) or "
                    "refactor the custom operator to not return y."
                )
        return result

    # -- registrations --

    def register_autograd(
        self, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None
    ) -> None:
        """Register the gradient of the operation.

        Args:
            backward: `backward(ctx, *grads)` returns one gradient for each argument; a list of them for a list.
            setup_context: `setup_context(ctx, inputs, output)` saves what backward needs; with keyword-only
                arguments, `setup_context(ctx, inputs, keyword_only_inputs, output)`.

        Raises:
            RuntimeError: for an operation that writes to its arguments.
        """
        if self._mutated:
            raise RuntimeError(
                f"Cannot register autograd formula for non-functional operator {self._qualname} with schema "
                f"{self._qualname}{self._schema}. Please create a functional operator and register an autograd "
                "formula for that."
            )
        self._backward, self._setup = backward, setup_context

    def register_kernel(self, device_types: Any, fn: Callable[..., Any] | None = None, /) -> Callable[..., Any]:
        """Register another function as the kernel for some kinds of devices.

        Args:
            device_types: a kind of device, such as `"cpu"`, or several; None for all that have no kernel of their own.
            fn: takes the arguments of the operation, and returns its result. Without it, a decorator is returned.
        """

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            self._kernels.update(dict.fromkeys(_places(device_types), function))
            return function

        return register if fn is None else register(fn)

    def register_fake(self, fn: Callable[..., Any], /) -> Callable[..., Any]:
        """Register the function that says what results look like for tensors without data.

        There are no such tensors here: the function is kept, and never called.

        Args:
            fn: takes the arguments of the operation, and returns empty tensors with the shapes of its results.
        """
        self._abstract_fn = fn
        return fn

    def register_vmap(self, func: Callable[..., Any] | None = None) -> Any:
        """Register the rule of the operation under `vmap`; without one, it is called for each example.

        Args:
            func: `func(info, in_dims, *args)` gets the tensors of all examples: `info.batch_size` says how many, and
                `in_dims` along which dimension of each argument (None: it has none). Returns the result and the
                dimension of the examples in it. Without `func`, a decorator is returned.
        """

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            self._vmap_fn = function
            return function

        return register if func is None else register(func)

    @block
    def set_kernel_enabled(self, device_type: str, enabled: bool = True) -> Iterator[None]:
        """`with op.set_kernel_enabled("cpu", False): ...` computes by the function that the operation was made of."""
        before = set(self._disabled)
        try:
            (self._disabled.discard if enabled else self._disabled.add)(device_type)
            yield
        finally:
            self._disabled = before


def custom_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: Any,
    device_types: Any = None,
    schema: str | None = None,
    tags: Any = None,
) -> Any:
    """Make an operation of a function: a decorator.

    Args:
        name: "namespace::name"; it is then `torch.ops.namespace.name` too.
        mutates_args: names of the arguments that the function writes to, () for none, "unknown" for any.
        device_types: kinds of devices that the function is for; others need `register_kernel`. None for all.
        schema: instead of what the annotations say.
        tags: accepted, and of no effect: tags of torch's compiler.

    Raises:
        ValueError: for a name without namespace, and for annotations that operations do not take.

    Example::

        >>> import numpy as np, gradpack as torch
        >>> @torch.library.custom_op("doc::cubed", mutates_args=())
        ... def cubed(x: torch.Tensor) -> torch.Tensor:
        ...     return torch.from_numpy(x.numpy() ** 3)
        >>> def setup_context(ctx, inputs, output):
        ...     ctx.save_for_backward(inputs[0])
        >>> def backward(ctx, grad):
        ...     return 3 * grad * ctx.saved_tensors[0] ** 2
        >>> cubed.register_autograd(backward, setup_context=setup_context)
        >>> x = torch.tensor([2.0], requires_grad=True)
        >>> torch.ops.doc.cubed(x).backward()
        >>> x.grad
        tensor([12.])
    """

    def make(function: Callable[..., Any]) -> CustomOpDef:
        text = infer_schema(function, mutates_args=mutates_args) if schema is None else schema
        space, colons, short = name.partition("::")
        if not colons or not short.isidentifier():
            raise ValueError(f"Expected the name of the operator to be of the form 'namespace::name', got {name!r}")
        mutated = frozenset(inspect.signature(function).parameters if mutates_args == "unknown" else mutates_args)
        op = CustomOpDef(name, function, text, mutated)
        op._kernels = dict.fromkeys(_places(device_types), function)
        op.__doc__ = function.__doc__
        _OPS[name] = op
        setattr(NAMESPACES.setdefault(space, SimpleNamespace()), short, op)
        return op

    return make if fn is None else make(fn)


def _places(device_types: Any) -> tuple[str | None, ...]:
    return (device_types,) if device_types is None or isinstance(device_types, str) else tuple(device_types)


def _found(op: Any) -> CustomOpDef:
    if isinstance(op, CustomOpDef):
        return op
    if op not in _OPS:
        raise RuntimeError(f"operator {op} does not exist: make it with custom_op first")
    return _OPS[op]


def register_autograd(
    op: Any, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None, lib: Any = None
) -> None:
    """Give an operation made by `custom_op` a gradient: `CustomOpDef.register_autograd`.

    Args:
        op: the operation, or its name.
        backward: `backward(ctx, *grads)` returns one gradient for each argument, None for what is no tensor.
        setup_context: `setup_context(ctx, inputs, output)` saves what `backward` needs; None if that is nothing.

    Raises:
        RuntimeError: for an operation that writes to its arguments, and a name that no operation has.

    Example::

        >>> import gradpack as torch
        >>> @torch.library.custom_op("doc::tripled", mutates_args=())
        ... def tripled(x: torch.Tensor) -> torch.Tensor:
        ...     return x * 3
        >>> torch.library.register_autograd("doc::tripled", lambda ctx, grad: grad * 3)
        >>> x = torch.ones(2, requires_grad=True)
        >>> tripled(x).sum().backward()
        >>> x.grad
        tensor([3., 3.])
    """
    _found(op).register_autograd(backward, setup_context=setup_context)


def register_kernel(op: Any, device_types: Any, func: Any = None, /, *, lib: Any = None) -> Any:
    """Compute an operation made by `custom_op` by another function: `CustomOpDef.register_kernel`.

    Args:
        op: the operation, or its name.
        device_types: a kind of device, such as `"cpu"`, or several; None for all that have no kernel of their own.
        func: takes the arguments of the operation, and returns its result. Without it, a decorator is returned.

    Example::

        >>> import gradpack as torch
        >>> @torch.library.custom_op("doc::length", mutates_args=())
        ... def length(x: torch.Tensor) -> torch.Tensor:
        ...     return (x * x).sum().sqrt()
        >>> @torch.library.register_kernel("doc::length", "cpu")
        ... def _(x):
        ...     return torch.linalg.vector_norm(x)
        >>> length(torch.tensor([3.0, 4.0]))
        tensor(5.)
    """
    return _found(op).register_kernel(device_types, func)


def register_fake(op: Any, func: Any = None, /, *, lib: Any = None, _stacklevel: int = 1) -> Any:
    """Say what an operation made by `custom_op` returns: `CustomOpDef.register_fake`.

    Programs written for torch's compiler call it; here nothing calls the function. For an operation of a library that
    was compiled for PyTorch, and is not there, it has no effect either.

    Args:
        op: the operation, or its name.
        func: takes the arguments of the operation, and returns empty tensors with the shapes of its results. Without
            it, a decorator is returned.

    Example::

        >>> import gradpack as torch
        >>> @torch.library.custom_op("doc::rows", mutates_args=())
        ... def rows(x: torch.Tensor) -> torch.Tensor:
        ...     return x.sum(1)
        >>> @torch.library.register_fake("doc::rows")
        ... def _(x):
        ...     return x.new_empty(x.shape[0])
        >>> rows(torch.ones(2, 3))
        tensor([3., 3.])
    """
    if isinstance(op, str) and op not in _OPS:
        return decorator() if func is None else func
    found = _found(op)
    return found.register_fake if func is None else found.register_fake(func)


def register_vmap(op: Any, func: Any = None, /, *, lib: Any = None) -> Any:
    """Say how an operation made by `custom_op` runs over a batch: `CustomOpDef.register_vmap`.

    Args:
        op: the operation, or its name.
        func: `func(info, in_dims, *args)` returns the result for all examples, and the dimension of the examples in it;
            `in_dims` has their dimension in each argument. Without `func`, a decorator is returned.

    Example::

        >>> import gradpack as torch
        >>> @torch.library.custom_op("doc::total", mutates_args=())
        ... def total(x: torch.Tensor) -> torch.Tensor:
        ...     return torch.tensor(x.numpy().sum())
        >>> @torch.library.register_vmap("doc::total")
        ... def _(info, in_dims, x):
        ...     return x.movedim(in_dims[0], 0).flatten(1).sum(1), 0
        >>> torch.vmap(total)(torch.ones(2, 3))
        tensor([3., 3.])
    """
    return _found(op).register_vmap(func)
