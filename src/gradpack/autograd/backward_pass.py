"""Backward passes: running them, returning captured gradients, the running node and the order, and a debug log."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any

from ..backends import spec_of
from ..backends.numpy import hushed, unhush
from ..base.modes import MODE, RUN, without_grad
from ..base.threads import start
from ..core.hooks import registered
from ..core.tensor import InferenceCounter, Tensor, alias, wrap
from ..declare.batching.batch_tensor import batched
from ..graph import engine
from ..graph.engine import GraphTask
from ..graph.node import AccumulateGrad, Node, NoGradEdge, OutputSlot, PartialGrads, TransformInput
from .arguments import flag
from .batched_pass import batched_or_tensors

_data_of = attrgetter("_data")
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
    roots: list[Node],
    seeds: list[Any],
    keep: Any,
    create_graph: Any,
    inputs: list[Node] | None,
    capture: bool,
    like: GraphTask | None = None,
) -> GraphTask:
    """Run a backward pass; the task that is returned has the gradients that were captured.

    Args:
        like: a task with the same roots and inputs, whose plan is taken over.
    """
    if type(keep) is not bool or type(create_graph) is not bool:
        keep, create_graph = flag("retain_graph", keep), flag("create_graph", create_graph)
    mode, outer = MODE.get(), RUN.get()
    tensors = create_graph or mode.forward or bool(mode.levels or (mode.ops and any(m.backward for m in mode.ops)))
    if mode.anomaly is not None:
        mode.anomaly.watch(roots)
    observer = None if mode.profiler is None else mode.profiler.nodes()
    if logged := "logging" in sys.modules and is_wanted():
        observer = LoggingObserver(observer)
    task = GraphTask(roots, keep, tensors, 0 if outer is None else outer.depth + 1, observer)
    if like is not None:
        task.plan_like(like)
    elif inputs is not None or registered[0] or logged:
        task.plan(inputs, capture)
    grads = batched_or_tensors(seeds, task, mode, create_graph) if tensors else list(map(_data_of, seeds))
    tell, silenced = getattr(mode.recorder, "backward", None), None
    try:  # an interrupt may arrive at any moment, and must leave everything restored
        RUN.set(task)
        if tell is not None:
            tell(True)
        if mode.grad is not create_graph:
            MODE.set(mode.replace(grad=True) if create_graph else mode.without_grad or without_grad(mode))
        for silenced in hushed:  # noqa: B007 - undone below
            break
        if task.depth and task.depth % _DEEP == 0:
            _in_a_thread(lambda: engine.run(task, grads))
        else:
            engine.run(task, grads)
        if observer is not None:
            observer.close()
        while task.callbacks:
            task.callbacks.pop(0)()
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
                    if observer is not None or tell is not None:
                        try:
                            _tell_end(observer, tell)
                        except BaseException:
                            _tell_end(observer, tell)
                            raise
    return task


def _tell_end(observer: Any, tell: Any) -> None:
    """Notify observers of the end of a pass. May be interrupted, and called again."""
    if observer is not None:
        observer.close()
    if tell is not None:
        tell(False)


def captured(
    roots: list[Node],
    seeds: list[Any],
    inputs: list[Node],
    keep: bool,
    create_graph: bool,
    like: GraphTask | None = None,
) -> list[Tensor | None]:
    """Return the gradient of each input. A seed that arrives unchanged is returned as the same Tensor."""
    task = run(roots, seeds, keep, create_graph, inputs, True, like)
    gradients, level = task.captured, None
    if task.visitor is not None:
        level, seeds = seeds[0]._data.level, [seed._data.value for seed in seeds]
    found: dict[tuple[Node, int], Tensor | None] = {}
    results = []
    for edge in inputs:
        node, nr = (edge.parent, edge.nr) if isinstance(edge, OutputSlot) else (edge, -1)
        if (node, nr) in found:  # requested twice: one Tensor
            results.append(found[node, nr])
            continue
        g = gradients[node]
        if nr >= 0 and g is not None:
            g = g[nr]
        if g is not None and not isinstance(g, Tensor):
            for seed in seeds:
                if seed._data is g:
                    g = seed
                    break
            else:
                data, spec = seeds[0]._data, seeds[0]._spec
                usual = spec.plain and type(g) is type(data) and g.dtype is spec.native
                g = alias(g, spec, g.shape) if usual else wrap(g)
                if MODE.get().inference:
                    g._counter = InferenceCounter([0])
            g = g if level is None else batched(g, level)
        found[node, nr] = g
        results.append(g)
    return results


def rows_of(
    roots: list[Node], rows: Iterable[list[Tensor]], inputs: list[Node], create_graph: bool
) -> list[list[Tensor | None]]:
    """`captured` for many seeds of one retained graph, which is planned only once."""
    if isinstance(rows, list) and len(rows) == 1:
        return [captured(roots, rows[0], inputs, True, create_graph)]
    like = GraphTask(roots, True, create_graph)
    like.plan(inputs, True)
    return [captured(roots, seeds, inputs, True, create_graph, like) for seeds in rows]


# The local variables of the engine's functions that hold the running node. To store it elsewhere would slow down every
# node of every pass; searching the frames costs time only on request.
_HOLDERS = {engine.run.__code__: "node", engine.GraphTask.serve.__code__: "leaf"}


def current_node() -> Node | None:
    """Return the node that the current backward pass runs, else None. Tensor hooks run before their node does."""
    if RUN.get() is None:
        return None
    frame: Any = sys._getframe(1)
    while frame is not None:
        name = _HOLDERS.get(frame.f_code)
        if name is not None:
            node = frame.f_locals.get(name)
            return node.settled() if isinstance(node, Node) else None
        frame = frame.f_back
    return None


def execution_order() -> list[Node]:
    """Return the nodes of the current backward pass, in the order of execution.

    Raises:
        RuntimeError: outside of a pass, or where several threads may take part in it.
    """
    this = RUN.get()
    if this is None:
        raise RuntimeError("_current_graph_task_execution_order should only be called during the backward pass")
    if MODE.get().threads:
        raise RuntimeError(
            "_current_graph_task_execution_order expects the current backward to be executed with multithreading "
            "disabled, e.g. by running:\n\n>>> with torch.autograd.set_multithreading_enabled(False):\n...     "
            "torch.autograd.grad(...)\n"
        )
    roots = dict.fromkeys(e.parent if isinstance(e, OutputSlot) else e for e in this.roots)
    seen, uses = dict(roots), Counter[Node]()
    nodes = list(seen)
    for node in nodes:  # `nodes` grows during the loop
        for edge in _edges(node, this.needed):
            uses[edge] += 1
            if edge not in seen:
                seen[edge] = None
                nodes.append(edge)
    order: list[Node] = [node for node in roots if isinstance(node, AccumulateGrad) and not uses[node]]
    for node in sorted((n for n in nodes if not isinstance(n, AccumulateGrad)), key=attrgetter("seq")):
        order.append(node.settled())
        for edge in _edges(node, this.needed):
            uses[edge] -= 1
            if isinstance(edge, AccumulateGrad) and not uses[edge]:
                order.append(edge)
    return order


def _edges(node: Node, needed: set[Node] | None) -> list[Node]:
    """The nodes that receive gradients of a node in this pass, without slots."""
    found = [e.parent if isinstance(e, OutputSlot) else e for e in node.edges if e is not None]
    return found if needed is None else [e for e in found if e in needed]


_DEBUG = 10
_HIDDEN = (OutputSlot, NoGradEdge, TransformInput)  # represent edges, hidden from users
_found: list[Any] = []  # the logger, once `logging` is imported


def is_wanted() -> bool:
    """Whether the logger is enabled for DEBUG."""
    if _found:
        return bool(_found[0].isEnabledFor(_DEBUG))
    logging: Any = sys.modules.get("logging")
    if logging is None:
        return False
    _found.append(logging.getLogger("gradpack.autograd.graph"))
    return is_wanted()


def _shown(g: Any) -> str:
    if g is None:
        return "None"
    spec = g._spec if isinstance(g, Tensor) else spec_of(g)
    return f"{spec.dtype.abbr}[{', '.join(map(str, g.shape))}]"


def _tell(node: Node, g: Any) -> None:
    if not isinstance(node, _HIDDEN):
        given = ",".join(map(_shown, g if isinstance(g, PartialGrads) else (g,)))
        _found[0].debug(f"Executing: {node.settled()} with grad_outputs: [{given}]")


class LoggingObserver:
    """Observer of a backward pass that logs its nodes, and forwards to another observer if there is one."""

    named = note = None

    def __init__(self, other: Any) -> None:
        self._other = other

    def start(self, node: Node, g: Any) -> None:
        """Called before a node runs."""
        _tell(node, g)
        if self._other is not None:
            self._other.start(node, g)

    def end(self, grads: Any) -> None:
        """Called after a node has run."""
        if self._other is not None:
            self._other.end(grads)

    def close(self) -> None:
        """Called at the end of the pass."""
        if self._other is not None:
            self._other.close()
