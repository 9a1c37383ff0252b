"""`meter`: measure the bytes that autograd keeps between forward and backward."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from threading import RLock
from time import perf_counter
from typing import Any

from ..backends.memory_layout import owner_of
from ..base.modes import Block
from ..base.sizes import shown
from ..core.packed import Packed
from ..core.tensor import Tensor
from .info import SavedInfo
from .storage import Finalized, Storages, arrays_in, weakly


class Recorder(Block):
    """A block that is notified of saved tensors, operations and backward passes, and passes it on to the block around.

    Subclasses call these methods after their own.
    """

    @property
    def _outer(self) -> Any:
        """The recorder of the enclosing block, or None."""
        return self._entered[0].outer.recorder if self._entered else None

    def describe(self, tensor: Tensor, label: tuple[str, str], node: Any, where: Any) -> SavedInfo:
        """Return the `SavedInfo` of a tensor that is being saved."""
        return SavedInfo(tensor, label, node, where)

    def note(self, info: Any, tensor: Tensor, packed: Packed | None) -> Any:
        """Note a saved tensor. The node keeps the returned object beside it, and releases both together."""
        return None if self._outer is None else self._outer.note(info, tensor, packed)

    def ran(self, op: Any, values: Sequence[Any], outs: Sequence[Tensor], seconds: float) -> None:
        """Note an operation that ran, its operands, results and time."""
        if self._outer is not None:
            self._outer.ran(op, values, outs, seconds)

    def compiled(self, seconds: float) -> None:
        """Note that loops were compiled, in an operation that is still running."""
        if self._outer is not None:
            self._outer.compiled(seconds)

    def backward(self, begins: bool) -> None:
        """Note that a backward pass begins or ends."""
        if self._outer is not None:
            self._outer.backward(begins)


class Meter(Recorder):
    """Counts the bytes of all storages that were saved for backward and are still alive: the result of `meter()`.

    Each storage counts once, in full, however many operations saved it or views of it. The result of
    a pack hook counts if it is an array or a tensor, or a tuple, list or dict of them. Parameters do
    not count. A tensor that the program itself still holds does count, because the graph would keep
    it alive anyway.

    Args:
        parameters: tensors whose storages do not count, also when a view of them is saved.

    Attributes:
        now: bytes kept at this moment.
        peak: the maximum of `now`.
        curve: (seconds since the start, bytes) after each change.

    Example::

        >>> import gradpack as torch
        >>> from gradpack import saved
        >>> x = torch.ones(1000, requires_grad=True)
        >>> with saved.Meter() as m:
        ...     y = x.exp().exp().sum()
        ...     print(m.now)
        ...     y.backward()
        8000
        >>> m.now, m.peak, len(m.curve)
        (0, 8000, 4)
    """

    def __init__(self, parameters: Iterable[Tensor] = ()) -> None:
        self.now = self.peak = 0
        self.curve: list[tuple[float, int]] = []
        self._exempt = Storages(parameters)
        self._live: dict[int, Finalized] = {}
        self._start = perf_counter()
        self._lock = RLock()  # policies also store on background threads
        self._tell = weakly(self._watch_all)

    def __repr__(self) -> str:
        return f"<meter: {shown(self.peak)} at the peak, {shown(self.now)} now>"

    def _changes(self) -> dict[str, Any]:
        self._start = perf_counter()
        return {"recorder": self}

    def note(self, info: Any, tensor: Tensor, packed: Packed | None) -> Any:
        """Count a tensor that is being saved, and what its pack hook returned. Called for each saved tensor."""
        self._watch(tensor._data)
        if packed is not None:
            self._watch_all(packed.handle)
        return super().note(info, tensor, packed)

    def _watch_all(self, packed: object) -> None:
        for array in arrays_in(packed, self._tell):
            self._watch(array)

    def _watch(self, array: Any) -> None:
        whole = owner_of(array)
        with self._lock:
            known = self._live.get(id(whole))
            if (known is not None and known() is whole) or whole in self._exempt:
                return
            # Weakly: the meter holds the watches, and a strong reference back would be a cycle.
            watch = self._live[id(whole)] = Finalized(whole, weakly(self._died))
            watch.data = id(whole), self._size(whole)
        self._change(watch.data[1])

    def _died(self, watch: Finalized) -> None:
        key, size = watch.data
        if self._live.get(key) is watch:
            del self._live[key]
            self._change(-size)

    def _size(self, whole: Any) -> int:
        return int(whole.nbytes)

    def _change(self, by: int) -> None:
        with self._lock:
            self.now += by
            self.peak = max(self.peak, self.now)
            self.curve.append((perf_counter() - self._start, self.now))


def meter(parameters: Iterable[Tensor] = ()) -> Meter:
    """Return a context manager that measures the bytes of saved tensors while it is open.

    It slows down every operation: measure times without it.

    Args:
        parameters: tensors whose storages do not count, also when a view of them is saved.

    Returns:
        A `Meter`: `peak` and `now` in bytes, and `curve`, the bytes after each change with the
        time in seconds since the block was entered.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.saved import meter
        >>> x = torch.ones(1000, requires_grad=True)
        >>> with meter() as m:
        ...     y = x.exp().exp().sum()  # keeps two results of 4000 bytes
        ...     y.backward()
        >>> m.peak, m.now
        (8000, 0)
    """
    return Meter(parameters)
