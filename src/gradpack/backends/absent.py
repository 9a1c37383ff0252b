"""Parts of `torch.backends` for accelerators and libraries that gradpack never uses: reported as unavailable."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from types import ModuleType, SimpleNamespace
from typing import Any

from ..base.exits import block


def _says(name: str, answer: Any) -> Callable[..., Any]:
    def ask(*args: Any, **kwargs: Any) -> Any:
        return answer

    ask.__name__ = ask.__qualname__ = name
    ask.__doc__ = f"Always {answer!r}."
    return ask


def is_available() -> bool:
    """Whether there is such a device: no."""
    return False


def device_count() -> int:
    """How many such devices there are: none."""
    return 0


def empty_cache() -> None:
    """Give unused memory back: there is none."""


def manual_seed(seed: int) -> None:
    """Seed the generator of such a device: there is none, and nothing happens."""


def not_compiled(kind: str) -> Callable[[], None]:
    """Return the `synchronize` of an unavailable kind of device, which raises."""

    def synchronize() -> None:
        """Wait until such a device has done its work: there is none.

        Raises:
            AssertionError: always.
        """
        raise AssertionError(f"Torch not compiled with {kind} enabled")

    return synchronize


def _switches(names: str) -> SimpleNamespace:
    return SimpleNamespace(**dict.fromkeys(names.split(), False))


# Functions with their constant results, and settings with their initial values. Settings have no effect.
_MODULES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "cpu": ({"get_cpu_capability": "DEFAULT"}, {}),
    "cuda": (
        {
            "is_built": False,
            "is_flash_attention_available": False,
            "flash_sdp_enabled": False,
            "mem_efficient_sdp_enabled": False,
            "cudnn_sdp_enabled": False,
            "math_sdp_enabled": True,  # attention has only one implementation, the plain one
            "enable_flash_sdp": None,
            "enable_mem_efficient_sdp": None,
            "enable_cudnn_sdp": None,
            "enable_math_sdp": None,
            "sdp_kernel": nullcontext(),
        },
        {
            "matmul": _switches(
                "allow_tf32 allow_fp16_reduced_precision_reduction allow_bf16_reduced_precision_reduction"
            )
        },
    ),
    "cudnn": (
        {"is_available": False, "version": None, "is_acceptable": False},
        {"enabled": True, "deterministic": False, "benchmark": False, "benchmark_limit": None, "allow_tf32": True},
    ),
    "mkl": ({"is_available": False}, {}),
    "mkldnn": ({"is_available": False}, {"enabled": True, "deterministic": False}),
    "mps": ({"is_available": False, "is_built": False}, {}),
    "nnpack": ({"is_available": False}, {}),
    "openmp": ({"is_available": False}, {}),
}


def module(name: str) -> ModuleType | None:
    """`gradpack.backends.<name>`; None for a name that is none of these."""
    if name not in _MODULES:
        return None
    full = f"{__package__}.{name}"
    if full not in sys.modules:
        made = ModuleType(full, f"`torch.backends.{name}`: not there.")
        functions, settings = _MODULES[name]
        vars(made).update({n: _says(n, answer) for n, answer in functions.items()})
        vars(made).update(settings)
        if settings:
            vars(made)["flags"] = _flags(made, settings)
        sys.modules[full] = made
    return sys.modules[full]


def _flags(made: ModuleType, settings: dict[str, Any]) -> Any:
    @block
    def flags(**wanted: Any) -> Iterator[None]:
        unknown = set(wanted) - set(settings)
        if unknown:
            raise TypeError(f"flags() got an unexpected keyword argument {min(unknown)!r}")
        before = {n: getattr(made, n) for n in wanted}
        try:
            vars(made).update(wanted)
            yield
        finally:
            vars(made).update(before)

    return flags
