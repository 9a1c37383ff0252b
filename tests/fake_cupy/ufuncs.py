"""`cupy.ufunc`, and the operators and methods of arrays that call one."""

from __future__ import annotations

import numpy as np

from . import device as dev
from .array import _AT, SCALARS, computed, ndarray, opened


class ufunc:
    def __init__(self, name, types, at):
        self.__name__, self.types = name, types
        self.name = "cupy_" + name
        self._host = getattr(np, name)
        self.nin = self._host.nin if isinstance(self._host, np.ufunc) else 1
        self._at = None if at == "-" else at

    def __call__(self, *args, out=None, where=True, dtype=None, casting="same_kind", **rest):
        if rest or where is not True:
            raise TypeError(f"Wrong arguments {sorted(rest)}, where={where}")  # CuPy has where: nothing here needs it
        if len(args) > self.nin:
            out = args[self.nin] if len(args) == self.nin + 1 else tuple(args[self.nin :])
            args = args[: self.nin]
        for a in args:
            if not isinstance(a, (ndarray, *SCALARS)):
                raise TypeError(f"Unsupported type {type(a)}")
        self._check(args)
        if out is None:
            more = {} if dtype is None else {"dtype": dtype}
            return computed(self._host, *args, **more)
        if not isinstance(out, ndarray):
            raise TypeError(f"Output arguments must be cupy.ndarray: {type(out)}")
        dev.kernel()
        arrays = []
        opened_args = opened(list(args), arrays)
        opened(out, arrays)
        with np.errstate(all="ignore"):
            made = np.asarray(self._host(*opened_args))
            if not np.can_cast(made.dtype, out.dtype, casting):
                raise TypeError(f"output (typecode {made.dtype.char!r}) could not be coerced to {out.dtype.char!r}")
            np.copyto(out._a, made, casting="unsafe")
        return out

    def _check(self, args):
        """Is there a loop for these operands?"""
        kinds = [np.dtype(a.dtype).char if hasattr(a, "dtype") else None for a in args]
        for line in self.types:
            wanted = line.split("->")[0]
            if all(
                k is None or k == w or (np.dtype(k).char != "E" and w != "E" and np.can_cast(np.dtype(k), np.dtype(w)))
                for k, w in zip(kinds, wanted, strict=False)
            ):
                return
        raise TypeError(f"Wrong type ({kinds}) of arguments for cupy_{self.__name__}")

    def reduce(self, array, axis=0, dtype=None, out=None, keepdims=False):
        if self.__name__ not in ("add", "multiply"):
            raise NotImplementedError(f"`cupy_{self.__name__}.reduce` is not supported yet")
        return computed(self._host.reduce, array, axis=axis, dtype=dtype, keepdims=keepdims)

    def accumulate(self, array, axis=0, dtype=None, out=None):
        if self.__name__ not in ("add", "multiply"):
            raise NotImplementedError(f"`cupy_{self.__name__}.accumulate` is not supported yet")
        return computed(self._host.accumulate, array, axis=axis, dtype=dtype)

    def reduceat(self, array, indices, axis=0, dtype=None, out=None):
        if self.__name__ != "add":
            raise NotImplementedError(f"`cupy_{self.__name__}.reduceat` is not supported yet")
        return computed(self._host.reduceat, array, indices, axis=axis, dtype=dtype)

    def at(self, a, indices, b=None):
        if self._at not in _AT:
            raise NotImplementedError(f"`cupy_{self.__name__}.at` is not supported yet")
        a._scatter_op(indices, b, self._at)

    def outer(self, A, B, **kwargs):
        return computed(self._host.outer, A, B, **kwargs)

    def __repr__(self):
        return f"<ufunc '{self.name}'>"


def _binary(name, swapped=False):
    def method(self, other):
        import cupy

        if not isinstance(other, (ndarray, *SCALARS)):
            if isinstance(other, np.ndarray):
                raise TypeError(f"Unsupported type {type(other)}")
            return NotImplemented
        function = getattr(cupy, name)
        return function(other, self) if swapped else function(self, other)

    return method


def _inplace(name):
    def method(self, other):
        import cupy

        if isinstance(other, np.ndarray):
            raise TypeError(f"Unsupported type {type(other)}")
        return getattr(cupy, name)(self, other, out=self)

    return method


_OPERATORS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide", "floordiv": "floor_divide",
    "mod": "remainder", "pow": "power", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
    "lshift": "left_shift", "rshift": "right_shift", "matmul": "matmul", "divmod": "divmod",
}  # fmt: skip
for _name, _function in _OPERATORS.items():
    setattr(ndarray, f"__{_name}__", _binary(_function))
    setattr(ndarray, f"__r{_name}__", _binary(_function, swapped=True))
    if _name not in ("divmod", "matmul"):  # CuPy has no __imatmul__
        setattr(ndarray, f"__i{_name}__", _inplace(_function))
for _name, _function in {
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal",
}.items():  # fmt: skip
    setattr(ndarray, f"__{_name}__", _binary(_function))
for _name, _function in {"neg": "negative", "abs": "absolute", "invert": "invert", "pos": "positive"}.items():

    def _unary(self, _function=_function):
        import cupy

        return getattr(cupy, _function)(self)

    setattr(ndarray, f"__{_name}__", _unary)


def _method(name):
    def method(self, *args, **kwargs):
        import cupy

        if name in ("all", "any", "max", "min", "sum", "prod", "mean", "var", "std", "argmax", "argmin"):
            return getattr(cupy, name)(self, *args, **kwargs)
        return computed(getattr(np.ndarray, name), self, *args, **kwargs)

    method.__name__ = name
    return method


for _name in (
    "all any max min sum prod mean var std argmax argmin argsort clip conj conjugate cumprod cumsum diagonal dot "
    "repeat round squeeze swapaxes take trace argpartition searchsorted"
).split():
    setattr(ndarray, _name, _method(_name))
