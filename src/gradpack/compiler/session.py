"""One recording of a function: the arrays of its tensors are watched, and become a program."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np

from ..backends import NUMPY
from ..backends.memory_layout import _array_type
from ..base import autocast
from ..base.tree import TreeSpec
from ..core.packed import Packed
from ..core.tensor import Tensor, alias
from ..graph import engine
from ..graph.node import AccumulateGrad, Node, reachable
from ..ops.create import making
from ..ops.random.floats import zero_slope
from ..ops.random.generator import Generator
from ..optim import _step_hooks as optimizers
from ..optim.lr_scheduler import LRScheduler
from .effects import calls_nothing, observed, place_of, unobserved
from .emit import build
from .facts import (
    TENSOR,
    Facts,
    Kept,
    Result,
    Source,
    facts_of,
    grad_of,
    is_steady,
    kin_of,
    tensor_of,
    unfit,
    version_of,
    without_hooks,
)
from .graphs import noder
from .graphs import planned as planned_backward
from .graphs import recorded as recorded_backward
from .lasting import Lasting
from .outcome import Outcome
from .passes.fusion import has_loops
from .passes.simplify import simplified, without_dead_code
from .program import Instruction, Program, in_use, line_of_caller, updates_early, written_early
from .python.lifting import Place, Schedule, epoch_of, held_by, replaced
from .python.state import Walk
from .recorded_array import RecordedArray
from .recording import Recorder, recording
from .recording_backend import RECORDING
from .trees import fields_of_new, flattened
from .turn import Turn
from .updates import recorded


class Session:
    """One recording: the tensors whose arrays are recorded, and what became of them.

    Args:
        whole: as of `Recorder`.
    """

    def __init__(self, walk: Walk, inputs: list[Tensor], whole: bool = False) -> None:
        self.walk, self.inputs = walk, inputs
        self.recorder = Recorder(whole)
        self.reason = ""
        self.sources: list[Source] = []
        self.before: list[tuple[Tensor, Any, Any, int]] = []  # tensor, array, spec, version
        self.arrays: list[RecordedArray] = []
        self.freed: dict[Any, bool] = {}  # nodes of backward passes inside of it: whether it is a root
        self.inner: set[Any] = set()  # leaves of backward passes inside of it
        self.outer: set[Any] = set()  # edges of arguments that have a graph
        self.backward: Any = None
        self.replaced: list[Place | Schedule] = []  # places that the function gives other tensors, and the like
        self.schedules = [(s, epoch_of(s)) for s in walk.seen.values() if isinstance(s, LRScheduler)]
        given = {id(t) for t in inputs}
        self.passed = [(i, t) for i, t in enumerate(inputs) if id(t) in walk.tensors]
        first: dict[int, int] = {}  # a tensor that is given twice is one source
        self.twice = [(i, j) for i, t in enumerate(inputs) if (j := first.setdefault(id(t), i)) != i]
        self.given = list(first.values())
        named = [(Source(None, i, False), inputs[i], f"x{i}" if inputs[1:] else "x") for i in self.given]
        named += [(Source(t, -1, False), t, n) for t, n in walk.tensors.values() if id(t) not in given]
        for source, tensor, name in list(named):
            grad = grad_of(tensor)
            if grad is not None:
                named.append((source._replace(grad=True), grad, f"{name}.grad"))
        self.names = [name for *_, name in named]
        for source, tensor, name in named:
            self.reason = unfit(tensor, name, source.tensor is None)
            if self.reason:
                self.replaced = [*held_by(walk, tensor)] if tensor.grad_fn is not None else []
                return
            if source.tensor is None and tensor._edge is not None and type(tensor._edge) is not AccumulateGrad:
                self.outer.add(tensor._edge)
            self.sources.append(source)
            self.before.append((tensor, tensor._data, tensor._spec, version_of(tensor)))
            self.arrays.append(self.recorder.array(tensor._data, name.rpartition(".")[2] if not source.grad else name))

    # -- while the function runs --

    def run(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Call the function, and record it."""
        tensors = [t for t, *_ in self.before]
        self.facts = [facts_of(t) for t in tensors]
        self.lasting = Lasting(list(zip(tensors, self.names, strict=True)), (args, kwargs), self.given)
        self.kin = kin_of(self.sources, self.inputs)
        self.recorder.place = place_of(function)
        self.recorder.random.know([*self.walk.seen.values(), *flattened((args, kwargs))[0]])
        original, profile, collects = engine.run, sys.getprofile(), gc.isenabled()
        any(has_loops(array) for _, array, *_ in self.before)  # Numba is imported here, and not inside of the function
        gc.disable()  # what it calls, as finalizers, is no part of the function
        autocast.current().cache.clear()  # casts that were made before are none of the program
        for (tensor, *_), array in zip(self.before, self.arrays, strict=True):
            tensor._data, tensor._spec = array, RECORDING.spec(array)
        optimizers.RECORDERS.append(self)
        making.RECORDERS.append(self)
        engine.run = self._backward(original)
        try:
            with recording(self.recorder):
                if profile is not None:
                    self.recorder.refuse("a profiler of Python watches its calls", again=True)
                with observed(self.recorder) if profile is None else nullcontext():
                    result = function(*args, **kwargs)
                    self.outer, self.recorder.ended = set(), True
                    hooked = self.lasting.hooked()
                    if hooked:
                        self.recorder.refuse(f"it gives {hooked} a hook, or takes one away: do so outside")
                    leaves, _ = flattened(result, fields_of_new(self.walk.seen))
                    self.backward = recorded_backward(self.recorder, leaves, self.before, self.sources, self.freed)
                    return result
        except BaseException:
            self.recorder.open = True
            self.recorder.refuse("it raised an exception")
            raise
        finally:
            engine.run = original
            if collects:
                gc.enable()
            optimizers.RECORDERS.remove(self)
            making.RECORDERS.remove(self)
            self._close()

    def _backward(self, run: Callable[..., Any]) -> Callable[..., Any]:
        def watched(task: Any, grads: Any) -> None:
            if not self.is_ours():
                run(task, grads)
                return
            nodes = reachable(task.roots)
            leaves = {node for node in nodes if type(node) is AccumulateGrad}
            self.inner |= leaves
            for (tensor, *_), name in zip(self.before, self.names, strict=True):
                if tensor._edge in leaves and tensor._edge.extras is not None:
                    self.recorder.refuse(
                        f"{name} has hooks, which no program runs: change its gradient behind `backward`"
                    )
            if not self.outer.isdisjoint(nodes):
                self.recorder.refuse("a backward pass inside of it goes on into the graph of an argument")
            if not task.keep:
                self.freed = dict.fromkeys(nodes, False) | self.freed | dict.fromkeys(task.roots, True)
            if not self.recorder.hooked and unobserved(calls_nothing, nodes):
                unobserved(run, task, grads)
            else:
                run(task, grads)

        return watched

    def is_ours(self) -> bool:
        """Return whether what happens now is a part of the recording: another thread may run, too."""
        return self.recorder.is_ours() and not self.recorder.inside

    def drawn(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Call a function that draws numbers: as one instruction, if it needs the values of tensors for it."""
        values = [*args, *kwargs.values()]
        tensors = [v for v in values if isinstance(v, Tensor)]
        others = any(isinstance(v, Generator) for v in values) or kwargs.get("out") is not None
        if function.__name__ not in _OF_VALUES or not tensors or others or self.recorder.whole:
            return function(*args, **kwargs)

        def draw(*arrays: Any) -> Any:
            found = iter(arrays)
            given = [tensor_of(next(found)) if isinstance(v, Tensor) else v for v in values]
            named = dict(zip(kwargs, given[len(args) :], strict=True))
            return function(*given[: len(args)], **named)._data

        made = self.recorder.call(function.__name__, draw, tuple(t._data for t in tensors), {})
        result = alias(made, RECORDING.spec(made), made.shape)
        return zero_slope(result, *tensors) if result.is_floating_point() else result

    def made(self, tensor: Tensor) -> None:
        """Let a new tensor be a copy of a constant."""
        if tensor._spec.numpy and type(tensor._data) is _array_type and self.recorder.open:
            constant = tensor._data.copy("K")
            if constant.strides != tensor._data.strides and constant.size > 1:
                self.recorder.refuse("it makes a tensor whose elements share memory, or leave gaps in it")
                return
            tensor._data = self.recorder.call("np.array", np.array, (constant,), {})
            tensor._spec = RECORDING.spec(tensor._data)

    def making(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that makes an array, and draws the numbers for it, as one instruction."""

        def run(*args: Any) -> Any:
            if args and isinstance(args[0], Tensor) and function.__name__.startswith("_method_"):
                args = _like(args[0]), *args[1:]  # its numbers are written over
            elif any(isinstance(a, Tensor) for a in args):
                return function(*args)
            return self.recorder.call(function.__name__, function, args, {})

        return run

    def update(self, optimizer: Any, step: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Call a step of an optimizer on the real arrays, as one instruction."""
        recorder = self.recorder
        params = [p for group in optimizer.param_groups for p in group["params"]]
        tensors = [*params, *_state_tensors(optimizer)]
        ours = {id(t) for t, *_ in self.before}
        if args or kwargs or not all(id(t) in ours for t in tensors):
            what = f"{type(optimizer).__name__}.step got arguments, or has state that is not known yet"
            recorder.refuse(what, again=not (args or kwargs))
        if any(schedule.optimizer is optimizer and epoch_of(schedule) != first for schedule, first in self.schedules):
            recorder.refuse(
                f"{type(optimizer).__name__} takes a step behind one of its scheduler: let that be the last"
            )
        if optimizer._optimizer_step_pre_hooks or optimizer._optimizer_step_post_hooks:
            recorder.refuse(f"{type(optimizer).__name__} has hooks")
            step = type(optimizer).step  # with the hooks
        if recorder.refused is None and not recorder.whole and recorded(recorder, optimizer):
            return None
        grads = [grad_of(p) for p in params]
        held = [(t, t._data, t._spec) for t in (*tensors, *grads) if t is not None and type(t._data) is RecordedArray]
        given = [None if g is None else _variable(recorder, g._data) for g in grads]
        for tensor, array, _ in held:
            tensor._data, tensor._spec = array._array, NUMPY.spec(array._array)
        count = len(_state_tensors(optimizer))
        optimizers.RECORDERS.remove(self)
        recorder.inside = True  # tensors that it makes are none of the program
        try:
            result = step(optimizer, *args, **kwargs)
        finally:
            recorder.inside = False
            optimizers.RECORDERS.append(self)
            if any(t._data is not array._array for t, array, _ in held) or len(_state_tensors(optimizer)) != count:
                recorder.refuse(f"{type(optimizer).__name__}.step made new arrays, as a first step does", again=True)
            for tensor, array, spec in held:
                tensor._data, tensor._spec = array, spec
        written = tuple(t._data.variable for t in tensors if type(t._data) is RecordedArray)
        versions = [0 if g is None else version_of(g) for g in grads]
        function = partial(_updated, optimizer=optimizer, step=step, params=params, tensors=tensors, versions=versions)
        recorder.instructions.append(
            Instruction(function, "update", tuple(given), {}, None, written, None, "update", line_of_caller())
        )
        if result is not None:
            recorder.refuse(f"{type(optimizer).__name__}.step returned a value")
        return result

    def _close(self) -> None:
        """Give every tensor that is left an array of NumPy's again."""
        self.after = [(t, t._data) for t, *_ in self.before]
        self.new_grads = [grad_of(t) for t, *_ in self.before]
        self.grad_arrays = [None if g is None else g._data for g in self.new_grads]
        self.versions = [version_of(t) for t, *_ in self.before]
        for tensor, *_ in self.before:
            if type(tensor._data) is RecordedArray:
                tensor._data = tensor._data._array
                tensor._spec = NUMPY.spec(tensor._data)
        self.found: dict[int, RecordedArray] = {}  # of tensors that are left, by identity
        for each in gc.get_referrers(*self.recorder.living, *RECORDING.specs()):
            if isinstance(each, Packed) and each.spec.backend is RECORDING:
                each.spec = NUMPY.spec_for(each.spec.dtype, each.spec.device)
            elif isinstance(each, Tensor):
                held = getattr(each, "_data", None)
                if type(held) is RecordedArray:
                    self.found[id(each)] = held
                    each._data, each._spec = held._array, NUMPY.spec(held._array)
            elif isinstance(each, Node):
                for slot in (s for kind in type(each).__mro__ for s in vars(kind).get("__slots__", ())):
                    held = getattr(each, slot, None)
                    if type(held) is RecordedArray:
                        setattr(each, slot, held._array)

    # -- afterwards --

    def kept(self, result: Any, leaves: list[Any], tree: TreeSpec, context: Any) -> Kept | None:
        """Return the program, or None if there can be none: the recorder knows why."""
        recorder = self.recorder
        recorder.open = True
        self._refuse_what_lasts(result)
        outcome = Outcome(self)
        (results, shape), grads = outcome.results(result), outcome.gradients()
        planned = None if recorder.refused is not None else self._planned(results, grads, outcome.outputs)
        if planned is None or recorder.refused is not None:
            return None
        (program, used), backward = in_use(planned[0]), planned[1]
        early = written_early(program.instructions)
        undo = [i for i, a in enumerate(self.arrays) if a.variable.memory in early]
        writes = self._versions(program)
        if updates_early(program.instructions):
            recorder.refuse("Python looks at a value after a step of an optimizer")
            return None
        known = [TENSOR if isinstance(leaf, Tensor) else leaf for leaf in leaves]
        facts = self._facts(used)
        draws = recorder.random.generators if any(e.kind == "draw" for e in program.instructions) else []
        nodes = None if backward is None or recorder.whole else noder(backward, backward.built.bind())
        return Kept(
            program, self.walk, known, tree, self.sources,
            facts, Turn(build(program), nodes), writes, grads, results, shape,
            undo, draws, context, [False], backward,
            outcome.counters, self.names, list(map(type, self.inputs)), self.lasting.required,
        )  # fmt: skip

    def _planned(self, results: list[Any], grads: list[Any], outputs: list[Any]) -> Any:
        """Return the program, and that of the backward pass of its results; None if there can be none."""
        arrays = [a.variable for a in self.arrays]
        steady = [v for v, s in zip(arrays, self.sources, strict=True) if is_steady(s)]
        seeds = [] if self.backward is None else self.backward.seeds
        outputs += [] if self.backward is None else [v for _, v in self.backward.grads]
        program = Program(self.recorder.instructions, seeds, arrays, steady, outputs)
        program = without_dead_code(program) if self.recorder.whole else simplified(program)
        if self.recorder.refused_as_long(program) or self.backward is None:
            return program, None
        found = [r for r in results if type(r) is Result]
        roots = {r.root: r.output for r in found if r.root >= 0}
        made = {r.output for r in found if r.source < 0 and not r.is_number}
        made |= {output for _, output in grads if output is not None}
        places = [roots[i] for i in range(len(roots))]
        both = planned_backward(self.backward, program, arrays, self.sources, places, made)
        if both is None:
            self.recorder.refuse("the backward pass of its results does more than to compute")
        return both

    def _facts(self, used: list[bool]) -> Facts:
        """Return the facts of tensors, without the hooks of those that the function does not look at."""
        each = zip(self.facts, self.sources, self.before, strict=True)
        now = [f if s.grad or t._edge in self.inner else without_hooks(f) for f, s, (t, *_) in each]
        return Facts(self.sources, now, used, self.kin, self.passed, self.twice)

    def _refuse_what_lasts(self, result: Any) -> None:
        """Make no program if the function leaves more behind than numbers and gradients."""
        recorder = self.recorder
        changed = self.walk.changed()
        if changed:
            self.replaced = [] if recorder.refused else replaced(self.walk)
            what = f"it changes values of Python, {changed}: return them, or change them outside"
            recorder.refuse(what, again=True)
        recorder.drawn_outside()
        if recorder.random.others():
            recorder.refuse("a generator is seeded or drawn from in a way that no program does again: do so outside")
        left = self.lasting.changed([(found, array) for (_, found), array in zip(self.after, self.arrays, strict=True)])
        left = left or self.lasting.returned(result, self.walk.seen)
        if left:
            recorder.refuse(left)

    def _versions(self, program: Program) -> list[tuple[Source, int]]:
        """Return the tensors that the function writes to, with how many versions later they are."""
        writes: list[tuple[Source, int]] = []
        # The optimizer counts versions of what it updates, and views share theirs.
        updated = {v.memory for e in program.instructions if e.kind == "update" for v in e.writes}
        counters = {id(t._counter): i for i, (t, *_) in enumerate(self.before)}
        for i in counters.values():
            version, now = self.before[i][3], self.versions[i]
            if now != version and self.arrays[i].variable.memory not in updated:
                writes.append((self.sources[i], now - version))
        return writes


_OF_VALUES = frozenset({"multinomial", "bernoulli", "normal", "poisson", "binomial"})  # draw by values of tensors


def _variable(recorder: Recorder, array: Any) -> Any:
    return array.variable if type(array) is RecordedArray else recorder.constant(array)


def _like(tensor: Tensor) -> Tensor:
    """Return a tensor of the same shape and dtype that takes no memory."""
    spec = NUMPY.spec_for(tensor._spec.dtype, tensor._spec.device)
    return alias(np.broadcast_to(np.zeros((), spec.native), tensor._shape), spec, tensor._shape)


def _state_tensors(optimizer: Any) -> list[Tensor]:
    return [v for own in optimizer.state.values() for v in own.values() if isinstance(v, Tensor)]


def _updated(*grads: Any, optimizer: Any, step: Any, params: list[Tensor], tensors: Any, versions: list[int]) -> None:
    """Give parameters their gradients, and call a step of an optimizer."""
    for p, g, version in zip(params, grads, versions, strict=True):
        made = None if g is None else tensor_of(g)
        if made is not None:
            made._counter[0] = version
        edge = p._edge
        if type(edge) is AccumulateGrad:
            edge.grad = made
        else:
            p.grad = made
    step(optimizer)
