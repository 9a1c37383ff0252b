"""Numbers that a function asks a tensor for and only returns, or appends to a list: `return loss.item()`.

No code looks at such a number, so that it need not be the same at each call. Whether that is so is read from the
instructions behind the call that gave it: the number may only be put into new lists, tuples and dicts, and be returned,
or be appended to a list with which code does nothing else.
"""

from __future__ import annotations

import dis
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

from ..base.tree import tree_unflatten
from ..core.tensor import Tensor
from .program import Variable
from .trees import flattened


class Number:
    """Stands for a number of a tensor in results, while a function is recorded.

    Attributes:
        variable: the array of one element that it is asked of.
        value: what it is now.
    """

    __slots__ = ("value", "variable")

    def __init__(self, variable: Variable, value: Any) -> None:
        self.variable, self.value = variable, value


def with_values(result: Any) -> Any:
    """Return results with numbers in the place of what stands for them."""
    leaves, shape = flattened(result)
    if not any(type(leaf) is Number for leaf in leaves):
        return result
    return tree_unflatten([leaf.value if type(leaf) is Number else leaf for leaf in leaves], shape)


Names = tuple[tuple[str, Any], ...]  # how code reads a value: a variable, and attributes and items of it
_LOOKS = frozenset({"locals", "vars", "dir", "eval", "exec"})  # functions that may look at all local variables
_ELSEWHERE: tuple[bool | None, Names] = False, ()
_SESSION = f"{__package__}.session"  # the module that calls the function
_LIFTING = f"{__package__}.python.lifting"  # one whose functions return what they get


def caller_of_float(frame: Any) -> Any:
    """Return the frame that called `float` on the tensor of which a frame asks for the number, or None."""
    for _ in range(3):
        if frame is not None and frame.f_code is Tensor.__float__.__code__:
            return frame.f_back
        frame = frame and frame.f_back
    return None


def is_returned(frame: Any, lists: dict[int, Any]) -> bool:
    """Return whether what a frame is about to get from a call is what the function returns, or a part of it.

    Args:
        lists: of which the items that are appended are results, too.
    """
    while frame is not None and (module := frame.f_globals.get("__name__")) != _SESSION:
        if module != _LIFTING:
            is_result, names = _destination(frame.f_code, frame.f_lasti)
            if names and id(_value(frame, names)) not in lists:
                return False
            if not is_result:
                return is_result is None
        frame = frame.f_back
    return frame is not None


def _value(frame: Any, names: Names) -> Any:
    """Return what code reads by a name, its attributes and items of these, at a moment."""
    found: Any = None
    for way, name in names:
        if way == "[]":
            found = found[name] if type(found) in (dict, list) else None
        elif way == "LOAD_ATTR":
            found = getattr(found, "__dict__", {}).get(name)
        else:
            found = frame.f_locals[name] if name in frame.f_locals else frame.f_globals.get(name)
    return found


@cache
def _destination(code: Any, place: int) -> tuple[bool | None, Names]:
    """Return whether the result of the call at a place of code is returned, and how code reads what it is appended to.

    They are False and empty if something else is done with it, and None if nothing holds it in the end.
    """
    if code.co_flags & 0x2A0 or not _LOOKS.isdisjoint(code.co_names):  # a generator or coroutine
        return _ELSEWHERE
    steps = list(dis.get_instructions(code))
    appended: Names = ()
    held = _Held(steps)
    first = place
    for k, each in enumerate(steps):
        if each.offset <= first or each.offset < place or each.opname in _NOTHING:
            continue  # a jump has led on
        if each.opname == "RETURN_VALUE":
            return held.is_on_top() or None, appended
        if each.opname == "JUMP_FORWARD":
            place = each.argval
        elif each.opname == "CALL" and each.arg == 1 and held.is_on_top() and not appended:
            appended = _appended_to(steps[:k])
            held.pop(3)
            held.stack.append(False)
            if not appended:
                return _ELSEWHERE
        else:
            only_moves = held.follow(each)
            if only_moves is not True:
                return (None, appended) if only_moves is None else _ELSEWHERE
    return _ELSEWHERE


class _Held:
    """Where the number is, while code runs on from the call that gave it.

    Attributes:
        stack: of what lies on the stack from there on, whether it is, or holds, the number.
        names: of local variables that hold it.
        loads: how often code reads each local variable, but for the reads until now of those that hold it.
    """

    def __init__(self, steps: list[dis.Instruction]) -> None:
        self.stack, self.names = [True], set[str]()
        self.loads = Counter(name for step in steps if "LOAD_FAST" in step.opname for name in _names_in(step))

    def is_on_top(self) -> bool:
        return bool(self.stack and self.stack[-1])

    def pop(self, count: int) -> list[bool]:
        """Take entries from the stack; below of what is known lie others."""
        if len(self.stack) < count:
            self.stack[:0] = [False] * (count - len(self.stack))
        taken = self.stack[len(self.stack) - count :]
        del self.stack[len(self.stack) - count :]
        return taken

    def follow(self, step: dis.Instruction) -> bool | None:
        """Take a step; return whether it only moves the number, if anything, and None if no later one can have it."""
        name, stack = step.opname, self.stack
        if name.startswith("LOAD_FAST"):
            for each in _names_in(step):
                stack.append(each in self.names)
                self.loads[each] -= stack[-1]
        elif name == "STORE_FAST":
            (self.names.add if self.pop(1)[0] else self.names.discard)(step.argval)
        elif name in ("SWAP", "COPY"):
            parts = self.pop(step.arg or 0)
            stack += parts + parts[:1] if name == "COPY" else [parts[-1], *parts[1:-1], parts[0]]
        elif name in _BUILDS:
            stack.append(any(self.pop(_BUILDS[name](step.arg))))
        elif name == "POP_TOP":
            self.pop(1)
        else:
            count = _POPS[name](step.arg) if name in _POPS else 0 if name.startswith(("LOAD_", "PUSH_NULL")) else None
            if count is None and not any(stack) and not any(self.loads[held] for held in self.names):
                return None
            if count is None or any(self.pop(count)):
                return False
            made = 1 if name == "CALL" else dis.stack_effect(step.opcode, step.arg, jump=False) + count
            stack += [False] * made
        return True


def _names_in(step: dis.Instruction) -> tuple[str, ...]:
    """Return the names of local variables in a step; there may be several from Python 3.13 on."""
    return step.argval if isinstance(step.argval, tuple) else (step.argval,)


def _appended_to(steps: list[dis.Instruction]) -> Names:
    """Return how code that ends with the one argument of `append` reads what has this method; () for others."""
    missing = 1
    while steps and steps[-1].opname in _NOTHING:  # what prepares the call
        steps.pop()
    while steps and missing > 0:
        step = steps.pop()
        if "JUMP" in step.opname:
            return ()
        missing -= dis.stack_effect(step.opcode, step.arg)
    steps = [step for step in steps if step.opname not in _NOTHING]
    method = steps.pop() if steps else None
    if method is None or method.opname not in ("LOAD_METHOD", "LOAD_ATTR") or method.argval != "append":
        return ()
    found: list[tuple[str, Any]] = []
    while steps:
        step = steps.pop()
        if step.opname == "LOAD_ATTR":
            found.append((step.opname, step.argval))
        elif step.opname.startswith("BINARY_") and steps and steps[-1].opname in ("LOAD_CONST", "LOAD_SMALL_INT"):
            found.append(("[]", steps.pop().argval))
        elif step.opname.startswith("LOAD_") and isinstance(step.argval, str):
            return (step.opname, step.argval), *reversed(found)
        else:
            break
    return ()


_NOTHING = frozenset({"CACHE", "NOP", "RESUME", "PRECALL", "KW_NAMES", "EXTENDED_ARG", "COPY_FREE_VARS", "NOT_TAKEN"})
_BUILDS: dict[str, Callable[[Any], int]] = {
    "BUILD_TUPLE": lambda n: n, "BUILD_LIST": lambda n: n, "BUILD_MAP": lambda n: 2 * n,
    "BUILD_CONST_KEY_MAP": lambda n: n + 1,
}  # fmt: skip
_POPS: dict[str, Callable[[Any], int]] = {
    "LOAD_ATTR": lambda n: 1, "LOAD_METHOD": lambda n: 1, "CALL": lambda n: n + 2, "BINARY_OP": lambda n: 2,
    "BINARY_SUBSCR": lambda n: 2, "COMPARE_OP": lambda n: 2, "UNARY_NEGATIVE": lambda n: 1,
}  # fmt: skip
