"""`Policy`: a way of keeping saved tensors, as a context manager, a decorator and a pair of pack and unpack hooks.

A policy has `pack(tensor, info)` and `unpack(packed)`. If `pack` returns the tensor itself, it is kept as it is.
The conditions of `Policy.where` are functions of a `SavedInfo`, built from patterns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from functools import partial
from itertools import accumulate
from typing import Any, TypeVar

from ..autograd.decorate import decorate
from ..base.modes import MODE, OpMode
from ..base.scopes import LEAVE, enter
from .info import KINDS, SavedInfo, described

F = TypeVar("F", bound=Callable[..., Any])


class Policy:
    """A way of keeping saved tensors. Subclasses say how, in `pack` and `unpack`.

    `with policy:` applies it to all that autograd saves in the block, in this task or thread; backward may run after
    it. Of several blocks the innermost applies: `a >> b` combines two. `@policy` does it for a function,
    `saved_tensors_hooks(*policy)` is the same as a pair of functions, and `policy.where(op="mul")` is the policy
    for some tensors only.

    Example::

        >>> import gradpack as torch
        >>> from gradpack import saved
        >>> class Halved(saved.Policy):
        ...     def pack(self, tensor, info=None):
        ...         return (tensor.half(),)
        ...     def unpack(self, packed):
        ...         return packed[0].float() if isinstance(packed, tuple) else packed
        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> with Halved():
        ...     y = (x * x).sum()
        >>> y.backward()
        >>> x.grad
        tensor([2., 4.])
    """

    name = "policy"
    # Makes the `info` argument of `pack`, also where policy.pack is one of a pair of hooks.
    __saved_info__: Callable[..., Any] = SavedInfo

    def pack(self, tensor: Any, info: Any = None) -> Any:
        """Return the packed form of `tensor`: anything that `unpack` accepts, or `tensor` itself to keep it as it is.

        Args:
            tensor: the saved tensor.
            info: its metadata, a `SavedInfo`; None where another library calls.
        """
        return tensor

    def unpack(self, packed: Any) -> Any:
        """Return the tensor for what `pack` returned: same shape and dtype."""
        return packed

    def wait(self) -> None:
        """Wait for all packing in the background. A policy that does all its work in `pack` returns at once."""

    # Whether it handles in-place writes to saved tensors itself; if not, unpacked tensors are checked after a write.
    guards_writes = False
    bits_for_relu = False  # may relu keep bits instead of its packed result, where nothing else needs that result?

    def watches(self) -> tuple[OpMode, ...]:
        """Return modes that observe the operations of the block; empty for most policies."""
        return ()

    def hooks(self) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
        """Return the pair `(pack, unpack)` for `torch.autograd.graph.saved_tensors_hooks`."""
        return self.pack, self.unpack

    def __iter__(self) -> Iterator[Callable[[Any], Any]]:
        return iter(self.hooks())

    # --- as a context manager and a decorator ---

    def __enter__(self) -> Any:
        forbidden = MODE.get().forbidden
        if forbidden is not None:
            raise RuntimeError(forbidden)
        enter(self, self.watches(), hooks=(self.pack, self.unpack, self.__saved_info__))
        return self

    __exit__ = LEAVE

    def __call__(self, function: F) -> F:
        return decorate(lambda: self, function)

    # --- combining ---

    def where(
        self,
        op: Any = None,
        slot: Any = None,
        kind: Any = None,
        module: Any = None,
        dtype: Any = None,
        name: Any = None,
        min_bytes: int = 0,
        fn: Callable[[SavedInfo], bool] | None = None,
    ) -> Policy:
        """Return this policy restricted to tensors that meet all given conditions; others are kept as they are.

        Args:
            op: the operation or its node: "mul", "MulBackward0".
            slot: the name under which the node saves it: "out".
            kind: "input", "output", "parameter", "buffer", "constant", "mask", "index" or "stat".
            module: the module that was running, or one that contains it: "blocks.0", "blocks.*.mlp".
            dtype: a dtype, or several.
            name: the name that `saved.name` gave the tensor.
            min_bytes: smaller tensors are kept as they are.
            fn: a function of the `SavedInfo` that returns a bool.

        Names may be patterns with `*` and `?`, or several.

        Example::

            >>> import gradpack as torch
            >>> from gradpack import saved
            >>> policy = saved.Policy().where(op=["tanh", "*Linear*"], min_bytes=1 << 20)
            >>> policy
            policy.where(op=['tanh', '*Linear*'], min_bytes=1048576)
        """
        return self._where(
            selector(op=op, slot=slot, kind=kind, module=module, dtype=dtype, name=name, min_bytes=min_bytes, fn=fn)
        )

    def _where(self, select: Select) -> Policy:
        return Combined(f"{self!r}.where({select})", (self, select))

    def __rshift__(self, other: Policy) -> Policy:
        if not isinstance(other, Policy):
            return NotImplemented
        return Combined(f"{self!r} >> {other!r}", (self, None), (other, None))

    def __repr__(self) -> str:
        return self.name


class Combined(Policy):
    """Policies, each perhaps for a selection of tensors only: the first one that packs a tensor also unpacks it."""

    def __init__(self, name: str, *parts: tuple[Policy, Select | None]) -> None:
        self.name, self._parts = name, parts
        self.guards_writes = all(policy.guards_writes for policy, _ in parts)

    def pack(self, tensor: Any, info: Any = None) -> Any:
        info = info or described(tensor)
        for policy, select in self._parts:
            packed = policy.pack(tensor, info) if select is None or select(info) else tensor
            if packed is not tensor:
                return Packed(policy, packed)
        return tensor

    def unpack(self, packed: Any) -> Any:
        return packed.policy.unpack(packed.packed) if type(packed) is Packed else packed

    def wait(self) -> None:
        for policy, _ in self._parts:
            policy.wait()

    def watches(self) -> tuple[OpMode, ...]:
        return tuple([watch for policy, _ in self._parts for watch in policy.watches()])


class Packed:
    """A packed object, with the policy that packed it."""

    def __init__(self, policy: Policy, packed: Any) -> None:
        self.policy, self.packed = policy, packed

    def held(self, tell: Callable[[Any], None]) -> Any:
        """Return what it keeps, for a meter."""
        return (self.packed,)


class Select:
    """A function that returns whether a `SavedInfo` meets all conditions; `str()` shows them."""

    def __init__(self, tests: tuple[Callable[[SavedInfo], bool], ...], text: str) -> None:
        self._tests, self._text = tests, text

    def __call__(self, info: SavedInfo) -> bool:
        return all(test(info) for test in self._tests)

    def __and__(self, other: Select) -> Select:
        return Select(self._tests + other._tests, f"{self._text}, {other._text}")

    def __str__(self) -> str:
        return self._text


def selector(**asked: Any) -> Select:
    """Return the selection for the arguments of `Policy.where`.

    Raises:
        ValueError: for an unknown kind, or if no condition is given.
        TypeError: if `min_bytes` is no int, or `fn` cannot be called.
    """
    asked = {key: value for key, value in asked.items() if value is not None and value != 0}
    if not asked:
        raise ValueError(
            "where(): say which tensors: by op=, slot=, kind=, module=, dtype=, name=, min_bytes= or fn=(a function)"
        )
    # Cheap tests first, module patterns and functions last.
    order = ("min_bytes", "kind", "dtype", "slot", "op", "name", "module", "fn")
    tests = tuple(_TESTS[key](asked[key]) for key in sorted(asked, key=order.index))
    shown = ", ".join(f"{key}={getattr(value, '__name__', repr(value))}" for key, value in asked.items())
    return Select(tests, shown)


def _several(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else (value,)


def _patterns(key: str, value: Any) -> tuple[str, ...]:
    found = _several(value)
    for pattern in found:
        if not isinstance(pattern, str):
            raise TypeError(f"where(): {key} is a name or several, not {type(pattern).__name__}")
    return found


def _size(value: Any) -> Callable[[SavedInfo], bool]:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"where(): min_bytes is a number of bytes, an int, not {type(value).__name__}")
    return lambda info: info.nbytes >= value


def _kind(value: Any) -> Callable[[SavedInfo], bool]:
    kinds = _patterns("kind", value)
    for kind in kinds:
        if kind not in KINDS:
            raise ValueError(f"where(): there is no kind {kind!r} of saved tensors; there are {', '.join(KINDS)}")
    return lambda info: info.kind in kinds


def _dtype(value: Any) -> Callable[[SavedInfo], bool]:
    names = frozenset(str(d).rpartition(".")[2] for d in _several(value))
    return lambda info: info.dtype.name in names


def _matches(key: str, value: Any) -> Callable[[SavedInfo], bool]:
    """Return the test for patterns of one kind of names."""
    names, patterns = _NAMES[key], _patterns(key, value)
    return lambda info: any(fnmatchcase(name, p) for name in names(info) for p in patterns)


_NAMES: dict[str, Callable[[SavedInfo], Iterable[str]]] = {
    "slot": lambda info: (info.slot,),
    "op": lambda info: info.names,
    "name": lambda info: () if info.name is None else (info.name,),
    "module": lambda info: accumulate(info.module.split("."), "{}.{}".format),
}


def _function(value: Any) -> Callable[[SavedInfo], bool]:
    if not callable(value):
        raise TypeError(f"where(): fn is a function of what is known of a tensor, not {type(value).__name__}")
    return lambda info: bool(value(info))


_TESTS: dict[str, Callable[[Any], Callable[[SavedInfo], bool]]] = {
    "min_bytes": _size,
    "kind": _kind,
    "dtype": _dtype,
    "fn": _function,
    **{key: partial(_matches, key) for key in _NAMES},
}
