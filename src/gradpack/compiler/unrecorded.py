"""Functions that run without programs: disabled ones, and all under some stances of `torch.compiler.set_stance`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..autograd.grad_mode import Switch
from ..base.modes import MODE

DISABLED: dict[int, Any] = {}  # the code of functions that no program may call, by its identity
_STANCES = (
    "default", "eager_then_compile", "aot_eager_then_compile", "force_eager", "eager_on_recompile", "fail_on_recompile",
)  # fmt: skip


class set_stance(Switch):  # noqa: N801 - torch's name
    """Set what compiled functions do where no program fits: at once, or for a block or decorated function.

    Args:
        stance: "default", or one of torch's names for it, "eager_then_compile" and "aot_eager_then_compile": make a
            program. "force_eager": run all functions as they are, even where a program fits. "eager_on_recompile": run
            the function as it is. "fail_on_recompile": raise an error.
        skip_guard_eval_unsafe: without effect: what a program depends on is always compared.
        force_backend: "eager" is the stance "force_eager"; others are without effect.

    Raises:
        RuntimeError: for another stance, or if `force_backend` is given with one that is not "default".

    Example::

        >>> import gradpack as torch
        >>> double = torch.compile(lambda x: x * 2)
        >>> results = [double(torch.ones(2)) for _ in range(3)]
        >>> with torch.compiler.set_stance("fail_on_recompile"):
        ...     double(torch.ones(2))
        tensor([2., 2.])
        >>> with torch.compiler.set_stance("eager_on_recompile"):
        ...     double(torch.ones(3))
        tensor([2., 2., 2.])
        >>> print(double.explain().splitlines()[0])
        1 programs
    """

    _field = "stance"
    prev: Any
    mode: Any

    def __init__(
        self,
        stance: str = "default",
        *,
        skip_guard_eval_unsafe: bool = False,
        force_backend: str | Callable[..., Any] | None = None,
    ) -> None:
        if stance not in _STANCES:
            raise RuntimeError(f"invalid torch.compile stance {stance!r}: it is one of {', '.join(_STANCES)}")
        if stance != "default" and force_backend is not None:
            raise RuntimeError("non-default stance cannot have force_backend set")
        self.prev, self.mode = self._get(), "force_eager" if force_backend == "eager" else stance
        self.__enter__()


def stays_as_it_is(place: str, misses: list[str]) -> bool:
    """Return whether a function for which no program fits runs as it is.

    Args:
        place: where it is, for the message.
        misses: why programs did not run.

    Raises:
        RuntimeError: if the stance is "fail_on_recompile".
    """
    stance = MODE.get().stance
    if stance == "fail_on_recompile":
        why = f": {misses[-1]}" if misses else ""
        raise RuntimeError(f"Detected recompile when torch.compile stance is 'fail_on_recompile'{place}{why}")
    return stance == "eager_on_recompile"
