"""Random numbers that a CUDA device draws: Philox, seeded anew for each call by a number from the host's generator.

So the state of all devices is that of the generator that the user knows, on the host, and few bytes: who sets it back
draws the same numbers again. Setting up Philox is one short kernel.
"""

from __future__ import annotations

import math
from typing import Any

STREAMS = 1 << 15  # threads that draw beside each other, each from a sequence of its own


class DeviceRandom:
    """Spoken to as a `numpy.random.Generator`, it draws on the device in use."""

    __slots__ = ("_generator", "_library")

    def __init__(self, library: Any, seed: int) -> None:
        self._library = library
        random = library.random
        self._generator = random.Generator(random.Philox4x3210(seed, size=STREAMS))

    def random(self, size: Any = None, dtype: Any = "float64") -> Any:
        return self._generator.random(size, dtype)

    def uniform(self, low: float = 0.0, high: float = 1.0, size: Any = None) -> Any:
        return self._generator.random(size) * (high - low) + low

    def integers(self, low: int, high: int, size: Any = None, dtype: Any = "int64") -> Any:
        return self._generator.integers(low, high, size, self._library.dtype(dtype))

    def standard_normal(self, size: Any = None, dtype: Any = "float64") -> Any:
        return self._generator.standard_normal(size, dtype)

    def exponential(self, scale: float = 1.0, size: Any = None) -> Any:
        return self._generator.exponential(scale, size)

    def geometric(self, p: float, size: Any = None) -> Any:
        return self._generator.geometric(p, size)

    def poisson(self, rates: Any) -> Any:
        return self._generator.poisson(rates, rates.shape)

    def standard_cauchy(self, size: Any = None) -> Any:
        return self._library.tan((self._generator.random(size) - 0.5) * math.pi)

    def lognormal(self, mean: float = 0.0, sigma: float = 1.0, size: Any = None) -> Any:
        return self._library.exp(self._generator.standard_normal(size) * sigma + mean)

    def permutation(self, n: int) -> Any:
        """The order of so many random numbers; equal ones, of 64 bits each, do not occur."""
        return self._library.argsort(self._generator.integers(0, 1 << 63, n))
