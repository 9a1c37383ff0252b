"""`torch.quasirandom`: Sobol's sequences, which fill the unit cube more evenly than random numbers do."""

from __future__ import annotations

from typing import Any

import numpy as np

from .base import dtypes
from .core.tensor import Tensor
from .ops.create.create import from_numpy
from .ops.random.integers import randint


class SobolEngine:
    """Gives the points of a Sobol sequence, one after the other: those of torch, scrambled ones of the same seed too.

    Direction numbers are those of Joe and Kuo, which the package SciPy has.

    Args:
        dimension: how many coordinates a point has, from 1 to 21201.
        scramble: permute the binary digits at random.
        seed: of that; without it, random numbers come from the default generator.

    Raises:
        ValueError: for another dimension.
        ImportError: without SciPy.

    Source: Joe and Kuo, 2008; scrambling by Matousek, 1998.

    Example::

        >>> import gradpack as torch
        >>> torch.quasirandom.SobolEngine(dimension=5).draw(3)
        tensor([[0.0000, 0.0000, 0.0000, 0.0000, 0.0000],
                [0.5000, 0.5000, 0.5000, 0.5000, 0.5000],
                [0.7500, 0.2500, 0.2500, 0.2500, 0.7500]])
    """

    MAXBIT = 30
    MAXDIM = 21201

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if not 1 <= dimension <= self.MAXDIM:
            raise ValueError(f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]")
        self.dimension, self.scramble, self.seed = dimension, scramble, seed
        numbers, shift = _direction_numbers(dimension, self.MAXBIT), np.zeros(dimension, np.int64)
        if scramble:
            bits = _bits(dimension * self.MAXBIT * (1 + self.MAXBIT), seed)
            shift = bits[: dimension * self.MAXBIT].reshape(dimension, -1) @ (1 << np.arange(self.MAXBIT))
            numbers = _scrambled(numbers, bits[dimension * self.MAXBIT :].reshape(dimension, self.MAXBIT, -1))
        self.sobolstate, self.shift = from_numpy(numbers), from_numpy(shift)
        self.quasi = from_numpy(shift.copy())
        self._first_point = (self.quasi / 2**self.MAXBIT).reshape(1, -1)
        self.num_generated = 0

    def draw(self, n: int = 1, out: Tensor | None = None, dtype: dtypes.dtype | None = None) -> Tensor:
        """Return the next `n` points as rows.

        Args:
            n: how many.
            out: is filled with them.
            dtype: of the result, the default one if not given.
        """
        kind = dtypes.get_default_dtype() if dtype is None else dtype
        points = self._next(n)
        found = from_numpy(points).to(kind) / 2**self.MAXBIT
        self.num_generated += n
        if out is None:
            return found
        return out.resize_as_(found).copy_(found)

    def _next(self, n: int) -> Any:
        """Return the next points as integers, and go on to the last of them."""
        if n < 0 or (n == 0 and not self.num_generated):
            raise RuntimeError(f"SobolEngine: cannot draw {n} points: Trying to create tensor with negative dimension")
        first = not self.num_generated
        held = self.quasi.numpy()
        steps = np.arange(n - first, dtype=np.int64) + max(self.num_generated - 1, 0)
        places = _lowest_zero(steps)
        points = np.bitwise_xor.accumulate(
            np.concatenate([held[None], self.sobolstate.numpy()[:, places].T.astype(np.int64)]), axis=0
        )
        self.quasi = from_numpy(points[-1].copy())
        return points if first else points[1:]

    def draw_base2(self, m: int, out: Tensor | None = None, dtype: dtypes.dtype | None = None) -> Tensor:
        """Return the next `2**m` points as rows.

        Raises:
            ValueError: if the number of all points would then be no power of two.
        """
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: n={self.num_generated}+2**{m}="
                f"{total}. If you still want to do this, please use 'SobolEngine.draw()' instead."
            )
        return self.draw(n, out, dtype)

    def reset(self) -> SobolEngine:
        """Begin anew."""
        self.quasi = self.shift.clone()
        self.num_generated = 0
        return self

    def fast_forward(self, n: int) -> SobolEngine:
        """Leave out `n` points."""
        start, self.num_generated = max(self.num_generated - 1, 0), self.num_generated + n
        numbers, quasi = self.sobolstate.numpy(), self.quasi.numpy().copy()
        end = max(self.num_generated - 1, 0)
        changed = (start ^ (start >> 1)) ^ (end ^ (end >> 1))  # digits of Gray's code
        for place in range(self.MAXBIT):
            if changed >> place & 1:
                quasi ^= numbers[:, place]
        self.quasi = from_numpy(quasi)
        return self

    def __repr__(self) -> str:
        words = [f"dimension={self.dimension}"]
        words += ["scramble=True"] if self.scramble else []
        words += [] if self.seed is None else [f"seed={self.seed}"]
        return f"{type(self).__name__}({', '.join(words)})"


def _direction_numbers(dimension: int, bits: int) -> Any:
    try:
        from scipy.stats import qmc
    except ImportError as error:
        raise ImportError(f"SobolEngine needs SciPy: pip install 'gradpack[special]' ({error})") from None
    return qmc.Sobol(dimension, scramble=False, bits=bits)._sv.astype(np.int64)


def _bits(count: int, seed: int | None) -> Any:
    """Random bits: for a seed, those that torch's generator of that seed gives."""
    if seed is None:
        return randint(2, (count,)).numpy()
    return np.random.RandomState(seed & 0xFFFFFFFF)._bit_generator.random_raw(count).astype(np.int64) % 2


def _scrambled(numbers: Any, matrices: Any) -> Any:
    """Multiply the binary digits of each number by the lower triangle of a random matrix, modulo two."""
    size = numbers.shape[1]
    lower = np.tril(matrices.astype(np.int64))
    lower[:, np.arange(size), np.arange(size)] = 1
    digits = numbers[:, :, None] >> np.arange(size - 1, -1, -1) & 1  # the highest first
    made = np.einsum("dpk,djk->djp", lower, digits) % 2
    return made @ (1 << np.arange(size - 1, -1, -1))


def _lowest_zero(steps: Any) -> Any:
    """The place of the lowest binary digit of each number that is zero."""
    return np.frexp((~steps & (steps + 1)).astype(np.float64))[1] - 1


__all__ = ["SobolEngine"]
