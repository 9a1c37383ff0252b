"""Python numbers among arguments that are others at each call: `step(x, epoch)`.

Where the third one comes, numbers are given to the function's program as tensors of one element. While the function is
recorded, it gets what stands for a number: arithmetic with it becomes a part of the program, a comparison is a check of
its outcome, and whatever needs the number itself, as `range` or `math.sqrt`, is a check of the number.
"""

from __future__ import annotations

import gc
import operator
from collections.abc import Callable
from time import perf_counter_ns
from types import CellType
from typing import Any
from weakref import ref

import numpy as np

from ...base.tree import tree_leaves, tree_map
from ...core.tensor import Tensor
from ...ops.create.convert import result_type
from ..facts import tensor_of
from ..recording import RECORDERS, current
from .lifting import Wrapper, function_of

_BEFORE, _ROUNDS = 32, 15  # calls before the first that is timed, and those that are, of a program and of the function
_FAR = 4  # if each call of the function takes so many times as long, two calls say enough
_LESS = 1.03  # to what runs a program belongs a look at numbers
LARGEST = 1 << 24  # of integers that are given as tensors
_KEEPS = "it keeps a number that it is given"
_EXACT = 1 << 53  # of those that are float64, too
Place = int | str  # of an argument: its position or name


class ChangingNumber:
    """Stands for a number while a function is recorded.

    Attributes:
        value: what it is now.
        tensor: the same, in float64 or int64.
        bound: no smaller than the absolute value of an integer can be.
    """

    __slots__ = ("__weakref__", "bound", "tensor", "value")
    made: list[ref[ChangingNumber]] = []  # noqa: RUF012 - those of the recording

    def __init__(self, value: Any, tensor: Any, bound: int = LARGEST) -> None:
        self.value, self.tensor, self.bound = value, tensor, bound
        self.made.append(ref(self))

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(self.value)

    def number(self) -> Any:
        """Return the number, which has to be the same at each call."""
        return type(self.value)(self.tensor.item())

    def __getattr__(self, name: str) -> Any:
        if not hasattr(self.value, name):
            raise AttributeError(f"'{type(self.value).__name__}' object has no attribute '{name}'")
        return getattr(self.number(), name)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        array = np.array(self.number())
        return {"data": array.tobytes(), "shape": (), "typestr": array.dtype.str, "version": 3}

    def __reduce__(self) -> Any:
        return type(self.value), (self.number(),)

    def __bool__(self) -> bool:
        return bool(self.tensor != 0)

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call an operation on tensors, or with the number itself."""
        tensors = [a for a in args if isinstance(a, Tensor)]
        if function.__name__ in _ELEMENTWISE and not kwargs and len(args) == 2 and len(tensors) == 1:
            (number,) = [a for a in args if type(a) is ChangingNumber]
            wanted = _dtype_of(tensors[0], number)
            if wanted is not None:
                return function(*[number.tensor.to(wanted) if a is number else a for a in args])
        return function(*tree_map(_number_of, list(args)), **tree_map(_number_of, kwargs or {}))


_ELEMENTWISE = frozenset(
    f"{name}{place}" for name in "add sub subtract mul multiply div divide true_divide lt le gt ge eq ne".split()
    for place in ("", "_")
)  # fmt: skip
_DTYPES = frozenset({"float32", "float64", "int32", "int64"})


def _dtype_of(tensor: Tensor, number: ChangingNumber) -> Any:
    """Return the dtype in which an operation takes a number; None for those with digits of their own."""
    found = result_type(tensor, number.value)
    return found if str(found).rpartition(".")[2] in _DTYPES else None


def _number_of(value: Any) -> Any:
    return value.number() if type(value) is ChangingNumber else value


# -- arithmetic: the tensors compute what Python computes, to the bit --


def _computed(function: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """Return what a function of two numbers gives, of which one at least changes."""
    if not all(type(each) is ChangingNumber or type(each) in (int, float) for each in (a, b)):
        return function(_number_of(a), _number_of(b))
    values = [each.value if type(each) is ChangingNumber else each for each in (a, b)]
    value = function(*values)  # it may raise an error
    bounds = [_bound_of(each) for each in (a, b)]
    kinds = {type(each) for each in values}
    if function not in _RULES or (int in kinds and max(bounds) > _EXACT) or not _is_defined(function, a, b, kinds):
        return function(_number_of(a), _number_of(b))
    as_floats = type(value) is float
    tensor = function(*[_tensor_of(each, as_floats) for each in (a, b)])
    if function is operator.pow and not tensor.isfinite():
        return function(_number_of(a), _number_of(b))
    return ChangingNumber(value, tensor, _RULES[function](*bounds))


_RULES: dict[Callable[[Any, Any], Any], Callable[[int, int], int]] = {
    operator.add: operator.add, operator.sub: operator.add, operator.mul: operator.mul,
    operator.truediv: max, operator.pow: max,
}  # fmt: skip


def _is_defined(function: Any, a: Any, b: Any, kinds: set[type]) -> bool:
    """Return whether tensors give what Python gives, and no error, wherever the checks hold that this makes."""
    if function is operator.truediv and type(b) is ChangingNumber:
        return bool(b.tensor != 0)
    if function is operator.pow:
        return kinds != {int} and (bool(a.tensor > 0) if type(a) is ChangingNumber else a > 0)
    return True


def _bound_of(number: Any) -> int:
    if type(number) is ChangingNumber:
        return number.bound
    return abs(number) if type(number) is int else 0


def _tensor_of(number: Any, as_floats: bool) -> Any:
    if type(number) is not ChangingNumber:
        return float(number) if as_floats else number
    return number.tensor.double() if as_floats else number.tensor


def _arithmetic(function: Callable[[Any, Any], Any], reflected: bool) -> Any:
    def apply(self: Any, other: Any) -> Any:
        if isinstance(other, Tensor):
            return NotImplemented
        return _computed(function, other, self) if reflected else _computed(function, self, other)

    return apply


def _comparison(function: Callable[[Any, Any], Any]) -> Any:
    def apply(self: Any, other: Any) -> Any:
        if isinstance(other, Tensor):
            return NotImplemented
        is_number = type(other) is ChangingNumber or type(other) in (int, float)
        if not is_number or max(self.bound, _bound_of(other)) > _EXACT:
            return function(self.number(), _number_of(other))
        as_floats = float in (type(self.value), type(other.value if type(other) is ChangingNumber else other))
        return bool(function(_tensor_of(self, as_floats), _tensor_of(other, as_floats)))

    return apply


def _by_number(function: Callable[..., Any]) -> Any:
    return lambda self, *args: function(self.number(), *map(_number_of, args))


for _name in ("add", "sub", "mul", "truediv", "pow", "floordiv", "mod"):
    setattr(ChangingNumber, f"__{_name}__", _arithmetic(getattr(operator, _name), False))
    setattr(ChangingNumber, f"__r{_name}__", _arithmetic(getattr(operator, _name), True))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(ChangingNumber, f"__{_name}__", _comparison(getattr(operator, _name)))
for _name in ("and", "or", "xor", "lshift", "rshift"):
    setattr(ChangingNumber, f"__{_name}__", _arithmetic(getattr(operator, f"__{_name}__"), False))
    setattr(ChangingNumber, f"__r{_name}__", _arithmetic(getattr(operator, f"__{_name}__"), True))
_BY_NUMBER: dict[str, Callable[..., Any]] = {
    "float": float, "int": int, "index": operator.index, "complex": complex, "hash": hash, "str": str, "repr": repr,
    "format": format, "round": round, "trunc": int, "divmod": divmod, "invert": operator.invert,
}  # fmt: skip
for _name, _function in _BY_NUMBER.items():
    setattr(ChangingNumber, f"__{_name}__", _by_number(_function))


def _negative(self: ChangingNumber) -> ChangingNumber:
    return ChangingNumber(-self.value, -self.tensor, self.bound)


def _absolute(self: ChangingNumber) -> ChangingNumber:
    return ChangingNumber(abs(self.value), self.tensor.abs(), self.bound)


for _name, _function in {"neg": _negative, "pos": lambda self: self, "abs": _absolute}.items():
    setattr(ChangingNumber, f"__{_name}__", _function)


# -- functions --


class TakesTensors(Wrapper):
    """A function, some numbers of which are given as tensors.

    Attributes:
        kinds: the classes of these numbers, by the position or name of the argument.
    """

    def __init__(self, function: Callable[..., Any], kinds: dict[Place, type]) -> None:
        self.function, self.kinds = function, kinds
        self.__wrapped__ = function  # for messages that name a line

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        recorder = current()
        if recorder is None:
            args, kwargs = self._with(lambda tensor, _: tensor.item(), args, kwargs)
            return self.function(*args, **kwargs)
        ChangingNumber.made = made = list[ref[ChangingNumber]]()
        args, kwargs = self._with(_changing, args, kwargs)
        result = self.function(*args, **kwargs)
        if any(type(leaf) is ChangingNumber for leaf in tree_leaves(result)):
            result = tree_map(_number_of, result)
        del args, kwargs
        kept = [number for each in made if (number := each()) is not None]
        if kept:
            recorder.refuse(_KEEPS)
            for each in kept:
                _replace_everywhere(each, each.value)
        return result

    def with_tensors(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return arguments with tensors in the place of the numbers; None if others are given there."""
        try:
            return self._with(_tensor_of_number, args, kwargs)
        except (TypeError, LookupError):
            return None

    def _with(self, change: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        found, named = [*args], {**kwargs}
        for place, kind in self.kinds.items():
            arguments: Any = named if isinstance(place, str) else found
            arguments[place] = change(arguments[place], kind)
        return tuple(found), named


def _changing(tensor: Any, _: type) -> ChangingNumber:
    return ChangingNumber(getattr(tensor._data, "_array", tensor._data).item(), tensor)


def _tensor_of_number(number: Any, kind: Any) -> Tensor:
    if type(number) is not kind or (kind is int and abs(number) >= LARGEST):
        raise TypeError
    return tensor_of(np.array(number))


def _replace_everywhere(old: Any, new: Any) -> None:
    """Put a value in the place of another one wherever that is kept, in tuples, too."""
    for holder in gc.get_referrers(old):  # no cell of this function is one: nothing in it is a closure
        if isinstance(holder, CellType):
            holder.cell_contents = new
            continue
        if isinstance(holder, tuple):
            _replace_everywhere(
                holder, tuple.__new__(type(holder), list(map({id(old): new}.get, map(id, holder), holder)))
            )
            continue
        values: Any = holder if isinstance(holder, dict | list) else getattr(holder, "__dict__", {})
        for key, value in list(values.items() if isinstance(values, dict) else enumerate(values)):
            if value is old:
                values[key] = new


class ByTensors:
    """Calls what takes tensors in the place of a compiled function.

    At first the function runs in turns with it: where arithmetic with numbers is most of what a program does, Python
    takes less time.
    """

    def __init__(self, compiled: Any, taking: TakesTensors, inner: Any) -> None:
        self._compiled, self._taking, self._inner = ref(compiled), taking, inner
        self._calls, self._times = 0, (list[int](), list[int]())  # of the program, and of the function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self._inner._turns or current() is not None:  # there is no program yet
            return self.run(*args, **kwargs)
        self._calls += 1
        is_eager, before = self._calls % 2, perf_counter_ns()
        result = self._taking.function(*args, **kwargs) if is_eager else self.run(*args, **kwargs)
        took = perf_counter_ns() - before
        if self._calls > _BEFORE:
            self._times[is_eager].append(took)
            program, eager = self._times
            is_far = len(program) > 1 and len(eager) > 1 and min(eager) > _FAR * max(program)
            if is_far or min(len(program), len(eager)) == _ROUNDS:
                self._decide()
        return result

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Run the program, or let the compiled function go on by itself if there can be none."""
        compiled: Any = self._compiled()
        inner, function = self._inner, self._taking.function
        if kwargs:
            args, kwargs = compiled.by_position(args, kwargs)
        given = None if RECORDERS and current() is not None else self._taking.with_tensors(args, kwargs)
        if given is None:
            return function(*args, **kwargs)
        result = inner(*given[0], **given[1])
        compiled.kept = inner.kept
        if inner.stopped is not None and (compiled.fullgraph or not inner.kept):
            compiled.kept, compiled.numbers = [], None
            compiled.call_instead(None)
            if compiled.fullgraph and not inner.stopped.startswith(_KEEPS):
                compiled._refuse(inner.stopped)  # raises an error
        return result

    def _decide(self) -> None:
        compiled: Any = self._compiled()
        if compiled.numbers is None:
            return
        program, eager = (sorted(times)[len(times) // 4] for times in self._times)
        compiled.call_by(self._taking.function if eager * _LESS < program else self.run)
        if eager * _LESS < program:
            compiled.numbers.reason = (
                f"the function runs: it took {eager / 1000:.1f} us, and its program {program / 1000:.1f} us"
            )


class NumberArguments:
    """The numbers among the arguments of recorded calls.

    Attributes:
        taken: the positions and names of those that are given as tensors.
        reason: why no program runs, if the function takes less time.
    """

    def __init__(self) -> None:
        self._seen: list[dict[Place, Any]] = []
        self.taken: list[Place] = []
        self.reason = ""

    def taking_tensors(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> TakesTensors | None:
        """Return a function that takes tensors for numbers that are others in the third call; None before."""
        every: list[tuple[Place, Any]] = [*enumerate(args), *kwargs.items()]
        given = {place: each for place, each in every if type(each) in (int, float)}
        self._seen.append(given)
        if len(self._seen) < 3 or any(each.keys() != given.keys() for each in self._seen[-3:]):
            return None
        columns = {place: [each[place] for each in self._seen[-3:]] for place in given}
        kinds = {
            place: type(column[0]) for place, column in columns.items() if len(set(map(repr, column))) == len(column)
        }
        is_one = all(type(each) is kinds[place] for place in kinds for each in columns[place])
        return TakesTensors(function, kinds) if kinds and is_one else None


def give_numbers_as_tensors(compiled: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Let tensors stand for numbers that are others at each call of a compiled function, from the next call on."""
    function = function_of(compiled.function)
    if compiled.numbers is None or type(function) is TakesTensors or type(compiled) not in compiled.kinds:
        return
    taking = compiled.numbers.taking_tensors(function, args, kwargs)
    if taking is not None:
        inner = compiled.kinds[0](taking, False, *compiled.extra)
        inner.calls, inner.limit, inner.at_once = 1, compiled.limit, compiled.at_once
        compiled.numbers.taken, compiled.misses = [*taking.kinds], []
        compiled.call_by(ByTensors(compiled, taking, inner))
