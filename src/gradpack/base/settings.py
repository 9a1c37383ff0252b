"""Process-wide settings: determinism, which fills the memory that `empty` gives, and whether warnings repeat."""

from __future__ import annotations

from typing import Any

_state: dict[str, bool] = {"deterministic": False, "warn_only": False, "warn_always": False, "fill": True}
FILLING = [False]  # does `empty` fill memory now? In a list of its own, for `empty` checks it on each call
_MODES = {"default": 0, "warn": 1, "error": 2}


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Set whether operations must be deterministic. They always are: results do not depend on the number of threads.

    If set, `empty` fills its memory: see `utils.deterministic`.

    Args:
        mode: True to ask for deterministic operations, False to allow others.
        warn_only: warn of an operation that is not deterministic, instead of an error: there is none, and this is only
            what `is_deterministic_algorithms_warn_only_enabled` returns.

    Example::

        >>> import gradpack as torch
        >>> torch.use_deterministic_algorithms(True)
        >>> torch.are_deterministic_algorithms_enabled()
        True
        >>> torch.use_deterministic_algorithms(False)
    """
    _check_bool("_set_deterministic_algorithms(): argument 'mode' (position 1)", mode)
    _check_bool("_set_deterministic_algorithms(): argument 'warn_only'", warn_only)
    _state["deterministic"], _state["warn_only"] = mode, warn_only
    FILLING[0] = mode and _state["fill"]


def _check_bool(what: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise TypeError(f"{what} must be bool, not {type(value).__name__}")


def fill_memory(mode: bool) -> None:
    """Set whether uninitialised memory is filled while deterministic algorithms are on."""
    _check_bool("fill_uninitialized_memory", mode)
    _state["fill"] = mode
    FILLING[0] = mode and _state["deterministic"]


def is_memory_filled() -> bool:
    """Return the setting of `fill_memory`."""
    return bool(_state["fill"])


def are_deterministic_algorithms_enabled() -> bool:
    """Return the setting of `use_deterministic_algorithms`.

    Example::

        >>> import gradpack as torch
        >>> torch.are_deterministic_algorithms_enabled()
        False
    """
    return bool(_state["deterministic"])


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Return the setting `warn_only` of `use_deterministic_algorithms`.

    Example::

        >>> import gradpack as torch
        >>> torch.is_deterministic_algorithms_warn_only_enabled()
        False
    """
    return bool(_state["warn_only"])


def get_deterministic_debug_mode() -> int:
    """Return the debug mode for deterministic algorithms: 0 off, 1 with warnings, 2 with errors.

    Example::

        >>> import gradpack as torch
        >>> torch.get_deterministic_debug_mode()
        0
    """
    if not _state["deterministic"]:
        return 0
    return 1 if _state["warn_only"] else 2


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """Set the debug mode for deterministic algorithms: another form of `use_deterministic_algorithms`.

    Args:
        debug_mode: 0 or `"default"` switches them off, 1 or `"warn"` on with `warn_only`, 2 or `"error"` on.

    Raises:
        RuntimeError: for another number or str.
        TypeError: for anything else.

    Example::

        >>> import gradpack as torch
        >>> torch.set_deterministic_debug_mode("error")
        >>> torch.get_deterministic_debug_mode()
        2
        >>> torch.set_deterministic_debug_mode(0)
    """
    if not isinstance(debug_mode, int | str):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    if isinstance(debug_mode, str):
        if debug_mode not in _MODES:
            raise RuntimeError(
                f"invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got {debug_mode}"
            )
        debug_mode = _MODES[debug_mode]
    if debug_mode not in (0, 1, 2):
        raise RuntimeError(f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}")
    use_deterministic_algorithms(debug_mode > 0, warn_only=debug_mode == 1)


def is_warn_always_enabled() -> bool:
    """Return the setting of `set_warn_always`. Python's warning filters apply as well.

    Example::

        >>> import gradpack as torch
        >>> torch.is_warn_always_enabled()
        False
    """
    return bool(_state["warn_always"])


def set_warn_always(b: bool, /) -> None:
    """Set whether warnings are issued each time, instead of once per process.

    Args:
        b: True for each time.

    Example::

        >>> import gradpack as torch
        >>> torch.set_warn_always(False)
    """
    if not isinstance(b, bool):
        raise RuntimeError(f"setWarnOnlyOnce expects a bool, but got {type(b).__name__}")
    _state["warn_always"] = b
