"""The traversal: sends gradients from roots down to leaves. One loop for every kind of request.

A node is always newer than its inputs, so the newest pending node has received the gradients of all of its
consumers and can run: no dependency count is needed. Only where the moment at which a leaf accumulates is
observable (it has hooks, or the request names inputs) does a `Plan` count its consumers.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush
from operator import attrgetter
from time import perf_counter_ns
from typing import Any

from .node import AccumulateGrad, Gradient, Node, Slot

LARGE = 1 << 19  # bytes: for gradients at least this large, handing work to another thread pays
_number = attrgetter("seq")


class Plan:
    """The dependency counts of leaves and the captured inputs of a backward pass that needs them."""

    __slots__ = ("captured", "counts", "needed", "seen")

    def __init__(self, roots: Iterable[Node], inputs: Iterable[Node] | None) -> None:
        """Count the consumers of each leaf, and find the nodes from which some input can be reached."""
        self.captured: dict[Node, Gradient] = {}
        self.needed: set[Node] | None = None
        counts: dict[Node, int] = {}
        seen = set(roots)
        order = list(seen)
        for node in order:  # `order` grows during the loop
            for edge in node.edges:
                if edge is not None:
                    if type(edge) is AccumulateGrad:
                        counts[edge] = counts.get(edge, 0) + 1
                    if edge not in seen:
                        seen.add(edge)
                        order.append(edge)
        self.counts, self.seen = counts, seen
        if inputs is not None:
            self.captured = dict.fromkeys([e.parent if isinstance(e, Slot) else e for e in inputs])
            needed = seen.intersection(self.captured)
            order.sort(key=_number, reverse=True)  # oldest first: inputs before consumers
            for node in order:
                if not needed.isdisjoint(node.edges):
                    needed.add(node)
            self.needed = needed

    def will_run(self, node: Node) -> bool:
        """Whether this backward pass runs the node."""
        return node in (self.seen if self.needed is None else self.needed)


def run(
    roots: list[tuple[Node, Gradient]],
    *,
    keep: bool,
    create_graph: bool,
    plan: Plan | None = None,
    capture: bool = False,
    threads: bool = False,
    observer: Any = None,
) -> None:
    """Send each root's gradient down the graph.

    Args:
        roots: pairs of a node and the gradient of its output.
        keep: do not free what nodes saved.
        create_graph: gradients are Tensors, and what is done with them is recorded.
        plan: which leaves to serve when, and which nodes to run at all.
        capture: put the gradients of the plan's inputs into `plan.captured` and accumulate nothing.
        threads: other threads may take part, once the graph is wide and gradients are large.
        observer: is told of every node: `start(node, g)` before it runs and `end(grads)` after; `alone(node, g, keep)`
            runs a node, on any thread, and `serving(serve)` wraps the function that accumulates into a leaf. Nodes of
            the types in `named` (None for no such types) may be reported after they ran, as
            `note((type, start, end, seq))`, times in nanoseconds.
    """
    pending: dict[Node, Gradient] = {}  # gradients of nodes in `ready`, and the only one so far of leaves
    sums: dict[Node, Gradient] = {}  # gradients of leaves that are sums: held by the engine only, added in place
    ready: list[tuple[int, Node]] = []
    due: list[Node] = []  # leaves that have received the gradients of all of their consumers
    counts = None if plan is None else dict(plan.counts)
    needed = None if plan is None else plan.needed
    wanted = None if plan is None or plan.needed is None else plan.captured
    leaf_type = AccumulateGrad
    usual = not create_graph
    if wanted is not None and capture and usual:
        for node in wanted:
            if type(node) is not leaf_type:  # the gradient of a non-leaf input is captured on its way
                usual = False
    serve, named = _serve, None
    note: Any = None
    if observer is not None:
        serve = observer.serving(_serve)
        if usual:
            named, note = observer.named, observer.note
        usual = False

    for node, g in roots:
        if needed is not None and node not in needed:
            if len(roots) == 1 and node.extras is not None:  # as torch: hooks of a sole root always run
                node.extras.run_tensor_hooks(node, g, create_graph)
            continue
        if node in pending:
            pending[node] = pending[node] + g
        else:
            pending[node] = g
            if type(node) is not leaf_type:
                heappush(ready, (node.seq, node))
    if counts is not None:
        for leaf in [n for n in pending if type(n) is leaf_type and not counts.get(n)]:
            serve(leaf, pending.pop(leaf), create_graph, wanted, capture)
    roots.clear()
    grads: Any
    node = g = None  # type: ignore[assignment]

    following: Node | None = None  # the next node, when it is the only one in sight
    incoming: Gradient = None
    try:
        while True:
            if following is not None:
                node, g = following, incoming
                following = incoming = None
            elif ready:
                if threads and len(ready) > 1 and getattr(pending[ready[0][1]], "nbytes", 0) >= LARGE:
                    threads = False  # decided once
                    from .parallel import finish

                    if finish(
                        pending,
                        sums,
                        ready,
                        keep=keep,
                        needed=needed,
                        wanted=wanted,
                        capture=capture,
                        serve=serve,
                        observer=observer,
                    ):
                        break
                node = heappop(ready)[1]
                g = pending.pop(node)
            else:
                break
            if usual and node.extras is None and g is not None:
                grads = node.backward(g, keep)
            elif named is not None and (kind := type(node)) in named and node.extras is None and g is not None:
                begun = perf_counter_ns()
                try:
                    grads = node.backward(g, keep)
                finally:
                    note((kind, begun, perf_counter_ns(), node.seq))
            else:
                extras = node.extras
                last = False
                if capture and wanted is not None and node in wanted:
                    wanted[node] = g  # before tensor hooks, as in torch, unless the pass ends at this node
                    last = needed is not None and not any(e in needed for e in node.edges)
                if extras is not None and extras.tensor_hooks is not None:
                    g = extras.run_tensor_hooks(node, g, create_graph)
                if last:
                    wanted[node] = g  # type: ignore[index]
                    continue
                if observer is not None:
                    observer.start(node, g)
                if extras is not None:
                    grads = extras.run_node(node, g, keep, create_graph)
                elif g is None:
                    grads = node.undefined(keep, create_graph)
                else:
                    grads = node.backward_graph(g, keep) if create_graph else node.backward(g, keep)
                if observer is not None:
                    observer.end(grads)
                extras = None
            g = None
            for edge, ge in zip(node.edges, grads):  # noqa: B905 - a node returns one gradient for each edge
                if edge is None or (needed is not None and edge not in needed):
                    continue
                if type(edge) is leaf_type:
                    if ge is not None:
                        held = sums.get(edge)
                        if held is not None:
                            if create_graph:
                                held = held + ge
                            else:
                                held += ge
                            sums[edge] = held
                        else:
                            held = pending.pop(edge, None)
                            if held is None:
                                pending[edge] = ge
                            else:
                                sums[edge] = held + ge
                    if counts is not None:
                        left = counts[edge] = counts[edge] - 1
                        if not left:
                            due.append(edge)
                elif following is None and not ready:
                    following, incoming = edge, ge
                elif edge is following:
                    if ge is not None:
                        incoming = ge if incoming is None else incoming + ge
                elif edge in pending:
                    if ge is not None:
                        held = pending[edge]
                        pending[edge] = ge if held is None else held + ge
                else:
                    pending[edge] = ge
                    heappush(ready, (edge.seq, edge))
            ge = held = grads = node = None  # type: ignore[assignment]
            while due:  # only after `grads` is dropped: a leaf takes over a gradient without other references
                edge = due.pop(0)
                group = sums if edge in sums else pending
                serve(edge, group.pop(edge, None), create_graph, wanted, capture)
            if following is not None and ready:
                other: Node = following
                pending[other] = incoming
                heappush(ready, (other.seq, other))
                del other
                following = incoming = None
    except BaseException:
        if counts is None:
            _serve_finished(
                pending,
                sums,
                [n for n in (node, following, *(entry[1] for entry in ready)) if n is not None],
                create_graph,
            )
        raise

    node = edge = None  # type: ignore[assignment]
    for group in (pending, sums):
        while group:
            leaf = next(iter(group))  # type: ignore[assignment]
            serve(leaf, group.pop(leaf), create_graph, wanted, capture)


def _serve_finished(
    pending: dict[Node, Gradient], sums: dict[Node, Gradient], left: list[Node], create_graph: bool
) -> None:
    """After a failure, accumulate into the leaves that no remaining node leads to: their gradients are complete."""
    seen = set(left)
    while left:
        for edge in left.pop().edges:
            if edge is not None and edge not in seen:
                seen.add(edge)
                left.append(edge)
    for group in (pending, sums):
        for leaf in [n for n in group if type(n) is AccumulateGrad and n not in seen]:
            _serve(leaf, group.pop(leaf), create_graph, None, False)


def _serve(leaf: Node, g: Gradient, create_graph: bool, wanted: dict[Node, Gradient] | None, capture: bool) -> None:
    """Hand a leaf its gradient: capture it if the request asks for that, else add it to `.grad`."""
    extras = leaf.extras
    if extras is not None:
        if leaf.dtype is not None and g is not None:  # type: ignore[attr-defined]
            g = AccumulateGrad.cast(leaf, g)  # type: ignore[arg-type]
        if extras.tensor_hooks is not None:
            g = extras.run_tensor_hooks(leaf, g, create_graph)
    if wanted is not None and leaf in wanted:
        wanted[leaf] = g
        if capture:
            return
    elif wanted is not None:
        return
    if extras is not None:
        extras.run_node(leaf, g, False, create_graph)
    elif g is not None:
        AccumulateGrad.store(leaf, g, create_graph)  # type: ignore[arg-type]
