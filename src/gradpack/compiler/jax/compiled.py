"""`compile(backend="jax")`: programs that XLA runs."""

from __future__ import annotations

from typing import Any

import jax

from ...base.tree import TreeSpec
from ...core.tensor import Tensor
from ...ops.random.generator import default_generator
from ..arguments import context, plain_tree, same_leaves
from ..compiled import Compiled
from ..facts import Kept
from ..graphs import LOCK
from ..program import GuardFailed
from .binding import Binding
from .first_run import FirstRun
from .many import can_scan, scan
from .packing import Packs
from .placement import Placement
from .program import OtherNumber
from .steps import Untraceable


class JaxCompiled(Compiled):
    """A function that becomes programs of XLA's."""

    whole = True

    def reset(self) -> None:
        super().reset()
        self.bindings: dict[int, Binding] = {}
        self._waiting: dict[int, Binding] = {}  # of programs whose guards did not hold yet
        self.shared: dict[Any, Packs] = {}  # the arrays of tensors that programs write to, by these
        self._last: list[Binding | None] = [None]  # whose program ran in the call before

    def __init__(self, function: Any, fullgraph: bool = False, options: dict[str, Any] | None = None) -> None:
        self.bindings, self._waiting, self.shared, self._last = {}, {}, {}, [None]
        self.placement = Placement(**(options or {"place": None}))
        self.extra = (options,)
        super().__init__(function, fullgraph)

    def _fits(self, kept: Kept, now: Any, leaves: list[Any], tree: TreeSpec, inputs: list[Tensor]) -> bool:
        if kept.context != now or tree != kept.tree or not same_leaves(leaves, kept.leaves):
            return False
        binding = self.bindings.get(id(kept))
        if not (kept.facts.are(inputs) if binding is None else binding.holds(inputs)):
            self._missed("a tensor has another shape, dtype, layout or gradient")
            return False
        if not kept.walk.holds():
            self._missed(kept.walk.changed())
            return False
        return True

    def _replay(self, kept: Kept, args: Any, kwargs: Any, inputs: list[Tensor]) -> Any:
        binding, self._last[0] = self.bindings.get(id(kept)), None
        if binding is None:
            return self._first(kept, args, kwargs, inputs)
        with jax.enable_x64(True):
            made = binding.program(*binding.arrays(inputs))
        binding.commit(made.state, inputs)
        if isinstance(made.failed, Untraceable):
            self._missed(str(made.failed))
            return self.function(*args, **kwargs)
        if made.failed is not None:
            raise made.failed
        self._last[0] = binding
        if binding.call is not None:
            binding.call.__globals__["unchanged"] = kept.walk.check()
        elif binding.stays:
            binding.bind(self._missed, self._last)
            self._turns = [each.call for each in self.bindings.values() if each.call is not None]
        return binding.finish(made, inputs)

    def scanned(self, stacked: list[Tensor], follows: bool) -> tuple[Any, int]:
        """Run the program of the last call for slices of stacked tensors, if its calls leave its guards as they were.

        Args:
            follows: whether nothing happened since the last call: a program that fits then, too, is such a one.

        Returns:
            The stacked results, and how many calls ran.
        """
        now = context()
        first = [t[0] for t in stacked]
        (binding,) = self._last
        if now is None or binding is None or not can_scan(binding):
            return None, 0
        tree = plain_tree(len(first))
        if self.placement.place is not None or not self._fits(binding.kept, now, list(first), tree, first):
            return None, 0
        binding.steady = binding.steady or follows
        if not binding.steady:
            return None, 0
        with LOCK, jax.enable_x64(True):
            return scan(binding, stacked, len(stacked[0]))

    # -- the first run is compared with a call of the function --

    def _first(self, kept: Kept, args: Any, kwargs: Any, inputs: list[Tensor]) -> Any:
        before = [(g, g.get_state()) for g in dict.fromkeys([default_generator, *kept.draws])]
        failed: Exception | None
        try:
            binding = self._waiting.pop(id(kept), None) or Binding(kept, self.placement, self.shared)
            binding.place(inputs)
            with jax.enable_x64(True):
                made = binding.program(*binding.arrays(inputs))
            failed = made.failed
        except Untraceable as reason:
            failed = reason
        for generator, state in before:
            generator.set_state(state)
        if isinstance(failed, GuardFailed):
            self._waiting[id(kept)] = binding
            alike = [each for each in self._waiting.values() if _asked(each.kept) == _asked(kept)]
            if isinstance(failed, OtherNumber) and len(alike) > 1:
                self.kept, self._waiting = [each for each in self.kept if each.checked[0]], {}
                self._refuse(f"XLA computes other numbers than NumPy where code asks for them: {failed}")
            raise failed
        if failed is not None:
            result = self.function(*args, **kwargs)  # it may say what is wrong
            self.kept.remove(kept)
            self._refuse(str(failed))
            return result
        check = FirstRun(binding, made)
        result = self.function(*args, **kwargs)
        checked = check.agreed(result, inputs)
        if checked is None:
            self.kept.remove(kept)
            self._stop("the first run of its program gave other numbers than the function")
        else:
            self.bindings[id(kept)] = checked
            kept.checked[0] = True
        return result


def _asked(kept: Kept) -> list[Any]:
    """Return what code asked for while a program was recorded, and for what shapes."""
    program = kept.program
    guards = [(each.line, repr(each.expected)) for each in program.instructions if each.kind == "guard"]
    return [*guards, *[(v.shape, v.dtype) for v in program.state]]


class JaxElsewhere(JaxCompiled):
    """A compiled function whose calls are those of another function."""

    __slots__ = ()
    __call__ = Compiled._instead


JaxCompiled.kinds = (JaxCompiled, JaxElsewhere)
