"""The traversal: sends gradients from roots down to leaves. One loop for every kind of request.

A node is always newer than its inputs, so the newest pending node has received the gradients of all of its
consumers and can run: no dependency count is needed. Only where the moment at which a leaf accumulates is
observable (it has hooks, or the request names inputs) does `GraphTask.plan` count its consumers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from heapq import heappop, heappush
from itertools import count
from operator import attrgetter
from time import perf_counter_ns
from typing import Any

from ..base.errors import shapes_do_not_broadcast
from ..kernels.sums import accumulated
from .node import AccumulateGrad, Gradient, Node, OutputSlot, reachable

_next_number = count().__next__
_number = attrgetter("seq")
_LEAVES = frozenset({AccumulateGrad})


class GraphTask:
    """One backward pass: its request, and the gradients on their way.

    Attributes:
        roots: the edges that the pass starts from.
        keep: do not free what nodes saved.
        create_graph: gradients are Tensors, and what is done with them is recorded.
        number: a number of its own.
        depth: the number of enclosing passes.
        callbacks: are called at the end of the pass.
        needed: the nodes to run; None for all that can be reached.
        selection: of nodes that can leave gradients out, the edges, with None for those that lead to no needed node.
        captured: the gradients of the named inputs, by node.
        capture: whether these gradients are captured only, and nothing is accumulated.
        incoming: the gradient of the node to visit.
        observer: is told of every node: `start(node, g)` before it runs and `end(grads)` after. Nodes of the types in
            `named` (None for no such types) may be reported after they ran, as `note((type, start, end, seq))`, times
            in nanoseconds.
        visitor: a function that takes the place of the method `_visit`, if it is not None.
    """

    def __init__(self, roots: list[Node], keep: bool, create_graph: bool, depth: int = 0, observer: Any = None) -> None:
        self.roots, self.keep, self.create_graph, self.depth = roots, keep, create_graph, depth
        self.number = _next_number()
        self.callbacks: list[Callable[[], Any]] = []
        self.observer = observer
        self.visitor: Callable[[GraphTask, Node], Iterable[Gradient]] | None = None
        self.needed: set[Node] | None = None
        self.selection: dict[Node, tuple[Node | None, ...]] | None = None
        self.captured: dict[Node, Gradient] = {}
        self.capture = False
        self.incoming: Gradient = None
        self._seen: set[Node] | None = None
        self._counts: dict[Node, int] | None = None  # of each leaf, the consumers that are still to run
        self._pending: dict[Node, Gradient] = {}  # of the next node and of those in `_ready`
        self._ready: list[tuple[int, Node]] = []
        self._leaves: dict[Node, Gradient] = {}
        self._due: list[Node] = []  # leaves that have received the gradients of all of their consumers

    def plan(self, inputs: Iterable[Node] | None, capture: bool) -> None:
        """Count the consumers of each leaf, and find the nodes from which some input can be reached."""
        counts: dict[Node, int] = {}
        seen = set(self.roots)
        order = list(seen)
        for node in order:  # `order` grows during the loop
            for edge in node.edges:
                if edge is not None:
                    if type(edge) is AccumulateGrad:
                        counts[edge] = counts.get(edge, 0) + 1
                    if edge not in seen:
                        seen.add(edge)
                        order.append(edge)
        self._counts, self._seen, self.capture = counts, seen, capture
        if inputs is not None:
            for edge in inputs:
                self.captured[edge.parent if isinstance(edge, OutputSlot) else edge] = None
            needed = seen.intersection(self.captured)
            order.sort(key=_number, reverse=True)  # oldest first: inputs before consumers
            for node in order:
                if not needed.isdisjoint(node.edges):
                    needed.add(node)
            self.needed = needed
            if len(needed) < len(seen):
                wanted = {n: tuple([e if e in needed else None for e in n.edges]) for n in needed if n.selects}
                self.selection = {node: edges for node, edges in wanted.items() if edges != node.edges} or None

    def plan_like(self, other: GraphTask) -> None:
        """Take over the plan of another task with the same roots and inputs."""
        self._counts = None if other._counts is None else dict(other._counts)
        self._seen, self.capture = other._seen, other.capture
        self.needed, self.selection = other.needed, other.selection
        self.captured = dict.fromkeys(other.captured)

    def will_run(self, node: Node) -> bool:
        """Whether the pass runs this node.

        Raises:
            RuntimeError: for a leaf, if gradients are captured only.
        """
        among = self._seen if self.needed is None else self.needed
        wanted = among is None or node in among
        if wanted and self.capture and type(node) is AccumulateGrad:
            raise RuntimeError(
                "A leaf node was passed to _will_engine_execute_node but we are currently running autograd.grad(). "
                "This is currently not supported."
            )
        return wanted

    def _visit(self, node: Node) -> Iterable[Gradient]:
        """Run a node and its hooks on the incoming gradient; return the gradients for its edges."""
        g, self.incoming = self.incoming, None
        extras, observer = node.extras, self.observer
        captured = self.capture and node in self.captured
        if captured:
            self.captured[node] = g  # before tensor hooks, as in torch, unless the pass ends at this node
        if extras is not None and extras.tensor_hooks is not None:
            g = extras.run_tensor_hooks(node, g, self.create_graph)
        if captured and self.needed is not None and self.needed.isdisjoint(node.edges):
            self.captured[node] = g
            return ()
        if observer is not None:
            observer.start(node, g)
        grads: Iterable[Gradient]
        if extras is not None:
            edges = None if self.selection is None else self.selection.get(node)
            grads = extras.run_node(node, g, self.keep, self.create_graph, edges)
        elif g is None:
            grads = node.undefined(self.keep, self.create_graph)
        else:
            grads = node.backward_graph(g, self.keep) if self.create_graph else self._backward(node, g)
        if observer is not None:
            observer.end(grads)
        return grads

    def _visit_timed(self, node: Node) -> Iterable[Gradient]:
        """Run a node of which the observer needs to know the times only, else like `_visit`."""
        kind, observer = type(node), self.observer
        if self.incoming is None or node.extras is not None or kind not in observer.named:
            return self._visit(node)
        g, self.incoming = self.incoming, None
        begun = perf_counter_ns()
        try:
            return self._backward(node, g)
        finally:
            observer.note((kind, begun, perf_counter_ns(), node.seq))

    def _backward(self, node: Any, g: Gradient) -> Iterable[Gradient]:
        edges = None if self.selection is None else self.selection.get(node)
        found: Iterable[Gradient] = node.backward(g, self.keep, *(() if edges is None else (edges,)))
        return found

    def begin(self, grads: list[Gradient]) -> tuple[bool, Callable[[Node], Iterable[Gradient]]]:
        """Queue the roots with their gradients, and empty the list.

        Returns:
            Whether nodes without hooks may be called directly, and the function that runs all others.
        """
        for node, g in zip(self.roots, grads, strict=True):
            if self.needed is not None and node not in self.needed:
                if len(grads) == 1 and node.extras is not None:  # as torch: hooks of a sole root always run
                    node.extras.run_tensor_hooks(node, g, self.create_graph)
            elif type(node) is AccumulateGrad:
                self._leaves[node] = self._leaves[node] + g if node in self._leaves else g
            elif node in self._pending:
                self._pending[node] = self._pending[node] + g
            else:
                self._pending[node] = g
                heappush(self._ready, (node.seq, node))
        grads.clear()
        g = None
        if self._leaves and self._counts is not None:
            self.serve_each([leaf for leaf in self._leaves if not self._counts.get(leaf)])
        if self.visitor is not None:
            return False, partial(self.visitor, self)
        direct = True
        if self.capture:  # the gradient of an input that is no leaf is captured on its way
            direct = _LEAVES.issuperset(map(type, self.captured))
        if self.observer is None:
            return direct, self._visit
        timed = direct and not self.create_graph and self.observer.named is not None
        return False, self._visit_timed if timed else self._visit

    def add(self, leaf: Node, g: Gradient) -> None:
        """Add the gradient that one consumer sends to a leaf to those of the others."""
        if g is not None:
            self._leaves[leaf] = _sum(self._leaves.pop(leaf, None), g)
        if self._counts is not None:
            left = self._counts[leaf] = self._counts[leaf] - 1
            if not left:
                self._due.append(leaf)

    def serve(self, leaf: Any, g: Gradient) -> None:
        """Hand a leaf its gradient: capture it if the request asks for that, else add it to `.grad`."""
        extras, observer = leaf.extras, self.observer
        if extras is not None:
            if leaf.dtype is not None and g is not None:
                g = AccumulateGrad.cast(leaf, g)
            if extras.tensor_hooks is not None:
                g = extras.run_tensor_hooks(leaf, g, self.create_graph)
        if self.needed is not None:
            if leaf in self.captured:
                self.captured[leaf] = g
            if self.capture or leaf not in self.captured:
                return
        if observer is not None:
            observer.start(leaf, g)
        if extras is not None:
            extras.run_node(leaf, g, False, self.create_graph)
        elif g is not None:
            AccumulateGrad.store(leaf, g, self.create_graph)
        if observer is not None:
            observer.end(leaf.grad)

    def serve_each(self, leaves: Iterable[Node]) -> None:
        """Serve leaves that have received all of their gradients."""
        for leaf in leaves:
            self.serve(leaf, self._leaves.pop(leaf, None))

    def abandon(self, *last: Node | None) -> None:
        """After a failure, serve the leaves to which no node leads that did not run: those in `last`, and the queue."""
        self.observer = None
        if self._counts is not None:
            return
        left = set(reachable(node for node in (*last, *(node for _, node in self._ready)) if node is not None))
        self.serve_each([leaf for leaf in self._leaves if leaf not in left])


def _sum(a: Gradient, b: Gradient, names: int = 0) -> Gradient:
    """Add two gradients, either of which may be None; `names` variables of the caller hold the first."""
    if a is None or b is None:
        return b if a is None else a
    try:
        return accumulated(a, b, names)
    except ValueError:  # a leaf got data of another shape between two uses
        raise shapes_do_not_broadcast("AccumulateGrad", a.shape, b.shape) from None


def run(task: GraphTask, grads: list[Gradient]) -> None:
    """Send the gradients of the roots of a task down the graph. Empties the list."""
    direct, visit = task.begin(grads)
    keep, needed, counts, due = task.keep, task.needed, task._counts, task._due
    graph, selection = task.create_graph, task.selection
    pending, ready, leaves, leaf_type = task._pending, task._ready, task._leaves, AccumulateGrad
    following: Node | None = None  # the next node, if it is the only one in sight
    incoming: Gradient = None
    node: Any = None
    gradients: Any
    try:
        while True:
            if following is not None:
                node, g = following, incoming
                following = incoming = None
            elif ready:
                node = heappop(ready)[1]
                g = pending.pop(node)
            else:
                break
            if direct and node.extras is None and g is not None:
                gradients = (
                    node.backward_graph(g, keep)
                    if graph
                    else node.backward(g, keep)
                    if selection is None or node not in selection
                    else node.backward(g, keep, selection[node])
                )
            else:
                task.incoming, g = g, None  # a hook may replace it: then it is not to live on here
                gradients = visit(node)
            g = None
            for edge, ge in zip(node.edges, gradients):  # noqa: B905 - a node returns one gradient for each edge
                if edge is None or (needed is not None and edge not in needed):
                    continue
                if type(edge) is leaf_type:
                    if ge is None or counts is not None or edge in leaves:
                        task.add(edge, ge)
                    else:
                        leaves[edge] = ge
                elif following is None and not ready:
                    following, incoming = edge, ge
                elif edge is following:
                    incoming = _sum(incoming, ge, 2 if gradients[0] is incoming else 1)
                elif edge in pending:
                    pending[edge] = _sum(pending.pop(edge), ge)
                else:
                    pending[edge] = ge
                    heappush(ready, (edge.seq, edge))
            ge = gradients = node = edge = None
            if due:  # only after `gradients` is dropped: a leaf takes over a gradient without other references
                task.serve_each(due)
                due.clear()
            if following is not None and ready:
                pending[following] = incoming
                heappush(ready, (following.seq, following))
                following = incoming = None
    except BaseException:
        task.abandon(node, following)
        raise
    task.serve_each(list(task._leaves))
