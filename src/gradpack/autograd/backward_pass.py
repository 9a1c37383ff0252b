"""Running backward passes, and returning the gradients that they captured."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import count
from typing import Any

from ..backends.numpy import hushed, unhush
from ..base.modes import MODE, RUN, without_grad
from ..base.threads import start
from ..core.hooks import registered
from ..core.tensor import InferenceCounter, Tensor, wrap
from ..graph import engine
from ..graph.node import AccumulateGrad, Node, Slot
from . import node_log
from .arguments import flag

_next_number = count().__next__


class Pass:
    """A running backward pass."""

    __slots__ = ("__weakref__", "callbacks", "capture", "depth", "edges", "keep", "number", "plan")

    def __init__(self, plan: engine.Plan | None, edges: list[Node], depth: int, keep: bool, capture: bool) -> None:
        self.plan, self.edges = plan, edges  # the roots
        self.keep, self.capture = keep, capture  # does it retain the graph; does it capture gradients?
        self.number = _next_number()
        self.depth = depth  # the number of enclosing passes
        self.callbacks: list[Callable[[], Any]] = []

    def will_run(self, node: Node) -> bool:
        """Whether the pass will run this node."""
        wanted = self.plan is None or self.plan.will_run(node)
        if wanted and self.capture and type(node) is AccumulateGrad:
            raise RuntimeError(
                "A leaf node was passed to _will_engine_execute_node but we are currently running autograd.grad(). "
                "This is currently not supported."
            )
        return wanted


_DEEP = 50  # nested passes, after which a new thread with a fresh recursion limit takes over


def _in_a_thread(call: Callable[[], None]) -> None:
    """Run `call` on another thread, in this context, and wait for it; its exception is re-raised here."""
    from contextvars import copy_context
    from threading import Thread

    failed: list[BaseException] = []

    def work() -> None:
        try:
            call()
        except BaseException as error:
            failed.append(error)

    thread = Thread(target=copy_context().run, args=(work,), name="gradpack nested backward")
    try:
        start(thread)
        thread.join()
    except BaseException:  # an interrupt: wait for the thread, so that it does not run on
        if thread.ident is not None:
            thread.join()
        raise
    if failed:
        raise failed.pop()


def queue_callback(callback: Callable[[], Any]) -> None:
    """Call `callback()` at the end of the current backward pass, the innermost if they are nested.

    Raises:
        RuntimeError: outside of a backward pass.
    """
    this = RUN.get()
    if this is None:
        raise RuntimeError("Final callbacks can only be installed during backward pass.")
    this.callbacks.append(callback)


def run(
    edges: list[Node], seeds: list[Any], keep: Any, create_graph: Any, inputs: list[Node] | None, capture: bool
) -> engine.Plan | None:
    if (keep is not True and keep is not False) or (create_graph is not True and create_graph is not False):
        keep, create_graph = flag("retain_graph", keep), flag("create_graph", create_graph)
    mode = MODE.get()
    tensors = create_graph or mode.forward or bool(mode.levels)
    if mode.ops and any(m.backward for m in mode.ops):
        tensors = True
    if mode.anomaly is not None:
        mode.anomaly.watch(edges)
    logged = node_log.is_wanted()
    plan = engine.Plan(edges, inputs) if inputs is not None or registered[0] or logged else None
    roots: list[tuple[Node, Any]] = [
        (edge, seed if tensors else seed._data) for edge, seed in zip(edges, seeds, strict=True)
    ]
    outer = RUN.get()
    this = Pass(plan, edges, 0 if outer is None else outer.depth + 1, keep, capture)
    tell = getattr(mode.recorder, "backward", None)
    threads = mode.threads and not mode.busy and not tensors and not logged
    observer = None if mode.profiler is None else mode.profiler.nodes()
    if logged:
        observer = node_log.LoggedPass(observer)
    silenced = None
    try:  # an interrupt may arrive at any moment, and must leave everything restored
        RUN.set(this)
        if tell is not None:
            tell(True)
        if mode.grad is not create_graph:
            MODE.set(mode.replace(grad=True) if create_graph else without_grad(mode))
        for silenced in hushed:  # noqa: B007 - undone below
            break
        if this.depth and this.depth % _DEEP == 0:
            _in_a_thread(
                lambda: engine.run(
                    roots,
                    keep=keep,
                    create_graph=tensors,
                    plan=plan,
                    capture=capture,
                    threads=threads,
                    observer=observer,
                )
            )
        else:
            engine.run(
                roots, keep=keep, create_graph=tensors, plan=plan, capture=capture, threads=threads, observer=observer
            )
        if observer is not None:
            observer.close()
        while this.callbacks:
            this.callbacks.pop(0)()
    finally:
        try:
            MODE.set(mode)  # also if a hook has entered a mode without leaving it, or the reverse
        finally:
            try:
                RUN.set(outer)
            finally:
                try:
                    if silenced is not None:
                        unhush(silenced)
                finally:
                    try:
                        _tell_end(observer, tell)
                    except BaseException:
                        _tell_end(observer, tell)
                        raise
    return plan


def _tell_end(observer: Any, tell: Any) -> None:
    """Notify observers of the end of a pass. May be interrupted, and called again."""
    if observer is not None:
        observer.close()
    if tell is not None:
        tell(False)


def captured(
    edges: list[Node], seeds: list[Any], wanted: list[Node], keep: bool, create_graph: bool
) -> list[Tensor | None]:
    """Return the gradient of each wanted edge. A seed that arrives unchanged is returned as the same Tensor."""
    plan = run(edges, seeds, keep, create_graph, wanted, True)
    captured = {} if plan is None else plan.captured
    found: dict[tuple[Node, int], Tensor | None] = {}
    results = []
    for edge in wanted:
        node, nr = (edge.parent, edge.nr) if isinstance(edge, Slot) else (edge, -1)
        if (node, nr) in found:  # requested twice: one Tensor
            results.append(found[node, nr])
            continue
        g = captured[node]
        if nr >= 0 and g is not None:
            g = g[nr]
        if g is not None and not isinstance(g, Tensor):
            for seed in seeds:
                if seed._data is g:
                    g = seed
                    break
            else:
                g = wrap(g)
                if MODE.get().inference:
                    g._counter = InferenceCounter([0])
        found[node, nr] = g
        results.append(g)
    return results


def rows_of(
    edges: list[Node], rows: Iterable[list[Tensor]], wanted: list[Node], create_graph: bool
) -> list[list[Tensor | None]]:
    """`captured` for many seeds of one retained graph, which is planned only once."""
    mode = MODE.get()
    tensors = create_graph or mode.forward or bool(mode.levels)
    if tensors and not create_graph:
        return [captured(edges, seeds, wanted, True, create_graph) for seeds in rows]
    if mode.anomaly is not None:
        mode.anomaly.watch(edges)
    plan = engine.Plan(edges, wanted)
    observer = node_log.LoggedPass(None) if node_log.is_wanted() else None
    places = [(edge.parent, edge.nr) if isinstance(edge, Slot) else (edge, -1) for edge in wanted]
    outer = RUN.get()
    found: list[list[Tensor | None]] = []
    silenced = None
    try:
        MODE.set(mode.replace(grad=True) if create_graph else without_grad(mode))
        for silenced in hushed:  # noqa: B007 - undone below
            break
        for seeds in rows:
            this = Pass(plan, edges, 0 if outer is None else outer.depth + 1, True, True)
            RUN.set(this)
            plan.captured = dict.fromkeys(plan.captured)
            roots: list[tuple[Node, Any]] = [
                (edge, seed if tensors else seed._data) for edge, seed in zip(edges, seeds, strict=True)
            ]
            engine.run(roots, keep=True, create_graph=tensors, plan=plan, capture=True, observer=observer)
            while this.callbacks:
                this.callbacks.pop(0)()
            row: list[Tensor | None] = []
            for node, nr in places:
                g = plan.captured[node]
                if nr >= 0 and g is not None:
                    g = g[nr]
                row.append(g if g is None or isinstance(g, Tensor) else wrap(g))
            found.append(row)
    finally:
        try:
            MODE.set(mode)
        finally:
            try:
                RUN.set(outer)
            finally:
                if silenced is not None:
                    unhush(silenced)
    return found
