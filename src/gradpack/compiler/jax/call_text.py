"""One call of a program of XLA's as text: what has to hold, its run, and what it leaves behind in tensors."""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import TYPE_CHECKING, Any

import jax

from ..facts import TENSOR, Source
from ..turn import _Text
from .deferred import DeferredTensor, counter_of, edge_of, held_by
from .packing import Packs, Part

if TYPE_CHECKING:
    from .binding import Binding

_ALL_HELD = "all(map(is_, map(held_by, captured), b.held))"


class JaxText(_Text):
    """Writes the lines of a call.

    Args:
        binding: the program with its tensors, which has run before.
    """

    def __init__(self, binding: Binding, owners: set[int]) -> None:
        super().__init__(binding.kept._replace(program=binding.program.program), owners)
        self.binding, self.grads = binding, binding.grads
        self.written = [*self.kept.written, *[(Source(t, -1, False), n) for t, n in binding.counts]]
        self.names |= {
            "b": binding, "captured": binding.captured, "is_": is_, "held_by": held_by, "edge_of": edge_of,
            "enable_x64": jax.enable_x64, "program": binding.program, "counter_of": counter_of, "Packs": Packs,
            "layout": binding.program.grads, "Part": Part, "part": tuple.__new__, "Deferred": DeferredTensor,
        }  # fmt: skip

    def tests(self) -> list[str]:
        return ["b.stays", _ALL_HELD, "all(map(is_, map(edge_of, captured), b.edges))", *super().tests()]

    def run(self, around: bool = False, warns: bool = True) -> list[str]:
        inputs = "".join(f"x{i}, " for i in range(sum(leaf is TENSOR for leaf in self.kept.leaves)))
        arrays, program = self.arrays() if self.binding.simple else "*b.arrays(inputs)", self.binding.program
        lines, trace = [f"inputs = ({inputs})", "with enable_x64(True):"], program.traces[-1]
        if not (trace.guarded or trace.calls):
            self.names |= {"run": trace.run, "constants": program.constants(), "options": program.options}
            lines.append(f"    made = run({arrays}, constants, options(), [])")
        else:
            lines.append(f"    made = program({arrays})")
        if self.binding.simple:
            lines += ["b.packs.arrays = made.state", f"if not {_ALL_HELD}: b.commit(made.state, inputs)"]
        else:
            lines.append("b.commit(made.state, inputs)")
        if trace.guarded:
            lines.append("if made.failed is not None: raise GuardFailed(str(made.failed))")
        packs = ["grads = Packs(layout, made.grads)"] if program.grads.groups else []
        return [*lines, *packs, "outputs = made.outputs"]

    def arrays(self) -> str:
        """Return the text of what is written to, and of a list of what is only read."""
        read = self.binding.sources[self.binding.program.writes :]
        texts = [f"d{s.place}.copy()" if s.tensor is None else f"b.read[{i}]" for i, s in enumerate(read)]
        return f"b.packs.arrays, [{', '.join(texts)}]"

    def counted(self, source: Source, count: int) -> str:
        return f"counter_of({self.tensor(source)})[0] += {count}"

    def made(self, name: str, output: int) -> list[str]:
        spec, shape = self.binding.specs[output]
        counters, self.made_of[output] = self.kept.counters, name
        packed = output in self.names["layout"].places
        return [
            f"{name} = new(Deferred)", f"{name}._spec = {self.name('s', spec)}", f"{name}._shape = {shape}",
            f"{name}._data = {f'part(Part, (grads, {output}))' if packed else f'o{output}'}",
            f"{name}._edge = {name}._view = None",
            f"{name}._counter = {self.counter(counters[output] if output < len(counters) else 0)}",
        ]  # fmt: skip


def call_of(binding: Binding, owners: set[int], missed: Any, last: list[Any]) -> Callable[..., Any]:
    """Return a function of the arguments, in a tuple, and of those by keyword, in a dict, as that of `Turn`.

    Args:
        owners: the memory of captured tensors that are not with JAX; the same object later.
        missed: is told why a guard of the program failed.
        last: gets the binding, in its place, when the program has run.
    """
    text = JaxText(binding, owners)
    text.names |= {"missed": missed, "last": last, "nodes": getattr(binding, "nodes", None)}
    *lines, result = text.finish()
    exec(text.call(text.tests(), [*text.run(), *lines, "last[0] = b", result]), text.names)
    made: Callable[..., Any] = text.names["call"]
    return made
