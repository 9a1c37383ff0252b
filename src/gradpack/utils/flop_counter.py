"""Counting floating point operations: `torch.utils.flop_counter`.

Counted are products of matrices, convolutions and attention, forward and backward: a multiplication and an addition
for each term of their sums. Sums and products of elements, which cost little beside them, are not.
"""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from typing import Any
from warnings import warn
from weakref import WeakKeyDictionary

from ..base.exits import Exit
from ..base.modes import MODE, OpMode
from ..base.parts import adopt_parts
from ..core.tensor import Tensor
from ..declare.op import Op
from ..graph.node import OutputSlot
from ..nn._module.global_hooks import register_module_forward_hook, register_module_forward_pre_hook
from ..ops.aten import arguments_of, overload_of
from ._flop_formulas import KNOWN, Part, by_shapes, flop_registry, parts, register_flop_formula, shapes_of

__all__ = ["FlopCounterMode", "register_flop_formula"]


class _Modules:
    """Stack of running modules, by name: `Net`, and `Net.layer` inside of it."""

    def __init__(self) -> None:
        self.names: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
        self.running: list[str] = []
        self.handles: list[Any] = []

    def start(self) -> None:
        self.running.clear()
        self.handles.append(register_module_forward_pre_hook(self._begin))
        self.handles.append(register_module_forward_hook(self._end, always_call=True))

    def stop(self) -> None:
        """Remove the hooks. May be interrupted, and called again."""
        for handle in self.handles:
            handle.remove()
        self.handles.clear()

    def _begin(self, module: Any, args: Any) -> None:
        if module not in self.names:
            top = type(module).__name__
            for name, inner in module.named_modules():
                self.names.setdefault(inner, f"{top}.{name}" if name else top)
        self.running.append(self.names[module])

    def _end(self, module: Any, args: Any, output: Any) -> None:
        if self.running:
            self.running.pop()


class _Watch(OpMode):
    """Observes the operations of a block."""

    observes = True

    def __init__(self, counter: FlopCounterMode) -> None:
        super().__init__()
        self.counter = counter

    def look(self, op: Any, args: tuple[Any, ...], call: Any) -> Any:
        result = call()
        if result is not None:
            self.counter._note(op, args, result, self)
        return result


class FlopCounterMode:
    """`with FlopCounterMode() as counter: ...` counts the floating point operations of a block.

    Backward passes are counted where the forward was, too; they belong to the modules that their operations ran in.

    Args:
        mods: not needed, with a warning.
        depth: how deep modules are nested that the table shows; None for all.
        display: print the table at the end of the block.
        custom_mapping: formulas for operations, in addition or instead: see `register_flop_formula`; a formula with
            an attribute `_get_raw` that is true gets the arguments as they are.

    Attributes:
        flop_counts: by the name of a module, `Global` for all, and the operation.

    Example::

        >>> import gradpack as torch
        >>> from gradpack.utils.flop_counter import FlopCounterMode
        >>> layer = torch.nn.Linear(5, 6)
        >>> with FlopCounterMode(display=False) as counter:
        ...     layer(torch.ones(4, 5)).sum().backward()
        >>> counter.get_flop_counts()["Linear"]
        {<OpOverloadPacket(op='aten.addmm')>: 240, <OpOverloadPacket(op='aten.mm')>: 240}
        >>> counter.get_total_flops()
        480
    """

    def __init__(
        self,
        mods: Any = None,
        depth: int | None = 2,
        display: bool = True,
        custom_mapping: dict[Any, Any] | None = None,
    ) -> None:
        self.flop_counts: dict[str, dict[Any, int]] = defaultdict(lambda: defaultdict(int))
        self.depth, self.display = depth, display
        if mods is not None:
            warn("mods argument is not needed anymore, you can stop passing it", stacklevel=2)
        self._own = {
            target: formula if getattr(formula, "_get_raw", False) else by_shapes(formula)
            for target, formula in (custom_mapping or {}).items()
        }
        self.flop_registry = {**flop_registry, **self._own}
        self._modules = _Modules()
        self._watch: _Watch | None = None

    def __repr__(self) -> str:
        return f"<FlopCounterMode: {self.get_total_flops()} operations>"

    def __enter__(self) -> FlopCounterMode:
        self.flop_counts.clear()
        self._watch = _Watch(self)
        try:
            self._modules.start()
            self._watch.__enter__()
        except BaseException:  # an interrupt
            self._modules.stop()
            raise
        return self

    def _leave(self, watch: _Watch | None) -> None:
        if watch is not None and watch._entered:
            watch.__exit__()
        self._modules.stop()
        if self._watch is not None:
            self._watch = None
            if self.display:
                print(self.get_table(self.depth))  # noqa: T201 - what `display` asks for

    __exit__ = Exit(lambda self: self._watch, _leave)

    def _note(self, op: Op, args: tuple[Any, ...], out: Any, watch: _Watch) -> None:
        """Count a call, and its backward when that runs."""
        values = dict(zip(op.params, args, strict=True))
        tensor = next((t for t in (out if isinstance(out, tuple | list) else (out,)) if isinstance(t, Tensor)), None)
        edge: Any = None if tensor is None else tensor._edge
        node: Any = edge.parent if isinstance(edge, OutputSlot) else edge
        wanted = dict.fromkeys(op.inputs, False)
        if node is not None and len(node.edges) == len(op.inputs):
            wanted = {p: e is not None for p, e in zip(op.inputs, node.edges, strict=True)}
        forward, backward = parts(op, values, tensor, wanted)
        places = ("Global", *dict.fromkeys(self._modules.running))
        if op.name not in KNOWN:
            packet = overload_of(op, list(args)).overloadpacket
            forward = [(packet, tuple(arguments_of(op, list(args))), out)]
        self._count(places, forward)
        if backward and node is not None:
            backward = [(packet, tuple(map(shapes_of, given)), result) for packet, given, result in backward]
            node.register_hook(partial(self._went_back, watch, places, backward))

    def _went_back(self, watch: _Watch, places: tuple[str, ...], calls: list[Part], *grads: Any) -> None:
        mode = MODE.get()
        if self._watch is watch and not mode.grad and not mode.levels:  # else what formulas call is seen by itself
            self._count(places, calls)

    def _count(self, places: tuple[str, ...], calls: list[Part]) -> None:
        for packet, given, result in calls:
            if packet in self.flop_registry:
                count = self.flop_registry[packet](*given, out_val=result)
                for place in places:
                    self.flop_counts[place][packet] += count

    # -- results --

    def get_total_flops(self) -> int:
        """Return the total count."""
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self) -> dict[str, dict[Any, int]]:
        """Return the counts by module name (`Global` for all) and by operation."""
        return {place: dict(counts) for place, counts in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """A line for each module, and for each operation in it; for all, if some were in no module.

        Args:
            depth: how deep modules are nested that are shown; the counter's own by default.
        """
        depth = self.depth if depth is None else depth
        total = self.get_total_flops()
        power = max(0, min(len(_UNITS) - 1, (len(str(total)) - 2) // 3))
        rows: list[tuple[str, str, str]] = []

        def row(name: str, count: int) -> None:
            share = f"{count / total:.2%}" if total else "0%"
            rows.append((name, f"{count / 1000**power:.3f}{_UNITS[power]}", share))

        def place(name: str, indent: str) -> None:
            row(indent + name, sum(self.flop_counts[name].values()))
            for packet, count in self.flop_counts[name].items():
                row(f"{indent} - {packet}", count)

        modules = sorted(set(self.flop_counts) - {"Global"})
        covered = any(sum(self.flop_counts[name].values()) >= total for name in modules)
        if "Global" in self.flop_counts and not covered:
            place("Global", "")
        for name in modules:
            level = name.count(".")
            if depth is None or level < depth:
                place(name, " " * (level + (not covered)))
        if not rows:
            rows.append(("Global", "0", "0%"))
        header = ("Module", "FLOP", "% Total")
        wide = [max(len(line[i]) for line in (header, *rows)) for i in range(3)]
        lines = [header, tuple("-" * w for w in wide), *rows]
        return "\n".join(f"{a:<{wide[0]}}  {b:>{wide[1]}}  {c:>{wide[2]}}" for a, b, c in lines)


_UNITS = ("", "K", "M", "B", "T")

adopt_parts(__name__)
