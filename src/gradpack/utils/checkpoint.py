"""Activation checkpointing: keep the inputs of a segment, compute what it saved again in backward.

Built on saved tensor hooks alone. The rules:

1. In forward, each tensor that the segment saves is replaced by a token; tokens are numbered.
2. The segment's tensor arguments are saved by a node of their own, made outside of the segment's
   hooks: so hooks around the checkpoint (another checkpoint, offloading) apply to them.
3. The first token that a backward pass asks for runs the segment again, with hooks that collect what
   it saves; later tokens of that pass are served from there. Another pass runs it again.
4. The second run stops as soon as everything has been collected (unless told not to).
5. Shapes and dtypes of the second run must equal those of the first: else the segment is not
   deterministic and the error says where they differ.
6. The state of the default random generator is restored for the second run, and put back after it.
7. A collected tensor dies when its token does, that is when backward frees it.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from ..autograd.function import Function
from ..autograd.graph import saved_tensors_hooks
from ..base.modes import MODE, RUN, change, using
from ..ops.generator import default_generator
from ..tensor.tensor import Tensor

_DETERMINISM = ("default", "none")
_early_stop: list[bool | None] = [None]


class CheckpointError(RuntimeError):
    """The second run of a segment saved something else than the first."""


class _Stop(BaseException):
    """Ends the second run of a segment once everything has been collected."""


class _Token:
    """Stands for one saved tensor."""

    __slots__ = ("__weakref__", "nr")

    def __init__(self, nr: int) -> None:
        self.nr = nr


class _KeepInputs(Function):
    """Saves the arguments of a segment, through whatever hooks are active around the checkpoint."""

    @staticmethod
    def forward(ctx: Any, anchor: Tensor, *args: Any) -> Tensor:
        tensors = [a for a in args if isinstance(a, Tensor)]
        ctx.places = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        ctx.others = [None if isinstance(a, Tensor) else a for a in args]
        ctx.save_for_backward(*tensors)
        return anchor.clone()

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise AssertionError("the node that keeps a checkpoint's inputs is never run")


class _Frame:
    """One checkpointed call."""

    def __init__(
        self, function: Callable[..., Any], keeper: Any, names: list[str], context: AbstractContextManager[Any] | None,
        early_stop: bool, determinism: str, preserve: bool,
    ) -> None:  # fmt: skip
        self.function, self.keeper, self.names, self.context = function, keeper, names, context
        self.early_stop, self.determinism = early_stop, determinism
        self.state = default_generator.get_state() if preserve else None
        self.mode = MODE.get()
        self.tokens: list[Callable[[], _Token | None]] = []
        self.seen: list[tuple[Any, Any]] = []  # shape and dtype of each
        self.collected: dict[Any, weakref.WeakKeyDictionary[_Token, Tensor]] = {}
        self.complete = False

    def pack(self, tensor: Tensor) -> _Token:
        token = _Token(len(self.tokens))
        self.tokens.append(weakref.ref(token))
        self.seen.append((tensor._shape, tensor._spec.dtype))
        return token

    def unpack(self, token: _Token) -> Tensor:
        run = RUN.get()
        found = self.collected.get(run)
        if found is None or token not in found:
            found = self.again(run)
        if token not in found:
            raise CheckpointError(
                f"checkpoint: tensor {token.nr} that the segment saved in forward was not saved again when it was "
                "recomputed: the segment does not do the same things twice"
            )
        value = found[token]
        if run is None:
            self.collected.pop(run, None)
        return value

    def again(self, run: Any) -> weakref.WeakKeyDictionary[_Token, Tensor]:
        """Run the segment again and collect what it saves."""
        if len(self.collected) > 4:
            self.collected = {k: v for k, v in self.collected.items() if len(v)}
        found = self.collected[run] = weakref.WeakKeyDictionary()
        kept = self.keeper.saved_tensors
        args: list[Any] = list(self.keeper.ctx.others)
        for place, value in zip(self.keeper.ctx.places, kept, strict=True):
            args[place] = _as_given(value)
        count = len(self.names)
        kwargs = dict(zip(self.names, args[len(args) - count :], strict=True))
        args = args[: len(args) - count]
        collector = _Collector(self, found)
        before = default_generator.get_state() if self.state is not None else None
        modes = change(grad=True, inference=False)
        try:
            if self.state is not None:
                default_generator.set_state(self.state)
            with self.context or nullcontext(), saved_tensors_hooks(collector.pack, collector.unpack):
                self.function(*args, **kwargs)
        except _Stop:
            pass
        finally:
            change(**modes)
            if before is not None:
                default_generator.set_state(before)
        self._check(collector.seen)
        return found

    def _check(self, again: list[tuple[Any, Any]]) -> None:
        if not (self.early_stop and len(again) >= len(self.seen)) and len(again) != len(self.seen):
            raise CheckpointError(
                "checkpoint: A different number of tensors was saved during the original forward and recomputation.\n"
                f"Number of tensors saved during forward: {len(self.seen)}\n"
                f"Number of tensors saved during recomputation: {len(again)}."
            )
        if self.determinism == "none":
            return
        differences = [
            f"tensor at position {i}:\nsaved metadata: shape {list(a[0])}, dtype {a[1]}\nrecomputed metadata: shape "
            f"{list(b[0])}, dtype {b[1]}"
            for i, (a, b) in enumerate(zip(self.seen, again, strict=False))
            if a != b
        ]
        if differences:
            raise CheckpointError(
                "checkpoint: Recomputed values for the following tensors have different metadata than during the "
                "forward pass.\n" + "\n".join(differences)
            )


class _Collector:
    """The hooks of a second run."""

    def __init__(self, frame: _Frame, found: weakref.WeakKeyDictionary[_Token, Tensor]) -> None:
        self.frame, self.found = frame, found
        self.seen: list[tuple[Any, Any]] = []

    def pack(self, tensor: Tensor) -> Tensor:
        nr = len(self.seen)
        self.seen.append((tensor._shape, tensor._spec.dtype))
        frame = self.frame
        if nr < len(frame.tokens):
            token = frame.tokens[nr]()
            if token is not None:
                self.found[token] = tensor
        if frame.early_stop and len(self.seen) == len(frame.tokens):
            raise _Stop
        return tensor

    def unpack(self, tensor: Tensor) -> Tensor:
        return tensor


def _as_given(value: Tensor) -> Tensor:
    """An argument for the second run: out of the graph of the first, but requiring grad like it."""
    if not value.requires_grad:
        return value
    return value.detach().requires_grad_()


@contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Whether recomputation of segments called in this block stops as soon as it can; beats the argument."""
    before, _early_stop[0] = _early_stop[0], enable
    try:
        yield
    finally:
        _early_stop[0] = before


def noop_context_fn() -> tuple[AbstractContextManager[Any], AbstractContextManager[Any]]:
    """Two contexts that do nothing."""
    return nullcontext(), nullcontext()


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], tuple[AbstractContextManager[Any], AbstractContextManager[Any]]] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """Call `function` without keeping what it saves for backward; backward computes it again.

    Args:
        function: the segment: a function or module.
        args, kwargs: its arguments. `preserve_rng_state=False` leaves out saving the generator's state.
        use_reentrant: False is recommended; True runs a backward inside the backward.
        context_fn: gives a context for the first run and one for the second.
        determinism_check: "default" compares shapes and dtypes of both runs, "none" does not.
        early_stop: end the second run as soon as everything has been collected.

    Raises:
        CheckpointError: in backward, if the second run saved something else than the first.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.utils.checkpoint import checkpoint
        >>> x = torch.ones(2, requires_grad=True)
        >>> checkpoint(lambda t: (t.sin() * t).exp(), x, use_reentrant=False).sum().backward()
        >>> x.grad is not None
        True
    """
    if use_reentrant is None:
        warnings.warn(
            "gradpack.utils.checkpoint: the use_reentrant parameter should be passed explicitly. use_reentrant=False "
            "is recommended; without it, the reentrant form is used, as in torch.",
            stacklevel=2,
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if determinism_check not in _DETERMINISM:
        raise ValueError(f"determinism_check should be one of {list(_DETERMINISM)}, but got {determinism_check}")
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn or debug is not False:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        return _Reentrant.apply(function, preserve, *args)
    first, second = context_fn()
    if not MODE.get().grad:
        with first:
            return function(*args, **kwargs)
    from ..ops.fill import empty

    keeper = _KeepInputs.apply(empty((0,), requires_grad=True), *args, *kwargs.values()).grad_fn
    stop = early_stop if _early_stop[0] is None else _early_stop[0]
    frame = _Frame(function, keeper, list(kwargs), second, stop, determinism_check, preserve)
    with first, saved_tensors_hooks(frame.pack, frame.unpack):
        result = function(*args, **kwargs)
    frame.complete = True
    return result


class _Reentrant(Function):
    """Checkpointing by a backward inside the backward."""

    @staticmethod
    def forward(ctx: Any, function: Any, preserve: bool, *args: Any) -> Any:
        if not any(isinstance(a, Tensor) and a.requires_grad for a in args):
            warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=4)
        ctx.function = function
        ctx.state = default_generator.get_state() if preserve else None
        ctx.places = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        ctx.others = [None if isinstance(a, Tensor) else a for a in args]
        ctx.save_for_backward(*[a for a in args if isinstance(a, Tensor)])
        return function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        from ..autograd.api import backward

        args = list(ctx.others)
        for place, value in zip(ctx.places, ctx.saved_tensors, strict=True):
            args[place] = value.detach().requires_grad_(value.requires_grad)
        before = default_generator.get_state()
        try:
            if ctx.state is not None:
                default_generator.set_state(ctx.state)
            with using(grad=True):
                outputs = ctx.function(*args)
        finally:
            default_generator.set_state(before)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        pairs = [(o, g) for o, g in zip(outputs, grads, strict=True) if isinstance(o, Tensor) and o.requires_grad]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        backward([o for o, _ in pairs], [g for _, g in pairs])
        return (None, None, *[a.grad if isinstance(a, Tensor) and a.requires_grad else None for a in args])


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Run modules one after the other, checkpointed in `segments` segments; the last is not checkpointed.

    Args:
        functions: a Sequential, or a sequence of modules or functions.
        segments: how many.
        input: the input of the first.
    """
    from ..nn.module import Module

    if use_reentrant is None:
        warnings.warn(
            "gradpack.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be passed explicitly. "
            "use_reentrant=False is recommended.",
            stacklevel=2,
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    steps: Sequence[Any] = list(functions.children()) if isinstance(functions, Module) else list(functions)

    def segment(start: int, end: int) -> Callable[[Any], Any]:
        def run(x: Any) -> Any:
            for step in steps[start : end + 1]:
                x = step(x)
            return x

        return run

    size = len(steps) // segments
    end = -1
    for start in range(0, size * (segments - 1), size):
        end = start + size - 1
        input = checkpoint(segment(start, end), input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return segment(end + 1, len(steps) - 1)(input)
