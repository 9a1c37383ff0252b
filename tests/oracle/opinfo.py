"""Every operation on torch's own sample inputs, by both libraries.

torch tests its operators with a table of them (`op_db`): samples for each dtype, bad inputs, and what
each operator supports. The same samples are given to gradpack here. As a program it prints what
differs::

    python -m tests.oracle.opinfo svd linalg.qr      # these operators, every sample
    python -m tests.oracle.opinfo --all --limit 10   # all, ten samples of each and dtype
"""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import sys
import traceback
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np
import torch

import gradpack

FIRST_AND_SECOND = ("float64", "complex128")
FORWARD = ("float32", "int64", "bool", "bfloat16", "float16", "uint8", "complex64")
TOLERANCE = {
    "float64": 1e-7,
    "complex128": 1e-7,
    "float32": 2e-4,
    "complex64": 2e-4,
    "bfloat16": 3e-2,
    "float16": 4e-3,
    "complex32": 4e-3,
}


# Vectors whose sign or phase each LAPACK chooses for itself: compared in the form that torch's own tests compare.
UP_TO_PHASE = {"linalg.eig", "linalg.eigh", "linalg.svd", "svd", "svd_lowrank", "pca_lowrank"}


def table() -> dict[str, Any]:
    """Every OpInfo by its full name, `name` or `name.variant`."""
    from torch.testing._internal.common_methods_invocations import op_db

    return {o.name + (f".{o.variant_test_name}" if o.variant_test_name else ""): o for o in op_db}


# ---- from torch's objects to ours


def array_of(t: Any) -> np.ndarray[Any, Any]:
    """The elements, strides included."""
    t = t.detach().resolve_conj().resolve_neg()
    if t._is_zerotensor():
        t = t.clone()
    if t.dtype == torch.bfloat16:
        return t.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return t.numpy()


class Translation:
    """Remembers tensors, so that one that is given twice stays one, and gradients can be asked for."""

    def __init__(self) -> None:
        self.pairs: list[tuple[Any, Any]] = []

    def __call__(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            for theirs, ours in self.pairs:
                if theirs is value:
                    return ours
            array = array_of(value)
            copy = np.lib.stride_tricks.as_strided(array, array.shape, array.strides).copy(order="K")
            if 0 not in array.shape and array.strides != copy.strides:  # expanded or with gaps
                span = sum((n - 1) * abs(s) for n, s in zip(array.shape, array.strides, strict=True)) // array.itemsize
                flat = np.lib.stride_tricks.as_strided(array, (span + 1,), (array.itemsize,)).copy()
                copy = np.lib.stride_tricks.as_strided(flat, array.shape, array.strides)
            made = gradpack.from_numpy(copy)
            if value.requires_grad:
                made.requires_grad_()
            self.pairs.append((value, made))
            return made
        if isinstance(value, torch.Size):
            return gradpack.Size(value)
        if isinstance(value, torch.dtype):
            return getattr(gradpack, str(value).removeprefix("torch."))
        if isinstance(value, torch.device):
            return gradpack.device(str(value))
        if isinstance(value, torch.memory_format):
            return str(value).removeprefix("torch.")
        if isinstance(value, torch.layout):
            return str(value).removeprefix("torch.")
        if isinstance(value, slice):
            return slice(self(value.start), self(value.stop), self(value.step))
        if type(value) in (list, tuple):
            return type(value)(map(self, value))
        if type(value) is dict:
            return {k: self(v) for k, v in value.items()}
        if isinstance(value, types.FunctionType):
            return ours_from(value)
        if isinstance(value, torch.nn.Module):
            made = getattr(gradpack.nn, type(value).__name__)()
            made.__dict__.update({k: v for k, v in vars(value).items() if not k.startswith("_")})
            return made
        if dataclasses.is_dataclass(value) and type(value).__module__.startswith("torch.nn"):
            fields = {f.name: self(getattr(value, f.name)) for f in dataclasses.fields(value)}
            return getattr(gradpack.nn, type(value).__name__)(**fields)
        return value


def ours_from(function: Any, depth: int = 0) -> Any:
    """The same function with gradpack in the place of torch."""
    if isinstance(function, types.ModuleType) and function.__name__.split(".")[0] == "torch":
        return resolve(function.__name__.removeprefix("torch").lstrip("."))
    if not isinstance(function, types.FunctionType):
        path = path_of(function)
        return function if path is None else resolve(path)
    if function.__name__ == "wrapper_set_seed":
        return lambda op, *args, **kwargs: op(*args, **kwargs)
    if function.__module__.startswith("torch.") and "_internal" not in function.__module__:
        path = path_of(function)
        if path is not None:
            return resolve(path)
    names = {}
    if depth < 4:
        for name in {*function.__code__.co_names}:
            if name in function.__globals__:
                value = function.__globals__[name]
                if name == "torch":
                    names[name] = gradpack
                elif isinstance(value, types.ModuleType | types.FunctionType | types.BuiltinFunctionType):
                    try:
                        names[name] = ours_from(value, depth + 1)
                    except AttributeError:
                        continue
    cells = tuple(
        types.CellType(ours_from(c.cell_contents, depth + 1) if callable(c.cell_contents) else c.cell_contents)
        for c in function.__closure__ or ()
    )
    made = types.FunctionType(
        function.__code__, {**function.__globals__, **names}, function.__name__, function.__defaults__, cells
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made


_PLACES = ("", "nn.functional", "linalg", "fft", "special", "Tensor", "_C._nn", "_C._special", "_C._linalg", "_C._fft")


def path_of(function: Any) -> str | None:
    """Where torch keeps a function."""
    name = getattr(function, "__name__", "")
    for place in _PLACES:
        owner: Any = torch
        for part in place.split(".") if place else ():
            owner = getattr(owner, part, None)
        if name and getattr(owner, name, None) is function:
            return f"{place}.{name}".lstrip(".")
    return None


def resolve(path: str) -> Any:
    found: Any = gradpack
    for part in path.split(".") if path else ():
        found = getattr(found, part)
    return found


def our_function(info: Any) -> Callable[..., Any] | None:
    """What OpInfo calls, by gradpack; None where the name does not exist."""
    op = info.op
    try:
        if isinstance(op, types.FunctionType) and "_internal" in op.__module__:
            return ours_from(op)
        theirs: Any = torch
        for part in info.name.split("."):
            theirs = getattr(theirs, part, None)
        if theirs is op or inspect.ismethoddescriptor(op):
            return resolve(info.name if theirs is op else f"Tensor.{info.name}")
        path = path_of(op)
        return resolve(path or info.name)
    except AttributeError:
        return None


# ---- comparison


def flat(value: Any, kind: Any) -> list[Any]:
    if isinstance(value, kind) or not isinstance(value, tuple | list):
        return [value]
    return [leaf for v in value for leaf in flat(v, kind)]


def differences(theirs: Any, ours: Any, what: str, tolerance: float = 0.0, values: bool = True) -> str | None:
    """In words, or None."""
    t, o = flat(theirs, torch.Tensor), flat(ours, gradpack.Tensor)
    if len(t) != len(o):
        return f"{what}: {len(o)} results instead of {len(t)}"
    for i, (a, b) in enumerate(zip(t, o, strict=True)):
        where = f"{what}[{i}]" if len(t) > 1 else what
        if not isinstance(a, torch.Tensor):
            if isinstance(b, gradpack.Tensor):
                return f"{where}: a Tensor instead of {a!r}"
            if isinstance(a, bool | int | float | str) and values and repr(a) != repr(b):
                return f"{where}: {b!r} instead of {a!r}"
            continue
        if not isinstance(b, gradpack.Tensor):
            return f"{where}: {type(b).__name__} instead of a Tensor"
        if tuple(a.shape) != tuple(b.shape):
            return f"{where}: shape {tuple(b.shape)} instead of {tuple(a.shape)}"
        if str(a.dtype).split(".")[1] != str(b.dtype).split(".")[1]:
            return f"{where}: {b.dtype} instead of {a.dtype}"
        if a.requires_grad != b.requires_grad:
            return f"{where}: requires_grad {b.requires_grad} instead of {a.requires_grad}"
        if values and a.numel():
            x, y = array_of(a), np.asarray(b.detach().numpy())
            if x.dtype.kind not in "fc" and x.dtype != ml_dtypes.bfloat16:
                if not np.array_equal(x, y):
                    return f"{where}: {y.ravel()[:6]} instead of {x.ravel()[:6]}"
                continue
            wide = np.complex128 if x.dtype.kind == "c" else np.float64
            x, y = x.astype(wide), y.astype(wide)
            near = max(tolerance, TOLERANCE[str(a.dtype).split(".")[1]])
            if not np.allclose(y, x, rtol=near, atol=near, equal_nan=True):
                off = np.abs(y - x)
                return f"{where}: off by {np.nanmax(off):.3g}: {y.ravel()[:4]} instead of {x.ravel()[:4]}"
    return None


def cotangents(outputs: list[Any]) -> list[Any]:
    generator = torch.Generator().manual_seed(3)
    made = []
    for o in outputs:
        real = torch.rand(o.shape, generator=generator, dtype=torch.float64) + 0.5
        if o.is_complex():
            real = torch.complex(real, torch.rand(o.shape, generator=generator, dtype=torch.float64))
        made.append(real.to(o.dtype))
    return made


def differentiable(value: Any, kind: Any) -> list[Any]:
    return [v for v in flat(value, kind) if isinstance(v, kind) and v.requires_grad]


def compare(info: Any, function: Any, sample: Any, dtype: str, order: int) -> str | None:
    """One sample; `order`: how many times it is differentiated."""
    tolerance = TOLERANCE.get(dtype, 0.0)
    translate = Translation()
    arguments = (translate(sample.input), translate(tuple(sample.args)), translate(dict(sample.kwargs)))
    torch.manual_seed(1)
    state = torch.random.get_rng_state()
    try:
        expected = info.op(sample.input, *sample.args, **sample.kwargs)
    except Exception:  # a sample that torch itself cannot do tells nothing
        return None
    # Where values are random, or whatever was in memory: shape and dtype only.
    seeded = "wrapper_set_seed" in getattr(getattr(info.op, "__code__", None), "co_names", ())
    exact = bool((state == torch.random.get_rng_state()).all()) and not seeded and "empty" not in info.name
    try:
        given = function(arguments[0], *arguments[1], **arguments[2])
    except Exception as error:
        return f"raises {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    process = sample.output_process_fn_grad or (lambda x: x)
    found = differences(expected, given, "value", tolerance, exact)
    if found and info.name in UP_TO_PHASE and not differences(expected, given, "value", values=False):
        found = differences(process(expected), ours_from(process)(given), "value", tolerance)
    if found or not order or not exact:
        return found
    theirs, ours = process(expected), ours_from(process)(given)
    theirs, ours = differentiable(theirs, torch.Tensor), differentiable(ours, gradpack.Tensor)
    if len(theirs) != len(ours):
        return f"{len(ours)} results require grad instead of {len(theirs)}"
    pairs = [(t, o) for t, o in translate.pairs if t.requires_grad]
    if not theirs or not pairs:
        return None
    for level in range(1, order + 1):
        seeds = cotangents(theirs)
        try:
            left = torch.autograd.grad(
                theirs, [t for t, _ in pairs], seeds, create_graph=order > level, allow_unused=True
            )
        except RuntimeError:
            return None
        try:
            right = gradpack.autograd.grad(
                ours,
                [o for _, o in pairs],
                [Translation()(s) for s in seeds],
                create_graph=order > level,
                allow_unused=True,
            )
        except Exception as error:
            return f"gradient {level} raises {type(error).__name__}: {str(error).splitlines()[:1]}"
        zeros = [
            (torch.zeros_like(t) if a is None else a, gradpack.zeros_like(o) if b is None else b)
            for a, b, (t, o) in zip(left, right, pairs, strict=True)
        ]
        for i, (a, b) in enumerate(zeros):
            found = differences(a.detach(), b.detach(), f"gradient {level} of input {i}", tolerance * 10)
            if found:
                return found
        theirs, ours = [a for a, _ in zeros if a.requires_grad], [b for _, b in zeros if b.requires_grad]
        if not theirs or len(theirs) != len(ours):
            return None
    return None


def samples(info: Any, dtype: str, order: int, limit: int | None) -> Iterator[Any]:
    torch.manual_seed(0)
    if info.name == "as_strided" and info.variant_test_name == "partial_views":
        return  # about memory before the tensor: a translated one has none
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = info.sample_inputs("cpu", getattr(torch, dtype), requires_grad=order > 0)
        for i, sample in enumerate(made):
            if limit is not None and i >= limit:
                return
            yield sample


def bad_inputs(info: Any, function: Any) -> Iterator[str]:
    """What torch refuses and gradpack accepts, or refuses with another exception."""
    if info.error_inputs_func is None:
        return
    for bad in info.error_inputs("cpu"):
        sample = bad.sample_input
        translate = Translation()
        try:
            arguments = (translate(sample.input), translate(tuple(sample.args)), translate(dict(sample.kwargs)))
        except (AttributeError, TypeError, ValueError):  # a dtype, layout or number of dimensions that NumPy lacks
            continue
        try:
            info.op(sample.input, *sample.args, **sample.kwargs)
        except Exception as error:
            expected = error
        else:
            continue
        if isinstance(expected, NotImplementedError):
            continue
        try:
            function(arguments[0], *arguments[1], **arguments[2])
        except type(expected):
            continue
        except Exception as error:
            yield (
                f"bad input: {type(error).__name__} ({str(error)[:90]}) instead of "
                f"{type(expected).__name__} ({str(expected)[:90]})"
            )
        else:
            yield f"bad input accepted: {type(expected).__name__}: {str(expected)[:120]}"


def report(name: str, info: Any, limit: int | None = None) -> list[str]:
    """What differs for one operator: an empty list is what we want."""
    function = our_function(info)
    if function is None:
        return ["missing"]
    found: dict[str, str] = {}
    theirs = {str(d).split(".")[1] for d in info.dtypes}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for dtype in (*FIRST_AND_SECOND, *FORWARD):
            if dtype not in theirs:
                continue
            grads = {str(d).split(".")[1] for d in info.backward_dtypes} if info.supports_autograd else set()
            order = 0
            if dtype in FIRST_AND_SECOND and dtype in grads:
                order = 2 if info.supports_gradgrad else 1
            elif dtype == "bfloat16" and dtype in grads:
                order = 1
            for i, sample in enumerate(samples(info, dtype, order, limit)):
                try:
                    told = compare(info, function, sample, dtype, order)
                except Exception as error:
                    told = f"comparison fails: {type(error).__name__}: {error}"
                    if "-v" in sys.argv:
                        traceback.print_exc()
                if told:
                    key = dtype + " " + told.split(":")[0]
                    found.setdefault(key, f"{name} {dtype} sample {i} {describe(sample)}: {told}")
        for told in bad_inputs(info, function):
            found.setdefault(told, f"{name} {told}")
    return list(found.values())


def describe(sample: Any) -> str:
    def word(v: Any) -> str:
        if isinstance(v, torch.Tensor):
            return f"T{tuple(v.shape)}" + ("" if v.is_contiguous() else "/strided")
        if isinstance(v, list | tuple):
            return "[" + ", ".join(map(word, v)) + "]"
        return repr(v)[:40]

    words = [word(sample.input), *map(word, sample.args), *(f"{k}={word(v)}" for k, v in sample.kwargs.items())]
    return "(" + ", ".join(words) + ")"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="operators, by name with or without variant")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--missing", action="store_true", help="only say what does not exist")
    parser.add_argument("--limit", type=int, help="samples of each operator and dtype")
    parser.add_argument("-v", action="store_true", help="tracebacks")
    options = parser.parse_args()
    counts = {"agree": 0, "differ": 0, "missing": 0}
    missing = []
    for name, info in sorted(table().items()):
        if not options.all and not options.missing and name not in options.names and info.name not in options.names:
            continue
        if options.missing:
            if our_function(info) is None:
                missing.append(name)
            continue
        told = report(name, info, options.limit)
        if told == ["missing"]:
            counts["missing"] += 1
            missing.append(name)
            continue
        counts["differ" if told else "agree"] += 1
        for line in told:
            print(line, flush=True)
    if missing:
        print("missing:", " ".join(missing))
    print(counts)


if __name__ == "__main__":
    main()
