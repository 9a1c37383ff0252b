"""Functions of autocast's state that torch keeps under names with the device in them, and warns of.

The examples show the new names.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ..amp import autocast_mode
from ..declare.signature.shown import showing

__name__ = "gradpack"  # as torch has it

_DOC = """The old name of `{call}`.

Example::

    >>> import gradpack as torch
    >>> torch.{example}
    {shown}
"""


_TAKEN: dict[str, Callable[..., None]] = {
    "": lambda: None,
    "enabled": lambda enabled: None,
    "dtype": lambda dtype: None,
}


def _old(name: str, now: str, kind: str, takes: str = "", shown: str = "", example: str = "") -> Callable[..., Any]:
    """Return a function of `amp.autocast_mode` for one kind of device, under its old name."""
    call = f"{now}('{kind}'{', ' * bool(takes)}{takes})"

    @showing(_TAKEN[takes])
    def old(*args: Any) -> Any:
        warnings.warn(
            f"torch.{name}({takes}) is deprecated. Please use torch.{call} instead.", DeprecationWarning, stacklevel=2
        )
        return getattr(autocast_mode, now)(kind, *args)

    old.__name__ = old.__qualname__ = name
    old.__doc__ = _DOC.format(call=call, example=example or call, shown=shown).replace("    \n", "")
    return old


for _device, _kind, _shown in (("cpu", "cpu", "bfloat16"), ("gpu", "cuda", "float16"), ("ipu", "ipu", "float16"),
                               ("xla", "xla", "bfloat16")):  # fmt: skip
    _name = f"get_autocast_{_device}_dtype"
    globals()[_name] = _old(_name, "get_autocast_dtype", _kind, shown=f"gradpack.{_shown}")
for _kind in ("cpu", "ipu", "xla"):
    _name = f"is_autocast_{_kind}_enabled"
    globals()[_name] = _old(_name, "is_autocast_enabled", _kind, shown="False")
set_autocast_cpu_enabled = _old(
    "set_autocast_cpu_enabled", "set_autocast_enabled", "cpu", "enabled", "", "set_autocast_enabled('cpu', False)"
)
set_autocast_cpu_dtype = _old(
    "set_autocast_cpu_dtype", "set_autocast_dtype", "cpu", "dtype", "", "set_autocast_dtype('cpu', torch.bfloat16)"
)
