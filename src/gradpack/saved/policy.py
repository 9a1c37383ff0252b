"""What a policy is: a way of keeping saved tensors, as a context manager, a decorator and a pair of plain hooks.

A policy has `pack(tensor, info)` and `unpack(packed)`. It leaves a tensor as it is by returning it from `pack`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from ..autograd.decorate import decorate
from ..base.modes import MODE, OpMode
from ..base.scopes import LEAVE, enter
from .foreign import described
from .info import SavedInfo
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
    # What tells `pack` what it packs, also where it is one of a pair of hooks.
    __saved_info__: Callable[..., Any] = SavedInfo

    def pack(self, tensor: Any, info: Any = None) -> Any:
        """What to keep of `tensor`: anything that `unpack` understands, or `tensor` itself to leave it as it is.

        Args:
            tensor: what is saved.
            info: what is known of it, a `SavedInfo`; None where another library calls.
        """
        return tensor

    def unpack(self, packed: Any) -> Any:
        """The tensor again, from what `pack` returned."""
        return packed

    def wait(self) -> None:
        """Wait until what was packed is where it is to be. What a policy does in `pack` itself is done already."""

    # Does it see itself to writes to tensors that it keeps a while? Else what comes back after a write is looked at.
    guards_writes = False
    bits_for_relu = False  # may relu keep bits in place of what this has packed, where nothing else needs its result?

    def watches(self) -> tuple[OpMode, ...]:
        """What must see the operations of the block, beside what they save. Needed by few policies."""
        return ()

    def hooks(self) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
        """The policy as a plain pair, `(pack, unpack)`, for `torch.autograd.graph.saved_tensors_hooks`."""
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
        """This policy for some tensors; all others stay as they are. What is given must hold together.

        Args:
            op: the operation or its node: "mul", "MulBackward0".
            slot: under which name the node saves it: "out".
            kind: "input", "output", "parameter", "buffer", "constant", "mask", "index" or "stat".
            module: the module that was being called, or one around it: "blocks.0", "blocks.*.mlp".
            dtype: a dtype, or several.
            name: what `saved.name` called the tensor.
            min_bytes: smaller tensors stay as they are.
            fn: any function of the `SavedInfo`.

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


class Selected(Policy):
    """A policy for the tensors that a function of their `SavedInfo` chooses."""

    def __init__(self, policy: Policy, select: Select) -> None:
        self.policy, self.select = policy, select
        self.guards_writes = policy.guards_writes
        self.name = f"{policy!r}.where({select})"

    def pack(self, tensor: Any, info: Any = None) -> Any:
        if info is None:
            info = described(tensor)
        packed = self.policy.pack(tensor, info) if self.select(info) else tensor
        return tensor if packed is tensor else Packed(self.policy, packed)

    def unpack(self, packed: Any) -> Any:
        return packed.policy.unpack(packed.packed) if type(packed) is Packed else packed

    def wait(self) -> None:
        self.policy.wait()

    def watches(self) -> tuple[OpMode, ...]:
        return self.policy.watches()


class Chain(Policy):
    """Two policies: what the first leaves as it is, the second gets."""

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

    def unpack(self, packed: Any) -> Any:
        return packed.policy.unpack(packed.packed) if type(packed) is Packed else packed

    def watches(self) -> tuple[OpMode, ...]:
        return (*self.first.watches(), *self.second.watches())


class Packed:
    """What one of several policies has packed."""

    __slots__ = ("packed", "policy")

    def __init__(self, policy: Policy, packed: Any) -> None:
        self.policy, self.packed = policy, packed

    def held(self, tell: Callable[[Any], None]) -> Any:
        """What it keeps, for a meter."""
        return (self.packed,)
