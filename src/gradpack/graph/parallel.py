"""The rest of a backward pass on several threads, where the graph is wide and the arrays are large.

NumPy lets other threads run while it works on a large array, so two branches of a graph can go
backward at once. The result is the same to the last bit: contributions to a gradient are added in
the order in which one thread would have met them, newest consumer first.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from heapq import heappop, heappush
from threading import Condition, Lock, Thread
from typing import Any

from ..base.threads import get_num_threads, interrupt_of, started
from .node import AccumulateGrad, Gradient, Node


class Inbox:
    """The gradient of one node while contributions to it arrive from several threads, in any order."""

    __slots__ = ("early", "expected", "folding", "owned", "value")

    def __init__(self) -> None:
        self.expected: list[tuple[int, int]] = []  # (seq, edge index) of contributions still due, next one last
        self.early: dict[tuple[int, int], Gradient] = {}  # contributions that arrived before their turn
        self.value: Gradient = None
        self.owned = False  # is the value a sum, which may be added to in place?
        self.folding = False  # is a thread adding right now?

    def fold(self, g: Gradient, leaf: bool) -> None:
        if g is None:
            return
        if self.value is None:
            self.value = g
        elif self.owned:
            self.value += g
        else:
            self.value = self.value + g
            self.owned = leaf  # gradients of inner nodes may be passed on as they are: not written to


Serve = Callable[[Node, Gradient, bool, dict[Node, Gradient] | None, bool], None]


class Crew:
    """The state that the threads of one backward pass share."""

    def __init__(
        self,
        boxes: dict[Node, Inbox],
        keep: bool,
        needed: set[Node] | None,
        wanted: dict[Node, Gradient] | None,
        capture: bool,
        serve: Serve,
        observer: Any = None,
    ) -> None:
        self.boxes, self.keep, self.needed, self.wanted, self.capture = boxes, keep, needed, wanted, capture
        self.serve, self.observer = serve, observer
        self.lock = (
            Lock()
        )  # enter this, not the condition: an interrupt while entering the latter would leave it locked
        self.changed = Condition(self.lock)
        self.movable: list[tuple[int, Node]] = []
        self.fixed: list[tuple[int, Node]] = []  # nodes that only the caller's thread may run
        self.values: dict[Node, Gradient] = {}
        self.busy = 0
        self.failed: list[tuple[int, BaseException]] = []

    def add(self, node: Node, g: Gradient) -> None:
        self.values[node] = g
        heappush(self.movable if node.movable() else self.fixed, (node.seq, node))

    def _take(self, caller: bool) -> Node | None:
        heap = self.movable
        if caller and self.fixed and (not heap or self.fixed[0] < heap[0]):
            heap = self.fixed
        return heappop(heap)[1] if heap else None

    def work(self, caller: bool) -> None:
        """Run nodes until nothing is left, or something failed."""
        while True:
            with self.lock:
                while True:
                    if self.failed:
                        return
                    node = self._take(caller)
                    if node is not None:
                        self.busy += 1
                        break
                    if not self.busy and not self.movable and not self.fixed:
                        self.changed.notify_all()
                        return
                    self.changed.wait()
            try:
                self._run(node)
            except BaseException as error:
                with self.lock:
                    self.failed.append((node.seq, error))
            node = None
            with self.lock:
                self.busy -= 1
                self.changed.notify_all()

    def _run(self, node: Node) -> None:
        grads: Any
        needed, wanted = self.needed, self.wanted
        if self.capture and wanted is not None and node in wanted:
            wanted[node] = self.values[node]
            if needed is not None and not any(e in needed for e in node.edges):
                del self.values[node]
                return
        if self.values[node] is None:
            del self.values[node]
            grads = node.undefined(self.keep, False)
        elif self.observer is None:
            grads = node.backward(self.values.pop(node), self.keep)
        else:
            grads = self.observer.alone(node, self.values.pop(node), self.keep)
        given = list(zip(node.edges, grads, strict=True))
        del grads
        for i in range(len(given)):
            edge, g = given[i]
            given[i] = (None, None)
            if edge is not None and (needed is None or edge in needed):
                box = self.boxes[edge]
                with self.lock:
                    box.early[node.seq, i] = g
                    g = None
                    mine, box.folding = not box.folding, True
                if mine:
                    self._fold(edge, box)
            g = None

    def _fold(self, node: Node, box: Inbox) -> None:
        """Add the contributions that have arrived, in order; queue the node, or accumulate, once all have."""
        leaf = type(node) is AccumulateGrad
        while True:
            with self.lock:
                if not box.expected or box.expected[-1] not in box.early:
                    box.folding = False
                    break
                g = box.early.pop(box.expected.pop())
            box.fold(g, leaf)
            g = None
        if box.expected:
            return
        if not leaf:
            with self.lock:
                self.add(node, box.value)
                box.value = None
                self.changed.notify()
        elif box.value is not None:
            self.values[node], box.value = box.value, None
            self.serve(node, self.values.pop(node), False, self.wanted, self.capture)


def _survey(starts: list[Node], needed: set[Node] | None) -> dict[Node, Inbox] | None:
    """An inbox for each node that others send gradients to; None if a node has hooks, which would see the order."""
    boxes: dict[Node, Inbox] = {}
    seen = set(starts)
    stack = list(starts)
    while stack:
        node = stack.pop()
        if node.extras is not None:
            return None
        for i, edge in enumerate(node.edges):
            if edge is None or (needed is not None and edge not in needed):
                continue
            box = boxes.get(edge)
            if box is None:
                box = boxes[edge] = Inbox()
            box.expected.append((node.seq, i))
            if edge not in seen:
                seen.add(edge)
                stack.append(edge)
    for box in boxes.values():
        box.expected.sort(reverse=True)
    return boxes


def finish(
    pending: dict[Node, Gradient],
    sums: dict[Node, Gradient],
    ready: list[tuple[int, Node]],
    *,
    keep: bool,
    needed: set[Node] | None,
    wanted: dict[Node, Gradient] | None,
    capture: bool,
    serve: Serve,
    observer: Any = None,
) -> bool:
    """Finish a backward pass on several threads; return whether that was possible.

    Takes over the nodes in `ready`, their gradients in `pending`, and the gradients of leaves so far;
    leaves that receive no more gradients stay in `pending` and `sums`.

    Raises:
        Exception: the error of a node; of several, that of the newest node.
    """
    workers = get_num_threads() - 1
    boxes = _survey([node for _, node in ready], needed) if workers > 0 else None
    if boxes is None:
        return False
    crew = Crew(boxes, keep, needed, wanted, capture, serve, observer)
    for node, box in boxes.items():
        if node in sums:
            box.value, box.owned = sums.pop(node), True
        elif node in pending:
            box.value = pending.pop(node)
    inner = {node for _, node in ready}
    for node in inner:
        box_of = boxes.get(node)
        if box_of is None:
            crew.add(node, pending.pop(node))
    ready.clear()
    del node, inner
    team = [
        Thread(target=copy_context().run, args=(crew.work, False), name="gradpack backward", daemon=True)
        for _ in range(workers)
    ]
    try:
        for thread in team:
            started(thread)
        crew.work(True)
    except BaseException as error:  # an interrupt while waiting: the others must stop as well
        with crew.lock:
            crew.failed.append((-(2**63), interrupt_of(error)))
            crew.changed.notify_all()
    finally:
        for thread in team:
            if thread.ident is not None:
                thread.join()
    if crew.failed:
        raise min(crew.failed, key=lambda failure: failure[0])[1]
    return True
