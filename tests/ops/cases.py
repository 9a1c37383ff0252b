"""A sample as calls: with arrays or Tensors of any dtype and layout, its gradients and differences."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradpack.autograd.api import grad
from gradpack.base.dtypes import FLOATING, dtype
from gradpack.base.modes import MODE, using
from gradpack.core.tensor import Tensor, wrap
from gradpack.declare.op import REGISTRY, Op
from gradpack.ops.random.generator import manual_seed
from tests.samples.base import S, T, all_samples, seeded

SWEEP = bool(os.environ.get("GRADPACK_SWEEP"))
Arrays = list[Any]

# Vectors that are determined up to a phase where they are complex: which results are not. What
# derivatives the vectors have is tested by themselves, with losses that no phase changes.
WITHOUT_PHASE = {"linalg_eig": (0,), "linalg_eigh": (0,), "linalg_svd": (1,)}

# Operations that torch cannot differentiate, and that say so in backward.
NO_DERIVATIVE = {"geqrf", "linalg_ldl_factor_ex", "linalg_ldl_solve"}

# Operations with such a parameter draw random numbers. Two calls of one case must agree, so every
# call of them starts from the same state of the default generator.
DRAWING = {"generator", "dropout_p"}


def load_operations() -> None:
    """Import every module that declares operations."""
    import importlib
    import pkgutil

    import gradpack.ops

    for found in pkgutil.walk_packages(gradpack.ops.__path__, "gradpack.ops."):
        importlib.import_module(found.name)


class Case:
    """One sample of one operation.

    Attributes:
        leaves: the tensors of the sample, in the order of the call.
        params: for each leaf, the parameter that it belongs to.
        inputs: the positions of leaves that the declaration differentiates by.
    """

    __slots__ = ("inputs", "leaves", "nr", "op", "params", "sample")

    def __init__(self, op: Op, nr: int | str, sample: S) -> None:
        self.op, self.nr, self.sample = op, nr, sample
        self.leaves: list[T] = sample.tensors()
        owners: dict[int, str] = {}
        markers = iter(range(len(self.leaves)))
        args, kwargs = sample.map(lambda _: _Marker(next(markers)))
        for param, value in zip(op.params, op.bind(args, kwargs), strict=True):
            for marker in _markers(value):
                owners[marker.position] = param
        self.params = [owners[i] for i in range(len(self.leaves))]
        self.inputs = [
            i
            for i, (t, p) in enumerate(zip(self.leaves, self.params, strict=True))
            if p in op.inputs and t.kind in ("float", "complex") and op.name not in NO_DERIVATIVE
        ]

    def __repr__(self) -> str:
        return f"{self.op.name}: sample {self.nr}, {self.sample}"

    def arrays(self, native: Any = np.float64) -> Arrays:
        """Values for the leaves, the same at every call."""
        rng = seeded(self.op.name, self.nr)
        return [t.array(rng, native) for t in self.leaves]

    def call(self, values: Sequence[Any], **extra: Any) -> list[Any]:
        """Call the operation with `values` for the leaves. Several results or one, as a list."""
        args, kwargs = arguments(self, values)
        if DRAWING & set(self.op.params):
            manual_seed(0)
        result = self.op.public(*args, **kwargs, **extra)
        return list(result) if self.op.returns else [result]

    def values(self, arrays: Arrays) -> Arrays:
        """The arrays of all results, nothing recorded."""
        with using(grad=False):
            return [out._data for out in self.call([wrap(a) for a in arrays])]

    def rounded(self, native: Any) -> Case:
        """The same sample with its numbers as the operation computes with them in a dtype of 16 bits."""
        if not self.op.rounds:
            return self

        def number(param: str, value: Any) -> Any:
            return float(np.array(value).astype(native)) if type(value) is float and param in self.op.promote else value

        args = [number(p, v) for p, v in zip(self.op.params, self.sample.args, strict=False)]
        return Case(self.op, self.nr, S(*args, **{p: number(p, v) for p, v in self.sample.kwargs.items()}))

    def tensors(self, arrays: Arrays, needing: Sequence[int] | None = None) -> list[Tensor]:
        """Tensors of the leaves; those at `needing` (default: all inputs) require grad."""
        chosen = self.inputs if needing is None else needing
        made = [wrap(a) for a in arrays]
        for i in chosen:
            made[i].requires_grad_()
        return made

    def differentiable(self, outs: Sequence[Tensor]) -> list[Tensor]:
        """Those of the results that have a gradient by the declaration."""
        count = len(outs) if self.op.differentiable is None else self.op.differentiable
        chosen = outs[:count]
        if self.op.name in WITHOUT_PHASE and any(o._spec.dtype.is_complex for o in outs):
            chosen = [outs[i] for i in WITHOUT_PHASE[self.op.name]]
        return [o for o in chosen if o._spec.dtype.category >= FLOATING]

    def smooth_values(self, arrays: Arrays) -> Arrays:
        """The arrays of the differentiable results."""
        with using(grad=False):
            return [out._data for out in self.differentiable(self.call([wrap(a) for a in arrays]))]

    def smooth(self, arrays: Arrays) -> bool:
        """Whether there are differences to compare with: not at inf and nan, nor for the mean of nothing.

        What is not finite although the inputs are, is an error.
        """
        empty = any(not a.size for a in arrays)
        values = finite(self.smooth_values(arrays))
        assert values or empty or not finite(arrays), f"{self}: the results of finite inputs are not finite"
        return values and finite(arrays)

    def directions(self, arrays: Arrays, name: str = "direction") -> Arrays:
        """A random direction for each input; None for other leaves."""
        rng = seeded(self.op.name, self.nr, name)
        return [self.leaves[i].along(like(rng, a)) if i in self.inputs else None for i, a in enumerate(arrays)]

    def seeds(self, arrays: Arrays) -> Arrays:
        """A random gradient for each differentiable result."""
        rng = seeded(self.op.name, self.nr, "seed")
        return [like(rng, y) for y in self.smooth_values(arrays)]

    def gradients(self, arrays: Arrays, seeds: Arrays, needing: Sequence[int] | None = None) -> Arrays:
        """The gradients of the inputs (zeros where there is none), as arrays."""
        chosen = self.inputs if needing is None else needing
        tensors = self.tensors(arrays, chosen)
        outs = self.differentiable(self.call(tensors))
        return self.gradients_of(outs, [tensors[i] for i in chosen], seeds)

    @staticmethod
    def gradients_of(outs: Sequence[Tensor], sources: Sequence[Tensor], seeds: Arrays) -> Arrays:
        pairs = [(o, wrap(u)) for o, u in zip(outs, seeds, strict=True) if o.requires_grad]
        if not pairs:
            return [np.zeros_like(s._data) for s in sources]
        found = grad([o for o, _ in pairs], list(sources), [u for _, u in pairs], allow_unused=True)
        return [np.zeros_like(s._data) if g is None else g._data for s, g in zip(sources, found, strict=True)]

    def difference(self, arrays: Arrays, directions: Arrays, step: float = 1e-6) -> Arrays:
        """The derivative of the results along `directions`, by central differences."""
        plus = self.smooth_values(moved(arrays, directions, step))
        minus = self.smooth_values(moved(arrays, directions, -step))
        return [(p - m) / (2 * step) for p, m in zip(plus, minus, strict=True)]


def arguments(case: Case, values: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of the call with `values` for the leaves."""
    following = iter(values)
    return case.sample.map(lambda _: next(following))


class _Marker:
    __slots__ = ("position",)

    def __init__(self, position: int) -> None:
        self.position = position


def _markers(value: Any) -> list[_Marker]:
    if isinstance(value, _Marker):
        return [value]
    return [m for v in value for m in _markers(v)] if isinstance(value, list | tuple) else []


def like(rng: np.random.Generator, array: Any) -> Any:
    """Normally distributed values in the shape and dtype of an array."""
    drawn: Any = rng.normal(size=array.shape)
    if array.dtype.kind == "c":
        drawn = drawn + 1j * rng.normal(size=array.shape)
    return np.asarray(drawn).astype(array.dtype)


def moved(arrays: Arrays, directions: Arrays, step: float) -> Arrays:
    return [a if v is None else a + step * v for a, v in zip(arrays, directions, strict=True)]


def dot(a: Any, b: Any) -> float:
    """The inner product under which a complex gradient is one: that of real and imaginary parts."""
    return float(np.sum(np.conj(a) * b).real)


def total(xs: Arrays, ys: Arrays) -> tuple[float, float]:
    """The sum of inner products, and how large its terms are."""
    value = sum((dot(x, y) for x, y in zip(xs, ys, strict=True)), 0.0)
    scale = sum((float(np.sum(np.abs(np.asarray(x) * np.asarray(y)))) for x, y in zip(xs, ys, strict=True)), 0.0)
    return value, scale


def finite(arrays: Arrays) -> bool:
    return all(bool(np.isfinite(a).all()) for a in arrays if a.dtype.kind in "fc")


def close(a: Any, b: Any, rtol: float, atol: float = 0.0) -> bool:
    """Equal within `rtol` of the largest element; NaN equals NaN."""
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        return False
    if not a.size:
        return True
    if a.dtype.kind not in "fciub":
        a, b = a.astype(np.float32), b.astype(np.float32)
    finite = np.abs(b[np.isfinite(b)])
    scale = float(finite.max()) if finite.size else 0.0
    return bool(np.allclose(a, b, rtol=rtol, atol=atol + rtol * scale, equal_nan=True))


def same(a: Any, b: Any) -> bool:
    """Equal in shape, dtype and every bit (but NaNs may differ in theirs, and zeros in sign)."""
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.kind == "V":
        a, b = a.astype(np.float32), b.astype(np.float32)
    return bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"))


def mode_now() -> tuple[Any, ...]:
    """The fields of the current mode, to see that a failure changed none."""
    mode = MODE.get()
    return (mode.grad, mode.hooks, mode.inference, mode.dual, mode.anomaly, mode.recorder, mode.profiler, mode.levels)


def cases(op: Op, check: str, limit: int = 0) -> list[Case]:
    """The cases of an operation; at most `limit` of them, chosen by names. Sweeping, all, and with two sets of values.

    The first sample, the usual one, is always among them.
    """
    samples = all_samples().get(op.name)
    if not samples:
        raise AssertionError(
            f"{op.name} is declared and has no samples: add some to the table in tests/samples/, by which every "
            "declaration is checked"
        )
    numbers = list(range(len(samples)))
    if limit and len(samples) > limit and not SWEEP:
        rest = seeded(op.name, check).permutation(len(samples) - 1)[: limit - 1] + 1
        numbers = [0, *sorted(int(n) for n in rest)]
    return [Case(op, name, samples[n]) for n in numbers for name in ([n, f"{n}, drawn anew"] if SWEEP else [n])]


# Settings that change no formula, or that only one value makes sense for.
NEUTRAL = {"generator", "inplace", "non_blocking", "memory_format", "copy", "stable", "sparse_grad"}
NOT_EMPTY = {
    "_max_all": "nothing has no largest element",
    "_min_all": "nothing has no smallest element",
    "_median_all": "nothing has no middle: the result is nan",
    "_nanmedian_all": "nothing has no middle: the result is nan",
    "mean": "nothing has no mean: the result is nan",
    "_mean_squared_difference": "nothing has no mean: the result is nan",
}
# Settings whose effect contradicts the claims on purpose: tested by themselves.
NOT_VARIED = {
    ("_embedding", "padding_idx"): "the row gets no gradient by definition",
    ("_embedding", "scale_grad_by_freq"): "the gradient is scaled by definition",
}


def unreached(op: Op, chosen: list[Case]) -> list[str]:
    """What a declaration has and no sample exercises."""
    missing: list[str] = []
    given = {p for case in chosen for p in case.params}
    missing += [f"a tensor as {p!r}" for p in op.inputs if p not in given]
    values: dict[str, list[Any]] = {p: [] for p in op.params}
    for case in chosen:
        for p, value in zip(op.params, op.bind(*case.sample.map(lambda t: t)), strict=True):
            values[p].append(value)
    for p, default in op.defaults.items():
        if (
            p not in NEUTRAL
            and (op.name, p) not in NOT_VARIED
            and all(v is default or (type(v) is type(default) and v == default) for v in values[p])
        ):
            missing.append(f"anything but {default!r} as {p!r}")
    shapes = [[t.shape for t in case.leaves] for case in chosen]
    if op.inputs and op.name not in NOT_EMPTY and not any(0 in shape for found in shapes for shape in found):
        missing.append("a tensor of no elements")
    if op.kind == "elementwise" and not any(shape == () for found in shapes for shape in found):
        missing.append("a 0-dim tensor")
    if op.broadcasts and len(op.inputs) > 1 and not any(len(set(found)) > 1 for found in shapes):
        missing.append("tensors of different shapes")
    return missing


def operations() -> list[str]:
    """All but those of sparse tensors, which `tests/behaviour/ops/test_sparse.py` has: the checks make dense ones."""
    load_operations()
    return sorted(name for name, op in REGISTRY.items() if not (op.sparse or name == "_embedding_sparse"))


def native(d: dtype) -> Any:
    from gradpack.backends.numpy import NATIVE

    return NATIVE[d]
