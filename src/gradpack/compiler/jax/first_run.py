"""The first run of a program is compared with a call of the function."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backends.numpy import NUMPY
from ...core.tensor import Tensor
from ..comparison import array_of, equal, has_constants, is_output, kind_of, noise, without_noise
from ..facts import Result, grad_of, version_of
from ..graphs import agrees
from ..trees import fields_of_new, flattened
from .binding import Binding
from .packing import Packs, fetched
from .program import Made


class FirstRun:
    """Results of a program, before the function is called.

    Args:
        binding: the program, whose tensors are as they were.
        made: its results.
    """

    def __init__(self, binding: Binding, made: Made) -> None:
        self.binding, program = binding, binding.program
        state, grads = Packs(program.states, made.state), Packs(program.grads, made.grads)
        self.state = [state.numpy(i) for i in range(program.writes)]
        self.outputs = [grads.numpy(i) if a is None else fetched(a) for i, a in enumerate(made.outputs)]
        self.captured = [s.tensor for s in binding.sources if s.tensor is not None and not s.grad]
        self.counts = [version_of(t) for t in self.captured]

    def agreed(self, result: Any, inputs: list[Tensor]) -> Binding | None:
        """Return the program, ready for further calls, if the function did the same; else None."""
        binding, kept = self.binding, self.binding.kept
        leaves, shape = flattened(result, fields_of_new(kept.walk.seen))
        if shape != kept.shape or not has_constants(kept, leaves):
            return None
        made = [(e, leaves[i]) for i, e in enumerate(kept.results) if is_output(e)]
        pairs = [(self._result(e), array_of(leaf, kind_of(kept, e))) for e, leaf in made]
        grads = [(s, o, grad_of(s._replace(grad=False).now(inputs))) for s, o in binding.grads if o is not None]
        last = [found for _, _, found in grads[len(grads) - binding.given :]]
        if binding.given and any(found is None for found in last):  # the function drops them in the end
            grads = grads[: len(grads) - binding.given]
            binding = Binding(kept, binding.placement, binding.shared, with_grads=False)
        pairs += [(self.outputs[output], array_of(found)) for _, output, found in grads]
        if not all(equal(made, found) for made, found in pairs):
            return None
        if kept.backward is not None:
            roots = {e.root: leaves[i] for i, e in enumerate(kept.results) if type(e) is Result and e.root >= 0}
            results = [roots[i] for i in range(len(roots))]
            if not agrees(kept.backward, binding.backward, self.outputs, results, inputs, equal):
                return None
        places = noise(kept.walk.seen.values())
        for source, found in zip(self.binding.sources, self.state, strict=False):
            if not equal(found, without_noise(source.now(inputs)._data, found, places)):
                return None
        others = {id(source.tensor) for source, _ in kept.written if not source.grad}
        moved = [(t, version_of(t) - n) for t, n in zip(self.captured, self.counts, strict=True)]
        binding.counts = [(t, n) for t, n in moved if n and id(t) not in others]
        binding.specs = [(NUMPY.spec(a), tuple(a.shape)) for a in self.outputs]
        return binding

    def _result(self, each: Result) -> Any:
        found = self.outputs[each.output]
        return np.reshape(found, ()) if each.is_number else found
