"""Tensors with a batch dimension that the function that sees them does not: the levels of `vmap`.

A batched tensor has the shape of one example. Its array is a `BatchedData`: the tensor of all
examples, batch dimension first, as it is one level further out. An operation asks the innermost
level to process it, which takes that tensor out, runs the rule of the operation (`rule_table`), and
puts the result in again. So autograd records, and tangents travel, where there are no levels any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from textwrap import indent
from typing import TYPE_CHECKING, Any

from ...backends import Spec
from ...backends.base import Backend, register_backend
from ...base.devices import device
from ...base.dtypes import dtype
from ...base.exits import Exit
from ...base.modes import MODE, TRANSFORMS, Mode, using
from ...core.tensor import Tensor, alias
from ..op import REGISTRY
from .errors import NO_BRANCH, NO_ITEM, NO_STORAGE, NO_VALUE

if TYPE_CHECKING:
    from .level import VmapLevel

_ESCAPED = (
    "Either your tensor may have escaped from inside a function being vmapped and this is a user error (see "
    "https://pytorch.org/functorch/stable/ux_limitations.html), or it is used by another vmap than the one that "
    "batched it: return it from that function instead of keeping it"
)


class BatchedData:
    """The `_data` of a batched tensor: the tensor of all examples, batch dimension first, and its `vmap` level.

    Attributes:
        source: the tensor that the user gave and its batch dimension (`in_dims`), where that is not the first; or None.
        same: whether all examples have the same value and differ in their tangents only.
    """

    __slots__ = ("level", "same", "source", "value")

    def __init__(self, value: Tensor, level: VmapLevel, source: tuple[Tensor, int] | None = None) -> None:
        self.value, self.level, self.source, self.same = value, level, source, False

    @property
    def place(self) -> int:
        """The dimension of the examples, as the user sees it."""
        return 0 if self.source is None else self.source[1]

    @property
    def given(self) -> Tensor:
        """The tensor of all examples, as the user gave it: to look at, without the history of `value`."""
        return self.value if self.source is None else self.source[0]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value._shape[1:]

    @property
    def dtype(self) -> Any:
        return self.value._spec.native

    @property
    def example(self) -> Any:
        """The array of the first example, to ask for strides and flags."""
        data = self.value._data
        data = data.example if type(data) is BatchedData else data
        return data[0] if data.shape[0] else data.sum(0)

    @property
    def root(self) -> Any:
        """The array of all examples of all levels."""
        data = self.value._data
        return data.root if type(data) is BatchedData else data

    @property
    def strides(self) -> tuple[int, ...]:
        strides: tuple[int, ...] = self.example.strides
        return strides

    @property
    def flags(self) -> Any:
        return self.example.flags

    @property
    def itemsize(self) -> int:
        return self.value._spec.dtype.itemsize

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(NO_STORAGE)

    def __getattr__(self, name: str) -> Any:
        if name in ("__array_struct__", "__array_namespace__"):
            raise AttributeError(name)
        if name == "base":
            raise NotImplementedError("Cannot access storage of BatchedTensorImpl")
        raise RuntimeError(NO_STORAGE)


class BatchedBackend(Backend):
    """The array backend of batched tensors. Running bodies on them raises; values are read if all examples agree."""

    name = "batched"
    array_types = (BatchedData,)
    aliasing = False

    def native_of(self, d: dtype) -> Any:
        from ...backends.numpy import NATIVE

        return NATIVE[d]

    def dtype_of(self, native: Any) -> dtype:
        from ...backends.numpy import DTYPE

        return DTYPE[native]

    def device_of(self, array: Any) -> device:
        found: device = array.value._spec.device
        return found

    def bind(self, function: Callable[..., Any]) -> Callable[..., Any]:
        raise RuntimeError(_ESCAPED)

    def to_numpy(self, array: Any) -> Any:
        found = _value(array, NO_STORAGE)
        return found._spec.backend.to_numpy(found._data)

    def cast(self, array: Any, d: dtype) -> Any:
        raise RuntimeError(_ESCAPED)

    def asarray(self, value: Any, d: dtype, where: device) -> Any:
        from ...backends.numpy import NUMPY

        return NUMPY.asarray(value, d, where)

    def number(self, array: Any) -> Any:
        return _value(array, NO_ITEM).item()

    def truth(self, array: Any) -> bool:
        return bool(_value(array, NO_BRANCH))

    def root(self, array: Any) -> Any:
        return array.root

    def detached(self, tensor: Any) -> Any:
        data = tensor._data
        return with_same(batched(data.value.detach(), data.level, data.source), [data.same])

    def follow(self, tensor: Any, wanted: bool) -> bool:
        value = tensor._data.value
        value.requires_grad = wanted
        tensor._edge = value._edge
        return True

    def text(self, tensor: Any) -> str | None:
        data = tensor._data
        with outside():
            inner = indent(repr(data.given), "    ")
        return f"BatchedTensor(lvl={data.level.number}, bdim={data.place}, value=\n{inner}\n)"

    copy = to_numpy


def _value(data: BatchedData, refusal: str) -> Tensor:
    return value_of_all(data, refusal)


BATCHED = BatchedBackend()
register_backend(BATCHED)


def batched(value: Tensor, level: VmapLevel, source: tuple[Tensor, int] | None = None) -> Tensor:
    """Wrap a tensor of all examples as a batched tensor, which hides the batch dimension."""
    out: Tensor = alias(
        BatchedData(value, level, source), _SPECS.get(value._spec) or _spec(value._spec), value._shape[1:]
    )
    out._counter = value._counter
    if TRANSFORMS.get():
        out._edge = value._current_edge()
    return out


def with_same(made: Tensor, flags: Iterable[bool]) -> Tensor:
    """Set `BatchedData.same` of the levels of a batched tensor, the innermost first, and return the tensor."""
    data = made._data
    for flag in flags:
        data.same, data = flag, data.value._data
    return made


def cut(value: Tensor, tangent: bool = False) -> Tensor:
    """Detach a tensor and keep its tangent; the tangent is detached too if `tangent` is true."""
    if is_batched(value):
        data = value._data
        return with_same(batched(cut(data.value, tangent), data.level, data.source), [data.same])
    made: Tensor = alias(value._data, value._spec, value._shape)
    made._counter = value._counter
    if value._tangents is not None:
        made._tangents = cut(value._tangents, True) if tangent else value._tangents
    return made


_SPECS: dict[Spec, Spec] = {}  # of the tensors of all examples -> of batched ones


def _spec(spec: Spec) -> Spec:
    found = _SPECS.get(spec)
    if found is None:
        found = _SPECS[spec] = spec if spec.backend is BATCHED else BATCHED.spec_for(spec.dtype, spec.device)
    return found


def is_batched(value: Any) -> bool:
    return isinstance(value, Tensor) and type(value._data) is BatchedData


def is_batched_now(value: Any) -> bool:
    """Return whether a tensor is batched by a level that is still active."""
    return is_batched(value) and value._data.level in MODE.get().levels


def below(mode: Mode) -> Mode:
    """The mode without its innermost level, made once."""
    found = mode.below
    if found is None:
        found = mode.below = mode.replace(levels=mode.levels[:-1])
    return found


class outside:  # noqa: N801 - reads as a keyword
    """Context manager that leaves the innermost `vmap` level for its block."""

    __slots__ = ("mode",)

    def __enter__(self) -> None:
        self.mode = mode = MODE.get()
        try:
            MODE.set(below(mode))
        except BaseException:  # an interrupt
            MODE.set(mode)
            raise

    __exit__ = Exit(lambda self: self.mode, lambda self, mode: MODE.set(mode))


def expanded(value: Tensor, size: int) -> Tensor:
    """Expand an unbatched tensor by a batch dimension of `size` in front."""
    result: Tensor = REGISTRY["expand"].public(value, (size, *value._shape))
    return result


def all_examples(value: Tensor, level: VmapLevel) -> Tensor:
    """The tensor of all examples, batch dimension first; called outside the level."""
    found: Tensor = value._data.value if level.has(value) else expanded(value, level.size)
    return found


def bottom(value: Tensor, levels: tuple[VmapLevel, ...], inner: tuple[VmapLevel, ...] = ()) -> Tensor:
    """Unwrap the batch dimensions of `levels`: they become the first dimensions, outermost first.

    `levels` start at the outermost; `inner` are the remaining active levels, which stay batched.
    """
    if inner:
        top = inner[-1]
        if not top.has(value):
            return bottom(value, levels, inner[:-1])
        found = bottom(value._data.value, levels, inner[:-1])
        n = len(levels)
        with using(levels=inner[:-1]):
            return batched(REGISTRY["permute"].public(found, (n, *range(n), *range(n + 1, found.ndim))), top)
    for place in reversed(range(len(levels))):
        if levels[place].has(value):
            value = value._data.value
        else:
            with using(levels=levels[:place]):
                value = expanded(value, levels[place].size)
    return value


def lifted(
    value: Tensor, levels: tuple[VmapLevel, ...], inner: tuple[VmapLevel, ...] = (), same: Iterable[bool] = ()
) -> Tensor:
    """The inverse of `bottom`. `same` are the flags that `same_of` returns for `levels`, False by default."""
    if inner:
        top = inner[-1]
        if not top.has(value):
            return lifted(value, levels, inner[:-1], same)
        found, n = value._data.value, len(levels)
        with using(levels=inner[:-1]):
            found = REGISTRY["permute"].public(found, (*range(1, n + 1), 0, *range(n + 1, found.ndim)))
        return batched(lifted(found, levels, inner[:-1], same), top)
    for level in levels:
        value = batched(value, level)
    data = value._data
    for flag in same:
        data.same, data = flag, data.value._data
    return value


def lifted_like(value: Tensor, like: Tensor, levels: tuple[VmapLevel, ...]) -> Tensor:
    """Batch a tensor as `lifted` does, in place of `like`: with what `BatchedData` says of that one."""
    if not levels:
        return value
    data, top = like._data, levels[-1]
    if type(data) is BatchedData and data.level is top:
        made = batched(lifted_like(value, data.value, levels[:-1]), top, data.source)
        made._data.same = data.same
    else:
        made = batched(lifted_like(value, like, levels[:-1]), top)
        made._data.same = True
    return made


def of_all_examples(function: Callable[..., Any], input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Call a factory such as `zeros_like` on all examples of a batched tensor: the result is batched, and writable."""
    level = input._data.level
    mode = MODE.get()
    levels = mode.levels[: mode.levels.index(level)] if level in mode.levels else ()
    try:
        MODE.set(mode.replace(levels=levels))
        return with_same(batched(function(input._data.value, *args, **kwargs), level), [input._data.same])
    finally:
        MODE.set(mode)


def entered(mode: Mode, level: VmapLevel) -> Mode:
    """Return the mode inside a new innermost level."""
    inner = mode.replace(levels=(*mode.levels, level))
    inner.below = mode
    return inner


# -- what is the same for all examples --

# Under `jacfwd`, or `vmap` of `jvp`, the primals of dual inputs are equal for all examples, and each example has
# its own tangent. So do results of such tensors. Whether all values are equal is checked when a value is read:
# in-place writes do not track it.


def same_of(value: Tensor, levels: Iterable[VmapLevel]) -> list[bool]:
    """Return for each level, the innermost first, whether all examples of a tensor have the same value."""
    found = []
    for level in reversed(tuple(levels)):
        inside = level.has(value)
        found.append(value._data.same if inside else True)
        value = value._data.value if inside else value
    return found


def first_if_same(value: Tensor) -> Tensor | None:
    """The first example, if all of them are equal; None if they are not. Called outside of the level."""
    whole = cut(value, True).detach()
    first = whole[:1]
    equal: Any = REGISTRY["isclose"].public(whole, first, 0.0, 0.0, True)
    while is_batched(equal):
        equal = equal._data.value
    return value[0] if value._shape[0] and bool(equal.all()) else None


def value_of_all(data: Any, refusal: str) -> Tensor:
    """Return the common value of all examples, where they differ in tangents only; else raise with `refusal`."""
    levels = MODE.get().levels
    if data.same:
        with using(levels=levels[: levels.index(data.level)] if data.level in levels else ()):
            found = first_if_same(data.value)
        if found is not None:
            return found
    if refusal is not NO_STORAGE and any(t.number > data.level.number for t in TRANSFORMS.get()):
        refusal = NO_VALUE
    raise RuntimeError(refusal)
