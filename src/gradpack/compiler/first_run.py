"""The first run of a program is compared with a call of the function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..graph.node import AccumulateGrad
from ..ops.random.generator import default_generator
from .comparison import array_of, equal, has_constants, is_output, kind_of, noise, results_of, without_noise
from .facts import Kept, Result, grad_of, is_steady, version_of
from .graphs import agrees
from .program import GuardFailed, Instruction
from .trees import fields_of_new, flattened

if TYPE_CHECKING:
    from .compiled import Compiled


def first_run(compiled: Compiled, kept: Kept, args: Any, kwargs: Any, inputs: Any) -> Any:
    """Run a program, take back what it did, call the function, and drop the program unless they agree."""
    tensors: list[Any] = [source.now(inputs) for source in kept.sources]
    arrays = [t._data for t in tensors]
    everything = Undo(kept.program.instructions, tensors, arrays, kept.draws)
    try:
        moving = [s.now(inputs)._data for s in kept.facts.given if not is_steady(s)]
        outputs = compiled.around(kept, kept.turn.built.bind(*kept.steady()), moving, inputs)
    except GuardFailed:
        everything.restore()
        raise
    except Exception as error:  # where the function fails, too, its error is raised
        everything.restore()
        result = compiled.function(*args, **kwargs)
        compiled.drop(kept, f"its program failed ({type(error).__name__}: {error}), and the function did not")
        return result
    made, left = [np.array(a) for a in results_of(kept, outputs)], [a.copy() for a in arrays]
    made += [np.array(array_of(grad_of(p))) for p, _ in kept.stepped().values()]
    everything.restore()
    result = compiled.function(*args, **kwargs)
    leaves, shape = flattened(result, fields_of_new(kept.walk.seen))
    wanted: list[Any] = [array_of(leaves[i], kind_of(kept, e)) for i, e in enumerate(kept.results) if is_output(e)]
    for source, output in kept.grads:
        if output is not None:
            tensor: Any = inputs[source.place] if source.tensor is None else source.tensor
            wanted.append(array_of(grad_of(tensor)))
    wanted += [array_of(grad_of(p)) for p, _ in kept.stepped().values()]
    places = noise(kept.walk.seen.values())
    after = [without_noise(b, a, places) for a, b in zip(left, arrays, strict=True)]
    agree = (
        shape == kept.shape
        and has_constants(kept, leaves)
        and all(map(equal, made, wanted))
        and all(map(equal, left, after))
    )
    if agree and kept.backward is not None:
        roots = {e.root: leaves[i] for i, e in enumerate(kept.results) if type(e) is Result and e.root >= 0}
        results = [roots[i] for i in range(len(roots))]
        agree = agrees(kept.backward, kept.backward.built.bind(), outputs, results, inputs, equal)
    kept.checked[0] = agree
    if not agree:
        compiled.drop(kept, "the first run of its program gave other numbers than the function")
    return result


class Undo:
    """Copies of all that a program may write to, and states of the generators that it may draw from."""

    def __init__(
        self, instructions: list[Instruction], tensors: list[Any], arrays: list[Any], generators: list[Any]
    ) -> None:
        self.arrays = [(a, a.copy()) for a in arrays]
        self.counters = [(t, version_of(t)) for t in tensors]
        self.grads = [(t, grad_of(t)) for t in tensors]
        self.more: list[Any] = []
        for each in instructions:
            if each.kind == "update":
                function: Any = each.function
                self.more += function.keywords["tensors"]
        self.grads += [(t, grad_of(t)) for t in self.more]
        self.more = [(t, t._data.copy(), version_of(t)) for t in self.more]
        self.states = [(g, g.get_state()) for g in {id(g): g for g in (default_generator, *generators)}.values()]

    def restore(self) -> None:
        for array, copy in self.arrays:
            if array.flags.writeable:
                array[...] = copy
        for tensor, count in self.counters:
            tensor._counter[0] = count
        for tensor, data, count in self.more:
            tensor._data[...] = data
            tensor._counter[0] = count
        for tensor, grad in self.grads:
            edge = tensor._edge
            if type(edge) is AccumulateGrad:
                edge.grad = grad
            else:
                tensor._own_grad = grad
        for generator, state in self.states:
            generator.set_state(state)
