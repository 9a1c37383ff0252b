"""Loops over elements as several loops over strips of them, where functions are called on what functions return.

A processor begins with the next elements while the steps of some wait for each other, but not many steps ahead: `exp`
of `exp` takes one and a half times as long as both in loops of their own, and three take twice as long. So each such
call begins a loop of its own. The loops take turns on strips that stay in the first-level cache, with their values.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ...kernels.dispatch import STRIP

_MOST = 32  # values that loops pass on: 64 KB of the stack
_DEAR = re.compile(r"(exp|exp2|expm1|log|log1p|tanh|sin|cos)\(")
_NAME = re.compile(r"[A-Za-z_]\w*")
_ELEMENT = re.compile(r"(\w+)\[((?:_r, )?)_i\]")


class Stage(NamedTuple):
    """One of the loops.

    Attributes:
        read: the lines that read what it needs.
        lines: its steps.
        places: of the steps among all.
        write: the lines that write its results, and what later ones need.
    """

    read: list[str]
    lines: list[str]
    places: list[int]
    write: list[str]


class Strips(NamedTuple):
    """The loops, and what is there before them.

    Attributes:
        kept: the lines that make room for values that loops pass on.
        parts: those that take the strips of the arrays.
    """

    stages: list[Stage]
    kept: list[str]
    parts: list[str]


def strips(lines: list[str], tests: set[str], read: list[str], write: list[str]) -> Strips | None:
    """Return the loops that steps become; None where one loop is as fast.

    Args:
        lines: the steps, `name = expression` each.
        tests: the names that are true or false.
        read: the lines that read an element of an array each, `name = array[_i]` or `name = array[_r, _i]`.
        write: those that write one.
    """
    sources = dict(line.split(" = ") for line in read)
    made = [line.split(" = ", 1) for line in lines]
    stage_of = _stages(sources, made)
    if not any(stage_of.values()):
        return None
    count = max(stage_of.values()) + 1
    written = {line.partition("[")[0]: stage_of.get(line.rpartition(" = ")[2], count - 1) for line in write}
    until = {name: written.get(source.partition("[")[0], count - 1) for name, source in sources.items()}
    stages = [Stage([], [], [], []) for _ in range(count)]
    passed: dict[str, str] = {}
    for place, (name, expression) in enumerate(made):
        at = stage_of[name]
        stages[at].lines.append(lines[place])
        stages[at].places.append(place)
        _pass_on(stages, stage_of, sources, until, tests, passed, expression, at)
    for line in write:
        name = line.rpartition(" = ")[2]
        at = stage_of.get(name, count - 1)
        _pass_on(stages, stage_of, sources, until, tests, passed, name, at)
        stages[at].write.append(line)
    for name, room in passed.items():
        stages[stage_of[name]].write.append(f"{room}[_i] = {name}")
    if len(passed) > _MOST:
        return None
    parts: dict[str, str] = {}
    for stage in stages:
        for group in (stage.read, stage.write):
            group[:] = [_ELEMENT.sub(lambda m: _part(m, passed, parts), line) for line in group]
    kept = [f"{room} = carray(strip(), ({STRIP},), float32)" for room in passed.values()]
    return Strips(stages, kept, [f"{part} = {source}" for part, source in parts.items()])


def _stages(sources: dict[str, str], made: list[list[str]]) -> dict[str, int]:
    """Return in which loop each value is made, from 0 on: that of a dear step begins where its operands were dear."""
    depth = dict.fromkeys(sources, 0)  # how many dear steps a value waits for
    found = dict.fromkeys(sources, 0)
    for name, expression in made:
        before = max((depth.get(n, 0) for n in _NAME.findall(expression)), default=0)
        is_dear = _DEAR.match(expression) is not None
        depth[name] = before + is_dear
        found[name] = max(depth[name] - 1, 0)
    return found


def _pass_on(
    stages: list[Stage], stage_of: dict[str, int], sources: dict[str, str], until: dict[str, int], tests: set[str],
    passed: dict[str, str], text: str, at: int,
) -> None:  # fmt: skip
    """Let a loop read what a text names that an earlier loop has read or made.

    Args:
        until: the loop that writes to the array of a name that is read: later ones get what the first has read.
    """
    for name in dict.fromkeys(_NAME.findall(text)):
        if name not in stage_of:
            continue
        if name in sources and at <= until[name]:
            _read(stages[at], f"{name} = {sources[name]}")
        elif stage_of[name] < at:
            room = passed.setdefault(name, f"kept{len(passed)}")
            _read(stages[at], f"{name} = {room}[_i]" + (" != 0" if name in tests else ""))
            if name in sources:
                _read(stages[0], f"{name} = {sources[name]}")


def _read(stage: Stage, line: str) -> None:
    if line not in stage.read:
        stage.read.append(line)


def _part(match: re.Match[str], passed: dict[str, str], parts: dict[str, str]) -> str:
    """Return an element of a strip, and note which array the strip is of."""
    array, row = match[1], match[2]
    if array in passed.values():
        return match[0]
    parts[f"{array}_part"] = f"{array}[{'_r' if row else ''}][_low : _low + _count]".replace("[]", "")
    return f"{array}_part[_i]"
