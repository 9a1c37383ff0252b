"""Numbers that a function asks a tensor for and only returns: `return loss.item()`, `return float(loss)`.

No code looks at such a number, so that it need not be the same at each call. Whether that is so is read from the
instructions behind the call that gave it: the number may only be put into new lists, tuples and dicts, and be returned.
"""

from __future__ import annotations

import dis
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


_SESSION = f"{__package__}.session"  # the module that calls the function
_LIFTING = f"{__package__}.python.lifting"  # one whose functions return what they get


def caller_of_float(frame: Any) -> Any:
    """Return the frame that called `float` on the tensor of which a frame asks for the number, or None."""
    for _ in range(3):
        if frame is not None and frame.f_code is Tensor.__float__.__code__:
            return frame.f_back
        frame = frame and frame.f_back
    return None


def is_returned(frame: Any) -> bool:
    """Return whether what a frame is about to get from a call is what the function returns, or a part of it."""
    while frame is not None and (module := frame.f_globals.get("__name__")) != _SESSION:
        if module != _LIFTING and not _returns(frame.f_code, frame.f_lasti):
            return False
        frame = frame.f_back
    return frame is not None


@cache
def _returns(code: Any, place: int) -> bool:
    """Return whether the result of the call at a place of code is nothing but returned."""
    if code.co_flags & 0x2A0:  # a generator or coroutine
        return False
    behind = [i for i in dis.get_instructions(code) if i.offset > place]
    stack = [True]  # what lies on the stack from the result on: whether it is, or holds, the number
    names: set[str] = set()  # of local variables that hold it
    for each in behind:
        name = each.opname
        if each.offset < place:
            continue  # a jump has led on
        if name == "RETURN_VALUE":
            return bool(stack and stack[-1])
        if name == "JUMP_FORWARD":
            place = each.argval
            continue
        if name in _NOTHING:
            continue
        if name.startswith("LOAD_FAST") and isinstance(each.argval, str):
            stack.append(each.argval in names)
        elif name == "STORE_FAST":
            (names.add if _pop(stack, 1)[0] else names.discard)(each.argval)
        elif name in ("SWAP", "COPY"):
            parts = _pop(stack, each.arg or 0)
            stack += parts + parts[:1] if name == "COPY" else [parts[-1], *parts[1:-1], parts[0]]
        elif name in _BUILDS:
            stack.append(any(_pop(stack, _BUILDS[name](each.arg))))
        elif name == "POP_TOP":
            _pop(stack, 1)
        else:
            count = _POPS[name](each.arg) if name in _POPS else 0 if name.startswith(("LOAD_", "PUSH_NULL")) else None
            if count is None or any(_pop(stack, count)):
                return False
            made = 1 if name == "CALL" else dis.stack_effect(each.opcode, each.arg, jump=False) + count
            stack += [False] * made
    return False


def _pop(stack: list[bool], count: int) -> list[bool]:
    """Take entries from the stack; below of what is known lie others."""
    if len(stack) < count:
        stack[:0] = [False] * (count - len(stack))
    taken = stack[len(stack) - count :]
    del stack[len(stack) - count :]
    return taken


_NOTHING = frozenset({"CACHE", "NOP", "RESUME", "PRECALL", "KW_NAMES", "EXTENDED_ARG", "COPY_FREE_VARS", "NOT_TAKEN"})
_BUILDS: dict[str, Callable[[Any], int]] = {
    "BUILD_TUPLE": lambda n: n, "BUILD_LIST": lambda n: n, "BUILD_MAP": lambda n: 2 * n,
    "BUILD_CONST_KEY_MAP": lambda n: n + 1,
}  # fmt: skip
_POPS: dict[str, Callable[[Any], int]] = {
    "LOAD_ATTR": lambda n: 1, "LOAD_METHOD": lambda n: 1, "CALL": lambda n: n + 2, "BINARY_OP": lambda n: 2,
    "BINARY_SUBSCR": lambda n: 2, "COMPARE_OP": lambda n: 2, "UNARY_NEGATIVE": lambda n: 1,
}  # fmt: skip
