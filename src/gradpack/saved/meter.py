"""Measure the bytes that autograd keeps between forward and backward."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from threading import RLock
from time import perf_counter
from typing import Any
from weakref import ref

from ..base.modes import MODE, using
from ..tensor.packed import Packed
from ..tensor.tensor import Tensor
from .info import SavedInfo
from .storage import Storages, arrays_in, owner


class _Watch(ref[Any]):
    """A weak reference to an array that knows how many bytes its death frees."""

    __slots__ = ("key", "size")

    key: int
    size: int


class Meter:
    """Counts the bytes of all storages that were saved for backward and are still alive.

    Each storage counts once, whole, however many operations saved it and under however many views.
    What a pack function returned counts if it is an array or a tensor, or a tuple, list or dict of
    them. Parameters do not count. A tensor that the program itself still holds does count: it
    cannot be freed, but backward would keep it otherwise.
    """

    __slots__ = (
        "__weakref__",
        "_exempt",
        "_live",
        "_lock",
        "_outer",
        "_scope",
        "_start",
        "_tell",
        "curve",
        "now",
        "peak",
    )

    now: int  # bytes kept at this moment
    peak: int  # the most there were
    curve: list[tuple[float, int]]  # seconds since the start, bytes; one entry per change

    def __init__(self, parameters: Iterable[Tensor] = ()) -> None:
        self.now = self.peak = 0
        self.curve = []
        self._exempt = Storages(parameters)
        self._live: dict[int, _Watch] = {}
        self._outer: Any = None
        self._start = perf_counter()
        self._lock = RLock()  # policies store on threads of theirs
        me = ref(self)

        def tell(packed: object) -> None:
            meter = me()
            if meter is not None:
                meter._watch_all(packed)

        self._tell = tell

    def __enter__(self) -> Meter:
        self._outer = MODE.get().recorder
        self._start = perf_counter()
        self._scope = using(recorder=self)
        self._scope.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        self._scope.__exit__(*exc)
        del self._scope  # holds the meter: a cycle
        self._outer = None

    def describe(self, tensor: Tensor, label: tuple[str, str], node: Any, where: Any) -> Any:
        """What the tape calls for a note of a tensor that it saves: a recorder around this one may want it."""
        return SavedInfo(tensor, label, node, where)

    def note(self, info: Any, tensor: Tensor, packed: Packed | None) -> Any:
        """What the tape calls for each tensor that it saves."""
        self._watch(tensor._data)
        if packed is not None:
            self._watch_all(packed.handle)
        return None if self._outer is None else self._outer.note(info, tensor, packed)

    def ran(self, op: Any, values: Sequence[Any], outs: Sequence[Tensor], seconds: float) -> None:
        """What the tape calls for each operation that ran."""
        if self._outer is not None:
            self._outer.ran(op, values, outs, seconds)

    def backward(self, begins: bool) -> None:
        """What the tape calls when a backward pass begins or ends."""
        if self._outer is not None:
            self._outer.backward(begins)

    def _watch_all(self, packed: object) -> None:
        for array in arrays_in(packed, self._tell):
            self._watch(array)

    def _watch(self, array: Any) -> None:
        whole = owner(array)
        with self._lock:
            known = self._live.get(id(whole))
            if (known is not None and known() is whole) or whole in self._exempt:
                return
            watch = _Watch(whole, _on_death(ref(self)))
            watch.key, watch.size = id(whole), self._size(whole)
            self._live[watch.key] = watch
        self._change(watch.size)

    def _size(self, whole: Any) -> int:
        return int(whole.nbytes)

    def _change(self, by: int) -> None:
        with self._lock:
            self.now += by
            self.peak = max(self.peak, self.now)
            self.curve.append((perf_counter() - self._start, self.now))


def _on_death(meter: ref[Meter]) -> Any:
    # Through a weak reference: the meter holds the watches, and they must not hold the meter.
    def died(watch: _Watch) -> None:
        me = meter()
        if me is not None and me._live.get(watch.key) is watch:
            del me._live[watch.key]
            me._change(-watch.size)

    return died


def meter(parameters: Iterable[Tensor] = ()) -> Meter:
    """A context manager that measures what the tape keeps while it is open.

    It slows every operation down, so take times without it.

    Args:
        parameters: tensors whose storages do not count, under any view.

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
