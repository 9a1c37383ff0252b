"""The table of functions that stand in for NumPy's, by module and name."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from .host_arrays import constant

BY_MODULE: dict[str, dict[str, Any]] = {"": {}, "linalg": {}, "stride_tricks": {}, "special": {}, "fft": {}}


def entered(module: str = "") -> Callable[[Any], Any]:
    """Enter a function under its name, which may end with an underscore."""

    def enter(function: Any) -> Any:
        @wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            return constant(function(*args, **kwargs))

        BY_MODULE[module][function.__name__.strip("_")] = run
        return run

    return enter
