"""`Policy`: a way of keeping saved tensors, as a context manager, a decorator and a pair of pack and unpack hooks.

A policy has `pack(tensor, info)` and `unpack(packed)`. If `pack` returns the tensor itself, it is kept as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from ..autograd.decorate import decorate
from ..base.modes import MODE, OpMode
from ..base.scopes import LEAVE, enter
from .info import SavedInfo
from .memory_handles import described
from .select import Select, selector

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
        return Selected(self, select)

    def __rshift__(self, other: Policy) -> Policy:
        if not isinstance(other, Policy):
            return NotImplemented
        return Chain(self, other)

    def __repr__(self) -> str:
        return self.name


class Combined(Policy):
    """A policy made of others: what one of them packs goes back to it."""

    def unpack(self, packed: Any) -> Any:
        return packed.policy.unpack(packed.packed) if type(packed) is Packed else packed


class Selected(Combined):
    """A policy restricted to the tensors for which a function of their `SavedInfo` returns True."""

    def __init__(self, policy: Policy, select: Select) -> None:
        self.policy, self.select = policy, select
        self.guards_writes = policy.guards_writes
        self.name = f"{policy!r}.where({select})"

    def pack(self, tensor: Any, info: Any = None) -> Any:
        if info is None:
            info = described(tensor)
        packed = self.policy.pack(tensor, info) if self.select(info) else tensor
        return tensor if packed is tensor else Packed(self.policy, packed)

    def wait(self) -> None:
        self.policy.wait()

    def watches(self) -> tuple[OpMode, ...]:
        return self.policy.watches()


class Chain(Combined):
    """Two policies: the second one gets the tensors that the first one does not pack."""

    def __init__(self, first: Policy, second: Policy) -> None:
        self.first, self.second = first, second
        self.guards_writes = first.guards_writes and second.guards_writes
        self.name = f"{first!r} >> {second!r}"

    def pack(self, tensor: Any, info: Any = None) -> Any:
        if info is None:
            info = described(tensor)
        for policy in (self.first, self.second):
            packed = policy.pack(tensor, info)
            if packed is not tensor:
                return Packed(policy, packed)
        return tensor

    def wait(self) -> None:
        self.first.wait()
        self.second.wait()

    def watches(self) -> tuple[OpMode, ...]:
        return (*self.first.watches(), *self.second.watches())


class Packed:
    """A packed object, with the policy that packed it."""

    def __init__(self, policy: Policy, packed: Any) -> None:
        self.policy, self.packed = policy, packed

    def held(self, tell: Callable[[Any], None]) -> Any:
        """Return what it keeps, for a meter."""
        return (self.packed,)
