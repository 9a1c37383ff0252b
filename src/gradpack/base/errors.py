"""Error messages for bad input. Each names the operation, the input, and what to do.

Tensors of PyTorch itself may be in one process with ours. They do not mix.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from .modes import MODE


class LinAlgError(RuntimeError):
    """A decomposition or solution does not exist, as for a singular matrix: torch.linalg.LinAlgError.

    Example::

        >>> import gradpack as torch
        >>> try:
        ...     torch.linalg.cholesky(-torch.eye(2))
        ... except torch.linalg.LinAlgError:
        ...     print("not positive definite")
        not positive definite
    """


class OutOfMemoryError(RuntimeError):
    """A device has not enough memory. (For the CPU's memory, operations raise a RuntimeError that is none of these.)

    Example::

        >>> import gradpack as torch
        >>> device = "cuda" if torch.cuda.is_available() else "cpu"
        >>> try:
        ...     x = torch.ones(256, 256, device=device)
        ... except torch.OutOfMemoryError:
        ...     x = torch.ones(128, 128, device=device)
    """


LinAlgError.__name__ = LinAlgError.__qualname__ = "_LinAlgError"  # torch's name of it, which tracebacks show


def shapes_do_not_broadcast(op: str, a: Sequence[int], b: Sequence[int]) -> RuntimeError:
    """The error for two shapes that cannot be broadcast together, with the dimension where they differ."""
    for back in range(1, min(len(a), len(b)) + 1):
        if a[-back] != b[-back] and 1 not in (a[-back], b[-back]):
            dim = max(len(a), len(b)) - back
            return RuntimeError(
                f"The size of tensor a ({a[-back]}) must match the size of tensor b ({b[-back]}) at non-singleton "
                f"dimension {dim}: {op}() got shapes {list(a)} and {list(b)}"
            )
    return RuntimeError(f"{op}() cannot broadcast shapes {list(a)} and {list(b)}")


def no_common_shape(op: str, shapes: Sequence[Sequence[int]]) -> RuntimeError:
    """The error for the first two of several shapes that cannot be broadcast together."""
    for i, b in enumerate(shapes):
        for a in shapes[:i]:
            if any(m != n and 1 not in (m, n) for m, n in zip(reversed(a), reversed(b), strict=False)):
                return shapes_do_not_broadcast(op, a, b)
    return shapes_do_not_broadcast(op, shapes[0], shapes[-1])


def dim_out_of_range(dim: int, ndim: int) -> IndexError:
    low, high = (-1, 0) if ndim == 0 else (-ndim, ndim - 1)
    return IndexError(f"Dimension out of range (expected to be in range of [{low}, {high}], but got {dim})")


class NotATensorError(TypeError, AttributeError):
    """For an argument that is no tensor, in functions that torch has in Python: there it is an AttributeError."""


def not_a_tensor(op: str, name: str, position: int, value: Any) -> TypeError:
    return TypeError(f"{op}(): argument '{name}' (position {position}) must be Tensor, not {type(value).__name__}")


TOO_BIG = ("int too big to convert", "can't convert negative int to unsigned")


def too_big(what: str, number: int) -> OverflowError:
    """The error for a Python int that does not fit into 64 bits."""
    return OverflowError(f"{TOO_BIG[number < 0]}: {what} does not fit into 64 bits: {number}")


def size_too_big(op: str, name: str, at: int, number: int) -> TypeError:
    """The error for an int of more than 63 bits among sizes, dimensions and the like."""
    return TypeError(
        f"{op.removeprefix('_method_')}(): argument '{name}' failed to unpack the object at pos {at + 1} with error "
        f'"Overflow when unpacking long long: {number}"'
    )


def does_not_fit(value: Any, dtype: Any) -> RuntimeError:
    """The error for a number that a dtype cannot hold, with torch's name of that dtype."""
    name = "int" if dtype.name == "int32" else f"{dtype.name}_t" if "int" in dtype.name else cpp_name(dtype)
    return RuntimeError(f"value cannot be converted to type {name} without overflow: {value!r}")


def not_a_method_of(name: str, value: Any) -> TypeError:
    return TypeError(
        f"descriptor '{name}' for 'torch._C.TensorBase' objects doesn't apply to a '{type(value).__name__}' object"
    )


# Internal errors of Python and NumPy, which would mean nothing to the caller of an operation.
_FROM_WITHIN = (AttributeError, KeyError, NameError, ZeroDivisionError)
_TOO_LARGE = ("array is too big", "Maximum allowed")  # the beginnings of NumPy's messages for sizes that overflow


def inner_failure(op: str, error: Exception, shapes: dict[str, list[int]]) -> Exception:
    """Return an error that names the operation for an internal failure of it; other errors are returned as they are."""
    if isinstance(error, ValueError) and str(error).startswith(_TOO_LARGE):
        return RuntimeError(f"{op}(): Storage size calculation overflowed: {error}").with_traceback(error.__traceback__)
    of_numpy = type(error).__module__.partition(".")[0] == "numpy"  # an AxisError, one of its own TypeErrors
    if not (of_numpy or isinstance(error, _FROM_WITHIN)) or not _is_ours(error):
        return error
    if isinstance(error, MemoryError):  # in torch's words, which programs look for
        said = f"DefaultCPUAllocator: can't allocate memory: {op}(): {error}"
        return RuntimeError(said).with_traceback(error.__traceback__)
    given = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
    kind: type[Exception] = TypeError if isinstance(error, AttributeError | TypeError) else RuntimeError
    kind = IndexError if isinstance(error, IndexError) else kind
    made = kind(f"{op}() does not take what it was given (shapes: {given or 'no tensor'}): {error}")
    made.__suppress_context__ = True
    return made.with_traceback(error.__traceback__)


def _is_ours(error: Exception) -> bool:
    """Whether an exception came from this library or the array library under it, not from a hook of the user's."""
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_globals.get("__name__", "").partition(".")[0] not in ("gradpack", "numpy", "builtins"):
            return False
        trace = trace.tb_next
    return True


_SCALAR_TYPES = {
    "bool": "Bool", "uint8": "Byte", "int8": "Char", "int16": "Short", "int32": "Int", "int64": "Long",
    "uint16": "UInt16", "uint32": "UInt32", "uint64": "UInt64",
    "float8_e4m3fn": "Float8_e4m3fn", "float8_e5m2": "Float8_e5m2",
    "float16": "Half", "bfloat16": "BFloat16", "float32": "Float", "float64": "Double",
    "complex32": "ComplexHalf", "complex64": "ComplexFloat", "complex128": "ComplexDouble",
}  # fmt: skip


def scalar_type(dtype: Any) -> str:
    """torch's name of a scalar type: "Float" for float32."""
    return _SCALAR_TYPES.get(dtype.name, dtype.name)


def not_implemented_for(op: str, dtype: Any) -> NotImplementedError:
    """The error for a dtype that an operation does not support."""
    name = scalar_type(dtype)
    return NotImplementedError(
        f"\"{op.strip('_')}\" not implemented for '{name}': convert to a dtype that it takes with .to(dtype)"
    )


def refuse(op: str, dtype: Any, letters: str) -> None:
    """Raise NotImplementedError if `letters` includes the kind of a dtype.

    Args:
        letters: kinds to refuse: "b" bool, "l" int64, "u" uint8, "i" other integers, "h" floats of 16 bits,
            "c" for complex numbers, "f" for other floats.
    """
    kind = "h" if dtype.low else {"uint8": "u", "int64": "l"}.get(dtype.name, "bifc"[dtype.category])
    if kind in letters:
        raise not_implemented_for(op, dtype)


_CPP = {
    "bool": "bool", "uint8": "unsigned char", "int8": "signed char", "int16": "short int", "int32": "int",
    "int64": "long int", "uint16": "short unsigned int", "uint32": "unsigned int", "uint64": "long unsigned int",
    "float8_e4m3fn": "c10::Float8_e4m3fn", "float8_e5m2": "c10::Float8_e5m2",
    "float16": "c10::Half", "bfloat16": "c10::BFloat16", "float32": "float", "float64": "double",
    "complex32": "c10::complex<c10::Half>", "complex64": "c10::complex<float>", "complex128": "c10::complex<double>",
}  # fmt: skip


def cpp_name(dtype: Any) -> str:
    """The C++ name of a dtype, which some of torch's messages use."""
    return _CPP.get(dtype.name, dtype.name)


def different_devices(op: str, devices: Sequence[Any]) -> RuntimeError:
    names = ", ".join(dict.fromkeys(map(str, devices)))
    return RuntimeError(
        f"Expected all tensors to be on the same device, but found at least two devices, {names}, in {op}(): "
        "move them with .to(device) first"
    )


def saved_was_freed(node: str, slot: str) -> RuntimeError:
    return RuntimeError(
        "Trying to backward through the graph a second time (or directly access saved tensors after they have "
        "already been freed). Saved intermediate values of the graph are freed when you call .backward() or "
        "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or "
        f"if you need to access saved tensors after calling backward. (Node {node}, slot {slot!r}.)"
    )


_ENABLE = (
    "Hint: enable anomaly detection to find the operation that failed to compute its gradient, with "
    "torch.autograd.set_detect_anomaly(True, check_nan=False)."
)
_IN_SIGHT = (
    "Hint: the backtrace further above shows the operation that failed to compute its gradient. The variable in "
    "question was changed in there or anywhere later. Good luck!"
)


def saved_was_modified(
    node: str, slot: str, dtype: Any, shape: Sequence[int], producer: str, version: int, seen: int
) -> RuntimeError:
    # torch names the producing operation without the suffix of its node: "output 0 of Add".
    whose = f", which is {re.sub(r'Backward[0-9]*$', '', producer)}," if producer else ""
    hint = _ENABLE if MODE.get().anomaly is None else _IN_SIGHT
    return RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[torch.{scalar_type(dtype)}Tensor {list(shape)}]{whose} is at version {version}; "
        f"expected version {seen} instead. {hint} ({node} had saved it as "
        f"{slot!r}: clone() it before the in-place operation, or use the out-of-place form.)"
    )


def missing_extra(what: str, package: str, extra: str) -> ImportError:
    return ImportError(f"{what} needs {package}, which is not installed: pip install 'gradpack[{extra}]'")


def inside_a_transform(name: str) -> RuntimeError:
    """The error for a method that must not be called inside a functional transform."""
    functional = " (or perhaps using torch.autograd.functional.* APIs)" if name == "requires_grad_" else ""
    return RuntimeError(
        f"You are attempting to call Tensor.{name}(){functional} inside of a "
        "function being transformed by a functorch transform. This is unsupported, please attempt to use the functorch "
        f"transforms (e.g. grad, vjp, jacrev, jacfwd, hessian) or call {name}() outside of a function being "
        "transformed instead."
    )


def is_foreign(value: Any) -> bool:
    """Whether a value is a tensor of PyTorch itself."""
    return any(kind.__name__ == "TensorBase" and kind.__module__ == "torch._C" for kind in type(value).__mro__)


def any_foreign(values: Iterable[Any], seen: set[int] | None = None) -> bool:
    """Whether one of several values is a tensor of PyTorch itself, or a container with one."""
    seen = set() if seen is None else seen
    for value in list(values):
        if isinstance(value, list | tuple | dict):
            if id(value) not in seen:  # containers may contain themselves
                seen.add(id(value))
                if any_foreign(value, seen):
                    return True
        elif is_foreign(value):
            return True
    return False


def foreign_function(func: Any) -> bool:
    """Whether a function belongs to PyTorch itself, which knows nothing of `DisableTorchFunctionSubclass` here."""
    if getattr(func, "__qualname__", "").startswith("_VariableFunctionsClass."):  # torch.add and its like
        return True
    while getattr(func, "__self__", None) is not None:  # of a property, or of a C++ class or module
        func = func.__self__
    func = getattr(func, "__objclass__", func)
    within = getattr(func, "__globals__", {}).get("__name__") or getattr(func, "__module__", None)
    return str(within or getattr(func, "__name__", "")).startswith("torch.")


def mixed(name: str) -> TypeError:
    """The error for tensors of both libraries in one call."""
    return TypeError(
        f"{name}(): tensors of PyTorch and of gradpack do not mix: gradpack.from_dlpack(x) makes one of gradpack of a "
        "tensor of PyTorch, and torch.from_dlpack(x) one of PyTorch"
    )
