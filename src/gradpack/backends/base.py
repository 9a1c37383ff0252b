"""The base class of backends, and the table from array type to backend.

Bodies and formulas of operations read as NumPy. A backend binds them to its own namespace: it
makes, once per function, a copy whose global name `np` is the namespace of its library. Bodies
call only plain helper functions beside operations, and those are bound in the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from ..base.devices import CPU, KINDS, device
from ..base.dtypes import FLOATING, computed_in, dtype
from ..base.layouts import layout, strided
from ..kernels.dispatch import rebound

if TYPE_CHECKING:
    from .streams import Streams


class UnsupportedError(NotImplementedError, AttributeError):
    """Raised for functions that arrays of a kind do not support. It is an AttributeError, so that `hasattr` works."""


class Spec:
    """Properties of a tensor's array: dtype, device and backend, one object for each combination.

    Comparing two tensors by `is` on their specs asks all three questions at once.
    """

    __slots__ = tuple("backend complex device differentiable dtype flow layout native numpy plain whole".split())

    def __init__(self, backend: Backend, dtype: dtype, device: device, native: Any) -> None:
        self.backend, self.dtype, self.device, self.native = backend, dtype, device, native
        self.layout = backend.layout
        self.numpy = backend.is_numpy
        # Gradients on their way through a graph are added up, which pairs of float16 cannot be.
        self.flow = computed_in(dtype) if dtype.is_complex else dtype
        # Does every operation that moves elements take such arrays as they are?
        self.whole = self.numpy and not dtype.alone and not (dtype.low and dtype.is_complex)
        self.differentiable = dtype.category >= FLOATING  # may a tensor like this have a gradient?
        # May compiled code run an operation's body on such arrays as it stands? Complex needs
        # conjugates, low precision needs float32, integers may need another result dtype.
        self.plain = self.numpy and dtype.is_floating_point and not dtype.low
        self.complex = self.numpy and dtype.is_complex and not dtype.low  # or that with conjugates in its formulas?

    def __repr__(self) -> str:
        return f"Spec({self.backend.name}, {self.dtype}, {self.device})"


class Backend:
    """Base class of backends: one array library, with the functions that the tape needs."""

    name: str = ""
    array_types: tuple[type, ...] = ()
    xp: Any = None  # the namespace that the name `np` means in bodies of operations
    is_numpy = False
    mutable = True  # are arrays mutable?
    makes = False  # does it make arrays and random numbers by itself? Then `making` binds functions that do
    aliasing = True  # do indexing and transposing give views of the same memory?
    later = False  # are values computed later, so that nothing can depend on them now?
    layout: layout = strided

    def __init__(self) -> None:
        self._specs: dict[Any, Spec] = {}
        self._bound: dict[Any, Any] = {}

    # -- required of every library --

    def dtype_of(self, native: Any) -> dtype:
        raise TypeError(f"{self.name} arrays of dtype {native} have no gradpack dtype")

    def native_of(self, d: dtype) -> Any:
        raise TypeError(f"{self.name} has no {d}")

    def device_of(self, array: Any) -> device:
        return CPU

    def asarray(self, value: Any, d: dtype, where: device) -> Any:
        """A new array from a Python number, nested list or NumPy array; shares nothing with it."""
        raise NotImplementedError

    def one(self, spec: Spec) -> Any:
        """A 0-dim array that holds one."""
        return self.asarray(1, spec.dtype, spec.device)

    def ensure(self, array: Any) -> Any:
        """An array from what operations on arrays return (NumPy: scalars become 0-dim arrays)."""
        return array

    def cast(self, array: Any, d: dtype) -> Any:
        """Return the array in another dtype; the same object if it has that dtype."""
        raise NotImplementedError

    def copy(self, array: Any) -> Any:
        """A dense copy that keeps the order of strides."""
        raise NotImplementedError

    def write(self, array: Any, value: Any) -> None:
        """Write `value` into a mutable array, with broadcasting and dtype conversion."""
        array[...] = value

    def added(self, array: Any, other: Any) -> Any:
        """The sum of two arrays of one dtype."""
        return array + other

    def to_numpy(self, array: Any) -> Any:
        raise NotImplementedError

    # -- optional --

    def making(self, where: device, function: Callable[..., Any]) -> Callable[..., Any]:
        """Bind a function that creates arrays on a device. Called only for libraries with `makes`."""
        return self.bind(function)

    def upload(self, host: Any, d: dtype, where: device) -> Any:
        """Return a copy of a NumPy array on a device, asynchronously if possible."""
        return self.asarray(host, d, where)

    def download(self, array: Any, beside: bool) -> Any:
        """Return a copy in host memory. If `beside`, it is asynchronous and complete once the device has made it."""
        return self.to_numpy(array).copy()

    def pinned(self, shape: tuple[int, ...], native: Any) -> Any:
        """Return pinned host memory, for asynchronous copies, as a NumPy array.

        Raises:
            RuntimeError: if the library has none.
        """
        raise RuntimeError(f"{self.name} has no pinned memory")

    def streams(self, where: device) -> Streams | None:
        """Return the `Streams` of a device, the same object each time; None if it computes synchronously.

        Who returns some also has arrays with `base`, `strides` and `nbytes` as NumPy's, and `address`.
        """
        return None

    def clock(self) -> Any:
        """Return the timer of the current device, with `moment()` and microseconds `between` two moments, or None."""
        return None

    def address(self, array: Any) -> int:
        """Return the address of an array's first element. Called only for arrays with strides."""
        found: int = array.__array_interface__["data"][0]
        return found

    # -- overridden for batched tensors, which only represent arrays --

    def number(self, array: Any) -> Any:
        """The one element of an array as a Python number."""
        return python_number(self.to_numpy(array).reshape(()).tolist())

    def values(self, array: Any) -> Any:
        """The elements of an array in host memory, for code that only reads them and keeps nothing."""
        return self.to_numpy(array)

    def truth(self, array: Any) -> bool:
        """Whether the one element of an array is not zero."""
        return bool(self.number(array))

    def root(self, array: Any) -> Any:
        """Return the underlying array, for a batched tensor that of all examples; here the array itself."""
        return array

    def detached(self, tensor: Any) -> Any:
        """Return a detached tensor if that takes more than a new tensor of the same array; else None."""
        return None

    def follow(self, tensor: Any, wanted: bool) -> bool:
        """Set `requires_grad` of a tensor if that takes more than setting its edge; return whether it was done."""
        return False

    def text(self, tensor: Any) -> str | None:
        """Return the `repr` of a tensor if it is not printed by its elements."""
        return None

    # -- derived from the above --

    def spec(self, array: Any) -> Spec:
        where = self.device_of(array)
        return self._specs.get((array.dtype, where)) or self.spec_for(self.dtype_of(array.dtype), where)

    def spec_for(self, d: dtype, where: device) -> Spec:
        native = self.native_of(d)
        key = (native, where)
        found = self._specs.get(key)
        if found is None:
            found = self._specs[key] = Spec(self, d, where, native)
        return found

    def in_rows(self, array: Any) -> Any:
        """Return an equal array whose last dimension has the smallest stride."""
        flags = getattr(array, "flags", None)
        return array if flags is None or flags.c_contiguous else self.xp.ascontiguousarray(array)

    def body(self, op: Any) -> Callable[..., Any]:
        """Return an operation's forward function for arrays of this library."""
        return self.bind(op.forward)

    def bind(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a copy of `function` that works on arrays of this library.

        The name `np`, here and in the helpers it calls, means this library's namespace, and the name
        of an operation means its body: there are only arrays, so nothing is to be recorded.
        """
        if not isinstance(function, FunctionType):
            return function
        op = getattr(function, "op", None)
        function = getattr(function, "inside", function) if op is None else op.forward
        found = self._bound.get(function)
        if found is not None:
            return found
        if (reference := getattr(function, "reference", None)) is not None:  # kernels are for NumPy's arrays
            made: Any = self.bind(reference)
            if self.is_numpy:
                made = function if made is reference else rebound(function, made)
            self._bound[function] = made
            return made
        outside = function.__globals__
        used = [n for n in _names_of(function.__code__) if n in outside]
        helpers = [n for n in used if isinstance(outside[n], FunctionType)]
        late = outside.get("late") if "late" in used else None
        if self.is_numpy and late is None and not any(_reaches_operation(outside[n], set()) for n in helpers):
            self._bound[function] = function
            return function
        names = dict(outside)
        bound = FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)
        bound.__kwdefaults__ = function.__kwdefaults__
        self._bound[function] = bound  # before the helpers: they may call each other
        if not self.is_numpy and "np" in used:
            names["np"] = self.xp
        names.update({n: self.bind(outside[n]) for n in helpers})
        if late is not None:
            names["late"] = _Bodies(self, late)
        return bound


class _Bodies:
    """Bodies of the operations, by name, for the arrays of one library."""

    def __init__(self, backend: Backend, late: Any) -> None:
        self._backend, self._late = backend, late

    def __getattr__(self, name: str) -> Any:
        found = self.__dict__[name] = self._backend.bind(getattr(self._late, name))
        return found


def python_number(value: Any) -> Any:
    """Return what an array gave for its one element: a float where it gave a scalar of bfloat16."""
    return value if isinstance(value, int | float | complex) else float(value)


def nested(change: Callable[[Any], Any], value: Any) -> Any:
    """Apply `change` to the items of a list, a tuple or a dict; return any other value as it is."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(change, value))
    if type(value) in (list, tuple):
        return type(value)(map(change, value))
    return {k: change(v) for k, v in value.items()} if type(value) is dict else value


def _reaches_operation(function: FunctionType, seen: set[FunctionType]) -> bool:
    """Whether a helper is, or calls, an operation."""
    function = getattr(function, "reference", function)
    if hasattr(function, "op") or "late" in _names_of(function.__code__):
        return True
    if function in seen:
        return False
    seen.add(function)
    outside = function.__globals__
    return any(
        _reaches_operation(outside[n], seen)
        for n in _names_of(function.__code__)
        if isinstance(outside.get(n), FunctionType)
    )


def _names_of(code: CodeType) -> list[str]:
    """The global names that a function uses, in nested functions too."""
    names = list(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names += _names_of(constant)
    return names


_BY_TYPE: dict[type, Backend | None] = {}
_FINDERS: list[Callable[[type], Backend | None]] = []


# Kind of device other than the CPU -> the library whose arrays live there.
_BY_PLACE: dict[str, Backend] = {}


def place_backend(kind: str, backend: Backend) -> None:
    """Make a kind of device one that tensors can be on."""
    _BY_PLACE[kind] = backend
    KINDS.add(kind)


def unplace_backend(kind: str) -> None:
    KINDS.discard(kind)
    _BY_PLACE.pop(kind, None)


def bring_backend(kind: str, backend: Backend) -> None:
    """Register the backend of a kind of device."""
    register_backend(backend)
    place_backend(kind, backend)


def backend_on(kind: str) -> Backend | None:
    """The backend of a kind of device; None for the CPU."""
    return _BY_PLACE.get(kind)


def register_backend(backend: Backend, *, replace: bool = False) -> dict[type, Backend | None]:
    """Register `backend` for its `array_types`. Return the previous registrations.

    Raises:
        ValueError: if one of the types has a backend already, unless `replace`.
    """
    for kind in backend.array_types:
        old = _BY_TYPE.get(kind)
        if old is not None and old is not backend and not replace:
            raise ValueError(f"arrays of type {kind.__name__} already belong to the backend {old.name!r}")
    before = {kind: _BY_TYPE.get(kind) for kind in backend.array_types}
    for kind in [k for k, b in _BY_TYPE.items() if b is None]:
        del _BY_TYPE[kind]  # types that were unknown before may belong to this backend
    for kind in backend.array_types:
        _BY_TYPE[kind] = backend
    return before


def forget_backend(backend: Backend, before: dict[type, Backend | None]) -> None:
    """Restore the backends that array types had before `register_backend`."""
    for kind in [k for k, b in _BY_TYPE.items() if b is backend]:
        _BY_TYPE.pop(kind, None)  # subclasses too
    _BY_TYPE.update({kind: old for kind, old in before.items() if old is not None})


def register_finder(finder: Callable[[type], Backend | None]) -> None:
    """Ask `finder` for the backend of array types that the table does not know."""
    _FINDERS.append(finder)


def backend_of(kind: type) -> Backend | None:
    """Return the backend for arrays of this type, or None. Cached per type."""
    try:
        return _BY_TYPE[kind]
    except KeyError:
        pass
    found = next((b for base in kind.__mro__[1:] if (b := _BY_TYPE.get(base)) is not None), None)
    if found is None:
        found = next((b for finder in _FINDERS if (b := finder(kind)) is not None), None)
    _BY_TYPE[kind] = found
    return found


def spec_of(array: Any) -> Spec:
    backend = _BY_TYPE.get(type(array)) or backend_of(type(array))
    if backend is None:
        raise TypeError(f"{type(array).__name__} is not an array of a library that gradpack knows")
    return backend.spec(array)
