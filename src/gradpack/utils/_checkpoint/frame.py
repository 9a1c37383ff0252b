"""One checkpointed call: its pack hook stores tokens, its unpack hook recomputes the tensors.

The rules are numbered in `checkpoint`.
"""

from __future__ import annotations

import itertools
import traceback
import weakref
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, NoReturn

from ...autograd.graph import saved_tensors_hooks
from ...backends import Spec
from ...base.errors import saved_was_modified
from ...base.exits import Exit
from ...base.modes import MODE, RUN, OpMode, using
from ...core.saved import keep_tensor
from ...core.tensor import Tensor
from ...declare.batching.batch_tensor import batched, is_batched
from ...declare.dispatch.tangents import alias_of, tangent_of
from ...ops.aten import overload_of

_TIP = (
    "\nTip: To see a more detailed error message, either pass `debug=True` to "
    "`torch.utils.checkpoint.checkpoint(...)` or wrap the code block with "
    "`with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):` to enable checkpoint-debug mode globally.\n"
)


class CheckpointError(RuntimeError):
    """Raised if recomputation saved other tensors than the original forward.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.utils import checkpoint
        >>> factors = [2.0, None]
        >>> def changing(x):
        ...     factor = factors.pop(0)
        ...     return x.exp() if factor is None else (x * factor).exp().sin()
        >>> x = torch.ones(2, requires_grad=True)
        >>> y = checkpoint.checkpoint(changing, x, use_reentrant=False)
        >>> try:
        ...     y.sum().backward()
        ... except checkpoint.CheckpointError as error:
        ...     print(str(error).splitlines()[0])
        torch.utils.checkpoint: A different number of tensors was saved during the original forward and recomputation.
    """


_group: ContextVar[Any] = ContextVar("gradpack checkpoint group", default=None)


class GraphExecGroup:
    """Backward passes in this block share one recomputation of each segment.

    The passes must not need the same saved tensor.

    Raises:
        RuntimeError: if the block is inside of another of its kind.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.utils import checkpoint
        >>> def two(x):
        ...     print("run")
        ...     return x.exp(), x.sin()
        >>> x = torch.ones(2, requires_grad=True)
        >>> a, b = checkpoint.checkpoint(two, x, use_reentrant=False, early_stop=False)
        run
        >>> with checkpoint.GraphExecGroup():
        ...     a.sum().backward()
        ...     b.sum().backward()
        run
    """

    def __enter__(self) -> GraphExecGroup:
        if _group.get() is not None:
            raise RuntimeError(f"GraphExecGroup contexts cannot be nested. Already inside group {_group.get()}")
        try:
            _group.set(self)
        except BaseException:  # an interrupt
            _group.set(None)
            raise
        return self

    __exit__ = Exit(lambda self: None, lambda self, _: _group.set(None))

    @classmethod
    def _get_current_group(cls) -> GraphExecGroup | None:
        return _group.get()


def _metadata(x: Tensor) -> dict[str, Any]:
    return {"shape": x.shape, "dtype": x.dtype, "device": x.device}


DETERMINISM: dict[str, Callable[[Tensor], Any]] = {"default": _metadata, "none": lambda _: None}
_serials: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
_next_serial = itertools.count(1)


def _serial(run: Any) -> int:
    """Return the id of the current backward pass or group of passes; outside of one, a new id each time."""
    new = next(_next_serial)
    return new if run is None else _serials.setdefault(run, new)


class _StopRecomputationError(BaseException):
    """Ends the recomputation once all saved tensors have been collected (early stop)."""


class _Handle:
    """Handle of one recomputed tensor: the frame keeps the tensor as long as the handle lives."""

    __slots__ = ("__weakref__",)


class _Token:
    """Packed form of one saved tensor. `handles` has one handle for each backward pass that unpacked it."""

    __slots__ = ("__weakref__", "handles", "spec")

    def __init__(self, spec: Spec) -> None:
        self.handles: dict[int, _Handle | None] = {}
        self.spec = spec  # metadata of the tensor in the original forward


class Frame:
    """One checkpointed call."""

    def __init__(self, recompute: Callable[..., Any], early_stop: bool, explain: Any, metadata: Any) -> None:
        self.recompute, self.early_stop, self.explain, self.metadata = recompute, early_stop, explain, metadata
        self.kept: list[Any] = []
        self.tokens: list[weakref.ref[_Token]] = []
        self.seen: list[Any] = []  # metadata of each
        self.collected: dict[int, weakref.WeakKeyDictionary[_Handle, tuple[Tensor, int]]] = {}
        self.counts: dict[int, int] = {}
        self.recomputed: set[int] = set()  # the backward passes whose recomputation is complete
        self.complete = False
        self.backward_inside = False

    # -- the hooks of the original forward --

    def pack(self, tensor: Tensor) -> _Token:
        token = _Token(tensor._spec)
        self.tokens.append(weakref.ref(token))
        self.seen.append(self.metadata(tensor))
        return token

    def unpack(self, token: _Token) -> Tensor:
        try:
            return self._unpack(token)
        except CheckpointError as error:
            if self.explain is not None:
                self.explain(error)
            raise

    def _unpack(self, token: _Token) -> Tensor:
        group = GraphExecGroup._get_current_group()
        key = _serial(group if group is not None else RUN.get())
        if key not in self.recomputed:
            self._again(key)
        if key not in token.handles:
            raise CheckpointError(
                "torch.utils.checkpoint: a tensor that the segment saved in forward was not saved again when it was "
                f"recomputed: the segment does not do the same things twice.{_TIP}"
            )
        handle = token.handles[key]
        if handle is None:
            extra = ""
            if group is not None:
                extra = (
                    "Performing two backward calls that overlap (i.e. require the same saved activation in order to "
                    "compute gradients) is not allowed while under the torch.utils.checkpoint.GraphExecGroup context. "
                )
            raise CheckpointError(
                "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. "
                f"{extra}If you are calling ctx.saved_tensors in backward, make sure to do so only once. Otherwise "
                "please open an issue with details on your use case."
            )
        value, version = self.collected[key][handle]
        token.handles[key] = None
        if int(value._counter[0]) != version:  # the segment writes to what it has saved
            raise saved_was_modified("checkpoint", "tensor", value.dtype, value._shape, "", value._counter[0], version)
        return value if value._spec is token.spec else value.to(token.spec.device, token.spec.dtype)

    # -- recomputation --

    def _again(self, key: int) -> None:
        """Recompute the segment and collect its saved tensors."""
        self.collected = {k: v for k, v in self.collected.items() if len(v)}
        collected = self.collected[key] = weakref.WeakKeyDictionary()
        self.counts[key] = 0
        try:
            with using(grad=True, inference=False, forbidden=None):
                arguments = [k.get() if isinstance(k, Argument) else k for k in self.kept]
                with _collecting(weakref.ref(self), key):
                    self.recompute(*arguments)
        except _StopRecomputationError:
            pass
        except BaseException:
            self.collected.pop(key, None)
            raise
        self.recomputed.add(key)
        self._check(key, collected)

    def collect(self, key: int, tensor: Tensor) -> Tensor:
        """Pack hook of the recomputation."""
        if tensor.requires_grad:
            tensor = tensor.detach()
        nr = self.counts[key]
        self.counts[key] = nr + 1
        if nr >= len(self.tokens):
            if self.complete:
                raise CheckpointError(
                    "torch.utils.checkpoint: trying to save more tensors during recomputation than during the "
                    f"original forward pass.\n{_TIP}"
                )
            self.backward_inside = True  # a backward inside the segment: the first run has not ended
            return tensor
        token = self.tokens[nr]()
        if token is not None:  # else a backward inside the segment has freed it
            handle = token.handles[key] = _Handle()
            self.collected[key][handle] = tensor, int(tensor._counter[0])
        if self.early_stop and nr + 1 == len(self.tokens):
            raise _StopRecomputationError
        return tensor

    def _check(self, key: int, collected: weakref.WeakKeyDictionary[_Handle, tuple[Tensor, int]]) -> None:
        if self.backward_inside:
            return
        if len(self.tokens) != self.counts[key]:
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
                f"recomputation.\nNumber of tensors saved during forward: {len(self.tokens)}\n"
                f"Number of tensors saved during recomputation: {self.counts[key]}.\n{_TIP}"
            )
        differences = ""
        for nr, (ref, seen) in enumerate(zip(self.tokens, self.seen, strict=True)):
            token = ref()
            handle = None if token is None else token.handles.get(key)
            if handle is None:
                continue
            again = self.metadata(collected[handle][0])
            if seen != again:
                differences += f"tensor at position {nr}:\nsaved metadata: {seen}\nrecomputed metadata: {again}\n"
        if differences:
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than "
                f"during the forward pass.\n{differences}.\n{_TIP}"
            )


def _collecting(frame: weakref.ref[Frame], key: int) -> saved_tensors_hooks:
    def pack(tensor: Tensor) -> Tensor:
        found = frame()
        assert found is not None  # its own method is running
        return found.collect(key, tensor)

    return saved_tensors_hooks(pack, lambda tensor: tensor)


class Argument:
    """A tensor argument of a segment, saved through the hooks that are active around it.

    Its tangent is kept as it is: both runs compute with it, and the level that it belongs to may end between them.
    """

    def __init__(self, tensor: Tensor) -> None:
        self._hidden: list[Any] = []  # what hides the dimensions of `vmap`, from the innermost on
        while is_batched(tensor):
            self._hidden.append(tensor._data)
            tensor = tensor._data.value
        self._get = keep_tensor(tensor)
        self._tangent = tangent_of(tensor) if MODE.get().dual else None

    def get(self) -> Tensor:
        """The tensor, unpacked."""
        value = self._get()
        if self._tangent is not None:
            value = alias_of(value)
            value._tangents = self._tangent
        for data in reversed(self._hidden):
            value = batched(value, data.level, data.source)
        return value


# -- `checkpoint(..., debug=True)`: the operations of both runs are logged, and shown if the runs differ --


class _Log(OpMode):
    """Writes down each operation and where it was called."""

    def __init__(self) -> None:
        super().__init__()
        self._clear()

    def __enter__(self) -> Any:
        self._clear()
        return super().__enter__()

    def _clear(self) -> None:
        self.lines: list[str] = []
        self.places: list[list[str]] = []
        self._numbers: dict[int, tuple[int, Any]] = {}  # with the objects, so that no other gets the same id

    def _name(self, value: Any) -> str:
        if isinstance(value, Tensor):
            number, _ = self._numbers.setdefault(id(value), (len(self._numbers), value))
            return f"${number}"
        if isinstance(value, list | tuple):
            return "[" + ", ".join(map(self._name, value)) + "]"
        return repr(value)

    def operation(self, op: Any, values: list[Any], run: Any) -> Any:
        given = ", ".join(self._name(v) for v in values if v is not None)
        outs, extras = run()
        made = ", ".join(f"{self._name(o)}: {o.dtype.abbr}{list(o.shape)}" for o in outs)
        self.lines.append(f"{made} = torch._ops.{overload_of(op, values)}({given})")
        stack = reversed(traceback.extract_stack())
        here = __file__.rpartition("/")[0].removesuffix("/utils/_checkpoint")
        self.places.append(
            [f"{f.filename}:{f.lineno}:{f.name}" for f in stack if f.filename[:1] != "<" and here not in f.filename]
        )
        return outs, extras

    def traces(self, label: str) -> str:
        text = ""
        for i, (line, places) in enumerate(zip(self.lines, self.places, strict=True)):
            text += f"{line}   ({i + 1} of {len(self.lines)} in {label})\n\n" + "".join(f"{p}\n" for p in places)
            text += "\n\n"
        return text


_TEMPLATE = """\
 An error happened while unpacking tensors; dumping logs of latest computation
because you passed `debug=True` to `torch.utils.checkpoint.checkpoint()`.
Scroll all the way down for guidance on how to navigate these logs.

{bar}
|        1. Stack traces of the operators that ran in the original forward     |
{line}

{forward_traces}
{bar}
|        2. Stack traces of the operators that ran during recomputation        |
{line}

{again_traces}
{bar}
|       3. Log of operators in the original forward and recomputation          |
{line}

Operations executed during the original forward:

{forward}

Operations executed during recomputation:

{again}

{line}
 ERROR: Detected non-determinism while running activation checkpointing

 Tensors saved in the original forward and in the recomputation differ. Find the
 first operation above where the two logs differ: its stack trace says where it
 was called.
"""


def debug_contexts() -> tuple[Callable[[], tuple[Any, Any]], Callable[[CheckpointError], NoReturn]]:
    """A `context_fn` that logs both runs, and what raises an error with the logs in it."""
    first, second = _Log(), _Log()

    def explain(error: CheckpointError) -> NoReturn:
        text = _TEMPLATE.format(
            bar="+" + "~" * 78 + "+",
            line="+" + "-" * 78 + "+",
            forward_traces=first.traces("original"),
            again_traces=second.traces("recompute"),
            forward="\n".join(first.lines),
            again="\n".join(second.lines),
        )
        raise CheckpointError(text) from error

    return lambda: (first, second), explain
