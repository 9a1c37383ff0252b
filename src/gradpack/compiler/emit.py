"""Programs as Python text, and the text as a function."""

from __future__ import annotations

import builtins
import keyword
import math
import re
from collections.abc import Callable, Container
from typing import Any, NamedTuple

import numpy as np

from ..kernels.dispatch import LARGE, loaded
from ..kernels.table import Kernel
from .instruction_text import SIGNS, commented, facts, hashable, is_method, may_warn, message, shown
from .passes.buffers import Buffer, planned
from .passes.described import described
from .passes.fusion import fused
from .passes.large_forms import with_large_forms
from .passes.small_forms import with_small_forms
from .passes.small_loops import SmallLoop
from .program import GuardFailed, Instruction, Program, Variable, variables, with_room

_PLAIN = (int, float, bool, str, type(None), type(Ellipsis))
IN_TURN = Kernel("numba", "ranges.in_turn")
_LARGE = 1 << 12  # elements of an array that is dropped after its last use
_CALLS = 100  # of functions of Python, in which a program takes so long that its frame may take memory of its own


class Built(NamedTuple):
    """A program that can be run.

    Attributes:
        source: its text.
        bind: takes the steady arrays, and returns a function of the arrays of inputs and of the other state, in order,
            which returns those of the outputs.
        nbytes: of the buffers that such a function holds.
        loops: lines on what is one loop, and what is not and why.
        warns: whether calls may warn of what is no number.
    """

    source: str
    bind: Callable[..., Callable[..., tuple[Any, ...]]]
    nbytes: int
    loops: list[str]
    warns: bool


class _Writer:
    """Writes the text of a program; `names` are what the text refers to."""

    def __init__(self, program: Program, foreign: Container[Variable]) -> None:
        self.program, self.foreign = program, foreign
        self.names: dict[str, Any] = {"GuardFailed": GuardFailed, "inf": float("inf"), "nan": float("nan")}
        self.of: dict[Variable, str] = {}
        self.taken = {"program", *dir(builtins), *keyword.kwlist, *self.names}
        self.functions: dict[Any, str] = {}
        self.prologue: list[str] = []
        self.plan = planned(program)
        written = [*self.plan.same.values(), *[v for e in program.instructions for v in e.writes]]
        self.written = {v.memory for v in written}
        self.fixed: set[Variable] = set()  # arrays that are the same ones at each call
        self.buffers: dict[Any, str] = {}
        self.wholes: dict[int, tuple[str, str]] = {}  # the first array on each memory of them, and its layout
        self.numbers: dict[Any, str] = {}
        self.count = 0  # of loops on small arrays
        self.waiting: list[tuple[str, set[int]]] = []  # such loops, and the memory that each writes to
        self.dense: set[Variable] = set()  # foreign arrays whose elements follow one another

    def text(self) -> str:
        program = self.program
        steady = [self.variable(v) for v in program.steady]
        given = [self.variable(v) for v in (*program.inputs, *program.state) if v not in program.steady]
        self.fixed.update(program.steady)
        last, lent = self._last_uses(), set(self.plan.same.values())
        lines, line = [], ""
        for place, each in enumerate(program.instructions):
            if self._stays(each):
                self.prologue += self.instruction(each)
                self.fixed.add(each.results)
                continue
            if not isinstance(each.function, SmallLoop):
                lines += self.flushed()
            made = self.instruction(each)
            if each.line != line and made:
                line = each.line
                lines.append(f"# {shown(line)}")
            lines += made
            gone = [self.of[v] for v in last.get(place, ()) if v not in self.fixed and v not in lent]
            if gone:
                lines += [*self.flushed(), f"del {', '.join(gone)}"]
        lines += self.flushed()
        lines.append(f"return {self.arguments(tuple(program.outputs))}")
        texts: list[tuple[str, Any]] = [
            (each.name, each.function) for each in program.instructions if each.kind == "loop"
        ]
        loops = {name: function.text for name, function in texts}
        written = "".join(f"# {name}, compiled:\n{commented(text)}\n" for name, text in loops.items())
        if not steady and not self.prologue:
            return written + f"def program({', '.join(given)}):\n" + "".join(f"    {each}\n" for each in lines)
        body = "".join(f"    {each}\n" for each in self.prologue)
        body += f"\n    def program({', '.join(given)}):\n" + "".join(f"        {each}\n" for each in lines)
        return f"{written}def bind({', '.join(steady)}):\n{body}\n    return program\n"

    def _stays(self, each: Instruction) -> bool:
        """Return whether an instruction is a view of arrays that are the same ones at each call."""
        made, given = each.results, variables((each.args, each.kwargs))
        if each.kind != "call" or each.writes or not isinstance(made, Variable):
            return False
        return all(v in self.fixed or v.value is not None for v in given) and any(
            v in self.fixed and v.memory == made.memory for v in given
        )

    def _last_uses(self) -> dict[int, list[Variable]]:
        """Return the large arrays that nothing needs after an instruction, by its place."""
        program = self.program
        stay = {v.memory for v in (*program.inputs, *program.state, *program.outputs)}
        last: dict[Variable, int] = {}
        large: set[Variable] = set()
        for place, each in enumerate(program.instructions):
            made = variables(each.results)
            for v, (shape, _) in zip(made, facts(each), strict=False):
                if math.prod(shape) >= _LARGE and v not in self.plan.of:
                    large.add(v)
            for v in (*variables((each.args, each.kwargs)), *made):
                last[v] = place
        found: dict[int, list[Variable]] = {}
        for v, place in last.items():
            if v in large and v.memory not in stay and v.value is None:
                found.setdefault(place, []).append(v)
        return found

    def variable(self, v: Variable) -> str:
        found = self.of.get(v)
        if found is None:
            hint = re.sub(r"\W+", "_", v.hint).strip("_").lower()
            name = hint if hint and not hint[0].isdigit() else f"v{v.number}"
            found = self.of[v] = self.free(name)
            if v.value is not None and v.shape and v.dtype.isbuiltin == 1 and not any(v.strides) and 0 not in v.shape:
                self.names["np"] = np
                one = f"np.{v.dtype.name}({v.value.flat[0].item()!r})"
                self.prologue.append(f"{found} = np.broadcast_to({one}, {self.arguments(v.shape)})")
            elif v.value is not None:
                self.names[found] = v.value
        return found

    def free(self, name: str) -> str:
        found, count = name, 2
        while found in self.taken:
            found, count = f"{name}_{count}", count + 1
        self.taken.add(found)
        return found

    def buffer(self, made: Buffer) -> str:
        """Return the name of an array that the program writes to."""
        found = self.buffers.get(made)
        if found is None:
            self.names["np"] = np
            kind, first = self.arguments(made.dtype), self.wholes.get(made.number)
            found = self.buffers[made] = self.free(f"b{made.number}")
            order = "" if made.order == "C" else f", order={made.order!r}"
            if first is None:
                self.wholes[made.number] = found, made.order
                self.prologue.append(f"{found} = np.empty({self.arguments(made.shape)}, {kind}{order})")
            else:
                whole = first[0] + ("" if first[1] == "C" else ".T")
                shape = made.shape if made.order == "C" else made.shape[::-1]
                view = f"{whole}.reshape({self.arguments(shape)})" + ("" if made.order == "C" else ".T")
                self.prologue.append(f"{found} = {view}")
        return found

    def instruction(self, each: Instruction) -> list[str]:
        made = each.results
        if each.kind in ("large", "loop"):
            return self.into_results(each)
        if isinstance(made, Variable) and made in self.plan.of:
            name = self.buffer(self.plan.of[made])
            call = self.into(each, name)
            self.of[made] = name
            self.fixed.add(made)
            return [call]
        if isinstance(made, Variable) and made in self.plan.same:
            self.of[made] = self.of[self.plan.same[made]]
            return [self.into(each, self.of[made])]
        if isinstance(each.function, np.ufunc) and each.kwargs.keys() == {"out"} and made is each.kwargs["out"]:
            return [self.into(each._replace(kwargs={}), self.variable(made))]
        call = self.short(each) or f"{self.function(each)}({self.call_arguments(each)})"
        if each.kind == "guard":
            return [f"if {call} != {self.arguments(each.expected)}: raise GuardFailed({message(each)!r})"]
        if made is None or made is each.kwargs.get("out"):
            return [call]
        if isinstance(made, Variable) and made.shape == () and made.memory in self.written:
            self.names["np"] = np
            call = f"np.asarray({call})"  # NumPy returns a number, which nothing can write to
        lines = [f"{self.target(made)} = {call}"]
        if each.kind == "checked":
            for v, (shape, _) in zip(variables(each.results), facts(each), strict=True):
                lines.append(f"if {self.of[v]}.shape != {shape}: raise GuardFailed({message(each)!r})")
        return lines

    def into(self, each: Instruction, name: str) -> str:
        """Return a call that writes its result to an array."""
        if isinstance(each.function, np.ufunc):
            last = (
                f"out={name}" if each.function in (np.maximum, np.minimum) else name
            )  # NumPy warns of a third argument
            return f"{self.function(each)}({', '.join([*map(self.operand(each), each.args), last])})"
        if is_method(each):
            first, *rest = map(self.arguments, each.args)
            return f"{first}.{each.name.removeprefix('np.')}({', '.join([*rest, name])})"
        return f"{self.function(each)}({self.call_arguments(each)}, out={name})"

    def operand(self, each: Instruction) -> Callable[[Any], str]:
        """Return a function that writes an operand of a ufunc: numbers as arrays, which take half the time."""
        kinds = {a.dtype for a in each.args if isinstance(a, Variable)}

        def text(value: Any) -> str:
            if type(value) not in (int, float) or len(kinds) != 1 or each.name in ("np.power", "np.ldexp"):
                return self.arguments(value)
            (kind,) = kinds
            if kind not in (np.float32, np.float64):
                return self.arguments(value)
            found = self.numbers.get((repr(value), kind))
            if found is None:
                found = self.numbers[repr(value), kind] = self.free(f"c{len(self.numbers)}")
                self.prologue.append(f"{found} = np.array({value!r}, np.{kind.name})")
                self.names["np"] = np
            return found

        return text

    def short(self, each: Instruction) -> str | None:
        """Return an operator, an index or an attribute in the place of a call."""
        args = each.args
        if each.name == "item":
            return f"{self.arguments(args[0])}[{self.index(args[1])}]"
        if each.name.startswith("attribute_"):
            return f"{self.arguments(args[0])}.{each.name.removeprefix('attribute_')}"
        if each.name.startswith("np.ndarray.") or is_method(each):
            rest = self.call_arguments(each._replace(args=args[1:]))
            return f"{self.arguments(args[0])}.{each.name.rpartition('.')[2]}({rest})"
        sign = SIGNS.get(each.name)
        if sign is None or each.kwargs or each.kind != "call":
            return None
        parts = [*map(self.operand(each) if isinstance(each.function, np.ufunc) else self.arguments, args)]
        parts = [f"({p})" if p[0] == "-" else p for p in parts]
        return f"{sign}{parts[0]}" if len(parts) == 1 else f"{parts[0]} {sign} {parts[1]}"

    def index(self, value: Any) -> str:
        if isinstance(value, tuple) and value:
            return ", ".join(map(self.index, value)) + ("," if len(value) == 1 else "")
        if type(value) is slice:
            parts = ["" if v is None else self.arguments(v) for v in (value.start, value.stop)]
            return ":".join([*parts, *([self.arguments(value.step)] if value.step is not None else [])])
        return self.arguments(value)

    def into_results(self, each: Instruction) -> list[str]:
        """Return the lines of a function that is given arrays for its results."""
        if each.kind == "large":
            made, lent = each.results, self.plan.same.get(each.results)
            room = self.plan.of.get(made)
            into = "" if room is None else f", into={self.buffer(room)}"
            into = f", into={self.of[lent]}" if lent is not None else into
            return [f"{self.variable(made)} = {self.function(each)}({self.call_arguments(each)}{into})"]
        lines, names = [], []
        for v in each.results:
            if v in each.writes:
                self.variable(v)
            elif v in self.plan.of:
                self.of[v] = self.buffer(self.plan.of[v])
                self.fixed.add(v)
            else:
                self.names["np"] = np
                lines.append(f"{self.variable(v)} = np.empty({self.arguments(v.shape)}, {self.arguments(v.dtype)})")
            names.append(self.of[v])
        if isinstance(each.function, SmallLoop):
            return [*lines, *self.small_loop(each, each.function)]
        return [*lines, f"{self.function(each)}({self.call_arguments(each)}, into=[{', '.join(names)}])"]

    def small_loop(self, each: Instruction, loop: SmallLoop) -> list[str]:
        """Return the lines before the call of a loop that knows its arrays, but for those that are others each time."""
        count = len(loop.places) - 1 - len(each.results)
        numbers = [loop.places[-1] + i for i in range(len(each.args) - count)]
        places = [*loop.places[:count], *numbers, *loop.places[count:-1]]
        name, block = self.free(f"loop{self.count}"), self.free(f"addresses{self.count}")
        self.count += 1
        given, lines = [], []
        for v, place in zip((*each.args, *each.results), places, strict=True):
            if not isinstance(v, Variable) or v.value is not None or v in self.fixed:
                given.append(self.arguments(v))
                continue
            given.append("None")
            if v in self.foreign and v not in self.dense:  # loops rely on it that elements follow one another
                kind = self.arguments(v.dtype)
                made = f"np.ascontiguousarray({self.of[v]})" if v.shape else f"np.asarray({self.of[v]}, {kind})"
                lines += [*self.flushed(v), f"{self.of[v]} = {made}"]
                self.names["np"] = np
                self.dense.update([v] if v.memory not in self.written else [])
            lines.append(f"{block}[{place}] = id({self.of[v]})")
        split = len(each.args)
        into = f"into=[{', '.join(given[split:])}]"
        call = f"{self.function(each)}({', '.join([*given[:split], into])})"
        self.prologue.append(f"{name}, {block} = {call}")
        self.waiting.append((name, {v.memory for v in each.results}))
        return lines

    def flushed(self, v: Variable | None = None) -> list[str]:
        """Return the line that calls the waiting loops; none if there are none, or none of them makes a variable.

        Args:
            v: the variable; None to call them in any case.
        """
        if not self.waiting or (v is not None and all(v.memory not in made for _, made in self.waiting)):
            return []
        names = [name for name, _ in self.waiting]
        self.waiting.clear()
        if len(names) == 1:
            return [f"{names[0]}()"]
        self.names["in_turn"] = loaded(IN_TURN)
        name = self.free(f"{names[0].replace('loop', 'loops')}_to_{names[-1].removeprefix('loop')}")
        self.prologue.append(f"{name} = in_turn({', '.join(names)})")
        return [f"{name}()"]

    def target(self, results: Any) -> str:
        if isinstance(results, Variable):
            return "_" if results in self.of else self.variable(results)  # a call may return what it was given
        if isinstance(results, list | tuple):
            return "(" + "".join(f"{self.target(r)}, " for r in results) + ")" if results else "()"
        return "_"

    def function(self, each: Instruction) -> str:
        if each.name.startswith("np.") and "ndarray" not in each.name:
            found: Any = np
            for part in each.name.split(".")[1:]:
                found = getattr(found, part, None)
            if found is not None and found == each.function:
                self.names["np"] = np
                return each.name
        known = self.functions.get(each.function) if hashable(each.function) else None
        if known is None:
            known = self.free(re.sub(r"\W+", "_", each.name.removeprefix("np.")) or "function")
            self.names[known] = each.function
            if hashable(each.function):
                self.functions[each.function] = known
        return known

    def call_arguments(self, each: Instruction) -> str:
        parts = [self.arguments(a) for a in each.args]
        parts += [f"{k}={self.arguments(a)}" for k, a in each.kwargs.items()]
        return ", ".join(parts)

    def arguments(self, value: Any) -> str:
        if isinstance(value, Variable):
            return self.variable(value)
        if type(value) in (int, str, bool, type(None)):
            return repr(value)
        if type(value) is float:
            return repr(value)
        if value is Ellipsis:
            return "..."
        if type(value) is slice:
            return f"slice({', '.join(self.arguments(v) for v in (value.start, value.stop, value.step))})"
        if type(value) is tuple:
            return "(" + "".join(f"{self.arguments(v)}, " for v in value) + ")"
        if type(value) is list:
            return f"[{', '.join(map(self.arguments, value))}]"
        if type(value) is dict:
            return "{" + ", ".join(f"{k!r}: {self.arguments(v)}" for k, v in value.items()) + "}"
        if isinstance(value, np.dtype) and value.isbuiltin == 1:
            self.names["np"] = np
            return f"np.{value.name}"
        kind = re.sub(r"\W+", "_", type(value).__name__.lower())  # of bfloat16 "dtype[bfloat16]"
        name = self.free(f"{kind.strip('_')}_value")
        self.names[name] = value
        return name


def build(program: Program, least: int = LARGE, foreign: Container[Variable] = ()) -> Built:
    """Return a program as text and as a function.

    Args:
        least: elements of arrays on which loops take the place of calls of NumPy's.
        foreign: arrays that may lie in memory in other ways than when they were recorded.
    """
    program = with_large_forms(fused(program, least))
    if least < LARGE:
        program = with_small_forms(program)
    writer = _Writer(program, foreign)
    source = writer.text()
    names = writer.names
    exec(compile(source, "<compiled program>", "exec"), names)
    bind = names.get("bind") or (lambda: names["program"])
    if sum(hasattr(each.function, "__code__") for each in program.instructions) >= _CALLS:
        bind = with_room(bind)
    return Built(source, bind, writer.plan.nbytes, described(program), any(map(may_warn, program.instructions)))
