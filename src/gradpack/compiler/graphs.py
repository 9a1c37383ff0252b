"""Results that require grad: one node, whose backward is a program of the backward pass."""

from __future__ import annotations

from _thread import RLock
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..autograd.backward_pass import captured
from ..autograd.functions.node import BackwardCFunction
from ..backends import NUMPY
from ..backends.memory_layout import _array_type
from ..backends.numpy import hushed, quiet, unhush
from ..base.errors import saved_was_freed, saved_was_modified
from ..base.exits import block
from ..base.modes import MODE
from ..core.tensor import Tensor, alias
from ..declare.batching.batch_tensor import BatchedData, batched, below
from ..declare.op import REGISTRY
from ..graph.node import AccumulateGrad, Node, OutputSlot, next_seq, reachable
from .double_backward import Recomputation, with_graph
from .emit import Built, build
from .facts import Source, tensor_of
from .program import Instruction, Program, Variable, variables
from .python.own_functions import is_fixed
from .recorded_array import RecordedArray
from .recording import Recorder, WriteError

BOUNDARY = Instruction(print, "boundary", (), {}, None, kind="boundary")  # between the passes; it is never called


class Recorded(NamedTuple):
    """A backward pass as it was recorded.

    Attributes:
        roots: identities of the results that require grad, in the order of `seeds`.
        seeds: the gradients of these results.
        grads: of tensors, by their place in the sources.
        roots_of: for each gradient, the results, by their number, that a path leads from to the tensor.
    """

    roots: list[int]
    seeds: list[Variable]
    grads: list[tuple[int, Variable]]
    roots_of: list[frozenset[int]]


class Backward(NamedTuple):
    """The backward pass of the results of a program.

    Attributes:
        built: a program of the gradients of the results and of what was saved.
        program: its instructions.
        roots: which outputs of the program are those results.
        like: shape and dtype of each.
        saved: which outputs of the program it takes.
        edges: the tensors that get the gradients.
        roots_of: as of `Recorded`.
        checks: what may not have been written to in the meantime: a tensor, or the place of an output; shape and dtype.
        recomputation: what `recomputation_of` returned, or nothing.
    """

    built: Built
    program: Program
    roots: list[int]
    like: list[tuple[tuple[int, ...], Any]]
    saved: list[int]
    edges: list[Source]
    roots_of: list[frozenset[int]]
    checks: list[tuple[Source | int, Any, Any]]
    recomputation: list[Recomputation]


def recorded(
    recorder: Recorder, leaves: list[Any], before: list[Any], sources: list[Source], freed: dict[Any, bool]
) -> Any:
    """Record the backward pass from results that require grad; None if there are none.

    Args:
        leaves: the results.
        before: the tensors that the function can reach, first in each entry.
        freed: nodes of backward passes inside of the function; whether each is a root.
    """
    ours = {id(t) for t, *_ in before}
    roots: dict[int, Tensor] = {}
    for leaf in leaves:
        if isinstance(leaf, Tensor) and id(leaf) not in ours and not freed.get(leaf._edge):
            if leaf._edge is not None and type(leaf._edge) is not AccumulateGrad:
                roots[id(leaf)] = leaf
    if not roots or recorder.has_refused():
        return None
    wanted = [(i, t) for i, (t, *_) in enumerate(before) if t._edge is not None and not sources[i].grad]
    ends = {t._edge for _, t in wanted}
    if any(type(t._data) is not RecordedArray for t in roots.values()):
        recorder.refuse("it returns a tensor that requires grad, and that no operation made")
    tips: Any = [t._edge for t in roots.values()]
    for node in _between(tips, ends):
        if node.extras is not None:
            recorder.refuse(f"a hook on the way to its results, of {node.name()}, runs later: register it on a result")
        if type(node) is AccumulateGrad:
            recorder.refuse("a result depends on a leaf that is made inside of it: return `detach()` of the result")
        if isinstance(node, BackwardCFunction) and not is_fixed(node):
            recorder.refuse(
                f"{node.name()} looks at more than its ctx, which may change until it runs: call `backward` inside"
            )
    if recorder.has_refused():
        return None
    edges: Any = [t._edge for _, t in wanted]
    with _without_hooks(edges):
        return _recorded(recorder, roots, wanted, freed)


@block
def _without_hooks(edges: list[Any]) -> Iterator[None]:
    """Let no hooks of the ends of a backward pass run: those of arguments run outside of the program."""
    nodes = [edge.parent if isinstance(edge, OutputSlot) else edge for edge in edges]
    held = [(node, node.extras) for node in dict.fromkeys(nodes)]
    for node, _ in held:
        node.extras = None
    try:
        yield
    finally:
        for node, extras in held:
            node.extras = extras


def _recorded(recorder: Recorder, roots: dict[int, Tensor], wanted: list[Any], freed: dict[Any, bool]) -> Any:
    """Record the backward pass from roots to the tensors that get gradients; None if none has a graph."""
    edges: Any = [t._edge for _, t in wanted]
    ends, inner = set(edges), {node for node in freed if node.edges}
    for key, tensor in list(roots.items()):
        through = not inner.isdisjoint(_between([tensor._edge], ends))
        if through and not _has_graph(recorder, tensor, edges):
            del roots[key]
    if not roots:
        return None
    recorder.instructions.append(BOUNDARY)
    tips: Any = [t._edge for t in roots.values()]
    seeds, given = _seeds(recorder, roots)
    if any(isinstance(node, BackwardCFunction) for node in _between(tips, ends)):  # code of the user's
        recorder.held = {a.variable.memory for a in recorder.living}
    try:
        grads = captured(tips, given, edges, True, False) if wanted else []
    except WriteError:
        recorder.refuse("the backward pass of its results does more than to compute")
        return None
    finally:
        recorder.held = set()
    found = []
    for (i, _), g in zip(wanted, grads, strict=True):
        if g is not None and type(g._data) is not RecordedArray:
            recorder.refuse("a gradient of its results was not recorded")
        elif g is not None:
            found.append((i, g._data.variable))
    behind = [set(reachable([tip])) for tip in tips]
    roots_of = [
        frozenset(n for n, nodes in enumerate(behind) if t._edge in nodes)
        for (_, t), g in zip(wanted, grads, strict=True)
        if g is not None
    ]
    return Recorded(list(roots), [s.variable for s in seeds], found, roots_of)


def _seeds(recorder: Recorder, roots: dict[int, Tensor]) -> tuple[list[RecordedArray], list[Tensor]]:
    """Return the gradients of results, as arrays and as tensors."""
    seeds = [recorder.array(np.ones(t._data.shape, t._data.dtype)) for t in roots.values()]
    return seeds, [alias(s, t._spec, t._shape) for s, t in zip(seeds, roots.values(), strict=True)]


def _has_graph(recorder: Recorder, tensor: Tensor, edges: Any) -> bool:
    """Return whether a backward pass from a tensor can run, after one went through a part of its graph."""
    count, (_, given) = len(recorder.instructions), _seeds(recorder, {0: tensor})
    try:
        captured([tensor._edge], given, edges, True, False)  # type: ignore[list-item]
    except RuntimeError:  # what it needs was freed
        return False
    finally:
        del recorder.instructions[count:]
    return True


def _between(roots: list[Any], ends: set[Any]) -> list[Any]:
    """Return the nodes from the roots to the ends, without these."""
    order = [r for r in dict.fromkeys(roots) if r not in ends]
    seen = {*order, *ends}
    for node in order:  # `order` grows during the loop
        for edge in node.edges:
            if edge is not None and edge not in seen:
                seen.add(edge)
                order.append(edge)
    return order


def split(program: Program, seeds: list[Variable], count: int) -> tuple[Program, Program, list[Variable]] | None:
    """Return the program of the forward pass, that of the backward pass, and what the second takes of the first.

    Args:
        program: both, with the seeds among its inputs.
        count: how many outputs, at the end, are gradients.

    Returns:
        None if the backward pass does more than to compute.
    """
    place = program.instructions.index(BOUNDARY)
    first, second = program.instructions[:place], program.instructions[place + 1 :]
    outputs, grads = program.outputs[: len(program.outputs) - count], program.outputs[len(program.outputs) - count :]
    made = {v for e in second for v in variables(e.results)}
    memory = {v.memory for v in made} - {v.memory for e in first for v in variables((e.args, e.kwargs, e.results))}
    if any(e.kind != "call" or any(w.memory not in memory for w in e.writes) for e in second):
        return None
    read = dict.fromkeys(v for e in second for v in variables((e.args, e.kwargs)))
    saved = [v for v in (*read, *grads) if v.value is None and v not in made and v not in seeds]
    saved = list(dict.fromkeys(saved))
    inputs = [v for v in program.inputs if v not in seeds]
    forward = program._replace(instructions=first, inputs=inputs, outputs=[*outputs, *saved])
    return forward, Program(second, [*seeds, *saved], [], [], grads), saved


LOCK = RLock()  # programs write to buffers: one runs at a time


class CompiledFunctionBackward(Node):
    """The node of the results of a program.

    Attributes:
        arguments: what `Recomputation.held` returned, if the function can run again.
    """

    __slots__ = ("arguments", "backward_pass", "counters", "program", "saved")

    label = "CompiledFunctionBackward"
    backward_pass: Backward
    program: Callable[..., Any]
    saved: list[Any] | None
    counters: list[tuple[Any, int]]
    arguments: Sequence[Any]

    def backward(self, g: Any, keep: bool) -> Any:
        if self.saved is None:
            raise saved_was_freed(self.label, "saved tensors of the program")
        for (counter, version), (_, shape, dtype) in zip(self.counters, self.backward_pass.checks, strict=True):
            if counter[0] != version:
                raise saved_was_modified(self.label, "a tensor", dtype, shape, "", counter[0], version)
        given = [g] if len(self.backward_pass.like) == 1 else list(g)
        if any(type(each) is BatchedData for each in given):
            return self._of_examples(given, keep)
        seeds = [_dense(s, *like) for s, like in zip(given, self.backward_pass.like, strict=True)]
        with LOCK:
            for token in hushed:
                try:
                    grads = self.program(*seeds, *self.saved)
                finally:
                    unhush(token)
                break
        if not keep:
            self._free()
        grads = [g if type(g) is _array_type else np.asarray(g) for g in grads]
        if any(s is None for s in given):
            there = {i for i, s in enumerate(given) if s is not None}
            of = zip(grads, self.backward_pass.roots_of, strict=True)
            return tuple([None if there.isdisjoint(roots) else g for g, roots in of])
        return tuple(grads)

    def _of_examples(self, given: list[Any], keep: bool) -> Any:
        """Return batched gradients: the program runs once for each example of the innermost level of `vmap`."""
        mode = MODE.get()
        level, rows = mode.levels[-1], []
        try:
            MODE.set(below(mode))
            for i in range(level.size):
                row = [e.value[i]._data if type(e) is BatchedData and e.level is level else e for e in given]
                rows.append(self.backward(row[0] if len(row) == 1 else row, True))
            columns = [list(map(_tensor_of, column)) for column in zip(*rows, strict=True)]
            made = [None if column[0] is None else REGISTRY["stack"].public(column, 0) for column in columns]
        finally:
            MODE.set(mode)
        if not keep:
            self._free()
        return tuple([None if each is None else batched(each, level)._data for each in made])

    def backward_graph(self, g: Any, keep: bool) -> Any:
        given = [g] if len(self.backward_pass.like) == 1 else list(g)
        arrays = [None if t is None else t._data for t in given]
        if not MODE.get().grad:
            return [_tensor_of(a) for a in self.backward(arrays[0] if len(arrays) == 1 else arrays, keep)]
        if not self.backward_pass.recomputation:
            raise RuntimeError(
                "torch.compile does not support double backward of a function that writes to tensors, draws random "
                "numbers or takes steps: call it without compile, or compile a function that calls "
                "autograd.grad(create_graph=True) inside"
            )
        wanted = self.backward(arrays[0] if len(arrays) == 1 else arrays, True)
        results = self.backward_pass.recomputation[0].results(self.arguments)
        found = with_graph(results, given, self.edges, wanted)
        if not keep:
            self._free()
        return found

    def _free(self) -> None:
        self.saved, self.counters, self.arguments = None, [], ()


def _tensor_of(gradient: Any) -> Any:
    if gradient is None:
        return None
    return batched(gradient.value, gradient.level) if type(gradient) is BatchedData else tensor_of(gradient)


def _dense(seed: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    if type(seed) is _array_type and seed.dtype == dtype and seed.shape == shape and seed.flags.carray:
        return seed
    if seed is None:
        return np.zeros(shape, dtype)
    if not isinstance(seed, _array_type | np.generic):
        raise RuntimeError(f"CompiledFunctionBackward: a gradient is no array of NumPy's, but a {type(seed).__name__}")
    return np.ascontiguousarray(seed, dtype).reshape(shape)


Nodes = Callable[[Any, list[Tensor], dict[int, Tensor]], list[Node]]


def noder(backward: Backward, program: Callable[..., Any]) -> Nodes:
    """Return a function of outputs, inputs and tensors by their outputs, which returns the edges of those with a graph.

    Args:
        program: what runs the backward pass.
    """
    count, recomputation = len(backward.roots), backward.recomputation

    def nodes(outputs: Any, inputs: list[Tensor], made: dict[int, Tensor]) -> list[Node]:
        node = CompiledFunctionBackward()
        node.seq, node.extras = next_seq(), None
        node.edges = tuple([source.now(inputs)._edge for source in backward.edges])
        node.backward_pass, node.program = backward, program
        node.saved = [outputs[i] for i in backward.saved]
        tensors = [made[c] if isinstance(c, int) else c.now(inputs) for c, *_ in backward.checks]
        node.counters = [(t._counter, t._counter[0]) for t in tensors]
        node.arguments = recomputation[0].held(inputs) if recomputation else ()
        return [node] if count == 1 else [OutputSlot(node, i, count) for i in range(count)]

    return nodes


def agrees(
    backward: Backward, program: Any, outputs: Any, results: list[Tensor], inputs: list[Tensor], equal: Any
) -> bool:  # fmt: skip
    """Return whether the program of the backward pass gives the gradients that the graph of the results gives.

    Args:
        program: what runs it.
    """
    ones = [np.ones(shape, dtype) for shape, dtype in backward.like]
    with LOCK, quiet():
        found = program(*ones, *[outputs[i] for i in backward.saved])
    edges: Any = [source.now(inputs)._edge for source in backward.edges]
    with _without_hooks(edges):
        wanted = captured([t._edge for t in results], [tensor_of(a) for a in ones], edges, True, False)  # type: ignore[misc]
    return all(w is not None and equal(f, w._data) for f, w in zip(found, wanted, strict=True))


def planned(
    recorded_pass: Recorded, program: Program, arrays: list[Variable], sources: list[Source], roots: list[int],
    made: set[int],
) -> tuple[Program, Backward] | None:  # fmt: skip
    """Return the program of the forward pass, and the backward pass; None if it cannot become a program.

    Args:
        program: of both passes.
        arrays: the variables of the sources.
        roots: which outputs are the results that require grad.
        made: outputs that become tensors.
    """
    parts = split(program, recorded_pass.seeds, len(recorded_pass.grads))
    if parts is None:
        return None
    forward, second, saved = parts
    first = len(forward.outputs) - len(saved)
    memory = {v.memory: s for v, s in zip(arrays, sources, strict=True)}
    own: dict[int, Source | int] = {forward.outputs[r].memory: r for r in made} | memory
    checked = {v.memory: (own[v.memory], v.shape, NUMPY.dtype_of(v.dtype)) for v in saved if v.memory in own}
    like = [(v.shape, v.dtype) for v in recorded_pass.seeds]
    edges = [sources[i] for i, _ in recorded_pass.grads]
    places = list(range(first, len(forward.outputs)))
    roots_of, checks = recorded_pass.roots_of, list(checked.values())
    return forward, Backward(build(second), second, roots, like, places, edges, roots_of, checks, [])
