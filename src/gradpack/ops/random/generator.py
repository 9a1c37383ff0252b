"""Generators of random numbers, and the default one.

The state can be read and set, so that recomputation can replay it. The numbers
are NumPy's (PCG64), not torch's: the same seed gives other numbers than torch.
"""

from __future__ import annotations

from contextvars import ContextVar
from types import ModuleType
from typing import Any, SupportsInt

import numpy as np

from ...backends.numpy import quiet
from ...base import dtypes
from ...base.devices import as_device, device
from ...core.tensor import Tensor, wrap

FUNCTIONS = "Generator default_generator manual_seed seed initial_seed get_rng_state set_rng_state"

_STATE_WORDS = 8  # a PCG64 state as 64-bit words: 2 state, 2 increment, flag, buffered, seed, version


class Generator:
    """A source of random numbers with a state of its own.

    Example::

        >>> import gradpack as torch
        >>> a = torch.rand(2, generator=torch.Generator().manual_seed(1))
        >>> b = torch.rand(2, generator=torch.Generator().manual_seed(1))
        >>> torch.equal(a, b)
        True
    """

    def __init__(self, device: Any = "cpu") -> None:
        self._device = as_device(device)
        self._seed = 67280421310721
        self._numpy: Any = None  # made when first used: importing numpy.random costs time

    @property
    def device(self) -> device:
        return self._device

    @property
    def numpy(self) -> Any:
        """The `numpy.random.Generator` that draws the numbers."""
        if self._numpy is None:
            self._numpy = np.random.Generator(_seeded(self._seed))
        return self._numpy

    def manual_seed(self, seed: SupportsInt) -> Generator:
        """Reset the state from a seed."""
        try:
            seed = int(seed)
        except (TypeError, ValueError):
            raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}") from None
        if not -(2**63) <= seed < 2**64:
            raise ValueError(f"Overflow when unpacking long long: manual_seed() got {seed}")
        self._seed = seed % 2**64
        self._numpy = None
        return self

    def initial_seed(self) -> int:
        """The seed this generator started from."""
        return self._seed

    def seed(self) -> int:
        """Reset the state from a seed of the operating system."""
        import os

        self.manual_seed(int.from_bytes(os.urandom(8), "little"))
        return self._seed

    def get_state(self) -> Tensor:
        """The state, as a tensor of bytes."""
        state = self.numpy.bit_generator.state
        mask = 2**64 - 1
        words = [
            state["state"]["state"] & mask, state["state"]["state"] >> 64,
            state["state"]["inc"] & mask, state["state"]["inc"] >> 64,
            state["has_uint32"], state["uinteger"], self._seed, 1,
        ]  # fmt: skip
        return wrap(np.array(words, dtype=np.uint64).view(np.uint8))

    def set_state(self, new_state: Tensor) -> Generator:
        """Continue from a state that `get_state` gave."""
        if not isinstance(new_state, Tensor):
            raise TypeError(f"expected a Tensor as RNG state, but got {type(new_state).__name__}")
        if new_state._spec.dtype is not dtypes.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        if new_state.numel() != 8 * _STATE_WORDS:
            raise RuntimeError(f"RNG state must be a torch.ByteTensor of {8 * _STATE_WORDS} elements")
        w = [int(x) for x in np.ascontiguousarray(new_state._data).view(np.uint64)]
        self._seed = w[6]
        self.numpy.bit_generator.state = {
            "bit_generator": "PCG64",
            "state": {"state": w[0] | w[1] << 64, "inc": w[2] | w[3] << 64},
            "has_uint32": w[4],
            "uinteger": w[5],
        }
        return self

    def clone_state(self) -> Generator:
        """Another generator in the same state."""
        return Generator(self._device).set_state(self.get_state())


def _seeded(seed: int) -> Any:
    with quiet():  # NumPy changes its error settings meanwhile; an interrupt would not restore them
        return np.random.PCG64(seed)


default_generator = Generator()


class Drawn:
    """Records the state of each generator that an operation uses, before it draws."""

    __slots__ = ("states",)

    def __init__(self) -> None:
        self.states: list[Tensor] = []

    def next(self, generator: Generator) -> Any:
        self.states.append(generator.get_state())
        return generator.numpy


class Replayed:
    """Returns generators in the recorded states, so that a recomputed operation draws the same numbers."""

    __slots__ = ("_states",)

    def __init__(self, states: list[Tensor]) -> None:
        self._states = iter(states)

    def next(self, generator: Generator) -> Any:
        return Generator(generator.device).set_state(next(self._states)).numpy


# Records or replays the generators used in this context: None, a Drawn or a Replayed.
DRAWN: ContextVar[Drawn | Replayed | None] = ContextVar("gradpack random numbers", default=None)


def source(generator: Generator | None) -> Any:
    """Return the array library's generator for a `generator=` argument: NumPy's, or a device's, seeded by it.

    So all devices share one small state, on the host.
    """
    watching = DRAWN.get()
    if watching is None and generator is None:
        host = default_generator._numpy or default_generator.numpy
    else:
        host = _host_source(generator, watching)
    if type(np) is ModuleType:  # a failing attribute lookup on NumPy takes longer than drawing
        return host
    seeded = getattr(np, "seeded_by", None)  # of a device's namespace with generators of its own
    return host if seeded is None else seeded(host)


def _host_source(generator: Generator | None, watching: Any) -> Any:
    if watching is not None and (generator is None or isinstance(generator, Generator)):
        return watching.next(default_generator if generator is None else generator)
    if not isinstance(generator, Generator):
        raise TypeError(
            f"argument 'generator' must be gradpack.Generator, not {type(generator).__name__}: "
            "gradpack.Generator().manual_seed(seed) makes one"
        )
    return generator.numpy


def manual_seed(seed: SupportsInt) -> Generator:
    """Seed the default generator, and return it.

    Args:
        seed: an int from -2**63 to 2**64 - 1.

    Returns:
        The default generator.

    Example::

        >>> import gradpack as torch
        >>> _ = torch.manual_seed(0)
        >>> a = torch.randn(3)
        >>> _ = torch.manual_seed(0)
        >>> torch.equal(a, torch.randn(3))
        True
    """
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Seed the default generator from the operating system; returns the seed.

    Example::

        >>> import gradpack as torch
        >>> torch.seed() == torch.initial_seed()
        True
    """
    return default_generator.seed()


def initial_seed() -> int:
    """The seed of the default generator.

    Example::

        >>> import gradpack as torch
        >>> torch.manual_seed(3).initial_seed() == torch.initial_seed()
        True
    """
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """The state of the default generator.

    Example::

        >>> import gradpack as torch
        >>> torch.get_rng_state().dtype
        gradpack.uint8
    """
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Set the state of the default generator.

    Args:
        new_state: a state that `get_rng_state` returned.

    Raises:
        TypeError: unless it is a tensor of dtype uint8.
        RuntimeError: for another number of elements.

    Example::

        >>> import gradpack as torch
        >>> state = torch.get_rng_state(); a = torch.rand(2)
        >>> torch.set_rng_state(state)
        >>> torch.equal(a, torch.rand(2))
        True
    """
    default_generator.set_state(new_state)
