"""One call of a program as text: what has to hold, its run, and what it leaves behind in tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import accumulate, count
from operator import mul
from typing import Any

from ..backends import NUMPY
from ..backends.memory_layout import _array_type
from ..backends.numpy import hushed, unhush
from ..base import dtypes
from ..base.devices import _DEFAULTS, CPU
from ..base.modes import MODE, TRANSFORMS
from ..base.settings import FILLING
from ..base.tree import TreeSpec, tree_unflatten
from ..core.tensor import InferenceCounter, Tensor
from ..graph.node import AccumulateGrad
from ..nn._module.global_hooks import PRESENT
from ..optim._step_hooks import after_every_step, before_every_step
from .arguments import MISSED, is_elsewhere, is_known, same_leaf, settings_of, taken_apart
from .emit import Built
from .facts import TENSOR, Kept, Result, Source, array_of, facts_of, grad_of, is_steady, kin_of, memory_of, own_of
from .freed import freed_edge
from .program import GuardFailed, failed

_NEW = object.__new__


class Turn:
    """Runs a program on tensors, and gives them what it leaves behind.

    Attributes:
        holds: a function of the tensors among the arguments: True only if the facts of tensors are as they were.
        run: a function of these that runs the program, and returns what the function would; raises `GuardFailed`.
        call: a function of the arguments, in a tuple, and of those by keyword, in a dict, that does both; None for
            arguments in containers that it does not know.
        left: an item for each call before the program gets loops on small arrays; None if it gets none, or has them.
        before: a program without loops on small arrays, where this is the same with them.
    """

    def __init__(self, built: Built, nodes: Any, before: Kept | None = None) -> None:
        self.built, self.nodes, self.before = built, nodes, before
        self.left: Iterator[int] | None = None
        self._steady: list[tuple[Tensor, Any]] | None = None
        self.holds: Callable[[list[Tensor]], bool]
        self.run: Callable[[list[Tensor]], Any]
        self.call: Callable[[tuple[Any, ...], dict[str, Any]], Any] | None = None

    def is_bound(self) -> bool:
        """Return whether tensors have the arrays that the program was bound to."""
        return self._steady is not None and all(t._data is a for t, a in self._steady)

    def unbind(self) -> None:
        """Forget the functions, which are made anew, without a count of calls."""
        self._steady = self.call = self.left = None

    def bind(self, kept: Kept, around: Any, missed: Callable[[str], None]) -> None:
        """Make the functions for tensors that have the arrays that they have now.

        Args:
            around: calls the program on a list of arrays, for tensors, and takes back what it did if a guard fails;
                None if that cannot be.
            missed: is told why a guard of the program failed.
        """
        tensors: list[Any] = [s.tensor for s in kept.sources if is_steady(s)]
        self._steady = [(t, t._data) for t in tensors]
        text = _Text(kept)
        program = self.built.bind(*kept.steady())
        text.names |= {"program": program, "around": around, "nodes": self.nodes, "missed": missed, "left": self.left}
        tests, run = text.tests(), [*text.run(around is not None, self.built.warns), *text.finish()]
        body = "".join(f"    {line}\n" for line in run)
        written = text.holds(tests) + f"def run(inputs):\n{text.head()}{body}"
        if is_known(kept.tree):
            written += text.call(tests, run if self.left is None else [*_COUNT, *run])
        exec(written, text.names)
        self.holds, self.run, self.call = text.names["holds"], text.names["run"], text.names.get("call")


def moving_facts(kept: Kept, owners: set[int]) -> Callable[[list[Tensor]], bool]:
    """Return a function that compares the facts of tensors but for the arrays and edges of those that are captured.

    Args:
        owners: the memory of these; the same object later.
    """
    text = _Text(kept, owners)
    exec(text.holds(text.tests()), text.names)
    found: Callable[[list[Tensor]], bool] = text.names["holds"]
    return found


_CONTEXT = (
    "mode = MODE.get()",
    "if mode is not known[0]:",
    "    if settings_of(mode) != settings: return MISSED",
    "    known[0] = mode",
    "if TRANSFORMS.get() or dtypes._default is not default or FILLING[0] is not filling: return MISSED",
    "if (devices := DEVICES.get()) and is_elsewhere(devices): return MISSED",
    "if HOOKS or BEFORE or AFTER: return MISSED",
)


_COUNT = ("for _ in left: break", "else: return MISSED")  # when none is left, the program gets its loops


class _Text:
    """Writes the lines; `names` are what they refer to. The tensors among the arguments are x0, x1, ...

    Args:
        owners: the memory of captured tensors, whose arrays and edges are compared elsewhere; None: they are here.
    """

    def __init__(self, kept: Kept, owners: set[int] | None = None) -> None:
        self.kept, self.facts, self.owners = kept, kept.facts, owners
        self.sources, self.written, self.grads = kept.sources, kept.written, kept.grads
        facts = zip(self.sources, self.facts.facts, strict=True)
        without = {s.place for s in self.facts.without if s.tensor is None}
        self.plain = {s.place for s, f in facts if s.place in without and not s.grad and f[3] is None}  # no leaves
        self.made_of: dict[int, str] = {}  # names of tensors, by their outputs
        self.names: dict[str, Any] = {
            "Leaf": AccumulateGrad, "facts_of": facts_of, "grad_of": grad_of, "kin_of": kin_of, "own_of": own_of,
            "memory_of": memory_of, "ended": failed, "hushed": hushed, "unhush": unhush,
            "GuardFailed": GuardFailed, "MISSED": MISSED, "Tensor": Tensor, "InferenceCounter": InferenceCounter,
            "new": _NEW, "array_type": _array_type,
            "freed_edge": freed_edge, "set_grad": _set_grad, "unflatten": tree_unflatten, "same_leaf": same_leaf,
        }  # fmt: skip

    def name(self, kind: str, value: Any) -> str:
        """Return a name for a value, which no variable of the text has."""
        found = f"{kind}_{len(self.names)}"
        self.names[found] = value
        return found

    def tensor(self, source: Source) -> str:
        """Return the text of a tensor."""
        found = f"x{source.place}" if source.tensor is None else self._captured(source.tensor)
        if not source.grad:
            return found
        return f"{self._edge(source)}.grad" if self._edge(source) else f"grad_of({found})"

    def _captured(self, tensor: Tensor) -> str:
        found = f"t{id(tensor)}"
        self.names[found] = tensor
        return found

    def _edge(self, source: Source) -> str:
        """Return the name of the edge of a captured leaf, which is the same one at each call; "" for others."""
        edge = None if source.tensor is None else source.tensor._edge
        if type(edge) is not AccumulateGrad:
            return ""
        self.names[f"e{id(edge)}"] = edge
        return f"e{id(edge)}"

    # -- what has to hold --

    def head(self) -> str:
        """Return the line that gives arguments their names."""
        names = "".join(f"x{i}, " for i in range(sum(leaf is TENSOR for leaf in self.kept.leaves)))
        return f"    {names}= inputs\n" if names else ""

    def holds(self, tests: list[str]) -> str:
        return f"def holds(inputs):\n{self.head()}    return {' and '.join(tests) or 'True'}\n"

    def tests(self) -> list[str]:
        tests = []
        for source, facts, used in zip(self.sources, self.facts.facts, self.facts.used, strict=True):
            found, edge = self.tensor(source), self._edge(source)
            if source.tensor is None and not source.grad:
                tests += self._of_argument(found, source, facts)
            elif not source.grad:
                if self.owners is None:
                    tests.append(f"{found}._data is {self.name('a', source.now([])._data)}")
                    tests.append(f"{found}._edge is {edge or self.name('k', source.tensor._edge)}")  # type: ignore[union-attr]
                tests += [f"{edge}.extras is None"] if edge and facts[4] is not None else []
            elif used or not edge:
                tests.append(f"facts_of({found}) == {self.name('f', facts)}")
            else:
                tests.append(f"{found} is not None")
        tests += [f"{self.tensor(source)} is None" for source in self.facts.without if self._has_own(source)]
        tests += [f"x{i} is {self._captured(tensor)}" for i, tensor in self.facts.passed]
        tests += [f"x{i} is x{j}" for i, j in self.facts.twice]
        return tests + self._kin()

    def _has_own(self, source: Source) -> bool:
        """Return whether neither the walk nor the test of attributes sees the gradient of a tensor."""
        return bool(self._edge(source)) if source.tensor is not None else source.place not in self.plain

    def _of_argument(self, x: str, source: Source, facts: Any) -> list[str]:
        shape, strides, spec, kind, hooked, writeable, own, inference = facts
        edge = {
            None: f"{x}._edge is None",
            True: f"type({x}._edge) is Leaf" + ("" if hooked is None else f" and {x}._edge.extras is None"),
            False: f"{x}._edge is not None and type({x}._edge) is not Leaf",
        }[kind]
        given = f"own_of({x}) == {self.name('o', own)}"
        if source.place in self.plain:
            given = f"({given} and {x}._own_grad is None)"
        array = f"(d{source.place} := {x}._data)"
        layout = f"{array}.strides == {strides} and d{source.place}.flags.writeable is {writeable}"
        if writeable and 1 not in shape and strides == _of_rows(shape, spec.native.itemsize):
            layout = f"{array}.flags.carray"  # which is aligned besides
        return [
            f"{x}._shape == {shape}", f"{x}._spec is {self.name('s', spec)}", edge, layout,
            given if own else f"(not {x}.__dict__ or {given})",
            f"type({x}._counter) is {'' if inference else 'not '}InferenceCounter",
        ]  # fmt: skip

    def _kin(self) -> list[str]:
        """Return tests of which tensors are one, or share memory: those that may be others at each call."""
        pairs = enumerate(zip(self.sources, self.facts.used, strict=True))
        moving = [i for i, (s, used) in pairs if not is_steady(s) and (used or not s.grad)]
        if any(i in moving or first in moving for i, *firsts in self.facts.kin for first in firsts):
            sources, kin = self.name("l", self.sources), self.name("k", self.facts.kin)
            inputs = "".join(f"x{i}, " for i in range(sum(leaf is TENSOR for leaf in self.kept.leaves)))
            return [f"kin_of({sources}, ({inputs})) == {kin}"]
        tests, found = [], []
        steady, may_be = self.owners, self.owners is not None
        if steady is None:
            steady = {memory_of(s.now([])._data) for s in self.sources if is_steady(s)}
        for i in moving:
            source = self.sources[i]
            array, name = (f"(d := {self.tensor(source)}._data)", "d") if source.grad else [f"d{source.place}"] * 2
            found.append(f"m{i}")
            memory = f"m{i} := id({name}) if {array}.base is None else memory_of({name})"
            tests.append(f"({memory}) not in {self.name('r', steady)}" if steady or may_be else f"({memory})")
        if len(found) == 2:
            tests.append(f"{found[0]} != {found[1]}")
        elif found[1:]:
            tests.append(f"len({{{', '.join(found)}}}) == {len(found)}")
        return tests

    # -- the run, and what follows --

    def run(self, around: bool, warns: bool = True) -> list[str]:
        arrays = [
            f"{self.tensor(s)}._data"
            for s, used in zip(self.sources, self.facts.used, strict=True)
            if used and not is_steady(s)
        ]
        if around:
            inputs = "".join(f"x{i}, " for i in range(sum(leaf is TENSOR for leaf in self.kept.leaves)))
            return [f"outputs = around(program, [{', '.join(arrays)}], ({inputs}))"]
        if not warns:
            return [
                f"try: outputs = program({', '.join(arrays)})", "except Exception as error: raise ended(error)"
            ]  # fmt: skip
        return [
            "for token in hushed:", "    try:", f"        outputs = program({', '.join(arrays)})",
            "    except Exception as error:", "        raise ended(error)",
            "    finally:", "        unhush(token)", "    break",
        ]  # fmt: skip

    def finish(self) -> list[str]:
        """Return lines that count the versions of what was written to, set gradients, and return the results."""
        kept = self.kept
        lines = [f"{''.join(f'o{i}, ' for i in range(len(kept.program.outputs)))}= outputs"]
        lines = lines if kept.program.outputs else []
        lines += [self.counted(source, count) for source, count in self.written]
        lines += [f"x{place}.requires_grad_()" for place in kept.required]
        for number, (source, output) in enumerate(self.grads):
            new = "None"
            if output is not None:
                new = f"g{number}"
                lines += self.made(new, output)
            edge = self._edge(source)
            lines.append(f"{edge}.grad = {new}" if edge else f"set_grad({self.tensor(source)}, {new})")
        results, roots = self._results(lines)
        if roots:
            edges = "".join(f"{roots[i]}._edge, " for i in range(len(roots)))
            inputs = "".join(f"x{i}, " for i in range(sum(leaf is TENSOR for leaf in kept.leaves)))
            checked = [c for c, *_ in kept.backward.checks if isinstance(c, int)]
            tensors = ", ".join(f"{c}: {self.made_of[c]}" for c in checked)
            lines.append(f"{edges} = nodes(outputs, ({inputs}), {{{tensors}}})")
        return [*lines, f"return {self.nested(results, kept.shape)}"]

    def counted(self, source: Source, count: int) -> str:
        """Return a line that counts writes to a tensor."""
        return f"{self.tensor(source)}._counter[0] += {count}"

    def made(self, name: str, output: int) -> list[str]:
        """Return lines that make a tensor around an output."""
        v = self.kept.program.outputs[output]
        spec = self.name("s", NUMPY.spec_for(NUMPY.dtype_of(v.dtype), CPU))
        counter, self.made_of[output] = self.kept.counters[output], name
        lines = [
            f"{name} = new(Tensor)", f"{name}._data = o{output}", f"{name}._spec = {spec}",
            f"{name}._shape = {v.shape}", f"{name}._edge = {name}._view = None",
            f"{name}._counter = {self.counter(counter)}",
        ]  # fmt: skip
        if not v.shape:  # NumPy's reductions return numbers
            self.names["asarray"] = array_of
            lines[1] = f"{name}._data = o{output} if type(o{output}) is array_type else asarray(o{output})"
        return lines

    def counter(self, of: Any) -> str:
        """Return the text of the version counter of an output."""
        if isinstance(of, Source):
            return f"{self.tensor(of)}._counter"
        if not isinstance(of, int):
            return f"{self.made_of[of[0]]}._counter"
        return "InferenceCounter([0])" if of < 0 else f"[{of}]"

    def _results(self, lines: list[str]) -> tuple[list[str], dict[int, str]]:
        """Append the lines that make results; return their names, and those of results that require grad, by number."""
        results: list[str] = []
        roots: dict[int, str] = {}
        same: dict[int, str] = {}  # what a function returns twice is one tensor
        for i, each in enumerate(self.kept.results):
            if type(each) is not Result:
                results.append(self.name("k", each))
            elif each.source >= 0:
                found = self.sources[each.source]
                results.append(self.tensor(found._replace(grad=True) if each.requires_grad else found))
            elif each.is_number:
                self.names["number"] = NUMPY.number
                results.append(f"number(asarray(o{each.output}))")
                self.names["asarray"] = array_of
            else:
                if each.output not in same:
                    name = same[each.output] = f"r{i}"
                    lines += self.made(name, each.output)
                    if each.root >= 0:
                        roots[each.root] = name
                    if each.is_leaf:
                        lines.append(f"{name}.requires_grad_()")
                    elif each.requires_grad:
                        lines.append(f"{name}._edge = freed_edge()")
                results.append(same[each.output])
        return results, roots

    def nested(self, results: list[str], shape: TreeSpec) -> str:
        """Return the text of nested results."""
        if shape.type is None:
            return results[0]
        if shape.type not in (tuple, list):
            return f"unflatten([{', '.join(results)}], {self.name('n', shape)})"
        parts, first = [], 0
        for child in shape._children:
            parts.append(self.nested(results[first : first + child.num_leaves], child))
            first += child.num_leaves
        return f"[{', '.join(parts)}]" if shape.type is list else f"({''.join(f'{part}, ' for part in parts)})"

    # -- all of a call --

    def call(self, tests: list[str], run: list[str]) -> str:
        """Return the text of a function of the arguments of a call."""
        kept = self.kept
        settings, default, filling = kept.context
        self.names |= {
            "MODE": MODE, "TRANSFORMS": TRANSFORMS, "DEVICES": _DEFAULTS, "HOOKS": PRESENT,
            "is_elsewhere": is_elsewhere, "BEFORE": before_every_step, "AFTER": after_every_step,
            "dtypes": dtypes, "FILLING": FILLING, "known": [None], "settings_of": settings_of, "settings": settings,
            "default": default, "filling": filling,
            "unchanged": kept.walk.check(),
        }  # fmt: skip
        number, leaves = count(), enumerate(kept.leaves)
        names = iter([f"x{next(number)}" if leaf is TENSOR else f"y{i}" for i, leaf in leaves])
        lines = [*_CONTEXT]
        for name, tree in zip(("args", "named"), kept.tree._children, strict=True):
            lines += taken_apart(name, tree, names, "", self.name)
        kinds = {kind: "Tensor" if kind is Tensor else self.name("q", kind) for kind in set(kept.kinds)}
        first = [f"type(x{i}) is {kinds[kind]}" for i, kind in enumerate(kept.kinds)]
        first += [
            f"(y{i} is {k} or same_leaf(y{i}, {k}))"
            for i, leaf in enumerate(kept.leaves)
            if leaf is not TENSOR
            for k in (self.name("k", leaf),)
        ]
        lines.append(f"if not ({' and '.join([*first, *tests, 'unchanged()'])}): return MISSED")
        lines += ["try:", *(f"    {line}" for line in run)]
        lines += ["except GuardFailed as failed:", "    missed(str(failed))", "    return MISSED"]
        return "def call(args, named):\n" + "".join(f"    {line}\n" for line in lines)


def _of_rows(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Return the strides of an array that is laid out row by row."""
    return tuple(accumulate(reversed(shape), mul, initial=itemsize))[-2::-1] if shape else ()


def _set_grad(tensor: Any, grad: Tensor | None) -> None:
    if type(tensor._edge) is AccumulateGrad:
        tensor._edge.grad = grad
    else:
        tensor._own_grad = grad
