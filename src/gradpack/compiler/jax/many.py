"""Many calls of a program as one: `jax.lax.scan` over stacked arguments."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ...base.tree import tree_unflatten
from ...core.tensor import Tensor
from ..facts import Result
from ..freed import freed_edge
from .binding import Binding
from .deferred import counter_of, edge_of, new
from .drawing import restore, states_of
from .program import Trace


class Scanned(NamedTuple):
    """A scan over the calls of one trace.

    Attributes:
        run: takes state, what is only read, stacked arguments, constants, numbers of optimizers, random numbers.
        lasting: which outputs only the last call is asked for: gradients.
        stacked: which outputs of each call are wanted.
    """

    run: Any
    lasting: list[int]
    stacked: list[int]


def can_scan(binding: Binding) -> bool:
    """Return whether results and arguments of a program are such that its calls can be one."""
    writes = binding.program.writes
    return (
        all(s.tensor is not None for s in binding.sources[:writes])
        and not any(s.grad for s in binding.sources)
        and all(s.tensor is not None and output is not None for s, output in binding.grads)
        and all(type(e) is Result and e.source < 0 and e.root < 0 and not e.is_leaf for e in binding.kept.results)
        and not any(s.tensor is None for s, _ in binding.kept.written)
        and bool(binding.program.traces)
    )


def scan(binding: Binding, stacked: list[Tensor], count: int) -> tuple[Any, int]:
    """Run a program for each slice of stacked tensors until a guard fails.

    Returns:
        The stacked results of the calls that ran, and how many these are.
    """
    program = binding.program
    first = [t[0] for t in stacked]
    state, read = binding.arrays(first)
    trace = program.traces[-1]
    given = [jnp.array(stacked[s.place]._data) for s in binding.sources[program.writes :] if s.tensor is None]
    read = [a for s, a in zip(binding.sources[program.writes :], read, strict=True) if s.tensor is not None]
    random, states = _drawn(trace, count)
    found = _scanned(binding, trace)
    state, last, ran, made = found.run(
        state, read, given, program.constants(), program.options(), random
    )  # fmt: skip
    done = count if not trace.guarded else int(ran)
    if done < count and states:
        restore(states[done])
    binding.commit(state, first)
    return _finished(binding, found, last, made, done), done


def _drawn(trace: Trace, count: int) -> tuple[list[Any], list[Any]]:
    """Return the random numbers of all calls, stacked, and the states of the generators before each."""
    numbers, states = [], []
    for _ in range(count if trace.calls else 0):
        states.append(states_of(trace.calls))
        numbers.append([call.now() for call in trace.calls])
    return [np.stack(column) for column in zip(*numbers, strict=True)], states


def _scanned(binding: Binding, trace: Trace) -> Scanned:
    """Return the scan of a trace; it is made once."""
    found = binding.scans.get(id(trace))
    if found is not None:
        return found
    program = binding.program
    step = program._function(trace, list(trace.answers), True)
    lasting = [output for _, output in binding.grads if output is not None]
    stacked = [each.output for each in binding.kept.results]
    captured = [s.tensor is not None for s in binding.sources[program.writes :]]

    def run(state: Any, read: Any, given: Any, constants: Any, numbers: Any, random: Any) -> Any:
        def body(carry: Any, each: Any) -> Any:
            state, last, alive = carry
            arguments, drawn = iter(each[0]), each[1]
            kept = iter(read)
            both = [next(kept if own else arguments) for own in captured]
            made = step(state, both, constants, numbers, drawn)
            if made.holds is not None:
                alive = alive & made.holds
                state = [jnp.where(alive, n, o) for n, o in zip(made.state, state, strict=True)]
                last = [jnp.where(alive, program.output(made, i), o) for i, o in zip(lasting, last, strict=True)]
            else:
                state, last = made.state, [program.output(made, i) for i in lasting]
            return (state, last, alive), ([made.outputs[i] for i in stacked], alive)

        variables = program.program.outputs
        zeros = [jnp.zeros(variables[i].shape, variables[i].dtype) for i in lasting]
        carry, (made, ran) = jax.lax.scan(body, (state, zeros, jnp.asarray(True)), (given, random))
        return carry[0], carry[1], jnp.sum(ran), made

    found = binding.scans[id(trace)] = Scanned(jax.jit(run, donate_argnums=0), lasting, stacked)
    return found


def _finished(binding: Binding, found: Scanned, last: list[Any], made: list[Any], done: int) -> Any:
    """Count versions, set gradients, and return the stacked results."""
    if not done:
        return None
    for source, count in binding.kept.written:
        counter_of(source.tensor)[0] += count * done
    for tensor, count in binding.counts:
        counter_of(tensor)[0] += count * done
    for (source, output), array in zip(binding.grads, last, strict=True):
        grad = new(array, *binding.specs[output])  # type: ignore[index]
        edge: Any = edge_of(source.tensor)
        if hasattr(edge, "grad"):
            edge.grad = grad
        else:
            source.tensor._own_grad = grad  # type: ignore[union-attr]
    results = []
    for each, array in zip(binding.kept.results, made, strict=True):
        spec, shape = binding.specs[each.output]
        result = new(array[:done] if array.shape[0] != done else array, spec, (done, *shape))
        if each.requires_grad:
            result._edge = freed_edge()
        results.append(result)
    return tree_unflatten(results, binding.kept.shape)
