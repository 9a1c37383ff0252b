"""dtype objects, and torch's rules of type promotion.

They are our own, because NumPy's rules are not torch's: there int32 + float32 gives float64, and
a bfloat16 array is promoted to a wider dtype by a Python number. The names of the native dtypes of an
array library appear only in its backend.
"""

from __future__ import annotations

from typing import Any

from . import spelling

BOOL, INTEGRAL, FLOATING, COMPLEX = range(4)  # categories: the highest one decides type promotion


class dtype:  # noqa: N801 - torch's name
    """The type of the elements of a tensor. The instances are `gradpack.float32` and so on.

    Programs use those that there are; `gradpack.extend.dtype` makes another one, for an element type of NumPy's.

    Args:
        name: the name of the dtype in the module.
        itemsize: the bytes of an element.
        category: 0 for bool, 1 for ints, 2 for floats, 3 for complex numbers: the highest one decides type promotion.
        signed: whether there are negative numbers.
        low: whether operations compute in a wider dtype, as in float32 for float16.
        alone: whether it promotes with floating-point dtypes only, and with none if it is one itself.

    Example::

        >>> import gradpack as torch
        >>> torch.float32.is_floating_point, torch.int64.itemsize
        (True, 8)
    """

    __slots__ = ("alone", "category", "is_complex", "is_floating_point", "is_signed", "itemsize", "low", "name")

    def __init__(
        self, name: str, itemsize: int, category: int, signed: bool = True, low: bool = False, alone: bool = False
    ) -> None:
        self.name, self.itemsize, self.category, self.is_signed = name, itemsize, category, signed
        self.is_floating_point, self.is_complex = category == FLOATING, category == COMPLEX
        self.low = low  # a storage format: see `computed_in`
        # Promotes with floating dtypes only (not at all if it is one), and few operations take it: `refused_dtypes.py`
        self.alone = alone

    @property
    def abbr(self) -> str:
        """The name in short: `f32` for float32, `bf16`, `i64`."""
        text = "bool8" if self.name == "bool" else self.name.replace("_", "")
        for word in ("complex", "uint", "int", "float", "bool"):
            text = text.replace(word, word[0])
        return text

    def to_real(self) -> dtype:
        """The dtype of the real part: float32 for complex64."""
        return _REAL.get(self, self)

    def to_complex(self) -> dtype:
        """The complex dtype with this real part: complex64 for float32."""
        if self.is_complex:
            return self
        if self.alone:
            from .errors import scalar_type

            raise RuntimeError(f"Unknown Complex ScalarType for {scalar_type(self)}")
        return _COMPLEX.get(self, complex64)

    def __repr__(self) -> str:
        return f"{spelling.library}.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _named, (self.name,)

    def __copy__(self) -> dtype:
        return self

    def __deepcopy__(self, memo: object) -> dtype:
        return self


bool_ = dtype("bool", 1, BOOL, signed=False)
uint8 = dtype("uint8", 1, INTEGRAL, signed=False)
int8 = dtype("int8", 1, INTEGRAL)
int16 = dtype("int16", 2, INTEGRAL)
int32 = dtype("int32", 4, INTEGRAL)
int64 = dtype("int64", 8, INTEGRAL)
uint16 = dtype("uint16", 2, INTEGRAL, signed=False, alone=True)
uint32 = dtype("uint32", 4, INTEGRAL, signed=False, alone=True)
uint64 = dtype("uint64", 8, INTEGRAL, signed=False, alone=True)
float8_e4m3fn = dtype("float8_e4m3fn", 1, FLOATING, low=True, alone=True)
float8_e5m2 = dtype("float8_e5m2", 1, FLOATING, low=True, alone=True)
float16 = dtype("float16", 2, FLOATING, low=True)
bfloat16 = dtype("bfloat16", 2, FLOATING, low=True)
float32 = dtype("float32", 4, FLOATING)
float64 = dtype("float64", 8, FLOATING)
complex32 = dtype("complex32", 4, COMPLEX, low=True)
complex64 = dtype("complex64", 8, COMPLEX)
complex128 = dtype("complex128", 16, COMPLEX)

DTYPES: dict[str, dtype] = {d.name: d for d in list(globals().values()) if isinstance(d, dtype)}
ALIASES: dict[str, dtype] = {
    "half": float16,
    "float": float32,
    "double": float64,
    "short": int16,
    "int": int32,
    "long": int64,
    "chalf": complex32,
    "cfloat": complex64,
    "cdouble": complex128,
}
_REAL = {complex32: float16, complex64: float32, complex128: float64}
_COMPLEX = {float16: complex32, float64: complex128}  # for all others complex64

_default = float32


def _named(name: str) -> dtype:
    """The dtype with this name; unpickles a dtype."""
    return DTYPES[name]


def get_default_dtype() -> dtype:
    """The dtype of new floating-point tensors: float32 unless `set_default_dtype` changed it.

    Example::

        >>> import gradpack as torch
        >>> torch.get_default_dtype()
        gradpack.float32
    """
    return _default


def set_default_dtype(d: dtype, /) -> None:
    """Make `d` the dtype of new floating-point tensors, and of results of integer division and the like.

    Args:
        d: float16, bfloat16, float32 or float64. The dtype of Python's complex numbers follows: complex128 for float64.

    Raises:
        TypeError: unless `d` is a floating-point dtype.

    Example::

        >>> import gradpack as torch
        >>> torch.set_default_dtype(torch.float64)
        >>> torch.ones(1).dtype
        gradpack.float64
        >>> torch.set_default_dtype(torch.float32)
    """
    global _default  # one setting for the process, as in torch
    if not isinstance(d, dtype) or not d.is_floating_point:
        raise TypeError(f"only floating-point types are supported as the default type, got {d!r}")
    if d.alone:
        from .errors import scalar_type

        raise TypeError(f"couldn't find storage object {scalar_type(d)}Storage: {d!r} cannot be the default dtype")
    _default = d


def default_complex() -> dtype:
    return _default.to_complex()


def computed_in(d: dtype) -> dtype:
    """The dtype that operations compute in: float32 or complex64 for a storage format, else `d` itself."""
    if not d.low:
        return d
    return complex64 if d.category == COMPLEX else float32


def _promote(a: dtype, b: dtype) -> dtype:
    if a.category > b.category:
        a, b = b, a
    if a is b or a.category == BOOL:
        return b
    if b.category == COMPLEX:
        return b if a.category < FLOATING else _promote(a.to_real(), b.to_real()).to_complex()
    if a.category < b.category:
        return b
    if b.category == FLOATING:
        return float32 if a.itemsize == b.itemsize else max(a, b, key=lambda d: d.itemsize)
    if a.is_signed != b.is_signed:
        unsigned, signed = (a, b) if b.is_signed else (b, a)
        return int16 if unsigned.itemsize == signed.itemsize else signed
    return max(a, b, key=lambda d: d.itemsize)


class _Promoted(dict[tuple[dtype, dtype], dtype]):
    """A cache of the promoted dtype of each pair that was looked up."""

    def __missing__(self, pair: tuple[dtype, dtype]) -> dtype:
        a, b = pair
        eight = any(d.alone and d.category == FLOATING for d in pair)
        if a is b or not (eight or a.alone or b.alone) or (not eight and FLOATING in (a.category, b.category)):
            common = self[pair] = _promote(a, b)
            return common
        from .errors import scalar_type

        raise RuntimeError(
            f"Promotion for {'Float8 Types' if eight else 'uint16, uint32, uint64 types'} is not supported, attempted "
            f"to promote {scalar_type(a)} and {scalar_type(b)}: convert one with .to(dtype)"
        )


PROMOTED = _Promoted()


def add(new: dtype) -> None:
    """Register a dtype from outside."""
    DTYPES[new.name] = new


def take_away(old: dtype) -> None:
    DTYPES.pop(old.name, None)
    for pair in [p for p in PROMOTED if old in p]:
        PROMOTED.pop(pair, None)


_OF_PYTHON: dict[Any, dtype] = {float: float64, int: int64, bool: bool_, complex: complex128}


def as_dtype(op: str, value: Any) -> dtype | None:
    """Return the dtype for an argument `dtype=`; Python number types mean the widest of their kind.

    Raises:
        TypeError: for anything else.
    """
    if value is None or isinstance(value, dtype):
        return value
    found = _OF_PYTHON.get(value) if isinstance(value, type) else None
    if found is None:
        raise TypeError(f"{op}(): argument 'dtype' must be torch.dtype, not {type(value).__name__}")
    return found


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """Return the dtype to which operations on the two dtypes promote.

    Args:
        type1: the dtype of one operand.
        type2: that of the other; the order does not matter.

    Raises:
        RuntimeError: for uint16, uint32 or uint64 and another dtype that is not floating.

    Example::

        >>> import gradpack as torch
        >>> torch.promote_types(torch.int32, torch.float32)
        gradpack.float32
    """
    return PROMOTED[type1, type2]


def can_cast(from_: dtype, to: dtype) -> bool:
    """Return whether type promotion allows the conversion: not to a lower category, as from float to int.

    Args:
        from_: the dtype that is converted.
        to: the dtype that it is converted to.

    Example::

        >>> import gradpack as torch
        >>> torch.can_cast(torch.float32, torch.int64)
        False
    """
    return from_.category <= to.category


def scalar_dtype(value: Any) -> dtype:
    """The dtype of a Python number in type promotion, if no tensor of its category takes part."""
    if isinstance(value, bool):
        return bool_
    if isinstance(value, int):
        return int64
    return _default if isinstance(value, float) else default_complex()


def operand_dtype(value: Any) -> dtype:
    """Like `scalar_dtype`, for an operand: uint64 for an int that only uint64 can hold."""
    return uint64 if type(value) is int and value >= 1 << 63 else scalar_dtype(value)


def _combine(higher: dtype | None, lower: dtype | None) -> dtype | None:
    """Promote a group with priority and one without: of the latter, only a higher category counts."""
    if higher is None or lower is None:
        return higher or lower
    if higher.category == COMPLEX:
        return higher
    if higher.category == FLOATING:
        return higher.to_complex() if lower.category == COMPLEX else higher
    if higher.alone and lower.category == COMPLEX:
        return lower
    if higher.category == BOOL or lower.category >= FLOATING:
        return PROMOTED[higher, lower]
    return higher


def result_dtype(full: list[dtype], zero_dim: list[dtype], scalars: list[dtype]) -> dtype:
    """Type promotion as in torch: tensors with dimensions first, then 0-dim tensors, then Python numbers."""
    groups: list[dtype | None] = []
    for group in (full, zero_dim, scalars):
        common: dtype | None = None
        for d in group:
            common = d if common is None else PROMOTED[common, d]
        groups.append(common)
    result = _combine(_combine(groups[0], groups[1]), groups[2])
    if result is None:
        raise ValueError("result_dtype() needs at least one dtype")
    return result
