"""Pickles read without running code: an interpreter of opcodes that calls what a table allows, and nothing else."""

from __future__ import annotations

import pickle
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Mapping
from pickle import decode_long
from struct import Struct
from typing import Any, NoReturn

from ..core.tensor import Tensor
from .tree import BadFileError

# What Python 2 called modules and functions: pickles of protocol 2 still do.
_MOVED = {"__builtin__": "builtins", "copy_reg": "copyreg", "numpy.core.multiarray": "numpy._core.multiarray"}
_MAPPINGS = (dict, OrderedDict, Counter, defaultdict)


class UnsafeFileError(BadFileError, pickle.UnpicklingError):
    """A pickle that wants a function or a class which is not allowed."""


def full_name(module: str, name: str) -> str:
    """The name with its module, as Python 3 has them."""
    return f"{_MOVED.get(module, module)}.{name}"


def refuse_global(name: str) -> NoReturn:
    shown = name.removeprefix("builtins.")
    raise UnsafeFileError(
        "Weights only load failed. This file can still be loaded if you trust its source: "
        f"Unsupported global: GLOBAL {shown} was not an allowed global by default. Please use "
        f"`torch.serialization.add_safe_globals([{shown}])` or the `torch.serialization.safe_globals([{shown}])` "
        "context manager to allowlist this global if you trust this class/function. gradpack calls nothing else that "
        "a file names, with weights_only=False either."
    )


class Unpickler:
    """Reads one object from a pickle.

    Args:
        read: `read` of a file.
        readline: `readline` of it.
        size: bytes of the file: no text in it is longer.
        allowed: what the names of modules and names with a dot between stand for.
        extra: the same for what the user allowed: instances of these classes may be given a state.
        builds: how objects of classes that are not the user's are given a state.
        persistent_load: the object that an identifier of the writer's stands for.
    """

    def __init__(
        self,
        read: Callable[[int], bytes],
        readline: Callable[[], bytes],
        size: int,
        allowed: Mapping[str, Any],
        extra: Mapping[str, Any],
        builds: Mapping[type, Callable[[Any, Any], None]],
        persistent_load: Callable[[Any], Any] | None = None,
    ) -> None:
        self._read, self._readline, self._size = read, readline, size
        self._allowed, self._extra, self._builds, self._persistent = allowed, extra, builds, persistent_load
        self._callable = {id(value) for value in (*allowed.values(), *extra.values())}
        self._theirs = {id(value) for value in extra.values()}
        self.stack: list[Any] = []
        self._below: list[list[Any]] = []  # stacks under the marks
        self._memo: dict[int, Any] = {}

    def load(self) -> Any:
        """Return the object.

        Raises:
            UnsafeFileError: where the pickle names what is not allowed.
            BadFileError: where it is damaged.
        """
        try:
            while True:
                code = self.take(1)
                if code == b".":
                    return self.stack.pop()
                action = _ACTIONS.get(code)
                if action is None:
                    raise BadFileError(f"load(): the pickle in the file has an operation {code!r} that is not known")
                action(self)
        except (BadFileError, MemoryError):
            raise
        except _DAMAGE as error:
            raise BadFileError(f"load(): the pickle in the file is damaged: {type(error).__name__}: {error}") from None

    def take(self, count: int) -> bytes:
        if count > self._size:
            raise BadFileError("load(): the pickle in the file names more bytes than the file has")
        found = self._read(count)
        if len(found) != count:
            raise BadFileError("load(): the pickle in the file ends too early")
        return found

    def line(self) -> str:
        text = self._readline()
        if text[-1:] != b"\n":
            raise BadFileError("load(): the pickle in the file ends too early")
        return text[:-1].decode("utf-8")

    def items(self) -> list[Any]:
        """The values since the last mark."""
        found, self.stack = self.stack, self._below.pop()
        return found

    def mark(self) -> None:
        self._below.append(self.stack)
        self.stack = []

    def put(self, index: int) -> None:
        self._memo[index] = self.stack[-1]

    def get(self, index: int) -> None:
        self.stack.append(self._memo[index])

    def memoize(self) -> None:
        self._memo[len(self._memo)] = self.stack[-1]

    def find(self, module: str, name: str) -> None:
        full = full_name(module, name)
        table = self._allowed if full in self._allowed else self._extra
        if full not in table:
            refuse_global(full)
        self.stack.append(table[full])

    def stack_global(self) -> None:
        name, module = self.stack.pop(), self.stack.pop()
        if type(name) is not str or type(module) is not str:
            raise BadFileError("load(): the pickle in the file names a global that is no text")
        self.find(module, name)

    def reduce(self) -> None:
        args, function = self.stack.pop(), self.stack[-1]
        if type(args) is not tuple or id(function) not in self._callable or not callable(function):
            raise UnsafeFileError(f"load(): the file wants to call {_shown(function)}, which is not allowed")
        self.stack[-1] = function(*args)

    def new(self, keywords: bool = False) -> None:
        named = self.stack.pop() if keywords else {}
        args, kind = self.stack.pop(), self.stack.pop()
        if id(kind) not in self._callable or not isinstance(kind, type):
            raise UnsafeFileError(f"load(): the file wants to make a {_shown(kind)}, which is not allowed")
        self.stack.append(kind.__new__(kind, *args, **named) if id(kind) in self._theirs else kind(*args, **named))

    def build(self) -> None:
        state, made = self.stack.pop(), self.stack[-1]
        found = next((build for kind, build in self._builds.items() if isinstance(made, kind)), None)
        if id(type(made)) not in self._theirs:
            if found is None:
                raise UnsafeFileError(f"load(): the file wants to change a {_shown(type(made))}, which is not allowed")
            found(made, state)
        elif hasattr(made, "__setstate__"):
            made.__setstate__(state)
        else:
            plain, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
            _set(made, plain or {})
            for name, value in (slots or {}).items():
                setattr(made, name, value)

    def append(self, items: list[Any]) -> None:
        self._last(list).extend(items)

    def add(self, items: list[Any]) -> None:
        self._last(set).update(items)

    def assign(self, items: list[Any]) -> None:
        made = self._last(_MAPPINGS)
        for i in range(0, len(items), 2):
            made[items[i]] = items[i + 1]

    def _last(self, kinds: Any) -> Any:
        made = self.stack[-1]
        kinds = kinds if isinstance(kinds, tuple) else (kinds,)
        if type(made) not in kinds and not (id(type(made)) in self._theirs and isinstance(made, kinds)):
            raise BadFileError(f"load(): the pickle in the file adds items to a {type(made).__name__}")
        return made

    def persistent(self) -> None:
        key = self.stack.pop()
        if self._persistent is None or type(key) is not tuple or not key or _text(key[0]) != "storage":
            raise UnsafeFileError("load(): the file names an object outside of its pickle that is no storage")
        self.stack.append(self._persistent(key))


def _set(made: Any, state: dict[str, Any]) -> None:
    if any(type(name) is not str for name in state):
        raise BadFileError("load(): the pickle in the file has an attribute whose name is no text")
    vars(made).update(state)


def _text(value: Any) -> Any:
    return value.decode("ascii", "replace") if isinstance(value, bytes) else value


def _shown(value: Any) -> str:
    if isinstance(value, Tensor):
        return "a Tensor"
    name = getattr(value, "__qualname__", None)
    return type(value).__name__ if name is None else f"{getattr(value, '__module__', '')}.{name}"


# Errors of working through a pickle that was not written whole, or by another program.
_DAMAGE = (
    ArithmeticError, AssertionError, AttributeError, EOFError, ImportError, LookupError, RecursionError, RuntimeError,
    TypeError, ValueError,
)  # fmt: skip


def _number(form: str) -> Callable[[Unpickler], Any]:
    unpack, size = Struct(form).unpack, Struct(form).size
    return lambda u: unpack(u.take(size))[0]


_byte, _short, _word, _long = map(_number, ("<B", "<H", "<I", "<Q"))


def _pushed(value: Callable[[Unpickler], Any]) -> Callable[[Unpickler], None]:
    return lambda u: u.stack.append(value(u))


def _string(size: Callable[[Unpickler], int]) -> Callable[[Unpickler], None]:
    return _pushed(lambda u: str(u.take(size(u)), "utf-8", "surrogatepass"))


def _bytes(size: Callable[[Unpickler], int]) -> Callable[[Unpickler], None]:
    return _pushed(lambda u: u.take(size(u)))


def _python2_string(size: Callable[[Unpickler], int]) -> Callable[[Unpickler], None]:
    """Strings of Python 2 are text where they can be."""
    return _pushed(lambda u: u.take(size(u)).decode("utf-8"))


def _tuple(count: int) -> Callable[[Unpickler], None]:
    def made(u: Unpickler) -> None:
        if len(u.stack) < count:
            raise IndexError("a tuple of more values than there are")
        u.stack[-count:] = [tuple(u.stack[-count:])]

    return made


def _collected(kind: Callable[[list[Any]], Any]) -> Callable[[Unpickler], None]:
    def made(u: Unpickler) -> None:
        found = kind(u.items())
        u.stack.append(found)

    return made


def _two(u: Unpickler) -> list[Any]:
    value, key = u.stack.pop(), u.stack.pop()
    return [key, value]


_ACTIONS: dict[bytes, Callable[[Unpickler], Any]] = {
    pickle.PROTO: _byte,
    pickle.FRAME: _long,
    pickle.MARK: Unpickler.mark,
    pickle.POP: lambda u: u.stack.pop() if u.stack else u.items(),
    pickle.POP_MARK: Unpickler.items,
    pickle.DUP: lambda u: u.stack.append(u.stack[-1]),
    pickle.NONE: _pushed(lambda u: None),
    pickle.NEWTRUE: _pushed(lambda u: True),
    pickle.NEWFALSE: _pushed(lambda u: False),
    pickle.BININT: _pushed(_number("<i")),
    pickle.BININT1: _pushed(_byte),
    pickle.BININT2: _pushed(_short),
    pickle.LONG1: _pushed(lambda u: decode_long(u.take(_byte(u)))),
    pickle.LONG4: _pushed(lambda u: decode_long(u.take(_word(u)))),
    pickle.BINFLOAT: _pushed(_number(">d")),
    pickle.BINUNICODE: _string(_word),
    pickle.SHORT_BINUNICODE: _string(_byte),
    pickle.BINUNICODE8: _string(_long),
    pickle.BINSTRING: _python2_string(_word),
    pickle.SHORT_BINSTRING: _python2_string(_byte),
    pickle.BINBYTES: _bytes(_word),
    pickle.SHORT_BINBYTES: _bytes(_byte),
    pickle.BINBYTES8: _bytes(_long),
    pickle.BYTEARRAY8: _pushed(lambda u: bytearray(u.take(_long(u)))),
    pickle.EMPTY_LIST: _pushed(lambda u: []),
    pickle.EMPTY_TUPLE: _pushed(lambda u: ()),
    pickle.EMPTY_DICT: _pushed(lambda u: {}),
    pickle.EMPTY_SET: _pushed(lambda u: set()),
    pickle.LIST: _collected(list),
    pickle.TUPLE: _collected(tuple),
    pickle.TUPLE1: _tuple(1),
    pickle.TUPLE2: _tuple(2),
    pickle.TUPLE3: _tuple(3),
    pickle.FROZENSET: _collected(frozenset),
    pickle.APPEND: lambda u: u.append([u.stack.pop()]),
    pickle.APPENDS: lambda u: u.append(u.items()),
    pickle.ADDITEMS: lambda u: u.add(u.items()),
    pickle.SETITEM: lambda u: u.assign(_two(u)),
    pickle.SETITEMS: lambda u: u.assign(u.items()),
    pickle.BINPUT: lambda u: u.put(_byte(u)),
    pickle.LONG_BINPUT: lambda u: u.put(_word(u)),
    pickle.MEMOIZE: Unpickler.memoize,
    pickle.BINGET: lambda u: u.get(_byte(u)),
    pickle.LONG_BINGET: lambda u: u.get(_word(u)),
    pickle.GLOBAL: lambda u: u.find(u.line(), u.line()),
    pickle.STACK_GLOBAL: Unpickler.stack_global,
    pickle.REDUCE: Unpickler.reduce,
    pickle.NEWOBJ: Unpickler.new,
    pickle.NEWOBJ_EX: lambda u: u.new(True),
    pickle.BUILD: Unpickler.build,
    pickle.BINPERSID: Unpickler.persistent,
}
